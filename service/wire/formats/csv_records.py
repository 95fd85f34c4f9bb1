"""The records of a CSV body: where each begins, its number, and whether it has a value.

Looked at only if a record is at fault or has no value: pyarrow reads the others without.
"""

from dataclasses import dataclass

import numpy as np

from service.curves.arrays import BoolArray, IntArray

_LINE_FEED, _RETURN, _QUOTE = b'\n\r"'


@dataclass(frozen=True, slots=True)
class Records:
    """All records of a body: lines, but those within quotes belong to one record.

    lengths      (n,) bytes, with the line end.
    is_blank     (n,) whether there is nothing but the line end.
    has_value    (n,) whether there is anything besides delimiters, blanks and quotes.
    """

    lengths: IntArray
    is_blank: BoolArray
    has_value: BoolArray

    @classmethod
    def of(cls, body: bytes, delimiter: bytes = b"") -> "Records":
        """Find the records of a body that ends with a line end and whose quotes are well placed."""
        text = np.frombuffer(body, np.uint8)
        feeds, returns = text == _LINE_FEED, text == _RETURN
        is_mark = feeds | returns
        is_end = is_mark.copy()
        if b'"' in body:
            is_end &= np.cumsum(text == _QUOTE, dtype=np.uint8) % 2 == 0
        is_end[:-1] &= ~(returns[:-1] & feeds[1:])  # \r\n is one end
        starts = np.concatenate(([0], np.flatnonzero(is_end)[:-1] + 1))
        is_blank = np.logical_and.reduceat(is_mark, starts)
        for mark in {*delimiter, *b' \t"'}:
            is_mark |= text == mark
        return cls(np.diff(starts, append=text.size), is_blank, ~np.logical_and.reduceat(is_mark, starts))

    def only(self, body: bytes, kept: BoolArray) -> bytes:
        """The body with these records alone."""
        return np.frombuffer(body, np.uint8)[np.repeat(kept, self.lengths)].tobytes()


def record_number(body: bytes, place: int) -> int:
    """The number of the record that holds this byte, from 1; quotes before it are well placed."""
    return Records.of(body[:place] + b"\n").lengths.size
