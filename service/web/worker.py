"""gunicorn's threaded worker with our manners: its own errors are problems, and a refused client gets its answer.

Knows gunicorn's worker, parser and sockets; nothing of the application. gunicorn answers an unreadable request with
an HTML page, lets slow clients hold its threads, keeps a connection whose body nobody read, resets one that it closes
while the client is sending, stops taking requests the moment it is told to stop, and does not see that a thread is
stuck; what is here changes these six.
"""

import errno
import selectors
import socket
import threading
import time
from contextlib import suppress
from functools import partial
from http import HTTPStatus
from types import FrameType
from urllib.parse import unquote

from gunicorn import util
from gunicorn.http.body import Body, ChunkedReader, LengthReader
from gunicorn.http.errors import InvalidHeader, InvalidHTTPVersion, NoMoreData, ParseException
from gunicorn.http.message import Request
from gunicorn.http.parser import RequestParser
from gunicorn.http.unreader import SocketUnreader
from gunicorn.workers.gthread import TConn, ThreadWorker

from service.settings import read_settings
from service.web.lifecycle import DRAINING, longest_evaluation
from service.web.observation import refused_by_server
from service.web.security_headers import HEADERS
from service.web.transport import SlowRequest, instance_of, transport_problem
from service.wire.problems import PROBLEM_JSON, Problem, problem_document

MAX_DRAINED_BYTES = 32 * 1024
"""An unread body up to this length is read and dropped to keep its connection; a longer one costs the connection."""

LINGER_SECONDS = 5.0
"""How long a closed connection still takes (and drops) what the client is sending, so that it reads its answer."""

LINGER_SHARE = 4
"""One thread in so many, at most, waits like this; other connections are closed at once."""

LINGER_IDLE_SECONDS = 1.0
"""How long it waits for a client that sends nothing and does not close."""

PATIENCE_SECONDS = 10.0
"""How long a request may take beyond its bytes at ROCPR_MIN_BODY_RATE, and how long its client may be silent."""

WRITE_IDLE_SECONDS = 30.0
"""How long a client may take for a piece of its answer (operations.py); then the connection is closed."""

ACCEPT_PAUSE_SECONDS = 0.1
"""How long a process waits that cannot open another connection, so that it does not only try."""

STUCK_SECONDS = 60.0
"""How long the evaluation of a small request may take; then the master hears nothing more and replaces the process."""

_VERSIONS = frozenset({(1, 0), (1, 1)})

_TOO_MANY_FILES = frozenset({errno.EMFILE, errno.ENFILE})

_SECURITY = "".join(f"{name}: {value}\r\n" for name, value in {**HEADERS, "Cache-Control": "no-store"}.items())


class IncompleteHead(ParseException):
    """The connection ended inside the request line or the header fields."""


class ImpatientUnreader(SocketUnreader):
    """Reads from a socket, but waits neither for a silent client nor for one that sends a byte now and then."""

    def __init__(self, sock: socket.socket, rate: float) -> None:
        super().__init__(sock)
        self.rate = rate
        self.too_slow = False
        self.expect_request()

    def expect_request(self) -> None:
        """Start counting: the next request begins."""
        self.patience_ends = time.monotonic() + PATIENCE_SECONDS

    def chunk(self, size_hint: int | None = None) -> bytes:
        """Read what there is; raises SlowRequest when it comes too slowly."""
        before = self.sock.gettimeout()
        left = self.patience_ends - time.monotonic()
        try:
            # When the time is over, what is there already still counts: it may have waited for this process.
            self.sock.settimeout(max(0.0, min(left, PATIENCE_SECONDS, before or PATIENCE_SECONDS)))
            data: bytes = super().chunk(size_hint)
        except (TimeoutError, BlockingIOError) as error:
            self.too_slow = True
            raise SlowRequest from error
        finally:
            self.sock.settimeout(before)
        self.patience_ends += len(data) / self.rate
        return data


class WholeLengthReader(LengthReader):
    """A body of known length that raises when the connection ends before it does, as a chunked one does."""

    def read(self, size: int) -> bytes:
        """Read up to `size` bytes, fewer only at the end of the body."""
        wanted = min(size, self.length)
        data: bytes = super().read(size)
        if len(data) < wanted:
            raise NoMoreData
        return data


class WholeRequest(Request):
    """A request whose connection is closed after the answer when its body was not read whole."""

    body: Body
    last: bool | None = None

    def __init__(self, *arguments: object) -> None:
        try:
            super().__init__(*arguments)
            if self.version not in _VERSIONS:  # gunicorn takes 1.2 to 1.9, too
                raise InvalidHTTPVersion(self.version)
            # RFC 9112, 3.2; gunicorn refuses a second Host, and lets none pass.
            if self.version >= (1, 1) and not any(name == "HOST" for name, _ in self.headers):
                raise InvalidHeader("Host")
        except NoMoreData as error:
            raise IncompleteHead from error
        except ParseException as error:
            error.path = self.path  # for the problem's instance
            raise

    def set_body_reader(self) -> None:
        """Choose how the body is read; one of known length must not end early."""
        super().set_body_reader()
        if isinstance(self.body.reader, LengthReader):
            self.body = Body(WholeLengthReader(self.unreader, self.body.reader.length))

    def should_close(self) -> bool:
        """Whether no other request can follow on this connection.

        Asked for the answer's head, and again when it is sent: what the client was told is what holds, so a stop in
        between ends the connection with the next request.
        """
        if self.last is None:
            self.last = DRAINING.is_set()
        return bool(
            self.last or self.unreader.too_slow or super().should_close() or self.body.failed or self._much_is_unread()
        )

    def _much_is_unread(self) -> bool:
        reader = self.body.reader
        if isinstance(reader, ChunkedReader):
            return reader.parser is not None
        return bool(reader.length > MAX_DRAINED_BYTES)


class WholeRequestParser(RequestParser):
    """The parser of a connection whose requests are WholeRequests."""

    mesg_class = WholeRequest

    def __init__(self, cfg: object, source: socket.socket, source_addr: object, rate: float) -> None:
        super().__init__(cfg, source, source_addr)
        self.unreader = ImpatientUnreader(source, rate)

    def finish_body(self, *arguments: object, **limits: object) -> bool:
        """Drop what was not read of the last body; False when that takes too long."""
        try:
            return bool(super().finish_body(*arguments, **limits))
        except SlowRequest:
            return False

    def __next__(self) -> WholeRequest:
        """Read the next request's head."""
        self.unreader.expect_request()
        request: WholeRequest = super().__next__()
        return request


class Worker(ThreadWorker):
    """The worker that deploy/gunicorn.conf.py names."""

    quitting = False

    def init_process(self) -> None:
        """Start to serve."""
        settings = read_settings()
        self.rate = settings.min_body_rate
        self.lingering = threading.BoundedSemaphore(max(1, self.cfg.threads // LINGER_SHARE))
        self.drain_seconds = settings.drain_seconds
        super().init_process()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Stop gracefully; the first time only after the drain, during which every answer ends its connection."""
        if DRAINING.is_set() or not self.drain_seconds:
            DRAINING.set()
            super().handle_exit(sig, frame)
            return
        DRAINING.set()
        later = threading.Timer(self.drain_seconds, super().handle_exit, (sig, frame))
        later.daemon = True
        later.start()

    def handle_quit(self, sig: int, frame: FrameType | None) -> None:
        """Stop at once, on the first signal only.

        Ctrl-C reaches every process of the terminal, and gunicorn's master then signals its workers again; a second
        run of this handler inside the first one would wait for a lock that the first one holds.
        """
        if not self.quitting:
            self.quitting = True
            super().handle_quit(sig, frame)

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
            conn.sock.settimeout(None)

    def handle(self, conn: TConn) -> object:
        """Serve one request of a connection; when that was the last, let the client read the answer."""
        if conn.parser is None:
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
            util.write(client, head.encode("ascii") + body)


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
