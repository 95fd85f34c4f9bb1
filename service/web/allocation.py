"""Files whose blocks are there before they are mapped: writing to a mapped page that finds no block ends the process.

Knows the file system; nothing of what lies in the files.
"""

import os
import sys
from contextlib import suppress
from pathlib import Path

COUNTS_FILE_BYTES = 1 << 18
"""How long a file of counts is from the start; all series of the service, in all statuses that there are, take less."""

BOARD_FILE = "board"
BOARD_FILE_BYTES = 1 << 15
"""Where processes tell each other things (lanes/board.py), and how long it is from the start, which is long enough."""


def allocate(path: str | Path, size: int) -> None:
    """Make a file of at least `size` bytes, or extend one, with blocks for all of them; raises OSError without room."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        if sys.platform == "darwin":  # which lacks the call
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
