"""A server on a machine without room in memory, without room on disk, or with nothing writable."""

import json
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
from tests.support.servers import ROCPR, STOP_SECONDS, Service, serving

pytestmark = pytest.mark.all

ROWS = 40_000
SMALL = b"scores,labels\n0.9,1\n0.1,0\n"
CHANCE = random.Random(7)
BIG = b"scores,labels\n" + b"".join(b"%f,%d\n" % (CHANCE.random(), row % 2) for row in range(ROWS))


def get(server: Service, path: str) -> requests.Response:
    return requests.get(f"http://127.0.0.1:{server.port}{path}", timeout=60)


def curves(server: Service, body: bytes) -> int:
    url = f"http://127.0.0.1:{server.port}/v1/curves?include=auc"
    return requests.post(url, body, headers={"Content-Type": "text/csv"}, timeout=60).status_code


def room(server: Service) -> str:
    ready = get(server, "/health/ready")
    assert (ready.status_code, ready.json()["status"]) == (200, "ok")
    return ready.json()["big"]


def warnings(server: Service) -> list[str]:
    """The lines of the log other than those of requests and starts."""
    lines: list[dict[str, Any]] = [json.loads(line) for line in server.log.read_text().splitlines()]
    assert not any("failures" in line for line in lines), lines
    return [line["event"] for line in lines if line["level"] != "info" and line["event"] != "request"]


@contextmanager
def serving_behind(commands: str, **settings: object) -> Iterator[Service]:
    """A server with two workers, run after some mounts."""
    with serving(inside=mounts.behind(commands), workers=2, prepared=False, **settings) as server:
        yield server
        server.process.terminate()
        assert server.process.wait(STOP_SECONDS) == 0
        warnings(server)


def test_nothing_can_be_written() -> None:
    with serving_behind(mounts.READ_ONLY) as server:
        for _ in range(3):
            assert curves(server, SMALL) == 200
            assert curves(server, BIG) == 503
            assert room(server) == "full"
            assert "\nrocpr_spool_available_bytes 0.0\n" in get(server, "/metrics").text
        first, *others = warnings(server)
        assert first == (
            "No directory is writable: each process keeps its own slots and counts, and big requests are refused."
        )
        assert set(others) == {"The spool directory takes no more files: No such file or directory."}
        assert len(others) <= 2, "one of each worker"


@pytest.mark.parametrize("when", ["before", "while"])
def test_no_room_in_memory(when: str) -> None:
    """Before the start, or while it serves: in both cases the counts are those of all workers."""
    memory = mounts.small("/dev/shm", "4m")
    with serving_behind(memory + (mounts.filled("/dev/shm") if when == "before" else "")) as server:
        if when == "while":
            inside = ["nsenter", "-m", "-t", str(server.pid), "sh", "-c", mounts.filled("/dev/shm")]
            subprocess.run(inside, check=False, capture_output=True)
            inside[-1] = "df --output=avail /dev/shm"
            assert subprocess.run(inside, check=True, capture_output=True).stdout.split()[-1] == b"0"
        for number in range(1, 6):
            assert curves(server, SMALL) == curves(server, BIG) == 200
            answered = f'rocpr_requests_total{{method="POST",route="/v1/curves",status="200"}} {2 * number}.0\n'
            assert answered in get(server, "/metrics").text
        assert room(server) == "ok"
        said = (
            [f"/dev/shm is full or read-only: files that processes share are in {tempfile.gettempdir()}."]
            if when == "before"
            else []
        )
        assert warnings(server) == said


def test_no_room_for_bodies(tmp_path: Path) -> None:
    spool = tmp_path / "spool"
    spool.mkdir()
    with serving_behind(mounts.small(spool, "300k"), spool_dir=spool) as server:
        assert room(server) == "ok"
        for _ in range(3):
            assert curves(server, BIG) == 503
            assert curves(server, SMALL) == 200
        assert set(warnings(server)) == {"The spool directory takes no more files: No space left on device."}
        assert len(warnings(server)) <= 2


@pytest.mark.parametrize(
    "command", [[sys.executable, "-m", "gunicorn", "--config", "deploy/gunicorn.conf.py"], [*ROCPR, "serve"]]
)
def test_too_few_descriptors_are_one_line(root: Path, command: list[str]) -> None:
    limited = ["sh", "-c", 'ulimit -n 32; exec "$@"', "sh", *command]
    done = subprocess.run(limited, cwd=root, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1
    assert done.stderr == "rocpr: at most 32 files may be open (ulimit -n), and the server needs 64\n"
