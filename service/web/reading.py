"""How a connection's requests are read: whole or with an error, and not from a client that is too slow.

Knows gunicorn's parser and sockets. gunicorn takes a body that ends early for a whole one, waits for slow clients, asks
for bodies before anybody wants them, and keeps a connection whose body nobody read; what is here changes these.
"""

import socket
import time

from gunicorn.http.body import Body, ChunkedReader, LengthReader
from gunicorn.http.errors import InvalidHeader, InvalidHTTPVersion, NoMoreData, ParseException
from gunicorn.http.message import Request
from gunicorn.http.parser import RequestParser
from gunicorn.http.unreader import SocketUnreader

from service.web.lifecycle import DRAINING
from service.web.transport import SlowRequest

MAX_DRAINED_BYTES = 32 * 1024
"""An unread body up to this length is read and dropped to keep its connection; a longer one costs the connection."""

PATIENCE_SECONDS = 10.0
"""How long a request may take beyond its bytes at ROCPR_MIN_BODY_RATE, and how long its client may be silent."""

_CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"

_VERSIONS = frozenset({(1, 0), (1, 1)})


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
        self.continue_awaited = False

    def chunk(self, size_hint: int | None = None) -> bytes:
        """Read what there is; raises SlowRequest when it comes too slowly.

        A client that waits for 100 is told to go on when its body is wanted, not before: it may be refused by its head.
        """
        if self.continue_awaited:
            self.continue_awaited = False
            self.sock.sendall(_CONTINUE)
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

    def read1(self, size: int) -> bytes:
        """Read what there is, up to `size` bytes, and nothing only where the connection ended."""
        data: bytes = self.take_buffered() or self.chunk(size)
        if len(data) > size:
            self.unread(data[size:])
        return data[:size]


class WholeLengthReader(LengthReader):
    """A body of known length that raises when the connection ends before it does, as a chunked one does."""

    def read(self, size: int) -> bytes:
        """Read up to `size` bytes, fewer only at the end of the body."""
        wanted = min(size, self.length)
        data: bytes = super().read(size)
        if len(data) < wanted:
            raise NoMoreData
        return data

    def read1(self, size: int) -> bytes:
        """Read what there is, up to `size` bytes, and nothing only at the end of the body."""
        wanted = min(size, self.length)
        data: bytes = self.unreader.read1(wanted) if wanted else b""
        if wanted and not data:
            raise NoMoreData
        self.length -= len(data)
        return data


class WholeBody(Body):
    """A body of known length that can be read as it comes: gunicorn's `read` copies each byte some six times."""

    def read1(self, size: int) -> bytes:
        """Read what there is, up to `size` bytes, and nothing only at the end of the body."""
        if self.buf.tell():  # what `read` took and did not give
            return bytes(self.read(size))
        try:
            data: bytes = self.reader.read1(size)
        except BaseException:
            self.failed = True
            raise
        return data


class WholeRequest(Request):
    """A request whose connection is closed after the answer when its body was not read whole."""

    body: Body
    headers: list[tuple[str, str]]
    _expected_100_continue: bool
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
            error.path, error.method = self.path, self.method  # for the problem's instance, and to answer HEAD
            raise
        self.unreader.continue_awaited = self._expected_100_continue
        self._expected_100_continue = False  # for gunicorn, which would send it now
        # No other protocol is spoken here, and Upgrade may be ignored (RFC 9110, 7.8); werkzeug would refuse it.
        self.headers = [(name, value) for name, value in self.headers if name != "UPGRADE"]

    def set_body_reader(self) -> None:
        """Choose how the body is read; one of known length must not end early."""
        super().set_body_reader()
        if isinstance(self.body.reader, LengthReader):
            self.body = WholeBody(WholeLengthReader(self.unreader, self.body.reader.length))

    def should_close(self) -> bool:
        """Whether no other request can follow on this connection.

        Asked for the answer's head, and again when it is sent: what the client was told is what holds, so a stop in
        between ends the connection with the next request.
        """
        if self.last is None:
            self.last = DRAINING.is_set()
        return bool(
            self.last
            or self._is_asked_to_close()
            or self.unreader.too_slow
            or super().should_close()
            or self.body.failed
            or self._much_is_unread()
        )

    def _is_asked_to_close(self) -> bool:
        """Whether close is among the options of Connection (RFC 9112, 9.6); gunicorn looks for it alone."""
        options = ",".join(value for name, value in self.headers if name == "CONNECTION")
        return "close" in {option.strip(" \t").lower() for option in options.split(",")}

    def _much_is_unread(self) -> bool:
        """Whether there is much that nobody read; of who waits for 100 nobody knows whether a body comes."""
        reader = self.body.reader
        if isinstance(reader, ChunkedReader):
            return reader.parser is not None
        return bool(reader.length > (0 if self.unreader.continue_awaited else MAX_DRAINED_BYTES))


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
