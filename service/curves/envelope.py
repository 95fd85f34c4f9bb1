"""The upper envelope of an index's curves over λ: which row is best where, and where that changes.

Every index is a monotone transform of something linear in λ, so each row is a line. A line is best somewhere only if
its row is a vertex of the ROC hull: that is taken first, and only its vertices are compared. Knows the table, the hull
and the indices. Source: Hanczar & Nadif 2014, section 4.2.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from service.curves.confusion import ConfusionTable
from service.curves.exact import BoolArray, FloatArray, IntArray, Pair, pair_product, two_sum
from service.curves.hull import roc_convex_hull, upper_hull
from service.curves.indices import Index, Rates, Steps
from service.curves.pr import precision
from service.curves.roc import tpr

_TIE = 2.0**-49
"""Slopes that agree to this, relatively, are those of lines through one point: a few ulp of loss and gain."""
_CERTAIN = 2.0**-47
"""A difference of two products that is known to 2^-100 of them keeps a double's bits above this part of them."""
_SAFE_PRODUCT = 2.0**-900
"""Products below this may have lost bits to underflow."""
_SMALLEST, _LARGEST = 2.0**-1000, 2.0**1000
"""Losses and gains are kept within these, so that their sums and ratios are doubles."""


@dataclass(frozen=True, eq=False)
class Frontier:
    """The rows from which any index chooses, (n,): tp strictly rising, precision falling. The table holds these alone.

    They are the vertices of the ROC hull from the greatest precision to the greatest recall, without the origin, where
    every index is 0.
    """

    table: ConfusionTable

    @classmethod
    def of(cls, table: ConfusionTable) -> "Frontier":
        """Find the frontier of the rows of a table that begins with the origin."""
        vertices = roc_convex_hull(table)
        return cls(table.select(vertices[1 : np.argmax(table.tp[vertices]) + 1]))

    @cached_property
    def rates(self) -> Rates:
        """Precision and recall."""
        return _rates(self.table)

    @cached_property
    def steps(self) -> Steps:
        """The steps from each row to the next, (n - 1,)."""
        rows = np.arange(self.table.tp.size)
        return self.steps_between(rows[:-1], rows[1:])

    def steps_between(self, a: IntArray, b: IntArray) -> Steps:
        """The steps from rows a to later rows b."""
        with np.errstate(over="ignore"):
            gain = np.minimum((self.table.tp[b] - self.table.tp[a]) / self.table.tp[a], _LARGEST)
        return Steps(self.rates[a], self.rates[b], _precision_loss(self.table, a, b), gain)


@dataclass(frozen=True, slots=True, eq=False)
class Envelope:
    """The rows that are best somewhere, (n,) ascending, and the λ between them, (n - 1,), never falling."""

    rows: IntArray
    breakpoints: FloatArray

    def intervals(self, start: float, end: float) -> tuple[IntArray, FloatArray, FloatArray]:
        """Cut [start, end] at the breakpoints: (rows, from, to) of the intervals that doubles do not find empty."""
        ends = np.concatenate(([start], np.clip(self.breakpoints, start, end), [end]))
        there = ends[1:] > ends[:-1]
        return self.rows[there], ends[:-1][there], ends[1:][there]


def envelope(frontier: Frontier, index: Index) -> Envelope:
    """Find the upper envelope of an index's curves.

    In the plane of (transformed recall, transformed precision) it is the upper hull; between two vertices the index
    changes its choice where the loss of precision balances the gain of recall.
    """
    plane = _IndexPlane(frontier, index)
    rows = upper_hull(plane, np.arange(frontier.table.tp.size))
    return Envelope(rows, np.maximum.accumulate(index.breakpoint(*plane.exchange_along(rows))))


@dataclass(frozen=True, slots=True, eq=False)
class _IndexPlane:
    """Rows as points whose coordinates are recall and precision as one index transforms them."""

    frontier: Frontier
    index: Index

    def sides(self, a: IntArray, b: IntArray, c: IntArray) -> FloatArray:
        """For each triple of rows: positive when b lies above the chord from a to c; 0 where only rounding says so."""
        first, second = (self._exchange(self.frontier.steps_between(*ends)) for ends in ((a, b), (b, c)))
        return _bend(*first, *second)

    def bends(self, rows: IntArray) -> FloatArray:
        """The same for each of `rows` and its two neighbours among them."""
        loss, gain = self.exchange_along(rows)
        return _bend(loss[:-1], gain[:-1], loss[1:], gain[1:])

    def exchange_along(self, rows: IntArray) -> tuple[FloatArray, FloatArray]:
        """What the steps from each of `rows` to the next lose and gain."""
        everywhere = rows.size == self.frontier.table.tp.size
        return self._exchange(self.frontier.steps if everywhere else self.frontier.steps_between(rows[:-1], rows[1:]))

    def _exchange(self, steps: Steps) -> tuple[FloatArray, FloatArray]:
        loss, gain = self.index.loss(steps), self.index.gain(steps)
        return np.clip(loss, _SMALLEST, _LARGEST), np.clip(gain, _SMALLEST, _LARGEST)


def _bend(loss: FloatArray, gain: FloatArray, next_loss: FloatArray, next_gain: FloatArray) -> FloatArray:
    """Positive where the next step costs more than the first for what it gains, 0 where only rounding says so."""
    share, next_share = loss / (loss + gain), next_loss / (next_loss + next_gain)
    cheap, dear = share * (next_gain / (next_loss + next_gain)), next_share * (gain / (loss + gain))
    size = np.maximum(np.abs(gain * next_loss - loss * next_gain), _SMALLEST)  # the shares do not underflow, this may
    return np.where(np.abs(dear - cheap) <= _TIE * np.maximum(dear, cheap), 0.0, np.sign(dear - cheap) * size)


def _rates(rows: ConfusionTable) -> Rates:
    return Rates(precision(rows), np.maximum(tpr(rows), np.finfo(np.float64).tiny))


def _precision_loss(table: ConfusionTable, a: IntArray, b: IntArray) -> FloatArray:
    """p_a/p_b - 1 = (tp_a Δfp - fp_a Δtp) / ((tp_a + fp_a) tp_b), to a few ulp of itself; tp_b > tp_a."""
    climb, reach = two_sum(table.tp[b], -table.tp[a]), two_sum(table.fp[b], -table.fp[a])
    zero = np.zeros(a.size)
    left, right = pair_product((table.tp[a], zero), reach), pair_product((table.fp[a], zero), climb)
    lost = (left[0] - right[0]) + (left[1] - right[1])
    out: FloatArray = lost / (table.tp[a] + table.fp[a]) / table.tp[b]
    for step in np.flatnonzero(_uncertain(left, right, lost)):
        tp_a, fp_a, tp_b, fp_b = (
            Fraction(float(column[row])) for row in (a[step], b[step]) for column in (table.tp, table.fp)
        )
        exact = (tp_a * (fp_b - fp_a) - fp_a * (tp_b - tp_a)) / ((tp_a + fp_a) * tp_b)
        out[step] = float(min(exact, Fraction(_LARGEST)))
    return out


def _uncertain(left: Pair, right: Pair, difference: FloatArray) -> BoolArray:
    size = left[0] + right[0]
    return (size > 0) & ((np.abs(difference) <= _CERTAIN * size) | (size < _SAFE_PRODUCT))
