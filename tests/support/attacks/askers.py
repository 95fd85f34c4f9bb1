"""Clients that send one request after another, as soon as they have an answer, on kept connections.

`python -m tests.support.attacks.askers PORT MESSAGES CLIENTS NICENESS [KEY]`: MESSAGES is a name in costly.py.
They send these in turns, retry after Retry-After, and report how many answers there were and how long they took.
"""

import asyncio
import itertools
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial

from tests.support.attacks.attackers import Seen, run_clients, say_ready
from tests.support.attacks.costly import messages

AGAIN_SECONDS = 0.1
"""How soon a client reconnects after a broken connection."""

WAIT = frozenset({"429", "503"})


@dataclass
class Tally:
    """What all clients got. `seconds` are for answers 200, from the first byte sent to the last one received."""

    messages: Iterator[bytes]
    ends: Counter[str] = field(default_factory=Counter)
    seconds: list[float] = field(default_factory=list)


class Asker(asyncio.Protocol):
    """One connection: sends a request, reads its answer, sends the next."""

    def __init__(self, tally: Tally) -> None:
        self.tally = tally
        self.loop = asyncio.get_running_loop()
        self.gone = self.loop.create_future()
        self.transport: asyncio.Transport
        self.head = b""
        self.missing = -1  # bytes of the answer; -1 before the end of its head
        self.asks = False
        self.pause = AGAIN_SECONDS

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        self.ask()

    def ask(self) -> None:
        if not self.transport.is_closing():
            self.began, self.head, self.missing, self.asks = self.loop.time(), b"", -1, True
            self.transport.write(next(self.tally.messages))

    def data_received(self, data: bytes) -> None:
        if self.missing < 0:
            self.head += data
            head, found, rest = self.head.partition(b"\r\n\r\n")
            if not found:
                return
            self.head = head.lower() + b"\r\n"
            self.missing, data = int(self._header(b"content-length")), rest
        self.missing -= len(data)
        if self.missing <= 0:
            self._answered(self.head[9:12].decode())

    def _header(self, name: bytes) -> bytes:
        return self.head.partition(b"\r\n" + name + b":")[2].partition(b"\r\n")[0].strip()

    def _answered(self, status: str) -> None:
        self.tally.ends[status] += 1
        self.asks = False
        if status == "200":
            self.tally.seconds.append(self.loop.time() - self.began)
        self.pause = float(self._header(b"retry-after")) if status in WAIT else 0.0
        if self._header(b"connection") == b"close":
            self.transport.abort()  # it may still be sending
        elif self.pause:
            self.loop.call_later(self.pause, self.ask)
        else:
            self.ask()

    def connection_lost(self, _: Exception | None) -> None:
        if self.asks:
            self.tally.ends["lost"] += 1
            self.pause = AGAIN_SECONDS
        if not self.gone.done():
            self.gone.set_result(None)


async def _client(port: int, tally: Tally) -> None:
    """One client, for ever; it reconnects when necessary."""
    while True:
        try:
            transport, asker = await asyncio.get_running_loop().create_connection(
                partial(Asker, tally), "127.0.0.1", port
            )
        except OSError:
            tally.ends["unconnected"] += 1
            await asyncio.sleep(AGAIN_SECONDS)
            continue
        try:
            await asker.gone
        finally:
            transport.abort()
        await asyncio.sleep(asker.pause)


async def run(port: int, name: str, clients: int, key: str, over: asyncio.Event) -> Seen:
    """Ask until it is over."""
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    tally = Tally(itertools.cycle(messages(name, **headers)))
    say_ready()
    loop = asyncio.get_running_loop()
    began = loop.time()
    tasks = [asyncio.create_task(_client(port, tally)) for _ in range(clients)]
    await over.wait()
    took = loop.time() - began
    ends = dict(tally.ends)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    seconds = sorted(tally.seconds) or [0.0]
    return {
        "ends": ends,
        "rate": len(tally.seconds) / took,
        "p50": seconds[len(seconds) // 2],
        "p99": seconds[int(len(seconds) * 0.99)],
        "max": seconds[-1],
    }


if __name__ == "__main__":
    clients = partial(run, int(sys.argv[1]), sys.argv[2], int(sys.argv[3]), "".join(sys.argv[5:]))
    run_clients(clients, int(sys.argv[4]))
