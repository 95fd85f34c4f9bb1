"""Cells mean the same whatever type a format gives them: bytes that are text, dates, timestamps, whole doubles."""

import datetime as dt
import io
import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest

from tests.cli.running import run
from tests.properties.bodies import arrow_body, arrow_file_body, parquet_body
from tests.support.asking import answered, ask, errors

WRITERS = {
    "application/vnd.apache.arrow.stream": arrow_body,
    "application/vnd.apache.arrow.file": arrow_file_body,
    "application/vnd.apache.parquet": parquet_body,
}
TEN = dt.datetime(2024, 1, 31, 10)  # noqa: DTZ001  # columns without a zone
BYTES = [pa.binary(), pa.large_binary(), pa.binary_view(), pa.dictionary(pa.int32(), pa.binary())]


def table(column: pa.Array, name: str) -> pa.Table:
    columns = {"scores": [0.9, 0.8, 0.7, 0.6][: len(column)], "labels": [1, 0, 1, 0][: len(column)], name: column}
    return pa.table(columns)


def slices_of(body: str | bytes, media_type: str) -> list[Any]:
    return list(answered("slices", body, content_type=media_type, slices="x")["slices"]["x"])


@pytest.mark.parametrize("media_type", WRITERS)
@pytest.mark.parametrize(
    ("cells", "kind", "names"),
    [
        ([dt.date(2024, 1, 31), dt.date(2024, 2, 1)], pa.date32(), ["2024-01-31", "2024-02-01"]),
        ([dt.date(2024, 1, 31), None], pa.date64(), ["2024-01-31", None]),
        ([TEN, TEN + dt.timedelta(1)], pa.timestamp("us"), ["2024-01-31 10:00:00", "2024-02-01 10:00:00"]),
        ([TEN, None], pa.timestamp("ns"), ["2024-01-31 10:00:00", None]),
        ([TEN.replace(hour=0), None], pa.timestamp("ns"), ["2024-01-31", None]),
        (
            [TEN, TEN + dt.timedelta(milliseconds=5)],
            pa.timestamp("us"),
            ["2024-01-31 10:00:00.000", "2024-01-31 10:00:00.005"],
        ),
        ([TEN, None], pa.timestamp("ms", "UTC"), ["2024-01-31 10:00:00+00:00", None]),
    ],
    ids=str,
)
def test_times_define_slices_under_the_names_that_pandas_writes_to_csv(
    media_type: str, cells: list[Any], kind: pa.DataType, names: list[str | None]
) -> None:
    rows = table(pa.array(cells * 2, kind), "x")
    assert slices_of(WRITERS[media_type](rows), media_type) == names
    assert slices_of(rows.to_pandas().to_csv(index=False), "text/csv") == names
    listed = answered("columns", WRITERS[media_type](rows), content_type=media_type)["columns"]
    assert listed["values"][listed["name"].index("x")] == [name for name in names if name is not None]
    (error,) = errors("curves", WRITERS[media_type](rows), content_type=media_type, labels="x")
    assert error["code"] == "not_a_label"


def test_timestamps_of_spark_define_slices() -> None:
    rows = table(pa.array([TEN, None] * 2, pa.timestamp("ns")), "x")
    body = parquet_body(rows, use_deprecated_int96_timestamps=True)
    assert slices_of(body, "application/vnd.apache.parquet") == ["2024-01-31 10:00:00", None]


@pytest.mark.parametrize("zone", ["Europe/Berlin", "+02:00", "UTC", "no/where"])
def test_an_instant_has_one_name(zone: str, tmp_path: Path) -> None:
    """In UTC, which is all that Parquet keeps of a time zone."""
    rows = table(pa.array([TEN, TEN + dt.timedelta(182), None, TEN], pa.timestamp("us", zone)), "x")
    names = ["2024-01-31 10:00:00+00:00", "2024-07-31 10:00:00+00:00", None]
    for media_type, write in WRITERS.items():
        assert slices_of(write(rows), media_type) == names
    (tmp_path / "x.parquet").write_bytes(parquet_body(rows))
    for words in ((), ("--engine", "duckdb")):
        said = run("slices", tmp_path / "x.parquet", "--slices", "x", "--json", *words)
        assert json.loads(said.stdout)["slices"]["x"] == names


@pytest.mark.parametrize("media_type", WRITERS)
@pytest.mark.parametrize("kind", [pa.float16(), pa.float32(), pa.float64(), pa.decimal128(6, 2)], ids=str)
def test_whole_numbers_define_slices_whatever_their_type(media_type: str, kind: pa.DataType) -> None:
    number = Decimal if pa.types.is_decimal(kind) else np.float16 if pa.types.is_float16(kind) else float
    whole = table(pa.array([number(2), number(1), None, number(1)], kind), "x")
    assert slices_of(WRITERS[media_type](whole), media_type) == [1, 2, None]
    fraction = table(pa.array([number("1.5"), number(1)], kind), "x")
    (error,) = errors("slices", WRITERS[media_type](fraction), content_type=media_type, slices="x")
    assert "is not an integer" in error["detail"]


@pytest.mark.parametrize("media_type", WRITERS)
def test_infinity_is_no_whole_number(media_type: str) -> None:
    infinite = table(pa.array([1.0, float("inf")]), "x")
    (error,) = errors("slices", WRITERS[media_type](infinite), content_type=media_type, slices="x")
    assert (error["pointer"], error["code"]) == ("/x/1", "not_a_slice")


def test_nan_is_a_missing_value_of_a_slice() -> None:
    rows = table(pa.array([1.0, float("nan")] * 2), "x")
    assert slices_of(arrow_body(rows), "application/vnd.apache.arrow.stream") == [1, None]


@pytest.mark.parametrize("media_type", WRITERS)
@pytest.mark.parametrize("kind", BYTES, ids=str)
def test_bytes_that_are_utf_8_are_text(media_type: str, kind: pa.DataType) -> None:
    array = pa.array(["ja", "nein", "ja", "né"], pa.string())
    is_dictionary = pa.types.is_dictionary(kind)
    column = array.cast(pa.binary()).dictionary_encode() if is_dictionary else array.cast(pa.binary()).cast(kind)
    body = WRITERS[media_type](table(column, "y"))
    curves = answered("curves", body, content_type=media_type, labels="y", positive_label="ja", include="auc")
    assert curves["auc"]["roc"] == 0.75
    found = answered("slices", body, content_type=media_type, slices="y")["slices"]["y"]
    assert found == ["ja", "nein", "né"]
    listed = answered("columns", body, content_type=media_type)["columns"]
    place = listed["name"].index("y")
    assert (listed["type"][place], listed["values"][place]) == ("text", ["ja", "nein", "né"])


@pytest.mark.parametrize("media_type", WRITERS)
def test_bytes_that_are_not_utf_8_are_named(media_type: str) -> None:
    body = WRITERS[media_type](table(pa.array([b"ja", b"\xff"]), "y"))
    (error,) = errors("curves", body, content_type=media_type, labels="y", positive_label="ja")
    assert error["detail"].startswith("This column is binary that is not UTF-8; labels must be")
    assert ask("columns", body, media_type).status == 200


@pytest.mark.parametrize("slices", ["DE, DE,FR ,DE", " DE,DE\t,FR,DE"])
def test_blanks_around_the_names_of_slices_are_dropped_in_csv(slices: str) -> None:
    rows = zip([0.9, 0.8, 0.7, 0.6], [1, 0, 1, 0], slices.split(","), strict=True)
    body = "scores,labels,x\n" + "".join(f"{score},{label},{name}\n" for score, label, name in rows)
    assert slices_of(body, "text/csv") == ["DE", "FR"]


@pytest.mark.parametrize(
    "name",
    [
        *("best", "index"),
        *(
            pytest.param(name, marks=pytest.mark.all)
            for name in ("suppliers", "on_hull", "dominates", "name", "area", "fn")
        ),
    ],
)
@pytest.mark.parametrize("cells", [["DE", None, "DE", "FR"], [None] * 4, [3, 4, 3, None], [True, False, True, False]])
@pytest.mark.parametrize("points", ["", "operating_points"])
def test_a_column_of_slices_may_have_the_name_of_another_answers_column(
    name: str, cells: list[Any], points: str
) -> None:
    request = {"scores": [0.9, 0.8, 0.7, 0.6], "labels": [1, 0, 1, 0], "slices": {name: cells}}
    request["operating_points"] = [{"metric": "recall_at_precision", "at": 0.5}]
    wanted = answered("slices", request)[points or "slices"][name]
    options = {"table": points} if points else {}
    csv = ask("slices", request, accept="text/csv", **options)
    kept = pa.csv.ConvertOptions(strings_can_be_null=True)
    assert pa.csv.read_csv(io.BytesIO(csv.body), convert_options=kept)[name].to_pylist() == wanted
    stream = ask("slices", request, accept="application/vnd.apache.arrow.stream", **options)
    assert pa.ipc.open_stream(stream.body).read_all()[name].to_pylist() == wanted


@pytest.mark.parametrize("media_type", WRITERS)
@pytest.mark.parametrize("cell", [[0.1, 0.9], {"type": 1, "values": [0.1, 0.9]}], ids=["list", "vector"])
def test_several_numbers_in_a_cell_are_no_scores(media_type: str, cell: Any) -> None:
    rows = pa.table({"scores": pa.array([cell, cell]), "labels": [1, 0]})
    (error,) = errors("curves", WRITERS[media_type](rows), content_type=media_type)
    assert "vector_to_array(probability)[1]" in error["detail"]
