"""A client of the service that keeps its connection, and reports what it lost."""

import http.client
import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Self

from service.wire.problems import PROBLEM_JSON, PROBLEM_TYPES
from service.wire.requests.gates_schemas import FAIL_STATUSES

LOST = (OSError, http.client.HTTPException)
"""The errors of a request that gets no answer, or only part of one."""

DELIBERATE = frozenset({"overloaded", "not_ready"})
"""Problems with which the server answers 503 deliberately."""


@dataclass(frozen=True)
class Answer:
    """A whole answer."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def document(self) -> Any:
        return json.loads(self.body)

    @property
    def problem(self) -> str:
        """The code of the problem; empty if it is not one."""
        if self.headers.get("content-type") != PROBLEM_JSON:
            return ""
        return str(self.document["type"]).rpartition("/")[2]

    @property
    def closes(self) -> bool:
        return self.headers.get("connection") == "close"


class Client:
    """One connection at a time, kept as long as the server keeps it."""

    def __init__(self, port: int, timeout: float = 120.0) -> None:
        self.wire = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.wire.close()

    def ask(self, method: str, target: str, body: bytes | Iterable[bytes] | None = None, **headers: str) -> Answer:
        """Send a request and read its whole answer; raises one of LOST. Headers are keywords, with _ for -.

        A body that is not bytes is sent in chunks.
        """
        fields = {name.replace("_", "-"): value for name, value in headers.items()}
        return self.finish(self.begin(method, target, body, fields))

    def begin(
        self, method: str, target: str, body: bytes | Iterable[bytes] | None, headers: Mapping[str, str]
    ) -> http.client.HTTPResponse:
        """Send a request and read the head of its answer."""
        try:
            # A server that refuses a body may answer, and close, before it has read all of it.
            with suppress(BrokenPipeError, ConnectionResetError):
                self.wire.request(method, target, body, dict(headers))
            return self.wire.getresponse()
        except BaseException:
            self.wire.close()
            raise

    def finish(self, answer: http.client.HTTPResponse) -> Answer:
        """Read the body of an answer."""
        try:
            content = answer.read()
        except BaseException:
            self.wire.close()
            raise
        return Answer(answer.status, {name.lower(): value for name, value in answer.getheaders()}, content)

    @property
    def own_port(self) -> int:
        """The client's port; 0 without a connection."""
        return int(self.wire.sock.getsockname()[1]) if self.wire.sock else 0

    def post(self, body: bytes, target: str = "/v1/curves", **headers: str) -> Answer:
        return self.ask("POST", target, body, **{"Content_Type": "application/json", **headers})


def wrong_with(answer: Answer) -> str:
    """Say what is wrong with the answer to a doubtful request; empty if nothing is."""
    if answer.status < 400 or answer.status in FAIL_STATUSES:
        return ""
    if answer.headers.get("content-type") != PROBLEM_JSON:
        return f"{answer.status} is no problem document but {answer.headers.get('content-type')}"
    try:
        document = answer.document
        code = str(document["type"]).removeprefix("/problems/")
    except (ValueError, KeyError, TypeError) as error:
        return f"{answer.status} is no problem document: {error!r}"
    if code not in PROBLEM_TYPES or not answer.status == document.get("status") == PROBLEM_TYPES[code].status:
        return f"{answer.status} with the problem {code}"
    if answer.status >= 500 and (code not in DELIBERATE or "retry-after" not in answer.headers):
        return f"{answer.status} {code}"
    return ""
