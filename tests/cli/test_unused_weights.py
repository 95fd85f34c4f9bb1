"""A column that seems to hold weights, and is not used: every command that reads the table says so."""

from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

from tests.cli.running import run as rocpr

ROWS = "scores,labels,sample weight\n0.9,1,2\n0.7,0,1\n0.4,1,1\n0.2,0,5\n"
RULES = '[[rules]]\nmetric = "roc"\nmin = 0.1\n'
TOLD = "the column 'sample weight' is not used. If it holds weights, add --weights 'sample weight'."


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "rows.csv"
    path.write_text(ROWS)
    return path


def test_every_command_says_so_once(table: Path) -> None:
    rules = table.with_name("rules.toml")
    rules.write_text(RULES)
    for words in (
        ("curves", table),
        ("curves", table, "--json", "--plot", table.with_suffix(".svg")),
        ("tradeoffs", table),
        ("slices", table, "--slices", "labels"),
        ("compare", table, "--scores", "scores,labels"),
        ("gate", rules, table),
        ("gate", table, "--init"),
    ):
        run = rocpr(*words)
        assert (run.exit_code, run.stderr) == (0, f"Warning: {table}: {TOLD}\n"), words
    ran = rocpr("compare", f"a={table}", f"b={table}")
    assert ran.stderr.count(TOLD) == 2


def test_typed_tables_and_other_dialects_are_looked_at_too(table: Path) -> None:
    table.write_text(ROWS.replace(",", ";").replace(".", ","))
    run = rocpr("curves", table, "--delimiter", "semicolon", "--decimal", "comma")
    assert TOLD in run.stderr
    path = table.with_suffix(".parquet")
    parquet.write_table(pa.table({"scores": [0.9, 0.1], "labels": [1, 0], "W": [1.0, 2.0]}), path)
    assert "the column 'W' is not used" in rocpr("curves", path).stderr


@pytest.mark.parametrize(
    ("header", "options"),
    [
        ("scores,labels,sample weight", ["--weights", "sample weight"]),
        ("scores,labels,weights", []),
        ("scores,labels,load", []),
        ("weight,labels,scores", ["--scores", "weight"]),
        ("tp,fp,weight", ["--positives", "9", "--negatives", "9"]),
    ],
)
def test_nothing_is_said_of_other_tables(table: Path, header: str, options: list[str]) -> None:
    rows = "1,1,1\n2,2,2\n" if header.startswith("tp") else "0.9,1,2\n0.2,0,3\n"
    table.write_text(f"{header}\n{rows}")
    run = rocpr("curves", table, *options)
    assert (run.exit_code, run.stderr) == (0, "")
