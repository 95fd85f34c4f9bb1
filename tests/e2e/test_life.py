"""The life of one server: its processes are killed, it is reloaded and stopped, and no other request is lost."""

import os
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import pytest

from tests.e2e.wire import SECONDS
from tests.support import processes
from tests.support.attacks.kills import KILLED
from tests.support.clients import Answer, Client
from tests.support.samples import question, small
from tests.support.servers import STOP_SECONDS, Service, serving

BIG = question(20_000, "auc")


def post_big(port: int) -> Answer:
    with Client(port) as client:
        return client.post(BIG.body)


def check_that_it_answers(service: Service) -> None:
    for asked in (small(), BIG):
        with Client(service.port) as client:
            answer = client.post(asked.body)
            assert (answer.status, answer.body) == (200, asked.answer)


def kill_the_evaluator(service: Service) -> None:
    """It is stopped first, so that it cannot answer before it is killed."""
    while not (evaluators := service.helpers()):  # without work, they end
        post_big(service.port)
    (evaluator,) = evaluators
    os.kill(evaluator, signal.SIGSTOP)
    with ThreadPoolExecutor(1) as pool:
        asked = pool.submit(post_big, service.port)
        processes.wait_until(lambda: service.metric("rocpr_slots_in_use") == 1, SECONDS, "it has the request")
        os.kill(evaluator, signal.SIGKILL)
        assert asked.result(SECONDS).body == BIG.answer
    assert service.metric('rocpr_helper_deaths_total{reason="died"}') == 1


def kill_the_worker(service: Service) -> None:
    (worker,) = service.workers()
    followers = processes.tree(worker)[1:]
    os.kill(worker, signal.SIGKILL)
    processes.wait_until(lambda: service.workers() not in ([], [worker]), SECONDS, "another worker starts")
    processes.wait_until(lambda: not processes.living(followers), SECONDS, "its evaluators have ended")


def reload(service: Service) -> None:
    """The old worker serves until its drain is over, which a second SIGTERM ends."""
    (worker,) = service.workers()
    with Client(service.port) as kept:
        assert not kept.post(small().body).closes
        service.process.send_signal(signal.SIGHUP)
        processes.wait_until(lambda: len(service.workers()) == 2, SECONDS, "another worker starts")
        processes.wait_until(lambda: kept.post(small().body).closes, SECONDS, "the old one sends its clients away")
    os.kill(worker, signal.SIGTERM)
    processes.wait_until(lambda: not processes.living([worker]), SECONDS, "the old worker ends")


def drain(service: Service) -> None:
    (worker,) = service.workers()
    with ExitStack() as clients:
        kept, asking = (clients.enter_context(Client(service.port)) for _ in range(2))
        assert not kept.post(small().body).closes
        service.process.send_signal(signal.SIGTERM)
        processes.wait_until(lambda: asking.ask("GET", "/health/ready").status == 503, SECONDS, "it is not ready")
        refused = asking.ask("GET", "/health/ready")
        assert (refused.problem, refused.closes, "retry-after" in refused.headers) == ("not_ready", True, True)
        assert asking.ask("GET", "/health/live").status == 200
        for client in (kept, asking):  # one that was there before, and a new one
            answer = client.post(small().body)
            assert (answer.status, answer.closes, answer.body) == (200, True, small().answer)
    os.kill(worker, signal.SIGTERM)
    assert service.process.wait(STOP_SECONDS) == 0


@pytest.fixture
def service() -> Iterator[Service]:
    with serving(workers=1, slots=1, big_seconds=600, drain_seconds=600) as service:
        yield service


def test_a_server_outlives_kills_and_a_reload_and_announces_its_end(service: Service) -> None:
    for event in (kill_the_evaluator, kill_the_worker, reload):
        check_that_it_answers(service)
        event(service)
    check_that_it_answers(service)
    drain(service)
    assert service.failures(KILLED) == []
