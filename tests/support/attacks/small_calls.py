"""Small calls alongside other clients: how long they take, how many are lost, and what the others get."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass

from tests.support import processes
from tests.support.attacks.attackers import Seen
from tests.support.attacks.lanes import Times, time_small
from tests.support.servers import Service


@dataclass(frozen=True)
class During:
    """The outcome of small calls, and of the others.

    grown    bytes by which the workers' memory grew when the others arrived.
    """

    times: Times
    seen: Seen
    grown: int


def alone(service: Service, seconds: float) -> Times:
    """The control: the same calls without other clients."""
    return time_small(service.port, seconds)


def during(service: Service, seconds: float, others: Callable[[], AbstractContextManager[Seen]]) -> During:
    """Make small calls alongside other clients."""
    before = processes.pss(service.workers())
    with others() as seen:
        grown = processes.pss(service.workers()) - before
        times = time_small(service.port, seconds)
    return During(times, seen, grown)


def counted(wrong: Iterable[str]) -> list[str]:
    """The failures, each once with its count."""
    return [f"{count} x {what}" for what, count in Counter(wrong).most_common()]


def ends_as_text(ends: Mapping[str, int]) -> str:
    """How connections or requests ended, with counts."""
    return ", ".join(f"{count:,} x {end}" for end, count in sorted(ends.items())) or "none"
