"""A server on a machine without room in memory, without room on disk, or with nothing writable."""

import json
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import requests

from tests.support import mounts
from tests.support.servers import free_port, wait_for_port

pytestmark = pytest.mark.all

MASTER = [sys.executable, "-m", "gunicorn", "--config", "deploy/gunicorn.conf.py"]
ROWS = 40_000
SMALL = b"scores,labels\n0.9,1\n0.1,0\n"
CHANCE = random.Random(7)
BIG = b"scores,labels\n" + b"".join(b"%f,%d\n" % (CHANCE.random(), row % 2) for row in range(ROWS))


class Server:
    """A server with two workers, run after some mounts, and its log."""

    def __init__(self, process: subprocess.Popen[bytes], port: int, log: Path) -> None:
        self.process = process
        self._url = f"http://127.0.0.1:{port}"
        self._log = log

    def get(self, path: str) -> requests.Response:
        return requests.get(self._url + path, timeout=30)

    def curves(self, body: bytes) -> int:
        headers = {"Content-Type": "text/csv"}
        return requests.post(f"{self._url}/v1/curves?include=auc", body, headers=headers, timeout=60).status_code

    def room(self) -> str:
        ready = self.get("/health/ready")
        assert (ready.status_code, ready.json()["status"]) == (200, "ok")
        return ready.json()["big"]

    def warnings(self) -> list[str]:
        """The lines of the log other than those of requests and starts."""
        lines: list[dict[str, Any]] = [json.loads(line) for line in self._log.read_text().splitlines()]
        assert not any("failures" in line for line in lines), lines
        return [line["event"] for line in lines if line["level"] != "info" and line["event"] != "request"]


@contextmanager
def serving(root: Path, directory: Path, commands: str, **variables: str) -> Iterator[Server]:
    port = free_port()
    log = directory / "log"
    # The tests' coverage would write into files, too.
    kept = {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE_")}
    with log.open("wb") as stream:
        process = subprocess.Popen(
            mounts.behind(commands, *MASTER, "--bind", f"127.0.0.1:{port}"),
            cwd=root,
            env={**kept, "ROCPR_WORKERS": "2", **variables},
            stderr=stream,
        )
    try:
        wait_for_port(port, process)
        yield Server(process, port, log)
        process.terminate()
        assert process.wait(60) == 0
    finally:
        process.kill()
        process.wait()


def test_nothing_can_be_written(root: Path, tmp_path: Path) -> None:
    with serving(root, tmp_path, mounts.READ_ONLY) as server:
        for _ in range(3):
            assert server.curves(SMALL) == 200
            assert server.curves(BIG) == 503
            assert server.room() == "full"
            assert "\nrocpr_spool_available_bytes 0.0\n" in server.get("/metrics").text
    first, *others = server.warnings()
    assert first == (
        "No directory is writable: each process keeps its own slots and counts, and big requests are refused."
    )
    assert set(others) == {"The spool directory takes no more files: No such file or directory."}
    assert len(others) <= 2, "one of each worker"


@pytest.mark.parametrize("when", ["before", "while"])
def test_no_room_in_memory(root: Path, tmp_path: Path, when: str) -> None:
    """Before the start, or while it serves: in both cases the counts are those of all workers."""
    memory = mounts.small("/dev/shm", "4m")
    with serving(root, tmp_path, memory + (mounts.filled("/dev/shm") if when == "before" else "")) as server:
        if when == "while":
            inside = ["nsenter", "-m", "-t", str(server.process.pid), "sh", "-c", mounts.filled("/dev/shm")]
            subprocess.run(inside, check=False, capture_output=True)
            inside[-1] = "df --output=avail /dev/shm"
            assert subprocess.run(inside, check=True, capture_output=True).stdout.split()[-1] == b"0"
        for number in range(1, 6):
            assert server.curves(SMALL) == server.curves(BIG) == 200
            answered = f'rocpr_requests_total{{method="POST",route="/v1/curves",status="200"}} {2 * number}.0\n'
            assert answered in server.get("/metrics").text
        assert server.room() == "ok"
    said = (
        [f"/dev/shm is full or read-only: files that processes share are in {tempfile.gettempdir()}."]
        if when == "before"
        else []
    )
    assert server.warnings() == said


def test_no_room_for_bodies(root: Path, tmp_path: Path) -> None:
    spool = tmp_path / "spool"
    spool.mkdir()
    with serving(root, tmp_path, mounts.small(spool, "300k"), ROCPR_SPOOL_DIR=str(spool)) as server:
        assert server.room() == "ok"
        for _ in range(3):
            assert server.curves(BIG) == 503
            assert server.curves(SMALL) == 200
    assert set(server.warnings()) == {"The spool directory takes no more files: No space left on device."}
    assert len(server.warnings()) <= 2


@pytest.mark.parametrize(
    "command", [MASTER, [sys.executable, "-c", "from service.cli.main import main; main()", "serve"]]
)
def test_too_few_descriptors_are_one_line(root: Path, command: list[str]) -> None:
    limited = ["sh", "-c", 'ulimit -n 32; exec "$@"', "sh", *command]
    done = subprocess.run(limited, cwd=root, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1
    assert done.stderr == "rocpr: at most 32 files may be open (ulimit -n), and the server needs 64\n"
