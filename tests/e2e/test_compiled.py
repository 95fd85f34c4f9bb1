"""A server with compiled loops: workers and evaluators use them, and no number changes."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import requests

from tests.compiled_library import library_in
from tests.e2e.conftest import free_port, wait_for_port

ROCPR = [sys.executable, "-c", "from service.cli.main import main; main()"]
SMALL, BIG = 300, 40_000  # rows; the JSON of the latter is above ROCPR_BIG_BODY_BYTES


@pytest.fixture
def checkout(root: Path, tmp_path: Path) -> Path:
    """A copy with loops compiled from its sources."""
    unwanted = shutil.ignore_patterns("kernel.so", "__pycache__")
    for directory in ("service", "deploy"):
        shutil.copytree(root / directory, tmp_path / directory, ignore=unwanted)
    shutil.copy(root / "openapi.yaml", tmp_path)
    library_in(tmp_path / "service" / "curves" / "kernel")
    return tmp_path


def answers(checkout: Path, compiled: str) -> list[bytes]:
    """What a server answers to a small and a big request, and whether it says that it uses the library."""
    port = free_port()
    with (checkout / f"{compiled}.log").open("wb") as log:
        process = subprocess.Popen(
            [*ROCPR, "serve", "--port", str(port)],
            cwd=checkout,
            env={**os.environ, "ROCPR_COMPILED": compiled, "ROCPR_WORKERS": "1"},
            stdout=log,
            stderr=subprocess.STDOUT,
        )
    try:
        wait_for_port(port, process)
        found = []
        random = np.random.default_rng(4)
        for rows in (SMALL, BIG):
            scores, labels = random.random(rows), random.random(rows) < 0.3
            document = {"scores": scores.tolist(), "labels": labels.tolist(), "include": ["auc", "points"]}
            answer = requests.post(f"http://127.0.0.1:{port}/v1/curves", json=document, timeout=60)
            assert answer.status_code == 200, answer.text
            found.append(answer.content)
        metrics = requests.get(f"http://127.0.0.1:{port}/metrics", timeout=60).text
        (build,) = [line for line in metrics.splitlines() if line.startswith("rocpr_build_info{")]
        assert f'compiled="{"yes" if compiled == "auto" else "no"}"' in build
    finally:
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=60) == 0
    log = (checkout / f"{compiled}.log").read_text()
    assert '"lane":"big"' in log or '"lane": "big"' in log
    assert "Traceback" not in log, log
    return found


def test_a_server_uses_what_was_compiled_and_answers_the_same(checkout: Path) -> None:
    assert answers(checkout, "auto") == answers(checkout, "off")
