"""Examples in groups of equal or similar scores, as given: by a database's GROUP BY, or a histogram.

Knows what groups may hold; nothing of their order, nor of curves.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from service.curves.arrays import FloatArray, IntArray
from service.curves.errors import ContradictingSquares, EndsReversed, LengthsDiffer, plain

CLOSED_SIDES = ("both", "left", "right")
"""Which ends of a group belong to it."""

_SQUARES_TOLERANCE = 2.0**-40
"""How far the sum of squares may be above the square of the sum, relatively: an engine rounds every addition."""


@dataclass(frozen=True, slots=True, eq=False)
class GroupColumns:
    """Groups as given, in any order; several may have equal ends: columns (n,).

    score_from, score_to   the ends of each, perhaps infinite; equal if all of its examples have one score.
    positives, negatives   how many there are, or the sums of their weights, >= 0.
    positives_squared, negatives_squared   the sums of their squared weights; None if not given.
    closed                 which ends of an open group belong to it.
    lower_is_positive      whether lower scores are more positive.
    rest                   if the negatives are known to have several labels, a sentence that names them.
    """

    score_from: FloatArray
    score_to: FloatArray
    positives: FloatArray
    negatives: FloatArray
    positives_squared: FloatArray | None = None
    negatives_squared: FloatArray | None = None
    closed: str = "both"
    lower_is_positive: bool = False
    rest: str | None = None

    @property
    def rows(self) -> int:
        """How many groups are given, n."""
        return self.score_from.size

    @property
    def is_exact(self) -> bool:
        """Whether no group is open."""
        return bool((self.score_from == self.score_to).all())

    def take(self, rows: IntArray) -> "GroupColumns":
        """Some of the groups."""
        of_positives, of_negatives = self.positives_squared, self.negatives_squared
        low = self.score_from.take(rows)
        return GroupColumns(
            low,
            low if self.score_to is self.score_from else self.score_to.take(rows),
            self.positives.take(rows),
            self.negatives.take(rows),
            None if of_positives is None else of_positives.take(rows),
            None if of_negatives is None else of_negatives.take(rows),
            self.closed,
            self.lower_is_positive,
        )

    def check(self) -> None:
        """Raise LengthsDiffer, EndsReversed or ContradictingSquares."""
        columns = {field.name: getattr(self, field.name) for field in fields(self)}
        for name, column in columns.items():
            if isinstance(column, np.ndarray) and column.size != self.rows:
                scores = "score" if self.score_to is self.score_from else "score_from"
                raise LengthsDiffer.of(name, column.size, scores, self.rows)
        back = np.flatnonzero(self.score_to < self.score_from)
        if back.size:
            row = int(back[0])
            least = self.score_from[row]
            detail = f"score_to is {plain(self.score_to[row])} here, below score_from, which is {plain(least)}."
            raise EndsReversed(detail, "score_to", row)
        for name, of_class in (("positives", self.positives), ("negatives", self.negatives)):
            squares = columns[f"{name}_squared"]
            if squares is not None:
                _check_squares(of_class, squares, f"{name}_squared")

    def inclusive(self) -> "GroupColumns":
        """The same groups, with the least and the greatest score that each may have: one column if all are exact."""
        if self.is_exact:
            return replace(self, score_to=self.score_from, closed="both")
        are_open = self.score_from < self.score_to
        low, high = self.score_from, self.score_to
        if self.closed == "left":
            high = np.nextafter(high, -np.inf, out=high.copy(), where=are_open)
        elif self.closed == "right":
            low = np.nextafter(low, np.inf, out=low.copy(), where=are_open)
        return replace(self, score_from=low, score_to=high, closed="both")


GROUP_COLUMN_NAMES = {"score", *(field.name for field in fields(GroupColumns))} - {"rest"}
"""The names that the columns of a table of groups may have."""


def joined_groups(parts: Sequence[GroupColumns]) -> GroupColumns:
    """The groups of several checked parts, all with squares or all without."""
    inclusive = [part.inclusive() for part in parts]
    columns: dict[str, Any] = {}
    for field in fields(GroupColumns):
        given = [getattr(part, field.name) for part in inclusive]
        columns[field.name] = np.concatenate(given) if isinstance(given[0], np.ndarray) else given[0]
    return GroupColumns(**columns)


def _check_squares(total: FloatArray, squares: FloatArray, name: str) -> None:
    """Refuse sums of squares that no weights >= 0 of this sum have: Σ w² is at most (Σ w)², and 0 only if Σ w is."""
    with np.errstate(over="ignore"):
        most = total * total * (1 + _SQUARES_TOLERANCE)
    wrong = np.flatnonzero(((squares > 0) != (total > 0)) | (squares > most))
    if wrong.size:
        row = int(wrong[0])
        detail = f"Weights that add up to {plain(total[row])} cannot have squares that add up to {plain(squares[row])}."
        raise ContradictingSquares(detail, name, row)
