"""Directories of engines: the next process removes those of killed processes, and keeps those of living ones."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from threading import Thread

import pytest

from service.engines.spill import PREFIX, SpillDirectory, remove_abandoned

OTHER = """
import sys
from pathlib import Path
from service.engines.spill import SpillDirectory
directory = SpillDirectory(Path(sys.argv[1]))
(directory.path / "rows").write_text("rows")
print(directory.path, flush=True)
sys.stdin.read()
"""


def test_only_what_nobody_uses_is_removed(root: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-c", OTHER, str(tmp_path)]
    with subprocess.Popen(command, cwd=root, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        theirs = Path(process.stdout.readline().strip())
        mine = SpillDirectory(tmp_path)
        remove_abandoned(tmp_path)
        assert {path.name for path in tmp_path.iterdir()} == {theirs.name, mine.path.name}
        assert (theirs / "rows").exists()
        process.send_signal(signal.SIGKILL)
        process.wait()
    second = SpillDirectory(tmp_path)
    assert not theirs.exists()
    assert all(each.path.stat().st_mode & 0o077 == 0 for each in (mine, second))
    mine.remove()
    second.remove()
    second.remove()
    assert not list(tmp_path.iterdir())


def test_what_is_not_an_abandoned_directory_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "rows").mkdir()
    (tmp_path / "rows" / "precious").touch()
    (tmp_path / f"{PREFIX}link").symlink_to(tmp_path / "rows")
    (tmp_path / f"{PREFIX}file").touch()
    (tmp_path / f"{PREFIX}theirs").mkdir()
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)  # as if another user had made all of it
    remove_abandoned(tmp_path)
    assert (tmp_path / f"{PREFIX}theirs").exists()
    monkeypatch.undo()
    remove_abandoned(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {"rows", f"{PREFIX}link", f"{PREFIX}file"}
    assert (tmp_path / "rows" / "precious").exists()
    assert not list(tmp_path.glob(f"{PREFIX}theirs"))
    remove_abandoned(tmp_path / "nowhere")


def test_new_directories_are_never_taken_for_abandoned(tmp_path: Path) -> None:
    wrong: list[Path] = []

    def work() -> None:
        for _ in range(100):
            mine = SpillDirectory(tmp_path)
            if not mine.path.exists():
                wrong.append(mine.path)
            mine.remove()

    threads = [Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert not list(tmp_path.iterdir())
