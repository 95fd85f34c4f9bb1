"""The directory that the processes of one server share: the locks of its slots, and the counts for /metrics.

Knows files and processes; nothing of what lies in them. Used by deploy/gunicorn.conf.py, in the process that becomes
the master.
"""

import atexit
import os
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path

from service.web.lanes.slots import Slot, Slots

PREFIX = "rocpr-"
_NEW = "new-"
_UNHELD = _NEW + PREFIX
_OWNER = "ROCPR_RUNTIME_OWNER"
_DIRECTORY = "ROCPR_RUNTIME_DIR"

_held: list[Slot] = []
"""Says that this process, or a worker that was forked from it, uses the directory."""


def is_reload() -> bool:
    """Whether this process made its directory before: gunicorn reads its configuration again in the same process."""
    return os.environ.get(_OWNER) == str(os.getpid())


def runtime_directory(parent: Path) -> Path:
    """Make the directory, once for a master, and name it in ROCPR_RUNTIME_DIR, where the workers find it.

    A new master that an old one starts (USR2) inherits the variables of the old one, whose directory goes when that one
    goes, so it makes its own. What masters left that were killed is removed.
    """
    if not is_reload():
        _sweep(parent)
        unheld = Path(tempfile.mkdtemp(prefix=_UNHELD, dir=parent))
        owner = _owner(unheld).take()
        if owner is not None:
            _held.append(owner)
        directory = str(unheld.rename(parent / unheld.name.removeprefix(_NEW)))  # nobody sweeps it before it is held
        os.environ[_OWNER], os.environ[_DIRECTORY] = str(os.getpid()), directory
        atexit.register(_remove, directory, os.getpid())
    return Path(os.environ[_DIRECTORY])


def _sweep(parent: Path) -> None:
    for directory in parent.glob(f"{PREFIX}*"):
        with suppress(OSError):  # another master sweeps, too
            if (directory / "owner.0").is_file() and os.access(directory, os.W_OK) and not _owner(directory).in_use():
                shutil.rmtree(directory, ignore_errors=True)


def _owner(directory: Path) -> Slots:
    return Slots(directory, "owner", 1)


def _remove(directory: str, owner: int) -> None:
    if os.getpid() == owner:  # workers are forks, and end first
        shutil.rmtree(directory, ignore_errors=True)
