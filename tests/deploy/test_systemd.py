"""systemd accepts the units, and the server that rocpr@.service starts serves on both of its listeners."""

import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from service.settings import read_settings
from tests.e2e.wire import Connection, request
from tests.support.servers import free_port

UNITS = ("rocpr.socket", "rocpr@.socket", "rocpr@.service")
MOST_EXPOSED = 20
"""In tenths of systemd's exposure level, from 0 (fully locked down) to 10; a service without limits has 9.6."""


def needs(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        pytest.skip(f"there is no {name} on this machine")
    return found


def lines(root: Path, unit: str, key: str) -> list[str]:
    return re.findall(rf"^{key}=(.*)$", (root / "deploy/systemd" / unit).read_text(), re.MULTILINE)


@pytest.fixture
def installed(root: Path, tmp_path: Path) -> Path:
    """The units, and a directory that contains their program."""
    program = tmp_path / "blue/.venv/bin/python"
    program.parent.mkdir(parents=True)
    program.symlink_to(sys.executable)
    for unit in UNITS:
        text = (root / "deploy/systemd" / unit).read_text()
        (tmp_path / unit).write_text(text.replace("/opt/rocpr/%i/", f"{tmp_path}/%i/"))
    return tmp_path


def test_systemd_verifies_the_units(installed: Path) -> None:
    names = ["rocpr.socket", "rocpr@blue.socket", "rocpr@blue.service"]
    done = subprocess.run(
        [needs("systemd-analyze"), "verify", "--man=no", *(str(installed / name) for name in names)],
        env={**os.environ, "SYSTEMD_UNIT_PATH": f"{installed}:"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    # It also reports on the machine's other units.
    assert "rocpr" not in done.stdout + done.stderr
    assert done.returncode == 0


def test_the_service_is_locked_away(installed: Path) -> None:
    command = [needs("systemd-analyze"), "security", "--offline=true", f"--threshold={MOST_EXPOSED}", "--no-pager"]
    done = subprocess.run(
        [*command, str(installed / "rocpr@.service")], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.all
def test_what_is_started_serves_on_both_listeners(root: Path, tmp_path: Path) -> None:
    """ExecStart and ExecStartPost as written, with listeners handed over as by systemd."""
    (start,), (after,) = (lines(root, "rocpr@.service", key) for key in ("ExecStart", "ExecStartPost"))
    program = "/opt/rocpr/%i/.venv/bin/python"
    assert start.split()[0] == after.split()[0] == program
    own = tmp_path / "blue.sock"
    port = free_port()
    listeners = ["--listen", f"127.0.0.1:{port}", "--listen", str(own)]
    variables = {name: value for name, value in os.environ.items() if not name.startswith("ROCPR_")}
    passed = [option for name in variables for option in ("--setenv", name)]
    log = tmp_path / "log"
    with log.open("wb") as stream:
        process = subprocess.Popen(
            [needs("systemd-socket-activate"), *listeners, *passed, sys.executable, *shlex.split(start)[1:]],
            cwd=root,
            env=variables,
            stdout=stream,
            stderr=stream,
        )
    try:
        wait_for_file(own, process)
        asking = [sys.executable, *shlex.split(after.replace("/run/rocpr/%i.sock", str(own)))[1:]]
        ready = subprocess.run(asking, cwd=root, capture_output=True, text=True, timeout=70, check=False)
        assert (ready.returncode, ready.stdout + ready.stderr) == (0, "")
        with Connection(port) as connection:
            assert connection.send(request("GET", "/health/ready")).read().status == 200
    finally:
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=60) == 0, log.read_text()
    own.unlink()
    missing = subprocess.run(asking, cwd=root, capture_output=True, text=True, timeout=70, check=False)
    assert missing.returncode == 1
    assert missing.stderr.startswith("rocpr: no answer from ")


def wait_for_file(path: Path, process: subprocess.Popen[bytes]) -> None:
    while not path.exists():
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(timeout=0.05)


def test_all_instances_take_the_shared_listener(root: Path) -> None:
    assert lines(root, "rocpr@.service", "Sockets") == ["rocpr.socket rocpr@%i.socket"]
    assert lines(root, "rocpr@.service", "Requires") == ["rocpr.socket rocpr@%i.socket"]
    assert "--bind" not in lines(root, "rocpr@.service", "ExecStart")[0]
    assert re.fullmatch(r"rocpr@\w+\.service", lines(root, "rocpr.socket", "Service")[0])
    assert lines(root, "rocpr@.service", "StartLimitIntervalSec") == ["0"]


def test_times_and_memory_follow_from_the_settings(root: Path) -> None:
    settings = read_settings({})
    (drain,) = (
        int(value.partition("=")[2])
        for value in lines(root, "rocpr@.service", "Environment")
        if value.startswith("ROCPR_DRAIN_SECONDS=")
    )
    kept = int(re.search(r"keepalive 16;[^}]*keepalive_timeout (\d+)s;", (root / "deploy/nginx.conf").read_text())[1])
    assert kept < drain
    assert int(lines(root, "rocpr@.service", "TimeoutStopSec")[0]) > drain + settings.big_seconds + 30
    gibibytes = int(lines(root, "rocpr@.service", "MemoryMax")[0].removesuffix("G"))
    assert gibibytes * 1024**3 > settings.slots * settings.big_memory_bytes
