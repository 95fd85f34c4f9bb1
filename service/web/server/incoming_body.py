"""The body of a request while it comes: in memory while it is short, in a file without a name when it is not.

Knows bytes, files and limits; nothing of HTTP.
"""

import io
from collections.abc import Callable
from contextlib import suppress
from typing import BinaryIO, cast

from service.web.body import too_large


class IncomingBody:
    """A body that is being received.

    limit        the most bytes that are taken.
    in_memory    the most bytes that are kept in memory.
    spool        opens a file for more.
    is_spooled   whether it lies in a file.
    """

    def __init__(self, limit: int, in_memory: int, spool: Callable[[], BinaryIO]) -> None:
        self.length = 0
        self._limit = limit
        self._in_memory = in_memory
        self._spool = spool
        self._file: BinaryIO = io.BytesIO()
        self.is_spooled = False

    def write(self, data: bytes | memoryview) -> None:
        """Take what has come. Raises Problem body_too_large; OSError when there is no room for it."""
        self.length += len(data)
        if self.length > self._limit:
            raise too_large(self._limit)
        if self.length > self._in_memory and not self.is_spooled:
            before = cast("io.BytesIO", self._file)
            self._file = self._spool()
            self.is_spooled = True
            self._file.write(before.getbuffer())
        self._file.write(data)

    def whole(self) -> BinaryIO:
        """Give the body to be read. Raises OSError when there is no room for the last of it."""
        self._file.flush()
        self._file.seek(0)
        return self._file

    def close(self) -> None:
        """Drop it."""
        with suppress(OSError):  # what is not written yet finds no room; the file is closed all the same
            self._file.close()
