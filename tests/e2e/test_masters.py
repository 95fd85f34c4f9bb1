"""The master: its replacement, a stuck worker, and no descriptors left."""

import os
import signal
import socket
import subprocess
import sys
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest

from tests.e2e.wire import SECONDS
from tests.support.clients import LOST, Client
from tests.support.processes import living, wait_until
from tests.support.servers import STOP_SECONDS, Service, serving

pytestmark = pytest.mark.all


def is_live(service: Service) -> bool:
    with suppress(*LOST), Client(service.port) as client:
        return client.ask("GET", "/health/live").status == 200
    return False


def started(service: Service) -> list[str]:
    """The lines about a worker's start."""
    return [line for line in service.log.read_text().splitlines() if "Booting worker" in line]


def wait_until_replaced(service: Service, times: int = 1) -> None:
    """Some workers end when they are asked."""
    wait_until(lambda: is_live(service) and len(started(service)) > times, 3 * SECONDS, "another worker answers")


def config_with(root: Path, path: Path, code: str) -> str:
    """Write the server's configuration with an addition at its end; return its path."""
    ours = str(root / "deploy" / "gunicorn.conf.py")
    path.write_text(f"import os, runpy, signal\nglobals().update(runpy.run_path({ours!r}))\n{code}")
    return str(path)


def test_a_new_master_takes_over(tmp_path: Path) -> None:
    pidfile = tmp_path / "pid"
    with serving(workers=1, options=("--pid", str(pidfile))) as server:
        server.process.send_signal(signal.SIGUSR2)
        successor = tmp_path / "pid.2"
        wait_until(lambda: successor.is_file() and successor.read_text().strip() != "", SECONDS, "it is there")
        new = int(successor.read_text())
        wait_until(lambda: len(started(server)) >= 2, SECONDS, "its worker starts")
        server.process.terminate()
        assert server.process.wait(STOP_SECONDS) == 0
        assert is_live(server)
        os.kill(new, signal.SIGTERM)
        wait_until(lambda: not living([new]), SECONDS, "it ends")
        assert '"level":"error"' not in server.log.read_text()


def test_workers_that_are_stopped_before_they_listen_end_at_once(root: Path, tmp_path: Path) -> None:
    """Between the fork and its own handlers, a process has the master's, which only queue a signal."""
    early = config_with(
        root,
        tmp_path / "early.conf.py",
        "listens = post_fork\n"
        "def post_fork(server, worker):\n"
        "    stop = {1: signal.SIGTERM, 2: signal.SIGQUIT}.get(worker.age)\n"
        "    if stop is not None:\n"
        "        os.kill(os.getpid(), stop)\n"
        "    listens(server, worker)\n",
    )
    with serving(workers=1, options=("--config", early)) as server:
        wait_until_replaced(server, times=2)
        assert "SIGKILL" not in server.log.read_text()


def test_workers_that_are_stopped_while_they_hold_a_lock_end_at_once(root: Path, tmp_path: Path) -> None:
    """Stopping takes this lock: a signal handler that did so while interrupted code holds it would wait for ever."""
    locked = config_with(
        root,
        tmp_path / "locked.conf.py",
        "os.environ['ROCPR_DRAIN_SECONDS'] = '1'\n"  # which workers read
        "initialised = post_worker_init\n"
        "def post_worker_init(worker):\n"
        "    from service.web.passes import DRAINING\n"
        "    from service.web.server.connection import Connection\n"
        "    initialised(worker)\n"
        "    made = Connection.connection_made\n"
        "    stop = {1: signal.SIGINT, 2: signal.SIGTERM, 3: signal.SIGQUIT}.get(worker.age)\n"
        "    def stopped_while_made(connection, transport):\n"
        "        with DRAINING._cond:\n"
        "            os.kill(os.getpid(), stop)\n"
        "            made(connection, transport)\n"
        "    if stop is not None:\n"
        "        Connection.connection_made = stopped_while_made\n",
    )
    with serving(workers=1, options=("--config", locked), prepared=False) as server:
        wait_until_replaced(server, times=3)
        assert "SIGKILL" not in server.log.read_text()


def test_a_worker_that_is_stuck_is_replaced() -> None:
    with serving(workers=1, options=("--timeout", "5")) as server:
        (stuck,) = server.workers()
        os.kill(stuck, signal.SIGSTOP)
        wait_until_replaced(server)
        assert stuck not in server.workers()


def test_the_server_survives_without_descriptors() -> None:
    with serving(workers=1, inside=("sh", "-c", 'ulimit -n 64; exec "$@"', "sh"), prepared=False) as server:
        with ExitStack() as clients:
            for _ in range(100):
                clients.enter_context(socket.create_connection(("127.0.0.1", server.port), timeout=60))
            wait_until(lambda: "Out of file descriptors" in server.log.read_text(), SECONDS, "none are left")
        wait_until(lambda: is_live(server), SECONDS, "it answers")
        assert len(started(server)) == 1


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
    command = [sys.executable, "-m", "gunicorn", "--config", "deploy/gunicorn.conf.py"]
    environment = {**os.environ, **variables}
    ended = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, timeout=60, check=False)
    assert ended.returncode == 1
    (name,) = variables
    assert ended.stderr.startswith(f"rocpr: {name}")
    assert ended.stderr.count("\n") == 1
