"""Many large bodies at once, and every bomb: the memory of all the server's processes, and that all are answered."""

import hashlib
import json
import re
import threading
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from http.client import HTTPResponse
from statistics import median

import orjson

from tests.support.asking import ask
from tests.support.attacks.bombs import Bomb, bombs, large_sample
from tests.support.attacks.found import Found
from tests.support.clients import LOST, Client, wrong_with
from tests.support.processes import MIB, wait_until, watched
from tests.support.samples import question
from tests.support.servers import Service

MOST = 1024 * MIB
REST = 400 * MIB
REST_SECONDS = 10.0
BOMB_SECONDS = 0.5
SIZE = 50_000_000
PATIENCE_SECONDS = 900
PIECE = 1 << 20
REFUSED = frozenset({400, 413, 415, 422})
AREAS = re.compile(rb'"auc":(\{[^}]*\})')
HEADERS = {"Content-Type": "application/json"}


@dataclass
class Burst:
    """The outcome of many large bodies at once."""

    digests: set[str] = field(default_factory=set)
    areas: list[dict[str, float]] = field(default_factory=list)
    refusals: int = 0
    wrong: list[str] = field(default_factory=list)


def burst(service: Service, clients: int, body: bytes) -> Burst:
    """Send the same body from this many clients at once; each retries if asked to."""
    found, lock, begin = Burst(), threading.Lock(), threading.Barrier(clients)
    end = time.monotonic() + PATIENCE_SECONDS

    def one(_: int) -> None:
        begin.wait()
        try:
            refusals, why, digest, areas = _patiently(service.port, body, end)
        except LOST as error:
            refusals, why, digest, areas = 0, f"no answer: {error!r}", "", {}
        with lock:
            found.refusals += refusals
            if why:
                found.wrong.append(why)
            else:
                found.digests.add(digest)
                found.areas.append(areas)

    with ThreadPoolExecutor(clients) as pool:
        list(pool.map(one, range(clients)))
    return found


def _patiently(port: int, body: bytes, end: float) -> tuple[int, str, str, dict[str, float]]:
    """Send until there is room, and read the answer without keeping it: (refusals, what is wrong, digest, areas)."""
    refusals = 0
    while True:
        with Client(port) as client:
            answer = client.begin("POST", "/v1/curves", body, HEADERS)
            if answer.status == 200:
                return refusals, *_read(answer, int(answer.headers["Content-Length"]))
            problem = client.finish(answer)
        why = wrong_with(problem)
        if problem.status != 503 or why or time.monotonic() > end:
            return refusals, why or f"{problem.status} {problem.problem}", "", {}
        refusals += 1
        time.sleep(float(problem.headers["retry-after"]))


def _read(answer: HTTPResponse, length: int) -> tuple[str, str, dict[str, float]]:
    digest, start, memory, read = hashlib.sha256(), b"", bytearray(PIECE), 0
    while count := answer.readinto(memory):
        start = start or bytes(memory[:1000])
        digest.update(memoryview(memory)[:count])
        read += count
    areas = AREAS.search(start)
    if read != length or areas is None:
        return f"{read:,} of {length:,} bytes, areas: {areas is not None}", "", {}
    return "", digest.hexdigest(), json.loads(areas[1])


def large_bodies(service: Service, clients: int, size: int = SIZE, rest_seconds: float = REST_SECONDS) -> Found:
    """A burst: all are answered, correctly, within the memory limit."""
    found = Found()
    body = large_sample(size)
    right = _right_areas(body)
    before = service.pss()
    start = time.monotonic()
    with watched(service.process.pid) as peak:
        came = burst(service, clients, body)
    seconds = time.monotonic() - start
    found.missed += came.wrong
    found.require(len(came.areas) == clients, f"{len(came.areas)} of {clients} were answered")
    found.require(len(came.digests) == 1, f"{len(came.digests)} different answers to one question")
    found.require(all(areas == right for areas in came.areas), f"wrong areas: {came.areas[:1]}")
    found.require(peak.bytes <= MOST, f"{peak.bytes // MIB} MiB with {clients} bodies")
    found.figures = {
        "memory before": f"{before // MIB} MiB",
        f"at most with {clients}": f"{peak.bytes // MIB} MiB",
        "all answered in": f"{seconds:.0f} s",
        "asked to retry (503)": f"{came.refusals} times",
    }
    found.take(rest(service, f"after {clients} bodies", rest_seconds))
    return found


def _right_areas(body: bytes) -> dict[str, float]:
    document = orjson.loads(body) | {"include": ["auc"]}
    areas: dict[str, float] = orjson.loads(ask("curves", orjson.dumps(document)).body)["auc"]
    return areas


def rest(service: Service, when: str, seconds: float = REST_SECONDS) -> Found:
    """Wait until the memory is given back."""
    found = Found()
    start = time.monotonic()
    try:
        wait_until(lambda: service.pss() <= REST, seconds, f"memory below {REST // MIB} MiB")
        found.figures = {f"below {REST // MIB} MiB {when} in": f"{time.monotonic() - start:.1f} s"}
    except AssertionError:
        found.missed.append(f"{service.pss() // MIB} MiB {seconds:g} s after the last answer")
    found.figures[f"at rest {when}"] = f"{service.pss() // MIB} MiB"
    return found


def bombs_in_time(service: Service, tell: Callable[[str], None]) -> Found:
    """Send every bomb a few times; the control is a valid body of 50,000 rows before and after."""
    before = _control(service)
    found, seconds = refuse_bombs(service, bombs(), tell, times=3)
    after = _control(service)
    found.figures["control, 50,000 rows, before and after"] = f"{before * 1000:.0f} and {after * 1000:.0f} ms"
    for name, each in seconds.items():
        found.figures[name] = f"{each * 1000:.0f} ms"
        found.require(each <= BOMB_SECONDS, f"{name}: refused after {each:.2f} s")
    found.take(rest(service, "after bombs"))
    return found


def _control(service: Service) -> float:
    asked = question(50_000, "auc")
    times = []
    for _ in range(5):
        with Client(service.port) as client:
            start = time.perf_counter()
            client.post(asked.body)
            times.append(time.perf_counter() - start)
    return median(times)


def refuse_bombs(
    service: Service, bombs: Iterable[Bomb], tell: Callable[[str], None] = lambda _: None, times: int = 1
) -> tuple[Found, dict[str, float]]:
    """Send every bomb alone: the findings, and the median time of each in seconds."""
    found = Found()
    took: dict[str, float] = {}
    workers = service.workers()
    with watched(service.process.pid) as peak:
        for bomb in bombs:
            tell(f"bomb: {bomb.name}, {len(bomb.body):,} bytes")
            took[bomb.name] = median(_refused(service, bomb, found) for _ in range(times))
    found.figures = {"at most with bombs": f"{peak.bytes // MIB} MiB"}
    found.require(peak.bytes <= MOST, f"{peak.bytes // MIB} MiB with bombs")
    found.require(service.workers() == workers, "a worker died")
    died = service.metric('rocpr_helper_deaths_total{reason="died"}')
    found.require(died == 0, f"{died:g} helpers died")
    return found, took


def _refused(service: Service, bomb: Bomb, found: Found) -> float:
    with Client(service.port) as client:
        start = time.perf_counter()
        answer = client.ask("POST", bomb.target, bomb.body, **bomb.headers)
        seconds = time.perf_counter() - start
    if why := wrong_with(answer):
        found.missed.append(f"{bomb.name}: {why}")
    elif answer.status not in REFUSED:
        found.missed.append(f"{bomb.name}: {answer.status}")
    return seconds
