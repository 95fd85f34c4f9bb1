"""The area under a part of a curve: over a range of false positive rates, of true positive rates, or of recalls.

    cut the curve where the range begins and where it ends: two points on steps, in rational numbers
    add up the whole steps in between, as for the area of the whole curve
    add the steps that are cut: a trapezoid each, or a width times its mean precision

Knows tables and the sweep. Sources: McClish 1989 for the standardised area; Yang, Lu, Lyu & Hu 2019 for the two-way
one; Davis & Goadrich 2006, section 4, for precision between two rows.
"""

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

import numpy as np

from service.curves.arrays import FloatArray
from service.curves.clock import in_time
from service.curves.confusion import ConfusionTable
from service.curves.sweep import sweep
from service.curves.sweep.plain import mean_precision

OVER = ("fpr", "tpr", "recall")
"""The rates that a range may run over."""

_GREATEST_DOUBLE = Fraction(np.finfo(np.float64).max)


@dataclass(frozen=True, slots=True)
class PartialRange:
    """A range of a rate, 0 <= start < end <= 1; with `min_tpr` < 1, only the area above that tpr counts."""

    over: str
    start: float
    end: float
    min_tpr: float | None = None


@dataclass(frozen=True, slots=True, eq=False)
class PartialAreas:
    """Areas over ranges, as columns (n,) in the order requested; NaN where undefined.

    mean     the area divided by that of its box, (end - start)(1 - min_tpr): the mean height.
    mcclish  rescaled so that chance is 1/2 and a perfect curve 1; NaN over recalls, with `min_tpr`, and on overflow.
    """

    ranges: tuple[PartialRange, ...]
    area: FloatArray
    mean: FloatArray
    mcclish: FloatArray


def partial_areas(table: ConfusionTable, ranges: Sequence[PartialRange]) -> PartialAreas:
    """Areas under parts of the curves of a sweep; NaN for rows that are not a sweep.

        over    area                                  McClish: (1 + (area - chance)/(box - chance))/2, where chance is
        fpr     ∫ tpr dfpr                            (end² - start²)/2
        tpr     ∫ (1 - fpr) dtpr                      (end - start) - (end² - start²)/2
        recall  ∫ precision drecall                   -
        with min_tpr: ∫ max(tpr - min_tpr, 0) dfpr    -

    from start to end. Scores 0.9, 0.8, 0.7, 0.6, of which the first, second and fourth are positive, have tpr 2/3 at
    every fpr below 1. So over fpr from 0 to 1/2 the area is 1/3, its mean 2/3, and McClish's (1 + (1/3 - 1/8)/(1/2 -
    1/8))/2 = 7/9. Areas over recall are sums of doubles, the others rational and rounded once.
    """
    columns = np.full((3, len(ranges)), np.nan)
    if table.rises:
        for place, each in enumerate(in_time(ranges)):
            columns[:, place] = _of_range(table, each)
    return PartialAreas(tuple(ranges), *columns)


def _of_range(table: ConfusionTable, asked: PartialRange) -> tuple[float, float, float]:
    """The area, the mean and McClish's standardised area of one range."""
    start, end = Fraction(asked.start), Fraction(asked.end)
    least = Fraction(asked.min_tpr or 0)
    width = end - start
    box = width * (1 - least)
    area = min(max(_AREA_OVER[asked.over](table, start, end, least), Fraction(0)), box)
    mcclish = np.nan
    if asked.over != "recall" and asked.min_tpr is None:
        diagonal = (end * end - start * start) / 2
        chance = diagonal if asked.over == "fpr" else width - diagonal
        standardised = (1 + (area - chance) / (width - chance)) / 2
        if abs(standardised) <= _GREATEST_DOUBLE:  # far below chance, over a tiny range at tpr 0, it may overflow
            mcclish = float(standardised)
    return float(area), float(area / box), mcclish


def _over_fpr(table: ConfusionTable, start: Fraction, end: Fraction, least: Fraction) -> Fraction:
    """∫ max(tpr - least, 0) dfpr: the curve rises, so the integrand is 0 up to where tpr reaches `least`."""
    positives, negatives = Fraction(table.positives), Fraction(table.negatives)
    low, high, floor = start * negatives, end * negatives, least * positives
    low = max(low, _point(table.tp, table.fp, floor)[1])
    if low >= high:
        return Fraction(0)
    return (_Part.of(table.fp, table.tp, low, high).area() - floor * (high - low)) / (positives * negatives)


def _over_tpr(table: ConfusionTable, start: Fraction, end: Fraction, _least: Fraction) -> Fraction:
    """∫ (1 - fpr) dtpr, the area to the right of the curve."""
    positives, negatives = Fraction(table.positives), Fraction(table.negatives)
    left = _Part.of(table.tp, table.fp, start * positives, end * positives).area()
    return end - start - left / (positives * negatives)


def _over_recall(table: ConfusionTable, start: Fraction, end: Fraction, _least: Fraction) -> Fraction:
    """∫ precision drecall along D&G's interpolation: the width times the mean of all steps' mean precisions."""
    table = table.in_use
    low, high = start * Fraction(table.positives), end * Fraction(table.positives)
    part = _Part.of(table.tp, table.fp, low, high)
    grows = np.flatnonzero(np.diff(part.x) > 0)
    steps = part.x[grows], part.x[grows + 1], part.y[grows], part.y[grows + 1]
    heights = ((steps[1] - steps[0]) / float(high - low) * mean_precision(*steps)).tolist()
    for (t, f), (t_after, f_after) in part.cut_steps:
        if t < t_after:
            # Precision depends on ratios only, and these shares of the greatest number neither overflow nor underflow.
            shares = np.array([[t], [t_after], [f], [f_after]]) / (t_after + f_after)
            heights.append(float((t_after - t) / (high - low)) * float(mean_precision(*shares.astype(np.float64))[0]))
    return (end - start) * Fraction(math.fsum(heights))


_AREA_OVER = {"fpr": _over_fpr, "tpr": _over_tpr, "recall": _over_recall}


_Point: TypeAlias = tuple[Fraction, Fraction]


@dataclass(frozen=True, slots=True, eq=False)
class _Part:
    """A part of a curve: the rows in it, and the steps that were cut, from one point (x, y) to another."""

    x: FloatArray
    y: FloatArray
    cut_steps: tuple[tuple[_Point, _Point], ...]

    @classmethod
    def of(cls, x: FloatArray, y: FloatArray, low: Fraction, high: Fraction) -> "_Part":
        """Cut the curve through rising rows (x, y), from (0, 0) on, at x = low and x = high > low."""
        first, last = (bisect_left(x, place, key=Fraction) for place in (low, high))
        start, end = _point(x, y, low), _point(x, y, high)
        if first == last:  # both on the step that ends at this row
            return cls(x[:0], y[:0], ((start, end),))
        first_row, last_row = ((Fraction(x[row]), Fraction(y[row])) for row in (first, last - 1))
        return cls(x[first:last], y[first:last], ((start, first_row), (last_row, end)))

    def area(self) -> Fraction:
        """∫ y dx."""
        cut = ((x_after - x) * (y_after + y) for (x, y), (x_after, y_after) in self.cut_steps)
        return (sweep.doubled_area(self.y, self.x) + sum(cut)) / 2


def _point(x: FloatArray, y: FloatArray, place: Fraction) -> _Point:
    """The first point of the curve at this x, from 0 to the last."""
    row = bisect_left(x, place, key=Fraction)
    x_after, y_after = Fraction(x[row]), Fraction(y[row])
    if x_after == place:
        return place, y_after
    before, y_before = Fraction(x[row - 1]), Fraction(y[row - 1])
    return place, y_before + (y_after - y_before) * (place - before) / (x_after - before)
