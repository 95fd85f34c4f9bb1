"""A column that seems to hold weights, and is not used: every command that reads the table says so."""

from pathlib import Path

import pytest

from tests.cli.gate.gating import written
from tests.cli.running import run as rocpr

ROWS = "scores,labels,sample weight\n0.9,1,2\n0.7,0,1\n0.4,1,1\n0.2,0,5\n"
RULES = '[[rules]]\nmetric = "roc"\nmin = 0.1\n'
TOLD = "The column 'sample weight' is not used."


@pytest.fixture
def table(tmp_path: Path) -> Path:
    return written(tmp_path, ROWS, "rows.csv")


def test_every_command_says_so_once(table: Path) -> None:
    rules = table.with_name("rules.toml")
    rules.write_text(RULES)
    for words in (
        ("curves", table),
        ("curves", table, "--json", "--plot", table.with_suffix(".svg")),
        ("tradeoffs", table),
        ("slices", table, "--slices", "labels"),
        ("gate", rules, table),
        ("gate", rules, table, "--baseline", table),
    ):
        for more in ([], ["--engine", "duckdb"]):
            run = rocpr(*words, *more)
            assert (run.exit_code, " ".join(run.stdout.split()).count(TOLD)) == (0, 1), (words, run.output)


def test_first_rules_are_silent_about_it_but_not_the_command(table: Path) -> None:
    run = rocpr("gate", "--init", table)
    assert run.stderr.startswith(f"Warning: {table}: {TOLD}")
    assert TOLD not in run.stdout


def test_compared_columns_share_it(table: Path) -> None:
    assert " ".join(rocpr("compare", table, "--scores", "scores,labels").stdout.split()).count(TOLD) == 1


def test_each_file_of_a_comparison_is_named(table: Path) -> None:
    for more in ([], ["--engine", "duckdb"]):
        text = " ".join(rocpr("compare", f"old={table}", f"new={table}", *more).stdout.split())
        assert f"unused_weights: old: {TOLD}" in text
        assert f"unused_weights: new: {TOLD}" in text


def test_weights_in_use_are_not_mentioned(table: Path) -> None:
    for more in ([], ["--engine", "duckdb"]):
        assert "unused" not in rocpr("curves", table, "--weights", "sample weight", *more).output
