"""The upper envelope of an index's curves over λ: which row is best where, and where that changes.

Every index is a monotone transform of something linear in λ, so each row is a line. A line is best somewhere only if
its row is a vertex of the ROC hull, so only those vertices are compared. Knows the table, the hull and the indices.
Source: Hanczar & Nadif 2014, section 4.2.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from service.curves.arrays import FloatArray, IntArray
from service.curves.clock import still_time
from service.curves.confusion import ConfusionTable
from service.curves.double_double import FloatPair, as_integers, exactly, pair_product, pair_quotient, pair_sum, two_sum
from service.curves.hull import roc_convex_hull
from service.curves.indices import Index, Rows, Steps
from service.curves.lambda_intervals import LambdaIntervals

_TIE = 2.0**-49
"""Slopes that agree to this, relatively, are equal up to rounding of loss and gain: a few ulp."""
_CERTAIN = 2.0**-47
"""A difference of two products known to 2^-100 of them has all the bits of a double above this share of them."""
_SAFE_PRODUCT = 2.0**-900
"""Products below this may have lost bits to underflow."""
_SMALLEST, _LARGEST = 2.0**-1020, 2.0**1000
"""Losses and gains are kept within these, so that their sums and ratios are doubles."""
_PRODUCTIVE = 8
"""Passes over neighbours continue while they drop at least one row in this many."""
_CHEAP_ROWS = 128
"""Passes over this few rows cost less than pruning, however few they drop."""
_UNPRODUCTIVE_PASSES = 2
"""This many consecutive passes may drop few rows: often the last pass only confirms that none is left to drop."""


@dataclass(frozen=True, eq=False)
class Frontier:
    """The rows from which any index chooses, (n,): tp strictly rises, precision falls. The table holds only these.

    They are the vertices of the ROC hull from the greatest precision to the greatest recall, without the origin, where
    every index is 0.
    """

    table: ConfusionTable

    @classmethod
    def of(cls, table: ConfusionTable) -> "Frontier":
        """Find the frontier of the rows of a table that begins with the origin."""
        vertices = roc_convex_hull(table)
        return cls(table.select(vertices[1 : np.argmax(table.tp[vertices]) + 1]))

    @property
    def rows(self) -> Rows:
        """The columns that an index needs."""
        return Rows(self.table.tp, self.table.fp, self.table.positives)

    @cached_property
    def steps(self) -> Steps:
        """The steps from each row to the next, (n - 1,)."""
        rows = np.arange(self.table.tp.size)
        return self.steps_between(rows[:-1], rows[1:])

    def steps_between(self, a: IntArray, b: IntArray) -> Steps:
        """The steps from rows a to later rows b.

        The loss p_a/p_b - 1 is (tp_a Δfp - fp_a Δtp) / ((tp_a + fp_a) tp_b); where the difference cancels more bits
        than pairs of doubles have, or leaves their range, it is computed in rational numbers.
        """
        still_time()
        tp_a, fp_a, tp_b, fp_b = (column[rows] for rows in (a, b) for column in (self.table.tp, self.table.fp))
        growth, fp_growth = two_sum(tp_b, -tp_a), two_sum(fp_b, -fp_a)
        called_a, called_b = two_sum(tp_a, fp_a), two_sum(tp_b, fp_b)
        gained, missed = pair_product(exactly(tp_a), fp_growth), pair_product(exactly(fp_a), growth)
        lost = pair_sum(gained, (-missed[0], -missed[1]))
        loss = pair_quotient(pair_quotient(lost, called_a), exactly(tp_b))
        size = gained[0] + missed[0]
        doubtful = np.flatnonzero((lost[0] <= _CERTAIN * size) | (size < _SAFE_PRODUCT))
        for step in doubtful:
            still_time()
            loss[0][step], loss[1][step] = _exact_loss(*(float(x[step]) for x in (tp_a, fp_a, tp_b, fp_b)))
        return Steps(
            loss,
            growth,
            (exactly(tp_a), exactly(tp_b)),
            (called_a, called_b),
            exactly(np.full(a.size, self.table.positives)),
        )


def _exact_loss(*counts: float) -> tuple[float, float]:
    """p_a/p_b - 1 as a pair."""
    tp_a, fp_a, tp_b, fp_b = as_integers(*counts)
    lost, below = tp_a * fp_b - fp_a * tp_b, (tp_a + fp_a) * tp_b
    high = lost / below  # a quotient of integers is rounded once
    numerator, denominator = high.as_integer_ratio()
    return high, (lost * denominator - numerator * below) / (below * denominator)


@dataclass(frozen=True, slots=True, eq=False)
class Envelope:
    """The rows that are best somewhere, (n,) ascending, and the λ (never falling) and 1 - λ between them, (n - 1,)."""

    rows: IntArray
    breakpoints: FloatArray
    rests: FloatArray

    def intervals(self, start: float, end: float) -> tuple[IntArray, FloatArray, FloatArray]:
        """Cut [start, end] at the breakpoints: (rows, from, to) of the intervals that are not empty in doubles."""
        pieces = self._cut(start, end)
        there = pieces.end > pieces.start
        return self.rows[there], pieces.start[there], pieces.end[there]

    def pieces(self, start: float, end: float) -> tuple[IntArray, LambdaIntervals]:
        """The same for integration: a piece next to 1 is not empty if the ends differ in 1 - λ."""
        pieces = self._cut(start, end)
        there = np.flatnonzero(pieces.length > 0)
        return self.rows[there], pieces[there]

    def _cut(self, start: float, end: float) -> LambdaIntervals:
        ends = np.concatenate(([start], np.clip(self.breakpoints, start, end), [end]))
        rests = np.concatenate(([1 - start], np.clip(self.rests, 1 - end, 1 - start), [1 - end]))
        return LambdaIntervals(ends[:-1], ends[1:], rests[:-1], rests[1:])


def envelope(frontier: Frontier, index: Index) -> Envelope:
    """Find the upper envelope of an index's curves.

    In the plane of (transformed recall, transformed precision) it is the upper hull; between two vertices the index
    changes its choice where the loss of precision balances the gain of recall.
    """
    plane = _IndexPlane(frontier, index)
    # Beyond the range of a double the low parts of pairs are meaningless; rounding ignores them.
    with np.errstate(over="ignore", invalid="ignore"):
        rows = _upper_hull(plane, np.arange(frontier.table.tp.size))
        breakpoints, rests = index.breakpoint(*plane.exchange_along(rows))
    return Envelope(
        rows, *(np.minimum(ends, 1.0) for ends in (np.maximum.accumulate(breakpoints), np.minimum.accumulate(rests)))
    )


def read_off(frontier: Frontier, index: Index, best: Envelope, at_lambda: FloatArray) -> tuple[IntArray, FloatArray]:
    """The best row at each λ and its f(λ), (n,) each; at a breakpoint, the row of more recall.

    If a breakpoint was rounded down, the row below it still has the greater value there.
    """
    place = np.searchsorted(best.breakpoints, at_lambda, side="right")
    rows, rows_below = best.rows[place], best.rows[np.maximum(place - 1, 0)]
    value = np.maximum(*(_reading(frontier.rows[each], index, at_lambda) for each in (rows, rows_below)))
    return rows, np.minimum(value, 1.0)


def _reading(rows: Rows, index: Index, at_lambda: FloatArray) -> FloatArray:
    """f(λ) of one row for each λ; in rational numbers where a count is so small that its products lose bits."""
    with np.errstate(over="ignore", invalid="ignore"):  # in low parts of pairs, which are then ignored
        value = index.reading(rows, at_lambda)
    smallest = np.minimum(rows.tp, np.where(rows.fp > 0, rows.fp, rows.tp))
    tiny = np.flatnonzero((smallest < _SAFE_PRODUCT) & index.rational)
    for point in tiny:
        still_time()
        tp, fp, weight = (np.array([Fraction(column[point])]) for column in (rows.tp, rows.fp, at_lambda))
        row = Rows(tp, fp, Fraction(rows.positives))  # type: ignore[arg-type]  # fractions support the same operations
        value[point] = float(index.value(row, weight, 1 - weight)[0])
    return value


@dataclass(frozen=True, eq=False)
class _IndexPlane:
    """Rows as points whose coordinates are recall and precision as one index transforms them."""

    frontier: Frontier
    index: Index

    def orientation(self, a: IntArray, b: IntArray, c: IntArray) -> FloatArray:
        """For each triple of rows: positive if b lies above the chord from a to c; 0 if only by rounding."""
        first, second = (self._exchange(self.frontier.steps_between(*ends)) for ends in ((a, b), (b, c)))
        return _bend(*(pair[0] for pair in (*first, *second)))

    def turns(self, rows: IntArray) -> FloatArray:
        """The same for each of `rows` and its two neighbours among them."""
        (loss, _), (gain, _) = self.exchange_along(rows)
        return _bend(loss[:-1], gain[:-1], loss[1:], gain[1:])

    def exchange_along(self, rows: IntArray) -> tuple[FloatPair, FloatPair]:
        """The loss and gain of the steps from each of `rows` to the next."""
        if rows.size == self.frontier.table.tp.size:
            return self._along_all
        return self._exchange(self.frontier.steps_between(rows[:-1], rows[1:]))

    @cached_property
    def _along_all(self) -> tuple[FloatPair, FloatPair]:
        return self._exchange(self.frontier.steps)

    def _exchange(self, steps: Steps) -> tuple[FloatPair, FloatPair]:
        loss, gain = self.index.exchange(steps)
        return _within_range(loss), _within_range(gain)


def _upper_hull(points: _IndexPlane, rows: IntArray) -> IntArray:
    """Return the vertices among `rows`, which are distinct and from left to right; the first and last always are."""
    unproductive = 0
    while True:
        still_time()
        turns = points.turns(rows)
        above = (turns > 0).nonzero()[0]
        shed = turns.size - above.size
        if shed == 0:
            return rows
        above += 1
        rows = np.concatenate((rows[:1], rows.take(above), rows[-1:]))
        unproductive = unproductive + 1 if shed * _PRODUCTIVE < above.size and above.size > _CHEAP_ROWS else 0
        if unproductive == _UNPRODUCTIVE_PASSES:
            rows, unproductive = _prune(points, rows[[0, -1]], rows[1:-1]), 0


def _prune(points: _IndexPlane, chain: IntArray, candidates: IntArray) -> IntArray:
    """Add to a chain of vertices, which has the first and the last, all candidates that may be vertices, too.

    Rows that lie on or under a chord between two others are dropped (Quickhull, all edges at once); vertices never are.

    Each round adds the highest row above each edge of the chain found so far and drops the rows under the new edges.
    """
    while candidates.size:
        still_time()
        edge = np.searchsorted(chain, candidates)
        height = points.orientation(chain[edge - 1], candidates, chain[edge])
        above = height > 0
        candidates, edge, height = candidates[above], edge[above], height[above]
        if candidates.size == 0:
            break
        starts = np.flatnonzero(np.concatenate(([True], edge[1:] != edge[:-1])))
        lengths = np.diff(np.append(starts, edge.size))
        highest = height == np.repeat(np.maximum.reduceat(height, starts), lengths)
        chain = np.sort(np.concatenate((chain, candidates[highest])), kind="stable")
        candidates = candidates[~highest]
    return np.sort(np.concatenate((chain, candidates)), kind="stable")


def _within_range(pair: FloatPair) -> FloatPair:
    high = np.clip(pair[0], _SMALLEST, _LARGEST)
    return high, np.where(high == pair[0], pair[1], 0.0)


def _bend(loss: FloatArray, gain: FloatArray, next_loss: FloatArray, next_gain: FloatArray) -> FloatArray:
    """Positive if the next step costs more per gain than the first, 0 if they differ by rounding only."""
    share, next_share = loss / (loss + gain), next_loss / (next_loss + next_gain)
    cheap, dear = share * (next_gain / (next_loss + next_gain)), next_share * (gain / (loss + gain))
    size = np.maximum(np.abs(gain * next_loss - loss * next_gain), _SMALLEST)  # this may underflow, the shares do not
    return np.where(np.abs(dear - cheap) <= _TIE * np.maximum(dear, cheap), 0.0, np.sign(dear - cheap) * size)
