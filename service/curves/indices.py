"""The four indices over the precision-recall trade-off, as curves over λ in [0, 1].

An index weighs recall by λ and precision by 1 - λ: f(0) is precision p and f(1) recall r. Each is a monotone transform
of something linear in λ, so that of two rows the one with more recall is better beyond one λ, their breakpoint. Knows
rates and λ; nothing of tables. Source: Hanczar & Nadif 2014, sections 3 and 4, with the errata of the weighted Folke
(whose exponents contradict its own table 1) and of the weighted Kulczynski in recall.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from service.curves.exact import FloatArray, IntArray


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

    from_, to       the rates of a and b.
    precision_loss  p_a/p_b - 1 >= 0, accurate in itself where the difference of the two would not be.
    recall_gain     r_b/r_a - 1 > 0, the same.
    """

    from_: Rates
    to: Rates
    precision_loss: FloatArray
    recall_gain: FloatArray


@dataclass(frozen=True, slots=True)
class Index:
    """One index.

    value       f(λ) from rates, λ and 1 - λ.
    mean        the mean of f between two λ, in closed form.
    loss, gain  what steps lose at λ = 0 and gain at λ = 1, in the form that is linear in λ.
    breakpoint  the λ from which on a step is worth it, from its loss and gain.
    """

    value: Callable[[Rates, FloatArray, FloatArray], FloatArray]
    mean: Callable[[Rates, FloatArray, FloatArray], FloatArray]
    loss: Callable[[Steps], FloatArray]
    gain: Callable[[Steps], FloatArray]
    breakpoint: Callable[[FloatArray, FloatArray], FloatArray]


def _balance(loss: FloatArray, gain: FloatArray) -> FloatArray:
    """Where (1 - λ) loss = λ gain."""
    return loss / (loss + gain)


def _kulczynski(rates: Rates, weight: FloatArray, rest: FloatArray) -> FloatArray:
    """(1 - λ) p + λ r."""
    return rest * rates.precision + weight * rates.recall


def _kulczynski_mean(rates: Rates, start: FloatArray, end: FloatArray) -> FloatArray:
    middle = (start + end) / 2
    return _kulczynski(rates, middle, 1 - middle)


def _kulczynski_loss(steps: Steps) -> FloatArray:
    """p_a - p_b."""
    near, far = steps.precision_loss * steps.to.precision, steps.from_.precision - steps.to.precision
    return np.where(steps.precision_loss < 1, near, far)


def _kulczynski_gain(steps: Steps) -> FloatArray:
    """r_b - r_a."""
    near, far = steps.recall_gain * steps.from_.recall, steps.to.recall - steps.from_.recall
    return np.where(steps.recall_gain < 1, near, far)


def _f_measure(rates: Rates, weight: FloatArray, rest: FloatArray) -> FloatArray:
    """P r / (λ p + (1 - λ) r); F_β has λ = β²/(1 + β²)."""
    return 1 / (weight / rates.recall + rest / rates.precision)


def _f_measure_mean(rates: Rates, start: FloatArray, end: FloatArray) -> FloatArray:
    return _harmonic_mean(_f_measure(rates, start, 1 - start), _f_measure(rates, end, 1 - end))


def _f_measure_loss(steps: Steps) -> FloatArray:
    """1/p_b - 1/p_a, times r_a."""
    return steps.precision_loss * (steps.from_.recall / steps.from_.precision)


def _f_measure_gain(steps: Steps) -> FloatArray:
    """1/r_a - 1/r_b, times r_a, which is r_b's gain on r_a as a share of r_b."""
    near, far = steps.recall_gain / (1 + steps.recall_gain), 1 - steps.from_.recall / steps.to.recall
    return np.where(steps.recall_gain < 1, near, far)


def _fowlkes_mallows(rates: Rates, weight: FloatArray, rest: FloatArray) -> FloatArray:
    """p^(1 - λ) r^λ."""
    out: FloatArray = rates.precision**rest * rates.recall**weight
    return out


def _fowlkes_mallows_mean(rates: Rates, start: FloatArray, end: FloatArray) -> FloatArray:
    """Log f is linear: f at the higher end times (1 - exp(-y))/y, y being how far log f falls."""
    fall = (end - start) * np.abs(np.log(rates.recall) - np.log(rates.precision))
    share = np.divide(-np.expm1(-fall), fall, out=np.ones_like(fall), where=fall > 0)
    mean: FloatArray = share * np.maximum(*(_fowlkes_mallows(rates, weight, 1 - weight) for weight in (start, end)))
    return mean


def _fowlkes_mallows_loss(steps: Steps) -> FloatArray:
    """log(p_a/p_b)."""
    far = np.log(steps.from_.precision) - np.log(steps.to.precision)
    return np.where(steps.precision_loss < 1, np.log1p(steps.precision_loss), far)


def _fowlkes_mallows_gain(steps: Steps) -> FloatArray:
    """log(r_b/r_a)."""
    far = np.log(steps.to.recall) - np.log(steps.from_.recall)
    return np.where(steps.recall_gain < 1, np.log1p(steps.recall_gain), far)


def _jaccard(rates: Rates, weight: FloatArray, rest: FloatArray) -> FloatArray:
    """P r / (w(λ) p + w(1 - λ) r - v(λ) p r) with w(λ) = min(2λ, 1), v(λ) = 1 - |1 - 2λ|, written without cancellation.

    Up to λ = 1/2 it is p / (1 + 2λ p (1 - r)/r), from there on r / (1 + 2(1 - λ) r (1 - p)/p).
    """
    p, r = rates.precision, rates.recall
    lower = 1 / (1 / p + 2 * weight * ((1 - r) / r))
    upper = 1 / (1 / r + 2 * rest * ((1 - p) / p))
    return np.where(weight <= rest, lower, upper)


def _jaccard_mean(rates: Rates, start: FloatArray, end: FloatArray) -> FloatArray:
    """1/f is linear on each half of [0, 1]."""
    middle = np.clip(0.5, start, end)
    values = [_jaccard(rates, weight, 1 - weight) for weight in (start, middle, end)]
    lower, upper = _harmonic_mean(values[0], values[1]), _harmonic_mean(values[1], values[2])
    mean: FloatArray = ((middle - start) * lower + (end - middle) * upper) / (end - start)
    return mean


def _jaccard_breakpoint(loss: FloatArray, gain: FloatArray) -> FloatArray:
    """From the F-measure's loss and gain: to λ = 1/2, 2λ gain = loss; from there on 2(1 - λ) loss = gain."""
    return np.where(loss <= gain, loss / np.maximum(gain, loss) / 2, 1 - gain / np.maximum(loss, gain) / 2)


def _harmonic_mean(start: FloatArray, end: FloatArray) -> FloatArray:
    """The mean of f between two values of it when 1/f is linear: f_high log(1 + x)/x with x = f_high/f_low - 1."""
    high, low = np.maximum(start, end), np.minimum(start, end)
    ratio = (high - low) / low
    mean: FloatArray = high * np.divide(np.log1p(ratio), ratio, out=np.ones_like(ratio), where=ratio > 0)
    return mean


INDICES = {
    "kulczynski": Index(_kulczynski, _kulczynski_mean, _kulczynski_loss, _kulczynski_gain, _balance),
    "f_measure": Index(_f_measure, _f_measure_mean, _f_measure_loss, _f_measure_gain, _balance),
    "fowlkes_mallows": Index(
        _fowlkes_mallows, _fowlkes_mallows_mean, _fowlkes_mallows_loss, _fowlkes_mallows_gain, _balance
    ),
    "jaccard": Index(_jaccard, _jaccard_mean, _f_measure_loss, _f_measure_gain, _jaccard_breakpoint),
}
"""{name: index}, in the order of answers."""
