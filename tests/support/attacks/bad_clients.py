"""Crowds of bad clients at a service without a proxy: what happens to other clients' small calls, and to the crowds."""

from collections import Counter
from collections.abc import Callable

from tests.support.attacks.attackers import Seen, crowds
from tests.support.attacks.found import Found
from tests.support.attacks.lanes import Times
from tests.support.attacks.small_calls import alone, counted, during, ends_as_text
from tests.support.servers import Service, serving

CROWDS = {"refused": 400, "half-heads": 400, "slow-heads": 1_000, "slow-bodies": 1_000, "idle": 5_000}
"""{what they do (crowds.py): how many}."""

ROUNDS = {"refused": 1, "half-heads": 1, "slow-heads": 1, "slow-bodies": 1, "idle": 5}
"""How often a crowd is renewed: idle clients are gone after some seconds."""

ENDS = {"refused": "400", "half-heads": "408", "slow-heads": "408", "slow-bodies": "408", "idle": "closed"}
"""How each connection has to end."""

MOST_P99 = 0.02
MOST_END_SECONDS = 15.0
MOST_IDLE_BYTES = 4096
"""The most memory of the workers for each idle connection."""


def missed_by(seen: Seen, name: str) -> list[str]:
    """Which connections of this crowd ended in a wrong way, whatever the time."""
    ends = seen[name]["ends"]
    others = {end: count for end, count in ends.items() if end != ENDS[name]}
    missed = [f"{name}: connections did not end with {ENDS[name]}: {others}"] if others else []
    return missed if ENDS[name] in ends else [*missed, f"{name}: no connection ended with {ENDS[name]}"]


def crowd(service: Service, name: str, clients: int, seconds: float) -> Found:
    """One crowd on one server: small calls without it, then with it."""
    found = Found()
    control = alone(service, seconds / 3)
    rounds = [
        during(service, seconds / ROUNDS[name], lambda: crowds(service.port, {name: clients}))
        for _ in range(ROUNDS[name])
    ]
    times, ends = Times(), Counter[str]()
    for one in rounds:
        times.small += one.times.small
        times.wrong += one.times.wrong
        ends.update(one.seen[name]["ends"])
        found.missed += missed_by(one.seen, name)
        most = one.seen[name]["most"]
        found.require(most == clients, f"{name}: at most {most} were connected at once")
    found.missed += [f"{name}: {what}" for what in counted(times.wrong)]
    found.require(times.p99() <= MOST_P99, f"{name}: p99 is {1000 * times.p99():.0f} ms")
    slowest = max(one.seen[name]["slowest"] for one in rounds)
    found.require(slowest <= MOST_END_SECONDS, f"{name}: a connection was there for {slowest:.0f} s")
    found.figures = {
        f"small p50 / p99 / max, {name}": f"{times.as_text()}, without {control.as_text()}",
        f"lost, {name}": str(len(times.wrong)),
        f"ends, {name}": ends_as_text(ends),
        f"longest, {name}": f"{slowest:.1f} s",
    }
    if name == "idle":
        each = max(one.grown for one in rounds) / clients
        found.figures["memory of an idle connection"] = f"{each / 1024:.1f} KiB"
        found.require(each <= MOST_IDLE_BYTES, f"an idle connection takes {each / 1024:.1f} KiB")
    return found


def run(seconds: float, tell: Callable[[str], None] = lambda _: None) -> Found:
    """Every crowd, each on a fresh server; if one blocks a server, the others are still tried."""
    found = Found(
        f"{', '.join(f'{count:,} {name}' for name, count in CROWDS.items())}, each for {seconds:g} s without nginx, "
        "a small call every 20 ms"
    )
    for name, clients in CROWDS.items():
        tell(f"{clients} {name}")
        try:
            with serving() as service:
                found.take(crowd(service, name, clients, seconds))
                found.require(not service.failures(), f"{name}: the log: {service.failures()[:1]}")
        except AssertionError as error:
            found.missed.append(f"{name}: {error}")
    return found
