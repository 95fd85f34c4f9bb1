"""How long a request holds a server's own process: until it is answered, or moves on to an evaluator process.

Processor time is counted in runs of a reference loop in the same process, so that another machine finds the same. On
ours, a run takes a millisecond. The clock that ends requests counts in these runs, too.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from service.answer import answer
from service.curves.clock import TooMuchWork
from service.request import Answer, Effort, Request
from service.settings import Settings
from tests.support.asking import LIMITS
from tests.support.costs.families import BIG_BODY_BYTES, Family

SMALL = Effort(Settings().small_seconds, BIG_BODY_BYTES, 4 * BIG_BODY_BYTES)
"""What a server's own process does for a request, by default."""

SHORT_BYTES = 20 << 10
MOST_SHORT, MOST_LONG = 25.0, 60.0
"""The most reference runs that a request may hold the process: one whose body is short, and any small one."""

_STEPS = 13_000
_A_SECOND = 1_000
"""Steps of a reference run, and runs in a second of our machine."""

_REPEATS = 5
_FIRST_SIZE, _GUESSES = 64, 8


@dataclass(frozen=True)
class Cost:
    """What a request took: reference runs; bytes sent; bytes of the answer, and its status, 0 if it moved on."""

    runs: float
    sent: int
    answer: int
    status: int

    @property
    def most(self) -> float:
        """The most reference runs for a request of this length."""
        return MOST_SHORT if self.sent < SHORT_BYTES else MOST_LONG


def small_answer(request: Request, effort: Effort = SMALL) -> Answer | None:
    """Answer a request as a server's own process does; None if it must go to an evaluator process."""
    try:
        return answer(request, LIMITS, effort)
    except TooMuchWork:
        return None


def measured(request: Request, times: float = 1) -> Cost:
    """Answer a request a few times as a server's own process does, with this many times its time."""
    run = _least(_reference)
    effort = replace(SMALL, seconds=SMALL.seconds * times * run * _A_SECOND)
    seconds = _least(lambda: small_answer(request, effort))
    found = small_answer(request, effort)
    size, status = (0, 0) if found is None else (len(found.body), found.status)
    return Cost(seconds / min(run, _least(_reference)), sent(request), size, status)


def sent(request: Request) -> int:
    """Count the bytes of a request's body and of its query."""
    return len(request.body) + sum(len(name) + len(text) + 2 for name, text in request.parameters)


def longest(family: Family, most: int) -> int:
    """Find roughly the largest size at which the requests of a family are this short, in bytes; 0 if none is."""
    size, found = min(family.most, _FIRST_SIZE), 0
    for _ in range(_GUESSES):
        length = sent(family.request(size))
        found = max(found, size) if length <= most else found
        size = min(family.most, size * most // length)
        if size <= found:
            break
    return found


def _least(work: Callable[[], object]) -> float:
    """The least processor time of a few runs, in seconds."""
    times = []
    for _ in range(_REPEATS):
        began = time.thread_time()
        work()
        times.append(time.thread_time() - began)
    return min(times)


def _reference() -> int:
    total = 0
    for number in range(_STEPS):
        total += number * number % 7
    return total
