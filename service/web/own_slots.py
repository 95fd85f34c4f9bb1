"""Slots where processes can share none, because no directory takes a file: each process has its share of them.

Knows counts alone. A server of several processes then gives no more slots away than it has, if there are as many as
processes; a process without one would refuse what another takes.
"""

from pathlib import Path

from service.web.slots import Slot, Slots


class OwnSlots(Slots):
    """Up to `count` slots of this process."""

    def __init__(self, count: int) -> None:
        self.count = count
        self._free: list[None] = [None] * count  # whose ends are taken and given back in one step

    def take(self) -> Slot | None:
        """Take a free slot; None when all are held."""
        try:
            self._free.pop()
        except IndexError:
            return None
        return _OwnSlot(self._free)

    def in_use(self) -> int:
        """Count the slots that are held now."""
        return self.count - len(self._free)


class _OwnSlot(Slot):
    def __init__(self, free: list[None]) -> None:
        self._among: list[None] | None = free

    def release(self) -> None:
        """Give the slot back; a second time does nothing."""
        free, self._among = self._among, None
        if free is not None:
            free.append(None)


def slots_in(directory: Path | None, name: str, count: int, processes: int) -> Slots:
    """Make `count` slots for all processes of a server, or the share of one of them where there is no directory."""
    return OwnSlots(max(1, count // processes)) if directory is None else Slots(directory, name, count)
