"""The real server, on its own port."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.servers import free_port

ROCPR = [sys.executable, "-c", "from service.cli.main import main; main()"]
MAX_BODY_BYTES = 1_000_000
MAX_DECOMPRESSED_BYTES = 20_000_000


@dataclass(frozen=True)
class Server:
    """A running server, its port and its log file."""

    port: int
    process: subprocess.Popen[bytes]
    log: Path


def wait_for_port(port: int, process: subprocess.Popen[bytes], seconds: float = 120.0) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end and process.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            time.sleep(0.05)
        else:
            return
    pytest.fail("the server did not start")


@contextmanager
def rocpr_serve(root: Path, log: Path, **variables: str) -> Iterator[Server]:
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
    try:
        wait_for_port(port, process)
        yield Server(port, process, log)
    finally:
        process.send_signal(signal.SIGTERM)
        status = process.wait(timeout=60)
    assert status == 0
    text = log.read_text()
    assert "Traceback" not in text, text
    assert '"event":"Unexpected failure"' not in text, text


@pytest.fixture(scope="session")
def server(root: Path, tmp_path_factory: pytest.TempPathFactory, measured: dict[str, str]) -> Iterator[Server]:
    """A server with a low body limit, and with a variable that is not a setting."""
    limits = {
        "ROCPR_MAX_BODY_BYTES": str(MAX_BODY_BYTES),
        "ROCPR_MAX_DECOMPRESSED_BYTES": str(MAX_DECOMPRESSED_BYTES),
    }
    with rocpr_serve(root, tmp_path_factory.mktemp("server") / "log", **limits, **measured, ROCPR_SLOTZ="7") as server:
        yield server
    assert '"level":"error"' not in server.log.read_text()
