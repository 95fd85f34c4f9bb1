"""What an Arrow IPC stream says of itself, read from its messages before anything is made of them.

pyarrow verifies each message as a flatbuffer; then a few of its fields are read here, by their place in Arrow's
Message.fbs and Schema.fbs. Knows what is refused unseen: too many rows, columns or batches, buffers that share their
bytes or unpack to more than the limit.
"""

import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from dataclasses import field as _field
from typing import Self

import numpy as np
import pyarrow as pa

from service.wire.formats.tables import LONGEST_HEADER, MOST_COLUMNS, too_many_columns, too_many_rows
from service.wire.limits import Limits
from service.wire.problems import Problem, invalid_value

MOST_BATCHES = 10_000
"""Record batches and dictionaries cost time by the piece, however small they are."""
MOST_PAIRS = 10
"""How many pairs of custom metadata a message may have: pyarrow copies each, and all of them may be one long text."""

_Unpack = Callable[[bytes, int], tuple[int]]
_READ_UINT8, _READ_UINT16, _READ_INT16, _READ_UINT32, _READ_INT32, _READ_INT64 = (
    struct.Struct(f"<{code}").unpack_from for code in "BHhIiq"
)

_CONTINUATION = b"\xff\xff\xff\xff"
_V5 = 4
"""The metadata version of Arrow 1.0 and later; before it, compression was declared in a message's custom metadata."""

_MESSAGE_VERSION, _MESSAGE_HEADER, _MESSAGE_BODY_LENGTH, _MESSAGE_METADATA = 0, 2, 3, 4
_ENDIANNESS, _FIELDS, _SCHEMA_METADATA = 0, 1, 2
_FIELD_NAME, _FIELD_TYPE_ID, _FIELD_TYPE, _FIELD_CHILDREN, _FIELD_METADATA = 0, 2, 3, 5, 6
_PAIR_KEY, _PAIR_VALUE = 0, 1
_BATCH_LENGTH, _BATCH_BUFFERS, _BATCH_COMPRESSION = 0, 2, 3
_DICTIONARY_ID, _DATA, _IS_DELTA = 0, 1, 2
_BUFFER = np.dtype([("offset", "<i8"), ("length", "<i8")])
_PREFIX = 8
"""Bytes in front of a compressed buffer that say how long it becomes."""
_NOT_COMPRESSED = -1
"""What stands there in front of a buffer that is not shorter compressed, and lies as it is."""
_LISTS_OF_TYPES = {10, 14}
"""A timestamp's type has a time zone in its second place, a union's the numbers of its types."""
_OVERHEAD = 64
"""What a field, or a pair of metadata, counts besides its text."""


class Flat:
    """A table of a flatbuffer; its fields are known by their place in the format's definition.

    Before a table stands how far back its list of offsets is: that list's length in bytes, the table's, and for each
    field where it is in the table, 0 where it is left out. What a field points to is told from its own place on.
    Nothing is read beyond the buffer: of one that is not verified, the methods raise struct.error.
    """

    def __init__(self, buffer: bytes, position: int) -> None:
        self._buffer = buffer
        self.position = position
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
            raise Problem("malformed_body", "An Arrow message is empty.")
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

    def structs(self, place: int, kind: np.dtype[np.void]) -> np.ndarray:
        """Read a list of structs. Raises ValueError where it is longer than the buffer."""
        found = self._find(place)
        if found is None:
            return np.empty(0, kind)
        start = found + _READ_UINT32(self._buffer, found)[0] + 4
        return np.frombuffer(self._buffer, kind, self.length(place), start)

    def _find(self, place: int) -> int | None:
        entry = 4 + 2 * place
        offset = _READ_UINT16(self._buffer, self._offsets + entry)[0] if entry < self._end else 0
        return self.position + offset if offset else None

    def _at(self, pointer: int) -> Self:
        return type(self)(self._buffer, pointer + _READ_UINT32(self._buffer, pointer)[0])


Place = tuple[int, int, int]
"""Where a message begins in its stream, and the bytes of its metadata, with what is before it, and of its body."""


@dataclass(slots=True)
class Counted:
    """What the messages of a stream come to.

    unpacked      how many bytes the buffers become that are compressed.
    identities    the number of each dictionary.
    """

    rows: int = 0
    unpacked: int = 0
    batches: list[Place] = _field(default_factory=list)
    dictionaries: list[Place] = _field(default_factory=list)
    identities: list[int] = _field(default_factory=list)


def count(stream: memoryview, limits: Limits) -> Counted:
    """Go through all messages of a stream and add up what they hold.

    A stream ends with its end-of-stream marker or, as the format allows, between two messages without one.
    Raises Problem for what is no stream, or goes beyond the limits.
    """
    source = pa.BufferReader(stream)
    reader = pa.ipc.MessageReader.open_stream(source)
    counted = Counted()
    first = _next(reader, source, stream)
    if first is None or first[0].type != "schema":
        raise Problem("malformed_body", "The body is not an Arrow stream: it does not begin with a schema.")
    _check_schema(_root(first[0]).inner(_MESSAGE_HEADER))
    while (found := _next(reader, source, stream)) is not None:
        _add(counted, *found)
        if counted.rows > limits.max_rows:
            raise too_many_rows(counted.rows, limits.max_rows)
        if counted.unpacked > limits.max_decompressed_bytes:
            most = limits.max_decompressed_bytes
            raise Problem("body_too_large", f"The compressed buffers unpack to more than {most} bytes, the limit.")
        if len(counted.batches) + len(counted.dictionaries) > MOST_BATCHES:
            detail = f"There are more than {MOST_BATCHES} record batches and dictionaries; write fewer, longer ones."
            raise invalid_value("", "too_many_batches", detail)
    if source.tell() < len(stream):
        raise Problem("malformed_body", "There is data after the end of the Arrow stream.")
    return counted


def _next(
    reader: pa.ipc.MessageReader, source: pa.BufferReader, stream: memoryview
) -> tuple[pa.ipc.Message, Place] | None:
    """Read a message, unless its metadata is too long to be looked at, or would grow; None at the end."""
    begin = start = source.tell()
    if stream[start : start + len(_CONTINUATION)] == _CONTINUATION:
        start += len(_CONTINUATION)
    size = int.from_bytes(stream[start : start + 4], "little")
    start += 4
    if 0 < size <= len(stream) - start:
        if size > LONGEST_HEADER:
            raise too_many_columns()
        _check_metadata(bytes(stream[start : start + size]))
    try:
        message = reader.read_next_message()
    except StopIteration:
        return None
    metadata = start + size - begin
    return message, (begin, metadata, source.tell() - begin - metadata)


def _check_metadata(message: bytes) -> None:
    """Refuse metadata of a message's own that pyarrow would copy again and again, when it has yet to verify them."""
    try:
        pairs = Flat.root(message).length(_MESSAGE_METADATA)
    except struct.error:
        raise Problem("malformed_body", "An Arrow message points outside itself.") from None
    if pairs > MOST_PAIRS:
        raise _unsupported(f"A message has more than {MOST_PAIRS} pairs of custom metadata; leave them out")


def _root(message: pa.ipc.Message) -> Flat:
    return Flat.root(message.metadata.to_pybytes())


def _add(counted: Counted, message: pa.ipc.Message, place: Place) -> None:
    """Count a message: a record batch, or a dictionary, which has no rows of the table."""
    if message.type not in {"record batch", "dictionary"}:  # pyarrow verifies nothing of a type that it does not know
        raise Problem("malformed_body", f"An Arrow stream of a table has no {message.type} after its schema.")
    root = _root(message)
    batch = root.inner(_MESSAGE_HEADER)
    if message.type == "dictionary":
        if batch.number(_IS_DELTA, _READ_UINT8):
            raise _unsupported("A dictionary is sent in parts (as deltas); send each dictionary whole")
        counted.dictionaries.append(place)
        counted.identities.append(batch.number(_DICTIONARY_ID, _READ_INT64))
        batch = batch.inner(_DATA)
    rows = batch.number(_BATCH_LENGTH, _READ_INT64)
    if rows < 0:
        raise Problem("malformed_body", "A record batch or a dictionary has a negative length.")
    if message.type == "record batch":
        counted.batches.append(place)
        counted.rows += rows
    buffers = batch.structs(_BATCH_BUFFERS, _BUFFER)
    lengths = buffers["length"]
    if (lengths < 0).any() or lengths.sum(dtype=np.float64) > root.number(_MESSAGE_BODY_LENGTH, _READ_INT64):
        # Each column of a stream that shares buffers would become an array of its own.
        raise Problem("malformed_body", "The buffers of a record batch or a dictionary are longer than its body.")
    is_compressed = batch.has(_BATCH_COMPRESSION)
    if root.number(_MESSAGE_VERSION, _READ_INT16) < _V5 and (is_compressed or root.has(_MESSAGE_METADATA)):
        # pyarrow would take what is compressed for what it becomes.
        raise _unsupported("The buffers are compressed as they were before Arrow 1.0; write the data again")
    if is_compressed:
        counted.unpacked += _unpacked(buffers[lengths > 0], np.frombuffer(message.body, np.uint8))


def _unpacked(buffers: np.ndarray, body: np.ndarray) -> int:
    """Add up how long compressed buffers say that they become. Raises Problem for one that cannot be so long."""
    offsets, lengths = buffers["offset"], buffers["length"]
    if (lengths < _PREFIX).any() or (offsets < 0).any() or (offsets > body.size - lengths).any():
        raise Problem("malformed_body", "A compressed buffer lies outside its body.")
    declared = body[offsets[:, np.newaxis] + np.arange(_PREFIX)].view("<i8")[:, 0]
    if (declared < _NOT_COMPRESSED).any():
        raise Problem("malformed_body", "A compressed buffer declares a negative uncompressed length.")
    return sum(np.where(declared == _NOT_COMPRESSED, lengths, declared).tolist())


def _check_schema(schema: Flat) -> None:
    """Refuse a schema that would grow: many parts of a flatbuffer can name the same one, and each gets a copy."""
    if schema.number(_ENDIANNESS, _READ_INT16):
        raise _unsupported("The Arrow data is big-endian; send it little-endian")
    if schema.length(_FIELDS) > MOST_COLUMNS:
        raise too_many_columns()
    size = 0
    for part in _sizes_of_all(schema, _FIELDS, _SCHEMA_METADATA):
        size += part
        if size > LONGEST_HEADER:
            raise too_many_columns()


def _sizes_of_all(parent: Flat, fields: int, metadata: int) -> Iterator[int]:
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
