"""The four indices over the precision-recall trade-off, as curves over λ in [0, 1].

An index weighs recall by λ and precision by 1 - λ: f(0) is precision p and f(1) recall r. Each is a monotone transform
of something linear in λ, so that of two rows the one with more recall is better beyond one λ, their breakpoint. Knows
counts and λ; nothing of tables. Source: Hanczar & Nadif 2014, sections 3 and 4, with two errata: the weighted Folke is
printed with the exponents λ/2 and 1 - λ/2, which contradicts its own table 1 and f(1) = r; the weighted Kulczynski, in
R = λ/(1 - λ), with R at p.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from service.curves.arrays import FloatArray, IntArray
from service.curves.double_double import (
    FloatPair,
    double,
    exactly,
    pair_product,
    pair_quotient,
    pair_sum,
    power_of_two_scale,
    rounded,
    two_sum,
)
from service.curves.lambda_intervals import LambdaIntervals

_SMALLEST_DIVISOR = float(np.finfo(np.float64).tiny)
"""The least normal double, and the least whose reciprocal is a double."""


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Rows of a confusion table with tp > 0, (n,) each, and its total P."""

    tp: FloatArray
    fp: FloatArray
    positives: float

    def __getitem__(self, rows: IntArray) -> "Rows":
        return Rows(self.tp[rows], self.fp[rows], self.positives)

    @property
    def scaled(self) -> "Rows":
        """The rows times a power of two, which cancels in every index: sums do not underflow; products may overflow."""
        up = power_of_two_scale(self.positives)
        return Rows(self.tp * up, self.fp * up, self.positives * up)

    @property
    def called(self) -> FloatArray:
        """How many are called positive, tp + fp."""
        return self.tp + self.fp

    @property
    def total(self) -> FloatPair:
        """P for each row, exactly."""
        return exactly(np.full(self.tp.size, self.positives))

    @property
    def precision(self) -> FloatArray:
        """p, above 0."""
        return self.tp / self.called

    @property
    def recall(self) -> FloatArray:
        """r; where it underflows only its logarithm is meaningful."""
        return self.tp / self.positives

    @property
    def log_recall(self) -> FloatArray:
        """The logarithm of r, above -inf."""
        recall = self.recall
        normal = recall >= _SMALLEST_DIVISOR
        near = np.log(np.where(normal, recall, 1.0))
        return np.where(normal, near, np.log(self.tp) - np.log(self.positives))


@dataclass(frozen=True, slots=True, eq=False)
class Steps:
    """Steps from rows a to rows b of more recall and less precision, (n,) each.

    Pairs of doubles, which are rounded only after the breakpoint is computed:

    loss       p_a/p_b - 1 >= 0, without cancellation.
    growth     tp_b - tp_a > 0.
    tp         tp_a and tp_b.
    called     tp + fp, of a and of b.
    positives  P.
    """

    loss: FloatPair
    growth: FloatPair
    tp: tuple[FloatPair, FloatPair]
    called: tuple[FloatPair, FloatPair]
    positives: FloatPair


@dataclass(frozen=True, slots=True)
class Index:
    """One index.

    value       f(λ) of rows, from λ and 1 - λ, in doubles.
    reading     the same from λ alone: the nearest double if f is rational and no product leaves a double's range.
    mean        the mean of f over pieces of λ, in closed form.
    exchange    what steps lose at λ = 0 and gain at λ = 1, in the form that is linear in λ; up to a factor common to
                both, a product of one of a and one of b.
    breakpoint  the λ from which a step pays, and 1 - λ, from its loss and gain.
    rational    whether f is rational, so that `value` of fractions is exact.
    """

    value: Callable[[Rows, FloatArray, FloatArray], FloatArray]
    reading: Callable[[Rows, FloatArray], FloatArray]
    mean: Callable[[Rows, LambdaIntervals], FloatArray]
    exchange: Callable[[Steps], tuple[FloatPair, FloatPair]]
    breakpoint: Callable[[FloatPair, FloatPair], tuple[FloatArray, FloatArray]]
    rational: bool = True


def _balance(loss: FloatPair, gain: FloatPair) -> tuple[FloatArray, FloatArray]:
    """The λ, and 1 - λ, where (1 - λ) loss = λ gain."""
    whole = pair_sum(loss, gain)
    return rounded(pair_quotient(loss, whole)), rounded(pair_quotient(gain, whole))


def _kulczynski(rows: Rows, weight: FloatArray, rest: FloatArray) -> FloatArray:
    """The weighted arithmetic mean (1 - λ) p + λ r."""
    return rest * rows.precision + weight * rows.recall


def _kulczynski_reading(rows: Rows, weight: FloatArray) -> FloatArray:
    weights, rests = _weights(weight)
    precision = pair_quotient(exactly(rows.tp), two_sum(rows.tp, rows.fp))
    recall = pair_quotient(exactly(rows.tp), rows.total)
    return rounded(pair_sum(pair_product(rests, precision), pair_product(weights, recall)))


def _kulczynski_mean(rows: Rows, pieces: LambdaIntervals) -> FloatArray:
    return _kulczynski(rows, (pieces.start + pieces.end) / 2, (pieces.rest_start + pieces.rest_end) / 2)


def _kulczynski_exchange(steps: Steps) -> tuple[FloatPair, FloatPair]:
    """p_a - p_b and r_b - r_a."""
    precision = pair_quotient(steps.tp[1], steps.called[1])
    return pair_product(steps.loss, precision), pair_quotient(steps.growth, steps.positives)


def _f_measure(rows: Rows, weight: FloatArray, rest: FloatArray) -> FloatArray:
    """The weighted harmonic mean p r / (λ p + (1 - λ) r), which is tp / (λ P + (1 - λ)(tp + fp)).

    F_β has λ = β²/(1 + β²).
    """
    return rows.tp / _f_measure_below(rows, weight, rest)


def _f_measure_below(rows: Rows, weight: FloatArray, rest: FloatArray) -> FloatArray:
    called = rows.called
    below: FloatArray = weight * rows.positives + rest * called
    return np.where(called == rows.positives, rows.positives, below)  # p = r: the mean is the same at any λ


def _f_measure_reading(rows: Rows, weight: FloatArray) -> FloatArray:
    weights, rests = _weights(weight)
    below = pair_sum(pair_product(weights, rows.total), pair_product(rests, two_sum(rows.tp, rows.fp)))
    return rounded(pair_quotient(exactly(rows.tp), below))


def _f_measure_mean(rows: Rows, pieces: LambdaIntervals) -> FloatArray:
    """1/f is linear."""
    start, end = (_f_measure_below(rows, *ends) for ends in pieces.ends)
    return _harmonic_mean(rows.tp, start, end)


def _f_measure_exchange(steps: Steps) -> tuple[FloatPair, FloatPair]:
    """1/p_b - 1/p_a and 1/r_a - 1/r_b, times r_a."""
    called = pair_quotient(steps.called[0], steps.positives)
    return pair_product(steps.loss, called), pair_quotient(steps.growth, steps.tp[1])


def _fowlkes_mallows(rows: Rows, weight: FloatArray, rest: FloatArray) -> FloatArray:
    """The weighted geometric mean p^(1 - λ) r^λ."""
    recall = rows.recall
    if np.min(recall, initial=1.0) < _SMALLEST_DIVISOR:
        return np.exp(rest * np.log(rows.precision) + weight * rows.log_recall)
    out: FloatArray = rows.precision**rest * recall**weight
    return out


def _fowlkes_mallows_reading(rows: Rows, weight: FloatArray) -> FloatArray:
    return _fowlkes_mallows(rows, weight, 1 - weight)


def _fowlkes_mallows_mean(rows: Rows, pieces: LambdaIntervals) -> FloatArray:
    """The logarithm of f is linear: the mean is f at the higher end times (1 - exp(-y))/y, where log f falls by y."""
    fall = pieces.length * np.abs(rows.log_recall - np.log(rows.precision))
    share = np.divide(-np.expm1(-fall), fall, out=np.ones_like(fall), where=fall > 0)
    mean: FloatArray = share * np.maximum(
        _fowlkes_mallows(rows, pieces.start, pieces.rest_start), _fowlkes_mallows(rows, pieces.end, pieces.rest_end)
    )
    return mean


def _fowlkes_mallows_exchange(steps: Steps) -> tuple[FloatPair, FloatPair]:
    """log(p_a/p_b) and log(r_b/r_a), in doubles."""
    (before, _), (after, _) = steps.tp
    growth = after / before
    far = np.where(np.isfinite(growth), np.log(growth), np.log(after) - np.log(before))
    gain = np.where(growth < 2, np.log1p(steps.growth[0] / before), far)  # noqa: PLR2004  # where log1p is more accurate
    zero = np.zeros(before.size)
    return (np.log1p(steps.loss[0]), zero), (gain, zero)


def _jaccard(rows: Rows, weight: FloatArray, rest: FloatArray) -> FloatArray:
    """The weighted Jaccard index p r / (w(λ) p + w(1 - λ) r - v(λ) p r), w(λ) = min(2λ, 1), v(λ) = 1 - |1 - 2λ|.

    Up to λ = 1/2 that is tp / (tp + fp + 2λ fn), from there on tp / (P + 2(1 - λ) fp): always the greater of the two.
    """
    return rows.tp / _jaccard_below(rows, weight, rest)


def _jaccard_below(rows: Rows, weight: FloatArray, rest: FloatArray) -> FloatArray:
    below: FloatArray = np.minimum(
        rows.called + 2 * weight * (rows.positives - rows.tp), rows.positives + 2 * rest * rows.fp
    )
    return below


def _jaccard_reading(rows: Rows, weight: FloatArray) -> FloatArray:
    weights, rests = _weights(weight)
    missed = double(pair_product(weights, two_sum(rows.total[0], -rows.tp)))
    false = double(pair_product(rests, exactly(rows.fp)))
    belows = pair_sum(two_sum(rows.tp, rows.fp), missed), pair_sum(rows.total, false)
    values = [rounded(pair_quotient(exactly(rows.tp), below)) for below in belows]
    return np.maximum(*values)


def _jaccard_mean(rows: Rows, pieces: LambdaIntervals) -> FloatArray:
    """1/f is linear on each half of [0, 1]."""
    middle = np.clip(0.5, pieces.start, pieces.end), np.clip(0.5, pieces.rest_end, pieces.rest_start)
    start, between, end = (_jaccard_below(rows, *at) for at in (pieces.ends[0], middle, pieces.ends[1]))
    share = LambdaIntervals(pieces.start, middle[0], pieces.rest_start, middle[1]).length / pieces.length
    halves = _harmonic_mean(rows.tp, start, between), _harmonic_mean(rows.tp, between, end)
    mean: FloatArray = share * halves[0] + (1 - share) * halves[1]
    return mean


def _jaccard_breakpoint(loss: FloatPair, gain: FloatPair) -> tuple[FloatArray, FloatArray]:
    """From the F-measure's loss and gain: to λ = 1/2, 2λ gain = loss; from there on 2(1 - λ) loss = gain."""
    early = loss[0] <= gain[0]
    lesser, greater = (
        (np.where(early, one[0], other[0]), np.where(early, one[1], other[1]))
        for one, other in ((loss, gain), (gain, loss))
    )
    near = rounded(pair_quotient(lesser, double(greater)))
    far = rounded(pair_quotient(pair_sum(double(greater), (-lesser[0], -lesser[1])), double(greater)))
    return np.where(early, near, far), np.where(early, far, near)


def _harmonic_mean(tp: FloatArray, start: FloatArray, end: FloatArray) -> FloatArray:
    """The mean of f = tp/d between two values of d, which is linear: tp log(1 + x)/(x d_low), x = d_high/d_low - 1."""
    high, low = np.maximum(start, end), np.minimum(start, end)
    with np.errstate(over="ignore", invalid="ignore"):
        ratio = (high - low) / low
        near = tp / low * np.divide(np.log1p(ratio), ratio, out=np.ones_like(ratio), where=ratio > 0)
        far = tp * ((np.log(high) - np.log(low)) / high)  # where x overflows
    return np.where(np.isfinite(ratio), near, far)


def _weights(weight: FloatArray) -> tuple[FloatPair, FloatPair]:
    """λ and 1 - λ, exactly."""
    return exactly(weight), two_sum(np.ones_like(weight), -weight)


INDICES = {
    "kulczynski": Index(_kulczynski, _kulczynski_reading, _kulczynski_mean, _kulczynski_exchange, _balance),
    "f_measure": Index(_f_measure, _f_measure_reading, _f_measure_mean, _f_measure_exchange, _balance),
    "fowlkes_mallows": Index(
        _fowlkes_mallows,
        _fowlkes_mallows_reading,
        _fowlkes_mallows_mean,
        _fowlkes_mallows_exchange,
        _balance,
        rational=False,
    ),
    "jaccard": Index(_jaccard, _jaccard_reading, _jaccard_mean, _f_measure_exchange, _jaccard_breakpoint),
}
"""{name: index}, in the order of answers."""
