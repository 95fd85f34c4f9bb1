"""A crowd of clients that behave badly, each on its own connection, and what happened to them.

`python -m tests.support.attacks.crowds PORT BEHAVIOUR CLIENTS [BEHAVIOUR CLIENTS ...]`. A client that has ended
starts again, so that the crowd keeps its size; idle clients do not.
"""

import asyncio
import itertools
import socket
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial

from tests.e2e.wire import request
from tests.support.attacks.attackers import Seen, run_clients, say_ready
from tests.support.samples import question

CONNECTS_A_SECOND = 2_000
READY_SECONDS = 60.0
"""How long the whole crowd may take to connect; after that, the connected clients have to suffice."""

AGAIN_SECONDS = 0.1
"""How soon a client starts again."""

REFUSED_SECONDS = 1.0
"""The same for a client that was refused and wants an answer."""

TICKS = 50
"""Clients that send something every second do so in this many groups, so that not all send at once."""

UNREAD_ROWS = 60_500
"""Their answer, which nobody reads, is 7.6 MB long."""

LEAST_BUFFER = 4_096
"""How much of an answer the system buffers for a client that reads nothing."""

JSON = {"Content_Type": "application/json"}
HALF_HEAD = b"POST /v1/curves HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
HALF = 60_000
"""How much of a body is sent; more than a server reads at once."""

BIG_BODY = 2_000_000
UPLOAD_ROWS, UPLOAD_RATE = 27_000, 40_000
"""Bytes a second for about 600 KB: slow, but not too slow."""

Drip = Callable[[], Iterator[bytes]]


def _nothing() -> Iterator[bytes]:
    return iter(())


@dataclass(frozen=True)
class Behaviour:
    """What one client of a crowd does.

    first   what it sends at once.
    drip    what it sends after that, a piece a second.
    stays   how many seconds it keeps its side open after the server has closed the other one.
    asks    how many answers it reads before it only waits for the end.
    reads   whether it reads at all.
    again   whether it starts again.
    """

    first: bytes = b""
    drip: Drip = _nothing
    stays: float = 0.0
    asks: int = 0
    reads: bool = True
    again: bool = True


def _body(length: int, sent: int = 0, piece: bytes = b"") -> Behaviour:
    """A body of which a part is sent at once, then a piece a second."""
    head = request("POST", "/v1/curves", **JSON, Content_Length=str(length))
    return Behaviour(head + b" " * sent, partial(itertools.repeat, piece) if piece else _nothing)


def _upload() -> Behaviour:
    body = question(UPLOAD_ROWS, "auc").body
    pieces = [body[start : start + UPLOAD_RATE] for start in range(0, len(body), UPLOAD_RATE)]
    head = request("POST", "/v1/curves", **JSON, Content_Length=str(len(body)), Connection="close")
    return Behaviour(head, partial(iter, pieces))


def _unread() -> Behaviour:
    return Behaviour(request("POST", "/v1/curves", question(UNREAD_ROWS).body, **JSON), reads=False)


BEHAVIOURS = {
    "refused": lambda: [Behaviour(b"x\r\n\r\n", stays=10.0)],
    "half-heads": lambda: [Behaviour(HALF_HEAD)],
    "half-bodies": lambda: [_body(BIG_BODY, HALF), _body(2 * HALF, HALF)],
    "slow-heads": lambda: [Behaviour(HALF_HEAD, partial(itertools.repeat, b"X: a\r\n"))],
    "slow-bodies": lambda: [_body(BIG_BODY, piece=b" " * 100), *[_body(2 * HALF, piece=b" " * 100)] * 3],
    "idle": lambda: [Behaviour(request("GET", "/health/live"), asks=1, again=False), *[Behaviour(again=False)] * 4],
    "uploads": lambda: [_upload()],
    "unread": lambda: [_unread()],
}
"""{name: what the clients do, in turns}."""


@dataclass
class Crowd:
    """The clients, and what happened to their connections.

    ends       how they ended: the status of the last answer, "closed" without one, "reset".
    seconds    how long each took: from its opening to its last answer, or without one to its close.
    waiting    {client: when it opened a connection that has not ended}
    arrived    the clients that have connected; of those that do not read, the ones whose answer has begun.
    """

    port: int
    size: int
    ends: Counter[str] = field(default_factory=Counter)
    seconds: list[float] = field(default_factory=list)
    waiting: dict[int, float] = field(default_factory=dict)
    connections: int = 0
    connected: int = 0
    most: int = 0
    arrived: set[int] = field(default_factory=set)
    all_there: asyncio.Event = field(default_factory=asyncio.Event)
    dripping: list[dict[socket.socket, Iterator[bytes]]] = field(default_factory=lambda: [{} for _ in range(TICKS)])
    next_connect: float = 0.0

    async def come_again(self, number: int, behaviour: Behaviour) -> None:
        """One client, for ever."""
        while True:
            await self._has_a_turn()
            self.waiting[number] = asyncio.get_running_loop().time()
            with socket.socket() as sock, suppress(OSError):  # reset while connecting
                sock.setblocking(False)  # noqa: FBT003  # the library's signature
                if not behaviour.reads:
                    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, LEAST_BUFFER)
                await asyncio.get_running_loop().sock_connect(sock, ("127.0.0.1", self.port))
                if behaviour.reads:
                    self._arrives(number)
                self.connected += 1
                self.most = max(self.most, self.connected)
                try:
                    await self._behave(sock, number, behaviour)
                finally:
                    self.connected -= 1
            await asyncio.sleep(AGAIN_SECONDS)

    def _arrives(self, number: int) -> None:
        self.arrived.add(number)
        if len(self.arrived) == self.size:
            self.all_there.set()

    async def _has_a_turn(self) -> None:
        """Keep them from all connecting at the same moment."""
        now = asyncio.get_running_loop().time()
        self.next_connect = max(self.next_connect + 1 / CONNECTS_A_SECOND, now)
        self.connections += 1
        await asyncio.sleep(self.next_connect - now)

    async def _behave(self, sock: socket.socket, number: int, behaviour: Behaviour) -> None:
        await asyncio.get_running_loop().sock_sendall(sock, behaviour.first)
        if not behaviour.reads:
            await self._look_on(sock, number)
            return
        group = self.dripping[number % TICKS]
        if behaviour.drip is not _nothing:
            group[sock] = behaviour.drip()
        try:
            end, ended = await self._end_of(sock, behaviour)
        finally:
            group.pop(sock, None)
        self.ends[end] += 1
        self.seconds.append(ended - self.waiting.pop(number))
        await asyncio.sleep(behaviour.stays)
        if not behaviour.again:
            await asyncio.Event().wait()

    async def _look_on(self, sock: socket.socket, number: int) -> None:
        """Wait for an answer without reading it, and start again if it is a refusal."""
        await _readable(sock)
        begun = _begun(sock)
        self.ends[begun] += 1
        if begun == "200":
            self._arrives(number)
            await asyncio.Event().wait()
        await asyncio.sleep(REFUSED_SECONDS)

    async def _end_of(self, sock: socket.socket, behaviour: Behaviour) -> tuple[str, float]:
        """Read until the server closes; return how it ended, and when the end began."""
        loop = asyncio.get_running_loop()
        end, ended, answers = "closed", 0.0, 0
        try:
            while data := await loop.sock_recv(sock, 1 << 16):
                if data.startswith(b"HTTP/1.1 "):
                    answers += 1
                    if answers > behaviour.asks:
                        end, ended = data[9:12].decode(), loop.time()
        except OSError:
            end = end if ended else "reset"
        return end, ended or loop.time()

    def seen(self) -> Seen:
        """The summary; `slowest` is the longest time of a connection, including those that have not ended."""
        now = asyncio.get_running_loop().time()
        slowest = max([*self.seconds, *(now - opened for opened in self.waiting.values())], default=0.0)
        return {"connections": self.connections, "most": self.most, "ends": dict(self.ends), "slowest": slowest}

    async def drip(self) -> None:
        """Send for the clients that send slowly, group after group."""
        for group in itertools.cycle(self.dripping):
            for sock, pieces in list(group.items()):
                with suppress(OSError):  # the server has closed it
                    sock.send(next(pieces, b""))
            await asyncio.sleep(1 / TICKS)


async def _readable(sock: socket.socket) -> None:
    """Wait until there is something to read, and leave it there."""
    loop, there = asyncio.get_running_loop(), asyncio.Event()
    loop.add_reader(sock, there.set)
    try:
        await there.wait()
    finally:
        loop.remove_reader(sock)


def _begun(sock: socket.socket) -> str:
    """The status of an answer that has begun, without reading it."""
    try:
        return sock.recv(12, socket.MSG_PEEK)[9:].decode() or "closed"
    except OSError:
        return "reset"


async def run(port: int, sizes: dict[str, int], over: asyncio.Event) -> Seen:
    """Run crowds until the event is set; return {name: what it saw}."""
    crowds = {name: Crowd(port, size) for name, size in sizes.items()}
    tasks = []
    for name, crowd in crowds.items():
        turns = itertools.cycle(BEHAVIOURS[name]())
        tasks += [asyncio.create_task(crowd.come_again(number, next(turns))) for number in range(crowd.size)]
        tasks.append(asyncio.create_task(crowd.drip()))
    with suppress(TimeoutError):
        async with asyncio.timeout(READY_SECONDS):
            for crowd in crowds.values():
                await crowd.all_there.wait()
    say_ready()
    await over.wait()
    seen = {name: crowd.seen() for name, crowd in crowds.items()}
    for task in tasks:
        task.cancel()  # which closes its connection
    await asyncio.gather(*tasks, return_exceptions=True)
    return seen


if __name__ == "__main__":
    named = zip(sys.argv[2::2], map(int, sys.argv[3::2]), strict=True)
    run_clients(partial(run, int(sys.argv[1]), dict(named)))
