"""Columns that define slices, in any format: their distinct values in order, and each row's number among these.

Text is text even if it is digits, and 1 is not true; whole doubles are integers, and times are text.
"""

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import types

from service.curves.arrays import IntArray
from service.wire.columns import Categories, categories, is_unicode, numbers
from service.wire.formats.arrow_columns import ArrayColumn, ArrowColumn, may_define_slices
from service.wire.formats.distinct_cells import encoded
from service.wire.formats.json_columns import NumberList
from service.wire.formats.text_columns import TextColumn, coded, trimmed
from service.wire.formats.times import is_time, texts_of
from service.wire.wrong import Wrong

_KINDS: dict[type, str] = {bool: "boolean", int: "number", float: "number", str: "text"}
_BOUND = 2**63 - 1


@categories.register
def _(column: list) -> Categories:  # type: ignore[type-arg]  # singledispatch takes a plain class
    kinds = set(map(type, column)) - {type(None)}
    names = {_KINDS.get(kind, "") for kind in kinds}
    if "" in names or len(names) > 1:
        first = next(iter(_KINDS.get(type(cell), "") for cell in column if cell is not None))
        row = next(
            row
            for row, cell in enumerate(column)
            if cell is not None and (first == "" or _KINDS.get(type(cell)) != first)
        )
        raise _misfit("The values of this column must be text, integers or booleans, all of one kind.", row)
    if names == {"text"}:
        try:
            return _of_cells(pa.array(column, pa.large_string()))
        except UnicodeEncodeError:
            row = next(row for row, cell in enumerate(column) if cell is not None and not is_unicode(cell))
            raise _misfit(
                "This text is not valid Unicode: it has half of a surrogate pair; send both halves.", row
            ) from None
    if names == {"boolean"}:
        return _of_cells(pa.array(column, pa.bool_()))
    if kinds == {int}:
        return _of_integers(column)
    return _of_doubles(numbers(column, nullable=True))


@categories.register
def _(column: NumberList) -> Categories:
    return _of_doubles(column.values)


@categories.register
def _(column: TextColumn) -> Categories:
    """Cells of CSV, without the blanks around them; an empty one has no value."""
    codes, texts = trimmed(*coded(column.cells))
    blank = pc.index(texts, "").as_py()
    if blank < 0:
        return _in_order(codes, texts)
    kept = np.flatnonzero(np.arange(len(texts)) != blank)
    places = np.full(len(texts), -1)
    places[kept] = np.arange(kept.size)
    return _in_order(places[codes], texts.take(pa.array(kept)))


@categories.register
def _(column: ArrayColumn) -> Categories:
    return categories(column.typed())


@categories.register
def _(column: ArrowColumn) -> Categories:
    cells = column.cells
    if cells is None or not may_define_slices(cells.type):
        raise _misfit(f"This column is {column.shown_kind}; slices are text, integers, booleans, dates or timestamps.")
    kind = cells.type
    if is_time(kind):
        return _of_times(cells.combine_chunks())
    if types.is_floating(kind):
        return _of_doubles(cells.cast(pa.float64()).to_numpy())
    if types.is_decimal(kind):
        return _of_decimals(cells)
    if types.is_dictionary(kind):
        return _of_dictionary(cells)
    if types.is_null(kind):
        return _of_cells(pa.nulls(len(cells), pa.string()))
    if types.is_string_view(kind):  # pyarrow lacks functions for these
        cells = pc.cast(cells, pa.large_string())
    if types.is_uint64(kind) and (most := pc.max(cells).as_py()) is not None and most > _BOUND:
        raise _too_large(pc.index(cells, most).as_py())
    return _of_cells(cells.combine_chunks())


def _of_integers(column: list[int | None]) -> Categories:
    """Integers of JSON, which take part in no arithmetic: they may be identifiers that no double holds."""
    try:
        return _of_cells(pa.array(column, pa.int64()))
    except (OverflowError, pa.ArrowInvalid):
        row = next(row for row, cell in enumerate(column) if cell is not None and not -_BOUND - 1 <= cell <= _BOUND)
        raise _too_large(row) from None


def _of_doubles(values: np.ndarray) -> Categories:
    """Whole numbers; NaN is a missing value, as pandas has it in a column of integers after a join."""
    missing = np.isnan(values)
    whole = np.isfinite(values) & (np.floor(values) == values)
    if not (whole | missing).all():
        message = "A slice is text, an integer or a boolean; this number is not an integer."
        raise _misfit(message, int((whole | missing).argmin()))
    large = (values >= _BOUND) | (values < -_BOUND)  # compared as doubles, where _BOUND is 2^63
    if large.any():
        raise _too_large(int(large.argmax()))
    return _of_cells(pa.array(np.where(missing, 0, values).astype(np.int64), mask=missing))


def _of_decimals(cells: pa.ChunkedArray) -> Categories:
    try:
        return _of_cells(pc.cast(cells, pa.int64()).combine_chunks())
    except pa.ArrowInvalid:
        raise _misfit("A slice is text, an integer or a boolean; a decimal of this column is not an integer.") from None


def _of_times(cells: pa.Array) -> Categories:
    numbered = encoded(cells)
    found = numbered.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
    texts = encoded(texts_of(numbered.dictionary))
    return _in_order(np.append(texts.indices.to_numpy(), -1)[found], texts.dictionary)


def _of_dictionary(cells: pa.ChunkedArray) -> Categories:
    """Dictionary-encoded text; rows and the dictionary may have nulls."""
    valid = [chunk.dictionary.is_valid().take(chunk.indices).fill_null(False) for chunk in cells.chunks]  # noqa: FBT003  # pyarrow's signature
    present = np.concatenate([each.to_numpy(zero_copy_only=False) for each in valid])
    found = np.full(present.size, -1, np.int64)
    if not present.any():
        return _of_cells(pa.nulls(present.size, pa.string()))
    kept = pa.chunked_array([chunk.filter(each) for chunk, each in zip(cells.chunks, valid, strict=True)], cells.type)
    codes, texts = coded(kept)
    found[present] = codes
    return _in_order(found, texts)


def _of_cells(cells: pa.Array) -> Categories:
    numbered = encoded(cells)
    found = numbered.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
    return _in_order(found, numbered.dictionary)


def _in_order(found: IntArray, values: pa.Array) -> Categories:
    """Number the values in order; a row of -1 has none."""
    order = pc.sort_indices(values.cast(pa.uint8()) if types.is_boolean(values.type) else values)
    places = np.empty(len(values) + 1, np.int64)
    places[order.to_numpy()] = np.arange(len(values))
    places[-1] = len(values)
    listed: list[Any] = values.take(order).to_pylist()
    missing = bool((found < 0).any())
    return Categories(places[found], (*listed, None) if missing else tuple(listed))


def _misfit(detail: str, row: int | None = None) -> Wrong:
    return Wrong("not_a_slice", detail, row)


def _too_large(row: int) -> Wrong:
    return Wrong("not_exact", f"The absolute value of an integer is above {_BOUND}.", row)
