"""Reads Parquet files: bytes to typed columns, of which only those that a request reads are unpacked.

Only an evaluator reads them, under its limit of memory, because pyarrow may not survive a crafted body.
"""

import pyarrow as pa
from pyarrow import parquet, types

from service.wire.columns import Column, is_readable, typed_column, unreadable_column
from service.wire.columns.column import is_text
from service.wire.formats.codings import Body
from service.wire.formats.table_columns import (
    MOST_COLUMNS,
    no_rows,
    too_many_columns,
    too_many_rows,
    unique_places,
)
from service.wire.formats.validation import UNREADABLE, validate
from service.wire.limits import Limits
from service.wire.problems import Problem

_BYTES_OF_A_CELL = 8
"""The bytes that a cell may take in memory; a page of few bytes may repeat a cell many times."""

_PARQUET_NAMES = (
    (types.is_date, "date"),
    (types.is_time, "time"),
    (types.is_timestamp, "timestamp"),
    (types.is_nested, "nested"),
)
"""Types that are called otherwise than in Arrow."""


class ParquetTable:
    """A Parquet file whose footer has been read; columns are read on demand."""

    header_is = "the columns are"

    def __init__(self, body: Body, limits: Limits) -> None:
        self._body = pa.py_buffer(memoryview(body))
        self._limits = limits
        try:
            file = self._file([])
            self._schema = file.schema_arrow
        except MemoryError:
            raise
        except UNREADABLE as error:
            raise _refused(error) from None
        self.header = list(self._schema.names)
        self.rows = file.metadata.num_rows
        if self.rows > limits.max_rows:
            raise too_many_rows(self.rows, limits.max_rows)
        if len(self.header) > MOST_COLUMNS:
            raise too_many_columns()

    def read(self, names: list[str]) -> dict[str, Column]:
        """Read the named columns, without data if their type is not supported."""
        kinds = {name: self._schema.types[place] for name, place in unique_places(self.header, names).items()}
        if not self.rows:
            raise no_rows("The table has no rows.")
        read = [name for name, kind in kinds.items() if is_readable(kind)]
        try:
            self._check_size(_BYTES_OF_A_CELL * self.rows * len(read))
            table = self._read(read, [name for name in read if is_text(kinds[name]) or types.is_binary(kinds[name])])
            self._check_size(table.get_total_buffer_size())
            validate([table[name] for name in read], self._limits.max_decompressed_bytes)
            columns = {name: typed_column(table[name], _name_of(kinds[name])) for name in read}
        except MemoryError:
            raise
        except UNREADABLE as error:
            raise _refused(error) from None
        if read and table.num_rows != self.rows:
            raise _malformed()
        return columns | {name: unreadable_column(_name_of(kinds[name])) for name in names if name not in columns}

    def _read(self, names: list[str], texts: list[str]) -> pa.Table:
        """Read columns; each distinct text is held only once, unless it is encoded by its difference to another.

        A name with a point may also select a column within another, which is not looked at.
        """
        try:
            return self._file(texts).read(columns=names, use_threads=False)
        except OSError as error:
            if "Not yet implemented" not in str(error):
                raise
            return self._file([]).read(columns=names, use_threads=False)

    def _file(self, repeating: list[str]) -> parquet.ParquetFile:
        return parquet.ParquetFile(
            pa.BufferReader(self._body),
            read_dictionary=repeating,
            pre_buffer=False,
            page_checksum_verification=True,
        )

    def _check_size(self, size: int) -> None:
        """Refuse columns that are too large. pyarrow is not asked for their sizes in the footer: some make it abort."""
        most = self._limits.max_decompressed_bytes
        if size > most:
            raise Problem("body_too_large", f"The columns unpack to more than the limit of {most} bytes.")


def _name_of(kind: pa.DataType) -> str:
    """What a type is called in Parquet."""
    return next((name for is_it, name in _PARQUET_NAMES if is_it(kind)), str(kind))


def _refused(error: Exception) -> Problem:
    if "crypt" in str(error).lower():
        return Problem("unsupported_media_type", "The Parquet file is encrypted; send it unencrypted.")
    return _malformed()


def _malformed() -> Problem:
    return Problem("malformed_body", "The body is not a Parquet file, or only part of one.")
