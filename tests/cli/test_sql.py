"""`rocpr sql`: a database's answer is groups, which get the same answer from other commands as the rows."""

from __future__ import annotations

import csv
import io
import sqlite3
import sys
from contextlib import closing
from itertools import chain

import duckdb
import pytest

from service.extras import how_to_install
from tests.cli.running import DATA, refusal, run

DIGITS = DATA / "digits_eight.csv"
OPTIONS = ["--table", "digits", "--scores", "scores", "--labels", "labels"]


def asked_duckdb(text: str) -> str:
    connection = duckdb.connect()
    connection.execute(f"CREATE TABLE digits AS SELECT * FROM read_csv('{DIGITS}')")
    return as_csv(connection.execute(text))


def asked_sqlite(text: str) -> str:
    header, *rows = csv.reader(DIGITS.read_text().splitlines())
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute(f"CREATE TABLE digits ({', '.join(f'{name} NUMERIC' for name in header)})")
        connection.executemany(f"INSERT INTO digits VALUES ({', '.join('?' * len(header))})", rows)
        return as_csv(connection.execute(text))


def as_csv(cursor: sqlite3.Cursor | duckdb.DuckDBPyConnection) -> str:
    file = io.StringIO()
    csv.writer(file).writerows([[name for name, *_ in cursor.description], *cursor.fetchall()])
    return file.getvalue()


ASKED = {"duckdb": asked_duckdb, "sqlite": asked_sqlite}


@pytest.mark.parametrize("dialect", ASKED)
def test_groups_have_the_answer_of_the_rows(dialect: str) -> None:
    text = run("sql", "--dialect", dialect, *OPTIONS)
    assert (text.exit_code, text.stderr) == (0, "")
    groups = ASKED[dialect](text.stdout)
    found = run("curves", "-", "--format", "csv", "--json", given=groups)
    assert found.exit_code == 0, found.stderr
    assert found.stdout_bytes == run("curves", DIGITS, "--json").stdout_bytes


@pytest.mark.parametrize("dialect", ASKED)
def test_bins_have_bounds(dialect: str) -> None:
    text = run("sql", "--dialect", dialect, *OPTIONS, "--bins", 50, "--positive-label", 1)
    found = run("curves", "-", "--format", "csv", given=ASKED[dialect](text.stdout))
    assert found.exit_code == 0, found.stderr
    assert "bounded" in found.stdout


def test_labels_are_literals_of_their_type() -> None:
    for label, literal in (
        ("true", "= TRUE"),
        ("2", "= 2"),
        ("spam", "= 'spam'"),
        ('"2"', "= '2'"),
        ("-1", "= -1"),
        ("1e400", "= '1e400'"),
    ):
        assert literal in run("sql", "--dialect", "duckdb", *OPTIONS, "--positive-label", label).stdout


@pytest.mark.parametrize(
    ("words", "detail"),
    [
        (["--weight-decimals", 3], "--weight-decimals needs --weights."),
        (["--weight-decimals", 3, "--weights", "w", "--dialect", "sqlite"], "which has no decimals"),
        (["--table", "f(1)"], "'f(1)' is not the name of a table."),
        (["--slices", "country,score"], "--slices score: groups have a column of this name"),
        (["--bins", 0], "0 is not in the range"),
        (["--bins", 9, "--slices", "country"], "--bins cannot be combined with --slices"),
        (["--dialect", "cobol"], "'cobol' is not one of"),
    ],
)
def test_what_cannot_be_written(words: list[object], detail: str) -> None:
    usual = ["--dialect", "duckdb", *OPTIONS]
    options = dict(zip(usual[::2], usual[1::2], strict=True)) | dict(zip(words[::2], words[1::2], strict=True))
    assert detail in " ".join(refusal(run("sql", *chain.from_iterable(options.items()))).split())


def test_without_the_extra_the_error_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sqlglot.errors", None)
    monkeypatch.setitem(sys.modules, "service.engines.failures", None)
    install = "needs the extra {}. To install it:\n  {}\n"
    done = run("sql", "--dialect", "duckdb", *OPTIONS)
    assert (done.exit_code, done.stderr) == (2, f"Error: rocpr sql {install.format('sql', how_to_install('sql'))}")
    done = run("curves", DIGITS, "--engine", "duckdb")
    wanted = install.format("duckdb", how_to_install("duckdb"))
    assert (done.exit_code, done.stderr) == (2, f"Error: --engine duckdb {wanted}")
