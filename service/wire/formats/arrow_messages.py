"""What an Arrow IPC stream declares, read from its messages before anything is allocated for them.

pyarrow verifies each message as a flatbuffer; then a few of its fields are read here. Refused at once are too many
rows, columns or batches, and buffers that share bytes or unpack to more than the limit.
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from dataclasses import field as _field

import numpy as np
import pyarrow as pa

from service.curves.clock import still_time
from service.wire.formats.arrow_fields import (
    BATCH_BUFFERS,
    BATCH_COMPRESSION,
    BATCH_LENGTH,
    CONTINUATION,
    ENDIANNESS,
    FIELD_CHILDREN,
    FIELD_METADATA,
    FIELD_NAME,
    FIELD_TYPE,
    FIELD_TYPE_ID,
    FIELDS,
    MESSAGE_HEADER,
    MESSAGE_METADATA,
    SCHEMA_METADATA,
)
from service.wire.formats.flatbuffer import INT16, INT64, UINT8, Flat
from service.wire.formats.table_columns import LONGEST_HEADER, MOST_COLUMNS, too_many_columns, too_many_rows
from service.wire.limits import Limits
from service.wire.problems import Problem, invalid_value

MOST_BATCHES = 10_000
"""Each record batch or dictionary costs time, however small it is."""
MOST_PAIRS = 10
"""The most pairs of custom metadata in a message: pyarrow copies each, and all may point to one long text."""

_PAIR_KEY, _PAIR_VALUE = 0, 1
_DICTIONARY_ID, _DATA, _IS_DELTA = 0, 1, 2
_BUFFER = np.dtype([("offset", "<i8"), ("length", "<i8")])
_PREFIX = 8
"""Bytes in front of a compressed buffer that give its uncompressed length."""
_NOT_COMPRESSED = -1
"""The value there for a buffer that is stored uncompressed, because compression would not shorten it."""
_LISTS_OF_TYPES = {10, 14}
"""The second field of a timestamp's type is a time zone, that of a union's the numbers of its types."""
_OVERHEAD = 64
"""The bytes counted for a field, or a pair of metadata, besides its text."""


Place = tuple[int, int, int]
"""Where a message begins in its stream, and the bytes of its metadata (including the prefix) and of its body."""


@dataclass(slots=True)
class Counted:
    """The totals of a stream's messages.

    unpacked      the uncompressed bytes of compressed buffers.
    identities    the id of each dictionary.
    """

    rows: int = 0
    unpacked: int = 0
    batches: list[Place] = _field(default_factory=list)
    dictionaries: list[Place] = _field(default_factory=list)
    identities: list[int] = _field(default_factory=list)


def count(stream: memoryview, limits: Limits) -> Counted:
    """Go through all messages of a stream and add up what they declare.

    A stream ends with an end-of-stream marker or, as the format allows, without one after any message. Raises Problem
    if it is not a stream, or exceeds the limits.
    """
    source = pa.BufferReader(stream)
    reader = pa.ipc.MessageReader.open_stream(source)
    counted = Counted()
    first = _next(reader, source, stream)
    if first is None or first[0].type != "schema":
        raise Problem("malformed_body", "The body is not an Arrow stream: it does not begin with a schema.")
    _check_schema(_root(first[0]).inner(MESSAGE_HEADER))
    while (found := _next(reader, source, stream)) is not None:
        _add(counted, *found)
        if counted.rows > limits.max_rows:
            raise too_many_rows(counted.rows, limits.max_rows)
        if counted.unpacked > limits.max_decompressed_bytes:
            most = limits.max_decompressed_bytes
            raise Problem("body_too_large", f"The compressed buffers unpack to more than the limit of {most} bytes.")
        if len(counted.batches) + len(counted.dictionaries) > MOST_BATCHES:
            detail = f"There are more than {MOST_BATCHES} record batches and dictionaries; write fewer, longer ones."
            raise invalid_value("", "too_many_batches", detail)
    if source.tell() < len(stream):
        raise Problem("malformed_body", "There is data after the end of the Arrow stream.")
    return counted


def _next(
    reader: pa.ipc.MessageReader, source: pa.BufferReader, stream: memoryview
) -> tuple[pa.ipc.Message, Place] | None:
    """Read a message, refusing metadata that is too long or would grow; None at the end."""
    begin = start = source.tell()
    if stream[start : start + len(CONTINUATION)] == CONTINUATION:
        start += len(CONTINUATION)
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
    """Refuse a message's custom metadata that pyarrow would copy many times; it is not verified yet."""
    try:
        pairs = Flat.root(message).length(MESSAGE_METADATA)
    except struct.error:
        raise Problem("malformed_body", "An Arrow message points outside itself.") from None
    if pairs > MOST_PAIRS:
        raise _unsupported(f"A message has more than {MOST_PAIRS} pairs of custom metadata; leave them out")


def _root(message: pa.ipc.Message) -> Flat:
    return Flat.root(message.metadata.to_pybytes())


def _add(counted: Counted, message: pa.ipc.Message, place: Place) -> None:
    """Count a message: a record batch, or a dictionary, which has no rows of the table."""
    if message.type not in {"record batch", "dictionary"}:  # pyarrow does not verify unknown types
        raise Problem("malformed_body", f"An Arrow stream of a table has no {message.type} after its schema.")
    still_time()
    root = _root(message)
    batch = root.inner(MESSAGE_HEADER)
    if message.type == "dictionary":
        if batch.number(_IS_DELTA, UINT8):
            raise _unsupported("A dictionary is sent in parts (as deltas); send each dictionary whole")
        counted.dictionaries.append(place)
        counted.identities.append(batch.number(_DICTIONARY_ID, INT64))
        batch = batch.inner(_DATA)
    rows = batch.number(BATCH_LENGTH, INT64)
    if rows < 0:
        raise Problem("malformed_body", "A record batch or a dictionary has a negative length.")
    if message.type == "record batch":
        counted.batches.append(place)
        counted.rows += rows
    buffers = batch.structs(BATCH_BUFFERS, _BUFFER)
    lengths = buffers["length"]
    if (lengths < 0).any() or lengths.sum(dtype=np.float64) > message.body.size:
        # If columns share buffers, each would become an array of its own.
        raise Problem("malformed_body", "The buffers of a record batch or a dictionary are longer than its body.")
    is_compressed = batch.has(BATCH_COMPRESSION)
    if message.metadata_version < pa.ipc.MetadataVersion.V5 and (is_compressed or root.has(MESSAGE_METADATA)):
        # Compression was declared in that metadata, and pyarrow would read the compressed bytes as values.
        raise _unsupported("The buffers are compressed as they were before Arrow 1.0; write the data again")
    if is_compressed:
        counted.unpacked += _unpacked(buffers[lengths > 0], np.frombuffer(message.body, np.uint8))


def _unpacked(buffers: np.ndarray, body: np.ndarray) -> int:
    """Add up the declared uncompressed lengths of buffers. Raises Problem for an impossible one."""
    offsets, lengths = buffers["offset"], buffers["length"]
    if (lengths < _PREFIX).any() or (offsets < 0).any() or (offsets > body.size - lengths).any():
        raise Problem("malformed_body", "A compressed buffer lies outside its body.")
    declared = body[offsets[:, np.newaxis] + np.arange(_PREFIX)].view("<i8")[:, 0]
    if (declared < _NOT_COMPRESSED).any():
        raise Problem("malformed_body", "A compressed buffer declares a negative uncompressed length.")
    return sum(np.where(declared == _NOT_COMPRESSED, lengths, declared).tolist())


def _check_schema(schema: Flat) -> None:
    """Refuse a schema that would grow: many parts of a flatbuffer can refer to one other, and each gets a copy."""
    if schema.number(ENDIANNESS, INT16):
        raise _unsupported("The Arrow data is big-endian; send it little-endian")
    if schema.length(FIELDS) > MOST_COLUMNS:
        raise too_many_columns()
    size = 0
    for part in _sizes_of_all(schema, FIELDS, SCHEMA_METADATA):
        size += part
        if size > LONGEST_HEADER:
            raise too_many_columns()


def _sizes_of_all(parent: Flat, fields: int, metadata: int) -> Iterator[int]:
    """Yield the size of each nested field and of each pair of metadata."""
    for pair in parent.each(metadata):
        yield _OVERHEAD + pair.length(_PAIR_KEY) + pair.length(_PAIR_VALUE)
    for field in parent.each(fields):
        still_time()
        yield _OVERHEAD + field.length(FIELD_NAME)
        if field.number(FIELD_TYPE_ID, UINT8) in _LISTS_OF_TYPES:
            yield 4 * field.inner(FIELD_TYPE).length(1)
        yield from _sizes_of_all(field, FIELD_CHILDREN, FIELD_METADATA)


def _unsupported(detail: str) -> Problem:
    return Problem("unsupported_media_type", f"{detail}.")
