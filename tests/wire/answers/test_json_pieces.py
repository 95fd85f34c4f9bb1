"""JSON answers: if two columns share their digits, each is written as it would be alone."""

import json
from dataclasses import asdict, replace

import numpy as np
import orjson
import pytest

from service.curves.evaluation import CurvesOptions, evaluate_curves
from service.curves.sample import Sample
from service.inference.curves_with_intervals import EvaluatedCurves
from service.operations import OPERATIONS
from service.operations.operation import Selection
from service.wire.answers import json_pieces
from service.wire.media_types import JSON


def pieces_of(curves):
    return OPERATIONS["curves"].encode(JSON, EvaluatedCurves(curves, curves.warnings), Selection()).pieces


def json_answer(curves):
    return b"".join(pieces_of(curves))


@pytest.mark.parametrize("short", [0, 3, 1 << 10])
@pytest.mark.parametrize("piece", [2, 5, 1 << 16])
def test_the_size_of_writes_changes_nothing(short, piece, monkeypatch):
    scores = np.arange(30.0) % 7
    curves = evaluate_curves(Sample(scores, np.arange(30) % 3 == 0))
    expected = json_answer(curves)
    monkeypatch.setattr(json_pieces, "_SHORT_COLUMN", short)
    monkeypatch.setattr(json_pieces, "_PIECE_ROWS", piece)
    assert json_answer(curves) == expected


@pytest.mark.parametrize("short", [0, 1 << 10])
@pytest.mark.parametrize("keep", ["all", "corners", "hull"])
def test_recall_is_written_as_tpr_is(keep, short, monkeypatch):
    monkeypatch.setattr(json_pieces, "_SHORT_COLUMN", short)
    dice = np.random.default_rng(3)
    sample = Sample(dice.integers(0, 40, 300) / 7, dice.random(300) < 0.3)
    curves = evaluate_curves(sample, CurvesOptions(include=frozenset({"points"}), keep=keep))
    assert curves.points.recall is curves.points.tpr
    by_itself = replace(curves, points=replace(curves.points, recall=curves.points.tpr.copy()))
    assert json_answer(curves) == json_answer(by_itself)
    points = json.loads(json_answer(curves))["points"]
    assert points["recall"] == points["tpr"] == curves.points.tpr.tolist()
    other = replace(curves, points=replace(curves.points, recall=curves.points.tpr / 2))
    assert json.loads(json_answer(other))["points"]["recall"] == (curves.points.tpr / 2).tolist()


def test_numbers_are_the_shortest_that_read_back_the_same():
    sample = Sample(np.array([-0.0, 1e-7, 2.5, 0.1, 123456789.125]), np.array([True, False, True, False, True]))
    text = json_answer(evaluate_curves(sample)).decode()
    assert '"threshold":[null,123456789.125,2.5,0.1,1e-7,0.0],' in text
    assert '"tp":[0,1,2,2,2,3],' in text
    assert text.endswith('"warnings":[]}\n')


def test_areas_and_warnings_are_objects():
    curves = evaluate_curves(Sample(np.array([1.0, 2.0]), np.array([False, True]), np.array([0.5, 1.25])))
    document = json.loads(json_answer(curves))
    assert list(document) == [
        *("positives", "negatives", "auc", "points", "interpolation", "interpolated_pr", "achievable_pr", "warnings")
    ]
    assert document["auc"] == asdict(curves.auc)
    assert [warning["code"] for warning in document["warnings"]] == ["pr_trapezoid_omitted"]
    assert (document["positives"], document["negatives"]) == (1.25, 0.5)


def test_no_piece_is_made_before_it_is_asked_for(monkeypatch):
    """The writer checks between pieces whether there is memory for the next one."""
    made = []

    class Counted:
        OPT_SERIALIZE_NUMPY = json_pieces.orjson.OPT_SERIALIZE_NUMPY
        dumps = staticmethod(lambda value, **options: made.append(value) or orjson.dumps(value, **options))

    monkeypatch.setattr(json_pieces, "orjson", Counted)
    monkeypatch.setattr(json_pieces, "_SHORT_COLUMN", 0)
    monkeypatch.setattr(json_pieces, "_PIECE_ROWS", 5)
    curves = evaluate_curves(Sample(np.arange(30.0), np.arange(30) % 3 == 0), CurvesOptions(frozenset({"points"})))
    pieces = pieces_of(curves)
    asked = 0
    for _ in pieces:
        assert len(made) <= asked + 1
        asked = len(made)
    arrays = [value for value in made if isinstance(value, np.ndarray)]
    assert len(arrays) == 9 * 7  # 31 rows of columns; tpr counts once, although it is written twice


def test_lists_of_names_are_written_in_pieces():
    """A cell may have 50 names of 400 bytes, and orjson crashes if it gets no memory."""
    cells = [("a" * 100, "b")[: row % 2 + 1] for row in range(1_000)]
    for column in (cells, tuple(cells)):
        document = {"rate": np.arange(1_000.0), "best": column}
        assert not json_pieces._is_short(document)
        pieces = list(json_pieces._pieces(document))
        assert b"".join(pieces) == orjson.dumps(document, option=orjson.OPT_SERIALIZE_NUMPY)
        assert max(bytes(piece).count(b"[") for piece in pieces) == 64
    assert json_pieces._is_short({"best": cells[:64]})
