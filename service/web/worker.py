"""gunicorn's threaded worker with our manners: its own errors are problems, and a refused client gets its answer.

Knows gunicorn's worker, parser and sockets; nothing of the application. gunicorn answers an unreadable request with
an HTML page, lets a client that reads nothing hold a thread, resets a connection that it closes while the client is
sending, stops taking requests the moment it is told to stop, misses that when it is told too early, and does not see
that a thread is stuck; what is here and in reading.py changes these.
"""

import errno
import selectors
import signal
import socket
import threading
import time
from contextlib import suppress
from functools import partial
from http import HTTPStatus
from queue import Empty, SimpleQueue
from types import FrameType
from urllib.parse import unquote

from gunicorn import util
from gunicorn.glogging import Logger
from gunicorn.http.message import Request
from gunicorn.workers.gthread import TConn, ThreadWorker

from service.settings import read_settings
from service.web.carrying import ClientSocket
from service.web.forking import STOPS
from service.web.lifecycle import DRAINING, longest_evaluation
from service.web.observation import refused_by_server
from service.web.reading import WholeRequestParser
from service.web.security_headers import HEADERS
from service.web.transport import instance_of, transport_problem
from service.wire.problems import PROBLEM_JSON, Problem, problem_document

LINGER_SECONDS = 5.0
"""How long a closed connection still takes (and drops) what the client is sending, so that it reads its answer."""

LINGER_SHARE = 4
"""One thread in so many, at most, waits like this; other connections are closed at once."""

LINGER_IDLE_SECONDS = 1.0
"""How long it waits for a client that sends nothing and does not close."""

WRITE_IDLE_SECONDS = 30.0
"""How long a client may take for a piece of its answer (operations.py); then the connection is closed."""

ACCEPT_PAUSE_SECONDS = 0.1
"""How long a process waits that cannot open another connection, so that it does not only try."""

STUCK_SECONDS = 60.0
"""How long the evaluation of a small request may take; then the master hears nothing more and replaces the process."""

_TOO_MANY_FILES = frozenset({errno.EMFILE, errno.ENFILE})

_SECURITY = "".join(f"{name}: {value}\r\n" for name, value in {**HEADERS, "Cache-Control": "no-store"}.items())


class ServerLog(Logger):
    """gunicorn's log without its access lines, which take their time even where nobody has asked for them.

    The application logs its requests itself (observation.py).
    """

    def access(self, *_: object) -> None:
        """Write nothing."""


class Worker(ThreadWorker):
    """The worker that deploy/gunicorn.conf.py names."""

    signals: "SimpleQueue[int]"  # what the master was sent, and after the fork this process; see init_signals

    def init_process(self) -> None:
        """Start to serve."""
        settings = read_settings()
        self.rate = settings.min_body_rate
        self.lingering = threading.BoundedSemaphore(max(1, self.cfg.threads // LINGER_SHARE))
        self.drain_seconds = settings.drain_seconds
        super().init_process()

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

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Have the loop stop gracefully.

        A handler runs in the middle of whatever the main thread does, also where that holds a lock because it gives a
        connection to a thread: one that did more than to queue could wait for that lock for ever.
        """
        self.method_queue.defer(self._stop_gracefully, sig, frame)

    def handle_quit(self, sig: int, frame: FrameType | None) -> None:
        """Have the loop stop at once; where Ctrl-C and the master both ask for it, the second finds nobody."""
        self.method_queue.defer(super().handle_quit, sig, frame)

    def _stop_gracefully(self, sig: int, frame: FrameType | None) -> None:
        """Stop, the first time only after the drain, during which every answer ends its connection."""
        if DRAINING.is_set() or not self.drain_seconds:
            DRAINING.set()
            super().handle_exit(sig, frame)
            return
        DRAINING.set()
        later = threading.Timer(self.drain_seconds, super().handle_exit, (sig, frame))
        later.daemon = True
        later.start()

    def notify(self) -> None:
        """Tell the master that this process is well, unless one of its threads is stuck; then it is replaced."""
        if longest_evaluation() < STUCK_SECONDS:
            super().notify()

    def accept(self, listener: socket.socket) -> None:
        """Accept a connection; where no descriptor is left for it, let it wait instead of ending the process."""
        try:
            super().accept(listener)
        except OSError as error:
            if error.errno not in _TOO_MANY_FILES:
                raise
            self.log.warning("No descriptor is left for another connection: raise the limit of open files.")
            self.set_accept_enabled(enabled=False)  # the next round of the loop tries again
            time.sleep(ACCEPT_PAUSE_SECONDS)

    def enqueue_req(self, conn: TConn) -> None:
        """Give a connection to a thread once it has sent something; silent ones wait in the poller and hold none."""
        if conn.initialized or conn.data_ready:
            super().enqueue_req(conn)
            return
        conn.timeout = time.monotonic() + self.cfg.keepalive
        self.pending_conns.append(conn)
        self.poller.register(conn.sock, selectors.EVENT_READ, partial(self.on_pending_socket_readable, conn))

    def handle_request(self, req: Request, conn: TConn) -> object:
        """Answer a request, and do not wait for ever for a client that does not read the answer."""
        conn.sock.settimeout(WRITE_IDLE_SECONDS)
        try:
            return super().handle_request(req, conn)
        except TimeoutError as error:
            raise ConnectionResetError(errno.ECONNRESET, "The client reads nothing.") from error
        finally:
            with suppress(OSError):  # it may be closed
                conn.sock.settimeout(None)

    def handle(self, conn: TConn) -> object:
        """Serve one request of a connection; when that was the last, let the client read the answer."""
        if conn.parser is None:
            conn.sock = ClientSocket.of(conn.sock)
            conn.parser = WholeRequestParser(self.cfg, conn.sock, conn.client, self.rate)
        kept = super().handle(conn)
        if kept is False and self.lingering.acquire(blocking=False):
            try:
                _linger(conn.sock)
            finally:
                self.lingering.release()
        return kept

    def handle_error(self, req: Request | None, client: socket.socket, addr: object, exc: Exception) -> None:  # noqa: ARG002  # gunicorn's signature
        """Answer a request that could not be read, or whose serving failed, with a problem; then it is closed."""
        problem = transport_problem(exc)
        if problem is None:
            self.log.error("Unexpected failure", exc_info=exc)
            problem = Problem("internal_error", "The server failed in a way that it should not.")
        path = getattr(req, "path", None) or getattr(exc, "path", None) or "/"
        method = getattr(req, "method", None) or getattr(exc, "method", None)
        body = problem_document(problem, instance_of(unquote(path)))
        status = HTTPStatus(problem.type.status)
        request_id = refused_by_server(status.value, problem.type.code)
        head = (
            f"HTTP/1.1 {status.value} {status.phrase}\r\n"
            f"Date: {util.http_date()}\r\n"
            "Connection: close\r\n"
            f"X-Request-ID: {request_id}\r\n"
            f"Content-Type: {PROBLEM_JSON}\r\n"
            f"Content-Length: {len(body)}\r\n"
            f"{_SECURITY}"
            "\r\n"
        )
        with suppress(OSError):  # the client may be gone, or not read
            client.settimeout(WRITE_IDLE_SECONDS)
            util.write(client, head.encode("ascii") + (b"" if method == "HEAD" else body))


def _linger(sock: socket.socket) -> None:
    """Close the sending side, then drop what the client still sends until it closes or the time is over.

    Closing at once would send a reset that can destroy the answer before the client has read it. In the end the
    receiving side is shut too, so that gunicorn's own lingering, on its main thread, finds nothing to wait for.
    """
    end = time.monotonic() + LINGER_SECONDS
    with suppress(OSError):
        sock.shutdown(socket.SHUT_WR)
        while (left := end - time.monotonic()) > 0:
            sock.settimeout(min(left, LINGER_IDLE_SECONDS))
            if not sock.recv(1 << 16):
                break
    with suppress(OSError):
        sock.shutdown(socket.SHUT_RDWR)
