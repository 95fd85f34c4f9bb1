"""What the connections of one process share: bounds, a buffer, lanes, and the sweep that looks after all of them.

Knows connections and lanes; nothing of gunicorn, signals or listeners.
"""

import asyncio
import errno
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO

from service.web.passes import Pass
from service.web.server.body import IncomingBody
from service.web.server.connection import Connection
from service.web.server.exchange import Exchange
from service.web.server.head import Head
from service.web.server.lane import Lane
from service.web.server.reading import NewParser, RequestReader
from service.web.server.sending import PIECE_BYTES

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIApplication, WSGIEnvironment

SHORT_BYTES = 16 * 1024
"""How much of a head, or of chunks, is read at once: each byte of those takes time in which nothing else happens."""

UNASKED_BYTES = 32 * 1024
"""A body up to this length is read before the application is asked whether it wants it: so the connection lasts."""

BODY_IN_MEMORY = 256 * 1024
"""How much of a body is kept in memory; what is longer goes to a file."""

CROWDED_BODY_IN_MEMORY = 8 * 1024
"""The same while CROWDED_BYTES or more are held for clients."""

CROWDED_BYTES = 64 * 1024 * 1024

EVICTED_AT_ONCE = 64
"""How many connections are ended together where there are too many: to choose them takes a look at all."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """What one process gives to its clients; all times in seconds.

    body_bytes     the longest body that is read.
    held_bytes     the most that is kept of bodies and unread answers together.
    connections    the most that there may be.
    min_body_rate  bytes a second, see ROCPR_MIN_BODY_RATE.
    """

    body_bytes: int
    held_bytes: int
    connections: int
    min_body_rate: float
    keepalive: float
    queue_seconds: float
    retry_after_seconds: int


class Server:
    """One process's part of the server."""

    def __init__(
        self,
        application: "WSGIApplication",
        loop: asyncio.AbstractEventLoop,
        lanes: Mapping[Pass, Lane],
        bounds: Bounds,
        *,
        owner_of: Callable[["WSGIEnvironment"], str],
        spool: Callable[[], BinaryIO],
        new_parser: NewParser,
    ) -> None:
        self.lanes = lanes
        self.bounds = bounds
        self.connections: set[Connection] = set()
        self.buffer = memoryview(bytearray(PIECE_BYTES))
        self.short_buffer = self.buffer[:SHORT_BYTES]
        self._application = application
        self._loop = loop
        self._owner_of = owner_of
        self._spool = spool
        self._new_parser = new_parser
        self._in_memory = BODY_IN_MEMORY
        self._is_over = False
        """Whether more is held than may be, and not for slow clients."""

    def new_reader(self) -> RequestReader:
        """Begin to read a request."""
        return RequestReader(self._new_parser, self._new_body)

    def new_exchange(self, connection: Connection, head: Head) -> Exchange:
        """Begin to answer a request whose head has come."""
        environ = head.environ(connection.client, connection.listener)
        return Exchange(
            self._application,
            environ,
            connection,
            owner=self._owner_of(environ),
            use=connection.use,
            lanes=self.lanes,
            call_on_loop=self._loop.call_soon_threadsafe,
        )

    def must_ask(self, head: Head) -> bool:
        """Whether the application is to be asked for its opinion of a head before the body is read."""
        longest = min(UNASKED_BYTES, self.bounds.body_bytes)
        return head.length is None or head.length > longest or (head.expects_100 and head.length > 0)

    def sweep(self) -> None:
        """Look after all connections; once a second."""
        now = time.monotonic()
        for connection in tuple(self.connections):
            connection.look(now)
        self._make_room()
        for lane in self.lanes.values():
            lane.queue.forget_the_idle()

    def is_full(self) -> bool:
        """Whether there are as many connections as there may be."""
        return len(self.connections) >= self.bounds.connections

    def evict(self) -> bool:
        """End connections without a whole request, the longest of those who have most; whether there were any."""
        useless = sorted((one for one in self.connections if one.is_useless()), key=lambda one: one.since)
        of_each = Counter(one.client[0] for one in useless)
        most = max(of_each.values(), default=0)
        greediest = [one for one in useless if of_each[one.client[0]] == most]
        for connection in greediest[:EVICTED_AT_ONCE]:
            connection.abort()
        return bool(greediest)

    def _make_room(self) -> None:
        """End the slowest clients while more is held than may be."""
        held = {one: size for one in self.connections if (size := one.held())}
        total = sum(held.values())
        self._in_memory = CROWDED_BODY_IN_MEMORY if total > CROWDED_BYTES else BODY_IN_MEMORY
        if total > self.bounds.held_bytes:
            rates = {one: rate for one in held if (rate := one.rate()) is not None}
            for connection in sorted(rates, key=rates.__getitem__):
                if total <= self.bounds.held_bytes:
                    break
                total -= held[connection]
                connection.give_way()
        self._is_over = total > self.bounds.held_bytes

    def _new_body(self) -> IncomingBody:
        return IncomingBody(self.bounds.body_bytes, self._in_memory, self._open)

    def _open(self) -> BinaryIO:
        """Open a file for a body. Raises OSError."""
        if self._is_over:
            raise OSError(errno.ENOSPC, "as much is held for clients as may be")
        return self._spool()
