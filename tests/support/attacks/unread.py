"""Clients that request long answers and read nothing: others are answered, and these connections are ended."""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from tests.support import processes
from tests.support.attacks.attackers import Seen, crowds
from tests.support.attacks.crowds import UNREAD_ROWS
from tests.support.attacks.found import Found
from tests.support.attacks.small_calls import counted, ends_as_text
from tests.support.attacks.uploads import Answered, big_ones
from tests.support.processes import MIB, watched
from tests.support.samples import question
from tests.support.servers import Service, serving

CLIENTS = 60
MOST_BIG_SECONDS = 1.0
MOST_ABORT_SECONDS = 40.0
MOST_GROWTH = 50 * MIB
PATIENCE_SECONDS = 120.0
BIG_EVERY = 0.5
READERS = 2


def read_all(service: Service, times: int) -> list[str]:
    """The control: clients that read the same answers; return what was wrong with them."""
    asked, found = question(UNREAD_ROWS), Answered()

    def one(_: int) -> None:
        found.ask(service.port, asked)

    with ThreadPoolExecutor(READERS) as pool:
        list(pool.map(one, range(times)))
    return found.wrong


def ports_of(service: Service) -> set[int]:
    """The other ends of the server's connections."""
    return {other for _, other in processes.connections(service.tree()) if other}


def still_there(service: Service, ports: set[int]) -> int:
    """How many connections to these ports the server has not ended."""
    return len(ports & ports_of(service))


def left_alone(service: Service, clients: int, seconds: float) -> tuple[Answered, float, Seen]:
    """Send others' big requests until the server has ended all the connections; return how long that took."""
    question(UNREAD_ROWS)
    others = Answered()
    with crowds(service.port, {"unread": clients}) as seen:
        began = time.monotonic()
        ports = ports_of(service)
        while still_there(service, ports) and time.monotonic() < began + seconds:
            one = big_ones(service, 1, BIG_EVERY)
            others.seconds += one.seconds
            others.wrong += one.wrong
        took = time.monotonic() - began
        left = still_there(service, ports)
    assert not left, f"{left} of {len(ports)} connections are there after {seconds:g} s"
    return others, took, seen


def run(tell: Callable[[str], None] = lambda _: None) -> Found:
    """Readers first, then those that do not read."""
    found = Found(
        f"{CLIENTS} clients that ask for {UNREAD_ROWS:,} rows and read nothing of the "
        f"{len(question(UNREAD_ROWS).answer) / 1e6:.1f} MB; meanwhile big requests of another, one after another"
    )
    with serving() as service:
        with watched(service.process.pid) as read:
            control = big_ones(service, 10, 0)
            found.missed += [f"readers: {what}" for what in counted(read_all(service, READERS * 4))]
        tell("nobody reads")
        with watched(service.process.pid) as unread:
            others, took, seen = left_alone(service, CLIENTS, PATIENCE_SECONDS)
        found.require(not service.failures(), f"the log: {service.failures()[:1]}")
    growth = unread.bytes - read.bytes
    found.figures = {
        "big p50 / max, alone": control.as_text(),
        "meanwhile": others.as_text(),
        "refused or lost": str(len(others.wrong)),
        "answers that were begun": ends_as_text(seen["unread"]["ends"]),
        "all ended after": f"{took:.0f} s",
        "memory with readers": f"{read.bytes / MIB:.0f} MiB",
        "more than that without": f"{growth / MIB:+.0f} MiB",
    }
    found.missed += [f"big: {what}" for what in counted(others.wrong)]
    found.require(seen["unread"]["ends"] == {"200": CLIENTS}, "not every client that does not read got an answer")
    found.require(max(others.seconds) <= MOST_BIG_SECONDS, f"a big request took {max(others.seconds):.2f} s")
    found.require(took <= MOST_ABORT_SECONDS, f"the last connection was ended after {took:.0f} s")
    found.require(growth <= MOST_GROWTH, f"the memory grew by {growth / MIB:.0f} MiB")
    return found
