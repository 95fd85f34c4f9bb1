"""The work to read a body, estimated by counting its punctuation, in the rows of service/wire/budget.py.

Each constant states its measurements, up to those of hostile bodies; `python -m tests.tools.costs` repeats them.
"""

_BODY_BYTES = 64
"""Bytes of a body that are searched, and whose numbers are read, in the time of a row: 0.3 to 0.9 µs."""

_OBJECT, _MEMBER, _VALUE = 30, 1.5, 0.5
"""What JSON costs one by one: a checked object, 15 µs; a member, 0.7 µs; a value, 0.1 to 0.4 µs."""

_FEW_DIGITS, _MORE_DIGIT = 8, 0.06
"""More digits than these for each value or member, besides their bytes: up to 30 ns each, in a number halfway between
two of the least doubles."""

_CELL = 0.4
"""A cell of CSV: 0.05 to 0.2 µs."""

BATCH, DICTIONARY, FIELD = 35, 130, 10
"""Parts of an Arrow stream, however short: a record batch, 18 µs; a dictionary, 60 µs; a field of its schema, 5 µs."""

FOOTER_BYTE, CHUNK, PAGE = 0.5, 100, 60
"""Parts of a Parquet file: a byte of its footer, 0.2 to 0.6 µs; a column in a row group, 50 µs; a page of it, 30 µs."""

_LISTED_COLUMN, _LISTED_LIST = 320, 80
"""Listing a column: 70 to 170 µs, for pyarrow's calls; a list in JSON: 4 to 40 µs."""


def listing_work(*, columns: int = 0, lists: int = 0) -> float:
    """Work to list the contents of a table's columns, or of lists in a JSON body, besides reading them."""
    return columns * _LISTED_COLUMN + lists * _LISTED_LIST


def json_work(text: bytes, size: int) -> float:
    """Work to read a JSON body of this many bytes, given the text left after lifting out long lists of numbers."""
    objects, members, values = (text.count(mark) for mark in (b"{", b":", b","))
    lists = text.count(b"[")
    digits = len(text) - len(text.translate(None, b"0123456789"))
    more = max(0, digits - _FEW_DIGITS * (values + members))
    of_each = objects * _OBJECT + members * _MEMBER + (values + lists) * _VALUE + more * _MORE_DIGIT
    return size / _BODY_BYTES + of_each


def csv_work(body: bytes, delimiter: bytes) -> float:
    """Work to read a CSV body."""
    cells = body.count(delimiter) + body.count(b"\n") + body.count(b"\r")
    return len(body) / _BODY_BYTES + cells * _CELL
