"""What the worker and the application of one server process tell each other.

The worker (worker.py) says that the process was told to stop; the application says which evaluations are under way.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event

DRAINING = Event()
"""Set once, when the process is told to stop; it may still take requests for a while."""

_started: dict[object, float] = {}


@contextmanager
def evaluating() -> Iterator[None]:
    """Mark an evaluation in this thread as under way."""
    mark = object()
    _started[mark] = time.monotonic()
    try:
        yield
    finally:
        del _started[mark]


def longest_evaluation() -> float:
    """Tell for how many seconds the oldest evaluation has been under way; 0 without one."""
    now = time.monotonic()
    return now - min(tuple(_started.values()), default=now)
