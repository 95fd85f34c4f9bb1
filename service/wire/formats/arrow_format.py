"""Reads Arrow IPC streams and files: bytes to typed columns, of which only those that a request reads are validated.

Everything that a stream declares is checked against the limits before pyarrow allocates anything.
"""

import struct

import pyarrow as pa

from service.environment import require_memory
from service.wire.formats.arrow_columns import UNREADABLE, ArrowColumn, may_define_slices, typed_column, validate
from service.wire.formats.arrow_file import ArrowFile
from service.wire.formats.arrow_messages import count
from service.wire.formats.codings import Body
from service.wire.formats.flatbuffer import Omitted
from service.wire.formats.table_columns import no_rows, unique_places
from service.wire.limits import Limits
from service.wire.problems import Problem


class ArrowTable:
    """An Arrow stream, perhaps from a file, whose messages have been checked; columns are read on demand."""

    header_is = "the columns are"

    def __init__(self, body: Body, limits: Limits, *, is_file: bool = False) -> None:
        self._is_file = is_file
        self._most_bytes = limits.max_decompressed_bytes
        file = ArrowFile(body) if is_file else None
        self._stream = memoryview(file.stream if file else body)
        try:
            self._counted = count(self._stream, limits)
            self._schema = pa.ipc.open_stream(self._stream).schema
            self.header = list(self._schema.names)
        except MemoryError:
            raise
        except Omitted:
            raise Problem("malformed_body", "An Arrow message is empty.") from None
        except (struct.error, *UNREADABLE):
            raise self._malformed() from None
        if file:
            file.check(self._counted)

    @property
    def rows(self) -> int:
        """The number of rows that the batches declare."""
        return self._counted.rows

    def read(self, names: list[str]) -> dict[str, ArrowColumn]:
        """Read the named columns, without data if their type is not supported."""
        places = unique_places(self.header, names)
        if self._counted.rows == 0:
            raise no_rows("The table has no rows.")
        types = self._schema.types
        kinds = {name: types[place] for name, place in places.items()}
        columns = self._columns({name: place for name, place in places.items() if may_define_slices(kinds[name])})
        return {name: columns.get(name) or ArrowColumn(None, str(kinds[name])) for name in names}

    def _columns(self, places: dict[str, int]) -> dict[str, ArrowColumn]:
        if not places:
            return {}
        options = pa.ipc.IpcReadOptions(
            included_fields=sorted(places.values()),
            ensure_alignment=pa.ipc.Alignment.DataTypeSpecific,
            use_threads=False,
        )
        if self._counted.unpacked:
            require_memory(self._counted.unpacked)
        try:
            table = pa.ipc.open_stream(self._stream, options=options).read_all()
            validate(table.columns, self._most_bytes)
            return {name: typed_column(table[name], str(self._schema.types[place])) for name, place in places.items()}
        except MemoryError:
            raise
        except UNREADABLE:
            raise self._malformed() from None

    def _malformed(self) -> Problem:
        kind = "file" if self._is_file else "stream"
        return Problem("malformed_body", f"The body is not an Arrow {kind}, or only part of one.")
