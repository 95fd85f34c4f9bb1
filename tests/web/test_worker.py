"""gunicorn's worker with our manners, on a pair of sockets; the whole of it is in tests/e2e."""

import logging
import socket
import time

import pytest
from gunicorn.http.errors import InvalidHeader, InvalidResponseHeader, LimitRequestLine
from gunicorn.workers.gthread import PollableMethodQueue

from service.web import worker
from service.web.lifecycle import evaluating, longest_evaluation
from service.web.reading import IncompleteHead
from service.web.transport import transport_problem
from service.web.worker import Worker
from service.wire.problems import PROBLEM_JSON, problem_document
from tests.web.conftest import Pair


def answered(pair: Pair, error: Exception) -> tuple[str, bytes]:
    ours, theirs = pair
    quiet = Worker.__new__(Worker)
    quiet.log = logging.getLogger("tests.worker")
    quiet.handle_error(None, ours, ("127.0.0.1", 1), error)
    ours.close()
    head, _, body = theirs.makefile("rb").read().partition(b"\r\n\r\n")
    return head.decode("ascii"), body


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (InvalidHeader("x" * 5000), "HTTP/1.1 400 Bad Request"),
        (LimitRequestLine(1, 2), "HTTP/1.1 414 "),
        (InvalidResponseHeader("x"), "HTTP/1.1 500 Internal Server Error"),
        (ValueError("secret"), "HTTP/1.1 500 Internal Server Error"),
    ],
)
def test_an_error_is_answered_with_a_problem(pair: Pair, error: Exception, line: str) -> None:
    head, body = answered(pair, error)
    assert head.startswith(line)
    assert f"Content-Length: {len(body)}" in head
    assert f"Content-Type: {PROBLEM_JSON}" in head
    assert "Connection: close" in head
    assert b"secret" not in body
    assert len(body) < 500
    problem = transport_problem(error)
    assert problem is None or body == problem_document(problem, "/")


def test_a_client_that_is_gone_is_no_failure(pair: Pair) -> None:
    pair[1].close()
    quiet = Worker.__new__(Worker)
    quiet.handle_error(None, pair[0], ("127.0.0.1", 1), IncompleteHead())


class Told:
    """What a worker told the master."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.worker = Worker.__new__(Worker)
        self.heartbeats = 0
        self.stops: list[int] = []
        monkeypatch.setattr(worker.ThreadWorker, "notify", lambda _self: self.beat(), raising=False)
        monkeypatch.setattr(worker.ThreadWorker, "handle_exit", lambda _self, number, _frame: self.stops.append(number))
        self.worker.method_queue = PollableMethodQueue()
        self.worker.method_queue.init()

    def stop(self) -> None:
        """Send a signal to the worker, and let its loop see it."""
        before = list(self.stops)
        self.worker.handle_exit(15, None)
        assert self.stops == before
        self.worker.method_queue.run_callbacks(None)

    def beat(self) -> None:
        self.heartbeats += 1


def test_a_stuck_evaluation_silences_the_heartbeat(monkeypatch: pytest.MonkeyPatch) -> None:
    told = Told(monkeypatch)
    told.worker.notify()
    with evaluating():
        told.worker.notify()
        assert told.heartbeats == 2
        monkeypatch.setattr(worker, "STUCK_SECONDS", 0.0)
        told.worker.notify()
        assert told.heartbeats == 2
    monkeypatch.setattr(worker, "STUCK_SECONDS", 0.1)
    told.worker.notify()
    assert told.heartbeats == 3
    assert longest_evaluation() == 0


def test_the_first_word_to_stop_starts_the_drain_and_the_second_ends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    told = Told(monkeypatch)
    told.worker.drain_seconds = 3600
    try:
        told.stop()
        assert worker.DRAINING.is_set()
        assert told.stops == []
        told.stop()
        assert told.stops == [15]
    finally:
        worker.DRAINING.clear()


@pytest.mark.parametrize("drain_seconds", [0, 0.05])
def test_the_drain_ends_by_itself(monkeypatch: pytest.MonkeyPatch, drain_seconds: float) -> None:
    told = Told(monkeypatch)
    told.worker.drain_seconds = drain_seconds
    try:
        told.stop()
        end = time.monotonic() + 30
        while not told.stops and time.monotonic() < end:
            time.sleep(0.01)
        assert told.stops == [15]
    finally:
        worker.DRAINING.clear()


def test_lingering_ends(pair: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    """A client that keeps sending is listened to for a while; one that is silent, for a shorter while."""
    ours, theirs = pair
    monkeypatch.setattr(worker, "LINGER_SECONDS", 0.0)
    worker._linger(ours)
    assert theirs.recv(1) == b""

    monkeypatch.setattr(worker, "LINGER_SECONDS", 60.0)
    monkeypatch.setattr(worker, "LINGER_IDLE_SECONDS", 0.05)
    start = time.monotonic()
    other, silent = socket.socketpair()
    with other, silent:
        silent.sendall(b"more")
        worker._linger(other)
        assert silent.recv(1) == b""
    assert time.monotonic() - start < 5
