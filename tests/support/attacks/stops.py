"""Reloaded, stopped, stuck and killed servers: what is lost, and how long it takes."""

import os
import random
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from tests.support import processes
from tests.support.attacks.attackers import at_once, crowds
from tests.support.attacks.found import Found
from tests.support.attacks.kills import KILLED, SMALL_CLIENTS, load
from tests.support.attacks.restarts import CLIENTS, Traffic, ask_until
from tests.support.attacks.small_calls import counted, ends_as_text
from tests.support.clients import LOST, Client
from tests.support.samples import question, small
from tests.support.servers import STOP_SECONDS, Service, serving

HANGUPS = 16
HANGUP_PAUSE = 4.0
"""Seconds from the replacement of all workers to the next SIGHUP."""

LEAST_ANSWERS = 10_000
STUCK_TIMEOUT = 5
MOST_AFTER_TIMEOUT = 2.0
AGAIN_SECONDS = 20.0
HALF_SENT = 40
IDLE = 100
MOST_STOP_SECONDS = 16.0


@contextmanager
def asking(service: Service) -> Iterator[Traffic]:
    """Clients with small requests on kept connections; yields what they got, filled in at the end."""
    traffic, lock = Traffic(), threading.Lock()
    with at_once(CLIENTS, lambda over, _: ask_until(over, service.port, traffic, lock)):
        yield traffic


def reload(times: int, pause: float, least: int = 0, tell: Callable[[str], None] = lambda _: None) -> Found:
    """Send SIGHUP, each time a while after all workers have been replaced, under continued requests."""
    found = Found()
    seconds = 0.0
    with serving(log_level="warning") as service:
        with asking(service) as traffic:
            for number in range(times):
                before = set(service.workers())
                service.process.send_signal(signal.SIGHUP)
                seconds += processes.wait_until(
                    lambda before=before: not before & set(service.workers()) and len(service.workers()) == len(before),
                    60,
                    "the workers are new ones",
                )
                tell(f"SIGHUP {number + 1} of {times}")
                time.sleep(pause)
        found.require(not service.failures(), f"SIGHUP: the log: {service.failures()[:1]}")
    found.figures = {
        "SIGHUP": f"{times}, each {seconds / times:.1f} s",
        "answers meanwhile": f"{traffic.answers:,}",
        "lost meanwhile": str(len(traffic.wrong)),
    }
    found.missed += [f"SIGHUP: {what}" for what in counted(traffic.wrong)]
    found.require(traffic.answers >= least, f"SIGHUP: only {traffic.answers:,} answers")
    return found


def get_stuck(timeout: int = STUCK_TIMEOUT) -> tuple[Found, float]:
    """Stop a worker; only its own requests may be lost. Also return the seconds until it is replaced."""
    found = Found()
    chance = random.Random(5)
    with serving(options=("--timeout", str(timeout))) as service:
        with load(service, 0, SMALL_CLIENTS) as traffic:
            before = service.workers()
            worker = chance.choice(before)
            os.kill(worker, signal.SIGSTOP)
            doomed = processes.peer_ports(worker)
            seconds = processes.wait_until(
                lambda: worker not in service.workers() and len(service.workers()) == len(before),
                timeout + 60,
                "the worker is replaced",
            )
            traffic.all_went_on()
        found.require(service.metric("rocpr_slots_in_use") == 0, "stuck: a slot is held by nobody")
    foreign = [port for port in traffic.lost if port not in doomed]
    found.figures = {
        "stuck worker replaced after": f"{seconds:.1f} s, gunicorn's timeout {timeout} s",
        "lost with it": str(len(traffic.lost) - len(foreign)),
        "lost on others": str(len(foreign)),
    }
    found.missed += [f"stuck: {what}" for what in counted(traffic.wrong)]
    found.require(not foreign, f"stuck: {len(foreign)} connections broke that the worker did not have")
    return found, seconds


def _answers(service: Service) -> bool:
    """Whether a small and a big request are answered now."""
    for asked in (small(), question(20_000, "auc")):
        try:
            with Client(service.port, timeout=AGAIN_SECONDS) as client:
                answer = client.post(asked.body)
        except LOST:
            return False
        if answer.status != 200 or answer.body != asked.answer:
            return False
    return True


def kill_anything(times: int, tell: Callable[[str], None] = lambda _: None) -> Found:
    """Kill one process after another, any but the master; at the end also the master."""
    found, chance = Found(), random.Random(6)
    slowest = 0.0
    with serving() as service:
        count = len(service.workers())
        for number in range(times):
            victim = chance.choice(service.tree()[1:])
            with suppress(ProcessLookupError):
                os.kill(victim, signal.SIGKILL)
            tell(f"{number + 1} of {times} killed")
            try:
                seconds = processes.wait_until(lambda: _answers(service), AGAIN_SECONDS, "both lanes answer")
                seconds += processes.wait_until(
                    lambda: len(service.workers()) == count, AGAIN_SECONDS, "all workers are there"
                )
            except AssertionError as error:
                found.missed.append(f"kill {number + 1}: {error}")
                break
            slowest = max(slowest, seconds)
        found.require(service.metric("rocpr_slots_in_use") == 0, "killed: a slot is held by nobody")
        found.require(not service.failures(KILLED), f"killed: the log: {service.failures(KILLED)[:1]}")
        everyone = service.tree()
        service.process.kill()
        service.process.wait()
        orphaned = processes.wait_until(lambda: not processes.living(everyone), STOP_SECONDS, "no process is left")
    found.figures = {
        "processes killed": str(times),
        "small and big answered again, and all workers there, within": f"{slowest:.1f} s",
        "all gone after the master was killed": f"{orphaned:.1f} s",
    }
    return found


def drain(half: int = HALF_SENT, idle: int = IDLE) -> tuple[Found, float]:
    """Stop a server that has half a body from every client; also return the seconds that it took."""
    found = Found()
    with serving() as service:
        with crowds(service.port, {"half-bodies": half, "idle": idle}) as seen:
            began = time.monotonic()
            service.process.send_signal(signal.SIGTERM)
            status = service.process.wait(STOP_SECONDS + 30)
            seconds = time.monotonic() - began
        found.require(status == 0, f"drain: the server ended with {status}")
        found.require(not service.failures(), f"drain: the log: {service.failures()[:1]}")
    found.figures = {
        "stopped with half-sent bodies after": f"{seconds:.1f} s",
        "half-sent bodies got": ends_as_text(seen["half-bodies"]["ends"]),
    }
    return found, seconds


def run(kills: int, tell: Callable[[str], None] = lambda _: None) -> Found:
    """All these tests, each on its own server."""
    found = Found(
        f"{HANGUPS} x SIGHUP under {CLIENTS} clients; SIGSTOP of a worker; {kills} x SIGKILL of any process, then of "
        f"the master; SIGTERM with {HALF_SENT} half-sent bodies and {IDLE} idle connections"
    )
    tell("SIGHUP")
    found.take(reload(HANGUPS, HANGUP_PAUSE, LEAST_ANSWERS, tell))
    tell("SIGSTOP")
    stuck, replaced = get_stuck()
    found.take(stuck)
    found.require(
        replaced <= STUCK_TIMEOUT + MOST_AFTER_TIMEOUT, f"the stuck worker was replaced after {replaced:.1f} s"
    )
    found.take(kill_anything(kills, tell))
    tell("SIGTERM")
    drained, stopped = drain()
    found.take(drained)
    found.require(stopped <= MOST_STOP_SECONDS, f"the server ended after {stopped:.1f} s")
    return found
