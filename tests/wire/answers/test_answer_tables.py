"""Tables of an answer: counts are integers if all counts of a column are whole, even beside cells without a value."""

import json

import numpy as np
import pytest

from service.curves.evaluation import KEEPS, CurvesOptions, evaluate_curves
from service.curves.operating_points import OperatingPoints
from service.curves.sample import Sample
from service.wire.answers.answer_tables import COUNTS, columns_of
from tests.support.asking import answered

NONE = np.nan
HUGE = 2.0**60


def written(cells):
    """The column tp of a table, as the answer holds it."""
    column = np.array(cells, float)
    rest = np.zeros_like(column)
    return columns_of(OperatingPoints(("roc",) * column.size, rest, rest, rest, column, rest))["tp"]


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        ([], []),
        ([0.0, 3.0, 2.0**53], [0, 3, 2**53]),
        ([0.5, 3.0], [0.5, 3.0]),
        ([2.0**53, 2.0**53 + 2], [2.0**53, 2.0**53 + 2]),
        ([1.0, HUGE], [1.0, HUGE]),
        ([1.0, 1e300], [1.0, 1e300]),
        ([NONE, 3.0], [None, 3]),
        ([NONE], [None]),
        ([NONE, 0.5], [None, 0.5]),
        ([NONE, 1.0, HUGE], [None, 1.0, HUGE]),
        ([1e300, NONE], [1e300, None]),
    ],
)
def test_a_column_is_of_one_kind(cells, expected):
    found = np.array(written(cells), object).tolist()  # of plain numbers
    assert [None if cell is None or np.isnan(cell) else repr(cell) for cell in found] == [
        None if cell is None else repr(cell) for cell in expected
    ]


def test_huge_counts_next_to_a_point_that_no_row_has():
    points = [{"metric": "recall_at_precision", "at": at} for at in (1.0, 0.5)]
    counts = {"tp": [HUGE], "fp": [HUGE], "positives": HUGE, "negatives": 2 * HUGE}
    found = answered("curves", {"counts": counts, "operating_points": points})["operating_points"]
    assert found["tp"] == [None, HUGE]
    assert json.dumps(found["fp"]) == json.dumps([None, HUGE])


@pytest.mark.parametrize("keep", KEEPS)
@pytest.mark.parametrize("cut", [{}, {"thresholds": np.array([0.9, 0.21, 0.2])}, {"tuning": True}])
@pytest.mark.parametrize("weight", [None, 2.0, 0.5])
def test_counts_that_are_known_to_be_integers_are_written_as_those_that_are_looked_at(keep, cut, weight):
    dice = np.random.default_rng(11)
    scores = dice.integers(0, 40, 200) / 40
    labels = dice.random(200) < scores
    sample = Sample(scores, labels, None if weight is None else np.full(200, weight))
    options = CurvesOptions(keep=keep, **{name: sample if value is True else value for name, value in cut.items()})
    curves = evaluate_curves(sample, options)
    assert curves.counted == (weight is None)
    known, looked_at = columns_of(curves.points, counted=curves.counted), columns_of(curves.points)
    for name in set(COUNTS) & set(known):
        assert known[name].dtype == looked_at[name].dtype == (np.float64 if weight == 0.5 else np.int64)
        np.testing.assert_array_equal(known[name], looked_at[name])
