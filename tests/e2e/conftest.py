"""The real server on a port of its own."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.soak.servers import free_port

MAX_BODY_BYTES = 1_000_000
MAX_DECOMPRESSED_BYTES = 20_000_000


@dataclass(frozen=True)
class Server:
    """A running server, its port and the file that its log goes to."""

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


@pytest.fixture(scope="session")
def server(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """`rocpr serve` with a low body limit; its log must tell of no failure."""
    port = free_port()
    log = tmp_path_factory.mktemp("server") / "log"
    with log.open("wb") as stream:
        process = subprocess.Popen(
            [sys.executable, "-c", "from service.cli.main import main; main()", "serve", "--port", str(port)],
            cwd=root,
            env={
                **os.environ,
                "ROCPR_MAX_BODY_BYTES": str(MAX_BODY_BYTES),
                "ROCPR_MAX_DECOMPRESSED_BYTES": str(MAX_DECOMPRESSED_BYTES),
                "ROCPR_WORKERS": "1",
                "ROCPR_SLOTZ": "7",
            },
            stdout=stream,
            stderr=subprocess.STDOUT,
        )
    wait_for_port(port, process)
    yield Server(port, process, log)
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=60) == 0
    text = log.read_text()
    assert "Traceback" not in text, text
    assert '"level":"error"' not in text, text
