"""The precision-recall view of a table, and the interpolation between its rows.

    targets   true positives at equal steps, or recall times P
    rows      the two around each target, by binary search
    between   them the counts move in a straight line, and precision does not

Knows the table only. Source: Davis & Goadrich 2006, section 4.
"""

from dataclasses import dataclass

import numpy as np

from service.curves.arrays import LARGEST_EXACT_INTEGER, FloatArray, IntArray, are_integers, blocks
from service.curves.clock import in_time, still_time
from service.curves.confusion import ConfusionTable
from service.curves.double_double import FloatPair, pair_product, pair_quotient, two_product, two_sum
from service.curves.errors import TooManyPoints
from service.curves.target_prevalence import TargetPrevalence

_POINTS_AT_ONCE = 1 << 12
"""Points between rows that are computed at once, in pairs of doubles: 0.5 µs each."""

_MOST_WHOLE_ROWS = 2_000
"""The most rows of a default curve at every integer tp; a longer curve has half as many, at equal steps."""


@dataclass(frozen=True, slots=True, eq=False)
class Every:
    """Interpolate at tp = 0, n, 2n, ..., P with n > 0; at 1, at every integer tp and every row (D&G's own)."""

    every: float


@dataclass(frozen=True, slots=True, eq=False)
class AtRecall:
    """Interpolate at these recalls, (n,) in [0, 1], in their order. A recall equal to a row's tp/P means that row."""

    at_recall: FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class PrCurve:
    """Points of a PR curve, as columns (n,): counts, and recall and precision in [0, 1]."""

    tp: FloatArray
    fp: FloatArray
    recall: FloatArray
    precision: FloatArray


def default_interpolation(table: ConfusionTable, limit: float) -> Every:
    """Choose every integer tp if P + rows <= 2,000, else the least whole step that gives at most 1,000 steps.

    A step of 1 would list all rows; if there are more than `limit`, the step is 2.
    """
    rows = table.positives + table.tp.size
    if rows <= _MOST_WHOLE_ROWS:
        return Every(1.0)
    step = table.positives / (_MOST_WHOLE_ROWS // 2)
    step = float(np.ceil(step)) if table.whole else step
    return Every(2.0 if step == 1 and rows > limit else step)


def curve_precision(table: ConfusionTable) -> FloatArray:
    """Precision per row of the PR curve; at the origin its limit along the first segment, tp_1/(tp_1 + fp_1)."""
    at_rows, origins = table.precision, table.origins
    return np.concatenate((np.full(origins, at_rows[origins]), at_rows[origins:]))


def interpolated_pr(table: ConfusionTable, interpolation: Every | AtRecall, limit: float) -> PrCurve:
    """Points on the PR curve of a sweep: straight in counts between its rows (D&G section 4).

    At a vertical step (rows of equal tp) a point takes the least fp; `Every(1)` lists the step's other rows too.
    Halfway from (tp, fp) = (5, 5) to (10, 30) is (7.5, 17.5), with precision 0.3. Raises TooManyPoints for more points
    than `limit`.
    """
    if isinstance(interpolation, AtRecall):
        _check_limit(interpolation.at_recall.size, limit)
        return _at_recall(table, interpolation.at_recall)
    if interpolation.every == 1:
        return _at_every_whole(table, limit)
    tp = _steps(table, interpolation.every, limit)
    return _at(table, (tp, np.zeros(tp.size)), tp / table.positives)


def _check_limit(points: float, limit: float) -> None:
    if points > limit:
        raise TooManyPoints(f"This interpolation has more points than the limit of {limit}.", "interpolation")


def _steps(table: ConfusionTable, every: float, limit: float) -> FloatArray:
    """Make 0, n, 2n, ... below P, and P."""
    every = min(every, table.positives)  # the spacing at the largest double would be infinite
    steps = table.positives / every
    _check_limit(steps + 1, limit)
    step = np.arange(np.ceil(steps) + 1)
    tp = step * every
    # A fractional step is rounded: a multiple that differs from P only by that rounding counts as P.
    whole = table.whole and every % 1 == 0
    slack = 0.0 if whole else (step * np.spacing(every) + np.spacing(table.positives)) / 2
    return np.append(tp[table.positives - tp > slack], table.positives)


def _at_every_whole(table: ConfusionTable, limit: float) -> PrCurve:
    """All rows, and all whole true positives strictly between two rows."""
    first = np.floor(table.tp[:-1]) + 1
    inside = np.ceil(table.tp[1:]) - first
    steps = (inside > 0).nonzero()[0]
    inside = inside[steps]
    _check_limit(table.tp.size + inside.sum(), limit)
    tp, fp, at_precision = table.tp, table.fp, curve_precision(table)
    if steps.size:
        gaps = inside.astype(np.int64)
        row = (steps + 1).repeat(gaps)
        more_tp = first.take(row - 1) + (np.arange(row.size) - (gaps.cumsum() - gaps).repeat(gaps))
        more_fp, more_precision = _between(table, row, (more_tp, np.zeros(row.size)))
        order = np.argsort(np.concatenate((np.arange(tp.size) + 0.5, row)), kind="stable")
        pairs = ((tp, more_tp), (fp, more_fp), (at_precision, more_precision))
        tp, fp, at_precision = (np.concatenate(pair)[order] for pair in pairs)
    return PrCurve(tp, fp, tp / table.positives, at_precision)


def _at_recall(table: ConfusionTable, recall: FloatArray) -> PrCurve:
    """One point per recall r: at the true positives of a row with recall r, if there is one, else at r · P."""
    rows_recall = table.tp / table.positives
    row = np.minimum(np.searchsorted(rows_recall, recall), table.tp.size - 1)
    is_row = rows_recall[row] == recall
    high, low = two_product(recall, np.full(recall.size, table.positives))
    return _at(table, (np.where(is_row, table.tp[row], high), np.where(is_row, 0.0, low)), recall)


def _at(table: ConfusionTable, target: FloatPair, recall: FloatArray) -> PrCurve:
    """One point per target tp (a pair), at the least fp of the curve there."""
    still_time()
    tp, low = target
    row = np.where(low > 0, np.searchsorted(table.tp, tp, side="right"), np.searchsorted(table.tp, tp))
    fp, at_precision = table.fp[row], curve_precision(table)[row]
    between = np.flatnonzero((table.tp[row] != tp) | (low != 0))
    fp[between], at_precision[between] = _between(table, row[between], (tp[between], low[between]))
    return PrCurve(tp, fp, recall, at_precision)


def _between(table: ConfusionTable, row: IntArray, target: FloatPair) -> tuple[FloatArray, FloatArray]:
    """The curve's fp and precision at true positives t strictly between rows A = row - 1 and B = row.

        fp = fp_A + (fp_B - fp_A)(t - tp_A)/(tp_B - tp_A),   precision = t/(t + fp)

    In doubles if these hold all products exactly, else in pairs of doubles.
    """
    tp_a, fp_a, tp_b, fp_b = (column[at] for at in (row - 1, row) for column in (table.tp, table.fp))
    if _are_small(table, target):
        growth = tp_b - tp_a
        missed, hit = fp_a * growth + (fp_b - fp_a) * (target[0] - tp_a), target[0] * growth
        if table.target is not None:
            return missed / growth, _precision_in_use(table.target, target[0], missed / growth)
        return missed / growth, hit / (hit + missed)
    parts = [
        _in_pairs(tp_a[some], fp_a[some], tp_b[some], fp_b[some], (target[0][some], target[1][some]))
        for some in in_time(blocks(row.size, _POINTS_AT_ONCE))
    ]
    fp, at_precision = np.concatenate(parts, axis=1)
    return fp, at_precision if table.target is None else _precision_in_use(table.target, target[0], fp)


def _precision_in_use(target: TargetPrevalence, tp: FloatArray, fp: FloatArray) -> FloatArray:
    """π tpr/(π tpr + (1 - π) fpr), of counts times a power of two that keeps both from underflow."""
    down = -np.frexp(np.maximum(tp, fp))[1]
    true = target.true(np.ldexp(tp, down))
    return true / (true + target.false(np.ldexp(fp, down)))


def _in_pairs(tp_a: FloatArray, fp_a: FloatArray, tp_b: FloatArray, fp_b: FloatArray, target: FloatPair) -> FloatPair:
    """The same in pairs of doubles."""
    step, error = two_sum(target[0], -tp_a)
    # Near 1, neither the product of two differences nor their quotient underflows.
    differences = two_sum(fp_b, -fp_a), two_sum(step, error + target[1]), two_sum(tp_b, -tp_a)
    (rise, shift), (part, shift_of_part), (whole, shift_of_whole) = map(_near_one, differences)
    shift += shift_of_part - shift_of_whole
    gain, gain_low = (np.ldexp(each, shift) for each in pair_quotient(pair_product(rise, part), whole))
    high, rest = two_sum(fp_a, gain)
    misses = two_sum(high, rest + gain_low)
    called, error = two_sum(target[0], misses[0])
    return misses[0], np.add(*pair_quotient(target, two_sum(called, error + (target[1] + misses[1]))))


def _near_one(numbers: FloatPair) -> tuple[FloatPair, IntArray]:
    """The numbers divided by powers of two, with the exponents of these, (n,)."""
    high, exponent = np.frexp(numbers[0])
    return (high, np.ldexp(numbers[1], -exponent)), exponent


def _are_small(table: ConfusionTable, target: FloatPair) -> bool:
    """Whether the table and the targets are whole, with products up to 2^53."""
    largest = table.positives * (table.positives + table.negatives)
    return table.whole and largest <= LARGEST_EXACT_INTEGER and not target[1].any() and are_integers(target[0])
