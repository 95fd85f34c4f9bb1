"""How connections are accepted: a few at a time, by the process with the fewest, up to the limit."""

import errno
import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from service.web.lanes.board import Board
from service.web.server import accepting
from service.web.server.accepting import AT_ONCE, SEND_BUFFER_BYTES, Listeners
from service.web.server.connection import Connection
from service.web.server.worker import SPARE_FILES
from tests.web.server.applications import Held, echo
from tests.web.server.conftest import Serve
from tests.web.server.serving import SECONDS, Served

GET = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"


class Listener(socket.socket):
    """A listener that fails as often as there are errors."""

    errors: list[int]

    def accept(self) -> Any:
        if self.errors:
            raise OSError(self.errors.pop(), "no connection")
        return super().accept()


class Listening:
    """A server with a listener of its own."""

    def __init__(self, served: Served, listener: Listener, board: Board, most: int) -> None:
        self.served = served
        self.listener = listener
        self.address = listener.getsockname()
        self.family = listener.family
        self.clients: list[socket.socket] = []
        self.listeners = served.on_loop(
            lambda: Listeners(served.loop, [listener], served.server, board, most=most, spare_files=SPARE_FILES)
        )

    def connect(self) -> socket.socket:
        client = socket.socket(self.family, socket.SOCK_STREAM)
        client.settimeout(SECONDS)
        client.connect(self.address)
        self.clients.append(client)
        return client

    def count(self) -> int:
        return int(self.served.on_loop(self.listeners.count))

    def until(self, count: int) -> None:
        self.served.until(lambda: self.listeners.count() == count, f"{count} connections")

    def close(self) -> None:
        self.served.on_loop(self.listeners.close)

    def end(self) -> None:
        if self.listener.fileno() >= 0:
            self.close()
        for client in self.clients:
            client.close()


Listen = Callable[..., Listening]


@pytest.fixture
def listen(serve: Serve) -> Iterator[Listen]:
    listening: list[Listening] = []

    def listen(application: Any = echo, *, board: Board | None = None, most: int = 1000, path: Any = None) -> Listening:
        listener = Listener(socket.AF_UNIX if path else socket.AF_INET)
        listener.errors = []
        listener.bind(str(path) if path else ("127.0.0.1", 0))
        listener.listen(100)
        listening.append(Listening(serve(application), listener, board or Board(None), most))
        return listening[-1]

    yield listen
    for one in listening:
        one.end()


def answer(client: socket.socket) -> bytes:
    client.sendall(GET)
    return client.recv(1 << 16)


@pytest.mark.parametrize("is_unix", [False, True])
def test_clients_are_served_over_tcp_and_unix_sockets(listen: Listen, tmp_path: Path, *, is_unix: bool) -> None:
    environs: list[dict[str, Any]] = []

    def application(environ, start):
        environs.append(environ)
        return echo(environ, start)

    listening = listen(application, path=tmp_path / "socket" if is_unix else None)
    client = listening.connect()
    assert answer(client).startswith(b"HTTP/1.1 200 OK\r\n")
    (environ,) = environs
    told = [environ[name] for name in ("REMOTE_ADDR", "REMOTE_PORT", "SERVER_NAME", "SERVER_PORT")]
    ours = ("", "") if is_unix else client.getsockname()
    theirs = ("", "") if is_unix else listening.address
    assert told == [str(part) for part in (*ours, *theirs)]


def test_what_the_system_keeps_for_a_client_is_bounded(listen: Listen) -> None:
    listening = listen()
    assert answer(listening.connect()).startswith(b"HTTP/1.1 200 OK\r\n")
    (connection,) = listening.served.server.connections
    sock = connection.transport.get_extra_info("socket")
    assert sock.getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF) <= 2 * SEND_BUFFER_BYTES
    assert sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT) == 30_000


def test_a_few_connections_are_accepted_in_one_round(listen: Listen) -> None:
    """With one in each, new clients wait long behind a rush, while many connections keep the rounds long."""
    listening = listen()

    def accepted_at_once() -> int:
        for _ in range(3 * AT_ONCE):
            listening.connect()
        listening.listeners._accept(listening.listener)
        return listening.listeners.count()

    assert listening.served.on_loop(accepted_at_once) == AT_ONCE > 1
    listening.until(3 * AT_ONCE)


def test_connections_are_counted_for_the_other_processes(listen: Listen, tmp_path: Path) -> None:
    ours, other = Board(tmp_path), Board(tmp_path)
    other.count_connections(7)
    listening = listen(board=ours)
    clients = [listening.connect() for _ in range(3)]
    listening.until(3)
    assert other.fewest_connections() == 3
    clients[0].close()
    listening.until(2)
    assert other.fewest_connections() == 2
    listening.close()
    assert other.fewest_connections() == 7
    assert answer(clients[1]).startswith(b"HTTP/1.1 200 OK\r\n")
    assert listening.count() == 2
    assert other.fewest_connections() == 7


def test_a_connection_that_is_being_made_counts_once(listen: Listen, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before asyncio has set it up, while it does, and afterwards."""
    listening = listen()
    counts: list[int] = []
    made = Connection.connection_made

    def counted(connection: Connection, transport: Any) -> None:
        counts.append(listening.listeners.count())
        made(connection, transport)
        counts.append(listening.listeners.count())

    monkeypatch.setattr(Connection, "connection_made", counted)
    assert answer(listening.connect()).startswith(b"HTTP/1.1 200 OK\r\n")
    assert counts == [1, 1]


def test_whoever_has_more_stands_back(listen: Listen, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only for a moment: some process has to take the connection."""
    ours, other = Board(tmp_path), Board(tmp_path)
    listening = listen(board=ours)
    paused: list[float] = []
    pause = listening.listeners._pause

    def noted(listener: socket.socket, seconds: float, then: Any) -> None:
        paused.append(seconds)
        pause(listener, seconds, then)

    monkeypatch.setattr(listening.listeners, "_pause", noted)
    for count, fewest, backs in ((1, 0, 0), (2, 0, 1), (3, 5, 1), (4, 3, 1), (5, 2, 2)):
        other.count_connections(fewest)
        assert answer(listening.connect()).startswith(b"HTTP/1.1 200 OK\r\n")
        assert listening.count() == count
        assert len(paused) == backs
    assert set(paused) == {accepting.STAND_BACK_SECONDS}


def test_a_process_does_not_stand_back_for_its_own_earlier_count(
    listen: Listen, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is what the board has until the process counts again; clients of a server of one process would wait."""
    listening = listen(board=Board(tmp_path))
    paused: list[float] = []
    monkeypatch.setattr(listening.listeners, "_pause", lambda _, seconds, __: paused.append(seconds))
    monkeypatch.setattr(listening.listeners, "_accept_now", lambda _: None)
    for _ in range(3):
        listening.served.server.connections.add(object())  # type: ignore[arg-type]  # only counted
        listening.listeners._accept(listening.listener)
    listening.served.server.connections.clear()
    assert paused == []


def test_whoever_has_many_stands_back_for_a_sixteenth_more(
    listen: Listen, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If it paused after each connection of a crowd, the others' would stay in the backlog."""
    ours, other = Board(tmp_path), Board(tmp_path)
    listening = listen(board=ours)
    paused: list[float] = []
    monkeypatch.setattr(listening.listeners, "_pause", lambda _, seconds, __: paused.append(seconds))
    monkeypatch.setattr(listening.listeners, "_accept_now", lambda _: None)
    other.count_connections(160)
    for count, backs in ((160, 0), (170, 0), (171, 1)):
        ours.count_connections(count)
        monkeypatch.setattr(listening.listeners, "count", lambda count=count: count)
        listening.listeners._accept(listening.listener)
        assert len(paused) == backs


def test_no_connection_is_taken_after_the_end(listen: Listen, tmp_path: Path) -> None:
    """Not even one that it left to others a moment before."""
    ours, other = Board(tmp_path), Board(tmp_path)
    other.count_connections(0)
    listening = listen(board=ours)
    listening.connect()
    listening.until(1)

    def stop_while_it_stands_back() -> None:
        listening.listeners._accept(listening.listener)
        listening.listeners.close()

    listening.connect()
    listening.served.on_loop(stop_while_it_stands_back)
    time.sleep(10 * accepting.STAND_BACK_SECONDS)
    assert listening.count() <= 2


class TestTooMany:
    def test_idle_connections_are_closed_for_new_ones(self, listen: Listen, caplog: pytest.LogCaptureFixture) -> None:
        listening = listen(most=3)
        idle = [listening.connect() for _ in range(3)]
        listening.until(3)
        assert answer(listening.connect()).startswith(b"HTTP/1.1 200 OK\r\n")
        assert idle[0].recv(1) == b""
        assert caplog.messages == [
            "Out of file descriptors, or ROCPR_CONNECTIONS connections are open: raise the limit."
        ]

    def test_who_is_answered_is_not_disturbed(self, listen: Listen) -> None:
        application = Held()
        listening = listen(application, most=1)
        first = listening.connect()
        first.sendall(GET)
        assert application.begun.wait(SECONDS)
        waits = listening.connect()
        waits.sendall(GET)
        time.sleep(2 * accepting.PAUSE_SECONDS)
        assert listening.count() == 1
        application.go.set()
        assert first.recv(1 << 16).startswith(b"HTTP/1.1 200 OK\r\n")
        assert waits.recv(1 << 16).startswith(b"HTTP/1.1 200 OK\r\n")

    @pytest.mark.parametrize("number", [errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM])
    def test_without_another_descriptor_too(self, listen: Listen, number: int, caplog) -> None:
        listening = listen()
        listening.listener.errors += [number] * 3
        assert answer(listening.connect()).startswith(b"HTTP/1.1 200 OK\r\n")
        assert listening.listener.errors == []
        assert len(caplog.messages) == 1

    @pytest.mark.parametrize("number", [errno.EAGAIN, errno.ECONNABORTED, errno.EINTR])
    def test_a_client_that_has_gone_does_not_count(self, listen: Listen, number: int, caplog) -> None:
        listening = listen()
        listening.listener.errors.append(number)
        assert answer(listening.connect()).startswith(b"HTTP/1.1 200 OK\r\n")
        assert listening.listener.errors == []
        assert caplog.messages == []


@pytest.mark.parametrize(("soft", "has_proc"), [(100_000, True), (-1, True), (10, True), (100_000, False)])
def test_descriptors_are_reserved_for_files(
    listen: Listen, monkeypatch: pytest.MonkeyPatch, soft: int, *, has_proc: bool
) -> None:
    monkeypatch.setattr(accepting.resource, "getrlimit", lambda _: (soft, soft))
    if not has_proc:
        monkeypatch.setattr(accepting, "Path", lambda _: Path("/none"))
    most = listen(most=1 << 30).listeners._most
    if soft == 10:
        assert most == 1
    elif soft == -1:
        assert most > 1_000_000
    else:
        assert soft - 1000 < most < soft - SPARE_FILES
