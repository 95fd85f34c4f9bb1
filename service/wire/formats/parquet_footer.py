"""The footer of a Parquet file: its columns and where they are, and a new footer with only those that are read.

pyarrow never sees the original footer: a crafted one can grow, misdescribe columns, or end the process (as asking
pyarrow 26 for the sizes of an encrypted column does). It gets one written here from what was understood. pyarrow's
thrift limits are no substitute: they bound the footer, but a page unpacks to the size in its own header. pyarrow took
1.1 GiB for a file of 110 kB whose footer announced 10 bytes. Field numbers are those of parquet.thrift.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from service.wire.formats.codings import Body
from service.wire.formats.table_columns import LONGEST_HEADER, MOST_COLUMNS, too_many_columns
from service.wire.formats.thrift_compact import BINARY, BOOL, BYTE, I32, I64, LIST, STRUCT, Reader, Struct, written
from service.wire.problems import Problem, invalid_value

MAGIC = b"PAR1"
_MAGIC_OF_ENCRYPTED = b"PARE"
_TAIL = 8
"""The length of the footer and the magic at the end of a file."""

_SCHEMA, _FILE_ROWS, _ROW_GROUPS, _ENCRYPTION = (2, LIST), (3, I64), (4, LIST), 8
_COLUMNS, _GROUP_ROWS = (1, LIST), (3, I64)
_OFFSET, _META_DATA, _CRYPTO = (2, I64), (3, STRUCT), {8, 9}
_PHYSICAL, _LENGTH, _REPETITION, _NAME, _CHILDREN, _CONVERTED, _LOGICAL = (
    (1, I32),
    (2, I32),
    (3, I32),
    (4, BINARY),
    (5, I32),
    (6, I32),
    (10, STRUCT),
)
_SCALE, _PRECISION = (7, I32), (8, I32)
_CODEC, _VALUES, _UNCOMPRESSED, _COMPRESSED = (4, I32), (5, I64), (6, I64), (7, I64)
_DATA_OFFSET, _DICTIONARY_OFFSET = (9, I64), (11, I64)
_CODECS = range(8)
_REPEATED = 2

_NO_TYPE = -1
_BOOLEAN, _INT32, _INT64, _INT96, _FLOAT, _DOUBLE, _BYTE_ARRAY, _FIXED = range(8)
_UTF8, _DECIMAL, _UINT_8, _INT_8 = 0, 5, 11, 15
_STRING, _OF_DECIMAL, _DATE, _TIMESTAMP, _INTEGER, _UNKNOWN, _FLOAT16 = 1, 5, 6, 8, 10, 11, 15
_TEXTS, _CONVERTED_TEXTS = {1, 4, 12}, {0, 4, 19}
"""Text, names of an enumeration, and JSON."""
_PHYSICAL_NAMES = ("boolean", "int32", "int64", "int96", "float", "double", "byte_array", "fixed_len_byte_array")
_LOGICAL_NAMES = {4: "enum", 5: "decimal", 6: "date", 7: "time", 8: "timestamp", 12: "json", 13: "bson", 14: "uuid"}
_CONVERTED_NAMES = {4: "enum", 5: "decimal", 6: "date", 9: "timestamp", 10: "timestamp", 21: "interval"}
"""Names of types, for messages about unsupported ones."""
_TIME_KINDS = {"date", "timestamp", "int96"}
_LONGEST_DECIMAL = 32
"""Bytes of the longest decimal that Arrow has, of 76 digits."""
_WIDTHS = {8: 0, 16: 1, 32: 2, 64: 3}


@dataclass(frozen=True, slots=True, eq=False)
class Column:
    """A column at the top of the schema.

    element      its rewritten schema; None if its type is not supported.
    kind         what its type is called.
    leaf         its index among all stored columns.
    """

    name: str
    element: Struct | None
    kind: str
    leaf: int

    @property
    def is_text(self) -> bool:
        """Whether its cells are text."""
        return self.element is not None and self.element[_PHYSICAL] == _BYTE_ARRAY

    @property
    def read_as(self) -> str:
        """What its cells are read as, or the name of an unsupported type."""
        if self.element is None or self.kind in _TIME_KINDS:
            return self.kind
        return "text" if self.is_text else "boolean" if self.element[_PHYSICAL] == _BOOLEAN else "number"


@dataclass(frozen=True, slots=True)
class Chunk:
    """Where the pages of one column in one row group are."""

    start: int
    end: int
    rows: int


class Footer:
    """A parsed footer. Raises LookupError, TypeError, ValueError or Problem if it is invalid."""

    def __init__(self, body: Body) -> None:
        self._end = len(body) - _TAIL
        self._tree = _tree(body)
        self.rows: int = self._tree[_FILE_ROWS]
        self._groups: list[Struct] = _structs(self._tree, _ROW_GROUPS)
        if self.rows < 0 or sum(group[_GROUP_ROWS] for group in self._groups) != self.rows:
            raise ValueError("The row groups do not add up to the rows of the file.")
        if _ENCRYPTION in {field for field, _ in self._tree} or any(map(_is_encrypted, self._stored())):
            raise Problem("unsupported_media_type", "The Parquet file is encrypted; send it unencrypted.")
        self.columns = list(_columns(_structs(self._tree, _SCHEMA)))

    def chunks(self, columns: list[Column]) -> dict[Column, list[Chunk]]:
        """The places of columns, row group by row group, checked not to overlap."""
        found = {column: [self._chunk(group, column) for group in self._groups] for column in columns}
        places = sorted((chunk.start, chunk.end) for chunks in found.values() for chunk in chunks)
        if any(end > start for (_, end), (start, _) in pairwise(places)):
            raise ValueError("Columns or row groups share their pages.")
        return found

    def _chunk(self, group: Struct, column: Column) -> Chunk:
        meta = _structs(group, _COLUMNS)[column.leaf][_META_DATA]
        start = min(meta[_DATA_OFFSET], meta.get(_DICTIONARY_OFFSET) or meta[_DATA_OFFSET])
        chunk = Chunk(start, start + meta[_COMPRESSED], group[_GROUP_ROWS])
        if not len(MAGIC) <= chunk.start <= chunk.end <= self._end or meta[_VALUES] != chunk.rows or chunk.rows < 0:
            raise ValueError("A column lies outside the file, or has another length than its row group.")
        return chunk

    def of_columns(self, columns: list[Column]) -> bytes:
        """Write a file with only a footer, for these columns, named 0, 1 and so on."""
        elements = [
            {**(column.element or {}), _NAME: str(position).encode()} for position, column in enumerate(columns)
        ]
        groups = [
            {
                _COLUMNS: (STRUCT, [self._stored_as(group, column, place) for place, column in enumerate(columns)]),
                (2, I64): 0,
                _GROUP_ROWS: group[_GROUP_ROWS],
            }
            for group in self._groups
        ]
        root = {_NAME: b"schema", _CHILDREN: len(columns)}
        tree = {(1, I32): 2, _SCHEMA: (STRUCT, [root, *elements]), _FILE_ROWS: self.rows, _ROW_GROUPS: (STRUCT, groups)}
        footer = written(tree)
        return MAGIC + footer + len(footer).to_bytes(4, "little") + MAGIC

    def _stored_as(self, group: Struct, column: Column, place: int) -> Struct:
        meta = _structs(group, _COLUMNS)[column.leaf][_META_DATA]
        if meta[_CODEC] not in _CODECS or column.element is None or meta[_PHYSICAL] != column.element[_PHYSICAL]:
            raise ValueError("A column is not stored as the type in its schema, or its codec is unknown.")
        kept = (_PHYSICAL, _CODEC, _VALUES, _UNCOMPRESSED, _COMPRESSED, _DATA_OFFSET, _DICTIONARY_OFFSET)
        new = {key: meta[key] for key in kept if key in meta}
        new |= {(2, LIST): (I32, [0]), (3, LIST): (BINARY, [str(place).encode()])}
        return {_OFFSET: 0, _META_DATA: new}

    def _stored(self) -> Iterator[Struct]:
        for group in self._groups:
            yield from _structs(group, _COLUMNS)


def _tree(body: Body) -> Struct:
    if _MAGIC_OF_ENCRYPTED in {body[:4], body[-4:]}:
        raise Problem("unsupported_media_type", "The Parquet file is encrypted; send it unencrypted.")
    if len(body) < len(MAGIC) + _TAIL or {body[:4], body[-4:]} != {MAGIC}:
        raise ValueError("The magic bytes are missing.")
    size = int.from_bytes(body[-_TAIL:-4], "little")
    end = len(body) - _TAIL
    if size > end - len(MAGIC):
        raise ValueError("The footer is longer than the file.")
    if size > LONGEST_HEADER:
        advice = "write fewer row groups, or only the columns that are needed"
        detail = f"The footer of the Parquet file is {size} bytes long; the limit is {LONGEST_HEADER}: {advice}."
        raise invalid_value("", "too_many_columns", detail)
    return Reader(body, end - size, end).struct()


def _structs(parent: Struct, key: tuple[int, int]) -> list[Struct]:
    kind, items = parent[key]
    if items and kind != STRUCT:
        raise ValueError("A list declares another type than its items have.")
    found: list[Struct] = items
    return found


def _is_encrypted(stored: Struct) -> bool:
    return bool(_CRYPTO & {field for field, _ in stored})


def _columns(elements: list[Struct]) -> Iterator[Column]:
    """Go through the schema, a tree written root first; only columns at its top are the table's."""
    place = leaf = 0
    top = elements[0].get(_CHILDREN, 0)
    if not 0 <= top <= MOST_COLUMNS:
        raise too_many_columns()
    for _ in range(top):
        place += 1
        element = elements[place]
        yield Column(element[_NAME].decode(), _rewritten(element), _kind(element), leaf)
        below = element.get(_CHILDREN, 0)
        leaf += not below
        while below > 0:
            place += 1
            children = elements[place].get(_CHILDREN, 0)
            below += children - 1
            leaf += not children


def _logical_type(element: Struct) -> tuple[int | None, Any]:
    """The member of a union that is set, and its content."""
    for (field, _), inner in element.get(_LOGICAL, {}).items():
        return field, inner
    return None, {}


def _kind(element: Struct) -> str:
    """The name of a column's type, by its logical type if given."""
    if element.get(_CHILDREN) or element.get(_REPETITION) == _REPEATED:
        return "nested"
    meaning, _ = _logical_type(element)
    told = _LOGICAL_NAMES.get(meaning or 0) or _CONVERTED_NAMES.get(element.get(_CONVERTED, 0))
    physical: int = element.get(_PHYSICAL, _NO_TYPE)
    return told or (_PHYSICAL_NAMES[physical] if 0 <= physical < len(_PHYSICAL_NAMES) else "of an unknown type")


def _rewritten(element: Struct) -> Struct | None:  # noqa: PLR0911  # a return for each supported type
    """Rewrite a column's type if it is supported: numbers, decimals, booleans, text, bytes, times, or only nulls."""
    physical: int = element.get(_PHYSICAL, _NO_TYPE)
    repetition: int = element.get(_REPETITION, _REPEATED)
    if element.get(_CHILDREN) or repetition not in {0, 1}:
        return None
    converted: int | None = element.get(_CONVERTED)
    kept = {_PHYSICAL: physical, _REPETITION: repetition}
    meaning, inner = _logical_type(element)
    if meaning == _UNKNOWN:
        return kept | {_LOGICAL: {(_UNKNOWN, STRUCT): {}}}
    if meaning == _OF_DECIMAL or (meaning is None and converted == _DECIMAL):
        kept |= {key: element[key] for key in (_SCALE, _PRECISION, _LENGTH) if key in element}
        fits = physical in {_INT32, _INT64} or (physical == _FIXED and 0 < element[_LENGTH] <= _LONGEST_DECIMAL)
        return kept | {_CONVERTED: _DECIMAL} if fits else None
    if physical in {_INT32, _INT64} and meaning == _INTEGER:
        width = _WIDTHS[inner[1, BYTE]]
        return kept | {_CONVERTED: (_INT_8 if inner[2, BOOL] else _UINT_8) + width}
    if physical in {_INT32, _INT64} and meaning is None and (converted is None or _UINT_8 <= converted < _INT_8 + 4):
        return kept | ({} if converted is None else {_CONVERTED: converted})
    if _kind(element) in _TIME_KINDS:
        return _rewritten_time(kept, meaning, inner, converted)
    if physical == _BYTE_ARRAY:
        is_text = meaning in _TEXTS or (meaning is None and converted in _CONVERTED_TEXTS)
        return kept | {_CONVERTED: _UTF8} if is_text else kept if meaning is converted is None else None
    if physical == _FIXED and meaning == _FLOAT16:
        return kept | {_LENGTH: 2, _LOGICAL: {(_FLOAT16, STRUCT): {}}}
    if physical in {_BOOLEAN, _FLOAT, _DOUBLE} and meaning is None and converted is None:
        return kept
    return None


def _rewritten_time(kept: dict[Any, Any], meaning: int | None, inner: Struct, converted: int | None) -> Struct | None:
    """Rewrite the type of a date or a timestamp; INT96 is a timestamp without saying so."""
    physical = kept[_PHYSICAL]
    if physical == _INT96 and meaning is converted is None:
        return kept
    if physical == _INT32 and _DATE in {meaning, converted}:
        return kept | {_CONVERTED: _DATE}
    if physical != _INT64:
        return None
    if meaning == _TIMESTAMP:
        (unit,) = inner[2, STRUCT]
        return kept | {_LOGICAL: {(_TIMESTAMP, STRUCT): {(1, BOOL): inner[1, BOOL], (2, STRUCT): {unit: {}}}}}
    return kept | {_CONVERTED: converted}
