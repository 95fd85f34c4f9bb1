"""A whole column at once, checked and never coerced: from what a decoder gives to an ndarray.

Each format's column type registers its own reading here: lists, numbers lifted out of JSON, text, typed columns.
"""

import json
from collections.abc import Hashable
from functools import singledispatch
from typing import Any

from service.curves.exact import BoolArray, FloatArray

_SHOWN_CHARACTERS = 24
"""How many characters of a wrong value a problem repeats: as many as a double may have."""


class ColumnError(ValueError):
    """A column or one of its rows is not what it has to be."""

    def __init__(self, code: str, detail: str, row: int | None = None) -> None:
        super().__init__(detail)
        self.code = code
        self.detail = detail
        self.row = row


@singledispatch
def numbers(column: object, *, nullable: bool) -> FloatArray:
    """Read finite doubles; where `nullable`, a missing value is NaN. Raises ColumnError at the first wrong row."""
    raise ColumnError("not_a_column", "A list of numbers belongs here, such as [0.9, 0.2].")


@singledispatch
def labels(column: object, positive_label: object) -> BoolArray:
    """Read labels as True for a positive. Raises ColumnError at the first wrong row.

    Without a positive label the values are 0 and 1, false and true, or -1 and 1. With one, they are at most two, told
    apart by type and value.
    """
    raise ColumnError("not_a_column", "A list of labels belongs here, such as [1, 0].")


@singledispatch
def items(column: object) -> list[Any] | None:
    """Read a list of anything, item by item; None for what is no list."""
    return column if isinstance(column, list) else None


class SharedColumn:
    """A column that several evaluations share; whatever is read from it is read once."""

    def __init__(self, column: object) -> None:
        self._column = column
        self._read: dict[Hashable, Any] = {}

    def numbers(self, *, nullable: bool) -> FloatArray:
        """Read it as numbers."""
        key = ("numbers", nullable)
        if key not in self._read:
            self._read[key] = numbers(self._column, nullable=nullable)
        column: FloatArray = self._read[key]
        return column

    def labels(self, positive_label: object) -> BoolArray:
        """Read it as labels."""
        key = (type(positive_label), positive_label)
        if key not in self._read:
            self._read[key] = labels(self._column, positive_label)
        column: BoolArray = self._read[key]
        return column


@numbers.register
def _(column: SharedColumn, *, nullable: bool) -> FloatArray:
    return column.numbers(nullable=nullable)


@labels.register
def _(column: SharedColumn, positive_label: object) -> BoolArray:
    return column.labels(positive_label)


def inexact_integer(row: int) -> ColumnError:
    """Make the error for an integer that would have to be rounded."""
    return ColumnError("not_exact", "No double holds this integer; nothing is rounded silently.", row)


def label_misfit(row: int | None) -> ColumnError:
    """Make the error for labels that need a positive_label."""
    return ColumnError(
        "not_a_label",
        "Without positive_label the labels are 0 and 1, false and true, or -1 and 1, all of one kind; of any other two "
        "values positive_label names the one that is positive.",
        row,
    )


def third_label(row: int, label: object) -> ColumnError:
    """Make the error for a third distinct label."""
    return ColumnError("not_a_label", f"{shown(label)} is a third value; a binary label has two.", row)


def shown(value: object) -> str:
    """Write a wrong value, a scalar, as a problem repeats it: the beginning of a long one, 2 also for 2.0."""
    text = value if isinstance(value, str) else json.dumps(value).removesuffix(".0")
    beginning = text[:_SHOWN_CHARACTERS]
    more = "..." if len(text) > _SHOWN_CHARACTERS else ""
    return f"{beginning!r}{more}" if isinstance(value, str) else f"{beginning}{more}"
