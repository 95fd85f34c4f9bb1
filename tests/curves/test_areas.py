"""Areas computed by hand, and checks of the reference itself."""

from __future__ import annotations

import math
from dataclasses import fields
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from service.curves.areas import Areas
from service.curves.confusion import ConfusionTable
from service.curves.counts import Counts
from service.curves.evaluation import CurvesOptions, evaluate_curves
from service.curves.sample import Sample
from tests import reference, reference_pr
from tests.support.strategies import Rows

pytestmark = pytest.mark.usefixtures("loops")


def is_near(found: float | None, exact: Fraction | float, loops: str) -> bool:
    """Whether an area is the nearest double; the loops in Python may be a few units off."""
    assert found is not None
    return reference.ulp_distance(found, Fraction(exact)) <= (4 if loops == "plain" else 0.5)


def areas(rows: Rows) -> Areas:
    """Every area."""
    found = evaluate_curves(rows.counts()).auc
    assert found is not None
    return found


def test_every_area_has_a_reference_with_which_the_properties_compare_it() -> None:
    assert list(reference_pr.AREAS) == [field.name for field in fields(Areas)]


def test_areas_are_those_worked_out_by_hand(loops: str) -> None:
    # (0,0) (1,0) (1,1) (2,1) (2,2): three of four pairs in order; precision 1, 1/2, 2/3, 1/2 at the rows.
    found = areas(Rows([1, 1, 2], [0, 1, 1], 2, 2))
    assert found.roc == 0.75
    assert found.roc_hull == 0.875
    assert is_near(found.average_precision, Fraction(5, 6), loops)
    assert found.pr_trapezoid == pytest.approx((1 + (1 / 2 + 2 / 3) / 2) / 2, rel=1e-15)
    assert found.pr == pytest.approx((1 + 1 - math.log(3 / 2)) / 2, rel=1e-12)
    # The hull: (0,0) (1,0) (2,1) (2,2); on (1,0)-(2,1) precision is t/(2t - 1), whose integral is 1/2 + log(3)/4.
    assert found.pr_achievable == pytest.approx((1 + 1 / 2 + math.log(3) / 4) / 2, rel=1e-12)


def test_no_rounding_takes_the_achievable_area_below_that_of_the_curve() -> None:
    # All rows lie on the hull, but its longer step is rounded differently: 0.6350989730943217 to 0.6350989730943218.
    found = areas(Rows([1, 3, 5], [0, 3, 6], 5, 6))
    assert found.pr_achievable == found.pr


def test_a_cut_table_with_a_row_for_each_example_and_one_more_by_hand() -> None:
    # All cuts lie above the scores: three rows (0, 0), then (2, 1), so precision is 2/3 along the whole curve.
    sample = Sample(np.array([3.0, 2.0, 1.0]), np.array([False, True, True]))
    found = evaluate_curves(sample, CurvesOptions(thresholds=np.array([10.0, 9.0, 8.0]))).auc
    assert found is not None
    assert found.pr == pytest.approx(2 / 3, rel=1e-15)
    assert (found.pr_trapezoid, found.average_precision) == (2 / 3, 2 / 3)


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        (Rows([], [], 3, 12), "0.2"),
        (Rows([3], [2], 5, 5), "0.56"),
        (Rows([6], [9], 6, 20), "0.4"),
        (Rows([12], [3], 20, 30), "0.64"),
    ],
)
def test_average_precision_is_the_nearest_double(rows: Rows, expected: str, loops: str) -> None:
    """Rounding precision and then its product with the growth of recall moves all of these."""
    assert is_near(areas(rows).average_precision, Fraction(expected), loops)


@pytest.mark.parametrize("cuts", [99, 100, 101, 102])
def test_a_cut_table_has_the_areas_of_its_counts(cuts: int) -> None:
    random = np.random.default_rng(0)
    scores = random.random(100)
    sample = Sample(scores, random.random(100) < scores)
    thresholds = np.linspace(0, 1, cuts)
    table = ConfusionTable.from_sample(sample).at_thresholds(thresholds)
    found = evaluate_curves(sample, CurvesOptions(thresholds=thresholds)).auc
    assert found == evaluate_curves(Counts(table.tp, table.fp, table.positives, table.negatives)).auc


def test_steps_are_above_the_integral_where_precision_falls() -> None:
    found = areas(Rows([9], [0], 433, 56164))
    assert found.average_precision is not None
    assert found.pr is not None
    assert found.average_precision < found.pr_trapezoid


@pytest.mark.parametrize("rows", [Rows([1, 1, 2], [0, 1, 1], 2, 2), Rows([0, 3, 7], [4, 4, 9], 11, 13)])
def test_reference_agrees_with_numerical_integration(rows: Rows) -> None:
    """The closed form against numerical integration of precision: a check of the reference."""
    table = rows.table()
    total = mpmath.mpf(0)
    for a, b in table.steps():
        if b.tp > a.tp:
            total += mpmath.quad(
                lambda t, a=a, b=b: t / (t + float(a.fp) + float(b.fp - a.fp) * (t - float(a.tp)) / float(b.tp - a.tp)),
                [float(a.tp), float(b.tp)],
            )
    assert mpmath.almosteq(total / float(table.positives), reference_pr.pr_area(table), rel_eps=1e-12)


def test_reference_counts_pairs_as_the_trapezoid_does() -> None:
    table = Rows([1, 1, 2], [0, 1, 1], 2, 2).table()
    assert reference.wilcoxon_mann_whitney(table) == reference.roc_area(table) == Fraction(3, 4)


def test_reference_rounds_once() -> None:
    assert reference.correctly_rounded(Fraction(1, 3)) == 1 / 3
    assert reference.correctly_rounded(Fraction(2**53 + 1)) == 2**53
    assert reference.ulp_distance(1.0 + 2**-52, Fraction(1)) == 1
    assert reference.ulp_distance(0.0, Fraction(0)) == 0


def test_pairs_that_are_more_than_a_double_counts_are_rounded_once(loops: str) -> None:
    rows = Rows([2**26 + 1], [2**25 + 2], 2**27 + 1, 2**27 + 2)
    assert is_near(areas(rows).roc, reference.roc_area(rows.table()), loops)


@pytest.mark.parametrize(("tp", "fp"), [(6442975819643081, 7146305455040846), (7263898586714161, 5389184034334650)])
def test_average_precision_of_more_examples_than_a_double_counts_is_rounded_once(tp: int, fp: int, loops: str) -> None:
    assert is_near(areas(Rows([tp], [fp], tp, fp)).average_precision, Fraction(tp, tp + fp), loops)


def test_an_area_halfway_between_two_doubles_is_rounded_to_either(loops: str) -> None:
    third, half = 3002399751580330, 2**53 - 3
    rows = Rows([1, 2, 3, half - 1, half], [2, third, third, third, half], half, 2**53)
    hull = reference.roc_area(Rows([half - 1, half], [third, half], half, 2**53).table())
    assert hull.denominator == 2**54  # and doubles in [1/2, 1) are multiples of 2^-53
    assert is_near(areas(rows).roc_hull, hull, loops)


@pytest.mark.parametrize("totals", [(120, 8635208572528556), (103, 15817642925978498), (5828, 6464254056933907)])
def test_trapezoid_of_a_precision_near_zero(totals: tuple[int, int]) -> None:
    """All scores tied: precision is P/(P + N) throughout, and so is the area."""
    positives, negatives = totals
    found = areas(Rows([], [], positives, negatives)).pr_trapezoid
    assert found is not None
    assert reference.ulp_distance(found, Fraction(positives, positives + negatives)) <= 1


def test_inside_steps_over_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Points of long steps are computed in blocks; where a block ends does not change the area."""
    rows = Rows([3, 3, 50, 51, 90], [0, 7, 9, 30, 31], 97, 200)
    whole = areas(rows)
    monkeypatch.setattr("service.curves.arrays.BLOCK", 7)
    assert areas(rows) == whole
    assert whole.pr_trapezoid == pytest.approx(float(reference_pr.pr_trapezoid(rows.table())), rel=1e-15)
