"""Counted slots shared by all processes of a server: files in one directory, locked while held.

Knows files and locks, not what a slot is for. The system releases the locks of a dead process, so no slot is lost.
"""

import fcntl
import os
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Self


class Slot:
    """A slot held until it is released or its context ends; `number` is its index."""

    def __init__(self, descriptor: int, number: int) -> None:
        self._descriptor: int | None = descriptor
        self.number = number

    def release(self) -> None:
        """Give the slot back; a second time does nothing."""
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            os.close(descriptor)  # also unlocks it

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
        """Take a free slot; None if all are held."""
        for number in (*range(self.count), *range(self.count)):  # twice, because counting holds each for a moment
            slot = self._locked(number)
            if slot is not None:
                return slot
        return None

    def take_all(self) -> list[Slot]:
        """Take every slot that is free. Raises OSError, holding none."""
        with ExitStack() as held:
            free = [held.enter_context(slot) for number in range(self.count) if (slot := self._locked(number))]
            held.pop_all()
        return free

    def in_use(self) -> int:
        """Count the slots that are held now."""
        held = 0
        for number in range(self.count):
            slot = self._locked(number, fcntl.LOCK_SH)  # shared, so that concurrent counts do not count each other
            if slot is None:
                held += 1
            else:
                slot.release()
        return held

    def _locked(self, number: int, kind: int = fcntl.LOCK_EX) -> Slot | None:
        """Open a file and lock it; None if it is locked. A lock belongs to its opening, even between threads."""
        descriptor = os.open(self._paths[number], os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            return None
        except BaseException:
            os.close(descriptor)
            raise
        return Slot(descriptor, number)


class OwnSlots(Slots):
    """Up to `count` slots of this process alone, for a server without a writable directory."""

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
    """Make `count` slots for all processes of a server or, without a directory, this process's share of them.

    That is at least one: a process without a slot would refuse what another accepts.
    """
    return OwnSlots(max(1, count // processes)) if directory is None else Slots(directory, name, count)
