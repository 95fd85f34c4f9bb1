"""What the processes of one server tell each other: connections of each, owners of slots, who has asked lately.

Knows a mapped file and numbers; nothing of requests. All of it is advice: a process that reads an old number is unfair
for a moment, never wrong.
"""

import mmap
import os
import time
from collections.abc import Iterable
from hashlib import blake2b
from pathlib import Path

import numpy as np

from service.web.lanes.slots import Slots

PROCESSES = 256
SLOTS = 256
ASKERS = 1024
"""How many owners are remembered; two whose hashes end alike take one place, and the later one has it."""

LATELY_SECONDS = 10.0

_FILE = "board"
_SIZE = 8 * (PROCESSES + SLOTS + 2 * ASKERS)


class Board:
    """The numbers, in a file of a directory that all processes of the server share; without one, of this process."""

    def __init__(self, directory: Path | None) -> None:
        memory = mmap.mmap(-1, _SIZE) if directory is None else _mapped(directory / _FILE)
        words = np.frombuffer(memory, np.int64)
        self._connections, self._owners, askers = np.split(words, (PROCESSES, PROCESSES + SLOTS))
        self._askers, times = np.split(askers, 2)
        self._asked = times.view(np.float64)
        self._number, self._process = 0, None
        if directory is not None:
            numbers = Slots(directory, "worker", PROCESSES)
            self._process = numbers.take()  # held as long as this process lives
            self._number = 0 if self._process is None else self._process.number
        self._connections[self._number] = 0

    def count_connections(self, count: int) -> None:
        """Say how many connections this process has."""
        self._connections[self._number] = count

    def fewest_connections(self, workers: int) -> int:
        """Tell how many the process with the fewest has, of the first so many."""
        return int(self._connections[:workers].min())

    def give_slot(self, number: int, owner: int) -> None:
        """Note who has a slot."""
        self._owners[number % SLOTS] = owner

    def has_slot(self, owner: int, numbers: Iterable[int]) -> bool:
        """Whether one of these slots, which are held, is that owner's."""
        return any(self._owners[number % SLOTS] == owner for number in numbers)

    def note_asker(self, owner: int) -> None:
        """Note that an owner asks for something big now."""
        self._askers[owner % ASKERS], self._asked[owner % ASKERS] = owner, time.monotonic()

    def others_asked_lately(self, owner: int) -> bool:
        """Whether anybody else asked for something big in the last LATELY_SECONDS."""
        lately = self._asked > time.monotonic() - LATELY_SECONDS
        return bool(np.any(lately & (self._askers != owner)))


def number_of(owner: str) -> int:
    """Hash an owner's name; the same in every process, and not 0."""
    return int.from_bytes(blake2b(owner.encode("utf-8", "replace"), digest_size=7).digest()) or 1


def _mapped(path: Path) -> mmap.mmap:
    """Map the file, whose blocks are there before it is touched: a full memory file system would end the process."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        if hasattr(os, "posix_fallocate"):
            os.posix_fallocate(descriptor, 0, _SIZE)
        else:  # macOS
            os.truncate(descriptor, _SIZE)
        return mmap.mmap(descriptor, _SIZE)
    finally:
        os.close(descriptor)
