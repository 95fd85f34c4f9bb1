"""Small requests are timed from when they were due, so that a server that stands still cannot look fast."""

import itertools
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from tests.support.attacks.lanes import CONNECTIONS, EVERY, HEALTH_EVERY, time_small
from tests.support.samples import small

pytestmark = pytest.mark.all

STILL = 0.4
"""How long the server stands still, once, in seconds."""
AT = 25
"""The request at which it stands still."""


@contextmanager
def standing_still(*, lose: bool) -> Iterator[int]:
    """A server that answers at once, except for a while; requests in that time are answered late, or lost."""
    numbers = itertools.count()
    still = threading.Event()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self._answer(small().answer)

        def do_GET(self) -> None:
            self._answer(b"")

        def _answer(self, body: bytes) -> None:
            if next(numbers) == AT:
                threading.Timer(STILL, still.clear).start()
                still.set()
            if still.is_set():
                while still.is_set():
                    time.sleep(0.001)
                if lose:
                    self.close_connection = True
                    return
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    small()
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,)).start()
        try:
            yield server.server_address[1]
        finally:
            server.shutdown()


def test_what_is_due_while_a_server_stands_still_counts() -> None:
    with standing_still(lose=False) as port:
        found = time_small(port, 2)
    assert not found.wrong
    assert len(found.small) + len(found.health) == 2 / EVERY
    assert len(found.health) == 2 / EVERY / HEALTH_EVERY
    # Timed from when they were sent, only one request per connection would be slow.
    assert sum(took > STILL / 4 for took in found.small + found.health) > CONNECTIONS


def test_a_lost_request_is_reported_with_its_time() -> None:
    with standing_still(lose=True) as port:
        found = time_small(port, 2)
    assert 0 < len(found.wrong) <= CONNECTIONS
    assert all("Remote end closed" in wrong for wrong in found.wrong)
    assert len(found.small) + len(found.health) == 2 / EVERY
