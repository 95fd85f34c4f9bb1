"""A whole column at once, checked and never coerced: from what a decoder gives to an ndarray.

Each format's column type registers its own reading here (lists in json_format.py, text in csv_format.py).
"""

from functools import singledispatch

from service.curves.exact import BoolArray, FloatArray


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
    raise ColumnError("not_a_column", "A list of numbers belongs here.")


@singledispatch
def labels(column: object, positive_label: object) -> BoolArray:
    """Read labels as True for a positive. Raises ColumnError at the first wrong row.

    Without a positive label the values are 0 and 1, false and true, or -1 and 1. With one, they are at most two, told
    apart by type and value.
    """
    raise ColumnError("not_a_column", "A list of labels belongs here.")


def inexact_integer(row: int) -> ColumnError:
    """Make the error for an integer that would have to be rounded."""
    return ColumnError("not_exact", "No double holds this integer; nothing is rounded silently.", row)


def label_misfit(row: int | None) -> ColumnError:
    """Make the error for labels that need a positive_label."""
    return ColumnError(
        "not_a_label",
        "Without positive_label the labels are 0 and 1, false and true, or -1 and 1, all of one kind.",
        row,
    )


def third_label(row: int) -> ColumnError:
    """Make the error for a third distinct label."""
    return ColumnError("not_a_label", "This is a third value; a binary label has two.", row)
