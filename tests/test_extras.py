"""How an extra is installed: a command that works in the environment of the process, from any directory."""

import importlib.util
import shlex
import subprocess
import sys

import pytest

from service import extras


def test_the_command_names_this_python_and_what_the_extra_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extras, "find_spec", lambda _name: True)
    python = shlex.quote(sys.executable)
    assert extras.how_to_install("duckdb") == f"{python} -m pip install 'duckdb>=1.4' sqlglot"
    assert extras.how_to_install("png") == f"{python} -m pip install resvg-py"


def test_without_pip_pip_comes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extras, "find_spec", lambda _name: None)
    python = shlex.quote(sys.executable)
    assert extras.how_to_install("sql") == f"{python} -m ensurepip && {python} -m pip install sqlglot"


@pytest.mark.skipif(importlib.util.find_spec("ensurepip") is None, reason="this Python has no ensurepip")
def test_the_programs_that_the_command_runs_are_there() -> None:
    subprocess.run([sys.executable, "-m", "ensurepip", "--version"], check=True, capture_output=True, timeout=120)
