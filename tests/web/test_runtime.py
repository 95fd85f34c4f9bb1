"""A server's directory: one for each master, removed when it ends or, if it was killed, by the next master."""

import errno
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from service.web import runtime
from service.web.lanes import board
from service.web.lanes.slots import Slots
from service.web.runtime import BOARD_FILE, COUNTS_FILE_BYTES, share_directory
from tests.support import mounts

MASTER = """
import os, sys, time
from pathlib import Path
from service.web.runtime import is_reload, share_directory
told = [is_reload()]
for _ in range(2):
    assert share_directory(1, memory=Path(sys.argv[1])) == []
    told.append(Path(os.environ["ROCPR_RUNTIME_DIR"]).name)
told.append(is_reload())
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
    process.communicate("", timeout=60)


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
    """A directory may disappear between two looks at it; the others are still removed."""
    for name in ("rocpr-a", "rocpr-b"):
        (tmp_path / name).mkdir()
        for file in ("owner.0", "board"):
            (tmp_path / name / file).touch()
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


def test_what_a_master_was_making_when_it_was_killed_is_removed(tmp_path: Path) -> None:
    left, being_made = tmp_path / "rocpr-a", tmp_path / "rocpr-b"
    for directory in (left, being_made):
        directory.mkdir()
        (directory / "owner.0").touch()
    (left / "metrics").mkdir()
    runtime._sweep(tmp_path)
    assert list(tmp_path.iterdir()) == [being_made]


def test_leftovers_of_a_killed_master_are_removed_by_the_next(root: Path, tmp_path: Path) -> None:
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


def shared() -> Path:
    return Path(os.environ["ROCPR_RUNTIME_DIR"])


def fail(*_: object, **__: object) -> None:
    raise OSError(errno.ENOSPC, "no room")


def test_every_worker_and_its_successor_finds_its_counts_file_made(tmp_path: Path) -> None:
    assert share_directory(2, memory=tmp_path) == []
    files = {path.name: path.stat() for path in (shared() / "metrics").iterdir()}
    assert set(files) == {f"{kind}_{number}.db" for kind in ("counter", "histogram") for number in range(5)}
    for status in files.values():
        assert status.st_blocks * 512 >= status.st_size == COUNTS_FILE_BYTES
    assert os.environ["PROMETHEUS_MULTIPROC_DIR"] == str(shared() / "metrics")
    board_file = (shared() / BOARD_FILE).stat()
    assert board_file.st_blocks * 512 >= board_file.st_size >= board._BOARD_BYTES


def test_another_directory_is_taken_where_the_first_has_no_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory, disk = tmp_path / "memory", tmp_path / "disk"
    memory.mkdir()
    disk.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(disk))
    allocate = runtime.allocate
    monkeypatch.setattr(
        runtime, "allocate", lambda path, size: (fail if memory in path.parents else allocate)(path, size)
    )
    assert share_directory(1, memory=memory) == [
        (f"{memory} is full or read-only: files that processes share are in {disk}.")
    ]
    assert list(memory.iterdir()) == []
    assert shared().parent == disk


def test_a_system_without_a_directory_in_memory_is_nothing_to_speak_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    assert share_directory(1, memory=tmp_path / "none") == []
    assert shared().parent == tmp_path


def test_without_room_for_counts_each_process_has_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runtime, "allocate", fail)
    (sentence,) = share_directory(1, memory=tmp_path)
    assert sentence == "No directory has room for the counts: /metrics shows only the process that answers."
    assert [path.name for path in shared().iterdir()] == ["owner.0"]
    assert "PROMETHEUS_MULTIPROC_DIR" not in os.environ


@pytest.mark.parametrize("has_spool", [False, True])
def test_without_a_directory_for_temporary_files_there_is_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, has_spool: bool
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", None)
    monkeypatch.setattr(tempfile, "_get_default_tempdir", without_any)
    said = share_directory(1, str(tmp_path) if has_spool else "", tmp_path / "none" if has_spool else tmp_path)
    expected = f"No temporary directory is writable: bodies of big requests are kept in {tmp_path}."
    assert said == ([] if has_spool else [expected])
    assert os.environ["TMPDIR"] == str(shared().parent) == str(tmp_path)


def test_without_any_directory_the_server_starts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", None)
    monkeypatch.setattr(tempfile, "_get_default_tempdir", without_any)
    monkeypatch.setenv("ROCPR_RUNTIME_DIR", "of another master")
    monkeypatch.setenv("PROMETHEUS_MULTIPROC_DIR", "of another master")
    assert share_directory(1, memory=tmp_path / "none") == [runtime._NO_DIRECTORY]
    assert os.environ.keys() & {"ROCPR_RUNTIME_DIR", "PROMETHEUS_MULTIPROC_DIR"} == set()
    assert share_directory(1, memory=tmp_path) == [], "a reload finds what the start found"
    assert list(tmp_path.iterdir()) == []


def without_any() -> str:
    raise FileNotFoundError(errno.ENOENT, "No usable temporary directory found")


REDUCED = """
import os, sys, tempfile
from pathlib import Path
from service.web.runtime import share_directory
print(*share_directory(1, memory=Path(sys.argv[1])), sep="\\n")
"""


@pytest.mark.parametrize(
    ("commands", "said"),
    [
        ("", ""),
        (mounts.small("{memory}", "64k"), "{memory} is full or read-only: files that processes share are in {disk}."),
        (
            "mount -t tmpfs -o ro tmpfs '{memory}'\n",
            "{memory} is full or read-only: files that processes share are in {disk}.",
        ),
        (
            mounts.small("{memory}", "64k") + mounts.small("{disk}", "64k"),
            "No directory has room for the counts: /metrics shows only the process that answers.",
        ),
        (mounts.READ_ONLY, runtime._NO_DIRECTORY),
    ],
    ids=["room", "small", "read-only", "all small", "all read-only"],
)
def test_real_file_systems(tmp_path: Path, root: Path, commands: str, said: str) -> None:
    places = {"memory": tmp_path / "memory", "disk": tmp_path / "disk"}
    for place in places.values():
        place.mkdir()
    for name, place in places.items():
        commands, said = (text.replace(f"{{{name}}}", str(place)) for text in (commands, said))
    variables = {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE_")}
    done = subprocess.run(
        mounts.behind(commands, sys.executable, "-c", REDUCED, str(places["memory"])),
        cwd=root,
        env={**variables, "TMPDIR": str(places["disk"])},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert (done.stdout, done.stderr) == (f"{said}\n", "")
    assert [list(place.iterdir()) for place in places.values()] == [[], []]


@pytest.fixture(autouse=True)
def of_no_server(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ROCPR_RUNTIME_OWNER", "ROCPR_RUNTIME_DIR", "PROMETHEUS_MULTIPROC_DIR", "TMPDIR"):
        monkeypatch.setenv(name, "")  # so that variables set by a test are removed
        monkeypatch.delenv(name)
