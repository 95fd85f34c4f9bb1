"""The rows of one connection over HTTP; and the servers, real processes on loopback, also for the rows of load."""

import contextlib
import http.client
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import orjson
import pyarrow as pa

from service.settings import shipped_file
from tests.properties.bodies import arrow_body
from tests.support.servers import free_port
from tests.tools.bench import agreement
from tests.tools.bench.cases import labelled
from tests.tools.bench.environments import environment
from tests.tools.bench.measure import ROOT, Scale, Timing, medians
from tests.tools.bench.pinning import pin
from tests.tools.bench.report import Result
from tests.tools.bench.rows import ARROW, CONSTANT, JSON, NUMPY, OURS, PEER, PLAIN, SERVER, Served

PATH = "/v1/curves"
COMMANDS = {
    OURS: ("-c", "from service.cli.main import main; main()", "serve", "--port", "{port}"),
    PEER: ("-m", "tests.tools.bench.peer_server", "{port}", "{workers}"),
    CONSTANT: (
        *("-m", "gunicorn", "--config", str(shipped_file("deploy/gunicorn.conf.py")), "--bind", "127.0.0.1:{port}"),
        "tests.tools.bench.constant:create()",
    ),
}
COMMANDS[NUMPY] = COMMANDS[OURS]
"""What Python runs for each server."""

OWN = {
    OURS: {"ROCPR_COMPILED": "auto"},
    NUMPY: {"ROCPR_COMPILED": "off"},
    CONSTANT: {},
}
"""Settings of the servers with the service's configuration, which sets everything else itself."""

START_SECONDS = 60
STOP_SECONDS = 20
ANSWER_SECONDS = 300


class Refused(Exception):
    """A server did not answer 200."""


@dataclass(frozen=True)
class Message:
    """One request, ready to be sent."""

    path: str
    body: bytes
    headers: Mapping[str, str]


@dataclass(frozen=True)
class Connection:
    """A connection that is kept open while it is timed."""

    wire: http.client.HTTPConnection
    memory: bytearray = field(default_factory=bytearray)

    def renew(self) -> None:
        """Connect, and get a first answer: servers close connections that were idle for some seconds."""
        self.wire.close()
        self.wire.request("GET", "/health/live")
        self.wire.getresponse().read()

    def send(self, message: Message) -> bytes:
        """Send and return the whole answer."""
        return bytes(self._exchange(message))

    def _exchange(self, message: Message) -> memoryview:
        """Send, and read the whole answer unseen into memory that the next one reuses.

        Fresh memory for 100 MB costs the client more than the network between two processes does.
        """
        self.wire.request("POST", message.path, message.body, message.headers)
        answer = self.wire.getresponse()
        length = int(answer.headers["Content-Length"])
        self.memory.extend(bytes(max(0, length - len(self.memory))))
        body = memoryview(self.memory)[:length]
        read = 0
        while read < length and (more := answer.readinto(body[read:])):
            read += more
        answer.close()
        if answer.status != 200:
            raise Refused(f"{answer.status}: {bytes(body[:200]).decode(errors='replace')}")
        return body

    def timing(self, message: Message) -> Timing:
        """Seconds of wall-clock time: the client waits while a server works."""

        def time_loops(loops: int) -> float:
            self.renew()
            self._exchange(message)  # a connection that has carried such a message has buffers for it
            start = time.perf_counter()
            for _ in range(loops):
                self._exchange(message)
            return (time.perf_counter() - start) / loops

        return time_loops


@dataclass(frozen=True)
class Server:
    """A process that listens on this port, or soon will."""

    port: int
    process: subprocess.Popen[bytes]

    def wait(self) -> None:
        """Wait until it listens."""
        end = time.monotonic() + START_SECONDS
        while time.monotonic() < end and self.process.poll() is None:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), timeout=1):
                return
            time.sleep(0.05)
        raise RuntimeError(f"{self.process.args} did not start")

    @contextlib.contextmanager
    def connection(self) -> Iterator[Connection]:
        """Connect once it listens; at the end, tell it to stop, without waiting."""
        self.wait()
        with contextlib.closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=ANSWER_SECONDS)) as wire:
            try:
                yield Connection(wire)
            finally:
                self.process.terminate()


@contextlib.contextmanager
def starting(name: str, workers: int, *, pinned: bool) -> Iterator[Server]:
    """Start a server without waiting until it listens, and end it whatever happens.

    Those with the service's configuration set their environment themselves; the others get the same one.
    """
    port = free_port()
    command = [sys.executable, *(word.format(port=port, workers=workers) for word in COMMANDS[name])]
    own = {**OWN[name], "ROCPR_WORKERS": str(workers)} if name in OWN else None
    variables = environment(SERVER) if own is None else environment(PLAIN) | own
    with tempfile.TemporaryFile() as log:
        process = subprocess.Popen(command, cwd=ROOT, env=variables, stdout=log, stderr=log)
        try:
            if pinned:
                pin(-1, process.pid)
            yield Server(port, process)
        finally:
            process.terminate()
            try:
                process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            log.seek(0)
            text = log.read().decode(errors="replace")
            if "Traceback" in text or "[ERROR]" in text:
                print(text, file=sys.stderr)


@contextlib.contextmanager
def servers(
    names: Iterable[str], workers: int, settle_seconds: float, *, pinned: bool = False
) -> Iterator[dict[str, Connection]]:
    """Start these servers, each with this many workers, all on the same processor or on any.

    All start at once and stop at once, which takes as long as the slowest of them.
    """
    with contextlib.ExitStack() as stack:
        begun = {name: stack.enter_context(starting(name, workers, pinned=pinned)) for name in names}
        connections = {name: stack.enter_context(server.connection()) for name, server in begun.items()}
        time.sleep(settle_seconds)
        yield connections


@contextlib.contextmanager
def single_workers(scale: Scale, *, compiled: bool) -> Iterator[dict[str, Connection]]:
    """Start all servers with one worker, on one processor; this process uses the other one, if there is one."""
    before = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else set()
    names = (OURS, PEER, CONSTANT, NUMPY) if compiled else (OURS, PEER, CONSTANT)
    with servers(names, 1, scale.settle_seconds, pinned=True) as connections:
        pin(0)
        try:
            yield connections
        finally:
            if before:
                os.sched_setaffinity(0, before)


def served(row: Served, scale: Scale, connections: Mapping[str, Connection]) -> Result:
    """Compare the service's answer with the peer's, then time."""
    ours, theirs = connections[OURS], connections[PEER]
    random = np.random.default_rng(8)
    scores = random.random(row.rows)
    labels = labelled(scores, scores, random).astype(np.int64)
    asked = json_message(scores, labels, row.include)
    message = asked if row.media_type == JSON else arrow_message(scores, labels, row.include)
    without = connections.get(NUMPY) if row.ours == OURS else None
    for connection in (ours, theirs):
        connection.renew()
    answer, expected = ours.send(message), orjson.loads(theirs.send(asked))
    compared = _compared(row, answer, expected)
    if without:
        without.renew()
        _compared(row, without.send(message), expected)
    if row.ours == CONSTANT:
        message = replace(message, path=f"{PATH}?bytes={len(answer)}")
    del answer, expected
    sides = {"ours": connections[row.ours].timing(message), "theirs": theirs.timing(asked)}
    if without:
        sides["without"] = without.timing(message)
    return Result.of_seconds(row, compared, **medians(sides, scale))


def _compared(row: Served, answer: bytes, expected: dict[str, Any]) -> int:
    """Compare an answer with the peer's; return how many numbers agree."""
    if row.media_type == JSON:
        return agreement.answers(orjson.loads(answer), expected)
    (name,) = row.include
    table = pa.ipc.open_stream(answer).read_all()
    return agreement.columns({column: table[column].to_numpy() for column in table.column_names}, expected[name])


def json_message(scores: np.ndarray, labels: np.ndarray, include: tuple[str, ...]) -> Message:
    document = {"scores": scores, "labels": labels, "include": include}
    return Message(PATH, orjson.dumps(document, option=orjson.OPT_SERIALIZE_NUMPY), {"Content-Type": JSON})


def arrow_message(scores: np.ndarray, labels: np.ndarray, include: tuple[str, ...]) -> Message:
    """The answer as an Arrow stream, which holds one table."""
    body = arrow_body(pa.table({"scores": scores, "labels": labels}))
    (name,) = include
    return Message(f"{PATH}?include={name}&table={name}", body, {"Content-Type": ARROW, "Accept": ARROW})
