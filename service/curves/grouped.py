"""Groups of examples, merged and in the order of the sweep.

Knows what makes groups one data set; nothing of curves.
"""

import math
from dataclasses import dataclass, replace

import numpy as np

from service.curves.arrays import LARGEST_EXACT_INTEGER, BoolArray, FloatArray, IntArray, are_integers, reaching
from service.curves.errors import GroupsOverlap, OneClassLabels
from service.curves.given_groups import GroupColumns
from service.curves.sample import check_total


def unite(given: GroupColumns) -> GroupColumns:
    """The groups in ascending order; those that share a score are merged. Sums are rounded once."""
    groups = given.inclusive()
    order = _order(groups.score_from, groups.score_to)
    groups = groups if order is None else groups.take(order)
    reach = np.maximum.accumulate(groups.score_to)
    starts = np.append(0, np.flatnonzero(groups.score_from[1:] > reach[:-1]) + 1)[: groups.rows]
    ends = np.append(starts[1:] - 1, groups.rows - 1)[: starts.size]
    of_positives, of_negatives = groups.positives_squared, groups.negatives_squared
    return GroupColumns(
        groups.score_from[starts] + 0.0,
        reach[ends] + 0.0,
        _sums(groups.positives, starts),
        _sums(groups.negatives, starts),
        None if of_positives is None else _sums(of_positives, starts),
        None if of_negatives is None else _sums(of_negatives, starts),
        lower_is_positive=given.lower_is_positive,
    )


@dataclass(frozen=True, slots=True, eq=False)
class Grouped:
    """Groups of examples, merged and in the order of the sweep, the most positive scores first: columns (m,).

    low, high      the least and the greatest score that an example of the group may have, perhaps infinite,
                   low <= high. A group is exact if both are equal, and open otherwise: its examples may lie anywhere
                   between.
    masses         the positives and the negatives of each group, or the sums of their weights.
    squares        the sums of their squared weights, of both classes; None if no weights are known.
    rows           how many groups were given.
    lower_is_positive   whether lower scores are more positive.
    rest           if the negatives are known to have several labels, a sentence that names them.
    """

    low: FloatArray
    high: FloatArray
    masses: tuple[FloatArray, FloatArray]
    squares: tuple[FloatArray, FloatArray] | None
    rows: int
    lower_is_positive: bool = False
    rest: str | None = None

    @classmethod
    def of(cls, given: GroupColumns) -> "Grouped":
        """Merge groups; those of equal ends add up, and empty ones are left out.

        Raises LengthsDiffer, EndsReversed, GroupsOverlap, ContradictingSquares, OneClassLabels and TotalOutOfRange.
        """
        given.check()
        columns, places = _in_order(given.inclusive())
        low, high = columns.score_from, columns.score_to
        changes = low[1:] != low[:-1]
        if high is not low:
            changes |= high[1:] != high[:-1]
            _check_apart(low, high, changes, places)
        starts = None if changes.all() else np.append(0, np.flatnonzero(changes) + 1)
        turn = slice(None, None, 1 if given.lower_is_positive else -1)
        positives, negatives = (_sums(column, starts)[turn] for column in (columns.positives, columns.negatives))
        for name, column in (("positives", positives), ("negatives", negatives)):
            total = _sum(column)
            if total == 0:
                raise OneClassLabels(f"There are no {name}; a curve needs both classes.", name)
            check_total(name, total)
        squares = None
        if columns.positives_squared is not None and columns.negatives_squared is not None:
            both = columns.positives_squared, columns.negatives_squared
            of_positives, of_negatives = (_sums(column, starts)[turn] for column in both)
            squares = of_positives, of_negatives
        if starts is not None:
            low, high = low[starts], high[starts]
        ends = low[turn], high[turn]
        return cls(*ends, (positives, negatives), squares, given.rows, given.lower_is_positive, given.rest)

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

    def divided_by(self, thresholds: FloatArray) -> BoolArray:
        """Whether each threshold falls within an open group, so that what it calls positive is not known, (k,)."""
        thresholds = reaching(thresholds, lower_is_positive=self.lower_is_positive)
        low, high = (self.low, self.high) if self.lower_is_positive else (self.low[::-1], self.high[::-1])
        # A threshold at the end that it calls positive with the rest of the group does not divide it.
        place = np.searchsorted(low, thresholds, side="right" if self.lower_is_positive else "left") - 1
        ends = high[np.maximum(place, 0)]
        below: BoolArray = thresholds < ends if self.lower_is_positive else thresholds <= ends
        return (place >= 0) & below & (low < high)[np.maximum(place, 0)]


def _in_order(given: GroupColumns) -> tuple[GroupColumns, IntArray | None]:
    """The groups that are not empty in ascending order, with the place of each among those given; None if all stay.

    Then their columns are not copied, and ones that are in order are not sorted.
    """
    there = (given.positives > 0) | (given.negatives > 0)
    places = None if there.all() else np.flatnonzero(there)
    if places is not None:
        given = given.take(places)
    order = _order(given.score_from, given.score_to)
    if order is not None:
        given = given.take(order)
        places = order if places is None else places.take(order)
    low = _without_negative_zero(given.score_from)
    high = low if given.score_to is given.score_from else _without_negative_zero(given.score_to)
    return replace(given, score_from=low, score_to=high), places


def _order(low: FloatArray, high: FloatArray) -> IntArray | None:
    """The places of groups in ascending order, by both of their ends; None if they are in it. Exact ones have one."""
    if high is low:
        if (low[1:] >= low[:-1]).all():
            return None
        falling = (low[1:] <= low[:-1]).all()  # faster than sorting
        return np.arange(low.size)[::-1] if falling else np.argsort(low)
    if ((low[1:] > low[:-1]) | ((low[1:] == low[:-1]) & (high[1:] >= high[:-1]))).all():
        return None
    return np.lexsort((high, low))


def _without_negative_zero(column: FloatArray) -> FloatArray:
    """The column with 0.0 in place of -0.0: itself if it has none."""
    zeros = column == 0
    return column + 0.0 if zeros.any() and np.signbit(column[zeros]).any() else column


def _check_apart(low: FloatArray, high: FloatArray, changes: BoolArray, places: IntArray | None) -> None:
    """Refuse different groups that have a score in common; if any have, two neighbours do."""
    touching = np.flatnonzero(changes & (low[1:] <= high[:-1]))
    if touching.size:
        neighbours = touching[0] + np.arange(2)
        first, second = sorted((neighbours if places is None else places[neighbours]).tolist())
        detail = (
            f"This group overlaps the one in row {first}, counting from 0. Merge them, or set closed if each group "
            "includes only one of its ends."
        )
        raise GroupsOverlap(detail, "score_from", second)


def _sums(column: FloatArray, starts: IntArray | None) -> FloatArray:
    """Sum over runs; each sum is rounded once, so that it does not depend on the order. Infinite beyond all doubles.

    None for the starts means that each run has one number.
    """
    if starts is None or starts.size >= column.size:
        return column
    with np.errstate(over="ignore"):
        sums: FloatArray = np.add.reduceat(column, starts)
    if not are_integers(column) or _sum(column) > LARGEST_EXACT_INTEGER:
        stops = np.append(starts[1:], column.size)
        for run in np.flatnonzero(stops - starts > 1):
            try:
                sums[run] = math.fsum(column[starts[run] : stops[run]].tolist())
            except OverflowError:
                sums[run] = math.inf
    return sums


def _sum(column: FloatArray) -> float:
    with np.errstate(over="ignore"):
        return float(column.sum())
