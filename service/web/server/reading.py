"""Reads one request: bytes in, a head and a body or a problem out. Knows no socket and no clock.

gunicorn's parser reads heads and chunks, strictly and within its limits. This adds the limits that it lacks: on the
whole head, empty lines before it, and chunks of a few bytes. A body of known length bypasses it.
"""

from collections.abc import Callable
from typing import cast
from urllib.parse import unquote

from gunicorn.asgi.parser import InvalidHeader, LimitRequestHeaders, ParseError

from service.web.server.head import Head
from service.web.server.incoming_body import IncomingBody
from service.web.server.parser import Parser
from service.web.server.transport import IncompleteHead, TinyChunks, incomplete_body, transport_problem
from service.wire.problems import Problem, no_room

HEAD_BYTES = 32 * 1024
"""The longest head: request line, all fields, and empty lines before it. A longer one gets 431."""

FRAMING_BYTES, FRAMING_OF_CONTENT = 8192, 1.25
"""The framing (sizes, extensions, trailers) that a chunked body may have: this many bytes, and this many more per byte
of content. Chunks of 4 bytes need no more; reading a chunk takes as long as reading hundreds of bytes."""

FRAMING_OF_TINY_CHUNKS = 16
"""The most framing per byte of content that chunks of one byte may explain; more must be extensions or trailers."""

DENSE_PIECES = 128
"""Input with more chunks than this is dense; each chunk takes 2 µs."""

DENSE_BYTES = 4 * 1024
"""Bytes of a chunked body that are read before their chunks are counted."""

_HEAD_END = b"\r\n\r\n"

NewParser = Callable[[Callable[[], bool], Callable[[bytes], None]], Parser]
"""Makes a parser with the server's limits, given its callbacks after the head and for each piece of a chunked body."""


class RequestReader:
    """Reads one request.

    head      the head; None until complete.
    body      the part of the body that has arrived; None if there is none.
    is_whole  whether the request is complete.
    begun     whether any byte has arrived.
    taken     how many bytes have arrived.
    is_dense  whether the last input had very many chunks, each of which takes time.
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
        """The last bytes of the head so far, which may contain the start of its end."""
        self._of_chunks = 0
        """The bytes of a chunked body that have arrived, including sizes, extensions and trailers."""

    @property
    def method(self) -> str:
        """The method, if known."""
        return (self._parser.method or b"").decode("latin-1")

    @property
    def path(self) -> str:
        """The decoded path, if known."""
        known: bytes = (self._parser.path or b"") if self.head is None else self.head.target
        target = unquote(known.decode("latin-1").partition("?")[0])
        return target if target.startswith("/") else "/"

    def awaits_100(self) -> bool:
        """Whether the client waits for 100 Continue and has sent nothing of the body."""
        return self.head is not None and self.head.expects_100 and (self.body is None or self.body.length == 0)

    def feed(self, data: bytes | memoryview) -> bytes:
        """Consume bytes; return the rest, which is empty unless the head or the request is complete, or it is dense.

        Raises Problem; the reader is then unusable.
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
        """The problem of a connection that ends now; None if no request had begun."""
        if self.head is not None:
            return incomplete_body()
        return transport_problem(IncompleteHead()) if self.begun else None

    def close(self, *, keep_body: bool) -> None:
        """Drop the parser, and the body unless something else closes it.

        The parser refers to this reader: the cycle would keep the input until the garbage collector runs.
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
        found = (self._tail + data).find(_HEAD_END)
        end = room if found < 0 else min(room, found + len(_HEAD_END) - len(self._tail))
        try:
            self._parser.feed(data[:end])
        except ValueError as error:  # a Content-Length with more digits than Python reads
            raise InvalidHeader("Content-Length") from error
        if self.head is None:
            if self._head_bytes >= HEAD_BYTES:
                raise LimitRequestHeaders
            self._tail = (self._tail + data)[1 - len(_HEAD_END) :]
            return b""
        self.is_whole = self.head.length == 0
        return data[end:]

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
        """Check the head. True tells the parser to stop: it reads no bodies except chunked ones."""
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
        """Read chunks until there were very many; the rest has to wait."""
        while data and not self.is_whole and self._pieces <= DENSE_PIECES:
            part, data = data[:DENSE_BYTES], data[DENSE_BYTES:]
            self._parser.feed(part)
            rest = bytes(self._parser.remaining())
            data = rest + data
            self._count_chunk_bytes(len(part) - len(rest))
            self.is_whole = self._parser.is_complete
        return data

    def _count_chunk_bytes(self, size: int) -> None:
        """Count bytes of a chunked body. Raises TinyChunks or LimitRequestHeaders if too few of them are content.

        Raises Problem body_too_large if the current chunk will be too long.
        """
        if self.body is not None:
            self.body.expect(self._parser.missing_of_chunk)
        self._of_chunks += size
        content = 0 if self.body is None else self.body.length
        framing = self._of_chunks - content
        if framing > FRAMING_BYTES + FRAMING_OF_CONTENT * content:
            raise TinyChunks if framing <= FRAMING_OF_TINY_CHUNKS * content else LimitRequestHeaders

    def _piece(self, piece: bytes) -> None:
        """Add the content of a chunk, or of part of one."""
        cast("IncomingBody", self.body).write(piece)
        self._pieces += 1
