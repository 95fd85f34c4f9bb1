"""Slots for processes that cannot share them, because no directory is writable: each process has its part of them.

Knows counts alone. Processes then give away as many slots together as the server has, or one each where it has fewer:
a process without one would refuse what another takes.
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
        return slot if self._held.setdefault(number, slot) is slot else None  # one step, whatever threads do


class _OwnSlot(Slot):
    def __init__(self, held: dict[int, Slot], number: int) -> None:
        self._among = held
        self.number = number

    def release(self) -> None:
        """Give the slot back; a second time does nothing."""
        if self._among.get(self.number) is self:
            del self._among[self.number]


def slots_in(directory: Path | None, name: str, count: int, processes: int) -> Slots:
    """Make `count` slots for all processes of a server, or the share of one of them where there is no directory."""
    return OwnSlots(max(1, count // processes)) if directory is None else Slots(directory, name, count)
