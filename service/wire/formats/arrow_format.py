"""Reads Arrow IPC streams and files: bytes to typed columns, of which only those that a request reads are validated.

Only an evaluator reads them, under its limit of memory, because pyarrow may not survive a crafted body.
"""

import struct
from collections.abc import Iterable

import numpy as np
import pyarrow as pa

from service.wire.columns import Column, is_readable, typed_column, unreadable_column
from service.wire.formats.codings import Body
from service.wire.formats.table_columns import MOST_COLUMNS, no_rows, too_many_columns, too_many_rows, unique_places
from service.wire.formats.validation import UNREADABLE, validate
from service.wire.limits import Limits
from service.wire.problems import Problem, invalid_value

MOST_BATCHES = 10_000
"""Each batch costs time, however short it is."""

_BEFORE_MESSAGES = 8
"""Bytes of an Arrow file before its first message."""

_HEADER, _DATA, _BUFFERS, _COMPRESSION = 2, 1, 2, 3
"""Fields in Arrow's Message.fbs by their indices: of a message, of a dictionary, and two of a record batch."""


class ArrowTable:
    """An Arrow stream or file whose schema has been read; columns are read on demand."""

    header_is = "the columns are"

    def __init__(self, body: Body, limits: Limits, *, is_file: bool = False) -> None:
        self._body = pa.py_buffer(memoryview(body))
        self._limits = limits
        self._is_file = is_file
        self.rows = 0
        try:
            self._check_compression()
            self._schema = self._opened([])[1].schema
            self.header = list(self._schema.names)
        except MemoryError:
            raise
        except (struct.error, IndexError, ValueError, *UNREADABLE):
            raise self._malformed() from None
        if len(self.header) > MOST_COLUMNS:
            raise too_many_columns()

    def read(self, names: list[str]) -> dict[str, Column]:
        """Read the named columns, without data if their type is not supported."""
        kinds = {name: self._schema.types[place] for name, place in unique_places(self.header, names).items()}
        read = [name for name, kind in kinds.items() if is_readable(kind)]
        try:
            table = self._table([self.header.index(name) for name in read])
            validate([table[name] for name in read], self._limits.max_decompressed_bytes)
            columns = {name: typed_column(table[name]) for name in read}
        except MemoryError:
            raise
        except UNREADABLE:
            raise self._malformed() from None
        return columns | {name: unreadable_column(kinds[name]) for name in names if name not in columns}

    def _table(self, fields: list[int]) -> pa.Table:
        """Read these fields of all batches, within the limits."""
        batches: list[pa.RecordBatch] = []
        size = 0
        source, reader = self._opened(sorted(fields))
        for batch in self._batches(reader):
            self.rows += batch.num_rows
            size += batch.get_total_buffer_size()
            if self.rows > self._limits.max_rows:
                raise too_many_rows(self.rows, self._limits.max_rows)
            if size > self._limits.max_decompressed_bytes:
                raise self._too_large()
            if len(batches) == MOST_BATCHES:
                detail = f"There are more than {MOST_BATCHES} record batches; write fewer, longer ones."
                raise invalid_value("", "too_many_batches", detail)
            batches.append(batch)
        if not self._is_file and source.tell() < self._body.size:
            raise Problem("malformed_body", "There is data after the end of the Arrow stream.")
        if not self.rows:
            raise no_rows("The table has no rows.")
        return pa.Table.from_batches(batches)

    def _check_compression(self) -> None:
        """Refuse what unpacks to more than the limit before anything is unpacked.

        So are batches that are compressed, but whose metadata is that of before Arrow 1.0: pyarrow takes their bytes
        for numbers.
        """
        most = self._limits.max_decompressed_bytes
        start = _BEFORE_MESSAGES if self._is_file else 0
        size = 0
        for message in pa.ipc.MessageReader.open_stream(self._body[start:]):
            unpacked = _unpacked_bytes(message, most)
            if unpacked and message.metadata_version == pa.ipc.MetadataVersion.V4:
                detail = "The Arrow data are compressed as they were before Arrow 1.0; write them anew."
                raise Problem("unsupported_media_type", detail)
            size += unpacked
            if size > most:
                raise self._too_large()

    def _opened(self, fields: list[int]) -> tuple[pa.BufferReader, pa.RecordBatchReader]:
        options = pa.ipc.IpcReadOptions(
            included_fields=fields or None, ensure_alignment=pa.ipc.Alignment.DataTypeSpecific, use_threads=False
        )
        source = pa.BufferReader(self._body)
        return source, (pa.ipc.open_file if self._is_file else pa.ipc.open_stream)(source, options=options)

    def _batches(self, reader: pa.RecordBatchReader) -> Iterable[pa.RecordBatch]:
        if self._is_file:
            return (reader.get_batch(place) for place in range(reader.num_record_batches))
        return reader  # type: ignore[no-any-return]  # pyarrow has no types

    def _too_large(self) -> Problem:
        most = self._limits.max_decompressed_bytes
        return Problem("body_too_large", f"The columns unpack to more than the limit of {most} bytes.")

    def _malformed(self) -> Problem:
        kind = "file" if self._is_file else "stream"
        return Problem("malformed_body", f"The body is not an Arrow {kind}, or only part of one.")


def _unpacked_bytes(message: pa.ipc.Message, most: int) -> int:
    """What the compressed buffers of a message unpack to, each of which begins with its length; little over `most`."""
    metadata = message.metadata.to_pybytes()
    if message.type not in {"record batch", "dictionary"}:
        return 0
    batch = _followed(metadata, _field(metadata, _followed(metadata, 0), _HEADER))
    if message.type == "dictionary":
        batch = _followed(metadata, _field(metadata, batch, _DATA))
    buffers = _field(metadata, batch, _BUFFERS)
    if batch in {buffers, _field(metadata, batch, _COMPRESSION)}:
        return 0
    listed = _followed(metadata, buffers)
    (count,) = struct.unpack_from("<I", metadata, listed)
    offsets, lengths = np.frombuffer(metadata, "<i8", 2 * count, listed + 4).reshape(-1, 2).T
    offsets = offsets[lengths > 0]
    body = np.frombuffer(message.body, np.uint8)
    sizes = body[offsets[:, None] + np.arange(8)].view("<i8")
    return int(np.clip(sizes, 0, most + 1).sum())


def _followed(metadata: bytes, place: int) -> int:
    """The place to which an offset in a flatbuffer points."""
    found: int = place + struct.unpack_from("<I", metadata, place)[0]
    return found


def _field(metadata: bytes, table: int, index: int) -> int:
    """The place of a table's field in a flatbuffer; that of the table itself if it lacks the field."""
    offsets = table - struct.unpack_from("<i", metadata, table)[0]
    (length,) = struct.unpack_from("<H", metadata, offsets)
    place = 4 + 2 * index
    found: int = struct.unpack_from("<H", metadata, offsets + place)[0] if place < length else 0
    return table + found
