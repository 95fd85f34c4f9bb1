"""The time that a caller waits for: a block's work ends with TooMuchWork once its thread has worked for too long.

    with at_most(seconds): ...
        for piece in pieces:
            still_time()

Most of a request's cost cannot be foreseen: which rows need integers, how many are on a hull, how often curves cross.
So the work is measured while it is done. Every Python loop over what a request lists, or over rows one by one, calls
`still_time`; a single NumPy call cannot be stopped. Waiting takes no time here: the clock is that of the thread's
processor time. Knows no rows and no requests.
"""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from time import thread_time


class TooMuchWork(Exception):
    """The request may be valid, but takes more work than its caller waits for."""


_END: ContextVar[float] = ContextVar("end", default=math.inf)
"""When the thread's clock ends the block."""


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Allow the block this many seconds of its thread's processor time; infinity sets no limit."""
    token = _END.set(thread_time() + seconds)
    try:
        yield
    finally:
        _END.reset(token)


def still_time() -> None:
    """Return if there is time left. Raises TooMuchWork otherwise."""
    end = _END.get()
    if end < math.inf and thread_time() > end:
        raise TooMuchWork
