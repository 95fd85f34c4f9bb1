"""deploy/ci for GitLab and Jenkins: the files are well-formed, and their steps stop a job when they should."""

import re
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cli.gate.gate_server import KEY, guarded
from tests.cli.gate.gating import ALL, FAILING, STATUSES, TEN
from tests.deploy.ci_jobs import ASKED, Ran, check_script, check_verdict, name_of, needs_curl, place, run
from tests.support.junit_facts import check_junit

__all__ = ["guarded", "place"]


# GitLab.


@pytest.fixture(scope="module")
def gitlab(root: Path) -> dict[str, Any]:
    return yaml.safe_load((root / "deploy/ci/gitlab.yml").read_text())


def run_job(job: dict[str, Any], variables: dict[str, str], place: Path, root: Path) -> Ran:
    """Run a job's script as GitLab's runner does, in one shell."""
    return run(["sh", "-e", "-c", "\n".join(job["script"])], place, job["variables"] | variables, root)


def test_the_jobs_are_well_formed(gitlab: dict[str, Any]) -> None:
    assert set(gitlab) == {".rocpr-gate", ".rocpr-gate-with-curl"}
    for job in gitlab.values():
        assert job.keys() <= {"stage", "image", "variables", "script", "artifacts"}
        assert job["artifacts"] == {
            "when": "always",
            "expose_as": "picture of the gate",
            "paths": ["rocpr-gate.svg"],
            "reports": {"junit": "rocpr-gate.xml"},
        }
        assert re.fullmatch(r"[\w -]{1,100}", job["artifacts"]["expose_as"])  # what GitLab takes
        assert all(isinstance(text, str) for text in job["variables"].values())
        check_script("\n".join(job["script"]), "sh")


@ASKED
@pytest.mark.parametrize("text", STATUSES, ids=["passing", "failing", "undecided"])
def test_the_job_runs_the_gate(
    gitlab: dict[str, Any], place: Path, root: Path, guarded: str, *, text: str, asked: str
) -> None:
    given = {"ROCPR_SERVER": guarded, "ROCPR_API_KEY": KEY} if asked == "server" else {}
    variables = {"RULES": f"{name_of(text)}.toml", "SCORES": ALL.name, **given}
    ran = run_job(gitlab[".rocpr-gate"], variables, place, root)
    assert ran.complaints == ""
    check_verdict(ran, place, text)


def test_the_job_takes_a_baseline(gitlab: dict[str, Any], place: Path, root: Path) -> None:
    variables = {"RULES": "drop.toml", "SCORES": TEN.name, "BASELINE": ALL.name}
    ran = run_job(gitlab[".rocpr-gate"], variables, place, root)
    assert (ran.status, ran.complaints) == (0, "")


def test_a_job_without_a_verdict_has_a_report_of_that(gitlab: dict[str, Any], place: Path, root: Path) -> None:
    ran = run_job(gitlab[".rocpr-gate"], {"RULES": "drop.toml", "SCORES": ALL.name}, place, root)
    assert ran.status == 3
    assert check_junit(place / "rocpr-gate.xml") == ["error"]


@needs_curl
@pytest.mark.parametrize("text", STATUSES, ids=["passing", "failing", "undecided"])
def test_the_job_with_curl(gitlab: dict[str, Any], place: Path, root: Path, guarded: str, text: str) -> None:
    shutil.copy(root / "deploy/ci/gate.sh", place)
    (place / "named.csv").write_text((place / ALL.name).read_text().replace("scores", "p").replace("labels", "y"))
    variables = {"RULES": f"{name_of(text)}.json", "SCORES": "named.csv", "OPTIONS": "scores=p labels=y"}
    ran = run_job(
        gitlab[".rocpr-gate-with-curl"], variables | {"ROCPR_SERVER": guarded, "ROCPR_API_KEY": KEY}, place, root
    )
    assert ran.complaints == ""
    check_verdict(ran, place, text)


# Jenkins.


@pytest.fixture(scope="module")
def jenkinsfile(root: Path) -> str:
    return (root / "deploy/ci/Jenkinsfile").read_text()


def steps(text: str) -> list[str]:
    return re.findall(r"^\s*sh '(.*)'$", text, re.MULTILINE)


def variables_of(text: str) -> dict[str, str]:
    return dict(re.findall(r"^\s*(\w+) = '(.*)'$", text, re.MULTILINE))


def both_stages(text: str) -> tuple[str, str]:
    """The pipeline without its comments, and the stage that is commented out."""
    lines = text.splitlines()
    comments = [line.strip().removeprefix("//") for line in lines if line.strip().startswith("//")]
    code = "\n".join(line for line in lines if not line.strip().startswith("//"))
    return code, "\n".join(comments[comments.index(" stage('Gate') {") :])


def test_the_pipeline_is_well_formed(jenkinsfile: str) -> None:
    """Groovy is not parsed here, but brackets and quotes match, and every section is one of a declarative pipeline."""
    code, stage = both_stages(jenkinsfile)
    for text in (code, stage):
        bare = re.sub(r"'[^'\n]*'", "", text)
        assert "'" not in bare
        for opening, closing in ("{}", "()"):
            assert bare.count(opening) == bare.count(closing)
    sections = set(re.findall(r"^ *(\w+)(?:\(''\))? \{$", re.sub(r"'[^'\n]*'", "''", code), re.MULTILINE))
    assert sections == {"pipeline", "options", "environment", "stages", "stage", "steps", "post", "always"}
    assert "junit 'rocpr-gate.xml'" in code
    assert "archiveArtifacts artifacts: 'rocpr-gate.svg', allowEmptyArchive: true" in code
    for text in (code, stage):
        check_script("\n".join(steps(text)), "sh")


@pytest.mark.parametrize("text", STATUSES, ids=["passing", "failing", "undecided"])
def test_the_steps_run_the_gate(jenkinsfile: str, place: Path, root: Path, text: str) -> None:
    code, _ = both_stages(jenkinsfile)
    (place / "rocpr-gate.xml").write_text("of an earlier build")
    variables = variables_of(code) | {"RULES": f"{name_of(text)}.toml", "SCORES": ALL.name}
    clean, gate = (run(["sh", "-xe", "-c", step], place, variables, root) for step in steps(code))
    assert clean.status == 0
    check_verdict(gate, place, text)


@needs_curl
def test_the_steps_with_curl(jenkinsfile: str, place: Path, root: Path, guarded: str) -> None:
    _, stage = both_stages(jenkinsfile)
    shutil.copy(root / "deploy/ci/gate.sh", place)
    shutil.copy(place / "failing.json", place / "rules.json")
    named = {"ROCPR_API_KEY": KEY} if "ROCPR_API_KEY = credentials(" in stage else {}
    variables = variables_of(stage) | {"SCORES": ALL.name, "ROCPR_SERVER": guarded} | named
    clean, gate = (run(["sh", "-xe", "-c", step], place, variables, root) for step in steps(stage))
    assert clean.status == 0
    assert KEY not in gate.printed + gate.complaints  # Jenkins' sh -x shows commands
    check_verdict(gate, place, FAILING)


def test_the_readme_lists_every_file(root: Path) -> None:
    folder = root / "deploy/ci"
    text = (folder / "README.md").read_text()
    rows = re.findall(r"^\| \[(.+?)\]\((.+?)\)", text, re.MULTILINE)
    files = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    files -= {"README.md", "github/pull_request.py"}  # the action runs it
    assert {name for name, _ in rows} == {target for _, target in rows} == files
    assert all((folder / target).exists() for target in re.findall(r"\]\(([^)#]+)\)", text))
