"""Pins a process to one processor, if the system supports it."""

import os


def pin(which: int, process: int = 0) -> None:
    """Pin a process (0 is this one) and its children to the first (0) or last (-1) processor that it may use."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(process, {sorted(os.sched_getaffinity(process))[which]})
