"""One request on its way through the application: its passes, and when its resources are released."""

import io
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from service.web.passes import CLIENT, MOVED, PASS, STARTED, UNTIL_SENT, WAITED, Pass
from service.web.server import exchange as exchange_module
from service.web.server.incoming_body import IncomingBody
from service.web.server.reply import Reply
from service.wire.problems import Problem
from tests.web.server.applications import Body, Environ, echo
from tests.web.server.asking import Asked

CLOSED = "the body is closed"


def body_of(content: bytes, closes: Callable[[], object] = lambda: None) -> IncomingBody:
    class Noted(IncomingBody):
        def close(self) -> None:
            closes()
            super().close()

    body = Noted(1 << 20, 1 << 20, io.BytesIO)
    body.write(content)
    return body


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [100.0]
    clock = SimpleNamespace(monotonic=lambda: now[0], perf_counter=lambda: 7.0)
    monkeypatch.setattr(exchange_module, "time", clock)
    return now


class TestPasses:
    def test_each_sees_its_name(self) -> None:
        seen: list[Any] = []

        def application(environ: Environ, start: Any) -> list[bytes]:
            seen.append((environ[PASS], environ["wsgi.input"].read(), environ.get("CONTENT_LENGTH")))
            if len(seen) < 4:
                environ[MOVED] = list(Pass)[len(seen)]
            start("200 OK", [])
            return []

        asked, body = Asked(application), body_of(b"abc")
        assert asked.in_pass(Pass.HEAD, None) == (Pass.SMALL, False)
        assert asked.in_pass(Pass.SMALL, body) == (Pass.COLUMNAR, True)
        assert asked.in_pass(Pass.COLUMNAR, body) == (Pass.BIG, True)
        asked.in_pass(Pass.BIG, body)
        assert isinstance(asked.told[3], Reply)
        assert seen == [
            (Pass.HEAD, b"", None),
            (Pass.SMALL, b"abc", "3"),
            (Pass.COLUMNAR, b"abc", "3"),
            (Pass.BIG, b"abc", "3"),
        ]

    def test_a_chunked_body_that_has_come_has_a_length(self) -> None:
        asked = Asked(echo, "POST")
        asked.environ["HTTP_TRANSFER_ENCODING"] = "chunked"
        asked.in_pass(Pass.HEAD)
        assert asked.environ["HTTP_TRANSFER_ENCODING"] == "chunked"
        assert asked.in_pass(Pass.SMALL, body_of(b"abc")).body == b"POST / abc"
        assert asked.environ["CONTENT_LENGTH"] == "3"
        assert "HTTP_TRANSFER_ENCODING" not in asked.environ

    def test_a_request_without_a_body_says_so(self) -> None:
        asked = Asked(echo)
        assert asked.in_pass(Pass.SMALL).body == b"GET / "
        assert asked.environ["CONTENT_LENGTH"] == "0"

    def test_what_a_pass_that_moves_would_answer_is_closed(self) -> None:
        body = Body([b"dropped"])

        def application(environ: Environ, start: Any) -> Body:
            environ[MOVED] = Pass.BIG
            start("204 NO CONTENT", [])
            return body

        assert Asked(application).in_pass(Pass.SMALL) == (Pass.BIG, True)
        assert body.closed == 1

    def test_the_application_learns_who_asks_and_for_how_long_they_waited(self, now: list[float]) -> None:
        asked = Asked(echo)
        assert asked.environ[STARTED] == 7.0
        for which, waited in ((Pass.HEAD, 2.0), (Pass.SMALL, 5.0)):
            asked.exchange.ask(which, None)
            now[0] += waited - asked.environ.get(WAITED, 0.0)
            asked.lanes[which].serve()
            assert asked.environ[WAITED] == waited
        assert not asked.environ[CLIENT].gone


class TestLeaving:
    """What a request holds is released once, and not while a thread works on it."""

    def test_after_the_answer(self) -> None:
        asked = Asked(echo)
        asked.in_pass(Pass.SMALL)
        assert asked.closed == []
        for _ in range(2):
            asked.exchange.leave()
            assert asked.closed == ["given back"]

    def test_while_it_waits(self, monkeypatch) -> None:
        abandoned: list[str] = []
        monkeypatch.setattr(exchange_module, "count_abandoned", abandoned.append)
        asked = Asked(echo)
        asked.exchange.ask(Pass.SMALL, body_of(b"abc", lambda: asked.closed.append(CLOSED)))
        asked.exchange.leave()
        assert asked.closed == [CLOSED, "given back"]
        assert asked.lanes[Pass.SMALL].waiting == []
        assert abandoned == ["waiting"]

    def test_while_it_is_worked_on(self) -> None:
        asked = Asked(echo)

        def application(environ: Environ, start: Any) -> Any:
            asked.exchange.leave()
            assert environ[CLIENT].gone
            assert asked.closed == []
            return echo(environ, start)

        asked.exchange._application = application
        asked.exchange.ask(Pass.SMALL, body_of(b"abc", lambda: asked.closed.append(CLOSED)))
        then = asked.lanes[Pass.SMALL].begin()
        assert asked.closed == []
        then()
        assert asked.closed == [CLOSED, "given back"]

    def test_after_it_was_handed_over_nothing_is_begun(self) -> None:
        called: list[Environ] = []
        asked = Asked(lambda environ, _: called.append(environ) or [])
        asked.exchange.ask(Pass.SMALL, None)
        handed = asked.lanes[Pass.SMALL].waiting.pop()
        asked.exchange.leave()
        assert asked.closed == []
        handed.run()()
        assert (called, asked.closed) == ([], ["given back"])

    def test_a_failing_end_is_not_a_failure(self) -> None:
        asked = Asked(echo)

        def fail() -> None:
            raise OSError

        asked.environ[UNTIL_SENT].callback(fail)
        asked.in_pass(Pass.SMALL)
        asked.exchange.leave()
        assert asked.closed == ["given back"]


class TestWaiting:
    def test_waiting_too_long_fails(self, now: list[float]) -> None:
        asked = Asked(echo)
        assert not asked.exchange.withdraw_if_overdue(-1)
        asked.exchange.ask(Pass.SMALL, None)
        now[0] += 30
        assert not asked.exchange.withdraw_if_overdue(30)
        now[0] += 1
        assert asked.exchange.withdraw_if_overdue(30)
        assert asked.lanes[Pass.SMALL].waiting == []
        assert not asked.exchange.withdraw_if_overdue(30)

    def test_ends_once_it_has_begun(self) -> None:
        asked = Asked(echo)
        asked.exchange.ask(Pass.SMALL, None)
        asked.lanes[Pass.SMALL].waiting.pop()
        assert not asked.exchange.withdraw_if_overdue(-1)
        assert not asked.exchange.withdraw()

    def test_in_a_queue_that_is_full_is_refused(self) -> None:
        asked = Asked(echo)
        asked.exchange.ask(Pass.SMALL, None)
        asked.exchange.turn_away()
        assert asked.told == ["overloaded"]
        asked.exchange.leave()
        assert asked.closed == ["given back"]

    def test_a_body_without_room_is_refused_and_dropped(self) -> None:
        class Full(IncomingBody):
            def whole(self) -> Any:
                raise OSError

        asked = Asked(echo)
        body = Full(9, 9, print)
        with pytest.raises(Problem) as caught:
            asked.exchange.ask(Pass.SMALL, body)
        assert caught.value.type.code == "overloaded"
        asked.exchange.leave()
        with pytest.raises(ValueError, match="closed"):
            body.write(b"a")
