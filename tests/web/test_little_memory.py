"""Whatever runs out of memory says so, wherever that happens: it neither crashes nor fails."""

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.all

if sys.platform != "linux":
    pytest.skip("the memory of a process is read and limited as Linux does", allow_module_level=True)


@pytest.fixture
def every(*, runs_all: bool) -> str:
    """1 to try every amount of memory, 5 to try every fifth."""
    return "1" if runs_all else "5"


def test_a_lack_of_memory_is_reported_whenever_it_comes(root: Path, every: str) -> None:
    command = [sys.executable, "-m", "tests.web.little_memory", every]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=900, check=True)
    outcomes = [line.split(maxsplit=3) for line in done.stdout.splitlines()]
    wrong = [line for line in outcomes if line[2:] not in (["0", "200"], ["0", "413"])]
    assert not wrong, done.stderr[-2000:]
    numbers = {number for number, *_ in outcomes}
    assert len(numbers) == 8  # all amounts of little_memory
    for number in numbers:
        statuses = [status for which, _, _, status in outcomes if which == number]
        assert statuses == ["413"] * (len(statuses) - 1) + ["200"]
        assert len(statuses) > 1


def test_a_worker_answers_whatever_it_lacks(root: Path, every: str) -> None:
    command = [sys.executable, "-m", "tests.web.little_memory_of_workers", every]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=900, check=True)
    answered: dict[str, list[str]] = {}
    for line in done.stdout.splitlines():
        formats, _, outcome = line.partition(": ")
        answered.setdefault(formats, []).append(outcome)
    assert len(answered) == 4
    for outcomes in answered.values():
        assert set(outcomes[:-1]) <= {"0 413", "0 503"}, done.stderr[-2000:]
        assert outcomes[-1] == "0 200"
        assert len(outcomes) > 1
