"""Arithmetic on arrays of doubles without rounding error, or with the error kept.

An error-free transformation writes the exact result of an operation as an unevaluated sum `high + low` of two doubles
(Knuth's two-sum, Dekker's product). Sums are cut into slices whose own sums need no rounding in any order, so that a
sum of doubles does not depend on the order of its rows (Rump, Ogita & Oishi 2008, "Accurate floating-point summation").
Products must stay clear of overflow and underflow: |a|, |b| below 2^500, |a b| above 2^-960 or zero.
"""

from collections.abc import Iterator
from fractions import Fraction
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]
BoolArray: TypeAlias = NDArray[np.bool_]
Pair: TypeAlias = tuple[FloatArray, FloatArray]

LARGEST_EXACT_INTEGER = 2.0**53
"""Every integer up to here is a double."""

_SPLITTER = 2.0**27 + 1


def two_sum(a: FloatArray, b: FloatArray) -> Pair:
    """Write a + b exactly as (rounded sum, error)."""
    high = a + b
    part = high - a
    return high, (a - (high - part)) + (b - part)


def two_product(a: FloatArray, b: FloatArray) -> Pair:
    """Write a · b exactly as (rounded product, error)."""
    high = a * b
    a_high, a_low = _split(a)
    b_high, b_low = _split(b)
    return high, a_low * b_low - (((high - a_high * b_high) - a_low * b_high) - a_high * b_low)


def pair_product(a: Pair, b: Pair) -> Pair:
    """Multiply two pairs, to within 2^-102 of the product."""
    high, low = two_product(a[0], b[0])
    return high, low + (a[0] * b[1] + a[1] * b[0])


def pair_quotient(a: Pair, b: Pair) -> Pair:
    """Divide two pairs of one sign, to within 2^-100 of the quotient; b is not zero."""
    high = a[0] / b[0]
    product, error = two_product(high, b[0])
    return high, (((a[0] - product) - error) + (a[1] - high * b[1])) / b[0]


def pair_sum(a: Pair, b: Pair) -> Pair:
    """Add two pairs, to within 2^-100 of the greater of them."""
    high, low = two_sum(a[0], b[0])
    return two_sum(high, low + (a[1] + b[1]))


def exactly(a: FloatArray) -> Pair:
    """Doubles as pairs."""
    return a, np.zeros(a.size)


def double(a: Pair) -> Pair:
    """Twice a pair, exactly."""
    return 2 * a[0], 2 * a[1]


def rounded(a: Pair) -> FloatArray:
    """The double nearest to a pair; the high part alone where the low one lost its meaning outside a double's range."""
    return a[0] + np.where(np.abs(a[1]) <= 2.0**-48 * np.abs(a[0]), a[1], 0.0)


def as_integers(*numbers: float) -> list[int]:
    """Write doubles as integers, all times the same power of two."""
    ratios = [number.as_integer_ratio() for number in numbers]
    scale = max(denominator for _, denominator in ratios)
    return [numerator * (scale // denominator) for numerator, denominator in ratios]


def exact_sum(*columns: FloatArray) -> Fraction:
    """Σ over all elements of all columns, without rounding."""
    return sum((Fraction(float(part.sum())) for column in columns for part in _slices(column)), Fraction(0))


def sum_of_positives(column: FloatArray) -> Fraction:
    """Σ over the elements, all >= 0, to within 2^-70 of it: but for the first slice it is rounded."""
    part = next(_slices(column), column)
    return Fraction(float(part.sum())) + Fraction(float((column - part).sum()))


def exact_dot(a: Pair, b: Pair) -> Fraction:
    """Σ (a_high + a_low)(b_high + b_low), without rounding."""
    total = exact_sum(*two_product(a[0], b[0]))
    for x, y in ((a[0], b[1]), (a[1], b[0]), (a[1], b[1])):
        rows = np.flatnonzero((x != 0) & (y != 0))
        total += exact_sum(*two_product(x[rows], y[rows]))
    return total


def prefix_sums(values: FloatArray, ends: IntArray) -> FloatArray:
    """Σ values[0..e] for each e in `ends`, each within one ulp and the same for any order of the rows up to e.

    The values are >= 0, so that slices of opposite sign cannot cancel the leading digits.
    """
    high = np.zeros(ends.size)
    low = np.zeros(ends.size)
    for part in _slices(values):
        high, error = two_sum(high, np.cumsum(part)[ends])
        low += error
    return high + low


def _split(a: FloatArray) -> Pair:
    scaled = _SPLITTER * a
    high = scaled - (scaled - a)
    return high, a - high


def _slices(values: FloatArray) -> Iterator[FloatArray]:
    """Cut `values` into columns that add up to it, each of which sums exactly in any order.

    A slice keeps the leading bits of every value, as multiples of one unit u, few enough that the sum of all rows stays
    under 2^53 u.
    """
    spare = values.size.bit_length() + 1
    rest = values
    while (top := float(np.max(np.abs(rest), initial=0.0))) > 0:
        anchor = np.ldexp(1.0, int(np.frexp(top)[1]) + spare)
        part = (rest + anchor) - anchor
        yield part
        rest = rest - part
