"""Laws of one table: both the loops in C and their twin agree with fractions."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.curves.sweep import sweep
from tests import reference, reference_pr, reference_sweep
from tests.reference import ulp_distance
from tests.reference_sweep import curve
from tests.support import sweeps
from tests.support.strategies import examples
from tests.support.sweeps import Columns, Counts

pytestmark = pytest.mark.usefixtures("loops")

HAIR = Fraction(1, 2**30)
"""C keeps three doubles of a sum: it may be wrong about which double is nearest where the sum is that near a middle."""

UNITS = {"C": Fraction(1, 2) + HAIR, "plain": Fraction(4)}
TRAPEZOID_UNITS = {"C": Fraction(5, 2), "plain": Fraction(5)}
RELATIVE = 1e-14


def assert_sums(found: np.ndarray, exact: list[Fraction], loops: str) -> None:
    """Sums are rounded once; those in C but for a hair."""
    for value, wanted in zip(found.tolist(), exact, strict=True):
        nearest = reference_sweep.nearest(wanted)
        if loops == "plain" or math.isnan(nearest) or math.isnan(value):
            assert value == pytest.approx(nearest, abs=0, rel=0, nan_ok=True)
        else:
            assert ulp_distance(value, wanted) <= UNITS["C"]


@examples(300)
@given(st.one_of(sweeps.columns(), sweeps.columns(weight=sweeps.BEYOND)))
def test_a_table_has_a_row_for_each_score_and_its_sums(loops: str, sample: Columns) -> None:
    thresholds, tp, fp = sample.table()
    rows = reference_sweep.table_rows(**sample.plain())
    assert math.isnan(thresholds[0])
    assert thresholds[1:].tolist() == [score for score, _, _ in rows]
    assert not (np.signbit(thresholds) & (thresholds == 0)).any()
    assert_sums(tp, [Fraction(0), *(row[1] for row in rows)], loops)
    assert_sums(fp, [Fraction(0), *(row[2] for row in rows)], loops)


@examples(100)
@given(sweeps.columns(), st.randoms(use_true_random=False))
def test_the_order_of_rows_changes_no_bit_of_a_table(sample: Columns, random: object) -> None:
    order = list(range(sample.scores.size))
    random.shuffle(order)  # type: ignore[attr-defined]
    for found, expected in zip(sample.at(np.array(order)).table(), sample.table(), strict=True):
        assert found.tobytes() == expected.tobytes()


@examples(100)
@given(sweeps.columns())
def test_an_order_is_stable(sample: Columns) -> None:
    scores = sample.scores.tolist()
    sign = -1 if sample.descending else 1
    expected = sorted(range(len(scores)), key=lambda row: sign * scores[row])
    assert sweep.order(sample.scores, descending=sample.descending).tolist() == expected


@examples(200)
@given(sweeps.columns(weight=st.one_of(*sweeps.WEIGHTS.values(), sweeps.BEYOND)))
def test_running_sums_are_rounded_once(loops: str, sample: Columns) -> None:
    assert sample.weights is not None
    numbers = sample.weights
    exact = [sum(map(Fraction, numbers[:end].tolist()), Fraction(0)) for end in range(numbers.size + 1)]
    assert_sums(sweep.running_sums(numbers), exact, loops)


@examples(300)
@given(sweeps.any_rows)
def test_a_hull_has_the_first_row_at_each_corner(counts: Counts) -> None:
    exact = curve(*counts)
    found, on = sweep.hull_and_members(*counts)
    assert found.tolist() == sweep.hull(*counts).tolist() == reference_sweep.vertices(exact)
    assert on.tolist() == reference.on_hull(exact)


@examples(200)
@given(sweeps.any_rows, st.integers(0, 5))
def test_twice_the_area_under_some_rows_is_all_but_exact(counts: Counts, first: int) -> None:
    tp, fp = (column[first:] for column in counts)
    steps = [tuple(map(Fraction, step)) for step in zip(tp, tp[1:], fp, fp[1:], strict=False)]
    exact = sum(((f_after - f) * (t + t_after) for t, t_after, f, f_after in steps), Fraction(0))
    found = sweep.doubled_area(tp, fp)
    if all((column == np.floor(column)).all() and column.max(initial=0) < 2.0**40 for column in (tp, fp)):
        assert found == exact
    assert abs(found - exact) <= exact / 10**20


@examples(100)
@given(sweeps.any_rows)
def test_points_are_rounded_once(counts: Counts) -> None:
    tp, fp = counts
    exact = [(float(t), float(f), Fraction(tp[-1]), Fraction(fp[-1])) for t, f in zip(tp, fp, strict=True)]
    fn, tn, fpr, tpr, precision = sweep.points(tp, fp, float(tp[-1]), float(fp[-1])).tolist()
    assert fn == [float(positives - Fraction(t)) for t, _, positives, _ in exact]
    assert tn == [float(negatives - Fraction(f)) for _, f, _, negatives in exact]
    assert fpr == [float(Fraction(f) / negatives) for _, f, _, negatives in exact]
    assert tpr == [float(Fraction(t) / positives) for t, _, positives, _ in exact]
    np.testing.assert_array_equal(precision, [t / (t + f) if t + f else np.nan for t, f, _, _ in exact])


@st.composite
def triples(draw: st.DrawFn) -> Counts:
    """Three points in order, whose bits are up to 1,070 binary orders apart; often one is in the middle of the others.

    The middle is rounded, so that it lies next to the line or on it.
    """
    spread = draw(st.sampled_from([3, 60, 500, 1_070]))
    bits = draw(st.sampled_from([1, 3, 53]))
    number = st.builds(math.ldexp, st.integers(0, 2**bits).map(float), st.integers(-spread, min(spread, 960)))
    tp, fp = (np.sort(draw(st.lists(number, min_size=3, max_size=3))) for _ in range(2))
    if draw(st.booleans()):
        tp[1], fp[1] = (tp[0] + tp[2]) / 2, (fp[0] + fp[2]) / 2
    return tp, fp


@examples(1_000)
@given(triples())
def test_a_turn_has_the_exact_sign(points: Counts) -> None:
    rows = curve(*points).rows
    places = (np.array([0]), np.array([1]), np.array([2]))
    assert np.sign(sweep.turns(*points, *places)).tolist() == [reference_sweep.side(*rows)]


LEAST = Fraction(math.ulp(0.0))


@examples(300)
@given(sweeps.sweeps.filter(sweeps.is_in_range))
def test_roc_and_average_precision_are_the_nearest_doubles(loops: str, counts: Counts) -> None:
    """Those in C, unless they are denormal; the twin is a few units off."""
    areas, exact = sweep.areas(*counts), curve(*counts)
    for found, area in (
        (areas.roc, reference.roc_area(exact)),
        (areas.average_precision, reference_pr.average_precision(exact)),
    ):
        unit = Fraction(math.ulp(reference.correctly_rounded(area)))
        assert abs(Fraction(found) - area) <= UNITS[loops] * unit + (LEAST if found < 2.0**-1022 else 0)


@examples(200)
@given(sweeps.sweeps.filter(sweeps.is_in_range))
def test_pr_is_the_integral_of_precision(counts: Counts) -> None:
    found, exact = sweep.areas(*counts).pr, reference_pr.pr_area(curve(*counts))
    assert 0 <= found <= 1
    assert reference_pr.relative_error(found, exact) <= RELATIVE


@examples(100)
@given(sweeps.sweeps)
def test_areas_of_some_rows_are_those_of_these_rows_alone(counts: Counts) -> None:
    tp, fp = counts
    vertices = sweep.hull(tp, fp)
    assert sweep.areas(tp, fp, vertices) == sweep.areas(tp[vertices], fp[vertices])


@examples(100)
@given(sweeps.sweeps)
def test_no_curve_has_a_greater_roc_than_its_hull(counts: Counts) -> None:
    assert sweep.areas(*counts, sweep.hull(*counts)).roc >= sweep.areas(*counts).roc * (1 - 2.0**-50)


@examples(100)
@given(sweeps.whole_sweeps.filter(lambda counts: counts[0][-1] <= 1_000))
def test_the_trapezoid_passes_every_whole_true_positive(loops: str, counts: Counts) -> None:
    exact = reference_pr.pr_trapezoid(curve(*counts))
    assert ulp_distance(sweep.areas(*counts, trapezoid=True).trapezoid, exact) <= TRAPEZOID_UNITS[loops]


@pytest.mark.parametrize("labels", [[True, True], [False], []])
def test_areas_of_one_class_or_none_are_not_numbers(labels: list[bool]) -> None:
    _, tp, fp = sweep.table(np.arange(len(labels)) * 1.0, np.array(labels, bool), None, descending=True)
    assert all(map(math.isnan, sweep.areas(tp, fp)))
