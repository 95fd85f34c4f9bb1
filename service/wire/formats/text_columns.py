"""From columns of text to numbers and labels. All columns of CSV are text; those of Arrow and Parquet may be.

Types are not guessed. pyarrow's parser reads decimal numbers; the decimal mark is a point unless a comma is requested.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import types

from service.curves.arrays import LARGEST_EXACT_INTEGER, BoolArray, FloatArray, IntArray
from service.wire.columns import (
    LEAVE_OUT,
    NO_VALUE,
    Labels,
    are_two,
    chosen_labels,
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
from service.wire.spellings import BLANKS, as_number, as_text, as_truth, is_spelling, is_word, seen
from service.wire.wrong import Wrong

_DECIMAL_TEXT = r"^[+-]?((\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|(?i:inf(inity)?))$"
_INTEGER_TEXT = re.compile(r"[+-]?\d+")
_WITH_COMMA = re.compile(r"[+-]?\d*,\d+(?:[eE][+-]?\d+)?")
_WITH_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(?:,\d{3})+(?:\.\d*)?")

_OTHER_FORMS = {
    re.compile(r".*%"): "is not a decimal number: leave out the percent sign.",
    re.compile(r"=.*"): "is a spreadsheet's formula: write its value alone, without the equals sign and quotes.",
    re.compile(r"\(.+,.+[)\]]|\[.+,.+\)"): "is an interval: write its ends into the columns score_from and score_to.",
    re.compile(r"\[.*"): "is a list: write one of its numbers alone, in Spark vector_to_array(probability)[1].",
}
"""{what is often written where a number is expected: what to do}"""

_FALSE, _TRUE, _OTHER = 2, 3, 4
_DEFAULT_LABELS = ({0, 1, _FALSE, _TRUE}, {-1, 1})
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
        points = pc.ascii_trim(points, BLANKS)
        try:
            array = pc.cast(points, pa.float64())
        except pa.ArrowInvalid:
            raise _not_a_number(pc.ascii_trim(cells, BLANKS), points, column.decimal) from None
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
        text = cell.strip(BLANKS)
        if _INTEGER_TEXT.fullmatch(text) and int(text.lstrip("+-0")) != abs(int(values[row])):
            raise inexact_integer(int(row))
    return values


def _refuse_overflow(cells: pa.ChunkedArray, rows: IntArray) -> None:
    """Refuse a number whose double is infinite, among rows that are; words such as inf are meant."""
    there = cells.take(pa.array(rows))
    first = pc.index(pc.match_substring_regex(there, r"\d"), True).as_py()
    if first >= 0:
        detail = f"{shown(there[first].as_py())} is beyond the range of a double; for infinity, write inf or -inf."
        raise Wrong("not_finite", detail, int(rows[first]))


def _with_points(cells: pa.ChunkedArray) -> pa.ChunkedArray:
    """Replace decimal commas by points; what has a point already stays invalid."""
    return pc.replace_substring(pc.replace_substring(cells, ".", "_"), ",", ".")


def _not_a_number(cells: pa.ChunkedArray, points: pa.ChunkedArray, decimal: str) -> Wrong:
    """Make the error of the first cell that is not a number; `points` are the cells with decimal points."""
    good = pc.fill_null(pc.match_substring_regex(points, _DECIMAL_TEXT), True)  # noqa: FBT003  # pyarrow's signature
    row = pc.index(good, False).as_py()
    text = cells[row].as_py()
    blank = f"This is blank; it must be a number. {LEAVE_OUT}"
    return Wrong("not_a_number", f"{shown(text)} {_fault(text, decimal)}" if text else blank, row)


def _fault(text: str, decimal: str) -> str:
    """Say what is wrong with a text that is not a number."""
    if decimal == "." and _WITH_THOUSANDS.fullmatch(text):
        # With a decimal comma, 1,000 would be read as 1.
        other = ", or set decimal=comma if this is a decimal comma" if _WITH_COMMA.fullmatch(text) else ""
        return f"has a comma: leave out commas of thousands{other}."
    if decimal == "." and _WITH_COMMA.fullmatch(text):
        return "has a decimal comma: set decimal=comma."
    if text in NO_VALUE:
        return f"is not a decimal number. {LEAVE_OUT}"
    plain = f"is not a decimal number{' with decimal=comma' if decimal == ',' and '.' in text else ''}."
    return next((told for form, told in _OTHER_FORMS.items() if form.fullmatch(text)), plain)


@labels.register
def _(column: TextColumn, positive_label: object) -> Labels:
    """Cells of CSV, without the blanks around them; an empty one has no value, unless it is the positive label."""
    codes, texts = trimmed(*coded(column.cells))
    named = positive_label.strip(BLANKS) if isinstance(positive_label, str) else positive_label
    blank = pc.index(texts, "").as_py()
    if blank >= 0 and named != "":
        row = int((codes == blank).argmax())
        raise Wrong("not_a_label", f"This is blank; it must be a label. {LEAVE_OUT}", row)
    return _labels(codes, texts, named, column.decimal)


def labels_of_texts(cells: pa.ChunkedArray, positive_label: object) -> Labels:
    """Read labels that are texts; an empty text is a label, too."""
    return _labels(*coded(cells), positive_label, ".")


def _labels(codes: IntArray, texts: pa.Array, positive_label: object, decimal: str) -> Labels:
    if positive_label is not None and is_word(positive_label, decimal):
        return _equal_texts(codes, texts, positive_label)
    values, kinds = _values(texts, decimal)
    names: np.ndarray
    if positive_label is None:
        return _default_labels(codes, texts, kinds)
    if set(np.unique(kinds).tolist()) <= _DEFAULT_LABELS[0]:
        wanted = as_truth(positive_label, decimal)
        names = (kinds == 1) | (kinds == _TRUE)
        chosen = np.zeros_like(names) if wanted is None else names == wanted
    elif np.isfinite(values).all():
        chosen = _equal_numbers(texts, values, positive_label, decimal)
        names = values if (np.abs(values) < LARGEST_EXACT_INTEGER).all() else np.arange(len(texts))
    else:
        refuse_spellings(texts.to_pylist(), positive_label, lambda at: int((codes == at).argmax()), decimal)
        return _equal_texts(codes, texts, positive_label)
    # Spellings of one number are one label.
    _, firsts, merged = np.unique(names, return_index=True, return_inverse=True)
    counted = tally(texts.take(pa.array(firsts)), np.bincount(merged[codes], minlength=len(firsts)))
    label = texts[int(firsts[merged[chosen.argmax()]])].as_py() if chosen.any() else positive_label
    return chosen_labels(chosen[codes], label, counted)


def _equal_texts(codes: IntArray, texts: pa.Array, positive_label: object) -> Labels:
    """Split the text that a label is from all others, compared exactly."""
    label = as_text(positive_label)
    place = pc.index(texts.cast(pa.binary()), _as_bytes(label)).as_py()
    alike = pc.utf8_trim_whitespace(pc.utf8_normalize(texts, "NFC"))
    twins = pc.indices_nonzero(pc.equal(alike.cast(pa.binary()), _as_bytes(seen(label)))).to_pylist()
    if len(twins) > 1:
        other = next(twin for twin in twins if twin != place)
        raise Wrong("not_a_label", _look_alike(texts[other].as_py(), label), int((codes == other).argmax()))
    positive: BoolArray = codes == place
    if place >= 0 and are_two(texts.to_pylist() if len(texts) <= 2 else []):  # noqa: PLR2004  # two classes
        return Labels(positive)
    return chosen_labels(positive, label, tally(texts, np.bincount(codes, minlength=len(texts))))


def _as_bytes(text: str) -> pa.Scalar:
    """Half of a surrogate pair, which equals no text, is no string to pyarrow."""
    return pa.scalar(text.encode("utf-8", "surrogatepass"), pa.binary())


def _look_alike(cell: object, label: object) -> str:
    return f"{shown(cell)} and {shown(label)} differ only in blanks, or in how an accent is stored: write them alike."


def refuse_spellings(
    distinct: list[Any], positive_label: object, first_row: Callable[[int], int], decimal: str = "."
) -> None:
    """Refuse cells that mean the positive label where another, such as a word or a 2 beside True, makes all text.

    So are those that look like the label. Otherwise they would be negative, and a gate could pass because of one cell.
    `first_row` is the first row of a distinct cell, by its place. Raises Wrong.
    """
    label = as_text(positive_label)
    for place, cell in enumerate(distinct):
        if as_text(cell) != label and is_spelling(cell, positive_label, decimal):
            if seen(as_text(cell)) == seen(label):
                raise Wrong("not_a_label", _look_alike(cell, label), first_row(place))
            no_truths = [each for each in distinct if as_truth(each, decimal) is None]
            other = shown(next((each for each in no_truths if as_number(each, decimal) is None), no_truths[0]))
            detail = (
                f"{shown(cell)} and {shown(label)} mean the same, but with {other} this column is compared as text: "
                f"write them alike, or leave out the rows with {other}."
            )
            raise Wrong("not_a_label", detail, first_row(place))


def _equal_numbers(texts: pa.Array, values: FloatArray, label: object, decimal: str) -> BoolArray:
    """Which texts are the number that a label is, compared exactly."""
    wanted = as_number(label, decimal)
    if wanted is None:
        return np.zeros(len(texts), np.bool_)
    chosen: BoolArray = values == float(wanted)
    if abs(float(wanted)) >= LARGEST_EXACT_INTEGER:
        for place in np.flatnonzero(chosen):
            chosen[place] = as_number(texts[int(place)].as_py(), decimal) == wanted
    return chosen


def trimmed(codes: IntArray, texts: pa.Array) -> tuple[IntArray, pa.Array]:
    """Drop the blanks around distinct texts, which may make some of them equal."""
    bare = pc.ascii_trim(texts, BLANKS)
    if bare.equals(texts):
        return codes, texts
    found = encoded(bare)
    return found.indices.to_numpy().astype(np.int64)[codes], found.dictionary


def coded(cells: pa.ChunkedArray) -> tuple[IntArray, pa.Array]:
    """Number the texts, (n,), and list the distinct ones. Raises Wrong for a null within a dictionary.

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
        raise Wrong("not_a_label", f"This is null; it must be a label. {LEAVE_OUT}", int((codes == null).argmax()))
    return codes, entries.dictionary.cast(pa.string())


def identity_of(array: pa.Array) -> object:
    """What tells a live array from others: its memory. Chunks often share one dictionary."""
    addresses = tuple(None if buffer is None else buffer.address for buffer in array.buffers())
    return array.offset, len(array), addresses


def _default_labels(codes: IntArray, texts: pa.Array, kinds: IntArray) -> Labels:
    """Read 0 and 1, false and true, or -1 and 1."""
    if any(set(np.unique(kinds).tolist()) <= allowed for allowed in _DEFAULT_LABELS):
        return Labels(((kinds == 1) | (kinds == _TRUE))[codes])
    rows = np.sort(np.unique(codes, return_index=True)[1])
    firsts = zip(rows.tolist(), kinds[codes[rows]].tolist(), strict=True)
    raise label_misfit(first_misfit(firsts, _DEFAULT_LABELS), tally(texts, np.bincount(codes)))


def _values(texts: pa.Array, decimal: str) -> tuple[FloatArray, IntArray]:
    """Read each text as a number, or NaN, and classify it as a label: -1, 0, 1, _FALSE, _TRUE or _OTHER.

    Blanks around it and case are ignored.
    """
    words = pc.utf8_lower(pc.ascii_trim(texts, BLANKS))
    points = words if decimal == "." else _with_points(words)
    is_number = pc.match_substring_regex(points, _DECIMAL_TEXT)
    values = pc.cast(pc.if_else(is_number, points, pa.scalar(None, pa.string())), pa.float64())
    values = values.to_numpy(zero_copy_only=False)
    is_true, is_false = (pc.equal(words, word).to_numpy(zero_copy_only=False) for word in ("true", "false"))
    tests = [values == 0, values == 1, values == -1, is_false, is_true]
    kinds = np.select(tests, [0, 1, -1, _FALSE, _TRUE], _OTHER)
    return values, kinds
