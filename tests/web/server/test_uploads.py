"""Bodies that arrive: what the application is asked first, what clients hear meanwhile, where bodies are kept."""

import errno
import io
import tempfile
from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from service.web.passes import MOVED, PASS, Pass
from service.web.server.server import BODY_IN_MEMORY, UNASKED_BYTES
from tests.e2e.wire import check_problem, chunked, request
from tests.web.server.applications import Environ, Held, Start, asked_first, echo
from tests.web.server.conftest import Serve
from tests.web.server.serving import BOUNDS, SECONDS, Phase

LARGE = replace(BOUNDS, body_bytes=1 << 22)
CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"


def head(length: int, *fields: str) -> bytes:
    lines = "".join(f"{field}\r\n" for field in ("Host: a", f"Content-Length: {length}", *fields))
    return f"POST / HTTP/1.1\r\n{lines}\r\n".encode()


class Noting:
    """An application that records in which passes it was called, and the length of the body in each."""

    def __init__(self, application: Any = echo) -> None:
        self.passes: list[tuple[Pass, str | None]] = []
        self._application = application

    def __call__(self, environ: Environ, start: Start) -> Iterable[bytes]:
        self.passes.append((environ[PASS], environ.get("CONTENT_LENGTH")))
        return self._application(environ, start)


@pytest.mark.parametrize(
    ("length", "fields", "passes"),
    [
        (UNASKED_BYTES, (), [Pass.SMALL]),
        (UNASKED_BYTES + 1, (), [Pass.HEAD, Pass.SMALL]),
        (3, ("Expect: 100-continue",), [Pass.HEAD, Pass.SMALL]),
        (0, ("Expect: 100-continue",), [Pass.SMALL]),
        (0, (), [Pass.SMALL]),
        (3, ("Content-Type: Application/Columns; x=y",), [Pass.COLUMNAR]),
        (UNASKED_BYTES + 1, ("Content-Type: application/columns",), [Pass.HEAD, Pass.SMALL]),
    ],
)
def test_the_application_is_asked_before_a_long_body_is_read(
    serve: Serve, length: int, fields: tuple[str, ...], passes: list[Pass]
) -> None:
    application = Noting(asked_first())
    client = serve(application, bounds=LARGE).connect()
    client.send(head(length, *fields) + b"x" * length)
    assert client.read().body == b"POST / " + b"x" * length
    assert application.passes == [(which, str(length)) for which in passes]


def test_the_application_is_asked_before_a_chunked_body_is_read(serve: Serve) -> None:
    application = Noting(asked_first())
    client = serve(application).connect()
    client.send(request("POST", "/", Transfer_Encoding="chunked") + chunked(b"abc", b"de"))
    assert client.read().body == b"POST / abcde"
    assert application.passes == [(Pass.HEAD, None), (Pass.SMALL, "5")]


def test_the_application_is_asked_before_a_body_over_the_limit(serve: Serve) -> None:
    application = Noting()  # which answers in the first pass
    client = serve(application).connect()
    assert client.send(head(BOUNDS.body_bytes + 1)).read().closes
    assert application.passes == [(Pass.HEAD, str(BOUNDS.body_bytes + 1))]


@pytest.mark.parametrize("following", [Pass.SMALL, Pass.COLUMNAR, Pass.BIG])
def test_the_application_names_the_pass_for_the_body(serve: Serve, following: Pass) -> None:
    application = Noting(asked_first(following=following))
    client = serve(application, bounds=LARGE).connect()
    client.send(head(100_000) + bytes(100_000))
    assert len(client.read().body) == len(b"POST / ") + 100_000
    assert application.passes == [(Pass.HEAD, "100000"), (following, "100000")]


def test_a_request_may_move_with_its_body(serve: Serve) -> None:
    """From the pass for small requests, if it turns out to be more work."""
    application = Noting(asked_again)
    client = serve(application).connect()
    assert client.send(head(3) + b"abc").read().body == b"POST / abc"
    assert application.passes == [(Pass.SMALL, "3"), (Pass.BIG, "3")]


def asked_again(environ: Environ, start: Start) -> Iterable[bytes]:
    if environ[PASS] is Pass.SMALL:
        environ[MOVED] = Pass.BIG
        start("204 NO CONTENT", [])
        return []
    return echo(environ, start)


def test_what_is_answered_without_the_body_ends_the_connection(serve: Serve) -> None:
    """Otherwise the rest of the body would be taken for a request."""
    client = serve(echo, bounds=LARGE).connect()
    answer = client.send(head(100_000) + bytes(50_000)).read()
    assert (answer.body, answer.closes) == (b"POST / ", True)
    client.send(bytes(50_000) + request("GET", "/other")).half_close()
    assert client.rest() == b""


class TestContinue:
    def test_is_sent_when_the_body_is_wanted(self, serve: Serve) -> None:
        held = Held(asked_first())
        served = serve(held)
        client = served.connect().send(head(3, "Expect: 100-continue"))
        assert held.begun.wait(SECONDS)
        client.socket.settimeout(0.1)
        with pytest.raises(TimeoutError):
            client.socket.recv(1)
        client.socket.settimeout(SECONDS)
        held.go.set()
        assert client.socket.recv(len(CONTINUE)) == CONTINUE
        assert client.send(b"abc").read().body == b"POST / abc"

    def test_is_sent_before_chunks(self, serve: Serve) -> None:
        client = serve(asked_first()).connect()
        client.send(request("POST", "/", Transfer_Encoding="chunked", Expect="100-continue"))
        assert client.socket.recv(len(CONTINUE)) == CONTINUE
        assert client.send(chunked(b"abc")).read().body == b"POST / abc"

    @pytest.mark.parametrize("sent", [b"a", b"abc"])
    def test_is_not_sent_when_the_body_is_there(self, serve: Serve, sent: bytes) -> None:
        client = serve(asked_first()).connect().send(head(3, "Expect: 100-continue") + sent)
        answer = client.send(b"abc"[len(sent) :]).socket
        assert answer.recv(12) == b"HTTP/1.1 200"

    def test_is_not_sent_when_the_body_is_not_wanted(self, serve: Serve) -> None:
        client = serve(echo).connect().send(head(3, "Expect: 100-continue"))
        assert client.socket.recv(12) == b"HTTP/1.1 200"

    def test_is_not_sent_to_http_1_0(self, serve: Serve) -> None:
        client = serve(asked_first()).connect()
        client.send(head(3, "Expect: 100-continue").replace(b"HTTP/1.1", b"HTTP/1.0") + b"abc")
        assert client.socket.recv(12) == b"HTTP/1.1 200"


class TestPlaces:
    def test_a_longer_body_lies_in_a_file(self, serve: Serve) -> None:
        lies: list[bool] = []

        def application(environ: Environ, start: Start) -> Iterable[bytes]:
            try:
                environ["wsgi.input"].fileno()
            except OSError:
                lies.append(False)
            else:
                lies.append(True)
            return echo(environ, start)

        served = serve(asked_first(application), bounds=LARGE, spool=tempfile.TemporaryFile)
        client = served.connect()
        for length in (BODY_IN_MEMORY, BODY_IN_MEMORY + 1, 1 << 22):
            assert client.send(head(length) + b"x" * length).read().body == b"POST / " + b"x" * length
        assert lies == [False, True, True]

    @pytest.mark.parametrize("spool", [partial(open, "/dev/full", "r+b"), partial(open, "/none", "r+b")])
    def test_a_body_without_room_is_refused(self, serve: Serve, spool: Any) -> None:
        client = serve(asked_first(), bounds=LARGE, spool=spool).connect()
        client.send(head(1 << 22) + bytes(BODY_IN_MEMORY + 10))
        answer = client.read()
        check_problem(answer, "overloaded", closes=True)
        assert answer.headers["retry-after"] == "7"
        client.half_close()
        assert client.rest() == b""

    def test_a_body_without_room_for_its_end_is_refused(self, serve: Serve) -> None:
        """What is still in memory when all has arrived has to go to the file, too."""

        class Short(io.BytesIO):
            def flush(self) -> None:
                raise OSError(errno.ENOSPC, "No space left on device")

        client = serve(asked_first(), bounds=LARGE, spool=Short).connect()
        client.send(head(1 << 20) + bytes(1 << 20))
        check_problem(client.read(), "overloaded", closes=True)

    def test_a_body_over_the_limit_is_refused_where_it_is_seen(self, serve: Serve) -> None:
        client = serve(asked_first()).connect()
        client.send(request("POST", "/", Transfer_Encoding="chunked") + chunked(*[bytes(1_000)] * 11))
        check_problem(client.read(), "body_too_large", closes=True)

    def test_no_further_file_is_opened_at_the_limit(self, serve: Serve) -> None:
        served = serve(asked_first(), bounds=LARGE, spool=tempfile.TemporaryFile)
        served.server.has_room = False
        client = served.connect().send(head(1 << 22) + bytes(BODY_IN_MEMORY + 10))
        check_problem(client.read(), "overloaded", closes=True)


def test_a_refused_upload_is_read_on_for_a_while(serve: Serve) -> None:
    """A client that sends everything before it reads must not be cut off before it has read the answer."""
    served = serve(echo, bounds=LARGE)
    client = served.connect()
    client.send(head(1 << 30))
    served.reaches(client, Phase.LINGERING)
    for _ in range(50):
        client.send(bytes(1 << 20))
    assert client.read().body == b"POST / "
