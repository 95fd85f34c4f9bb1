"""Reads Parquet files: bytes to the same typed columns as from an Arrow stream.

The size to which a file unpacks is read from its page headers and checked against the limits before any page is
unpacked.
"""

import pyarrow as pa
from pyarrow import parquet

from service.curves.clock import is_bounded, still_time
from service.wire.formats.arrow_columns import UNREADABLE, ArrowColumn, typed_column, validate
from service.wire.formats.codings import Body
from service.wire.formats.parquet_footer import Chunk, Column, Footer
from service.wire.formats.parquet_pages import page_headers
from service.wire.formats.table_columns import LONGEST_HEADER, no_rows, too_many_rows, unique_places
from service.wire.limits import Limits
from service.wire.problems import Problem, invalid_value

MOST_PAGES = 20_000
"""Each page costs time, however small it is."""
_BYTES_OF_A_CELL = 8
"""The bytes that a cell may take in memory; a page of few bytes may repeat a cell many times."""

_PLAIN_DICTIONARY, _DELTA_LENGTH_BYTE_ARRAY, _DELTA_BYTE_ARRAY, _RLE_DICTIONARY = 2, 6, 7, 8
_DICTIONARY_ENCODINGS = {_PLAIN_DICTIONARY, _RLE_DICTIONARY}
_MISUNDERSTOOD = (KeyError, IndexError, TypeError, ValueError)
"""What reading an invalid footer or page header raises."""


class ParquetTable:
    """A Parquet file whose footer has been read; columns are read on demand.

    skips   whether a column refused for its length or its encoding is treated as unsupported instead.
    """

    header_is = "the columns are"

    def __init__(self, body: Body, limits: Limits, *, skips: bool = False) -> None:
        self._body = body
        self._limits = limits
        self._skips = skips
        self._pages = self._header_bytes = self._bytes = 0
        try:
            self._footer = Footer(body)
        except _MISUNDERSTOOD:
            raise _malformed() from None
        if self._footer.rows > limits.max_rows:
            raise too_many_rows(self._footer.rows, limits.max_rows)
        self.header = [column.name for column in self._footer.columns]

    @property
    def rows(self) -> int:
        """The number of rows that the footer declares."""
        return self._footer.rows

    def read(self, names: list[str]) -> dict[str, ArrowColumn]:
        """Read the named columns, without data if their type is not supported."""
        places = unique_places(self.header, names)
        if self._footer.rows == 0:
            raise no_rows("The table has no rows.")
        chosen = {name: self._footer.columns[place] for name, place in places.items()}
        readable = [column for column in chosen.values() if column.element is not None]
        cells = self._cells(readable) if readable else {}
        return {
            name: typed_column(cells[column], column.read_as) if column in cells else ArrowColumn(None, column.read_as)
            for name, column in chosen.items()
        }

    def _cells(self, columns: list[Column]) -> dict[Column, pa.ChunkedArray]:
        try:
            chunks = self._footer.chunks(columns)
            encodings = {column: self._encodings(column, chunks[column]) for column in columns}
            read = {column: found for column, found in encodings.items() if found is not None}
            if not read:
                return {}
            footer = self._footer.of_columns(list(read))
        except _MISUNDERSTOOD:
            raise _malformed() from None
        repeating = [str(place) for place, found in enumerate(read.values()) if found & _DICTIONARY_ENCODINGS]
        try:
            table = self._table(footer, repeating)
            validate(table.columns, self._limits.max_decompressed_bytes)
        except MemoryError:
            raise
        except UNREADABLE:
            raise _malformed() from None
        if table.num_rows != self._footer.rows:
            raise _malformed()
        return dict(zip(read, table.columns, strict=True))

    def _encodings(self, column: Column, chunks: list[Chunk]) -> set[int] | None:
        """Return the encodings of a text column's pages; None for a column that is skipped."""
        before = self._bytes
        try:
            return self._encodings_within_limits(column, chunks)
        except Problem as problem:
            # Where others wait, exceeding a smaller limit moves the request elsewhere.
            if not self._skips or (is_bounded() and problem.type.code == "body_too_large"):
                raise
            self._bytes = before
            return None

    def _table(self, footer: bytes, repeating: list[str]) -> pa.Table:
        metadata = parquet.ParquetFile(pa.BufferReader(footer)).metadata
        file = parquet.ParquetFile(
            pa.BufferReader(self._body),
            metadata=metadata,
            read_dictionary=repeating,  # each distinct text is held only once
            pre_buffer=False,
            page_checksum_verification=True,
        )
        return file.read(use_threads=False)

    def _encodings_within_limits(self, column: Column, chunks: list[Chunk]) -> set[int]:
        """Return the encodings of a text column's pages, after checking that the column unpacks within the limits."""
        encodings: set[int] = set()
        unpacked = 0
        for chunk in chunks:
            for page in page_headers(self._body, chunk.start, chunk.end, chunk.rows):
                still_time()
                encodings.add(page.encoding)
                unpacked += page.uncompressed_bytes
                self._pages += 1
                self._header_bytes += page.header_bytes
                if self._pages > MOST_PAGES or self._header_bytes > LONGEST_HEADER:
                    detail = f"The columns have more than {MOST_PAGES} pages, or pages with long headers; write fewer."
                    raise invalid_value("", "too_many_batches", detail)
        self._bytes += max(unpacked, _BYTES_OF_A_CELL * self._footer.rows)
        if self._bytes > self._limits.max_decompressed_bytes:
            most = self._limits.max_decompressed_bytes
            raise Problem("body_too_large", f"The columns unpack to more than the limit of {most} bytes.")
        # Text encoded by reference to the text before may unpack to any length; so may a dictionary that is decoded.
        mixed = _DELTA_LENGTH_BYTE_ARRAY in encodings and encodings & _DICTIONARY_ENCODINGS
        if _DELTA_BYTE_ARRAY in encodings or mixed:
            detail = f"A column of text is encoded as {'DELTA_LENGTH_BYTE_ARRAY' if mixed else 'DELTA_BYTE_ARRAY'}"
            raise Problem("unsupported_media_type", f"{detail}; write it plain or with a dictionary.")
        return encodings if column.is_text else set()


def _malformed() -> Problem:
    return Problem("malformed_body", "The body is not a Parquet file, or only part of one.")
