"""How much work may still be done where the caller waits, counted in rows.

A row is 0.5 µs of one processor, or 40 bytes of an answer: the most that a row of an evaluation takes when only its
areas are asked for. Most of what a request takes is told by what it asks for, and estimated before it is evaluated.
The rest shows only on the way: which rows have to be worked in integers, how many are on a hull, how often curves
cross. Whoever finds that out spends it here, before it is done. Knows numbers only.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from service.curves.exact import IntArray

EXACT_PRECISION = 1
"""A precision above 2^53 called positive, in integers: 0.4 µs. Like all below, the most that was measured."""

PAIR_SIDE = 1
"""A side of a chord that doubles leave in doubt, in pairs of them: 0.5 µs."""

EXACT_SIDE = 11
"""The same in integers: 5.4 µs."""

EXACT_LOSS = 8
"""A loss of precision along a step, in integers: 4 µs."""

CROSSING = 3
"""A crossing of two curves, in pairs of doubles: 1.3 µs."""

EXACT_CROSSING = 10
"""The same in integers: 5 µs."""

ENVELOPE_ROW = 2
"""A row of the frontier on its way to an index's envelope: 0.9 µs."""

EXACT_READING = 60
"""A value of an index in fractions: 30 µs."""

EXACT_RECALL = 60
"""A point of a PR curve at a recall below 2^-900, in fractions: 28 µs."""

DENSITY_ROUND, DENSITY_PIECE = 600, 2
"""A round of the integration under a density, whatever it has to do: 0.3 ms; and each piece in it: 0.8 µs."""

SCORE_ENDS = 100
"""The score interval of a metric at a threshold: 40 µs. It is made again and again for a p-value."""

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
    """Let no more than so many rows be spent within; None is no bound."""
    token = _BUDGET.set(None if rows is None else _Budget(rows))
    try:
        yield
    finally:
        _BUDGET.reset(token)


def spend(rows: float) -> None:
    """Take rows from the budget, where there is one. Raises TooMuchWork when more are taken than it had."""
    budget = _BUDGET.get()
    if budget is not None:
        budget.rows -= rows
        if budget.rows < 0:
            raise TooMuchWork


def one_by_one(places: IntArray, rows: float) -> IntArray:
    """Spend so many rows for each of the places that are worked in a loop, and return these."""
    spend(places.size * rows)
    return places
