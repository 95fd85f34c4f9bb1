"""Encoders: the pieces of a body. The tests of each format check the content."""

import numpy as np
import pyarrow as pa
import pytest

from service.curves.evaluation import CurvesOptions, evaluate_curves
from service.curves.sample import Sample
from service.inference.curves_with_intervals import EvaluatedCurves
from service.wire.answers import encoders
from service.wire.answers.array_stream import array_stream
from service.wire.answers.encoders import ENCODERS
from service.wire.media_types import ARROW_STREAM, CSV
from tests.properties.bodies import arrow_body


def answer(rows):
    dice = np.random.default_rng(4)
    scores = dice.random(rows)
    curves = evaluate_curves(Sample(scores, dice.random(rows) < scores), CurvesOptions())
    return EvaluatedCurves(curves, curves.warnings)


def test_a_short_arrow_answer_is_one_piece():
    (piece,) = ENCODERS["curves", ARROW_STREAM](answer(1_000), "points").pieces
    assert pa.ipc.open_stream(piece).read_all().num_rows == 1_001


def test_a_long_arrow_answer_is_its_columns_themselves():
    result = answer(10_000)
    pieces = list(ENCODERS["curves", ARROW_STREAM](result, "points").pieces)
    points = result.curves.points
    for column in (points.threshold, points.fpr, points.tpr, points.precision):
        assert any(np.shares_memory(np.frombuffer(piece, np.uint8), column) for piece in pieces)
    table = pa.ipc.open_stream(b"".join(pieces)).read_all()
    np.testing.assert_array_equal(table["fpr"].to_numpy(), points.fpr)
    np.testing.assert_array_equal(table["on_hull"].to_numpy(), points.on_hull)
    np.testing.assert_array_equal(table["tp"].to_numpy(), points.tp)


def test_a_csv_answer_of_several_blocks_is_whole():
    """Arrow writes CSV a thousand rows at a time, and reuses the memory."""
    result = answer(3_000)
    header, *lines = b"".join(ENCODERS["curves", CSV](result, "points").pieces).decode().splitlines()
    place = header.split(",").index('"tpr"')
    assert [float(line.split(",")[place]) for line in lines] == result.curves.points.tpr.tolist()


CELLS = np.array([1.5, np.nan, 0.0, -0.0, np.inf, 2.0**53, np.nan, 7.0, 3.0, np.nan, 1.0])


@pytest.mark.parametrize(
    ("column", "kind"),
    [
        *((CELLS[:size], pa.float64()) for size in (0, 1, 2, 8, 9, 11)),
        (CELLS[::2], pa.float64()),
        (CELLS[~np.isnan(CELLS)], pa.float64()),
        *((np.isnan(CELLS)[:size], pa.bool_()) for size in (0, 1, 8, 9, 11)),
        (np.isnan(CELLS)[::2], pa.bool_()),
        (np.arange(9), pa.int64()),
        (np.arange(9)[::-1], pa.int64()),
        (np.array(["roc", "pr"]), pa.string()),
        (np.array([1.0, 2.0]), pa.int64()),
        ([1.0, None, np.nan], pa.float64()),
        ((True, False), pa.bool_()),
    ],
)
def test_a_column_of_arrow_holds_what_pyarrow_would_make_of_it(column, kind):
    made, expected = encoders._array(column, kind), pa.array(column, kind, from_pandas=True)
    made.validate(full=True)
    assert made.type == kind
    assert made.equals(expected)
    assert made.null_count == expected.null_count


@pytest.mark.parametrize("rows", [1, 7, 8, 9, 63, 64, 65, 1_000])
@pytest.mark.parametrize("count", [1, 2, 3, 10])
def test_a_stream_of_arrays_is_what_pyarrow_would_write(rows, count):
    """Not every reader of flatbuffers takes every valid one."""
    dice = np.random.default_rng(rows + count)
    numbers, whole, is_missing = dice.random(2 * rows), dice.integers(-9, 9, rows), dice.random(rows) < 0.5
    kinds = (numbers[:rows], np.where(is_missing, np.nan, numbers[:rows]), whole, is_missing, numbers[::2])
    columns = {f"c{place}": kinds[(place + rows) % len(kinds)] for place in range(count)}
    table = pa.table({name: pa.array(column, from_pandas=True) for name, column in columns.items()})
    written = b"".join(array_stream(columns))
    assert pa.ipc.open_stream(written).read_all().equals(table)
    assert written == arrow_body(table)


@pytest.mark.parametrize("column", [[1.0, None], np.empty(0), np.array(["roc"]), np.array([1.0], np.float32), (), None])
def test_other_columns_are_left_to_pyarrow(column):
    assert array_stream({"fpr": np.array([0.5]), "other": column}) is None
