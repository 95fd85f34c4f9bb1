"""One key with a lot of long work at once, another with one request at a time: what the second one still gets."""

import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from service.web.access.keys import new_key
from tests.support.attacks.attackers import Seen, askers
from tests.support.attacks.found import Found
from tests.support.attacks.small_calls import counted, ends_as_text
from tests.support.clients import LOST, Client
from tests.support.samples import Question, question, small
from tests.support.servers import Service, serving

THREADS = 40
SETTINGS = {"slots": 2, "key_concurrency": 64}
BIG_ROWS = 20_000
LEAST_SHARE = 0.25
PAUSE = 0.1
"""After a refusal."""


@dataclass
class Rate:
    """What a key with one request at a time got."""

    seconds: float
    times: list[float] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)

    @property
    def rate(self) -> float:
        return len(self.times) / self.seconds

    def as_text(self) -> str:
        slowest = f", slowest {max(self.times):.2f} s" if self.times else ""
        return f"{self.rate:.1f}/s{slowest}, {len(self.wrong)} refused or lost"


@contextmanager
def two_keys(**settings: object) -> Iterator[tuple[Service, str, str]]:
    """A server with two keys."""
    greedy, greedy_line = new_key("greedy")
    modest, modest_line = new_key("modest")
    with tempfile.TemporaryDirectory(prefix="rocpr-soak-") as directory:
        file = Path(directory) / "keys"
        file.write_text(f"{greedy_line}\n{modest_line}\n")
        with serving(**{"api_keys_file": file} | SETTINGS | settings) as service:
            yield service, greedy, modest


def one_at_a_time(port: int, key: str, asked: Question, seconds: float) -> Rate:
    """Send one request after another for this many seconds."""
    found = Rate(seconds)
    end = time.monotonic() + seconds
    with Client(port) as client:
        while (began := time.monotonic()) < end:
            try:
                answer = client.post(asked.body, Authorization=f"Bearer {key}")
            except LOST as error:
                found.wrong.append(repr(error))
                continue
            if answer.status == 200 and answer.body == asked.answer:
                found.times.append(time.monotonic() - began)
            else:
                found.wrong.append(f"{answer.status} {answer.problem or 'a wrong answer'}")
                time.sleep(PAUSE)
    return found


def while_greedy(service: Service, greedy: str, ask: Callable[[], list[Rate]]) -> tuple[list[Rate], Seen]:
    """What a key gets while the greedy one keeps requesting gates."""
    with askers(service.port, "gates", THREADS, greedy) as seen:
        rates = ask()
    return rates, seen


def run(seconds: float, tell: Callable[[str], None] = lambda _: None) -> Found:
    """The other key alone, then while the greedy one is busy: big requests, then small ones."""
    found = Found(
        f"{THREADS} clients of one key that all want a gate of 100 bootstrapped rules, and one client of another with "
        f"one request at a time, of {BIG_ROWS:,} rows and of 50, for {seconds:g} s each"
    )
    questions = {f"{BIG_ROWS:,} rows": question(BIG_ROWS, "auc"), "50 rows": small()}
    with two_keys() as (service, greedy, modest):
        control = [one_at_a_time(service.port, modest, asked, seconds / 3) for asked in questions.values()]
        tell("gates")
        contended, seen = while_greedy(
            service,
            greedy,
            lambda: [one_at_a_time(service.port, modest, asked, seconds) for asked in questions.values()],
        )
        found.require(not service.failures(), f"the log: {service.failures()[:1]}")
    for name, without, with_gates in zip(questions, control, contended, strict=True):
        share = with_gates.rate / without.rate
        found.figures[f"{name} alone"] = without.as_text()
        found.figures[f"{name} during gates"] = f"{with_gates.as_text()}, {share:.2f} of alone"
        found.missed += [f"{name}: {what}" for what in counted(without.wrong + with_gates.wrong)]
        found.require(share >= LEAST_SHARE, f"{name}: {share:.2f} of the rate without gates")
    found.figures["gates"] = ends_as_text(seen["ends"])
    return found
