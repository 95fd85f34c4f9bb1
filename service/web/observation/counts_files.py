"""The files in which each process of a server counts: who writes which, their allocation, and their sum.

Knows prometheus_client's files and slots; nothing of what is counted. Counting never fails a request and never kills a
process: writing to a mapped page for which the file system has no room is fatal (SIGBUS), so blocks are allocated
before a file is mapped. Without room, counts are missing from the page, and the log says so once.

prometheus_client names files by process id, so every replaced worker leaves its files behind for ever (its
mark_process_dead removes none of counters), and its successor needs room for new ones. Here a process continues the
files of the lowest number that no living process has.
"""

import errno
import logging
import os
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from prometheus_client import values
from prometheus_client.metrics_core import Metric
from prometheus_client.mmap_dict import MmapedDict
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

from service.web.lanes.slots import Slots
from service.web.runtime import COUNTS_FILE_BYTES, allocate

_MOST_BESIDE_A_KEY = 28
"""The most bytes that prometheus_client writes with a key: its length, padding, two doubles."""

_LOG = logging.getLogger("service")


_MOST_PROCESSES = 1024
"""The most processes that share a directory; further ones count in their own files."""


@cache
def _number(directory: Path, process: int) -> int:
    """Take the lowest number that no living process has, for the life of this process, however that ends."""
    try:
        slot = Slots(directory, "process", _MOST_PROCESSES).take()
    except OSError as error:
        _warn(error)
        slot = None
    return -process if slot is None else slot.number


class CountsFile(MmapedDict):
    """prometheus_client's file of counts, allocated before it is mapped; lack of room causes no failure.

    A value without room tries again at its next count, and then includes everything that this process has counted. A
    file that cannot be made is not tried again.
    """

    def __init__(self, filename: str) -> None:
        self._positions: dict[str, int] = {}
        try:
            allocate(filename, COUNTS_FILE_BYTES)
            super().__init__(filename)  # type: ignore[no-untyped-call]  # not annotated
        except OSError as error:
            self._capacity, self._f = 0, None  # type: ignore[assignment]  # as after close
            _warn(error)

    def read_value(self, key: str) -> tuple[float, float]:
        """Return a value and its time; zeros if there is no room for it."""
        try:
            value: tuple[float, float] = super().read_value(key)  # type: ignore[no-untyped-call]  # not annotated
        except OSError as error:
            _warn(error)
            return 0.0, 0.0
        return value

    def write_value(self, key: str, value: float, timestamp: float) -> None:
        """Write a value and its time, unless there is no room for them."""
        try:
            super().write_value(key, value, timestamp)  # type: ignore[no-untyped-call]  # not annotated
        except OSError as error:
            _warn(error)

    def _init_value(self, key: str) -> None:
        """Make room for a value, in a larger file if necessary. Raises OSError without room."""
        if not self._capacity:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        before = needed = self._capacity
        while self._used + len(key.encode()) + _MOST_BESIDE_A_KEY > needed:
            needed *= 2
        if needed > before:
            allocate(self._fname, needed)
        try:
            super()._init_value(key)  # type: ignore[no-untyped-call]  # not annotated
        except OSError:  # the larger file cannot be mapped
            self._capacity = before
            raise


class CountsOfAll(Collector):
    """Adds up the files of all processes, alive or dead."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def collect(self) -> Iterable[Metric]:
        """Read the files; an empty one has just been created."""
        files = [os.fspath(path) for path in self._directory.glob("*.db") if path.stat().st_size]
        counts: Iterable[Metric] = MultiProcessCollector.merge(files)  # type: ignore[no-untyped-call]  # not annotated
        return counts


def count_in_files(directory: Path) -> None:
    """Let this process and its forks count in files of a directory; call it before any metric is made.

    Raises NotADirectoryError.
    """
    if not directory.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), os.fspath(directory))
    values.MmapedDict = CountsFile  # type: ignore[attr-defined, assignment]  # where it keeps values
    values.ValueClass = values.MultiProcessValue(  # type: ignore[no-untyped-call]  # not annotated
        lambda: _number(directory, os.getpid())  # looked up at each count: a fork has its own
    )


def _warn(error: OSError) -> None:
    _warn_once(os.strerror(error.errno or errno.EIO))


@cache
def _warn_once(reason: str) -> None:
    _LOG.warning("Counts of this process are missing from /metrics: %s.", reason)
