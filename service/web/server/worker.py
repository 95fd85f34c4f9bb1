"""rocpr's gunicorn worker: an event loop, which reads, sends and does short work, and threads for what takes longer.

Knows gunicorn, signals and listeners. gunicorn manages the processes: it starts them, watches their heartbeats, and
tells them to stop.
"""

import asyncio
import logging
import os
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from queue import Empty, SimpleQueue
from types import FrameType
from typing import Any

from gunicorn.workers.base import Worker as BaseWorker

from service.settings import Settings, read_settings
from service.web.forking import STOPS
from service.web.lanes.board import Board
from service.web.lanes.fair_slots import FairSlots
from service.web.passes import DRAINING, Pass
from service.web.server.accepting import Listeners
from service.web.server.expiry import Held
from service.web.server.lane import LoopLane, ThreadLane
from service.web.server.parser import new_parser
from service.web.server.server import Bounds, Server
from service.wire.media_types import COLUMNAR

SWEEP_SECONDS = 1.0
"""Seconds between sweeps of the connections, and between heartbeats."""

STOP_SWEEP_SECONDS = 0.1
"""The same once the process must stop."""

SMALL_WAITING, BIG_WAITING = 256, 64
"""The most requests that may wait in each process: small ones, and those for a slot."""

SWITCH_SECONDS = 0.0005
"""How long a thread may hold the GIL while the loop waits for it; the loop releases it at each system call.

With Python's default, each of these could cost the loop 5 ms, once or more for every connection.
"""

SMALL_HALF_LIFE, BIG_HALF_LIFE = 1.0, 10.0
"""The half-life of used lane time, in seconds."""

SPARE_FILES = 24
"""Descriptors reserved for bodies, pipes to evaluators and the like, besides one for each slot."""

HELD_IN_MEMORY_BYTES = 128 << 20
"""The most bytes that a process keeps in memory of all clients' bodies and unread answers."""

_LOG = logging.getLogger("service")


class Worker(BaseWorker):
    """The worker that deploy/gunicorn.conf.py names."""

    @classmethod
    def check_config(cls, cfg: Any, log: Any) -> None:  # noqa: ANN401, ARG003  # gunicorn has no types
        """Refuse to serve in clear text if TLS is configured."""
        if cfg.is_ssl:
            sys.exit("rocpr: the server does not serve TLS; put a proxy such as nginx in front (deploy/nginx.conf)")

    signals: "SimpleQueue[int]"  # signals sent to the master, and after the fork to this process; see init_signals

    def init_signals(self) -> None:
        """Handle signals from now on, and stop signals received since the fork.

        Until now the handlers were copies of the master's, which only queue signals. If that lost one, a master stopped
        while starting a worker would wait its whole graceful timeout for that worker.
        """
        super().init_signals()
        with suppress(Empty):
            while True:
                if (sig := self.signals.get_nowait()) in STOPS:
                    signal.raise_signal(sig)

    def run(self) -> None:
        """Serve until the process must stop."""
        settings = read_settings()
        sys.setswitchinterval(SWITCH_SECONDS)
        self._loop = asyncio.new_event_loop()
        self._loop.set_exception_handler(_log_failure)
        self._drain_seconds = settings.drain_seconds
        self._stops_at: float | None = None
        extensions = self.wsgi.extensions
        directory = extensions["runtime_directory"]
        self._board = Board(directory)
        self._server = self._make_server(settings, FairSlots(extensions["slots"], self._board))
        handlers: dict[int, Callable[[], object]] = {
            signal.SIGTERM: self._stop,
            signal.SIGINT: self._quit,
            signal.SIGQUIT: self._quit,
        }
        for number, handler in handlers.items():
            self._loop.add_signal_handler(number, handler)
        if not self.alive:  # a stop signal came before these handlers
            return
        self._listeners = Listeners(
            self._loop,
            self.sockets,
            self._server,
            self._board,
            most=self.cfg.worker_connections,
            spare_files=SPARE_FILES + settings.slots,
        )
        self._sweep()
        try:
            self._loop.run_forever()
        finally:
            for number in handlers:
                self._loop.remove_signal_handler(number)

    def _make_server(self, settings: Settings, slots: FairSlots) -> Server:
        loop, extensions = self._loop, self.wsgi.extensions
        small = LoopLane(loop, most=SMALL_WAITING, half_life=SMALL_HALF_LIFE)
        columnar = ThreadLane(loop, "columnar", threads=1, ahead=1, most=SMALL_WAITING, half_life=SMALL_HALF_LIFE)
        big = ThreadLane(loop, "big", threads=settings.slots, most=BIG_WAITING, half_life=BIG_HALF_LIFE, slots=slots)
        bounds = Bounds(
            body_bytes=settings.max_body_bytes,
            held=Held(HELD_IN_MEMORY_BYTES, settings.spool_bytes // self.cfg.workers),
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
            spool=extensions["spool"].open,
            being_written=extensions["big_pool"].bytes_being_written,
            new_parser=partial(new_parser, self.cfg),
            columnar_types=COLUMNAR,
            routes=frozenset(rule.rule for rule in self.wsgi.url_map.iter_rules() if "<" not in rule.rule),
        )

    def _sweep(self) -> None:
        self._loop.call_later(SWEEP_SECONDS, self._sweep)
        self._server.sweep()
        self._listeners.count()
        self.notify()
        if self.ppid != os.getppid() and self._stops_at is None:
            self.log.info("The master is gone.")
            self._stop_listening()

    def _stop(self) -> None:
        """Stop gracefully; the first call begins the drain, during which every answer ends its connection."""
        drains = self._drain_seconds and not DRAINING.is_set()
        DRAINING.set()
        if drains:
            self._loop.call_later(self._drain_seconds, self._stop_listening)
        else:
            self._stop_listening()

    def _stop_listening(self) -> None:
        """Take no more connections, and end when the existing ones have their answers."""
        DRAINING.set()
        if self._stops_at is None:
            self._server.stopping_since = time.monotonic()
            self._stops_at = self._server.stopping_since + self.cfg.graceful_timeout - self._drain_seconds
            self._listeners.close()
            self._end_when_done()

    def _end_when_done(self) -> None:
        self._loop.call_later(STOP_SWEEP_SECONDS, self._end_when_done)
        if not self._listeners.count() or time.monotonic() > (self._stops_at or 0.0):
            self._loop.stop()
        self._server.sweep()

    def _quit(self) -> None:
        self.alive = False
        self.cfg.worker_int(self)
        self._loop.stop()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Note a stop signal that comes before the loop runs."""
        DRAINING.set()
        super().handle_exit(sig, frame)

    def handle_quit(self, sig: int, frame: FrameType | None) -> None:
        """Note a signal to stop at once that comes before the loop runs.

        gunicorn's own method raises SystemExit. While a class is being made, Python turns that into another error, and
        the master would take it for a failure to start and exit with an error itself.
        """
        self.cfg.worker_int(self)
        self.handle_exit(sig, frame)


def _log_failure(_loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Log an error that asyncio caught, by its type and frames only."""
    _LOG.error("Unexpected failure", exc_info=context.get("exception"))
