"""The upper envelope of an index's curves over λ: which row is best where, and where that changes.

    frontier   the vertices of the ROC hull from the greatest precision to the greatest recall: no other row is best
    rows       the vertices of their upper hull where the index is linear in λ
    λ          between two neighbours, what the step loses at λ = 0 against what it gains at λ = 1

Which rows those are is decided without rounding (but for logarithms, which may tie); λ takes a few roundings.
Knows the table, the hull and the indices. Source: Hanczar & Nadif 2014, section 4.2.
"""

from dataclasses import dataclass

import numpy as np

from service.curves.arrays import FloatArray, IntArray
from service.curves.clock import still_time
from service.curves.confusion import ConfusionTable
from service.curves.hull import roc_convex_hull
from service.curves.indices import Index, IndexPlane, Rows, Steps
from service.curves.lambda_intervals import LambdaIntervals

_SMALLEST, _LARGEST = 2.0**-1020, 2.0**1000
"""Losses and gains are kept within these, so that their sums and ratios are doubles."""
_WITHIN_ROUNDING = 2.0**-48
"""More than the error of a point, a loss or a gain, and of the product of two, relatively."""
_ROWS_BETWEEN_LOOKS = 1 << 8
"""How often the scan looks at the clock."""


@dataclass(frozen=True, slots=True, eq=False)
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
        """The columns that an index needs, times a power of two that cancels: neither sums nor λ P underflow."""
        table = self.table.in_use
        up = 1000 - np.frexp(max(table.positives, table.negatives))[1]
        return Rows(np.ldexp(table.tp, up), np.ldexp(table.fp, up), np.ldexp(table.positives, up))


@dataclass(frozen=True, slots=True, eq=False)
class Envelope:
    """The rows that are best somewhere, (n,) ascending, and the λ (never falling) and 1 - λ between them, (n - 1,)."""

    rows: IntArray
    breakpoints: FloatArray
    rests: FloatArray

    def intervals(self, start: float, end: float) -> tuple[IntArray, FloatArray, FloatArray]:
        """Cut [start, end] at the breakpoints: (rows, from, to) of the intervals that are not empty in doubles."""
        cut = self._cut(start, end)
        there = cut.end > cut.start
        return self.rows[there], cut.start[there], cut.end[there]

    def lambda_intervals(self, start: float, end: float) -> tuple[IntArray, LambdaIntervals]:
        """The same for integration: an interval next to 1 is not empty if the ends differ in 1 - λ."""
        cut = self._cut(start, end)
        there = np.flatnonzero(cut.length > 0)
        return self.rows[there], cut[there]

    def _cut(self, start: float, end: float) -> LambdaIntervals:
        ends = np.concatenate(([start], np.clip(self.breakpoints, start, end), [end]))
        rests = np.concatenate(([1 - start], np.clip(self.rests, 1 - end, 1 - start), [1 - end]))
        return LambdaIntervals(ends[:-1], ends[1:], rests[:-1], rests[1:])


def envelope(frontier: Frontier, index: Index) -> Envelope:
    """Find the upper envelope of an index's curves.

    Of (tp, fp) = (2, 0) and (4, 4) with P = 4, the second has the greater Kulczynski index from λ = 0.5 on, where
    (1 - λ) (1 - 0.5) = λ (1 - 0.5).
    """
    rows = np.arange(frontier.table.tp.size)
    with np.errstate(over="ignore", divide="ignore", invalid="ignore", under="ignore"):
        loss, gain = _exchange(frontier, index, rows)
        if index.plane is not None and not _certainly_rise(loss, gain):
            rows = _upper_hull(frontier, index.plane)
            loss, gain = _exchange(frontier, index, rows)
        breakpoints, rests = index.breakpoint(loss, gain)
    return Envelope(rows, np.maximum.accumulate(breakpoints), np.minimum.accumulate(rests))


def _exchange(frontier: Frontier, index: Index, rows: IntArray) -> tuple[FloatArray, FloatArray]:
    """What the steps from each of `rows` to the next lose at λ = 0 and gain at λ = 1, (n - 1,) each."""
    still_time()
    at = frontier.rows[rows]
    loss, gain = index.exchange(Steps.between(at[:-1], at[1:]))
    return np.clip(loss, _SMALLEST, _LARGEST), np.clip(gain, _SMALLEST, _LARGEST)


def _certainly_rise(loss: FloatArray, gain: FloatArray) -> bool:
    """Whether each step pays from a greater λ on than the one before, beyond any doubt from rounding."""
    late, early = loss[1:] * gain[:-1], loss[:-1] * gain[1:]
    return bool((late - early > _WITHIN_ROUNDING * late).all())


def read_off(frontier: Frontier, index: Index, best: Envelope, at_lambda: FloatArray) -> tuple[IntArray, FloatArray]:
    """The best row at each λ and its f(λ), (n,) each; at a breakpoint, the row of more recall.

    Of the rows in `envelope` at λ = 0.25: the first, 0.75 · 1 + 0.25 · 0.5 = 0.875.

    Where a breakpoint was rounded past λ, the value of the row on its other side is the greater one.
    """
    place = np.searchsorted(best.breakpoints, at_lambda, side="right")
    near = (best.rows[np.clip(place + side, 0, best.rows.size - 1)] for side in (-1, 0, 1))
    values = [index.value(frontier.rows[rows], at_lambda, 1 - at_lambda) for rows in near]
    return best.rows[place], np.minimum(np.maximum.reduce(values), 1.0)


def _upper_hull(frontier: Frontier, plane: IndexPlane) -> IntArray:
    """The vertices of rows from left to right, by Andrew's scan: a row that is not above the line past it is dropped.

    Doubles decide, unless rounding could: then the exact predicate does.
    """
    points = list(zip(*(column.tolist() for column in plane.points(frontier.rows)), strict=True))
    counts = list(zip(frontier.table.in_use.tp.tolist(), frontier.table.in_use.fp.tolist(), strict=True))
    chain: list[int] = []
    for c, (x_c, y_c) in enumerate(points):
        if c % _ROWS_BETWEEN_LOOKS == 0:
            still_time()
        while len(chain) > 1:
            a, b = chain[-2:]
            (x_a, y_a), (x_b, y_b) = points[a], points[b]
            above = (y_b - y_c) * (x_b - x_a) - (y_a - y_b) * (x_c - x_b)
            if abs(above) <= _WITHIN_ROUNDING * ((1 + abs(y_c)) * (x_c - x_a) + (abs(x_a) + abs(x_c)) * (y_a - y_c)):
                above = plane.above(counts[a], counts[b], counts[c])
            if above > 0:
                break
            chain.pop()
        chain.append(c)
    return np.array(chain)
