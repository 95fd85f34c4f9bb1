"""The ROC convex hull and the corners of a curve, as selections of the table's rows.

Works on counts, not on rates, so that membership is exact. Knows the table and the geometric predicate only.
Source: Davis & Goadrich 2006, section 3 and corollary 3.1: the hull drops exactly the points beneath it.
"""

import math
from bisect import bisect_left
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Protocol

import numpy as np

from service.curves.clock import still_time
from service.curves.confusion import ConfusionTable
from service.curves.exact import BoolArray, FloatArray, IntArray, blocks
from service.curves.orientation import CountSpace

_LONG_TABLE = 1 << 15
"""For longer tables the hull of a few rows comes first: rows under it are not on the hull."""
_FEW_ROWS = 8
"""The number of those few rows, times the square root of the number of rows."""
_PRODUCTIVE = 8
"""Passes over neighbours continue while they drop at least one row in this many."""
_CHEAP_ROWS = 128
"""Passes over this few rows cost less than pruning, however few they drop."""
_UNPRODUCTIVE_PASSES = 2
"""This many consecutive passes may drop few rows: often the last pass only confirms that none is left to drop."""


@dataclass(eq=False)
class RocHull:
    """The upper convex hull of a table's (fp, tp), as rows of the table, ascending.

    vertices   from the first row to the last point; of equal rows the first. Rows on an edge are not vertices.
    outer      rows that include all on the hull.
    """

    table: ConfusionTable
    vertices: IntArray
    outer: IntArray

    @classmethod
    def of(cls, table: ConfusionTable) -> "RocHull":
        """Find the hull of a table's rows."""
        if table.whole and table.compiled:
            return cls(table, *table.compiled.hull())
        points, size = CountSpace.of(table), table.tp.size
        if size > _LONG_TABLE:
            few = np.append(np.arange(0, size - 1, math.isqrt(size) // _FEW_ROWS), size - 1)
            inner = upper_hull(points, _distinct(table, few))
            parts = (np.arange(rows.start, min(rows.stop, size)) for rows in blocks(size))
            outer = np.concatenate([_not_under(points, inner, rows) for rows in parts])
        else:
            outer = np.arange(size)
        return cls(table, upper_hull(points, _distinct(table, outer)), outer)

    @cached_property
    def boundary(self) -> IntArray:
        """All rows on the hull: the vertices, rows equal to them, and every row on an edge between two of them."""
        if self.table.whole and self.table.compiled:
            return self.table.compiled.boundary(self.vertices, self.outer)
        rows: IntArray = self.outer[CountSpace.of(self.table).beside(self.vertices, self.outer) == 0]
        return rows

    def best(self, gain: Fraction, loss: Fraction) -> int:
        """Find the row where gain · tp - loss · fp is greatest, decided without rounding; the first of two.

        Slopes fall along a hull, so it is where the first segment without a gain begins. Both factors are >= 0.
        """

        def is_no_gain(segment: int) -> bool:
            first, last = self.vertices[segment : segment + 2]
            more = Fraction(self.table.tp[last]) - Fraction(self.table.tp[first])
            return gain * more <= loss * (Fraction(self.table.fp[last]) - Fraction(self.table.fp[first]))

        found = bisect_left(range(self.vertices.size - 1), True, key=is_no_gain)  # noqa: FBT003  # the value to find
        return int(self.vertices[found])

    def contains(self) -> BoolArray:
        """Whether each row is on the hull, (n,)."""
        out = np.zeros(self.table.tp.size, dtype=np.bool_)
        out[self.boundary] = True
        return out


def roc_convex_hull(table: ConfusionTable) -> IntArray:
    """Return the rows that are vertices of the upper convex hull of (fp, tp), ascending."""
    return RocHull.of(table).vertices


class PlanePoints(Protocol):
    """Numbered points in a plane."""

    def orientation(self, a: IntArray, b: IntArray, c: IntArray) -> FloatArray:
        """For each triple from left to right: positive when b lies above the chord from a to c, negative under it."""
        ...

    def turns(self, rows: IntArray) -> FloatArray:
        """The same for each inner row of `rows`, from left to right, and its two neighbours there; (n - 2,)."""
        ...


def upper_hull(points: PlanePoints, rows: IntArray) -> IntArray:
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
            rows, unproductive = prune(points, rows[[0, -1]], rows[1:-1]), 0


def corners(table: ConfusionTable) -> BoolArray:
    """Which rows bend the curve, (n,): leaving out the others changes neither the ROC nor the PR curve.

    A row on the straight line between its neighbours in count space is not a corner, nor is a repeated row. Rows that
    no sweep could give form no curve, so all of them stay.
    """
    if not table.sweep:
        return np.ones(table.tp.size, dtype=np.bool_)
    rows = _distinct(table, np.arange(table.tp.size))
    turns = CountSpace.of(table).turns(rows) != 0
    corner = np.zeros(table.tp.size, dtype=np.bool_)
    corner[rows[np.concatenate(([True], turns, [True]))]] = True
    return corner


def _distinct(table: ConfusionTable, rows: IntArray) -> IntArray:
    """The first of each run of equal rows among those given."""
    tp, fp = table.tp.take(rows), table.fp.take(rows)
    out: IntArray = rows[np.append(True, (tp[1:] != tp[:-1]) | (fp[1:] != fp[:-1]))]
    return out


def _not_under(points: CountSpace, vertices: IntArray, rows: IntArray) -> IntArray:
    """Those of successive rows that do not lie under the hull of a few."""
    first = min(int(vertices.searchsorted(rows[0], side="right")) - 1, vertices.size - 2)
    last = max(int(vertices.searchsorted(rows[-1])), first + 1)
    return rows[points.beside(vertices[first : last + 1], rows) >= 0]


def prune(points: PlanePoints, chain: IntArray, candidates: IntArray, rounds: float = math.inf) -> IntArray:
    """Add to a chain of vertices, which has the first and the last, all candidates that may be vertices, too.

    Rows that lie on or under a chord between two others are dropped (Quickhull, all edges at once); vertices never are.

    Each round adds the highest row above each edge of the chain found so far and drops the rows under the new edges.
    Rows that are undecided after the last round are kept.
    """
    while candidates.size and rounds:
        rounds -= 1
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
