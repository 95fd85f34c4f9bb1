"""gunicorn's worker with our manners, on a pair of sockets; the whole of it is in tests/e2e."""

import logging
import socket
import time
from collections.abc import Iterator

import pytest
from gunicorn.config import Config
from gunicorn.http.errors import InvalidHeader, InvalidResponseHeader, LimitRequestLine

from service.web import worker
from service.web.transport import transport_problem
from service.web.worker import IncompleteHead, WholeRequestParser, Worker
from service.wire.problems import PROBLEM_JSON, problem_document

Pair = tuple[socket.socket, socket.socket]


@pytest.fixture
def pair() -> Iterator[Pair]:
    """The server's end and the client's."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.settimeout(5)
        yield ours, theirs


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


@pytest.mark.parametrize("data", [b"GET / HT", b"GET / HTTP/1.1\r\nHost: a\r\n"])
def test_a_head_that_stops_coming_is_not_waited_for(pair: Pair, monkeypatch: pytest.MonkeyPatch, data: bytes) -> None:
    monkeypatch.setattr(worker, "READ_IDLE_SECONDS", 0.05)
    pair[1].sendall(data)
    with pytest.raises(IncompleteHead):
        next(WholeRequestParser(Config(), pair[0], ("127.0.0.1", 1)))


def test_a_body_that_stops_coming_is_not_waited_for(pair: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "READ_IDLE_SECONDS", 0.05)
    pair[1].sendall(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nabc")
    request = next(WholeRequestParser(Config(), pair[0], ("127.0.0.1", 1)))
    with pytest.raises(TimeoutError):
        request.body.read(9)
    assert request.should_close()
    assert pair[0].gettimeout() is None


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
