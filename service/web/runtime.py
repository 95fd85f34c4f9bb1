"""The directory that the processes of one server share: the locks of its slots, and the files of counts for /metrics.

Knows files and processes, and how files of counts are named. deploy/gunicorn.conf.py makes the directory, in the
process that becomes the master, for all its workers. If no directory has room for something, the server does without.
"""

import atexit
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from service.web.lanes.slots import Slots

MEMORY = Path("/dev/shm")  # noqa: S108  # files in it are private
"""Writing here does not wait for a disk."""

COUNTS_FILE_BYTES = 1 << 18
"""The initial length of a file of counts; all series of the service, with every status, take less."""

BOARD_FILE = "board"
BOARD_FILE_BYTES = 1 << 15
"""The file that processes share (lanes/board.py), and its fixed length."""

DIRECTORY_PREFIX = "rocpr-"
_OWNER = "ROCPR_RUNTIME_OWNER"
_RUNTIME_VARIABLE = "ROCPR_RUNTIME_DIR"
_COUNTS_VARIABLE = "PROMETHEUS_MULTIPROC_DIR"
"""prometheus_client reads this when imported, and then counts in files, so that all workers count together."""

_MOST_COUNTED = 64
"""The processes whose files of counts are made at the start; others make theirs when they begin."""

_NO_DIRECTORY = "No directory is writable: each process keeps its own slots and counts, and big requests are refused."


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
    directory = Path(tempfile.mkdtemp(prefix=DIRECTORY_PREFIX, dir=parent))
    owner = None
    try:
        owner = _owner(directory).take()  # first, see _sweep; held by this process, and by the workers forked from it
        if processes:
            (directory / "metrics").mkdir()
            allocate(directory / BOARD_FILE, BOARD_FILE_BYTES)
        for number in range(processes):
            for kind in ("counter", "histogram"):
                allocate(directory / "metrics" / f"{kind}_{number}.db", COUNTS_FILE_BYTES)
    except OSError:
        shutil.rmtree(directory, ignore_errors=True)
        if owner is not None:
            owner.release()
        raise
    return directory


def _sweep(parent: Path) -> None:
    """Remove the directories of masters that were killed; one that holds only its lock may be in the making."""
    for directory in parent.glob(f"{DIRECTORY_PREFIX}*"):
        with suppress(OSError):  # another master may sweep, too
            is_whole = (directory / "owner.0").is_file() and len(list(directory.iterdir())) > 1
            if is_whole and os.access(directory, os.W_OK) and not _owner(directory).in_use():
                shutil.rmtree(directory, ignore_errors=True)


def _owner(directory: Path) -> Slots:
    return Slots(directory, "owner", 1)


def _remove(directory: str, owner: int) -> None:
    if os.getpid() == owner:  # workers are forks, and end first
        shutil.rmtree(directory, ignore_errors=True)


def allocate(path: str | Path, size: int) -> None:
    """Make or extend a file to at least `size` bytes, all with allocated blocks. Raises OSError without room.

    Writing to a mapped page without a block kills the process.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        if sys.platform == "darwin":  # lacks the call
            os.ftruncate(descriptor, max(size, os.fstat(descriptor).st_size))
        else:
            os.posix_fallocate(descriptor, 0, size)
    except OSError:
        if not os.fstat(descriptor).st_size:
            with suppress(OSError):
                Path(path).unlink()
        raise
    finally:
        os.close(descriptor)
