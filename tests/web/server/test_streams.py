"""Answers that are produced while they are sent, and clients that leave before they have them."""

import socket
import tempfile
import time
from collections.abc import Iterable, Iterator
from dataclasses import replace
from threading import Event
from typing import Any, BinaryIO

import pytest

from service.web.passes import Pass
from service.web.server import exchange as exchange_module
from service.web.server.expiry import LOOK_SECONDS
from service.web.server.reply import FileBody
from service.web.server.sending import BUFFERED_BYTES
from tests.e2e.wire import check_problem, request
from tests.web.server.applications import Application, Body, Environ, Held, Start, answering, asked_first, echo
from tests.web.server.conftest import Serve
from tests.web.server.serving import BOUNDS, SECONDS, Clock, Phase

CHUNKED = b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
UPLOAD = CHUNKED + b"0\r\n\r\n"


def in_big_pass(application: Application) -> Application:
    """Answer in the pass for big requests, the only one that may answer piece by piece."""
    return asked_first(application, Pass.BIG)


class Slow:
    """A body whose pieces come when a test releases them."""

    def __init__(self, pieces: Iterable[bytes]) -> None:
        self.go = Event()
        self.closed = Event()
        self.made = 0
        self._pieces = pieces

    def __iter__(self) -> Iterator[bytes]:
        for piece in self._pieces:
            assert self.go.wait(SECONDS)
            self.made += 1
            yield piece

    def close(self) -> None:
        self.closed.set()


class TestStreams:
    def test_come_in_chunks_and_the_connection_lasts(self, serve: Serve) -> None:
        served = serve(in_big_pass(answering(Body([b"abc", b"de"]), "200 OK", ("A", "b"))))
        client = served.connect().send(UPLOAD)
        first, fields = client.head()
        assert first == "HTTP/1.1 200 OK"
        assert (fields["transfer-encoding"], fields["connection"], fields["a"]) == ("chunked", "keep-alive", "b")
        assert [client.chunk() for _ in range(3)] == [b"abc", b"de", b""]
        served.reaches(client, Phase.IDLE)

    def test_of_http_1_0_end_with_the_connection(self, serve: Serve) -> None:
        served = serve(in_big_pass(answering(Body([b"abc", b"de"]))), bounds=replace(BOUNDS, body_bytes=1 << 20))
        client = served.connect()
        client.send(b"POST / HTTP/1.0\r\nConnection: keep-alive\r\nContent-Length: 40000\r\n\r\n" + bytes(40_000))
        first, fields = client.head()
        assert first == "HTTP/1.1 200 OK"
        assert fields["connection"] == "close"
        assert not {"transfer-encoding", "content-length"} & fields.keys()
        assert client.rest() == b"abcde"

    def test_come_as_they_are_made(self, serve: Serve) -> None:
        body = Slow([b"one", b"two"])
        client = serve(in_big_pass(answering(body))).connect().send(UPLOAD)
        assert client.head()[0] == "HTTP/1.1 200 OK"
        body.go.set()
        assert client.chunk() == b"one"

    def test_are_made_no_faster_than_they_are_read(self, serve: Serve) -> None:
        body = Slow(bytes(100_000) for _ in range(100))
        body.go.set()
        served = serve(in_big_pass(answering(body)))
        client = served.connect(sndbuf=4096).send(UPLOAD)
        served.until(lambda: body.made > 1, "the first piece")
        time.sleep(0.05)
        assert body.made <= 3 + BUFFERED_BYTES // 100_000
        client.head()
        assert sum(len(client.chunk()) for _ in range(101)) == 100 * 100_000
        assert body.closed.wait(SECONDS)

    def test_that_end_with_a_file_keep_no_thread_until_it_is_read(self, serve: Serve) -> None:
        """Two clients that read slowly once kept both slots for as long as they liked."""
        files: list[BinaryIO] = []

        def ending_with_a_file() -> Iterator[Any]:
            file = tempfile.TemporaryFile()  # noqa: SIM115  # the server closes it
            file.write(b"x" * 1_000_000)
            file.seek(0)
            files.append(file)
            yield b"begin"
            yield FileBody(file)

        def application(environ: Environ, start: Start) -> Iterable[bytes]:
            return answering(ending_with_a_file())(environ, start)

        served = serve(in_big_pass(application))
        slow = [served.connect(sndbuf=4096).send(UPLOAD) for _ in range(5)]
        other = served.connect().send(UPLOAD)
        other.head()
        assert [len(other.chunk()) for _ in range(3)] == [5, 1_000_000, 0]
        slow[0].head()
        assert [len(slow[0].chunk()) for _ in range(3)] == [5, 1_000_000, 0]
        served.end()
        served.until(lambda: all(file.closed for file in files), "the files are closed")
        assert len(files) == 6

    def test_that_fail_end_the_connection(self, serve: Serve) -> None:
        """Without the last chunk, so that nobody takes the answer for complete."""

        def fail() -> Iterator[bytes]:
            yield b"abc"
            raise ValueError

        client = serve(in_big_pass(answering(fail()))).connect().send(UPLOAD)
        client.head()
        assert client.rest() == b"3\r\nabc\r\n"

    def test_of_clients_that_leave_are_closed(self, serve: Serve) -> None:
        body = Slow(b"x" * 100_000 for _ in range(1000))
        body.go.set()
        served = serve(in_big_pass(answering(body)))
        client = served.connect().send(UPLOAD)
        client.head()
        client.__exit__()
        assert body.closed.wait(SECONDS)
        assert body.made < 1000
        served.reaches(client, Phase.CLOSED)


class TestLeaving:
    def test_is_seen_within_seconds(self, serve: Serve, clock: Clock) -> None:
        held = Held()
        served = serve(held)
        client = served.connect().get("/")
        assert held.begun.wait(SECONDS)
        client.__exit__()
        served.sweep()
        assert not held.is_abandoned()
        clock.forward(LOOK_SECONDS)
        served.sweep()
        served.reaches(client, Phase.CLOSED)
        assert held.is_abandoned()
        held.go.set()

    def test_while_a_request_waits_takes_it_out(self, serve: Serve, clock: Clock, monkeypatch) -> None:
        abandoned: list[str] = []
        monkeypatch.setattr(exchange_module, "count_abandoned", abandoned.append)
        held = Held()
        served = serve(held)
        holds = [served.connect().get("/") for _ in range(2)]  # with the thread, and handed over to it
        assert held.begun.wait(SECONDS)
        for client in holds:
            served.reaches(client, Phase.ANSWERING)
        leaves = served.connect().get("/never")
        served.reaches(leaves, Phase.ANSWERING)
        leaves.__exit__()
        clock.forward(LOOK_SECONDS)
        served.sweep()
        served.reaches(leaves, Phase.CLOSED)
        assert abandoned == ["waiting"]
        held.go.set()
        assert [client.read().status for client in holds] == [200, 200]
        assert held.calls == 2

    @pytest.mark.parametrize(("seconds", "gets"), [(LOOK_SECONDS / 2, True), (LOOK_SECONDS, False)])
    def test_is_taken_from_half_closing_after_a_second(
        self, serve: Serve, clock: Clock, seconds: float, *, gets: bool
    ) -> None:
        held = Held()
        served = serve(held)
        client = served.connect().get("/").half_close()
        served.until(lambda: client.connection.half_closed, "the client's end")
        assert held.begun.wait(SECONDS)
        clock.forward(seconds)
        served.sweep()
        assert held.is_abandoned() is not gets
        held.go.set()
        assert (b"GET / " in client.rest()) is gets

    @pytest.mark.parametrize(
        ("following", "sent"),
        [
            (Pass.SMALL, CHUNKED + b"3\r\n"),
            (Pass.BIG, CHUNKED + b"3\r\n"),
            (None, request("GET", "/a") + request("GET", "/b")),
        ],
    )
    def test_ends_an_upload_and_what_waits_behind(
        self, serve: Serve, clock: Clock, following: Pass | None, sent: bytes
    ) -> None:
        held = Held() if following is None else Held(asked_first(following=following))
        served = serve(held)
        client = served.connect().send(sent)
        assert held.begun.wait(SECONDS)
        client.__exit__()
        clock.forward(LOOK_SECONDS)
        served.sweep()
        served.reaches(client, Phase.CLOSED)
        held.go.set()
        assert served.connect().get("/c").read().body == b"GET /c "
        assert held.calls == 2

    def test_in_the_middle_of_a_body_drops_it(self, serve: Serve) -> None:
        served = serve(echo)
        client = served.connect().send(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nabc")
        served.until(lambda: client.connection.reader is not None and client.connection.reader.body.length == 3)
        body = client.connection.reader.body
        client.socket.shutdown(socket.SHUT_RDWR)
        served.on_loop(client.connection.transport.abort)
        served.reaches(client, Phase.CLOSED)
        with pytest.raises(ValueError, match="closed"):
            body.write(b"d")


class TestWaiting:
    def test_for_too_long_is_refused(self, serve: Serve, clock: Clock) -> None:
        held = Held()
        served = serve(held)
        holds = [served.connect().get("/") for _ in range(2)]
        assert held.begun.wait(SECONDS)
        waits = served.connect().get("/never")
        for client in (*holds, waits):
            served.reaches(client, Phase.ANSWERING)
        clock.forward(BOUNDS.queue_seconds + 1)
        served.sweep()
        answer = waits.read()
        check_problem(answer, "overloaded", closes=True)
        assert answer.headers["retry-after"] == "7"
        held.go.set()
        assert [client.read().status for client in holds] == [200, 200]
        assert held.calls == 2

    def test_what_fails_is_500(self, serve: Serve) -> None:
        def fail(_environ: Environ, _start: Start) -> Iterable[bytes]:
            raise ValueError("secret")

        client = serve(fail).connect().get("/")
        answer = client.read()
        check_problem(answer, "internal_error", closes=True)
        assert b"secret" not in answer.body
