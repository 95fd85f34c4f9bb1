"""A real server that wants a key, for the gate's command and for the scripts of CI servers."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import pytest

from tests.e2e.conftest import free_port, wait_for_port

KEY = "rocpr_a-key_of.tests~+/="


@pytest.fixture(scope="session")
def guarded(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Its address; its log must tell of no failure, and not the key."""
    port = free_port()
    folder = tmp_path_factory.mktemp("guarded")
    log = folder / "log"
    (folder / "keys").write_text(f"tests {sha256(KEY.encode()).hexdigest()}\n")
    variables = {
        "ROCPR_API_KEYS_FILE": str(folder / "keys"),
        "ROCPR_WORKERS": "1",
        "ROCPR_MAX_BODY_BYTES": "1000000",
        "ROCPR_RETRY_AFTER_SECONDS": "1",
    }
    with log.open("wb") as stream:
        process = subprocess.Popen(
            [sys.executable, "-c", "from service.cli.main import main; main()", "serve", "--port", str(port)],
            cwd=root,
            env=os.environ | variables,
            stdout=stream,
            stderr=subprocess.STDOUT,
        )
    wait_for_port(port, process)
    yield f"http://127.0.0.1:{port}"
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=60) == 0
    text = log.read_text()
    assert "Traceback" not in text, text
    assert KEY not in text
