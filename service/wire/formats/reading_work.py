"""How much work a body is to read, told by counting its marks, in the rows of service/curves/budget.py.

Each constant says what was measured for it, the most that hostile bodies made of it; `python -m tests.costs` measures
again.
"""

_BODY_BYTES = 64
"""So many bytes of a body are searched, and its numbers read, in the time of a row: 0.3 to 0.9 µs."""

_OBJECT, _MEMBER, _VALUE = 30, 1.5, 0.5
"""What is read one by one from JSON: an object that is checked, 15 µs; a member, 0.7 µs; a value, 0.1 to 0.4 µs."""

_CELL = 0.4
"""A cell of CSV: 0.05 to 0.2 µs."""

_LISTED_COLUMN, _LISTED_LIST = 320, 80
"""What is listed of a column: 70 to 170 µs, as pyarrow's calls take; of a list in JSON: 4 to 40 µs."""


def listing_work(*, columns: int = 0, lists: int = 0) -> float:
    """Work to list what columns of a table hold, or lists of a JSON body, besides reading them."""
    return columns * _LISTED_COLUMN + lists * _LISTED_LIST


def json_work(text: bytes, size: int) -> float:
    """Work to read a JSON body of this many bytes of which this is left when long lists of numbers are lifted out."""
    objects, members, values = (text.count(mark) for mark in (b"{", b":", b","))
    lists = text.count(b"[")
    return size / _BODY_BYTES + objects * _OBJECT + members * _MEMBER + (values + lists) * _VALUE


def csv_work(body: bytes, delimiter: bytes) -> float:
    """Work to read a CSV body."""
    cells = body.count(delimiter) + body.count(b"\n") + body.count(b"\r")
    return len(body) / _BODY_BYTES + cells * _CELL
