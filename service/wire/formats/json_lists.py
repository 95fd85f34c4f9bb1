"""Lists of plain values, as JSON has them, to numbers and labels; "1" is a label only if a positive one is named."""

import math
import re
from collections import Counter
from collections.abc import Iterable
from itertools import compress, repeat
from operator import eq, ne
from typing import Any

import numpy as np

from service.curves.arrays import LARGEST_EXACT_INTEGER, FloatArray
from service.wire.columns import (
    Labels,
    Tally,
    are_two,
    chosen_labels,
    first_misfit,
    inexact_integer,
    items,
    label_misfit,
    labels,
    numbers,
    shown,
    tally,
)
from service.wire.formats.json_columns import NumberList
from service.wire.formats.text_columns import refuse_spellings
from service.wire.spellings import Reading, as_number, as_text, as_truth, reading, unquoted
from service.wire.wrong import Wrong

_VALUE_KINDS: dict[type, str] = {bool: "boolean", int: "number", float: "number", str: "string"}
_NAMES_OF_TYPES = {
    **{kind: f"a {name}" for kind, name in _VALUE_KINDS.items()},
    type(None): "null",
    list: "a list",
    NumberList: "a list",
    dict: "an object",
}
_OF_SEVERAL_SCORES = " Of several columns, send one, such as predict_proba(X)[:, 1] of two classes."
_OF_SEVERAL_LABELS = " Of a column for each class, send array.argmax(axis=1); more than two classes go to /v1/classes."
_DEFAULT_LABELS = (
    {("number", 0), ("number", 1)},
    {("boolean", False), ("boolean", True)},
    {("number", -1), ("number", 1)},
)

_NEEDS_NO_QUOTES = re.compile(
    r"(?=.{1,24}\Z)(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|[Tt]rue|[Ff]alse)", re.ASCII
)
"""Words that are JSON values."""


@numbers.register
def _(column: list, *, nullable: bool) -> FloatArray:  # type: ignore[type-arg]  # singledispatch takes a plain class
    kinds = set(map(type, column))
    wrong = kinds - {int, float, *([type(None)] if nullable else [])}
    if wrong:
        row = _first(type(value) in wrong for value in column)
        what = _quoted(column[row]) or _other(column[row], "number") + _by_shape(column, row, _OF_SEVERAL_SCORES)
        raise Wrong("not_a_number", what, row)
    if type(None) in kinds:
        column = [math.nan if value is None else value for value in column]
    try:
        array = np.fromiter(column, np.float64, len(column))
    except OverflowError:
        raise inexact_integer(_first(not math.isfinite(_as_double(value)) for value in column)) from None
    if int in kinds:
        for large in np.flatnonzero(np.abs(array) >= LARGEST_EXACT_INTEGER):
            if isinstance(column[large], int) and int(array[large]) != column[large]:
                raise inexact_integer(int(large))
    return array


@labels.register
def _(column: list, positive_label: object) -> Labels:  # type: ignore[type-arg]  # singledispatch takes a plain class
    types = set(map(type, column))
    wrong = types - _VALUE_KINDS.keys()
    if wrong:
        row = _first(type(value) in wrong for value in column)
        what = _other(column[row], "label") + _by_shape(column, row, _OF_SEVERAL_LABELS)
        raise Wrong("not_a_label", what, row)
    if types == {bool} and (positive_label is None or positive_label is True):
        return Labels(np.frombuffer(bytes(column), np.bool_))
    kinds = {_VALUE_KINDS[kind] for kind in types}
    if positive_label is not None:
        return _chosen_labels(column, types, positive_label)
    ones = column.count(1)
    if kinds - {"number"} or len(column) - ones not in {column.count(0), column.count(-1)}:
        misfit = first_misfit(enumerate(map(_typed, column)), _DEFAULT_LABELS)
        assert misfit is not None  # noqa: S101  # labels do not fit any set
        quoted = _quoted(column[misfit])
        raise Wrong("not_a_label", quoted, misfit) if quoted else label_misfit(misfit, _tally(column))
    return Labels(np.fromiter(map(eq, column, repeat(1)), np.bool_, len(column)))


def _chosen_labels(column: list[Any], types: set[type], positive_label: object) -> Labels:
    """Split one label from all others."""
    texts = {value for value in column if isinstance(value, str)} if str in types else set()
    read: Reading = as_truth
    if texts or (column.count(0) + column.count(1) < len(column) and bool in types):
        read = reading([*texts, *(value for value in column if not isinstance(value, str))])
    elif column.count(0) + column.count(1) < len(column):
        read = as_number
    if read is as_text:
        distinct = [value for _, value in dict.fromkeys(zip(map(type, column), column, strict=True))]
        refuse_spellings(distinct, positive_label, lambda place: column.index(distinct[place]))
    wanted = read(positive_label)
    if texts or read is as_text:
        known = {text: read(text) for text in texts}
        cells: Iterable[object] = (known[value] if isinstance(value, str) else read(value) for value in column)
    else:
        cells = column
    chosen = np.fromiter(map(eq, cells, repeat(wanted)), np.bool_, len(column))
    if wanted is None or not chosen.any():
        label = positive_label if texts else unquoted(positive_label)
        return chosen_labels(np.zeros_like(chosen), label, _tally(column))
    if read is as_truth or (len(types) == 1 and are_two(_if_two(column))):
        return Labels(chosen)
    label = column[int(chosen.argmax())]
    named = [label if is_chosen else value for value, is_chosen in zip(column, chosen.tolist(), strict=True)]
    return chosen_labels(chosen, label, _tally(named))


def _quoted(value: object) -> str | None:
    """Say that a value is a number or a boolean in quotes; None if it is not."""
    if not isinstance(value, str) or not _NEEDS_NO_QUOTES.fullmatch(value):
        return None
    return f"{shown(value)} is a string; send {value.lower()} without quotes."


def _other(value: object, wanted: str) -> str:
    return f"This is {_NAMES_OF_TYPES[type(value)]}; it must be a {wanted}."


def _by_shape(column: list[Any], row: int, of_several: str) -> str:
    """Say what to do about an array that is sent as a list of lists, by its shape; empty for anything else."""
    width = len(items(column[row]) or ()) if row == 0 else 0
    if not width:
        return ""
    is_flat = width == 1 or len(column) == 1
    return " Of an array with one column or one row, send array.ravel()." if is_flat else of_several


def _typed(value: object) -> tuple[str, object]:
    """Type and value of a scalar: 1 is not true, but 1 equals 1.0, as JSON has one type of number."""
    return _VALUE_KINDS[type(value)], value


def _if_two(column: list[object]) -> list[object]:
    """The values of a column of one kind if there are at most two, otherwise none.

    Compares instead of hashing: a set of integers chosen to collide takes quadratic time.
    """
    first = next(iter(column), None)
    second = next(compress(column, map(ne, column, repeat(first))), None)
    return [first, second] if column.count(first) + column.count(second) == len(column) else []


def _tally(column: list[Any]) -> Tally:
    """Count labels by type and value; numbers are sorted, since colliding ones make a set slow."""
    hashed = Counter(value for value in column if isinstance(value, (str, bool)))
    ordered = sorted(value for value in column if not isinstance(value, (str, bool)))
    news = [0, *compress(range(1, len(ordered)), map(ne, ordered[1:], ordered))] if ordered else []
    counts = [*hashed.values(), *np.diff([*news, len(ordered)]).tolist()]
    return tally([*hashed, *(ordered[place] for place in news)], np.array(counts))


def _as_double(value: object) -> float:
    try:
        return float(value)  # type: ignore[arg-type]  # only numbers reach this
    except OverflowError:
        return math.inf


def _first(hits: Iterable[bool]) -> int:
    return next(row for row, hit in enumerate(hits) if hit)
