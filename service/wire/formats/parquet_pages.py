"""The pages of a Parquet column as their headers declare them: number, lengths and encodings.

A footer can declare anything; unpacking follows the page headers.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from service.wire.formats.codings import Body
from service.wire.formats.thrift_compact import I32, STRUCT, Reader

_PAGE_TYPE, _UNCOMPRESSED_SIZE, _COMPRESSED_SIZE = ((field, I32) for field in (1, 2, 3))
_DATA_PAGE, _DICTIONARY_PAGE, _DATA_PAGE_V2 = 0, 2, 3
_OWN_HEADER = {
    _DATA_PAGE: ((5, STRUCT), (2, I32)),
    _DICTIONARY_PAGE: ((7, STRUCT), (2, I32)),
    _DATA_PAGE_V2: ((8, STRUCT), (4, I32)),
}
"""{type of a page: (field of its specific header, field in that of its encoding)}"""
_PAGE_VALUES = (1, I32)
_LONGEST_PAGE_HEADER = 1 << 16
"""Bytes of the longest page header: it may hold the smallest and the largest text of its page."""


@dataclass(frozen=True, slots=True)
class ParquetPage:
    """What a page declares; the values of a dictionary are not rows of the column."""

    rows: int
    header_bytes: int
    uncompressed_bytes: int
    encoding: int


def page_headers(body: Body, start: int, end: int, rows: int) -> Iterator[ParquetPage]:
    """Read the page headers of a column chunk up to its last row.

    Raises KeyError or ValueError (of which NotThriftError is one) if they are invalid.
    """
    while rows > 0:
        reader = Reader(body, start, min(end, start + _LONGEST_PAGE_HEADER))
        header = reader.struct()
        kind = header[_PAGE_TYPE]
        inner, encoding = _OWN_HEADER[kind]
        own = header[inner]
        found = 0 if kind == _DICTIONARY_PAGE else own[_PAGE_VALUES]
        page = ParquetPage(found, reader.position - start, header[_UNCOMPRESSED_SIZE], own[encoding])
        compressed = header[_COMPRESSED_SIZE]
        start = reader.position + compressed
        rows -= page.rows
        if min(page.rows, page.uncompressed_bytes, compressed, rows) < 0 or start > end:
            raise ValueError("A page is longer than its column.")
        yield page
