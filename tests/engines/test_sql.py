"""The SQL text: every dialect parses it, and in the available engines the whole plan gives the same groups."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest
import sqlglot
from sqlglot import exp

from service.engines import sql
from service.engines.checks import RowColumns
from service.engines.dialects import DIALECTS
from service.engines.plan import group_rows
from service.engines.refining import bound_width
from service.engines.sql import FirstBins, RowSource
from tests.engines.checking import check, is_exact, read_labels
from tests.engines.engines import Postgres, SQLite

PROGRAMS = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))

RANDOM = np.random.default_rng(5)
SIZE = 5_000
LABELS = (RANDOM.random(SIZE) < 0.4).astype(np.int64)
SCORES = RANDOM.normal(size=SIZE) ** 3 + LABELS
SCORES[:500] = RANDOM.choice([-0.0, 0.0, 0.1, 1e-300], 500)
WEIGHTS = RANDOM.integers(0, 3, SIZE) / 2
TABLE = {"p": SCORES, "y": LABELS, "w": WEIGHTS}


@pytest.fixture(scope="module")
def postgres() -> Iterator[Postgres]:
    if not PROGRAMS:
        pytest.skip("PostgreSQL is not installed (Debian: apt install postgresql)")
    engine = Postgres(PROGRAMS[-1].parent)
    yield engine
    engine.close()


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.all)])
def engine(request: pytest.FixtureRequest) -> Any:
    if request.param == "sqlite":
        return SQLite(TABLE)
    loaded: Postgres = request.getfixturevalue("postgres")
    loaded.load(TABLE)
    return loaded


@pytest.mark.parametrize("weights", [None, "w"])
def test_the_plan_runs_on_other_engines(engine: Any, weights: str | None) -> None:
    given = None if weights is None else WEIGHTS
    for tolerance in (None, 1e-4):
        result = group_rows(engine, RowColumns("p", "y", weights), read_labels, tolerance=tolerance, most_bins=1024)
        check(result.groups, SCORES, LABELS == 1, given)
        assert max(each.sum() for each in bound_width(result.groups)) <= (tolerance or 0)
        assert is_exact(result.groups) == (tolerance is None)


BAD = [
    {"p": [0.1, None, 0.3, 0.3]},
    {"y": [0, 1, None, 0]},
    {"y": [0, 1, 2, 0]},
    {"w": [1.0, None, 1.0, 0.0]},
    {"w": [1.0, -1.0, 1.0, 0.0]},
]


@pytest.mark.parametrize("bad", BAD)
def test_bad_rows_show_in_printed_groups(engine: Any, bad: dict[str, list[Any]]) -> None:
    """Nobody has checked the rows before, so a group with a bad row must not look valid."""
    table = {"p": [0.1, 0.2, 0.3, 0.3], "y": [0, 1, 1, 0], "w": [1.0, 2.0, 1.0, 0.0]}
    rows = RowSource("t", "p", "y", "w", negative=(0,), dialect=engine.dialect)
    for columns in (table, table | bad):
        if isinstance(engine, SQLite):
            engine.connection.execute("DROP TABLE t")
            engine.keep("t", {name: np.array(cells, dtype=object) for name, cells in columns.items()})
        else:
            engine.load({name: np.array(cells, dtype=object) for name, cells in columns.items()})
        for text in (sql.exact_text(rows, checked=True), sql.free_bins_text(rows, 1000)):
            groups = engine.rows(text)
            cells = [cell for column in groups.values() for cell in column.tolist()]
            assert any(cell is None for cell in cells) == (columns is not table), text


def test_free_bins_hold_all_rows(engine: Any) -> None:
    groups = engine.rows(sql.free_bins_text(RowSource("t", "p", "y", dialect=engine.dialect), 500))
    place = np.argsort(groups["score_from"])
    low, high = groups["score_from"][place], groups["score_to"][place]
    assert 20 < low.size <= 501
    assert (low[1:] > high[:-1]).all()
    assert groups["positives"].sum() == LABELS.sum()
    assert groups["negatives"].sum() == SIZE - LABELS.sum()


def texts(rows: RowSource) -> list[str]:
    first = FirstBins(-1.5, 2.0**15, logarithmic=True)
    return [
        sql.labels_text(rows),
        sql.probe_text(rows, whole=("scores", "weights")),
        sql.exact_text(rows),
        sql.exact_text(rows, checked=True),
        sql.free_bins_text(rows, 4096),
        sql.bins_text(rows, first),
        sql.bins_text(rows, first, ["level_1", "level_2"]),
        sql.exact_part_text(rows, first, ["level_1"]),
    ]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_dialect_reads_its_text(dialect: str, *, runs_all: bool) -> None:
    rows = RowSource("shop.order", "score", "group", "weight", ("it's \\ %s",), by=("a country",), dialect=dialect)
    for text in texts(rows)[:: 1 if runs_all else 2]:
        (tree,) = sqlglot.parse(text, dialect=dialect, error_level=sqlglot.ErrorLevel.RAISE)
        assert isinstance(tree, exp.Query)
        names = {name.this for name in tree.find_all(exp.Identifier)}
        assert {name.lower() for name in names} >= {"shop", "order", "score" if "score" in text else "group"}
        assert all(name.args["quoted"] for name in tree.find_all(exp.Identifier)), text
        labels = [literal.this for literal in tree.find_all(exp.Literal) if literal.is_string]
        assert set(labels) <= {"it's \\ %s"}


def test_counts_of_sql_server_have_64_bits() -> None:
    """Its COUNT fails above 2^31 rows."""
    rows = RowSource("t", "p", "y", dialect="tsql")
    for text in (sql.exact_text(rows, checked=True), sql.free_bins_text(rows, 10)):
        assert "COUNT_BIG(" in text
        assert "COUNT(" not in text


@pytest.mark.parametrize(
    ("dialect", "name", "column"),
    [
        ("snowflake", "p", '"P"'),
        ("snowflake", '"p"', '"p"'),
        ("postgres", "P", '"p"'),
        ("postgres", '"P"', '"P"'),
        ("bigquery", "my score", "`my score`"),
        ("tsql", "a]b", "[a]]b]"),
        ("mysql", "`order`", "`order`"),
        ("duckdb", 'x"; DROP TABLE t; --', '"x""; DROP TABLE t; --"'),
    ],
)
def test_names_are_quoted_as_the_dialect_would_fold_them(dialect: str, name: str, column: str) -> None:
    assert f"CAST({column} AS" in sql.exact_text(RowSource("t", name, "y", dialect=dialect))


def test_bins_that_an_engine_mixes_up_are_united() -> None:
    """Even if FLOOR and LN are wrong, no tie is in two groups."""

    class Careless(SQLite):
        def __init__(self) -> None:
            super().__init__(TABLE)
            self.connection.create_function("FLOOR", 1, lambda number: None if number is None else int(number * 7) % 50)

    result = group_rows(Careless(), RowColumns("p", "y"), read_labels, tolerance=1e-3, most_bins=1024)
    check(result.groups, SCORES, LABELS == 1)


def test_duckdb_runs_the_printed_text() -> None:
    connection = duckdb.connect()
    connection.register("t", {"p": SCORES, "y": LABELS == 1})
    for text in (
        sql.exact_text(RowSource("t", "p", "y", positive=(True,)), checked=True),
        sql.free_bins_text(RowSource("t", "p", "y", positive=(True,)), 2**16),
    ):
        groups = connection.execute(text).fetchnumpy()
        assert groups["positives"].sum() == LABELS.sum()
        assert groups["negatives"].sum() == SIZE - LABELS.sum()


IMPORTING = """
import sys
import service.answer, service.app, service.cli.commands
assert not {"duckdb", "sqlglot", "pyspark"} & set(sys.modules), sorted(sys.modules)
"""


def test_rocpr_loads_no_engine_before_it_is_used(root: Path) -> None:
    subprocess.run([sys.executable, "-c", IMPORTING], cwd=root, check=True, timeout=60)
