"""Whether the directory in which big requests are spooled takes more.

Knows the file system's word for it, and which writes failed a moment ago: a quota is seen in nothing else.
"""

import errno
import logging
import math
import os
import tempfile
import time

LEAST_BYTES = 16 << 20
"""With less room than this the directory counts as full, as the next body or answer may not fit; """

LEAST_SHARE = 10
"""or with less than one byte in so many, where the whole directory is small."""

FAILURE_SECONDS = 10.0
"""How long a directory counts as full after a write that found no room; and how often failures are logged."""

_NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT})

_LOG = logging.getLogger("service")


class SpoolRoom:
    """How much room there is in one directory; without a name it is the system's directory for temporary files."""

    def __init__(self, directory: str | None = None) -> None:
        self._directory = directory
        self._found_full = self._logged = -math.inf
        """When a write found no room, and when a failure was logged, last."""

    def available_bytes(self) -> int | None:
        """Return how much can be written, 0 where no file can be made; None where the system does not tell."""
        return self._look()[0]

    def is_full(self) -> bool:
        """Whether the next big request may find no room."""
        if time.monotonic() - self._found_full < FAILURE_SECONDS:
            return True
        available, least = self._look()
        return available is not None and available < least

    def _look(self) -> tuple[int | None, int]:
        """Return the available bytes, and with how many the directory is not full."""
        try:
            status = os.statvfs(self._directory or tempfile.gettempdir())
        except OSError:  # gone; of directories for temporary files, none that takes one
            return 0, LEAST_BYTES
        if status.f_flag & os.ST_RDONLY or (status.f_files and not status.f_favail):
            return 0, LEAST_BYTES
        if not status.f_blocks:  # a file system without a size
            return None, LEAST_BYTES
        least = min(LEAST_BYTES, status.f_blocks * status.f_frsize // LEAST_SHARE)
        return status.f_bavail * status.f_frsize, least

    def write_failed(self, error: OSError | None = None) -> None:
        """Take note of a file that could not be made or written, and log it; None is a lack of room."""
        number = error.errno if error else errno.ENOSPC
        now = time.monotonic()
        if number in _NO_ROOM:
            self._found_full = now
        if now - self._logged >= FAILURE_SECONDS:
            self._logged = now
            _LOG.error("The spool directory takes no more: %s.", os.strerror(number or errno.EIO))
