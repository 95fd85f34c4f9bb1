"""Where one curve runs above another: exact signs between the rows of both, and exact crossings.

    walk along the abscissae of both curves' rows: fp for ROC curves (more tp is better), tp for PR curves (less fp is)
    between two of them both curves are straight in counts, so they cross at most once
    find who is ahead at either end of each such interval and, if that differs, where the lines cross
    join neighbouring intervals with the same leader

Small curves are compared many pairs at a time: 50 curves have 1,225 pairs. Knows tables and the geometric predicate.
Source: Davis & Goadrich 2006, theorem 3.2.
"""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from service.curves.arrays import BLOCK, BoolArray, FloatArray, IntArray, blocks
from service.curves.clock import still_time
from service.curves.confusion import ConfusionTable
from service.curves.orientation import CountSpace

Axis = Literal["fp", "tp"]


@dataclass(frozen=True, slots=True, eq=False)
class CurveComparison:
    """Which curve is ahead where, for every pair of curves.

    first, second   the curves of each pair by number, (m,).
    first_ever      whether the first is better anywhere, even on an interval too short for doubles; likewise
                    second_ever.
    pair            the pair of each interval, (n,), ascending.
    start, end      intervals of a rate in [0, 1]; those of a pair are adjacent, and neighbours have different leaders.
    leader          1 where the second curve is better, -1 where the first is, 0 where they coincide.
    """

    first: IntArray
    second: IntArray
    first_ever: BoolArray
    second_ever: BoolArray
    pair: IntArray
    start: FloatArray
    end: FloatArray
    leader: FloatArray


def compare_curves(curves: Sequence[ConfusionTable], axis: Axis) -> CurveComparison:
    """Compare two or more sweeps of equal totals over fpr (`axis` fp) or recall (tp).

    Crossings are exact and rounded once. At a vertical step an interval takes the limit from its inside.
    """
    sizes = np.array([curve.tp.size for curve in curves])
    joined = _JoinedRows(
        CountSpace.of(*curves), sizes, axis, curves[0].negatives if axis == "fp" else curves[0].positives
    )
    first, second = np.array(list(itertools.combinations(range(sizes.size), 2))).T
    found = [joined.compare(first[some], second[some], some.start) for some in _batches(sizes[first] + sizes[second])]
    return CurveComparison(first, second, *map(np.concatenate, zip(*found, strict=True)))


def _batches(rows: IntArray) -> Iterator[slice]:
    """Split pairs, given their numbers of rows, into runs compared at once: many small pairs, or one large pair."""
    starts = np.flatnonzero(np.diff(np.cumsum(rows) // BLOCK, prepend=-1))
    yield from itertools.starmap(slice, zip(starts.tolist(), [*starts[1:].tolist(), rows.size], strict=True))


@dataclass(frozen=True, eq=False)
class _JoinedRows:
    """The rows of all curves, one curve after another; how many rows each curve has; the total of the axis."""

    space: CountSpace
    sizes: IntArray
    axis: Axis
    total: float

    @property
    def x(self) -> FloatArray:
        return self.space.fp if self.axis == "fp" else self.space.tp

    @property
    def y(self) -> FloatArray:
        return self.space.tp if self.axis == "fp" else self.space.fp

    @cached_property
    def ranks(self) -> tuple[FloatArray, IntArray]:
        """The distinct x, ascending, and each row's place among them."""
        order = np.argsort(self.x, kind="stable")  # which merges the curves: each is in order
        x = self.x[order]
        changes = _changes(x)
        ranks = np.empty(x.size, dtype=np.int64)
        ranks[order] = np.cumsum(changes) - 1
        return x[changes], ranks

    def compare(self, first: IntArray, second: IntArray, number: int) -> tuple[NDArray[Any], ...]:
        """The columns of a CurveComparison from first_ever on, for pairs that are numbered from `number` on."""
        distinct, ranks = self.ranks
        rows, places = [], []  # a place is a pair and an x
        for curves in (first, second):
            rows.append(self._rows(curves))
            places.append(np.repeat(np.arange(first.size) * distinct.size, self.sizes[curves]) + ranks[rows[-1]])
        grid = np.sort(np.concatenate(places), kind="stable")
        grid = grid[_changes(grid)]
        pair, x = grid // distinct.size, distinct[grid % distinct.size]
        left = np.flatnonzero(pair[1:] == pair[:-1])
        pair, x, x_after = pair[left], x[left], x[left + 1]
        ends = [of[np.searchsorted(place, grid[left + 1])] for place, of in zip(places, rows, strict=True)]
        lines = ends[0] - 1, ends[0], ends[1] - 1, ends[1]
        at_start = self._ahead(lines, self.x[lines[2]] == x, at_end=False)
        at_end = self._ahead(lines, self.x[lines[3]] == x_after, at_end=True)
        ever = [np.bincount(pair[(at_start == sign) | (at_end == sign)], minlength=first.size) > 0 for sign in (-1, 1)]
        crossed = at_start * at_end < 0
        interval = np.repeat(np.arange(pair.size), 1 + crossed)
        pair, start, leader = pair[interval], x[interval] / self.total, np.where(at_start, at_start, at_end)[interval]
        beyond = ~_changes(interval)
        start[beyond], leader[beyond] = self.crossings([line[crossed] for line in lines]), at_end[crossed]
        there = _ends(pair, start) > start  # some are too short for doubles
        pair, start, leader = pair[there], start[there], leader[there]
        changes = _changes(pair) | _changes(leader)
        pair, start, leader = pair[changes], start[changes], leader[changes]
        return *ever, pair + number, start, _ends(pair, start), leader

    def _rows(self, curves: IntArray) -> IntArray:
        """The rows of some curves, one curve after another."""
        sizes = self.sizes[curves]
        shift = (np.cumsum(self.sizes) - self.sizes)[curves] - (np.cumsum(sizes) - sizes)
        out: IntArray = np.repeat(shift, sizes) + np.arange(int(sizes.sum()))
        return out

    def _ahead(self, lines: Sequence[IntArray], of_second: BoolArray, *, at_end: bool) -> FloatArray:
        """The sign of (second - first) at the start or the end of intervals; positive if the second is better.

        `lines` are the two rows that each line runs between. At each interval's end one of the two lines has a row (the
        second if `of_second`); it is better if that row lies to the upper left of the other line.
        """
        first_from, first_to, second_from, second_to = lines
        first, second = (first_to, second_to) if at_end else (first_from, second_from)
        side = self.space.orientation(
            np.where(of_second, first_from, second_from),
            np.where(of_second, second, first),
            np.where(of_second, first_to, second_to),
        )
        return np.where(of_second, 1.0, -1.0) * np.sign(side)

    def crossings(self, lines: Sequence[IntArray]) -> FloatArray:
        """Where the first line (from a to b) meets the second (from c to d), as a share of the total, rounded once.

            x = x_a + run · part,   part = ((y_c - y_a) run' - (x_c - x_a) rise') / (rise run' - rise' run)

        Computed in integers: all x are multiples of one power of two, all y of another.
        """
        shares = np.empty(lines[0].size)
        for some in blocks(shares.size):
            still_time()
            ends = [rows[some] for rows in lines]
            x_a, x_b, x_c, x_d, whole = _as_integers([*self.x.take(ends), np.full(ends[0].size, self.total)])
            y_a, y_b, y_c, y_d = _as_integers([*self.y.take(ends)])
            run, rise, other_run, other_rise = x_b - x_a, y_b - y_a, x_d - x_c, y_d - y_c
            below = rise * other_run - other_rise * run
            above = x_a * below + run * ((y_c - y_a) * other_run - (x_c - x_a) * other_rise)
            shares[some] = above / (below * whole)  # a quotient of integers is rounded once
        return shares


def _changes(column: NDArray[Any]) -> BoolArray:
    """Whether each element differs from the one before; the first does."""
    return np.append(True, column[1:] != column[:-1])


def _ends(pair: IntArray, start: FloatArray) -> FloatArray:
    """Where intervals end: at the next start, or at 1 for the last of each pair."""
    return np.where(np.append(_changes(pair)[1:], True), 1.0, np.append(start[1:], 1.0))


def _as_integers(columns: Sequence[FloatArray]) -> NDArray[np.object_]:
    """Write doubles, (k, n), as Python integers, those of each place times a power of two of its own."""
    mantissas, powers = np.frexp(columns)
    units = np.ldexp(mantissas, 53).astype(np.int64).astype(object)
    shifted: NDArray[np.object_] = units << (powers - powers.min(axis=0)).astype(object)
    return shifted
