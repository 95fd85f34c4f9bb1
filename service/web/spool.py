"""The directory of big requests and their answers: files in it, and whether it is full.

Knows the free space that the file system reports, and recent failed writes, which are the only sign of a quota.
"""

import errno
import io
import logging
import math
import os
import tempfile
import time
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

LEAST_BYTES = 16 << 20
"""With fewer free bytes than this the directory counts as full, as the next body or answer may not fit."""

LEAST_SHARE = 10
"""A small directory counts as full with less than one byte in this many free."""

FAILURE_SECONDS = 10.0
"""How long a directory counts as full after a write without room, and how often failures are logged."""

_NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT})

_LOG = logging.getLogger("service")


class Spool:
    """One directory; by default the system's for temporary files."""

    def __init__(self, directory: str | None = None) -> None:
        self._directory = directory
        self._found_full = self._logged = -math.inf
        """When a write last found no room, and when a failure was last logged."""

    def open(self) -> BinaryIO:
        """Open an unnamed file, noting failures. Raises OSError."""
        try:
            with tempfile.TemporaryFile(dir=self._directory, buffering=0) as file:
                return io.BufferedRandom(_File(os.dup(file.fileno()), self))
        except OSError as error:
            self.note_failure(error)
            raise

    def available_bytes(self) -> int | None:
        """Return how much can be written: 0 if no file can be made, None if the system does not say."""
        return self._look()[0]

    def is_full(self) -> bool:
        """Whether the next big request may find no room."""
        if time.monotonic() - self._found_full < FAILURE_SECONDS:
            return True
        available, least = self._look()
        return available is not None and available < least

    def _look(self) -> tuple[int | None, int]:
        """Return the available bytes, and the number below which the directory counts as full."""
        try:
            status = os.statvfs(self._directory or tempfile.gettempdir())
        except OSError:  # the directory is gone, or no temporary directory is writable
            return 0, LEAST_BYTES
        if status.f_flag & os.ST_RDONLY or (status.f_files and not status.f_favail):
            return 0, LEAST_BYTES
        if not status.f_blocks:  # the file system has no size
            return None, LEAST_BYTES
        least = min(LEAST_BYTES, status.f_blocks * status.f_frsize // LEAST_SHARE)
        return status.f_bavail * status.f_frsize, least

    def note_failure(self, error: OSError | None = None) -> None:
        """Note and log that a file could not be made or written; None if another process found no room."""
        number = error.errno if error else errno.ENOSPC
        now = time.monotonic()
        if number in _NO_ROOM:
            self._found_full = now
        if now - self._logged >= FAILURE_SECONDS:
            self._logged = now
            _LOG.error("The spool directory takes no more files: %s.", os.strerror(number or errno.EIO))


class _File(io.FileIO):
    def __init__(self, descriptor: int, spool: Spool) -> None:
        super().__init__(descriptor, "r+b")
        self._spool = spool

    def write(self, data: "ReadableBuffer") -> int:
        try:
            return super().write(data)
        except OSError as error:
            self._spool.note_failure(error)
            raise
