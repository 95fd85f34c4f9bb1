"""A lane: a fair queue, and who calls the application for the first request in it: the loop, or threads.

Knows threads and the loop; nothing of HTTP. Everything except `_serve` runs on the loop.
"""

import threading
import time
from abc import ABC, abstractmethod
from asyncio import AbstractEventLoop, TimerHandle
from collections.abc import Callable
from contextlib import suppress
from queue import SimpleQueue
from typing import TYPE_CHECKING

from service.web.lanes.fair_slots import FairSlots, NoSlotFree
from service.web.lanes.slots import Slot
from service.web.server.queues import FairQueue

if TYPE_CHECKING:
    from service.web.server.exchange import Exchange

RETRY_SECONDS = 0.01
"""How soon a lane tries again for a slot that another process may have released."""


class Lane(ABC):
    """A fair queue of requests, in which at most `most` may wait."""

    def __init__(self, *, most: int, half_life: float) -> None:
        self.queue: FairQueue = FairQueue(half_life)
        self._most = most

    def put(self, work: "Exchange") -> None:
        """Queue a request; if too many wait, the last of the owner with the most is turned away."""
        self.queue.put(work)
        self._dispatch()
        if len(self.queue) > self._most:
            worst = self.queue.worst()
            self.queue.remove(worst)
            worst.turn_away()

    def withdraw(self, work: "Exchange") -> bool:
        """Remove a request from the queue; returns whether it was still there."""
        return self.queue.remove(work)

    @abstractmethod
    def _dispatch(self) -> None:
        """Begin what can begin now, or soon; called when a request has come."""


class LoopLane(Lane):
    """Requests that the loop itself processes: one at each of its turns, between which it reads and sends.

    A thread would compete with the loop for the GIL: with 16 clients, a request took 1.5 times as much processor time.
    """

    def __init__(self, loop: AbstractEventLoop, *, most: int, half_life: float) -> None:
        super().__init__(most=most, half_life=half_life)
        self._loop = loop
        self._has_turn = False

    def _dispatch(self) -> None:
        if len(self.queue) and not self._has_turn:
            self._has_turn = True
            self._loop.call_soon(self._turn)

    def _turn(self) -> None:
        self._has_turn = False
        if not len(self.queue):  # whoever waited has left
            return
        work = self.queue.take(self.queue.owners()[0])
        began = time.monotonic()
        then = work.run()
        self.queue.charge(work, time.monotonic() - began)
        self._dispatch()
        then()


class ThreadLane(Lane):
    """Threads that each process one request at a time.

    ahead    requests handed over in addition to one per thread, so that no thread waits for the loop.
    slots    of which a request needs one besides a thread; None if it needs only a thread.
    """

    def __init__(
        self,
        loop: AbstractEventLoop,
        name: str,
        *,
        threads: int,
        most: int,
        half_life: float,
        ahead: int = 0,
        slots: FairSlots | None = None,
    ) -> None:
        super().__init__(most=most, half_life=half_life)
        self._loop = loop
        self._places = threads + ahead
        self._slots = slots
        self._handed: SimpleQueue[tuple[Exchange, Slot | None]] = SimpleQueue()
        self._under_way = 0
        self._retry: TimerHandle | None = None
        for number in range(threads):
            threading.Thread(target=self._serve, name=f"{name}-{number}", daemon=True).start()

    def _dispatch(self) -> None:
        """Hand over the first requests, while there are threads and slots for them."""
        while self._under_way < self._places and len(self.queue):
            admitted = self._admitted()
            if admitted is None:
                if self._retry is None:
                    self._retry = self._loop.call_later(RETRY_SECONDS, self._try_again)
                return
            owner, slot = admitted
            self._under_way += 1
            self._handed.put((self.queue.take(owner), slot))

    def _admitted(self) -> tuple[str, Slot | None] | None:
        """Find the first owner who may begin now, and the slot; None if nobody may."""
        if self._slots is None:
            return self.queue.owners()[0], None
        with suppress(NoSlotFree):
            for owner in self.queue.owners():
                if (slot := self._slots.take(owner)) is not None:
                    return owner, slot
        return None

    def _try_again(self) -> None:
        self._retry = None
        self._dispatch()

    def _serve(self) -> None:
        """Process requests for ever, on a thread."""
        while True:
            work, slot = self._handed.get()
            began = time.monotonic()
            then = work.run()
            seconds = time.monotonic() - began
            self._loop.call_soon_threadsafe(self._finish, work, slot, seconds, then)
            del work, slot, then

    def _finish(self, work: "Exchange", slot: Slot | None, seconds: float, then: Callable[[], object]) -> None:
        if slot is not None:
            slot.release()
        self._under_way -= 1
        self.queue.charge(work, seconds)
        self._dispatch()
        then()
