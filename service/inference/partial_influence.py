"""How far mass at a row moves the mean height of a part of a curve, and the exact ends of its interval.

Influences are those on the curve cut at both ends of the range: rows before the range have the influence at its start,
rows after it that at its end. Knows tables, and the influences on whole curves. Sources: He & Escobar 2008,
"Nonparametric statistical inference method for partial areas under receiver operating characteristic curves, with
application to genomic studies"; Efron 1982, section 6.3.
"""

import math
from typing import TypeAlias

import numpy as np

from service.curves.arrays import FloatArray
from service.curves.confusion import ConfusionTable
from service.curves.partial_areas import PartialRange
from service.curves.sweep.plain import integrals
from service.inference.influence import INFLUENCES, Influences
from service.inference.proportions import Ends
from service.inference.rates import tpr_at_fpr_ends

Area: TypeAlias = str | PartialRange
"""The name of an area under a whole curve, or a range, for the mean height over it."""

_SPLITS_FROM_0 = np.arange(101) / 100


def influences(table: ConfusionTable, area: Area) -> Influences:
    """The influences on an area of a sweep."""
    return INFLUENCES[area](table) if isinstance(area, str) else partial_influences(table, area)


def partial_influences(table: ConfusionTable, part: PartialRange) -> Influences:
    """The influences on the mean height over a range, area / ((end - start)(1 - min_tpr)), of a sweep."""
    if part.over == "tpr":
        (negatives, other), (positives, unit) = partial_influences(mirrored(table), _as_fpr(part))
        return (_reversed(positives), unit), (_reversed(negatives), other)
    cut = _CutTable.of(table, part)
    if cut is None:
        none = np.zeros(table.tp.size), 1.0
        return none, none
    (positives, unit), (negatives, other) = INFLUENCES["pr" if part.over == "recall" else "roc"](cut.part(table))
    if cut.floor is not None:
        # A vertical step past min_tpr is cut at its top, but negatives before it have no positives above min_tpr.
        negatives[1] = 2 * cut.floor
    return (cut.on_rows(positives) / _box(part), unit), (cut.on_rows(negatives) / _box(part), other)


def partial_mean(tp: FloatArray, fp: FloatArray, part: PartialRange) -> float:
    """The mean height over a range, from cumulated counts that end with the totals; to ten digits, for resamples."""
    table = ConfusionTable(tp, tp, fp, float(tp[-1]), float(fp[-1]))
    if part.over == "tpr":
        table, part = mirrored(table), _as_fpr(part)
    found = _CutTable.of(table, part)
    if found is None:
        return 0.0
    cut = found.part(table)
    if part.over == "recall":
        grows = np.flatnonzero(np.diff(cut.tp) > 0)
        steps = cut.tp[grows], cut.tp[grows + 1], cut.fp[grows], cut.fp[grows + 1]
        area = float(integrals(*steps).sum()) / table.positives
    else:
        heights = cut.tp / table.positives - (part.min_tpr or 0.0)
        area = float(np.diff(cut.fp) @ (heights[1:] + heights[:-1])) / (2 * table.negatives)
    return min(max(area / _box(part), 0.0), 1.0)


def _box(part: PartialRange) -> float:
    return (part.end - part.start) * (1 - (part.min_tpr or 0.0))


class _CutTable:
    """A rising column cut at two values, low < high: the rows between them, and each cut as a row.

    floor   the true positives at `min_tpr`, if the curve passes them at `low`.
    """

    def __init__(self, across: FloatArray, low: float, high: float, floor: float | None = None) -> None:
        self._size = across.size
        self.floor = floor
        self._first = min(int(across.searchsorted(low, side="right")), across.size - 1)
        self._last = max(int(across.searchsorted(high, side="left")), self._first)
        self._at = self._share(across, self._first, low), self._share(across, self._last, high)

    @classmethod
    def of(cls, table: ConfusionTable, part: PartialRange) -> "_CutTable | None":
        """Cut a table's fp or tp at the ends of a range; None if the whole part is below `min_tpr`.

        Rows below it are treated as if they came before the range.
        """
        across, total = (table.tp, table.positives) if part.over == "recall" else (table.fp, table.negatives)
        low, high = part.start * total, part.end * total
        floor = None
        if part.min_tpr:
            least = part.min_tpr * table.positives
            passed = float(np.interp(least, table.tp, table.fp))
            low, floor = (passed, least) if passed >= low else (low, None)
        return cls(across, low, high, floor) if low < high else None

    @staticmethod
    def _share(across: FloatArray, row: int, place: float) -> float:
        """The position of a place along the step that ends at a row, from 0 to 1."""
        before, after = float(across[row - 1]), float(across[row])
        return min(max((place - before) / (after - before), 0.0), 1.0) if after > before else 1.0

    def part(self, table: ConfusionTable) -> ConfusionTable:
        """The part of a table's curve between the cuts; nothing is added along its first and last steps."""
        tp, fp = self._rows(table.tp), self._rows(table.fp)
        return ConfusionTable(tp, tp, fp, table.positives, table.negatives)

    def _rows(self, column: FloatArray) -> FloatArray:
        ends = [
            float(column[row - 1] + share * (column[row] - column[row - 1]))
            for row, share in zip((self._first, self._last), self._at, strict=True)
        ]
        return np.concatenate((ends[:1] * 2, column[self._first : self._last], ends[1:] * 2))

    def on_rows(self, influences: FloatArray) -> FloatArray:
        """The influences at the rows of the whole table, from those at the rows of the part.

        A step that is cut has the mean of its pieces' influences.
        """
        first, last, (low, high) = self._first, self._last, self._at
        out = np.full(self._size, influences[1])
        out[first:last] = influences[2:-2]
        out[last + 1 :] = influences[-1]
        inner = low if first == last else 0.0
        out[last] = inner * influences[1] + (high - inner) * influences[-2] + (1 - high) * influences[-1]
        if first < last:
            out[first] = low * influences[1] + (1 - low) * influences[2]
        return out


def mirrored(table: ConfusionTable) -> ConfusionTable:
    """The table with the classes swapped and the sweep reversed: its tpr is 1 - fpr, its fpr is 1 - tpr."""
    tp, fp = table.tn[::-1], table.fn[::-1]
    return ConfusionTable(tp, tp, fp, table.negatives, table.positives)


def _as_fpr(part: PartialRange) -> PartialRange:
    """The range over fpr, in the mirrored table, that equals one over tpr."""
    return PartialRange("fpr", 1 - part.end, 1 - part.start)


def _reversed(influences: FloatArray) -> FloatArray:
    """From steps of the mirrored table to those of the table: the step to row K - k becomes that to row k."""
    return np.append(influences[:1], influences[:0:-1])


def perfect_lower_end(part: PartialRange, totals: Ends, trials: Ends, level: float) -> float:
    """The lower end of the interval of a mean height of 1, with P positives all above N negatives.

    As for whole curves (Clopper & Pearson 1934), such data have probability α/2 if in truth a share f of the negatives
    is above every positive and a share g of the positives below every negative, with (1 - f)^N (1 - g)^P = α/2. The end
    is the least mean height over all such f and g; `trials` replace P and N in the exponents.
    """
    exponent = math.log((1 - level) / 2)
    f, g = -np.expm1(_SPLITS_FROM_0 * exponent / trials[1]), -np.expm1((1 - _SPLITS_FROM_0) * exponent / trials[0])
    start, end, least = part.start, part.end, part.min_tpr or 0.0
    if part.over == "fpr":
        areas = np.maximum(1 - g - least, 0) * np.maximum(end - np.maximum(start, f), 0)
    elif part.over == "tpr":
        areas = np.maximum(np.minimum(end, 1 - g) - start, 0) * (1 - f)
    else:
        ratio = totals[1] / totals[0]
        turn = np.clip(1 - g, start, end)
        areas = _under_precision(start, turn, f * ratio) + _under_precision(turn, end, np.full(f.size, ratio))
    return float(np.clip(areas.min() / ((end - start) * (1 - least)), 0, 1))


def worst_upper_end(table: ConfusionTable, part: PartialRange, trials: Ends, z: float) -> float:
    """The upper end of the interval of a mean height of 0; it is at most the height at the range's end.

    That height above `min_tpr` is the end of its score interval. Precision is never 0 where tp grows.
    """
    if part.over == "recall":
        return 1.0
    if part.over == "tpr":
        table, part, trials = mirrored(table), _as_fpr(part), (trials[1], trials[0])
    least = part.min_tpr or 0.0
    _, highest = tpr_at_fpr_ends(table, part.end, 0.0, trials, z)
    return max(highest - least, 0.0) / (1 - least)


def examples_inside(part: PartialRange, mean: float, trials: Ends) -> float:
    """The effective examples that decide a mean height: those in the range, or positives above `min_tpr` if fewer."""
    positives, negatives = trials
    width = round(part.end - part.start, 12)  # from 0.8 to 1 it would be 0.19999999999999996
    inside = width * (negatives if part.over == "fpr" else positives)
    return inside if part.min_tpr is None else min(inside, mean * (1 - part.min_tpr) * positives)


def _under_precision(start: FloatArray | float, end: FloatArray | float, misses: FloatArray) -> FloatArray:
    """∫ r/(r + c) dr, for each c >= 0."""
    there = np.maximum(misses, np.finfo(np.float64).tiny)
    area: FloatArray = (end - start) - misses * np.log((end + there) / (start + there))
    return area
