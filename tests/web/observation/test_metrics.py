"""The counts of several processes are added up, survive the processes, and do not fill the directory."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

COUNTING = """
import os, sys, time
from service.web.observation.metrics import count_request, helper_ended, start_counting
start_counting()
for _ in range(int(sys.argv[1])):
    count_request("/v1/curves", "POST", 200, 0.002, None)
helper_ended("deadline")
{end}
"""

FORKING = """
import os
from service.web.observation.metrics import count_request, start_counting
start_counting()
for _ in range(3):
    child = os.fork()
    if child == 0:
        count_request("/v1/curves", "POST", 200, 0.002, None)
        os._exit(0)
    os.waitpid(child, 0)
"""

READING = """
import pathlib, sys
from flask import Flask
from service.web.observation.metrics import metrics_blueprint
from service.web.lanes.slots import Slots
from service.web.spool import Spool
app = Flask("reading")
slots = Slots(pathlib.Path(sys.argv[1]), "big", 2)
app.register_blueprint(metrics_blueprint(slots, Spool("/none"), compiled=False))
print(app.test_client().get("/metrics").text)
"""


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    (tmp_path / "metrics").mkdir()
    return tmp_path / "metrics"


def started(directory: Path, root: Path, script: str, *arguments: str) -> subprocess.Popen[str]:
    environment = {**os.environ, "PROMETHEUS_MULTIPROC_DIR": str(directory)}
    return subprocess.Popen(
        [sys.executable, "-c", script, *arguments], cwd=root, env=environment, stdout=subprocess.PIPE, text=True
    )


def read(directory: Path, root: Path) -> str:
    text, _ = started(directory, root, READING, str(directory.parent)).communicate(timeout=60)
    return text


def files(directory: Path) -> list[str]:
    return sorted(path.name for path in directory.glob("*.db"))


def test_processes_at_once_are_added_up(directory: Path, root: Path) -> None:
    waiting = COUNTING.format(end="print('counted', flush=True); time.sleep(60)")
    both = [started(directory, root, waiting, "3"), started(directory, root, waiting, "4")]
    for process in both:
        assert process.stdout.readline() == "counted\n"
    assert files(directory) == ["counter_0.db", "counter_1.db", "histogram_0.db", "histogram_1.db"]
    text = read(directory, root)
    for process in both:
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
    assert 'rocpr_requests_total{method="POST",route="/v1/curves",status="200"} 7.0\n' in text
    assert 'rocpr_request_seconds_count{route="/v1/curves"} 7.0\n' in text
    assert 'rocpr_request_seconds_bucket{le="0.0025",route="/v1/curves"} 7.0\n' in text
    assert 'rocpr_helper_deaths_total{reason="deadline"} 2.0\n' in text
    assert 'rocpr_helper_deaths_total{reason="died"} 0.0\n' in text
    assert "rocpr_slots 2.0\n" in text
    assert read(directory, root) == text, "what dead processes counted stays"


@pytest.mark.all
def test_processes_one_after_another_count_in_the_same_files(directory: Path, root: Path) -> None:
    killed = COUNTING.format(end="os.kill(os.getpid(), 9)")
    for number in range(3):
        process = started(directory, root, killed, str(number))
        process.communicate(timeout=60)
        assert process.returncode == -signal.SIGKILL
    assert files(directory) == ["counter_0.db", "histogram_0.db"]
    text = read(directory, root)
    assert 'rocpr_requests_total{method="POST",route="/v1/curves",status="200"} 3.0\n' in text
    assert 'rocpr_helper_deaths_total{reason="deadline"} 3.0\n' in text


def test_a_fork_counts_for_itself(directory: Path, root: Path) -> None:
    """So does the fork of a process that already counts and holds a number."""
    process = started(directory, root, FORKING)
    process.communicate(timeout=60)
    assert process.returncode == 0
    assert files(directory) == ["counter_0.db", "counter_1.db", "histogram_1.db"]
    assert 'rocpr_requests_total{method="POST",route="/v1/curves",status="200"} 3.0\n' in read(directory, root)


@pytest.mark.all
def test_no_directory_is_a_failure_at_the_start(tmp_path: Path, root: Path) -> None:
    process = subprocess.run(
        [sys.executable, "-c", "from service.web.observation.metrics import start_counting; start_counting()"],
        cwd=root,
        env={**os.environ, "PROMETHEUS_MULTIPROC_DIR": str(tmp_path / "nothing")},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert process.returncode == 1
    assert "NotADirectoryError" in process.stderr
