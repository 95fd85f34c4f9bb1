"""A worker's heartbeat in an anonymous file: gunicorn's needs a directory, which may be full or read-only.

Without any writable directory, a server with gunicorn's own heartbeat does not start.
"""

import os
import sys
from typing import Any

import gunicorn.workers.base
from gunicorn.workers.workertmp import WorkerTmp


class Heartbeat(WorkerTmp):
    """gunicorn's, whose file the worker touches and the master looks at; the file is in memory."""

    def __init__(self, cfg: Any) -> None:  # noqa: ANN401  # gunicorn has no types
        self._tmp = os.fdopen(os.memfd_create("rocpr-heartbeat"), "w+b", 0)
        if (cfg.uid, cfg.gid) != (os.geteuid(), os.getegid()):
            os.fchown(self._tmp.fileno(), cfg.uid, cfg.gid)  # only a file's owner can set its times


def use_memory_heartbeats() -> None:
    """Give gunicorn's workers, of any class, such heartbeats, if the system supports anonymous files."""
    if sys.platform == "linux":
        gunicorn.workers.base.WorkerTmp = Heartbeat
