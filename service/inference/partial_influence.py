"""How far mass at a row moves the mean height of a part of a curve, and the exact ends of its interval.

    cut the curve at both ends of the range: a row at each cut takes the place of all rows beyond it
    find the influences of its rows on the area, as for a whole curve
    give rows before the range the influence at its start, and rows after it that at its end

Knows tables, and the influences on whole curves. Sources: He & Escobar 2008, "Nonparametric statistical inference
method for partial areas under receiver operating characteristic curves, with application to genomic studies"; Efron
1982, section 6.3.
"""

import math
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from service.curves.arrays import FloatArray
from service.curves.confusion import ConfusionTable
from service.curves.partial_areas import PartialRange
from service.curves.sweep.plain import mean_precision
from service.curves.target_prevalence import TargetPrevalence
from service.inference.influence import INFLUENCES, Influences
from service.inference.proportions import Ends
from service.inference.rates import tpr_at_fpr_ends

Area: TypeAlias = str | PartialRange
"""The name of an area under a whole curve, or a range, for the mean height over it."""

_OF_PRECISION = ("pr", "pr_achievable", "average_precision")

_SPLITS_FROM_0 = np.arange(101) / 100


def influences(table: ConfusionTable, area: Area) -> Influences:
    """The influences on an area, or on a mean loss, of a sweep, where the model is used."""
    if isinstance(area, str):
        return INFLUENCES[area](table if area == "roc" else table.in_use)
    return partial_influences(table.in_use if area.over == "recall" else table, area)


def is_of_precision(area: Area) -> bool:
    """Whether an area is one under a PR curve, or a part of one."""
    return area in _OF_PRECISION if isinstance(area, str) else area.over == "recall"


def partial_influences(table: ConfusionTable, part: PartialRange) -> Influences:
    """The influences on the mean height over a range, area / ((end - start)(1 - min_tpr)), of a sweep."""
    if part.over == "tpr":
        (negatives, other), (positives, unit) = partial_influences(mirrored(table), _as_fpr(part))
        return (_reversed(positives), unit), (_reversed(negatives), other)
    cut = _Cut.of(table, part)
    if cut is None:
        none = np.zeros(table.tp.size), 1.0
        return none, none
    curve = ConfusionTable(cut.tp, cut.tp, cut.fp, table.positives, table.negatives)
    (positives, unit), (negatives, other) = INFLUENCES["pr" if part.over == "recall" else "roc"](curve)
    size, box = table.tp.size, _box(part)
    return (cut.on_rows(positives, size) / box, unit), (cut.on_rows(negatives, size) / box, other)


def partial_mean(tp: FloatArray, fp: FloatArray, part: PartialRange, target: TargetPrevalence | None = None) -> float:
    """The mean height over a range, from cumulated counts that end with the totals; to ten digits, for resamples."""
    totals = float(tp[-1]), float(fp[-1])
    table = ConfusionTable(tp, tp, fp, *totals)
    if target is not None and part.over == "recall":
        table = replace(table, target=TargetPrevalence(target.share, *totals)).in_use
    if part.over == "tpr":
        table, part = mirrored(table), _as_fpr(part)
    cut = _Cut.of(table, part)
    if cut is None:
        return 0.0
    if part.over == "recall":
        grows = np.flatnonzero(np.diff(cut.tp) > 0)
        t, t_after, f, f_after = cut.tp[grows], cut.tp[grows + 1], cut.fp[grows], cut.fp[grows + 1]
        area = float((t_after - t) @ mean_precision(t, t_after, f, f_after)) / table.positives
    else:
        heights = cut.tp / table.positives - (part.min_tpr or 0.0)
        area = float(np.diff(cut.fp) @ (heights[1:] + heights[:-1])) / (2 * table.negatives)
    return min(max(area / _box(part), 0.0), 1.0)


def _box(part: PartialRange) -> float:
    return (part.end - part.start) * (1 - (part.min_tpr or 0.0))


_Position: TypeAlias = tuple[int, float]
"""A place on a curve: the row at which its step ends, and the share of the step before the place."""


@dataclass(frozen=True, slots=True, eq=False)
class _Cut:
    """A curve cut at both ends of a range: the rows in between, and the points at the cuts twice each."""

    start: _Position
    end: _Position
    tp: FloatArray
    fp: FloatArray

    @classmethod
    def of(cls, table: ConfusionTable, part: PartialRange) -> "_Cut | None":
        """Cut a curve at the ends of a range of fpr, or of recall, and at `min_tpr`; None if nothing is left."""
        across, total = (table.tp, table.positives) if part.over == "recall" else (table.fp, table.negatives)
        start = max(
            _position(across, part.start * total, after=True),
            _position(table.tp, (part.min_tpr or 0.0) * table.positives, after=True),
        )
        end = _position(across, part.end * total, after=False)
        if start >= end:
            return None
        return cls(start, end, *(_cut_column(column, start, end) for column in (table.tp, table.fp)))

    def on_rows(self, influences: FloatArray, size: int) -> FloatArray:
        """The influences at the rows of the whole table, from those at the rows of the cut curve.

        A step that is cut has the mean of its pieces' influences.
        """
        (first, before), (last, inside) = self.start, self.end
        out = np.full(size, influences[1])
        out[first : last + 1] = influences[2:-1]
        out[last + 1 :] = influences[-1]
        out[first] += before * (influences[1] - influences[2])
        out[last] += (1 - inside) * (influences[-1] - influences[-2])
        return out


def _position(column: FloatArray, place: float, *, after: bool) -> _Position:
    """Where a rising column has a value: after all rows that have it, or before."""
    row = min(int(column.searchsorted(place, side="right" if after else "left")), column.size - 1)
    low, high = float(column[row - 1]), float(column[row])
    return row, min(max((place - low) / (high - low), 0.0), 1.0) if high > low else 1.0


def _cut_column(column: FloatArray, start: _Position, end: _Position) -> FloatArray:
    """A column between two places, and its value at either place twice."""
    low, high = (float(column[row - 1] + share * (column[row] - column[row - 1])) for row, share in (start, end))
    return np.concatenate(([low, low], column[start[0] : end[0]], [high, high]))


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
