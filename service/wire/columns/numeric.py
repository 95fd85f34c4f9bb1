"""Columns as numbers: doubles, perhaps infinite. No integer is rounded, and digits are rounded correctly."""

import math
import re

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import types

from service.curves.arrays import LARGEST_EXACT_INTEGER, FloatArray, IntArray
from service.wire.columns.column import Column
from service.wire.columns.sentences import LEAVE_OUT, NO_VALUE, other, shown, told_without_quotes
from service.wire.columns.times import is_time
from service.wire.spellings import BLANKS
from service.wire.wrong import Wrong

INFINITE_TEXTS = {"inf": math.inf, "infinity": math.inf, "+inf": math.inf, "-inf": -math.inf, "-infinity": -math.inf}
"""{text in lower case: what it means as a number}"""

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

_NESTED = ("list", "large_list", "fixed_size_list", "struct", "nested")
"""How the names of types begin that hold several numbers in a cell, as Spark's vectors do."""


def numbers(value: object, *, nullable: bool) -> FloatArray:
    """Read doubles, perhaps infinite; if `nullable`, a missing one is NaN. Raises Wrong at the first wrong row."""
    column = Column.of(value, " of numbers, such as [0.9, 0.2]")
    if column.array is not None:
        return column.array
    return column.remembered(("numbers", nullable), lambda column: _numbers(column, nullable=nullable))


def _numbers(column: Column, *, nullable: bool) -> FloatArray:
    cells = column.cells
    if cells is None or is_time(cells.type):
        detail = f"This column is {column.kind}; numbers must be integers, floats or decimals."
        if column.kind.startswith(_NESTED):
            detail += (
                " Write a column with one number of each list or vector, in Spark vector_to_array(probability)[1]."
            )
        raise Wrong("not_a_number", detail)
    if column.source == "csv":
        return _of_texts(pc.if_else(pc.equal(cells, ""), None, cells) if nullable else cells, column.decimal)
    if column.source == "json":
        _refuse_other_types(column, nullable=nullable)
        if column.values is not None:
            return _of_values(column, column.values)
    elif column.is_text or types.is_boolean(cells.type):
        what = "text" if column.is_text else "booleans"
        raise Wrong("not_a_number", f"This is a column of {what}; it must hold numbers.")
    elif not nullable and (row := column.first_null()) is not None:
        raise Wrong("not_a_number", f"This is null; it must be a number. {LEAVE_OUT}", row)
    missing = cells.is_null().to_numpy(zero_copy_only=False) if cells.null_count else None
    if types.is_null(cells.type):
        return np.full(len(cells), np.nan)
    if types.is_decimal(cells.type):
        found = _of_texts(cells.cast(pa.string()), ".")
    else:
        found = _exact((cells.fill_null(0) if cells.null_count else cells).to_numpy(zero_copy_only=False))
    return found if missing is None else np.where(missing, np.nan, found)


def _refuse_other_types(column: Column, *, nullable: bool) -> None:
    """Refuse a JSON list with something besides numbers, at its first row."""
    rows = [] if nullable or (null := column.first_null()) is None else [null]
    if column.values is not None:
        wrong = [place for place, each in enumerate(column.values) if type(each) not in {int, float}]
        rows += [column.cells.index(place).as_py() for place in wrong[:1]]
    elif column.is_text or types.is_boolean(column.cells.type):
        rows.append(column.cells.is_valid().index(True).as_py())
    if rows:
        row = min(rows)
        value = column.take(np.array([row])).to_list()[0]
        raise Wrong(
            "not_a_number", told_without_quotes(value) or other(value, "number", row=row, rows=len(column)), row
        )


def _of_values(column: Column, values: list[float]) -> FloatArray:
    """Numbers that no single type of pyarrow holds, each converted by itself."""
    found = np.full(len(values) + 1, np.nan)
    for place, value in enumerate(values):
        try:
            found[place] = value
        except OverflowError:
            raise _inexact(column.cells.index(place).as_py()) from None
        if isinstance(value, int) and int(found[place]) != value:
            raise _inexact(column.cells.index(place).as_py())
    cells: FloatArray = found[column.cells.fill_null(len(values)).to_numpy()]
    return cells


def _exact(given: np.ndarray) -> FloatArray:
    if given.dtype.kind == "f" and (missing := np.isnan(given)).any():
        raise _nan(int(missing.argmax()))
    values: FloatArray = given.astype(np.float64, copy=False)
    if given.dtype.kind in "iu":
        rows = np.flatnonzero(np.abs(values) >= LARGEST_EXACT_INTEGER)
        # The largest integers of a type round up to doubles beyond its range.
        fits = values[rows] < float(np.iinfo(given.dtype).max)
        exact = np.where(fits, values[rows], 0).astype(given.dtype) == given[rows]
        if not exact.all():
            raise _inexact(int(rows[exact.argmin()]))
    return values


def _of_texts(cells: pa.Array, decimal: str) -> FloatArray:
    points = cells if decimal == "." else _with_points(cells)
    try:
        array = points.cast(pa.float64())
    except pa.ArrowInvalid:
        points = pc.ascii_trim(points, BLANKS)
        try:
            array = points.cast(pa.float64())
        except pa.ArrowInvalid:
            raise _not_a_number(pc.ascii_trim(cells, BLANKS), points, decimal) from None
    values: FloatArray = array.to_numpy(zero_copy_only=False)
    if np.isnan(np.minimum.reduce(values, initial=0.0)):
        unread = np.isnan(values) & ~array.is_null().to_numpy(zero_copy_only=False)
        if unread.any():
            raise _nan(int(unread.argmax()))
    infinite = np.isinf(values)
    if infinite.any():
        _refuse_overflow(points, np.flatnonzero(infinite))
    large = np.flatnonzero((np.abs(values) >= LARGEST_EXACT_INTEGER) & ~infinite)
    for row, cell in zip(large, points.take(pa.array(large)).to_pylist(), strict=True):
        text = cell.strip(BLANKS)
        if _INTEGER_TEXT.fullmatch(text) and int(text.lstrip("+-0")) != abs(int(values[row])):
            raise _inexact(int(row))
    return values


def _with_points(cells: pa.Array) -> pa.Array:
    """Replace decimal commas by points; what has a point already stays invalid."""
    return pc.replace_substring(pc.replace_substring(cells, ".", "_"), ",", ".")


def _refuse_overflow(cells: pa.Array, rows: IntArray) -> None:
    """Refuse a number whose double is infinite, among rows that are; words such as inf are meant."""
    there = cells.take(pa.array(rows))
    first = pc.match_substring_regex(there, r"\d").index(True).as_py()
    if first >= 0:
        detail = f"{shown(there[first].as_py())} is beyond the range of a double; for infinity, write inf or -inf."
        raise Wrong("not_finite", detail, int(rows[first]))


def _not_a_number(cells: pa.Array, points: pa.Array, decimal: str) -> Wrong:
    """Make the error of the first cell that is not a number; `points` are the cells with decimal points."""
    good = pc.match_substring_regex(points, _DECIMAL_TEXT).fill_null(True)  # noqa: FBT003  # pyarrow's signature
    row = good.index(False).as_py()
    text = cells[row].as_py()
    blank = f"This is blank; it must be a number. {LEAVE_OUT}"
    return Wrong("not_a_number", f"{shown(text)} {_fault(text, decimal)}" if text else blank, row)


def _fault(text: str, decimal: str) -> str:
    """Say what is wrong with a text that is not a number."""
    if decimal == "." and _WITH_THOUSANDS.fullmatch(text):
        # With a decimal comma, 1,000 would be read as 1.
        also = ", or set decimal=comma if this is a decimal comma" if _WITH_COMMA.fullmatch(text) else ""
        return f"has a comma: leave out commas of thousands{also}."
    if decimal == "." and _WITH_COMMA.fullmatch(text):
        return "has a decimal comma: set decimal=comma."
    if text in NO_VALUE:
        return f"is not a decimal number. {LEAVE_OUT}"
    plain = f"is not a decimal number{' with decimal=comma' if decimal == ',' and '.' in text else ''}."
    return next((told for form, told in _OTHER_FORMS.items() if form.fullmatch(text)), plain)


def _nan(row: int) -> Wrong:
    return Wrong("not_finite", f"This is NaN; it must be a number. {LEAVE_OUT}", row)


def _inexact(row: int) -> Wrong:
    return Wrong("not_exact", "This integer has no exact double, and rocpr does not round it.", row)
