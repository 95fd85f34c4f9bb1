"""The real server: gunicorn as deploy/gunicorn.conf.py configures it, on loopback, with its log in a file."""

import os
import random
import re
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from tests.support import processes
from tests.support.clients import Client

ROOT = Path(__file__).resolve().parent.parent.parent
START_SECONDS = 60
STOP_SECONDS = 60
_CHANCE = random.SystemRandom()
FAILURE = re.compile(r"Traceback|\[(ERROR|CRITICAL)\]|\"level\": ?\"(error|critical)\"")


@dataclass(frozen=True)
class Service:
    """A running server."""

    port: int
    process: subprocess.Popen[bytes]
    log: Path

    def tree(self) -> list[int]:
        return processes.tree(self.process.pid)

    def workers(self) -> list[int]:
        return processes.children(self.process.pid)

    def helpers(self) -> list[int]:
        """The processes that answer big requests, started by the workers' forkservers."""
        servers = [pid for worker in self.workers() for pid in processes.children(worker)]
        return [pid for server in servers if processes.is_forkserver(server) for pid in processes.children(server)]

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


def free_port() -> int:
    """Find a port for a server that has not started yet.

    It is outside the range that the system assigns to connections, or to requests for any free port, so none of these
    can take it before the server does.
    """
    while True:
        port = _CHANCE.randrange(10_000, 32_000)
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


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


def wait_until_ready(port: int, process: subprocess.Popen[bytes], log: Path) -> None:
    def is_ready() -> bool:
        if process.poll() is not None:
            raise AssertionError(f"the server ended with {process.returncode}:\n{log.read_text()[-2000:]}")
        with suppress(OSError), Client(port, timeout=5) as client:
            return client.ask("GET", "/health/ready").status == 200
        return False

    processes.wait_until(is_ready, START_SECONDS, "the server is ready")


@contextmanager
def serving(
    *,
    root: Path = ROOT,
    inside: Sequence[str] = (),
    options: Sequence[str] = (),
    prepared: bool = True,
    **settings: object,
) -> Iterator[Service]:
    """A server with these settings, once it has answered that it is ready; it is stopped at the end, whatever happens.

    `prepared` also waits for its evaluators, which a server without memory or disk may not have. The rest is as in
    `start`.
    """
    with tempfile.TemporaryDirectory(prefix="rocpr-soak-") as directory:
        log = Path(directory) / "log"
        port = free_port()
        process = start(log, [f"127.0.0.1:{port}"], root=root, inside=inside, options=options, **settings)
        try:
            wait_until_ready(port, process, log)
            service = Service(port, process, log)
            if prepared:  # each worker starts its first helper during its first requests
                processes.wait_until(lambda: len(service.helpers()) >= len(service.workers()) > 0, 30, "helpers")
            yield service
        finally:
            everyone = processes.tree(process.pid)
            if process.poll() is None:
                stop(process)
            processes.wait_until(lambda: not processes.living(everyone), 60, "all processes have ended")
