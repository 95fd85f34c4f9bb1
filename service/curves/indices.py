"""The four indices over the precision-recall trade-off, as curves over λ in [0, 1].

An index weighs recall by λ and precision by 1 - λ: f(0) is precision p and f(1) recall r. Each is a monotone transform
of something linear in λ, so that of two rows the one with more recall is better beyond one λ, their breakpoint. Knows
rates and λ; nothing of tables. Source: Hanczar & Nadif 2014, sections 3 and 4, with the errata of the weighted Folke
(whose exponents contradict its own table 1) and of the weighted Kulczynski in recall.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from service.curves.exact import FloatArray, IntArray, Pair, double, pair_product, pair_quotient, pair_sum, rounded

_TINY = float(np.finfo(np.float64).tiny)
"""The least number that divides 1 within the range of a double."""


@dataclass(frozen=True, slots=True, eq=False)
class Rates:
    """Precision and recall of rows, (n,) each, both above 0."""

    precision: FloatArray
    recall: FloatArray

    def __getitem__(self, rows: IntArray) -> "Rates":
        return Rates(self.precision[rows], self.recall[rows])


@dataclass(frozen=True, slots=True, eq=False)
class Steps:
    """Steps from rows a to rows b of more recall and less precision, (n,) each.

    Pairs of doubles, which round only once the breakpoint is there:

    loss       p_a/p_b - 1 >= 0, as it would not be told by the difference of the two.
    climb      tp_b - tp_a > 0.
    tp         tp_a and tp_b.
    called     tp + fp, of a and of b.
    positives  P.
    """

    loss: Pair
    climb: Pair
    tp: tuple[Pair, Pair]
    called: tuple[Pair, Pair]
    positives: Pair


@dataclass(frozen=True, slots=True)
class Index:
    """One index.

    value       f(λ) from rates, λ and 1 - λ.
    mean        the mean of f between two λ, in closed form.
    exchange    what steps lose at λ = 0 and what they gain at λ = 1, in the form that is linear in λ; for each step up
                to a common factor that is a product of one of a and one of b.
    breakpoint  the λ from which on a step is worth it, from its loss and gain.
    """

    value: Callable[[Rates, FloatArray, FloatArray], FloatArray]
    mean: Callable[[Rates, FloatArray, FloatArray], FloatArray]
    exchange: Callable[[Steps], tuple[Pair, Pair]]
    breakpoint: Callable[[Pair, Pair], FloatArray]


def _balance(loss: Pair, gain: Pair) -> FloatArray:
    """Where (1 - λ) loss = λ gain."""
    return rounded(pair_quotient(loss, pair_sum(loss, gain)))


def _kulczynski(rates: Rates, weight: FloatArray, rest: FloatArray) -> FloatArray:
    """The weighted arithmetic mean (1 - λ) p + λ r."""
    return rest * rates.precision + weight * rates.recall


def _kulczynski_mean(rates: Rates, start: FloatArray, end: FloatArray) -> FloatArray:
    middle = (start + end) / 2
    return _kulczynski(rates, middle, 1 - middle)


def _kulczynski_exchange(steps: Steps) -> tuple[Pair, Pair]:
    """p_a - p_b and r_b - r_a."""
    precision = pair_quotient(steps.tp[1], steps.called[1])
    return pair_product(steps.loss, precision), pair_quotient(steps.climb, steps.positives)


def _f_measure(rates: Rates, weight: FloatArray, rest: FloatArray) -> FloatArray:
    """The weighted harmonic mean p r / (λ p + (1 - λ) r); F_β has λ = β²/(1 + β²). Its ends are p and r to the bit."""
    p, r = rates.precision, rates.recall
    return np.where(weight <= rest, p / (rest + weight * _ratio(p, r)), r / (weight + rest * _ratio(r, p)))


def _f_measure_mean(rates: Rates, start: FloatArray, end: FloatArray) -> FloatArray:
    return _harmonic_mean(_f_measure(rates, start, 1 - start), _f_measure(rates, end, 1 - end))


def _f_measure_exchange(steps: Steps) -> tuple[Pair, Pair]:
    """1/p_b - 1/p_a and 1/r_a - 1/r_b, times r_a."""
    called = pair_quotient(steps.called[0], steps.positives)
    return pair_product(steps.loss, called), pair_quotient(steps.climb, steps.tp[1])


def _fowlkes_mallows(rates: Rates, weight: FloatArray, rest: FloatArray) -> FloatArray:
    """The weighted geometric mean p^(1 - λ) r^λ."""
    out: FloatArray = rates.precision**rest * rates.recall**weight
    return out


def _fowlkes_mallows_mean(rates: Rates, start: FloatArray, end: FloatArray) -> FloatArray:
    """The logarithm of f is linear: f at the higher end times (1 - exp(-y))/y, y being how far log f falls."""
    fall = (end - start) * np.abs(np.log(rates.recall) - np.log(rates.precision))
    share = np.divide(-np.expm1(-fall), fall, out=np.ones_like(fall), where=fall > 0)
    mean: FloatArray = share * np.maximum(*(_fowlkes_mallows(rates, weight, 1 - weight) for weight in (start, end)))
    return mean


def _fowlkes_mallows_exchange(steps: Steps) -> tuple[Pair, Pair]:
    """log(p_a/p_b) and log(r_b/r_a), in doubles."""
    (before, _), (after, _) = steps.tp
    growth = steps.climb[0] / np.maximum(before, steps.climb[0])  # the true one, where it is below 1
    gain = np.where(growth < 1, np.log1p(growth), np.log(after) - np.log(before))
    zero = np.zeros(before.size)
    return (np.log1p(steps.loss[0]), zero), (gain, zero)


def _jaccard(rates: Rates, weight: FloatArray, rest: FloatArray) -> FloatArray:
    """The weighted Jaccard index p r / (w(λ) p + w(1 - λ) r - v(λ) p r), w(λ) = min(2λ, 1), v(λ) = 1 - |1 - 2λ|.

    Up to λ = 1/2 it is p / (1 + 2λ (1 - r) p/r), from there on r / (1 + 2(1 - λ) (1 - p) r/p).
    """
    p, r = rates.precision, rates.recall
    lower = p / (1 + 2 * weight * (1 - r) * _ratio(p, r))
    upper = r / (1 + 2 * rest * (1 - p) * _ratio(r, p))
    return np.where(weight <= rest, lower, upper)


def _jaccard_mean(rates: Rates, start: FloatArray, end: FloatArray) -> FloatArray:
    """1/f is linear on each half of [0, 1]."""
    middle = np.clip(0.5, start, end)
    values = [_jaccard(rates, weight, 1 - weight) for weight in (start, middle, end)]
    lower, upper = _harmonic_mean(values[0], values[1]), _harmonic_mean(values[1], values[2])
    mean: FloatArray = ((middle - start) * lower + (end - middle) * upper) / (end - start)
    return mean


def _jaccard_breakpoint(loss: Pair, gain: Pair) -> FloatArray:
    """From the F-measure's loss and gain: to λ = 1/2, 2λ gain = loss; from there on 2(1 - λ) loss = gain."""
    early = loss[0] <= gain[0]
    whole = double((np.where(early, gain[0], loss[0]), np.where(early, gain[1], loss[1])))
    lower = rounded(pair_quotient(loss, whole))
    upper = rounded(pair_quotient(pair_sum(whole, (-gain[0], -gain[1])), whole))
    return np.where(early, lower, upper)


def _ratio(above: FloatArray, below: FloatArray) -> FloatArray:
    return above / np.maximum(below, _TINY)


def _harmonic_mean(start: FloatArray, end: FloatArray) -> FloatArray:
    """The mean of f between two values of it when 1/f is linear: f_high log(1 + x)/x with x = f_high/f_low - 1."""
    high, low = np.maximum(start, end), np.maximum(np.minimum(start, end), _TINY)
    ratio = (high - low) / low
    mean: FloatArray = high * np.divide(np.log1p(ratio), ratio, out=np.ones_like(ratio), where=ratio > 0)
    return mean


INDICES = {
    "kulczynski": Index(_kulczynski, _kulczynski_mean, _kulczynski_exchange, _balance),
    "f_measure": Index(_f_measure, _f_measure_mean, _f_measure_exchange, _balance),
    "fowlkes_mallows": Index(_fowlkes_mallows, _fowlkes_mallows_mean, _fowlkes_mallows_exchange, _balance),
    "jaccard": Index(_jaccard, _jaccard_mean, _f_measure_exchange, _jaccard_breakpoint),
}
"""{name: index}, in the order of answers."""
