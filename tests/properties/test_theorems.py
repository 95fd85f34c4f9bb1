"""The paper's theorems, on curves evaluated by the service."""

from __future__ import annotations

import math
from dataclasses import asdict
from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from service.curves.evaluation import Curves, CurvesOptions, evaluate_curves
from service.curves.pr import AtRecall
from tests.support.strategies import Data, Rows, examples, samples

TINY = 2.0**-20
"""A fraction of a true positive so small that, with counts of a few dozen, nothing happens within it."""


@st.composite
def rivals(draw: st.DrawFn) -> tuple[Rows, Rows]:
    """Two sweeps over the same totals; often the second is the first with some rows made worse."""
    positives, negatives = draw(st.integers(1, 12)), draw(st.integers(1, 12))

    def sweep() -> Rows:
        size = draw(st.integers(0, 6))
        tp = sorted(draw(st.lists(st.integers(0, positives), min_size=size, max_size=size)))
        fp = sorted(draw(st.lists(st.integers(0, negatives), min_size=size, max_size=size)))
        return Rows(tp, fp, positives, negatives)

    one = sweep()
    if draw(st.booleans()):
        return one, sweep()
    worse = [min(negatives, f + draw(st.integers(0, 2))) for f in one.fp]
    return one, Rows(one.tp, list(np.maximum.accumulate(worse)) if worse else [], positives, negatives)


def roc_height(curves: Curves, negatives: int, positives: int, fpr: Fraction) -> Fraction:
    """The highest tpr of the ROC curve at a false positive rate, by straight lines between the points answered."""
    assert curves.points is not None
    xs = [Fraction(x).limit_denominator(negatives) for x in curves.points.fpr.tolist()]
    ys = [Fraction(y).limit_denominator(positives) for y in curves.points.tpr.tolist()]
    heights = [y for x, y in zip(xs, ys, strict=True) if x == fpr]
    for (x_a, y_a), (x_b, y_b) in zip(zip(xs, ys, strict=True), zip(xs[1:], ys[1:], strict=True), strict=False):
        if x_a < fpr < x_b:
            heights.append(y_a + (y_b - y_a) * (fpr - x_a) / (x_b - x_a))
    return max(heights)


def roc_dominates(one: Curves, other: Curves, positives: int, negatives: int) -> bool:
    """Whether no point of the other ROC curve is above the first; both are straight between whole false positives.

    Just before a whole number is looked at too: a curve may jump there.
    """
    places = {Fraction(k, negatives) for k in range(negatives + 1)}
    places |= {Fraction(k, negatives) - Fraction(TINY) / negatives for k in range(1, negatives + 1)}
    return all(roc_height(one, negatives, positives, x) >= roc_height(other, negatives, positives, x) for x in places)


def recall_grid(positives: int) -> np.ndarray:
    """Every integer tp and just after it: a PR curve can cross or jump nowhere else."""
    places = [k + tiny for k in range(positives + 1) for tiny in (0.0, TINY) if 0 < k + tiny <= positives]
    return np.array([place / positives for place in places])


def pr_dominates(one: Curves, other: Curves) -> bool:
    """Whether, at each recall of the grid, the other curve's precision is at most the first's.

    A recall is a double, so recall times P may be an ulp off the whole number meant; on counts of a dozen true
    differences are above 1e-11, of an ulp's making below 1e-14.
    """
    assert one.interpolated_pr is not None
    assert other.interpolated_pr is not None
    return bool((one.interpolated_pr.precision >= other.interpolated_pr.precision * (1 - 1e-13)).all())


@examples(150)
@given(rivals())
def test_theorem_3_2(pair: tuple[Rows, Rows]) -> None:
    """'One curve dominates a second curve in ROC space if and only if the first dominates the second in PR space.'"""
    positives, negatives = pair[0].positives, pair[0].negatives
    options = CurvesOptions(interpolation=AtRecall(recall_grid(positives)))
    one, other = (evaluate_curves(rows.counts(), options) for rows in pair)
    assert roc_dominates(one, other, positives, negatives) == pr_dominates(one, other)
    assert roc_dominates(other, one, positives, negatives) == pr_dominates(other, one)
    if pr_dominates(one, other):
        assert one.auc is not None
        assert other.auc is not None
        assert one.auc.roc >= other.auc.roc
        assert one.auc.pr >= other.auc.pr * (1 - 1e-12)


@examples(60)
@given(samples())
def test_theorem_3_1(data: Data) -> None:
    """'A one-to-one correspondence between a curve in ROC space and a curve in PR space, if recall is not 0.'"""
    curves = evaluate_curves(data.sample())
    points = curves.points
    assert points is not None
    positives, negatives = int(curves.positives), int(curves.negatives)
    for index in range(len(points.tp)):
        recall, precision = float(points.recall[index]), float(points.precision[index])
        fpr = Fraction(float(points.fpr[index])).limit_denominator(negatives)
        if recall > 0:
            tp = round(recall * positives)
            called = Fraction(tp) / Fraction(precision).limit_denominator(positives + negatives)
            assert (called - tp) / negatives == fpr


@examples(80)
@given(samples(), st.integers(0, 2**24 - 1))
def test_corollary_3_1(data: Data, chosen: int) -> None:
    """'There exists an achievable PR curve that dominates the other valid curves that could be constructed.'

    It dominates the curve through all rows, and the curve through any of them.
    """
    everything = evaluate_curves(data.sample())
    points = everything.points
    assert points is not None
    positives = int(everything.positives)
    options = CurvesOptions(interpolation=AtRecall(recall_grid(positives)))
    best = evaluate_curves(data.sample(), options)
    assert best.achievable_pr is not None
    some = [index for index in range(len(points.tp)) if chosen >> index & 1]
    tp, fp = points.tp[some].tolist(), points.fp[some].tolist()
    other = evaluate_curves(Rows(tp, fp, everything.positives, everything.negatives).counts(), options)
    for curves in (best, other):
        assert curves.interpolated_pr is not None
        assert curves.auc is not None
        assert best.auc is not None
        assert (best.achievable_pr.precision >= curves.interpolated_pr.precision * (1 - 1e-13)).all()
        assert best.auc.roc_hull >= curves.auc.roc
        assert best.auc.pr_achievable >= curves.auc.pr * (1 - 1e-12)


@examples(60)
@given(samples())
def test_achievable_curve_has_exactly_the_hull_rows(data: Data) -> None:
    """'The achievable PR curve will exclude exactly those points beneath the convex hull in ROC space.'"""
    curves = evaluate_curves(data.sample())
    assert curves.points is not None
    assert curves.achievable_pr is not None
    reached = set(zip(curves.achievable_pr.tp.tolist(), curves.achievable_pr.fp.tolist(), strict=True))
    for tp, fp, member in zip(curves.points.tp, curves.points.fp, curves.points.on_hull, strict=True):
        assert ((float(tp), float(fp)) in reached) == bool(member)


@examples(60)
@given(samples())
def test_areas_in_their_order(data: Data) -> None:
    """Every area is in [0, 1], and a hull's area is at least its curve's."""
    areas = evaluate_curves(data.sample()).auc
    assert areas is not None
    assert all(value is not None and math.isfinite(value) and 0 <= value <= 1 for value in asdict(areas).values())
    assert areas.roc <= areas.roc_hull
    assert areas.pr <= areas.pr_achievable * (1 + 1e-12)
