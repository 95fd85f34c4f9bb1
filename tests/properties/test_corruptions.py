"""Corrupted bodies of all formats and codings: each gets an answer, and the process survives."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FEW, MANY = 800, 12_000
DEADLINE = 300
"""Seconds after which a body counts as hanging; all bodies together take about ten."""


@pytest.mark.skipif(sys.platform != "linux", reason="the memory of a process is read and limited as Linux does")
def test_every_corrupted_body_gets_an_answer(*, runs_all: bool) -> None:
    """In a separate process: its crash fails this test, and its last index identifies the body."""
    how_many = MANY if runs_all else FEW
    command = [sys.executable, "-m", "tests.properties.corruptions", "0", str(how_many)]
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=DEADLINE, check=False)
    except subprocess.TimeoutExpired as hang:
        pytest.fail(f"A body hangs, index {_last_index((hang.stdout or b'').decode())}.")
    last = _last_index(done.stdout)
    assert done.returncode == 0, f"index {last}, exit status {done.returncode}:\n{done.stderr}"
    assert last == how_many - 1
    answers = {
        (media_type, int(status)) for media_type, status in re.findall(r"^(\S+/\S+) (\d+):", done.stdout, re.MULTILINE)
    }
    assert {status for _, status in answers} >= {200, 400, 422, *([413] if runs_all else [])}
    assert len({media_type for media_type, status in answers if status == 400}) == 5
    assert int(re.search(r"^MiB more: (\d+)$", done.stdout, re.MULTILINE)[1]) < 300


def _last_index(printed: str) -> int:
    indices = re.findall(r"^\d+$", printed, re.MULTILINE)
    return int(indices[-1]) if indices else -1
