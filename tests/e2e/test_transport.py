"""Whatever arrives at the socket, the answer is a problem with the right status, and the server serves on."""

import socket
import time
from contextlib import ExitStack

import pytest

from service.wire.problems import PROBLEM_TYPES
from tests.e2e.conftest import MAX_BODY_BYTES, Server
from tests.e2e.wire import Connection, check_problem, chunked, request

SAMPLE = b'{"scores": [0.9, 0.6, 0.4, 0.1], "labels": [1, 0, 1, 0], "include": ["auc"]}'
JSON = {"Content_Type": "application/json"}
CHUNKED = {**JSON, "Transfer_Encoding": "chunked"}
POST = b"POST /v1/curves HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"


def live(port: int) -> bool:
    with Connection(port) as connection:
        return connection.send(request("GET", "/health/live")).read().document == {"status": "ok"}


UNREADABLE = {
    "no request line": (b"hello\r\n\r\n", "malformed_request"),
    "two words": (b"GET /\r\n\r\n", "malformed_request"),
    "empty target": (b"GET  HTTP/1.1\r\n\r\n", "malformed_request"),
    "relative target": (b"GET v1/curves HTTP/1.1\r\n\r\n", "malformed_request"),
    "asterisk": (b"GET * HTTP/1.1\r\n\r\n", "malformed_request"),
    "markup": (b"<script>alert(1)</script> / HTTP/1.1\r\n\r\n", "malformed_request"),
    "lower-case method": (b"get / HTTP/1.1\r\n\r\n", "malformed_request"),
    "short method": (b"G / HTTP/1.1\r\n\r\n", "malformed_request"),
    "NUL in the line": (b"GET /\0 HTTP/1.1\r\n\r\n", "malformed_request"),
    "NULs": (b"\0\0\0\0\r\n\r\n", "malformed_request"),
    "bare LF": (b"GET / HTTP/1.1\nHost: a\n\n", "malformed_request"),
    "HTTP/9.9": (b"GET / HTTP/9.9\r\n\r\n", "malformed_request"),
    "HTTP/2 preface": (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "malformed_request"),
    "no version": (b"GET / HTTX\r\n\r\n", "malformed_request"),
    "TLS hello": (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", "malformed_request"),
    "long line": (b"GET /?" + b"a" * 9000 + b" HTTP/1.1\r\n\r\n", "uri_too_long"),
    "endless line": (b"GET /?" + b"a" * 100_000, "uri_too_long"),
    "header without colon": (b"GET / HTTP/1.1\r\nHost\r\n\r\n", "malformed_request"),
    "header without name": (b"GET / HTTP/1.1\r\n: a\r\n\r\n", "malformed_request"),
    "space before colon": (b"GET / HTTP/1.1\r\nHost : a\r\n\r\n", "malformed_request"),
    "NUL in a header": (b"GET / HTTP/1.1\r\nHost: a\0b\r\n\r\n", "malformed_request"),
    "folded header": (b"GET / HTTP/1.1\r\nHost: a\r\n b\r\n\r\n", "malformed_request"),
    "two hosts": (b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", "malformed_request"),
    "no host": (b"GET /health/live HTTP/1.1\r\n\r\n", "malformed_request"),
    "two types": (POST + b"Content-Type: text/csv\r\n\r\n", "malformed_request"),
    "long header": (b"GET / HTTP/1.1\r\nX: " + b"a" * 9000 + b"\r\n\r\n", "headers_too_large"),
    "many headers": (b"GET / HTTP/1.1\r\n" + b"X: a\r\n" * 200 + b"\r\n", "headers_too_large"),
    "endless headers": (b"GET / HTTP/1.1\r\nX: " + b"a" * 2_000_000, "headers_too_large"),
    "expectation": (POST + b"Expect: wonders\r\nContent-Length: 2\r\n\r\n{}", "expectation_failed"),
    "two lengths": (POST + b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{} ", "malformed_request"),
    "same length twice": (POST + b"Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}", "malformed_request"),
    "list of lengths": (POST + b"Content-Length: 2, 2\r\n\r\n{}", "malformed_request"),
    "negative length": (POST + b"Content-Length: -2\r\n\r\n{}", "malformed_request"),
    "signed length": (POST + b"Content-Length: +2\r\n\r\n{}", "malformed_request"),
    "hexadecimal length": (POST + b"Content-Length: 0x2\r\n\r\n{}", "malformed_request"),
    "superscript length": (POST + b"Content-Length: \xb2\r\n\r\n{}", "malformed_request"),
    "empty length": (POST + b"Content-Length:\r\n\r\n{}", "malformed_request"),
    "endless length": (POST + b"Content-Length: " + b"9" * 5000 + b"\r\n\r\n{}", "malformed_request"),
    "length and chunks": (
        POST + b"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n" + chunked(b"{}"),
        "malformed_request",
    ),
    "unknown coding": (POST + b"Transfer-Encoding: rot13\r\n\r\n", "malformed_request"),
    "gzip coding": (POST + b"Transfer-Encoding: gzip\r\n\r\n", "malformed_request"),
    "gzip and chunked": (POST + b"Transfer-Encoding: gzip, chunked\r\n\r\n" + chunked(SAMPLE), "malformed_request"),
    "chunked twice": (POST + b"Transfer-Encoding: chunked, chunked\r\n\r\n", "malformed_request"),
    "chunks in HTTP/1.0": (
        b"POST /v1/curves HTTP/1.0\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "malformed_request",
    ),
    "no chunk size": (POST + b"Transfer-Encoding: chunked\r\n\r\n\r\n\r\n", "malformed_request"),
    "bad chunk size": (POST + b"Transfer-Encoding: chunked\r\n\r\nxyz\r\n{}\r\n0\r\n\r\n", "malformed_request"),
    "negative chunk": (POST + b"Transfer-Encoding: chunked\r\n\r\n-2\r\n{}\r\n0\r\n\r\n", "malformed_request"),
    "endless chunk size": (POST + b"Transfer-Encoding: chunked\r\n\r\n" + b"0" * 20_000, "malformed_request"),
    "bad chunk extension": (POST + b"Transfer-Encoding: chunked\r\n\r\n2;\0\r\n{}\r\n0\r\n\r\n", "malformed_request"),
    "chunk longer than said": (POST + b"Transfer-Encoding: chunked\r\n\r\n2\r\n{}{}\r\n0\r\n\r\n", "malformed_request"),
    "bad trailer": (POST + b"Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\nHost: a\r\n\r\n", "malformed_request"),
    "long trailer": (
        POST + b"Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\nX: " + b"a" * 9000 + b"\r\n\r\n",
        "headers_too_large",
    ),
    "length over the limit": (POST + b"Content-Length: %d\r\n\r\n" % (MAX_BODY_BYTES + 1), "body_too_large"),
    "length beyond all": (POST + b"Content-Length: " + b"9" * 30 + b"\r\n\r\n", "body_too_large"),
    "first chunk over the limit": (
        POST + b"Transfer-Encoding: chunked\r\n\r\n%x\r\n" % (MAX_BODY_BYTES + 1) + b" " * (MAX_BODY_BYTES + 1),
        "body_too_large",
    ),
    "chunks over the limit": (
        request("POST", "/v1/curves", **CHUNKED) + chunked(*[SAMPLE + b" " * 10_000] * 110),
        "body_too_large",
    ),
}


@pytest.mark.parametrize("name", UNREADABLE)
def test_what_cannot_be_read_is_a_problem_and_ends_the_connection(server: Server, name: str) -> None:
    data, code = UNREADABLE[name]
    with Connection(server.port) as connection:
        check_problem(connection.send(data).read(), code, closes=True)
        assert connection.half_close().is_closed()
    assert live(server.port)


SHORT = {
    "length": request("POST", "/v1/curves", **JSON, Content_Length="1000") + SAMPLE,
    "length, one byte": request("POST", "/v1/curves", **JSON, Content_Length=str(len(SAMPLE) + 1)) + SAMPLE,
    "length, no body": request("POST", "/v1/curves", **JSON, Content_Length="1000"),
    "length, big": request("POST", "/v1/curves", **JSON, Content_Length="900000") + SAMPLE + b" " * 800_000,
    "no chunk": request("POST", "/v1/curves", **CHUNKED),
    "chunk cut": request("POST", "/v1/curves", **CHUNKED) + b"fff\r\n" + SAMPLE,
    "no last chunk": request("POST", "/v1/curves", **CHUNKED) + chunked(SAMPLE)[: -len(b"0\r\n\r\n")],
}


@pytest.mark.parametrize("name", SHORT)
def test_a_body_cut_short_is_never_evaluated(server: Server, name: str) -> None:
    with Connection(server.port) as connection:
        answer = connection.send(SHORT[name]).half_close().read()
        check_problem(answer, "incomplete_body", closes=True)
        assert connection.is_closed()


@pytest.mark.parametrize("end", [b"0\r\n", b"0", b"0\r\nX: a\r\n"])
def test_chunks_without_their_last_line_are_never_evaluated(server: Server, end: bytes) -> None:
    whole = request("POST", "/v1/curves", **CHUNKED) + chunked(SAMPLE)
    with Connection(server.port) as connection:
        answer = connection.send(whole.removesuffix(b"0\r\n\r\n") + end).half_close().read()
        assert answer.status == 400
        check_problem(answer, answer.document["type"].removeprefix("/problems/"), closes=True)


@pytest.mark.parametrize("data", [b"GET", b"GET / HTTP/1.1\r\n", b"GET / HTTP/1.1\r\nHost: a", POST])
def test_a_head_cut_short_is_a_problem(server: Server, data: bytes) -> None:
    with Connection(server.port) as connection:
        check_problem(connection.send(data).half_close().read(), "malformed_request", closes=True)


def test_silence_is_answered_with_silence(server: Server) -> None:
    with Connection(server.port) as connection:
        assert connection.half_close().is_closed()


def test_a_connection_that_is_reset_harms_nobody(server: Server) -> None:
    for data in (b"GET", POST, SHORT["length"], SHORT["chunk cut"]):
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
        (request("POST", "/v1/curves", SAMPLE, **JSON, Accept="image/png"), 406),
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


@pytest.mark.parametrize(
    "lines",
    ["Connection: close", "Connection: keep-alive, Close", "Connection: x,close", "Connection: x\r\nConnection: close"],
)
def test_who_asks_for_the_last_answer_gets_it(server: Server, lines: str) -> None:
    with Connection(server.port) as connection:
        answer = connection.send(f"GET /health/live HTTP/1.1\r\nHost: a\r\n{lines}\r\n\r\n".encode()).read()
        assert answer.status == 200
        assert answer.closes
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
        ("/v1/curves", {**JSON, "Accept": "image/png"}, "not_acceptable"),
        ("/v1/curves", {"Content_Type": "image/png"}, "unsupported_media_type"),
    ],
)
def test_a_long_body_nobody_wants_ends_the_connection(
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


def test_100_continue_is_met(server: Server) -> None:
    with Connection(server.port) as connection:
        data = request("POST", "/v1/curves", **JSON, Content_Length=str(len(SAMPLE)), Expect="100-continue")
        connection.send(data)
        assert connection.socket.recv(25) == b"HTTP/1.1 100 Continue\r\n\r\n"
        assert connection.send(SAMPLE).read().status == 200


@pytest.mark.parametrize(
    ("headers", "code"),
    [
        ({**JSON, "Content_Length": str(MAX_BODY_BYTES + 1)}, "body_too_large"),
        ({"Content_Type": "image/png", "Content_Length": "9"}, "unsupported_media_type"),
        ({**JSON, "Content_Length": "9", "Accept": "image/png"}, "not_acceptable"),
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


def test_a_body_that_comes_with_its_head_is_not_asked_for(server: Server) -> None:
    with Connection(server.port) as connection:
        connection.send(request("POST", "/v1/curves", SAMPLE, **JSON, Expect="100-continue"))
        assert connection.socket.recv(12, socket.MSG_PEEK) == b"HTTP/1.1 200"
        assert not connection.read().closes


@pytest.mark.parametrize(
    "header", ["Host: a b", "Host: [", "Host: xn--a.\xff", "SCRIPT_NAME: /x", "PATH_INFO: /x", "X-Forwarded-Proto: x"]
)
def test_strange_headers_are_no_failure(server: Server, header: str) -> None:
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
        clients.enter_context(Connection(server.port)).send(SHORT["length"])
        clients.enter_context(Connection(server.port)).send(b"GET / HT")
        with Connection(server.port, timeout=8.0) as connection:  # theirs are ended after 10 s
            assert connection.send(request("GET", "/health/live")).read().status == 200


def test_a_request_may_come_in_pieces(server: Server) -> None:
    with Connection(server.port) as connection:
        for piece in (b"POST /v1/cur", b"ves HTTP/1.1\r\nHost: a\r\nContent-", b"Length: 2\r\n\r", b"\n{", b"}"):
            time.sleep(0.02)
            connection.send(piece)
        check_problem(connection.read(), "invalid_request", closes=False)
