"""Means under a Beta density against closed forms, fractions and mpmath: for all shapes, on ranges of any length."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import product

import mpmath
import numpy as np
import pytest
from numpy.typing import NDArray

from service.curves.density import BetaDensity
from tests.support.lambdas import between
from tests.support.sampling import some

Column = NDArray[np.float64]
Curve = Callable[[Column, Column], Column]
"""A function of lambda and of 1 - lambda; the caller computes both without cancellation."""

SHAPES = [
    *[(1.0, 1.0), (2.0, 3.0), (0.5, 0.5), (7.5, 0.3), (0.3, 7.5), (0.01, 0.01), (1000.0, 1000.0), (1000.0, 500.0)],
    *[(500.0, 1000.0), (0.01, 1000.0), (1000.0, 0.01), (1.0, 1000.0), (1000.0, 1.0), (1.5, 1.5), (33.0, 40.0)],
]


def mean(a: float, b: float, curve: Curve, ends: Sequence[float] = (0.0, 1.0)) -> float:
    """The mean of one curve over the pieces between the ends."""
    cuts = np.array(ends)
    return BetaDensity(a, b).mean(lambda _, at, rest: curve(at, rest), between(cuts[:-1], cuts[1:]))


def constant(at: Column, rest: Column) -> Column:
    return np.full(at.size, 1 / 3) + 0 * rest


def weight(at: Column, _: Column) -> Column:
    return at


def rest_of_it(_: Column, rest: Column) -> Column:
    return rest


RANGES = [
    *[(0.0, 1.0), (0.0, 0.5), (0.5, 1.0), (0.1, 0.2), (0.3, 0.9), (0.0, 1e-3), (1e-9, 1e-3), (0.999, 1.0)],
    *[(1 - 2**-40, 1.0), (1 - 2**-30, 1 - 2**-40), (0.01, 0.02), (0.98, 0.99), (0.49, 0.51), (0.0, 1e-100)],
]


@pytest.mark.parametrize(("shape", "ends"), some(product(SHAPES, RANGES), 9))
def test_a_constant_is_its_own_mean(shape: tuple[float, float], ends: tuple[float, float]) -> None:
    assert mean(*shape, constant, ends) == pytest.approx(1 / 3, abs=0, rel=1e-14)


@pytest.mark.parametrize(("a", "b"), some([(1.0, 0.015), (1.0, 0.0101), (0.011, 0.011), (1.0, 1.0)], 2))
def test_rounding_is_not_cut_endlessly(a: float, b: float) -> None:
    """Where two rules differ everywhere, but only by rounding: means of a function whose values are subnormal."""
    looked_at = 0

    def function(at: Column, _: Column) -> Column:
        nonlocal looked_at
        looked_at += at.size
        return 5e-324 / (5e-324 + at)

    mean(a, b, function)
    assert looked_at < 1_000_000


@pytest.mark.parametrize(("a", "b"), SHAPES)
def test_the_mean_of_lambda_is_known(a: float, b: float) -> None:
    assert mean(a, b, weight) == pytest.approx(a / (a + b), abs=0, rel=2e-13)
    assert mean(a, b, rest_of_it) == pytest.approx(b / (a + b), abs=0, rel=2e-13)


@pytest.mark.parametrize(("a", "b"), SHAPES)
def test_the_variance_is_known(a: float, b: float) -> None:
    expected = a * b / (a + b) / (a + b + 1)
    assert mean(a, b, lambda at, rest: at * rest) == pytest.approx(expected, abs=0, rel=2e-13)


def exact_mean(a: int, b: int, start: float, end: float) -> float:
    """The mean of lambda under a density with integer exponents: the quotient of two integrals of polynomials."""
    low, high = Fraction(start), Fraction(end)
    scale = max(low.denominator, high.denominator)
    x, y = int(low * scale), int(high * scale)

    def moment(power: int) -> Fraction:
        """The integral of lambda^power (1 - lambda)^(b - 1), by parts."""
        total, factor = Fraction(0), Fraction(1, power + 1)
        for k in range(b):
            p, q = power + 1 + k, b - 1 - k
            total += factor * Fraction(y**p * (scale - y) ** q - x**p * (scale - x) ** q, scale ** (p + q))
            factor *= Fraction(q, p + 1)
        return total

    return float(moment(a) / moment(a - 1))


POLYNOMIAL = [(1, 1), (2, 3), (12, 1), (33, 40), (60, 20), (90, 70)]


@pytest.mark.parametrize(
    ("shape", "ends"),
    some(product(POLYNOMIAL, [*RANGES[:7], *RANGES[10:13], (0.9, 0.901), (0.25, 0.25 + 2**-50)]), 5),
)
def test_ranges_of_polynomial_densities(shape: tuple[int, int], ends: tuple[float, float]) -> None:
    expected = exact_mean(*shape, *ends)
    assert mean(*shape, weight, ends) == pytest.approx(expected, abs=0, rel=2e-13)


@pytest.mark.parametrize(
    ("shape", "ends"), some(product([(0.5, 0.5), (7.5, 0.3), (0.01, 0.01), (0.3, 1.7), (1.5, 20.5)], RANGES), 5)
)
def test_ranges_of_any_density(shape: tuple[float, float], ends: tuple[float, float]) -> None:
    a, b = shape
    if ends == (0.0, 1e-100):
        expected = mpmath.mpf(a) / (mpmath.mpf(a) + 1) * mpmath.mpf(ends[1])  # 1 - lambda is 1
    else:
        with mpmath.workdps(400):
            moments = [mpmath.betainc(mpmath.mpf(a) + more, mpmath.mpf(b), *map(mpmath.mpf, ends)) for more in (1, 0)]
            expected = moments[0] / moments[1]
    assert mean(a, b, weight, ends) == pytest.approx(float(expected), abs=0, rel=2e-13)


@pytest.mark.parametrize("start", [0.999, 1e-3, 0.9, 0.1])
def test_a_range_far_in_the_tail(start: float) -> None:
    """From the end of the range nearer to its peak at 1/2, the density falls like exp(-s t): the mean is 1/s away."""
    toward = 1 if start > 0.5 else -1
    end = start + toward * start * (1 - start) / 4
    found = mean(1000.0, 1000.0, weight, sorted((start, end)))
    fall = 999 * abs(1 / start - 1 / (1 - start))
    assert toward * (found - start) * fall == pytest.approx(1.0, abs=0.01)


@pytest.mark.parametrize(("shape", "start", "ulps"), some(product(SHAPES, [0.3, 0.5, 0.7, 1e-5, 1e-300], [1, 2, 5]), 7))
def test_a_range_a_few_ulp_wide(shape: tuple[float, float], start: float, ulps: int) -> None:
    a, b = shape
    end = start + ulps * math.ulp(start)
    assert mean(a, b, constant, (start, end)) == pytest.approx(1 / 3, abs=0, rel=1e-14)
    assert mean(a, b, lambda at, _: at / start, (start, end)) == pytest.approx(
        1.0, abs=0, rel=1.1 * (end / start - 1) + 1e-15
    )


DENORMAL = [(0.0, 5e-324), (0.0, 1e-320), (5e-324, 1e-323), (1e-320, 3e-320), (1e-310, 1e-307)]


@pytest.mark.parametrize(("shape", "ends"), some(product([one for one in SHAPES if one[0] <= 2], DENORMAL), 4))
def test_a_denormal_range(shape: tuple[float, float], ends: tuple[float, float]) -> None:
    assert mean(*shape, constant, ends) == pytest.approx(1 / 3, abs=0, rel=1e-14)


@pytest.mark.parametrize("near", [1.0, 1e-3, 1e-9, 1e-16, 1e-30, 1e-100, 1e-300])
def test_a_pole_just_outside(near: float) -> None:
    """e/(l + e) has the mean e log((1 + e)/e), and under 2 l, 2 e times 1 minus that; likewise from the other end."""
    gap = mpmath.mpf(near)
    logarithm = mpmath.log1p(gap) - mpmath.log(gap)
    for curve in (lambda at, _: near / (at + near), lambda _, rest: near / (rest + near)):
        assert mean(1.0, 1.0, curve) == pytest.approx(float(gap * logarithm), abs=0, rel=1e-13)
    with mpmath.workdps(30):
        expected = float(2 * gap * (1 - gap * logarithm))
    assert mean(2.0, 1.0, lambda at, _: near / (at + near)) == pytest.approx(expected, abs=0, rel=1e-13)
    assert mean(1.0, 2.0, lambda _, rest: near / (rest + near)) == pytest.approx(expected, abs=0, rel=1e-13)


@pytest.mark.parametrize("shape", some([(shape,) for shape in SHAPES], 3))
def test_many_pieces_are_one(shape: tuple[float, float]) -> None:
    a, b = shape

    def curve(at: Column, rest: Column) -> Column:
        return 1e-3 / (at + 1e-3) + rest / (rest + 1e-6)

    cuts = np.random.default_rng(4).random(20_000 if a == 2.0 else 1_000)
    ends = [0.0, *np.unique(cuts).tolist(), 1.0]
    assert mean(a, b, curve, ends) == pytest.approx(mean(a, b, curve), abs=0, rel=1e-12)


def test_each_piece_has_its_own_function() -> None:
    # The function is 1 below 1/4, 2 to 3/4, 3 beyond; under 2 l: 1/16 + 2 (9/16 - 1/16) + 3 (1 - 9/16).
    steps, cuts = np.array([1.0, 2.0, 3.0]), np.array([0.0, 0.25, 0.75, 1.0])
    found = BetaDensity(2.0, 1.0).mean(lambda piece, _, __: steps[piece], between(cuts[:-1], cuts[1:]))
    assert found == pytest.approx(38 / 16, abs=0, rel=1e-14)


def asked(a: float, b: float, curve: Curve) -> Column:
    """All lambdas at which a mean over [0, 1] evaluates a function."""
    places: list[Column] = []

    def recorded(at: Column, rest: Column) -> Column:
        places.append(at.copy())
        return curve(at, rest)

    mean(a, b, recorded)
    return np.concatenate(places)


def test_polynomials_of_moderate_degree_need_no_cut() -> None:
    places = asked(3.0, 4.0, lambda at, rest: at**3 * rest**3)
    assert places.size <= 40


@pytest.mark.parametrize(("a", "b", "beyond"), [(1.5, 1000.0, 1), (1000.0, 1.5, -1)])
def test_the_half_without_weight_is_not_cut(a: float, b: float, beyond: int) -> None:
    """That half holds less than 1e-200 of the mass."""
    places = asked(a, b, weight)
    assert np.count_nonzero((places - 0.5) * beyond > 0) <= 20
