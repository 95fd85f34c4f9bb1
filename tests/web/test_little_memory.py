"""A helper that has too little memory says so, at whatever it runs out: it neither crashes nor fails."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.web.little_memory import requests


@pytest.mark.skipif(sys.platform != "linux", reason="the memory of a process is read and limited as Linux does")
def test_a_lack_of_memory_is_told_whenever_it_comes(root: Path) -> None:
    command = [sys.executable, "-m", "tests.web.little_memory"]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=300, check=True)
    lines = [line.rsplit(maxsplit=3) for line in done.stdout.splitlines()]
    wrong = [line for line in lines if line[2:] not in (["0", "200"], ["0", "413"])]
    assert not wrong, done.stderr[-2000:]
    outcomes = [(what, status) for what, _, _, status in lines]
    assert {what for what, status in outcomes if status == "200"} == {what for what, _ in outcomes}
    assert len({what for what, _ in outcomes}) == len(list(requests()))
    assert sum(status == "413" for _, status in outcomes) > len(lines) / 2
