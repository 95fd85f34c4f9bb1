"""A column: a list of a JSON body, or a column of a table, as cells of pyarrow. It is read whole, and never coerced.

    column = Column.of(value)       # a list, an array of an engine, or the column of a decoder
    numbers(column, nullable=False) # and labels, categories, contents: see the other modules of this package

Formats differ only in `source`. A column remembers its readings, because several evaluations may share it.
"""

import math
from collections.abc import Callable, Hashable
from contextlib import suppress
from typing import Any, Literal, TypeVar, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import types

from service.curves.arrays import LARGEST_EXACT_INTEGER, BoolArray, FloatArray, IntArray
from service.curves.clock import in_time, is_bounded, still_time
from service.wire.columns.sentences import NO_VALUE
from service.wire.columns.times import is_time
from service.wire.spellings import BLANKS
from service.wire.wrong import Wrong

ColumnSource = Literal["json", "csv", "typed"]

_BY_ROW = (
    'This is an object of rows, as pandas\' to_json and to_dict write; it must be a list: df.to_dict(orient="list"); '
    "of a typed array in JavaScript, Array.from(array)."
)
_ENCODED = "This is an encoded array, as plotly writes NumPy's; it must be a list: array.tolist()."

_HARMLESS_BYTES = 5
"""There are too few texts up to this length for many of them to collide."""

_Read = TypeVar("_Read")


class Column:
    """A column.

    cells     (n,) an array of pyarrow; None if no operation reads its type.
    source    json: values have types. csv: all cells are text, and a blank one has no value. typed: Arrow, Parquet.
    decimal   the decimal mark of numbers in text.
    kind      the name of the type of typed cells.
    values    of a JSON list of several types, its distinct values but null, in order; the cells are their places.
    array     of a JSON list of numbers, without null, the same cells as doubles, which are exact.
    """

    def __init__(
        self,
        cells: Any,  # noqa: ANN401  # pyarrow has no types
        source: ColumnSource = "typed",
        decimal: str = ".",
        kind: str = "",
        *,
        values: list[Any] | None = None,
        array: FloatArray | None = None,
    ) -> None:
        self._cells = cells
        self.source = source
        self.decimal = decimal
        self.kind = kind
        self.values = values
        self.array = array
        self._readings: dict[Hashable, Any] = {}

    @property
    def cells(self) -> Any:  # noqa: ANN401  # pyarrow has no types
        """The cells; those of an array are made when they are first asked for, which takes as long as to parse it."""
        if self._cells is None and self.array is not None:
            self._cells = pa.array(self.array)
        return self._cells

    @classmethod
    def of(cls, value: object, such: str = ", such as [0.9, 0.2]") -> "Column":
        """Make a column of a list or an array; a column stays as it is. Raises Wrong."""
        if isinstance(value, cls):
            return value
        if isinstance(value, list):
            return _of_list(value)
        if isinstance(value, np.ndarray):  # from an engine of ours
            try:
                cells = pa.array(value)
            except (pa.ArrowException, TypeError):
                return cls(None, kind="of mixed types")
            return cls(cells if is_readable(cells.type) else None, kind=str(cells.type))
        if isinstance(value, dict):
            raise Wrong("not_a_column", _ENCODED if value.keys() & {"dtype", "bdata"} else _BY_ROW)
        raise Wrong("not_a_column", f"Must be a list{such}.")

    @classmethod
    def of_numbers(cls, array: FloatArray) -> "Column":
        """Make a column of the numbers of a JSON list, all below 2^53 in size, so that no integer was rounded."""
        return cls(None, "json", array=array)

    def __len__(self) -> int:
        return 0 if self.cells is None else len(self.cells)

    @property
    def is_text(self) -> bool:
        """Whether all cells are text, or null."""
        return self.cells is not None and self.values is None and is_text(self.cells.type)

    @property
    def is_mixed(self) -> bool:
        """Whether it is a JSON list whose values have several types, or none that pyarrow has."""
        return self.values is not None

    def remembered(self, key: Hashable, read: Callable[["Column"], _Read]) -> _Read:
        """Read the column in a way that `key` names, or return what it was read as before."""
        if key not in self._readings:
            self._readings[key] = read(self)
        return cast("_Read", self._readings[key])

    def first_null(self) -> int | None:
        """The first row without a value, blank cells of CSV apart."""
        cells = self.cells
        return cells.is_null().index(True).as_py() if cells is not None and cells.null_count else None

    def distinct(self) -> tuple[IntArray, list[Any]]:
        """Number the distinct cells by their first rows, (n,), -1 for null, and list them.

        Those of CSV are without the blanks around them.
        """
        cells = self.cells
        if self.values is not None:
            found = cells.dictionary_encode()
            return _places(found.indices), [self.values[place] for place in found.dictionary.to_pylist()]
        if types.is_null(cells.type):  # which pyarrow would number
            return np.full(len(cells), -1), []
        if types.is_floating(cells.type):
            cells = pc.add(cells, pa.scalar(0.0, cells.type))  # to pyarrow, -0.0 is not 0.0
        found = cells if types.is_dictionary(cells.type) else encoded(cells)
        words = found.dictionary
        if self.source == "csv":
            words = pc.ascii_trim(words, BLANKS)
        elif found is not cells:
            return _places(found.indices), words.to_pylist()
        entries = encoded(words)  # a dictionary may repeat a text, and so may trimmed ones
        used = entries.indices.take(found.indices).dictionary_encode()
        return _places(used.indices), entries.dictionary.take(used.dictionary).to_pylist()

    def is_missing(self, *, words: bool) -> BoolArray | None:
        """Which cells have no value, (n,): blank, null or NaN; if `words`, in CSV also NA and the like."""
        cells = self.cells
        if cells is None:
            return None
        if self.source == "csv":
            missing = pa.array(NO_VALUE if words else ("",), cells.type)
            found = pc.is_in(pc.ascii_trim(cells, BLANKS), missing)
        else:
            found = cells.is_null(nan_is_null=self.values is None and types.is_floating(cells.type))
        absent: BoolArray = found.to_numpy(zero_copy_only=False)
        return absent

    def take(self, rows: IntArray) -> "Column":
        """A column with these rows."""
        taken = None if self.cells is None else self.cells.take(pa.array(rows))
        return Column(taken, self.source, self.decimal, self.kind, values=self.values)

    def to_list(self) -> list[Any]:
        """List the values."""
        listed: list[Any] = [] if self.cells is None else self.cells.to_pylist()
        return listed if self.values is None else [None if at is None else self.values[at] for at in listed]


def items(value: object) -> list[Any] | None:
    """Read a list of a JSON body, item by item; None if it is not a list."""
    if isinstance(value, Column):
        return value.to_list() if value.source == "json" else None
    return value if isinstance(value, list) else None


def one_array(cells: pa.ChunkedArray) -> pa.Array:
    """Return the cells as one array; those of a single chunk are not copied."""
    return cells.chunk(0) if cells.num_chunks == 1 else cells.combine_chunks()


def is_text(kind: pa.DataType) -> bool:
    """Whether cells are text, including dictionaries of text."""
    value = kind.value_type if types.is_dictionary(kind) else kind
    return bool(types.is_string(value) or types.is_large_string(value) or types.is_string_view(value))


def is_readable(kind: pa.DataType) -> bool:
    """Whether numbers, labels or slices may have this type, or the type of a column of nulls."""
    value = kind.value_type if types.is_dictionary(kind) else kind
    tests = (types.is_integer, types.is_floating, types.is_decimal, types.is_boolean, types.is_null, is_time)
    return isinstance(kind, pa.Bool8Type) or is_text(kind) or is_bytes(kind) or any(test(value) for test in tests)


def is_bytes(kind: pa.DataType) -> bool:
    """Whether cells are bytes, including dictionaries of bytes: text that some writers do not declare as such."""
    value = kind.value_type if types.is_dictionary(kind) else kind
    tests = (types.is_binary, types.is_large_binary, types.is_binary_view, types.is_fixed_size_binary)
    return any(test(value) for test in tests)


def encoded(cells: pa.Array) -> pa.DictionaryArray:
    """Number the distinct cells in the order of their first rows; nulls have no number.

    Anyone can compute pyarrow's hash of a text, and choose texts that collide: 10,000 of 16 characters took 1.6 s.
    Where other requests wait, Python's hash is used, which has a secret; it takes 0.2 µs more for each row.
    """
    if not is_attackable(cells):
        return cells.dictionary_encode()
    texts = cells.to_pylist()
    codes = {text: code for code, text in enumerate(dict.fromkeys(text for text in texts if text is not None))}
    still_time()
    indices = pa.array([codes.get(text) for text in texts], pa.int32())
    return pa.DictionaryArray.from_arrays(indices, pa.array(list(codes), cells.type))


def is_attackable(cells: pa.Array) -> bool:
    """Whether cells are texts that somebody may have chosen so that they collide, while other requests wait."""
    if not is_bounded() or not (types.is_string(cells.type) or types.is_large_string(cells.type)) or not len(cells):
        return False
    return bool(pc.greater(pc.max(pc.binary_length(cells)), _HARMLESS_BYTES).as_py())


def _places(indices: pa.Array) -> IntArray:
    found: IntArray = indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64, copy=False)
    return found


def _of_list(value: list[Any]) -> Column:
    kinds = set(map(type, value)) - {type(None)}
    with suppress(pa.ArrowException, OverflowError, UnicodeEncodeError):
        if kinds and kinds <= {float, int}:
            has_null = None in value
            given = [math.nan if each is None else each for each in value] if has_null else value
            array = np.fromiter(given, np.float64, len(given))
            least, most = np.fmin.reduce(array), np.fmax.reduce(array)
            if max(-least, most) < LARGEST_EXACT_INTEGER:
                return Column(pa.array(array, from_pandas=True), "json") if has_null else Column.of_numbers(array)
        if len(kinds) <= 1 and kinds <= {bool, int, float, str}:
            return Column(pa.array(value, pa.large_string() if kinds == {str} else None), "json")
    places: dict[object, int] = {}
    values: list[Any] = []
    numbered: list[int | None] = []
    for each in in_time(value):
        if each is None:
            numbered.append(None)
            continue
        key = _key(each)
        if key not in places:
            places[key] = len(values)
            values.append(each)
        numbered.append(places[key])
    return Column(pa.array(numbered, pa.int32()), "json", values=values)


def _key(value: object) -> tuple[type, object]:
    """What tells a JSON value from others; integers that collide can be chosen, but not the texts of large ones."""
    if not isinstance(value, (bool, int, float, str)):
        return type(value), None
    return type(value), hex(value) if isinstance(value, int) and abs(value) >= LARGEST_EXACT_INTEGER else value
