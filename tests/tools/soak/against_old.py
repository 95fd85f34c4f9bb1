"""The server and an older one, in turns on one machine: requests a second, and big ones always in flight.

Each round has both, so that disturbances of the machine affect both alike.
"""

import time
from collections.abc import Callable
from statistics import median

from tests.support.attacks.attackers import Seen, askers
from tests.support.attacks.found import Found
from tests.support.attacks.lanes import BIG_CLIENTS, BIG_ROWS, Times, big_load, time_small
from tests.support.attacks.small_calls import counted, ends_as_text
from tests.support.servers import Service
from tests.tools.soak.old_server import NoOldServer, both, in_turns

CONNECTIONS = 16
ROUNDS = 6
LEAST_RATE = 1.3
MOST_P99 = 0.5
"""The new server's figure as a share of the old one's."""

FLIGHT_ROUNDS = 3
MOST_SMALL_P99, MOST_SMALL = 0.03, 0.1
AS_MANY = 0.95
"""Two measurements of the same rate differ by less than this share."""


def _asked(service: Service, name: str, seconds: float) -> Seen:
    with askers(service.port, name, CONNECTIONS, niceness=0) as seen:
        time.sleep(seconds)
    return seen


def rates(seconds: float, tell: Callable[[str], None] = lambda _: None) -> Found:
    """Requests a second, and how long each takes, over kept connections."""
    found = Found(
        f"{CONNECTIONS} kept connections that repeat their call immediately, 50 rows with all outputs, then 1,000 rows "
        f"with areas; old and new server in turns, {ROUNDS} times {seconds / ROUNDS:g} s each"
    )
    try:
        with both(log_level="warning") as servers:
            for name in ("50-rows", "1000-rows"):
                got: dict[str, list[Seen]] = {which: [] for which in servers}
                for number in range(ROUNDS):
                    tell(f"{name}, {number + 1} of {ROUNDS}")
                    for which, service in in_turns(number, servers):
                        got[which].append(_asked(service, name, seconds / ROUNDS))
                _compare(found, name, got)
            for which, service in servers.items():
                found.require(not service.failures(), f"{which}: the log: {service.failures()[:1]}")
    except NoOldServer as error:
        return Found(left_out=str(error))
    return found


def _compare(found: Found, name: str, got: dict[str, list[Seen]]) -> None:
    pairs = list(zip(got["new"], got["old"], strict=True))
    rate = median(new["rate"] / old["rate"] for new, old in pairs)
    p99 = median(new["p99"] / old["p99"] for new, old in pairs)
    for which, rounds in got.items():
        per_second, worst = (median(one[key] for one in rounds) for key in ("rate", "p99"))
        found.figures[f"{name}, {which}"] = f"{per_second:,.0f}/s, p99 {1000 * worst:.0f} ms"
    found.figures[f"{name}, new of old"] = f"{rate:.2f} the rate, {p99:.2f} the p99"
    wrong = [str(one["ends"]) for one in got["new"] if one["ends"].keys() != {"200"}]
    found.missed += [f"{name}: {what}" for what in counted(wrong)]
    found.require(rate >= LEAST_RATE, f"{name}: {rate:.2f} times the requests a second of the old server")
    found.require(p99 <= MOST_P99, f"{name}: {p99:.2f} of the old server's p99")


def in_flight(seconds: float, tell: Callable[[str], None] = lambda _: None, rows: int = BIG_ROWS) -> Found:
    """Big bodies always in flight: the times of small calls, and how many big ones are answered."""
    found = Found(
        f"{BIG_CLIENTS} clients that always want {rows:,} rows of JSON answered, and a small call every 20 ms; "
        f"old and new server in turns, {FLIGHT_ROUNDS} times {seconds / FLIGHT_ROUNDS:g} s each"
    )
    times = {"old": Times(), "new": Times()}
    big: dict[str, dict[str, int]] = {"old": {}, "new": {}}
    try:
        with both() as servers:
            for number in range(FLIGHT_ROUNDS):
                for which, service in in_turns(number, servers):
                    tell(f"{which}, {number + 1} of {FLIGHT_ROUNDS}")
                    with big_load(service.port, BIG_CLIENTS, rows) as counts:
                        one = time_small(service.port, seconds / FLIGHT_ROUNDS)
                    times[which].small += one.small
                    times[which].wrong += one.wrong
                    for what, count in counts.items():
                        big[which][what] = big[which].get(what, 0) + count
            found.require(not servers["new"].failures(), f"the log: {servers['new'].failures()[:1]}")
    except NoOldServer as error:
        return Found(left_out=str(error))
    for which, one in times.items():
        found.figures[f"small p50 / p99 / max, {which}"] = one.as_text()
        found.figures[f"big, {which}"] = ends_as_text(big[which])
    new, old = (big[which].get("200", 0) for which in ("new", "old"))
    found.missed += counted(times["new"].wrong)
    found.require(not big["new"].keys() - {"200", "503"}, f"big requests ended {big['new']}")
    found.require(new >= AS_MANY * old, f"{new} big requests were answered, by the old server {old}")
    found.require(times["new"].p99() <= MOST_SMALL_P99, f"p99 is {1000 * times['new'].p99():.0f} ms")
    slowest = max(times["new"].small)
    found.require(slowest <= MOST_SMALL, f"the slowest took {1000 * slowest:.0f} ms")
    return found
