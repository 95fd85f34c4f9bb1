"""`python -m tests.tools.bench.load`: a closed loop of one request over kept connections, counting answers a second.

A separate process, so that nothing else runs in it, with only the standard library, so that it starts at once. It reads
a Load as JSON from stdin and writes Measured as JSON to stdout; it exits with 1 and a sentence on stderr if a server
refuses, closes a connection, is silent, or gives an unexpected answer.
"""

import gc
import json
import selectors
import socket
import sys
import time
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass
from typing import Self

SILENT_SECONDS = 60.0
"""The load fails after this long without a byte from the server."""

MOST = 1_000_000
"""The measurement ends after this many answers, however short it was."""

_PIECE = 1 << 18
_HEAD_END = b"\r\n\r\n"


class Wrong(Exception):
    """A server did not answer as expected."""


@dataclass(frozen=True)
class Load:
    """One load on one server.

    warm_seconds   the least time that the load runs before it is measured.
    seconds        the least time of the measurement, which also needs as many answers as connections.
    request        all bytes of one request, as ISO 8859-1, because JSON has no bytes.
    answer         the body that every answer must have, in the same form.
    """

    port: int
    connections: int
    warm_seconds: float
    seconds: float
    request: str
    answer: str


@dataclass(frozen=True)
class Measured:
    """The result of a load.

    rate        answers a second.
    latencies   seconds from the first byte sent to the last one received, of each answer.
    client      the share of one processor that this process took.
    """

    rate: float
    latencies: list[float]
    client: float


class Connection:
    """A kept connection to a server on loopback, with one request under way at a time."""

    def __init__(self, port: int, request: bytes) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=SILENT_SECONDS)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket.settimeout(0)
        self.answers = 0
        self.began = 0.0
        self._request = memoryview(request)
        self._unsent = self._request[:0]
        self._received = bytearray()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()

    def begin(self) -> bool:
        """Start the next request; returns like `send`."""
        self.began = time.perf_counter()
        self._unsent = self._request
        return self.send()

    def send(self) -> bool:
        """Send as much as the socket takes; return whether that was the rest."""
        with suppress(BlockingIOError):
            while self._unsent:
                self._unsent = self._unsent[self.socket.send(self._unsent) :]
        return not self._unsent

    def receive(self) -> bytes | None:
        """Take what has arrived, and return the body of the answer once it is whole."""
        piece = self.socket.recv(_PIECE)
        if not piece:
            raise Wrong("The server closed a kept connection.")
        self._received += piece
        head, found, body = bytes(self._received).partition(_HEAD_END)
        if not found or len(body) < content_length(head):
            return None
        if not head.startswith(b"HTTP/1.1 200 "):
            raise Wrong(f"{head.partition(_HEAD_END[:2])[0].decode('latin-1')}: {body[:200].decode('latin-1')}")
        self._received.clear()
        self.answers += 1
        return body


def content_length(head: bytes) -> int:
    """Find the length of the body in the head of an answer."""
    _, found, rest = head.lower().partition(b"\r\ncontent-length:")
    if not found:
        raise Wrong("An answer has no Content-Length.")
    return int(rest.partition(b"\r\n")[0])


class Window:
    """The measured time: it begins and ends with an answer, while requests are in progress."""

    def __init__(self, load: Load) -> None:
        self.measured: Measured | None = None
        self._load = load
        self._warm = time.perf_counter() + load.warm_seconds
        self._began: float | None = None
        self._processor = 0.0
        self._latencies: list[float] = []

    def add(self, now: float, latency: float) -> None:
        """Count an answer that has just arrived, unless it is too early or too late."""
        if self.measured or now < self._warm:
            return
        if self._began is None:
            self._began, self._processor = now, time.process_time()
            return
        self._latencies.append(latency)
        answers, seconds = len(self._latencies), now - self._began
        if answers == MOST or (seconds >= self._load.seconds and answers >= self._load.connections):
            client = (time.process_time() - self._processor) / seconds
            self.measured = Measured(answers / seconds, self._latencies, client)


class Loop:
    """All connections; each sends its next request after an answer, until the window has ended.

    Each is opened while the earlier ones are busy, so that an idle process of the server accepts it; if all were opened
    at once, one process might accept them all.
    """

    def __init__(self, load: Load, selector: selectors.BaseSelector, open_connections: ExitStack) -> None:
        self._load = load
        self._request, self._answer = load.request.encode("latin-1"), load.answer.encode("latin-1")
        self._selector = selector
        self._open_connections = open_connections
        self._opened = self._answered = self._under_way = 0
        self._window = Window(load)

    def run(self) -> Measured:
        """Measure; no request is in progress when it ends."""
        self._open()
        while self._under_way:
            if not (ready := self._selector.select(SILENT_SECONDS)):
                raise Wrong(f"The server sent nothing for {SILENT_SECONDS:g} seconds.")
            for key, events in ready:
                self._go_on(key.data, events)
        assert self._window.measured is not None
        return self._window.measured

    def _open(self) -> None:
        connection = self._open_connections.enter_context(Connection(self._load.port, self._request))
        self._opened += 1
        self._under_way += 1
        self._selector.register(connection.socket, selectors.EVENT_READ, connection)
        self._begin(connection)

    def _begin(self, connection: Connection) -> None:
        if not connection.begin():
            self._selector.modify(connection.socket, selectors.EVENT_READ | selectors.EVENT_WRITE, connection)

    def _go_on(self, connection: Connection, events: int) -> None:
        if events & selectors.EVENT_WRITE and connection.send():
            self._selector.modify(connection.socket, selectors.EVENT_READ, connection)
        if events & selectors.EVENT_READ and (answer := connection.receive()) is not None:
            if answer != self._answer:
                raise Wrong(f"Another answer than expected: {answer[:200].decode('latin-1')}")
            self._take_answer(connection)

    def _take_answer(self, connection: Connection) -> None:
        now = time.perf_counter()
        if connection.answers == 1:
            self._answered += 1
            if self._opened < self._load.connections:
                self._open()
        elif self._answered == self._load.connections:
            self._window.add(now, now - connection.began)
        if self._window.measured:
            self._under_way -= 1
        else:
            self._begin(connection)


def measure(load: Load) -> Measured:
    """Put a load on a server. Raises Wrong, and OSError if there is no server."""
    with selectors.DefaultSelector() as selector, ExitStack() as open_connections:
        return Loop(load, selector, open_connections).run()


def main() -> None:
    load = Load(**json.loads(sys.stdin.buffer.read()))
    gc.disable()
    try:
        measured = measure(load)
    except (Wrong, OSError) as error:
        sys.exit(str(error))
    json.dump(asdict(measured), sys.stdout)


if __name__ == "__main__":
    main()
