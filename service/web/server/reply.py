"""An answer as the loop sends it: its head as bytes, and a body in memory or in a file.

Knows PEP 3333 and how a head is written; nothing of requests.
"""

import os
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import BinaryIO

from gunicorn import util


class FileBody:
    """The `wsgi.file_wrapper`: an answer's body in a file, which the loop sends."""

    def __init__(self, file: BinaryIO, block_size: int = 1 << 16) -> None:
        self.file = file
        self._block_size = block_size

    def __iter__(self) -> Iterator[bytes]:
        return iter(lambda: self.file.read(self._block_size), b"")

    def close(self) -> None:
        """Close the file."""
        self.file.close()

    def extent(self) -> tuple[int, int] | None:
        """The offset and length of the body in the file; None if it is not a real file."""
        try:
            descriptor, start = self.file.fileno(), self.file.tell()
            return start, os.fstat(descriptor).st_size - start
        except OSError:  # io.UnsupportedOperation is one
            return None


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer: its status line and its fields except Connection, its body, and the length of that."""

    head: bytes
    body: bytes | FileBody
    length: int

    def drop(self) -> None:
        """Release the body, sent or not."""
        close_body(self.body)


def close_body(body: object) -> None:
    """Close a body as PEP 3333 requires."""
    close = getattr(body, "close", None)
    if close is not None:
        close()


def written_head(status: str, fields: Iterable[tuple[str, str]], length: int | None = None) -> bytes:
    """Write the status line and the fields, adding a length if they lack it.

    Raises ValueError for a field with a line break.
    """
    lines = [f"HTTP/1.1 {status}", f"Date: {_date(int(time.time()))}", *[f"{name}: {value}" for name, value in fields]]
    head = "\r\n".join([*lines, ""])
    if not head.count("\r") == head.count("\n") == len(lines):
        raise ValueError("a field of the answer holds the end of a line")
    if length is not None and "\r\ncontent-length: " not in head.lower():
        head += f"Content-Length: {length}\r\n"
    return head.encode("latin-1")


@lru_cache(1)
def _date(now: int) -> str:
    """The date at a time in seconds, for the field Date."""
    written: str = util.http_date(now)
    return written
