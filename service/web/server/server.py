"""The server of one process: what its connections share, how requests are made and refused, and the regular sweep.

Knows connections, requests and lanes; nothing of gunicorn, signals or listeners.
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
from service.web.server import expiry
from service.web.server.chunk_turns import ChunkTurns
from service.web.server.connection import Connection
from service.web.server.exchange import Exchange
from service.web.server.expiry import Held
from service.web.server.head import Head
from service.web.server.incoming_body import IncomingBody
from service.web.server.lane import Lane
from service.web.server.reading import NewParser, RequestReader
from service.web.server.sending import PIECE_BYTES
from service.web.server.transport import refusal
from service.wire.problems import Problem

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIApplication, WSGIEnvironment

SHORT_BYTES = 24 * 1024
"""Bytes of a head, or of chunks, read at once: parsing them blocks the loop. A head and 1,000 rows of JSON fit."""

ROUND_BYTES = 1 << 20
"""Bytes of long bodies that are read in one round of the loop, by all connections together: 2 ms.

When each read as much as its client could send, the loop was away for 0.1 s with 100 fast clients.
"""

MOST_WITHOUT_TURNS = 64
"""More connections than this with long bodies read in turns (chunk_turns.py): each read takes time, however short."""

CROWDED_BYTES = 64 * 1024
"""Bytes of a long body that are read in a turn."""

UNASKED_BYTES = 32 * 1024
"""A body up to this length is read before the application can refuse it, so that the connection stays usable."""

BODY_IN_MEMORY = 256 * 1024
"""The most bytes of a body kept in memory; a longer one goes to a file."""

SWEPT_AT_ONCE = 200
"""Connections swept before other events get their turn; ending one takes 50 µs."""

_LOG = logging.getLogger("service")


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
    """One process's part of the server.

    connections      those of this process, as soon as asyncio has set them up.
    has_room         whether the bytes held for clients are within the limit.
    being_written    counts the bytes so far of answers that evaluators write into files; slow clients make way.
    taking           how many connections may take as many bytes as their clients can send.
    stopping_since   when the process stopped taking connections.
    """

    def __init__(
        self,
        application: "WSGIApplication",
        loop: asyncio.AbstractEventLoop,
        lanes: Mapping[Pass, Lane],
        bounds: Bounds,
        *,
        owner_of: Callable[["WSGIEnvironment"], str],
        spool: Callable[[], BinaryIO],
        being_written: Callable[[], int],
        new_parser: NewParser,
        routes: frozenset[str],
        columnar_types: frozenset[str],
    ) -> None:
        self.connections: set[Connection] = set()
        self.chunk_turns = ChunkTurns(loop)
        self.lanes = lanes
        self.bounds = bounds
        self.buffer = memoryview(bytearray(PIECE_BYTES))
        self.short_buffer = self.buffer[:SHORT_BYTES]
        self.has_room = True
        self.being_written = being_written
        self.taking = 0
        self.stopping_since: float | None = None
        self._application = application
        self._loop = loop
        self._owner_of = owner_of
        self._spool = spool
        self._new_parser = new_parser
        self._routes = routes
        self._columnar_types = columnar_types

    @property
    def is_crowded(self) -> bool:
        """Whether the connections that are `taking` must read in turns."""
        return self.taking > MOST_WITHOUT_TURNS

    def share_of_round(self) -> int:
        """How many bytes one of them may read at once."""
        return CROWDED_BYTES if self.is_crowded else ROUND_BYTES // max(1, self.taking)

    def new_reader(self) -> RequestReader:
        """Make the reader of a request."""
        return RequestReader(self._new_parser, self._new_body)

    def new_exchange(self, connection: Connection, head: Head) -> Exchange:
        """Make the exchange of a request whose head is complete."""
        environ = head.environ(connection.client, connection.listener)
        return Exchange(self._application, environ, connection, owner=self._owner_of(environ), lanes=self.lanes)

    def refusal(self, problem: Problem, reader: RequestReader | None, seconds: float) -> bytes:
        """Write the answer to a request that is refused this long after it began; log and count it."""
        path, method = ("/", "") if reader is None else (reader.path, reader.method)
        route = path if reader is not None and path in self._routes else UNMATCHED
        retry_after = self.bounds.retry_after_seconds
        return refusal(problem, path, method, route=route, seconds=seconds, retry_after=retry_after)

    def first_pass(self, head: Head) -> Pass:
        """The first pass of a request: Pass.HEAD if the application must see the head before the body is read.

        Otherwise a guess from the Content-Type: the pass for small requests may request another.
        """
        longest = min(UNASKED_BYTES, self.bounds.body_bytes)
        if head.length is None or head.length > longest or (head.expects_100 and head.length > 0):
            return Pass.HEAD
        media_types = [value.partition(b";")[0].strip().lower() for value in head.values(b"content-type")]
        is_columnar = any(media_type.decode("latin-1") in self._columnar_types for media_type in media_types)
        return Pass.COLUMNAR if is_columnar else Pass.SMALL

    def _new_body(self) -> IncomingBody:
        return IncomingBody(self.bounds.body_bytes, BODY_IN_MEMORY, self._open)

    def _open(self) -> BinaryIO:
        """Open a file for a body. Raises OSError."""
        if not self.has_room:
            raise OSError(errno.ENOSPC, "there is no more room for bodies")
        return self._spool()

    def sweep(self) -> None:
        """Sweep all connections: once a second, and more often once the process must stop."""
        self._sweep_some(tuple(self.connections))
        held = self.bounds.held
        room = Held(held.in_memory, held.in_files - self.being_written())
        self.has_room = expiry.make_room(self.connections, room)
        for lane in set(self.lanes.values()):
            lane.queue.drop_idle_owners()

    def _sweep_some(self, connections: Sequence[Connection]) -> None:
        """Sweep some connections now, and the rest after other events: ending them takes time."""
        now = time.monotonic()
        for connection in connections[:SWEPT_AT_ONCE]:
            try:
                expiry.enforce_limits(connection, now, self.bounds.queue_seconds, self.stopping_since)
            except Exception as error:  # noqa: BLE001  # an error on one connection must not stop the sweep
                _LOG.error("Unexpected failure", exc_info=error)
                connection.transport.abort()
        if rest := connections[SWEPT_AT_ONCE:]:
            self._loop.call_soon(self._sweep_some, rest)
