"""Invalid HTTP, requests that schemathesis generates, and slow clients: all get their problem."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.e2e.wire import Answer, Connection, check_problem, request
from tests.support.attacks.requests_made_up import RAW_LIMIT, send_cases, send_raw
from tests.support.servers import serving

pytestmark = pytest.mark.all

SLOW = {
    "no head": b"POST /v1/curves HTTP/1.1\r\nHost: a\r\n",
    "no body": request("POST", "/v1/curves", Content_Type="application/json", Content_Length="100"),
    "half a body": request("POST", "/v1/curves", Content_Type="application/json", Content_Length="100") + b'{"scores"',
    "half a big body": request("POST", "/v1/curves", Content_Type="application/json", Content_Length="900000") + b"{",
    "half a chunk": request("POST", "/v1/curves", Content_Type="text/csv", Transfer_Encoding="chunked") + b"ff\r\na",
}
"""The bytes sent before the client falls silent."""


def test_every_strange_request_gets_its_problem(*, runs_all: bool) -> None:
    """Slow clients wait for their 408 while the others are served."""
    with serving(max_body_bytes=RAW_LIMIT, slots=4, big_seconds=300) as service, ThreadPoolExecutor(len(SLOW)) as pool:

        def answer(data: bytes) -> Answer:
            with Connection(service.port, timeout=60) as connection:
                return connection.send(data).read()

        slow = {name: pool.submit(answer, data) for name, data in SLOW.items()}
        assert send_raw(service, RAW_LIMIT).missed == []
        cases = send_cases(service, 300 if runs_all else 60)
        assert cases.missed == []
        for waiting in slow.values():
            check_problem(waiting.result(), "request_timeout", closes=True)
        assert service.failures() == []
