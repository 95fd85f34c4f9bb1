"""Whole columns, checked and never coerced: from a decoder's column to an ndarray.

Each format's column type registers its readers here: lists, numbers lifted out of JSON, text, typed columns.
"""

import math
import re
from collections.abc import Collection, Hashable, Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import singledispatch
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from service.curves.arrays import BoolArray, FloatArray, IntArray
from service.curves.errors import counted_rows, enumerated, joined
from service.wire.spellings import as_text
from service.wire.wrong import Wrong

_SHOWN_CHARACTERS = 24
"""The characters of a wrong value that a problem repeats: as many as a double may have."""


MOST_VALUES = 20
"""The most distinct values listed for a column."""

_FRACTION = re.compile(r"'?-?\d*[.,]\d*[1-9]\d*(?:[eE][+-]?\d+)?'?")
"""A number as a sentence shows it, or text that is one, which is not whole."""

_LISTED = 5
"""The most labels that a sentence lists."""

NO_VALUE = ("", "#N/A", "<NA>", "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null")
"""Texts that tables have in place of a missing value; pandas reads all of them as one."""

INFINITE_TEXTS = {"inf": math.inf, "infinity": math.inf, "+inf": math.inf, "-inf": -math.inf, "-infinity": -math.inf}
"""{text in lower case: what it means as a number}"""

LEAVE_OUT = "Leave out rows without one, or set missing=drop."
"""What to do about a missing number or label of a table; only the sender can decide it."""


class Labels(NamedTuple):
    """True for a positive, (n,).

    rest   if the negatives have several labels, or one that may mean a missing label, a sentence that names them.
    """

    positive: BoolArray
    rest: str | None = None


@dataclass(frozen=True, slots=True)
class Tally:
    """The most frequent labels, as sentences show them, with their rows; the number of all labels and of all rows.

    doubtful   those that may mean that there is no label, with their rows.
    """

    most: tuple[tuple[str, int], ...]
    labels: int
    rows: int
    doubtful: tuple[tuple[str, int], ...] = ()

    @property
    def listed(self) -> str:
        """The labels, or some of them."""
        return enumerated([name for name, _ in self.most], self.labels)


Value = bool | int | float | str
"""A cell, as JSON can represent it."""


@dataclass(frozen=True, slots=True)
class Contents:
    """The contents of a column, whether or not an operation can read it.

    kind      number, boolean or text; null if no cell has a value; else its format's name for it.
    rows      None if cells are not inspected, because no operation reads this type.
    missing   cells without a value; None as above.
    values    distinct values in order of first appearance, as positive_label names them: at most MOST_VALUES.
    more      whether there are others, or cells that are not inspected.
    """

    kind: str
    rows: int | None
    missing: int | None
    values: tuple[Value, ...]
    more: bool


@dataclass(frozen=True, slots=True)
class Listing:
    """The contents of a table's columns in order, each with its name; names may repeat."""

    rows: int
    columns: tuple[tuple[str, Contents], ...]


@dataclass(frozen=True, slots=True)
class Categories:
    """A column whose cells define slices.

    numbers   (n,) each row's index in `values`.
    values    distinct, in order, all of one kind; None, for cells without a value, comes last.
    """

    numbers: IntArray
    values: tuple[bool | int | str | None, ...]


@singledispatch
def numbers(column: object, *, nullable: bool) -> FloatArray:
    """Read doubles, perhaps infinite; if `nullable`, a missing one is NaN.

    Raises Wrong at the first wrong row.
    """
    raise Wrong("not_a_column", "Must be a list of numbers, such as [0.9, 0.2].")


@singledispatch
def labels(column: object, positive_label: object) -> Labels:
    """Read labels as True for a positive. Raises Wrong at the first wrong row.

    Without a positive label the values are 0 and 1, false and true, or -1 and 1. With one, all others are negative; it
    is read as its column is, see spellings.py.
    """
    raise Wrong("not_a_column", "Must be a list of labels, such as [1, 0].")


@singledispatch
def contents(column: object) -> Contents:
    """List the contents of a column. Raises Wrong if it is not a column."""
    raise Wrong("not_a_column", "Must be a list, such as [0.9, 0.2].")


@singledispatch
def categories(column: object) -> Categories:
    """Read a column that defines slices: text, integers, booleans, times, or no value. Raises Wrong."""
    raise Wrong("not_a_column", 'Must be a list of strings, integers or booleans, such as ["DE", "FR"].')


@singledispatch
def items(column: object) -> list[Any] | None:
    """Read a list of anything, item by item; None if it is not a list."""
    return column if isinstance(column, list) else None


class SharedColumn:
    """A column that several evaluations share and that is read only once."""

    def __init__(self, column: object) -> None:
        self.column = column
        self._read: dict[Hashable, Any] = {}

    def numbers(self, *, nullable: bool) -> FloatArray:
        """Read it as numbers."""
        key = ("numbers", nullable)
        if key not in self._read:
            self._read[key] = numbers(self.column, nullable=nullable)
        column: FloatArray = self._read[key]
        return column

    def labels(self, positive_label: object) -> Labels:
        """Read it as labels."""
        key = (type(positive_label), positive_label)
        if key not in self._read:
            self._read[key] = labels(self.column, positive_label)
        column: Labels = self._read[key]
        return column


@numbers.register
def _(column: np.ndarray, *, nullable: bool) -> FloatArray:  # without NaN, from our own engines
    return column


@numbers.register
def _(column: SharedColumn, *, nullable: bool) -> FloatArray:
    return column.numbers(nullable=nullable)


@labels.register
def _(column: SharedColumn, positive_label: object) -> Labels:
    return column.labels(positive_label)


def not_a_value(row: int) -> Wrong:
    """Make the error of a number that is NaN."""
    return Wrong("not_finite", f"This is NaN; it must be a number. {LEAVE_OUT}", row)


def inexact_integer(row: int) -> Wrong:
    """Make the error for an integer that would be rounded."""
    return Wrong("not_exact", "This integer has no exact double, and rocpr does not round it.", row)


def tally(distinct: Any, counts: np.ndarray) -> Tally:  # noqa: ANN401  # a list, or an array of NumPy or pyarrow
    """Summarise the distinct labels, given how many rows have each, (k,)."""

    def counted(places: Iterable[int]) -> tuple[tuple[str, int], ...]:
        return tuple((shown(_plain(distinct[place])), int(counts[place])) for place in places)

    order = np.argsort(-counts, kind="stable")[: _LISTED + 1]
    return Tally(counted(order.tolist()), len(distinct), int(counts.sum()), counted(doubtful(distinct)))


def doubtful(distinct: Any) -> list[int]:  # noqa: ANN401  # as above
    """Find the labels, among distinct ones, that may mean that there is no label."""
    if isinstance(distinct, np.ndarray):  # of numbers
        return []
    if isinstance(distinct, list):
        return [place for place, label in enumerate(distinct) if isinstance(label, str) and label in NO_VALUE]
    found = pc.index_in(pa.array(NO_VALUE, distinct.type), value_set=distinct)
    return [int(place) for place in found.drop_null().to_pylist()]


def are_two(distinct: list[Any]) -> bool:
    """Whether distinct labels are at most two classes beyond doubt: none may mean no label, or the same as another."""
    folded = {label.casefold() if isinstance(label, str) else label for label in distinct}
    return 0 < len(distinct) == len(folded) <= 2 and not doubtful(distinct)  # noqa: PLR2004  # two classes


def _plain(label: Any) -> object:  # noqa: ANN401  # as above
    if isinstance(label, np.generic):
        return label.item()
    return label.as_py() if hasattr(label, "as_py") else label


def chosen_labels(
    positive: BoolArray, positive_label: object, counted: Tally, positive_rows: int | None = None
) -> Labels:
    """Split one label from all others. Raises Wrong if no row has it.

    `positive_rows` is how many rows have it, if those of `positive` are not single rows.
    """
    if counted.rows and not positive.any():
        detail = f"No label equals positive_label, {shown(positive_label)}; the labels are {counted.listed}."
        raise Wrong("one_class", detail)
    name = shown(positive_label)
    doubts = [(label, count) for label, count in counted.doubtful if label != name]
    others = [(other, count) for other, count in counted.most if other != name][:_LISTED]
    alike = [other for other, _ in others if other.casefold() == name.casefold()]
    if counted.labels <= 2 and not doubts and not alike:  # noqa: PLR2004  # two classes
        return Labels(positive)
    rows = int(np.count_nonzero(positive)) if positive_rows is None else positive_rows
    parts = [f"{other} in {count}" for other, count in others]
    more = counted.labels - 1 - len(others)
    if more:
        left = counted.rows - rows - sum(count for _, count in others)
        parts.append(f"{more} {'other' if more == 1 else 'others'} in {left}")
    rest = f"{name}, in {counted_rows(rows)}, is positive; all other labels are negative: {joined(parts)}."
    if alike:
        rest += f" {joined([*alike, name])} differ only in case: if they mean the same, write them alike."
    if doubts:
        rest += f" {_may_be_missing(doubts)}."
    return Labels(positive, rest)


def _may_be_missing(doubts: Sequence[tuple[str, int]]) -> str:
    rows, names = counted_rows(sum(count for _, count in doubts)), joined([label for label, _ in doubts])
    return f"{names}, in {rows}, may mean that there is no label: if so, leave out such rows"


def first_misfit(kinds: Iterable[tuple[int, Hashable]], allowed: Collection[AbstractSet[Hashable]]) -> int | None:
    """Find the first row such that the labels up to it fit into none of the `allowed` sets."""
    seen: set[Hashable] = set()
    for row, kind in kinds:
        seen.add(kind)
        if not any(seen <= each for each in allowed):
            return row
    return None


def label_misfit(row: int | None, counted: Tally) -> Wrong:
    """Make the error for labels that need a positive_label."""
    advice = "name the positive one with positive_label"
    if any(_FRACTION.fullmatch(name) for name, _ in counted.most):
        advice = f"{counted.listed} look like scores; if they are labels, {advice}"
    elif counted.labels > 2:  # noqa: PLR2004  # two classes
        advice = f"these are {counted.labels} values, {counted.listed}; {advice}, and all others are negative"
    elif counted.labels == 1:
        advice = f"all are {counted.listed}, and a curve needs two classes"
    else:
        advice = f"these are {counted.listed}; {advice}"
    if counted.doubtful and counted.labels - len(counted.doubtful) <= 2:  # noqa: PLR2004  # two classes
        advice = f"{_may_be_missing(counted.doubtful)}; otherwise {advice}"
    detail = f"Labels must be 0 and 1, false and true, or -1 and 1; {advice}."
    return Wrong("not_a_label", detail, row)


def is_unicode(text: str) -> bool:
    """Whether a text has no half of a surrogate pair: JSON can write one, but Arrow and engines cannot take it."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def shown(value: object) -> str:
    """Format a wrong scalar for a problem: long ones are cut, and 2.0 is written as 2."""
    text = as_text(value)
    beginning = text[:_SHOWN_CHARACTERS]
    more = "..." if len(text) > _SHOWN_CHARACTERS else ""
    return f"{beginning!r}{more}" if isinstance(value, str) else f"{beginning}{more}"
