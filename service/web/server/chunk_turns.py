"""Turns in reading: small chunks, or the long bodies of many clients, take time on the loop, so connections take turns.

Knows connections and time; reading.py knows chunks.
"""

import asyncio
import time
from collections import deque

from service.web.server.connection import Connection
from service.web.server.expiry import has_gone
from service.web.server.phase import Phase

TURN_SECONDS = 0.005
"""Seconds between two turns, each of which takes about a millisecond."""

READS_OF_A_TURN = 4
"""How many connections with long bodies read in one turn; of a body in small chunks, one read takes as long.

With one read, 1,000 clients that send a few bytes a second waited for seconds, and so did others of their address.
"""

GONE_AT_ONCE = 100
"""The most departed clients skipped in one turn; checking one takes 10 µs."""


class ChunkTurns:
    """The connections that wait for their turn; together they get a fifth of the loop's time.

    Turns alternate between addresses, so that many connections from one address delay only each other.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._waiting: dict[str, deque[tuple[Connection, float]]] = {}
        self._timer: asyncio.TimerHandle | None = None

    def put(self, connection: Connection) -> None:
        """Stop reading from a connection until its turn."""
        connection.transport.pause_reading()
        self._waiting.setdefault(connection.client[0], deque()).append((connection, time.monotonic()))
        self._schedule_turn()

    def _schedule_turn(self) -> None:
        if self._waiting and self._timer is None:
            self._timer = self._loop.call_later(TURN_SECONDS, self._turn)

    def _turn(self) -> None:
        """Read the first connections whose clients are still there."""
        self._timer = None
        reads = 0
        for _ in range(GONE_AT_ONCE):
            if not self._waiting or reads >= READS_OF_A_TURN:
                break
            connection, since = self._take()
            if connection.phase is Phase.CLOSED:
                continue
            if has_gone(connection):
                connection.transport.abort()
                continue
            reads += READS_OF_A_TURN if connection.reader is not None and connection.reader.is_dense else 1
            connection.read_on(time.monotonic() - since)
        self._schedule_turn()

    def _take(self) -> tuple[Connection, float]:
        address = next(iter(self._waiting))
        line = self._waiting.pop(address)
        first = line.popleft()
        if line:
            self._waiting[address] = line
        return first
