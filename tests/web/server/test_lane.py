"""Lanes alone: the order of requests, the number of threads, what waits for a slot, and the turns of the loop."""

import asyncio
import threading
import time
from collections.abc import Callable
from typing import Any, Self

import pytest

from service.web.server.lane import Lane, LoopLane, ThreadLane
from service.web.server.queues import Use
from tests.support.processes import wait_until
from tests.web.server.serving import SECONDS, on_loop


class Request:
    """A request that is done when the test releases it."""

    def __init__(self, owner: str = "a", *, held: bool = False) -> None:
        self.owner = owner
        self.use = Use()
        self.begun = threading.Event()
        self.go = threading.Event()
        self.told = threading.Event()
        self.turned_away = False
        self.thread = ""
        if not held:
            self.go.set()

    def run(self) -> Callable[[], object]:
        self.thread = threading.current_thread().name
        self.begun.set()
        assert self.go.wait(SECONDS)
        return self.told.set

    def turn_away(self) -> None:
        self.turned_away = True

    def is_told(self) -> bool:
        return self.told.wait(SECONDS)


class Slots:
    """Slots for all owners except those who may not have one now."""

    def __init__(self, count: int) -> None:
        self.free = count
        self.barred: set[str] = set()
        self.asked: list[str] = []

    def take(self, owner: str) -> Self | None:
        self.asked.append(owner)
        if not self.free or owner in self.barred:
            return None
        self.free -= 1
        return self

    def release(self) -> None:
        self.free += 1


class Held:
    """A lane whose requests are put on the loop; one with a thread, unless another is given."""

    def __init__(self, loop: asyncio.AbstractEventLoop, lane: Lane | None = None, **options: Any) -> None:
        self._loop = loop
        self.lane = lane or ThreadLane(loop, "tested", **{"threads": 1, "most": 100, "half_life": 1.0, **options})

    def on_loop(self, function: Callable[[], Any]) -> Any:
        return on_loop(self._loop, function)

    def put(self, *requests: Request) -> None:
        """Put all at once, before any of them begins."""
        self.on_loop(lambda: [self.lane.put(request) for request in requests])

    def until(self, holds: Callable[[], bool]) -> None:
        """Wait until something holds on the loop."""
        wait_until(lambda: self.on_loop(holds), SECONDS, "it holds", 0.001)

    def waiting(self) -> int:
        return int(self.on_loop(lambda: len(self.lane.queue)))


@pytest.fixture
def order(monkeypatch: pytest.MonkeyPatch) -> list[Request]:
    """The order in which the requests begin."""
    begun: list[Request] = []
    run = Request.run

    def noted(request: Request) -> Callable[[], object]:
        begun.append(request)
        return run(request)

    monkeypatch.setattr(Request, "run", noted)
    return begun


def test_requests_are_done_one_after_the_other(loop: asyncio.AbstractEventLoop, order: list[Request]) -> None:
    held = Held(loop)
    first, *others = requests = [Request(held=True), *(Request() for _ in range(4))]
    held.put(*requests)
    assert first.begun.wait(SECONDS)
    assert held.waiting() == 4
    first.go.set()
    assert all(request.is_told() for request in requests)
    assert order == requests
    assert {request.thread for request in requests} == {"tested-0"}
    assert others[0].use.recent(1.0) >= 0


def test_as_many_are_done_at_once_as_there_are_threads(loop: asyncio.AbstractEventLoop) -> None:
    held = Held(loop, threads=2)
    requests = [Request(held=True) for _ in range(3)]
    held.put(*requests)
    assert all(request.begun.wait(SECONDS) for request in requests[:2])
    assert held.waiting() == 1
    assert not requests[2].begun.is_set()
    requests[1].go.set()
    assert requests[2].begun.wait(SECONDS)
    for request in requests:
        request.go.set()
        assert request.is_told()


def test_one_more_is_handed_over_so_that_no_thread_waits(loop: asyncio.AbstractEventLoop) -> None:
    held = Held(loop, ahead=1)
    requests = [Request(held=True) for _ in range(3)]
    held.put(*requests)
    assert requests[0].begun.wait(SECONDS)
    assert held.waiting() == 1
    assert not held.on_loop(lambda: held.lane.withdraw(requests[1]))
    for request in requests:
        request.go.set()
        assert request.is_told()


def test_who_waits_may_leave(loop: asyncio.AbstractEventLoop, order: list[Request]) -> None:
    held = Held(loop)
    first, leaves, last = Request(held=True), Request(), Request()
    held.put(first, leaves, last)
    assert not held.on_loop(lambda: held.lane.withdraw(first))
    assert held.on_loop(lambda: held.lane.withdraw(leaves))
    assert not held.on_loop(lambda: held.lane.withdraw(leaves))
    first.go.set()
    assert last.is_told()
    assert order == [first, last]


def test_whoever_has_most_is_turned_away_when_too_many_wait(loop: asyncio.AbstractEventLoop) -> None:
    held = Held(loop, most=3)
    first, *greedy, modest = Request("a", held=True), *(Request("a") for _ in range(3)), Request("b")
    held.put(first, *greedy)
    assert not any(request.turned_away for request in greedy)
    held.put(modest)
    assert [request.turned_away for request in greedy] == [False, False, True]
    assert not modest.turned_away
    first.go.set()
    assert all(request.is_told() for request in (first, *greedy[:2], modest))
    assert not greedy[2].begun.is_set()


def test_who_turns_up_last_may_be_turned_away(loop: asyncio.AbstractEventLoop) -> None:
    held = Held(loop, most=0)
    first, second = Request(held=True), Request()
    held.put(first, second)
    assert (first.turned_away, second.turned_away) == (False, True)
    first.go.set()
    assert first.is_told()


def test_what_needs_a_slot_waits_for_it(loop: asyncio.AbstractEventLoop) -> None:
    slots = Slots(1)
    held = Held(loop, threads=3, slots=slots)
    requests = [Request(held=True) for _ in range(2)]
    held.put(*requests)
    assert requests[0].begun.wait(SECONDS)
    assert not requests[1].begun.is_set()
    assert (slots.free, held.waiting()) == (0, 1)
    requests[0].go.set()
    assert requests[1].begun.wait(SECONDS)
    requests[1].go.set()
    assert requests[1].is_told()
    assert slots.free == 1


def test_a_slot_that_another_process_gives_back_is_found(loop: asyncio.AbstractEventLoop) -> None:
    slots = Slots(0)
    held = Held(loop, slots=slots)
    request = Request()
    held.put(request)
    held.until(lambda: len(slots.asked) >= 5)
    assert not request.begun.is_set()
    slots.free = 1
    assert request.is_told()
    assert slots.free == 1


def test_an_owner_without_a_slot_does_not_block_others(loop: asyncio.AbstractEventLoop, order: list[Request]) -> None:
    slots = Slots(1)
    slots.barred = {"a"}
    held = Held(loop, slots=slots)
    barred, other = Request("a"), Request("b")
    held.put(barred, other)
    assert other.is_told()
    assert not barred.begun.is_set()
    slots.barred = set()
    assert barred.is_told()
    assert order == [other, barred]


def test_a_lane_that_waits_for_a_slot_does_so_once(loop: asyncio.AbstractEventLoop) -> None:
    """However many requests wait, and whether they leave meanwhile."""
    slots = Slots(0)
    held = Held(loop, slots=slots)
    requests = [Request() for _ in range(5)]
    held.put(*requests)
    waiting = [*requests, Request("b")]

    def retries() -> list[object]:
        """Before and after another request comes, between two attempts to get a slot."""
        before = held.lane._retry
        held.lane.put(waiting[-1])
        return [before, held.lane._retry]

    before, after = held.on_loop(retries)
    assert before is after is not None
    held.on_loop(lambda: [held.lane.withdraw(request) for request in waiting])
    held.until(lambda: held.lane._retry is None)
    assert held.waiting() == 0


def test_the_time_of_a_request_is_its_owners_and_its_connections(
    loop: asyncio.AbstractEventLoop, monkeypatch: pytest.MonkeyPatch
) -> None:
    charged: list[tuple[Request, float]] = []
    held = Held(loop)
    monkeypatch.setattr(held.lane.queue, "charge", lambda request, seconds: charged.append((request, seconds)))
    request = Request(held=True)
    held.put(request)
    assert request.begun.wait(SECONDS)
    time.sleep(0.02)
    request.go.set()
    assert request.is_told()
    ((found, seconds),) = charged
    assert found is request
    assert seconds >= 0.02


class TestOnTheLoop:
    @pytest.fixture
    def held(self, loop: asyncio.AbstractEventLoop) -> Held:
        return Held(loop, LoopLane(loop, most=3, half_life=1.0))

    def test_each_owner_has_a_turn(self, held: Held, order: list[Request]) -> None:
        first, second, other = Request("a"), Request("a"), Request("b")
        held.put(first, second, other)
        assert all(request.is_told() for request in (first, second, other))
        assert order == [first, other, second]
        held.put(again := Request("a"))
        assert again.is_told()

    def test_the_loop_reads_and_sends_between_two_requests(
        self, held: Held, loop: asyncio.AbstractEventLoop, order: list[Request]
    ) -> None:
        done: list[int] = []

        def look(times: int) -> None:
            """Note how many requests have been done, at this turn of the loop and the next ones."""
            done.append(len(order))
            if times:
                loop.call_soon(look, times - 1)

        requests = [Request() for _ in range(3)]
        held.on_loop(lambda: [*map(held.lane.put, requests), look(3)])
        held.until(lambda: len(done) == 4)
        assert done == [0, 1, 2, 3]
        assert all(request.is_told() for request in requests)
        assert {request.thread for request in requests} == {held.on_loop(lambda: threading.current_thread().name)}

    def test_who_waits_may_leave(self, held: Held, order: list[Request]) -> None:
        stays, leaves, alone = Request(), Request(), Request()
        held.on_loop(lambda: (held.lane.put(stays), held.lane.put(leaves), held.lane.withdraw(leaves)))
        assert stays.is_told()
        held.on_loop(lambda: (held.lane.put(alone), held.lane.withdraw(alone)))
        held.put(last := Request())
        assert last.is_told()
        assert order == [stays, last]

    def test_too_many_are_turned_away(self, held: Held, order: list[Request]) -> None:
        requests = [Request() for _ in range(5)]
        held.put(*requests)
        assert all(request.is_told() for request in requests[:3])
        assert [request.turned_away for request in requests] == [False] * 3 + [True] * 2
        assert order == requests[:3]

    def test_the_time_of_a_request_is_charged(self, held: Held, monkeypatch: pytest.MonkeyPatch) -> None:
        charged: list[tuple[Request, float]] = []
        monkeypatch.setattr(held.lane.queue, "charge", lambda request, seconds: charged.append((request, seconds)))
        monkeypatch.setattr(Request, "run", lambda request: time.sleep(0.02) or request.told.set)
        held.put(request := Request())
        assert request.is_told()
        ((found, seconds),) = charged
        assert found is request
        assert seconds >= 0.02
