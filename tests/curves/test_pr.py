"""Points and interpolation of the precision-recall curve, on tables small enough for paper."""

from __future__ import annotations

import math
import sys
from fractions import Fraction

import numpy as np
import pytest

from service.curves.errors import TooManyPoints
from service.curves.evaluation import CurvesOptions, evaluate_curves
from service.curves.pr import AtRecall, Every, PrCurve
from tests.support.strategies import Rows


def curve_of(rows: Rows, interpolation: Every | AtRecall) -> PrCurve:
    """The interpolated curve."""
    curve = evaluate_curves(rows.counts(), CurvesOptions(interpolation=interpolation)).interpolated_pr
    assert curve is not None
    return curve


def test_precision_where_the_sum_has_no_double() -> None:
    # 2^53 + 1 rounds to 2^53, and 2^53 / (2^53 + 1) is nearer to 1 - 2^-53 than to 1.
    points = evaluate_curves(Rows([2**53], [1], 2**53, 5).counts()).points
    assert points is not None
    assert points.precision[1] == 1 - 2.0**-53


def test_every_one_lists_all_rows_of_a_vertical_step() -> None:
    curve = curve_of(Rows([2, 2, 2], [1, 3, 5], 3, 6), Every(1.0))
    assert curve.tp.tolist() == [0, 1, 2, 2, 2, 3]
    assert curve.fp.tolist() == [0, 0.5, 1, 3, 5, 6]
    assert curve.precision.tolist() == [2 / 3, 2 / 3, 2 / 3, 2 / 5, 2 / 7, 1 / 3]


def test_every_n_takes_the_least_fp_of_a_vertical_step() -> None:
    curve = curve_of(Rows([2, 2, 2], [1, 3, 5], 3, 6), Every(2.0))
    assert (curve.tp.tolist(), curve.fp.tolist()) == ([0, 2, 3], [0, 1, 6])


def test_every_n_ends_at_p() -> None:
    assert curve_of(Rows([], [], 10, 5), Every(4.0)).tp.tolist() == [0, 4, 8, 10]
    assert curve_of(Rows([], [], 8, 5), Every(4.0)).tp.tolist() == [0, 4, 8]
    assert curve_of(Rows([], [], 8, 5), Every(100.0)).tp.tolist() == [0, 8]


@pytest.mark.parametrize("positives", [8, 8.5, 1e-150, 1e150])
@pytest.mark.parametrize("every", [1e150, sys.float_info.max])
def test_a_step_beyond_p_has_both_ends(every: float, positives: float) -> None:
    assert curve_of(Rows([], [], positives, 5), Every(every)).tp.tolist() == [0, positives]


def test_leading_negatives_start_at_precision_zero() -> None:
    every_one = curve_of(Rows([0, 2], [4, 4], 2, 4), Every(1.0))
    assert every_one.tp.tolist() == [0, 0, 1, 2]
    assert every_one.fp.tolist() == [0, 4, 4, 4]
    assert every_one.precision.tolist() == [0, 0, 1 / 5, 1 / 3]
    # There is one point for each true positive: at tp = 0 the least fp is that of the origin.
    every_two = curve_of(Rows([0, 2], [4, 4], 2, 4), Every(2.0))
    assert (every_two.fp.tolist(), every_two.precision.tolist()) == ([0, 4], [0, 1 / 3])


def test_equal_rows_at_the_origin_have_its_limit() -> None:
    curve = curve_of(Rows([0, 0, 1], [0, 0, 1], 2, 2, [9.0, 8.0, 1.0]), Every(1.0))
    assert curve.precision.tolist() == [0.5, 0.5, 0.5, 0.5]


def test_at_recall_answers_in_the_order_asked() -> None:
    curve = curve_of(Rows([1], [1], 4, 7), AtRecall(np.array([1.0, 0.25, 0.5, 0.25, 0.0])))
    assert curve.recall.tolist() == [1.0, 0.25, 0.5, 0.25, 0.0]
    assert curve.tp.tolist() == [4, 1, 2, 1, 0]
    assert curve.fp.tolist() == [7, 1, 3, 1, 0]
    assert curve.precision.tolist() == [4 / 11, 0.5, 0.4, 0.5, 0.5]


def test_recall_of_a_row_is_that_row() -> None:
    # In doubles, 1/3 times 3 is 1, but the double 1/3 is exactly less than a third: only the row itself has fp 0 there.
    curve = curve_of(Rows([1, 1], [0, 50], 3, 100), AtRecall(np.array([1 / 3, math.nextafter(1 / 3, 1)])))
    assert curve.fp.tolist()[0] == 0
    assert curve.fp.tolist()[1] == pytest.approx(50)


def test_recall_between_counts() -> None:
    curve = curve_of(Rows([1], [1], 2, 4), AtRecall(np.array([0.75])))
    assert (curve.tp.tolist(), curve.fp.tolist(), curve.precision.tolist()) == ([1.5], [2.5], [0.375])


@pytest.mark.parametrize(
    ("positives", "rows", "every"),
    [(1998, 0, 1), (1999, 0, 2), (1990, 8, 1), (1990, 9, 2), (2000, 0, 2), (2001, 0, 3), (2**53, 0, 9007199254741)],
)
def test_default_step(positives: int, rows: int, every: int) -> None:
    # 'Default 1 while P + rows <= 2,000, else the smallest whole n with P/n <= 1,000'; the two ends are rows.
    counts = Rows(list(range(1, rows + 1)), [1] * rows, positives, 10).counts()
    interpolation = evaluate_curves(counts).interpolation
    assert isinstance(interpolation, Every)
    assert interpolation.every == every


def test_default_step_of_fractional_counts() -> None:
    curves = evaluate_curves(Rows([0.5], [0.5], 4000.5, 10.0).counts())
    assert isinstance(curves.interpolation, Every)
    assert curves.interpolation.every == pytest.approx(4.0005, rel=1e-15)
    assert curves.interpolated_pr is not None
    assert curves.interpolated_pr.tp.size == 1001


@pytest.mark.parametrize("total", [2017.3, 1e5 / 3, 123456.7, 4600.1, 9999.9, 7777.7])
def test_default_step_of_fractional_counts_is_a_thousandth(total: float) -> None:
    """A thousand steps; no extra one, even if 1000 times the rounded step is less than P."""
    curve = evaluate_curves(Rows([0.5], [0.5], total, 10.0).counts()).interpolated_pr
    assert curve is not None
    assert curve.tp.size == 1001


@pytest.mark.parametrize("interpolation", [Every(1.0), Every(0.01), AtRecall(np.linspace(0, 1, 101)), Every(1e-300)])
def test_too_many_points(interpolation: Every | AtRecall) -> None:
    rows = Rows([50], [5], 100, 100)
    with pytest.raises(TooManyPoints):
        evaluate_curves(rows.counts(), CurvesOptions(interpolation=interpolation, max_interpolated_rows=100))


def test_just_as_many_points_as_allowed() -> None:
    options = CurvesOptions(interpolation=Every(1.0), max_interpolated_rows=101)
    curve = evaluate_curves(Rows([50], [5], 100, 100).counts(), options).interpolated_pr
    assert curve is not None
    assert curve.tp.size == 101


def test_limit_of_a_step_counts_the_end() -> None:
    options = CurvesOptions(interpolation=Every(2.0), max_interpolated_rows=51)
    curve = evaluate_curves(Rows([50], [5], 101, 100).counts(), CurvesOptions(interpolation=Every(2.0))).interpolated_pr
    assert curve is not None
    assert curve.tp.size == 52
    with pytest.raises(TooManyPoints):
        evaluate_curves(Rows([50], [5], 101, 100).counts(), options)


@pytest.mark.parametrize("recall", [5e-324, 1e-320, 1e-310])
def test_at_a_recall_whose_share_of_the_step_has_few_bits(recall: float) -> None:
    """tp is far from underflow, but tp over the step's length is not: fp and precision are still right."""
    scale = 1e146
    rows = Rows([0.7 * scale, 0.9 * scale], [0.3 * scale, 0.8 * scale], scale, scale)
    curve = curve_of(rows, AtRecall(np.array([recall])))
    assert curve.precision[0] == pytest.approx(0.7, rel=1e-15)
    assert curve.fp[0] == pytest.approx(float(Fraction(3, 7) * Fraction(recall) * Fraction(scale)), rel=1e-14)


@pytest.mark.parametrize(
    ("rows", "recall"),
    [
        (Rows([1e-180], [1e-180], 1.0, 1.0), 2.5e-181),
        (Rows([1e-160], [1e-160], 1.0, 1.0), 2.5e-161),
        (Rows([2.8e-116, 2e-59], [5e-82, 1e35], 2e-59, 1e35), 7.5e-224),
        (Rows([1e-3, 1e150], [1e-140, 1e140], 1e150, 1e140), 3e-153),
    ],
)
def test_products_of_tiny_counts_do_not_underflow(rows: Rows, recall: float) -> None:
    """From the origin to the first row, and a step on which fp hardly grows."""
    curve = curve_of(rows, AtRecall(np.array([recall])))
    tp = Fraction(recall) * Fraction(rows.positives)
    after = next(number for number, each in enumerate(rows.tp) if each >= tp)
    corners = [(Fraction(0), Fraction(0)), *zip(map(Fraction, rows.tp), map(Fraction, rows.fp), strict=True)]
    (tp_a, fp_a), (tp_b, fp_b) = corners[after], corners[after + 1]
    fp = fp_a + (fp_b - fp_a) * (tp - tp_a) / (tp_b - tp_a)
    assert curve.fp[0] == pytest.approx(float(fp), rel=1e-15, abs=0)
    assert curve.precision[0] == pytest.approx(float(tp / (tp + fp)), rel=1e-15, abs=0)


@pytest.mark.parametrize("negatives", [2**26, 2**30 + 7], ids=["products are doubles", "products are not"])
def test_points_of_large_whole_counts_are_rounded_once(negatives: int) -> None:
    a, b = (3, 7), (2**26 - 5, negatives - 9)
    curve = curve_of(Rows([a[0], b[0]], [a[1], b[1]], 2**26, negatives), Every(2**26 / 97 // 1))
    inside = (curve.tp > a[0]) & (curve.tp < b[0])
    assert inside.sum() > 90
    for tp, fp, precision in zip(curve.tp[inside], curve.fp[inside], curve.precision[inside], strict=True):
        exact = a[1] + Fraction((b[1] - a[1]) * (int(tp) - a[0]), b[0] - a[0])
        assert (fp, precision) == (float(exact), float(int(tp) / (int(tp) + exact)))


def test_default_step_is_whole_for_whole_counts() -> None:
    """Above 2^53 every double is whole, even a sum of fractional weights, and the step is P/1000."""
    for positives, step in ((2.0**53 - 1, 9007199254741.0), (2.0**53 + 16, (2.0**53 + 16) / 1000)):
        interpolation = evaluate_curves(Rows([], [], positives, 5).counts()).interpolation
        assert isinstance(interpolation, Every)
        assert interpolation.every == step


def test_points_of_fractional_counts_are_rounded_once() -> None:
    """Only a few of many points are not the nearest double: those whose value is almost half way between two."""
    random = np.random.default_rng(6)
    wrong = points = 0
    for _ in range(60):
        tp, fp = np.sort(random.random((2, 3)), axis=1).tolist()
        rows = Rows(tp, fp, 1.5, 2.5)
        recalls = random.random(20)
        curve = curve_of(rows, AtRecall(recalls))
        corners = [(0.0, 0.0), *zip(tp, fp, strict=True), (1.5, 2.5)]
        for recall, found, precision in zip(recalls.tolist(), curve.fp.tolist(), curve.precision.tolist(), strict=True):
            hits = Fraction(recall) * Fraction(1.5)
            at = next(k for k, corner in enumerate(corners) if corner[0] >= hits)
            (a, c), (b, d) = (map(Fraction, corners[k]) for k in (at - 1, at))
            misses = c + (d - c) * (hits - a) / (b - a)
            wrong += (found != float(misses)) + (precision != float(hits / (hits + misses)))
            points += 2
    assert wrong <= points / 1000
