"""The area under the precision-recall-gain curve. Knows the table, and pairs of doubles.

Source: Flach & Kull 2015, "Precision-recall-gain curves: PR analysis done right".
"""

import math
from bisect import bisect_right
from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from service.curves.confusion import ConfusionTable
from service.curves.exact import (
    FloatArray,
    FloatPair,
    blocks,
    exactly,
    pair_product,
    pair_quotient,
    pair_sum,
    signed_sum,
    two_product,
    two_sum,
)


def precision_gain_area(table: ConfusionTable) -> float:
    """Area under the precision-recall-gain curve of a sweep, from recall gain 0 to 1; it may be negative.

        precision gain  1 - P fp/(N tp)      recall gain  1 - P (P - tp)/(N tp)

    Between two rows counts are linear, so both gains are linear in 1/tp: the curve is straight, and trapezoids are
    exact. Recall gain is 0 at tp = P²/(P + N), where the step is cut:

        ∫ = Σ (recall gain_k - recall gain_{k-1}) (precision gain_k + precision gain_{k-1}) / 2

    Terms are good to 2^-95: a diagonal has exactly 0, and the sum is rounded once unless terms of both signs cancel.
    """
    positives, negatives = Fraction(table.positives), Fraction(table.negatives)
    start = positives**2 / (positives + negatives)
    row = bisect_right(table.tp, start, key=Fraction)  # P is above `start`
    tp, tp_after = Fraction(table.tp[row - 1]), Fraction(table.tp[row])
    fp, fp_after = Fraction(table.fp[row - 1]), Fraction(table.fp[row])
    fp += (fp_after - fp) * (start - tp) / (tp_after - tp)
    width = 1 - positives * (positives - tp_after) / (negatives * tp_after)
    gains = 2 - positives / negatives * (fp / start + fp_after / tp_after)
    rest = sum(map(signed_sum, _trapezoids(table, row)), Fraction(0))
    return float((width * gains + rest) / 2)


def _trapezoids(table: ConfusionTable, first: int) -> Iterator[FloatPair]:
    """Twice the trapezoids of the steps from a row on, in blocks; its tp is above 0.

    Counts of each class are scaled to a total near 1. Widths, at most 1, are scaled up and heights, which may be near
    -N/P, down by the same power of two, so that neither overflows or underflows.
    """
    positives_exponent, negatives_exponent = (math.frexp(total)[1] for total in (table.positives, table.negatives))
    positives, negatives = (
        math.ldexp(table.positives, -positives_exponent),
        math.ldexp(table.negatives, -negatives_exponent),
    )
    apart = negatives_exponent - positives_exponent
    lift = math.ldexp(1.0, max(apart, 0) // 2)
    # The recall gain grows by (P²/N)(t' - t)/(t t').
    rate = Fraction(positives) ** 2 / Fraction(negatives) / Fraction(2) ** apart * Fraction(lift)
    for rows in blocks(table.tp.size - first, overlap=1):
        at = slice(rows.start + first, min(rows.stop + first, table.tp.size))
        tp = np.ldexp(table.tp[at], -positives_exponent)
        gains = _gains(tp, np.ldexp(table.fp[at], -negatives_exponent), positives, negatives, 1 / lift)
        before, after = tp[:-1], tp[1:]
        shares = pair_quotient(two_sum(after, -before), exactly(after))
        widths = pair_product(pair_quotient(_pair(rate, before.size), exactly(before)), shares)
        yield pair_product(widths, pair_sum((gains[0][1:], gains[1][1:]), (gains[0][:-1], gains[1][:-1])))


def _gains(tp: FloatArray, fp: FloatArray, positives: float, negatives: float, scale: float) -> FloatPair:
    """Precision gains times a power of two, (tp N - fp P)/(tp N); exactly 0 on the diagonal."""
    called = two_product(tp, np.full(tp.size, negatives))
    high, low = pair_sum(called, two_product(fp, np.full(fp.size, -positives)))
    return pair_quotient((high * scale, low * scale), called)


def _pair(number: Fraction, size: int) -> FloatPair:
    """One number as a column of pairs."""
    high = float(number)
    return np.full(size, high), np.full(size, float(number - Fraction(high)))
