"""A directory without room counts as full, by what the system reports and by what happened a moment ago."""

import errno
import io
import os
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace

import pytest

from service.web import spool
from service.web.spool import FAILURE_SECONDS, LEAST_BYTES, Spool
from tests.support import mounts

BLOCK = 4096
PLENTY = 1 << 40

ASKING = """
import sys
from service.web.spool import Spool
room = Spool(sys.argv[1])
print(room.available_bytes(), room.is_full())
"""


def status(available: int, **others: int) -> SimpleNamespace:
    """What the system reports about a file system of 1 TB."""
    said = {"f_bavail": available // BLOCK, "f_blocks": PLENTY // BLOCK, "f_files": 9, "f_favail": 9, "f_flag": 0}
    return SimpleNamespace(f_frsize=BLOCK, **(said | others))


@pytest.mark.parametrize(
    ("said", "available", "is_full"),
    [
        (status(PLENTY), PLENTY, False),
        (status(LEAST_BYTES), LEAST_BYTES, False),
        (status(LEAST_BYTES - BLOCK), LEAST_BYTES - BLOCK, True),
        (status(10 * BLOCK, f_blocks=99), 10 * BLOCK, False),
        (status(10 * BLOCK, f_blocks=200), 10 * BLOCK, True),
        (status(PLENTY, f_favail=0), 0, True),
        (status(PLENTY, f_files=0, f_favail=0), PLENTY, False),
        (status(PLENTY, f_flag=os.ST_RDONLY), 0, True),
        (status(0, f_blocks=0), None, False),
    ],
    ids=["free", "enough", "full", "small", "small and full", "no inode", "no count of inodes", "read-only", "no size"],
)
def test_what_the_system_says(
    monkeypatch: pytest.MonkeyPatch, said: SimpleNamespace, available: int | None, *, is_full: bool
) -> None:
    monkeypatch.setattr(spool.os, "statvfs", lambda _: said)
    room = Spool("/spool")
    assert (room.available_bytes(), room.is_full()) == (available, is_full)


def test_a_directory_that_is_gone_is_full(tmp_path: Path) -> None:
    room = Spool(str(tmp_path / "gone"))
    assert (room.available_bytes(), room.is_full()) == (0, True)


def test_without_a_name_it_is_the_directory_for_temporary_files(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    monkeypatch.setattr(spool.os, "statvfs", lambda path: asked.append(path) or status(PLENTY))
    assert not Spool().is_full()
    assert asked == [tempfile.gettempdir()]

    def fail() -> None:
        raise FileNotFoundError

    monkeypatch.setattr(spool.tempfile, "gettempdir", fail)
    assert Spool().is_full()


@pytest.mark.parametrize(
    ("error", "is_full"),
    [
        (OSError(errno.ENOSPC, "secret"), True),
        (OSError(errno.EDQUOT, "secret"), True),
        (None, True),
        (OSError(errno.EMFILE, "secret"), False),
        (OSError("secret"), False),
    ],
)
def test_a_write_that_failed_is_remembered_for_a_while(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, error: OSError | None, *, is_full: bool
) -> None:
    now = 100.0
    monkeypatch.setattr(spool.os, "statvfs", lambda _: status(PLENTY))
    monkeypatch.setattr(spool.time, "monotonic", lambda: now)
    room = Spool("/spool")
    assert not room.is_full()
    room.note_failure(error)
    room.note_failure(error)
    assert len(caplog.messages) == 1
    assert "secret" not in caplog.text
    now += FAILURE_SECONDS - 0.001
    assert room.is_full() == is_full
    now += 0.001
    assert not room.is_full()
    room.note_failure(error)
    assert len(caplog.messages) == 2


def test_a_file_has_no_name_and_holds_what_was_written(tmp_path: Path) -> None:
    spool = Spool(str(tmp_path))
    with spool.open() as file:
        file.write(b"scores")
        file.flush()
        assert os.pread(file.fileno(), 10, 0) == b"scores"
        file.seek(2)
        assert file.read() == b"ores"
        assert list(tmp_path.iterdir()) == []
        descriptor = file.fileno()
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(descriptor)


def test_a_file_that_cannot_be_made_is_noted(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    spool = Spool(str(tmp_path / "gone"))
    with pytest.raises(FileNotFoundError):
        spool.open()
    assert caplog.messages == ["The spool directory takes no more files: No such file or directory."]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="it is Linux's")
def test_a_file_that_cannot_be_written_is_noted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spool.tempfile, "TemporaryFile", lambda **_: io.FileIO("/dev/full", "r+b"))
    room = Spool()
    file = room.open()
    assert not room.is_full()
    with pytest.raises(OSError, match="No space left"):
        file.write(b"x" * 1_000_000)
    assert room.is_full()
    with suppress(OSError):
        file.close()


@pytest.mark.parametrize(("fill", "said"), [(False, f"{1 << 20} False\n"), (True, "0 True\n")], ids=["empty", "full"])
def test_a_real_file_system(tmp_path: Path, root: Path, said: str, *, fill: bool) -> None:
    commands = mounts.small(tmp_path, "1m") + (mounts.filled(tmp_path) if fill else "")
    command = mounts.behind(commands, sys.executable, "-c", ASKING, str(tmp_path))
    assert subprocess.run(command, cwd=root, capture_output=True, text=True, check=True).stdout == said
