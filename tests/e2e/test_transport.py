"""Whatever arrives at the socket, the answer is a problem with the right status, and the server keeps serving."""

import socket
from contextlib import ExitStack

import pytest

from service.wire.problems import PROBLEM_TYPES
from tests.e2e.conftest import MAX_BODY_BYTES
from tests.e2e.wire import Connection, check_problem, chunked, request
from tests.support.malformed_requests import CUT, JSON, SAMPLE
from tests.support.servers import Server

CHUNKED = {**JSON, "Transfer_Encoding": "chunked"}


def live(port: int) -> bool:
    with Connection(port) as connection:
        return connection.send(request("GET", "/health/live")).read().document == {"status": "ok"}


def test_a_connection_that_is_reset_does_no_harm(server: Server) -> None:
    for data in (b"GET", CUT["no chunk"], CUT["length"], CUT["chunk cut"]):
        Connection(server.port).send(data).__exit__()
    assert live(server.port)


@pytest.mark.parametrize("chunks", [(SAMPLE,), tuple(SAMPLE[i : i + 1] for i in range(len(SAMPLE)))])
def test_chunks_are_read_whole(server: Server, chunks: tuple[bytes, ...]) -> None:
    with Connection(server.port) as connection:
        whole = connection.send(request("POST", "/v1/curves", SAMPLE, **JSON)).read()
        assert whole.status == 200, whole
        assert not whole.closes
        assert connection.send(request("POST", "/v1/curves", **CHUNKED) + chunked(*chunks)).read().body == whole.body


def test_a_body_of_just_the_limit_is_read(server: Server) -> None:
    body = SAMPLE.ljust(MAX_BODY_BYTES)
    with Connection(server.port) as connection:
        assert connection.send(request("POST", "/v1/curves", body, **JSON)).read().status == 200
        assert connection.send(request("POST", "/v1/curves", **CHUNKED) + chunked(body)).read().status == 200
        assert connection.send(request("POST", "/v1/curves", b"{}", **JSON)).read().status == 422


def test_requests_in_one_go_are_answered_in_order(server: Server) -> None:
    sent = [
        (request("GET", "/nothing"), 404),
        (request("POST", "/v1/curves", SAMPLE, **JSON), 200),
        (request("DELETE", "/v1/curves", b"unread"), 405),
        (request("POST", "/v1/curves", b"{", **JSON), 400),
        (request("POST", "/v1/curves", b"a,b", Content_Type="image/png"), 415),
        (request("POST", "/v1/curves", SAMPLE, **JSON, Accept="image/gif"), 406),
        (request("GET", "/health/ready"), 200),
        (request("POST", "/v1/curves", **CHUNKED) + chunked(SAMPLE), 200),
        (b"nonsense\r\n\r\n", 400),
    ]
    with Connection(server.port) as connection:
        connection.send(b"".join(data for data, _ in sent))
        answers = [connection.read() for _ in sent]
        assert [answer.status for answer in answers] == [status for _, status in sent]
        assert [answer.closes for answer in answers] == [False] * (len(sent) - 1) + [True]
        assert connection.is_closed()


@pytest.mark.parametrize("protocol", ["websocket", "h2c"])
def test_another_protocol_is_not_taken_up(server: Server, protocol: str) -> None:
    with Connection(server.port) as connection:
        head = request("POST", "/v1/curves", SAMPLE, **JSON, Connection="Upgrade", Upgrade=protocol)
        assert connection.send(head).read().status == 200


def test_what_cannot_be_read_has_no_content_for_head(server: Server) -> None:
    with Connection(server.port) as connection:
        connection.send(b"HEAD /health/live HTTP/1.1\r\n\r\n")  # no Host
        head, _, content = b"".join(iter(lambda: connection.socket.recv(1 << 16), b"")).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 400 Bad Request\r\n")
    assert content == b""


@pytest.mark.parametrize(
    ("target", "headers", "code"),
    [
        ("/nothing", JSON, "not_found"),
        ("/v1/curves", {**JSON, "Accept": "image/gif"}, "not_acceptable"),
        ("/v1/curves", {"Content_Type": "image/png"}, "unsupported_media_type"),
    ],
)
def test_a_long_unwanted_body_ends_the_connection(
    server: Server, target: str, headers: dict[str, str], code: str
) -> None:
    for data in (
        request("POST", target, b"x" * 100_000, **headers),
        request("POST", target, **headers, Transfer_Encoding="chunked") + chunked(b"x" * 100_000),
    ):
        with Connection(server.port) as connection:
            check_problem(connection.send(data).read(), code, closes=True)


def test_a_client_that_sends_all_before_it_reads_gets_its_413(server: Server) -> None:
    with Connection(server.port) as connection:
        body = b" " * (30 * MAX_BODY_BYTES)
        check_problem(connection.send(request("POST", "/v1/curves", body, **JSON)).read(), "body_too_large")


@pytest.mark.parametrize(
    ("headers", "code"),
    [
        ({**JSON, "Content_Length": str(MAX_BODY_BYTES + 1)}, "body_too_large"),
        ({"Content_Type": "image/png", "Content_Length": "9"}, "unsupported_media_type"),
        ({**JSON, "Content_Length": "9", "Accept": "image/gif"}, "not_acceptable"),
    ],
)
def test_a_body_that_is_refused_by_its_head_is_not_asked_for(
    server: Server, headers: dict[str, str], code: str
) -> None:
    with Connection(server.port) as connection:
        connection.send(request("POST", "/v1/curves", **headers, Expect="100-continue"))
        assert connection.socket.recv(12, socket.MSG_PEEK) == f"HTTP/1.1 {PROBLEM_TYPES[code].status}".encode()
        check_problem(connection.read(), code, closes=True)
        assert connection.is_closed()


def test_a_chunked_body_is_asked_for(server: Server) -> None:
    with Connection(server.port) as connection:
        connection.send(request("POST", "/v1/curves", **CHUNKED, Expect="100-continue"))
        assert connection.socket.recv(25) == b"HTTP/1.1 100 Continue\r\n\r\n"
        assert connection.send(chunked(SAMPLE)).read().status == 200
        assert connection.send(request("GET", "/health/live")).read().status == 200


@pytest.mark.parametrize(
    "header", ["Host: a b", "Host: [", "Host: xn--a.\xff", "SCRIPT_NAME: /x", "PATH_INFO: /x", "X-Forwarded-Proto: x"]
)
def test_strange_headers_cause_no_failure(server: Server, header: str) -> None:
    with Connection(server.port) as connection:
        answer = connection.send(f"GET /health/live HTTP/1.1\r\n{header}\r\n\r\n".encode("latin-1")).read()
        assert answer.status in {200, 400}
        if answer.status == 400:
            check_problem(answer, "malformed_request")


@pytest.mark.parametrize(
    ("line", "status"),
    [
        ("GET /%ff%00%0d%0a HTTP/1.1", 404),
        ("GET /health//live HTTP/1.1", 404),
        ("GET /health/live/ HTTP/1.1", 404),
        ("GET /../health/live HTTP/1.1", 404),
        ("GET http://localhost/health/live HTTP/1.1", 200),
        ("OPTIONS * HTTP/1.1", 404),
        ("CONNECT localhost:80 HTTP/1.1", 404),
        ("TRACE /health/live HTTP/1.1", 405),
        ("FROB /v1/curves HTTP/1.1", 405),
        ("GET /docs/../../../../etc/passwd HTTP/1.1", 404),
        ("GET /docs/%2e%2e/%2e%2e/setup.py HTTP/1.1", 404),
        ("GET /problems/%3Cscript%3E HTTP/1.1", 404),
        ("GET /health/live HTTP/1.0", 200),
        ("POST /v1/curves?a=%ff HTTP/1.1\r\nContent-Type: application/json", 400),
    ],
)
def test_strange_targets_get_their_status(server: Server, line: str, status: int) -> None:
    with Connection(server.port) as connection:
        answer = connection.send(f"{line}\r\nHost: localhost\r\n\r\n".encode()).read()
        assert answer.status == status
        if status >= 400:
            code = next(code for code, problem in PROBLEM_TYPES.items() if problem.status == status)
            check_problem(answer, code)


def test_silent_and_slow_clients_do_not_stop_the_others(server: Server) -> None:
    with ExitStack() as clients:
        for _ in range(50):
            clients.enter_context(Connection(server.port))
        clients.enter_context(Connection(server.port)).send(CUT["length"])
        clients.enter_context(Connection(server.port)).send(b"GET / HT")
        with Connection(server.port) as connection:
            assert connection.send(request("GET", "/health/live")).read().status == 200
