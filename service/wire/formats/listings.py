"""From a table, or a JSON body that is one, to a document of all its columns' names and contents.

Knows the column types of decoders, not which column an operation wants.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from decimal import Decimal, InvalidOperation
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import types

from service.curves.arrays import LARGEST_EXACT_INTEGER
from service.wire.columns import MOST_VALUES, Contents, Value, contents, numbers
from service.wire.formats.arrow_columns import ArrayColumn, ArrowColumn, is_text
from service.wire.formats.distinct_cells import encoded
from service.wire.formats.json_columns import NumberList
from service.wire.formats.query_options import CSV_PARAMETERS, Decoded, QueryFields
from service.wire.formats.table_columns import MOST_COLUMNS, Table, too_many_columns
from service.wire.formats.tables import TableForm
from service.wire.formats.text_columns import TextColumn, coded
from service.wire.formats.times import is_time, texts_of
from service.wire.spellings import BLANKS
from service.wire.wrong import Wrong

_LONGEST_VALUE = 200
"""The longest text listed, in characters: a longer one is hardly a label."""

_FIRST_ROWS = 1 << 10
"""The rows searched first for distinct values; then twice as many each time, until there are enough values."""

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
"""Half of a surrogate pair, which JSON strings may contain but UTF-8 cannot."""

_TRUTH_TEXTS = {"false", "true"}
_LEAST_INTEGER, _GREATEST_INTEGER = -(1 << 63), (1 << 64) - 1
"""Integers that JSON readers handle exactly; larger ones are omitted."""

_JSON_KINDS: dict[type, str] = {
    bool: "boolean",
    int: "number",
    float: "number",
    str: "text",
    list: "list",
    NumberList: "list",
    dict: "object",
    type(None): "null",
}

_TYPED_KINDS = ((types.is_boolean, "boolean"), (types.is_null, "null"))
"""Names of types that are neither text nor numbers."""

_DUPLICATE = ArrowColumn(None, "duplicate")
"""A column that no operation reads, because its name is not unique."""


def every_column() -> TableForm:
    """The form of a table all of whose columns are listed."""
    return TableForm(CSV_PARAMETERS, _read_all, complete=_complete_all, answers_tables=False, skips=True)


def _read_all(table: Table, _parameters: Mapping[str, str], _fields: QueryFields) -> Decoded:
    names = [name for name, times in Counter(table.header).items() if times == 1]
    columns = table.read(names)
    return _decoded(((name, columns.get(name, _DUPLICATE)) for name in table.header), table.rows)


def _complete_all(document: object, _parameters: Mapping[str, str], _fields: QueryFields) -> Decoded:
    """Treat each member of an object as a column; null and [] count as absent."""
    members = document.items() if isinstance(document, dict) else ()
    given = [(name, column) for name, column in members if column is not None and column != []]
    if len(given) > MOST_COLUMNS:
        raise too_many_columns()
    return _decoded(given, None)


def _decoded(columns: Iterable[tuple[str, object]], rows: int | None) -> Decoded:
    return Decoded({"columns": list(columns), "rows": rows}, {"/columns": ""})


@contents.register
def _(column: list) -> Contents:  # type: ignore[type-arg]  # singledispatch takes a plain class
    kinds = {_JSON_KINDS[kind] for kind in set(map(type, column))} - {"null"}
    kind = "mixed" if len(kinds) > 1 else next(iter(kinds), "null")
    found: dict[tuple[str, object], None] = {}
    for value in column:
        if isinstance(value, (bool, int, float, str)):
            found.setdefault((_JSON_KINDS[type(value)], value))
            if len(found) > MOST_VALUES:
                break
    unread = bool(kinds & {"list", "object"})
    return _contents(kind, len(column), column.count(None), [value for _, value in found], unread=unread)


@contents.register
def _(column: NumberList) -> Contents:
    values = pa.chunked_array([pa.array(column.values)])
    return _contents("number", column.values.size, 0, _first_values(values))


@contents.register
def _(column: TextColumn) -> Contents:
    """Cells of CSV, without the blanks around them; an empty one has no value."""
    column = TextColumn(pc.ascii_trim(column.cells, BLANKS), column.decimal)
    present = column.cells.filter(pc.not_equal(column.cells, ""))
    values = _first_values(present)
    missing = len(column.cells) - len(present)
    return _contents(_written_kind(column, values), len(column.cells), missing, values)


def _written_kind(column: TextColumn, values: list[Any]) -> str:
    """What the cells of a column can be read as, judged by its first values."""
    if not values:
        return "null"
    if len(values) <= MOST_VALUES and {value.strip().lower() for value in values} <= _TRUTH_TEXTS:
        return "boolean"
    few = TextColumn(pa.chunked_array([pa.array(values, pa.string())]), column.decimal)
    try:
        numbers(few, nullable=False)
        if len(values) > MOST_VALUES:
            numbers(column, nullable=True)
    except Wrong:
        return "text"
    return "number"


@contents.register
def _(column: ArrowColumn) -> Contents:
    cells = column.cells
    if cells is None:
        return Contents(column.shown_kind, None, None, (), more=True)
    kind = cells.type
    if is_time(kind):
        present = cells.drop_null()
        number = pa.int32() if types.is_date32(kind) else pa.int64()
        values = _first_values(pc.cast(present, number))
        listed = texts_of(pa.array(values, number).view(kind)).to_pylist()
        return _contents(column.shown_kind, len(cells), len(cells) - len(present), listed)
    if types.is_string_view(kind) or types.is_decimal(kind):  # pyarrow lacks functions for some of these
        cells = pc.cast(cells, pa.large_string())
    present = _present(cells)
    missing = len(cells) - len(present)
    if is_text(kind):
        return _contents("text", len(cells), missing, _first_texts(present))
    values = _first_values(present)
    if types.is_decimal(kind):
        values = list(dict.fromkeys(map(_decimal, values)))
    name = next((name for of_type, name in _TYPED_KINDS if of_type(kind)), "number")
    return _contents(name, len(cells), missing, values)


@contents.register
def _(column: ArrayColumn) -> Contents:
    return contents(column.typed())


def _decimal(text: str) -> Decimal | None:
    """Read a decimal as pyarrow writes it; for an invalid scale it writes a sentence."""
    try:
        return Decimal(text)
    except InvalidOperation:
        return None


def _present(cells: pa.ChunkedArray) -> pa.ChunkedArray:
    """Drop NaN and nulls, including nulls within a dictionary."""
    if types.is_floating(cells.type):
        return cells.filter(pc.invert(pc.is_nan(cells)))
    if not types.is_dictionary(cells.type):
        return cells.drop_null()
    chunks = [chunk.filter(chunk.dictionary.is_valid().take(chunk.indices)) for chunk in cells.chunks]
    return pa.chunked_array(chunks, cells.type)


def _first_texts(cells: pa.ChunkedArray) -> list[Any]:
    """List the first distinct texts, without decoding a dictionary: its texts may be long."""
    if not types.is_dictionary(cells.type):
        return _first_values(cells)
    few: dict[Any, None] = {}
    for chunk in cells.slice(0, _FIRST_ROWS).chunks:
        for index in pc.unique(chunk.indices).to_pylist():
            few.setdefault(chunk.dictionary[index].as_py())
            if len(few) > MOST_VALUES:
                return list(few)
    if len(cells) <= _FIRST_ROWS:
        return list(few)
    codes, texts = coded(cells)
    numbered = pa.chunked_array([pa.array(codes)])
    return [texts[code].as_py() for code in _first_values(numbered)]


def _first_values(cells: pa.ChunkedArray) -> list[Any]:
    """List the first distinct values of cells without nulls, in order; one more than MOST_VALUES if there are more."""
    found: dict[Any, None] = {}
    start, size = 0, _FIRST_ROWS
    while start < len(cells) and len(found) <= MOST_VALUES:
        distinct = encoded(cells.slice(start, size).combine_chunks()).dictionary
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
