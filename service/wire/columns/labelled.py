"""Columns as labels: True for a positive. Labels are compared as wire/spellings.py says, the same in every format.

Only distinct labels are looked at, which are few. What is wrong with them is a Wrong whose row is the first with that
label.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from pyarrow import types

from service.curves.arrays import LARGEST_EXACT_INTEGER, BoolArray, IntArray
from service.curves.clock import in_time, still_time
from service.curves.errors import counted_rows, enumerated, joined
from service.wire.columns.column import Column, is_readable
from service.wire.columns.numeric import numbers
from service.wire.columns.sentences import LEAVE_OUT, NO_VALUE, other, shown, told_without_quotes
from service.wire.columns.times import is_time
from service.wire.columns.typed import typed_column, unreadable_column
from service.wire.spellings import BLANKS, as_number, as_text, as_truth, is_spelling, seen, unquoted
from service.wire.wrong import Wrong

_MAY_BE = "integers, floats, decimals, booleans or text"
_FRACTION = re.compile(r"'?-?\d*[.,]\d*[1-9]\d*(?:[eE][+-]?\d+)?'?")
"""A number as a sentence shows it, or text that is one, which is not whole."""

_LISTED = 5
"""The most labels that a sentence lists."""

_USUAL_NUMBERS: dict[object, str] = {0: "0", 1: "1", -1: "-1"}
_USUAL_IN_JSON = ({"0", "1"}, {"false", "true"}, {"-1", "1"})
_USUAL_IN_TABLES = ({"0", "1", "false", "true"}, {"-1", "1"})
"""The labels that need no positive label; 1 and true are positive. In a table, 1 may be how true is written."""


class Labels(NamedTuple):
    """True for a positive, (n,).

    rest   if the negatives have several labels, or one that may mean a missing label, a sentence that names them.
    """

    positive: BoolArray
    rest: str | None = None


def labels(value: object, positive_label: object) -> Labels:
    """Read labels as True for a positive. Raises Wrong at the first wrong row.

    Without a positive label the values are 0 and 1, false and true, or -1 and 1. With one, all others are negative; it
    is read as its column is.
    """
    column = Column.of(value, " of labels, such as [1, 0]")
    if positive_label is None and column.array is not None and (usual := _usual_numbers(column.array)) is not None:
        return Labels(usual)
    key = ("labels", type(positive_label), positive_label)
    return column.remembered(key, lambda column: _labels(column, positive_label))


def distinct_labels(values: list[Any], counts: IntArray, positive_label: str | None) -> Labels:
    """Read distinct labels and the rows of each, (k,), as an engine counts them, like a column of all rows.

    Raises Wrong with the same sentence as for a body, but without a row.
    """
    try:
        cells = pa.chunked_array([pa.array(values)])
    except (pa.ArrowException, TypeError):
        raise Wrong("not_a_label", f"Labels must be {_MAY_BE}.") from None
    column = typed_column(cells) if is_readable(cells.type) else unreadable_column(cells.type)
    try:
        return _labels(column, positive_label, counts)
    except Wrong as wrong:
        raise Wrong(wrong.code, wrong.detail) from None


def _labels(column: Column, positive_label: object, rows: IntArray | None = None) -> Labels:
    """Read labels; `rows` is how many rows each cell stands for, one unless given."""
    cells = column.cells
    if cells is None or is_time(cells.type):
        raise Wrong("not_a_label", f"This column is {column.kind}; labels must be {_MAY_BE}.")
    _refuse_no_labels(column)
    if types.is_decimal(cells.type):
        column = Column(cells := pa.array(numbers(column, nullable=False)))
    if positive_label is None and (usual := _usual(column)) is not None:
        return Labels(usual)
    if column.source == "csv" and isinstance(positive_label, str):
        positive_label = positive_label.strip(BLANKS)
    if types.is_floating(cells.type) and not (finite := np.isfinite(cells.to_numpy())).all():
        raise Wrong("not_a_label", "This is not a finite number, so it cannot be a label.", int(finite.argmin()))
    places, values = column.distinct()
    if column.source == "csv" and positive_label != "" and "" in values:
        row = int((places == values.index("")).argmax())
        raise Wrong("not_a_label", f"This is blank; it must be a label. {LEAVE_OUT}", row)
    counts = np.bincount(places, rows, len(values)).astype(np.int64)
    try:
        if positive_label is None:
            return Labels(_usual_among(values, counts, column)[places])
        chosen, rest = _chosen_among(values, counts, positive_label, column)
    except Wrong as wrong:
        raise Wrong(wrong.code, wrong.detail, wrong.row if wrong.row is None else _row(places, wrong.row)) from None
    return Labels(chosen[places], rest)


def _row(places: IntArray, place: int) -> int:
    return int((places == place).argmax())


def _refuse_no_labels(column: Column) -> None:
    """Refuse null, and whatever else in a JSON list is no label."""
    rows = [] if (null := column.first_null()) is None else [null]
    if rows and column.source != "json":
        raise Wrong("not_a_label", f"This is null; it must be a label. {LEAVE_OUT}", rows[0])
    for place, value in enumerate(column.values or ()):
        if not isinstance(value, (bool, int, float, str)):
            rows.append(column.cells.index(place).as_py())
    if rows:
        row = min(rows)
        value = column.take(np.array([row])).to_list()[0]
        raise Wrong("not_a_label", other(value, "label", row=row, rows=len(column)), row)


def _usual(column: Column) -> BoolArray | None:
    """Read numbers or booleans that are usual labels, without telling all values apart; None for anything else."""
    kind = column.cells.type
    if column.is_mixed or not (types.is_boolean(kind) or types.is_integer(kind) or types.is_floating(kind)):
        return None
    return _usual_numbers(column.cells.to_numpy(zero_copy_only=False))


def _usual_numbers(values: np.ndarray) -> BoolArray | None:
    """Read numbers or booleans that are usual labels; None for others."""
    ones: BoolArray = values == 1
    rest = values.size - np.count_nonzero(ones)
    return ones if any(rest == np.count_nonzero(values == other) for other in (0, -1)) else None


def _usual_among(values: list[Any], counts: IntArray, column: Column) -> BoolArray:
    """The positives among distinct labels that are usual ones. Raises Wrong."""
    allowed = _USUAL_IN_JSON if column.source == "json" else _USUAL_IN_TABLES
    names: list[str] = []
    for place, value in enumerate(values):
        names.append(_usual_name(value, column))
        if not any({*names} <= each for each in allowed):
            in_quotes = told_without_quotes(value) if column.source == "json" else None
            raise Wrong("not_a_label", in_quotes or _needs_positive_label(_tally(values, counts)), place)
    return np.array([name in {"1", "true"} for name in names], np.bool_)


def _usual_name(value: object, column: Column) -> str:
    """Name a usual label. A JSON string never is one."""
    if isinstance(value, str) and column.source == "json":
        return "text"
    word = value.strip(BLANKS).lower() if isinstance(value, str) else str(value).lower()
    if word in {"false", "true"}:
        return word
    number = as_number(value, column.decimal)
    return "other" if number is None else _USUAL_NUMBERS.get(number, "other")


def _chosen_among(
    values: list[Any], counts: IntArray, positive_label: object, column: Column
) -> tuple[BoolArray, str | None]:
    """Split one label from all others among distinct ones, and name these if they are several. Raises Wrong."""
    decimal = column.decimal
    read, readings = _readings(values, decimal)
    wanted = as_text(positive_label) if read is as_text else read(positive_label, decimal)
    if read is as_text:
        _refuse_spellings(values, positive_label, decimal)
    chosen = np.array([reading == wanted for reading in readings], np.bool_)
    # Spellings of one label are one label, which has the name of the first; of JSON, only those of the positive one.
    apart = read is as_text or (read is as_number and column.source == "json")
    names = [wanted if hit else value for hit, value in zip(chosen, values, strict=True)] if apart else readings
    first: dict[object, int] = {}
    merged = np.array([first.setdefault(_name_key(name), place) for place, name in enumerate(names)], np.int64)
    kept = np.unique(merged)
    counted = np.bincount(merged, counts, len(values)).astype(np.int64)
    ranks = None if apart or wanted is None else [float(readings[place]) for place in kept]
    tally = _tally([values[place] for place in kept], counted[kept], ranks)
    if values and not chosen.any():
        label = positive_label if any(isinstance(value, str) for value in values) else unquoted(positive_label)
        detail = f"No label equals positive_label, {shown(label)}; the labels are {tally.listed}."
        raise Wrong("one_class", detail)
    if not values:
        return chosen, None
    place = int(chosen.argmax())
    return chosen, _rest(shown(values[place]), int(counts[chosen].sum()), tally)


def _readings(values: Sequence[object], decimal: str) -> tuple[Any, list[Any]]:
    """Read the labels in the first way in which all of them can be read: (the way, the readings)."""
    for read in (as_truth, as_number):
        found: list[object] = []
        for value in values:
            still_time()
            found.append(read(value, decimal))
            if found[-1] is None:
                break
        else:
            return read, found
    return as_text, [as_text(value) for value in in_time(values)]


def _name_key(name: Any) -> object:  # noqa: ANN401  # a truth, a number or a text
    """What tells a label from others: large integers that collide can be chosen, but not their digits."""
    is_large = not isinstance(name, str) and abs(name) >= LARGEST_EXACT_INTEGER
    return isinstance(name, str), isinstance(name, bool), hex(int(name)) if is_large else name


def _refuse_spellings(values: list[Any], positive_label: object, decimal: str) -> None:
    """Refuse labels that mean the positive label where another, such as a word or a 2 beside True, makes all text.

    So are those that look like the label. Otherwise they would be negative, and a gate could pass because of one cell.
    """
    label = as_text(positive_label)
    for place, value in enumerate(values):
        still_time()
        if as_text(value) == label or not is_spelling(value, positive_label, decimal):
            continue
        if seen(as_text(value)) == seen(label):
            pair = f"{shown(value)} and {shown(label)}"
            detail = f"{pair} differ only in blanks, or in how an accent is stored: write them alike."
        else:
            no_truths = [each for each in values if as_truth(each, decimal) is None]
            no_number = shown(next((each for each in no_truths if as_number(each, decimal) is None), no_truths[0]))
            detail = (
                f"{shown(value)} and {shown(label)} mean the same, but with {no_number} this column is compared as "
                f"text: write them alike, or leave out the rows with {no_number}."
            )
        raise Wrong("not_a_label", detail, place)


@dataclass(frozen=True, slots=True)
class _Tally:
    """The most frequent labels, as sentences show them, with their rows; the number of all labels and of all rows.

    doubtful   those that may mean that there is no label, with their rows.
    """

    most: tuple[tuple[str, int], ...]
    labels: int
    rows: int
    doubtful: tuple[tuple[str, int], ...]

    @property
    def listed(self) -> str:
        """The labels, or some of them."""
        return enumerated([name for name, _ in self.most], self.labels)


def _tally(values: list[Any], counts: IntArray, ranks: list[Any] | None = None) -> _Tally:
    """Summarise distinct labels and their rows, (k,); of equally many rows, numbers are in order, and come last."""
    still_time()
    sizes = np.array([_size(rank) for rank in (values if ranks is None else ranks)], np.float64)
    order = np.lexsort((sizes, -counts))[: _LISTED + 1].tolist()
    doubts = [place for place, value in enumerate(values) if isinstance(value, str) and value in NO_VALUE]
    most, doubtful = (tuple((shown(values[at]), int(counts[at])) for at in some) for some in (order, doubts))
    return _Tally(most, len(values), int(counts.sum()), doubtful)


def _size(value: object) -> float:
    number = as_number(value) if isinstance(value, (int, float)) else None
    return -math.inf if number is None else float(number)


def _rest(name: str, rows: int, counted: _Tally) -> str | None:
    """Name the negatives, if they have several labels, or one that may be a mistake."""
    doubts = [(label, count) for label, count in counted.doubtful if label != name]
    others = [(each, count) for each, count in counted.most if each != name][:_LISTED]
    alike = [each for each, _ in others if each.casefold() == name.casefold()]
    if counted.labels <= 2 and not doubts and not alike:  # noqa: PLR2004  # two classes
        return None
    parts = [f"{each} in {count}" for each, count in others]
    more = counted.labels - 1 - len(others)
    if more:
        left = counted.rows - rows - sum(count for _, count in others)
        parts.append(f"{more} {'other' if more == 1 else 'others'} in {left}")
    rest = f"{name}, in {counted_rows(rows)}, is positive; all other labels are negative: {joined(parts)}."
    if alike:
        rest += f" {joined([*alike, name])} differ only in case: if they mean the same, write them alike."
    if doubts:
        rest += f" {_may_be_missing(doubts)}."
    return rest


def _may_be_missing(doubts: Sequence[tuple[str, int]]) -> str:
    rows, names = counted_rows(sum(count for _, count in doubts)), joined([label for label, _ in doubts])
    return f"{names}, in {rows}, may mean that there is no label: if so, leave out such rows"


def _needs_positive_label(counted: _Tally) -> str:
    """Say that labels need a positive label, and why."""
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
    return f"Labels must be 0 and 1, false and true, or -1 and 1; {advice}."
