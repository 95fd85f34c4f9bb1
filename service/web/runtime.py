"""The directory that the processes of one server share: the locks of its slots, and the files of counts for /metrics.

Knows files and processes, and how files of counts are named. deploy/gunicorn.conf.py makes the directory, in the
process that becomes the master, for all its workers. If no directory has room for something, the server does without.
"""

import atexit
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from service.web.allocation import BOARD_FILE, BOARD_FILE_BYTES, COUNTS_FILE_BYTES, allocate
from service.web.lanes.slots import Slot, Slots

MEMORY = Path("/dev/shm")  # noqa: S108  # files in it are private
"""Writing here does not wait for a disk."""

DIRECTORY_PREFIX = "rocpr-"
_NEW = "new-"
_UNHELD = _NEW + DIRECTORY_PREFIX
_OWNER = "ROCPR_RUNTIME_OWNER"
_RUNTIME_VARIABLE = "ROCPR_RUNTIME_DIR"
_COUNTS_VARIABLE = "PROMETHEUS_MULTIPROC_DIR"
"""prometheus_client reads this when imported, and then counts in files, so that all workers count together."""

_MAKING_SECONDS = 600.0
"""The age from which a directory that is still being made has been left by its master."""

_MOST_COUNTED = 64
"""The processes whose files of counts are made at the start; others make theirs when they begin."""

_NO_DIRECTORY = "No directory is writable: each process keeps its own slots and counts, and big requests are refused."

_held: list[Slot] = []
"""Marks the directory as used by this process, or by a worker forked from it."""


def is_reload() -> bool:
    """Whether this process already made its directory: a reload rereads the configuration in the same process."""
    return os.environ.get(_OWNER) == str(os.getpid())


def share_directory(workers: int, spool: str = "", memory: Path = MEMORY) -> list[str]:
    """Make the directory, once per master, and name it in the variables that workers read.

    Returns a sentence for each thing that the server must do without or that must be on a disk.

    The directory is in memory or, without room there, in that for temporary files or in the spool directory. The files
    that processes map are made with it, so that no process can fail to create or fill them later.

    A new master started by an old one (USR2) inherits its variables, but makes its own directory, as the old one's
    disappears with it. Directories left by killed masters are removed.
    """
    if is_reload():
        return []
    os.environ[_OWNER] = str(os.getpid())
    for variable in (_RUNTIME_VARIABLE, _COUNTS_VARIABLE):
        os.environ.pop(variable, None)
    temporary = _temporary_directory()
    places = [memory, *(Path(place) for place in (temporary, spool) if place)]
    directory = _first_made(places, workers)
    if directory is None:
        return [_NO_DIRECTORY]
    return list(_shared(directory, temporary, memory, spool))


def _shared(directory: Path, temporary: str | None, memory: Path, spool: str) -> Iterator[str]:
    """Publish the directory to workers; yield what it lacks."""
    os.environ[_RUNTIME_VARIABLE] = str(directory)
    atexit.register(_remove, str(directory), os.getpid())
    place = directory.parent
    if place != memory and memory.is_dir():
        yield f"{memory} is full or read-only: files that processes share are in {place}."
    if (directory / "metrics").is_dir():
        os.environ[_COUNTS_VARIABLE] = str(directory / "metrics")
    else:
        yield "No directory has room for the counts: /metrics shows only the process that answers."
    if temporary is None:
        os.environ["TMPDIR"] = str(place)
        if not spool:
            yield f"No temporary directory is writable: bodies of big requests are kept in {place}."


def _temporary_directory() -> str | None:
    """Find the system's directory for temporary files; None if none is writable."""
    try:
        return tempfile.gettempdir()
    except FileNotFoundError:
        return None


def _first_made(places: list[Path], workers: int) -> Path | None:
    """Make the directory in the first place with room for files of counts, else in the first writable one."""
    for processes in (min(2 * workers + 1, _MOST_COUNTED), 0):  # the master, and the old and new workers of a reload
        for place in places:
            with suppress(OSError):
                return _made(place, processes)
    return None


def _made(parent: Path, processes: int) -> Path:
    """Make the directory, with the files of counts of this many processes. Raises OSError, leaving nothing behind."""
    _sweep(parent)
    unheld = Path(tempfile.mkdtemp(prefix=_UNHELD, dir=parent))
    try:
        if processes:
            (unheld / "metrics").mkdir()
            allocate(unheld / BOARD_FILE, BOARD_FILE_BYTES)
        for number in range(processes):
            for kind in ("counter", "histogram"):
                allocate(unheld / "metrics" / f"{kind}_{number}.db", COUNTS_FILE_BYTES)
        owner = _owner(unheld).take()
        directory = unheld.rename(parent / unheld.name.removeprefix(_NEW))  # so that it is not swept before it is held
    except OSError:
        shutil.rmtree(unheld, ignore_errors=True)
        raise
    if owner is not None:
        _held.append(owner)
    return directory


def _sweep(parent: Path) -> None:
    for directory in parent.glob(f"{DIRECTORY_PREFIX}*"):
        with suppress(OSError):  # another master may sweep, too
            if (directory / "owner.0").is_file() and os.access(directory, os.W_OK) and not _owner(directory).in_use():
                shutil.rmtree(directory, ignore_errors=True)
    for directory in parent.glob(f"{_UNHELD}*"):  # of masters that were killed while they made one
        with suppress(OSError):
            if time.time() - directory.stat().st_mtime > _MAKING_SECONDS and os.access(directory, os.W_OK):
                shutil.rmtree(directory, ignore_errors=True)


def _owner(directory: Path) -> Slots:
    return Slots(directory, "owner", 1)


def _remove(directory: str, owner: int) -> None:
    if os.getpid() == owner:  # workers are forks, and end first
        shutil.rmtree(directory, ignore_errors=True)
