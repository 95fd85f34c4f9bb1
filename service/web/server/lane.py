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
from typing import Protocol

from service.web.server.queues import FairQueue, Waiting

RETRY_SECONDS = 0.01
"""How soon a lane tries again for a slot that another process may have released."""


class Work(Waiting, Protocol):
    """A request to process."""

    def run(self) -> Callable[[], object]:
        """Process it, perhaps on a thread of the lane; return a callback for the loop."""

    def turn_away(self) -> None:
        """Refuse it, because too many wait."""


Admit = Callable[[str], Callable[[], object] | None]
"""Takes what an owner needs and returns its release; None if this owner must wait. Raises NobodyNow."""


class NobodyNow(Exception):
    """No owner can be admitted now."""


def always(_owner: str) -> Callable[[], object]:
    """Admit everybody; nothing needs releasing."""
    return lambda: None


class Lane(ABC):
    """A fair queue of requests, in which at most `most` may wait."""

    def __init__(self, *, most: int, half_life: float) -> None:
        self.queue: FairQueue[Work] = FairQueue(half_life)
        self._most = most

    def put(self, work: Work) -> None:
        """Queue a request; if too many wait, the last of the owner with the most is turned away."""
        self.queue.put(work)
        self._dispatch()
        if len(self.queue) > self._most:
            worst = self.queue.worst()
            self.queue.remove(worst)
            worst.turn_away()

    def withdraw(self, work: Work) -> bool:
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
        owner = self.queue.first_owner()
        if owner is None:  # whoever waited has left
            return
        work = self.queue.take(owner)
        began = time.monotonic()
        then = work.run()
        self.queue.charge(work, time.monotonic() - began)
        self._dispatch()
        then()


class ThreadLane(Lane):
    """Threads that each process one request at a time.

    ahead    requests handed over in addition to one per thread, so that no thread waits for the loop.
    admit    takes what a request needs besides a thread.
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
        admit: Admit = always,
    ) -> None:
        super().__init__(most=most, half_life=half_life)
        self._loop = loop
        self._places = threads + ahead
        self._admit = admit
        self._handed: SimpleQueue[tuple[Work, Callable[[], object]]] = SimpleQueue()
        self._under_way = 0
        self._retry: TimerHandle | None = None
        for number in range(threads):
            threading.Thread(target=self._serve, name=f"{name}-{number}", daemon=True).start()

    def _dispatch(self) -> None:
        """Hand over the first requests, while there are threads and whatever else they need."""
        while self._under_way < self._places and len(self.queue):
            owner, give_back = self._admitted()
            if owner is None or give_back is None:
                if self._retry is None:
                    self._retry = self._loop.call_later(RETRY_SECONDS, self._try_again)
                return
            self._hand_over(self.queue.take(owner), give_back)

    def _admitted(self) -> tuple[str | None, Callable[[], object] | None]:
        """Find the first owner who can be admitted now, and admit them."""
        with suppress(NobodyNow):
            for owner in self.queue.owners():
                give_back = self._admit(owner)
                if give_back is not None:
                    return owner, give_back
        return None, None

    def _try_again(self) -> None:
        self._retry = None
        self._dispatch()

    def _hand_over(self, work: Work, give_back: Callable[[], object]) -> None:
        self._under_way += 1
        self._handed.put((work, give_back))

    def _serve(self) -> None:
        """Process requests for ever, on a thread."""
        while True:
            work, give_back = self._handed.get()
            began = time.monotonic()
            then = work.run()
            seconds = time.monotonic() - began
            self._loop.call_soon_threadsafe(self._finish, work, give_back, seconds, then)
            del work, give_back, then

    def _finish(self, work: Work, give_back: Callable[[], object], seconds: float, then: Callable[[], object]) -> None:
        give_back()
        self._under_way -= 1
        self.queue.charge(work, seconds)
        self._dispatch()
        then()
