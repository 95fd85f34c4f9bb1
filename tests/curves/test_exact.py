"""Error-free transformations and sums that do not depend on order, against fractions."""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from service.curves.exact import exact_dot, exact_sum, pair_product, pair_quotient, prefix_sums, two_product, two_sum
from tests.reference import ulp_distance
from tests.strategies import examples, wild_weights

moderate = st.floats(-1e50, 1e50).filter(lambda x: x == 0 or abs(x) > 1e-50)
positive = st.floats(1e-50, 1e50)


def exact(pair: tuple[np.ndarray, np.ndarray]) -> Fraction:
    """A pair of one-element columns as a number."""
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


@examples(60)
@given(st.lists(st.floats(-1e100, 1e100), max_size=30))
def test_exact_sum(values: list[float]) -> None:
    assert exact_sum(np.array(values)) == sum(map(Fraction, values))


@examples(60)
@given(st.lists(st.tuples(moderate, moderate), min_size=1, max_size=20))
def test_exact_dot(pairs: list[tuple[float, float]]) -> None:
    a, b = (np.array(column) for column in zip(*pairs, strict=True))
    zero = np.zeros(a.size)
    assert exact_dot((a, zero), (b, zero)) == sum(Fraction(x) * Fraction(y) for x, y in pairs)


@examples(100)
@given(st.lists(wild_weights, min_size=1, max_size=30), st.randoms(use_true_random=False))
def test_prefix_sums(values: list[float], chance: random.Random) -> None:
    """Within one ulp at every row, never decreasing, and at the end the same for any order."""
    every_row = np.arange(len(values))
    sums = prefix_sums(np.array(values), every_row)
    for row in every_row.tolist():
        assert ulp_distance(float(sums[row]), sum(map(Fraction, values[: row + 1]), Fraction(0))) <= 1
    assert (np.diff(sums) >= 0).all()
    shuffled = list(values)
    chance.shuffle(shuffled)
    assert prefix_sums(np.array(shuffled), every_row[-1:]) == sums[-1]


@examples(100)
@given(st.lists(st.sampled_from([1.0, 2.0**-53, 2.0**-54, 2.0**-106, 3 * 2.0**-107, 1e-300]), min_size=2, max_size=30))
def test_prefix_sums_at_the_middle_of_two_doubles(values: list[float]) -> None:
    """Ties and near-ties of rounding: still within one ulp and never decreasing."""
    sums = prefix_sums(np.array(values), np.arange(len(values)))
    assert (np.diff(sums) >= 0).all()
    total = Fraction(0)
    for found, value in zip(sums.tolist(), values, strict=True):
        total += Fraction(value)
        assert ulp_distance(found, total) <= 1
