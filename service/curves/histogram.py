"""Examples counted in groups of equal or similar scores, as a database's GROUP BY or a histogram gives them.

    check      that columns are equally long, ends in order, and squares possible
    sort       the groups by their ends, without the empty ones
    merge      those of equal ends; others that have a score in common are refused
    turn       them so that the most positive scores come first

Sums are rounded once, so the order of the groups does not matter. Knows groups; nothing of curves.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from service.curves.arrays import (
    LARGEST_EXACT_INTEGER,
    BoolArray,
    FloatArray,
    IntArray,
    are_integers,
    with_infinite_last,
)
from service.curves.clock import in_time
from service.curves.errors import (
    ContradictingSquares,
    EndsReversed,
    GroupsOverlap,
    LengthsDiffer,
    OneClassLabels,
    plain,
)
from service.curves.sample import check_total
from service.curves.target_prevalence import TargetPrevalence

CLOSED_SIDES = ("both", "left", "right")
"""Which ends of a group belong to it."""

MASSES, SQUARED_MASSES = ("positives", "negatives"), ("positives_squared", "negatives_squared")

GROUP_COLUMN_NAMES = {"score", "score_from", "score_to", *MASSES, *SQUARED_MASSES, "closed", "lower_is_positive"}
"""The names that the columns of a table of groups may have."""

_SQUARES_TOLERANCE = 2.0**-40
"""How far the sum of squares may be above the square of the sum, relatively: an engine rounds every addition."""


@dataclass(frozen=True, slots=True, eq=False)
class Histogram:
    """Groups of examples, as given or `merged`: columns (m,).

    score_from, score_to   the ends of each, perhaps infinite. A group is exact if both are equal, and open otherwise:
                           its examples may lie anywhere between.
    masses    the positives and the negatives of each, or the sums of their weights, >= 0.
    squares   the sums of their squared weights, of both classes; None if no weights are known.
    closed    which ends of an open group belong to it.
    lower_is_positive   whether lower scores are more positive.
    rest      if the negatives are known to have several labels, a sentence that names them.
    target    how common positives are where the model is used; None if as common as here.
    """

    score_from: FloatArray
    score_to: FloatArray
    masses: tuple[FloatArray, FloatArray]
    squares: tuple[FloatArray, FloatArray] | None = None
    closed: str = "both"
    lower_is_positive: bool = False
    rest: str | None = None
    target: TargetPrevalence | None = None

    def merged(self) -> "Histogram":
        """The groups in the order of the sweep, the most positive scores first, as curves need them.

        Those of equal ends are added up, and empty ones are left out. Of 1 positive at 0.2, then 2 at 0.7 and 3 at 0.2:
        2 at 0.7 and 4 at 0.2. Raises LengthsDiffer, EndsReversed, GroupsOverlap, ContradictingSquares, OneClassLabels
        and TotalOutOfRange.
        """
        self.check()
        groups, places = _in_order(self)
        low, high = groups.score_from, groups.score_to
        changes = low[1:] != low[:-1]
        if high is not low:
            changes |= high[1:] != high[:-1]
            _check_apart(low, high, changes, places)
        if not changes.all():
            groups = _added(groups, np.append(0, np.flatnonzero(changes) + 1))
        if not self.lower_is_positive:
            groups = groups.take(slice(None, None, -1))
        for name, total in zip(MASSES, (groups.positives, groups.negatives), strict=True):
            if total == 0:
                raise OneClassLabels(f"There are no {name}; a curve needs both classes.", name)
            check_total(name, total)
        return groups

    @property
    def rows(self) -> int:
        """How many groups there are, m."""
        return self.score_from.size

    @property
    def is_open(self) -> BoolArray:
        """Whether the examples of each group may have different scores, (m,)."""
        out: BoolArray = self.score_from < self.score_to
        return out

    @property
    def is_exact(self) -> bool:
        """Whether no group is open."""
        return self.score_to is self.score_from or bool((self.score_from == self.score_to).all())

    @property
    def ends(self) -> FloatArray:
        """The threshold that calls all of each group positive, and no other, (m,)."""
        return self.score_to if self.lower_is_positive else self.score_from

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
        """Whether each threshold falls within an open group, so that what it calls positive is not known, (k,).

        The groups must be `merged`.
        """
        thresholds = with_infinite_last(thresholds, lower_is_positive=self.lower_is_positive)
        rising = self if self.lower_is_positive else self.take(slice(None, None, -1))
        # A threshold at the end that it calls positive with the rest of the group does not divide it.
        place = np.searchsorted(rising.score_from, thresholds, side="right" if self.lower_is_positive else "left") - 1
        at = np.maximum(place, 0)
        ends = rising.score_to[at]
        below: BoolArray = thresholds < ends if self.lower_is_positive else thresholds <= ends
        return (place >= 0) & below & rising.is_open[at]

    def take(self, rows: IntArray | slice) -> "Histogram":
        """Some of the groups."""

        def taken(column: FloatArray) -> FloatArray:
            return column[rows] if isinstance(rows, slice) else column.take(rows)  # faster than column[rows]

        return _changed(self, taken, taken)

    def inclusive(self) -> "Histogram":
        """The same groups, closed on both sides: their ends are the least and the greatest score that each may have.

        Both ends are one and the same array if all groups are exact.
        """
        if self.is_exact:
            return replace(self, score_to=self.score_from, closed="both")
        low, high = self.score_from, self.score_to
        if self.closed == "left":
            high = np.nextafter(high, -np.inf, out=high.copy(), where=self.is_open)
        elif self.closed == "right":
            low = np.nextafter(low, np.inf, out=low.copy(), where=self.is_open)
        return replace(self, score_from=low, score_to=high, closed="both")

    def check(self) -> None:
        """Raise LengthsDiffer, EndsReversed or ContradictingSquares."""
        squares = {} if self.squares is None else dict(zip(SQUARED_MASSES, self.squares, strict=True))
        columns = {"score_to": self.score_to, **dict(zip(MASSES, self.masses, strict=True)), **squares}
        for name, column in columns.items():
            if column.size != self.rows:
                scores = "score" if self.score_to is self.score_from else "score_from"
                raise LengthsDiffer.of(name, column.size, scores, self.rows)
        back = np.flatnonzero(self.score_to < self.score_from)
        if back.size:
            row = int(back[0])
            least = self.score_from[row]
            detail = f"score_to is {plain(self.score_to[row])} here, below score_from, which is {plain(least)}."
            raise EndsReversed(detail, "score_to", row)
        for (name, column), total in zip(squares.items(), self.masses, strict=False):
            _check_squares(total, column, name)


def _changed(
    groups: Histogram, ends: Callable[[FloatArray], FloatArray], numbers: Callable[[FloatArray], FloatArray]
) -> Histogram:
    """Groups with other columns: `ends` makes either end, `numbers` the masses and the squares."""
    low = ends(groups.score_from)
    high = low if groups.score_to is groups.score_from else ends(groups.score_to)
    masses = numbers(groups.masses[0]), numbers(groups.masses[1])
    squares = None if groups.squares is None else (numbers(groups.squares[0]), numbers(groups.squares[1]))
    return replace(groups, score_from=low, score_to=high, masses=masses, squares=squares)


def _added(groups: Histogram, starts: IntArray) -> Histogram:
    """Each run of groups, from one of `starts` to the next, as one group, with the ends of the first in the run."""
    return _changed(groups, lambda column: column.take(starts), lambda column: _sums(column, starts))


def _in_order(given: Histogram) -> tuple[Histogram, IntArray | None]:
    """Inclusive groups with examples, in ascending order, and the place of each; None if no place changes.

    Columns that are already in order are neither sorted nor copied.
    """
    groups, places = given.inclusive(), None
    there = (groups.masses[0] > 0) | (groups.masses[1] > 0)
    if not there.all():
        places = np.flatnonzero(there)
        groups = groups.take(places)
    order = _order(groups.score_from, groups.score_to)
    if order is not None:
        groups = groups.take(order)
        places = order if places is None else places.take(order)
    return _changed(groups, _without_negative_zero, lambda column: column), places


def _order(low: FloatArray, high: FloatArray) -> IntArray | None:
    """The places that sort groups by both ends, `low` first; None if they are sorted. Exact groups have one end."""
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


def _check_squares(total: FloatArray, squares: FloatArray, name: str) -> None:
    """Refuse sums of squares that no weights >= 0 of this sum have: Σ w² is at most (Σ w)², and 0 only if Σ w is."""
    with np.errstate(over="ignore"):
        most = total * total * (1 + _SQUARES_TOLERANCE)
    wrong = np.flatnonzero(((squares > 0) != (total > 0)) | (squares > most))
    if wrong.size:
        row = int(wrong[0])
        detail = f"Weights that add up to {plain(total[row])} cannot have squares that add up to {plain(squares[row])}."
        raise ContradictingSquares(detail, name, row)


def _sums(column: FloatArray, starts: IntArray) -> FloatArray:
    """Sum over runs; each sum is rounded once. Infinite beyond all doubles."""
    if starts.size == column.size:
        return column
    with np.errstate(over="ignore"):
        sums: FloatArray = np.add.reduceat(column, starts)
    if not are_integers(column) or _sum(column) > LARGEST_EXACT_INTEGER:
        stops = np.append(starts[1:], column.size)
        for run in in_time(np.flatnonzero(stops - starts > 1)):
            try:
                sums[run] = math.fsum(column[starts[run] : stops[run]].tolist())
            except OverflowError:
                sums[run] = math.inf
    return sums


def _sum(column: FloatArray) -> float:
    with np.errstate(over="ignore"):
        return float(column.sum())
