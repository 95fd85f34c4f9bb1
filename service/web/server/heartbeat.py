"""A worker's heartbeat in an anonymous file: gunicorn's needs a directory, which may be full or read-only.

Knows files and clocks, and the methods that gunicorn calls.
"""

import os
import sys
import time
from typing import Protocol

import gunicorn.workers.base


class _Configuration(Protocol):
    uid: int
    gid: int


class Heartbeat:
    """gunicorn's WorkerTmp in memory; created by the master, and shared with the worker.

    The worker sets the file's time, and the master replaces a worker whose file is too old.
    """

    def __init__(self, cfg: _Configuration) -> None:
        self._descriptor = os.memfd_create("rocpr-heartbeat")
        if (cfg.uid, cfg.gid) != (os.geteuid(), os.getegid()):
            os.fchown(self._descriptor, cfg.uid, cfg.gid)  # only a file's owner can set its times

    def notify(self) -> None:
        """Record that the worker is alive now."""
        now = time.monotonic()
        os.utime(self._descriptor, (now, now))

    def last_update(self) -> float:
        """Return the time of the last notify, in seconds of the monotonic clock, which all processes share."""
        return os.fstat(self._descriptor).st_mtime

    def fileno(self) -> int:
        """Return the descriptor."""
        return self._descriptor

    def close(self) -> None:
        """Close this process's descriptor."""
        os.close(self._descriptor)


def use_memory_heartbeats() -> None:
    """Give gunicorn's workers, of any class, such heartbeats, if the system supports anonymous files."""
    if sys.platform == "linux":
        gunicorn.workers.base.WorkerTmp = Heartbeat
