"""The rows of the report, in the order in which they run, each at its full size."""

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


def _memory(_: float) -> Found:
    found = Found(f"{BODIES} x 50 MB of JSON, all outputs, and every bomb, each on a fresh server")
    with serving() as service:
        found.take(memory.large_bodies(service, BODIES))
    with serving() as service:
        found.take(memory.bombs_in_time(service, tell))
    return found


def _kills(_: float) -> Found:
    found = Found(f"{KILLS} helpers under big requests, then {KILLS} workers under big and small ones")
    found.take(kills.kill_helpers(KILLS, tell))
    found.take(kills.kill_workers(KILLS, tell))
    return found


ROWS = (
    Row(
        "requests",
        "made-up, malformed and raw requests",
        "no 5xx but deliberate 503, no dead process, all problems",
        _requests,
    ),
    Row("cuts", "bodies cut short", "never a 200", lambda _: cuts.run(PLACES)),
    Row(
        "crowds",
        "refused, half, slow and idle clients in crowds",
        "others: 0 lost, p99 <= 20 ms; half and slow ones 408 within 15 s; <= 4 KiB an idle connection",
        lambda _: bad_clients.run(SECONDS, tell),
    ),
    Row(
        "uploads",
        "slow uploads, and 80 compact bodies at once",
        "all answered at the first try within 1 s",
        lambda _: uploads.run(SECONDS, tell),
    ),
    Row(
        "costly",
        "costly requests that are small",
        "others: 0 lost, p99 <= 60 ms",
        lambda _: costly_clients.run(SECONDS, tell),
    ),
    Row(
        "keys",
        "one key with 40 gates at once",
        "another key: a quarter of its rate, 0 refused",
        lambda _: key_fairness.run(SECONDS, tell),
    ),
    Row(
        "unread",
        "60 clients that read nothing",
        "others' big requests <= 1 s, all 60 ended within 40 s, memory <= +50 MiB",
        lambda _: unread.run(tell),
    ),
    Row(
        "slow", "1,000 slow clients, through nginx", "every call within 250 ms", lambda _: slow.run(PROXY_SECONDS, tell)
    ),
    Row(
        "lanes",
        "four 1e6-row bodies always in flight",
        "small p99 <= 1/10 of one lane's and <= 50 ms, max <= 250 ms",
        lambda _: lanes.run(SECONDS),
    ),
    Row(
        "in-flight",
        "four 1e6-row bodies in flight, old server and new in turns",
        "small p99 <= 30 ms, max <= 100 ms, as many big answered as by the old server",
        lambda _: against_old.in_flight(2 * SECONDS, tell),
    ),
    Row(
        "rates",
        "16 kept connections, old server and new in turns",
        "1.3 times the requests a second, half the p99",
        lambda _: against_old.rates(SECONDS, tell),
    ),
    Row(
        "memory",
        "large bodies at once, and bombs",
        "memory <= 1 GiB, < 400 MiB after 10 s, all answered; a bomb <= 0.5 s",
        _memory,
    ),
    Row("restarts", "rolling restarts", "nothing lost, refused or truncated", lambda _: restarts.roll(RESTARTS, tell)),
    Row(
        "stops",
        "reloads, stuck and killed processes, half-sent bodies",
        "0 lost of 10,000; a stuck worker replaced within its timeout + 2 s; stopped within 16 s",
        lambda _: stops.run(KILLS_OF_ANYTHING, tell),
    ),
    Row(
        "shortage",
        "no memory, disk or descriptors left",
        "small calls are answered, and all else is afterwards",
        lambda _: shortage.run(tell),
    ),
    Row("kills", "killed helpers and workers", "nothing lost; only what the worker had, none with a retry", _kills),
    Row(
        "canary", "a secret in every string", "in no log, answer as markup, connection or file", lambda _: canary.run()
    ),
    Row("steady", "soak", "memory slope <= 10 MiB, descriptors constant", lambda minutes: steady.run(minutes, tell)),
)
