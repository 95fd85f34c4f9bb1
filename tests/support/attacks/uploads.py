"""Neither slow uploads nor many small compressed or columnar bodies at once delay others."""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from threading import Barrier

import orjson
import pyarrow as pa

from service.wire.formats.codings import compress
from service.wire.media_types import JSON, PARQUET
from tests.properties.bodies import parquet_body
from tests.support.attacks.attackers import crowds
from tests.support.attacks.found import Found
from tests.support.attacks.small_calls import counted, ends_as_text
from tests.support.clients import LOST, Client
from tests.support.samples import Question, question, small
from tests.support.servers import Service, serving

UPLOADS = 6
BIG_ROWS = 100_000
EACH = 40
"""How many compressed and how many columnar bodies are sent at once."""

EVERY_SECONDS = 1.0
"""Seconds from one big answer to the next big request."""

ROUNDS = 5
MOST_SECONDS = 1.0
WAIT_SECONDS = 3.0
"""Seconds after which a server has begun to read all uploads."""


@dataclass
class Answered:
    """How long requests took, each sent once, and what was wrong with their answers."""

    seconds: list[float] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)

    def ask(self, port: int, asked: Question, **headers: str) -> None:
        """Send once, on a new connection."""
        began = time.monotonic()
        try:
            with Client(port) as client:
                answer = client.post(asked.body, **headers)
        except LOST as error:
            self.wrong.append(repr(error))
        else:
            if answer.status != 200 or answer.body != asked.answer:
                self.wrong.append(f"{answer.status} {answer.problem or 'a wrong answer'}")
        self.seconds.append(time.monotonic() - began)

    def as_text(self) -> str:
        ordered = [f"{1000 * value:.0f}" for value in (sorted(self.seconds)[len(self.seconds) // 2], max(self.seconds))]
        return f"{' / '.join(ordered)} ms ({len(self.seconds)})"


def big_ones(service: Service, times: int, every: float = EVERY_SECONDS) -> Answered:
    """Send a big request several times."""
    found, asked = Answered(), question(BIG_ROWS, "auc")
    for _ in range(times):
        found.ask(service.port, asked)
        time.sleep(every)
    return found


def during_uploads(service: Service, times: int) -> tuple[Answered, dict[str, int]]:
    """The same while others upload slowly; also return how the finished uploads ended."""
    question(BIG_ROWS, "auc")  # made beforehand
    with crowds(service.port, {"uploads": UPLOADS}) as seen:
        time.sleep(WAIT_SECONDS)
        found = big_ones(service, times)
    return found, seen["uploads"]["ends"]


def compact(service: Service, each: int = EACH) -> Answered:
    """Many small bodies at the same moment, half gzip, half Parquet."""
    found, begin = Answered(), Barrier(2 * each)
    asked = small()
    table = pa.table(orjson.loads(asked.body))
    ways = [
        (Question(compress("gzip", asked.body), asked.answer), {"Content_Type": JSON, "Content_Encoding": "gzip"}),
        (Question(parquet_body(table), asked.answer), {"Content_Type": PARQUET}),
    ]

    def one(number: int) -> None:
        body, headers = ways[number % 2]
        begin.wait()
        found.ask(service.port, body, **headers)

    with ThreadPoolExecutor(2 * each) as pool:
        list(pool.map(one, range(2 * each)))
    return found


def run(seconds: float, tell: Callable[[str], None] = lambda _: None) -> Found:
    """Big requests without slow uploads, then during them; then many compact bodies at once."""
    times = int(seconds)
    found = Found(
        f"{UPLOADS} uploads at 40 kB/s and {times} requests of {BIG_ROWS:,} rows; then "
        f"{ROUNDS} times {EACH} gzip and {EACH} Parquet bodies of 50 rows at once; each is sent once"
    )
    with serving() as service:
        control = big_ones(service, times // 2)
        tell("slow uploads")
        uploading, ends = during_uploads(service, times)
        burst = Answered()
        for number in range(ROUNDS):
            tell(f"compact bodies, {number + 1} of {ROUNDS}")
            one = compact(service)
            burst.seconds += one.seconds
            burst.wrong += one.wrong
        found.require(not service.failures(), f"the log: {service.failures()[:1]}")
    found.figures = {
        "big p50 / max, alone": control.as_text(),
        "during uploads": uploading.as_text(),
        "refused or lost during uploads": str(len(uploading.wrong)),
        "uploads that ended": ends_as_text(ends),
        "compact p50 / max": burst.as_text(),
        "compact refused or lost": str(len(burst.wrong)),
    }
    found.missed += [f"big: {what}" for what in counted(uploading.wrong)]
    found.missed += [f"compact: {what}" for what in counted(burst.wrong)]
    found.require(not ends.keys() - {"200"}, f"uploads ended {ends}")
    for name, one in (("big", uploading), ("compact", burst)):
        found.require(max(one.seconds) <= MOST_SECONDS, f"{name}: the slowest took {max(one.seconds):.2f} s")
    return found
