"""The connections of one process: their turns, and the sweep over all of them.

Knows connections; nothing of gunicorn, signals or listeners.
"""

import asyncio
import logging
import time
from collections.abc import Sequence

from service.web.server import expiry
from service.web.server.chunk_turns import ChunkTurns
from service.web.server.connection import Connection
from service.web.server.process_bounds import Held
from service.web.server.shared import Shared

_LOG = logging.getLogger("service")

SWEPT_AT_ONCE = 200
"""Connections swept before other events get their turn; ending one takes 50 µs."""


class Server:
    """One process's part of the server."""

    def __init__(self, loop: asyncio.AbstractEventLoop, shared: Shared) -> None:
        self.shared = shared
        self.connections: set[Connection] = set()
        self.stopping_since: float | None = None
        """When the process stopped taking connections."""
        self._loop = loop
        self._chunk_turns = ChunkTurns(loop)

    def new_connection(self, client: tuple[str, str], listener: tuple[str, str]) -> Connection:
        """Make the connection between these (host, port); it counts as one once asyncio calls connection_made."""
        return Connection(self.shared, client, listener, connections=self.connections, slow_down=self._chunk_turns.put)

    def sweep(self) -> None:
        """Sweep all connections: once a second, and more often once the process must stop."""
        self._sweep_some(tuple(self.connections))
        held = self.shared.bounds.held
        room = Held(held.in_memory, held.in_files - self.shared.being_written())
        self.shared.has_room = expiry.make_room(self.connections, room)
        for lane in set(self.shared.lanes.values()):
            lane.queue.drop_idle_owners()

    def _sweep_some(self, connections: Sequence[Connection]) -> None:
        """Sweep some connections now, and the rest after other events: ending them takes time."""
        now = time.monotonic()
        for connection in connections[:SWEPT_AT_ONCE]:
            try:
                expiry.enforce_limits(connection, now, self.shared.bounds.queue_seconds, self.stopping_since)
            except Exception as error:  # noqa: BLE001  # an error on one connection must not stop the sweep
                _LOG.error("Unexpected failure", exc_info=error)
                connection.transport.abort()
        if rest := connections[SWEPT_AT_ONCE:]:
            self._loop.call_soon(self._sweep_some, rest)
