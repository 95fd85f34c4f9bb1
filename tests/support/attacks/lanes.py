"""Small requests alongside big ones: how long they take with two lanes, with one, and alone."""

import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import dataclass, field

from tests.support.attacks.attackers import Seen, attack
from tests.support.attacks.found import Found
from tests.support.clients import LOST, Client
from tests.support.samples import small
from tests.support.servers import Service, serving

BIG_CLIENTS = 4
BIG_ROWS = 1_000_000
EVERY = 0.02
"""Seconds from one small request to the next."""
CONNECTIONS = 8
"""How many answers are awaited at once. Further requests that are due wait in the client, and their time runs."""
HEALTH_EVERY = 10
PATIENCE_SECONDS = 30.0
"""How long a client waits for an answer, and how late a request may be sent; later ones count as lost."""
MOST_SECONDS = 0.25
MOST_P99 = 0.05
MOST_OF_ONE_LANE = 0.1
ONE_LANE = {"big_body_bytes": 1 << 40, "small_seconds": 86_400}
"""Settings with which nothing sent here is big: every request is answered in the process that receives it."""


@dataclass
class Times:
    """How long each request took, in seconds, and what went wrong."""

    small: list[float] = field(default_factory=list)
    health: list[float] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)

    def p99(self) -> float:
        return sorted(self.small)[int(len(self.small) * 0.99)]

    def as_text(self) -> str:
        ms = [
            f"{1000 * value:.1f}" for value in (sorted(self.small)[len(self.small) // 2], self.p99(), max(self.small))
        ]
        return f"{' / '.join(ms)} ms ({len(self.small):,})"


def time_small(port: int, seconds: float) -> Times:
    """Send small requests, and now and then one for the health, over kept connections; each is due at a fixed time.

    Its time counts from when it was due, not from when a connection was free for it: a client that waits for each
    answer would send only one request while a server stands still. Lost requests have a time, too. If the server is
    down, this ends within the patience for two requests.
    """
    asked, found = small(), Times()
    due = iter(range(int(seconds / EVERY)))  # of all connections: each takes the next one
    start = time.monotonic()
    too_late = start + seconds + PATIENCE_SECONDS

    def one(_: int) -> None:
        with Client(port, timeout=PATIENCE_SECONDS) as client:
            for number in due:
                is_health = number % HEALTH_EVERY == 0
                name, times = ("health", found.health) if is_health else ("small", found.small)
                was_due = start + number * EVERY
                time.sleep(max(0.0, was_due - time.monotonic()))
                try:
                    if time.monotonic() > too_late:
                        raise TimeoutError("no connection was free")
                    answer = client.ask("GET", "/health/ready") if is_health else client.post(asked.body)
                except LOST as error:
                    found.wrong.append(f"{name}: {error!r}")
                else:
                    if answer.status != 200 or (not is_health and answer.body != asked.answer):
                        found.wrong.append(f"{name}: {answer.status}, or a wrong answer")
                times.append(time.monotonic() - was_due)

    with ThreadPoolExecutor(CONNECTIONS) as pool:
        list(pool.map(one, range(CONNECTIONS)))
    return found


def big_load(port: int, clients: int, rows: int, *include: str) -> AbstractContextManager[Seen]:
    """Keep big requests in progress; yields their counts, filled in at the end."""
    return attack("tests.support.attacks.big_clients", port, clients, rows, *include)


def run(seconds: float = 30, rows: int = BIG_ROWS) -> Found:
    """Measure all three in one run, in the same way."""
    found = Found(
        f"{BIG_CLIENTS} clients that always want {rows:,} rows of JSON answered, all outputs, and a small request "
        f"every {1000 * EVERY:g} ms, for {seconds:g} s on each server"
    )
    with serving() as service:
        alone = time_small(service.port, seconds / 3)
        found.missed += alone.wrong
        two, big = _beside_big(service, seconds, rows, found, "two lanes")
    with serving(**ONE_LANE) as service:
        one, big_in_one = _beside_big(service, seconds, rows, found, "one lane")
    found.figures = {
        "small p50 / p99 / max, alone": alone.as_text(),
        "during big ones": two.as_text(),
        "with one lane": one.as_text(),
        "p99 of one lane's": f"{two.p99() / one.p99():.3f}",
        "health at most": f"{1000 * max(two.health):.0f} ms",
        "big answered": f"{big['200']}, asked to retry (503) {big.get('503', 0)}",
        "big with one lane": f"{big_in_one['200']}",
    }
    found.require(two.p99() <= MOST_OF_ONE_LANE * one.p99(), f"p99 is {two.p99() / one.p99():.2f} of one lane's")
    found.require(two.p99() <= MOST_P99, f"p99 is {1000 * two.p99():.0f} ms")
    found.require(max(two.small) <= MOST_SECONDS, f"the slowest took {1000 * max(two.small):.0f} ms")
    return found


def _beside_big(service: Service, seconds: float, rows: int, found: Found, name: str) -> tuple[Times, dict[str, int]]:
    """Time small requests alongside big ones; any other outcome than an answer is a miss."""
    with big_load(service.port, BIG_CLIENTS, rows) as big:
        times = time_small(service.port, seconds)
    found.missed += [f"{name}: {wrong}" for wrong in times.wrong]
    unwanted = {what: count for what, count in big.items() if what not in {"200", "503"}}
    found.require(not unwanted, f"{name}: big {unwanted}")
    found.require(big.setdefault("200", 0) > 0, f"{name}: no big request was answered")
    found.require(not service.failures(), f"{name}: the log: {service.failures()[:1]}")
    return times, big
