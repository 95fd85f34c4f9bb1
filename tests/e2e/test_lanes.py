"""The lane of big requests: they wait if it is full, end if they take too long, and do not delay small requests."""

import os
import signal
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress

import pytest

from tests.e2e.wire import SECONDS, Connection, request
from tests.support import processes
from tests.support.clients import Answer, Client
from tests.support.samples import question, small
from tests.support.servers import Service, serving

pytestmark = pytest.mark.all

JSON = {"Content_Type": "application/json"}
BIG = question(20_000, "auc")
HEAD = request("POST", "/v1/curves", **JSON, Content_Length=str(len(BIG.body)))


@contextmanager
def stopped(service: Service) -> Iterator[list[int]]:
    """Stop the evaluators for a while, so that evaluations do not end."""
    post(service.port)  # without work, they end
    evaluators = service.helpers()
    for pid in evaluators:
        os.kill(pid, signal.SIGSTOP)
    try:
        yield evaluators
    finally:
        for pid in evaluators:
            with suppress(ProcessLookupError):  # it was ended
                os.kill(pid, signal.SIGCONT)


def post(port: int) -> Answer:
    with Client(port) as client:
        return client.post(BIG.body)


def in_slots(service: Service) -> float:
    return service.metric("rocpr_slots_in_use")


def test_an_upload_holds_no_slot() -> None:
    with serving(workers=1, slots=1) as service, ExitStack() as clients, Client(service.port) as client:
        begun = [clients.enter_context(Connection(service.port)) for _ in range(3)]
        for connection in begun:
            connection.send(HEAD + BIG.body[:-1])
        for _ in range(2):
            answered = client.post(BIG.body)
            assert (answered.status, answered.body) == (200, BIG.answer)
        assert in_slots(service) == 0
        for connection in begun:
            answer = connection.send(BIG.body[-1:]).read()
            assert (answer.status, answer.body) == (200, BIG.answer)
        assert service.failures() == []


def test_a_full_lane_waits_and_small_requests_are_answered() -> None:
    with (
        serving(workers=1, slots=1, big_seconds=60, queue_seconds=60) as service,
        ThreadPoolExecutor(5) as pool,
        Client(service.port) as client,
    ):
        asked: list[Future[Answer]] = []
        with stopped(service):
            asked += [pool.submit(post, service.port) for _ in range(5)]
            processes.wait_until(lambda: in_slots(service) == 1, SECONDS, "the slot is held")
            for _ in range(3):
                answered = client.post(small().body)
                assert (answered.status, answered.body) == (200, small().answer)
                assert client.ask("GET", "/health/ready").status == 200
            assert not any(one.done() for one in asked)
        for one in asked:
            answer = one.result(60)
            assert (answer.status, answer.body) == (200, BIG.answer)
        processes.wait_until(lambda: in_slots(service) == 0, SECONDS, "the slots are free")
        assert service.metric('rocpr_refusals_total{code="overloaded"}') == 0
        assert service.failures() == []


def test_a_request_that_waits_too_long_gets_retry_after() -> None:
    settings = {"slots": 1, "workers": 1, "big_seconds": 60, "queue_seconds": 1, "retry_after_seconds": 7}
    with serving(**settings) as service, ThreadPoolExecutor(1) as pool, Client(service.port) as client:
        with stopped(service):
            first = pool.submit(post, service.port)
            processes.wait_until(lambda: in_slots(service) == 1, SECONDS, "the slot is held")
            refused = client.post(BIG.body)
            assert (refused.status, refused.problem, refused.closes) == (503, "overloaded", True)
            assert refused.headers["retry-after"] == "7"
            answered = client.post(small().body)
            assert (answered.status, answered.body) == (200, small().answer)
        assert first.result(60).body == BIG.answer
        processes.wait_until(lambda: client.post(BIG.body).body == BIG.answer, SECONDS, "the next one is answered")
        assert service.metric('rocpr_refusals_total{code="overloaded"}') >= 1
        assert service.failures() == []


def test_who_leaves_frees_the_slot() -> None:
    """The evaluator of a departed client is ended, and its slot goes to a waiting request."""
    with serving(workers=1, slots=1, big_seconds=600, queue_seconds=600) as service:
        with stopped(service) as evaluators:
            with Connection(service.port) as leaves:
                leaves.send(HEAD + BIG.body)
                processes.wait_until(lambda: in_slots(service) == 1, SECONDS, "the slot is held")
                with Connection(service.port) as waits_and_leaves:
                    waits_and_leaves.send(HEAD + BIG.body)
                abandoned = 'rocpr_abandoned_total{while="waiting"}'
                processes.wait_until(lambda: service.metric(abandoned) == 1, SECONDS, "it waits no more")
            processes.wait_until(lambda: not processes.living(evaluators), SECONDS, "the evaluator has ended")
            assert post(service.port).body == BIG.answer
        assert service.metric('rocpr_helper_deaths_total{reason="died"}') == 0
        assert service.failures() == []


def test_what_takes_too_long_is_ended() -> None:
    """A stopped evaluator never answers, like one that holds the interpreter's lock."""
    with serving(workers=1, slots=1, big_seconds=3) as service:
        post(service.port)
        (evaluator,) = service.helpers()
        os.kill(evaluator, signal.SIGSTOP)
        with Client(service.port) as client:
            late = client.post(BIG.body)
            assert (late.status, late.problem) == (503, "deadline_exceeded")
            processes.wait_until(lambda: client.post(BIG.body).body == BIG.answer, SECONDS, "another evaluator answers")
        processes.wait_until(
            lambda: not processes.living([evaluator]), SECONDS, "the evaluator that was late has ended"
        )
        assert service.metric('rocpr_helper_deaths_total{reason="deadline"}') >= 1
        assert service.metric("rocpr_slots_in_use") == 0
