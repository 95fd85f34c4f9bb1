"""Score intervals of proportions: against the reference's bisections, their laws, published examples and coverage."""

from __future__ import annotations

import math
from statistics import NormalDist

import mpmath
import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from service.inference.intervals import normal_quantile
from service.inference.proportions import Ends, PairedShares, Share, p_value, range_including, split, wilson
from tests import reference_score as reference
from tests.inference.shares import Z, parts
from tests.support.strategies import examples

HUGE = 1e15

shares = st.one_of(st.sampled_from([0.0, 1.0, 0.5, 1e-9, 1 - 1e-9, 1e-300]), st.floats(0, 1))
trials = st.one_of(st.sampled_from([2.0, 2.3, 20.0, 1e3, 1e9, HUGE]), st.floats(2, 1e6))
depths = st.one_of(st.sampled_from([1e-9, 0.01, Z, 8.0, 37.0]), st.floats(1e-3, 40))


@st.composite
def paired(draw: st.DrawFn, counts: st.SearchStrategy[float] = trials) -> PairedShares:
    """How many trials hold for both, for each alone, and for neither."""
    both, first, second, count = draw(parts(shares, counts))
    return PairedShares((both + first, both + second), first + second, count)


def alone(first: float, second: float, count: float) -> PairedShares:
    """Pairs of which none is called positive by both."""
    return PairedShares((first, second), first + second, count)


def table(a: int, b: int, c: int, d: int) -> PairedShares:
    """Pairs that both call positive, only the first, only the second, and neither."""
    count = a + b + c + d
    return PairedShares(((a + b) / count, (a + c) / count), (b + c) / count, count)


def one(ends: np.ndarray) -> float:
    assert ends.shape == (1,)
    return float(ends[0])


def wilson_ends(share: float, count: float, z: float) -> Ends:
    lower, upper = Share(share, count).ends(np.array([-z, z])).tolist()
    return lower, upper


# Wilson.


@examples(150)
@given(shares, trials, depths)
def test_wilsons_ends_solve_his_equation(share, count, z):
    with mpmath.workdps(40):
        wanted = [reference.wilson_end(mpmath.mpf(share), mpmath.mpf(count), sign * mpmath.mpf(z)) for sign in (-1, 1)]
        for got, exact in zip(wilson_ends(share, count, z), wanted, strict=True):
            assert abs(got - exact) <= 4e-16


@pytest.mark.parametrize(
    ("hits", "count", "lower", "upper"),
    [
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ],
)
def test_wilsons_ends_are_those_newcombe_published(hits, count, lower, upper):
    """Newcombe 1998, "Two-sided confidence intervals for the single proportion", table I, method 3."""
    got = wilson_ends(hits / count, count, Z)
    assert [round(end, 4) for end in got] == [lower, upper]


@examples(150)
@given(shares, trials, depths, st.floats(0, 3))
def test_wilsons_ends_bracket_the_share_within_0_and_1_and_are_nested(share, count, z, more):
    lower, upper = wilson_ends(share, count, z)
    wider = wilson_ends(share, count, z + more)
    assert 0 <= wider[0] <= lower + 1e-16 <= share + 1e-16
    assert share <= upper <= wider[1] + 2e-16 <= 1 + 2e-16


@examples(100)
@given(shares, trials, depths)
def test_wilsons_interval_of_the_rest_is_the_mirror_image(share, count, z):
    lower, upper = wilson_ends(share, count, z)
    assert wilson_ends(1 - share, count, z) == pytest.approx((1 - upper, 1 - lower), rel=0, abs=5e-16)


@pytest.mark.parametrize("count", [2.0, 7.5, HUGE])
@pytest.mark.parametrize("z", [1e-6, Z, 30.0])
def test_a_share_of_0_or_1_has_wilsons_rule_of_z_squared(count, z):
    far = z * z / (count + z * z)
    assert wilson_ends(0.0, count, z) == (0.0, pytest.approx(far, rel=1e-14))
    assert wilson_ends(1.0, count, z) == (pytest.approx(1 - far, rel=1e-15), 1.0)


@examples(50)
@given(shares, trials)
def test_no_error_leads_nowhere(share, count):
    assert wilson_ends(share, count, 0.0) == (share, share)
    assert one(alone(share / 2, share / 3, count).ends(np.zeros(1))) == share / 2 - share / 3


def test_an_array_of_shares_is_each_of_them():
    values, z = np.array([0.0, 0.2, 0.9, 1.0]), np.array([-1.0, 2.0, -3.0, 4.0])
    each = [one(wilson(value, 12.5, np.array([depth]))) for value, depth in zip(values, z, strict=True)]
    assert wilson(values, 12.5, z).tolist() == each


# Tango and McNemar.


@examples(200)
@given(paired(), depths, st.booleans())
@example(alone(0.0, 1.0, 1e9), Z, False)  # noqa: FBT003  # hypothesis takes positional arguments
@example(alone(0.0, 1.0, 7.0), 0.01, True)  # noqa: FBT003  # a drawn value
def test_tangos_ends_solve_his_equation(pairs, z, upward):
    z = z if upward else -z
    only_first = max((pairs.discordant + pairs.difference) / 2, 0.0)
    wanted = reference.tango_end(only_first, pairs.discordant - only_first, pairs.trials, z)
    assert one(pairs.ends(np.array([z]))) == pytest.approx(
        wanted, rel=0, abs=1e-9 * abs(z) / math.sqrt(pairs.trials) + 4e-16
    )


@pytest.mark.parametrize(
    ("b", "c", "count", "z"),
    [
        (0.1, 0.02, 500.0, Z),
        pytest.param(0.0, 0.0, 30.5, Z, marks=pytest.mark.all),
        pytest.param(0.5, 0.5, 12.0, -Z, marks=pytest.mark.all),
        pytest.param(1.0, 0.0, 9.0, -3.0, marks=pytest.mark.all),
        pytest.param(0.0, 1.0, 9.0, -0.25, marks=pytest.mark.all),
        pytest.param(0.25, 0.125, HUGE, Z, marks=pytest.mark.all),
        (0.0, 0.25, HUGE, -1e-3),
    ],
)
def test_tangos_ends_are_right_to_the_last_digits(b, c, count, z):
    with mpmath.workdps(32):
        wanted = reference.tango_end(*map(mpmath.mpf, (b, c, count, z)))
        assert abs(one(alone(b, c, count).ends(np.array([z]))) - wanted) <= 5e-14 * abs(z) / math.sqrt(count) + 2e-16


@pytest.mark.parametrize(
    ("counts", "level", "ends"),
    [
        # Tango 1998, as the tests of the R package ratesci quote him.
        ((4, 9, 3, 16), 0.95, (-0.027, 0.390)),
        ((43, 0, 1, 0), 0.90, (-0.096, 0.037)),
        # Fagerland, Lydersen & Laake 2014, table V, "Recommended tests and confidence intervals for paired binomial
        # proportions", as ratesci's validation quotes them.
        ((1, 1, 7, 12), 0.95, (-0.517, -0.026)),
    ],
)
def test_tangos_ends_are_those_published(counts, level, ends):
    assert tuple(round(end, 3) for end in table(*counts).interval(normal_quantile(level))) == ends


@pytest.mark.parametrize("count", [2.0, 44.5, 1e6, HUGE])
@pytest.mark.parametrize("z", [0.01, Z, 20.0])
def test_without_discordant_ones_tangos_ends_are_as_far_as_wilsons_of_0(count, z):
    far = z * z / (count + z * z)
    # The bisection starts from z/√n.
    assert alone(0.0, 0.0, count).interval(z) == pytest.approx((-far, far), rel=0, abs=4e-14 * z / math.sqrt(count))


@pytest.mark.parametrize("count", [2.0, 44.5, 1e6, 1e9])
@pytest.mark.parametrize("z", [0.01, Z, 20.0])
def test_a_difference_of_1_has_one_free_end(count, z):
    free = (count - z * z) / (count + z * z)
    assert alone(1.0, 0.0, count).interval(z) == (pytest.approx(free, rel=0, abs=1e-13), 1.0)
    assert alone(0.0, 1.0, count).interval(z) == (-1.0, pytest.approx(-free, rel=0, abs=1e-13))


@examples(150)
@given(paired(), depths, st.floats(0, 3))
def test_tangos_ends_bracket_the_difference_within_minus_1_and_1_and_are_nested(pairs, z, more):
    lower, upper = pairs.interval(z)
    wider = pairs.interval(z + more)
    near = 1e-13 * (z + more) / math.sqrt(pairs.trials)
    assert -1 <= wider[0] <= lower + near
    assert lower <= pairs.difference <= upper
    assert upper - near <= wider[1] <= 1


@examples(150)
@given(paired(), depths)
def test_swapping_the_two_reverses_everything(pairs, z):
    swapped = PairedShares(pairs.values[::-1], pairs.discordant, pairs.trials)
    lower, upper = pairs.interval(z)
    assert swapped.interval(z) == (-upper, -lower)
    assert swapped.p_value == pairs.p_value


counted = paired(st.floats(2, 1e4))


@examples(100)
@given(counted)
def test_mcnemars_p_value(pairs):
    assume(pairs.difference == 0 or abs(pairs.difference) > 1e-12)
    first = max((pairs.discordant + pairs.difference) / 2, 0.0)
    with mpmath.workdps(30):
        wanted = reference.mcnemar_p_value(mpmath.mpf(first), mpmath.mpf(pairs.discordant - first), pairs.trials)
        assert abs(pairs.p_value - wanted) <= 1e-9 * wanted + mpmath.mpf("1e-300")


@examples(100)
@given(counted)
def test_mcnemars_z_is_the_one_at_which_tangos_interval_touches_0(pairs):
    assume(abs(pairs.difference) > 1e-6)
    z = abs(pairs.difference) * math.sqrt(pairs.trials / pairs.discordant)
    assert min(map(abs, pairs.interval(z))) <= 1e-12
    lower, upper = pairs.interval(z * (1 - 1e-6))
    assert lower > 0 or upper < 0
    lower, upper = pairs.interval(z * (1 + 1e-6))
    assert lower < 0 < upper


@examples(60)
@given(counted)
def test_the_p_value_found_through_tangos_ends_is_mcnemars(pairs):
    assume(pairs.difference == 0 or abs(pairs.difference) > 1e-9)
    assume(pairs.p_value > 1e-300)
    assert p_value(pairs.difference, pairs.interval) == pytest.approx(pairs.p_value, rel=1e-8, abs=0)


@pytest.mark.parametrize("count", [1e6, 1e12, HUGE, 1e25])
@pytest.mark.parametrize("errors", [0.01, 0.6, 3.0, 20.0, 33.0, 37.0])
def test_it_is_so_for_any_number_of_trials(count, errors):
    apart = errors * math.sqrt(0.1 / count)
    pairs = PairedShares((apart, 0.0), 0.1, count)
    assert p_value(pairs.difference, pairs.interval) == pytest.approx(pairs.p_value, rel=1e-8, abs=0)
    assert pairs.p_value == pytest.approx(math.erfc(errors / math.sqrt(2)), rel=1e-10, abs=0)


def test_a_p_value_below_every_double_is_0():
    pairs = alone(0.9, 0.0, 1e4)
    assert pairs.p_value == 0
    assert p_value(pairs.difference, pairs.interval) == 0


def test_a_difference_from_rounding_alone_does_not_count():
    """Sums of the same weights in another order may differ in the last bit."""
    ulp = math.ulp(0.3)
    assert PairedShares((0.3 + ulp, 0.3), 0.0, 1e6).p_value == 1
    assert PairedShares((0.3 + ulp, 0.3), 1e-40, 1e6).p_value == pytest.approx(1, abs=1e-12)
    lower, upper = PairedShares((0.3 + ulp, 0.3), 0.0, 1e6).interval(Z)
    assert lower < 0 < upper


# What is computed from ends.


@pytest.mark.parametrize("falls", [1.0, 1e-9, 1e9])
@pytest.mark.parametrize("sign", [-1.0, 1.0])
@pytest.mark.parametrize("root", [1e-3, 0.7, 1.0, 5.5, 32.0, 36.0])
def test_a_p_value_is_that_of_the_z_whose_interval_touches_0(falls, sign, root):
    curves = {
        "straight": lambda z: z - root,
        "bent": lambda z: z * z - root * root,
        "bent back": lambda z: math.sqrt(z) - math.sqrt(root),
    }
    for curve in curves.values():

        def ends(z: float, curve=curve) -> Ends:
            end = -sign * falls * curve(z)
            return (end, math.inf) if sign > 0 else (-math.inf, end)

        difference = ends(0.0)[0 if sign > 0 else 1]
        assert p_value(difference, ends) == pytest.approx(math.erfc(root / math.sqrt(2)), rel=1e-8, abs=0)


@pytest.mark.parametrize("difference", [5e-324, 1e-300, 1e-17])
def test_a_negligible_difference_counts_as_none(difference):
    assert p_value(difference, lambda z: (difference - 0.1 * z, 1.0)) == pytest.approx(1, abs=1e-10)


def test_no_difference_has_p_value_1():
    assert p_value(0.0, lambda _: (-1.0, 1.0)) == 1
    assert alone(0.25, 0.25, 10.0).p_value == 1
    assert alone(0.0, 0.0, 10.0).p_value == 1


@pytest.mark.parametrize("z", [0.0, 1e-9, Z, 30.0])
def test_the_splits_of_an_error_are_as_long_as_it(z):
    one_part, other = split(z)
    assert one_part.shape == other.shape == (360,)
    assert np.hypot(one_part, other) == pytest.approx(z, rel=1e-14)
    assert np.column_stack((one_part, other))[[0, 90, 180, 270]].tolist() == [[z, 0], [0, z], [-z, 0], [0, -z]]
    exact = np.array(reference.directions(z))
    assert np.abs(np.column_stack((one_part, other)) - exact).max() <= 1e-15 * z


def test_what_has_no_value_reaches_nowhere():
    assert range_including(0.5, np.array([np.nan, 0.25, 0.75])) == (0.25, 0.75)
    assert range_including(0.5, np.full(3, np.nan)) == (0.5, 0.5)
    assert range_including(0.5, np.array([0.6])) == (0.5, 0.6)


@pytest.mark.parametrize("level", [0.5, 0.9, 0.95, 0.999])
def test_an_interval_at_1_less_the_p_value_touches_0(level):
    pairs = table(30, 9, 3, 20)
    z = NormalDist().inv_cdf(1 - pairs.p_value / 2)
    assert pairs.interval(z)[0] == pytest.approx(0, abs=1e-12)
    lower, _ = pairs.interval(normal_quantile(level))
    assert (lower > 0) == (pairs.p_value < 1 - level)
