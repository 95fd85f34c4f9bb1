"""DuckDB over files: which columns and numbers are used as they are, and which are refused rather than rounded."""

from __future__ import annotations

import decimal
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv, feather, parquet

from service.curves.errors import OneClassLabels
from service.engines.checks import RowColumns
from service.engines.duckdb_engine import DuckDB
from service.engines.duckdb_files import Files
from service.engines.failures import ColumnRefused, NoRows
from service.engines.plan import group_rows
from tests.engines.checking import check, read_labels
from tests.engines.duckdb_rows import LABELS, LOGITS, SCORES, SIZE, WEIGHTS, grouped

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("of_type", [pa.int64(), pa.uint64(), pa.decimal128(20, 0), pa.decimal128(38, 0)], ids=str)
def test_large_integers_that_a_double_holds_are_used(of_type: pa.DataType, tmp_path: Path) -> None:
    given = [0, 2**53 + 2, 2**60, 2**62 + 2**10, 2**63 - 2**10]
    scores = pa.array(map(decimal.Decimal, given) if pa.types.is_decimal(of_type) else given, of_type)
    labels = np.array([True, False, True, False, True])
    check(grouped({"p": scores, "y": labels}, tmp_path).groups, np.array(given, dtype=np.float64), labels)


def test_a_quote_in_a_name_belongs_to_it(tmp_path: Path) -> None:
    table = pa.table({'"p"': SCORES, "p": np.zeros(SIZE), '"y"': LABELS, '"s"': LOGITS > 0, '"w"': WEIGHTS})
    columns = RowColumns('"p"', '"y"', '"w"', by=('"s"',))
    result = grouped(table, tmp_path, columns)
    there = LOGITS > 0
    groups = result.groups.take(result.slices['"s"'].astype(bool))
    check(groups, SCORES[there], LABELS[there], WEIGHTS[there])


def write_repeated(path: Path, kind: str, names: list[str]) -> None:
    table = pa.Table.from_arrays([pa.array([0.1, 0.9]), pa.array([0.9, 0.1]), pa.array([0, 1])], names)
    if kind == "csv":
        csv.write_csv(table, path)
    else:
        parquet.write_table(table, path) if kind == "parquet" else feather.write_feather(table, path)


@pytest.mark.parametrize(
    ("kind", "headers"),
    [
        ("parquet", [["p", "p", "y"]]),
        ("parquet", [["P", "p", "y"]]),
        ("parquet", [["p", "P", "y"], ["P", "p", "y"]]),
        ("csv", [["p", "p", "y"]]),
        ("csv", [["p", "P", "y"], ["P", "p", "y"]]),
        ("csv", [["p ", "p", "y"]]),
        ("arrow", [["P", "p", "y"]]),
    ],
)
def test_a_name_that_two_columns_have_is_refused(kind: str, headers: list[list[str]], tmp_path: Path) -> None:
    """DuckDB would take the first of them, and ignores upper and lower case, and blanks around names in CSV."""
    for number, names in enumerate(headers):
        write_repeated(tmp_path / f"{number}.{kind}", kind, names)
    files = Files([str(tmp_path / f"*.{kind}") if kind != "arrow" else str(tmp_path / "0.arrow")], numbers=["p"])
    with DuckDB(files, spill=tmp_path) as engine, pytest.raises(ColumnRefused) as refused:
        group_rows(engine, RowColumns("p", "y"), read_labels)
    assert (refused.value.code, refused.value.column) == ("duplicate", "p")


@pytest.mark.parametrize(
    ("kind", "names", "wanted"),
    [
        ("csv", ["", "column0", "y"], "column0"),
        ("csv", ["P", "p", "p_1"], "p_1"),
        ("parquet", ["P", "p", "p_1"], "p_1"),
    ],
)
def test_a_name_that_duckdb_gives_to_another_column_is_refused(
    kind: str, names: list[str], wanted: str, tmp_path: Path
) -> None:
    """A column without a name gets column0, and the second p becomes p_1."""
    path = tmp_path / f"rows.{kind}"
    columns = [pa.array([0, 1]), pa.array([0.1, 0.9]), pa.array([0.9, 0.1])]
    order = [2, 1, 0] if names[2] == "y" else [0, 1, 2]
    table = pa.Table.from_arrays([columns[place] for place in order], names)
    csv.write_csv(table, path) if kind == "csv" else parquet.write_table(table, path)
    with (
        DuckDB(Files([str(path)], numbers=[wanted]), spill=tmp_path) as engine,
        pytest.raises(ColumnRefused) as refused,
    ):
        group_rows(engine, RowColumns(wanted, names[2] if names[2] == "y" else "P"), read_labels)
    assert (refused.value.code, refused.value.column) == ("duplicate", wanted)


def test_other_columns_may_have_the_same_name(tmp_path: Path) -> None:
    write_repeated(tmp_path / "rows.parquet", "parquet", ["p", "P", "y"])
    with DuckDB(Files([str(tmp_path / "rows.parquet")]), spill=tmp_path) as engine:
        check(
            group_rows(engine, RowColumns("p", "y"), read_labels).groups, np.array([0.1, 0.9]), np.array([False, True])
        )


@pytest.mark.parametrize(
    ("cell", "decimal", "refused"),
    [
        ("1_000", ".", "refused"),
        ("+-5", ".", "refused"),
        ("0.5\v", ".", "refused"),
        ("1_0,5", ",", "refused"),
        ("NA", ".", "refused"),
        ("0x10", ".", "refused"),
        ("0,5", ".", "refused"),
        ("  ", ".", "refused"),
        ("-1,5e+3 ", ",", ""),
        (" +.5", ".", ""),
        ("5.\t", ".", ""),
    ],
)
def test_numbers_of_csv_files_are_read_as_those_of_a_body(
    cell: str,
    decimal: str,
    refused: str,
    tmp_path: Path,
) -> None:
    (tmp_path / "rows.csv").write_text(f"p;y\n{cell};1\n0;0\n")
    files = Files([str(tmp_path / "rows.csv")], texts=["y"], numbers=["p"], delimiter=";", decimal=decimal)
    with DuckDB(files, spill=tmp_path) as engine:
        if not refused:
            assert group_rows(engine, RowColumns("p", "y"), read_labels).rows == 2
            return
        with pytest.raises(ColumnRefused) as failure:
            group_rows(engine, RowColumns("p", "y"), read_labels)
    sentence = f"{cell!r} is not a decimal number" if cell.strip() else "This is blank; it must be a number"
    assert (failure.value.code, failure.value.detail) == ("not_a_number", f"{sentence} (1 of 2 rows).")


NULL, NAN, INFINITE = [None, 0.5, 0.2], [0.1, float("nan"), 0.2], [0.1, 0.5, float("-inf")]


@pytest.mark.parametrize(
    ("columns", "code", "detail"),
    [
        ({"p": NULL}, "not_a_number", "This is null; it must be a number (1 of 3 rows)."),
        ({"p": [None] * 3}, "not_a_number", "This is null; it must be a number (3 of 3 rows)."),
        ({"p": NAN}, "not_finite", "This is NaN; leave out rows without a number (1 of 3 rows)."),
        ({"w": INFINITE}, "not_finite", "This is not a finite number within the range of a double (1 of 3 rows)."),
        ({"p": ["a", "b", "c"]}, "not_a_number", "This is a column of text; it must hold numbers."),
        ({"p": [True, False, True]}, "not_a_number", "This is a column of booleans; it must hold numbers."),
        (
            {"p": [[1], [2], [3]]},
            "not_a_number",
            "This column is bigint[]; numbers must be integers, floats or decimals.",
        ),
        (
            {"p": [1, 2, 2**53 + 1]},
            "not_exact",
            "This integer has no exact double, and rocpr does not round it (1 of 3 rows).",
        ),
        (
            {"p": pa.array([1, 2, 2**64 - 1], pa.uint64())},
            "not_exact",
            "This integer has no exact double, and rocpr does not round it (1 of 3 rows).",
        ),
        (
            {"p": pa.array(map(decimal.Decimal, [1, 2**53 + 1, 2**60 + 128]), pa.decimal128(38, 0))},
            "not_exact",
            "This integer has no exact double, and rocpr does not round it (2 of 3 rows).",
        ),
        (
            {"w": [1, 2**53 + 1, 2]},
            "not_exact",
            "This integer has no exact double, and rocpr does not round it (1 of 3 rows).",
        ),
        (
            {"y": pa.array([0, 1, 2], pa.date32())},
            "not_a_label",
            "This column is date; labels must be integers, floats, decimals, booleans or text.",
        ),
        ({"y": [1, None, 0]}, "not_a_label", "This is null; it must be a label (1 of 3 rows)."),
        ({"y": NAN}, "not_a_label", "This is not a finite number, so it cannot be a label (1 of 3 rows)."),
        ({"w": NULL}, "not_a_number", "This is null; it must be a number (1 of 3 rows)."),
        ({"w": NAN}, "not_finite", "This is not a finite number within the range of a double (1 of 3 rows)."),
        ({"w": [1, -0.5, 2]}, "negative", "A weight must not be below 0; the lowest is -0.5."),
        ({"p": None}, "missing", "There is no column 'p'; the columns are y, w."),
    ],
)
def test_what_cannot_be_used_is_refused(columns: dict[str, Any], code: str, detail: str, tmp_path: Path) -> None:
    table = {"p": [0.9, 0.5, 0.2], "y": [1, 0, 0], "w": [1.0, 2.0, 0.0]} | columns
    there = {name: cells for name, cells in table.items() if cells is not None}
    with pytest.raises(ColumnRefused) as refused:
        grouped(there, tmp_path, RowColumns("p", "y", "w"), tolerance=0.1)
    assert (refused.value.code, refused.value.detail) == (code, detail)


@pytest.mark.parametrize(
    ("labels", "why"),
    [([1, 1], "All 2 labels are positive"), ([0, 0], "All 2 labels are negative")],
)
def test_one_class_is_refused(labels: list[int], why: str, tmp_path: Path) -> None:
    table = pa.table({"p": pa.array([0.5] * len(labels), pa.float64()), "y": pa.array(labels, pa.int64())})
    with pytest.raises(OneClassLabels, match=why):
        grouped(table, tmp_path)


def test_a_table_without_rows_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NoRows, match="The table has no rows"):
        grouped({"p": pa.array([], pa.float64()), "y": pa.array([], pa.int64())}, tmp_path)


def decimals_of(kind: pa.DataType, *texts: str) -> pa.Array:
    return pa.array(map(decimal.Decimal, texts), kind)


@pytest.mark.parametrize(
    ("parts", "told"),
    [
        ([pa.array([2**53 + 1, 2**53]), pa.array([0.5, 1.5])], "bigint in some files and double in others"),
        ([pa.array([2**24 + 1, 0]), pa.array([0.5, 1.5], pa.float32())], "bigint in some files and float in others"),
        (
            [decimals_of(pa.decimal128(5, 3), "0.123", "0.5"), pa.array([0.5, 1.5], pa.float32())],
            "decimal(5,3) in some files and float in others",
        ),
        (
            [decimals_of(pa.decimal128(20, 0), str(2**53 + 1), "0"), pa.array([0.5, 1.5])],
            "decimal(20,0) in some files and double in others",
        ),
        (
            [decimals_of(pa.decimal128(38, 0), "7", "0"), decimals_of(pa.decimal128(38, 10), "0.5", "1")],
            "decimal(38,10) in some files and decimal(38,0) in others",
        ),
    ],
)
@pytest.mark.parametrize("of", ["p", pytest.param("w", marks=pytest.mark.all), "y"])
def test_numbers_of_several_types_are_not_rounded(parts: list[pa.Array], told: str, of: str, tmp_path: Path) -> None:
    for number, part in enumerate(parts):
        columns = {"p": pa.array([0.25, 0.75]), "w": pa.array([1, 2]), "y": pa.array([0, 1])} | {of: part}
        parquet.write_table(pa.table(columns), tmp_path / f"{number}.parquet")
    files = Files([str(tmp_path / "*.parquet")], texts=["y"], numbers=["p", "w"])
    with DuckDB(files, spill=tmp_path) as engine, pytest.raises(ColumnRefused) as refused:
        group_rows(engine, RowColumns("p", "y", "w"), read_labels)
    assert (refused.value.code, refused.value.column) == ("not_exact", of)
    assert refused.value.detail == f"This column is {told}, which would round its numbers (1 of 2 rows)."


def test_numbers_of_several_types_are_read_if_none_is_rounded(tmp_path: Path) -> None:
    parts = [pa.array([2**60, 3]), pa.array([0.5, 1.5]), pa.array([7, 8], pa.int32()), pa.array([0.1, 1], pa.float32())]
    for number, part in enumerate([*parts, decimals_of(pa.decimal128(20, 5), "0.1", "0.2")]):
        parquet.write_table(pa.table({"p": part, "y": [0, 1]}), tmp_path / f"{number}.parquet")
    with DuckDB(Files([str(tmp_path / "*.parquet")], texts=["y"], numbers=["p"]), spill=tmp_path) as engine:
        groups = group_rows(engine, RowColumns("p", "y"), read_labels).groups
    scores = [cell for part in parts for cell in part.to_pylist()] + [0.1, 0.2]
    check(groups, np.array(scores), np.tile([False, True], len(parts) + 1))
