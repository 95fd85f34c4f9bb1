"""Error-free transformations, and sums that do not depend on order, against fractions."""

from __future__ import annotations

import itertools
import math
import random
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.curves.arrays import BLOCK
from service.curves.double_double import (
    as_integers,
    class_sums,
    double,
    exact_quotient,
    exactly,
    pair_product,
    pair_quotient,
    pair_sum,
    positive_parts,
    power_of_two_scale,
    rounded,
    sums_of_groups,
    two_product,
    two_sum,
)
from tests.reference import ulp_distance
from tests.support.strategies import examples, wild_weights

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


@examples(100)
@given(st.lists(moderate, max_size=20), st.lists(positive, min_size=1, max_size=3))
def test_a_quotient_of_sums_is_rounded_once(numbers: list[float], factors: list[float]) -> None:
    assert exact_quotient(numbers, *factors) == float(sum(map(Fraction, numbers)) / math.prod(map(Fraction, factors)))


labelled_weights = st.lists(st.tuples(wild_weights, st.booleans()), min_size=1, max_size=30)


def sums_of(rows: list[tuple[float, bool]]) -> list[np.ndarray]:
    """The sums of both classes up to each row: of the rows labelled True, and of the others."""
    weights, labels = (np.array(column) for column in zip(*rows, strict=True))
    return list(class_sums(weights, labels))


@examples(100)
@given(labelled_weights, st.randoms(use_true_random=False))
def test_class_sums(rows: list[tuple[float, bool]], chance: random.Random) -> None:
    """Within one ulp at every row, never decreasing, and with the same end in any order."""
    sums = sums_of(rows)
    for of_class, found in zip((True, False), sums, strict=True):
        total = Fraction(0)
        for (weight, label), so_far in zip(rows, found.tolist(), strict=True):
            total += Fraction(weight) if label == of_class else 0
            assert ulp_distance(so_far, total) <= 1
        assert (np.diff(found) >= 0).all()
    shuffled = list(rows)
    chance.shuffle(shuffled)
    assert [of_class[-1] for of_class in sums_of(shuffled)] == [found[-1] for found in sums]


@examples(100)
@given(st.lists(st.sampled_from([1.0, 2.0**-53, 2.0**-54, 2.0**-106, 3 * 2.0**-107, 1e-300]), min_size=2, max_size=30))
def test_class_sums_at_the_middle_of_two_doubles(values: list[float]) -> None:
    """Ties and near-ties in rounding: still within one ulp and never decreasing."""
    sums, others = sums_of([(value, True) for value in values])
    assert (np.diff(sums) >= 0).all()
    assert not others.any()
    total = Fraction(0)
    for found, value in zip(sums.tolist(), values, strict=True):
        total += Fraction(value)
        assert ulp_distance(found, total) <= 1


def test_class_sums_over_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks continue the counts of earlier blocks, slice by slice, even if a class has fewer rows there, or none."""
    monkeypatch.setattr("service.curves.arrays.BLOCK", 3)
    weights = [0.0, 0.0, 0.0, 1e-30, 1 / 3, 2.0**-60, 0.0, 1.0, 2.0, 0.5, 1e-300, 1e10, 4.0, 4.0, 4.0, 1e-9]
    rows = [(weight, row % 3 != 1) for row, weight in enumerate(weights)]
    for of_class, found in zip((True, False), sums_of(rows), strict=True):
        totals = itertools.accumulate(Fraction(weight) if label == of_class else Fraction(0) for weight, label in rows)
        assert all(ulp_distance(so_far, total) <= 1 for so_far, total in zip(found.tolist(), totals, strict=True))


@pytest.mark.parametrize("groups", [1, 99, BLOCK // 2, BLOCK // 2 + 1, 3 * BLOCK])
@pytest.mark.parametrize("spread", [0, 30])
def test_sums_of_groups_are_those_of_their_examples_in_turn(groups: int, spread: int) -> None:
    drawn = np.random.default_rng([groups, spread])
    both = drawn.random((groups, 2)) * 2.0 ** drawn.integers(-spread, spread, (groups, 2), endpoint=True)
    wanted = class_sums(both.ravel(), np.arange(2 * groups) % 2 == 0)
    for found, of_class in zip(sums_of_groups(*both.T), wanted, strict=True):
        assert np.array_equal(found, np.append(0.0, of_class[1::2]))


def one(a: float) -> np.ndarray:
    """One number as a column."""
    return np.array([a])


@examples(300)
@given(moderate, moderate, moderate, moderate)
def test_sum_of_pairs(a: float, b: float, c: float, d: float) -> None:
    """Within 2^-100 of the greater, whatever cancels; the low part is below the last bit of the high one."""
    x, y = two_sum(one(a), one(b)), two_sum(one(c), one(d))
    found = pair_sum(x, y)
    assert abs(exact(found) - (exact(x) + exact(y))) <= max(abs(exact(x)), abs(exact(y))) / 2**100
    assert found[0] + found[1] == found[0]


@examples(100)
@given(st.floats(0.5, 1.0), st.floats(-1.0, 1.0), st.floats(-1.0, 1.0), st.floats(-1.0, 1.0))
def test_sum_of_pairs_whose_high_parts_cancel(a: float, b: float, c: float, d: float) -> None:
    x, y = two_sum(one(a), one(b * 2**-54)), two_sum(one(-a * (1 + c * 2**-52)), one(d * 2**-54))
    assert abs(exact(pair_sum(x, y)) - (exact(x) + exact(y))) <= abs(exact(x)) / 2**100


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
@given(moderate, moderate)
def test_doubles_as_pairs_and_twice_a_pair(a: float, b: float) -> None:
    assert exact(exactly(one(a))) == Fraction(a)
    pair = two_sum(one(a), one(b))
    assert exact(double(pair)) == 2 * exact(pair)


@examples(100)
@given(positive, st.floats(-(2.0**-48), 2.0**-48), st.sampled_from([1, -1]))
def test_rounding_a_pair_gives_the_nearest_double(a: float, share: float, sign: int) -> None:
    """Also for pairs whose low part overlaps the bits of the high one."""
    pair = one(sign * a), one(a * share)
    assert rounded(pair) == float(exact(pair))


@pytest.mark.parametrize("low", [math.nan, math.inf, -math.inf, 2.0**-40, -(2.0**-40)])
def test_a_low_part_without_meaning_is_left_out(low: float) -> None:
    assert rounded((one(1.0), one(low))) == 1.0


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


@examples(100)
@given(st.lists(wild_weights, max_size=40))
def test_positive_parts(values: list[float]) -> None:
    """Each part except the last is the exact sum of what the values have above a unit; the last is small."""
    total = sum(map(Fraction, values), Fraction(0))
    leading, middle, rest = map(Fraction, positive_parts(np.array(values)))
    assert abs(leading + middle + rest - total) <= total / 2**120
    assert abs(middle) <= total / 2**40
    assert abs(rest) <= total / 2**80


@pytest.mark.parametrize("scale", [1.0, 1e-20, 1e20])
def test_positive_parts_of_many_that_a_plain_sum_rounds(scale: float) -> None:
    column = np.random.default_rng(2).random(20_000) * scale
    total = sum(map(Fraction, column.tolist()), Fraction(0))
    assert Fraction(float(column.sum())) != total
    assert abs(sum(map(Fraction, positive_parts(column))) - total) <= total / 2**120


@pytest.mark.parametrize("total", [1e-150, 0.3, 0.5, 1.0, 1e150])
def test_power_of_two_scale(total: float) -> None:
    """A power of two; 1 for totals of at least 1/2."""
    up = power_of_two_scale(total)
    assert math.frexp(up)[0] == 0.5
    assert total * up >= 0.5
    assert up == 1 or total * up < 1
