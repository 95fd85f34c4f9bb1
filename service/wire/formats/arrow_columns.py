"""From typed Arrow columns, of any format, to numbers and labels. Values that a double cannot hold are refused.

Knows which types are read, and that data from outside is validated before use.
"""

from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import types

from service.curves.arrays import LARGEST_EXACT_INTEGER, BoolArray, FloatArray
from service.wire.columns import (
    LEAVE_OUT,
    Labels,
    chosen_labels,
    inexact_integer,
    label_misfit,
    labels,
    not_a_value,
    numbers,
    tally,
)
from service.wire.formats.text_columns import TextColumn, identity_of, labels_of_texts
from service.wire.formats.times import is_time
from service.wire.problems import Problem
from service.wire.spellings import as_number, as_truth, unquoted
from service.wire.wrong import Wrong

UNREADABLE = (pa.ArrowException, OSError, UnicodeDecodeError, OverflowError)
"""What pyarrow raises for invalid bytes. Its MemoryError is a subclass of one of these, but means something else."""

_OF_SEVERAL = ("list", "large_list", "fixed_size_list", "struct", "nested")
"""How the names of types begin that hold several numbers in a cell, as Spark's vectors do."""

_LONGEST_TYPE = 60
"""The characters of a type's name that a problem repeats."""


@dataclass(frozen=True, slots=True)
class ArrowColumn:
    """A column of typed cells; None if its type is not supported. `kind` is the type's name."""

    cells: pa.ChunkedArray | None
    kind: str = ""

    @property
    def shown_kind(self) -> str:
        """The type's name for a problem; it may contain any text, such as the name of a time zone."""
        return "".join(filter(str.isprintable, self.kind[:_LONGEST_TYPE]))


@dataclass(frozen=True, slots=True)
class ArrayColumn:
    """A column of numbers or booleans without nulls, as an array."""

    cells: np.ndarray

    def typed(self) -> ArrowColumn:
        """Return the same as a column of Arrow."""
        cells = pa.chunked_array([pa.array(self.cells)])
        return ArrowColumn(cells, str(cells.type))


def is_text(kind: pa.DataType) -> bool:
    """Whether cells are text, including dictionaries of text."""
    value = _value_type(kind)
    return any(of_type(value) for of_type in (types.is_string, types.is_large_string, types.is_string_view))


def is_readable(kind: pa.DataType) -> bool:
    """Whether numbers or labels may have this type, or the type of a column of nulls."""
    value = _value_type(kind)
    return (
        isinstance(kind, pa.Bool8Type)
        or is_text(kind)
        or _is_bytes(kind)
        or any(
            of_type(value)
            for of_type in (types.is_integer, types.is_floating, types.is_decimal, types.is_boolean, types.is_null)
        )
    )


def may_define_slices(kind: pa.DataType) -> bool:
    """Whether numbers, labels or slices may have this type."""
    return is_readable(kind) or is_time(_value_type(kind))


def _is_bytes(kind: pa.DataType) -> bool:
    """Whether cells are bytes, including dictionaries of bytes: text that some writers do not declare as such."""
    value = _value_type(kind)
    tests = (types.is_binary, types.is_large_binary, types.is_binary_view, types.is_fixed_size_binary)
    return any(of_type(value) for of_type in tests)


def validate(columns: Iterable[pa.ChunkedArray], most_bytes: int) -> None:
    """Validate everything that will be read.

    Raises one of UNREADABLE, and Problem if text that views repeat is longer than `most_bytes` in total.
    """
    room = most_bytes
    for column in columns:
        looked_at = set()
        for chunk in column.chunks:
            if not types.is_dictionary(column.type):
                room = _look_at(chunk, room)
                continue
            chunk.validate()
            # Chunks share a dictionary, which is validated in full only once.
            if identity_of(chunk.dictionary) not in looked_at:
                room = _look_at(chunk.dictionary, room)
                looked_at.add(identity_of(chunk.dictionary))
            chunk.indices.validate(full=True)
            bounds = pc.min_max(chunk.indices).as_py()
            if bounds["min"] is not None and not 0 <= bounds["min"] <= bounds["max"] < len(chunk.dictionary):
                raise pa.ArrowInvalid("An index points outside its dictionary.")


def column_of_array(cells: np.ndarray) -> ArrowColumn:
    """Make a column of an array from one of our own engines; one that has no type in Arrow is not supported."""
    try:
        array = pa.array(cells)
    except (pa.ArrowException, TypeError):
        return ArrowColumn(None, "of mixed types")
    return ArrowColumn(pa.chunked_array([array]), str(array.type))


def typed_column(cells: pa.ChunkedArray, kind: str) -> ArrowColumn:
    """Make a column of validated cells; bytes that are UTF-8 are text, and others are not supported."""
    if not _is_bytes(cells.type):
        return ArrowColumn(_written_out(cells), kind)
    try:
        return ArrowColumn(pa.chunked_array([_texts(chunk) for chunk in cells.chunks], _text_type(cells.type)), kind)
    except pa.ArrowInvalid:
        return ArrowColumn(None, "binary that is not UTF-8")


def _texts(cells: pa.Array) -> pa.Array:
    if types.is_dictionary(cells.type):
        return pa.DictionaryArray.from_arrays(cells.indices, cells.dictionary.cast(pa.large_string()))
    return cells.cast(pa.large_string())


def _text_type(kind: pa.DataType) -> pa.DataType:
    return pa.dictionary(kind.index_type, pa.large_string()) if types.is_dictionary(kind) else pa.large_string()


def _written_out(cells: pa.ChunkedArray) -> pa.ChunkedArray:
    """Decode validated booleans of a byte each, and a dictionary, unless it is of text, which stays encoded."""
    if isinstance(cells.type, pa.Bool8Type):
        return pa.chunked_array([pc.not_equal(chunk.storage, 0) for chunk in cells.chunks], pa.bool_())
    if not types.is_dictionary(cells.type) or is_text(cells.type):
        return cells
    return pa.chunked_array([chunk.dictionary_decode() for chunk in cells.chunks], cells.type.value_type)


def _value_type(kind: pa.DataType) -> pa.DataType:
    return kind.value_type if types.is_dictionary(kind) else kind


def _look_at(cells: pa.Array, room: int) -> int:
    """Validate an array that is not a dictionary, and return the bytes left for views."""
    cells.validate()
    room -= _viewed_bytes(cells)
    if room < 0:
        raise Problem("body_too_large", "The text of all string_view columns together is longer than the limit.")
    cells.validate(full=True)
    return room


def _viewed_bytes(cells: pa.Array) -> int:
    """Add up the lengths of the texts of views, many of which may share a text; a view begins with its length."""
    if not (types.is_string_view(cells.type) or types.is_binary_view(cells.type)) or not len(cells):
        return 0
    views = np.frombuffer(cells.buffers()[1], np.int32, 4 * len(cells), 16 * cells.offset)
    return int(np.maximum(views[::4], 0).sum(dtype=np.int64))


@numbers.register
def _(column: ArrowColumn, *, nullable: bool) -> FloatArray:
    cells = column.cells
    if cells is None or is_time(cells.type):
        detail = f"This column is {column.shown_kind}; numbers must be integers, floats or decimals."
        if column.kind.startswith(_OF_SEVERAL):
            detail += (
                " Write a column with one number of each list or vector, in Spark vector_to_array(probability)[1]."
            )
        raise Wrong("not_a_number", detail)
    kind = cells.type
    if is_text(kind) or types.is_boolean(kind):
        what = "text" if is_text(kind) else "booleans"
        raise Wrong("not_a_number", f"This is a column of {what}; it must hold numbers.")
    if types.is_decimal(kind):  # written as digits, which the text parser rounds correctly
        cells = pc.cast(cells, pa.string())
    missing = None
    if cells.null_count:
        missing = pc.is_null(cells).to_numpy()
        if not nullable:
            raise Wrong("not_a_number", f"This is null; it must be a number. {LEAVE_OUT}", int(missing.argmax()))
        if types.is_null(kind):
            return np.full(len(cells), np.nan)
        cells = pc.fill_null(cells, "0" if types.is_decimal(kind) else 0)
    values = numbers(TextColumn(cells), nullable=False) if types.is_decimal(kind) else _numbers_of(_flat(cells))
    return values if missing is None else np.where(missing, np.nan, values)


@numbers.register
def _(column: ArrayColumn, *, nullable: bool) -> FloatArray:
    if column.cells.dtype == np.bool_:
        return numbers(column.typed(), nullable=nullable)
    return _numbers_of(column.cells)


def _numbers_of(given: np.ndarray) -> FloatArray:
    if given.dtype.kind == "f" and (missing := np.isnan(given)).any():
        raise not_a_value(int(missing.argmax()))
    values = given.astype(np.float64, copy=False)
    if given.dtype.kind in "iu":
        _refuse_inexact(given, values)
    return values


@labels.register
def _(column: ArrowColumn, positive_label: object) -> Labels:
    cells = column.cells
    if cells is None or is_time(cells.type):
        detail = f"This column is {column.shown_kind}; labels must be integers, floats, decimals, booleans or text."
        raise Wrong("not_a_label", detail)
    if cells.null_count:
        row = pc.index(pc.is_null(cells), True).as_py()
        raise Wrong("not_a_label", f"This is null; it must be a label. {LEAVE_OUT}", row)
    if is_text(cells.type):
        return labels_of_texts(cells, positive_label)
    return _labels_of(numbers(column, nullable=False) if types.is_decimal(cells.type) else _flat(cells), positive_label)


@labels.register
def _(column: ArrayColumn, positive_label: object) -> Labels:
    return _labels_of(column.cells, positive_label)


def _labels_of(values: np.ndarray, positive_label: object) -> Labels:
    if values.dtype.kind == "f" and not (finite := np.isfinite(values)).all():
        raise Wrong("not_a_label", "This is not a finite number, so it cannot be a label.", int(finite.argmin()))
    return _default_labels(values) if positive_label is None else _chosen_labels(values, positive_label)


def _flat(cells: pa.ChunkedArray) -> np.ndarray:
    """Return one array; a column of one chunk is not copied, unless its values are bits."""
    array: np.ndarray = cells.chunk(0).to_numpy(zero_copy_only=False) if cells.num_chunks == 1 else cells.to_numpy()
    return array


def _refuse_inexact(given: np.ndarray, values: FloatArray) -> None:
    rows = np.flatnonzero(np.abs(values) >= LARGEST_EXACT_INTEGER)
    if rows.size:
        # The largest integers of a type round up to doubles beyond its range.
        fits = values[rows] < float(np.iinfo(given.dtype).max)
        exact = np.where(fits, values[rows], 0).astype(given.dtype) == given[rows]
        if not exact.all():
            raise inexact_integer(int(rows[exact.argmin()]))


def _default_labels(values: np.ndarray) -> Labels:
    """Read 0 and 1, false and true, or -1 and 1."""
    if values.dtype == np.bool_:
        return Labels(values)
    positive: BoolArray = values == 1
    ones = np.count_nonzero(positive)
    if any(ones + np.count_nonzero(values == negative) == values.size for negative in (0, -1)):
        return Labels(positive)
    zeros, minuses = values == 0, values == -1
    misfits = ~(positive | zeros | minuses)
    if zeros.any() and minuses.any():
        misfits[max(int(zeros.argmax()), int(minuses.argmax()))] = True
    raise label_misfit(int(misfits.argmax()), tally(*np.unique(values, return_counts=True)))


def _chosen_labels(values: np.ndarray, positive_label: object) -> Labels:
    """Split one label from all others; Python compares exactly."""
    are_truths = values.dtype == np.bool_ or ((values == 0) | (values == 1)).all()
    positive = as_truth(positive_label) if are_truths else as_number(positive_label)
    others = values != values[0]
    second = int(others.argmax())
    if not (others & (values != values[second])).any():  # two labels need not be sorted
        for row, of_label in ((0, ~others), (second, others)):
            if values[row].item() == positive and of_label.any():
                return Labels(of_label)
    distinct, counts = np.unique(values, return_counts=True)
    place = _place(distinct, positive)
    chosen: BoolArray = np.zeros(values.size, np.bool_) if place is None else values == distinct[place]
    label = unquoted(positive_label) if place is None else distinct[place].item()
    return chosen_labels(chosen, label, tally(distinct, counts))


def _place(distinct: np.ndarray, positive: float | Decimal | None) -> int | None:
    """Find a number among sorted ones, by exact comparison."""
    if positive is None:
        return None
    place = bisect_left(distinct, positive, key=lambda value: value.item())
    return place if place < distinct.size and distinct[place].item() == positive else None
