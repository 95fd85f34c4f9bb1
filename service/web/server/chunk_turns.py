"""Whose small chunks are read next: each chunk takes the loop time, whatever its length, so connections take turns.

Knows connections and time; what is in a chunk is reading.py's.
"""

import asyncio
import time
from collections import deque

from service.web.server.connection import Connection, Phase
from service.web.server.sweep import has_gone

TURN_SECONDS = 0.005
"""How often one connection whose body comes in small chunks is read; each time takes about a millisecond."""

GONE_AT_ONCE = 100
"""How many clients that have gone are passed over in one turn; to look for one takes some 10 µs."""


class ChunkTurns:
    """The connections that wait for their turn; all together have a fifth of the loop's time.

    Turns go round by address, so that a crowd of one address delays its own.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._waiting: dict[str, deque[tuple[Connection, float]]] = {}
        self._timer: asyncio.TimerHandle | None = None

    def put(self, connection: Connection) -> None:
        """Read nothing more of a connection before its turn."""
        connection.transport.pause_reading()
        self._waiting.setdefault(connection.client[0], deque()).append((connection, time.monotonic()))
        self._go_on()

    def _go_on(self) -> None:
        if self._waiting and self._timer is None:
            self._timer = self._loop.call_later(TURN_SECONDS, self._turn)

    def _turn(self) -> None:
        """Read the first connection whose client is still there."""
        self._timer = None
        for _ in range(GONE_AT_ONCE):
            if not self._waiting:
                return
            connection, since = self._take()
            if connection.phase is Phase.CLOSED:
                continue
            if has_gone(connection):
                connection.transport.abort()
                continue
            connection.read_on(time.monotonic() - since)
            break
        self._go_on()

    def _take(self) -> tuple[Connection, float]:
        address = next(iter(self._waiting))
        line = self._waiting.pop(address)
        first = line.popleft()
        if line:
            self._waiting[address] = line
        return first
