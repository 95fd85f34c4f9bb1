"""Whether numbers agree. Every function raises AssertionError when they do not, and says how many it compared."""

from collections.abc import Mapping

import numpy as np

from service.curves.evaluation import Curves
from tests.tools.bench.rivals import SklearnAnswer

NEAR = 1e-12
"""The largest difference allowed between two areas, or two entries of a column."""


def with_scikit_learn(curves: Curves, sklearn: SklearnAnswer, *, counted: bool) -> int:
    """The two areas, the thresholds, and the rates: to the last bit, unless they come from sums of weights."""
    points, areas = curves.points, curves.auc
    compared = near(areas.roc, sklearn.roc) + near(areas.average_precision, sklearn.average_precision)
    compared += equal(points.threshold[1:], sklearn.threshold[1:])
    agree = equal if counted else near
    compared += agree(points.fpr, sklearn.fpr) + agree(points.tpr, sklearn.tpr) + agree(points.recall, sklearn.recall)
    return compared + agree(points.precision[1:], sklearn.precision[1:])


def areas_with_scikit_learn(areas: Mapping[str, float], sklearn: SklearnAnswer) -> int:
    return near(areas["roc"], sklearn.roc) + near(areas["average_precision"], sklearn.average_precision)


def answers(ours: Mapping[str, object], theirs: Mapping[str, object]) -> int:
    """Check that our answer has everything that the peer's has, and otherwise only warnings."""
    assert list(ours) == [*theirs, "warnings"]
    compared = near(ours["positives"], theirs["positives"]) + near(ours["negatives"], theirs["negatives"])
    return compared + sum(columns(ours[part], theirs[part]) for part in ("auc", "points") if part in theirs)


def columns(ours: Mapping[str, object], theirs: Mapping[str, object]) -> int:
    """Check for the same names in the same order, each with the same numbers; null is NaN."""
    assert list(ours) == list(theirs)
    return sum(near(ours[name], theirs[name]) for name in theirs)


def near(ours: object, theirs: object) -> int:
    actual, expected = np.asarray(ours, np.float64), np.asarray(theirs, np.float64)
    np.testing.assert_allclose(actual, expected, rtol=0, atol=NEAR)
    return actual.size


def equal(ours: np.ndarray, theirs: np.ndarray) -> int:
    np.testing.assert_array_equal(ours, theirs)
    return ours.size


def hull_is(fp: np.ndarray, tp: np.ndarray, vertices: np.ndarray) -> int:
    """Check exactly, in Python integers, that the chain of vertices turns right everywhere and no row lies above it."""
    x, y = (column.astype(np.int64).astype(object) for column in (fp, tp))
    assert vertices[0] == 0
    assert vertices[-1] == fp.size - 1
    run, rise = np.diff(x[vertices]), np.diff(y[vertices])
    assert np.all(rise[:-1] * run[1:] > rise[1:] * run[:-1])
    between = np.setdiff1d(np.arange(fp.size), vertices, assume_unique=True)
    edge = np.searchsorted(vertices, between) - 1
    start = vertices[edge]
    assert np.all((y[between] - y[start]) * run[edge] <= rise[edge] * (x[between] - x[start]))
    return fp.size
