"""deploy/ci: each file is well-formed, and its shell steps, run as the CI server would, stop a job when they should."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
import yaml

from tests.cli.gate.gate_server import KEY, guarded
from tests.cli.gate.gating import ALL, FAILING, PASSING, STATUSES, TEN
from tests.deploy.ci_jobs import (
    ENDINGS,
    VERDICTS,
    Ran,
    check_script,
    name_of,
    needs_curl,
    place,
    run,
)
from tests.junit_facts import check_junit

__all__ = ["guarded", "place"]

EXPRESSION = re.compile(r"\$\{\{(.*?)\}\}")


# GitHub.


@pytest.fixture(scope="module")
def action(root: Path) -> dict[str, Any]:
    return yaml.safe_load((root / "deploy/ci/github/action.yml").read_text())


def scripts(action: dict[str, Any]) -> list[dict[str, Any]]:
    """The steps that run a script of ours."""
    return [step for step in action["runs"]["steps"] if "run" in step]


def test_the_action_is_well_formed(action: dict[str, Any]) -> None:
    assert action.keys() == {"name", "description", "inputs", "outputs", "runs"}
    assert action["runs"]["using"] == "composite"
    for name, entry in action["inputs"].items():
        assert entry["description"].endswith("."), name
        assert entry.get("required") is True or isinstance(entry["default"], str), name
    for step in scripts(action):
        assert step["shell"] == "bash"
        assert not EXPRESSION.search(step["run"])  # an input would be run
        check_script(step["run"], "bash")
    text = json.dumps(action)
    assert set(re.findall(r"inputs\.([\w-]+)", text)) == set(action["inputs"])
    ids = {step["id"] for step in action["runs"]["steps"] if "id" in step}
    assert set(re.findall(r"steps\.(\w+)\.outputs", text)) <= ids
    for step in scripts(action):
        known = {*step.get("env", {}), "GITHUB_ACTION_PATH", "GITHUB_PATH", "GITHUB_OUTPUT"}
        used = set(re.findall(r"\$\{?([A-Z][A-Z_]+)", step["run"]))
        assert used <= known


def run_step(step: dict[str, Any], inputs: dict[str, str], place: Path, root: Path) -> Ran:
    """Run a step as GitHub does: with its inputs inserted, in its shell."""

    def filled(text: str) -> str:
        return EXPRESSION.sub(lambda match: inputs[match[1].strip().removeprefix("inputs.")], text)

    script = place / "step.sh"
    script.write_text(step["run"])
    variables = {name: filled(text) for name, text in step.get("env", {}).items()}
    files = {f"GITHUB_{name}": str(place / name) for name in ("OUTPUT", "PATH", "STEP_SUMMARY")}
    variables |= files | {"GITHUB_ACTION_PATH": str(root / "deploy/ci/github"), "CI": "true"}
    folder = place / filled(step.get("working-directory", "."))
    command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", str(script)]
    return run(command, folder, variables | {"PATH": f"{place / 'bin'}:{os.environ['PATH']}"}, root)


def inputs_of(action: dict[str, Any], **given: str) -> dict[str, str]:
    named = {name.replace("_", "-"): text for name, text in given.items()}
    return {name: named.get(name, entry.get("default", "")) for name, entry in action["inputs"].items()}


@pytest.mark.parametrize("asked", ["here", "server"])
@pytest.mark.parametrize("text", STATUSES, ids=["passing", "failing", "undecided"])
def test_the_action_runs_the_gate(
    action: dict[str, Any], place: Path, root: Path, guarded: str, *, text: str, asked: str
) -> None:
    given = {"server": guarded, "api_key": KEY} if asked == "server" else {}
    inputs = inputs_of(
        action, rules=f"{name_of(text)}.toml", scores=ALL.name, junit="gate.xml", markdown="m.md", **given
    )
    _, gate = scripts(action)
    ran = run_step(gate, inputs, place, root)
    assert (ran.status, ran.complaints) == (STATUSES[text], "")
    assert (place / "OUTPUT").read_text() == f"verdict={VERDICTS[STATUSES[text]]}\n"
    assert (place / "STEP_SUMMARY").read_text() == (place / "m.md").read_text() + "\n"
    assert check_junit(place / "gate.xml") == ENDINGS[text]
    assert title_of(place / "rocpr-gate.svg") == f"Gate {VERDICTS[STATUSES[text]]}"


def title_of(picture: Path) -> str:
    """The title of a picture; by default the verdict."""
    return ET.parse(picture).getroot().findtext("{http://www.w3.org/2000/svg}title")


def test_the_action_keeps_the_picture_of_any_verdict(action: dict[str, Any]) -> None:
    _, gate, kept = action["runs"]["steps"]
    assert kept["uses"].startswith("actions/upload-artifact@")
    assert kept["if"] == "${{ !cancelled() && inputs.plot != '' && inputs.artifact != '' }}"
    assert kept["with"] == {
        "name": "${{ inputs.artifact }}",
        "path": f"{gate['working-directory']}/{gate['env']['INPUT_PLOT']}",
        "if-no-files-found": "ignore",  # there was no verdict
        "overwrite": True,
    }


def test_the_action_draws_no_unwanted_picture(action: dict[str, Any], place: Path, root: Path) -> None:
    inputs = inputs_of(action, rules="passing.toml", scores=ALL.name, plot="")
    assert run_step(scripts(action)[1], inputs, place, root).status == 0
    assert not list(place.glob("*.svg"))


def test_the_action_takes_a_baseline_another_directory_and_any_name(
    action: dict[str, Any], place: Path, root: Path
) -> None:
    """A name is passed on unchanged, whatever a shell would make of it."""
    name = "-- $(touch made) `touch made`.csv"
    (place / "deep er").mkdir()
    for old, new in (("drop.toml", "-drop.toml"), (TEN.name, name), (ALL.name, "old one.csv")):
        (place / old).rename(place / "deep er" / new)
    inputs = inputs_of(
        action, rules="-drop.toml", scores=name, baseline="old one.csv", working_directory="deep er", api_key=KEY
    )
    ran = run_step(scripts(action)[1], inputs, place, root)
    assert (ran.status, ran.complaints) == (0, "")
    assert "against old one.csv" in ran.printed
    assert not list(place.rglob("made"))


def test_the_action_without_a_verdict(action: dict[str, Any], place: Path, root: Path) -> None:
    """An error of any kind is not a failed gate, even one after the verdict was printed."""
    (place / "typo.toml").write_text(PASSING.replace("metric", "mtric"))
    (place / "rocpr-gate.svg").write_text("of an earlier run")
    for words in (
        {"rules": "passing.toml", "scores": "nothing.csv"},
        {"rules": "typo.toml", "scores": ALL.name},
        {"rules": "passing.toml", "scores": ALL.name, "junit": "/dev/full"},
    ):
        (place / "OUTPUT").unlink(missing_ok=True)
        ran = run_step(scripts(action)[1], inputs_of(action, **words), place, root)
        assert ran.status == 2
        assert (place / "OUTPUT").read_text() == "verdict=error\n"
        assert not (place / "rocpr-gate.svg").exists()
    (place / "bin" / "rocpr").unlink()
    (place / "bin" / "rocpr").write_text("#!/bin/sh\nexit 1\n")
    (place / "bin" / "rocpr").chmod(0o755)
    (place / "OUTPUT").unlink()
    ran = run_step(scripts(action)[1], inputs_of(action, rules="r", scores="s"), place, root)
    assert (ran.status, ran.printed, (place / "OUTPUT").read_text()) == (1, "", "verdict=error\n")


def test_the_action_installs_its_own_revision(action: dict[str, Any], place: Path, root: Path) -> None:
    if subprocess.run(["sh", "deploy/setup.sh", "run", "check"], cwd=root, check=False, capture_output=True).returncode:
        pytest.skip(".venv was not made by deploy/setup.sh from the present lock")
    install, *_ = action["runs"]["steps"]
    assert install["if"] == "inputs.install == 'true'"
    ran = run_step(install, inputs_of(action), place, root)
    assert (ran.status, ran.complaints) == (0, "")
    assert (place / "PATH").read_text() == f"{root}/.venv/bin\n"
    assert (root / ".venv/bin/rocpr").exists()


def test_setting_up_without_an_argument_is_for_running(root: Path) -> None:
    def set_up(*words: str) -> Ran:
        done = subprocess.run(
            ["sh", "deploy/setup.sh", *words], cwd=root, check=False, capture_output=True, text=True, timeout=60
        )
        return Ran(done.returncode, done.stdout, done.stderr)

    for words in (("check",), ("test", "check")):
        assert set_up(*words) == Ran(2, "", "usage: sh deploy/setup.sh [run|dev] [check]\n")
    ready = set_up("run", "check")
    assert set_up("", "check") == ready
    if ready.status == 0:
        assert set_up() == ready  # there is nothing to make


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


@pytest.mark.parametrize("asked", ["here", "server"])
@pytest.mark.parametrize("text", STATUSES, ids=["passing", "failing", "undecided"])
def test_the_job_runs_the_gate(
    gitlab: dict[str, Any], place: Path, root: Path, guarded: str, *, text: str, asked: str
) -> None:
    given = {"ROCPR_SERVER": guarded, "ROCPR_API_KEY": KEY} if asked == "server" else {}
    variables = {"RULES": f"{name_of(text)}.toml", "SCORES": ALL.name, **given}
    ran = run_job(gitlab[".rocpr-gate"], variables, place, root)
    assert (ran.status, ran.complaints) == (STATUSES[text], "")
    assert check_junit(place / "rocpr-gate.xml") == ENDINGS[text]
    assert title_of(place / "rocpr-gate.svg") == f"Gate {VERDICTS[STATUSES[text]]}"


def test_the_job_takes_a_baseline(gitlab: dict[str, Any], place: Path, root: Path) -> None:
    variables = {"RULES": "drop.toml", "SCORES": TEN.name, "BASELINE": ALL.name}
    ran = run_job(gitlab[".rocpr-gate"], variables, place, root)
    assert (ran.status, ran.complaints) == (0, "")


def test_a_job_without_a_verdict_has_a_report_of_that(gitlab: dict[str, Any], place: Path, root: Path) -> None:
    ran = run_job(gitlab[".rocpr-gate"], {"RULES": "drop.toml", "SCORES": ALL.name}, place, root)
    assert ran.status == 2
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
    assert (ran.status, ran.complaints) == (STATUSES[text], "")
    assert check_junit(place / "rocpr-gate.xml") == ENDINGS[text]
    assert title_of(place / "rocpr-gate.svg") == f"Gate {VERDICTS[STATUSES[text]]}"


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
    assert (clean.status, gate.status) == (0, STATUSES[text])
    assert check_junit(place / "rocpr-gate.xml") == ENDINGS[text]
    assert title_of(place / "rocpr-gate.svg") == f"Gate {VERDICTS[STATUSES[text]]}"


@needs_curl
def test_the_steps_with_curl(jenkinsfile: str, place: Path, root: Path, guarded: str) -> None:
    _, stage = both_stages(jenkinsfile)
    shutil.copy(root / "deploy/ci/gate.sh", place)
    shutil.copy(place / "failing.json", place / "rules.json")
    named = {"ROCPR_API_KEY": KEY} if "ROCPR_API_KEY = credentials(" in stage else {}
    variables = variables_of(stage) | {"SCORES": ALL.name, "ROCPR_SERVER": guarded} | named
    clean, gate = (run(["sh", "-xe", "-c", step], place, variables, root) for step in steps(stage))
    assert (clean.status, gate.status) == (0, 1)
    assert KEY not in gate.printed + gate.complaints  # Jenkins' sh -x shows commands
    assert check_junit(place / "rocpr-gate.xml") == ENDINGS[FAILING]
    assert title_of(place / "rocpr-gate.svg") == "Gate failed"


def test_the_readme_lists_every_file(root: Path) -> None:
    folder = root / "deploy/ci"
    text = (folder / "README.md").read_text()
    rows = re.findall(r"^\| \[(.+?)\]\((.+?)\)", text, re.MULTILINE)
    files = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()} - {"README.md"}
    assert {name for name, _ in rows} == {target for _, target in rows} == files
    assert all((folder / target).exists() for target in re.findall(r"\]\(([^)#]+)\)", text))
