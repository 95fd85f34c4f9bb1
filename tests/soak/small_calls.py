"""Small calls while other clients are there: how long they take, how many are lost, and what the others get."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass

from tests.soak import processes
from tests.soak.attackers import Seen
from tests.soak.lanes import Times, time_small
from tests.soak.servers import Service


@dataclass(frozen=True)
class During:
    """What came of small calls, and of the others.

    grown    bytes by which the workers' memory grew until the others were there.
    """

    times: Times
    seen: Seen
    grown: int


def alone(service: Service, seconds: float) -> Times:
    """The control: the same calls while nobody else is there."""
    return time_small(service.port, seconds)


def during(service: Service, seconds: float, others: Callable[[], AbstractContextManager[Seen]]) -> During:
    """Ask small questions while others are there."""
    before = processes.pss(service.workers())
    with others() as seen:
        grown = processes.pss(service.workers()) - before
        times = time_small(service.port, seconds)
    return During(times, seen, grown)


def counted(wrong: Iterable[str]) -> list[str]:
    """What went wrong, each thing once with how often."""
    return [f"{count} x {what}" for what, count in Counter(wrong).most_common()]


def ends_as_text(ends: Mapping[str, int]) -> str:
    """How connections or requests ended, and how many did so."""
    return ", ".join(f"{count:,} x {end}" for end, count in sorted(ends.items())) or "none"
