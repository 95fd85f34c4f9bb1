"""The numbers worked out in docstrings of the mathematics are those that the functions return."""

from __future__ import annotations

import math

import numpy as np
import pytest

from service.curves.areas import areas
from service.curves.comparison import evaluate_comparison
from service.curves.confusion import ConfusionTable
from service.curves.counts import Counts, total
from service.curves.drawing import along
from service.curves.hull import RocHull, drop_collinear, roc_convex_hull
from service.curves.partial_areas import PartialRange, partial_areas
from service.curves.roc import fpr, tpr
from service.curves.sample import Sample
from service.curves.simplification import simplify
from service.curves.slicing import rows_by_slice
from service.curves.sweep import sweep
from service.curves.sweep.plain import mean_precision

TABLE = ConfusionTable.from_sample(Sample(np.array([0.9, 0.8, 0.7, 0.6]), np.array([True, True, False, True])))
"""The scores of most docstrings."""


def test_the_table() -> None:
    assert TABLE.tp.tolist() == [0, 1, 2, 2, 3]
    assert TABLE.fp.tolist() == [0, 0, 0, 1, 1]
    assert tpr(TABLE)[2] == 2 / 3
    assert fpr(TABLE).tolist() == [0, 0, 0, 1, 1]
    np.testing.assert_array_equal(TABLE.precision, [np.nan, 1, 1, 2 / 3, 3 / 4])


def test_its_hull() -> None:
    assert roc_convex_hull(TABLE).tolist() == [0, 2, 4]
    assert RocHull.of(TABLE).boundary.tolist() == [0, 1, 2, 4]
    rows = ConfusionTable.from_counts(Counts(np.array([0.0, 1, 2, 2]), np.array([0.0, 0, 0, 1]), 2, 1))
    assert drop_collinear(rows).tolist() == [0, 2, 3]


def test_its_areas() -> None:
    found = areas(TABLE, TABLE.select(roc_convex_hull(TABLE)))
    assert (found.roc, found.roc_hull) == (2 / 3, 5 / 6)
    assert found.pr == pytest.approx(1 - math.log(4 / 3) / 3, rel=1e-15)
    assert found.average_precision == pytest.approx(11 / 12, rel=1e-15)
    assert found.pr_trapezoid == pytest.approx(65 / 72, rel=1e-15)
    part = partial_areas(TABLE, [PartialRange("fpr", 0, 0.5)])
    assert (part.area[0], part.mean[0], part.mcclish[0]) == (1 / 3, 2 / 3, 7 / 9)
    assert sweep.doubled_area(TABLE.tp[2:], TABLE.fp[2:]) == 4
    along_step = mean_precision(*(np.array([count]) for count in (1.0, 2.0, 0.0, 1.0)))
    assert along_step[0] == pytest.approx(1 / 2 + math.log(3) / 4, rel=1e-15)


def test_two_curves_that_cross() -> None:
    rows = {"one": (3.0, 1.0), "other": (4.0, 2.0)}
    found = evaluate_comparison({name: Counts(np.array([tp]), np.array([fp]), 4, 4) for name, (tp, fp) in rows.items()})
    assert found.best_roc is not None
    assert found.best_pr is not None
    assert found.dominance is not None
    assert (found.best_roc.start.tolist(), found.best_roc.best) == ([0, 0.4], (("one",), ("other",)))
    assert (found.best_pr.start.tolist(), found.best_pr.best) == ([0, 0.8], (("one",), ("other",)))
    assert not found.dominance.dominates.any()


def test_samples_and_counts() -> None:
    soft = Sample.soft(np.array([0.9]), np.array([0.25]), np.array([2.0]))
    assert soft.weights is not None
    assert soft.weights.tolist() == [0.5, 1.5]
    assert total(np.array([1.0, 3.0]), np.array([2.0, 0.0]), None, ("tp", "fn", "positives")) == 3
    order, bounds = rows_by_slice(np.array([1, 0, 1]), 2)
    assert (order.tolist(), bounds.tolist()) == ([1, 0, 2], [0, 1, 3])


def test_lines() -> None:
    assert simplify(np.array([0.0, 1, 2, 3]), np.array([0, 0.05, 0, 5])).tolist() == [0, 2, 3]
    assert along(np.array([2.0]), np.array([1.0, 5.0])).tolist() == [0.25]
