"""Decides which owner and which process get the next slot for a big request.

Running work is not interrupted. So that one owner (an API key, else an address) cannot take everything, the last free
slot is not given to an owner who already has one while others have requested slots in the last ten seconds. Of the
processes, each with its own queue, the one that has waited longest gets the next slot.
"""

from service.web.lanes.board import Board, number_of
from service.web.lanes.slots import Slot, Slots


class NoSlotFree(Exception):
    """All slots are held."""


class FairSlots:
    """The slots of all processes of the server, given out by the rules above."""

    def __init__(self, slots: Slots, board: Board) -> None:
        self._slots = slots
        self._board = board

    def take(self, owner: str) -> Slot | None:
        """Take a slot for an owner; None if this owner may not have one now. Raises NoSlotFree if no owner may."""
        number = number_of(owner)
        self._board.note_asker(number)
        try:
            free = self._slots.take_all()
        except OSError as error:  # no file can be opened to check
            raise NoSlotFree from error
        try:
            held = set(range(self._slots.count)).difference(slot.number for slot in free)
            # This is about the last free slot or, if none is free, the next one. An owner who may not have it must not
            # make this process seem to wait for it: other processes, whose owners may have it, would stand back.
            is_last = len(free) == 1 or (not free and self._slots.count > 1)
            if is_last and self._board.has_slot(number, held) and self._board.others_asked_recently(number):
                return None
            if not free:
                self._board.wait_for_slot()
                raise NoSlotFree
            if self._board.others_waited_longer():
                self._board.wait_for_slot()
                raise NoSlotFree
            taken = free.pop()
        finally:
            for slot in free:
                slot.release()
        self._board.give_slot(taken.number, number)
        return taken
