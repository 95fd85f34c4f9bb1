"""What the tests of deploy/ci share: a directory like a repository, and a way to run commands in it."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from tests.cli.comparing import sample
from tests.cli.gate.gating import ALL, DROP, FAILING, PASSING, RULES, STATUSES, TEN, UNDECIDED
from tests.cli.scripted_server import Scripted
from tests.support.junit_facts import check_junit

SHELLCHECK = Path(sys.executable).with_name("shellcheck")
NODE = shutil.which("node")
CURL = shutil.which("curl")
VERDICTS = {0: "passed", 1: "failed", 2: "undecided"}
MARKDOWN = Scripted(200, b"### Gate passed\n", "text/markdown; charset=utf-8")
ENDINGS = {PASSING: ["passed"], FAILING: ["passed", "failure"], UNDECIDED: ["passed", "error"]}


def version_of(program: str | None) -> tuple[int, ...]:
    """The version of a program; () if it is missing."""
    if program is None:
        return ()
    text = subprocess.run([program, "--version"], capture_output=True, text=True, timeout=60, check=True).stdout
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
def place(tmp_path: Path, program: Path) -> Path:
    """A directory with scores and rules, like a repository, and with a `rocpr` in bin/."""
    for path in (ALL, TEN):
        shutil.copy(path, tmp_path)
        (tmp_path / f"{path.stem}.json").write_text(json.dumps(sample(path)))
    for name, text in {"passing": PASSING, "failing": FAILING, "undecided": UNDECIDED, "drop": DROP}.items():
        (tmp_path / f"{name}.toml").write_text(f"paired = true\n{text}" if text == DROP else text)
        (tmp_path / f"{name}.json").write_text(json.dumps(RULES[text]))
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "rocpr").symlink_to(program)
    return tmp_path


def name_of(text: str) -> str:
    return {PASSING: "passing", FAILING: "failing", UNDECIDED: "undecided"}[text]


def run(command: list[str], place: Path, variables: Mapping[str, str], root: Path) -> Ran:
    """Run a command in a directory with only the usual environment, these variables and our `rocpr`."""
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
    """Check that shellcheck has no complaint about a script."""
    command = [SHELLCHECK, f"--shell={shell}", "-"]
    done = subprocess.run(command, input=text, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout


def title_of(picture: Path) -> str:
    """The title of a picture; by default the verdict."""
    return ET.parse(picture).getroot().findtext("{http://www.w3.org/2000/svg}title")


def check_verdict(ran: Ran, place: Path, text: str, junit: str = "rocpr-gate.xml") -> None:
    """Check the status of a job that ran the gate with these rules, its report and its picture."""
    assert ran.status == STATUSES[text]
    assert check_junit(place / junit) == ENDINGS[text]
    assert title_of(place / "rocpr-gate.svg") == f"Gate {VERDICTS[STATUSES[text]]}"


def gate_sh(place: Path, root: Path, *words: str, **variables: str) -> Ran:
    return run(["sh", str(root / "deploy/ci/gate.sh"), *words], place, variables, root)


def gate_mjs(place: Path, root: Path, *words: str, **variables: str) -> Ran:
    return run([str(NODE), str(root / "deploy/ci/gate.mjs"), *words], place, variables, root)


SCRIPTS = pytest.mark.parametrize(
    "script",
    [pytest.param(gate_sh, marks=needs_curl), pytest.param(gate_mjs, marks=[needs_node, pytest.mark.all])],
    ids=["curl", "node"],
)
ASKED = pytest.mark.parametrize("asked", ["here", pytest.param("server", marks=pytest.mark.all)])
"""Where a job's gate is evaluated."""
