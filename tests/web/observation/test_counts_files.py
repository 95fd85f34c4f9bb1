"""Files of counts without room: no process is killed, no request fails, and the page shows the rest."""

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from service.web import runtime
from service.web.observation import counts_files
from service.web.observation.counts_files import CountsFile, CountsOfAll
from service.web.runtime import COUNTS_FILE_BYTES, allocate
from tests.support import mounts

COUNTING = """
import pathlib, sys
from flask import Flask
from service.web.observation.metrics import count_request, metrics_blueprint, start_counting
from service.web.lanes.slots import Slots
from service.web.spool import Spool
place = pathlib.Path(sys.argv[1])
app = Flask("counting")
app.register_blueprint(metrics_blueprint(Slots(place, "big", 2), Spool(str(place)), compiled=False))
start_counting()
for _ in range(3):
    count_request("/v1/curves", "POST", 200, 0.002, None)
page = app.test_client().get("/metrics")
print(page.status_code, page.text)
"""

FILLING = """
import pathlib, sys
from service.web.observation.counts_files import CountsFile
place = pathlib.Path(sys.argv[1])
file = CountsFile(str(place / "counter_0.db"))
filler = (place / "filler").open("wb", buffering=0)
try:
    while filler.write(bytes(4096)):
        pass
except OSError:
    pass
keys = [f'["n", "n", {{"label": "{number:04}"}}, ""]' for number in range(5000)]
for value in (1, 2):
    for key in keys:
        file.read_value(key)
        file.write_value(key, value, 0.0)
print(1000 < len(file._positions) < 5000, file.read_value(keys[0]), file.read_value(keys[-1]))
filler.truncate(0)
file.write_value(keys[-1], 3, 0.0)
print(*CountsFile(file._fname).read_value(keys[-1]))
"""

KEY = '["rocpr", "rocpr_total", {"label": "value"}, "help"]'


@pytest.fixture(autouse=True)
def _each_test_is_warned() -> None:
    counts_files._warn_once.cache_clear()


def run(root: Path, script: str, place: Path, commands: str = "") -> subprocess.CompletedProcess[str]:
    """Run a script that counts in a place, behind mounts."""
    command = [sys.executable, "-c", script, str(place)]
    return subprocess.run(
        mounts.behind(commands, *command) if commands else command,
        cwd=root,
        env={**os.environ, "PROMETHEUS_MULTIPROC_DIR": str(place)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_a_full_file_system_ends_no_process(tmp_path: Path, root: Path) -> None:
    done = run(root, COUNTING, tmp_path, mounts.small(tmp_path, "64k") + mounts.filled(tmp_path))
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("200 ")
    assert "rocpr_slots_in_use 0.0\n" in done.stdout
    assert "rocpr_spool_available_bytes 0.0\n" in done.stdout
    assert "rocpr_requests_total" not in done.stdout
    assert done.stderr == "Counts of this process are missing from /metrics: No space left on device.\n"


@pytest.mark.all
def test_a_file_that_cannot_grow_keeps_what_it_has(tmp_path: Path, root: Path) -> None:
    """What did not fit is included once there is room again."""
    done = run(root, FILLING, tmp_path, mounts.small(tmp_path, str(4 * COUNTS_FILE_BYTES)))
    assert done.stdout == "True (2.0, 0.0) (0.0, 0.0)\n3.0 0.0\n", done.stderr
    assert done.stderr == "Counts of this process are missing from /metrics: No space left on device.\n"


@pytest.fixture
def no_room(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise OSError(errno.ENOSPC, "no room")

    monkeypatch.setattr(runtime.os, "posix_fallocate", fail)


@pytest.mark.usefixtures("no_room")
def test_what_cannot_be_allocated_is_not_mapped(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "counter_0.db"
    file = CountsFile(str(path))
    for value in (1.0, 2.0):
        file.write_value(KEY, value, 0.0)
        assert file.read_value(KEY) == (0.0, 0.0)
    file.close()
    assert not path.exists()
    assert caplog.messages == ["Counts of this process are missing from /metrics: No space left on device."]
    assert list(CountsOfAll(tmp_path).collect()) == []


@pytest.mark.usefixtures("no_room")
def test_a_file_stays_that_cannot_be_extended(tmp_path: Path) -> None:
    path = tmp_path / "kept"
    path.write_bytes(b"counts")
    with pytest.raises(OSError, match="no room"):
        allocate(path, 1000)
    assert path.read_bytes() == b"counts"


def test_every_byte_of_a_file_has_its_block(tmp_path: Path) -> None:
    path = tmp_path / "counter_0.db"
    file = CountsFile(str(path))
    file.write_value(KEY, 4.0, 0.0)
    assert (path.stat().st_size, path.stat().st_blocks * 512 >= COUNTS_FILE_BYTES) == (COUNTS_FILE_BYTES, True)
    number = 0
    while file._capacity == COUNTS_FILE_BYTES:
        file.write_value(f"{KEY}{number}", 1.0, 0.0)
        number += 1
    file.close()
    assert path.stat().st_blocks * 512 >= path.stat().st_size == 2 * COUNTS_FILE_BYTES
    again = CountsFile(str(path))
    assert again.read_value(KEY) == (4.0, 0.0)
    again.close()


def test_a_larger_file_that_cannot_be_mapped_is_tried_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = CountsFile(str(tmp_path / "counter_0.db"))
    with monkeypatch.context() as patch:
        patch.setattr(counts_files.MmapedDict, "_init_value", lambda *_: counts_files.os.close(-1))
        file.write_value(KEY, 1.0, 0.0)
    file.write_value(KEY, 2.0, 0.0)
    assert file.read_value(KEY) == (2.0, 0.0)
    file.close()


@pytest.mark.all
def test_all_series_of_the_service_fit_from_the_start(tmp_path: Path, root: Path) -> None:
    """With each route in a few methods and statuses."""
    script = """
from service.app import create_app
from service.web.observation import metrics
routes = [rule.rule for rule in create_app().url_map.iter_rules()] + ["unmatched"]
for route in routes:
    for method in ("GET", "POST", "HEAD"):
        for status in (200, 400, 404, 422, 503):
            metrics.count_request(route, method, status, 0.1, None)
metrics.count_stages((stage, 0.1) for stage in ("decode", "evaluate", "encode"))
for operation in ("curves", "tradeoffs", "comparisons", "gates", "columns", "slices", "classes"):
    metrics.count_sizes(operation, 1, 1, 1)
"""
    variables = {**os.environ, "PROMETHEUS_MULTIPROC_DIR": str(tmp_path)}
    subprocess.run([sys.executable, "-c", script], cwd=root, env=variables, check=True, timeout=60)
    sizes = {path.name: path.stat().st_size for path in tmp_path.glob("*.db")}
    assert sizes == {"counter_0.db": COUNTS_FILE_BYTES, "histogram_0.db": COUNTS_FILE_BYTES}


def test_a_process_without_a_number_gets_a_number_of_its_own(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    assert counts_files._number(tmp_path / "none", 7) == -7
    assert caplog.messages == ["Counts of this process are missing from /metrics: No such file or directory."]


def test_a_file_that_was_just_made_has_no_counts(tmp_path: Path) -> None:
    (tmp_path / "counter_0.db").touch()
    assert list(CountsOfAll(tmp_path).collect()) == []


def test_the_page_has_the_rest(tmp_path: Path, root: Path) -> None:
    """The page leaves out a file that does not hold counts, and shows what it can about slots."""
    (tmp_path / "counter_9.db").write_bytes(b"\x7f" * 5000)
    done = run(root, COUNTING, tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("200 ")
    assert "rocpr_slots_in_use 0.0\n" in done.stdout
    assert "rocpr_requests_total" not in done.stdout
    assert done.stderr.startswith("A part of /metrics is missing: ")
    assert done.stderr.count("\n") == 1
