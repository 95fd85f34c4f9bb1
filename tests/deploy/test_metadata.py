"""What a package index would show: the readme's links lead somewhere or are plain text, and no address is made up."""

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.deploy.locks import with_our_programs

TAG = {"GITHUB_REPOSITORY": "Example/rocpr", "GITHUB_SERVER_URL": "https://github.com", "GITHUB_REF_NAME": "v0.1.0"}
LINK = re.compile(r"\]\(([^)\s]+)\)")
FILES = "https://github.com/Example/rocpr/blob/v0.1.0/"


def metadata(root: Path, **variables: str) -> dict[str, Any]:
    environment = with_our_programs(**(dict.fromkeys(TAG, "") | variables))
    printed = subprocess.run(
        ["hatchling", "metadata"], cwd=root, env=environment, capture_output=True, text=True, timeout=60, check=True
    ).stdout
    found: dict[str, Any] = json.loads(printed)
    return found


def test_in_a_release_every_link_leads_to_a_file_of_the_tag(root: Path) -> None:
    found = metadata(root, **TAG)
    links = LINK.findall(found["readme"]["text"])
    of_checkout = re.compile(r"(?s)\n## Start it\n.*?(?=\n## )")
    written = LINK.findall(of_checkout.sub("", (root / "README.md").read_text()))
    assert len(links) == len(written) > 20
    for link, target in zip(links, written, strict=True):
        path = target.partition("#")[0] or "README.md"
        assert "://" in target or ((root / path).exists() and link.endswith(target) and "/v0.1.0/" in link)
    assert "![" not in found["readme"]["text"] or f"{FILES.replace('blob', 'raw')}service/guide/" in links[0]
    (start,) = of_checkout.findall(found["readme"]["text"])
    assert "uvx rocpr serve" in start
    assert "deploy/run.sh" not in start
    assert found["urls"] == {"Source": FILES.partition("/blob")[0], "Changes": f"{FILES}CHANGELOG.md"}


@pytest.mark.parametrize("variables", [{}, TAG | {"GITHUB_REF_NAME": "main"}])
def test_elsewhere_links_are_plain_text(root: Path, variables: dict[str, str]) -> None:
    found = metadata(root, **variables)
    assert not [link for link in LINK.findall(found["readme"]["text"]) if "://" not in link]
    assert "urls" not in found
    assert "[the guide]" not in found["readme"]["text"]
    assert "sh deploy/run.sh" in found["readme"]["text"]


def test_every_python_that_is_named_is_tested(root: Path) -> None:
    named = re.findall(r"Python :: (3\.\d+)", " ".join(metadata(root)["classifiers"]))
    for workflow, job in {"ci": "test", "audit": "audit"}.items():
        jobs = yaml.safe_load((root / f".github/workflows/{workflow}.yml").read_text())["jobs"]
        assert jobs[job]["strategy"]["matrix"]["python"] == named


def test_nothing_says_that_something_is_published(root: Path) -> None:
    """Only a release's workflow and what it writes name an index or a registry."""
    texts = [root / "README.md", root / "deploy/README.md", root / "pyproject.toml", *root.glob("service/guide/*.md")]
    for path in texts:
        assert not re.search(r"pypi\.org|ghcr\.io|\bOWNER\b|\buvx\b|pip install rocpr", path.read_text()), path
