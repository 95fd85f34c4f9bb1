"""A limit on the processor time of a block of code: once the block has used it up, TooMuchWork ends the block.

    with at_most(seconds): ...
        for piece in in_time(pieces): ...

What a request costs cannot be foreseen: which rows need integers, how many are on a hull, how often curves cross. So
the work is measured while it is done. Every Python loop over what a request lists, or over rows one by one, asks the
clock; a single call of NumPy, pyarrow or the compiled loops cannot be stopped. The clock measures the processor
time of the thread, so waiting does not count. It decides where a request is answered, never what the answer is. Knows
no rows and no requests.
"""

import math
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from time import thread_time
from typing import TypeVar

_Item = TypeVar("_Item")


class TooMuchWork(Exception):
    """The request may be valid, but takes more work than its caller allows."""


_END: ContextVar[float] = ContextVar("end", default=math.inf)
"""The time on the thread's clock at which the block must end."""


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


def in_time(items: Iterable[_Item]) -> Iterator[_Item]:
    """Pass items on one by one, as long as there is time. Raises TooMuchWork."""
    for item in items:
        still_time()
        yield item


def is_bounded() -> bool:
    """Whether there is a limit, because others wait."""
    return _END.get() < math.inf


def takes_long() -> None:
    """Say that what follows takes longer than any limit allows. Raises TooMuchWork if there is one."""
    if is_bounded():
        raise TooMuchWork
