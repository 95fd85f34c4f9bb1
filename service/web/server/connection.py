"""One client's connection: its phases and their deadlines.

Knows its phases and asyncio's transport. reading.py reads requests, exchange.py passes them to the application,
sending.py sends answers. Every method runs on the loop and returns at once.
"""

import asyncio
import time
from contextlib import suppress
from typing import TYPE_CHECKING, cast

from service.web.passes import DRAINING, Pass
from service.web.server.exchange import Exchange
from service.web.server.head import Head
from service.web.server.phase import LINGER_SECONDS, PATIENCE_SECONDS, Phase
from service.web.server.queues import Use
from service.web.server.reading import DENSE_BYTES, RequestReader
from service.web.server.reply import Reply
from service.web.server.sending import Sending
from service.wire.problems import Problem

if TYPE_CHECKING:
    from service.web.server.server import Server

AHEAD_BYTES = 64 * 1024
"""Bytes of following requests that are read while one is answered."""

_CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"


class Connection(asyncio.BufferedProtocol):
    """One connection of a process.

    client, listener            (host, port) of both ends.
    use                         the lane time that its requests have recently used.
    phase, since, deadline      the phase, its start, and its deadline if it depends only on the client.
    reader, exchange, sending   the current request: its reader, its exchange, and the sending of its answer.
    ahead                       input received but not yet consumed: the rest of a body, and following requests.
    half_closed                 whether the client will send nothing more; it may have gone, or only wait for answers.
    """

    __slots__ = (
        "_is_full", "_is_last", "_next_pass", "_server", "_waits", "ahead", "client",
        "deadline", "exchange", "half_closed", "listener", "phase", "reader", "sending", "since", "transport", "use",
    )  # fmt: skip

    def __init__(
        self,
        server: "Server",
        client: tuple[str, str],
        listener: tuple[str, str],
    ) -> None:
        self.client = client
        self.listener = listener
        self.use = Use()
        self.transport: asyncio.Transport
        self.reader: RequestReader | None = None
        self.exchange: Exchange | None = None
        self.sending: Sending | None = None
        self.ahead = b""
        self._server = server
        self._next_pass = Pass.SMALL  # after the body
        self.half_closed = self._is_full = self._is_last = self._waits = False
        self.phase = Phase.IDLE
        self._enter(Phase.IDLE, server.bounds.keepalive)

    def _enter(self, phase: Phase, seconds: float = 0.0) -> None:
        """Begin a phase, with a limit in seconds if it depends only on the client."""
        self._server.taking += phase.takes_bytes - self.phase.takes_bytes
        self.phase = phase
        self.since = time.monotonic()
        self.deadline = self.since + seconds

    # Callbacks of asyncio.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin."""
        self.transport = cast("asyncio.Transport", transport)
        self._server.connections.add(self)

    def get_buffer(self, sizehint: int) -> memoryview:  # noqa: ARG002  # asyncio's signature
        """Lend the server's buffer, which is emptied before the next read."""
        if self.phase is Phase.LINGERING or self._reads_content():
            return self._server.buffer[: self._server.share_of_round()]
        is_dense = self.reader is not None and self.reader.is_dense
        return self._server.short_buffer[:DENSE_BYTES] if is_dense else self._server.short_buffer

    def buffer_updated(self, nbytes: int) -> None:
        """Take what has come."""
        data = self._server.buffer[:nbytes]
        if self.phase in {Phase.IDLE, Phase.HEAD, Phase.BODY}:
            self._read(data)
        elif self.phase in {Phase.ANSWERING, Phase.SENDING}:
            self.ahead += data
            if len(self.ahead) > AHEAD_BYTES:
                self._is_full = True
                self.transport.pause_reading()
        elif self.phase is Phase.LINGERING and self._server.is_crowded:
            self._wait_for_turn()

    def eof_received(self) -> bool:
        """Keep the sending side open for a client that has closed its own."""
        self.half_closed = True
        if self.phase in {Phase.IDLE, Phase.HEAD, Phase.BODY}:
            problem = None if self.reader is None else self.reader.end()
            if problem is not None:
                self.refuse(problem)
            else:
                self.transport.close()
        elif self.phase is Phase.LINGERING:
            self.transport.close()
        return True

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002  # the reason does not matter
        """Drop everything."""
        self._enter(Phase.CLOSED)
        self._server.connections.discard(self)
        self._release_request()

    def resume_writing(self) -> None:
        """Continue sending soon: the client has read what it was sent.

        Not at once: asyncio calls this while writing, and would end a transport twice if it were closed now.
        """
        asyncio.get_running_loop().call_soon(self._continue_sending)

    def _continue_sending(self) -> None:
        if self.sending is not None:
            self._send(self.sending)

    # Reading.

    def _reads_content(self) -> bool:
        head = None if self.reader is None else self.reader.head
        return self.phase is Phase.BODY and head is not None and head.length is not None

    def _read(self, data: bytes | memoryview) -> None:
        reader = self.reader = self.reader or self._server.new_reader()
        try:
            self.ahead = reader.feed(data)
        except Problem as problem:
            self.refuse(problem)
            return
        if self.phase is Phase.IDLE and reader.begun:
            self._enter(Phase.HEAD, PATIENCE_SECONDS)
        if reader.is_dense or (self.phase is Phase.BODY and not reader.is_whole and self._server.is_crowded):
            self._wait_for_turn()
        if self.phase is Phase.HEAD and reader.head is not None:
            self._on_head(reader)
        elif self.phase is Phase.BODY:
            if reader.is_whole:
                self._ask(self._next_pass)
            else:
                length = 0 if reader.body is None else reader.body.length
                earned = self.since + PATIENCE_SECONDS + length / self._server.bounds.min_body_rate
                self.deadline = min(earned, time.monotonic() + PATIENCE_SECONDS)

    def _on_head(self, reader: RequestReader) -> None:
        head = cast("Head", reader.head)
        self.exchange = self._server.new_exchange(self, head)
        first = self._server.first_pass(head)
        if first is Pass.HEAD:
            self._ask(first)
        else:
            self._want_body(first)

    def _want_body(self, next_pass: Pass) -> None:
        """Read the rest of the body, if any, before that pass."""
        reader = cast("RequestReader", self.reader)
        self._next_pass = next_pass
        if reader.is_whole:
            self._ask(next_pass)
            return
        if reader.awaits_100() and not self.ahead:
            self.transport.write(_CONTINUE)
        self._enter(Phase.BODY, PATIENCE_SECONDS)
        self._read_ahead()

    def _wait_for_turn(self) -> None:
        self._waits = True
        self._server.chunk_turns.put(self)

    def read_on(self, waited: float) -> None:
        """Resume reading after a pause for other connections, which does not count against the client's request."""
        self.deadline += 0 if self.phase is Phase.LINGERING else waited
        self._waits = False
        if self.phase is Phase.BODY and self.ahead:
            self._read_ahead()
        self._resume_reading()

    def _resume_reading(self) -> None:
        """Read what comes, unless what came before has to be consumed first."""
        if not (self._is_full or self._waits):
            self.transport.resume_reading()

    def _read_ahead(self) -> None:
        """Consume buffered input, and resume reading."""
        ahead, self.ahead = self.ahead, b""
        if ahead:
            self._read(ahead)
        if self._is_full and len(self.ahead) <= AHEAD_BYTES and self.phase is not Phase.CLOSED:
            self._is_full = False
            self._resume_reading()
        if self.half_closed and not self.ahead and self.phase in {Phase.IDLE, Phase.HEAD, Phase.BODY}:
            self.eof_received()

    # The application.

    def _ask(self, for_pass: Pass) -> None:
        self._enter(Phase.ANSWERING)
        try:
            cast("Exchange", self.exchange).ask(for_pass, cast("RequestReader", self.reader).body)
        except Problem as problem:
            self.refuse(problem)

    def moved(self, following: Pass, *, has_body: bool) -> None:
        """The application requests another pass."""
        if self.phase is not Phase.ANSWERING:
            return
        if has_body:
            self._ask(following)
        else:
            self._want_body(following)

    def replied(self, reply: Reply) -> None:
        """The application has answered."""
        if self.phase is not Phase.ANSWERING:
            reply.drop()
            return
        reader = cast("RequestReader", self.reader)
        can_go_on = reader.is_whole and not cast("Head", reader.head).asks_to_close
        is_done = DRAINING.is_set() or (self.half_closed and not self.ahead)
        self._is_last = is_done or not can_go_on
        self._enter(Phase.SENDING)
        self.sending = Sending(self.transport, reply, is_last=self._is_last)
        self._send(self.sending)

    def failed(self) -> None:
        """The application has failed to answer."""
        if self.phase is Phase.ANSWERING:
            self.refuse(Problem("internal_error", "The server failed unexpectedly."))

    # Sending, and the end.

    def _send(self, sending: Sending) -> None:
        try:
            is_sent = sending.send_more()
        except OSError:  # the answer's file; part of it was sent
            self.transport.abort()
            return
        if is_sent:
            self._release_request()
            if self._is_last:
                self._end()
            else:
                self._enter(Phase.IDLE, self._server.bounds.keepalive)
                self._read_ahead()

    def refuse(self, problem: Problem) -> None:
        """Answer with a problem without the application, and end the connection."""
        began = self.since if self.exchange is None else self.exchange.began
        self.transport.write(self._server.refusal(problem, self.reader, time.monotonic() - began))
        self._release_request()
        self._end()

    def _release_request(self) -> None:
        if self.sending is not None:
            self.sending.close()
        if self.exchange is not None:
            self.exchange.leave()
        if self.reader is not None:
            self.reader.close(keep_body=self.exchange is not None and self.exchange.has_body)
        self.sending = self.reader = self.exchange = None

    def _end(self) -> None:
        """Close the sending side, and drop input until the client closes its own: see LINGER_SECONDS."""
        self.ahead = b""
        self._enter(Phase.LINGERING, LINGER_SECONDS)
        if self.half_closed:
            self.transport.close()
            return
        if self._is_full:
            self._is_full = False
            self._resume_reading()
        with suppress(OSError):  # the client has gone, which the transport will notice
            self.transport.write_eof()
