"""The rows that a picture needs to draw a curve to a quarter of a pixel, and the points between them.

A picture is a square plane of `side` pixels on which both rates run from 0 to 1. Distances are in pixels; between two
curves, the largest from a point of one to the other (Hausdorff). Knows the table and its views; nothing of pictures.
Sources: Jugel et al. 2014 (M4) for the columns, Douglas & Peucker 1973 for straight lines, Davis & Goadrich 2006,
section 4, for the PR curve between two rows.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from service.curves.arrays import BoolArray, FloatArray, IntArray
from service.curves.clock import still_time
from service.curves.confusion import ConfusionTable
from service.curves.pr import curve_precision
from service.curves.roc import fpr, tpr

DRAWN_SIDE = 1000
"""Pixels: the largest plane for which the rows of `keep=drawn` suffice."""

_COLUMN = 0.1
"""Pixels: the width of a column, within which two curves through the same rows differ by no more than this."""
_STRAIGHT = 0.1
"""Pixels: a row this close to a straight line is not needed."""
_BENT = 0.05
"""Pixels: how far the PR curve between two rows may bend away from a line where the rows between are omitted."""
_PASSES_WITHOUT_HALVING = 40
"""After this many passes, stretches are also halved, in case each pass cuts off only one row at an end."""


@dataclass(frozen=True, slots=True, eq=False)
class Line:
    """A curve as the points of a polyline, (n,) each, in [0, 1]."""

    x: FloatArray
    y: FloatArray


def roc_line(table: ConfusionTable, side: float) -> Line:
    """The ROC curve of a sweep, (fpr, tpr), within 0.25 pixels."""
    rows = table.select(_roc_rows(table, side))
    return Line(fpr(rows), tpr(rows))


def pr_line(table: ConfusionTable, side: float) -> Line:
    """The PR curve of a sweep, (recall, precision), within 0.25 pixels: between two rows it is drawn as it bends.

    From A to B the number called positive, q = tp + fp, rises from q_A to q_B, and precision goes from p_A towards p̄ =
    Δtp/Δq, the precision between them:

        precision = p̄ + (p_A - p̄) s²,   (recall - r_A)/(r_B - r_A) = ρ² (1 - s²)/(s² (1 - ρ²))

    with s = √(q_A/q) from 1 to ρ = √(q_A/q_B). A chord from s to s' leaves the curve by at most |p_A - p̄| (s - s')², so
    that equal steps of s make equal errors.
    """
    rows = table.select(_pr_rows(table, side))
    recall, precision = tpr(rows), curve_precision(rows)
    bends = _Bends.between(rows, slice(None, -1), slice(1, None))
    away = np.where(np.diff(recall) * side > _COLUMN, side * bends.away_from(precision[:-1]), 0.0)
    pieces = np.maximum(np.ceil(np.sqrt(away / _STRAIGHT)), 1).astype(np.int64)
    segment = np.arange(pieces.size).repeat(pieces)
    step = np.arange(segment.size) - (pieces.cumsum() - pieces)[segment]
    s = 1 - step / pieces[segment] * (1 - bends.rho[segment])
    inside = step > 0
    square, end = s**2, bends.rho[segment] ** 2
    along = np.zeros(segment.size)
    np.divide(end * (1 - square), square * (1 - end), out=along, where=inside)
    start, gain = precision[segment], recall[segment + 1] - recall[segment]
    return Line(
        np.append(recall[segment] + along * gain, recall[-1]),
        np.append(np.where(inside, bends.between_them[segment] * (1 - square) + start * square, start), precision[-1]),
    )


def drawn_rows(table: ConfusionTable, vertices: IntArray) -> IntArray:
    """The rows, ascending, that draw both curves of a sweep at DRAWN_SIDE, and the vertices of its hull.

    All rows if they are not a sweep and so have no curve.
    """
    if not table.rises:
        return np.arange(table.tp.size)
    drawn = np.zeros(table.tp.size, dtype=np.bool_)
    for rows in (vertices, _roc_rows(table, DRAWN_SIDE), _pr_rows(table, DRAWN_SIDE)):
        drawn[rows] = True
    return np.flatnonzero(drawn)


def _roc_rows(table: ConfusionTable, side: float) -> IntArray:
    """The first and the last row of each column, less those on a straight line between others."""
    starts = _columns(table.fp, table.negatives, side)
    rows = np.unique(np.concatenate((starts, np.append(starts[1:], table.fp.size) - 1)))
    return rows[simplify(table.fp[rows] / table.negatives * side, table.tp[rows] / table.positives * side)]


def _pr_rows(table: ConfusionTable, side: float) -> IntArray:
    """The first, lowest, highest and last row of each column, less those on a straight line between others.

    The first row that calls anything positive is always kept: the curve begins there.
    """
    starts = _columns(table.tp, table.positives, side)
    stops = np.append(starts[1:], table.tp.size)
    at_rows = curve_precision(table)
    extremes = [
        _first_of_each(at_rows == np.repeat(extreme.reduceat(at_rows, starts), stops - starts), starts)
        for extreme in (np.minimum, np.maximum)
    ]
    rows = np.unique(np.concatenate((starts, stops - 1, *extremes, [table.origins])))
    rows = rows[rows.searchsorted(table.origins) :]  # without the origin, which has the precision of the next row
    few = table.select(rows)
    recall, precision = tpr(few), at_rows[rows]

    def bent(a: IntArray, b: IntArray) -> BoolArray:
        wide, high = recall[b] - recall[a], precision[b] - precision[a]
        upright = side * _Bends.between(few, a, b).away_from(precision[a])
        unfit: BoolArray = upright * wide > _BENT * np.hypot(wide, high)  # across a steep line the distance is less
        return unfit

    return np.append(0, rows[simplify(recall * side, precision * side, bent)])


def _columns(counts: FloatArray, total: float, side: float) -> IntArray:
    """The first row of each column of the plane that has rows; counts ascend."""
    ends = np.linspace(0, total, int(np.ceil(side / _COLUMN)) + 1)
    starts = np.unique(counts.searchsorted(ends[:-1]))
    return starts[starts < counts.size]


def _first_of_each(chosen: BoolArray, starts: IntArray) -> IntArray:
    """The first chosen row of each column; each has one."""
    rows = np.flatnonzero(chosen)
    return rows[rows.searchsorted(starts)]


@dataclass(frozen=True, slots=True, eq=False)
class _Bends:
    """How the PR curve bends between rows A and rows B, (n,): ρ = √(q_A/q_B), and p̄, the precision between them."""

    rho: FloatArray
    between_them: FloatArray

    @classmethod
    def between(cls, rows: ConfusionTable, a: IntArray | slice, b: IntArray | slice) -> "_Bends":
        """The bends between the rows with these numbers."""
        scale = 1 / max(rows.positives, rows.negatives)  # no sum of the two overflows
        tp, fp = rows.tp * scale, rows.fp * scale
        called = tp + fp
        more, gained = called[b] - called[a], tp[b] - tp[a]
        rho, share = np.ones(more.size), np.zeros(more.size)
        np.divide(called[a], called[b], out=rho, where=called[b] > 0)
        np.divide(gained, more, out=share, where=more > 0)
        return cls(np.sqrt(rho), share)

    def away_from(self, precision: FloatArray) -> FloatArray:
        """The curve's greatest vertical distance from a line, with this precision at A: |p_A - p̄| (1 - ρ)²."""
        away: FloatArray = np.abs(precision - self.between_them) * (1 - self.rho) ** 2
        return away


def simplify(x: FloatArray, y: FloatArray, bent: Callable[[IntArray, IntArray], BoolArray] | None = None) -> IntArray:
    """Choose points of a polyline, in pixels, such that no other is further than _STRAIGHT from the lines between them.

    Each pass cuts every stretch that leaves its line where it is furthest away (Douglas & Peucker, all stretches at
    once), and halves a stretch that is `bent`, judged by its ends.
    """
    kept = np.array([0, x.size - 1]) if x.size > 1 else np.arange(x.size)
    inside = np.arange(1, x.size - 1)
    passes = 0
    while inside.size:
        still_time()
        passes += 1
        end = kept.searchsorted(inside)
        firsts = np.flatnonzero(np.append(True, end[1:] != end[:-1]))
        lengths = np.diff(np.append(firsts, inside.size))
        a, b = kept[end[firsts] - 1], kept[end[firsts]]
        away = _from_line(x, y, inside, a.repeat(lengths), b.repeat(lengths))
        furthest = np.maximum.reduceat(away, firsts)
        cut = inside[_first_of_each(away == furthest.repeat(lengths), firsts)]
        middle = inside[firsts + lengths // 2]
        far = furthest > _STRAIGHT
        unfit = far if bent is None else far | bent(a, b)
        cuts = np.where(far, cut, middle)[unfit]
        more = middle[unfit] if passes > _PASSES_WITHOUT_HALVING else cuts[:0]
        kept = np.unique(np.concatenate((kept, cuts, more)))
        inside = inside[unfit.repeat(lengths)]
        inside = inside[kept[kept.searchsorted(inside)] != inside]
    return kept


def _from_line(x: FloatArray, y: FloatArray, points: IntArray, a: IntArray, b: IntArray) -> FloatArray:
    """The distances of points from the segments from a to b."""
    wide, high = x[b] - x[a], y[b] - y[a]
    right, up = x[points] - x[a], y[points] - y[a]
    square = wide**2 + high**2
    share = np.divide(right * wide + up * high, square, out=np.zeros(points.size), where=square > 0)
    share = np.clip(share, 0, 1)
    return np.hypot(right - share * wide, up - share * high)
