"""The master: its replacement, a stuck worker, and no descriptors left."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
import requests

from tests.support.servers import free_port, wait_for_port

pytestmark = pytest.mark.all

MASTER = [sys.executable, "-m", "gunicorn", "--config", "deploy/gunicorn.conf.py"]


class Running:
    """A server with one worker, and everything it wrote."""

    def __init__(self, root: Path, log: Path, *options: str, files: int | None = None) -> None:
        self.port = free_port()
        self.log = log

        limited = [] if files is None else ["sh", "-c", f'ulimit -n {files}; exec "$@"', "sh"]
        with log.open("wb") as stream:
            self.process = subprocess.Popen(
                [*limited, *MASTER, "--bind", f"127.0.0.1:{self.port}", *options],
                cwd=root,
                env={**os.environ, "ROCPR_WORKERS": "1"},
                stderr=stream,
            )
        wait_for_port(self.port, self.process)

    def is_live(self) -> bool:
        try:
            return requests.get(f"http://127.0.0.1:{self.port}/health/live", timeout=60).ok
        except requests.RequestException:
            return False

    def started(self) -> list[str]:
        """The lines about a worker's start."""
        return [line for line in self.log.read_text().splitlines() if "Booting worker" in line]


@contextmanager
def running(root: Path, log: Path, *options: str, files: int | None = None) -> Iterator[Running]:
    server = Running(root, log, *options, files=files)
    try:
        yield server
    finally:
        server.process.terminate()
        server.process.wait(60)


def wait_until(condition: Callable[[], object], seconds: float = 60.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.05)


def worker_of(master: int) -> int:
    children = Path(f"/proc/{master}/task/{master}/children").read_text().split()
    return int(children[0])


def config_with(root: Path, path: Path, code: str) -> str:
    """Write the server's configuration with an addition at its end; return its path."""
    ours = str(root / "deploy" / "gunicorn.conf.py")
    path.write_text(f"import os, runpy, signal\nglobals().update(runpy.run_path({ours!r}))\n{code}")
    return str(path)


def test_a_new_master_takes_over(root: Path, tmp_path: Path) -> None:
    pidfile = tmp_path / "pid"
    with running(root, tmp_path / "log", "--pid", str(pidfile)) as server:
        wait_until(server.is_live)
        server.process.send_signal(signal.SIGUSR2)
        successor = tmp_path / "pid.2"
        wait_until(lambda: successor.is_file() and successor.read_text().strip())
        new = int(successor.read_text())
        wait_until(lambda: len(server.started()) >= 2)
        server.process.terminate()
        assert server.process.wait(60) == 0
        assert server.is_live()
        os.kill(new, signal.SIGTERM)
        wait_until(lambda: not Path(f"/proc/{new}/cmdline").is_file() or not Path(f"/proc/{new}/cmdline").read_bytes())
        assert '"level":"error"' not in server.log.read_text()


@pytest.mark.parametrize("stop", ["SIGTERM", "SIGQUIT"])
def test_a_worker_that_is_stopped_before_it_listens_ends_at_once(root: Path, tmp_path: Path, stop: str) -> None:
    """Between the fork and its own handlers, a process has the master's, which only queue a signal."""
    early = config_with(
        root,
        tmp_path / "early.conf.py",
        f"listens = post_fork\n"
        f"def post_fork(server, worker):\n"
        f"    if worker.age == 1:\n"
        f"        os.kill(os.getpid(), signal.{stop})\n"
        f"    listens(server, worker)\n",
    )
    with running(root, tmp_path / "log", "--config", early) as server:
        wait_until(lambda: len(server.started()) >= 2)
        wait_until(server.is_live)
        assert "SIGKILL" not in server.log.read_text()


@pytest.mark.parametrize("stop", ["SIGINT", "SIGTERM", "SIGQUIT"])
def test_a_worker_that_is_stopped_while_it_holds_a_lock_ends_at_once(root: Path, tmp_path: Path, stop: str) -> None:
    """Stopping takes this lock: a signal handler that did so while interrupted code holds it would wait for ever."""
    locked = config_with(
        root,
        tmp_path / "locked.conf.py",
        f"os.environ['ROCPR_DRAIN_SECONDS'] = '1'\n"  # which workers read
        f"initialised = post_worker_init\n"
        f"def post_worker_init(worker):\n"
        f"    from service.web.lifecycle import DRAINING\n"
        f"    from service.web.server.connection import Connection\n"
        f"    initialised(worker)\n"
        f"    made = Connection.connection_made\n"
        f"    def stopped_while_made(connection, transport):\n"
        f"        with DRAINING._cond:\n"
        f"            os.kill(os.getpid(), signal.{stop})\n"
        f"            made(connection, transport)\n"
        f"    if worker.age == 1:\n"
        f"        Connection.connection_made = stopped_while_made\n",
    )
    with running(root, tmp_path / "log", "--config", locked) as server:
        wait_until(lambda: server.is_live() and len(server.started()) >= 2)
        wait_until(server.is_live)
        assert "SIGKILL" not in server.log.read_text()


def test_a_worker_that_is_stuck_is_replaced(root: Path, tmp_path: Path) -> None:
    with running(root, tmp_path / "log", "--timeout", "5") as server:
        wait_until(server.is_live)
        stuck = worker_of(server.process.pid)
        os.kill(stuck, signal.SIGSTOP)
        wait_until(lambda: len(server.started()) >= 2)
        wait_until(server.is_live)
        assert worker_of(server.process.pid) != stuck


def test_the_server_survives_without_descriptors(root: Path, tmp_path: Path) -> None:
    with running(root, tmp_path / "log", files=64) as server:
        wait_until(server.is_live)
        with ExitStack() as clients:
            for _ in range(100):
                clients.enter_context(socket.create_connection(("127.0.0.1", server.port), timeout=60))
            wait_until(lambda: "Out of file descriptors" in server.log.read_text())
        wait_until(server.is_live)
        assert len(server.started()) == 1


@pytest.mark.parametrize(
    "variables",
    [
        {"ROCPR_SPOOL_DIR": "/none"},
        {"ROCPR_API_KEYS_FILE": "/none"},
        {"ROCPR_CORS_ORIGINS": "example.org"},
        {"ROCPR_TRUSTED_PROXIES": "*"},
    ],
)
def test_what_cannot_be_used_stops_the_start(root: Path, variables: dict[str, str]) -> None:
    ended = subprocess.run(
        MASTER, cwd=root, env={**os.environ, **variables}, capture_output=True, text=True, timeout=60, check=False
    )
    assert ended.returncode == 1
    (name,) = variables
    assert ended.stderr.startswith(f"rocpr: {name}")
    assert ended.stderr.count("\n") == 1
