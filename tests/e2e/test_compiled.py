"""A server with compiled loops: workers and evaluators use them, and the numbers are those of their twin."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import requests

from tests.e2e.wire import SECONDS
from tests.support.compiled_library import library_in
from tests.support.servers import rocpr_serve

pytestmark = pytest.mark.all

SMALL, BIG = 300, 40_000  # rows; the JSON of the latter is above ROCPR_BIG_BODY_BYTES


@pytest.fixture
def checkout(root: Path, tmp_path: Path) -> Path:
    """A copy of the checkout with loops compiled from its sources."""
    unwanted = shutil.ignore_patterns("sweep.library", "__pycache__")
    for directory in ("service", "deploy"):
        shutil.copytree(root / directory, tmp_path / directory, ignore=unwanted)
    shutil.copy(root / "openapi.yaml", tmp_path)
    library_in(tmp_path / "service" / "curves" / "sweep")
    return tmp_path


def answers(checkout: Path, compiled: str) -> list[dict[str, Any]]:
    """A server's answers to a small and a big request, and whether it says that it uses the library."""
    random = np.random.default_rng(4)
    found = []
    with rocpr_serve(checkout, checkout / f"{compiled}.log", ROCPR_COMPILED=compiled) as server:
        url = f"http://127.0.0.1:{server.port}"
        for rows in (SMALL, BIG):
            scores, labels = random.random(rows), random.random(rows) < 0.3
            document = {"scores": scores.tolist(), "labels": labels.tolist(), "include": ["auc", "points"]}
            answer = requests.post(f"{url}/v1/curves", json=document, timeout=SECONDS)
            assert answer.status_code == 200, answer.text
            found.append(answer.json())
        metrics = requests.get(f"{url}/metrics", timeout=SECONDS).text
        (build,) = [line for line in metrics.splitlines() if line.startswith("rocpr_build_info{")]
        assert f'compiled="{"yes" if compiled == "auto" else "no"}"' in build
    log = server.log.read_text()
    assert '"lane":"big"' in log or '"lane": "big"' in log
    return found


def test_a_server_uses_what_was_compiled_and_answers_the_same(checkout: Path) -> None:
    for compiled, plain in zip(answers(checkout, "auto"), answers(checkout, "off"), strict=True):
        assert compiled["auc"] == pytest.approx(plain["auc"], rel=1e-12)
        assert compiled["points"] == plain["points"]
