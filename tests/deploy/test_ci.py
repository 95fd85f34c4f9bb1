"""deploy/ci: each file is well-formed, and its shell steps, run as the CI server would, stop a job when they should."""

import json
import os
import re
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml
from pyarrow import csv

from tests.cli.comparing import sample
from tests.cli.gate_server import KEY, guarded
from tests.cli.gating import ALL, DROP, FAILING, PASSING, RULES, STATUSES, TEN, UNDECIDED
from tests.cli.scripted_server import Scripted, problem, scripted
from tests.e2e.conftest import free_port
from tests.junit_facts import check_junit
from tests.properties.bodies import arrow_body, parquet_body

__all__ = ["guarded"]

SHELLCHECK = Path(sys.executable).with_name("shellcheck")
NODE = shutil.which("node")
CURL = shutil.which("curl")
ENDINGS = {PASSING: ["passed"], FAILING: ["passed", "failure"], UNDECIDED: ["passed", "error"]}
VERDICTS = {0: "passed", 1: "failed", 2: "undecided"}
EXPRESSION = re.compile(r"\$\{\{(.*?)\}\}")
MARKDOWN = Scripted(200, b"### Gate passed\n", "text/markdown; charset=utf-8")


def version_of(program: str | None) -> tuple[int, ...]:
    """The version of a program, () without one."""
    if program is None:
        return ()
    text = subprocess.run([program, "--version"], capture_output=True, text=True, timeout=20, check=True).stdout
    return tuple(map(int, re.search(r"(\d+)\.(\d+)", text).groups()))


needs_curl = pytest.mark.skipif(version_of(CURL) < (7, 76), reason="there is no curl, 7.76 or newer, on this machine")
needs_node = pytest.mark.skipif(version_of(NODE) < (18,), reason="there is no Node, 18 or newer, on this machine")


@dataclass(frozen=True)
class Ran:
    """How a script ended."""

    status: int
    printed: str
    complaints: str


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A directory with scores and rules, as a repository would have them, and with a `rocpr` in bin/."""
    for path in (ALL, TEN):
        shutil.copy(path, tmp_path)
        (tmp_path / f"{path.stem}.json").write_text(json.dumps(sample(path)))
    for name, text in {"passing": PASSING, "failing": FAILING, "undecided": UNDECIDED, "drop": DROP}.items():
        (tmp_path / f"{name}.toml").write_text(f"paired = true\n{text}" if text == DROP else text)
        (tmp_path / f"{name}.json").write_text(json.dumps(RULES[text]))
    (tmp_path / "bin").mkdir()
    rocpr = tmp_path / "bin" / "rocpr"
    rocpr.write_text(f"#!/bin/sh\nexec {sys.executable} -c 'from service.cli.main import main; main()' \"$@\"\n")
    rocpr.chmod(0o755)
    return tmp_path


def name_of(text: str) -> str:
    return {PASSING: "passing", FAILING: "failing", UNDECIDED: "undecided"}[text]


def run(command: list[str], place: Path, variables: Mapping[str, str], root: Path) -> Ran:
    """Run a command in a directory with nothing in its environment but the usual, these variables and our `rocpr`."""
    inherited = {name: os.environ[name] for name in ("HOME", "LANG", "TMPDIR") if name in os.environ}
    path = f"{place / 'bin'}:{os.environ['PATH']}"
    ours = {name: os.environ[name] for name in os.environ if name.startswith("COVERAGE_")}
    done = subprocess.run(
        command,
        cwd=place,
        env={**inherited, **ours, "PATH": path, "PYTHONPATH": str(root), **variables},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    return Ran(done.returncode, done.stdout, done.stderr)


def check_script(text: str, shell: str) -> None:
    """A script has no complaint of shellcheck."""
    command = [SHELLCHECK, f"--shell={shell}", "-"]
    done = subprocess.run(command, input=text, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout


# GitHub.


@pytest.fixture(scope="module")
def action(root: Path) -> dict[str, Any]:
    return yaml.safe_load((root / "deploy/ci/github/action.yml").read_text())


def test_the_action_is_well_formed(action: dict[str, Any]) -> None:
    assert action.keys() == {"name", "description", "inputs", "outputs", "runs"}
    assert action["runs"]["using"] == "composite"
    for name, entry in action["inputs"].items():
        assert entry["description"].endswith("."), name
        assert entry.get("required") is True or isinstance(entry["default"], str), name
    for step in action["runs"]["steps"]:
        assert step["shell"] == "bash"
        assert not EXPRESSION.search(step["run"])  # an input would be run
        check_script(step["run"], "bash")
    text = json.dumps(action)
    assert set(re.findall(r"inputs\.([\w-]+)", text)) == set(action["inputs"])
    ids = {step["id"] for step in action["runs"]["steps"] if "id" in step}
    assert set(re.findall(r"steps\.(\w+)\.outputs", text)) <= ids
    for step in action["runs"]["steps"]:
        known = {*step.get("env", {}), "GITHUB_ACTION_PATH", "GITHUB_PATH", "GITHUB_OUTPUT"}
        used = set(re.findall(r"\$\{?([A-Z][A-Z_]+)", step["run"]))
        assert used <= known


def run_step(step: dict[str, Any], inputs: dict[str, str], place: Path, root: Path) -> Ran:
    """Run a step as GitHub does: inputs put in, then its shell."""

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
    _, gate = action["runs"]["steps"]
    ran = run_step(gate, inputs, place, root)
    assert (ran.status, ran.complaints) == (STATUSES[text], "")
    assert (place / "OUTPUT").read_text() == f"verdict={VERDICTS[STATUSES[text]]}\n"
    assert (place / "STEP_SUMMARY").read_text() == (place / "m.md").read_text() + "\n"
    assert check_junit(place / "gate.xml") == ENDINGS[text]


def test_the_action_takes_a_baseline_another_directory_and_any_name(
    action: dict[str, Any], place: Path, root: Path
) -> None:
    """A name is a name, whatever a shell would make of it."""
    name = "-- $(touch made) `touch made`.csv"
    (place / "deep er").mkdir()
    for old, new in (("drop.toml", "-drop.toml"), (TEN.name, name), (ALL.name, "old one.csv")):
        (place / old).rename(place / "deep er" / new)
    inputs = inputs_of(
        action, rules="-drop.toml", scores=name, baseline="old one.csv", working_directory="deep er", api_key=KEY
    )
    ran = run_step(action["runs"]["steps"][1], inputs, place, root)
    assert (ran.status, ran.complaints) == (0, "")
    assert "against old one.csv" in ran.printed
    assert not list(place.rglob("made"))


def test_the_action_without_a_verdict(action: dict[str, Any], place: Path, root: Path) -> None:
    """An error of any kind is none, also one that comes after the verdict was printed."""
    (place / "typo.toml").write_text(PASSING.replace("metric", "mtric"))
    for words in (
        {"rules": "passing.toml", "scores": "nothing.csv"},
        {"rules": "typo.toml", "scores": ALL.name},
        {"rules": "passing.toml", "scores": ALL.name, "junit": "/dev/full"},
    ):
        (place / "OUTPUT").unlink(missing_ok=True)
        ran = run_step(action["runs"]["steps"][1], inputs_of(action, **words), place, root)
        assert ran.status == 2
        assert (place / "OUTPUT").read_text() == "verdict=error\n"
    (place / "bin" / "rocpr").unlink()
    (place / "bin" / "rocpr").write_text("#!/bin/sh\nexit 1\n")
    (place / "bin" / "rocpr").chmod(0o755)
    (place / "OUTPUT").unlink()
    ran = run_step(action["runs"]["steps"][1], inputs_of(action, rules="r", scores="s"), place, root)
    assert (ran.status, ran.printed, (place / "OUTPUT").read_text()) == (1, "", "verdict=error\n")


def test_the_action_installs_its_own_revision(action: dict[str, Any], place: Path, root: Path) -> None:
    if subprocess.run(["sh", "deploy/setup.sh", "run", "check"], cwd=root, check=False, capture_output=True).returncode:
        pytest.skip(".venv was not made by deploy/setup.sh from the present lock")
    install, _ = action["runs"]["steps"]
    assert install["if"] == "inputs.install == 'true'"
    ran = run_step(install, inputs_of(action), place, root)
    assert (ran.status, ran.complaints) == (0, "")
    assert (place / "PATH").read_text() == f"{root}/.venv/bin\n"
    assert (root / ".venv/bin/rocpr").exists()


def test_setting_up_without_a_word_is_for_running(root: Path) -> None:
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
        assert job["artifacts"] == {"when": "always", "reports": {"junit": "rocpr-gate.xml"}}
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
    """Groovy is not parsed here: brackets and quotes match, and every section is one of a declarative pipeline."""
    code, stage = both_stages(jenkinsfile)
    for text in (code, stage):
        bare = re.sub(r"'[^'\n]*'", "", text)
        assert "'" not in bare
        for opening, closing in ("{}", "()"):
            assert bare.count(opening) == bare.count(closing)
    sections = set(re.findall(r"^ *(\w+)(?:\(''\))? \{$", re.sub(r"'[^'\n]*'", "''", code), re.MULTILINE))
    assert sections == {"pipeline", "options", "environment", "stages", "stage", "steps", "post", "always"}
    assert "junit 'rocpr-gate.xml'" in code
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


# curl and Node.


def gate_sh(place: Path, root: Path, *words: str, **variables: str) -> Ran:
    return run(["sh", str(root / "deploy/ci/gate.sh"), *words], place, variables, root)


def gate_mjs(place: Path, root: Path, *words: str, **variables: str) -> Ran:
    return run([str(NODE), str(root / "deploy/ci/gate.mjs"), *words], place, variables, root)


SCRIPTS = pytest.mark.parametrize(
    "script", [pytest.param(gate_sh, marks=needs_curl), pytest.param(gate_mjs, marks=needs_node)], ids=["curl", "node"]
)


def test_the_script_has_no_complaint_of_shellcheck(root: Path) -> None:
    check_script((root / "deploy/ci/gate.sh").read_text(), "sh")


@SCRIPTS
@pytest.mark.parametrize("suffix", ["csv", "json", "parquet", "arrow"])
@pytest.mark.parametrize("text", STATUSES, ids=["passing", "failing", "undecided"])
def test_a_script_stops_a_job(script: Any, place: Path, root: Path, guarded: str, *, text: str, suffix: str) -> None:
    scores = f"{ALL.stem}.{suffix}"
    if suffix in {"parquet", "arrow"}:
        make = parquet_body if suffix == "parquet" else arrow_body
        (place / scores).write_bytes(make(csv.read_csv(ALL)))
    ran = script(place, root, f"{name_of(text)}.json", scores, ROCPR_SERVER=guarded, ROCPR_API_KEY=KEY)
    assert (ran.status, ran.complaints) == (STATUSES[text], "")
    assert "roc" in ran.printed
    assert f"Gate {VERDICTS[STATUSES[text]]}" in ran.printed
    assert ("below min 0.999." in ran.printed) is (text == FAILING)


@SCRIPTS
def test_options_of_a_table(script: Any, place: Path, root: Path, guarded: str) -> None:
    """Any name and any label, as UTF-8, whatever a URL would make of it."""
    (place / "t.csv").write_text('"p & ""q"" é %41+",y,old\n0.9,no=1,3\n0.4,yes #?,1\n0.3,no=1,2\n0.1,yes #?,0\n')
    words = ['scores=p & "q" é %41+', "labels=y", "positive_label=no=1", "baseline_scores=old", "paired=true"]
    (place / "rules.json").write_text('[{"metric": "roc",\n "max_drop": 0, "confidence": 0.5}]\n')
    words.append('intervals={"seed": 7, "level": 0.9}')
    ran = script(place, root, "rules.json", "t.csv", *words, ROCPR_SERVER=f"{guarded}/", ROCPR_API_KEY=KEY)
    assert "baseline 1" in ran.printed or "| 1.0000 |" in ran.printed, ran.complaints
    assert (ran.status, ran.complaints) == (1, "")


@SCRIPTS
def test_a_json_body_carries_its_options_and_keeps_its_digits(
    script: Any, place: Path, root: Path, guarded: str
) -> None:
    """2^53 + 1 is no double, and must not become one on the way."""
    body = '\n  {"scores": [9007199254740993, 1], "labels": [1, 0]}'
    (place / "digits.json").write_text(body)
    ran = script(place, root, "passing.json", "digits.json", ROCPR_SERVER=guarded, ROCPR_API_KEY=KEY)
    assert ran.status == 2
    assert "No double holds this integer" in ran.complaints
    document = sample(TEN) | {"baseline": sample(ALL), "paired": True}
    (place / "both.json").write_text(json.dumps(document, indent=1))
    ran = script(place, root, "drop.json", "both.json", ROCPR_SERVER=guarded, ROCPR_API_KEY=KEY)
    assert (ran.status, ran.complaints) == (0, "")


@SCRIPTS
@pytest.mark.parametrize(
    ("words", "variables", "message"),
    [
        ((), {}, "give RULES.json and SCORES"),
        (("passing.json", "breast_cancer.csv"), {"ROCPR_SERVER": ""}, "set ROCPR_SERVER"),
        (("passing.json", "breast_cancer.csv"), {"ROCPR_SERVER": "127.0.0.1:9"}, "http://... or https://..."),
        (("nothing.json", "breast_cancer.csv"), {}, "nothing.json"),
        (("passing.json", "nothing.csv"), {}, "nothing.csv"),
        (("passing.json", "gate.txt"), {}, "gate.txt does not end in .csv"),
        (("passing.json", "breast_cancer.csv", "scores"), {}, "scores is not NAME=VALUE"),
        (("passing.json", "breast_cancer.csv", "=p"), {}, "=p is not NAME=VALUE"),
        (("passing.json", "breast_cancer.json", "scores=p"), {}, "options go with a table"),
        (("passing.json", "passing.json"), {}, "does not start with {"),
        (("passing.json", "breast_cancer.csv"), {"ROCPR_API_KEY": "two words"}, "holds characters that no key has"),
        (("passing.json", "breast_cancer.csv"), {"ROCPR_API_KEY": 'a"\nb'}, "holds characters that no key has"),
        (("passing.json", "breast_cancer.csv"), {"ROCPR_API_KEY": "wrong"}, "401"),
        (("passing.json", "breast_cancer.csv", "keep=all"), {}, "422"),
        (("passing.json", "breast_cancer.csv"), {"ROCPR_SERVER": "nobody"}, "connect"),
    ],
)
def test_without_a_verdict_a_script_says_why(
    script: Any,
    place: Path,
    root: Path,
    guarded: str,
    *,
    words: tuple[str, ...],
    variables: dict[str, str],
    message: str,
) -> None:
    (place / "gate.txt").write_text("")
    variables = {"ROCPR_SERVER": guarded, "ROCPR_API_KEY": KEY, "ROCPR_SECONDS": "1"} | variables
    if variables["ROCPR_SERVER"] == "nobody":
        variables["ROCPR_SERVER"] = f"http://127.0.0.1:{free_port()}"
    ran = script(place, root, *words, **variables, GITHUB_STEP_SUMMARY="summary")
    assert (ran.status, ran.printed) == (2, "")
    assert message in ran.complaints.lower() + ran.complaints
    told = re.sub(r"^gate\.\w+: ", "", ran.complaints).rstrip("\n")
    assert (place / "summary").read_text() == f"### Gate not decided ❔\n\n{textwrap.indent(told, '    ')}\n\n"
    assert "two words" not in ran.complaints
    assert "wrong" not in ran.complaints.replace("is wrong", "")


@SCRIPTS
def test_a_script_waits_for_a_busy_server(script: Any, place: Path, root: Path) -> None:
    verdict = MARKDOWN if script is gate_sh else Scripted()
    with scripted(problem(503, Retry_After="1"), problem(429, Retry_After="1"), verdict) as server:
        ran = script(place, root, "passing.json", ALL.name, ROCPR_SERVER=server.url)
    assert (ran.status, len(server.asked)) == (0, 3), ran.complaints
    assert "Gate passed" in ran.printed
    assert "Not so." not in ran.printed
    assert {asked.body for asked in server.asked} == {ALL.read_bytes()}


@SCRIPTS
def test_a_script_waits_no_longer_than_it_may(script: Any, place: Path, root: Path) -> None:
    with scripted(problem(503, Retry_After="1")) as server:
        ran = script(place, root, "passing.json", ALL.name, ROCPR_SERVER=server.url, ROCPR_SECONDS="2")
    assert (ran.status, ran.printed) == (2, "")
    assert 1 <= len(server.asked) <= 4
    assert "503" in ran.complaints


@SCRIPTS
@pytest.mark.parametrize(
    "answer",
    [
        Scripted(200, b"<html>", "text/html"),
        Scripted(200, b'{"ok": true}'),
        Scripted(409, b"<html>", "text/html"),
        Scripted(200, b"", ""),
        Scripted(302, b"", "text/html", {"Location": "/elsewhere"}),
        Scripted(200, b'{"status": "toString", "checks": [], "warnings": []}'),
        Scripted(200, b"### Gate failed\n", "text/markdown"),
        Scripted(409, b"### Gate passed\n", "text/markdown"),
    ],
    ids=["html", "json", "conflict", "empty", "redirect", "other status", "failed", "passed"],
)
def test_another_servers_answer_is_no_verdict(script: Any, place: Path, root: Path, answer: Scripted) -> None:
    with scripted(answer) as server:
        ran = script(place, root, "passing.json", ALL.name, ROCPR_SERVER=server.url)
    assert (ran.status, ran.printed) == (2, "")
    assert str(answer.status) in ran.complaints


@SCRIPTS
def test_a_summary_that_cannot_be_written_changes_no_status(script: Any, place: Path, root: Path, guarded: str) -> None:
    """To 1, that is, which means a failed gate."""
    variables = {"ROCPR_SERVER": guarded, "ROCPR_API_KEY": KEY, "GITHUB_STEP_SUMMARY": "no/such/place"}
    for words in (("passing.json", ALL.name), ("passing.json", "nothing.csv")):
        assert script(place, root, *words, **variables).status == 2


@needs_node
def test_the_script_for_node_tells_a_detail_once(place: Path, root: Path, guarded: str) -> None:
    """Which a problem of one error has twice; one of none, or of several, has another."""
    (place / "named.csv").write_text("p,y\n1,1\n0,0\n")
    ran = gate_mjs(place, root, "passing.json", "named.csv", ROCPR_SERVER=guarded, ROCPR_API_KEY=KEY)
    assert (ran.status, ran.complaints.count("Columns scores and labels")) == (2, 1)
    with scripted(problem(400)) as server:
        ran = gate_mjs(place, root, "passing.json", ALL.name, ROCPR_SERVER=server.url)
    assert "the server answers 400: No. Not so.\n" in ran.complaints


@needs_curl
def test_the_key_is_in_no_command_line_and_no_file(place: Path, root: Path, guarded: str) -> None:
    """A curl of ours writes down what it is called with, and what lies in the script's directory."""
    spy = place / "bin" / "curl"
    spy.write_text(
        f'#!/bin/sh\nprintf "%s\\n" "$@" >>"{place}/words"\ncat "$TMPDIR"/*/* >>"{place}/files"\nexec {CURL} "$@"\n'
    )
    spy.chmod(0o755)
    (place / "temporary").mkdir()
    variables = {"ROCPR_SERVER": guarded, "ROCPR_API_KEY": KEY, "TMPDIR": str(place / "temporary")}
    ran = gate_sh(place, root, "passing.json", f"{ALL.stem}.json", **variables)
    assert ran.status == 0, ran.complaints
    assert guarded in (place / "words").read_text()
    assert '"fail_status": 409' in (place / "files").read_text()
    assert KEY not in (place / "words").read_text() + (place / "files").read_text()
    assert list((place / "temporary").iterdir()) == []


@needs_node
def test_the_script_for_node_adds_to_the_summary(place: Path, root: Path, guarded: str) -> None:
    (place / "summary").write_text("# Before\n")
    variables = {"ROCPR_SERVER": guarded, "ROCPR_API_KEY": KEY, "GITHUB_STEP_SUMMARY": "summary"}
    ran = gate_mjs(place, root, "failing.json", ALL.name, **variables)
    assert (ran.status, ran.complaints) == (1, "")
    before, heading, *rest = (place / "summary").read_text().splitlines()
    assert (before, heading) == ("# Before", "### Gate failed ❌")
    assert len([line for line in rest if line.startswith("| ")]) == 4
    with scripted(Scripted()) as server:
        ran = gate_mjs(place, root, "passing.json", ALL.name, ROCPR_SERVER=server.url, GITHUB_STEP_SUMMARY="summary")
    assert (ran.status, "no Markdown from" in ran.complaints) == (2, True)


@needs_curl
def test_the_script_adds_to_the_summary_and_writes_junit(place: Path, root: Path, guarded: str) -> None:
    (place / "summary").write_text("# Before\n")
    variables = {"GITHUB_STEP_SUMMARY": "summary", "ROCPR_JUNIT": "gate.xml"}
    ran = gate_sh(place, root, "failing.json", ALL.name, ROCPR_SERVER=guarded, ROCPR_API_KEY=KEY, **variables)
    assert (ran.status, ran.complaints) == (1, "")
    assert (place / "summary").read_text() == f"# Before\n{ran.printed}"
    assert check_junit(place / "gate.xml") == ENDINGS[FAILING]


def test_the_readme_lists_every_file(root: Path) -> None:
    folder = root / "deploy/ci"
    text = (folder / "README.md").read_text()
    rows = re.findall(r"^\| \[(.+?)\]\((.+?)\)", text, re.MULTILINE)
    files = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()} - {"README.md"}
    assert {name for name, _ in rows} == {target for _, target in rows} == files
    assert all((folder / target).exists() for target in re.findall(r"\]\(([^)#]+)\)", text))
