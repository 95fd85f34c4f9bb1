"""Restarts that lose nothing: a parent owns the listener, and the new server is up before the old one is told to stop.

As with deploy/systemd, and with the same check of the new server: its own listener, in addition to the shared one.
"""

import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter, deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from tests.support import processes
from tests.support.attacks.found import Found
from tests.support.clients import LOST, Client
from tests.support.samples import small
from tests.support.servers import FAILURE, ROOT, start, stop

CLIENTS = 16
BACKLOG = 4096
DRAIN_SECONDS = 1
PAUSE = 0.01


@dataclass
class Traffic:
    """What the clients got."""

    answers: int = 0
    connections: int = 0
    wrong: list[str] = field(default_factory=list)


class Parent:
    """Owns the listener, and the servers that accept from it."""

    def __init__(self, directory: Path, **settings: object) -> None:
        self.directory = directory
        self.settings = settings
        self.listener = socket.socket()
        self.listener.bind(("127.0.0.1", 0))
        self.listener.listen(BACKLOG)
        self.port = int(self.listener.getsockname()[1])
        self.log = directory / "log"
        self.generation = 0
        self.current: subprocess.Popen[bytes] | None = None
        self.coming: deque[tuple[subprocess.Popen[bytes], Path]] = deque()
        self.leaving: list[subprocess.Popen[bytes]] = []

    def begin(self) -> None:
        """Start a server without waiting for it."""
        self.generation += 1
        own = self.directory / f"{self.generation}.sock"
        with socket.socket(socket.AF_UNIX) as private:
            private.bind(str(own))
            private.listen()
            both = (self.listener.fileno(), private.fileno())
            new = start(self.log, [f"fd://{number}" for number in both], both, **self.settings)
        self.coming.append((new, own))

    def replace(self) -> None:
        """Wait until the server that was started first is ready, and tell the one before it to stop."""
        new, own = self.coming.popleft()
        before, self.current = self.current, new
        self.leaving += [] if before is None else [before]
        wait = [sys.executable, "deploy/systemd/wait_until_ready.py", str(own)]
        done = subprocess.run(wait, cwd=ROOT, capture_output=True, text=True, timeout=90, check=False)
        assert done.returncode == 0, f"{done.stderr}\n{self.log.read_text()[-1000:]}"
        if before is not None:
            before.terminate()

    def collect(self, seconds: float) -> None:
        """Wait until all servers but the last have ended by themselves."""
        processes.wait_until(lambda: all(one.poll() is not None for one in self.leaving), seconds, "old servers end")
        assert {one.returncode for one in self.leaving} <= {0}, [one.returncode for one in self.leaving]

    def close(self) -> None:
        for one in (*self.leaving, self.current, *(new for new, _ in self.coming)):
            if one is not None and one.poll() is None:
                stop(one)
        self.listener.close()


def ask_until(over: threading.Event, port: int, traffic: Traffic, lock: threading.Lock) -> None:
    """One client: request after request on a kept connection, and on a new one when the server says so."""
    asked = small()
    answers, connections, wrong = 0, 0, []
    with Client(port, timeout=120) as client:
        while not over.is_set():
            connections += client.own_port == 0
            try:
                answer = client.post(asked.body)
            except LOST as error:
                wrong.append(repr(error))
                continue
            answers += 1
            if answer.status != 200 or answer.body != asked.answer:
                wrong.append(f"{answer.status} {answer.problem or 'a wrong answer'}")
            time.sleep(PAUSE)
    with lock:
        traffic.answers += answers
        traffic.connections += connections
        traffic.wrong += wrong


def roll(times: int, tell: Callable[[str], None] = lambda _: None, ahead: int = 1, **settings: object) -> Found:
    """Restart this many times under load, with this many servers starting at a time."""
    found = Found(f"{CLIENTS} clients that keep their connections, a drain of {DRAIN_SECONDS} s")
    traffic, lock, over = Traffic(), threading.Lock(), threading.Event()
    with tempfile.TemporaryDirectory(prefix="rocpr-soak-") as directory, ThreadPoolExecutor(CLIENTS) as pool:
        parent = Parent(Path(directory), **{"drain_seconds": DRAIN_SECONDS, "log_level": "warning"} | settings)
        clients: list[Future[None]] = []
        try:
            parent.begin()
            parent.replace()
            clients = [pool.submit(ask_until, over, parent.port, traffic, lock) for _ in range(CLIENTS)]
            began = time.monotonic()
            for number in range(times):
                while len(parent.coming) < min(ahead, times - number):
                    parent.begin()
                parent.replace()
                tell(f"restart {number + 1} of {times}")
            seconds = time.monotonic() - began
            parent.collect(60)
        finally:
            over.set()
            for client in clients:
                client.result()
            parent.close()
        failures = [line for line in parent.log.read_text("utf-8", "replace").splitlines() if FAILURE.search(line)]
    lost = Counter(traffic.wrong)
    found.figures = {
        "restarts": str(times),
        "answers": f"{traffic.answers:,}",
        "connections": f"{traffic.connections:,}",
        "lost, refused, truncated or wrong": str(lost.total()),
        "seconds each": f"{seconds / max(times, 1):.1f}",
    }
    found.missed = [f"{count} x {what}" for what, count in lost.items()]
    found.require(traffic.answers > CLIENTS * times, f"only {traffic.answers} answers")
    found.require(not failures, f"the log: {failures[:1]}")
    return found
