"""Bytes that are not a complete HTTP request, with the problems that answer them: one list for all servers.

Each is sent to the parser alone, to the server in one process, through gunicorn, and through nginx.
"""

from tests.e2e.wire import chunked, request

JSON = {"Content_Type": "application/json"}
GET = b"GET / HTTP/1.1\r\nHost: a\r\n"
POST = b"POST /v1/curves HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n"
CHUNKED = POST + b"Transfer-Encoding: chunked\r\n\r\n"
OK = b"GET /after HTTP/1.1\r\nHost: a\r\n\r\n"

MALFORMED: dict[str, bytes] = {
    "no request line": b"hello\r\n\r\n",
    "one empty line too many": b"\r\r\n" + OK,
    "two words": b"GET /\r\n\r\n",
    "four words": b"GET / a HTTP/1.1\r\nHost: a\r\n\r\n",
    "empty target": b"GET  HTTP/1.1\r\nHost: a\r\n\r\n",
    "two spaces": b"GET  / HTTP/1.1\r\nHost: a\r\n\r\n",
    "tab for a space": b"GET\t/ HTTP/1.1\r\nHost: a\r\n\r\n",
    "space before the method": b" GET / HTTP/1.1\r\nHost: a\r\n\r\n",
    "space after the version": b"GET / HTTP/1.1 \r\nHost: a\r\n\r\n",
    "relative target": b"GET v1/curves HTTP/1.1\r\nHost: a\r\n\r\n",
    "asterisk": b"GET * HTTP/1.1\r\nHost: a\r\n\r\n",
    "authority": b"GET a:80 HTTP/1.1\r\nHost: a\r\n\r\n",
    "no version": b"GET / HTTX\r\nHost: a\r\n\r\n",
    "NUL in the target": b"GET /\0 HTTP/1.1\r\nHost: a\r\n\r\n",
    "byte over 127 in the target": b"GET /\xe9 HTTP/1.1\r\nHost: a\r\n\r\n",
    "markup": b"<script>alert(1)</script> / HTTP/1.1\r\n\r\n",
    "lower-case method": b"get / HTTP/1.1\r\nHost: a\r\n\r\n",
    "short method": b"G / HTTP/1.1\r\nHost: a\r\n\r\n",
    "NULs": b"\0\0\0\0\r\n\r\n",
    "bare LF": b"GET / HTTP/1.1\nHost: a\n\n",
    "bare LF after a field": b"GET / HTTP/1.1\r\nHost: a\n\r\n",
    "bare LF at the end of the head": b"GET / HTTP/1.1\r\nHost: a\r\n\n",
    "bare CR": b"GET / HTTP/1.1\rHost: a\r\n\r\n",
    "bare CR in a field": GET + b"X: a\rb\r\n\r\n",
    "HTTP/0.9": b"GET /\r\n",
    "HTTP/2.0": b"GET / HTTP/2.0\r\nHost: a\r\n\r\n",
    "HTTP/1.2": b"GET / HTTP/1.2\r\nHost: a\r\n\r\n",
    "HTTP/1.10": b"GET / HTTP/1.10\r\nHost: a\r\n\r\n",
    "HTTP/9.9": b"GET / HTTP/9.9\r\nHost: a\r\n\r\n",
    "http/1.1": b"GET / http/1.1\r\nHost: a\r\n\r\n",
    "HTTP/2 preface": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "TLS hello": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
    "PROXY line": b"PROXY TCP4 192.0.2.1 192.0.2.2 1 2\r\n" + OK,
    "field without colon": b"GET / HTTP/1.1\r\nHost\r\n\r\n",
    "field without name": GET + b": a\r\n\r\n",
    "space before colon": GET + b"X : a\r\n\r\n",
    "space before name": b"GET / HTTP/1.1\r\n Host: a\r\n\r\n",
    "folded field": GET + b"X: a\r\n b\r\n\r\n",
    "name with brackets": GET + b"X(y): a\r\n\r\n",
    "name with NUL": GET + b"X\0: a\r\n\r\n",
    "name over 127": GET + b"X\xe9: a\r\n\r\n",
    "NUL in a field": GET + b"X: a\0b\r\n\r\n",
    "DEL in a field": GET + b"X: a\x7fb\r\n\r\n",
    "no host": b"GET / HTTP/1.1\r\n\r\n",
    "two hosts": GET + b"Host: a\r\n\r\n",
    "two types": POST + b"Content-Type: application/json\r\n\r\n",
    "two other types": POST + b"Content-Type: text/csv\r\n\r\n",
    "two lengths": POST + b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{} ",
    "the same length twice": POST + b"Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}",
    "list of lengths": POST + b"Content-Length: 2, 2\r\n\r\n{}",
    "negative length": POST + b"Content-Length: -2\r\n\r\n{}",
    "signed length": POST + b"Content-Length: +2\r\n\r\n{}",
    "length with an underscore": POST + b"Content-Length: 1_0\r\n\r\n{}",
    "hexadecimal length": POST + b"Content-Length: 0x2\r\n\r\n{}",
    "superscript length": POST + b"Content-Length: \xb2\r\n\r\n{}",
    "fraction of a length": POST + b"Content-Length: 2.0\r\n\r\n{}",
    "empty length": POST + b"Content-Length:\r\n\r\n{}",
    "endless length": POST + b"Content-Length: " + b"9" * 5000 + b"\r\n\r\n{}",
    "length and chunks": POST + b"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n" + chunked(b"{}"),
    "chunks and length": POST + b"Transfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n" + chunked(b"{}"),
    "unknown coding": POST + b"Transfer-Encoding: rot13\r\n\r\n",
    "gzip coding": POST + b"Transfer-Encoding: gzip\r\n\r\n",
    "gzip, then chunked": POST + b"Transfer-Encoding: gzip, chunked\r\n\r\n" + chunked(b"{}"),
    "gzip, then chunked, in two fields": (
        POST + b"Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n" + chunked(b"{}")
    ),
    "identity, then chunked": POST + b"Transfer-Encoding: identity, chunked\r\n\r\n" + chunked(b"{}"),
    "chunked, then gzip": POST + b"Transfer-Encoding: chunked, gzip\r\n\r\n" + chunked(b"{}"),
    "chunked twice": POST + b"Transfer-Encoding: chunked, chunked\r\n\r\n",
    "chunked in two fields": POST + b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n",
    "chunked with more": POST + b"Transfer-Encoding: xchunked\r\n\r\n" + chunked(b"{}"),
    "chunked with a parameter": POST + b"Transfer-Encoding: chunked;a=b\r\n\r\n" + chunked(b"{}"),
    "no coding": POST + b"Transfer-Encoding:\r\n\r\n" + chunked(b"{}"),
    "chunks in HTTP/1.0": b"POST / HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n" + chunked(b"{}"),
    "no chunk size": CHUNKED + b"\r\n\r\n",
    "bad chunk size": CHUNKED + b"xyz\r\n{}\r\n0\r\n\r\n",
    "negative chunk": CHUNKED + b"-2\r\n{}\r\n0\r\n\r\n",
    "signed chunk": CHUNKED + b"+2\r\n{}\r\n0\r\n\r\n",
    "chunk size with 0x": CHUNKED + b"0x2\r\n{}\r\n0\r\n\r\n",
    "space before the chunk size": CHUNKED + b" 2\r\n{}\r\n0\r\n\r\n",
    "space after the chunk size": CHUNKED + b"2 \r\n{}\r\n0\r\n\r\n",
    "endless chunk size": CHUNKED + b"0" * 20_000,
    "chunk size that ends with LF": CHUNKED + b"2\n{}\r\n0\r\n\r\n",
    "bad extension": CHUNKED + b"2;\0\r\n{}\r\n0\r\n\r\n",
    "bare CR in an extension": CHUNKED + b"2;a\rb\r\n{}\r\n0\r\n\r\n",
    "chunk longer than it says": CHUNKED + b"2\r\n{}{}\r\n0\r\n\r\n",
    "chunk that ends with LF": CHUNKED + b"2\r\n{}\n0\r\n\r\n",
    "length as a trailer": CHUNKED + b"2\r\n{}\r\n0\r\nContent-Length: 2\r\n\r\n",
    "trailer without colon": CHUNKED + b"2\r\n{}\r\n0\r\nX\r\n\r\n",
    "trailer without name": CHUNKED + b"2\r\n{}\r\n0\r\n: a\r\n\r\n",
    "request as a trailer": CHUNKED + b"2\r\n{}\r\n0\r\nGET http://a/ HTTP/1.1\r\n\r\n",
    "NUL in a trailer": CHUNKED + b"2\r\n{}\r\n0\r\nX: a\0b\r\n\r\n",
    "folded trailer": CHUNKED + b"2\r\n{}\r\n0\r\nX: a\r\n b\r\n\r\n",
    "host as a trailer": CHUNKED + b"2\r\n{}\r\n0\r\nHost: a\r\n\r\n",
    "tiny chunks": CHUNKED + b"1\r\nx\r\n" * 4400,
}

OTHERS: dict[str, tuple[bytes, str]] = {
    "long line": (b"GET /?" + b"a" * 9000 + b" HTTP/1.1\r\n\r\n", "uri_too_long"),
    "endless line": (b"GET /?" + b"a" * 100_000, "uri_too_long"),
    "long field": (GET + b"X: " + b"a" * 9000 + b"\r\n\r\n", "headers_too_large"),
    "endless field": (GET + b"X: " + b"a" * 2_000_000, "headers_too_large"),
    "many fields": (GET + b"X: a\r\n" * 100 + b"\r\n", "headers_too_large"),
    "many long fields": (GET + (b"X: " + b"a" * 8000 + b"\r\n") * 5 + b"\r\n", "headers_too_large"),
    "endless empty lines": (b"\r\n" * 40_000, "headers_too_large"),
    "long trailer": (CHUNKED + b"2\r\n{}\r\n0\r\nX: " + b"a" * 9000 + b"\r\n\r\n", "headers_too_large"),
    "many trailers": (CHUNKED + b"2\r\n{}\r\n0\r\n" + b"X: a\r\n" * 100 + b"\r\n", "headers_too_large"),
    "many long trailers": (
        CHUNKED + b"2\r\n{}\r\n0\r\n" + (b"X: " + b"a" * 1000 + b"\r\n") * 20 + b"\r\n",
        "headers_too_large",
    ),
    "many long extensions": (CHUNKED + (b"1;a=" + b"b" * 100 + b"\r\nx\r\n") * 200, "headers_too_large"),
    "expectation": (POST + b"Expect: wonders\r\nContent-Length: 2\r\n\r\n{}", "expectation_failed"),
    "expectations": (POST + b"Expect: 100-continue, wonders\r\n\r\n", "expectation_failed"),
    "two expectations": (POST + b"Expect: 100-continue\r\nExpect: wonders\r\n\r\n", "expectation_failed"),
}


def problems(body_bytes: int) -> dict[str, tuple[bytes, str]]:
    """List what a server with this limit for bodies refuses: {name: (bytes, the code of their problem)}."""
    more = body_bytes + 1
    over = {
        "body": POST + b"Content-Length: %d\r\n\r\n" % more + bytes(more),
        "length beyond all": POST + b"Content-Length: " + b"9" * 30 + b"\r\n\r\n" + bytes(more),
        "first chunk": CHUNKED + chunked(bytes(more)),
        "chunks": CHUNKED + chunked(*[bytes(body_bytes // 1000)] * 1001),
        "announced chunk": CHUNKED + b"%x\r\n" % more,
        "second announced chunk": CHUNKED + b"1\r\n{\r\n%x\r\n" % body_bytes,
        "chunk beyond all": CHUNKED + b"FFFFFFFFFFFFFFFF\r\n",
    }
    return (
        {name: (data, "malformed_request") for name, data in MALFORMED.items()}
        | OTHERS
        | {f"{name} over the limit": (data, "body_too_large") for name, data in over.items()}
    )


SAMPLE = b'{"scores": [0.9, 0.6, 0.4, 0.1], "labels": [1, 0, 1, 0], "include": ["auc"]}'
_CHUNKS = request("POST", "/v1/curves", **JSON, Transfer_Encoding="chunked")
_WITHOUT_END = _CHUNKS + chunked(SAMPLE)[: -len(b"0\r\n\r\n")]

CUT: dict[str, bytes] = {
    "length": request("POST", "/v1/curves", **JSON, Content_Length="1000") + SAMPLE,
    "length, one byte": request("POST", "/v1/curves", **JSON, Content_Length=str(len(SAMPLE) + 1)) + SAMPLE,
    "length, no body": request("POST", "/v1/curves", **JSON, Content_Length="1000"),
    "length, big": request("POST", "/v1/curves", **JSON, Content_Length="900000") + SAMPLE + b" " * 800_000,
    "no chunk": _CHUNKS,
    "chunk cut": _CHUNKS + b"fff\r\n" + SAMPLE,
    "no last chunk": _WITHOUT_END,
    "no last line": _WITHOUT_END + b"0\r\n",
    "no end of the last size": _WITHOUT_END + b"0",
    "no end of the trailers": _WITHOUT_END + b"0\r\nX: a\r\n",
}
"""Bodies without their ends, whose clients send nothing more."""
