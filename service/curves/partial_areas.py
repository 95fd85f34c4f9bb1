"""The area under a part of a curve: over a range of false positive rates, of true positive rates, or of recalls.

Whole steps are summed as for the areas of the whole curve. Parts of steps at the ends of a range, and arithmetic on the
sum, are rational or have 100 digits. Knows the table and its steps. Sources: McClish 1989 for the standardised area;
Yang, Lu, Lyu & Hu 2019 for the two-way one; Davis & Goadrich 2006, section 4, for precision between two rows.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np

from service.curves.areas import doubled_trapezoids, scale_of_part
from service.curves.confusion import ConfusionTable
from service.curves.exact import FloatArray
from service.curves.positive_steps import positive_steps

OVER = ("fpr", "tpr", "recall")
"""The rates that a range may run over."""

_GREATEST_DOUBLE = Fraction(np.finfo(np.float64).max)
_DIGITS = 100
_FLAT = Fraction(1, 2**60)
"""If the number called positive grows by less than this share of itself, precision is taken as linear."""


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

    from start to end. Each is rounded once. If counts are not whole, terms are good to 2^-100, over recalls to 2^-50; a
    step with denormal counts is then good to a few of the least doubles only.
    """
    columns = np.full((3, len(ranges)), np.nan)
    if table.sweep:
        for place, each in enumerate(ranges):
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
    low = max(low, _first_at(table.tp, table.fp, floor))
    if low >= high:
        return Fraction(0)
    return (_under(table, table.fp, table.tp, low, high) - floor * (high - low)) / (positives * negatives)


def _over_tpr(table: ConfusionTable, start: Fraction, end: Fraction, _least: Fraction) -> Fraction:
    """∫ (1 - fpr) dtpr, the area to the right of the curve."""
    positives, negatives = Fraction(table.positives), Fraction(table.negatives)
    low, high = start * positives, end * positives
    left = _under(table, table.tp, table.fp, low, high)
    return (negatives * (high - low) - left) / (positives * negatives)


def _over_recall(table: ConfusionTable, start: Fraction, end: Fraction, _least: Fraction) -> Fraction:
    """∫ precision drecall, along D&G's interpolation."""
    positives = Fraction(table.positives)
    cut = _CutSteps.of(table.tp, start * positives, end * positives)
    up = scale_of_part(table.tp[cut.rows])
    steps = positive_steps(table.select(cut.rows))
    whole = sum((Fraction(part) for each in steps for part in each.integral(up)), Fraction(0)) / Fraction(up)
    return (whole + sum(_precision(table, piece) for piece in cut.pieces)) / positives


def _under(table: ConfusionTable, across: FloatArray, height: FloatArray, low: Fraction, high: Fraction) -> Fraction:
    """∫ height d(across) between two values of `across`; both are rising columns of the table."""
    cut = _CutSteps.of(across, low, high)
    pieces = [
        (after - before) * (_between(across, height, row, before) + _between(across, height, row, after))
        for row, before, after in cut.pieces
    ]
    doubled = doubled_trapezoids(across[cut.rows], height[cut.rows], table)
    return (doubled + sum(pieces)) / 2


_Piece = tuple[int, Fraction, Fraction]
"""A part of the step that ends at a row: that row, and where the part begins and ends."""


@dataclass(frozen=True, slots=True)
class _CutSteps:
    """A range of a rising column: the rows of the whole steps in it, and the parts of other steps at its ends."""

    rows: slice
    pieces: tuple[_Piece, ...]

    @classmethod
    def of(cls, column: FloatArray, low: Fraction, high: Fraction) -> "_CutSteps":
        """Cut a column that begins at 0 at two values, low < high, up to its last."""
        first = bisect_left(column, low, key=Fraction)
        last = bisect_right(column, high, key=Fraction) - 1
        if first > last:  # within one step
            return cls(slice(0, 0), ((first, low, high),))
        pieces = []
        if (start := Fraction(column[first])) > low:
            pieces.append((first, low, start))
        if (end := Fraction(column[last])) < high:
            pieces.append((last + 1, end, high))
        return cls(slice(first, last + 1), tuple(pieces))


def _between(across: FloatArray, height: FloatArray, row: int, place: Fraction) -> Fraction:
    """The height at a place on the step that ends at a row, by linear interpolation."""
    x, x_after, y, y_after = map(Fraction, (across[row - 1], across[row], height[row - 1], height[row]))
    return y + (y_after - y) * (place - x) / (x_after - x)


def _first_at(column: FloatArray, across: FloatArray, least: Fraction) -> Fraction:
    """The value of `across` at which a rising column first reaches `least`."""
    row = bisect_left(column, least, key=Fraction)
    return _between(column, across, row, least) if Fraction(column[row]) > least else Fraction(across[row])


def _precision(table: ConfusionTable, piece: _Piece) -> Fraction:
    """∫ t/(t + f) dt along a piece of a step, f being linear in t.

    The number called positive is q(t) = m t + c, m = 1 + Δf/Δt, so the integral is ((q' - q) - c log(q'/q))/m².
    """
    row, low, high = piece
    called, called_after = (at + _between(table.tp, table.fp, row, at) for at in (low, high))
    slope = (called_after - called) / (high - low)
    offset = called - slope * low
    if offset == 0:  # precision is constant along a line through the origin
        return (high - low) / slope
    if called_after - called < _FLAT * called:
        return (low / called + high / called_after) / 2 * (high - low)
    with localcontext(prec=_DIGITS):
        logarithm = Fraction((_decimal(called_after) / _decimal(called)).ln())
    return (called_after - called - offset * logarithm) / slope**2


def _decimal(number: Fraction) -> Decimal:
    return Decimal(number.numerator) / Decimal(number.denominator)


_AREA_OVER = {"fpr": _over_fpr, "tpr": _over_tpr, "recall": _over_recall}
