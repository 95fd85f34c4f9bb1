"""How requests are read, on a pair of sockets; the whole of it is in tests/e2e."""

import socket
import time

import pytest
from gunicorn.config import Config
from gunicorn.http.errors import NoMoreData

from service.web import reading
from service.web.lifecycle import DRAINING
from service.web.reading import WholeBody, WholeRequestParser
from service.web.transport import SlowRequest
from tests.web.conftest import Pair


def parser(pair: Pair, rate: float = 1000.0) -> WholeRequestParser:
    return WholeRequestParser(Config(), pair[0], ("127.0.0.1", 1), rate)


@pytest.mark.parametrize("data", [b"GET / HT", b"GET / HTTP/1.1\r\nHost: a\r\n"])
def test_a_head_that_stops_coming_is_not_waited_for(pair: Pair, monkeypatch: pytest.MonkeyPatch, data: bytes) -> None:
    monkeypatch.setattr(reading, "PATIENCE_SECONDS", 0.05)
    pair[1].sendall(data)
    with pytest.raises(SlowRequest):
        next(parser(pair))


def test_a_body_that_stops_coming_is_not_waited_for(pair: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "PATIENCE_SECONDS", 0.05)
    for read in (WholeBody.read, WholeBody.read1):
        pair[1].sendall(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nabc")
        request = next(parser(pair))
        if read is WholeBody.read1:
            assert read(request.body, 9) == b"abc"
        with pytest.raises(SlowRequest):
            read(request.body, 9)
        assert request.should_close()
        assert pair[0].gettimeout() is None


def test_a_body_is_read_as_it_comes_and_not_beyond(pair: Pair) -> None:
    requests = parser(pair)
    pair[1].sendall(2 * b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nabcdefghi")
    for _ in range(2):
        body = next(requests).body
        assert [body.read1(size) for size in (2, 100, 100)] == [b"ab", b"cdefghi", b""]
    pair[1].sendall(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n" + bytes(20_000))
    body = next(requests).body
    first = sum(len(body.read1(5_000)) for _ in range(2))
    assert 0 < first <= 10_000
    pair[1].sendall(bytes(80_000) + b"GET /after HTTP/1.1\r\nHost: a\r\n\r\n")
    assert first + sum(map(len, iter(lambda: body.read1(100_000), b""))) == 100_000
    assert next(requests).path == "/after"


def test_both_ways_to_read_a_body_may_take_turns(pair: Pair) -> None:
    content = bytes(range(256)) * 16
    pair[1].sendall(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4096\r\n\r\n" + content)
    body = next(parser(pair)).body
    read = b"".join((body.read1(3), body.read(5), body.read1(10), body.readline(), body.read1(2_000), body.read()))
    assert read + b"".join(iter(lambda: body.read1(1_000), b"")) == content


def test_a_body_that_ends_early_is_not_whole(pair: Pair) -> None:
    pair[1].sendall(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nabc")
    pair[1].shutdown(socket.SHUT_WR)
    request = next(parser(pair))
    assert request.body.read1(9) == b"abc"
    with pytest.raises(NoMoreData):
        request.body.read1(9)
    assert request.should_close()


def test_time_that_was_earned_is_no_leave_to_be_silent(pair: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    """A fast start earns time for slow bytes, and none in which nothing comes."""
    monkeypatch.setattr(reading, "PATIENCE_SECONDS", 0.1)
    unreader = parser(pair, rate=20.0).unreader
    pair[1].sendall(b"x" * 100)
    assert len(unreader.chunk(100)) == 100
    start = time.monotonic()
    with pytest.raises(SlowRequest):
        unreader.chunk()
    assert time.monotonic() - start < 2.5  # half of what was earned


def test_bytes_have_the_time_that_they_take_at_the_rate(pair: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(reading.time, "monotonic", lambda: now[0])
    unreader = parser(pair, rate=1000.0).unreader
    for now[0], size in (
        (9.9, 1500),
        (11.4, 1000),
        (12.6, 10),
    ):  # the last is late, but there when asked for
        pair[1].sendall(b"x" * size)
        assert len(unreader.chunk(size)) == size
    assert unreader.patience_ends == pytest.approx(12.51)
    with pytest.raises(SlowRequest):
        unreader.chunk()
    assert unreader.too_slow


def test_a_rest_that_comes_slowly_is_not_waited_for(pair: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    pair[1].sendall(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nabc")
    requests = parser(pair)
    next(requests)
    monkeypatch.setattr(reading, "PATIENCE_SECONDS", 0.05)
    assert not requests.finish_body()


def test_every_request_of_a_connection_has_its_own_time(pair: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(reading.time, "monotonic", lambda: now[0])
    requests = parser(pair)
    for now[0] in (0.0, 100.0):
        pair[1].sendall(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        assert next(requests).path == "/"
        assert requests.unreader.patience_ends == pytest.approx(now[0] + 10, abs=0.1)


def test_a_server_that_was_told_to_stop_ends_connections_with_the_next_answer(pair: Pair) -> None:
    requests = parser(pair)
    pair[1].sendall(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n" * 2)
    told_before = next(requests)
    assert not told_before.should_close()
    DRAINING.set()
    try:
        assert not told_before.should_close()
        assert next(requests).should_close()
    finally:
        DRAINING.clear()
