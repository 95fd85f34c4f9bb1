"""How connections are accepted: a few at a time, by the process with the fewest, up to the limit.

Knows listeners and sockets; connection.py knows what happens on a connection.
"""

import asyncio
import errno
import logging
import resource
import socket
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from service.web.lanes.board import Board
from service.web.server.connection import Connection
from service.web.server.expiry import evict
from service.web.server.server import Server

STAND_BACK_SECONDS = 0.002
"""How long a process with more connections than another leaves a new connection to the other."""

EVEN_ENOUGH = 16
"""A process stands back only if it has over a sixteenth more than another.

In a rush, a pause after each connection would leave the others in the backlog for most of a second.
"""

AT_ONCE = 8
"""The most connections accepted in one round of the loop, each of which takes 0.2 ms; the others wait in the backlog.

With one, new clients waited for seconds behind those of a rush, while 400 connections kept the rounds long.
"""

PAUSE_SECONDS = 0.1
"""How long a process that cannot open another connection pauses, so that it does not spin."""

WARN_SECONDS = 60.0
"""How often that is logged."""

SEND_BUFFER_BYTES = 1 << 17
"""Bytes that the system may buffer for a client that does not read; the default is up to 4 MB."""

DEAD_CLIENT_MS = 30_000
"""How long the system keeps sending to a client that acknowledges nothing."""

_NO_FILES = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM})
_NO_CONNECTION = frozenset({errno.EAGAIN, errno.ECONNABORTED, errno.EINTR})

_LOG = logging.getLogger("service")


class Listeners:
    """The sockets on which this process accepts connections.

    most         the most connections at once.
    spare_files  descriptors reserved for other files.
    """

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        sockets: Sequence[socket.socket],
        server: Server,
        board: Board,
        *,
        most: int,
        spare_files: int,
    ) -> None:
        self._loop = loop
        self._sockets = sockets
        self._server = server
        self._board = board
        self._most = max(1, min(most, _descriptors_left() - spare_files))
        self._warned = -WARN_SECONDS
        self._tasks: dict[asyncio.Task[Any], Connection] = {}
        self._is_open = True
        for listener in sockets:
            listener.setblocking(False)  # noqa: FBT003  # the library's signature
            self._listen(listener)

    def count(self) -> int:
        """Count connections, including those that asyncio is still setting up, and tell the other processes."""
        connections = self._server.connections
        count = len(connections) + sum(one not in connections for one in self._tasks.values())
        if self._is_open:
            self._board.count_connections(count)
        return count

    def close(self) -> None:
        """Accept no more connections."""
        self._is_open = False
        self._board.retire()
        for listener in self._sockets:
            self._loop.remove_reader(listener.fileno())
            listener.close()

    def _listen(self, listener: socket.socket) -> None:
        if self._is_open:
            self._loop.add_reader(listener.fileno(), self._accept, listener)

    def _pause(self, listener: socket.socket, seconds: float, then: Callable[[socket.socket], object]) -> None:
        """Leave new connections to others for a moment."""
        self._loop.remove_reader(listener.fileno())
        self._loop.call_later(seconds, then, listener)

    def _accept(self, listener: socket.socket) -> None:
        """Accept a few connections; if another process has fewer, give it a moment to be first."""
        if self._is_ahead():
            self._pause(listener, STAND_BACK_SECONDS, self._accept_after_all)
            return
        for _ in range(AT_ONCE):
            if not self._accept_now(listener) or self._is_ahead() or self.count() >= self._most:
                return

    def _is_ahead(self) -> bool:
        """Whether another process has fewer connections, by more than is even enough."""
        count = self.count()  # first: it publishes this process's own, which may be the fewest
        fewest = self._board.fewest_connections()
        return count > fewest + fewest // EVEN_ENOUGH

    def _accept_after_all(self, listener: socket.socket) -> None:
        if self._is_open:
            self._listen(listener)
            self._accept_now(listener)

    def _accept_now(self, listener: socket.socket) -> bool:
        """Accept a connection; returns whether there was one."""
        if self.count() >= self._most:
            self._close_dispensable(listener)
            return False
        try:
            client, address = listener.accept()
        except OSError as error:
            if error.errno in _NO_FILES:
                self._close_dispensable(listener)
            elif error.errno not in _NO_CONNECTION:
                raise
            return False
        _prepare(client)
        connection = Connection(self._server, _host_and_port(address), _host_and_port(listener.getsockname()))
        task = self._loop.create_task(self._loop.connect_accepted_socket(lambda: connection, client))
        self._tasks[task] = connection
        task.add_done_callback(self._tasks.pop)
        return True

    def _close_dispensable(self, listener: socket.socket) -> None:
        """End dispensable connections, and accept again when they are gone."""
        now = time.monotonic()
        if now - self._warned >= WARN_SECONDS:
            self._warned = now
            _LOG.warning("Out of file descriptors, or ROCPR_CONNECTIONS connections are open: raise the limit.")
        evicted = evict(self._server.connections)
        self._pause(listener, 0 if evicted else PAUSE_SECONDS, self._listen)


def _prepare(client: socket.socket) -> None:
    """Limit how much the system buffers for a client, and how long it tries to reach one."""
    client.setblocking(False)  # noqa: FBT003  # the library's signature
    client.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER_BYTES)
    if client.family != socket.AF_UNIX and hasattr(socket, "TCP_USER_TIMEOUT"):  # Linux
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, DEAD_CLIENT_MS)


def _host_and_port(address: Any) -> tuple[str, str]:  # noqa: ANN401  # Python's type of an address depends on its family
    return (address[0], str(address[1])) if isinstance(address, tuple) else ("", "")


def _descriptors_left() -> int:
    """The number of descriptors that this process may still open."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        used = len(list(Path("/proc/self/fd").iterdir()))
    except OSError:  # not Linux
        used = 64
    return max(0, (soft if soft >= 0 else 1 << 20) - used)
