"""The directory that the processes of one server share: the locks of its slots, and the files of counts for /metrics.

Knows files and processes, and how files of counts are named. Used by deploy/gunicorn.conf.py, in the process that
becomes the master: what is found here holds for all its workers. What no directory has room for, a server does without.
"""

import atexit
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from service.web.allocation import BOARD_FILE, BOARD_FILE_BYTES, COUNTS_FILE_BYTES, allocate
from service.web.lanes.slots import Slot, Slots

MEMORY = Path("/dev/shm")  # noqa: S108  # files in it are private
"""What is written here does not wait for a disk."""

DIRECTORY_PREFIX = "rocpr-"
_NEW = "new-"
_UNHELD = _NEW + DIRECTORY_PREFIX
_OWNER = "ROCPR_RUNTIME_OWNER"
_RUNTIME_VARIABLE = "ROCPR_RUNTIME_DIR"
_COUNTS_VARIABLE = "PROMETHEUS_MULTIPROC_DIR"
"""prometheus_client reads this when it is imported, and then counts in files, so that all workers count together."""

_MOST_COUNTED = 64
"""For how many processes files of counts are made at the start; others make theirs when they begin."""

_NO_DIRECTORY = "No directory is writable: each process keeps its own slots and counts, and big requests are refused."

_held: list[Slot] = []
"""Says that this process, or a worker that was forked from it, uses the directory."""


def is_reload() -> bool:
    """Whether this process made its directory before: gunicorn reads its configuration again in the same process."""
    return os.environ.get(_OWNER) == str(os.getpid())


def share_directory(workers: int, spool: str = "", memory: Path = MEMORY) -> list[str]:
    """Make the directory, once for a master, and name it in the variables that its workers read.

    Returns a sentence for each thing that the server has to do without, or on a disk.

    It lies in memory; where there is no room, in the directory for temporary files, or where bodies are spooled. The
    files that processes map are made with it: none can fail to get them later, nor find that they have no room.

    A new master that an old one starts (USR2) inherits the variables of the old one, whose directory goes when that one
    goes, so it makes its own. What masters left that were killed is removed.
    """
    if is_reload():
        return []
    os.environ[_OWNER] = str(os.getpid())
    for variable in (_RUNTIME_VARIABLE, _COUNTS_VARIABLE):
        os.environ.pop(variable, None)
    temporary = _temporary_directory()
    places = [memory, *(Path(place) for place in (temporary, spool) if place)]
    directory = _first_that_is_made(places, workers)
    if directory is None:
        return [_NO_DIRECTORY]
    return list(_shared(directory, temporary, memory, spool))


def _shared(directory: Path, temporary: str | None, memory: Path, spool: str) -> Iterator[str]:
    """Tell the workers of the directory; yield what it lacks."""
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
    """Find the system's directory for temporary files; None when no file can be made in any."""
    try:
        return tempfile.gettempdir()
    except FileNotFoundError:
        return None


def _first_that_is_made(places: list[Path], workers: int) -> Path | None:
    """Make the directory in the first place with room for files of counts, else in the first that takes files."""
    for processes in (min(2 * workers + 1, _MOST_COUNTED), 0):  # the master; the old and new workers of a reload
        for place in places:
            with suppress(OSError):
                return _made(place, processes)
    return None


def _made(parent: Path, processes: int) -> Path:
    """Make the directory, with the files of counts of that many processes; raises OSError, and leaves nothing then."""
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
        directory = unheld.rename(parent / unheld.name.removeprefix(_NEW))  # it is not swept before it is held
    except OSError:
        shutil.rmtree(unheld, ignore_errors=True)
        raise
    if owner is not None:
        _held.append(owner)
    return directory


def _sweep(parent: Path) -> None:
    for directory in parent.glob(f"{DIRECTORY_PREFIX}*"):
        with suppress(OSError):  # another master sweeps, too
            if (directory / "owner.0").is_file() and os.access(directory, os.W_OK) and not _owner(directory).in_use():
                shutil.rmtree(directory, ignore_errors=True)


def _owner(directory: Path) -> Slots:
    return Slots(directory, "owner", 1)


def _remove(directory: str, owner: int) -> None:
    if os.getpid() == owner:  # workers are forks, and end first
        shutil.rmtree(directory, ignore_errors=True)
