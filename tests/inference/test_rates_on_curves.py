"""Score intervals of a curve at one place, against the reference's polygons."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.curves.confusion import ConfusionTable
from service.curves.counts import Counts
from service.curves.operating_points import value_of
from service.inference.metric import POINTS_WITH_INTERVALS
from service.inference.proportions import Ends, wilson
from service.inference.rates import ON_CURVES
from tests import reference_score as reference
from tests.inference.shares import Z, counts, depths
from tests.support.strategies import examples


def test_the_metrics_of_a_curve_with_intervals_are_those_that_rules_allow():
    assert tuple(ON_CURVES) == POINTS_WITH_INTERVALS


Curve = tuple[ConfusionTable, list[tuple[float, float]]]
"""A table, and its corners as (fpr, tpr)."""


def curve_of(tp: list[int], fp: list[int]) -> Curve:
    """A curve of rising counts, including (0, 0) and the totals."""
    table = ConfusionTable.from_counts(
        Counts(np.array(tp, dtype=np.float64), np.array(fp, dtype=np.float64), float(tp[-1]), float(fp[-1]))
    )
    return table, [(false / fp[-1], true / tp[-1]) for true, false in zip(tp, fp, strict=True)]


@st.composite
def curves(draw: st.DrawFn) -> Curve:
    steps = draw(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=8))
    steps[draw(st.integers(0, len(steps) - 1))] = (draw(st.integers(1, 4)), draw(st.integers(1, 4)))
    return curve_of(*([0, *np.cumsum(column).tolist()] for column in zip(*steps, strict=True)))


def curve_ends(name: str, curve: Curve, at: float, trials: tuple[float, float], z: float) -> tuple[float, Ends]:
    """The value and its interval."""
    table = curve[0]
    found = value_of(name, at, table.tp, table.fp)
    return found, ON_CURVES[name](table, at, found, trials, z)


places = st.one_of(st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0, 1 / 3]), st.floats(0, 1))
both_counts = st.tuples(counts, counts)


@examples(60)
@given(curves(), places, both_counts, depths)
def test_an_interval_of_a_tpr_is_as_wide_as_any_split_of_the_error(curve, at, trials, z):
    found, ends = curve_ends("tpr_at_fpr", curve, at, trials, z)
    wanted = reference.tpr_at_fpr_ends(curve[1], at, found, trials, z)
    assert ends == pytest.approx(wanted, rel=0, abs=1e-9)


@examples(60)
@given(curves(), places, both_counts, depths)
def test_an_interval_of_a_precision_at_a_recall_is_so_too(curve, at, trials, z):
    table, corners = curve
    found, ends = curve_ends("precision_at_recall", curve, at, trials, z)
    sizes = table.positives, table.negatives
    wanted = reference.precision_at_recall_ends(corners, at, found, trials, z, totals=sizes)
    assert ends == pytest.approx(tuple(map(float, wanted)), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("name", POINTS_WITH_INTERVALS)
@examples(100)
@given(curve=curves(), at=places, trials=both_counts, errors=st.tuples(depths, st.floats(0, 3)))
def test_an_interval_on_a_curve_brackets_the_value_is_nested_and_stays_within_0_and_1(name, curve, at, trials, errors):
    z, more = errors
    found, (lower, upper) = curve_ends(name, curve, at, trials, z)
    _, wider = curve_ends(name, curve, at, trials, z + more)
    assert 0 <= wider[0] <= lower + 1e-12
    assert lower <= found <= upper
    assert upper - 1e-12 <= wider[1] <= 1


def test_on_a_vertical_step_the_tpr_may_be_anywhere():
    """At an fpr of 0.05 the curve rises from 0.2 to 0.9; nothing is known to the left of it."""
    curve = curve_of([0, 20, 90, 100], [0, 5, 5, 100])
    _, (lower, upper) = curve_ends("tpr_at_fpr", curve, 0.05, (1e12, 1e12), 1.0)
    assert (lower, upper) == (pytest.approx(0.2, abs=1e-5), pytest.approx(0.9, abs=1e-5))


@pytest.mark.parametrize(("size", "z"), [(10, 0.3), (10, 1.0), (300, Z), (7_000, 2.5)])
def test_a_place_is_exact_if_all_the_error_is_in_the_other_share(size, z):
    """The tpr steps from 0.5 to 1 exactly at this fpr: the lower end is that of the foot of the step."""
    at = size // 10
    curve = curve_of([0, 5, 5, 10, 10], [0, 0, at, at, size])
    _, (lower, _) = curve_ends("tpr_at_fpr", curve, at / size, (40.0, size), z)
    assert lower == pytest.approx(reference.wilson_end(0.5, 40.0, -z), rel=0, abs=1e-15)


def test_a_place_within_the_error_of_an_end_takes_in_the_step_there():
    """At an fpr that 40 negatives cannot distinguish from 0, the threshold may be above all examples."""
    table, value = curve_of([0, 5, 10], [0, 0, 400])[0], 0.5
    told, untold = (ON_CURVES["tpr_at_fpr"](table, 0.05, value, (1e12, negatives), Z)[0] for negatives in (100.0, 40.0))
    assert (told, untold) == (pytest.approx(0.5, abs=0.01), 0)
    told, untold = (
        ON_CURVES["precision_at_recall"](table, 0.95, value, (positives, 1e12), Z)[0] for positives in (100.0, 40.0)
    )
    assert told > untold == pytest.approx(9.5 / 409.5, abs=1e-4)


def test_at_no_recall_nothing_is_known():
    curve = curve_of([0, 5, 10], [0, 0, 10])
    assert curve_ends("precision_at_recall", curve, 0.0, (10.0, 10.0), Z)[1] == (0, 1)
    smallest = ConfusionTable.from_counts(Counts(np.array([0.2]), np.array([0.0]), 0.2, 0.3))
    assert ON_CURVES["precision_at_recall"](smallest, 5e-324, 1.0, (10.0, 10.0), Z) == (0, 1)


def test_at_the_whole_recall_and_at_the_whole_rate():
    curve = curve_of([0, 5, 10, 10], [0, 0, 4, 10])
    assert curve_ends("tpr_at_fpr", curve, 1.0, (10.0, 10.0), Z) == (1.0, (pytest.approx(10 / (10 + Z * Z)), 1.0))
    found, (lower, _) = curve_ends("precision_at_recall", curve, 1.0, (10.0, 10.0), Z)
    assert (found, lower) == (10 / 14, 0.5)


@examples(30)
@given(curves(), places, st.integers(100, 2000))
def test_rows_along_a_segment_change_no_interval(curve, at, rows):
    """The steepest slopes, whose best place is within a degree, and thousands of rows to choose from."""
    tp, fp = (column * 1e6 for column in (curve[0].tp, curve[0].fp))
    coarse = curve_of(tp.tolist(), fp.tolist())
    where = np.union1d(np.arange(tp.size), np.linspace(0, tp.size - 1, rows))
    finer = curve_of(*(np.interp(where, np.arange(tp.size), column).round().tolist() for column in (tp, fp)))
    for name in POINTS_WITH_INTERVALS:
        found, ends = curve_ends(name, coarse, at, (5.0, 5e5), Z)
        assert ON_CURVES[name](finer[0], at, found, (5.0, 5e5), Z) == pytest.approx(ends, rel=0, abs=1e-6)


@pytest.mark.parametrize("at", [0.01, 0.1, 0.5])
@pytest.mark.parametrize("z", [-Z, Z])
def test_an_end_is_that_at_the_best_of_thousands_of_rows(at, z):
    """On a curve of vertical and horizontal steps it is at a row: here one of 2,000 steps up, the first the highest."""
    fp = np.repeat(np.arange(2001.0), 2)
    tp = np.concatenate(([0.0, 500.0], 500 + np.repeat(np.arange(1.0, 2001.0), 2)))[: fp.size]
    tp, fp = np.append(tp, 2500.0), np.append(fp, 2000.0)
    table = curve_of(tp.tolist(), fp.tolist())[0]
    ends = ON_CURVES["tpr_at_fpr"](table, at, at, (5.0, 50.0), abs(z))
    left = z * z - (fp / 2000 - at) ** 2 / (at * (1 - at) / 50)
    heights, left = (tp / 2500)[left >= 0], left[left >= 0]
    at_rows = wilson(heights, 5.0, np.copysign(np.sqrt(left), z))
    assert ends[z > 0] == pytest.approx(at_rows.max() if z > 0 else at_rows.min(), rel=0, abs=5e-4)
