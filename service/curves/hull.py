"""The ROC convex hull and the corners of a curve, as selections of the table's rows.

Works on counts, not on rates, so that membership is exact. Knows the table and the geometric predicate only.
Source: Davis & Goadrich 2006, section 3 and corollary 3.1: the hull drops exactly the points beneath it.
"""

from typing import Protocol

import numpy as np

from service.curves.confusion import ConfusionTable
from service.curves.exact import BoolArray, FloatArray, IntArray
from service.curves.orientation import CountSpace

_PRODUCTIVE = 8
"""A pass over the neighbours is worth another while it sheds at least one row in this many."""


def roc_convex_hull(table: ConfusionTable) -> IntArray:
    """Return the rows that are vertices of the upper convex hull of (fp, tp), ascending, from the first to the last.

    Of equal rows the first is taken; rows on an edge between two vertices are no vertices (see `on_hull`).
    """
    return upper_hull(CountSpace.of(table), _distinct(table))


class Plane(Protocol):
    """Points in a plane, known by number."""

    def sides(self, a: IntArray, b: IntArray, c: IntArray) -> FloatArray:
        """For each triple from left to right: positive when b lies above the chord from a to c, negative under it."""
        ...

    def bends(self, rows: IntArray) -> FloatArray:
        """The same for each of `rows`, from left to right, and its two neighbours there; (n - 2,)."""
        ...


def upper_hull(points: Plane, rows: IntArray) -> IntArray:
    """Return those of `rows`, distinct and from left to right, that are vertices; the first and the last always are."""
    while True:
        above = points.bends(rows) > 0
        shed = above.size - np.count_nonzero(above)
        if shed == 0:
            return rows
        rows = rows[np.concatenate(([True], above, [True]))]
        if shed * _PRODUCTIVE < above.size:
            rows = _prune(points, rows)


def on_hull(table: ConfusionTable, vertices: IntArray) -> BoolArray:
    """Tell, (n,), which rows lie on the hull's boundary: the vertices and all rows on an edge between two of them."""
    out: BoolArray = CountSpace.of(table).beside(vertices) == 0
    return out


def corners(table: ConfusionTable) -> BoolArray:
    """Tell, (n,), which rows bend the curve: neither ROC nor PR curve changes without the others.

    A row on the straight line between its neighbours in count space is no corner, nor is a repetition of a row. Rows
    that no sweep could give form no curve, and all stay.
    """
    if not table.sweep:
        return np.ones(table.tp.size, dtype=np.bool_)
    rows = _distinct(table)
    bends = CountSpace.of(table).bends(rows) != 0
    corner = np.zeros(table.tp.size, dtype=np.bool_)
    corner[rows[np.concatenate(([True], bends, [True]))]] = True
    return corner


def _distinct(table: ConfusionTable) -> IntArray:
    """The first of each run of equal rows."""
    changes = (table.fp[1:] != table.fp[:-1]) | (table.tp[1:] != table.tp[:-1])
    return np.flatnonzero(np.concatenate(([True], changes)))


def _prune(points: Plane, rows: IntArray) -> IntArray:
    """Drop rows that lie on or under a chord between two others, keeping every vertex (Quickhull, all edges at once).

    Each round adds the highest row above each edge of the chain found so far and drops the rows under the new edges.
    """
    chain, candidates = rows[[0, -1]], rows[1:-1]
    while candidates.size:
        edge = np.searchsorted(chain, candidates)
        height = points.sides(chain[edge - 1], candidates, chain[edge])
        above = height > 0
        candidates, edge, height = candidates[above], edge[above], height[above]
        if candidates.size == 0:
            break
        starts = np.flatnonzero(np.concatenate(([True], edge[1:] != edge[:-1])))
        lengths = np.diff(np.append(starts, edge.size))
        highest = height == np.repeat(np.maximum.reduceat(height, starts), lengths)
        chain = np.sort(np.concatenate((chain, candidates[highest])))
        candidates = candidates[~highest]
    return chain
