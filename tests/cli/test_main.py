"""The command line as a process: it has a server's environment before NumPy is imported."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from service.environment import server_environment

RUN = """
import sys
from service.cli.main import main
sys.argv = ["rocpr", "--help"]
sys.stdout = sys.stderr
try:
    main()
except SystemExit:
    sys.stdout = sys.__stdout__
"""
"""Runs a command, without a word on standard output."""


def variables_after(code: str, root: Path, **variables: str) -> dict[str, str]:
    """The environment of a process of the command line, after this code."""
    not_ours = {name: value for name, value in os.environ.items() if name not in server_environment()}
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", f"{code}\nimport json, os; print(json.dumps(dict(os.environ)))"],
        cwd=root,
        env={**not_ours, **variables},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    found: dict[str, str] = json.loads(run.stdout)
    return found


def test_the_process_is_prepared_before_numpy_is_there(root: Path) -> None:
    spied = """
import os, sys
class Spy:
    def find_spec(self, name, *_):
        if name == "numpy":
            os.environ["SEEN"] = os.environ.get("OPENBLAS_NUM_THREADS", "")
sys.meta_path.insert(0, Spy())
"""
    found = variables_after(spied + RUN, root)
    assert found["SEEN"] == server_environment()["OPENBLAS_NUM_THREADS"]
    assert {"OPENBLAS_NUM_THREADS", "ARROW_DEFAULT_MEMORY_POOL"} <= found.keys()


def test_what_is_set_stays(root: Path) -> None:
    assert variables_after(RUN, root, OPENBLAS_NUM_THREADS="3")["OPENBLAS_NUM_THREADS"] == "3"


def test_a_process_that_has_loaded_numpy_is_left_alone(root: Path) -> None:
    found = variables_after("import numpy" + RUN, root)
    assert not server_environment().keys() & found.keys()


@pytest.mark.parametrize("module", ["main", "commands"])
def test_to_import_it_changes_nothing(root: Path, module: str) -> None:
    found = variables_after(f"import service.cli.{module}", root)
    assert not server_environment().keys() & found.keys()
