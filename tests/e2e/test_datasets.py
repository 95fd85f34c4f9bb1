"""Named datasets of the real server: lines while an engine works, and queries that end when their clients leave."""

import http.client
import json
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from tests.support.servers import ROCPR, Server, rocpr_serve

pytestmark = pytest.mark.all

KEY = "rocpr_a-key-for-tests"
HEADERS = {"Authorization": f"Bearer {KEY}", "Content-Type": "application/json", "Accept": "application/x-ndjson"}
TABLE = 'engine = "{engine}"\nscores = "p"\nlabels = "y"\nkeys = ["ann"]\n'
SECONDS = 60.0
RULES = [{"metric": "roc", "min": 0.99}]


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of keys, one of datasets, and the file of two datasets, one of which reads it a hundred times."""
    lake = tmp_path_factory.mktemp("lake")
    random = np.random.default_rng(3)
    scores = random.random(1_000_000)
    parquet.write_table(pa.table({"p": scores, "y": random.random(scores.size) < scores}), lake / "rows.parquet")
    write_keys(lake)
    return lake


def write_keys(lake: Path) -> None:
    (lake / "keys").write_text(f"ann {sha256(KEY.encode()).hexdigest()}\n")


def with_datasets(lake: Path, text: str) -> dict[str, str]:
    (lake / "datasets.toml").write_text(text)
    return {
        "ROCPR_API_KEYS_FILE": str(lake / "keys"),
        "ROCPR_DATASETS_FILE": str(lake / "datasets.toml"),
        "ROCPR_SPOOL_DIR": str(lake),
        "TMPDIR": str(lake),
        "ROCPR_BIG_SECONDS": "600",
    }


@pytest.fixture(scope="module")
def server(root: Path, lake: Path) -> Iterator[Server]:
    one = TABLE.format(engine="duckdb")
    file = str(lake / "rows.parquet")
    many = json.dumps([file] * 100)
    text = f"[few]\n{one}location = {json.dumps(file)}\n[many]\n{one}location = {many}\n"
    wrong = one.replace('"y"', '"z"')
    text += f"[wrong]\n{wrong}location = {json.dumps(file)}\n"
    with rocpr_serve(root, lake / "log", **with_datasets(lake, text)) as server:
        yield server


@contextmanager
def asked(server: Server, body: dict[str, Any], path: str = "/v1/curves") -> Iterator[http.client.HTTPResponse]:
    """Request lines; at the end, the client leaves."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=SECONDS)
    with closing(connection):
        connection.request("POST", path, json.dumps(body), HEADERS)
        with connection.getresponse() as response:
            yield response


def lines_of(server: Server, body: dict[str, Any], path: str = "/v1/curves") -> list[dict[str, Any]]:
    with asked(server, body, path) as response:
        assert (response.status, response.getheader("Content-Type")) == (200, "application/x-ndjson")
        return [json.loads(line) for line in response]


def until(met: Callable[[], bool]) -> float:
    """Wait, and return for how long."""
    began = time.monotonic()
    while not met():
        assert time.monotonic() - began < SECONDS
        time.sleep(0.05)
    return time.monotonic() - began


def spilling(lake: Path) -> list[Path]:
    return list(lake.glob("rocpr-engine-*"))


def test_lines_tell_each_step_and_end_with_the_answer(server: Server, lake: Path) -> None:
    options = {"dataset": "few", "include": ["auc"], "tolerance": 1e-4}
    *progress, last = lines_of(server, options)
    steps = [line["progress"]["step"] for line in progress]
    assert {"labels", "pass 1"} < set(steps)
    assert all(0 <= line["progress"]["done"] <= 1 for line in progress)
    assert last["answer"]["bounds"]["roc"]["upper"] - last["answer"]["bounds"]["roc"]["lower"] <= 1e-4
    assert not spilling(lake)
    logged = json.loads(server.log.read_text().splitlines()[-1])
    assert logged.items() >= {"event": "request", "status": 200, "lane": "big", "key": "ann"}.items()
    assert {"rows", "bytes_in", "bytes_out", "wait_ms", "decode_ms", "evaluate_ms", "encode_ms"} <= logged.keys()


@pytest.mark.parametrize(
    ("body", "path", "status", "code"),
    [
        ({"dataset": "unknown"}, "/v1/curves", 404, "unknown_dataset"),
        ({"dataset": "few", "where": {"p": 1}}, "/v1/curves", 422, "invalid_request"),
        ({"dataset": "few", "rules": RULES, "fail_status": 424}, "/v1/gates", 422, "invalid_request"),
        ({}, "/v1/curves", 422, "invalid_request"),
    ],
)  # fmt: skip
def test_what_is_wrong_from_the_start_has_its_status(
    server: Server, body: dict[str, Any], path: str, status: int, code: str
) -> None:
    with asked(server, body, path) as response:
        assert (response.status, response.getheader("Content-Type")) == (status, "application/problem+json")
        assert json.loads(response.read())["type"] == f"/problems/{code}"


def test_what_is_wrong_later_is_the_last_line(server: Server) -> None:
    *progress, last = lines_of(server, {"dataset": "wrong"})
    assert progress
    assert last["problem"]["type"] == "/problems/invalid_request"
    assert last["problem"]["errors"][0]["code"] == "missing"


def test_every_evaluation_can_be_answered_in_lines(server: Server) -> None:
    *_, last = lines_of(server, {"scores": [1, 2, 0], "labels": [0, 1, 0], "rules": RULES}, "/v1/gates")
    assert last["answer"]["passed"] is True


def test_a_query_ends_with_its_client(server: Server, lake: Path) -> None:
    """The files that its engine wrote are removed."""
    with asked(server, {"dataset": "many", "include": ["auc"]}) as response:
        while json.loads(response.readline())["progress"]["step"] == "waiting":  # the engine is not open yet
            pass
        assert spilling(lake)
    until(lambda: not spilling(lake))


def test_a_server_without_keys_does_not_start_with_datasets(server: Server, lake: Path) -> None:
    variables = {"ROCPR_DATASETS_FILE": str(lake / "datasets.toml"), "PATH": "/usr/bin:/bin"}
    command = [*ROCPR, "serve", "--port", str(server.port + 1)]
    done = subprocess.run(command, env=variables, capture_output=True, text=True, timeout=SECONDS, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "rocpr: ROCPR_DATASETS_FILE needs API keys: set ROCPR_API_KEYS_FILE, too.\n"
