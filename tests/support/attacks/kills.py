"""Processes killed at random moments: what is lost, and that no answer is ever wrong."""

import os
import random
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

from tests.support import processes
from tests.support.attacks.attackers import at_once
from tests.support.attacks.found import Found
from tests.support.clients import LOST, Answer, Client
from tests.support.samples import Question, question, small
from tests.support.servers import Service, serving

BIG_CLIENTS = 4
SMALL_CLIENTS = 8
BIG_ROWS = 50_000
PAUSE = 0.005
BIG_SECONDS = 300
"""Long, because evaluators have a low priority on a busy machine, and this is not about deadlines."""
EVERY_SECONDS = 0.25
KILLED = ("was sent SIG",)
"""What gunicorn's master logs about a killed worker; all other errors in its log are failures."""


@dataclass
class Traffic:
    """What the clients got: `done` counts the requests of each, `lost` has the client's ports of broken connections."""

    done: list[int]
    unavailable: int = 0
    lost: list[int] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def all_went_on(self, seconds: float = 60) -> None:
        """Wait until every client has an answer to a request that it sent after this call."""
        before = list(self.done)
        processes.wait_until(
            lambda: all(now > then + 1 for now, then in zip(self.done, before, strict=True)), seconds, "all go on"
        )


def ask_until(over: threading.Event, port: int, asked: Question, traffic: Traffic, number: int) -> None:
    """One client, which retries once if a connection breaks or an evaluator died of its request."""
    with Client(port) as client:
        while not over.is_set():
            try:
                answer = _ask(client, asked, traffic)
                if answer is None or answer.problem == "helper_died":
                    answer = _ask(client, asked, traffic)
            except ConnectionRefusedError as error:
                answer = None
                with traffic.lock:
                    traffic.wrong.append(repr(error))
            with traffic.lock:
                traffic.done[number] += 1
                if answer is None:
                    traffic.wrong.append("lost twice")
                elif answer.status != 200:
                    traffic.wrong.append(f"{answer.status} {answer.problem}")
                elif answer.body != asked.answer:
                    traffic.wrong.append("a wrong answer")
            time.sleep(PAUSE)


def _ask(client: Client, asked: Question, traffic: Traffic) -> Answer | None:
    """Send once; None if the connection broke. Connects separately, to know the client's port."""
    if not client.own_port:
        client.wire.connect()
    own = client.own_port
    try:
        answer = client.post(asked.body)
    except LOST:
        with traffic.lock:
            traffic.lost.append(own)
        return None
    if answer.status == 503:
        with traffic.lock:
            traffic.unavailable += 1
    return answer


@contextmanager
def load(service: Service, big: int, little: int) -> Iterator[Traffic]:
    """Clients with big requests, and clients with small ones."""
    asked = [question(BIG_ROWS, "auc")] * big + [small()] * little
    traffic = Traffic([0] * len(asked))
    with at_once(len(asked), lambda over, number: ask_until(over, service.port, asked[number], traffic, number)):
        yield traffic


def kill_helpers(times: int, tell: Callable[[str], None] = lambda _: None) -> Found:
    """Kill evaluators while big requests are in progress."""
    found = Found()
    chance = random.Random(7)
    with serving(slots=BIG_CLIENTS, big_seconds=BIG_SECONDS) as service:
        workers = service.workers()
        with load(service, BIG_CLIENTS, 2) as traffic:
            killed = 0
            while killed < times:
                traffic.all_went_on()  # so that no request meets two of our kills
                time.sleep(chance.uniform(0, EVERY_SECONDS))
                with suppress(ProcessLookupError, IndexError):
                    os.kill(chance.choice(service.helpers()), signal.SIGKILL)
                    killed += 1
                tell(f"helper {killed} of {times} killed")
            traffic.all_went_on()
        deaths = service.metric('rocpr_helper_deaths_total{reason="died"}')
        found.require(service.workers() == workers, "a worker died")
        found.require(service.metric("rocpr_slots_in_use") == 0, "a slot is held by nobody")
        found.require(not service.failures(), f"the log: {service.failures()[:1]}")
    found.figures = {
        "helpers killed": f"{killed}, seen by the service {deaths:g}",
        "answers": f"{sum(traffic.done):,}",
        "503": str(traffic.unavailable),
        "connections lost": str(len(traffic.lost)),
        "lost after one retry, or wrong": str(len(traffic.wrong)),
    }
    found.missed = [*found.missed, *traffic.wrong]
    found.require(not traffic.lost, f"{len(traffic.lost)} connections broke")
    found.require(not traffic.unavailable, f"{traffic.unavailable} answers 503")
    found.require(deaths > 0, "the service noticed none of the deaths")
    return found


def kill_workers(times: int, tell: Callable[[str], None] = lambda _: None) -> Found:
    """Kill workers, and find out whose connections break."""
    found = Found()
    chance = random.Random(8)
    doomed: set[int] = set()
    followers: list[int] = []
    with serving(slots=BIG_CLIENTS, workers=2, big_seconds=BIG_SECONDS) as service:
        with load(service, 2, SMALL_CLIENTS) as traffic:
            for number in range(times):
                processes.wait_until(lambda: len(_loaded(service)) == 2, 60, "two workers with a helper each")
                traffic.all_went_on()
                time.sleep(chance.uniform(0, EVERY_SECONDS))
                worker = chance.choice(_loaded(service))
                os.kill(worker, signal.SIGSTOP)  # its accepted connections stay as they are while we look
                doomed |= processes.peer_ports(worker)
                followers += processes.tree(worker)[1:]
                os.kill(worker, signal.SIGKILL)
                processes.wait_until(lambda killed=worker: not processes.living([killed]), 60, "it is dead")
                tell(f"worker {number + 1} of {times} killed")
            traffic.all_went_on()
        try:
            processes.wait_until(lambda: not processes.living(followers), 60, "helpers of killed workers have ended")
        except AssertionError as error:
            found.missed.append(f"{error}: {processes.living(followers)}")
        found.require(service.metric("rocpr_slots_in_use") == 0, "a slot is held by nobody")
        found.require(not service.failures(KILLED), f"the log: {service.failures(KILLED)[:1]}")
    foreign = [port for port in traffic.lost if port not in doomed]
    found.figures = {
        "workers killed": str(times),
        "answers of clients": f"{sum(traffic.done):,}",
        "requests lost with their worker": str(len(traffic.lost)),
        "requests lost on another": str(len(foreign)),
        "lost after one retry, or wrong, of those": str(len(traffic.wrong)),
    }
    found.missed += traffic.wrong
    found.require(not foreign, f"{len(foreign)} connections broke that no killed worker had")
    return found


def _loaded(service: Service) -> list[int]:
    """The workers that have loaded the service: those with a forkserver."""
    return [pid for pid in service.workers() if any(map(processes.is_forkserver, processes.children(pid)))]
