"""What the connections of one process share: limits, a buffer, lanes, and the sweep over all of them.

Knows connections and lanes; nothing of gunicorn, signals or listeners.
"""

import asyncio
import errno
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO

from service.web.observation.observation import UNMATCHED
from service.web.passes import Pass
from service.web.server import sweep
from service.web.server.chunk_turns import ChunkTurns
from service.web.server.connection import Connection
from service.web.server.exchange import Exchange
from service.web.server.head import Head
from service.web.server.incoming_body import IncomingBody
from service.web.server.lane import Lane
from service.web.server.reading import NewParser, RequestReader
from service.web.server.sending import PIECE_BYTES
from service.web.server.sweep import Held
from service.web.server.transport import Refused

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIApplication, WSGIEnvironment

_LOG = logging.getLogger("service")

SHORT_BYTES = 16 * 1024
"""Bytes of a head, or of chunks, read at once: parsing them blocks the loop."""

UNASKED_BYTES = 32 * 1024
"""A body up to this length is read before the application can refuse it, so that the connection stays usable."""

SWEPT_AT_ONCE = 200
"""Connections swept before other events get their turn; ending one takes 50 µs."""

BODY_IN_MEMORY = 256 * 1024
"""The most bytes of a body kept in memory; a longer one goes to a file."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """The limits of one process; times are in seconds.

    body_bytes     the longest body.
    held           the most bytes kept of bodies and unread answers together.
    min_body_rate  bytes per second, see ROCPR_MIN_BODY_RATE.
    """

    body_bytes: int
    held: Held
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
        routes: frozenset[str],
        columnar_types: frozenset[str],
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
        self._routes = routes
        self._columnar_types = columnar_types
        self.stopping_since: float | None = None
        """When the process stopped taking connections."""
        self._chunk_turns = ChunkTurns(loop)
        self._has_room = True
        """Whether the bytes held for clients are within the limit."""

    def new_reader(self) -> RequestReader:
        """Make the reader of a request."""
        return RequestReader(self._new_parser, self._new_body)

    def new_exchange(self, connection: Connection, head: Head) -> Exchange:
        """Make the exchange of a request whose head is complete."""
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

    def refused(self, reader: RequestReader | None, seconds: float) -> Refused:
        """The facts of a request that is refused this long after it began."""
        if reader is None:
            return Refused(seconds=seconds)
        route = reader.path if reader.path in self._routes else UNMATCHED
        return Refused(reader.path, reader.method, route, seconds)

    def slow_down(self, connection: Connection) -> None:
        """Make a body in small chunks wait for its turn."""
        self._chunk_turns.put(connection)

    def must_ask(self, head: Head) -> bool:
        """Whether the application must see the head before the body is read."""
        longest = min(UNASKED_BYTES, self.bounds.body_bytes)
        return head.length is None or head.length > longest or (head.expects_100 and head.length > 0)

    def likely_pass(self, head: Head) -> Pass:
        """Guess from the Content-Type which pass answers a request with a short body; that pass may request another."""
        media_types = [value.partition(b";")[0].strip().lower() for value in head.values(b"content-type")]
        is_columnar = any(media_type.decode("latin-1") in self._columnar_types for media_type in media_types)
        return Pass.COLUMNAR if is_columnar else Pass.SMALL

    def sweep(self) -> None:
        """Sweep all connections: once a second, and more often once the process must stop."""
        self._sweep_some(tuple(self.connections))
        self._has_room = sweep.make_room(self.connections, self.bounds.held)
        for lane in set(self.lanes.values()):
            lane.queue.drop_idle_owners()

    def _sweep_some(self, connections: Sequence[Connection]) -> None:
        """Sweep some connections now, and the rest after other events: ending them takes time."""
        now = time.monotonic()
        for connection in connections[:SWEPT_AT_ONCE]:
            try:
                sweep.enforce_limits(connection, now, self.bounds.queue_seconds, self.stopping_since)
            except Exception as error:  # noqa: BLE001  # an error on one connection must not stop the sweep
                _LOG.error("Unexpected failure", exc_info=error)
                connection.transport.abort()
        if rest := connections[SWEPT_AT_ONCE:]:
            self._loop.call_soon(self._sweep_some, rest)

    def _new_body(self) -> IncomingBody:
        return IncomingBody(self.bounds.body_bytes, BODY_IN_MEMORY, self._open)

    def _open(self) -> BinaryIO:
        """Open a file for a body. Raises OSError."""
        if not self._has_room:
            raise OSError(errno.ENOSPC, "there is no more room for bodies")
        return self._spool()
