"""The load sends what it is given and counts only the expected answers; the rows of load are measured in turns."""

import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from itertools import product
from types import SimpleNamespace

import flask
import pytest

from service.app import create_app
from service.settings import Settings
from service.web.passes import MOVED, PASS, Pass
from tests.tools.bench import peer, rates, report
from tests.tools.bench.constant import create, curves
from tests.tools.bench.load import Load, Measured, Window, Wrong, measure
from tests.tools.bench.measure import Scale
from tests.tools.bench.rates import Rates, in_own_process, wire_format
from tests.tools.bench.rows import CONSTANT, OURS, PEER, ROWS, Rate
from tests.tools.bench.services import PATH, Message, Refused
from tests.tools.bench.throughput import Throughput

pytestmark = pytest.mark.all

MESSAGE = Message(PATH, b'{"scores": [0.1]}', {"Content-Type": "application/json"})
ANSWER = b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nright"
TINY = Scale(repeats=3, seconds=0.0, load_seconds=0.0, settle_seconds=0.0)


@dataclass
class Server:
    """Reads requests as long as one message, and sends the same pieces after each; one thread for each connection."""

    length: int
    pieces: tuple[bytes, ...]
    listener: socket.socket = field(default_factory=lambda: socket.create_server(("127.0.0.1", 0)))
    requests: list[list[bytes]] = field(default_factory=list)

    @property
    def port(self) -> int:
        return self.listener.getsockname()[1]

    def serve(self) -> None:
        with suppress(OSError):  # the listener is shut in the end
            while True:
                connection, _ = self.listener.accept()
                self.requests.append([])
                threading.Thread(target=self._answer, args=(connection, self.requests[-1]), daemon=True).start()

    def _answer(self, connection: socket.socket, requests: list[bytes]) -> None:
        with connection, connection.makefile("rb") as stream, suppress(ConnectionError):
            while len(request := stream.read(self.length)) == self.length:
                requests.append(request)
                for piece in self.pieces:
                    connection.sendall(piece)
                if not self.pieces:
                    return


@pytest.fixture
def started() -> Iterator[Callable[..., Server]]:
    listeners = []

    def start(*pieces: bytes, length: int = len(wire_format(MESSAGE))) -> Server:
        server = Server(length, pieces)
        listeners.append(server.listener)
        threading.Thread(target=server.serve, daemon=True).start()
        return server

    yield start
    for listener in listeners:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()


def load_of(server: Server, connections: int = 1, request: str = wire_format(MESSAGE)) -> Load:
    return Load(server.port, connections, 0.0, 0.0, request, "right")


def test_every_connection_is_kept_and_sends_the_request_again_and_again(started: Callable[..., Server]) -> None:
    server = started(ANSWER)
    measured = measure(load_of(server, connections=4))
    assert len(server.requests) == 4
    sent = [request for requests in server.requests for request in requests]
    assert set(sent) == {wire_format(MESSAGE).encode()}
    assert 4 <= len(measured.latencies) < len(sent)
    assert measured.rate > 0
    assert min(measured.latencies) > 0
    assert measured.client > 0


def test_an_answer_may_come_in_pieces_and_a_request_leave_in_some(started: Callable[..., Server]) -> None:
    request = wire_format(replace(MESSAGE, body=bytes(range(256)) * 40_000))
    server = started(ANSWER[:20], ANSWER[20:40], ANSWER[40:], length=len(request))
    measured = measure(load_of(server, connections=2, request=request))
    assert len(measured.latencies) >= 2
    assert {sent for requests in server.requests for sent in requests} == {request.encode("latin-1")}


@pytest.mark.parametrize(
    ("pieces", "message"),
    [
        ((ANSWER.replace(b"right", b"wrong"),), "Another answer than expected: wrong"),
        ((ANSWER + b"more",), "Another answer than expected: rightmore"),
        ((ANSWER.replace(b"200 OK", b"503 Service Unavailable"),), "HTTP/1.1 503 Service Unavailable: right"),
        ((b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",), "no Content-Length"),
        ((), "closed a kept connection"),
    ],
)
def test_any_other_answer_ends_the_load(started: Callable[..., Server], pieces: tuple[bytes], message: str) -> None:
    with pytest.raises(Wrong, match=message):
        measure(load_of(started(*pieces)))


def test_the_load_is_a_process_that_says_why_it_ended(started: Callable[..., Server]) -> None:
    assert in_own_process(load_of(started(ANSWER), connections=2)).rate > 0
    with pytest.raises(Refused, match=r"^Another answer than expected: wrong$"):
        in_own_process(load_of(started(ANSWER.replace(b"right", b"wrong"))))
    with closing(socket.create_server(("127.0.0.1", 0))) as unused:
        port = unused.getsockname()[1]
    with pytest.raises(Refused, match="refused"):
        in_own_process(Load(port, 1, 0.0, 0.0, wire_format(MESSAGE), "right"))


def test_answers_count_from_the_first_warm_one_until_the_time_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.perf_counter", lambda: 100.0)
    window = Window(Load(0, 2, 1.0, 2.0, "", ""))
    for now, latency in ((100.9, 7.0), (101.0, 8.0), (101.5, 0.1), (102.5, 0.2), (103.0, 0.3), (103.1, 9.0)):
        window.add(now, latency)
    assert window.measured.rate == 3 / 2
    assert window.measured.latencies == [0.1, 0.2, 0.3]


def test_each_connection_could_have_had_an_answer_however_short_the_time_is() -> None:
    window = Window(Load(0, 3, 0.0, 0.0, "", ""))
    for now in (1e9, 1e9 + 1, 1e9 + 2):
        window.add(now, 1.0)
        assert window.measured is None
    window.add(1e9 + 3, 1.0)
    assert len(window.measured.latencies) == 3


def test_what_came_of_all_rounds() -> None:
    rounds = [Measured(20.0, [0.1] * 98, 0.2), Measured(40.0, [0.5], 0.1), Measured(30.0, [0.7], 0.3)]
    found = Throughput.of(rounds)
    assert (found.rate, found.least, found.most, found.answers, found.client) == (30.0, 20.0, 40.0, 100, 0.3)
    assert found.p50 == 0.1
    assert 0.5 <= found.p99 <= 0.7


def answers(message: Message) -> dict[str, bytes]:
    """The answers of the service and the peer, without servers."""
    client = create_app(Settings()).test_client()
    ours = client.post(message.path, data=message.body, headers=message.headers).data
    return {OURS: ours, PEER: peer.curves(peer.Evaluation(**json.loads(message.body))).body}


def rates_of(monkeypatch: pytest.MonkeyPatch, changed: Callable[[str, bytes], bytes]) -> tuple[Rates, list[Load]]:
    """Rows without servers, with their answers changed by a function; also the requested loads."""
    loads: list[Load] = []

    def measured(load: Load) -> Measured:
        loads.append(load)
        return Measured(10.0 * load.port + len(loads), [1 / load.port], 0.25)

    monkeypatch.setattr(rates, "in_own_process", measured)
    monkeypatch.setattr(Rates, "_first_answer", lambda _, name, message: changed(name, answers(message)[name]))
    ports = {OURS: 40, PEER: 10, CONSTANT: 50}
    return Rates(TINY, {name: SimpleNamespace(wire=SimpleNamespace(port=port)) for name, port in ports.items()}), loads


OF_PEER, OF_CONSTANT = (
    Rate("of one run", sign, reach, 100, 16, theirs)
    for sign, reach, theirs in ((">=", 3.0, PEER), ("<=", None, CONSTANT))
)


def test_the_three_servers_take_turns_in_one_run_for_both_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    measured, loads = rates_of(monkeypatch, lambda _, answer: answer)
    against_peer, against_constant = measured.rate(OF_PEER), measured.rate(OF_CONSTANT)
    assert [load.port for load in loads] == [40, 10, 50] * TINY.repeats
    assert {load.connections for load in loads} == {16}
    ours, theirs, constant = loads[:3]
    assert ours.request == theirs.request
    assert json.loads(ours.answer)["auc"]["roc"] == pytest.approx(json.loads(theirs.answer)["auc"]["roc"], abs=1e-12)
    assert constant.request.startswith(f"POST {PATH}?bytes={len(ours.answer)} HTTP/1.1\r\n")
    assert constant.answer == "\0" * len(ours.answer)
    assert (against_peer.ours, against_peer.theirs, against_constant.theirs) == (404.0, 105.0, 506.0)
    assert (against_peer.ratio, against_constant.ratio) == (404 / 105, 506 / 404)
    assert (against_peer.reached, against_constant.reached) == (True, None)
    assert (against_peer.compared, against_constant.compared) == (10, 2)


@pytest.mark.parametrize("off", [OURS, PEER])
def test_nothing_is_measured_where_an_area_is_off(off: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def changed(name: str, answer: bytes) -> bytes:
        document = json.loads(answer)
        document["auc"]["average_precision"] += 1e-11 * (name == off)
        return json.dumps(document).encode()

    measured, loads = rates_of(monkeypatch, changed)
    for row in (OF_PEER, OF_CONSTANT):
        with pytest.raises(AssertionError):
            measured.rate(row)
    assert loads == []


def test_the_table_has_requests_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    measured, _ = rates_of(monkeypatch, lambda _, answer: answer)
    results = [measured.rate(row) for row in (OF_PEER, OF_CONSTANT)]
    assert report.cells(results[0])[1:] == ("100", "404/s", "105/s", "3.85 x faster", ">= 3", "yes")
    assert report.cells(results[1])[1:] == ("100", "404/s", "506/s", "1.25 x", "", "")
    assert report.per_second(1234.5) == "1,234/s"
    assert report.per_second(12.345) == "12.3/s"
    expected = (
        "401/s to 407/s, p50 25 ms, p99 25 ms; the other 102/s to 108/s, p50 100 ms, p99 100 ms; "
        "3.85 times its requests a second, with a client that took up to 25 % of a processor"
    )
    assert results[0].note == expected
    (against_peer, _) = json.loads(report.as_json(results, {}))["rows"]
    assert (against_peer["loads"]["ours"]["rate"], against_peer["loads"]["ours"]["answers"]) == (404.0, TINY.repeats)
    assert against_peer["loads"]["theirs"]["p99"] == 0.1


def test_every_size_is_measured_with_one_connection_and_with_16() -> None:
    declared = [row for row in ROWS if isinstance(row, Rate)]
    sizes = {(row.rows, row.connections, row.theirs) for row in declared}
    assert sizes == set(product((100, 1_000, 10_000), (1, 16), (PEER, CONSTANT)))
    reaches = {row.rows: row.reach for row in declared if row.reach is not None}
    assert reaches == {100: 5.9, 1_000: 6.6, 10_000: 11.4}


def test_the_constant_answer_reads_the_body_and_has_the_length_asked_for() -> None:
    client = create().test_client()
    answer = client.post(f"{PATH}?bytes=7", data=b"abc")
    assert (answer.status_code, answer.data) == (200, bytes(7))
    cut = {"CONTENT_LENGTH": "4", "wsgi.input_terminated": True}
    assert client.post(f"{PATH}?bytes=7", data=b"abc", environ_overrides=cut).status_code == 400


def test_the_constant_answer_waits_for_the_body_of_a_long_request() -> None:
    with create().test_request_context(PATH, method="POST", environ_overrides={PASS: Pass.HEAD}):
        assert curves().status_code == 204
        assert flask.request.environ[MOVED] is Pass.SMALL
