"""`--engine duckdb`: what is not a file, and names in files that a terminal would interpret."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from service.cli.command_error import CommandError
from service.cli.commands import rocpr as commands
from tests.cli.running import run

if TYPE_CHECKING:
    from pathlib import Path

DUCKDB = ["--engine", "duckdb"]


def test_a_pipe_is_refused_rather_than_waited_for(tmp_path: Path) -> None:
    """DuckDB would open it again after its end, and wait for ever."""
    os.mkfifo(tmp_path / "rows.csv")
    done = run("curves", tmp_path / "rows.csv", *DUCKDB)
    assert (done.exit_code, done.stdout) == (2, "")
    assert "rows.csv is not a file. DuckDB reads files more than once" in done.stderr


def test_a_name_in_a_file_does_not_reach_the_terminal_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("\x1b[31mscores,labels\n0.1,0\n")
    with pytest.raises(CommandError) as refused:
        commands.main(["curves", str(tmp_path / "rows.csv"), *DUCKDB], standalone_mode=False)
    assert "\x1b" not in refused.value.message
    assert "\\x1b[31mscores" in refused.value.message
