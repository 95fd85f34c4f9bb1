"""The rows that a picture needs to draw a curve to a quarter of a pixel, and the points between them.

    cut the plane into columns of a tenth of a pixel; of the rows in each, keep the first, last, lowest and highest (M4)
    drop rows within a tenth of a pixel of the line between two others: begin with the line from the first row to the
    last, cut each line at the row furthest from it, and stop once no row is further away than that (Douglas & Peucker)
    a PR curve bends between two rows: draw points there

A picture is a square plane of `side` pixels on which both rates run from 0 to 1. Distances are in pixels; between two
curves, the largest from a point of one to the other (Hausdorff). Knows the table and its views; nothing of pictures.
Sources: Jugel et al. 2014 (M4), Douglas & Peucker 1973, Davis & Goadrich 2006, section 4, for the PR curve between two
rows.
"""

from collections.abc import Callable, Iterator
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
    rho, between, away = _bends(rows, precision, slice(None, -1), slice(1, None))
    away = np.where(np.diff(recall) * side > _COLUMN, side * away, 0.0)
    pieces = np.maximum(np.ceil(np.sqrt(away / _STRAIGHT)), 1).astype(np.int64)
    segment = np.arange(pieces.size).repeat(pieces)
    step = np.arange(segment.size) - (pieces.cumsum() - pieces)[segment]
    square, end = (1 - step / pieces[segment] * (1 - rho[segment])) ** 2, rho[segment] ** 2
    along = np.divide(end * (1 - square), square * (1 - end), out=np.zeros(segment.size), where=step > 0)
    start, gain = precision[segment], recall[segment + 1] - recall[segment]
    height = np.where(step > 0, between[segment] * (1 - square) + start * square, start)
    return Line(np.append(recall[segment] + along * gain, recall[-1]), np.append(height, precision[-1]))


def thinned(x: FloatArray, y: FloatArray, side: float) -> IntArray:
    """The points that draw a polyline, (n,) in planes of [0, 1] with x that never falls, within 0.2 pixels.

    The first, last, lowest and highest of each column, less those on a straight line between others.
    """
    starts, stops = _columns(x, 1.0, side)
    rows = _any_of(x.size, starts, stops - 1, *_extremes(y, starts, stops))
    return rows[simplify(x[rows] * side, y[rows] * side)]


def drawn_rows(table: ConfusionTable, vertices: IntArray) -> IntArray:
    """The rows, ascending, that draw both curves of a sweep at DRAWN_SIDE, and the vertices of its hull.

    All rows if they are not a sweep and so have no curve.
    """
    if not table.rises:
        return np.arange(table.tp.size)
    return _any_of(table.tp.size, vertices, _roc_rows(table, DRAWN_SIDE), _pr_rows(table, DRAWN_SIDE))


def _roc_rows(table: ConfusionTable, side: float) -> IntArray:
    """The first and the last row of each column, less those on a straight line between others."""
    starts, stops = _columns(table.fp, table.negatives, side)
    rows = _any_of(table.fp.size, starts, stops - 1)
    return rows[simplify(table.fp[rows] / table.negatives * side, table.tp[rows] / table.positives * side)]


def _pr_rows(table: ConfusionTable, side: float) -> IntArray:
    """The first, lowest, highest and last row of each column, less those on a straight line between others.

    The first row that calls anything positive is always kept: the curve begins there.
    """
    starts, stops = _columns(table.tp, table.positives, side)
    at_rows = curve_precision(table)
    rows = _any_of(table.tp.size, starts, stops - 1, *_extremes(at_rows, starts, stops), table.origins)
    rows = rows[rows.searchsorted(table.origins) :]  # without the origin, which has the precision of the next row
    few = table.select(rows)
    recall, precision = tpr(few), at_rows[rows]

    def bent(a: IntArray, b: IntArray) -> BoolArray:
        wide, high = recall[b] - recall[a], precision[b] - precision[a]
        *_, away = _bends(few, precision, a, b)
        out: BoolArray = side * away * wide > _BENT * np.hypot(wide, high)  # across a steep line the distance is less
        return out

    return np.append(0, rows[simplify(recall * side, precision * side, bent)])


def _any_of(size: int, *rows: IntArray | int) -> IntArray:
    """All of these rows of a table of this size, ascending, each once."""
    chosen = np.zeros(size, dtype=np.bool_)
    for some in rows:
        chosen[some] = True
    return np.flatnonzero(chosen)


def _columns(counts: FloatArray, total: float, side: float) -> tuple[IntArray, IntArray]:
    """Where each column of the plane that has rows starts, and where it stops; counts ascend."""
    ends = counts.searchsorted(np.linspace(0, total, int(np.ceil(side / _COLUMN)) + 1)[1:])
    stops = np.append(ends[:-1], counts.size)
    starts = np.append(0, stops[:-1])
    return starts[starts < stops], stops[starts < stops]


def _extremes(values: FloatArray, starts: IntArray, stops: IntArray) -> Iterator[IntArray]:
    """The lowest row of each column, and the highest."""
    for extreme in (np.minimum, np.maximum):
        yield _first_of_each(values == np.repeat(extreme.reduceat(values, starts), stops - starts), starts)


def _first_of_each(chosen: BoolArray, starts: IntArray) -> IntArray:
    """The first chosen row of each column; each has one."""
    rows = np.flatnonzero(chosen)
    return rows[rows.searchsorted(starts)]


def _bends(
    rows: ConfusionTable, precision: FloatArray, a: IntArray | slice, b: IntArray | slice
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """How the PR curve bends from rows A to rows B, (n,) each: ρ = √(q_A/q_B), p̄, and its distance from a line.

    That is the greatest vertical distance, |p_A - p̄| (1 - ρ)².
    """
    rows = rows.in_use
    scale = 1 / max(rows.positives, rows.negatives)  # no sum of the two overflows
    tp = rows.tp * scale
    called = tp + rows.fp * scale
    more = called[b] - called[a]
    rho = np.sqrt(np.divide(called[a], called[b], out=np.ones(more.size), where=called[b] > 0))
    between = np.divide(tp[b] - tp[a], more, out=np.zeros(more.size), where=more > 0)
    return rho, between, np.abs(precision[a] - between) * (1 - rho) ** 2


def simplify(x: FloatArray, y: FloatArray, bent: Callable[[IntArray, IntArray], BoolArray] | None = None) -> IntArray:
    """Choose points of a polyline, in pixels, such that no other is further than _STRAIGHT from the lines between them.

    Of (0, 0), (1, 0.05), (2, 0), (3, 5) all but the second are chosen. Each pass cuts every stretch that leaves its
    line where it is furthest away (Douglas & Peucker, all stretches at once), and halves a stretch that is `bent`,
    judged by its ends.
    """
    chosen = np.zeros(x.size, dtype=np.bool_)
    chosen[:1] = chosen[-1:] = True
    inside = np.flatnonzero(~chosen)
    passes = 0
    while inside.size:
        still_time()
        passes += 1
        kept = np.flatnonzero(chosen)
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
        chosen[np.where(far, cut, middle)[unfit]] = True
        if passes > _PASSES_WITHOUT_HALVING:
            chosen[middle[unfit]] = True
        inside = inside[unfit.repeat(lengths)]
        inside = inside[~chosen[inside]]
    return np.flatnonzero(chosen)


def _from_line(x: FloatArray, y: FloatArray, points: IntArray, a: IntArray, b: IntArray) -> FloatArray:
    """The distances of points from the segments from a to b."""
    wide, high = x[b] - x[a], y[b] - y[a]
    right, up = x[points] - x[a], y[points] - y[a]
    square = wide**2 + high**2
    share = np.divide(right * wide + up * high, square, out=np.zeros(points.size), where=square > 0)
    share = np.clip(share, 0, 1)
    return np.hypot(right - share * wide, up - share * high)
