"""Sends an answer to a client that may read slowly, or not at all.

Knows a transport, files and time; nothing of HTTP but the field Connection.
"""

import asyncio
import os
import time

from service.web.server.reply import FileBody, Reply

PIECE_BYTES = 1 << 18
"""Bytes given to the transport at once."""

BUFFERED_BYTES = 1 << 16
"""The most bytes of an answer that the transport may still hold when it is given more."""

STALLED_SECONDS = 30.0
"""How long a client may read nothing of its answer."""


_CLOSE, _KEEP = b"Connection: close\r\n\r\n", b"Connection: keep-alive\r\n\r\n"


class Sending:
    """One answer. The connection reports when its transport has room, and asks whether the client still reads."""

    def __init__(self, transport: asyncio.Transport, reply: Reply, *, is_last: bool) -> None:
        self._transport = transport
        self._reply = reply
        self._left = reply.length
        self._at = (reply.body.extent() or (0, 0))[0] if isinstance(reply.body, FileBody) else 0
        self._began = self._moved = time.monotonic()
        self._unsent_then = 0
        self.bytes = 0
        """The bytes of the body given to the transport."""
        transport.set_write_buffer_limits(BUFFERED_BYTES, BUFFERED_BYTES // 4)
        self._head = reply.head + (_CLOSE if is_last else _KEEP)
        """The head until it is sent, with the first piece: sending both at once wakes the client only once."""
        if not self._left:
            transport.write(self._take_head())

    def send_more(self) -> bool:
        """Send while there is room; returns whether the last byte has left the transport.

        Raises OSError if a file ends before its answer.
        """
        while self._left and self._has_room():
            piece = self._next_piece()
            self._left -= len(piece)
            self.bytes += len(piece)
            self._transport.write(self._take_head() + piece if self._head else piece)
        if self._left:
            return False
        self._transport.set_write_buffer_limits(0)  # now it reports when the last byte has left
        return not self._transport.get_write_buffer_size()

    def _take_head(self) -> bytes:
        head, self._head = self._head, b""
        return head

    def _has_room(self) -> bool:
        return self._transport.get_write_buffer_size() <= BUFFERED_BYTES and not self._transport.is_closing()

    def unsent_in_memory(self) -> int:
        """The bytes in memory that wait for the client to read."""
        return self._transport.get_write_buffer_size() + (self._left if isinstance(self._reply.body, bytes) else 0)

    def unsent_in_file(self) -> int:
        """The bytes in a file that wait for the client to read."""
        return self._left if isinstance(self._reply.body, FileBody) else 0

    def is_stalled(self) -> bool:
        """Whether the client has read nothing for too long; called about once a second."""
        now, unsent = time.monotonic(), self.unsent_in_memory() + self.unsent_in_file()
        if unsent != self._unsent_then or not self._transport.get_write_buffer_size():
            self._unsent_then, self._moved = unsent, now
        return now - self._moved > STALLED_SECONDS

    def rate(self) -> float:
        """The client's reading speed, in bytes per second."""
        taken = max(0, self.bytes - self._transport.get_write_buffer_size())
        return taken / max(time.monotonic() - self._began, 1.0)

    def close(self) -> None:
        """Release the body."""
        self._reply.drop()

    def _next_piece(self) -> bytes | memoryview:
        body = self._reply.body
        if isinstance(body, bytes):
            return memoryview(body)[len(body) - self._left :][:PIECE_BYTES]
        piece = os.pread(body.file.fileno(), min(PIECE_BYTES, self._left), self._at)
        if not piece:
            raise OSError("the file is shorter than the answer")
        self._at += len(piece)
        return piece
