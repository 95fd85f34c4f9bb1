"""The command line as a process: it has a server's environment before NumPy is imported."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from service.cli import main
from service.cli.commands import rocpr as commands
from service.environment import server_environment
from tests.cli.running import error_status, run

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
"""Runs a command with standard output suppressed."""


def variables_after(code: str, root: Path, **variables: str) -> dict[str, str]:
    """The environment of a command-line process after this code."""
    not_ours = {name: value for name, value in os.environ.items() if name not in server_environment()}
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", f"{code}\nimport json, os; print(json.dumps(dict(os.environ)))"],
        cwd=root,
        env={**not_ours, **variables},
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    found: dict[str, str] = json.loads(run.stdout)
    return found


def test_the_process_is_prepared_before_numpy_is_there_but_for_what_is_set(root: Path) -> None:
    spied = """
import os, sys
class Spy:
    def find_spec(self, name, *_):
        if name == "numpy":
            os.environ["SEEN"] = os.environ.get("OPENBLAS_NUM_THREADS", "")
sys.meta_path.insert(0, Spy())
"""
    found = variables_after(spied + RUN, root, ARROW_DEFAULT_MEMORY_POOL="mimalloc")
    assert found["SEEN"] == server_environment()["OPENBLAS_NUM_THREADS"]
    assert found["ARROW_DEFAULT_MEMORY_POOL"] == "mimalloc"


def test_a_process_that_has_loaded_numpy_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "numpy" in sys.modules
    monkeypatch.setattr(main, "prepare_process", lambda: pytest.fail("it was prepared"))
    monkeypatch.setattr(sys, "argv", ["rocpr", "curves", "--help"])
    with pytest.raises(SystemExit) as ended:
        main.main()
    assert ended.value.code == 0


def test_to_import_it_changes_nothing(root: Path) -> None:
    found = variables_after("import service.cli.main, service.cli.commands", root)
    assert not server_environment().keys() & found.keys()


def of_one_value() -> list[list[str]]:
    """Every option of every command that takes a value, with its command."""
    words = [[name] for name in commands.commands if name != "key"] + [["key", "new"]]
    found = []
    for path in words:
        command = commands.commands[path[0]]
        command = command.commands[path[1]] if len(path) > 1 else command
        found += [
            [*path, option.opts[-1]]
            for option in command.params
            if option.opts[0][0] == "-" and not (option.is_flag or option.multiple)
        ]
    return found


@pytest.mark.parametrize("words", of_one_value(), ids=" ".join)
def test_an_option_given_twice_is_refused(words: list[str]) -> None:
    *command, option = words
    done = run(*command, option, "a", f"{option}=b")
    assert (done.exit_code, done.stdout) == (error_status(command[0]), "")
    assert f"Usage: rocpr {' '.join(command)} " in done.stderr
    assert f"Error: {option} is given more than once" in done.stderr


def test_names_for_one_option_are_separated_by_commas() -> None:
    for words in (["compare", "--scores"], ["classes", "--scores"], ["slices", "--slices"], ["curves", "--include"]):
        done = run(words[0], "a.csv", words[1], "a", words[1], "b")
        assert f"{words[1]} is given more than once; separate names by commas: {words[1]} a,b." in done.stderr
    assert run("curves", "a.csv", "--scores", "a", "--scores", "b").stderr.endswith("given more than once.\n")
    assert run("curves", "-h", "-h").exit_code == 0
