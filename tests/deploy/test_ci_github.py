"""deploy/ci/github: the action is well-formed, and its steps, run as GitHub would, stop a job when they should."""

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cli.gate.gate_server import KEY, guarded
from tests.cli.gate.gating import ALL, PASSING, STATUSES, TEN
from tests.deploy.ci_jobs import ASKED, VERDICTS, Ran, check_script, check_verdict, name_of, place, run
from tests.deploy.fake_github import REPOSITORY, TOKEN, FakeGithub, artifact, packed

__all__ = ["guarded", "place"]

EXPRESSION = re.compile(r"\$\{\{(.*?)\}\}")


@pytest.fixture(scope="module")
def action(root: Path) -> dict[str, Any]:
    return yaml.safe_load((root / "deploy/ci/github/action.yml").read_text())


def scripts(action: dict[str, Any]) -> list[dict[str, Any]]:
    """The steps that run a script of ours."""
    return [step for step in action["runs"]["steps"] if "run" in step]


def step_of(action: dict[str, Any], step_id: str) -> dict[str, Any]:
    return next(step for step in action["runs"]["steps"] if step.get("id") == step_id)


def value_of(expression: str, known: dict[str, str]) -> str:
    """The value of an expression of GitHub's, of names, texts in quotes, ==, && and ||; an unknown name is empty."""

    def term(word: str) -> str:
        return word.strip("'") if word.startswith("'") else known.get(word, "")

    def truth(part: str) -> str:
        left, equal, right = part.partition(" == ")
        return "true" * (term(left) == term(right)) if equal else term(left)

    for each in expression.split(" || "):
        parts = list(map(truth, each.split(" && ")))
        if all(parts):
            return parts[-1]
    return ""


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
        known = {*step.get("env", {}), "GITHUB_ACTION_PATH", "GITHUB_OUTPUT", "RUNNER_TEMP"}
        used = set(re.findall(r"\$\{?([A-Z][A-Z_]+)", step["run"]))
        assert used <= known


def run_step(step: dict[str, Any], inputs: dict[str, str], place: Path, root: Path, **of_github: str) -> Ran:
    """Run a step as GitHub does: with its inputs inserted, in its shell, and with these variables."""
    known = {f"inputs.{name}": text for name, text in inputs.items()} | {"github.token": TOKEN}
    known["steps.baseline.outputs.file"] = of_github.pop("BASELINE", "")

    def filled(text: str) -> str:
        return EXPRESSION.sub(lambda match: value_of(match[1].strip(), known), text)

    script = place / "step.sh"
    script.write_text(step["run"])
    variables = {name: filled(text) for name, text in step.get("env", {}).items()}
    files = {f"GITHUB_{name}": str(place / name) for name in ("OUTPUT", "STEP_SUMMARY")}
    variables |= files | {"GITHUB_ACTION_PATH": str(root / "deploy/ci/github"), "CI": "true", "RUNNER_TEMP": str(place)}
    variables |= of_github
    folder = place / filled(step.get("working-directory", "."))
    command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", str(script)]
    return run(command, folder, variables | {"PATH": f"{place / 'bin'}:{os.environ['PATH']}"}, root)


def outputs(place: Path) -> dict[str, str]:
    """What the steps have set so far; a later value replaces an earlier one."""
    return dict(line.split("=", 1) for line in (place / "OUTPUT").read_text().splitlines())


def inputs_of(action: dict[str, Any], **given: str) -> dict[str, str]:
    named = {name.replace("_", "-"): text for name, text in given.items()}
    return {name: named.get(name, entry.get("default", "")) for name, entry in action["inputs"].items()}


@ASKED
@pytest.mark.parametrize("text", STATUSES, ids=["passing", "failing", "undecided"])
def test_the_action_runs_the_gate(
    action: dict[str, Any], place: Path, root: Path, guarded: str, *, text: str, asked: str
) -> None:
    given = {"server": guarded, "api_key": KEY} if asked == "server" else {}
    inputs = inputs_of(
        action, rules=f"{name_of(text)}.toml", scores=ALL.name, junit="gate.xml", markdown="m.md", **given
    )
    ran = run_step(step_of(action, "gate"), inputs, place, root)
    assert ran.complaints == ""
    check_verdict(ran, place, text, "gate.xml")
    assert outputs(place) == {"verdict": VERDICTS[STATUSES[text]], "report": "m.md", "baseline": ""}
    assert (place / "STEP_SUMMARY").read_text() == (place / "m.md").read_text() + "\n"


def test_the_action_keeps_the_picture_of_any_verdict(action: dict[str, Any]) -> None:
    gate, kept = step_of(action, "gate"), action["runs"]["steps"][-2]
    assert kept["uses"].startswith("actions/upload-artifact@")
    wanted = "inputs.plot != '' && inputs.artifact != ''"
    assert kept["if"] == f"${{{{ !cancelled() && {wanted} && steps.gate.outputs.verdict != 'error' }}}}"
    assert kept["with"] == {
        "name": "${{ inputs.artifact }}",
        "path": f"{gate['working-directory']}/{gate['env']['INPUT_PLOT']}",
        "if-no-files-found": "ignore",  # there was no verdict
        "overwrite": True,
    }


def test_the_action_draws_no_unwanted_picture(action: dict[str, Any], place: Path, root: Path) -> None:
    inputs = inputs_of(action, rules="passing.toml", scores=ALL.name, plot="")
    assert run_step(step_of(action, "gate"), inputs, place, root).status == 0
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
    ran = run_step(step_of(action, "gate"), inputs, place, root)
    assert (ran.status, ran.complaints) == (0, "")
    assert "against old one.csv" in ran.printed
    assert not list(place.rglob("made"))


def test_what_the_action_prints_is_no_command(action: dict[str, Any], place: Path, root: Path) -> None:
    """A file's name stands alone on a line."""
    (place / ALL.name).rename(place / "::error::owned.csv")
    ran = run_step(
        step_of(action, "gate"), inputs_of(action, rules="passing.toml", scores="::error::owned.csv"), place, root
    )
    first, *printed, last = ran.printed.splitlines()
    assert re.fullmatch(r"::stop-commands::[0-9a-f]{32}", first)
    assert last == f"::{first.removeprefix('::stop-commands::')}::"
    assert printed[0] == "::error::owned.csv"
    assert outputs(place)["verdict"] == "passed"


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
        ran = run_step(step_of(action, "gate"), inputs_of(action, **words), place, root)
        assert ran.status == 3
        assert outputs(place)["verdict"] == "error"
        assert (place / "rocpr-gate.svg").read_text() == "of an earlier run"  # and is not kept
    (place / "bin" / "rocpr").unlink()
    (place / "bin" / "rocpr").write_text("#!/bin/sh\nexit 1\n")
    (place / "bin" / "rocpr").chmod(0o755)
    (place / "OUTPUT").unlink()
    ran = run_step(step_of(action, "gate"), inputs_of(action, rules="r", scores="s"), place, root)
    assert (ran.status, outputs(place)["verdict"]) == (1, "error")


def test_a_failed_rule_is_marked_outside_of_what_is_no_command(action: dict[str, Any], place: Path, root: Path) -> None:
    inputs = inputs_of(action, rules="failing.toml", scores=ALL.name)
    on_github = {"GITHUB_ACTIONS": "true", "GITHUB_WORKSPACE": str(place)}
    ran = run_step(step_of(action, "gate"), inputs, place, root, **on_github)
    assert ran.complaints.startswith("::error file=failing.toml,line=4,title=average_precision::")
    assert ran.printed.splitlines()[0].startswith("::stop-commands::")


def test_the_base_branch_gives_the_baseline(action: dict[str, Any], place: Path, root: Path) -> None:
    """Without one, rules that need it are skipped; with one, the pull request's scores are compared with it."""
    inputs = inputs_of(action, rules="drop.toml", scores=TEN.name, baseline="auto")
    with FakeGithub.serving() as github:
        variables = {"GITHUB_API_URL": github.address, "GITHUB_REPOSITORY": REPOSITORY, "GITHUB_REF_NAME": "main"}
        none = run_step(step_of(action, "baseline"), inputs, place, root, **variables)
        assert (none.status, outputs(place)["file"]) == (0, "")
        ran = run_step(step_of(action, "gate"), inputs, place, root)
        assert (ran.status, outputs(place)["baseline"]) == (0, "")
        assert "so 1 rule is not checked" in ran.printed
        github.artifacts, github.content = [artifact(1, "2026-01-01")], {1: packed(a=ALL.read_bytes())}
        run_step(step_of(action, "baseline"), inputs, place, root, **variables)
    found = outputs(place)["file"]
    (place / found).rename(place / "old.csv")
    ran = run_step(step_of(action, "gate"), inputs, place, root, BASELINE="old.csv")
    assert (ran.status, outputs(place)["baseline"]) == (0, "old.csv")
    assert "against old.csv, paired" in ran.printed


def test_the_verdict_becomes_a_comment(action: dict[str, Any], place: Path, root: Path) -> None:
    inputs = inputs_of(action, rules="failing.toml", scores=ALL.name)
    run_step(step_of(action, "gate"), inputs, place, root)
    step = step_of(action, "comment")
    assert step["env"]["REPORT"] == "${{ steps.gate.outputs.report }}"
    (place / "event.json").write_text(json.dumps({"pull_request": {"number": 7, "head": {"sha": "0" * 40}}}))
    with FakeGithub.serving() as github:
        variables = {"GITHUB_API_URL": github.address, "GITHUB_REPOSITORY": REPOSITORY, "GITHUB_RUN_ID": "5"}
        variables |= {"GITHUB_SERVER_URL": "https://example.org", "GITHUB_EVENT_PATH": str(place / "event.json")}
        ran = run_step(step, inputs, place, root, **variables, REPORT=outputs(place)["report"])
        assert (ran.status, ran.complaints, outputs(place)["url"]) == (0, "", "https://example.org/1")
        (comment,) = github.comments
    assert comment["body"].startswith("<!-- rocpr-gate: rocpr-gate -->\n### Gate failed")


def test_scores_are_kept_where_the_default_branch_passes(action: dict[str, Any]) -> None:
    kept = action["runs"]["steps"][-1]
    assert kept["uses"].startswith("actions/upload-artifact@")
    assert kept["if"] == (
        "inputs.baseline == 'auto' && steps.gate.outputs.verdict == 'passed' && github.event_name == 'push' "
        "&& github.ref_name == github.event.repository.default_branch"
    )
    assert kept["with"]["name"] == "${{ inputs.artifact || 'rocpr-gate' }}-baseline"
    assert "${INPUT_ARTIFACT:-rocpr-gate}-baseline" in step_of(action, "baseline")["run"]


@pytest.mark.all
def test_the_action_installs_its_own_revision(action: dict[str, Any], place: Path, root: Path) -> None:
    if subprocess.run(["sh", "deploy/setup.sh", "run", "check"], cwd=root, check=False, capture_output=True).returncode:
        pytest.skip(".venv was not made by deploy/setup.sh from the present lock")
    install, *_ = action["runs"]["steps"]
    assert install["if"] == "inputs.install == 'true'"
    ran = run_step(install, inputs_of(action), place, root)
    assert (ran.status, ran.complaints) == (0, "")
    assert outputs(place) == {"program": f"{root}/.venv/bin/rocpr"}
    assert (root / ".venv/bin/rocpr").exists()


@pytest.mark.all
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
