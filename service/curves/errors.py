"""What makes an evaluation impossible to answer.

Each is raised where it is detected, with a sentence about the numbers, and knows no codes, pointers or statuses.
`column` and `row` locate it, in the input's names and order, if it has one place; `evaluation` is the number of the
evaluation concerned among several, or its name if there is a baseline. The functions write parts of such sentences.
"""

from collections.abc import Sequence
from typing import Self

_ENUMERATED = 5
"""The most names that a sentence lists."""


def enumerated(names: Sequence[str], count: int | None = None) -> str:
    """List names as a sentence does, or the first five and how many more there are; `count` is that of all."""
    count = len(names) if count is None else count
    shown = names[:_ENUMERATED]
    return joined(names) if count <= _ENUMERATED else f"{', '.join(shown)} and {count - len(shown)} more"


def joined(parts: Sequence[str]) -> str:
    """Join parts of a sentence: a, b and c."""
    return " and ".join(filter(None, (", ".join(parts[:-1]), parts[-1])))


def counted_rows(rows: int) -> str:
    """The number of rows, as a sentence names it."""
    return f"{rows} row{'' if rows == 1 else 's'}"


def plain(number: float) -> str:
    """Write a number with all its digits and no more: 0.95, 1, 1e-07."""
    return repr(float(number)).removesuffix(".0")


class DomainError(ValueError):
    """An evaluation that cannot be answered."""

    evaluation: int | str | None = None

    def __init__(self, detail: str, column: str | None = None, row: int | None = None) -> None:
        super().__init__(detail)
        self.detail = detail
        self.column = column
        self.row = row


class LengthsDiffer(DomainError):
    """Columns of one table have different lengths."""

    @classmethod
    def of(cls, column: str, rows: int, other: str, rows_of_other: int) -> Self:
        """Make the error about a column, and another one that it should be as long as."""
        return cls(f"{column} has {counted_rows(rows)} but {other} has {rows_of_other}.", column)


class OneClassLabels(DomainError):
    """All rows (of positive weight) have the same label, so one of the two rates has denominator 0."""


class TotalOutOfRange(DomainError):
    """The total of a class is so small or so large that products of counts leave the range of a double."""


class ContradictingTotals(DomainError):
    """Rows of counts disagree about how many positives or negatives there are."""


class RisingThresholds(DomainError):
    """Thresholds rise while more is called positive, which no sweep over scores can do."""


class TooManyPoints(DomainError):
    """A curve, or points with intervals, have more rows than the limit."""


class NoRowMeets(DomainError):
    """No row reaches the requested precision and recall."""


class TotalsDiffer(DomainError):
    """Evaluations to be compared have different numbers of positives or negatives."""


class NotPaired(DomainError):
    """Two evaluations are not of the same examples in the same order."""


class EndsReversed(DomainError):
    """A group of scores ends before it begins."""


class GroupsOverlap(DomainError):
    """Two groups have scores in common, so that a tie might be in both."""


class ContradictingSquares(DomainError):
    """No weights have this sum and this sum of squares."""


class NeedsExactGroups(DomainError):
    """The answer depends on single scores, which open groups do not have."""


class NotProbabilities(DomainError):
    """The answer depends on probabilities, and a score is not between 0 and 1."""
