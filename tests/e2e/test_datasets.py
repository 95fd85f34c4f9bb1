"""Named datasets of the real server: answers of engines, and queries that end when their clients leave."""

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
HEADERS = {"Authorization": f"Bearer {KEY}", "Content-Type": "application/json"}
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
def asked(server: Server, body: dict[str, Any], path: str = "/v1/curves") -> Iterator[http.client.HTTPConnection]:
    """Send a request; at the end, the client leaves."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=SECONDS)
    with closing(connection):
        connection.request("POST", path, json.dumps(body), HEADERS)
        yield connection


def answered(server: Server, body: dict[str, Any], path: str = "/v1/curves") -> tuple[int, dict[str, Any]]:
    """The status and the document of an answer."""
    with asked(server, body, path) as connection, connection.getresponse() as response:
        return response.status, json.loads(response.read())


def until(met: Callable[[], bool]) -> float:
    """Wait, and return for how long."""
    began = time.monotonic()
    while not met():
        assert time.monotonic() - began < SECONDS
        time.sleep(0.05)
    return time.monotonic() - began


def spilling(lake: Path) -> list[Path]:
    return list(lake.glob("rocpr-engine-*"))


def test_a_dataset_is_answered_within_its_tolerance(server: Server, lake: Path) -> None:
    status, found = answered(server, {"dataset": "few", "include": ["auc"], "tolerance": 1e-4})
    assert status == 200
    assert found["bounds"]["roc"]["upper"] - found["bounds"]["roc"]["lower"] <= 1e-4
    assert not spilling(lake)
    logged = json.loads(server.log.read_text().splitlines()[-1])
    assert logged.items() >= {"event": "request", "status": 200, "lane": "big", "key": "ann"}.items()
    assert {"rows", "bytes_in", "bytes_out", "wait_ms", "decode_ms", "evaluate_ms", "encode_ms"} <= logged.keys()


@pytest.mark.parametrize(
    ("body", "path", "status", "code"),
    [
        ({"dataset": "unknown"}, "/v1/curves", 404, "unknown_dataset"),
        ({"dataset": "few", "where": {"p": 1}}, "/v1/curves", 422, "invalid_request"),
        ({"dataset": "few", "rules": RULES, "fail_status": 424}, "/v1/gates", 424, None),
        ({"dataset": "wrong"}, "/v1/curves", 422, "invalid_request"),
        ({}, "/v1/curves", 422, "invalid_request"),
    ],
)  # fmt: skip
def test_a_refusal_and_a_failed_gate_have_their_status(
    server: Server, body: dict[str, Any], path: str, status: int, code: str | None
) -> None:
    found, document = answered(server, body, path)
    assert (found, document.get("type")) == (status, code and f"/problems/{code}")


def test_a_query_ends_with_its_client(server: Server, lake: Path) -> None:
    """The files that its engine wrote are removed."""
    with asked(server, {"dataset": "many", "include": ["auc"]}):
        until(lambda: bool(spilling(lake)))
    until(lambda: not spilling(lake))


def test_a_server_without_keys_does_not_start_with_datasets(server: Server, lake: Path) -> None:
    variables = {"ROCPR_DATASETS_FILE": str(lake / "datasets.toml"), "PATH": "/usr/bin:/bin"}
    command = [*ROCPR, "serve", "--port", str(server.port + 1)]
    done = subprocess.run(command, env=variables, capture_output=True, text=True, timeout=SECONDS, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "rocpr: ROCPR_DATASETS_FILE needs API keys: set ROCPR_API_KEYS_FILE, too.\n"
