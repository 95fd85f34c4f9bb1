"""The bounds that open groups of scores set on a curve, whatever the order within each group.

    best     the table in which the positives of each open group come first
    worst    the one in which its negatives do
    bounds   their areas, moved outwards by what may have been rounded

The table of every sample that the groups may stand for has the rows at the ends of groups. At equal tp, its fp is
nowhere lower than in the best table, nor higher than in the worst. So whatever rises as fp falls lies between the
values of these two tables: the areas, their parts, and what is read off the curves at one place. Knows histograms,
tables and areas.
"""

import math
from dataclasses import dataclass

import numpy as np

from service.curves.areas import Areas, areas
from service.curves.arrays import LARGEST_EXACT_INTEGER, IntArray
from service.curves.confusion import ConfusionTable, running_sums
from service.curves.double_double import two_sum
from service.curves.histogram import Histogram
from service.curves.hull import roc_convex_hull
from service.curves.sweep.plain import mean_precision

_WITHIN = 2.0**-50
"""Rounding moves an area, or an engine's sum, by less than this share of it."""

_INTEGRATED, _WITHIN_INTEGRALS = {"pr", "pr_achievable", "average_precision"}, 2.0**-48
"""The areas that add up integrals, and the share by which rounding moves these less."""

_LOST = 2.0**-51
"""Rounding running sums moves an area by at most this: 2^-53 for the sums and the total of each class."""


@dataclass(frozen=True, slots=True)
class Enclosure:
    """The least and the greatest value that a number can have."""

    lower: float
    upper: float

    @classmethod
    def of(cls, one: float | None, other: float | None) -> "Enclosure | None":
        """Enclose two values, whichever is less; None if either is None."""
        return None if one is None or other is None else cls(min(one, other), max(one, other))

    @property
    def middle(self) -> float:
        """The number halfway between them."""
        return self.lower / 2 + self.upper / 2


@dataclass(frozen=True, slots=True, eq=False)
class Arranged:
    """Groups in one order of the examples within each, with the areas that bound those of all orders.

    rows   for each class, the row of the table at which the examples of each group are called positive, (m,).
    """

    groups: Histogram
    table: ConfusionTable
    rows: tuple[IntArray, IntArray]
    areas: Areas


def best_and_worst(groups: Histogram) -> tuple[Arranged, Arranged]:
    """Arrange groups in the best and in the worst order."""
    return _best(groups), _worst(groups)


def bounded_areas(groups: Histogram) -> dict[str, Enclosure | None]:
    """The bounds of every area; None for an area that is omitted. Those of exact groups are equal, up to rounding.

    Of a positive at 2, and a positive and a negative between 0 and 1: `roc` is between 1/2 and 1.
    """
    upper = _best(groups).areas  # its table is freed before the other is built
    return between(_worst(groups).areas, upper)


def _best(groups: Histogram) -> Arranged:
    best, rows = _table(groups, positives_first=True)
    hull = best.select(roc_convex_hull(best))
    return _arranged(groups, best, rows, areas(best, hull), outwards=1)


def _worst(groups: Histogram) -> Arranged:
    worst, rows = _table(groups, positives_first=False)
    hull = worst.select(roc_convex_hull(worst))
    found = areas(worst, hull)
    found.average_precision = _least_average_precision(groups, worst, rows[0])
    return _arranged(groups, worst, rows, found, outwards=-1)


def _arranged(
    groups: Histogram, table: ConfusionTable, rows: tuple[IntArray, IntArray], found: Areas, *, outwards: int
) -> Arranged:
    """Groups in an order with their areas, moved outwards; if all positives come before all negatives, each is 1."""
    positives, negatives = (at[masses > 0] for masses, at in zip(groups.masses, rows, strict=True))
    if positives.max() < negatives.min():
        for name in Areas.__slots__:
            setattr(found, name, None if getattr(found, name) is None else 1.0)
        return Arranged(groups, table, rows, found)
    return Arranged(groups, table, rows, _rounded(found, outwards, table, groups))


def between(worst: Areas, best: Areas) -> dict[str, Enclosure | None]:
    """The bounds of every area from the worst and the best."""
    return {name: Enclosure.of(getattr(worst, name), getattr(best, name)) for name in Areas.__slots__}


def _table(groups: Histogram, *, positives_first: bool) -> tuple[ConfusionTable, tuple[IntArray, IntArray]]:
    """The table in which one class of each open group comes first, and the rows of `Arranged`."""
    split = groups.is_open
    last = (1 + split).cumsum()
    first = last - split
    rows = (first, last) if positives_first else (last, first)
    lower = groups.lower_is_positive
    thresholds = np.full(int(last[-1]) + 1, np.nan)
    # The threshold that calls the first class of a group positive is the near end of its scores.
    thresholds[first] = groups.score_from if lower else groups.score_to
    thresholds[last] = groups.ends
    gains = np.zeros((2, last[-1]))
    for gain, mass, at in zip(gains, groups.masses, rows, strict=True):
        gain[at - 1] = mass
    counted = groups.is_counted
    tp, fp = running_sums(*gains, counted=counted)
    totals = float(tp[-1]), float(fp[-1])
    target = None if groups.target is None else groups.target.of(*totals)
    table = ConfusionTable(thresholds, tp, fp, *totals, lower, counted=counted, target=target)
    return table, rows


def _least_average_precision(groups: Histogram, worst: ConfusionTable, rows: IntArray) -> float:
    """The infimum of the average precision, for the worst table and the rows of each group's positives.

    An exact group is one step, Δtp tp/(tp + fp). In an open one the positives come last, one by one. The lighter each
    is, the closer their steps come to ∫ t/(t + fp) dt, from the tp before the group to the tp after it.
    """
    worst = worst.in_use
    tp, fp, share = worst.tp, worst.fp, np.diff(worst.tp, prepend=0.0) / worst.positives
    grows = share[rows] > 0
    at = rows[groups.is_open & grows]
    parts = (share[at] * mean_precision(tp[at - 1], tp[at], fp[at - 1], fp[at])).tolist()
    at = rows[~groups.is_open & grows]
    parts += (share[at] * (tp[at] / (tp[at] + fp[at]))).tolist()
    return min(math.fsum(parts), 1.0)


def _sums_are_exact(groups: Histogram) -> bool:
    """Whether no running sum of the masses of a class was rounded."""
    for masses in groups.masses:
        _, lost = two_sum(masses.cumsum()[:-1], masses[1:])
        if lost.any():
            return False
    return True


def _rounded(found: Areas, outwards: int, table: ConfusionTable, groups: Histogram) -> Areas:
    """Move areas outwards, 1 up or -1 down, by as much as rounding may have moved them inwards.

    Areas under ROC curves are exact if all products of counts are. Rounded sums may have lost masses below their last
    digit, and a small area may have lost more than its share `_WITHIN`.
    """
    lost = 0.0 if _sums_are_exact(groups) else _LOST
    exact = (
        {"roc", "roc_hull"} if table.whole and 2 * table.positives * table.negatives <= LARGEST_EXACT_INTEGER else set()
    )
    for name in Areas.__slots__:
        value = getattr(found, name)
        if value is not None and (lost or name not in exact):
            within = _WITHIN_INTEGRALS if name in _INTEGRATED else _WITHIN
            moved = value + outwards * (value * within + lost)
            setattr(found, name, min(max(moved, 0.0), 1.0))
    return found
