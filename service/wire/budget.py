"""The work that a request may still do while its caller waits, as far as its bytes tell, counted in rows.

A row is 0.5 µs of one processor, or 40 bytes of an answer: the most that a row of an evaluation costs when only its
areas are requested. The mathematics is not estimated but timed; see service/curves/clock.py. Knows numbers only.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from math import inf

from service.curves import clock
from service.curves.clock import TooMuchWork

ROW_SECONDS = 0.5e-6
"""Seconds of one processor that count as a row, for the few things whose time can only be measured."""

_CLOCK_SECONDS = 2 * ROW_SECONDS
"""Seconds for each row until the clock ends a request, which a slow machine needs for what is worth a row."""

BYTES_PER_ROW = 40
"""Bytes of an answer that count as a row: ROCPR_BIG_WORK of 20,000 is 800 KB, or 10 ms."""


class _Budget:
    """The rows left to spend."""

    def __init__(self, rows: float) -> None:
        self.rows = self.most = rows


_BUDGET: ContextVar[_Budget | None] = ContextVar("budget", default=None)


@contextmanager
def at_most_rows(rows: float | None) -> Iterator[None]:
    """Allow the block to spend at most this many rows, and the time of as many; None sets no limit."""
    token = _BUDGET.set(None if rows is None else _Budget(rows))
    try:
        with clock.at_most(inf if rows is None else rows * _CLOCK_SECONDS):
            yield
    finally:
        _BUDGET.reset(token)


def is_bounded() -> bool:
    """Whether there is a budget; without one, estimates can be skipped."""
    return _BUDGET.get() is not None


def most_bytes() -> float:
    """The most bytes that an answer may have within the budget, even if nothing else were spent."""
    budget = _BUDGET.get()
    return inf if budget is None else budget.most * BYTES_PER_ROW


def spend(rows: float) -> None:
    """Take rows from the budget, if there is one. Raises TooMuchWork when they exceed it."""
    budget = _BUDGET.get()
    if budget is not None:
        budget.rows -= rows
        if budget.rows < 0:
            raise TooMuchWork
