"""An answer as the loop sends it: its head as bytes, and a body in memory, in a file, or still being produced.

Knows PEP 3333 and how a head is written; nothing of requests.
"""

import os
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from threading import Event
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


class Stream:
    """A body that a thread produces piece by piece, as the loop has room."""

    def __init__(self) -> None:
        self._room = Event()
        self._is_wanted = True

    def wait_for_room(self) -> bool:
        """Wait until the loop has room for a piece; returns whether one is still wanted. On the thread."""
        self._room.wait()
        self._room.clear()
        return self._is_wanted

    def make_room(self) -> None:
        """Ask for the next piece. On the loop."""
        self._room.set()

    def leave(self) -> None:
        """Ask for no more pieces. On the loop."""
        self._is_wanted = False
        self._room.set()


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer: its status line, its fields except Connection, and its body.

    length      of the body; None if the last chunk, or the end of the connection, marks its end.
    is_chunked  whether the body is written in chunks.
    """

    head: bytes
    body: bytes | FileBody | Stream
    length: int | None
    is_chunked: bool = False

    def drop(self) -> None:
        """Release the body, sent or not."""
        if isinstance(self.body, FileBody):
            self.body.close()
        elif isinstance(self.body, Stream):
            self.body.leave()


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
