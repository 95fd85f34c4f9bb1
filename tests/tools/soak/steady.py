"""Mixed load for a long time: neither the memory of the server's processes nor the number of their descriptors grows.

Load and rest take turns, and memory is measured at rest, because under load it depends on the size of the requests.
Pages of files, which belong to libraries, do not count for the slope: the server's share of them depends on who else
uses them, and the system reclaims them when it needs them.
"""

import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from tests.properties.right_bodies import Body, right_bodies
from tests.support import processes
from tests.support.attacks.found import Found
from tests.support.attacks.malformed import case
from tests.support.clients import LOST, Client, wrong_with
from tests.support.processes import MIB
from tests.support.samples import Question, question, small
from tests.support.servers import Service, serving

LOAD_SECONDS = 20.0
WARM_UP = 0.25
"""The share of the rounds that does not count."""

MOST_GROWTH = 10 * MIB
LEAST_ROUNDS = 8
CLIENTS = 6
PAUSE = 0.2
"""How long a client waits that was asked to retry; less than Retry-After, for more load."""

IDLE_SECONDS = 15.0
"""Longer than idle connections and idle evaluators are kept."""


def load(service: Service, seconds: float, turn: int, right: list[Body]) -> tuple[Counter[str], list[str]]:
    """Small, big, huge and invalid requests from several clients."""
    end = time.monotonic() + seconds
    asked: list[Question] = [small(), question(20_000), question(300_000, "auc")]
    counts, wrong, lock = Counter[str](), list[str](), threading.Lock()

    def one(number: int) -> None:
        index = turn * 1_000_000 + number * 100_000
        with Client(service.port) as client:
            while time.monotonic() < end:
                index += 1
                try:
                    if number < len(asked):
                        answer = client.post(asked[number].body)
                        why = "" if answer.body == asked[number].answer else wrong_with(answer) or "a wrong answer"
                        why = "" if answer.status == 503 and not wrong_with(answer) else why
                    else:
                        target, body, headers = case(index, right)
                        answer = client.ask("POST", target, body, **headers)
                        why = wrong_with(answer)
                    if answer.status == 503:
                        time.sleep(PAUSE)
                except LOST as error:
                    why = f"lost: {error!r}"
                    status = "lost"
                else:
                    status = str(answer.status)
                with lock:
                    counts[status] += 1
                    wrong.extend([why] if why else [])

    with ThreadPoolExecutor(CLIENTS) as pool:
        list(pool.map(one, range(CLIENTS)))
    return counts, wrong


def rest(service: Service) -> tuple[int, int, Counter[str]]:
    """Wait until connections and idle evaluators are gone; (memory, memory without files, descriptors by kind)."""
    ports = {service.port}

    def quiet() -> bool:
        return not any(own in ports and other for own, other in processes.connections(service.workers()))

    processes.wait_until(quiet, IDLE_SECONDS, "the server has closed what the clients closed")
    processes.wait_until(lambda: not service.helpers(), IDLE_SECONDS, "the server has ended its idle helpers")
    pids = service.tree()
    opened = Counter[str]()
    for name, times in processes.descriptors(pids).items():
        opened[name.partition(":")[0]] += times  # pipes and sockets have numbers
    return processes.pss(pids), processes.pss(pids, processes.WITHOUT_FILES), opened


def slope(values: list[int]) -> float:
    """The rise of a line fitted through the values, from the first to the last."""
    return float(np.polyfit(np.linspace(0, 1, len(values)), np.array(values, float), 1)[0])


def run(minutes: float, tell: Callable[[str], None] = lambda _: None) -> Found:
    found = Found(f"{minutes:g} minutes of small, big, huge and wrong requests from {CLIENTS} clients")
    memory: list[int] = []
    without_files: list[int] = []
    descriptors: list[Counter[str]] = []
    counts = Counter[str]()
    right = list(right_bodies())
    with serving() as service:
        workers = service.workers()
        end = time.monotonic() + minutes * 60
        while time.monotonic() < end or len(memory) < LEAST_ROUNDS:
            came, wrong = load(service, min(LOAD_SECONDS, minutes * 60 / LEAST_ROUNDS), len(memory), right)
            counts += came
            found.missed += wrong
            used, own, opened = rest(service)
            memory.append(used)
            without_files.append(own)
            descriptors.append(opened)
            told = f"round {len(memory)}: {used / MIB:.0f} MiB, {own / MIB:.1f} without files"
            tell(f"{told}, {opened.total()} descriptors, {dict(counts)}")
        found.require(service.workers() == workers, "a worker died")
        found.require(not service.failures(), f"the log: {service.failures()[:1]}")
    warm = int(len(memory) * WARM_UP)
    growth = slope(without_files[warm:])
    found.figures = {
        "requests": f"{counts.total():,}",
        **{f"of them {status}": f"{times:,}" for status, times in sorted(counts.items())},
        "memory at rest, after the first quarter": f"{memory[warm] / MIB:.0f} to {memory[-1] / MIB:.0f} MiB",
        "without files": f"{without_files[warm] / MIB:.0f} to {without_files[-1] / MIB:.0f} MiB",
        "slope of that over the run": f"{growth / MIB:+.1f} MiB",
        "descriptors": f"{descriptors[warm].total()} to {descriptors[-1].total()}",
    }
    found.require(growth <= MOST_GROWTH, f"the memory rises by {growth / MIB:.1f} MiB")
    more = descriptors[-1] - descriptors[warm]
    found.require(not more, f"descriptors that were not there: {dict(more)}")
    return found
