"""A lane: a fair queue, and the threads that call the application for what stands first in it.

Knows threads and the loop; nothing of HTTP. Everything but `_serve` runs on the loop.
"""

import threading
import time
from asyncio import AbstractEventLoop, TimerHandle
from collections.abc import Callable
from contextlib import suppress
from queue import SimpleQueue
from typing import Protocol

from service.web.server.queues import FairQueue, Waiting

RETRY_SECONDS = 0.01
"""How soon a lane looks again for a slot that another process may have given back."""


class Work(Waiting, Protocol):
    """A request that can be done on a thread."""

    def run(self) -> Callable[[], object]:
        """Do it, on a thread of the lane; return what is to be called on the loop then."""

    def turn_away(self) -> None:
        """Hear that too many wait."""


Admit = Callable[[str], Callable[[], object] | None]
"""From an owner to what gives back what was taken for them; None when they may have nothing now. Raises NobodyNow."""


class NobodyNow(Exception):
    """There is nothing for any owner now."""


def always(_owner: str) -> Callable[[], object]:
    """Admit everybody; there is nothing to give back."""
    return lambda: None


class Lane:
    """Threads that do one request each at a time.

    ahead    how many requests more than threads are handed over, so that no thread waits for the loop.
    most     how many may wait.
    admit    what a request needs besides a thread.
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
        self._loop = loop
        self._most = most
        self._places = threads + ahead
        self._admit = admit
        self.queue: FairQueue[Work] = FairQueue(half_life)
        self._handed: SimpleQueue[tuple[Work, Callable[[], object]]] = SimpleQueue()
        self._under_way = 0
        self._started: dict[int, float] = {}
        self._retry: TimerHandle | None = None
        for number in range(threads):
            threading.Thread(target=self._serve, name=f"{name}-{number}", daemon=True).start()

    def put(self, work: Work) -> None:
        """Let a request wait for its turn; where too many wait, the last of whoever has most is turned away."""
        self.queue.put(work)
        self._dispatch()
        if len(self.queue) > self._most:
            worst = self.queue.worst()
            self.queue.remove(worst)
            worst.turn_away()

    def withdraw(self, work: Work) -> bool:
        """Take a request out of the queue; whether it still waited there."""
        return self.queue.remove(work)

    def longest(self) -> float:
        """Tell for how many seconds the request that was begun first has been worked on; 0 without one."""
        now = time.monotonic()
        return now - min(tuple(self._started.values()), default=now)

    def _dispatch(self) -> None:
        """Hand over what stands first, while there are threads, and whatever else it needs."""
        while self._under_way < self._places and len(self.queue):
            owner, give_back = self._admitted()
            if owner is None or give_back is None:
                if self._retry is None:
                    self._retry = self._loop.call_later(RETRY_SECONDS, self._try_again)
                return
            self._hand_over(self.queue.take(owner), give_back)

    def _admitted(self) -> tuple[str | None, Callable[[], object] | None]:
        """Find the first owner who may have something now, and take it for them."""
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
        """Do one request after the other, for ever; on a thread."""
        me = threading.get_ident()
        while True:
            work, give_back = self._handed.get()
            began = self._started[me] = time.monotonic()
            then = work.run()
            del self._started[me]
            seconds = time.monotonic() - began
            self._loop.call_soon_threadsafe(self._finish, work, give_back, seconds, then)
            del work, give_back, then

    def _finish(self, work: Work, give_back: Callable[[], object], seconds: float, then: Callable[[], object]) -> None:
        give_back()
        self._under_way -= 1
        self.queue.charge(work, seconds)
        self._dispatch()
        then()
