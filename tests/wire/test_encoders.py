"""Encoders: what a body is made of; what it says is tested per format."""

import numpy as np
import pyarrow as pa

from service.curves.evaluation import CurvesOptions, evaluate_curves
from service.curves.sample import Sample
from service.inference.evaluation import EvaluatedCurves
from service.wire.encoders import ENCODERS
from service.wire.media_types import ARROW_STREAM, CSV


def answer():
    dice = np.random.default_rng(4)
    scores = dice.random(3_000)
    return EvaluatedCurves(evaluate_curves(Sample(scores, dice.random(3_000) < scores), CurvesOptions()))


def test_an_arrow_answer_is_its_columns_themselves():
    result = answer()
    pieces = list(ENCODERS["curves", ARROW_STREAM](result, "points").pieces)
    points = result.curves.points
    for column in (points.threshold, points.fpr, points.tpr, points.precision):
        assert any(np.shares_memory(np.frombuffer(piece, np.uint8), column) for piece in pieces)
    table = pa.ipc.open_stream(b"".join(pieces)).read_all()
    np.testing.assert_array_equal(table["fpr"].to_numpy(), points.fpr)
    np.testing.assert_array_equal(table["on_hull"].to_numpy(), points.on_hull)
    np.testing.assert_array_equal(table["tp"].to_numpy(), points.tp)


def test_a_csv_answer_of_several_blocks_is_whole():
    """Arrow writes CSV by the thousand rows, into memory that it uses again."""
    result = answer()
    header, *lines = b"".join(ENCODERS["curves", CSV](result, "points").pieces).decode().splitlines()
    place = header.split(",").index('"tpr"')
    assert [float(line.split(",")[place]) for line in lines] == result.curves.points.tpr.tolist()
