"""Known answers: the numbers printed by Davis & Goadrich 2006, and what follows from them on paper.

Each test names its source. Values are written as printed and compared at their printed digits.
"""

from __future__ import annotations

import itertools
import math

import pytest

from service.curves.areas import Areas
from service.curves.evaluation import CurvesOptions, evaluate_curves
from service.curves.pr import Every
from tests.support.strategies import Data, Rows


def areas(rows: Rows) -> Areas:
    """The six areas of some counts."""
    found = evaluate_curves(rows.counts()).auc
    assert found is not None
    return found


TABLE_1 = {
    # D&G 2006, table 1: 20 positives, 2000 negatives, from (TP 5, FP 5) to (TP 10, FP 30).
    # For each tp its fp, recall and precision, as printed.
    5: (5, 0.25, 0.500),
    6: (10, 0.30, 0.375),
    7: (15, 0.35, 0.318),
    8: (20, 0.40, 0.286),
    9: (25, 0.45, 0.265),
    10: (30, 0.50, 0.250),
}


def test_davis_goadrich_table_1() -> None:
    """D&G 2006, section 4, table 1: 'the local skew of 5 negatives for every 1 positive'."""
    rows = Rows([5, 10], [5, 30], 20, 2000)
    curve = evaluate_curves(rows.counts(), CurvesOptions(interpolation=Every(1.0))).interpolated_pr
    assert curve is not None
    assert curve.tp.tolist() == [float(t) for t in range(21)]
    for tp, (fp, recall, precision) in TABLE_1.items():
        assert curve.fp[tp] == fp
        assert curve.recall[tp] == recall
        assert f"{curve.precision[tp]:.3f}" == f"{precision:.3f}"


def test_davis_goadrich_figure_6() -> None:
    """D&G 2006, figure 6: 433 positives, 56164 negatives, one point at (0.02, 1), which is (TP 9, FP 0).

    pr_trapezoid .030276 and pr .029474 (worked out to six digits); the figure prints .031, which no reading reproduces.
    """
    found = areas(Rows([9], [0], 433, 56164))
    assert f"{found.pr_trapezoid:.6f}" == "0.030276"
    assert f"{found.pr:.6f}" == "0.029474"
    # The paper extends the point to 'the endpoints of (0, 1) and (1, 0.008)'.
    points = evaluate_curves(Rows([9], [0], 433, 56164).counts()).points
    assert points is not None
    assert f"{points.precision[-1]:.3f}" == "0.008"
    assert f"{points.recall[1]:.2f}" == "0.02"


def test_davis_goadrich_figure_7_curve_2() -> None:
    """D&G 2006, section 5, figure 7, curve II: (0,0) (TP 20, FP 500) (20, 2000): AUC-ROC .875, AUC-PR .038 (1/26)."""
    found = areas(Rows([20], [500], 20, 2000))
    assert found.roc == 0.875
    assert found.pr == pytest.approx(1 / 26, rel=1e-15)
    assert f"{found.pr:.3f}" == "0.038"
    # A hull in itself (figure 7: 'each curve individually is a convex hull').
    assert (found.roc_hull, found.pr_achievable) == (found.roc, found.pr)


@pytest.mark.parametrize("size", [1, 10, 1000, 2**53])
def test_worst_ranking(size: int) -> None:
    """All negatives before all positives, P = N: the integral of t/(t + N) over [0, P] / P is 1 - ln 2, at any size."""
    found = areas(Rows([0], [size], size, size))
    assert found.pr == pytest.approx(1 - math.log(2), rel=1e-12)
    assert found.roc == 0.0
    assert found.roc_hull == 0.5
    assert found.average_precision == 0.5


def test_trapezoid_of_the_worst_ranking_tends_to_it() -> None:
    """The trapezoid at every integer tp comes four times nearer when P doubles."""
    errors = [areas(Rows([0], [size], size, size)).pr_trapezoid - (1 - math.log(2)) for size in (50, 100, 200, 400)]
    for coarse, fine in itertools.pairwise(errors):
        assert 3.9 < coarse / fine < 4.1


@pytest.mark.parametrize(("positives", "negatives"), [(1, 1), (20, 2000), (2**53, 1), (1, 2**53)])
def test_perfect_ranking(positives: int, negatives: int) -> None:
    """All positives first: every area is 1."""
    found = areas(Rows([positives], [0], positives, negatives))
    assert {found.roc, found.roc_hull, found.pr, found.pr_achievable, found.average_precision} == {1.0}
    assert found.pr_trapezoid == (1.0 if positives <= 10**7 else None)


@pytest.mark.parametrize(("positives", "negatives"), [(1, 1), (433, 56164), (3, 7)])
def test_one_score_for_all(positives: int, negatives: int) -> None:
    """All scores equal: one row, no skill. The ROC area is one half, every precision area the prevalence P/(P+N)."""
    data = Data([0.5] * (positives + negatives), [True] * positives + [False] * negatives)
    found = evaluate_curves(data.sample()).auc
    assert found is not None
    prevalence = positives / (positives + negatives)
    assert (found.roc, found.roc_hull) == (0.5, 0.5)
    for area in (found.pr, found.pr_trapezoid, found.pr_achievable, found.average_precision):
        assert area == pytest.approx(prevalence, rel=1e-15)


def test_leading_negatives() -> None:
    """D&G's program extends the first point with a true positive horizontally to recall 0; here the curve starts at 0.

    P = 2, N = 2, order: negative, positive, negative, positive. On paper, the integral over the first true positive is
    1 - ln 2 (fp = 1), over the second 1 - 2 ln(4/3) (fp = 2): pr = (2 - ln 2 - 2 ln(4/3)) / 2.
    """
    data = Data([4, 3, 2, 1], [False, True, False, True])
    curves = evaluate_curves(data.sample())
    assert curves.auc is not None
    assert curves.interpolated_pr is not None
    assert curves.auc.pr == pytest.approx((2 - math.log(2) - 2 * math.log(4 / 3)) / 2, rel=1e-12)
    assert curves.interpolated_pr.precision.tolist() == [0.0, 0.0, 0.5, 1 / 3, 0.5]
    # Trapezoid: ((0 + 1/2)/2 + (1/3 + 1/2)/2) / 2; steps: (1/2 + 1/2) / 2; ROC: 1 of 4 pairs is in order.
    assert curves.auc.pr_trapezoid == pytest.approx(1 / 3, rel=1e-15)
    assert curves.auc.average_precision == 0.5
    assert curves.auc.roc == 0.25


def test_origin_is_the_limit_of_the_first_segment() -> None:
    """At the origin precision is tp_1/(tp_1+fp_1), not 1 by definition; the row itself has none."""
    curves = evaluate_curves(Rows([3], [1], 10, 10).counts())
    assert curves.points is not None
    assert curves.interpolated_pr is not None
    assert math.isnan(curves.points.precision[0])
    assert math.isnan(curves.points.threshold[0])
    assert curves.interpolated_pr.precision[:4].tolist() == [0.75, 0.75, 0.75, 0.75]
