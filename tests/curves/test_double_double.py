"""Error-free transformations against fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from service.curves.double_double import (
    as_integers,
    difference_of_products,
    pair_product,
    pair_quotient,
    two_product,
    two_sum,
)
from tests.support.strategies import examples

moderate = st.floats(-1e50, 1e50).filter(lambda x: x == 0 or abs(x) > 1e-50)
positive = st.floats(1e-50, 1e50)


def exact(pair: tuple[np.ndarray, np.ndarray]) -> Fraction:
    """A pair of columns of one element each, as a number."""
    return Fraction(float(pair[0][0])) + Fraction(float(pair[1][0]))


@examples(100)
@given(moderate, moderate)
def test_two_sum_and_two_product_are_exact(a: float, b: float) -> None:
    assert exact(two_sum(np.array([a]), np.array([b]))) == Fraction(a) + Fraction(b)
    assert exact(two_product(np.array([a]), np.array([b]))) == Fraction(a) * Fraction(b)


@examples(100)
@given(positive, positive, positive, positive)
def test_pairs_keep_a_hundred_bits(a: float, b: float, c: float, d: float) -> None:
    x, y = two_sum(np.array([a]), np.array([b])), two_sum(np.array([c]), np.array([d]))
    product, quotient = exact(x) * exact(y), exact(x) / exact(y)
    assert abs(exact(pair_product(x, y)) - product) <= product / 2**100
    assert abs(exact(pair_quotient(x, y)) - quotient) <= quotient / 2**98


@examples(300)
@given(positive, positive, st.floats(0.25, 4.0), st.sampled_from([0.0, 2.0**-30, 2.0**-52, 2.0**-53, 1.0]))
def test_a_difference_of_products_keeps_a_unit_however_much_cancels(a: float, b: float, c: float, nudge: float) -> None:
    d = a * b / c * (1 + nudge)
    exact_difference = Fraction(a) * Fraction(b) - Fraction(c) * Fraction(d)
    found = float(difference_of_products(*(np.array([each]) for each in (a, b, c, d)))[0])
    assert abs(Fraction(found) - exact_difference) <= abs(exact_difference) / 2**52


def test_quotients_keep_a_hundred_bits() -> None:
    """With low parts of either sign, as large as they can be."""
    random = np.random.default_rng(1)
    highs = 1 + random.random((2, 2000))
    lows = random.choice([-1, 1], (2, 2000)) * np.spacing(highs) / 2 * random.choice([1, random.random()], (2, 2000))
    a, b = zip(highs, lows, strict=True)
    high, low = pair_quotient(a, b)
    for k in range(highs.shape[1]):
        quotient = (Fraction(a[0][k]) + Fraction(a[1][k])) / (Fraction(b[0][k]) + Fraction(b[1][k]))
        assert abs(Fraction(high[k]) + Fraction(low[k]) - quotient) <= quotient / 2**100


@examples(100)
@given(st.lists(st.floats(-1e300, 1e300), min_size=1, max_size=6))
def test_as_integers_keeps_all_ratios(values: list[float]) -> None:
    """All are multiplied by one power of two, which is 1 for integers."""
    found = as_integers(*values)
    assert all(isinstance(number, int) for number in found)
    scales = {number / Fraction(value) for number, value in zip(found, values, strict=True) if value}
    assert len(scales) <= 1
    assert all(scale.denominator == 1 and scale.numerator.bit_count() == 1 for scale in scales)
    assert as_integers(3.0, 0.0, -(2.0**60)) == [3, 0, -(2**60)]
