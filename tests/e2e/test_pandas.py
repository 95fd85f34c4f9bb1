"""A pandas that is installed beside rocpr: nobody waits for its import, neither small requests nor big ones."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
import requests

from tests.e2e.wire import SECONDS
from tests.support.servers import ROCPR, rocpr_serve

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.all

CSV = "scores,labels\n" + "0.5,1\n0.25,0\n" * 10
BIG_CSV = "scores,labels\n" + "0.5,1\n0.25,0\n" * 40_000  # above ROCPR_BIG_BODY_BYTES


@pytest.fixture
def variables(tmp_path: Path) -> dict[str, str]:
    """Variables under which importing pandas leaves a file, and is found before another pandas."""
    (tmp_path / "path").mkdir()
    (tmp_path / "path" / "pandas.py").write_text(f"open({str(tmp_path / 'imported')!r}, 'w').close()\n")
    return {"PYTHONPATH": str(tmp_path / "path")}


def test_a_server_does_without_it(root: Path, tmp_path: Path, variables: dict[str, str]) -> None:
    with rocpr_serve(root, tmp_path / "log", **variables) as server:
        for body in (CSV, BIG_CSV):
            url = f"http://127.0.0.1:{server.port}/v1/curves?include=auc"
            answer = requests.post(url, data=body, headers={"Content-Type": "text/csv"}, timeout=SECONDS)
            assert answer.status_code == 200, answer.text
    assert not (tmp_path / "imported").exists()


def test_a_command_does_without_it(root: Path, tmp_path: Path, variables: dict[str, str]) -> None:
    (tmp_path / "rows.csv").write_text(CSV)
    for words in (["curves", "rows.csv"], ["compare", "a=rows.csv", "b=rows.csv"]):
        command = [*ROCPR, *words]
        environment = {**os.environ, "PYTHONPATH": f"{variables['PYTHONPATH']}:{root}"}
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    assert not (tmp_path / "imported").exists()


def test_it_can_be_imported_later(tmp_path: Path, root: Path, variables: dict[str, str]) -> None:
    code = "from service.environment import leave_pandas_out; leave_pandas_out(); leave_pandas_out(); import pandas"
    environment = {**os.environ, "PYTHONPATH": f"{variables['PYTHONPATH']}:{root}"}
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=environment, check=True)
    assert (tmp_path / "imported").exists()
