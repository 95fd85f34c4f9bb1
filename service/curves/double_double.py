"""Arithmetic on arrays of doubles without rounding error, or with the error kept.

An error-free transformation writes the exact result of an operation as an unevaluated sum `high + low` of two doubles
(Knuth's two-sum, Dekker's product). Terms are cut into slices that add up without rounding in any order, so that a sum
of doubles does not depend on the order of its rows (Rump, Ogita & Oishi 2008, "Accurate floating-point summation").
Products must stay clear of overflow and underflow: |a|, |b| below 2^500, |a b| above 2^-960 or zero.
"""

import itertools
import math
from collections.abc import Iterable
from fractions import Fraction
from typing import TypeAlias

import numpy as np

from service.curves.arrays import BLOCK, BoolArray, FloatArray, blocks
from service.curves.clock import still_time

FloatPair: TypeAlias = tuple[FloatArray, FloatArray]

_FEW_WEIGHTS = 200
_WIDELY_SPREAD = 8
"""Weights are summed one by one if their exponents spread over more than this many powers of two for each weight."""

_SPLITTER = 2.0**27 + 1


def two_sum(a: FloatArray, b: FloatArray) -> FloatPair:
    """Write a + b exactly as (rounded sum, error)."""
    high = a + b
    part = high - a
    return high, (a - (high - part)) + (b - part)


def two_product(a: FloatArray, b: FloatArray) -> FloatPair:
    """Write a · b exactly as (rounded product, error)."""
    high = a * b
    a_high, a_low = _split(a)
    b_high, b_low = _split(b)
    return high, a_low * b_low - (((high - a_high * b_high) - a_low * b_high) - a_high * b_low)


def pair_product(a: FloatPair, b: FloatPair) -> FloatPair:
    """Multiply two pairs, to within 2^-102 of the product."""
    high, low = two_product(a[0], b[0])
    return high, low + (a[0] * b[1] + a[1] * b[0])


def pair_quotient(a: FloatPair, b: FloatPair) -> FloatPair:
    """Divide two pairs of one sign, to within 2^-100 of the quotient; b is not zero."""
    high = a[0] / b[0]
    product, error = two_product(high, b[0])
    return high, (((a[0] - product) - error) + (a[1] - high * b[1])) / b[0]


def pair_sum(a: FloatPair, b: FloatPair) -> FloatPair:
    """Add two pairs, to within 2^-100 of the greater of them."""
    high, low = two_sum(a[0], b[0])
    return two_sum(high, low + (a[1] + b[1]))


def exactly(a: FloatArray) -> FloatPair:
    """Doubles as pairs."""
    return a, np.zeros(a.size)


def double(a: FloatPair) -> FloatPair:
    """Twice a pair, exactly."""
    return 2 * a[0], 2 * a[1]


def rounded(a: FloatPair) -> FloatArray:
    """The double nearest to a pair; the high part alone where the low one is not finite."""
    return a[0] + np.where(np.abs(a[1]) <= 2.0**-48 * np.abs(a[0]), a[1], 0.0)


def as_integers(*numbers: float) -> list[int]:
    """Write doubles as integers, all times the same power of two."""
    ratios = [number.as_integer_ratio() for number in numbers]
    scale = max(denominator for _, denominator in ratios)
    return [numerator * (scale // denominator) for numerator, denominator in ratios]


def exact_quotient(numbers: Iterable[float], *factors: float) -> float:
    """Σ of doubles over a product of others, rounded once."""
    total, scale = 0, 1  # total/scale; all denominators are powers of two
    for numerator, denominator in map(float.as_integer_ratio, numbers):
        if denominator > scale:
            total, scale = total * (denominator // scale), denominator
        total += numerator * (scale // denominator)
    for numerator, denominator in map(float.as_integer_ratio, factors):
        total *= denominator
        scale *= numerator
    return total / scale  # a quotient of integers is rounded once


def signed_sum(a: FloatPair) -> Fraction:
    """Σ of pairs of any sign, in any order, to within 2^-105 of it."""
    parts = [*a[0].tolist(), *a[1].tolist()]
    high = math.fsum(parts)
    return Fraction(high) + Fraction(math.fsum([*parts, -high]))


def positive_parts(column: FloatArray) -> list[float]:
    """Σ over the elements, all >= 0, in three parts: the first two are exact, the third is small.

    The first sums multiples of 2^-52 of an upper bound of the sum, the second does likewise for the remainders, and the
    third sums what remains of those. So the order of the elements hardly ever changes the double.
    """
    bound = float(np.maximum.reduce(column, initial=0.0)) * column.size
    anchor = math.ldexp(1.0, math.frexp(bound)[1])
    leading = column + anchor
    leading -= anchor
    rest = column - leading
    below = math.ldexp(anchor, column.size.bit_length() - 52)
    middle = rest + below
    middle -= below
    rest -= middle
    return [float(np.add.reduce(part)) for part in (leading, middle, rest)]


def power_of_two_scale(total: float) -> float:
    """The power of two that scales up counts whose total is below 1/2, so that their products do not underflow."""
    return math.ldexp(1.0, max(0, -math.frexp(total)[1]))


def class_sums(weights: FloatArray, labels: BoolArray) -> FloatPair:
    """Running sums of weights >= 0 of the rows labelled True, and of the others, each including its row, (n,) each.

    Each sum is within one ulp and does not depend on the order of the rows before it: slices of the weights' bits are
    summed without rounding; a few weights of very different size are summed in integers.
    """
    if 0 < weights.size < _FEW_WEIGHTS and np.ptp(np.frexp(weights)[1]) > _WIDELY_SPREAD * weights.size:
        return _sums_in_integers(weights, labels)
    grid = _grid(weights.size, float(weights.max(initial=0.0)))
    hits, misses = np.empty(weights.size), np.empty(weights.size)
    before = [(0.0, 0.0)]
    for rows in blocks(weights.size):
        slices = _class_slices(weights[rows], labels[rows], *grid, before)
        before = _last(slices)
        hits[rows] = _nearest([of_hits for of_hits, _ in slices])
        misses[rows] = _nearest([of_misses for _, of_misses in slices])
    return hits, misses


def sums_of_groups(positives: FloatArray, negatives: FloatArray) -> FloatPair:
    """Running sums of weights >= 0 of both classes of groups, (m + 1,) each, from 0 on.

    They are the very sums of `class_sums` for examples of both classes in turn.
    """
    groups = positives.size
    labels = np.arange(min(2 * groups, BLOCK)) % 2 == 0
    if labels.size == 2 * groups:  # a single block
        both = class_sums(np.stack((positives, negatives), axis=1).ravel(), labels)
        return np.append(0.0, both[0][1::2]), np.append(0.0, both[1][1::2])
    hits, misses = np.zeros(groups + 1), np.zeros(groups + 1)
    grid = _grid(2 * groups, max(float(positives.max()), float(negatives.max())))
    before = [(0.0, 0.0)]
    for start in range(0, groups, BLOCK // 2):
        some = slice(start, start + BLOCK // 2)
        weights = np.stack((positives[some], negatives[some]), axis=1).ravel()
        slices = _class_slices(weights, labels[: weights.size], *grid, before)
        before = _last(slices)
        hits[1:][some] = _nearest([of_hits[1::2] for of_hits, _ in slices])
        misses[1:][some] = _nearest([of_misses[1::2] for _, of_misses in slices])
    return hits, misses


def _grid(size: int, largest: float) -> tuple[int, int]:
    """The power of two above the weights, and how many bits of each leave room for the sum of all."""
    return math.frexp(largest)[1], 53 - size.bit_length()


def _last(slices: list[FloatPair]) -> list[tuple[float, float]]:
    return [(float(of_hits[-1]), float(of_misses[-1])) for of_hits, of_misses in slices]


def _sums_in_integers(weights: FloatArray, labels: BoolArray) -> FloatPair:
    *units, one = as_integers(*weights.tolist(), 1.0)
    hits = list(itertools.accumulate(unit if label else 0 for unit, label in zip(units, labels.tolist(), strict=True)))
    called = itertools.accumulate(units)
    misses = [both - hit for both, hit in zip(called, hits, strict=True)]
    # A quotient of integers is rounded once.
    return np.array([hit / one for hit in hits]), np.array([miss / one for miss in misses])


def _class_slices(
    weights: FloatArray, labels: BoolArray, power: int, bits: int, before: list[tuple[float, float]]
) -> list[FloatPair]:
    """For each slice of the weights' bits, the exact running sums of both classes, continuing those `before`.

    Weights start below 2^power; each slice of a weight is a whole number of units, at most 2^bits.
    """
    of_class = labels.astype(np.float64)
    slices: list[FloatPair] = []
    rest = weights
    while len(slices) < len(before) or rest.any():
        # Adding to the anchor rounds to a whole number of units, the last bits of the mantissa.
        anchor = math.ldexp(1.5, power + 52 - bits)
        part = rest + anchor
        part -= anchor
        rest = rest - part
        still_time()
        hits = part * of_class
        part -= hits
        if len(slices) < len(before):
            hits[0] += before[len(slices)][0]
            part[0] += before[len(slices)][1]
        slices.append((hits.cumsum(out=hits), part.cumsum(out=part)))
        power -= bits  # the remainder of a weight is at most half a unit
    return slices


def _nearest(slices: list[FloatArray]) -> FloatArray:
    """Add the sums of one or more slices, the greatest first, to within one ulp."""
    if len(slices) == 1:
        return slices[0]
    high, *others, low = slices
    for more in others:
        high, error = two_sum(high, more)
        low = low + error
    return high + low


def _split(a: FloatArray) -> FloatPair:
    scaled = _SPLITTER * a
    high = scaled - (scaled - a)
    return high, a - high
