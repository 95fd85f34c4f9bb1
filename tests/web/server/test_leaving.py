"""Clients that leave before they have their answer, or wait too long for it."""

import socket
from collections.abc import Iterable

import pytest

from service.web.passes import Pass
from service.web.server import exchange as exchange_module
from service.web.server.expiry import LOOK_SECONDS
from tests.e2e.wire import check_problem, request
from tests.web.server.applications import Environ, Held, Start, asked_first, echo
from tests.web.server.conftest import Serve
from tests.web.server.serving import BOUNDS, SECONDS, Clock, Phase

CHUNKED = b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"


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
