"""Files whose blocks are allocated before they are mapped: writing to a mapped page without a block kills the process.

Knows the file system; nothing of the files' contents.
"""

import os
import sys
from contextlib import suppress
from pathlib import Path

COUNTS_FILE_BYTES = 1 << 18
"""The initial length of a file of counts; all series of the service, with every status, take less."""

BOARD_FILE = "board"
BOARD_FILE_BYTES = 1 << 15
"""The file that processes share (lanes/board.py), and its fixed length."""


def allocate(path: str | Path, size: int) -> None:
    """Make or extend a file to at least `size` bytes, all with allocated blocks. Raises OSError without room."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        if sys.platform == "darwin":  # lacks the call
            os.ftruncate(descriptor, max(size, os.fstat(descriptor).st_size))
        else:
            os.posix_fallocate(descriptor, 0, size)
    except OSError:
        if not os.fstat(descriptor).st_size:
            with suppress(OSError):
                Path(path).unlink()
        raise
    finally:
        os.close(descriptor)
