"""Reads plain Arrow streams with NumPy alone, so that the server's own process may: no parser in C++ sees their bytes.

A stream is plain if it is one record batch of numbers and booleans, without nulls or compression, as most clients send
a small table. Refuses nothing: any other stream, right or wrong, is NotPlain, and is for arrow_format.py.
"""

import struct
from functools import lru_cache
from typing import Any

import numpy as np

from service.wire.formats.arrow_columns import ArrayColumn
from service.wire.formats.arrow_fields import (
    BATCH_BUFFERS,
    BATCH_COMPRESSION,
    BATCH_LENGTH,
    BATCH_NODES,
    CONTINUATION,
    ENDIANNESS,
    FIELD_DICTIONARY,
    FIELD_NAME,
    FIELD_TYPE,
    FIELD_TYPE_ID,
    FIELDS,
    FLOAT_PRECISION,
    INT_IS_SIGNED,
    INT_WIDTH,
    MESSAGE_BODY_LENGTH,
    MESSAGE_HEADER,
    MESSAGE_METADATA,
    MESSAGE_TYPE,
    MESSAGE_VERSION,
    STREAM_END,
    V5,
)
from service.wire.formats.codings import Body
from service.wire.formats.flatbuffer import INT16, INT32, INT64, UINT8, Flat
from service.wire.formats.table_columns import too_many_rows, unique_places
from service.wire.limits import Limits

_MOST_PLAIN_COLUMNS = 64
_LONGEST_METADATA = 1 << 16
"""Bytes of a message without its body. Both bound the time that the server's process takes for a header."""
_LONGEST_NAMES = 1 << 12
"""Bytes of all names of columns: many can refer to one long text, and each gets a copy, of up to 4 bytes for each."""

_REMEMBERED_MESSAGES = 64
"""How many schemas, and batches without their cells, are remembered: a client sends the same again and again."""

_MESSAGE_START = struct.Struct("<4si")
_IS_SCHEMA, _IS_BATCH = 1, 3
_INT, _FLOATING_POINT, _BOOL = 2, 3, 6

_EXTENSION = b"ARROW:extension:name"
"""Marks a type as another one's storage, such as booleans of a byte each as int8."""

_TWO_NUMBERS = np.dtype([("first", "<i8"), ("second", "<i8")])
"""A node: length and number of nulls. A buffer: offset and length."""

_PLAIN_KINDS: dict[tuple[int, ...], np.dtype[Any]] = {
    (_BOOL,): np.dtype(np.bool_),
    **{(_FLOATING_POINT, place): np.dtype(f"<f{2 << place}") for place in range(3)},
    **{(_INT, 8 << place, 1): np.dtype(f"<i{1 << place}") for place in range(4)},
    **{(_INT, 8 << place, 0): np.dtype(f"<u{1 << place}") for place in range(4)},
}
"""{what a schema says of a type: the type}"""


class NotPlain(Exception):
    """The stream is not plain, or not a stream."""


class PlainArrowTable:
    """A plain Arrow stream; columns are read on demand. Raises NotPlain, and Problem `too_many_rows`."""

    header_is = "the columns are"

    def __init__(self, body: Body, limits: Limits) -> None:
        self._stream = stream = bytes(body)
        try:
            schema, end = _metadata(stream, 0)
            names, self._kinds = _columns(schema)
            self.header = list(names)
            metadata, start = _metadata(stream, end)
            self.rows, length, places = _batch(metadata, self._kinds)
        except (struct.error, ValueError, KeyError):
            raise NotPlain from None
        if length > len(stream) - start or stream[start + length :] not in (b"", STREAM_END):
            raise NotPlain
        self._places = [start + place for place in places]
        if self.rows > limits.max_rows:
            raise too_many_rows(self.rows, limits.max_rows)

    def read(self, names: list[str]) -> dict[str, ArrayColumn]:
        """Read the named columns, into memory that is aligned."""
        return {name: self._column(place) for name, place in unique_places(self.header, names).items()}

    def _column(self, place: int) -> ArrayColumn:
        kind, start = self._kinds[place], self._places[place]
        if kind == np.bool_:
            packed = np.frombuffer(self._stream, np.uint8, _bytes_of(kind, self.rows), start)
            return ArrayColumn(np.unpackbits(packed, count=self.rows, bitorder="little").view(np.bool_))
        return ArrayColumn(np.frombuffer(self._stream, kind, self.rows, start).copy())


def _metadata(stream: bytes, start: int) -> tuple[bytes, int]:
    """Read the metadata of a message, and where it ends."""
    marker, size = _MESSAGE_START.unpack_from(stream, start)
    begin = start + _MESSAGE_START.size
    if marker != CONTINUATION or not 0 < size <= min(_LONGEST_METADATA, len(stream) - begin):
        raise NotPlain
    return stream[begin : begin + size], begin + size


def _header(metadata: bytes, kind: int) -> tuple[Flat, int]:
    """Read the header of a message of this kind, and the length of its body."""
    message = Flat.root(metadata)
    if (
        message.number(MESSAGE_VERSION, INT16) != V5
        or message.number(MESSAGE_TYPE, UINT8) != kind
        or message.has(MESSAGE_METADATA)
    ):
        raise NotPlain
    return message.inner(MESSAGE_HEADER), message.number(MESSAGE_BODY_LENGTH, INT64)


@lru_cache(_REMEMBERED_MESSAGES)
def _columns(metadata: bytes) -> tuple[tuple[str, ...], tuple[np.dtype[Any], ...]]:
    """The names and types of the columns, by a schema's message. Raises KeyError for other types."""
    if _EXTENSION in metadata:
        raise NotPlain
    schema, length = _header(metadata, _IS_SCHEMA)
    if length or schema.number(ENDIANNESS, INT16) or schema.length(FIELDS) > _MOST_PLAIN_COLUMNS:
        raise NotPlain
    fields = tuple(schema.each(FIELDS))
    if sum(field.length(FIELD_NAME) for field in fields) > _LONGEST_NAMES:
        raise NotPlain
    return tuple(field.text(FIELD_NAME) for field in fields), tuple(map(_kind, fields))


@lru_cache(_REMEMBERED_MESSAGES)
def _batch(metadata: bytes, kinds: tuple[np.dtype[Any], ...]) -> tuple[int, int, tuple[int, ...]]:
    """The rows of a batch with columns of these types, the length of its body, and where in it their cells begin."""
    batch, length = _header(metadata, _IS_BATCH)
    rows = batch.number(BATCH_LENGTH, INT64)
    nodes, buffers = (batch.structs(place, _TWO_NUMBERS).tolist() for place in (BATCH_NODES, BATCH_BUFFERS))
    cells = buffers[1::2]  # each after the bits that mark nulls
    if (
        rows < 1
        or batch.has(BATCH_COMPRESSION)
        or nodes != [(rows, 0)] * len(kinds)
        or len(buffers) != 2 * len(kinds)
        or any(offset < 0 or offset % 8 or not 0 <= size <= length - offset for offset, size in buffers)
        or sum(size for _, size in buffers) > length  # columns that share bytes would each get a copy
        or any(size < _bytes_of(kind, rows) for (_, size), kind in zip(cells, kinds, strict=True))
    ):
        raise NotPlain
    return rows, length, tuple(offset for offset, _ in cells)


def _kind(field: Flat) -> np.dtype[Any]:
    """The type of a column. Raises KeyError if it has another than those that are plain."""
    number = field.number(FIELD_TYPE_ID, UINT8)
    if field.has(FIELD_DICTIONARY):
        raise NotPlain
    details: tuple[int, ...] = ()
    if number == _FLOATING_POINT:
        details = (field.inner(FIELD_TYPE).number(FLOAT_PRECISION, INT16),)
    elif number == _INT:
        of_type = field.inner(FIELD_TYPE)
        details = (of_type.number(INT_WIDTH, INT32), of_type.number(INT_IS_SIGNED, UINT8))
    return _PLAIN_KINDS[number, *details]


def _bytes_of(kind: np.dtype[Any], rows: int) -> int:
    return -(-rows // 8) if kind == np.bool_ else rows * kind.itemsize
