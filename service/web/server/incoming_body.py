"""The body of a request while it arrives: in memory if short, else in an unnamed file.

Knows bytes, files and limits; nothing of HTTP.
"""

import io
from collections.abc import Callable
from contextlib import suppress
from typing import BinaryIO, cast

from service.web.body import too_large


class IncomingBody:
    """A body being received.

    limit        the most bytes accepted.
    in_memory    the most bytes kept in memory.
    spool        opens a file for a longer body.
    is_spooled   whether it is in a file.
    """

    def __init__(self, limit: int, in_memory: int, spool: Callable[[], BinaryIO]) -> None:
        self.length = 0
        self._limit = limit
        self._in_memory = in_memory
        self._spool = spool
        self._file: BinaryIO = io.BytesIO()
        self.is_spooled = False

    def expect(self, size: int) -> None:
        """Raise Problem body_too_large if this many more bytes are too many."""
        if self.length + size > self._limit:
            raise too_large(self._limit)

    def write(self, data: bytes | memoryview) -> None:
        """Append bytes. Raises Problem body_too_large; OSError without room."""
        self.expect(len(data))
        self.length += len(data)
        if self.length > self._in_memory and not self.is_spooled:
            before = cast("io.BytesIO", self._file)
            self._file = self._spool()
            self.is_spooled = True
            self._file.write(before.getbuffer())
        self._file.write(data)

    def whole(self) -> BinaryIO:
        """Return the body, ready to be read. Raises OSError without room for the last of it."""
        self._file.flush()
        self._file.seek(0)
        return self._file

    def close(self) -> None:
        """Drop it."""
        with suppress(OSError):  # no room for unwritten bytes; the file is closed anyway
            self._file.close()
