"""What requests cost: their processor time, their answer, and their estimated work."""

import time
from dataclasses import dataclass

from service.answer import answer
from service.curves.clock import TooMuchWork
from service.request import Answer, Effort, Request
from service.wire import budget
from tests.support.asking import LIMITS
from tests.support.costs.families import BIG_BODY_BYTES, DECODED_BYTES, Family

REPEATS = 3


@dataclass(frozen=True)
class Cost:
    """What a request took: seconds, the least of a few runs; bytes of the answer; work; status."""

    seconds: float
    answer: int
    work: float
    status: int


def is_small(request: Request, big_work: int) -> bool:
    """Whether a server answers a request in its own process."""
    return len(request.body) <= BIG_BODY_BYTES and small_answer(request, big_work) is not None


def small_answer(request: Request, big_work: int) -> Answer | None:
    """Answer a request as a server's own process does; None if it must go to an evaluator process."""
    try:
        return answer(request, LIMITS, Effort(big_work, DECODED_BYTES))
    except TooMuchWork:
        return None


def measured(request: Request, big_work: int) -> Cost:
    """Answer a request a few times as a server that counts work; one for an evaluator process has status 0."""
    least, found = float("inf"), None
    for _ in range(REPEATS):
        start = time.thread_time()
        found = small_answer(request, big_work)
        least = min(least, time.thread_time() - start)
    size, status = (0, 0) if found is None else (len(found.body), found.status)
    return Cost(least, size, work(request), status)


def work(request: Request, most: float = 1e9) -> float:
    """Count the work of a request, up to `most`."""
    budgets: list[budget._Budget] = []

    class Kept(budget._Budget):
        def __init__(self, rows: float) -> None:
            super().__init__(rows)
            budgets.append(self)

    usual, budget._Budget = budget._Budget, Kept  # type: ignore[misc]  # for as long as it is looked at
    try:
        small_answer(request, int(most))
    finally:
        budget._Budget = usual  # type: ignore[misc]  # put back
    return most - budgets[-1].rows


def largest(family: Family, big_work: int) -> int:
    """Find the largest small size of a family; 0 if there is none."""
    if is_small(family.request(family.most), big_work):
        return family.most
    low, high = 0, family.most
    while high - low > max(1, high // 50):
        middle = (low + high) // 2
        if is_small(family.request(middle), big_work):
            low = middle
        else:
            high = middle
    return low
