"""The directory of a server: one for each master, removed when it ends, also by the next one when it was killed."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from service.web import runtime
from service.web.lanes.slots import Slots

MASTER = """
import os, sys, time
from pathlib import Path
from service.web.runtime import is_reload, runtime_directory
parent = Path(sys.argv[1])
told = is_reload(), runtime_directory(parent).name, runtime_directory(parent).name, is_reload()
if os.fork() == 0:
    sys.exit()  # a worker, whose end removes nothing
os.wait()
print(*told, flush=True)  # now nobody else holds what this process holds
sys.stdin.read()
"""


def start(root: Path, parent: Path, **variables: str) -> tuple[subprocess.Popen[str], Path]:
    command = [sys.executable, "-c", MASTER, str(parent)]
    process = subprocess.Popen(
        command, cwd=root, env={**os.environ, **variables}, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    before, first, second, after = process.stdout.readline().split()
    assert (before, first, after) == ("False", second, "True")
    return process, parent / first


def end(process: subprocess.Popen[str]) -> None:
    process.communicate("", timeout=30)


def test_a_master_makes_one_and_removes_it(root: Path, tmp_path: Path) -> None:
    one, its = start(root, tmp_path)
    other, others = start(root, tmp_path, ROCPR_RUNTIME_OWNER=str(one.pid), ROCPR_RUNTIME_DIR=str(its))
    assert its != others
    assert its.is_dir()
    assert its.stat().st_mode & 0o077 == 0
    end(one)
    assert not its.exists()
    assert others.is_dir()
    end(other)
    assert list(tmp_path.iterdir()) == []


def test_another_master_may_sweep_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A directory may be gone between one look and the next; the others are swept still."""
    for name in ("rocpr-a", "rocpr-b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "owner.0").touch()
    in_use = Slots.in_use
    looked_at = []

    def goes(slots: Slots) -> int:
        looked_at.append(slots)
        if len(looked_at) == 1:
            raise FileNotFoundError
        return in_use(slots)

    monkeypatch.setattr(Slots, "in_use", goes)
    runtime._sweep(tmp_path)
    assert len(list(tmp_path.iterdir())) == 1


def test_what_a_killed_master_left_goes_with_the_next_one(root: Path, tmp_path: Path) -> None:
    (tmp_path / "rocpr-of-somebody-else").mkdir()
    killed, left = start(root, tmp_path)
    os.kill(killed.pid, signal.SIGKILL)
    with killed:
        pass
    assert left.is_dir()
    following, its = start(root, tmp_path)
    assert not left.exists()
    assert its.is_dir()
    end(following)
    assert [path.name for path in tmp_path.iterdir()] == ["rocpr-of-somebody-else"]


@pytest.fixture(autouse=True)
def of_no_server(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ROCPR_RUNTIME_OWNER", "ROCPR_RUNTIME_DIR"):
        monkeypatch.delenv(name, raising=False)
