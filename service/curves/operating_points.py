"""Metrics at an operating point: a curve read at a recall, a precision or a rate, and the best row there.

    order    rows by recall, or by false positive rate
    find     the two rows around the place by binary search; rows are compared by the doubles that an answer reports
    between  them, tp and fp are linear; in Fractions that are rounded once, or in doubles, fast enough for resamples
    row      the best that meets the condition

Also the row of a deployed threshold. Knows evaluations, tables and indices; nothing of statistics.
Sources: Davis & Goadrich 2006, section 4, for what lies between two rows; Hanczar & Nadif 2014 for the indices.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from service.curves.arrays import LARGEST_DOUBLE, FloatArray
from service.curves.bounds import Arranged
from service.curves.clock import in_time
from service.curves.confusion import ConfusionTable, Evaluation
from service.curves.counts import Counts
from service.curves.envelope import Frontier, envelope, read_off
from service.curves.histogram import Histogram
from service.curves.indices import INDICES
from service.curves.roc import fpr, tpr
from service.curves.target_prevalence import TargetPrevalence


@dataclass(frozen=True, slots=True)
class OperatingPoint:
    """A metric and the place, in [0, 1], to read it at: a recall, a precision, a false positive rate, or a λ."""

    metric: str
    at: float


@dataclass(frozen=True, slots=True, eq=False)
class OperatingPoints:
    """Metrics at their places, as columns (n,) in the order requested; NaN where undefined.

    value               on the curve.
    threshold, tp, fp   of the best row that meets the condition.
    """

    metric: tuple[str, ...]
    at: FloatArray
    value: FloatArray
    threshold: FloatArray
    tp: FloatArray
    fp: FloatArray


def operating_points(table: ConfusionTable, points: Sequence[OperatingPoint]) -> OperatingPoints:
    """Read a table at operating points.

        metric                value                                      row
        precision_at_recall   of the PR curve at this recall             the greatest precision, then the greatest tp,
                                                                         among rows of recall ≥ at
        recall_at_precision   the greatest recall at which the PR        the greatest recall among rows of
                              curve has precision ≥ at                   precision ≥ at
        tpr_at_fpr            of the ROC curve at this rate; the top     the greatest tpr among rows of fpr ≤ at
                              of a vertical step
        an index              the greatest f(λ) of all rows              that row; at a breakpoint the one of more
                                                                         recall

    For the scores of `areas.roc_area`: precision at recall 0.9 is 2.7/3.7 = 0.730, recall at precision 0.9 is 2/3, and
    so is tpr at fpr 0.5.

    Ties go to the row of least fp, then to the first. The PR curve takes the least fp on a vertical step, and at the
    origin its precision is the limit along the first segment. A set of rows that is not a sweep has no curve, but it
    has indices.
    """
    metrics = tuple(point.metric for point in points)
    at = np.array([point.at for point in points], dtype=np.float64) + 0.0  # -0.0 is 0.0
    readings = _Readings(table)
    columns = np.full((4, len(points)), np.nan)
    for metric in dict.fromkeys(metrics):
        there = np.array([each == metric for each in metrics])
        read = readings.of_index if metric in INDICES else readings.of_curve
        columns[:, there] = read(metric, at[there])
    return OperatingPoints(metrics, at, *columns)


def value_of(metric: str, at: float, tp: FloatArray, fp: FloatArray, target: TargetPrevalence | None = None) -> float:
    """The value of a curve as in `operating_points`, in doubles, from the counts of a sweep.

    They run from (0, 0) to the totals. NaN where undefined.
    """
    totals = float(tp[-1]), float(fp[-1])
    of_totals = None if target is None else TargetPrevalence(target.share, *totals)
    table = ConfusionTable(np.empty(0), tp, fp, *totals, target=of_totals)
    return _ON_CURVES[metric].value(_View(table), at, float)


def row_at_threshold(table: ConfusionTable, evaluation: Evaluation | Arranged, threshold: float) -> int | None:
    """The row that calls positive what scores at or beyond a threshold; for counts, a row with this very threshold.

    None if counts list no such row or several different ones, or if the threshold lies inside a group. The greatest
    double also stands for infinity.
    """
    if isinstance(evaluation, Histogram) and evaluation.divided_by(np.array([threshold])).any():
        return None
    if not isinstance(evaluation, Counts):
        return int(table.rows_at(np.array([threshold]))[0])
    finite = np.clip(np.append(table.thresholds, threshold), -LARGEST_DOUBLE, LARGEST_DOUBLE)
    rows = np.flatnonzero(finite[:-1] == finite[-1])
    told = rows.size and not (np.ptp(table.tp[rows]) or np.ptp(table.fp[rows]))
    return int(rows[0]) if told else None


ReadNumber = Callable[[float], Any]
"""The type used for arithmetic: Fraction or float."""


@dataclass(frozen=True, eq=False)
class _View:
    """A table whose rows are ordered by one of its rates, with what is looked up in it, (n,) each."""

    table: ConfusionTable

    @cached_property
    def recall(self) -> FloatArray:
        return tpr(self.table)

    @cached_property
    def fpr(self) -> FloatArray:
        return fpr(self.table)

    @cached_property
    def precision_from_end(self) -> FloatArray:
        """From the last row backwards, the greatest precision so far."""
        best: FloatArray = np.fmax.accumulate(self.table.precision[::-1])
        return best

    @cached_property
    def tp_so_far(self) -> FloatArray:
        """The greatest tp up to each row."""
        return np.maximum.accumulate(self.table.tp)

    def last_of_precision(self, least: float) -> int:
        """The last row of this precision or more; -1 if there is none."""
        return self.recall.size - 1 - int(self.precision_from_end.searchsorted(least))

    def counts(self, row: int, number: ReadNumber) -> tuple[Any, Any]:
        """Read tp and fp of a row."""
        return number(self.table.tp[row]), number(self.table.fp[row])

    def in_use(self, row: int, number: ReadNumber) -> tuple[Any, Any]:
        """The same where the model is used."""
        return number(self.table.in_use.tp[row]), number(self.table.in_use.fp[row])


def _share(part: Any, whole: Any) -> Any:  # noqa: ANN401  # Fractions or doubles
    """The fraction part/whole of a segment, clipped: doubles may round beyond its ends."""
    return min(max(part / whole, 0), 1)


def _precision_at_recall(view: _View, recall: float, number: ReadNumber) -> float:
    """Precision t/(t + fp) of the PR curve at t = recall · P; fp is linear in t between two rows.

    A recall equal to the reported recall of a row means that row.
    """
    table = view.table
    row = int(view.recall.searchsorted(recall))
    after = float(table.precision[max(row, table.origins)])
    if view.recall[row] == recall:
        return after
    (tp_a, fp_a), (tp_b, fp_b) = view.in_use(row - 1, number), view.in_use(row, number)
    tp = number(recall) * number(table.in_use.positives)
    called = tp + fp_a + (fp_b - fp_a) * _share(tp - tp_a, tp_b - tp_a)
    return float(tp / called) if called else after  # doubles: the product may underflow next to the origin


def _recall_at_precision(view: _View, precision: float, number: ReadNumber) -> float:
    """The greatest recall at which the PR curve has this precision p or more; NaN where it never has.

    Precision is monotone between two rows, so the curve falls below p after the last row A with precision p or more,
    where t = p (t + fp) for fp linear in t. t - p (t + fp) is linear, too: with the values a and b at A and B, it is 0
    at the share a/(a - b) of the way. With precision = t/(m t + c), m = 1 + Δfp/Δtp, that is t = p c/(1 - p m).
    """
    table, row = view.table, view.last_of_precision(precision)
    if row < 0:
        return np.nan
    tp, fp = view.in_use(row, number)
    if row + 1 < table.tp.size:
        tp_b, fp_b = view.in_use(row + 1, number)
        least = number(precision)
        over, under = max(tp - least * (tp + fp), 0), max(least * (tp_b + fp_b) - tp_b, 0)
        if over:
            tp += (tp_b - tp) * _share(over, over + under)
    return float(tp / number(table.in_use.positives))


def _tpr_at_fpr(view: _View, rate: float, number: ReadNumber) -> float:
    """The greatest tpr of the ROC curve at this false positive rate; straight lines between rows."""
    table = view.table
    row = int(view.fpr.searchsorted(rate, side="right")) - 1
    tp, fp = view.counts(row, number)
    if view.fpr[row] != rate:
        tp_b, fp_b = view.counts(row + 1, number)
        tp += (tp_b - tp) * _share(number(rate) * number(table.negatives) - fp, fp_b - fp)
    return float(tp / number(table.positives))


def _best_of_recall(view: _View, recall: float) -> int:
    """Of rows ordered by recall, the one of greatest precision among those with this recall or more."""
    rows = view.recall.size - int(view.recall.searchsorted(recall))
    return view.last_of_precision(float(view.precision_from_end[rows - 1]))


@dataclass(frozen=True, slots=True)
class _OnCurve:
    """How a metric is read off a curve: its value, and its row (-1: none) with rows ordered by recall or fpr."""

    value: Callable[[_View, float, ReadNumber], float]
    row: Callable[[_View, float], int]
    by_recall: bool


_ON_CURVES = {
    "precision_at_recall": _OnCurve(_precision_at_recall, _best_of_recall, by_recall=True),
    "recall_at_precision": _OnCurve(_recall_at_precision, _View.last_of_precision, by_recall=True),
    "tpr_at_fpr": _OnCurve(
        _tpr_at_fpr, lambda view, rate: int(view.fpr.searchsorted(rate, side="right")) - 1, by_recall=False
    ),
}

METRICS = (*_ON_CURVES, *INDICES)
"""The metrics of operating points."""


@dataclass(frozen=True, eq=False)
class _Readings:
    """One table, and what is computed once to read it at many places."""

    table: ConfusionTable

    @cached_property
    def _by_fpr(self) -> _View:
        return _View(self.table)

    @cached_property
    def _by_recall(self) -> _View:
        if self.table.rises:
            return self._by_fpr
        return _View(self.table.select(np.lexsort((self.table.fp, self.table.tp))))

    @cached_property
    def _frontier(self) -> Frontier:
        return Frontier.of(self.table)

    def of_curve(self, metric: str, at: FloatArray) -> FloatArray:
        """A metric of a curve: value, threshold, tp and fp at each place, (4, n)."""
        on_curve = _ON_CURVES[metric]
        view = self._by_recall if on_curve.by_recall else self._by_fpr
        found = np.full((4, at.size), np.nan)
        for place, where in enumerate(in_time(at.tolist())):
            if self.table.rises:
                found[0, place] = on_curve.value(view, where, Fraction)
            row = on_curve.row(view, where)
            if row >= 0:
                row = int(view.tp_so_far.searchsorted(view.tp_so_far[row]))
                found[1:, place] = view.table.thresholds[row], view.table.tp[row], view.table.fp[row]
        return found

    def of_index(self, metric: str, at: FloatArray) -> FloatArray:
        """An index: value, threshold, tp and fp at each λ, (4, n)."""
        frontier, index = self._frontier, INDICES[metric]
        rows, value = read_off(frontier, index, envelope(frontier, index), at)
        table = frontier.table.select(rows)
        return np.stack((value, table.thresholds, table.tp, table.fp))
