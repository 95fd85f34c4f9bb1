"""Counting slots that all processes of a server share: files in one directory, locked while somebody holds them.

Knows files and locks, not what a slot is for. The system frees the locks of a process that dies, so no slot is lost.
"""

import fcntl
import os
from pathlib import Path
from types import TracebackType
from typing import Self


class Slot:
    """One slot that is held, until it is released or left as a context."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor: int | None = descriptor

    def release(self) -> None:
        """Give the slot back; a second time does nothing."""
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            os.close(descriptor)  # which unlocks it

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()


class Slots:
    """Up to `count` slots of one name, in all processes that use the same directory."""

    def __init__(self, directory: Path, name: str, count: int) -> None:
        self.count = count
        self._paths = [os.fspath(directory / f"{name}.{number}") for number in range(count)]

    def take(self) -> Slot | None:
        """Take a free slot; None when all are held."""
        for path in self._paths * 2:  # twice, because in_use holds one for a moment while it looks
            descriptor = _locked(path)
            if descriptor is not None:
                return Slot(descriptor)
        return None

    def in_use(self) -> int:
        """Count the slots that are held now."""
        held = 0
        for path in self._paths:
            descriptor = _locked(path, fcntl.LOCK_SH)  # two who count at once do not count each other
            if descriptor is None:
                held += 1
            else:
                os.close(descriptor)
        return held


def _locked(path: str, kind: int = fcntl.LOCK_EX) -> int | None:
    """Open a file and lock it; None when another has it. Every opening is a holder of its own, threads included."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor
