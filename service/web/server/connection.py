"""One client's connection: what happens on it when, and for how long.

Knows its phases and asyncio's transport; how a request is read is reading.py's, what becomes of it exchange.py's, how
an answer is sent sending.py's. Every method runs on the loop and returns at once.
"""

import asyncio
import select
import time
from collections.abc import Callable
from enum import Enum
from functools import partial
from typing import TYPE_CHECKING, cast

from service.web.lifecycle import DRAINING
from service.web.passes import Pass
from service.web.server.exchange import Exchange
from service.web.server.head import Head
from service.web.server.queues import Use
from service.web.server.reading import RequestReader
from service.web.server.reply import Reply
from service.web.server.sending import PIECE_BYTES, Sending
from service.web.server.transport import refusal, too_slow
from service.wire.problems import Problem

if TYPE_CHECKING:
    from service.web.server.server import Server

PATIENCE_SECONDS = 10.0
"""How long a head may take; a body beyond its bytes at ROCPR_MIN_BODY_RATE; and how long its client may be silent."""

LINGER_SECONDS = 5.0
"""How long an ended connection still takes (and drops) what the client is sending, so that it reads its answer."""

LAST_SECONDS = 1.0
"""The same once the process is to stop; and how long an idle connection then still waits for a request."""

AHEAD_BYTES = 64 * 1024
"""How much of the requests that follow is taken while one is answered."""

PROBE_SECONDS = 1.0
"""How long a request is worked on before the server looks whether its client still reads."""

_CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"


class Phase(Enum):
    """Where a connection is; `Connection.look` ends what stays there for too long."""

    IDLE = "no byte of a request has come"
    HEAD = "a head is coming"
    BODY = "a body is coming"
    ANSWERING = "a request waits for the application, or is with it"
    SENDING = "an answer is being sent"
    LINGERING = "the last answer was sent; what comes is dropped"
    CLOSED = "there is no connection any more"


class Connection(asyncio.BufferedProtocol):
    """One connection of a Server.

    client, listener   (host, port) of both ends.
    use                what its requests have used of the lanes lately.
    phase, since       where it is, and since when (time.monotonic).
    """

    __slots__ = (
        "_ahead", "_deadline", "_exchange", "_half_closed", "_is_full", "_is_last", "_next_pass", "_probed",
        "_reader", "_sending", "_server", "_transport", "client", "listener", "phase", "since", "use",
    )  # fmt: skip

    def __init__(self, server: "Server", client: tuple[str, str], listener: tuple[str, str]) -> None:
        self.client = client
        self.listener = listener
        self.use = Use()
        self._server = server
        self._transport: asyncio.Transport
        self._reader: RequestReader | None = None
        """Of the request that is being read or answered."""
        self._exchange: Exchange | None = None
        self._next_pass = Pass.SMALL
        """Which pass comes after the body."""
        self._sending: Sending | None = None
        self._ahead = b""
        """What has come and was not taken yet: the rest of a body, and requests that follow."""
        self._half_closed = self._is_full = self._is_last = self._probed = False
        self._enter(Phase.IDLE, server.bounds.keepalive)

    def _enter(self, phase: Phase, seconds: float = 0.0) -> None:
        """Begin a phase; where it depends on the client alone, it may last so many seconds."""
        self.phase = phase
        self.since = time.monotonic()
        self._deadline = self.since + seconds

    # What asyncio tells.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin."""
        self._transport = cast("asyncio.Transport", transport)
        self._transport.set_write_buffer_limits(PIECE_BYTES, PIECE_BYTES // 4)

    def get_buffer(self, sizehint: int) -> memoryview:  # noqa: ARG002  # asyncio's signature
        """Lend the server's one buffer, of which everything is taken before anything else happens."""
        drops = self.phase is Phase.LINGERING
        return self._server.buffer if drops or self._reads_content() else self._server.short_buffer

    def buffer_updated(self, nbytes: int) -> None:
        """Take what has come."""
        data = self._server.buffer[:nbytes]
        if self.phase in {Phase.IDLE, Phase.HEAD, Phase.BODY}:
            self._read(data)
        elif self.phase in {Phase.ANSWERING, Phase.SENDING}:
            self._ahead += data
            if len(self._ahead) > AHEAD_BYTES:
                self._is_full = True
                self._transport.pause_reading()

    def eof_received(self) -> bool:
        """Note that the client sends nothing more; it may still read, so the sending side stays open."""
        self._half_closed = True
        if self.phase in {Phase.IDLE, Phase.HEAD, Phase.BODY}:
            problem = None if self._reader is None else self._reader.end()
            if problem is not None:
                self._refuse(problem)
            else:
                self._transport.close()
        elif self.phase is Phase.LINGERING:
            self._transport.close()
        return True

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002  # it does not matter why
        """Drop everything."""
        self._enter(Phase.CLOSED)
        self._server.connections.discard(self)
        self._leave_request()

    def pause_writing(self) -> None:
        """Make no more pieces: the client does not read as fast."""
        if self._sending is not None:
            self._sending.pause()

    def resume_writing(self) -> None:
        """Go on."""
        if self._sending is not None:
            self._send(self._sending.resume)

    # What the server asks.

    def look(self, now: float) -> None:
        """End what has taken too long; asked once a second."""
        if self.phase is Phase.ANSWERING:
            if cast("Exchange", self._exchange).misses_its_turn(self._server.bounds.queue_seconds):
                self._refuse(Problem("overloaded", "The request's turn did not come in time."))
            elif now - self.since >= PROBE_SECONDS:
                self._look_for_the_client()
        elif self.phase is Phase.SENDING:
            if self._sending is not None and self._sending.is_stalled():
                self._transport.abort()
        elif now >= self._deadline:
            if self.phase in {Phase.HEAD, Phase.BODY}:
                self._refuse(too_slow())
            elif self.phase is Phase.IDLE:
                self._transport.close()
            elif self.phase is Phase.LINGERING:
                self._transport.abort()

    def hurry(self, now: float) -> None:
        """Let nothing that depends on the client alone last long: the process is to stop."""
        last = LAST_SECONDS if self.phase in {Phase.IDLE, Phase.LINGERING} else PATIENCE_SECONDS
        self._deadline = min(self._deadline, now + last)

    def held(self) -> int:
        """Tell how many bytes are kept for the client: of a body, and of an answer that was not read."""
        body = 0 if self._reader is None or self._reader.body is None else self._reader.body.length
        return body + len(self._ahead) + (0 if self._sending is None else self._sending.unsent())

    def rate(self) -> float | None:
        """Tell how many bytes a second the client sends or reads; None where it does neither now."""
        if self._sending is not None:
            return self._sending.rate()
        if self.phase is Phase.BODY and self._reader is not None and self._reader.body is not None:
            return self._reader.body.length / max(time.monotonic() - self.since, 1.0)
        return None

    def give_way(self) -> None:
        """End: there is no room for all that is kept for slow clients, and this one is the slowest."""
        if self._sending is None:
            self._refuse(Problem("overloaded", "The server has no room now for a body that comes as slowly as this."))
        else:
            self._transport.abort()

    def is_useless(self) -> bool:
        """Whether it has no request whose head has come."""
        return self.phase in {Phase.IDLE, Phase.HEAD, Phase.LINGERING}

    def abort(self) -> None:
        """End it at once."""
        self._transport.abort()

    # Reading.

    def _reads_content(self) -> bool:
        head = None if self._reader is None else self._reader.head
        return self.phase is Phase.BODY and head is not None and head.length is not None

    def _read(self, data: bytes | memoryview) -> None:
        reader = self._reader = self._reader or self._server.new_reader()
        try:
            self._ahead = reader.feed(data)
        except Problem as problem:
            self._refuse(problem)
            return
        if self.phase is Phase.IDLE and reader.begun:
            self._enter(Phase.HEAD, PATIENCE_SECONDS)
        if self.phase is Phase.HEAD and reader.head is not None:
            self._head_came(reader)
        elif self.phase is Phase.BODY:
            if reader.is_whole:
                self._ask(self._next_pass)
            else:
                length = 0 if reader.body is None else reader.body.length
                earned = self.since + PATIENCE_SECONDS + length / self._server.bounds.min_body_rate
                self._deadline = min(earned, time.monotonic() + PATIENCE_SECONDS)

    def _head_came(self, reader: RequestReader) -> None:
        head = cast("Head", reader.head)
        self._exchange = self._server.new_exchange(self, head)
        if self._server.must_ask(head):
            self._ask(Pass.HEAD)
        else:
            self._want_body(Pass.SMALL)

    def _want_body(self, next_pass: Pass) -> None:
        """Read the body, if there is any that was not read yet, before that pass."""
        reader = cast("RequestReader", self._reader)
        self._next_pass = next_pass
        if reader.is_whole:
            self._ask(next_pass)
            return
        if reader.awaits_100() and not self._ahead:
            self._transport.write(_CONTINUE)
        self._enter(Phase.BODY, PATIENCE_SECONDS)
        self._read_ahead()

    def _read_ahead(self) -> None:
        """Take what has come already; and let more come."""
        ahead, self._ahead = self._ahead, b""
        if ahead:
            self._read(ahead)
        if self._is_full and len(self._ahead) <= AHEAD_BYTES and self.phase is not Phase.CLOSED:
            self._is_full = False
            self._transport.resume_reading()
        if self._half_closed and self.phase in {Phase.IDLE, Phase.HEAD, Phase.BODY}:
            self.eof_received()

    # The application.

    def _ask(self, for_pass: Pass) -> None:
        """Let the request wait for a pass."""
        self._enter(Phase.ANSWERING)
        try:
            cast("Exchange", self._exchange).ask(for_pass, cast("RequestReader", self._reader).body)
        except Problem as problem:
            self._refuse(problem)

    def moved(self, following: Pass, *, has_body: bool) -> None:
        """The application asks for another pass."""
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
        reader = cast("RequestReader", self._reader)
        can_go_on = reader.is_whole and not cast("Head", reader.head).asks_to_close
        tells_its_end = reply.length is not None or reply.is_chunked
        is_done = DRAINING.is_set() or (self._half_closed and not self._ahead)
        self._is_last = is_done or not can_go_on or not tells_its_end
        self._enter(Phase.SENDING)
        self._sending = Sending(self._transport, reply, is_last=self._is_last)
        self._send(self._sending.go_on)

    def failed(self) -> None:
        """The application has not answered, or not to the end."""
        if self.phase is Phase.ANSWERING:
            self._refuse(Problem("internal_error", "The server failed in a way that it should not."))
        else:
            self._transport.abort()

    def take_piece(self, piece: bytes | None) -> None:
        """Send a piece of a stream; None after the last."""
        if self._sending is not None:
            self._send(partial(self._sending.add, piece))

    def _look_for_the_client(self) -> None:
        """End the work for a client that has gone.

        One that has closed its sending side may still read. It gets an interim answer, which clients skip; the system
        of one that has gone refuses that, and the socket knows it from then on.
        """
        poll = select.poll()
        poll.register(self._transport.get_extra_info("socket").fileno(), 0)
        if poll.poll(0):  # what is told unasked: a hang-up, an error
            self._transport.abort()
        elif self._half_closed and not self._probed and cast("RequestReader", self._reader).reads_interim():
            self._probed = True
            self._transport.write(_CONTINUE)

    # Sending, and the end.

    def _send(self, send: Callable[[], bool]) -> None:
        try:
            is_sent = send()
        except OSError:  # the file that the answer is in; a part was sent
            self._transport.abort()
            return
        if is_sent:
            self._leave_request()
            if self._is_last:
                self._end()
            else:
                self._enter(Phase.IDLE, LAST_SECONDS if DRAINING.is_set() else self._server.bounds.keepalive)
                self._read_ahead()

    def _refuse(self, problem: Problem) -> None:
        """Answer with a problem without the application, and end the connection."""
        path, method = ("/", "") if self._reader is None else (self._reader.path, self._reader.method)
        began = self.since if self._exchange is None else self._exchange.began
        self._transport.write(
            refusal(problem, path, method, time.monotonic() - began, self._server.bounds.retry_after_seconds)
        )
        self._leave_request()
        self._end()

    def _leave_request(self) -> None:
        """Let go of the request, and of its answer."""
        if self._sending is not None:
            self._sending.close()
        if self._exchange is not None:
            self._exchange.leave()
        if self._reader is not None and (self._exchange is None or not self._exchange.has_body):
            self._reader.close()
        self._sending = self._reader = self._exchange = None
        self._probed = False

    def _end(self) -> None:
        """Close the sending side, and drop what still comes until the client closes its own: see LINGER_SECONDS."""
        self._ahead = b""
        if self._half_closed:
            self._transport.close()
            return
        self._enter(Phase.LINGERING, LAST_SECONDS if DRAINING.is_set() else LINGER_SECONDS)
        if self._is_full:
            self._transport.resume_reading()
        self._transport.write_eof()
