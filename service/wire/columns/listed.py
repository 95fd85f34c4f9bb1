"""The contents of columns, as POST /v1/columns lists them, whether or not an operation could read them."""

import math
import re
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import types

from service.curves.arrays import LARGEST_EXACT_INTEGER
from service.curves.clock import still_time
from service.wire.columns.column import Column, encoded
from service.wire.columns.numeric import numbers
from service.wire.columns.times import is_time, texts_of
from service.wire.spellings import BLANKS
from service.wire.wrong import Wrong

Value = bool | int | float | str
"""A cell, as JSON can represent it."""

MOST_VALUES = 20
"""The most distinct values listed for a column."""

_LONGEST_VALUE = 200
"""The longest text listed, in characters: a longer one is hardly a label."""

_FIRST_ROWS = 1 << 10
"""The rows searched first for distinct values; then twice as many each time, until there are enough values."""

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
"""Half of a surrogate pair, which JSON strings may contain but UTF-8 cannot."""

_TRUTH_TEXTS = {"false", "true"}
_LEAST_INTEGER, _GREATEST_INTEGER = -(1 << 63), (1 << 64) - 1
"""Integers that JSON readers handle exactly; larger ones are omitted."""

_LISTED_KINDS: dict[type, str] = {bool: "boolean", int: "number", float: "number", str: "text", dict: "object"}


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


def contents(value: object) -> Contents:
    """List the contents of a column. Raises Wrong if it is not a column."""
    still_time()
    column = Column.of(value)
    cells = column.cells
    if cells is None:
        return Contents(column.kind, None, None, (), more=True)
    if column.values is not None:
        return _mixed_contents(column, column.values)
    kind = cells.type
    if column.source == "csv":
        cells = pc.ascii_trim(cells, BLANKS)
        present = cells.filter(pc.not_equal(cells, ""))
    elif types.is_floating(kind):
        present = cells.filter(pc.invert(pc.is_nan(cells)))
    else:
        present = cells.drop_null()
    name = column.kind
    if is_time(kind):
        number = pa.int32() if types.is_date32(kind) else pa.int64()
        values = texts_of(pa.array(_first_values(present.view(number)), number).view(kind)).to_pylist()
    elif types.is_decimal(kind):  # pyarrow lacks functions for some of these
        values = [*dict.fromkeys(map(_decimal, _first_values(present.cast(pa.string()))))]
    else:
        values = _first_values(present)
    if column.source == "csv":
        name = _written_kind(present, column.decimal, values)
    elif column.is_text:
        name = "text"
    elif not is_time(kind):
        name = "boolean" if types.is_boolean(kind) else "null" if types.is_null(kind) else "number"
    return _contents(name, len(cells), len(cells) - len(present), values)


def _decimal(text: str) -> Decimal | None:
    """Read a decimal as pyarrow writes it; for an invalid scale it writes a sentence."""
    try:
        return Decimal(text)
    except InvalidOperation:
        return None


def _mixed_contents(column: Column, values: list[Any]) -> Contents:
    kinds = {_LISTED_KINDS.get(type(value), "list") for value in values}
    scalars = [value for value in values if isinstance(value, (bool, int, float, str))]
    name = "mixed" if len(kinds) > 1 else kinds.pop()
    found: dict[tuple[str, object], None] = {}
    for value in scalars:
        found.setdefault((_LISTED_KINDS[type(value)], value))
        if len(found) > MOST_VALUES:
            break
    unread = len(scalars) < len(values)
    return _contents(name, len(column), column.cells.null_count, [value for _, value in found], unread=unread)


def _written_kind(present: pa.Array, decimal: str, values: list[Any]) -> str:
    """What the cells of a CSV column can be read as, judged by its first values."""
    if not values:
        return "null"
    if len(values) <= MOST_VALUES and {value.strip().lower() for value in values} <= _TRUTH_TEXTS:
        return "boolean"
    try:
        numbers(Column(pa.array(values, pa.string()), "csv", decimal), nullable=False)
        if len(values) > MOST_VALUES:
            numbers(Column(present, "csv", decimal), nullable=False)
    except Wrong:
        return "text"
    return "number"


def _first_values(cells: pa.Array) -> list[Any]:
    """List the first distinct values of cells without nulls, in order; one more than MOST_VALUES if there are more."""
    found: dict[Any, None] = {}
    start, size = 0, _FIRST_ROWS
    while start < len(cells) and len(found) <= MOST_VALUES:
        some = cells.slice(start, size)
        if types.is_dictionary(cells.type):  # whose texts may be long
            distinct = cells.dictionary.take(some.indices.unique()[: MOST_VALUES + 1])
        else:
            distinct = encoded(some).dictionary
        found |= dict.fromkeys(distinct[: MOST_VALUES + 1].to_pylist())
        start += size
        size *= 2
    return list(found)[: MOST_VALUES + 1]


def _contents(kind: str, rows: int, missing: int, found: list[Any], *, unread: bool = False) -> Contents:
    values = [_listed(value) for value in found[:MOST_VALUES]]
    listed = tuple(value for value in values if value is not None)
    return Contents(kind, rows, missing, listed, unread or len(listed) < len(found))


def _listed(value: Any) -> Value | None:  # noqa: ANN401  # a cell of any readable column
    """Write a value for JSON, whole numbers without a point; None if it is too long or has no JSON form."""
    if isinstance(value, str):
        return value if len(value) <= _LONGEST_VALUE and not _LONE_SURROGATE.search(value) else None
    if isinstance(value, (float, Decimal)):
        if not math.isfinite(value):
            return None
        exact = isinstance(value, Decimal) or abs(value) <= LARGEST_EXACT_INTEGER
        value = int(value) if exact and value == int(value) else float(value)
    if isinstance(value, int) and not _LEAST_INTEGER <= value <= _GREATEST_INTEGER:
        return None
    listed: Value | None = value
    return listed
