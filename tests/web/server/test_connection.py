"""A connection on a real loop: its consecutive requests, and its end."""

import tempfile
from contextlib import suppress

import pytest

from service.web.server import transport
from service.web.server.connection import AHEAD_BYTES
from service.web.server.reply import FileBody
from service.web.server.sending import STALLED_SECONDS
from tests.e2e.wire import check_problem, request
from tests.web.server.applications import Held, answering, echo, of_length
from tests.web.server.conftest import Serve
from tests.web.server.serving import SECONDS, Client, Clock, Phase, Served

POST = b"POST /known HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n"


def test_a_request_is_answered_and_the_connection_kept(serve: Serve) -> None:
    served = serve(echo)
    client = served.connect()
    for target in ("/a", "/b"):
        answer = client.get(target).read()
        assert (answer.status, answer.body, answer.closes) == (200, f"GET {target} ".encode(), False)
        assert answer.headers["connection"] == "keep-alive"
    served.reaches(client, Phase.IDLE)


def test_requests_in_one_go_are_answered_one_after_the_other(serve: Serve) -> None:
    served = serve(echo)
    client = served.connect()
    numbers = range(200)
    client.send(b"".join(request("POST", f"/{number}", b"x" * number) for number in numbers))
    for number in numbers:
        assert client.read().body == f"POST /{number} ".encode() + b"x" * number


def test_only_a_limited_amount_after_a_request_is_read(serve: Serve) -> None:
    held = Held()
    served = serve(held)
    client = served.connect()
    client.get("/a")
    assert held.begun.wait(SECONDS)
    ahead = POST % 10_000 + bytes(10_000)
    sent = send_all_that_is_taken(served, client, ahead)
    assert AHEAD_BYTES < len(client.connection.ahead) <= AHEAD_BYTES + len(served.server.short_buffer)
    held.go.set()
    assert client.read().body == b"GET /a "
    for _ in range(sent // len(ahead)):
        assert client.read().body == b"POST /known " + bytes(10_000)


def send_all_that_is_taken(served: Served, client: Client, request: bytes) -> int:
    """Send a request again and again until the server stops reading; return how many bytes it took."""
    sent = 0

    def is_taken() -> bool:
        nonlocal sent
        is_full = client.connection._is_full
        with suppress(BlockingIOError):
            while True:
                sent += client.socket.send(request[sent % len(request) :])
        return is_full

    client.socket.settimeout(0)
    served.until(is_taken, "the end of reading")
    client.socket.settimeout(SECONDS)
    return sent


@pytest.mark.parametrize(
    ("fields", "version", "closes"),
    [
        ((), "1.1", False),
        (("Connection: close",), "1.1", True),
        ((), "1.0", True),
        (("Connection: keep-alive",), "1.0", False),
    ],
)
def test_the_connection_ends_where_the_client_wants_it(
    serve: Serve, fields: tuple[str, ...], version: str, *, closes: bool
) -> None:
    client = serve(echo).connect()
    assert client.get("/", *fields, version=version).read().closes is closes
    if closes:
        assert client.rest() == b""
    else:
        assert client.get("/").read().status == 200


def test_an_invalid_request_is_refused_and_the_connection_ended(serve: Serve) -> None:
    client = serve(echo).connect()
    client.send(request("GET", "/a") + b"nonsense\r\n\r\n" + request("GET", "/b"))
    assert client.read().status == 200
    check_problem(client.read(), "malformed_request", closes=True)
    assert client.rest() == b""


def test_an_answer_that_cannot_be_sent_whole_ends_the_connection(serve: Serve) -> None:
    """Its file is shorter than announced: the reader must notice that something is missing."""
    with tempfile.TemporaryFile() as file:
        file.write(b"abc")
        file.seek(0)
        client = serve(answering(FileBody(file), "200 OK", ("Content-Length", "4"))).connect().get("/")
        assert client.head()[1]["content-length"] == "4"
        with suppress(ConnectionResetError):
            assert client.rest() == b"abc"


def test_what_follows_the_last_request_is_dropped(serve: Serve) -> None:
    """However much it is."""
    held = Held()
    served = serve(held)
    client = served.connect().get("/a", "Connection: close")
    assert held.begun.wait(SECONDS)
    assert send_all_that_is_taken(served, client, bytes(100_000)) > AHEAD_BYTES
    held.go.set()
    assert client.read().closes
    for _ in range(10):
        client.send(bytes(1 << 20))
    client.half_close()
    assert client.rest() == b""
    served.reaches(client, Phase.CLOSED)


@pytest.mark.parametrize("target", ["/known", "/unknown"])
def test_a_refusal_is_logged_and_counted_under_its_route(serve: Serve, monkeypatch, target: str) -> None:
    noted: list[tuple[object, ...]] = []
    monkeypatch.setattr(transport, "record_refusal", lambda *facts: noted.append(facts) or "an id")
    answer = serve(echo).connect().get(target, "Expect: wonders").read()
    check_problem(answer, "expectation_failed", closes=True)
    assert answer.headers["x-request-id"] == "an id"
    assert float(answer.headers["server-timing"].removeprefix("total;dur=")) >= 0
    assert noted == [(417, "expectation_failed", target if target == "/known" else "unmatched", "GET")]


class TestHalfClosing:
    """A client that sends nothing more may still read."""

    def test_gets_the_answer(self, serve: Serve) -> None:
        client = serve(echo).connect()
        answer = client.get("/").half_close().read()
        assert answer.status == 200
        assert client.rest() == b""

    @pytest.mark.parametrize("fields", [(), ("Connection: close",)])
    def test_gets_a_long_answer_however_slowly_it_is_read(self, serve: Serve, fields: tuple[str, ...]) -> None:
        """The connection is closed only once, even if its last bytes wait for the client."""
        served = serve(of_length(100_000))
        client = served.connect(sndbuf=4096).get("/", *fields).half_close()
        served.until(lambda: client.connection.half_closed, "the client's end")
        served.reaches(client, Phase.SENDING)
        assert len(client.read().body) == 100_000
        served.reaches(client, Phase.CLOSED)

    def test_gets_all_answers(self, serve: Serve) -> None:
        held = Held()
        client = serve(held).connect()
        client.send(request("GET", "/a") + request("GET", "/b") + b"\r\n").half_close()
        assert held.begun.wait(SECONDS)
        held.go.set()
        assert [client.read().body for _ in range(2)] == [b"GET /a ", b"GET /b "]
        assert client.rest() == b""

    @pytest.mark.parametrize(
        ("data", "code"),
        [
            (b"GE", "malformed_request"),
            (b"GET / HTTP/1.1\r\nHost: a\r\n", "malformed_request"),
            (POST % 3, "incomplete_body"),
            (POST % 3 + b"ab", "incomplete_body"),
        ],
    )
    def test_within_a_request_is_a_problem(self, serve: Serve, data: bytes, code: str) -> None:
        client = serve(echo).connect()
        check_problem(client.send(data).half_close().read(), code, closes=True)
        assert client.rest() == b""

    @pytest.mark.parametrize("data", [b"", b"\r\n", b"\r"])
    def test_before_a_request_is_the_end(self, serve: Serve, data: bytes) -> None:
        served = serve(echo)
        client = served.connect()
        assert client.send(data).half_close().rest() == b""
        served.reaches(client, Phase.CLOSED)

    def test_with_a_part_of_the_next_request_is_a_problem(self, serve: Serve) -> None:
        client = serve(echo).connect()
        client.send(request("GET", "/a") + b"GET /b").half_close()
        assert client.read().body == b"GET /a "
        check_problem(client.read(), "malformed_request", closes=True)

    def test_ends_what_is_refused_while_it_is_not_read(self, serve: Serve, clock: Clock) -> None:
        """Nothing of it stays for ever, and it is refused only once."""
        served = serve(of_length(60_000))
        client = served.connect(sndbuf=4096)
        client.send(request("GET", "/a") + b"nonsense\r\n\r\n").half_close()
        served.reaches(client, Phase.SENDING)
        for _ in range(2):
            clock.forward(STALLED_SECONDS + 1)
            served.sweep()
        served.reaches(client, Phase.CLOSED)
        assert len(client.rest()) < 60_000
