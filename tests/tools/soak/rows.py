"""The rows of the report, in the order in which they run, each at its full size."""

from collections.abc import Callable

from tests.support.attacks import (
    bad_clients,
    canary,
    cuts,
    key_fairness,
    kills,
    lanes,
    malformed,
    memory,
    restarts,
    stops,
    unread,
    uploads,
)
from tests.support.attacks.found import Found
from tests.support.attacks.requests_made_up import RAW_LIMIT, send_cases, send_raw
from tests.support.servers import serving
from tests.tools.soak import against_old, costly_clients, shortage, slow, steady
from tests.tools.soak.progress import tell
from tests.tools.soak.report import Row

CASES = 10_000
MALFORMED = 20_000
PLACES = 1_000
BODIES = 24
RESTARTS = KILLS = 100
KILLS_OF_ANYTHING = 30
SECONDS = 30.0
PROXY_SECONDS = 12.0
"""nginx itself waits for slow clients, so the service never meets them."""


def _requests(_: float) -> Found:
    found = Found(
        f"{CASES:,} cases from openapi.yaml, {MALFORMED:,} broken bodies, all on kept connections, and raw sockets"
    )
    with serving(slots=4) as service:
        found.take(send_cases(service, CASES, tell))
        found.take(malformed.send_all(service, 0, MALFORMED, tell))
    with serving(max_body_bytes=RAW_LIMIT) as service:
        found.take(send_raw(service, RAW_LIMIT))
    return found


def _cuts(_: float) -> Found:
    return cuts.run(PLACES)


def _crowds(_: float) -> Found:
    return bad_clients.run(SECONDS, tell)


def _uploads(_: float) -> Found:
    return uploads.run(SECONDS, tell)


def _costly(_: float) -> Found:
    return costly_clients.run(SECONDS, tell)


def _keys(_: float) -> Found:
    return key_fairness.run(SECONDS, tell)


def _unread(_: float) -> Found:
    return unread.run(tell)


def _slow(_: float) -> Found:
    return slow.run(PROXY_SECONDS, tell)


def _lanes(_: float) -> Found:
    return lanes.run(SECONDS)


def _in_flight(_: float) -> Found:
    return against_old.in_flight(2 * SECONDS, tell)


def _rates(_: float) -> Found:
    return against_old.rates(SECONDS, tell)


def _memory(_: float) -> Found:
    found = Found(f"{BODIES} x 50 MB of JSON, all outputs, and every bomb, each on a fresh server")
    with serving() as service:
        found.take(memory.large_bodies(service, BODIES))
    with serving() as service:
        found.take(memory.bombs_in_time(service, tell))
    return found


def _restarts(_: float) -> Found:
    return restarts.roll(RESTARTS, tell)


def _stops(_: float) -> Found:
    return stops.run(KILLS_OF_ANYTHING, tell)


def _shortage(_: float) -> Found:
    return shortage.run(tell)


def _kills(_: float) -> Found:
    found = Found(f"{KILLS} helpers under big requests, then {KILLS} workers under big and small ones")
    found.take(kills.kill_helpers(KILLS, tell))
    found.take(kills.kill_workers(KILLS, tell))
    return found


def _canary(_: float) -> Found:
    return canary.run()


def _steady(minutes: float) -> Found:
    return steady.run(minutes, tell)


def _row(name: str, test: str, reach: str, run: Callable[[float], Found]) -> Row:
    return Row(name, test, reach, run)


ROWS = (
    _row(
        "requests",
        "made-up, malformed and raw requests",
        "no 5xx but deliberate 503, no dead process, all problems",
        _requests,
    ),
    _row("cuts", "bodies cut short", "never a 200", _cuts),
    _row(
        "crowds",
        "refused, half, slow and idle clients in crowds",
        "others: 0 lost, p99 <= 20 ms; half and slow ones 408 within 15 s; <= 4 KiB an idle connection",
        _crowds,
    ),
    _row(
        "uploads", "slow uploads, and 80 compact bodies at once", "all answered at the first try within 1 s", _uploads
    ),
    _row("costly", "costly requests that are small", "others: 0 lost, p99 <= 60 ms", _costly),
    _row("keys", "one key with 40 gates at once", "another key: a quarter of its rate, 0 refused", _keys),
    _row(
        "unread",
        "60 clients that read nothing",
        "others' big requests <= 1 s, all 60 ended within 40 s, memory <= +50 MiB",
        _unread,
    ),
    _row("slow", "1,000 slow clients, through nginx", "every call within 250 ms", _slow),
    _row(
        "lanes",
        "four 1e6-row bodies always in flight",
        "small p99 <= 1/10 of one lane's and <= 50 ms, max <= 250 ms",
        _lanes,
    ),
    _row(
        "in-flight",
        "four 1e6-row bodies in flight, old server and new in turns",
        "small p99 <= 30 ms, max <= 100 ms, as many big answered as by the old server",
        _in_flight,
    ),
    _row(
        "rates",
        "16 kept connections, old server and new in turns",
        "1.3 times the requests a second, half the p99",
        _rates,
    ),
    _row(
        "memory",
        "large bodies at once, and bombs",
        "memory <= 1 GiB, < 400 MiB after 10 s, all answered; a bomb <= 0.5 s",
        _memory,
    ),
    _row("restarts", "rolling restarts", "nothing lost, refused or truncated", _restarts),
    _row(
        "stops",
        "reloads, stuck and killed processes, half-sent bodies",
        "0 lost of 10,000; a stuck worker replaced within its timeout + 2 s; stopped within 16 s",
        _stops,
    ),
    _row(
        "shortage",
        "no memory, disk or descriptors left",
        "small calls are answered, and all else is afterwards",
        _shortage,
    ),
    _row("kills", "killed helpers and workers", "nothing lost; only what the worker had, none with a retry", _kills),
    _row("canary", "a secret in every string", "in no log, answer as markup, connection or file", _canary),
    _row("steady", "soak", "memory slope <= 10 MiB, descriptors constant", _steady),
)
