"""The precision-recall view of a table, and the interpolation between its rows.

Between two rows the counts move in a straight line and precision does not (Davis & Goadrich 2006, section 4). Knows the
table only.
"""

from dataclasses import dataclass

import numpy as np

from service.curves.confusion import ConfusionTable
from service.curves.errors import TooManyPoints
from service.curves.exact import (
    LARGEST_EXACT_INTEGER,
    FloatArray,
    IntArray,
    Pair,
    pair_product,
    pair_quotient,
    two_product,
    two_sum,
)

_MANY = 2_000
"""The default interpolation keeps to this many rows at every whole true positive, or to half as many at a step."""


@dataclass(frozen=True, slots=True, eq=False)
class Every:
    """Interpolate at tp = 0, n, 2n, ..., P; at 1, at every whole true positive and every row (D&G's own)."""

    every: float


@dataclass(frozen=True, slots=True, eq=False)
class AtRecall:
    """Interpolate at these recalls, in their order. One that is a row's recall tp/P means that row."""

    at_recall: FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class PrCurve:
    """Points of a PR curve, as columns of equal length."""

    tp: FloatArray
    fp: FloatArray
    recall: FloatArray
    precision: FloatArray


def default_interpolation(table: ConfusionTable) -> Every:
    """Choose every whole true positive while P + rows <= 2,000, else the least (whole) step of at most 1,000 steps."""
    if table.positives + table.tp.size <= _MANY:
        return Every(1.0)
    step = table.positives / (_MANY // 2)
    return Every(float(np.ceil(step)) if table.whole else step)


def precision(table: ConfusionTable) -> FloatArray:
    """Precision tp/(tp + fp) per row; NaN where nothing is called positive."""
    called = table.tp + table.fp
    out: FloatArray = np.divide(table.tp, called, out=np.full(called.size, np.nan), where=called > 0)
    if table.whole:
        for row in np.flatnonzero(called > LARGEST_EXACT_INTEGER):
            out[row] = int(table.tp[row]) / (int(table.tp[row]) + int(table.fp[row]))
    return out


def curve_precision(table: ConfusionTable) -> FloatArray:
    """Precision per row as the PR curve has it: at the origin its limit along the first segment, tp_1/(tp_1 + fp_1)."""
    out = precision(table)
    origin = np.isnan(out)
    out[origin] = out[np.argmin(origin)]
    return out


def interpolated_pr(table: ConfusionTable, interpolation: Every | AtRecall, limit: int) -> PrCurve:
    """Points on the PR curve of a sweep: straight in counts between its rows (D&G section 4).

    At a vertical step (rows of equal tp) a point takes the least fp; `Every(1)` lists the step's other rows too.
    Raises TooManyPoints when there would be more than `limit`.
    """
    if isinstance(interpolation, AtRecall):
        _check_limit(interpolation.at_recall.size, limit)
        return _at(table, *_targets(table, interpolation.at_recall))
    if interpolation.every == 1:
        return _every_whole(table, limit)
    steps = table.positives / interpolation.every
    _check_limit(steps + 1, limit)
    step = np.arange(np.ceil(steps) + 1)
    tp = step * interpolation.every
    # A fractional step was rounded: its multiple that is P but for that rounding is P, not a sliver before it.
    slack = 0.0 if table.whole and interpolation.every % 1 == 0 else step * np.spacing(interpolation.every) / 2
    tp = np.append(tp[table.positives - tp > slack], table.positives)
    return _at(table, (tp, np.zeros(tp.size)), tp / table.positives)


def _check_limit(points: float, limit: int) -> None:
    if points > limit:
        raise TooManyPoints(f"This interpolation has more points than the limit, {limit}.")


def _targets(table: ConfusionTable, recall: FloatArray) -> tuple[Pair, FloatArray]:
    """The true positives r · P, exactly, but for a recall that is a row's: that row's."""
    high, low = two_product(recall, np.full(recall.size, table.positives))
    rows_recall = table.tp / table.positives
    row = np.minimum(np.searchsorted(rows_recall, recall), table.tp.size - 1)
    is_row = rows_recall[row] == recall
    return (np.where(is_row, table.tp[row], high), np.where(is_row, 0.0, low)), recall


def _at(table: ConfusionTable, target: Pair, recall: FloatArray) -> PrCurve:
    """One point per target tp (a pair), at the least fp that the curve has there."""
    tp, low = target
    row = np.where(low > 0, np.searchsorted(table.tp, tp, side="right"), np.searchsorted(table.tp, tp, side="left"))
    fp, at_precision = table.fp[row], curve_precision(table)[row]
    between = np.flatnonzero((table.tp[row] != tp) | (low != 0))
    fp[between], at_precision[between] = _between(table, row[between], (tp[between], low[between]))
    return PrCurve(tp, fp, recall, at_precision)


def _every_whole(table: ConfusionTable, limit: int) -> PrCurve:
    """All rows, and all whole true positives strictly between two rows."""
    first = np.floor(table.tp[:-1]) + 1
    inside = np.maximum(np.ceil(table.tp[1:]) - first, 0.0)
    _check_limit(table.tp.size + inside.sum(), limit)
    gaps = inside.astype(np.int64)
    row = np.repeat(np.arange(1, table.tp.size), gaps)
    tp = first[row - 1] + (np.arange(row.size) - np.repeat(np.cumsum(gaps) - gaps, gaps))
    fp, at_precision = _between(table, row, (tp, np.zeros(tp.size)))
    order = np.argsort(np.concatenate((np.arange(table.tp.size) + 0.5, row)), kind="stable")
    tp = np.concatenate((table.tp, tp))[order]
    return PrCurve(
        tp,
        np.concatenate((table.fp, fp))[order],
        tp / table.positives,
        np.concatenate((curve_precision(table), at_precision))[order],
    )


def _between(table: ConfusionTable, row: IntArray, target: Pair) -> tuple[FloatArray, FloatArray]:
    """The curve's fp and precision at true positives strictly between rows `row - 1` and `row`.

        fp = fp_A + (fp_B - fp_A)(t - tp_A)/(tp_B - tp_A),   precision = t/(t + fp)

    Whole tables are worked in integers and rounded once; others in pairs of doubles, far within an ulp.
    """
    tp_a, fp_a, tp_b, fp_b = table.tp[row - 1], table.fp[row - 1], table.tp[row], table.fp[row]
    if table.whole:
        points = [
            _whole_between(*values) for values in zip(tp_a, fp_a, tp_b, fp_b, zip(*target, strict=True), strict=True)
        ]
        fp, at_precision = np.array(points, dtype=np.float64).reshape(-1, 2).T
        return fp, at_precision
    step, error = two_sum(target[0], -tp_a)
    share = pair_quotient(two_sum(step, error + target[1]), two_sum(tp_b, -tp_a))
    gain, gain_low = pair_product(two_sum(fp_b, -fp_a), share)
    high, low = two_sum(fp_a, gain)
    fp_pair = two_sum(high, low + gain_low)
    called, error = two_sum(target[0], fp_pair[0])
    called_pair = two_sum(called, error + (target[1] + fp_pair[1]))
    return fp_pair[0], np.add(*pair_quotient(target, called_pair))


def _whole_between(
    tp_a: float, fp_a: float, tp_b: float, fp_b: float, target: tuple[float, float]
) -> tuple[float, float]:
    """The same for one target between whole rows, each result rounded once."""
    numerator, scale = _ratio(*target)
    climb = int(tp_b - tp_a)
    fp = int(fp_a) * climb * scale + int(fp_b - fp_a) * (numerator - int(tp_a) * scale)
    return fp / (climb * scale), numerator * climb / (numerator * climb + fp)


def _ratio(high: float, low: float) -> tuple[int, int]:
    """The exact high + low as an integer over a power of two."""
    (n, d), (m, e) = high.as_integer_ratio(), low.as_integer_ratio()
    scale = max(d, e)
    return n * (scale // d) + m * (scale // e), scale
