"""A release: its workflow is well-formed and safe, and its steps do what they say."""

import json
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.deploy.ci_jobs import Ran, check_script, run
from tests.deploy.locks import with_our_programs

CHANGELOG = """# Changes

Some words.

## Unreleased

## 1.2.3 - 2026-12-31

### Added

* This.

## 1.2.2 - 2026-12-01

* That.
"""
PLATFORMS = {
    "any": b"",
    "manylinux_2_17_x86_64": b"\x7fELF",
    "manylinux_2_17_aarch64": b"\x7fELF",
    "musllinux_1_2_x86_64": b"\x7fELF",
    "musllinux_1_2_aarch64": b"\x7fELF",
    "macosx_11_0_x86_64": b"\xcf\xfa\xed\xfe\x07",
    "macosx_11_0_arm64": b"\xcf\xfa\xed\xfe\x0c",
}
"""How the library in the wheel of each platform begins: as a file of Linux, or of macOS and one processor."""

IMAGE = "ghcr.io/example/rocpr"
DIGEST = f"{IMAGE}@sha256:{'0' * 64}"


@pytest.fixture(scope="module")
def workflow(root: Path) -> dict[str, Any]:
    return yaml.safe_load((root / ".github/workflows/release.yml").read_text())


def step_of(workflow: dict[str, Any], job: str, words: str) -> str:
    (found,) = [step["run"] for step in workflow["jobs"][job]["steps"] if words in step.get("run", "")]
    return found


def run_step(text: str, place: Path, **variables: str) -> Ran:
    """Run a step as GitHub does, with the programs of place/bin before others."""
    github = {
        "GITHUB_REF_NAME": "v1.2.3",
        "GITHUB_REPOSITORY": "Example/rocpr",
        "GITHUB_SERVER_URL": "https://github.com",
        "GITHUB_SHA": "5" * 40,
        "GITHUB_ACTOR": "someone",
        "GITHUB_ENV": str(place / "env"),
        "GITHUB_OUTPUT": str(place / "output"),
    }
    return run(["bash", "--noprofile", "--norc", "-e", "-c", text], place, github | variables, place)


def program(place: Path, name: str, text: str) -> None:
    """A program in place/bin that records its arguments, and then does this."""
    (place / "bin").mkdir(exist_ok=True)
    path = place / "bin" / name
    path.write_text(f'#!/bin/sh\necho "{name} $*" >>"{place}/calls"\n{text}\n')
    path.chmod(0o755)


def calls(place: Path) -> list[str]:
    return (place / "calls").read_text().splitlines()


class TestWorkflow:
    def test_each_job_has_the_rights_that_it_needs(self, workflow: dict[str, Any]) -> None:
        assert workflow[True] == {"push": {"tags": ["v*.*.*"]}}  # YAML reads the key `on` so
        assert workflow["permissions"] == {}
        assert {name: job["permissions"] for name, job in workflow["jobs"].items()} == {
            "checks": {"contents": "read"},
            "files": {"contents": "read"},
            "smoke": {"contents": "read"},
            "smoke-musl": {"contents": "read"},
            "image": {"contents": "read", "packages": "write"},
            "index": {"packages": "write", "id-token": "write", "attestations": "write"},
            "pypi": {"id-token": "write"},
            "release": {"contents": "write"},
        }
        # No code of the repository runs in a job that signs, publishes packages or writes releases.
        signs, publishes = ["actions/attest-build-provenance"] * 2, ["pypa/gh-action-pypi-publish"]
        for job, more in {"index": ["", *signs], "pypi": publishes, "release": [""]}.items():
            names = [step.get("uses", "").partition("@")[0] for step in workflow["jobs"][job]["steps"]]
            assert names == ["actions/download-artifact", "", *more]
        assert workflow["jobs"]["pypi"]["environment"] == "pypi"

    def test_nothing_is_published_before_all_checks_have_passed(self, root: Path, workflow: dict[str, Any]) -> None:
        jobs = workflow["jobs"]
        assert jobs["checks"]["uses"] == "./.github/workflows/ci.yml"
        assert "workflow_call" in yaml.safe_load((root / ".github/workflows/ci.yml").read_text())[True]
        assert set(jobs["image"]["needs"]) == {"checks", "smoke", "smoke-musl"}
        assert jobs["smoke"]["needs"] == jobs["smoke-musl"]["needs"] == "files"
        assert (jobs["index"]["needs"], jobs["pypi"]["needs"]) == ("image", "index")
        assert set(jobs["release"]["needs"]) == {"index", "pypi"}

    def test_linters_of_workflows_find_nothing(self, root: Path) -> None:
        files = sorted((root / ".github/workflows").glob("*.yml"))
        action = root / "deploy/ci/github/action.yml"
        forms = root / ".github/ISSUE_TEMPLATE"
        for command in (
            ["check-jsonschema", "--builtin-schema", "vendor.github-workflows", *files],
            ["check-jsonschema", "--builtin-schema", "vendor.github-actions", action],
            ["check-jsonschema", "--builtin-schema", "vendor.github-issue-forms", forms / "bug.yml"],
            ["check-jsonschema", "--builtin-schema", "vendor.github-issue-config", forms / "config.yml"],
            ["zizmor", "--offline", "--quiet", "--min-severity=medium", *files, action],
        ):
            done = subprocess.run(
                command, env=with_our_programs(), capture_output=True, text=True, timeout=60, check=False
            )
            assert done.returncode == 0, done.stdout + done.stderr

    @pytest.mark.parametrize("name", ["audit", "ci", "release", "site"])
    def test_steps_stay_accurate(self, root: Path, name: str) -> None:
        jobs = yaml.safe_load((root / f".github/workflows/{name}.yml").read_text())["jobs"]
        steps = [step for job in jobs.values() for step in job.get("steps", [])]
        for text in (step["run"] for step in steps if "run" in step):
            assert "${{" not in text  # a tag's name would be run
            check_script(text, "bash")
            named = re.findall(r"(?<![\w/])deploy/[\w./-]+\.(?:sh|py|txt)", text)
            assert all((root / path).is_file() for path in named)
        for step in steps:
            if step.get("uses", "").startswith("actions/checkout@"):
                assert step["with"]["persist-credentials"] is False
        assert all(job.get("timeout-minutes") or job.get("uses") for job in jobs.values())

    def test_what_is_downloaded_was_uploaded(self, workflow: dict[str, Any]) -> None:
        steps = [step for job in workflow["jobs"].values() for step in job.get("steps", [])]
        for kind, times in {"upload": 1, "download": 6}.items():
            names = [step["with"]["name"] for step in steps if f"actions/{kind}-artifact@" in step.get("uses", "")]
            assert names == ["release"] * times

    def test_where_the_last_contract_is_compared_the_history_is_there(
        self, root: Path, workflow: dict[str, Any]
    ) -> None:
        ci = yaml.safe_load((root / ".github/workflows/ci.yml").read_text())
        for job in (workflow["jobs"]["files"], ci["jobs"]["test"]):
            assert job["steps"][0]["with"]["fetch-depth"] == 0
        assert "-m tests.contract.released " in step_of(workflow, "files", "tests.contract")


class TestTag:
    @staticmethod
    def _release(root: Path, place: Path, *words: str, version: str = "1.2.3", changelog: str = CHANGELOG) -> Ran:
        (place / "deploy").mkdir()
        shutil.copy(root / "deploy/release.py", place / "deploy")
        (place / "pyproject.toml").write_text(f'[project]\nversion = "{version}"\n')
        (place / "CHANGELOG.md").write_text(changelog)
        return run([sys.executable, "deploy/release.py", *words], place, {}, place)

    def test_the_text_of_the_release_is_the_section_of_its_version(self, root: Path, tmp_path: Path) -> None:
        assert self._release(root, tmp_path, "v1.2.3") == Ran(0, "### Added\n\n* This.\n", "")

    @pytest.mark.parametrize(
        ("tag", "version", "changelog", "said"),
        [
            ("v1.2.4", "1.2.3", CHANGELOG, "The tag is v1.2.4, but the version in pyproject.toml is 1.2.3."),
            ("1.2.3", "1.2.3", CHANGELOG, "The tag is 1.2.3, but"),
            ("v1.2.3b1", "1.2.3b1", CHANGELOG, "1.2.3b1, is not three numbers, as in 1.2.3 or 1.2.3rc1."),
            ("v1.2.4", "1.2.4", CHANGELOG, "has no text under a heading like '## 1.2.4 - YYYY-MM-DD'."),
            ("v1.2.3", "1.2.3", CHANGELOG.replace(" - 2026-12-31", ""), "like '## 1.2.3 - YYYY-MM-DD'."),
            ("v1.2.3", "1.2.3", CHANGELOG.replace("### Added\n\n* This.\n", ""), "has no text under"),
            (
                "v1.2.3",
                "1.2.3",
                CHANGELOG.replace("ased\n", "ased\n\n* Soon.\n"),
                "still has changes under '## Unreleased'",
            ),
            ("v1.2.3", "1.2.3", "", "has no text under"),
        ],
    )
    def test_a_tag_that_does_not_fit_is_not_a_release(
        self, root: Path, tmp_path: Path, *, tag: str, version: str, changelog: str, said: str
    ) -> None:
        ran = self._release(root, tmp_path, tag, version=version, changelog=changelog)
        assert (ran.status, ran.printed) == (1, "")
        assert said in ran.complaints

    def test_a_candidate_has_a_section_of_its_own(self, root: Path, tmp_path: Path) -> None:
        changelog = CHANGELOG.replace("1.2.3 -", "1.2.3rc1 -")
        assert self._release(root, tmp_path, "v1.2.3rc1", version="1.2.3rc1", changelog=changelog).status == 0

    def test_it_needs_a_tag(self, root: Path, tmp_path: Path) -> None:
        assert self._release(root, tmp_path) == Ran(2, "", "usage: python3 deploy/release.py TAG\n")

    def test_the_changelog_has_a_place_for_the_next_changes(self, root: Path) -> None:
        first, *others = re.findall(r"^## (.+)$", (root / "CHANGELOG.md").read_text(), re.MULTILINE)
        assert first == "Unreleased" or not others
        assert all(re.fullmatch(r"\d+\.\d+\.\d+(rc\d+)?( - \d{4}-\d{2}-\d{2})?", heading) for heading in others)


@pytest.mark.all
def test_the_files_are_complete_and_the_same_again(root: Path, tmp_path: Path) -> None:
    """Wheels for all platforms, six with the loops; from a copy in another folder, the same files byte by byte."""
    if not (root / ".release/lock").exists():
        pytest.skip("zig is not in .release: sh deploy/package.sh puts it there")
    made = {}
    for place in ("one", "two"):
        checkout, files = tmp_path / place, tmp_path / f"{place} made"
        ignored = (".venv", ".release", ".spark", ".git", ".*cache", ".hypothesis", ".coverage*", "sweep.library")
        shutil.copytree(root, checkout, ignore=shutil.ignore_patterns(*ignored))
        (checkout / ".release").symlink_to(root / ".release")
        done = subprocess.run(
            ["sh", "deploy/package.sh", str(files)],
            cwd=checkout,
            env=with_our_programs(ZIG_GLOBAL_CACHE_DIR=str(tmp_path / f"{place} cache")),
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        made[place] = {path.name: path.read_bytes() for path in files.iterdir()}
    assert made["one"].keys() == made["two"].keys()
    assert [name for name, content in made["one"].items() if made["two"][name] != content] == []
    version = re.search(r'^version = "(.+)"$', (root / "pyproject.toml").read_text(), re.MULTILINE)[1]
    wheels = {f"rocpr-{version}-py3-none-{platform}.whl": start for platform, start in PLATFORMS.items()}
    others = {"openapi.yaml", f"rocpr-{version}.tar.gz", f"rocpr-{version}.cdx.json", "SHA256SUMS"}
    assert made["one"].keys() == wheels.keys() | others
    for name, start in wheels.items():
        with zipfile.ZipFile(tmp_path / "one made" / name) as wheel:
            found = [wheel.read(each)[:20] for each in wheel.namelist() if each.endswith("sweep.library")]
        assert [library[: len(start)] for library in found] == [start] * bool(start), name
    assert made["one"]["openapi.yaml"] == (root / "openapi.yaml").read_bytes()
    bill = json.loads(made["one"][f"rocpr-{version}.cdx.json"])
    assert bill["metadata"]["component"]["version"] == version
    check = ["sha256sum", "--check", "--strict", "SHA256SUMS"]
    subprocess.run(check, cwd=tmp_path / "one made", capture_output=True, check=True)
    assert len(made["one"]["SHA256SUMS"].splitlines()) == len(wheels) + 3


class TestImage:
    """deploy/image.sh and the workflow's steps, with a docker that only records its arguments."""

    @staticmethod
    def _checkout(root: Path, place: Path, health: str) -> None:
        (place / "deploy").mkdir()
        shutil.copy(root / "deploy/image.sh", place / "deploy")
        for folder in ("deploy", "dist"):
            (place / folder).mkdir(exist_ok=True)
        for bill in ("deploy/requirements.cdx.json", "dist/rocpr-1.2.3.cdx.json"):
            (place / bill).write_text("{}\n")
        program(place, "sleep", "")
        program(
            place,
            "docker",
            f"""case "$*" in
                *"--entrypoint cat"*) echo '{{}}' ;;
                *--detach*) echo container ;;
                *.State.Health.Status*) {health} ;;
                *RepoDigests*) echo {DIGEST} ;;
                login*) cat >"{place}/key" ;;
                *imagetools*) echo "$PROVENANCE" ;;
            esac""",
        )

    def test_it_is_healthy_and_has_its_bill_of_materials(self, root: Path, tmp_path: Path) -> None:
        """At the third attempt."""
        self._checkout(
            root, tmp_path, f'[ "$(grep -c Health "{tmp_path}/calls")" = 3 ] && echo healthy || echo starting'
        )
        ran = run(["sh", "deploy/image.sh", "rocpr", "--label", "a=b c"], tmp_path, {}, root)
        assert (ran.status, ran.complaints) == (0, "")
        build, cat, start, *looks, remove = [call for call in calls(tmp_path) if call != "sleep 1"]
        assert build == "docker build --file deploy/Dockerfile --tag rocpr --label a=b c ."
        assert "/usr/share/doc/rocpr/requirements.cdx.json" in cat
        assert {"--read-only", "--cap-drop", "no-new-privileges"} <= set(start.split())
        assert len(looks) == 3
        assert remove == "docker rm --force container"

    def test_it_is_not_healthy(self, root: Path, tmp_path: Path) -> None:
        self._checkout(root, tmp_path, "echo unhealthy")
        assert run(["sh", "deploy/image.sh", "rocpr"], tmp_path, {}, root).status == 1
        assert calls(tmp_path)[-2:] == ["docker logs container", "docker rm --force container"]

    def test_it_has_another_bill_of_materials(self, root: Path, tmp_path: Path) -> None:
        self._checkout(root, tmp_path, "echo healthy")
        (tmp_path / "deploy/requirements.cdx.json").write_text('{"another": 1}\n')
        assert run(["sh", "deploy/image.sh", "rocpr"], tmp_path, {}, root).status == 1
        assert not any("--detach" in call for call in calls(tmp_path))

    def test_what_is_built_is_what_is_pushed(self, root: Path, tmp_path: Path, workflow: dict[str, Any]) -> None:
        self._checkout(root, tmp_path, "echo healthy")
        assert run_step(step_of(workflow, "image", "deploy/image.sh"), tmp_path, PROCESSOR="arm64").status == 0
        assert (tmp_path / "env").read_text() == f"IMAGE={IMAGE}:1.2.3-arm64\n"
        assert f"--tag {IMAGE}:1.2.3-arm64 --provenance=mode=max --build-arg COMMIT=" in calls(tmp_path)[0]
        push = step_of(workflow, "image", "docker push")
        variables = {"IMAGE": f"{IMAGE}:1.2.3-arm64", "TOKEN": "secret"}
        ran = run_step(push, tmp_path, **variables, PROVENANCE='{"SLSA": {}}')
        assert (ran.status, ran.complaints) == (0, "")
        assert f"docker push {IMAGE}:1.2.3-arm64" in calls(tmp_path)
        assert (tmp_path / "key").read_text() == "secret\n"
        assert not any("secret" in call for call in calls(tmp_path))
        assert run_step(push, tmp_path, **variables, PROVENANCE="null").status != 0

    @pytest.mark.parametrize(
        ("version", "tags"), [("1.2.3", ["1.2.3", "1.2", "1", "latest"]), ("1.2.3rc1", ["1.2.3rc1"])]
    )
    def test_both_images_have_one_name(
        self, root: Path, tmp_path: Path, workflow: dict[str, Any], version: str, tags: list[str]
    ) -> None:
        self._checkout(root, tmp_path, "echo healthy")
        program(tmp_path, "jq", f"echo {DIGEST.partition('@')[2]}")
        step = step_of(workflow, "index", "imagetools create")
        ran = run_step(step, tmp_path, TOKEN="secret", GITHUB_REF_NAME=f"v{version}")
        assert (ran.status, ran.complaints) == (0, "")
        named = " ".join(f"--tag {IMAGE}:{tag}" for tag in tags)
        images = f"{IMAGE}:{version}-amd64 {IMAGE}:{version}-arm64"
        assert f"docker buildx imagetools create {named} {images}" in calls(tmp_path)
        name, digest = DIGEST.split("@")
        assert (tmp_path / "output").read_text() == f"name={name}\ndigest={digest}\n"


def test_only_packages_go_to_the_index(tmp_path: Path, workflow: dict[str, Any]) -> None:
    (tmp_path / "dist").mkdir()
    for name in ("a.whl", "b.tar.gz", "SHA256SUMS", "a.cdx.json"):
        (tmp_path / "dist" / name).touch()
    assert run_step(step_of(workflow, "pypi", "mv"), tmp_path).status == 0
    assert {path.name for path in (tmp_path / "packages").iterdir()} == {"a.whl", "b.tar.gz"}
    assert workflow["jobs"]["pypi"]["steps"][-1]["with"] == {"packages-dir": "packages"}


@pytest.mark.parametrize(("version", "options"), [("1.2.3", ""), ("1.2.3rc1", " --prerelease")])
def test_the_release_has_the_text_the_files_and_the_image(
    tmp_path: Path, workflow: dict[str, Any], version: str, options: str
) -> None:
    program(tmp_path, "gh", "")
    (tmp_path / "dist").mkdir()
    for name in ("a.whl", "b.tar.gz"):
        (tmp_path / "dist" / name).touch()
    (tmp_path / "notes.md").write_text("* This.\n")
    step = step_of(workflow, "release", "gh release create")
    ran = run_step(step, tmp_path, IMAGE=DIGEST, GITHUB_REF_NAME=f"v{version}")
    assert (ran.status, ran.complaints) == (0, "")
    notes = (tmp_path / "notes.md").read_text()
    assert notes.startswith(f"* This.\n\nTo serve it: uvx rocpr@{version} serve, or the image {DIGEST}.\n")
    assert "gh attestation verify FILE --repo Example/rocpr\n" in notes
    options = f"--verify-tag --title rocpr {version} --notes-file notes.md{options}"
    assert calls(tmp_path) == [f"gh release create v{version} {options} dist/a.whl dist/b.tar.gz"]
