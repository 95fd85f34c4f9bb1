"""gunicorn's threaded worker with our manners: its own errors are problems, and a refused client gets its answer.

Knows gunicorn's worker, parser and sockets; nothing of the application. gunicorn answers an unreadable request with
an HTML page, lets silent clients hold its threads, keeps a connection whose body nobody read, and resets one that it
closes while the client is sending; what is here changes these four.
"""

import selectors
import socket
import time
from contextlib import suppress
from functools import partial
from http import HTTPStatus
from types import FrameType
from urllib.parse import unquote

from gunicorn import util
from gunicorn.http.body import Body, ChunkedReader, LengthReader
from gunicorn.http.errors import InvalidHeader, NoMoreData, ParseException
from gunicorn.http.message import Request
from gunicorn.http.parser import RequestParser
from gunicorn.http.unreader import SocketUnreader
from gunicorn.workers.gthread import TConn, ThreadWorker

from service.web.transport import instance_of, transport_problem
from service.wire.problems import PROBLEM_JSON, Problem, problem_document

MAX_DRAINED_BYTES = 32 * 1024
"""An unread body up to this length is read and dropped to keep its connection; a longer one costs the connection."""

LINGER_SECONDS = 5.0
"""How long a closed connection still takes (and drops) what the client is sending, so that it reads its answer."""

LINGER_IDLE_SECONDS = 1.0
"""How long it waits for a client that sends nothing and does not close."""

READ_IDLE_SECONDS = 10.0
"""How long a client may send nothing in the middle of a request; then the request counts as cut short."""


class IncompleteHead(ParseException):
    """The connection ended inside the request line or the header fields."""


class ImpatientUnreader(SocketUnreader):
    """Reads from a socket, but does not wait for a silent client for ever; writing is not limited."""

    def chunk(self, size_hint: int | None = None) -> bytes:
        """Read what there is; raises TimeoutError when nothing comes."""
        before = self.sock.gettimeout()
        self.sock.settimeout(READ_IDLE_SECONDS if before is None else before)
        try:
            data: bytes = super().chunk(size_hint)
        finally:
            self.sock.settimeout(before)
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

    def __init__(self, *arguments: object) -> None:
        try:
            super().__init__(*arguments)
            # RFC 9112, 3.2; gunicorn refuses a second Host, and lets none pass.
            if self.version >= (1, 1) and not any(name == "HOST" for name, _ in self.headers):
                raise InvalidHeader("Host")
        except (NoMoreData, TimeoutError) as error:
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
        """Whether no other request can follow on this connection."""
        return bool(super().should_close() or self.body.failed or self._much_is_unread())

    def _much_is_unread(self) -> bool:
        reader = self.body.reader
        if isinstance(reader, ChunkedReader):
            return reader.parser is not None
        return bool(reader.length > MAX_DRAINED_BYTES)


class WholeRequestParser(RequestParser):
    """The parser of a connection whose requests are WholeRequests."""

    mesg_class = WholeRequest

    def __init__(self, cfg: object, source: socket.socket, source_addr: object) -> None:
        super().__init__(cfg, source, source_addr)
        self.unreader = ImpatientUnreader(source)


class Worker(ThreadWorker):
    """The worker that deploy/gunicorn.conf.py names."""

    quitting = False

    def handle_quit(self, sig: int, frame: FrameType | None) -> None:
        """Stop at once, on the first signal only.

        Ctrl-C reaches every process of the terminal, and gunicorn's master then signals its workers again; a second
        run of this handler inside the first one would wait for a lock that the first one holds.
        """
        if not self.quitting:
            self.quitting = True
            super().handle_quit(sig, frame)

    def enqueue_req(self, conn: TConn) -> None:
        """Give a connection to a thread once it has sent something; silent ones wait in the poller and hold none."""
        if conn.initialized or conn.data_ready:
            super().enqueue_req(conn)
            return
        conn.timeout = time.monotonic() + self.cfg.keepalive
        self.pending_conns.append(conn)
        self.poller.register(conn.sock, selectors.EVENT_READ, partial(self.on_pending_socket_readable, conn))

    def handle(self, conn: TConn) -> object:
        """Serve one request of a connection; when that was the last, let the client read the answer."""
        if conn.parser is None:
            conn.parser = WholeRequestParser(self.cfg, conn.sock, conn.client)
        kept = super().handle(conn)
        if kept is False:
            _linger(conn.sock)
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
        head = (
            f"HTTP/1.1 {status.value} {status.phrase}\r\n"
            f"Date: {util.http_date()}\r\n"
            "Connection: close\r\n"
            f"Content-Type: {PROBLEM_JSON}\r\n"
            f"Content-Length: {len(body)}\r\n"
            "\r\n"
        )
        with suppress(OSError):  # the client may be gone
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
