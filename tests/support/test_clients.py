"""The clients of the soak notice what a server does wrong."""

import socketserver
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from tests.support.attacks import lanes
from tests.support.attacks.attackers import askers, crowds
from tests.support.attacks.bad_clients import missed_by
from tests.support.processes import wait_until
from tests.tools.soak import old_server
from tests.tools.soak.old_server import NoOldServer, both

pytestmark = pytest.mark.all

REFUSAL = b"HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"


class Server(socketserver.ThreadingTCPServer):
    """Does the same for each connection, and counts them."""

    daemon_threads = True
    connections = 0


@contextmanager
def serving(handle: Callable[[socketserver.StreamRequestHandler], None]) -> Iterator[Server]:
    class Handler(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            server.connections += 1
            handle(self)

    with Server(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,)).start()
        try:
            yield server
        finally:
            server.shutdown()


def refuse(handler: socketserver.StreamRequestHandler) -> None:
    handler.wfile.write(REFUSAL)


def close(_: socketserver.StreamRequestHandler) -> None:
    """Answer nothing."""


@pytest.mark.parametrize(
    ("handle", "end", "missed"), [(refuse, "408", []), (close, "closed", ["closed", "no connection ended with 408"])]
)
def test_a_crowd_tells_how_its_connections_ended(
    handle: Callable[[socketserver.StreamRequestHandler], None], end: str, missed: list[str]
) -> None:
    with serving(handle) as server, crowds(server.server_address[1], {"half-heads": 3}) as seen:
        wait_until(lambda: server.connections > 6, 60, "they come again")
    assert seen["half-heads"]["ends"].keys() == {end}
    told = missed_by(seen, "half-heads")
    assert len(told) == len(missed)
    assert all(text in what for text, what in zip(missed, told, strict=True))


def test_a_connection_that_has_not_ended_counts_with_its_time() -> None:
    over = threading.Event()
    with serving(lambda _: over.wait()) as server:
        with crowds(server.server_address[1], {"half-heads": 1}) as seen:
            assert not over.wait(0.5)
        over.set()
    assert seen["half-heads"]["ends"] == {}
    assert seen["half-heads"]["slowest"] >= 0.5
    assert missed_by(seen, "half-heads") == ["half-heads: no connection ended with 408"]


@pytest.mark.parametrize(("handle", "end"), [(refuse, "408"), (close, "lost")])
def test_who_asks_again_at_once_tells_of_every_answer(
    handle: Callable[[socketserver.StreamRequestHandler], None], end: str
) -> None:
    with serving(handle) as server, askers(server.server_address[1], "50-rows", 1) as seen:
        wait_until(lambda: server.connections > 1, 60, "it asks again")
    assert seen["ends"].keys() == {end}


def test_a_server_that_is_down_loses_all_that_is_due(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lanes, "PATIENCE_SECONDS", 0.2)
    over = threading.Event()
    with serving(lambda _: over.wait()) as server:
        found = lanes.time_small(server.server_address[1], 1)
        over.set()
    assert len(found.wrong) == len(found.small) + len(found.health) == 1 / lanes.EVERY


def test_a_clone_without_the_old_server_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(old_server, "COMMIT", "0" * 40)
    with pytest.raises(NoOldServer, match="does not know the old server"), both():
        pass
