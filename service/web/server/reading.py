"""One request as it is read: bytes in, a head and a body out, or a problem. It knows no socket and no clock.

gunicorn's parser reads the head and the chunks; it is strict, and keeps to its limits. What it does not bound is here:
the head as a whole, empty lines before it, and chunks of a few bytes. A body of known length goes past it.
"""

from collections.abc import Callable
from typing import cast
from urllib.parse import unquote

from gunicorn.asgi.parser import InvalidHeader, LimitRequestHeaders, ParseError, PythonProtocol

from service.web.server.head import Head
from service.web.server.incoming_body import IncomingBody
from service.web.server.transport import IncompleteHead, TinyChunks, incomplete_body, transport_problem
from service.wire.problems import Problem, no_room

HEAD_BYTES = 32 * 1024
"""The longest head: its line, all fields, and empty lines before it together. A longer one is 431."""

FRAMING_BYTES, FRAMING_OF_CONTENT = 8192, 1.25
"""How much of a chunked body may be sizes, extensions and trailers: in all, and for each byte of content. Chunks of 4
bytes need no more; each chunk takes as long to read as hundreds of bytes."""

FRAMING_OF_TINY_CHUNKS = 16
"""The most of it that chunks of one byte have for a byte; what is more comes from extensions or trailers."""

DENSE_PIECES = 128
"""More chunks than this at once are many; each takes some 2 µs."""

_HEAD_END = b"\r\n\r\n"

NewParser = Callable[[Callable[[], bool], Callable[[bytes], None]], PythonProtocol]
"""Makes a parser with the server's limits, from what it calls after the head, and for each piece of a chunked body."""


class RequestReader:
    """Reads one request.

    head      what was read of it; None before it is whole.
    body      the part of the body that has arrived; None if there is none.
    is_whole  whether the request was read to its end.
    begun     whether a byte of it has come.
    taken     how many bytes of it have come.
    is_dense  whether what came last was a great many chunks, each of which takes time.
    """

    def __init__(self, new_parser: NewParser, new_body: Callable[[], IncomingBody]) -> None:
        self.head: Head | None = None
        self.body: IncomingBody | None = None
        self.is_whole = False
        self.begun = False
        self.taken = 0
        self.is_dense = False
        self._pieces = 0
        self._new_body = new_body
        self._parser = new_parser(self._head_complete, self._piece)
        self._before = b""
        self._head_bytes = 0
        self._tail = b""
        """The last bytes of the head so far, in which its end may begin."""
        self._of_chunks = 0
        """How many bytes of a chunked body have come, its sizes, extensions and trailers included."""

    @property
    def method(self) -> str:
        """The method, as far as it is known."""
        return (self._parser.method or b"").decode("latin-1")

    @property
    def path(self) -> str:
        """The decoded path, as far as it is known."""
        known: bytes = (self._parser.path or b"") if self.head is None else self.head.target
        target = unquote(known.decode("latin-1").partition("?")[0])
        return target if target.startswith("/") else "/"

    def awaits_100(self) -> bool:
        """Whether the client waits for a word before it sends the body, of which nothing has come."""
        return self.head is not None and self.head.expects_100 and (self.body is None or self.body.length == 0)

    def reads_interim(self) -> bool:
        """Whether the client knows interim answers (RFC 9110, 15.2), as HTTP/1.0 does not."""
        return self.head is not None and self.head.version >= (1, 1)

    def feed(self, data: bytes | memoryview) -> bytes:
        """Take bytes; return those that were not taken: nothing is left over until the head, or the request, is whole.

        Raises Problem; the reader is of no use then.
        """
        self._pieces = 0
        try:
            rest = self._feed(data)
        except ParseError as error:
            raise transport_problem(error) from error
        except (OSError, MemoryError) as error:
            raise no_room() from error
        self.taken += len(data) - len(rest)
        self.is_dense = self._pieces > DENSE_PIECES
        return rest

    def end(self) -> Problem | None:
        """The connection has ended: say what is wrong with what has come; None where nothing had begun."""
        if self.head is not None:
            return incomplete_body()
        return transport_problem(IncompleteHead()) if self.begun else None

    def close(self, *, keep_body: bool) -> None:
        """Drop the parser, and the body unless another closes it.

        The parser knows this reader: together they would keep what has come until the garbage collector finds them.
        """
        del self._parser
        if self.body is not None and not keep_body:
            self.body.close()

    def _feed(self, data: bytes | memoryview) -> bytes:
        if self.head is None:
            return self._feed_head(bytes(data))
        if self.head.length is None:
            return self._feed_chunks(bytes(data))
        return self._feed_content(self.head.length, memoryview(data))

    def _feed_head(self, data: bytes) -> bytes:
        if not self.begun:
            data = self._without_empty_lines(data)
            if not self.begun:
                return b""
        room = HEAD_BYTES - self._head_bytes
        self._head_bytes += len(data)
        try:
            self._parser.feed(data[:room])
        except ValueError as error:  # a Content-Length of more digits than Python reads
            raise InvalidHeader("Content-Length") from error
        if self.head is None:
            if self._head_bytes >= HEAD_BYTES:
                raise LimitRequestHeaders
            self._tail = (self._tail + data)[1 - len(_HEAD_END) :]
            return b""
        rest = bytes(self._parser.remaining()) + data[room:]
        if self.head.length is None:
            end = (self._tail + data).index(_HEAD_END) + len(_HEAD_END) - len(self._tail)
            self._took_chunks(len(data) - end - len(rest))
        self.is_whole = self.head.length == 0 or (self.head.length is None and self._parser.is_complete)
        return rest

    def _without_empty_lines(self, data: bytes) -> bytes:
        """Skip empty lines before the request (RFC 9112, 2.2)."""
        data, end = self._before + data, 0
        while data.startswith(b"\r\n", end):
            end += 2
        data = data[end:]
        self._head_bytes += end
        if self._head_bytes > HEAD_BYTES:
            raise LimitRequestHeaders
        self.begun = data not in {b"", b"\r"}
        self._before = b"" if self.begun else data
        return data

    def _head_complete(self) -> bool:
        """Check the head. True tells the parser to stop here: it reads chunks, and no other body."""
        self.head = Head(self._parser)
        if self.head.length == 0:
            return True
        self.body = self._new_body()
        return self.head.length is not None

    def _feed_content(self, length: int, data: memoryview) -> bytes:
        body = cast("IncomingBody", self.body)
        missing = length - body.length
        body.write(data[:missing])
        self.is_whole = body.length == length
        return bytes(data[missing:])

    def _feed_chunks(self, data: bytes) -> bytes:
        self._parser.feed(data)
        rest = bytes(self._parser.remaining())
        self._took_chunks(len(data) - len(rest))
        self.is_whole = self._parser.is_complete
        return rest

    def _took_chunks(self, size: int) -> None:
        """Count bytes of a chunked body. Raises TinyChunks or LimitRequestHeaders where too few are its content."""
        self._of_chunks += size
        content = 0 if self.body is None else self.body.length
        framing = self._of_chunks - content
        if framing > FRAMING_BYTES + FRAMING_OF_CONTENT * content:
            raise TinyChunks if framing <= FRAMING_OF_TINY_CHUNKS * content else LimitRequestHeaders

    def _piece(self, piece: bytes) -> None:
        """Take the content of a chunk, or of a part of one."""
        cast("IncomingBody", self.body).write(piece)
        self._pieces += 1
