"""The four indices over the precision-recall trade-off, as curves over λ in [0, 1].

An index weighs recall r by λ and precision p by 1 - λ, so that f(0) = p and f(1) = r:

    kulczynski       f = (1 - λ) p + λ r
    f_measure        1/f = (1 - λ)/p + λ/r
    fowlkes_mallows  log f = (1 - λ) log p + λ log r
    jaccard          1/f = 1/p + 2 λ (1/r - 1) up to λ = 1/2, and 1/r + 2 (1 - λ) (1/p - 1) from there on

Each is linear in λ on its own scale, so a step to more recall and less precision pays from one λ on: the one that
balances what the step loses at λ = 0 and gains at λ = 1. Knows counts and λ; nothing of tables.
Source: Hanczar & Nadif 2014, sections 3 and 4, with two errata: the weighted Folke is printed with the exponents λ/2
and 1 - λ/2, which contradicts its own table 1 and f(1) = r; the weighted Kulczynski, in R = λ/(1 - λ), with R at p.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from service.curves.arrays import FloatArray, IntArray
from service.curves.double_double import as_integers, difference_of_products
from service.curves.lambda_intervals import LambdaIntervals

_TIE = 2.0**-49
"""Products of logarithms that agree to this, relatively, may be equal."""


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Rows of a confusion table with tp > 0, (n,) each, and its total P."""

    tp: FloatArray
    fp: FloatArray
    positives: float

    def __getitem__(self, rows: IntArray | slice) -> "Rows":
        return Rows(self.tp[rows], self.fp[rows], self.positives)

    @property
    def called(self) -> FloatArray:
        """How many are called positive, tp + fp."""
        return self.tp + self.fp

    @property
    def precision(self) -> FloatArray:
        """The precision p = tp/(tp + fp), above 0."""
        return self.tp / self.called

    @property
    def recall(self) -> FloatArray:
        """The recall r = tp/P, above 0 but for underflow."""
        return self.tp / self.positives


@dataclass(frozen=True, slots=True, eq=False)
class Steps:
    """Steps from rows a to rows b of more recall and less precision, (n,) each.

    The counts of either row, and P beside them, are times a power of two that makes tp + fp about 1: no product is too
    large or too small for a double, and neither power changes a ratio of loss and gain.

    tp, called, positives   tp, tp + fp and P, of a and of b.
    cross    tp_a fp_b - fp_a tp_b, which is (p_a - p_b) (tp_a + fp_a) (tp_b + fp_b), without cancellation.
    growth   tp_b - tp_a, on the scale of b.
    climb    log(tp_b/tp_a).
    """

    tp: tuple[FloatArray, FloatArray]
    called: tuple[FloatArray, FloatArray]
    positives: tuple[FloatArray, FloatArray]
    cross: FloatArray
    growth: FloatArray
    climb: FloatArray

    @classmethod
    def between(cls, a: Rows, b: Rows) -> "Steps":
        """The steps from rows a to rows b."""
        down_a, down_b = (-np.frexp(rows.called)[1] for rows in (a, b))
        tp_a, fp_a, positives_a = (np.ldexp(column, down_a) for column in (a.tp, a.fp, a.positives))
        tp_b, fp_b, positives_b = (np.ldexp(column, down_b) for column in (b.tp, b.fp, b.positives))
        growth = b.tp - a.tp
        share = growth / a.tp
        return cls(
            (tp_a, tp_b),
            (tp_a + fp_a, tp_b + fp_b),
            (positives_a, positives_b),
            difference_of_products(tp_a, fp_b, fp_a, tp_b),
            np.ldexp(growth, down_b),
            np.where(np.isfinite(share), np.log1p(share), np.log(b.tp) - np.log(a.tp)),
        )


Row = tuple[float, float]
"""The tp and fp of one row."""


@dataclass(frozen=True, slots=True)
class IndexPlane:
    """Where f is linear: the rows that are best somewhere are the vertices of the upper hull of these points.

    points   x and y of rows, r and p on the scale of the index, to a few units.
    above    whether the second of three rows, each (tp, fp), lies above the line between the others: only the sign has
             a meaning. It is decided in integers; if there are logarithms, it is 0 for products that agree to _TIE.
    """

    points: Callable[[Rows], tuple[FloatArray, FloatArray]]
    above: Callable[[Row, Row, Row], float]


@dataclass(frozen=True, slots=True)
class Index:
    """One index.

    value       f(λ) of rows, from λ and 1 - λ.
    mean        the mean of f over intervals of λ, in closed form.
    exchange    what steps lose at λ = 0 and gain at λ = 1, on the scale where f is linear, up to a common factor.
    breakpoint  the λ from which a step pays, and 1 - λ, from its loss and gain.
    plane       how rows that are best nowhere are found; None if each vertex of the ROC hull is best somewhere.
    """

    value: Callable[[Rows, FloatArray, FloatArray], FloatArray]
    mean: Callable[[Rows, LambdaIntervals], FloatArray]
    exchange: Callable[[Steps], tuple[FloatArray, FloatArray]]
    breakpoint: Callable[[FloatArray, FloatArray], tuple[FloatArray, FloatArray]]
    plane: IndexPlane | None = None


def _balance(loss: FloatArray, gain: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The λ, and 1 - λ, where (1 - λ) loss = λ gain."""
    return loss / (loss + gain), gain / (loss + gain)


def _kulczynski(rows: Rows, weight: FloatArray, rest: FloatArray) -> FloatArray:
    """The weighted arithmetic mean (1 - λ) p + λ r.

    Of p = 3/4 and r = 1/4 at λ = 0.25: 0.75 · 0.75 + 0.25 · 0.25 = 0.625.
    """
    return rest * rows.precision + weight * rows.recall


def _kulczynski_mean(rows: Rows, intervals: LambdaIntervals) -> FloatArray:
    """The value at the middle, since f is linear."""
    (start, rest_start), (end, rest_end) = intervals.ends
    return _kulczynski(rows, (start + end) / 2, (rest_start + rest_end) / 2)


def _kulczynski_exchange(steps: Steps) -> tuple[FloatArray, FloatArray]:
    """p_a - p_b and r_b - r_a, times both tp + fp."""
    return steps.cross, steps.called[0] * steps.called[1] * (steps.growth / steps.positives[1])


def _kulczynski_above(a: Row, b: Row, c: Row) -> float:
    """(p_b - p_c)(tp_b - tp_a) - (p_a - p_b)(tp_c - tp_b), times all three tp + fp."""
    tp_a, fp_a, tp_b, fp_b, tp_c, fp_c = as_integers(*a, *b, *c)
    first = (tp_a * fp_b - fp_a * tp_b) * (tp_c + fp_c) * (tp_c - tp_b)
    second = (tp_b * fp_c - fp_b * tp_c) * (tp_a + fp_a) * (tp_b - tp_a)
    return (second > first) - (second < first)


def _f_measure(rows: Rows, weight: FloatArray, rest: FloatArray) -> FloatArray:
    """The weighted harmonic mean p r / (λ p + (1 - λ) r), which is tp / (λ P + (1 - λ)(tp + fp)).

    F_β has λ = β²/(1 + β²): F_1 of p = 3/4 and r = 1/4 is f(0.5) = 0.375.
    """
    return rows.tp / _f_measure_below(rows, weight, rest)


def _f_measure_below(rows: Rows, weight: FloatArray, rest: FloatArray) -> FloatArray:
    called = rows.called
    below = weight * rows.positives + rest * called
    return np.where(called == rows.positives, called, below)  # p = r: the mean is the same at any λ


def _f_measure_mean(rows: Rows, intervals: LambdaIntervals) -> FloatArray:
    """As 1/f is linear, see `_harmonic_mean`."""
    return _harmonic_mean(rows.tp, *(_f_measure_below(rows, *ends) for ends in intervals.ends))


def _f_measure_exchange(steps: Steps) -> tuple[FloatArray, FloatArray]:
    """1/p_b - 1/p_a and 1/r_a - 1/r_b, times tp_a tp_b.

    Their ratio is -1/P times the fp at which the line through a and b reaches tp = 0, and that rises along the ROC
    hull. So each of its vertices is best somewhere.
    """
    return steps.cross, steps.positives[0] * steps.growth


def _fowlkes_mallows(rows: Rows, weight: FloatArray, rest: FloatArray) -> FloatArray:
    """The weighted geometric mean p^(1 - λ) r^λ, also where r underflows.

    Of p = 3/4 and r = 1/4 at λ = 0.5: √(3/16) = 0.433.
    """
    recall, power = _ratio(rows.tp, rows.positives)
    mean: FloatArray = rows.precision**rest * recall**weight * np.exp2(power * weight)
    return mean


def _fowlkes_mallows_mean(rows: Rows, intervals: LambdaIntervals) -> FloatArray:
    """The logarithm of f is linear: the mean is f at the higher end times (1 - exp(-y))/y, where log f falls by y."""
    ratio, power = _ratio(rows.called, rows.positives)  # r/p = (tp + fp)/P
    fall = intervals.length * np.abs(np.log(ratio) + power * math.log(2))
    share = np.divide(-np.expm1(-fall), fall, out=np.ones_like(fall), where=fall > 0)
    start, end = (_fowlkes_mallows(rows, *ends) for ends in intervals.ends)
    mean: FloatArray = share * np.maximum(start, end)
    return mean


def _ratio(part: FloatArray, whole: float) -> tuple[FloatArray, IntArray]:
    """The ratio part/whole as m 2^n, m about 1: it may be too small for a double."""
    (part, power), (whole, power_of_whole) = np.frexp(part), np.frexp(whole)
    return part / whole, power - power_of_whole


def _fowlkes_mallows_exchange(steps: Steps) -> tuple[FloatArray, FloatArray]:
    """log(p_a/p_b) and log(r_b/r_a)."""
    return np.log1p(steps.cross / (steps.called[0] * steps.tp[1])), steps.climb


def _fowlkes_mallows_above(a: Row, b: Row, c: Row) -> float:
    """log(p_b/p_c) log(tp_b/tp_a) - log(p_a/p_b) log(tp_c/tp_b), or 0 if that may be rounding."""
    (loss, gain), (next_loss, next_gain) = _logarithms(a, b), _logarithms(b, c)
    above = next_loss * gain - loss * next_gain
    return above if abs(above) > _TIE * next_loss * gain else 0.0


def _logarithms(a: Row, b: Row) -> tuple[float, float]:
    """log(p_a/p_b) and log(tp_b/tp_a)."""
    tp_a, fp_a, tp_b, fp_b = as_integers(*a, *b)
    loss, share = math.log1p((tp_a * fp_b - fp_a * tp_b) / ((tp_a + fp_a) * tp_b)), (b[0] - a[0]) / a[0]
    return loss, math.log1p(share) if math.isfinite(share) else math.log(b[0]) - math.log(a[0])


def _jaccard(rows: Rows, weight: FloatArray, rest: FloatArray) -> FloatArray:
    """The weighted Jaccard index p r / (w(λ) p + w(1 - λ) r - v(λ) p r), w(λ) = min(2λ, 1), v(λ) = 1 - |1 - 2λ|.

    Up to λ = 1/2 that is tp / (tp + fp + 2λ fn), from there on tp / (P + 2(1 - λ) fp): always the greater of the two.
    Of tp = 3, fp = 1, fn = 9 at λ = 0.5: 3/13 = 0.231, the intersection over the union.
    """
    return rows.tp / _jaccard_below(rows, weight, rest)


def _jaccard_below(rows: Rows, weight: FloatArray, rest: FloatArray) -> FloatArray:
    early, late = rows.called + 2 * weight * (rows.positives - rows.tp), rows.positives + 2 * rest * rows.fp
    return np.minimum(early, late)


def _jaccard_mean(rows: Rows, intervals: LambdaIntervals) -> FloatArray:
    """1/f is linear on each half of [0, 1]."""
    (start, rest_start), (end, rest_end) = intervals.ends
    middle = np.clip(0.5, start, end), np.clip(0.5, rest_end, rest_start)
    first, between, last = (_jaccard_below(rows, *at) for at in (intervals.ends[0], middle, intervals.ends[1]))
    share = LambdaIntervals(start, middle[0], rest_start, middle[1]).length / intervals.length
    return share * _harmonic_mean(rows.tp, first, between) + (1 - share) * _harmonic_mean(rows.tp, between, last)


def _jaccard_breakpoint(loss: FloatArray, gain: FloatArray) -> tuple[FloatArray, FloatArray]:
    """From the F-measure's loss and gain: to λ = 1/2, 2λ gain = loss; from there on 2(1 - λ) loss = gain."""
    near = np.minimum(loss, gain) / np.maximum(loss, gain) / 2
    return np.where(loss <= gain, near, 1 - near), np.where(loss <= gain, 1 - near, near)


def _harmonic_mean(tp: FloatArray, start: FloatArray, end: FloatArray) -> FloatArray:
    """The mean of f = tp/d between two values of d, which is linear: tp log(1 + x)/(x d_low), x = d_high/d_low - 1."""
    high, low = np.maximum(start, end), np.minimum(start, end)
    with np.errstate(over="ignore", invalid="ignore"):
        ratio = (high - low) / low
        near = tp / low * np.divide(np.log1p(ratio), ratio, out=np.ones_like(ratio), where=ratio > 0)
        far = tp * ((np.log(high) - np.log(low)) / high)  # where x overflows
    return np.where(np.isfinite(ratio), near, far)


INDICES = {
    "kulczynski": Index(
        _kulczynski,
        _kulczynski_mean,
        _kulczynski_exchange,
        _balance,
        IndexPlane(lambda rows: (rows.recall, rows.precision / rows.precision[0]), _kulczynski_above),
    ),
    "f_measure": Index(_f_measure, _f_measure_mean, _f_measure_exchange, _balance),
    "fowlkes_mallows": Index(
        _fowlkes_mallows,
        _fowlkes_mallows_mean,
        _fowlkes_mallows_exchange,
        _balance,
        IndexPlane(lambda rows: (np.log(rows.tp), np.log(rows.precision)), _fowlkes_mallows_above),
    ),
    "jaccard": Index(_jaccard, _jaccard_mean, _f_measure_exchange, _jaccard_breakpoint),
}
"""{name: index}, in the order of answers."""
