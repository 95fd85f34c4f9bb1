"""Score intervals of rates at a threshold: their propagation against the reference's plain loop, and its laws."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from service.inference.proportions import Ends, PairedShares, Share, p_value
from service.inference.rates import Rate, paired_rate_ends
from tests import reference_score as reference
from tests.inference.shares import Metric, Of, Parts, Z, counts, depths, ends_of, parts, shares, value_at
from tests.reference_tradeoff import INDICES
from tests.support.strategies import examples

metrics = st.one_of(
    st.sampled_from([(name, None) for name in ("precision", "recall", "fpr", "accuracy", "f1")]),
    st.tuples(st.sampled_from(INDICES), st.one_of(st.sampled_from([0.0, 0.3, 0.5, 1.0]), st.floats(0, 1))),
)
totals = st.tuples(*2 * [st.sampled_from([2.0, 30.0, 1e4, 1e150, 1e-150, 0.7])])
ROUNDING = 5e-16


@st.composite
def ones(draw: st.DrawFn) -> tuple[Metric, list[Of], tuple[float, float]]:
    """A metric that has a value; (recall, trials) and (fpr, trials); the totals."""
    metric, classes = draw(metrics), [(draw(shares), draw(counts)) for _ in range(2)]
    assume(metric[0] != "precision" or any(share for share, _ in classes))
    return metric, classes, draw(totals)


@st.composite
def twos(draw: st.DrawFn) -> tuple[Metric, list[Parts], tuple[float, float]]:
    """A metric that has a value in both evaluations; the positives and the negatives; the totals."""
    metric, classes = draw(metrics), [draw(parts()), draw(parts())]
    called = [sum(both + alone[each] for both, *alone, _ in classes) for each in (0, 1)]
    assume(metric[0] != "precision" or all(called))
    return metric, classes, draw(totals)


def paired_ends(metric: Metric, classes: list[Parts], sizes: tuple[float, float], z: float) -> tuple[float, Ends]:
    """The difference, and its interval."""
    pairs = tuple(PairedShares((both + b, both + c), b + c, count) for both, b, c, count in classes)
    one, other = (value_at(metric, pairs[0].values[each], pairs[1].values[each], sizes) for each in (0, 1))
    return one - other, paired_rate_ends(Rate(*metric, *sizes), one - other, pairs, z)


# One evaluation at a threshold.


@examples(80)
@given(metrics, shares, shares, totals)
def test_a_rate_is_what_it_is_of_the_counts(metric, recall, fpr, sizes):
    wanted = reference.rate(*metric, recall, fpr, sizes)
    got = value_at(metric, recall, fpr, sizes)
    assert math.isnan(got) if wanted is None else got == pytest.approx(float(wanted), rel=1e-13)


@examples(40)
@given(ones(), depths)
def test_the_interval_of_a_rate_is_as_wide_as_any_split_of_the_error(one, z):
    metric, classes, sizes = one
    wanted = reference.rate_ends(*metric, classes, sizes, z)
    assert ends_of(metric, classes, sizes, z) == pytest.approx(tuple(map(float, wanted)), rel=1e-9, abs=1e-12)


@examples(150)
@given(ones(), depths, st.floats(0, 3))
def test_it_brackets_the_value_is_nested_and_stays_within_0_and_1(one, z, more):
    metric, classes, sizes = one
    lower, upper = ends_of(metric, classes, sizes, z)
    wider = ends_of(metric, classes, sizes, z + more)
    assert 0 <= wider[0] <= lower + 1e-12
    assert lower <= value_at(metric, classes[0][0], classes[1][0], sizes) <= upper
    assert upper - 1e-12 <= wider[1] <= 1


@examples(80)
@given(st.tuples(shares, counts), st.tuples(shares, counts), totals, depths)
def test_of_recall_and_of_fpr_it_is_wilsons(recall, fpr, sizes, z):
    for name, share in (("recall", recall), ("fpr", fpr)):
        wilson = Share(*share).ends(np.array([-z, z])).tolist()
        assert ends_of((name, None), [recall, fpr], sizes, z) == pytest.approx(tuple(wilson), rel=0, abs=ROUNDING)


@examples(80)
@given(st.tuples(shares, counts), st.tuples(shares, counts), st.sampled_from(INDICES), depths)
def test_an_index_of_one_weight_alone_has_the_interval_of_precision_or_recall(recall, fpr, index, z):
    assume(recall[0] > 0)
    for at, name in ((0.0, "precision"), (1.0, "recall")):
        wanted = ends_of((name, None), [recall, fpr], (40.0, 900.0), z)
        assert ends_of((index, at), [recall, fpr], (40.0, 900.0), z) == pytest.approx(wanted, rel=1e-12, abs=1e-15)


def test_the_uncertainty_of_precision_1_comes_from_the_negatives():
    lower, upper = ends_of(("precision", None), [(0.5, 100.0), (0.0, 1e4)], (100.0, 1e4), Z)
    fpr = Z * Z / (1e4 + Z * Z)
    assert upper == 1
    assert 0.9 < lower < 50 / (50 + 1e4 * fpr)


# Two evaluations of the same examples at a threshold.


@pytest.mark.parametrize(
    ("metric", "classes"),
    [
        (("precision", None), ((0.7, 0.1, 0.05, 60.0), (0.05, 0.02, 0.04, 200.0))),
        pytest.param(("precision", None), ((0.5, 0.2, 0.0, 12.5), (0.0, 0.0, 0.0, 40.0)), marks=pytest.mark.all),
        pytest.param(("f_measure", 0.4), ((0.0, 0.9, 0.1, 20.0), (0.3, 0.0, 0.6, 15.0)), marks=pytest.mark.all),
        pytest.param(("fowlkes_mallows", 0.5), ((0.9, 0.0, 0.0, 8.0), (0.01, 0.03, 0.0, 1e6)), marks=pytest.mark.all),
        pytest.param(("fpr", None), ((0.7, 0.1, 0.05, 60.0), (0.05, 0.02, 0.04, 200.0)), marks=pytest.mark.all),
    ],
)
def test_a_paired_interval_is_as_wide_as_any_split_of_the_error(metric, classes):
    sizes = (50.0, 300.0)
    wanted = reference.paired_rate_ends(*metric, classes, sizes, Z)
    assert paired_ends(metric, classes, sizes, Z)[1] == pytest.approx(wanted, rel=0, abs=1e-9)


@examples(60)
@given(twos(), depths)
def test_it_brackets_the_difference_and_stays_within_minus_1_and_1(two, z):
    metric, classes, sizes = two
    difference, (lower, upper) = paired_ends(metric, classes, sizes, z)
    assert -1 <= lower <= difference <= upper <= 1


@examples(40)
@given(twos(), depths, st.floats(0, 3))
def test_it_is_nested(two, z, more):
    _, (lower, upper) = paired_ends(*two, z)
    _, wider = paired_ends(*two, z + more)
    assert wider[0] <= lower + 1e-9
    assert upper - 1e-9 <= wider[1]


@examples(60)
@given(twos(), depths)
def test_it_is_negated_when_the_two_are_swapped(two, z):
    metric, classes, sizes = two
    _, (lower, upper) = paired_ends(metric, classes, sizes, z)
    swapped = [(both, c, b, count) for both, b, c, count in classes]
    assert paired_ends(metric, swapped, sizes, z)[1] == pytest.approx((-upper, -lower), rel=0, abs=1e-12)


@examples(60)
@given(twos(), depths)
def test_of_recall_and_of_fpr_it_is_tangos(two, z):
    _, classes, sizes = two
    for name, (both, b, c, count) in zip(("recall", "fpr"), classes, strict=True):
        tango = PairedShares((both + b, both + c), b + c, count).interval(z)
        assert paired_ends((name, None), classes, sizes, z)[1] == pytest.approx(tango, rel=0, abs=ROUNDING)


@examples(20)
@given(twos())
def test_at_the_z_of_the_p_value_it_touches_0(two):
    metric, classes, _ = two
    sizes = (30.0, 200.0)
    difference, _ = paired_ends(metric, classes, sizes, Z)
    assume(abs(difference) > 1e-6)
    found = p_value(difference, lambda z: paired_ends(metric, classes, sizes, z)[1])
    assume(1e-300 < found < 1 - 1e-6)
    z = -NormalDist().inv_cdf(found / 2)
    near = 1e-7 / max(z, 1)  # a difference of 1e-7 of the p-value
    for depth, touches in ((z - near, False), (z + near, True)):
        lower, upper = paired_ends(metric, classes, sizes, depth)[1]
        assert (lower <= 0 <= upper) == touches


@pytest.mark.parametrize("metric", INDICES)
def test_an_index_is_at_most_one(metric: str) -> None:
    """Even if recall and precision are both 1, whatever rounding adds."""
    perfect = np.ones(1), np.zeros(1)
    for positives in (3.0, 7.0, 0.1, 49.7, 1e15 / 3):
        for at in np.linspace(0, 1, 97).tolist():
            assert 1 - 1e-12 < float(Rate(metric, at, positives, 5.0)(*perfect)[0]) <= 1


def test_the_search_for_a_p_value_ends_soon() -> None:
    """Even if the metric jumps: an index with weight only on precision is 0 where nothing is called positive."""
    for rate, both in (
        (Rate("jaccard", 0.0, 20, 30), (PairedShares((0.0, 0.6), 0.6, 20), PairedShares((0.0, 0.1), 0.1, 30))),
        (Rate("precision", None, 20, 30), (PairedShares((0.5, 0.6), 0.3, 20), PairedShares((0.2, 0.1), 0.3, 30))),
    ):
        asked: list[float] = []

        def ends(
            z: float, rate: Rate = rate, both: tuple[PairedShares, PairedShares] = both, asked: list[float] = asked
        ) -> Ends:
            asked.append(z)
            return paired_rate_ends(rate, -0.1, both, z)

        assert 0 <= p_value(-0.1, ends) <= 1
        assert len(asked) < 50
