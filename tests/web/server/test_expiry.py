"""Which connections are ended if too much is kept for them, or if there are too many."""

import tempfile
from dataclasses import replace

import pytest

from service.web.passes import Pass
from service.web.server import expiry
from service.web.server import server as server_module
from service.web.server.expiry import EVICTED_AT_ONCE, Held, evict, held_for, make_room, rate_of
from service.web.server.server import BODY_IN_MEMORY
from tests.e2e.wire import check_problem
from tests.web.server.applications import Held as HeldApplication
from tests.web.server.applications import asked_first, echo, of_length
from tests.web.server.conftest import Serve
from tests.web.server.serving import BOUNDS, SECONDS, Client, Clock, Phase, Served

LARGE = replace(BOUNDS, body_bytes=1 << 22)
PLENTY = 1 << 40


def upload(served: Served, sent: int, owner: str = "", length: int = 1 << 22) -> Client:
    """Begin a body, and wait until this much of it has arrived."""
    head = f"POST / HTTP/1.1\r\nHost: a\r\nX-Owner: {owner}\r\nContent-Length: {length}\r\n\r\n"
    client = served.connect().send(head.encode() + bytes(sent))

    def has_come() -> bool:
        reader = client.connection.reader
        return reader is not None and reader.body is not None and reader.body.length == sent

    served.until(has_come, "the body")
    return client


def held_by(served: Served, client: Client) -> Held:
    return served.on_loop(lambda: held_for(client.connection))


def make_room_for(served: Served, in_memory: int = PLENTY, in_files: int = PLENTY) -> bool:
    return served.on_loop(lambda: make_room(served.server.connections, Held(in_memory, in_files)))


def phases(served: Served, *clients: Client) -> list[Phase]:
    served.sweep()
    return [client.connection.phase for client in clients]


def test_thousands_that_end_at_once_let_others_have_their_turn(
    serve: Serve, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server_module, "SWEPT_AT_ONCE", 2)
    served = serve(echo)
    idle = [served.connect() for _ in range(7)]
    clock.forward(BOUNDS.keepalive + 1)

    def closing_after_a_sweep() -> int:
        served.server.sweep()
        return sum(one.transport.is_closing() for one in served.server.connections)

    assert served.on_loop(closing_after_a_sweep) == 2
    assert [client.rest() for client in idle] == [b""] * 7


class TestWhatIsKept:
    def test_of_a_body(self, serve: Serve) -> None:
        served = serve(asked_first(), bounds=LARGE, spool=tempfile.TemporaryFile)
        short, long = upload(served, 1000), upload(served, BODY_IN_MEMORY + 1)
        in_memory, in_files = held_by(served, short), held_by(served, long)
        assert 1000 <= in_memory.in_memory <= 1200
        assert in_memory.in_files == 0
        assert (in_files.in_memory, in_files.in_files) == (0, BODY_IN_MEMORY + 1)

    def test_of_a_head(self, serve: Serve) -> None:
        served = serve(echo)
        client = served.connect().send(b"GET / HTTP/1.1\r\nX: aaaa")
        served.reaches(client, Phase.HEAD)
        assert held_by(served, client) == Held(23, 0)

    def test_of_an_answer(self, serve: Serve) -> None:
        served = serve(of_length(1_000_000))
        client = served.connect(sndbuf=4096).get("/")
        served.reaches(client, Phase.SENDING)
        kept = held_by(served, client)
        assert 900_000 < kept.in_memory <= 1_001_000
        assert kept.in_files == 0

    def test_of_an_answer_in_a_file(self, serve: Serve) -> None:
        with tempfile.TemporaryFile() as file:
            file.write(bytes(1_000_000))
            file.seek(0)

            def application(environ, start):
                start("200 OK", [])
                return environ["wsgi.file_wrapper"](file)

            served = serve(application)
            client = served.connect(sndbuf=4096).get("/")
            served.reaches(client, Phase.SENDING)
            kept = held_by(served, client)
            assert 400_000 < kept.in_files < 1_000_000
            assert 200_000 < kept.in_memory < 600_000

    def test_of_what_follows_a_request(self, serve: Serve) -> None:
        application = HeldApplication()
        served = serve(application)
        client = served.connect().get("/a")
        assert application.begun.wait(SECONDS)
        client.send(bytes(5000))
        served.until(lambda: len(client.connection.ahead) == 5000)
        assert held_by(served, client).in_memory > 5000
        application.go.set()

    def test_of_an_idle_connection_is_nothing(self, serve: Serve) -> None:
        served = serve(echo)
        client = served.connect()
        assert client.get("/").read().status == 200
        served.reaches(client, Phase.IDLE)
        assert held_by(served, client) == Held(0, 0)
        assert served.on_loop(lambda: rate_of(client.connection)) is None


class TestMakingRoom:
    def test_there_is_enough_of_it(self, serve: Serve) -> None:
        served = serve(asked_first(), bounds=LARGE)
        client = upload(served, 1000)
        assert make_room_for(served)
        assert phases(served, client) == [Phase.BODY]

    def test_the_slowest_upload_makes_way(self, serve: Serve, clock: Clock) -> None:
        served = serve(asked_first(), bounds=LARGE)
        slow = upload(served, 10_000)
        clock.forward(8)
        fast = upload(served, 10_000)
        assert make_room_for(served, in_memory=15_000)
        check_problem(slow.read(), "overloaded", closes=True)
        assert phases(served, fast) == [Phase.BODY]

    def test_the_slowest_reader_is_cut_off(self, serve: Serve, clock: Clock) -> None:
        served = serve(of_length(1_000_000))
        clients = [served.connect(sndbuf=4096) for _ in range(2)]
        for client in clients:
            client.get("/")
            served.reaches(client, Phase.SENDING)
        slow, fast = clients
        clock.forward(10)
        fast._file.read(500_000)
        assert make_room_for(served, in_memory=900_000)
        served.reaches(slow, Phase.CLOSED)
        assert len(slow.rest()) < 500_000
        assert fast.connection.phase is Phase.SENDING

    def test_a_body_in_a_file_makes_no_room_in_memory(self, serve: Serve, clock: Clock) -> None:
        served = serve(asked_first(), bounds=LARGE, spool=tempfile.TemporaryFile)
        slowest = upload(served, BODY_IN_MEMORY + 1)
        clock.forward(5)
        in_memory = upload(served, 200_000)
        assert make_room_for(served, in_memory=100_000)
        check_problem(in_memory.read(), "overloaded")
        assert phases(served, slowest) == [Phase.BODY]
        assert make_room_for(served, in_files=100_000)
        check_problem(slowest.read(), "overloaded")

    def test_what_waits_makes_way_when_that_is_not_enough(self, serve: Serve) -> None:
        """The latest requests of the owner with most of it; requests in progress carry on."""
        application = HeldApplication()
        served = serve(application, bounds=LARGE)
        sent = [upload(served, 10_000, owner, length=10_000) for owner in ("a", "a")]
        assert application.begun.wait(SECONDS)
        waiting = [(20_000, "a"), (20_000, "a"), (25_000, "b"), (20_000, "a")]
        first, second, modest, last = (upload_whole(served, size, owner) for size, owner in waiting)
        kept = sum(held_by(served, client).in_memory for client in (*sent, first, second, modest, last))
        assert make_room_for(served, in_memory=kept - 30_000)
        for refused in (last, second):
            check_problem(refused.read(), "overloaded", closes=True)
        assert phases(served, first, modest) == [Phase.ANSWERING] * 2
        assert not make_room_for(served, in_memory=0)
        check_problem(first.read(), "overloaded", closes=True)
        application.go.set()
        for client in (*sent, modest):
            assert client.read().status == 200

    def test_answers_in_the_writing_take_room_as_well(self, serve: Serve) -> None:
        written = [0]
        served = serve(echo, bounds=replace(LARGE, held=Held(PLENTY, 1000)), being_written=lambda: written[0])
        for written[0], has_room in ((1000, True), (1001, False), (0, True)):
            served.sweep()
            assert served.server.has_room is has_room

    def test_the_server_opens_no_file_while_there_is_none(self, serve: Serve) -> None:
        application = HeldApplication()
        served = serve(application, bounds=replace(LARGE, held=Held(1000, PLENTY)))
        client = upload_whole(served, 10_000, "a")
        assert application.begun.wait(SECONDS)
        served.sweep()
        assert not served.server.has_room
        application.go.set()
        assert client.read().status == 200
        served.sweep()
        assert served.server.has_room


def upload_whole(served: Served, size: int, owner: str) -> Client:
    """Send a request with a body of this many bytes; it then waits for the application."""
    head = f"POST / HTTP/1.1\r\nHost: a\r\nX-Owner: {owner}\r\nContent-Length: {size}\r\n\r\n"
    client = served.connect().send(head.encode() + bytes(size))
    served.reaches(client, Phase.ANSWERING)
    return client


class TestEviction:
    def evict(self, served: Served) -> bool:
        return served.on_loop(lambda: evict(served.server.connections))

    def test_there_is_no_owner(self, serve: Serve) -> None:
        assert not self.evict(serve(echo))

    def test_the_idle_of_the_address_that_has_most(self, serve: Serve) -> None:
        served = serve(echo)
        few, many = (
            [served.connect(address) for _ in range(count)] for address, count in (("192.0.2.1", 2), ("192.0.2.2", 3))
        )
        assert self.evict(served)
        assert [client.rest() for client in many] == [b""] * 3
        assert phases(served, *few) == [Phase.IDLE] * 2

    def test_the_oldest_of_them(self, serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(expiry, "EVICTED_AT_ONCE", 2)
        assert EVICTED_AT_ONCE > 2
        served = serve(echo)
        clients = [served.connect() for _ in range(4)]
        assert clients[0].get("/").read().status == 200
        served.reaches(clients[0], Phase.IDLE)
        assert self.evict(served)
        for client in clients[1:3]:
            served.reaches(client, Phase.CLOSED)
        assert phases(served, clients[0], clients[3]) == [Phase.IDLE] * 2

    def test_those_whose_request_has_not_come(self, serve: Serve) -> None:
        application = HeldApplication(asked_first(following=Pass.SMALL))
        served = serve(application)
        asks, sends = served.connect("192.0.2.1").get("/"), upload_begun(served)
        assert application.begun.wait(SECONDS)
        in_head = served.connect("192.0.2.1").send(b"GET /")
        lingering = served.connect("192.0.2.1").send(b"nonsense\r\n\r\n")
        served.reaches(in_head, Phase.HEAD)
        served.reaches(lingering, Phase.LINGERING)
        assert self.evict(served)
        for client in (in_head, lingering):
            served.reaches(client, Phase.CLOSED)
        assert phases(served, asks, sends) == [Phase.ANSWERING, Phase.BODY]
        application.go.set()
        assert asks.read().status == 200

    def test_uploads_of_an_address_that_has_most_before_another_one_that_is_idle(self, serve: Serve) -> None:
        served = serve(echo)
        idle, uploads = served.connect("192.0.2.2"), [upload_begun(served) for _ in range(3)]
        assert self.evict(served)
        for client in uploads:
            served.reaches(client, Phase.CLOSED)
        assert phases(served, idle) == [Phase.IDLE]

    def test_the_slowest_where_all_have_one(self, serve: Serve, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(expiry, "EVICTED_AT_ONCE", 1)
        served = serve(asked_first(), bounds=LARGE)
        slow = upload(served, 1000)
        clock.forward(5)
        fast = upload(served, 10_000)
        assert self.evict(served)
        served.reaches(slow, Phase.CLOSED)
        assert phases(served, fast) == [Phase.BODY]


def upload_begun(served: Served) -> Client:
    """Send part of a body that is read without asking the application first."""
    client = served.connect("192.0.2.1").send(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nabc")
    served.reaches(client, Phase.BODY)
    return client
