"""Columns that define slices or classes: their distinct values in order, and each row's number among these.

Text is text even if it is digits, and 1 is not true; whole doubles are integers, and times are text.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import types

from service.curves.arrays import FloatArray, IntArray
from service.wire.columns.column import Column, encoded
from service.wire.columns.numeric import numbers
from service.wire.columns.sentences import is_unicode
from service.wire.columns.times import is_time, texts_of
from service.wire.wrong import Wrong

_BOUND = 2**63 - 1
_SLICE_KINDS: dict[type, str] = {bool: "boolean", int: "number", float: "number", str: "text"}


@dataclass(frozen=True, slots=True)
class Categories:
    """A column whose cells define slices.

    numbers   (n,) each row's index in `values`.
    values    distinct, in order, all of one kind; None, for cells without a value, comes last.
    """

    numbers: IntArray
    values: tuple[bool | int | str | None, ...]


@dataclass(frozen=True, slots=True)
class Naming:
    """What the cells of a column name, for problems: the words for one and several, the code of what is none."""

    what: str
    several: str
    code: str
    kinds: str = "text, an integer or a boolean"

    def wrong(self, why: str, row: int | None = None) -> Wrong:
        """Make the error of a column, or of one cell."""
        return Wrong(self.code, f"{self.what} is {self.kinds}; {why}", row)


SLICE = Naming("A slice", "slices", "not_a_slice")


def categories(value: object) -> Categories:
    """Read a column that defines slices: text, integers, booleans, times, or no value. Raises Wrong."""
    column = Column.of(value, ' of strings, integers or booleans, such as ["DE", "FR"]')
    return column.remembered("categories", _categories)


def _categories(column: Column) -> Categories:
    cells = cells_of(column, SLICE)
    return _in_order(*Column(cells, column.source).distinct(), is_blank=column.source == "csv")


def cells_of(column: Column, naming: Naming) -> pa.Array:
    """The cells of a column that names things: texts, integers, booleans, or no value; times are text. Raises Wrong."""
    cells = column.cells
    if cells is None:
        kinds = f"{naming.several} are text, integers, booleans, dates or timestamps"
        raise Wrong(naming.code, f"This column is {column.kind}; {kinds}.")
    if column.values is not None:
        _refuse_mixed(column, column.values, naming)
        return _whole(numbers(column, nullable=True), naming)
    if types.is_floating(cells.type):
        return _whole(cells.cast(pa.float64()).fill_null(np.nan).to_numpy(), naming)
    if types.is_decimal(cells.type):
        try:
            return cells.cast(pa.int64())
        except pa.ArrowInvalid:
            raise naming.wrong("a decimal of this column is not an integer.") from None
    if is_time(cells.type):
        distinct = encoded(cells)
        return pa.DictionaryArray.from_arrays(distinct.indices, texts_of(distinct.dictionary))
    if types.is_uint64(cells.type) and (most := pc.max(cells).as_py()) is not None and most > _BOUND:
        raise _too_large(cells.index(most).as_py())
    return cells


def _refuse_mixed(column: Column, values: list[Any], naming: Naming) -> None:
    """Refuse a JSON list unless all its values are numbers that a double may hold."""
    kinds = [_SLICE_KINDS.get(type(value)) for value in values]
    for place, kind in enumerate(kinds):
        if kind is None or kind != kinds[0]:
            row = column.cells.index(place).as_py()
            detail = "The values of this column must be text, integers or booleans, all of one kind."
            raise Wrong(naming.code, detail, row)
    for place, value in enumerate(values):
        if isinstance(value, str) and not is_unicode(value):
            detail = "This text is not valid Unicode: it has half of a surrogate pair; send both halves."
            raise Wrong(naming.code, detail, column.cells.index(place).as_py())
    if all(isinstance(value, int) for value in values):  # one is beyond 64 bits
        place = next(place for place, value in enumerate(values) if not -_BOUND - 1 <= value <= _BOUND)
        raise _too_large(column.cells.index(place).as_py())


def _whole(values: FloatArray, naming: Naming) -> pa.Array:
    """Whole numbers as integers; NaN is a missing value, as pandas has it in a column of integers after a join."""
    missing = np.isnan(values)
    whole = np.isfinite(values) & (np.floor(values) == values)
    if not (whole | missing).all():
        raise naming.wrong("this number is not an integer.", int((whole | missing).argmin()))
    large = (values >= _BOUND) | (values < -_BOUND)  # compared as doubles, where _BOUND is 2^63
    if large.any():
        raise _too_large(int(large.argmax()))
    return pa.array(np.where(missing, 0, values).astype(np.int64), mask=missing)


def _in_order(found: IntArray, values: list[Any], *, is_blank: bool) -> Categories:
    """Number the values in order; a row of -1 has none, nor has a blank one of CSV."""
    order = [place for place, value in enumerate(values) if not (is_blank and value == "")]
    order.sort(key=values.__getitem__)
    places = np.full(len(values) + 1, len(order), np.int64)
    places[order] = np.arange(len(order))
    numbered = places[found]
    missing = bool((numbered == len(order)).any())
    listed = [values[place] for place in order]
    return Categories(numbered, (*listed, None) if missing else tuple(listed))


def _too_large(row: int) -> Wrong:
    return Wrong("not_exact", f"The absolute value of an integer is above {_BOUND}.", row)
