"""Crowds of bad clients at a service without a proxy: what becomes of the others' small calls, and of the bad ones."""

from collections.abc import Callable

from tests.soak.attackers import Seen, crowds
from tests.soak.beside import alone, beside, counted, told_ends
from tests.soak.report import Found
from tests.soak.servers import Service, serving

CROWDS = {"refused": 400, "half-heads": 400, "slow-heads": 1_000, "slow-bodies": 1_000, "idle": 5_000}
"""{what they do (crowds.py): how many}."""

ENDS = {"refused": "400", "half-heads": "408", "slow-heads": "408", "slow-bodies": "408", "idle": "closed"}
"""How each connection has to end."""

MOST_P99 = 0.02
MOST_END_SECONDS = 15.0
MOST_IDLE_BYTES = 4096
"""Of the workers' memory, for each idle connection."""


def missed_by(seen: Seen, name: str) -> list[str]:
    """What of a crowd of this name did not end as it has to, whatever the time."""
    ends = seen[name]["ends"]
    others = {end: count for end, count in ends.items() if end != ENDS[name]}
    missed = [f"{name}: connections that ended otherwise than {ENDS[name]}: {others}"] if others else []
    return missed if ENDS[name] in ends else [*missed, f"{name}: no connection ended {ENDS[name]}"]


def crowd(service: Service, name: str, clients: int, seconds: float) -> Found:
    """One crowd on one server: small calls without it, then with it."""
    found = Found()
    control = alone(service, seconds / 3)
    one = beside(service, seconds, lambda: crowds(service.port, {name: clients}))
    seen = one.seen[name]
    found.missed += [f"{name}: {what}" for what in counted(one.times.wrong)] + missed_by(one.seen, name)
    found.require(seen["most"] == clients, f"{name}: at most {seen['most']} were connected at once")
    found.require(one.times.p99() <= MOST_P99, f"{name}: p99 is {1000 * one.times.p99():.0f} ms")
    slowest = seen["slowest"]
    found.require(slowest <= MOST_END_SECONDS, f"{name}: a connection was there for {slowest:.0f} s")
    found.figures = {
        f"small p50 / p99 / max, {name}": f"{one.times.told()}, without {control.told()}",
        f"lost, {name}": str(len(one.times.wrong)),
        f"ends, {name}": told_ends(seen["ends"]),
        f"longest, {name}": f"{slowest:.1f} s",
    }
    if name == "idle":
        each = one.grown / clients
        found.figures["memory of an idle connection"] = f"{each / 1024:.1f} KiB"
        found.require(each <= MOST_IDLE_BYTES, f"an idle connection takes {each / 1024:.1f} KiB")
    return found


def run(seconds: float, tell: Callable[[str], None] = lambda _: None) -> Found:
    """Every crowd, each on a fresh server; one that stands still does not keep the others from being tried."""
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
