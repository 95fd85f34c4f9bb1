"""Examples in groups of equal or similar scores, as a database's GROUP BY or a histogram gives them.

Knows what makes groups one data set, and merges them; nothing of curves.
"""

import math
from dataclasses import dataclass

import numpy as np

from service.curves.errors import ContradictingSquares, EndsReversed, GroupsOverlap, LengthsDiffer, OneClassLabels
from service.curves.exact import LARGEST_EXACT_INTEGER, BoolArray, FloatArray, IntArray, are_integers
from service.curves.sample import check_total

CLOSED = ("both", "left", "right")
"""Which ends of a group belong to it."""

_SQUARES_TOLERANCE = 2.0**-40
"""How far the sum of squares may be above the square of the sum, relatively: an engine rounds every addition."""


@dataclass(frozen=True, slots=True, eq=False)
class Grouped:
    """Groups of examples, merged and in the order of the sweep, the most positive scores first: columns (m,).

    low, high      the least and the greatest score that an example of the group may have, finite, low <= high. A group
                   is exact if both are equal, and open otherwise: its examples may lie anywhere between.
    masses         the positives and the negatives of each group, or the sums of their weights.
    squares        the sums of their squared weights, of both classes; None if no weights are known.
    rows           how many groups were given.
    lower_is_positive   whether lower scores are more positive.
    """

    low: FloatArray
    high: FloatArray
    masses: tuple[FloatArray, FloatArray]
    squares: tuple[FloatArray, FloatArray] | None
    rows: int
    lower_is_positive: bool = False

    @classmethod
    def of(
        cls,
        ends: tuple[FloatArray, FloatArray],
        masses: tuple[FloatArray, FloatArray],
        squares: tuple[FloatArray, FloatArray] | None = None,
        *,
        closed: str = "both",
    ) -> "Grouped":
        """Merge groups in any order; those of equal ends add up, and empty ones are left out.

        `closed` says which ends of an open group belong to it. Raises LengthsDiffer, EndsReversed, GroupsOverlap,
        ContradictingSquares, OneClassLabels and TotalOutOfRange.
        """
        _check_columns(ends, masses, squares)
        there = np.flatnonzero((masses[0] > 0) | (masses[1] > 0))
        low, high = (column.take(there) + 0.0 for column in ends)  # turns -0.0 into 0.0
        are_open = low < high
        if closed == "left":
            high = np.where(are_open, np.nextafter(high, -np.inf), high)
        elif closed == "right":
            low = np.where(are_open, np.nextafter(low, np.inf), low)
        order = np.lexsort((high, low))
        low, high, there = low.take(order), high.take(order), there.take(order)
        changes = (low[1:] != low[:-1]) | (high[1:] != high[:-1])
        _check_apart(low, high, changes, there)
        starts = np.append(0, np.flatnonzero(changes) + 1)
        merged = _merged(masses, there, starts)
        for name, column in zip(("positives", "negatives"), merged, strict=True):
            total = _sum(column)
            if total == 0:
                raise OneClassLabels(f"There are no {name}; a curve needs both classes.", name)
            check_total(name, total)
        summed = None if squares is None else _merged(squares, there, starts)
        ascending = cls(low.take(starts), high.take(starts), merged, summed, ends[0].size, lower_is_positive=True)
        return ascending.turned()

    def turned(self) -> "Grouped":
        """The same groups, with the other direction of scores."""
        positives, negatives = (column[::-1] for column in self.masses)
        squares = self.squares and (self.squares[0][::-1], self.squares[1][::-1])
        direction = not self.lower_is_positive
        return Grouped(self.low[::-1], self.high[::-1], (positives, negatives), squares, self.rows, direction)

    @property
    def ends(self) -> FloatArray:
        """The threshold that calls all of each group positive, and no other, (m,)."""
        return self.high if self.lower_is_positive else self.low

    @property
    def is_open(self) -> BoolArray:
        """Whether the examples of each group may have different scores, (m,)."""
        out: BoolArray = self.low < self.high
        return out

    @property
    def is_exact(self) -> bool:
        """Whether all groups are exact."""
        return bool((self.low == self.high).all())

    @property
    def positives(self) -> float:
        """The total P, up to rounding."""
        return _sum(self.masses[0])

    @property
    def negatives(self) -> float:
        """The total N, up to rounding."""
        return _sum(self.masses[1])

    @property
    def has_examples(self) -> bool:
        """Whether positives and negatives are numbers of examples, not sums of weights."""
        return self.squares is None and all(map(are_integers, self.masses))

    @property
    def is_counted(self) -> bool:
        """Whether these are numbers of examples whose total is exact in a double, up to 2^53."""
        return self.has_examples and self.positives + self.negatives <= LARGEST_EXACT_INTEGER

    def divides(self, threshold: float) -> bool:
        """Whether a threshold falls within an open group, so that what it calls positive is not known."""
        inside = (self.low < threshold) & (threshold <= self.high)
        if self.lower_is_positive:
            inside = (self.low <= threshold) & (threshold < self.high)
        return bool((inside & self.is_open).any())


def _check_columns(
    ends: tuple[FloatArray, FloatArray],
    masses: tuple[FloatArray, FloatArray],
    squares: tuple[FloatArray, FloatArray] | None,
) -> None:
    rows = ends[0].size
    columns = {"score_to": ends[1], "positives": masses[0], "negatives": masses[1]}
    if squares is not None:
        columns |= {"positives_squared": squares[0], "negatives_squared": squares[1]}
    for name, column in columns.items():
        if column.size != rows:
            raise LengthsDiffer(f"{name} has {column.size} rows but there are {rows} scores.", name)
    back = np.flatnonzero(ends[1] < ends[0])
    if back.size:
        row = int(back[0])
        detail = f"score_to is {ends[1][row]:.17g} here, below score_from, which is {ends[0][row]:.17g}."
        raise EndsReversed(detail, "score_to", row)
    for name, column, total in zip(("positives", "negatives"), squares or (), masses, strict=False):
        with np.errstate(over="ignore"):
            most = total * total * (1 + _SQUARES_TOLERANCE)
        wrong = np.flatnonzero(((column > 0) != (total > 0)) | (column > most))
        if wrong.size:
            row = int(wrong[0])
            raise ContradictingSquares(
                f"The squares of weights that add up to {total[row]:.17g} cannot add up to {column[row]:.17g}.",
                f"{name}_squared",
                row,
            )


def _check_apart(low: FloatArray, high: FloatArray, changes: BoolArray, rows: IntArray) -> None:
    """Refuse different groups that have a score in common; if any have, then two neighbours."""
    touching = np.flatnonzero(changes & (low[1:] <= high[:-1]))
    if touching.size:
        first, second = sorted(rows[touching[0] : touching[0] + 2].tolist())
        detail = (
            f"This group and that of row {first}, counting from 0, have scores in common. Unite them, or say with "
            "closed that one of their ends is not theirs."
        )
        raise GroupsOverlap(detail, "score_from", second)


def _merged(columns: tuple[FloatArray, FloatArray], rows: IntArray, starts: IntArray) -> tuple[FloatArray, FloatArray]:
    """Sum columns over runs of these rows."""
    first, second = (_sums(column.take(rows), starts) for column in columns)
    return first, second


def _sums(column: FloatArray, starts: IntArray) -> FloatArray:
    """Sum over runs; each sum is rounded once, so that it does not depend on the order."""
    if starts.size >= column.size:
        return column
    sums: FloatArray = np.add.reduceat(column, starts)
    if not are_integers(column) or _sum(column) > LARGEST_EXACT_INTEGER:
        stops = np.append(starts[1:], column.size)
        for run in np.flatnonzero(stops - starts > 1):
            sums[run] = math.fsum(column[starts[run] : stops[run]].tolist())
    return sums


def _sum(column: FloatArray) -> float:
    with np.errstate(over="ignore"):
        return float(column.sum())
