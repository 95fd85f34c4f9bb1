"""Turns of connections whose bodies come in small chunks: by address, without those that have gone."""

import asyncio
import socket
from collections.abc import Iterator
from types import SimpleNamespace

import pytest

from service.web.server import chunk_turns
from service.web.server.chunk_turns import ChunkTurns
from service.web.server.connection import Phase


class Waiting:
    """A connection as far as turns know it."""

    def __init__(self, name: str, address: str, read: list[str]) -> None:
        self.name, self.client, self.phase = name, (address, "1"), Phase.BODY
        self.ours, self.theirs = socket.socketpair()
        self.paused = self.aborted = False
        self.waited: float | None = None
        self._read = read
        self.transport = SimpleNamespace(
            pause_reading=lambda: setattr(self, "paused", True),
            abort=lambda: setattr(self, "aborted", True),
            get_extra_info=lambda _: self.ours,
        )

    def read_on(self, waited: float) -> None:
        self._read.append(self.name)
        self.waited = waited

    def close(self) -> None:
        self.ours.close()
        self.theirs.close()


class Crowd:
    def __init__(self) -> None:
        self.read: list[str] = []
        self.all: list[Waiting] = []

    def one(self, name: str, address: str) -> Waiting:
        self.all.append(Waiting(name, address, self.read))
        return self.all[-1]

    def run(self, waiting: list[Waiting], seconds: float = 0.2) -> list[str]:
        async def wait() -> None:
            turns = ChunkTurns(asyncio.get_running_loop())
            for connection in waiting:
                turns.put(connection)  # type: ignore[arg-type]
                assert connection.paused
            await asyncio.sleep(seconds)

        asyncio.run(wait())
        return self.read


@pytest.fixture
def crowd() -> Iterator[Crowd]:
    crowd = Crowd()
    yield crowd
    for connection in crowd.all:
        connection.close()


def test_turns_go_round_by_address(crowd: Crowd) -> None:
    waiting = [crowd.one(f"a{number}", "10.0.0.1") for number in range(4)]
    waiting += [crowd.one("b0", "10.0.0.2"), crowd.one("b1", "10.0.0.2")]
    assert crowd.run(waiting) == ["a0", "b0", "a1", "b1", "a2", "a3"]
    assert 0 < waiting[0].waited < waiting[3].waited


def test_one_turn_after_the_other(crowd: Crowd, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chunk_turns, "TURN_SECONDS", 0.05)
    waiting = [crowd.one(str(number), "10.0.0.1") for number in range(20)]
    assert len(crowd.run(waiting, 0.28)) <= 5


def test_whoever_has_gone_takes_no_turn(crowd: Crowd, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chunk_turns, "TURN_SECONDS", 0.1)
    waiting = [crowd.one(str(number), "10.0.0.1") for number in range(50)]
    for connection in waiting[:30]:
        connection.theirs.close()
    for connection in waiting[30:40]:
        connection.phase = Phase.CLOSED
    assert crowd.run(waiting, 0.15) == ["40"]
    assert [connection.aborted for connection in waiting] == [True] * 30 + [False] * 20
