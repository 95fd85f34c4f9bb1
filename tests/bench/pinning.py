"""One processor for a process, where the system can."""

import os


def pin(which: int, process: int = 0) -> None:
    """Keep a process (0 is this one) and what it starts on the first (0) or last (-1) processor that it may use."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(process, {sorted(os.sched_getaffinity(process))[which]})
