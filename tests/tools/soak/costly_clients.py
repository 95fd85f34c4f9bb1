"""Clients with valid, expensive requests: ones that take long to answer, to parse, or to read."""

from collections import Counter
from collections.abc import Callable
from functools import partial

from tests.support.attacks.attackers import askers
from tests.support.attacks.found import Found
from tests.support.attacks.lanes import Times
from tests.support.attacks.small_calls import During, alone, counted, during, ends_as_text
from tests.support.servers import serving

CLIENTS = {"costly": 32, "comparisons": 8, "headers": 8, "chunks": 8}
"""{what they send (costly.py): how many}."""

ENDS = {
    "costly": {"200", "503"},
    "comparisons": {"200", "503"},
    "headers": {"200", "431"},
    "chunks": {"200", "400", "413", "503"},
}
"""The allowed statuses: a server may refuse what no honest client sends."""

MOST_P99 = 0.06
ROUNDS = 3
"""Chance decides which worker gets which connection, so all reconnect in each round."""


def missed_by(one: During, name: str) -> list[str]:
    """What is wrong with the answers of such clients: losses and statuses, whatever the time."""
    others = {end: count for end, count in one.seen["ends"].items() if end not in ENDS[name]}
    missed = counted(one.times.wrong) + ([f"answers {others}"] if others else [])
    return [f"{name}: {what}" for what in (missed if one.seen["ends"] else [*missed, "nothing was answered"])]


def run(seconds: float, tell: Callable[[str], None] = lambda _: None) -> Found:
    """Small calls during the costly requests of each kind, one kind after another."""
    told = ", ".join(f"{count} {name}" for name, count in CLIENTS.items())
    found = Found(f"{told}, {seconds:g} s each, repeated without a pause, and a small call every 20 ms")
    with serving() as service:
        found.figures["small p50 / p99 / max, alone"] = alone(service, seconds / 2).as_text()
        for name, clients in CLIENTS.items():
            times, ends = Times(), Counter[str]()
            for number in range(ROUNDS):
                tell(f"{clients} {name}, {number + 1} of {ROUNDS}")
                one = during(service, seconds / ROUNDS, partial(askers, service.port, name, clients))
                found.missed += missed_by(one, name)
                times.small += one.times.small
                ends.update(one.seen["ends"])
            found.figures[f"with {name}"] = f"{times.as_text()}, which got {ends_as_text(ends)}"
            found.require(times.p99() <= MOST_P99, f"with {name} p99 is {1000 * times.p99():.0f} ms")
        found.require(not service.failures(), f"the log: {service.failures()[:1]}")
    return found
