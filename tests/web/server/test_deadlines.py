"""How long a connection may stay in each of its phases, by a clock that the tests advance."""

import pytest

from service.web.passes import DRAINING
from service.web.server.phase import LINGER_SECONDS, PATIENCE_SECONDS
from service.web.server.sending import STALLED_SECONDS
from tests.e2e.wire import check_problem, request
from tests.web.server.applications import Held, echo, of_length
from tests.web.server.conftest import Serve
from tests.web.server.serving import BOUNDS, SECONDS, Clock, Phase

POST = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n"


class TestDeadlines:
    """Deadlines are checked once a second; here, when a test says so."""

    def test_an_idle_connection_is_closed(self, serve: Serve, clock: Clock) -> None:
        served = serve(echo)
        client = served.connect()
        for _ in range(3):
            clock.forward(BOUNDS.keepalive - 1)
            served.sweep()
            assert client.get("/").read().status == 200
        clock.forward(BOUNDS.keepalive + 1)
        served.sweep()
        assert client.rest() == b""

    @pytest.mark.parametrize("data", [b"GE", b"GET / HTTP/1.1\r\nHost"])
    def test_a_head_has_ten_seconds_in_all(self, serve: Serve, clock: Clock, data: bytes) -> None:
        served = serve(echo)
        client = served.connect()
        client.send(data)
        served.reaches(client, Phase.HEAD)
        clock.forward(PATIENCE_SECONDS - 1)
        served.sweep()
        client.send(b"x")
        served.until(lambda: client.connection.reader.taken == len(data) + 1)
        clock.forward(2)
        served.sweep()
        check_problem(client.read(), "request_timeout", closes=True)

    def test_empty_lines_are_not_a_request(self, serve: Serve, clock: Clock) -> None:
        served = serve(echo)
        client = served.connect()
        clock.forward(BOUNDS.keepalive - 1)
        client.send(b"\r\n" * 10)
        served.until(lambda: client.connection.reader is not None)
        clock.forward(2)
        served.sweep()
        assert client.rest() == b""

    def test_a_body_must_not_pause_for_ten_seconds(self, serve: Serve, clock: Clock) -> None:
        """However much time its bytes have earned it."""
        served = serve(echo)
        client = served.connect()
        client.send(POST % 10_000 + bytes(9_000))
        served.until(lambda: client.connection.reader is not None and client.connection.reader.body.length == 9_000)
        clock.forward(PATIENCE_SECONDS - 1)
        served.sweep()
        client.send(b"x")
        served.until(lambda: client.connection.reader.body.length == 9_001)
        clock.forward(PATIENCE_SECONDS + 1)
        served.sweep()
        check_problem(client.read(), "request_timeout", closes=True)

    @pytest.mark.parametrize(("sent", "late"), [(4_000, 13.5), (4_000, 14.5), (1, 9.5), (1, 10.5)])
    def test_a_body_has_the_time_that_its_bytes_take_at_the_rate(
        self, serve: Serve, clock: Clock, sent: int, late: float
    ) -> None:
        """10 s, plus the time at 1,000 bytes a second."""
        served = serve(echo)
        client = served.connect()
        client.send(POST % 10_000)
        served.reaches(client, Phase.BODY)
        clock.forward(late - 9)
        client.send(bytes(sent))
        served.until(lambda: client.connection.reader.body.length == sent)
        clock.forward(9)
        served.sweep()
        if late > 10 + sent / 1000:
            check_problem(client.read(), "request_timeout", closes=True)
        else:
            answer = client.send(bytes(10_000 - sent)).read()
            assert answer.body == b"POST / " + bytes(10_000)

    def test_the_time_of_the_application_is_not_the_clients(self, serve: Serve, clock: Clock) -> None:
        held = Held()
        served = serve(held)
        client = served.connect().get("/")
        assert held.begun.wait(SECONDS)
        for _ in range(5):
            clock.forward(100)
            served.sweep()
        held.go.set()
        assert client.read().status == 200

    def test_a_client_that_reads_nothing_is_given_up(self, serve: Serve, clock: Clock) -> None:
        served = serve(of_length(1_000_000))
        client = served.connect(sndbuf=4096).get("/")
        served.reaches(client, Phase.SENDING)
        served.sweep()
        clock.forward(STALLED_SECONDS - 1)
        served.sweep()
        assert client.connection.phase is Phase.SENDING
        clock.forward(2)
        served.sweep()
        served.reaches(client, Phase.CLOSED)
        assert len(client.rest()) < 1_000_000

    @pytest.mark.parametrize("size", [100_000, 1_000_000])
    @pytest.mark.parametrize("field", ["Connection: close", "Connection: keep-alive"])
    def test_a_client_that_reads_slowly_gets_all(self, serve: Serve, clock: Clock, size: int, field: str) -> None:
        """Including its end, which by then is in the transport's buffer."""
        served = serve(of_length(size))
        client = served.connect(sndbuf=4096).get("/", field)
        taken = b""
        for _ in range(20):
            clock.forward(STALLED_SECONDS - 1)
            served.sweep()
            taken += client._file.read(size // 25)
        head, _, content = taken.partition(b"\r\n\r\n")
        assert b"200 OK" in head
        assert len(content + client._file.read(size - len(content))) == size

    def test_an_ended_connection_waits_for_its_client_for_a_while(self, serve: Serve, clock: Clock) -> None:
        served = serve(echo)
        client = served.connect()
        check_problem(client.send(b"nonsense\r\n\r\n").read(), "malformed_request")
        served.reaches(client, Phase.LINGERING)
        for _ in range(2):
            client.send(bytes(1 << 20))
        clock.forward(LINGER_SECONDS - 1)
        served.sweep()
        client.send(b"more")
        assert client.connection.phase is Phase.LINGERING
        clock.forward(2)
        served.sweep()
        served.reaches(client, Phase.CLOSED)

    def test_an_ended_connection_ends_with_its_client(self, serve: Serve) -> None:
        served = serve(echo)
        client = served.connect().get("/", "Connection: close")
        assert client.read().closes
        served.reaches(client, Phase.LINGERING)
        client.half_close()
        served.reaches(client, Phase.CLOSED)


class TestStopping:
    def test_the_next_answer_is_the_last(self, serve: Serve) -> None:
        held = Held()
        client = serve(held).connect()
        client.send(request("GET", "/a") + request("GET", "/b"))
        assert held.begun.wait(SECONDS)
        DRAINING.set()
        held.go.set()
        assert client.read().closes
        assert client.rest() == b""

    def test_who_is_idle_has_another_second(self, serve: Serve, clock: Clock) -> None:
        served = serve(echo)
        one, other = served.connect(), served.connect()
        served.server.stopping_since = clock.monotonic()
        DRAINING.set()
        served.sweep()
        assert one.get("/").read().closes
        clock.forward(1.5)
        served.sweep()
        assert other.rest() == b""
        served.until(lambda: not served.server.connections)

    def test_who_sends_has_ten(self, serve: Serve, clock: Clock) -> None:
        served = serve(echo)
        client = served.connect()
        client.send(POST % 10_000 + bytes(9_000))
        served.reaches(client, Phase.BODY)
        served.server.stopping_since = clock.monotonic()
        served.sweep()
        clock.forward(9)
        served.sweep()
        assert client.connection.phase is Phase.BODY
        clock.forward(2)
        served.sweep()
        check_problem(client.read(), "request_timeout")
