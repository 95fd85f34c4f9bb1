"""Every image is named by its digest and every action by its commit, and Renovate proposes the next ones."""

import json
import re
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.deploy.locks import LOCKS, read_lock

IMAGE = re.compile(r"[\w./-]+:[\w.-]+@sha256:[0-9a-f]{64}")
"""With the tag, for readers."""
ACTION = re.compile(r"[\w./-]+@[0-9a-f]{40}")
NAMED_ACTION = re.compile(rf"uses: ({ACTION.pattern}) # v\d+\.\d+\.\d+$", re.MULTILINE)
"""With the release of that commit, which Renovate also reads."""
EXCEPTIONS = {
    "rocpr": "built from this checkout by deploy/Dockerfile; a cluster names its own copy in the chart's values",
    "rocpr-spark": "built by deploy/spark/Dockerfile",
    "$ROCPR_IMAGE": "that copy, in a registry which only the reader knows",
    "./.github/workflows/ci.yml": "of the same commit as the workflow that uses it",
}
MANAGERS = {"dockerfile", "docker-compose", "kubernetes", "helm-values", "github-actions", "pip-compile"}


def in_yaml(node: Any) -> Iterator[str]:
    """The images and the actions that a document names, at whatever depth."""
    if isinstance(node, list):
        for one in node:
            yield from in_yaml(one)
    elif isinstance(node, dict):
        for key, value in node.items():
            if key in {"image", "uses"}:
                named = value.get("name") if isinstance(value, dict) else value
                if isinstance(named, str):
                    yield named
            yield from in_yaml(value)


def in_dockerfile(text: str) -> Iterator[str]:
    """What the stages are made from, with the defaults of arguments filled in."""
    arguments = dict(re.findall(r"^ARG (\w+)=(\S+)$", text, re.MULTILINE))
    stages = set(re.findall(r"^FROM .* AS (\S+)$", text, re.MULTILINE))
    for named in re.findall(r"^(?:FROM|COPY --from=)(?: --\S+)* ?([^\s]+)", text, re.MULTILINE):
        reference = named
        while found := re.fullmatch(r"\$\{(\w+)\}", reference):
            reference = arguments[found[1]]
        if reference not in stages:
            yield reference


def in_jenkinsfile(text: str) -> Iterator[str]:
    yield from re.findall(r"\bimage\b\s*\(?\s*['\"]([^'\"]+)", text)


def references_in(path: Path) -> Iterator[str]:
    text = path.read_text()
    if path.name == "Dockerfile":
        yield from in_dockerfile(text)
    elif path.name == "Jenkinsfile":
        yield from in_jenkinsfile(text)
    else:
        for document in yaml.safe_load_all(text):
            yield from in_yaml(document)


def files(root: Path) -> list[Path]:
    """Whatever may name an image or an action; a chart's templates name those of its values."""
    found = [path for folder in (".github", "deploy") for path in sorted((root / folder).rglob("*")) if path.is_file()]
    found = [path for path in found if path.parent.name != "templates"]
    return [path for path in found if path.suffix in {".yml", ".yaml"} or path.name in {"Dockerfile", "Jenkinsfile"}]


def is_pinned(reference: str) -> bool:
    return bool(IMAGE.fullmatch(reference) or ACTION.fullmatch(reference))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("jobs: {a: {container: {image: 'a:1'}, steps: [{uses: b/c@v1}]}}", ["a:1", "b/c@v1"]),
        ("a: {image: {name: 'b:1', entrypoint: ['']}}", ["b:1"]),
        ("jobs: {image: {steps: []}}", []),
    ],
)
def test_what_a_document_names(text: str, found: list[str]) -> None:
    assert list(in_yaml(yaml.safe_load(text))) == found
    assert not any(is_pinned(reference) for reference in found)


def test_what_a_dockerfile_names() -> None:
    text = "ARG A=b:1\nARG C=${A}\nFROM --platform=x/y ${C} AS d\nFROM e\nCOPY --from=d /f /f\nCOPY --from=g:2 /h /h\n"
    assert list(in_dockerfile(text)) == ["b:1", "e", "g:2"]


def test_every_image_and_every_action_is_pinned(root: Path) -> None:
    named = {path.relative_to(root): list(references_in(path)) for path in files(root)}
    loose = {
        (str(path), reference)
        for path, references in named.items()
        for reference in references
        if not is_pinned(reference)
    }
    assert {reference for _, reference in loose} == set(EXCEPTIONS), loose
    pinned = {reference for references in named.values() for reference in references if is_pinned(reference)}
    # One image or action has one digest: the same nginx in compose and in a cluster, one checkout in all workflows.
    names = [re.split("[:@]", reference)[0] for reference in pinned]
    assert len(names) == len(set(names)), pinned
    assert {"python", "nginxinc/nginx-unprivileged", "prom/prometheus", "actions/checkout"} <= set(names)


def test_every_action_says_its_release(root: Path) -> None:
    for path in files(root):
        text = path.read_text()
        actions = [reference for reference in references_in(path) if ACTION.fullmatch(reference)]
        assert NAMED_ACTION.findall(text) == actions, path


@pytest.fixture(scope="module")
def renovate(root: Path) -> dict[str, Any]:
    return json.loads((root / ".github/renovate.json").read_text())


def test_renovate_knows_every_kind_of_file(root: Path, renovate: dict[str, Any]) -> None:
    """Files without a pattern here have one of Renovate's own, by their names."""
    assert set(renovate["enabledManagers"]) == MANAGERS
    assert "config:best-practices" in renovate["extends"]  # pins the digests of images and actions
    for manager, expected in {
        "kubernetes": sorted((root / "deploy/spark").glob("*.yaml")),
        "helm-values": [root / "deploy/helm/rocpr/values.yaml"],
        "pip-compile": sorted((root / "deploy").glob("requirements*.txt")),
    }.items():
        patterns = renovate[manager]["managerFilePatterns"]
        paths = [str(path.relative_to(root)) for path in expected]
        assert paths
        assert all(any(fnmatchcase(path, pattern) for pattern in patterns) for path in paths), manager


@pytest.mark.parametrize("name", [Path(lock).name for lock in LOCKS])
def test_renovate_can_repeat_how_a_lock_is_made(root: Path, name: str) -> None:
    """It runs the command at the head, and refuses one that is not uv's or has options without an equals sign."""
    lock = root / "deploy" / name
    _, head, *_ = lock.read_text().splitlines()
    uv, pip, compile_, *words = head.removeprefix("#    ").split()
    assert (uv, pip, compile_) == ("uv", "pip", "compile")
    options = [word for word in words if word.startswith("-")]
    sources = [word for word in words if not word.startswith("-")]
    flags = {"--universal", "--generate-hashes"}
    assert {option for option in options if "=" not in option} == flags
    assert f"--output-file=deploy/{name}" in options
    assert all((root / source).is_file() for source in sources)
    script = (root / "deploy/lock.sh").read_text()
    assert all(word in script for word in words)
    assert read_lock(lock)
