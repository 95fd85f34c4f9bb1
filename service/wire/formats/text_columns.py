"""From columns of text to numbers and labels. All columns of CSV are text; those of Arrow and Parquet may be.

Types are not guessed. pyarrow's parser reads decimal numbers; the decimal mark is a point unless a comma is requested.
"""

import re
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import types

from service.curves.exact import LARGEST_EXACT_INTEGER, BoolArray, FloatArray, IntArray
from service.wire.columns import (
    LEAVE_OUT,
    NO_VALUE,
    ColumnError,
    Labels,
    chosen_labels,
    doubtful,
    first_misfit,
    inexact_integer,
    label_misfit,
    labels,
    not_a_value,
    numbers,
    shown,
    tally,
)
from service.wire.formats.distinct_cells import encoded

_DECIMAL_TEXT = r"^[+-]?((\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|(?i:inf(inity)?))$"
_INTEGER_TEXT = re.compile(r"[+-]?\d+")
_WITH_COMMA = re.compile(r"[+-]?\d*,\d+(?:[eE][+-]?\d+)?")
_WITH_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(?:,\d{3})+(?:\.\d*)?")
_SPACES = " \t"

_FALSE, _TRUE, _OTHER = 2, 3, 4
_DEFAULT_LABELS = ({0, 1}, {-1, 1}, {_FALSE, _TRUE})
"""The sets of labels allowed without a positive label; 1 and _TRUE are positive."""


@dataclass(frozen=True, slots=True)
class TextColumn:
    """A column of cells as written, not yet parsed. `decimal` is the decimal mark."""

    cells: pa.ChunkedArray
    decimal: str = "."


@numbers.register
def _(column: TextColumn, *, nullable: bool) -> FloatArray:
    cells = column.cells
    if nullable:
        cells = pc.if_else(pc.equal(cells, ""), pa.scalar(None, pa.string()), cells)
    points = cells if column.decimal == "." else _with_points(cells)
    try:
        array = pc.cast(points, pa.float64())
    except pa.ArrowInvalid:
        points = pc.ascii_trim(points, _SPACES)
        try:
            array = pc.cast(points, pa.float64())
        except pa.ArrowInvalid:
            raise _not_a_number(pc.ascii_trim(cells, _SPACES), points, column.decimal) from None
    missing = array.is_null().to_numpy()
    values: FloatArray = array.to_numpy()
    unread = np.flatnonzero(np.isnan(values) & ~missing)
    if unread.size:
        raise not_a_value(int(unread[0]))
    infinite = np.isinf(values)
    if infinite.any():
        _refuse_overflow(points, np.flatnonzero(infinite))
    large = np.flatnonzero((np.abs(values) >= LARGEST_EXACT_INTEGER) & ~infinite)
    for row, cell in zip(large, points.take(pa.array(large)).to_pylist(), strict=True):
        text = cell.strip(_SPACES)
        if _INTEGER_TEXT.fullmatch(text) and int(text.lstrip("+-0")) != abs(int(values[row])):
            raise inexact_integer(int(row))
    return values


def _refuse_overflow(cells: pa.ChunkedArray, rows: IntArray) -> None:
    """Refuse a number whose double is infinite, among rows that are; a word such as inf is none."""
    there = cells.take(pa.array(rows))
    first = pc.index(pc.match_substring_regex(there, r"\d"), True).as_py()
    if first >= 0:
        detail = f"{shown(there[first].as_py())} is beyond the range of a double; for infinity, write inf or -inf."
        raise ColumnError("not_finite", detail, int(rows[first]))


def _with_points(cells: pa.ChunkedArray) -> pa.ChunkedArray:
    """Replace decimal commas by points; what has a point already stays invalid."""
    return pc.replace_substring(pc.replace_substring(cells, ".", "_"), ",", ".")


def _not_a_number(cells: pa.ChunkedArray, points: pa.ChunkedArray, decimal: str) -> ColumnError:
    """Make the error of the first cell that is not a number; `points` are the cells with decimal points."""
    good = pc.fill_null(pc.match_substring_regex(points, _DECIMAL_TEXT), True)  # noqa: FBT003  # pyarrow's signature
    row = pc.index(good, False).as_py()
    text = cells[row].as_py()
    blank = f"This is blank; it must be a number. {LEAVE_OUT}"
    return ColumnError("not_a_number", f"{shown(text)} {_fault(text, decimal)}" if text else blank, row)


def _fault(text: str, decimal: str) -> str:
    """Say what is wrong with a text that is not a number."""
    if decimal == "." and _WITH_THOUSANDS.fullmatch(text):
        # With a decimal comma, 1,000 would be read as 1.
        other = ", or set decimal=comma if this is a decimal comma" if _WITH_COMMA.fullmatch(text) else ""
        return f"has a comma: leave out commas of thousands{other}."
    if decimal == "." and _WITH_COMMA.fullmatch(text):
        return "has a decimal comma: set decimal=comma."
    if text.endswith("%"):
        return "is not a decimal number: leave out the percent sign."
    if text.startswith("="):
        return "is a spreadsheet's formula: write its value alone, without the equals sign and quotes."
    if text in NO_VALUE:
        return f"is not a decimal number. {LEAVE_OUT}"
    return f"is not a decimal number{' with decimal=comma' if decimal == ',' and '.' in text else ''}."


@labels.register
def _(column: TextColumn, positive_label: object) -> Labels:
    """Cells of CSV; an empty one has no value, unless it is the positive label."""
    row = pc.index(column.cells, "").as_py()
    if row >= 0 and positive_label != "":
        raise ColumnError("not_a_label", f"This is blank; it must be a label. {LEAVE_OUT}", row)
    return labels_of_texts(column.cells, positive_label, column.decimal)


def labels_of_texts(cells: pa.ChunkedArray, positive_label: object, decimal: str = ".") -> Labels:
    """Read labels that are texts; an empty text is a label, too."""
    codes, texts = coded(cells)
    if positive_label is None:
        return _default_labels(codes, texts, decimal)
    label = str(positive_label)
    # Compared as bytes: half of a surrogate pair, which equals no text, is no string to pyarrow.
    found = pc.index(texts.cast(pa.binary()), pa.scalar(label.encode("utf-8", "surrogatepass"), pa.binary())).as_py()
    positive: BoolArray = codes == found
    if found >= 0 and len(texts) <= 2 and not doubtful(texts):  # noqa: PLR2004  # two classes
        return Labels(positive)
    return chosen_labels(positive, label, tally(texts, np.bincount(codes, minlength=len(texts))))


def coded(cells: pa.ChunkedArray) -> tuple[IntArray, pa.Array]:
    """Number the texts, (n,), and list the distinct ones. Raises ColumnError for a null within a dictionary.

    Chunks may share dictionaries or have their own, and a dictionary may repeat a text.
    """
    if not types.is_dictionary(cells.type):
        found = encoded(cells.combine_chunks())
        return found.indices.to_numpy().astype(np.int64), found.dictionary.cast(pa.string())
    known: dict[object, IntArray] = {}
    dictionaries: list[pa.Array] = []
    length = 0
    parts = []
    for chunk in cells.chunks:
        identity = identity_of(chunk.dictionary)
        if identity not in known:
            entries = encoded(chunk.dictionary, "encode")
            known[identity] = length + entries.indices.to_numpy().astype(np.int64)
            dictionaries.append(entries.dictionary.cast(pa.large_string()))
            length += len(entries.dictionary)
        parts.append(known[identity][chunk.indices.to_numpy()])
    codes = np.concatenate(parts)
    used = np.flatnonzero(np.bincount(codes, minlength=length))
    entries = encoded(pa.concat_arrays(dictionaries).take(pa.array(used)), "encode")
    places = np.zeros(length, np.int64)
    places[used] = entries.indices.to_numpy()
    codes = places[codes]
    if entries.dictionary.null_count:
        null = pc.index(entries.dictionary.is_null(), True).as_py()
        raise ColumnError(
            "not_a_label", f"This is null; it must be a label. {LEAVE_OUT}", int((codes == null).argmax())
        )
    return codes, entries.dictionary.cast(pa.string())


def identity_of(array: pa.Array) -> object:
    """What tells a live array from others: its memory. Chunks often share one dictionary."""
    addresses = tuple(None if buffer is None else buffer.address for buffer in array.buffers())
    return array.offset, len(array), addresses


def _default_labels(codes: IntArray, texts: pa.Array, decimal: str) -> Labels:
    """Read 0 and 1, false and true, or -1 and 1, ignoring surrounding blanks and case."""
    kinds = _kinds(pc.utf8_lower(pc.ascii_trim(texts, _SPACES)), decimal)
    if any(set(np.unique(kinds).tolist()) <= allowed for allowed in _DEFAULT_LABELS):
        return Labels(((kinds == 1) | (kinds == _TRUE))[codes])
    rows = np.sort(np.unique(codes, return_index=True)[1])
    firsts = zip(rows.tolist(), kinds[codes[rows]].tolist(), strict=True)
    raise label_misfit(first_misfit(firsts, _DEFAULT_LABELS), tally(texts, np.bincount(codes)))


def _kinds(texts: pa.Array, decimal: str) -> IntArray:
    """Classify each text as a label: -1, 0, 1, _FALSE, _TRUE or _OTHER."""
    points = texts if decimal == "." else _with_points(texts)
    number = pc.match_substring_regex(points, _DECIMAL_TEXT)
    values = pc.cast(pc.if_else(number, points, pa.scalar(None, pa.string())), pa.float64())
    values = values.to_numpy(zero_copy_only=False)
    kinds = np.select([values == 0, values == 1, values == -1], [0, 1, -1], _OTHER)
    kinds[pc.equal(texts, "false").to_numpy(zero_copy_only=False)] = _FALSE
    kinds[pc.equal(texts, "true").to_numpy(zero_copy_only=False)] = _TRUE
    return kinds
