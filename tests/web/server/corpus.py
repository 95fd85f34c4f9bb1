"""Bytes that are requests, and bytes that are not, for a server with bodies of up to MAX_BODY_BYTES."""

from tests.e2e.wire import chunked
from tests.support.malformed_requests import GET, OK, problems
from tests.web.server.reading import MAX_BODY_BYTES

POST = b"POST / HTTP/1.1\r\nHost: a\r\n"
CHUNKED = POST + b"Transfer-Encoding: chunked\r\n\r\n"

PROBLEMS = problems(MAX_BODY_BYTES)

ABC_AND_AFTER: list[tuple[str, str, bytes | None]] = [("POST", "/", b"abc"), ("GET", "/after", b"")]

REQUESTS: dict[str, tuple[bytes, list[tuple[str, str, bytes | None]]]] = {
    "plain": (GET + b"\r\n", [("GET", "/", b"")]),
    "empty lines before": (b"\r\n\r\n\r\n" + GET + b"\r\n", [("GET", "/", b"")]),
    "empty lines between": (OK + b"\r\n\r\n" + OK, [("GET", "/after", b"")] * 2),
    "empty lines at the end": (OK + b"\r\n\r\n\r", [("GET", "/after", b"")]),
    "HTTP/1.0": (b"GET / HTTP/1.0\r\n\r\n" + OK, [("GET", "/", b""), ("GET", "/after", b"")]),
    "long method": (b"ABCDEFGHIJKLMNOPQRST / HTTP/1.1\r\nHost: a\r\n\r\n", [("ABCDEFGHIJKLMNOPQRST", "/", b"")]),
    "any options": (b"OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n", [("OPTIONS", "*", b"")]),
    "connect": (b"CONNECT a:80 HTTP/1.1\r\nHost: a\r\n\r\n", [("CONNECT", "a:80", b"")]),
    "absolute": (b"GET http://b/c?d HTTP/1.1\r\nHost: a\r\n\r\n", [("GET", "/c?d", b"")]),
    "obsolete text": (GET + b"X: \xe9\r\n\r\n", [("GET", "/", b"")]),
    "white space around values": (GET + b"X:\t a \t\r\nY:\r\n\r\n", [("GET", "/", b"")]),
    "body": (POST + b"Content-Length: 3\r\n\r\nabc" + OK, ABC_AND_AFTER),
    "body of none": (POST + b"Content-Length: 0\r\n\r\n" + OK, [("POST", "/", b""), ("GET", "/after", b"")]),
    "length with zeros": (POST + b"Content-Length: 003\r\n\r\nabc", [("POST", "/", b"abc")]),
    "body of a GET": (GET + b"Content-Length: 3\r\n\r\nabc" + OK, [("GET", "/", b"abc"), ("GET", "/after", b"")]),
    "body like a request": (POST + b"Content-Length: %d\r\n\r\n" % len(OK) + OK, [("POST", "/", OK)]),
    "body that is cut": (POST + b"Content-Length: 3\r\n\r\nab", [("POST", "/", None)]),
    "body of the limit": (POST + b"Content-Length: 10000\r\n\r\n" + bytes(10_000), [("POST", "/", bytes(10_000))]),
    "chunks": (CHUNKED + chunked(b"abc", b"de") + OK, [("POST", "/", b"abcde"), ("GET", "/after", b"")]),
    "Chunked": (POST + b"Transfer-Encoding: Chunked\r\n\r\n" + chunked(b"ab"), [("POST", "/", b"ab")]),
    "no chunk": (CHUNKED + chunked() + OK, [("POST", "/", b""), ("GET", "/after", b"")]),
    "long sizes": (CHUNKED + b"0003\r\nabc\r\n00\r\n\r\n", [("POST", "/", b"abc")]),
    "sizes in both cases": (
        CHUNKED + b"a\r\n0123456789\r\nA\r\n0123456789\r\n0\r\n\r\n",
        [("POST", "/", b"01234567890123456789")],
    ),
    "extensions": (
        CHUNKED + b'3;a=b;c="d;e"\r\nabc\r\n0;f\r\n\r\n' + OK,
        ABC_AND_AFTER,
    ),
    "trailers": (
        CHUNKED + b"3\r\nabc\r\n0\r\nX: a\r\nY: b\r\n\r\n" + OK,
        ABC_AND_AFTER,
    ),
    "chunk that is cut": (CHUNKED + b"3\r\nab", [("POST", "/", None)]),
    "no last chunk": (CHUNKED + b"3\r\nabc\r\n", [("POST", "/", None)]),
    "no last line": (CHUNKED + b"3\r\nabc\r\n0\r\nX: a\r\n", [("POST", "/", None)]),
    "small chunks, but few": (CHUNKED + chunked(*[b"x"] * 2000), [("POST", "/", b"x" * 2000)]),
    "many chunks": (CHUNKED + chunked(*[b"abcd"] * 2400), [("POST", "/", b"abcd" * 2400)]),
}
"""{name: (bytes, the requests in them: method, target, body, which is None if it is incomplete)}"""
