"""A directory for what does not fit into an engine's memory; if its process is killed, the next one removes it.

Knows files and locks. A process holds a lock on its directory, which its death releases: whoever makes the next
directory there removes those of our user that nobody has locked.
"""

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

PREFIX = "rocpr-engine-"
"""The beginning of the names of these directories."""

_TRIES = 10


class SpillDirectory:
    """One directory, only for our user, in `parent`, or in that for temporary files. Raises OSError."""

    def __init__(self, parent: Path | None) -> None:
        parent = Path(tempfile.gettempdir() if parent is None else parent)
        remove_abandoned(parent)
        for _ in range(_TRIES):
            self.path = Path(tempfile.mkdtemp(prefix=PREFIX, dir=parent))
            try:
                self._lock = _opened(self.path)
            except FileNotFoundError:
                continue
            with suppress(OSError):  # where there are no locks, nobody removes it
                fcntl.flock(self._lock, fcntl.LOCK_EX)
            if _is_still(self.path, self._lock):
                return
            os.close(self._lock)  # another process removed it as abandoned before it was locked
        raise FileExistsError(f"Each new directory in {parent} is removed at once.")

    def remove(self) -> None:
        """Remove it, with what it holds; the second time does nothing."""
        shutil.rmtree(self.path, ignore_errors=True)
        descriptor, self._lock = self._lock, -1
        if descriptor >= 0:
            os.close(descriptor)


def remove_abandoned(parent: Path) -> None:
    """Remove the directories of processes that were killed."""
    for path in parent.glob(f"{PREFIX}*"):
        with suppress(OSError), _locked(path):
            shutil.rmtree(path, ignore_errors=True)


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Lock a directory that our user owns and that nobody uses. Raises OSError."""
    descriptor = _opened(path)
    try:
        if os.fstat(descriptor).st_uid != os.geteuid():
            raise PermissionError(path)
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(descriptor)


def _opened(path: Path) -> int:
    """Open a directory; refuses a link to one."""
    return os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)


def _is_still(path: Path, descriptor: int) -> bool:
    try:
        return os.path.samestat(path.lstat(), os.fstat(descriptor))
    except FileNotFoundError:
        return False
