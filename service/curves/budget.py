"""The work that a request may still do while its caller waits, counted in rows.

A row is 0.5 µs of one processor, or 40 bytes of an answer: the most that a row of an evaluation costs when only its
areas are requested. Most of the cost follows from the request and is estimated up front. The rest depends on the data:
which rows need integer arithmetic, how many are on a hull, how often curves cross. The code that finds this out spends
it here before doing the work. Knows numbers only.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from math import inf

import numpy as np
from numpy.typing import NDArray

ROW_SECONDS = 0.5e-6
"""Seconds of one processor that count as a row, for the few things whose time can only be measured."""

BYTES_PER_ROW = 40
"""Bytes of an answer that count as a row: ROCPR_BIG_WORK of 20,000 is 800 KB, or 10 ms."""

EXACT_PRECISION = 1
"""A precision in integers, for more than 2^53 called positive: 0.4 µs. All costs here are the largest measured."""

HULL_PASS = 30
"""A pass over the rows that may be on a hull: 15 µs, however few. A hostile curve takes a hundred passes."""

THINNING_PASS, THINNING_ROW = 130, 0.1
"""A pass over the rows that a picture may need: 40 to 65 µs, plus 50 ns for each row."""

PICTURE, DRAWN_LINE, DRAWN_POINT = 400, 25, 1.2
"""The fixed cost of a picture: 0.2 ms; a line in it: 12 µs; a point of a line: 14 bytes, 0.6 µs."""

PAIR_ORIENTATIONS, PAIR_ORIENTATION = 100, 1
"""Orientations that doubles leave undecided, in pairs of doubles: 50 µs, plus 0.5 µs each."""

EXACT_ORIENTATION = 11
"""The same in integers: 5.4 µs."""

EXACT_LOSS = 8
"""A loss of precision along a step, in integers: 4 µs."""

CROSSING = 8
"""A crossing of two curves, in integers: 4 µs; 11 µs if its counts spread over hundreds of powers of ten."""

STEPS, STEP = 200, 0.3
"""A pass over the steps of a frontier for an index's envelope: 45 to 100 µs, plus 0.1 µs for each step."""

EXACT_READING = 60
"""A value of an index in fractions: 30 µs."""

EXACT_RECALL = 60
"""A point of a PR curve at a recall below 2^-900, in fractions: 28 µs."""

DENSITY_ROUND, DENSITY_PIECE = 600, 2
"""A round of the integration under a density: 0.3 ms, plus 0.8 µs for each piece."""

WEIGHT_SLICE = 0.03
"""A slice of the bits of a row's weight: 15 ns. Weights of similar size need one or two, the most uneven ones 50."""

LONG_STEP = 2
"""A step of more than 128 true positives, whose precision is summed in closed form: 0.9 µs."""

INNER_POINT, PAIR_INNER_POINT = 0.04, 0.15
"""A true positive inside a step, whose precision is summed: 18 ns; 60 ns if products of counts exceed doubles."""

SCORE_ENDS = 130
"""The score interval of a metric at a threshold: 40 to 60 µs. A p-value takes many of them."""

CURVE_ENDS = 1000
"""The score interval of a curve at one place: 0.4 to 0.5 ms."""

PAIRED_ENDS = 2500
"""The ends of the interval of a difference of paired proportions, by bisection: 1.2 ms."""


class TooMuchWork(Exception):
    """The request may be valid, but takes more work than its caller waits for."""


class _Budget:
    """The rows left to spend."""

    def __init__(self, rows: float) -> None:
        self.rows = self.most = rows


_BUDGET: ContextVar[_Budget | None] = ContextVar("budget", default=None)


@contextmanager
def at_most(rows: float | None) -> Iterator[None]:
    """Allow the block to spend at most this many rows; None sets no limit."""
    token = _BUDGET.set(None if rows is None else _Budget(rows))
    try:
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


def one_by_one(places: NDArray[np.int64], rows: float) -> NDArray[np.int64]:
    """Spend the given rows for each place that a loop will visit, and return the places."""
    spend(places.size * rows)
    return places
