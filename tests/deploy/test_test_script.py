"""deploy/test.sh fails whenever one of its steps does."""

import os
import subprocess
from pathlib import Path

import pytest

PROGRAMS = ("ruff", "mypy", "lint-imports", "coverage", "python")
CHECKS = {"style": "ruff check", "format": "ruff format", "layers": "lint-imports", "types": "mypy"}
STEPS = {
    "": CHECKS | {"tests": "python -m pytest -n 3"},
    "--all": CHECKS
    | {
        "tests": "coverage run -m pytest --all -p tests.uncounted",
        "laws": "python -m pytest --all -n 2",
        "twin": "python -m pytest -n 2 --dist worksteal --plain",
        "Spark": "coverage run -m pytest --all tests/engines/spark",
        "coverage": "coverage report",
    },
}
"""How the command of each step begins, by the script's option."""

PROGRAM = """#!/bin/sh
case "${0##*/} $*" in "$FAILS"*) exit 1 ;; esac
"""


@pytest.fixture
def checkout(root: Path, tmp_path: Path) -> Path:
    """A checkout in which every program does nothing, and the one that FAILS begins with fails."""
    programs = tmp_path / ".venv/bin"
    programs.mkdir(parents=True)
    (tmp_path / "deploy").mkdir()
    (tmp_path / "deploy/setup.sh").write_text("")
    (tmp_path / "deploy/test.sh").write_text((root / "deploy/test.sh").read_text())
    for name in PROGRAMS:
        (programs / name).write_text(PROGRAM)
        (programs / name).chmod(0o755)
    return tmp_path


def status(checkout: Path, option: str, fails: str) -> int:
    variables = {**os.environ, "FAILS": fails}
    command = ["sh", "deploy/test.sh", *option.split()]
    return subprocess.run(command, cwd=checkout, env=variables, capture_output=True, timeout=60, check=False).returncode


@pytest.mark.parametrize("option", STEPS)
def test_it_passes_if_no_step_fails(checkout: Path, option: str) -> None:
    assert status(checkout, option, "no program") == 0


@pytest.mark.parametrize(("option", "step"), [(option, step) for option, steps in STEPS.items() for step in steps])
def test_it_fails_if_a_step_fails(checkout: Path, option: str, step: str) -> None:
    assert status(checkout, option, STEPS[option][step]) != 0
