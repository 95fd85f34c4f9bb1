"""What an Arrow IPC stream says of itself, read from its messages before anything is made of them.

pyarrow verifies each message as a flatbuffer; then a few of its fields are read here, by their place in Arrow's
Message.fbs and Schema.fbs. Knows what is refused unseen: too many rows, columns or batches, buffers that are compressed
or share their bytes.
"""

import struct
from collections.abc import Callable, Iterator
from typing import Self

import numpy as np
import pyarrow as pa

from service.wire.formats.codings import Body
from service.wire.formats.tables import LONGEST_HEADER, MOST_COLUMNS, too_many_columns, too_many_rows
from service.wire.limits import Limits
from service.wire.problems import Problem, invalid_value

MOST_BATCHES = 10_000
"""Record batches and dictionaries cost time by the piece, however small they are."""
MOST_PAIRS = 10
"""How many pairs of metadata a message has of its own: pyarrow copies each, and all of them may be one long text."""

_Unpack = Callable[[bytes, int], tuple[int]]
_READ_UINT8, _READ_UINT16, _READ_INT16, _READ_UINT32, _READ_INT32, _READ_INT64 = (
    struct.Struct(f"<{code}").unpack_from for code in "BHhIiq"
)

_CONTINUATION = b"\xff\xff\xff\xff"
_FILE_MAGIC = b"ARROW1"
_V5 = 4
"""The metadata version of Arrow 1.0 and later; before it, compression was told in a message's own metadata."""

_MESSAGE_VERSION, _MESSAGE_HEADER, _MESSAGE_BODY_LENGTH, _MESSAGE_METADATA = 0, 2, 3, 4
_ENDIANNESS, _FIELDS, _SCHEMA_METADATA = 0, 1, 2
_FIELD_NAME, _FIELD_TYPE_ID, _FIELD_TYPE, _FIELD_CHILDREN, _FIELD_METADATA = 0, 2, 3, 5, 6
_PAIR_KEY, _PAIR_VALUE = 0, 1
_BATCH_LENGTH, _BATCH_BUFFERS, _BATCH_COMPRESSION = 0, 2, 3
_DATA, _IS_DELTA = 1, 2
_LISTS_OF_TYPES = {10, 14}
"""A timestamp's type has a time zone in its second place, a union's the numbers of its types."""
_OVERHEAD = 64
"""What a field, or a pair of metadata, counts beside its text."""


class _Flat:
    """A table of a flatbuffer; its fields are known by their place in the format's definition.

    Before a table stands how far back its list of offsets is: that list's length in bytes, the table's, and for each
    field where it is in the table, 0 where it is left out. What a field points to is told from its own place on.
    Nothing is read beyond the buffer: of one that is not verified, the methods raise struct.error.
    """

    def __init__(self, buffer: bytes, position: int) -> None:
        self._buffer = buffer
        self._position = position
        self._offsets = position - _READ_INT32(buffer, position)[0]
        self._end = _READ_UINT16(buffer, self._offsets)[0]

    @classmethod
    def root(cls, buffer: bytes) -> Self:
        """The table that a buffer holds."""
        return cls(buffer, _READ_UINT32(buffer, 0)[0])

    def has(self, place: int) -> bool:
        """Whether a field is there."""
        return self._find(place) is not None

    def number(self, place: int, read: _Unpack) -> int:
        """Read a number, 0 where it is left out."""
        found = self._find(place)
        return 0 if found is None else read(self._buffer, found)[0]

    def inner(self, place: int) -> Self:
        """Read a table. Raises Problem where it is left out, which a verified flatbuffer may do."""
        found = self._find(place)
        if found is None:
            raise Problem("malformed_body", "A message of the Arrow stream is empty.")
        return self._at(found)

    def length(self, place: int) -> int:
        """Return how long a text or a list is, 0 where it is left out."""
        found = self._find(place)
        return 0 if found is None else _READ_UINT32(self._buffer, found + _READ_UINT32(self._buffer, found)[0])[0]

    def each(self, place: int) -> Iterator[Self]:
        """Read the tables of a list."""
        found = self._find(place)
        if found is not None:
            start = found + _READ_UINT32(self._buffer, found)[0] + 4
            for position in range(self.length(place)):
                yield self._at(start + 4 * position)

    def pairs(self, place: int) -> np.ndarray[tuple[int, int], np.dtype[np.int64]]:
        """Read a list of pairs of 64-bit integers."""
        found = self._find(place)
        if found is None:
            return np.empty((0, 2), np.int64)
        start = found + _READ_UINT32(self._buffer, found)[0] + 4
        return np.frombuffer(self._buffer, "<i8", 2 * self.length(place), start).reshape(-1, 2)

    def _find(self, place: int) -> int | None:
        entry = 4 + 2 * place
        offset = _READ_UINT16(self._buffer, self._offsets + entry)[0] if entry < self._end else 0
        return self._position + offset if offset else None

    def _at(self, pointer: int) -> Self:
        return type(self)(self._buffer, pointer + _READ_UINT32(self._buffer, pointer)[0])


def count_rows(body: Body, limits: Limits) -> int:
    """Go through all messages of a stream and return the number of rows.

    A stream ends with its end-of-stream marker or, as the format allows, between two messages without one.
    Raises Problem for what is no stream, goes beyond the limits, or has to be unpacked first.
    """
    if body[: len(_FILE_MAGIC)] == _FILE_MAGIC:
        raise _unsupported("This is an Arrow file; send the Arrow stream format, in which the same columns are written")
    source = pa.BufferReader(body)
    reader = pa.ipc.MessageReader.open_stream(source)
    first = _next(reader, source, body)
    if first is None or first.type != "schema":
        raise Problem("malformed_body", "The body is no Arrow stream: a schema belongs at its beginning.")
    _check_schema(_root(first).inner(_MESSAGE_HEADER))
    rows = batches = 0
    while (message := _next(reader, source, body)) is not None:
        rows += _check_batch(message)
        batches += 1
        if rows > limits.max_rows:
            raise too_many_rows(rows, limits.max_rows)
        if batches > MOST_BATCHES:
            detail = f"The stream has more than {MOST_BATCHES} record batches and dictionaries; write longer ones."
            raise invalid_value("", "too_many_batches", detail)
    if source.tell() < len(body):
        raise Problem("malformed_body", "Something follows the end of the Arrow stream.")
    return rows


def _next(reader: pa.ipc.MessageReader, source: pa.BufferReader, body: Body) -> pa.ipc.Message | None:
    """Read a message, unless its metadata is too long to be looked at, or would grow; None at the end."""
    start = source.tell()
    if body[start : start + len(_CONTINUATION)] == _CONTINUATION:
        start += len(_CONTINUATION)
    size = int.from_bytes(body[start : start + 4], "little")
    start += 4
    if 0 < size <= len(body) - start:
        if size > LONGEST_HEADER:
            raise too_many_columns()
        _check_metadata(body[start : start + size])
    try:
        return reader.read_next_message()
    except StopIteration:
        return None


def _check_metadata(message: bytes) -> None:
    """Refuse metadata of a message's own that pyarrow would copy again and again, when it has yet to verify them."""
    try:
        pairs = _Flat.root(message).length(_MESSAGE_METADATA)
    except struct.error:
        raise Problem("malformed_body", "A message of the Arrow stream points out of itself.") from None
    if pairs > MOST_PAIRS:
        raise _unsupported(f"A message has more than {MOST_PAIRS} pairs of metadata of its own; leave them out")


def _root(message: pa.ipc.Message) -> _Flat:
    return _Flat.root(message.metadata.to_pybytes())


def _check_batch(message: pa.ipc.Message) -> int:
    """Return how many rows of the table a message holds: those of a record batch, none of a dictionary."""
    if message.type not in {"record batch", "dictionary"}:  # pyarrow verifies nothing of a type that it does not know
        raise Problem("malformed_body", f"After its schema, an Arrow stream of a table holds no {message.type}.")
    root = _root(message)
    batch = root.inner(_MESSAGE_HEADER)
    if message.type == "dictionary":
        if batch.number(_IS_DELTA, _READ_UINT8):
            raise _unsupported("A dictionary comes in parts (a delta); send each dictionary whole")
        batch = batch.inner(_DATA)
    rows = batch.number(_BATCH_LENGTH, _READ_INT64)
    if rows < 0:
        raise Problem("malformed_body", "A record batch or a dictionary has a negative length.")
    lengths = batch.pairs(_BATCH_BUFFERS)[:, 1]
    if (lengths < 0).any() or lengths.sum(dtype=np.float64) > root.number(_MESSAGE_BODY_LENGTH, _READ_INT64):
        # Each column of a stream that shares buffers would become an array of its own.
        raise Problem("malformed_body", "The buffers of a record batch or a dictionary are longer than its body.")
    old = root.number(_MESSAGE_VERSION, _READ_INT16) < _V5
    if batch.has(_BATCH_COMPRESSION) or (old and root.has(_MESSAGE_METADATA)):
        advice = "write it without, and compress the whole body (Content-Encoding) or send Parquet"
        raise _unsupported(f"The buffers within the Arrow stream are compressed; {advice}")
    return rows if message.type == "record batch" else 0


def _check_schema(schema: _Flat) -> None:
    """Refuse a schema that would grow: many parts of a flatbuffer can name the same one, and each gets a copy."""
    if schema.number(_ENDIANNESS, _READ_INT16):
        raise _unsupported("The Arrow stream is big-endian; send it little-endian")
    if schema.length(_FIELDS) > MOST_COLUMNS:
        raise too_many_columns()
    size = 0
    for part in _sizes_of_all(schema, _FIELDS, _SCHEMA_METADATA):
        size += part
        if size > LONGEST_HEADER:
            raise too_many_columns()


def _sizes_of_all(parent: _Flat, fields: int, metadata: int) -> Iterator[int]:
    """Yield what each field below counts, and each pair of metadata."""
    for pair in parent.each(metadata):
        yield _OVERHEAD + pair.length(_PAIR_KEY) + pair.length(_PAIR_VALUE)
    for field in parent.each(fields):
        yield _OVERHEAD + field.length(_FIELD_NAME)
        if field.number(_FIELD_TYPE_ID, _READ_UINT8) in _LISTS_OF_TYPES:
            yield 4 * field.inner(_FIELD_TYPE).length(1)
        yield from _sizes_of_all(field, _FIELD_CHILDREN, _FIELD_METADATA)


def _unsupported(detail: str) -> Problem:
    return Problem("unsupported_media_type", f"{detail}.")
