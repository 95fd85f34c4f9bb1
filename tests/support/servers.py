"""The real server: gunicorn as deploy/gunicorn.conf.py configures it, on loopback, with its log in a file.

Several processes of pytest-xdist can share one (`shared`).
"""

import fcntl
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.support import processes
from tests.support.clients import Client

ROOT = Path(__file__).resolve().parent.parent.parent
ROCPR = [sys.executable, "-c", "from service.cli.main import main; main()"]
START_SECONDS = 120
STOP_SECONDS = 120
SHARED_SECONDS = 600
_KEPT: list[socket.socket] = []
"""The sockets that keep ports until this process ends."""

FAILURE = re.compile(r"Traceback|\[(ERROR|CRITICAL)\]|\"level\": ?\"(error|critical)\"")


@dataclass(frozen=True)
class Server:
    """A running server, perhaps one that another process started."""

    port: int
    pid: int
    log: Path

    def tree(self) -> list[int]:
        return processes.tree(self.pid)

    def workers(self) -> list[int]:
        return processes.children(self.pid)

    def helpers(self) -> list[int]:
        """The processes that answer big requests, started by the workers' forkservers."""
        return [pid for worker in self.workers() for pid in self.helpers_of(worker)]

    @staticmethod
    def helpers_of(worker: int) -> list[int]:
        servers = filter(processes.is_forkserver, processes.children(worker))
        return [pid for server in servers for pid in processes.children(server)]

    def pss(self) -> int:
        return processes.pss(self.tree())

    def metric(self, name: str) -> float:
        """A line of /metrics."""
        with Client(self.port) as client:
            page = client.ask("GET", "/metrics").body.decode()
        return next(float(line.rpartition(" ")[2]) for line in page.splitlines() if line.startswith(f"{name} "))

    def failures(self, allowed: Sequence[str] = ()) -> list[str]:
        """The lines of the log about a failure of the server, except those that contain an allowed text."""
        lines = self.log.read_text("utf-8", "replace").splitlines()
        return [line for line in lines if FAILURE.search(line) and not any(text in line for text in allowed)]


@dataclass(frozen=True)
class Service(Server):
    """A running server that this process started."""

    process: subprocess.Popen[bytes]


def free_port() -> int:
    """A port that the kernel chose for a server that has not started yet.

    A socket stays bound to it, so the kernel gives it to nobody else. It never listens, so a server with SO_REUSEADDR
    can, and all of ours set that.
    """
    kept = socket.socket()
    kept.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    kept.bind(("127.0.0.1", 0))
    _KEPT.append(kept)
    return int(kept.getsockname()[1])


def variables(**settings: object) -> dict[str, str]:
    """This process's environment, with these settings of the service and no others."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("ROCPR_", "PROMETHEUS_"))}
    return kept | {f"ROCPR_{name.upper()}": str(value) for name, value in settings.items()}


def start(
    log: Path,
    bind: Sequence[str],
    keep: Sequence[int] = (),
    *,
    root: Path = ROOT,
    inside: Sequence[str] = (),
    options: Sequence[str] = (),
    **settings: object,
) -> subprocess.Popen[bytes]:
    """Start gunicorn, which inherits the descriptors `keep`.

    `root` is the checkout that it serves, `inside` a command that runs the rest, `options` are for gunicorn.
    """
    binds = [word for address in bind for word in ("--bind", address)]
    with log.open("ab") as stream:
        return subprocess.Popen(
            [*inside, sys.executable, "-m", "gunicorn", "--config", "deploy/gunicorn.conf.py", *binds, *options],
            cwd=root,
            env=variables(**settings),
            stdout=stream,
            stderr=stream,
            pass_fds=keep,
        )


def stop(process: subprocess.Popen[bytes]) -> int:
    """Tell a server to stop and wait for it; if it does not stop, kill it and its children."""
    process.send_signal(signal.SIGTERM)
    try:
        return process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        for pid in processes.tree(process.pid):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        process.wait()
        raise AssertionError(f"the server did not stop within {STOP_SECONDS} s") from None


def wait_for_port(port: int, process: subprocess.Popen[bytes]) -> None:
    """Wait until any server accepts connections."""

    def accepts() -> bool:
        assert process.poll() is None, f"the server ended with {process.returncode}"
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=START_SECONDS):
            return True
        return False

    processes.wait_until(accepts, START_SECONDS, "the server listens")


def wait_until_ready(port: int, process: subprocess.Popen[bytes], log: Path) -> None:
    def is_ready() -> bool:
        if process.poll() is not None:
            raise AssertionError(f"the server ended with {process.returncode}:\n{log.read_text()[-2000:]}")
        with suppress(OSError), Client(port, timeout=5) as client:
            return client.ask("GET", "/health/ready").status == 200
        return False

    processes.wait_until(is_ready, START_SECONDS, "the server is ready", every=0.1)


@contextmanager
def running(process: subprocess.Popen[bytes], port: int, log: Path) -> Iterator[Service]:
    """A server that was just started, once it has answered that it is ready; at the end, whatever happens, it stops."""
    try:
        wait_until_ready(port, process, log)
        yield Service(port, process.pid, log, process)
    finally:
        everyone = processes.tree(process.pid)
        if process.poll() is None:
            stop(process)
        processes.wait_until(
            lambda: not processes.living(everyone), STOP_SECONDS, "all processes have ended", every=0.1
        )


@contextmanager
def serving(
    *,
    root: Path = ROOT,
    inside: Sequence[str] = (),
    options: Sequence[str] = (),
    prepared: bool = True,
    **settings: object,
) -> Iterator[Service]:
    """A server with these settings.

    `prepared` waits for its evaluators, which a server without memory or disk may not have. The rest is as in `start`.
    """
    with tempfile.TemporaryDirectory(prefix="rocpr-soak-") as directory:
        log = Path(directory) / "log"
        port = free_port()
        process = start(log, [f"127.0.0.1:{port}"], root=root, inside=inside, options=options, **settings)
        with running(process, port, log) as service:
            if prepared:  # each worker starts its first helper during its first requests
                prepared_workers = set[int]()

                def are_prepared() -> bool:  # one by one: an evaluator without work ends after some seconds
                    prepared_workers.update(worker for worker in service.workers() if service.helpers_of(worker))
                    return 0 < len(service.workers()) <= len(prepared_workers)

                processes.wait_until(are_prepared, START_SECONDS, "each worker has had an evaluator", every=0.1)
            yield service


@contextmanager
def rocpr_serve(root: Path, log: Path, **variables: str) -> Iterator[Service]:
    """`rocpr serve`, with one worker unless a variable says otherwise; its log must show no failure."""
    port = free_port()
    with log.open("wb") as stream:
        process = subprocess.Popen(
            [*ROCPR, "serve", "--port", str(port)],
            cwd=root,
            env={**os.environ, "ROCPR_WORKERS": "1", **variables},
            stdout=stream,
            stderr=subprocess.STDOUT,
        )
    with running(process, port, log) as service:
        yield service
    text = log.read_text()
    assert process.returncode == 0, text
    assert "Traceback" not in text, text
    assert '"event":"Unexpected failure"' not in text, text


@contextmanager
def shared(folder: Path, serve: AbstractContextManager[Service]) -> Iterator[Server]:
    """One server for all processes that name this folder: the first of them starts it, and ends it when all are done.

    Nothing else may change it; whoever needs it alone for a while holds a lock (`alone`).
    """
    folder.mkdir(exist_ok=True)
    with _told(folder) as told:
        is_first = not told.get("users")
        if is_first:
            service = serve.__enter__()
            told |= {"users": 0, "port": service.port, "pid": service.pid, "log": str(service.log)}
        told["users"] += 1
    try:
        yield Server(told["port"], told["pid"], Path(told["log"]))
    finally:
        with _told(folder) as told:
            told["users"] -= 1
        if is_first:
            with suppress(AssertionError):  # whoever was killed does not say that it is done
                processes.wait_until(lambda: _is_unused(folder), SHARED_SECONDS, "nobody uses the server", every=0.2)
            serve.__exit__(*sys.exc_info())


def run_folder(factory: pytest.TempPathFactory, name: str) -> Path:
    """A folder with this name that all processes of pytest-xdist have in common."""
    own = factory.getbasetemp()
    return (own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) / name


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Wait until no other process is in here with this folder, and keep them out."""
    with (folder / "alone").open("w", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


@contextmanager
def _told(folder: Path) -> Iterator[dict[str, Any]]:
    """What the processes tell each other, for one of them at a time."""
    with (folder / "told.json").open("a+", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.seek(0)
        told = json.loads(file.read() or "{}")
        yield told
        file.truncate(0)
        file.write(json.dumps(told))


def _is_unused(folder: Path) -> bool:
    with _told(folder) as told:
        return told["users"] == 0
