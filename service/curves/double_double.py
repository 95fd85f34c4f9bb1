"""Arithmetic on arrays of doubles without rounding error, or with the error kept.

An error-free transformation writes the exact result of an operation as an unevaluated sum `high + low` of two doubles
(Knuth's two-sum, Dekker's product). Products must stay clear of overflow and underflow: |a|, |b| below 2^500, |a b|
above 2^-960 or zero. Knows NumPy only.
"""

from typing import TypeAlias

from service.curves.arrays import FloatArray

FloatPair: TypeAlias = tuple[FloatArray, FloatArray]

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


def difference_of_products(a: FloatArray, b: FloatArray, c: FloatArray, d: FloatArray) -> FloatArray:
    """Compute a b - c d to within a unit in the last place, however much cancels."""
    (high, low), (other_high, other_low) = two_product(a, b), two_product(c, d)
    (high, rest), (low, tiny) = two_sum(high, -other_high), two_sum(low, -other_low)
    high, more = two_sum(high, rest + low)
    return high + (more + tiny)


def pair_product(a: FloatPair, b: FloatPair) -> FloatPair:
    """Multiply two pairs, to within 2^-102 of the product."""
    high, low = two_product(a[0], b[0])
    return high, low + (a[0] * b[1] + a[1] * b[0])


def pair_quotient(a: FloatPair, b: FloatPair) -> FloatPair:
    """Divide two pairs of one sign, to within 2^-100 of the quotient; b is not zero."""
    high = a[0] / b[0]
    product, error = two_product(high, b[0])
    return high, (((a[0] - product) - error) + (a[1] - high * b[1])) / b[0]


def as_integers(*numbers: float) -> list[int]:
    """Write doubles as integers, all times the same power of two."""
    ratios = [number.as_integer_ratio() for number in numbers]
    scale = max(denominator for _, denominator in ratios)
    return [numerator * (scale // denominator) for numerator, denominator in ratios]


def _split(a: FloatArray) -> FloatPair:
    scaled = _SPLITTER * a
    high = scaled - (scaled - a)
    return high, a - high
