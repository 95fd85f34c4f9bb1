"""The laws of the queues, with a simulated clock: who goes first, and that nobody waits for ever."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.web.server import queues
from service.web.server.queues import PENALTY, FairQueue, Use
from tests.support.strategies import examples

HALF_LIFE = 2.0


class Time:
    """A clock that moves when the test says so, and a little with each look, as real ones do."""

    def __init__(self) -> None:
        self.now = 100.0

    def monotonic(self) -> float:
        self.now += 1e-6
        return self.now


@dataclass(eq=False)
class Request:
    owner: str
    seconds: float = 0.0
    use: Use = field(default_factory=Use)


@pytest.fixture(autouse=True)
def time() -> Iterator[Time]:
    time, real = Time(), queues.time
    queues.time = time
    yield time
    queues.time = real


def start() -> tuple[FairQueue, Time]:
    """A queue and a clock, new for each example of a test."""
    queues.time = Time()
    return FairQueue(HALF_LIFE), queues.time


def serve_next(queue: FairQueue, time: Time) -> Request:
    """Do the first request, which takes its time."""
    request = queue.take(queue.owners()[0])
    time.now += request.seconds
    queue.charge(request, request.seconds)
    return request


class TestUse:
    def test_counts_half_after_a_half_life(self, time: Time) -> None:
        use = Use()
        assert use.recent(HALF_LIFE) == 0
        use.add(8.0, HALF_LIFE)
        assert use.recent(HALF_LIFE) == pytest.approx(8, abs=1e-4)
        for expected in (4, 2, 1):
            time.now += HALF_LIFE
            assert use.recent(HALF_LIFE) == pytest.approx(expected, abs=1e-4)
        use.add(1.0, HALF_LIFE)
        assert use.recent(HALF_LIFE) == pytest.approx(2, abs=1e-4)

    def test_is_forgotten_in_the_end(self, time: Time) -> None:
        use = Use()
        use.add(1e6, HALF_LIFE)
        time.now += 1e9
        assert use.recent(HALF_LIFE) < 1e-9


def test_one_owners_requests_go_in_their_order(time: Time) -> None:
    queue: FairQueue = FairQueue(HALF_LIFE)
    requests = [Request("a") for _ in range(5)]
    for request in requests:
        queue.put(request)
    assert len(queue) == 5
    assert [serve_next(queue, time) for _ in requests] == requests
    assert (len(queue), queue.owners()) == (0, [])


def test_owners_take_turns(time: Time) -> None:
    queue: FairQueue = FairQueue(HALF_LIFE)
    for owner in "aaaabbbbcccc":
        queue.put(Request(owner))
    assert "".join(serve_next(queue, time).owner for _ in range(12)) == "abcabcabcabc"


def test_who_has_used_more_goes_later(time: Time) -> None:
    queue: FairQueue = FairQueue(HALF_LIFE)
    queue.charge(Request("a"), 1.0)
    for owner in "ab":
        queue.put(Request(owner))
        time.now += 0.1
    assert queue.owners() == ["b", "a"]
    time.now += 100 * HALF_LIFE
    assert queue.owners() == ["a", "b"]


def test_connections_of_one_owner_take_turns(time: Time) -> None:
    """A connection that has used much waits behind those that have not."""
    queue: FairQueue = FairQueue(HALF_LIFE)
    greedy, modest = Use(), Use()
    first = Request("a", 1.0, greedy)
    queue.put(first)
    serve_next(queue, time)
    behind, before = Request("a", use=greedy), Request("a", use=modest)
    queue.put(behind)
    queue.put(before)
    assert serve_next(queue, time) is before
    assert serve_next(queue, time) is behind


def test_what_leaves_is_gone(time: Time) -> None:
    queue: FairQueue = FairQueue(HALF_LIFE)
    one, other = Request("a"), Request("a")
    queue.put(one)
    assert not queue.remove(other)
    assert not queue.remove(Request("b"))
    queue.put(other)
    assert queue.remove(one)
    assert not queue.remove(one)
    assert serve_next(queue, time) is other
    assert not queue.remove(other)
    assert len(queue) == 0


def test_the_last_of_the_longest_line_leaves_a_queue_that_is_too_long(time: Time) -> None:
    queue: FairQueue = FairQueue(HALF_LIFE)
    requests = [Request(owner) for owner in "baaab"]
    for request in requests:
        queue.put(request)
        time.now += 0.1
    assert queue.worst() is requests[3]
    queue.remove(requests[3])
    queue.put(last := Request("b"))
    assert queue.worst() is last


def test_an_idle_owner_is_forgotten(time: Time) -> None:
    queue: FairQueue = FairQueue(HALF_LIFE)
    for owner in "abc":
        queue.put(Request(owner, 1.0))
    serve_next(queue, time)
    queue.drop_idle_owners()
    assert set(queue._lines) == {"a", "b", "c"}
    time.now += 20 * HALF_LIFE
    queue.drop_idle_owners()
    assert set(queue._lines) == {"b", "c"}
    for _ in range(2):
        serve_next(queue, time)
    time.now += 20 * HALF_LIFE
    queue.drop_idle_owners()
    assert queue._lines == {}


waits = st.lists(st.tuples(st.sampled_from("abc"), st.floats(0, 2)), min_size=1, max_size=40)


@examples(100)
@given(crowd=waits, served=st.integers(0, 40), cost=st.floats(0, 2))
def test_the_hundredth_request_of_one_owner_waits_behind_the_first_of_another(
    crowd: list[tuple[str, float]], served: int, cost: float
) -> None:
    """A newcomer is served after at most one request of each owner who was already waiting."""
    queue, time = start()
    for owner, seconds in crowd:
        queue.put(Request(owner, seconds))
    for _ in range(min(served, len(crowd))):
        serve_next(queue, time)
    queue.put(new := Request("new", cost))
    before: list[str] = []
    while (request := serve_next(queue, time)) is not new:
        before.append(request.owner)
    assert len(before) == len(set(before))


@examples(100)
@given(used=st.floats(0, 20), others=st.integers(1, 5), cost=st.floats(0.01, 3))
def test_no_owner_waits_forever(used: float, others: int, cost: float) -> None:
    """However much it has used and however many others ask: it waits at most for the penalty and one round."""
    queue, time = start()
    queue.charge(Request("heavy"), used)
    for owner in range(others):
        for _ in range(3):
            queue.put(Request(str(owner), cost))
    queue.put(heavy := Request("heavy"))
    since = time.now
    while (request := serve_next(queue, time)) is not heavy:
        queue.put(Request(request.owner, cost))
        assert time.now - since <= PENALTY * used + (others + 1) * cost + 1


@examples(100)
@given(costs=st.dictionaries(st.sampled_from("abcd"), st.floats(0.05, 2), min_size=2))
def test_who_asks_for_less_is_served_more_often(costs: dict[str, float]) -> None:
    """Of owners that always ask, each gets a share between equal numbers of requests and equal time."""
    queue, time = start()
    for owner, cost in costs.items():
        for _ in range(2):
            queue.put(Request(owner, cost))
    done = dict.fromkeys(costs, 0)
    while time.now < 100.0 + 200 * sum(costs.values()):
        request = serve_next(queue, time)
        done[request.owner] += 1
        queue.put(Request(request.owner, request.seconds))
    in_order = sorted(costs, key=costs.__getitem__)
    for less, more in pairwise(in_order):
        assert done[less] >= done[more] - 2
        assert done[less] * costs[less] <= (done[more] + 2) * costs[more]


def test_time_is_shared_more_than_requests_are() -> None:
    """One asks for forty times as much as the other, but gets only about twice the time."""
    queue, time = start()
    for owner, seconds in (("a", 0.05), ("b", 2.0)):
        for _ in range(2):
            queue.put(Request(owner, seconds))
    got = {"a": 0.0, "b": 0.0}
    while time.now < 500:
        request = serve_next(queue, time)
        got[request.owner] += request.seconds
        queue.put(Request(request.owner, request.seconds))
    assert 1 < got["b"] / got["a"] < 3


@examples(100)
@given(actions=st.lists(st.tuples(st.sampled_from(["put", "take", "remove", "worst"]), st.integers(0, 5)), max_size=60))
def test_nothing_is_lost_or_doubled(actions: list[tuple[str, int]]) -> None:
    queue, time = start()
    waiting: list[Request] = []
    for action, number in actions:
        if action == "put":
            waiting.append(Request(str(number), number / 10))
            queue.put(waiting[-1])
        elif waiting and action == "take":
            waiting.remove(serve_next(queue, time))
        elif waiting and action == "worst":
            worst = queue.worst()
            assert sum(one.owner == worst.owner for one in waiting) == max(
                sum(one.owner == other.owner for one in waiting) for other in waiting
            )
        elif waiting:
            assert queue.remove(waiting.pop(number % len(waiting)))
        assert len(queue) == len(waiting)
        assert set(queue.owners()) == {one.owner for one in waiting}
    assert {serve_next(queue, time) for _ in range(len(queue))} == set(waiting)
