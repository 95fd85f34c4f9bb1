"""How far an area, or a mean loss, moves when the mass at a row of its table grows; its variance comes from this.

    the influence u of an example at row k is the derivative of the area by its mass, times the mass of its class
    it is a sum over the steps from row k on, and so a running sum from the last row to the first
    a constant for each class is left out, as it does not affect the spread

For the ROC curve the influences are placements: of the four scores of ConfusionTable.from_sample, the negative has two
of three positives above it, so its placement is 2/3, the area. Knows tables only. Sources: Efron 1982, "The jackknife,
the bootstrap and other resampling plans", section 6.3, the infinitesimal jackknife; DeLong, DeLong & Clarke-Pearson
1988 for placements.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TypeAlias

import numpy as np

from service.curves.arrays import FloatArray
from service.curves.confusion import ConfusionTable
from service.curves.score_probabilities import Probabilities

Influences: TypeAlias = tuple[tuple[FloatArray, float], tuple[FloatArray, float]]
"""Influences of positives and of negatives: (K,) for the rows of a table, and their divisor."""

_FEW, _MOST = 0.01, 1e300
"""A step that grows by less than the first uses a series; one by more than the second starts from 0."""

_TERMS = np.arange(8)
_SERIES = (
    1 / (_TERMS + 1),
    1 / (_TERMS + 2),
    np.ones(8),
    (_TERMS + 1) / (_TERMS + 2),
    (_TERMS + 1) / (_TERMS + 3),
)
"""The integrals of `_means` as power series of -growth; up to _FEW, all digits of a double."""


def _roc(table: ConfusionTable) -> Influences:
    """Placements: the mass of the other class that scores higher, ties counting one half.

    They are doubled, and so exact for whole counts. For positives the divisor is negative: the area falls with the
    negatives above them.
    """
    return (_twice_above(table.fp), -2 * table.negatives), (_twice_above(table.tp), 2 * table.positives)


def _average_precision(table: ConfusionTable) -> Influences:
    """Of positives at row k, p_k + Σ_{i>=k} Δt_i f_i/q_i², and of negatives -(N/P) Σ_{i>=k} Δt_i t_i/q_i².

    p = t/q is the precision at a row of q = t + f called examples, of which Δt positives are new.
    """
    climb, called = np.diff(table.tp, prepend=0.0), table.tp + table.fp
    called = np.where(called > 0, called, 1.0)
    precision = table.tp / called
    gain, loss = climb / called * (table.fp / called), climb / called * precision
    return (precision + _following(gain), 1.0), (-_following(loss), table.positives / table.negatives)


def _pr(table: ConfusionTable) -> Influences:
    """Sums over the steps from row to row; along each, t, f and q = t + f are linear in s from 0 to 1.

    A step adds Δt ∫ f/q² ds to positives above it, and ∫ p ds + Δt ∫ s f/q² ds to those at its row; -(N/P) Δt ∫ t/q² ds
    to negatives above it, and -(N/P) Δt ∫ s t/q² ds to those at its row.
    """
    start = table.tp[:-1] + table.fp[:-1]
    growth = table.tp[1:] + table.fp[1:] - start
    from_none = start <= growth / _MOST  # precision is constant along such a step, and next to nothing is above it
    unit = np.where(from_none, np.where(growth > 0, growth, 1.0), start)
    t, f = table.tp[:-1] / unit, table.fp[:-1] / unit
    climb, losses = np.diff(table.tp) / unit, np.diff(table.fp) / unit
    mean, first, square, of_square, second = _means(np.where(from_none, 0.0, growth / unit))
    precision = np.where(from_none, climb, t * mean + climb * first)
    gain_above, loss_above = climb * (f * square + of_square * losses), climb * (t * square + of_square * climb)
    gain = climb * np.where(from_none, losses, f * of_square + second * losses)
    loss = climb * np.where(from_none, climb, t * of_square + second * climb)
    positives, negatives = np.zeros(table.tp.size), np.zeros(table.tp.size)
    positives[1:] = precision + gain + _following(np.append(gain_above[1:], 0.0))
    negatives[1:] = -loss - _following(np.append(loss_above[1:], 0.0))
    return (positives, 1.0), (negatives, table.positives / table.negatives)


def _brier(table: ConfusionTable) -> Influences:
    """The squared distance of the probability from what the example is."""
    scores = _probabilities(table)
    return _of_losses(table, scores.negative**2, scores.positive**2)


def _log_loss(table: ConfusionTable) -> Influences:
    """-ln of the probability of what the example is."""
    return _of_losses(table, *_probabilities(table).losses())


def _probabilities(table: ConfusionTable) -> Probabilities:
    scores = Probabilities.of(table)
    assert scores is not None  # noqa: S101  # a mean loss that has a value is of probabilities
    return scores


def _of_losses(table: ConfusionTable, positives: FloatArray, negatives: FloatArray) -> Influences:
    """The loss of an example of each class at each score, in the mean over both classes."""
    total = table.positives + table.negatives
    of_positives, of_negatives = (np.append(0.0, losses) for losses in (positives, negatives))
    return (of_positives, total / table.positives), (of_negatives, total / table.negatives)


INFLUENCES: Mapping[str, Callable[[ConfusionTable], Influences]] = MappingProxyType(
    {"roc": _roc, "pr": _pr, "average_precision": _average_precision, "brier": _brier, "log_loss": _log_loss}
)
"""{area or mean loss: the influences of examples at the rows of a table, a sweep, without regard to a target}"""


def _means(growth: FloatArray) -> tuple[FloatArray, ...]:
    """The integrals of 1/q, s/q, 1/q², s/q² and s²/q² over s from 0 to 1, with q = 1 + s growth."""
    few = growth < _FEW
    series = [np.polynomial.polynomial.polyval(np.where(few, -growth, 0.0), terms) for terms in _SERIES]
    x = np.where(few, 1.0, growth)
    mean, square = np.log1p(x) / x, 1 / (1 + x)
    first, of_square = (1 - mean) / x, (mean - square) / x
    whole = mean, first, square, of_square, (first - of_square) / x
    return tuple(np.where(few, one, other) for one, other in zip(series, whole, strict=True))


def _twice_above(counts: FloatArray) -> FloatArray:
    doubled = np.zeros(counts.size)
    np.add(counts[1:], counts[:-1], out=doubled[1:])
    return doubled


def _following(column: FloatArray) -> FloatArray:
    """The sum of each element and all after it."""
    sums: FloatArray = np.cumsum(column[::-1])[::-1]
    return sums
