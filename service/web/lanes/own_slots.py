"""Slots for processes that cannot share them because no directory is writable: each process has its own part.

Knows counts only. Processes divide the server's slots, but have at least one each: a process without a slot would
refuse what another accepts.
"""

import fcntl
from pathlib import Path

from service.web.lanes.slots import Slot, Slots


class OwnSlots(Slots):
    """Up to `count` slots of this process."""

    def __init__(self, count: int) -> None:
        self.count = count
        self._held: dict[int, Slot] = {}

    def _locked(self, number: int, kind: int = fcntl.LOCK_EX) -> Slot | None:
        slot = _OwnSlot(self._held, number)
        if kind == fcntl.LOCK_SH:
            return None if number in self._held else slot
        return slot if self._held.setdefault(number, slot) is slot else None  # atomic


class _OwnSlot(Slot):
    def __init__(self, held: dict[int, Slot], number: int) -> None:
        self._among = held
        self.number = number

    def release(self) -> None:
        """Give the slot back; a second time does nothing."""
        if self._among.get(self.number) is self:
            del self._among[self.number]


def slots_in(directory: Path | None, name: str, count: int, processes: int) -> Slots:
    """Make `count` slots for all processes of a server or, without a directory, this process's share of them."""
    return OwnSlots(max(1, count // processes)) if directory is None else Slots(directory, name, count)
