"""A connection to the server at the level of bytes, and a strict reader of answers."""

import socket
from http.client import parse_headers
from typing import Self

from service.wire.problems import PROBLEM_JSON, PROBLEM_TYPES
from tests.support.clients import Answer

SECONDS = 60.0
"""How long a test waits for what should come at once, so that it passes on a busy machine, too."""


class Connection:
    """One TCP connection; every wait is bounded."""

    def __init__(self, port: int, timeout: float = SECONDS) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=timeout)
        self._file = self.socket.makefile("rb")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()
        self.socket.close()

    def send(self, data: bytes) -> "Connection":
        self.socket.sendall(data)
        return self

    def half_close(self) -> "Connection":
        self.socket.shutdown(socket.SHUT_WR)
        return self

    def read(self) -> Answer:
        """Read one answer, which must have a Content-Length."""
        version, status, _reason = self._file.readline().decode("ascii").split(" ", 2)
        assert version in {"HTTP/1.1", "HTTP/1.0"}
        headers = {name.lower(): value for name, value in parse_headers(self._file).items()}
        if status == "100":
            return self.read()
        length = int(headers["content-length"])
        body = self._file.read(length)
        assert len(body) == length
        return Answer(int(status), headers, body)

    def is_closed(self) -> bool:
        """Whether the server has ended the connection and sent nothing more."""
        return self._file.read(1) == b""


def request(method: str, target: str, body: bytes = b"", **headers: str) -> bytes:
    """Write a request; a header's name is a keyword with _ for -."""
    fields = {"Host": "localhost", **{name.replace("_", "-"): value for name, value in headers.items()}}
    if body:
        fields.setdefault("Content-Length", str(len(body)))
    head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    return f"{method} {target} HTTP/1.1\r\n{head}\r\n".encode("latin-1") + body


def chunked(*chunks: bytes) -> bytes:
    """Write a chunked body, including its end."""
    return b"".join(b"%x\r\n%b\r\n" % (len(chunk), chunk) for chunk in (*chunks, b""))


def check_problem(answer: Answer, code: str, *, closes: bool | None = None) -> None:
    """Check that an answer is the whole problem document of this code."""
    problem = PROBLEM_TYPES[code]
    assert answer.headers["content-type"] == PROBLEM_JSON
    document = answer.document
    assert (answer.status, document["type"]) == (problem.status, problem.uri)
    assert document["status"] == problem.status
    assert document["title"] == problem.title
    assert document["detail"]
    assert document["instance"].startswith("/")
    assert len(answer.body) < 1000
    assert b"<" not in answer.body
    if closes is not None:
        assert answer.closes is closes
