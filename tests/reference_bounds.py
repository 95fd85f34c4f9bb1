"""The bounds of areas from groups of scores, by trying every order of the examples in each group: slow and obvious.

An open group has a few examples; any of them may tie, and those that do not may come in any order. Nothing here may
import the service.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any

import mpmath

from tests.reference import Table, table_of_sample
from tests.reference_pr import mp

DIGITS = 60

Example = tuple[bool, float]
"""A label and a weight."""


@dataclass(frozen=True)
class Group:
    """The examples of one group; exact if they all have one score."""

    examples: tuple[Example, ...]
    exact: bool

    def total(self, *, of: bool) -> Fraction:
        """The total weight of one class."""
        return sum((Fraction(weight) for label, weight in self.examples if label == of), Fraction(0))


def orders(examples: tuple[Example, ...], *, exact: bool) -> Iterator[tuple[tuple[Example, ...], ...]]:
    """Every way to rank examples with ties: a tuple of ties, the most positive first."""
    if exact or len(examples) == 1:
        yield (examples,)
        return
    ranks = range(len(examples))
    for ranking in product(ranks, repeat=len(examples)):
        used = sorted(set(ranking))
        if used == list(range(len(used))):  # each ranking only once, without gaps
            yield tuple(
                tuple(each for each, rank in zip(examples, ranking, strict=True) if rank == tie) for tie in used
            )


def tables(groups: Sequence[Group]) -> Iterator[Table]:
    """The table of every sample that groups, the most positive first, may stand for."""
    for ranked in product(*(tuple(orders(group.examples, exact=group.exact)) for group in groups)):
        ties = [tie for group in ranked for tie in group]
        rows = [(-float(rank), *example) for rank, tie in enumerate(ties) for example in tie]
        scores, labels, weights = zip(*rows, strict=True)
        yield table_of_sample(scores, labels, weights)


def bounds(groups: Sequence[Group], area: Callable[[Table], Any]) -> tuple[Any, Any]:
    """The least and the greatest area of all these tables."""
    found = [area(table) for table in tables(groups)]
    return min(found), max(found)


def least_average_precision(groups: Sequence[Group]) -> mpmath.mpf:
    """The limit of average precision as each positive of an open group splits into ever lighter ones.

    All negatives of the group come first, then its positives: ∫ t/(t + f) dt = p - f log((t + p + f)/(t + f)), over P.
    """
    t = f = Fraction(0)
    with mpmath.workdps(DIGITS):
        area = mpmath.mpf(0)
        for group in groups:
            p, n = group.total(of=True), group.total(of=False)
            f += n
            if p and (group.exact or f == 0):
                area += mp(p * (t + p) / (t + p + f) if group.exact else p)
            elif p:
                area += mp(p) - mp(f) * mpmath.log(mp((t + p + f) / (t + f)))
            t += p
        return area / mp(t)
