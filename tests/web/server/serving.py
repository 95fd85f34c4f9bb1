"""The server of one process, without gunicorn: connections are pairs of sockets, the application is the test's own."""

import asyncio
import io
import itertools
import socket
import time
from collections.abc import Callable, Mapping
from typing import Any, Self, TypeVar

from service.web.passes import Pass
from service.web.server.connection import Connection
from service.web.server.expiry import Held
from service.web.server.lane import Lane
from service.web.server.phase import Phase
from service.web.server.server import Bounds, Server
from tests.e2e.wire import SECONDS, Answer
from tests.e2e.wire import Connection as Wire
from tests.support.processes import wait_until
from tests.web.server.reading import MAX_BODY_BYTES, new_parser

Result = TypeVar("Result")

BOUNDS = Bounds(
    body_bytes=MAX_BODY_BYTES,
    held=Held(1 << 30, 1 << 30),
    min_body_rate=1000.0,
    keepalive=5.0,
    queue_seconds=30.0,
    retry_after_seconds=7,
)


def on_loop(loop: asyncio.AbstractEventLoop, function: Callable[[], Result]) -> Result:
    """Call something on a loop that runs in another thread."""

    async def call() -> Result:
        return function()

    return asyncio.run_coroutine_threadsafe(call(), loop).result(SECONDS)


class Clock:
    """The server's clock, instead of the module time: it stands still, except for a microsecond with each look.

    settle   waits until the server has done what it was doing: who has read an answer may be faster than the server,
             which notes afterwards that the answer was sent.
    """

    perf_counter = staticmethod(time.perf_counter)

    def __init__(self, settle: Callable[[], object] = lambda: None) -> None:
        self._settle = settle
        self._looks = itertools.count()
        self._now = time.monotonic()

    def monotonic(self) -> float:
        return self._now + 1e-6 * next(self._looks)

    def forward(self, seconds: float) -> None:
        self._settle()
        self._now += seconds


class Client(Wire):
    """The client's end of a connection, and the server's."""

    def __init__(self, ours: socket.socket, connection: Connection) -> None:
        ours.settimeout(SECONDS)
        self.socket = ours
        self._file = ours.makefile("rb")
        self.connection = connection

    def get(self, target: str = "/", *fields: str, version: str = "1.1") -> Self:
        """Send a request without a body."""
        lines = "".join(f"{field}\r\n" for field in ("Host: a", *fields))
        self.send(f"GET {target} HTTP/{version}\r\n{lines}\r\n".encode())
        return self

    def rest(self) -> bytes:
        """Read all that comes until the server closes its sending side."""
        return self._file.read()

    def head(self) -> tuple[str, dict[str, str]]:
        """Read the head of an answer: its first line, and its fields."""
        first = self._file.readline().decode().rstrip("\r\n")
        fields = iter(lambda: self._file.readline().decode().rstrip("\r\n"), "")
        return first, {name.lower(): value for name, _, value in (field.partition(": ") for field in fields)}

    def chunk(self) -> bytes:
        """Read one chunk of a body; the last one is empty."""
        content = self._file.read(int(self._file.readline(), 16))
        assert self._file.readline() == b"\r\n"
        return content

    def is_reset(self) -> bool:
        """Whether the server has ended the connection without sending the rest."""
        try:
            self.socket.recv(1 << 16)
        except ConnectionResetError:
            return True
        return self.connection.phase is Phase.CLOSED


class Served:
    """One server on a loop that runs in another thread."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        lanes: Mapping[Pass, Lane],
        application: Callable[..., Any],
        bounds: Bounds = BOUNDS,
        *,
        spool: Callable[[], Any] = io.BytesIO,
        being_written: Callable[[], int] = lambda: 0,
        owner_of: Callable[[Any], str] = lambda environ: environ.get("HTTP_X_OWNER", ""),
    ) -> None:
        self.loop = loop
        self.server = Server(
            application,
            loop,
            lanes,
            bounds,
            owner_of=owner_of,
            spool=spool,
            being_written=being_written,
            new_parser=new_parser,
            routes=frozenset({"/known"}),
            columnar_types=frozenset({"application/columns"}),
        )
        self.clients: list[Client] = []

    def connect(self, address: str = "192.0.2.1", sndbuf: int | None = None) -> Client:
        """Connect from an address; the system buffers about this many bytes of an answer."""
        theirs, ours = socket.socketpair()
        if sndbuf is not None:
            theirs.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, sndbuf)
        theirs.settimeout(0)
        connection = Connection(self.server, (address, "1"), ("192.0.2.9", "80"))
        made = self.loop.connect_accepted_socket(lambda: connection, theirs)
        asyncio.run_coroutine_threadsafe(made, self.loop).result(SECONDS)
        client = Client(ours, connection)
        self.clients.append(client)
        return client

    def on_loop(self, function: Callable[[], Result]) -> Result:
        """Call something on the loop."""
        return on_loop(self.loop, function)

    def sweep(self) -> None:
        """Sweep the server's connections, as happens once a second, and wait for the effects."""
        self.on_loop(self.server.sweep)
        self.on_loop(lambda: None)
        self.on_loop(lambda: None)

    def until(self, holds: Callable[[], object], what: str = "it") -> None:
        """Wait until something holds on the loop."""
        wait_until(lambda: self.on_loop(holds), SECONDS, what, 0.002)

    def reaches(self, client: Client, phase: Phase) -> None:
        """Wait until a connection is in a phase."""
        self.until(lambda: client.connection.phase is phase, phase.name)

    def end(self) -> None:
        """End all connections."""
        for client in self.clients:
            client.__exit__()
        self.on_loop(lambda: [one.transport.abort() for one in tuple(self.server.connections)])
        self.until(lambda: not self.server.connections, "the end of all connections")


__all__ = ["BOUNDS", "SECONDS", "Answer", "Client", "Clock", "Phase", "Served", "on_loop"]
