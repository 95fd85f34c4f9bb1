"""How much work may still be done where the caller waits, counted in rows.

A row is 0.5 µs of one processor, or 40 bytes of an answer: the most that a row of an evaluation takes when only its
areas are asked for. Most of the cost of a request follows from what it asks for, and is estimated first.
The rest shows only on the way: which rows have to be worked in integers, how many are on a hull, how often curves
cross. Whoever finds that out spends it here, before it is done. Knows numbers only.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import numpy as np
from numpy.typing import NDArray

BYTES_PER_ROW = 40
"""So many bytes of an answer are a row: ROCPR_BIG_WORK of 20,000 is 800 KB, or 10 ms."""

EXACT_PRECISION = 1
"""A precision above 2^53 called positive, in integers: 0.4 µs. Like all below, the most that was measured."""

HULL_PASS = 30
"""A pass over the rows that may be on a hull: 15 µs, however few they are. A hostile curve takes a hundred of them."""

THINNING_PASS, THINNING_ROW = 130, 0.1
"""A pass over the rows that a picture may need: 40 to 65 µs; and each row in it: 50 ns."""

PICTURE, DRAWN_LINE, DRAWN_POINT = 400, 25, 1.2
"""What every picture has: 0.2 ms; a line in it: 12 µs; and a point of a line: 14 bytes, 0.6 µs."""

PAIR_ORIENTATIONS, PAIR_ORIENTATION = 100, 1
"""Orientations that doubles leave in doubt, in pairs of them: 50 µs, and 0.5 µs each."""

EXACT_ORIENTATION = 11
"""The same in integers: 5.4 µs."""

EXACT_LOSS = 8
"""A loss of precision along a step, in integers: 4 µs."""

CROSSING = 3
"""A crossing of two curves, in pairs of doubles: 1.3 µs."""

EXACT_CROSSING = 10
"""The same in integers: 5 µs."""

STEPS, STEP = 200, 0.3
"""A pass over the steps of a frontier on the way to an index's envelope: 45 to 100 µs; and each step: 0.1 µs."""

EXACT_READING = 60
"""A value of an index in fractions: 30 µs."""

EXACT_RECALL = 60
"""A point of a PR curve at a recall below 2^-900, in fractions: 28 µs."""

DENSITY_ROUND, DENSITY_PIECE = 600, 2
"""A round of the integration under a density, whatever it has to do: 0.3 ms; and each piece in it: 0.8 µs."""

WEIGHT_SLICE = 0.03
"""A slice of the bits of a row's weight: 15 ns. Weights of one size have one or two, the most uneven ones 50."""

LONG_STEP = 2
"""A step of more than 128 true positives, whose precision is summed in closed form: 0.9 µs."""

INNER_POINT, PAIR_INNER_POINT = 0.04, 0.15
"""A true positive inside a step, whose precision is summed: 18 ns; 60 ns where products of counts are no doubles."""

SCORE_ENDS = 130
"""The score interval of a metric at a threshold: 40 to 60 µs. It is made again and again for a p-value."""

PAIRED_ENDS = 2500
"""The ends of the difference of two paired shares, by halving: 1.2 ms."""


class TooMuchWork(Exception):
    """There is more work than the caller wants to wait for; the request may be right."""


class _Budget:
    """So many rows are left."""

    def __init__(self, rows: float) -> None:
        self.rows = rows


_BUDGET: ContextVar[_Budget | None] = ContextVar("budget", default=None)


@contextmanager
def at_most(rows: float | None) -> Iterator[None]:
    """Allow at most this many rows to be spent in the block; None sets no limit."""
    token = _BUDGET.set(None if rows is None else _Budget(rows))
    try:
        yield
    finally:
        _BUDGET.reset(token)


def is_bounded() -> bool:
    """Whether there is a budget: without one, what only an estimate needs need not be looked at."""
    return _BUDGET.get() is not None


def spend(rows: float) -> None:
    """Take rows from the budget, where there is one. Raises TooMuchWork when more are taken than it had."""
    budget = _BUDGET.get()
    if budget is not None:
        budget.rows -= rows
        if budget.rows < 0:
            raise TooMuchWork


def one_by_one(places: NDArray[np.int64], rows: float) -> NDArray[np.int64]:
    """Spend the given rows for each place that is worked in a loop, and return the places."""
    spend(places.size * rows)
    return places
