"""The area under a part of a curve: over a range of false positive rates, of true positive rates, or of recalls.

Whole steps are summed as for the areas of the whole curve. Parts of steps at the ends of a range, and arithmetic on the
sum, are rational or have 100 digits. Knows the table and its steps. Sources: McClish 1989 for the standardised area;
Yang, Lu, Lyu & Hu 2019 for the two-way one; Davis & Goadrich 2006, section 4, for precision between two rows.
"""

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np

from service.curves.arrays import LARGEST_EXACT_INTEGER, FloatArray, blocks
from service.curves.confusion import ConfusionTable
from service.curves.double_double import positive_parts, power_of_two_scale, two_product, two_sum
from service.curves.sweep.plain import integrals

OVER = ("fpr", "tpr", "recall")
"""The rates that a range may run over."""

_GREATEST_DOUBLE = Fraction(np.finfo(np.float64).max)
_DIGITS = 100
_LEAST_LIFTED = 2.0**-1000
_MULTIPLES = 1.5 * 2.0**79
"""Added to integers and subtracted again, this rounds them to multiples of 2^27."""
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
    if table.rises:
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
    up = _scale_of_part(table.tp[cut.rows])
    tp, fp = table.tp[cut.rows] * up, table.fp[cut.rows] * up
    grows = np.flatnonzero(tp[1:] > tp[:-1])
    whole = Fraction(math.fsum(integrals(tp[grows], tp[grows + 1], fp[grows], fp[grows + 1]))) / Fraction(up)
    return (whole + sum(_precision(table, piece) for piece in cut.pieces)) / positives


def _under(table: ConfusionTable, across: FloatArray, height: FloatArray, low: Fraction, high: Fraction) -> Fraction:
    """∫ height d(across) between two values of `across`; both are rising columns of the table."""
    cut = _CutSteps.of(across, low, high)
    pieces = [
        (after - before) * (_between(across, height, row, before) + _between(across, height, row, after))
        for row, before, after in cut.pieces
    ]
    doubled = _doubled_trapezoids(across[cut.rows], height[cut.rows], table)
    return (doubled + sum(pieces)) / 2


def _doubled_trapezoids(across: FloatArray, height: FloatArray, table: ConfusionTable) -> Fraction:
    """Twice the area, in counts, under part of a rising curve; exact if the counts are whole and not huge."""
    if table.whole and 2 * table.positives * table.negatives <= LARGEST_EXACT_INTEGER:
        return Fraction(sum(_whole_trapezoids(x, y) for x, y in _blocks(across, height)))
    x_up, y_up = _scale_of_part(across), _scale_of_part(height)
    parts = (part for x, y in _blocks(across, height) for part in _trapezoids(x, y, x_up, y_up))
    return sum(map(Fraction, parts), Fraction(0)) / (Fraction(x_up) * Fraction(y_up))


def _scale_of_part(column: FloatArray) -> float:
    """The power of two, at most 2^1000, that scales up part of a rising column, which may end far below the total."""
    return power_of_two_scale(max(float(column[-1]), _LEAST_LIFTED)) if column.size else 1.0


def _blocks(first: FloatArray, second: FloatArray) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Blocks of two columns of a table. Neighbouring blocks share a row, so that each step is in exactly one."""
    for rows in blocks(first.size, overlap=1):
        yield first[rows], second[rows]


def _whole_trapezoids(x: FloatArray, y: FloatArray) -> float:
    """Twice the area under y over x, for integers whose products and sums are exact in doubles."""
    return float((x[1:] - x[:-1]) @ (y[1:] + y[:-1]))


def _trapezoids(x: FloatArray, y: FloatArray, x_up: float, y_up: float) -> Iterator[float]:
    """Parts of twice the area under y over x, for scaled counts; their sum is within 2^-100 of it, relatively.

    It is exact for whole counts: what the products leave are integers up to 2^53, and are summed in two parts.
    """
    steps = (x[1:] > x[:-1]).nonzero()[0]  # the others have no width
    width, width_low = two_sum(x[1:].take(steps) * x_up, x.take(steps) * -x_up)
    height, height_low = two_sum(y[1:].take(steps) * y_up, y.take(steps) * y_up)
    doubled, error = two_product(width, height)
    yield from positive_parts(doubled)
    for rest in (error, width_low * height + width * height_low):
        leading = (rest + _MULTIPLES) - _MULTIPLES
        yield float(leading.sum())
        yield float((rest - leading).sum())


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
