"""Turns of connections whose bodies take time: by address, skipping clients that have gone."""

import socket
from collections.abc import Callable, Iterator
from types import SimpleNamespace

import pytest

from service.web.server import chunk_turns
from service.web.server.chunk_turns import READS_OF_A_TURN, TURN_SECONDS, ChunkTurns
from service.web.server.phase import Phase
from tests.web.server.serving import Clock


class Waiting:
    """A connection, as far as turns need it."""

    def __init__(self, name: str, address: str, read: list[str], *, is_dense: bool) -> None:
        self.name, self.client, self.phase = name, (address, "1"), Phase.BODY
        self.ours, self.theirs = socket.socketpair()
        self.paused = self.aborted = False
        self.reader = SimpleNamespace(is_dense=is_dense)
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


class Turns:
    """Turns on a loop that runs them when a test says so."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self.read: list[str] = []
        self.all: list[Waiting] = []
        self._turns = ChunkTurns(self)  # type: ignore[arg-type]  # stands in for the loop
        self._next: list[tuple[float, Callable[[], object]]] = []

    def call_later(self, seconds: float, function: Callable[[], object]) -> object:
        self._next.append((seconds, function))
        return function

    def put(self, name: str, address: str, *, is_dense: bool = True) -> Waiting:
        self.all.append(Waiting(name, address, self.read, is_dense=is_dense))
        self._turns.put(self.all[-1])  # type: ignore[arg-type]  # stands in for a connection
        assert self.all[-1].paused
        return self.all[-1]

    def turn(self) -> list[str]:
        """Run the one turn that is scheduled; there is never more than one."""
        ((seconds, function),) = self._next
        assert seconds == TURN_SECONDS
        self._next.clear()
        self._clock.forward(seconds)
        function()
        return self.read

    def all_turns(self) -> list[str]:
        while self._next:
            self.turn()
        return self.read


@pytest.fixture
def turns(monkeypatch: pytest.MonkeyPatch) -> Iterator[Turns]:
    clock = Clock()
    monkeypatch.setattr(chunk_turns, "time", clock)
    turns = Turns(clock)
    yield turns
    for connection in turns.all:
        connection.close()


def test_turns_go_round_by_address(turns: Turns) -> None:
    waiting = [turns.put(f"a{number}", "10.0.0.1") for number in range(4)]
    for name in ("b0", "b1"):
        turns.put(name, "10.0.0.2")
    assert turns.all_turns() == ["a0", "b0", "a1", "b1", "a2", "a3"]
    assert [one.waited for one in waiting] == pytest.approx([TURN_SECONDS * turn for turn in (1, 3, 5, 6)], abs=1e-4)


def test_one_turn_after_the_other(turns: Turns) -> None:
    for number in range(3):
        turns.put(str(number), "10.0.0.1")
    for expected in (["0"], ["0", "1"]):
        assert turns.turn() == expected


def test_a_turn_has_room_for_several_reads_of_long_bodies(turns: Turns) -> None:
    names = [turns.put(str(number), "10.0.0.1", is_dense=False).name for number in range(READS_OF_A_TURN + 2)]
    assert turns.turn() == names[:READS_OF_A_TURN]
    turns.put("dense", "10.0.0.1")
    turns.put("last", "10.0.0.1", is_dense=False)
    assert turns.turn() == [*names, "dense"]
    assert turns.turn()[-1] == "last"


def test_whoever_has_gone_takes_no_turn(turns: Turns) -> None:
    waiting = [turns.put(str(number), "10.0.0.1") for number in range(50)]
    for connection in waiting[:30]:
        connection.theirs.close()
    for connection in waiting[30:40]:
        connection.phase = Phase.CLOSED
    assert turns.turn() == ["40"]
    assert [connection.aborted for connection in waiting] == [True] * 30 + [False] * 20
