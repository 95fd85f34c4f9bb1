"""Encoders: the pieces of a body. The tests of each format check the content."""

import numpy as np
import pyarrow as pa
import pytest

from service.curves.evaluation import CurvesOptions, evaluate_curves
from service.curves.sample import Sample
from service.inference.curves_with_intervals import EvaluatedCurves
from service.operations.curves import OPERATION
from service.operations.operation import Selection
from service.wire.answers import encoders
from service.wire.media_types import ARROW_STREAM, CSV


def answer(rows):
    dice = np.random.default_rng(4)
    scores = dice.random(rows)
    curves = evaluate_curves(Sample(scores, dice.random(rows) < scores), CurvesOptions())
    return EvaluatedCurves(curves, curves.warnings)


def test_a_long_arrow_answer_is_its_columns_themselves():
    result = answer(10_000)
    pieces = list(OPERATION.encode(ARROW_STREAM, result, Selection("points")).pieces)
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
    header, *lines = b"".join(OPERATION.encode(CSV, result, Selection("points")).pieces).decode().splitlines()
    place = header.split(",").index('"tpr"')
    assert [float(line.split(",")[place]) for line in lines] == result.curves.points.tpr.tolist()


CELLS = np.array([1.5, np.nan, 0.0, -0.0, np.inf, 2.0**53, np.nan, 7.0, 3.0, np.nan, 1.0])


@pytest.mark.parametrize(
    ("cells", "kind", "of_type"),
    [
        *((CELLS[:size], "number", pa.float64()) for size in (0, 1, 2, 8, 9, 11)),
        (CELLS[::2], "score", pa.float64()),
        (CELLS[~np.isnan(CELLS)], "exact", pa.float64()),
        (np.isnan(CELLS), "flag", pa.bool_()),
        (np.isnan(CELLS)[::2], "flag", pa.bool_()),
        (np.arange(9)[::-1], "count", pa.int64()),
        ([1, None], "count", pa.int64()),
        ([0.5, None], "count", pa.float64()),
        (CELLS, "count", pa.float64()),
        ((), "count", pa.int64()),
        ((), "number", pa.float64()),
        (["roc", None], "text", pa.string()),
        ([("a", "b"), ()], "names", pa.list_(pa.string())),
        ([1.0, None, np.nan], "number", pa.float64()),
        ([None, "DE"], None, pa.string()),
        ([None, 3], None, pa.int64()),
        ([None, True], None, pa.bool_()),
        ([None], None, pa.float64()),
    ],
)
def test_a_column_of_arrow_has_the_type_of_its_kind(cells, kind, of_type):
    made, expected = encoders._array(cells, kind), pa.array(cells, of_type, from_pandas=True)
    made.validate(full=True)
    assert made.type == of_type
    assert made.equals(expected)
    assert made.null_count == expected.null_count
