"""Numbers shared by the processes of a server: connections of each, owners of slots, recent requests for slots.

Knows a mapped file and numbers; nothing of requests. The numbers are hints: a process that reads an old one is briefly
unfair, never wrong.
"""

import errno
import logging
import mmap
import os
import time
from collections.abc import Iterable
from hashlib import blake2b
from pathlib import Path

import numpy as np

from service.web.lanes.slots import Slot, Slots
from service.web.runtime import BOARD_FILE, allocate

PROCESSES = 256
SLOTS = 256
ASKERS = 1024
"""How many owners are remembered; if the hashes of two collide, only the later one is."""

RECENT_SECONDS = 10.0

ALIVE_SECONDS = 3.0
"""The age at which a count of connections expires; processes update theirs every second."""

_LOG = logging.getLogger("service")

WAITING_SECONDS = 0.1
"""The age at which a waiting time expires; a process that waits for a slot tries every hundredth of a second."""

_BOARD_BYTES = 8 * (4 * PROCESSES + SLOTS + 2 * ASKERS)


class Board:
    """The numbers, in a file shared by all processes of the server; without a directory, of this process only."""

    def __init__(self, directory: Path | None) -> None:
        memory, self._process, self._number = _joined(directory)
        words = np.frombuffer(memory, np.int64)
        ends = np.cumsum((PROCESSES, PROCESSES, PROCESSES, PROCESSES, SLOTS, ASKERS))
        self._connections, *times, self._owners, self._askers, asked = np.split(words, ends)
        self._reported, self._waits_since, self._waits_still = (column.view(np.float64) for column in times)
        self._asked = asked.view(np.float64)
        self.count_connections(0)

    def count_connections(self, count: int) -> None:
        """Publish how many connections this process has."""
        if self._number is not None:
            self._connections[self._number], self._reported[self._number] = count, time.monotonic()

    def retire(self) -> None:
        """Publish that this process takes no more connections."""
        if self._number is not None:
            self._reported[self._number] = 0.0

    def fewest_connections(self) -> int:
        """The fewest connections of any process that takes connections."""
        alive = self._reported > time.monotonic() - ALIVE_SECONDS
        return int(self._connections[alive].min(initial=np.iinfo(np.int64).max))

    def wait_for_slot(self) -> None:
        """Publish that this process waits for a slot, from now unless it did already."""
        if self._number is not None:
            now = time.monotonic()
            if self._waits_still[self._number] < now - WAITING_SECONDS:
                self._waits_since[self._number] = now
            self._waits_still[self._number] = now

    def others_waited_longer(self) -> bool:
        """Whether another process has waited for a slot for longer than this one."""
        now = time.monotonic()
        waits = self._waits_still > now - WAITING_SECONDS
        since = np.where(waits, self._waits_since, now)
        mine = now if self._number is None else since[self._number]
        return bool((since < mine).any())

    def give_slot(self, number: int, owner: int) -> None:
        """Note that this owner has a slot; this process no longer waits for one."""
        self._owners[number % SLOTS] = owner
        if self._number is not None:
            self._waits_still[self._number] = 0.0

    def has_slot(self, owner: int, numbers: Iterable[int]) -> bool:
        """Whether this owner has one of these held slots."""
        return any(self._owners[number % SLOTS] == owner for number in numbers)

    def note_asker(self, owner: int) -> None:
        """Note that an owner requests a slot now."""
        self._askers[owner % ASKERS], self._asked[owner % ASKERS] = owner, time.monotonic()

    def others_asked_recently(self, owner: int) -> bool:
        """Whether another owner requested a slot in the last RECENT_SECONDS."""
        lately = self._asked > time.monotonic() - RECENT_SECONDS
        return bool(np.any(lately & (self._askers != owner)))


def number_of(owner: str) -> int:
    """Hash an owner's name, never to 0, and equally in every process."""
    return int.from_bytes(blake2b(owner.encode("utf-8", "replace"), digest_size=7).digest()) or 1


def _joined(directory: Path | None) -> tuple[mmap.mmap, Slot | None, int | None]:
    """Map the shared file, and take a number among the processes, which this one holds for its life.

    Processes beyond PROCESSES get no number; a process that shares nothing is number 0.
    """
    if directory is not None:
        path = directory / BOARD_FILE
        try:
            allocate(path, _BOARD_BYTES)
            with path.open("r+b") as file:
                memory = mmap.mmap(file.fileno(), _BOARD_BYTES)
            process = Slots(directory, "worker", PROCESSES).take()
        except OSError as error:
            _LOG.warning("This process shares nothing with the others: %s.", os.strerror(error.errno or errno.EIO))
        else:
            return memory, process, None if process is None else process.number
    return mmap.mmap(-1, _BOARD_BYTES), None, 0
