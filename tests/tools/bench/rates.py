"""The rows of load: rocpr as it is installed, the peer, and a constant answer, with two workers each, in turns.

The load is a new process each time (load.py). It accepts only the answer whose areas were compared here.
"""

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from typing import Self

import numpy as np
import orjson

from tests.tools.bench import agreement, rivals
from tests.tools.bench.cases import labelled
from tests.tools.bench.load import Load, Measured
from tests.tools.bench.measure import ROOT, Scale
from tests.tools.bench.report import Result
from tests.tools.bench.rows import CONSTANT, OURS, PEER, Rate
from tests.tools.bench.services import ANSWER_SECONDS, PATH, Connection, Message, Refused, json_message, servers
from tests.tools.bench.throughput import Throughput

WORKERS = 2

WARM = 0.3
"""How long a server is under load before it is measured, as a share of the measured time."""


@dataclass(frozen=True)
class Run:
    """One measurement of all three: the result of each, and how many numbers were compared for its row."""

    throughput: Mapping[str, Throughput]
    compared: Mapping[str, int]


class Rates:
    """Measures rows; those against the peer and those against a constant answer come from one run."""

    def __init__(self, scale: Scale, connections: Mapping[str, Connection]) -> None:
        self._scale = scale
        self._connections = connections
        self._runs: dict[tuple[int, int], Run] = {}

    @classmethod
    @contextmanager
    def of_servers(cls, scale: Scale) -> Iterator[Self]:
        """Start the servers, and end them."""
        with servers((OURS, PEER, CONSTANT), WORKERS, scale.settle_seconds) as connections:
            yield cls(scale, connections)

    def rate(self, row: Rate) -> Result:
        """Compare the areas, then measure. Raises AssertionError if areas differ, Refused if an answer does."""
        key = row.rows, row.connections
        if key not in self._runs:
            self._runs[key] = self._run(*key)
        run = self._runs[key]
        return Result.of_rates(row, run.compared[row.theirs], run.throughput[OURS], run.throughput[row.theirs])

    def _run(self, rows: int, connections: int) -> Run:
        random = np.random.default_rng(8)
        scores = random.random(rows)
        labels = labelled(scores, scores, random).astype(np.int64)
        message = json_message(scores, labels, ("auc",))
        answers = {name: self._first_answer(name, message) for name in (OURS, PEER)}
        ours, theirs = orjson.loads(answers[OURS]), orjson.loads(answers[PEER])
        expected = rivals.scikit_learn(scores, labels, None)
        compared = {
            CONSTANT: agreement.areas_with_scikit_learn(ours["auc"], expected),
            PEER: agreement.areas_with_scikit_learn(theirs["auc"], expected) + agreement.answers(ours, theirs),
        }
        length = len(answers[OURS])
        messages = dict.fromkeys(answers, message) | {CONSTANT: replace(message, path=f"{PATH}?bytes={length}")}
        answers[CONSTANT] = bytes(length)
        rounds: dict[str, list[Measured]] = {name: [] for name in messages}
        for _ in range(self._scale.repeats):
            for name, measured in rounds.items():
                measured.append(self._under_load(name, messages[name], answers[name], connections))
        return Run({name: Throughput.of(measured) for name, measured in rounds.items()}, compared)

    def _first_answer(self, name: str, message: Message) -> bytes:
        connection = self._connections[name]
        connection.renew()
        answer = connection.send(message)
        connection.wire.close()
        return answer

    def _under_load(self, name: str, message: Message, answer: bytes, connections: int) -> Measured:
        seconds = self._scale.load_seconds
        port = self._connections[name].wire.port
        load = Load(port, connections, WARM * seconds, seconds, wire_format(message), answer.decode("latin-1"))
        try:
            return in_own_process(load)
        except Refused as error:
            raise Refused(f"{name}: {error}") from error


def wire_format(message: Message) -> str:
    """All bytes of a request, as ISO 8859-1."""
    fields = {"Host": "127.0.0.1", "Content-Length": str(len(message.body)), **message.headers}
    head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    return f"POST {message.path} HTTP/1.1\r\n{head}\r\n{message.body.decode('latin-1')}"


def in_own_process(load: Load) -> Measured:
    """Put a load on a server. Raises Refused if it does not answer as expected."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.tools.bench.load"],
        cwd=ROOT,
        input=json.dumps(asdict(load)),
        capture_output=True,
        text=True,
        timeout=ANSWER_SECONDS,
        check=False,
    )
    if done.returncode:
        raise Refused(done.stderr.strip())
    return Measured(**json.loads(done.stdout))
