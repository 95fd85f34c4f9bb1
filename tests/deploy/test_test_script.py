"""deploy/test.sh fails whenever one of its steps does."""

import os
import subprocess
from pathlib import Path

import pytest

PROGRAMS = ("ruff", "mypy", "lint-imports", "coverage", "python")
STEPS = {
    "style": "ruff check",
    "format": "ruff format",
    "types": "mypy",
    "layers": "lint-imports",
    "tests": "coverage run -m pytest -p tests.uncounted",
    "laws": "python -m pytest -n 2",
    "Spark": "coverage run -m pytest tests/engines/spark",
    "coverage": "coverage report",
}
"""How the command of each step begins."""

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


def status(checkout: Path, fails: str) -> int:
    variables = {**os.environ, "FAILS": fails}
    return subprocess.run(
        ["sh", "deploy/test.sh"], cwd=checkout, env=variables, capture_output=True, timeout=60, check=False
    ).returncode


def test_it_passes_if_no_step_fails(checkout: Path) -> None:
    assert status(checkout, "no program") == 0


@pytest.mark.parametrize("step", STEPS)
def test_it_fails_if_a_step_fails(checkout: Path, step: str) -> None:
    assert status(checkout, STEPS[step]) != 0
