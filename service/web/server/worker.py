"""gunicorn's worker of rocpr: a process with one event loop, which reads and sends, and lanes, which evaluate.

Knows gunicorn, signals and listeners. gunicorn stays the manager of the processes: it starts them, watches their
heartbeat, and tells them to stop.
"""

import asyncio
import errno
import logging
import os
import resource
import signal
import socket
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from queue import Empty, SimpleQueue
from types import FrameType
from typing import Any

from gunicorn.asgi.parser import PythonProtocol
from gunicorn.glogging import Logger
from gunicorn.workers.base import Worker as BaseWorker

from service.settings import Settings, read_settings
from service.web.forking import STOPS
from service.web.lanes.board import Board
from service.web.lanes.fair_slots import FairSlots
from service.web.lifecycle import DRAINING
from service.web.passes import Pass
from service.web.server.connection import Connection
from service.web.server.lane import Lane
from service.web.server.server import Bounds, Server

SWEEP_SECONDS = 1.0
"""How often the process looks after its connections, and tells the master that it is well."""

STUCK_SECONDS = 60.0
"""How long a small request may take; then the master hears nothing more and replaces the process."""

STAND_BACK_SECONDS = 0.002
"""How long a process that has more connections than another leaves a new one to that."""

PAUSE_SECONDS = 0.1
"""How long a process waits that cannot open another connection, so that it does not only try."""

WARN_SECONDS = 60.0
"""How often that is worth a line in the log."""

SPARE_FILES = 24
"""How many descriptors are kept for what is not a connection: bodies, slots, pipes to evaluators."""

SMALL_WAITING, BIG_WAITING = 256, 64
"""How many requests may wait in each process: for the thread of small ones, and for a slot."""

SMALL_HALF_LIFE, BIG_HALF_LIFE = 1.0, 10.0
"""In how many seconds what somebody used of a lane counts half."""

SEND_BUFFER_BYTES = 1 << 17
"""What the system may keep of an answer for a client that does not read: by itself it takes up to 4 MB."""

DEAD_CLIENT_MS = 30_000
"""How long the system tries to send to a client that acknowledges nothing."""

_NO_FILES = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM})
_NO_CONNECTION = frozenset({errno.EAGAIN, errno.ECONNABORTED, errno.EINTR})

_LOG = logging.getLogger("service")


class ServerLog(Logger):
    """gunicorn's log without its access lines: the application logs its requests itself (observation.py)."""

    def access(self, *_: object) -> None:
        """Write nothing."""


class Worker(BaseWorker):
    """The worker that deploy/gunicorn.conf.py names."""

    signals: "SimpleQueue[int]"  # what the master was sent, and after the fork this process; see init_signals

    def init_signals(self) -> None:
        """Handle signals from here on, and those that came since the fork.

        Until here the handlers are the master's, whose copy in this process only queues: a master that is stopped while
        it starts a worker would wait its whole graceful timeout for one that has not heard of it.
        """
        super().init_signals()
        with suppress(Empty):
            while True:
                if (sig := self.signals.get_nowait()) in STOPS:
                    signal.raise_signal(sig)

    def run(self) -> None:
        """Serve until the process is told to stop."""
        settings = read_settings()
        self._loop = asyncio.new_event_loop()
        self._loop.set_exception_handler(_log_failure)
        self._drain_seconds = settings.drain_seconds
        self._workers = settings.workers
        self._stops_at: float | None = None
        self._warned = -WARN_SECONDS
        self._tasks: set[asyncio.Task[Any]] = set()
        extensions = self.wsgi.extensions
        directory = extensions["runtime_directory"]
        self._board = Board(directory)
        self._server = self._make_server(settings, FairSlots(extensions["slots"], self._board))
        if not self.alive:  # told to stop before it began
            return
        handlers: dict[int, Callable[[], object]] = {
            signal.SIGTERM: self._stop,
            signal.SIGINT: self._quit,
            signal.SIGQUIT: self._quit,
        }
        for number, handler in handlers.items():
            self._loop.add_signal_handler(number, handler)
        for listener in self.sockets:
            listener.setblocking(False)  # noqa: FBT003  # the library's signature
            self._listen(listener)
        self._sweep()
        try:
            self._loop.run_forever()
        finally:
            for number in handlers:
                self._loop.remove_signal_handler(number)

    def _make_server(self, settings: Settings, slots: FairSlots) -> Server:
        loop, extensions = self._loop, self.wsgi.extensions
        small = Lane(loop, "small", threads=1, ahead=1, most=SMALL_WAITING, half_life=SMALL_HALF_LIFE)
        columnar = Lane(loop, "columnar", threads=1, ahead=1, most=SMALL_WAITING, half_life=SMALL_HALF_LIFE)
        big = Lane(
            loop, "big", threads=settings.slots, most=BIG_WAITING, half_life=BIG_HALF_LIFE, admit=partial(_admit, slots)
        )
        bounds = Bounds(
            body_bytes=settings.max_body_bytes,
            held_bytes=settings.spool_bytes // settings.workers,
            connections=min(settings.connections, _descriptors_left() - SPARE_FILES),
            min_body_rate=settings.min_body_rate,
            keepalive=self.cfg.keepalive,
            queue_seconds=settings.queue_seconds,
            retry_after_seconds=settings.retry_after_seconds,
        )
        return Server(
            self.wsgi,
            loop,
            {Pass.HEAD: small, Pass.SMALL: small, Pass.COLUMNAR: columnar, Pass.BIG: big},
            bounds,
            owner_of=extensions["owners"].owner_of,
            spool=extensions["big_pool"].spool,
            new_parser=partial(_parser, self.cfg),
        )

    # Connections.

    def _listen(self, listener: socket.socket) -> None:
        if self._stops_at is None:
            self._loop.add_reader(listener.fileno(), self._accept, listener)

    def _pause(self, listener: socket.socket, seconds: float, then: Callable[[socket.socket], object]) -> None:
        """Leave new connections to others for a moment."""
        self._loop.remove_reader(listener.fileno())
        self._loop.call_later(seconds, then, listener)

    def _accept(self, listener: socket.socket) -> None:
        """Accept one connection, unless another process has fewer, which then has a moment to be first."""
        if len(self._server.connections) > self._board.fewest_connections(self._workers):
            self._pause(listener, STAND_BACK_SECONDS, self._accept_after_all)
        else:
            self._accept_now(listener)

    def _accept_after_all(self, listener: socket.socket) -> None:
        self._listen(listener)
        if self._stops_at is None:
            self._accept_now(listener)

    def _accept_now(self, listener: socket.socket) -> None:
        if self._server.is_full():
            self._make_way(listener)
            return
        try:
            client, address = listener.accept()
        except OSError as error:
            if error.errno in _NO_FILES:
                self._make_way(listener)
            elif error.errno not in _NO_CONNECTION:
                raise
            return
        _prepare(client)
        connection = Connection(self._server, _host_and_port(address), _host_and_port(listener.getsockname()))
        self._server.connections.add(connection)
        self._board.count_connections(len(self._server.connections))
        task = self._loop.create_task(self._loop.connect_accepted_socket(lambda: connection, client))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _make_way(self, listener: socket.socket) -> None:
        """End connections that nobody misses, and accept again when they are gone."""
        now = time.monotonic()
        if now - self._warned >= WARN_SECONDS:
            self._warned = now
            self.log.warning("No descriptor is left for another connection: raise the limit of open files.")
        evicted = self._server.evict()
        self._pause(listener, 0 if evicted else PAUSE_SECONDS, self._listen)

    # The process.

    def _sweep(self) -> None:
        self._loop.call_later(SWEEP_SECONDS, self._sweep)
        self._server.sweep()
        self._board.count_connections(len(self._server.connections))
        if self._server.lanes[Pass.SMALL].longest() < STUCK_SECONDS:
            self.notify()
        if self.ppid != os.getppid():
            self.log.info("The master is gone.")
            self._stop_listening()

    def _stop(self) -> None:
        """Stop gracefully, the first time only after the drain, during which every answer ends its connection."""
        drains = self._drain_seconds and not DRAINING.is_set()
        DRAINING.set()
        if drains:
            self._loop.call_later(self._drain_seconds, self._stop_listening)
        else:
            self._stop_listening()

    def _stop_listening(self) -> None:
        """Take no more connections, and end when those that there are have their answers."""
        DRAINING.set()
        if self._stops_at is None:
            self._stops_at = time.monotonic() + self.cfg.graceful_timeout
            for listener in self.sockets:
                self._loop.remove_reader(listener.fileno())
                listener.close()
            self._end_when_done()

    def _end_when_done(self) -> None:
        now = time.monotonic()
        for connection in tuple(self._server.connections):
            connection.hurry(now)
            connection.look(now)
        if not self._server.connections or now > (self._stops_at or now):
            self._loop.stop()
        else:
            self._loop.call_later(PAUSE_SECONDS, self._end_when_done)

    def _quit(self) -> None:
        """Stop at once."""
        self.alive = False
        self.cfg.worker_int(self)
        self._loop.stop()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Note a stop that comes before the loop runs."""
        DRAINING.set()
        super().handle_exit(sig, frame)


def _admit(slots: FairSlots, owner: str) -> Callable[[], object] | None:
    slot = slots.take(owner)
    return None if slot is None else slot.release


def _parser(cfg: Any, head_complete: Callable[[], bool], piece: Callable[[bytes], None]) -> PythonProtocol:  # noqa: ANN401  # gunicorn has no types
    return PythonProtocol(
        on_headers_complete=head_complete,
        on_body=piece,
        limit_request_line=cfg.limit_request_line,
        limit_request_fields=cfg.limit_request_fields,
        limit_request_field_size=cfg.limit_request_field_size,
    )


def _prepare(client: socket.socket) -> None:
    """Bound what the system keeps for a client, and for how long it tries to reach one."""
    client.setblocking(False)  # noqa: FBT003  # the library's signature
    client.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER_BYTES)
    if client.family != socket.AF_UNIX and hasattr(socket, "TCP_USER_TIMEOUT"):  # Linux
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, DEAD_CLIENT_MS)


def _host_and_port(address: Any) -> tuple[str, str]:  # noqa: ANN401  # what Python has for an address depends on its family
    return (address[0], str(address[1])) if isinstance(address, tuple) else ("", "")


def _descriptors_left() -> int:
    """Tell how many descriptors this process may still open."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        used = len(list(Path("/proc/self/fd").iterdir()))
    except OSError:  # not Linux
        used = 64
    return max(SPARE_FILES + 1, (soft if soft >= 0 else 1 << 20) - used)


def _log_failure(_loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Log what asyncio caught, by its type and frames alone."""
    _LOG.error("Unexpected failure", exc_info=context.get("exception"))
