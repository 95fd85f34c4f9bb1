"""What hostile clients once did to others, each as a law: no client's end, silence or greed costs others much."""

import threading
from types import SimpleNamespace
from typing import Any

import pytest

from service.web.server import connection, expiry, server
from service.web.server.chunk_turns import ChunkTurns
from service.web.server.connection import Connection
from service.web.server.expiry import YOUNG_SECONDS, Held, held_for, make_room
from service.web.server.queues import MOST_PENALTY, FairQueue, Use
from service.web.server.reading import DENSE_BYTES, DENSE_PIECES, RequestReader
from service.web.server.sending import PIECE_BYTES
from service.web.server.server import CROWDED_BYTES, ROUND_BYTES, SHORT_BYTES
from tests.e2e.wire import chunked, request
from tests.web.server.applications import asked_first, echo, of_length
from tests.web.server.conftest import Serve
from tests.web.server.serving import Client, Clock, Phase


def test_a_client_that_reads_nothing_is_sent_no_more(serve: Serve) -> None:
    """However short its answers: all those of one connection may fill only what one answer may fill."""
    served = serve(of_length(5_000))
    client = served.connect(sndbuf=1 << 12)
    client.send(request("GET", "/") * 500)
    served.until(lambda: client.connection.phase is Phase.SENDING, "it stops")
    kept = served.on_loop(lambda: held_for(client.connection))
    assert kept.in_memory < PIECE_BYTES + 100_000
    assert served.connect().get("/").read().status == 200


def test_one_connections_failure_does_not_keep_the_sweep_from_the_others(
    serve: Serve, clock: Clock, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    served = serve(echo)
    broken, idle = served.connect(), served.connect()
    enforce_limits = expiry.enforce_limits

    def fail(connection: Connection, *arguments: Any) -> None:
        if connection is broken.connection:
            raise AttributeError
        enforce_limits(connection, *arguments)

    monkeypatch.setattr(expiry, "enforce_limits", fail)
    clock.forward(60)
    served.sweep()
    assert idle.rest() == b""
    assert broken.is_reset() or broken.rest() == b""
    assert "Unexpected failure" in caplog.text


def test_who_is_refused_and_has_closed_its_sending_side_has_an_end(serve: Serve, clock: Clock) -> None:
    served = serve(echo)
    client = served.connect()
    client.send(b"GET / HTTP/1.1\r\n").half_close()
    assert client.read().status == 400
    served.sweep()
    clock.forward(60)
    served.sweep()
    served.until(lambda: not served.server.connections, "it is gone")


def test_a_client_that_has_gone_when_its_connection_ends_does_no_harm(serve: Serve) -> None:
    """Its sending side can no longer be closed, which the system reports as an error."""
    served = serve(echo)
    client = served.connect()

    class Gone:
        """A transport whose other end is gone."""

        def __init__(self, transport: Any) -> None:
            self._transport = transport

        def __getattr__(self, name: str) -> Any:
            return getattr(self._transport, name)

        def write_eof(self) -> None:
            raise OSError

    client.connection.transport = Gone(client.connection.transport)
    client.send(b"nonsense\r\n\r\n")
    assert client.read().status == 400
    served.sweep()
    assert client.connection.phase is Phase.LINGERING
    assert served.connect().get("/").read().status == 200


def test_bodies_in_small_chunks_wait_for_their_turn_and_are_read_whole(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    slowed = []
    put = ChunkTurns.put

    def note(turns: ChunkTurns, connection: Connection) -> None:
        slowed.append(len(connection.get_buffer(-1)))
        put(turns, connection)

    monkeypatch.setattr(ChunkTurns, "put", note)
    served = serve(asked_first())
    pieces = [b"abcd"] * (10 * DENSE_PIECES)
    head = request("POST", "/", Transfer_Encoding="chunked")
    clients = [served.connect().send(head + chunked(*pieces)) for _ in range(3)]
    for client in clients:
        assert client.read().body.endswith(b"".join(pieces))
    assert len(slowed) >= 3
    assert set(slowed) <= {DENSE_BYTES, SHORT_BYTES}
    assert clients[0].get("/after").read().status == 200


def test_no_chunk_is_read_with_the_head(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    """So a crowd of heads, each with very many chunks behind it, does not stop the loop; each part has its turn."""
    sizes: list[int] = []
    feed = RequestReader.feed

    def note(reader: RequestReader, data: Any) -> bytes:
        rest = feed(reader, data)
        sizes.append(len(data) - len(rest))
        return rest

    monkeypatch.setattr(RequestReader, "feed", note)
    served = serve(asked_first())
    head, pieces = request("POST", "/", Transfer_Encoding="chunked"), [b"abcd"] * 2000
    # It ends its sending side at once: the rest of what came still counts.
    client = served.connect().send(head + chunked(*pieces) + request("GET", "/after")).half_close()
    assert client.read().body.endswith(b"".join(pieces))
    assert client.read().body.startswith(b"GET /after")
    assert sizes[0] == len(head)
    assert max(sizes[1:]) <= DENSE_BYTES
    served.until(lambda: not served.server.connections, "it is gone")


def test_what_came_before_is_read_before_what_comes(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also if so much came while an answer was sent that reading stopped."""

    def long_or_echo(environ: Any, start: Any) -> Any:
        return (of_length(1_000_000) if environ["REQUEST_METHOD"] == "GET" else echo)(environ, start)

    monkeypatch.setattr(connection, "AHEAD_BYTES", 8192)
    served = serve(asked_first(long_or_echo))
    client = served.connect(sndbuf=1 << 12)
    piece = [f"{number:04}".encode() for number in range(2000)]
    body = request("POST", "/", Transfer_Encoding="chunked") + chunked(*piece)
    sending = threading.Thread(target=client.send, args=(request("GET", "/") + body * 10,))
    sending.start()
    served.until(lambda: len(client.connection.ahead) > connection.AHEAD_BYTES, "it stops reading")
    assert len(client.read().body) == 1_000_000
    for _ in range(10):
        assert client.read().body == b"POST / " + b"".join(piece)
    sending.join()


def test_long_bodies_share_each_round_of_the_loop_and_a_crowd_takes_turns(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    waiting: set[Connection] = set()
    put = ChunkTurns.put

    def note(turns: ChunkTurns, connection: Connection) -> None:
        waiting.add(connection)
        put(turns, connection)

    monkeypatch.setattr(ChunkTurns, "put", note)
    monkeypatch.setattr(server, "MOST_WITHOUT_TURNS", 5)
    served = serve(echo)

    def begun() -> Client:
        client = served.connect().send(request("POST", "/", Content_Length="9000") + b"x")
        served.reaches(client, Phase.BODY)
        return client

    clients = [begun() for _ in range(5)]
    assert {len(client.connection.get_buffer(-1)) for client in clients} == {ROUND_BYTES // 5}
    assert not waiting
    clients.append(begun())
    clients.append(served.connect().send(b"nonsense\r\n\r\n"))
    served.reaches(clients[-1], Phase.LINGERING)
    assert {len(client.connection.get_buffer(-1)) for client in clients} == {CROWDED_BYTES}
    clients[-1].send(b"more")
    served.until(lambda: clients[-1].connection in waiting, "what is dropped takes turns")
    for client in clients[:-1]:
        client.send(b"x" * 4000)
    served.until(lambda: len(waiting) > 2, "long bodies take turns")
    for client in clients[:-1]:
        client.send(b"x" * 4999)
    for client in clients[:-1]:
        assert client.read().body == b"POST / " + b"x" * 9000
    assert clients[-1].read().status == 400
    served.end()
    assert served.server.taking == 0


def test_a_body_that_is_whole_takes_no_turn_in_a_crowd(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor does the next request of its connection wait for one."""
    monkeypatch.setattr(server, "MOST_WITHOUT_TURNS", 0)
    monkeypatch.setattr(ChunkTurns, "put", lambda *_: pytest.fail("it waits"))
    client = serve(echo).connect()
    for _ in range(2):
        client.send(request("POST", "/", Content_Length="2"))
        client.send(b"ab")
        assert client.read().body == b"POST / ab"


def test_a_regular_owner_is_not_turned_away() -> None:
    """The queue is too long because of many newcomers."""
    queue: FairQueue[Any] = FairQueue(1.0)
    for number in range(300):
        queue.put(SimpleNamespace(owner=f"{number}", use=Use()))
    assert queue.worst().owner == "299"


def test_no_past_use_makes_an_owner_wait_forever() -> None:
    use = Use()
    use.add(1e6, 10.0)
    assert use.penalty(10.0) == MOST_PENALTY < 30


class Kept:
    """A connection for which bytes are kept."""

    def __init__(self, size: int, rate: float, since: float) -> None:
        self.held, self.rate, self.since = Held(size, 0), rate, since
        self.phase, self.sending, self.exchange = Phase.BODY, None, None
        self.was_refused = False

    def refuse(self, _: object) -> None:
        self.was_refused = True


def test_who_holds_little_or_has_just_begun_is_the_last_to_make_way(
    monkeypatch: pytest.MonkeyPatch, clock: Clock
) -> None:
    monkeypatch.setattr(expiry, "time", clock)
    monkeypatch.setattr(expiry, "held_for", lambda one: one.held)
    monkeypatch.setattr(expiry, "rate_of", lambda one: one.rate)
    begun = clock.monotonic()
    clock.forward(2 * YOUNG_SECONDS)
    greedy = Kept(1_000_000, 50_000.0, begun)
    small, young = Kept(100, 1.0, begun), Kept(1_000_000, 1.0, clock.monotonic())
    assert make_room([small, young, greedy], Held(1_500_000, 0))
    assert (small.was_refused, young.was_refused, greedy.was_refused) == (False, False, True)
    assert make_room([small, young], Held(500_000, 0))
    assert (small.was_refused, young.was_refused) == (True, True)
