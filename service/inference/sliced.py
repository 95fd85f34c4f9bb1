"""A sample in slices, such as one for each country: the operation behind `POST /v1/slices`.

    1. Rows are ordered by slice; one call of the sweep gives the areas of all slices.
    2. Decisions are made on all rows; what their thresholds call positive is counted in all slices at once.
    3. Intervals and operating points need the table of each slice, which is made when it is needed.
    4. A slice of one class has no areas, but a reason.

Knows the curves, the areas of slices and the intervals; nothing of how any is computed, nor of wire formats.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, tee

import numpy as np

from service.curves.area_columns import (
    SHARED_AREAS,
    AreaColumns,
    Undefined,
    areas_of_each,
    groups_or_reason,
    without_areas,
)
from service.curves.areas import Areas
from service.curves.arrays import FloatArray, IntArray
from service.curves.clock import in_time
from service.curves.confusion import ConfusionTable, Evaluation
from service.curves.decisions import Decided, Decision
from service.curves.errors import plain
from service.curves.evaluation import CurvesOptions, CurvesWarning
from service.curves.histogram import Histogram
from service.curves.operating_points import OperatingPoint, OperatingPoints, operating_points
from service.curves.sample import Sample
from service.curves.sliced_decisions import decided_in_slices
from service.curves.slicing import rows_by_slice, slice_samples, sliced_areas
from service.curves.target_prevalence import FEWEST_STAND_INS, TargetPrevalence
from service.inference.adjusted import adjusted_interval
from service.inference.curves_with_intervals import EvaluatedCurves, evaluate_with_intervals
from service.inference.decision_intervals import rows_applied, score_ends, shares_at
from service.inference.estimates import Estimates
from service.inference.intervals import Interval, IntervalOptions
from service.inference.metric import AREAS_WITH_INTERVALS, Metric
from service.inference.models import SHARES_OF_A_ROW, EvaluatedModel, Models

_METRICS = tuple(Metric(name) for name in AREAS_WITH_INTERVALS)


@dataclass(frozen=True, slots=True, eq=False)
class Slicing:
    """The division of n rows into s slices.

    numbers   (n,) the slice of each row, from 0; every slice has a row.
    keys      {name: the value of each slice}, (s,) each; None if rows have no value.
    """

    numbers: IntArray
    keys: Mapping[str, Sequence[bool | int | str | None]]

    @property
    def count(self) -> int:
        """How many slices there are, s."""
        return len(next(iter(self.keys.values())))


@dataclass(frozen=True, slots=True, eq=False)
class RowsInSlices:
    """The slices of an evaluation and, if its rows are others, those of its baseline."""

    evaluation: Slicing
    baseline: Slicing | None = None


@dataclass(frozen=True, slots=True)
class SliceOptions:
    """What to read off each slice besides its areas.

    intervals   by methods in closed form only, no resampling.
    decisions   made on all rows, and applied in each slice.
    metrics     of the decisions; None for the usual ones.
    """

    points: Sequence[OperatingPoint] = ()
    intervals: IntervalOptions | None = None
    decisions: Sequence[Decision] = ()
    metrics: frozenset[str] | None = None

    @property
    def need_tables(self) -> bool:
        """Whether the table of each slice is needed."""
        return bool(self.points) or self.intervals is not None


@dataclass(frozen=True, slots=True, eq=False)
class Sliced:
    """The answer: the whole sample, and each slice, by column.

    rows               (s,) how many rows each slice has: its examples, or its groups if these are sums of weights.
    intervals          {area: the lower and the upper end for each slice}, NaN if it has none; None if not requested.
    worst              {area: the interval of the least true value of all slices that have one}; None if not requested.
    operating_points   k of each slice, slice after slice, (s k,); None if not requested.
    decisions          likewise.
    """

    overall: EvaluatedCurves
    keys: Mapping[str, Sequence[bool | int | str | None]]
    rows: IntArray
    areas: AreaColumns
    intervals: Mapping[str, tuple[FloatArray, FloatArray]] | None
    worst: Mapping[str, Interval] | None
    operating_points: OperatingPoints | None
    decisions: Decided | None
    warnings: tuple[CurvesWarning, ...]


def evaluate_slices(sample: Sample | Histogram, slicing: Slicing, options: SliceOptions | None = None) -> Sliced:
    """Evaluate a sample, or exact groups, as a whole and in slices, each exactly as if that slice were all there is.

    A slice of one class has NaN and a reason, but those metrics of decisions that are defined.
    """
    options = options or SliceOptions()
    of_all = CurvesOptions(
        include=frozenset({"auc"}),
        operating_points=options.points,
        decisions=options.decisions,
        metrics=options.metrics,
    )
    whole = sample.merged() if isinstance(sample, Histogram) else sample
    overall = evaluate_with_intervals(whole, of_all, options.intervals, tunable=False)
    order, bounds = rows_by_slice(slicing.numbers, slicing.count)
    target = None if sample.target is None else sample.target.of(overall.positives, overall.negatives)
    sample = replace(sample, target=target)
    areas, tables, parts = _in_slices(sample, slicing.numbers, order, bounds)
    chosen, decided = overall.curves.decisions, None
    if chosen is not None:
        decided = decided_in_slices(chosen, sample, slicing.numbers, areas, target)
    judged = sum(reason is None for reason in areas.reason)
    read, warnings = _ReadSlices(slicing.count, options, judged), list(overall.warnings)
    if options.need_tables:
        for number, (table, part) in enumerate(in_time(zip(tables, parts, strict=True))):
            if table is not None and not isinstance(part, Undefined):
                read.add(number, EvaluatedModel(part, table, known=_of(areas, number)), chosen)
        warnings += read.warnings
    what = "areas, intervals or operating points" if options.need_tables else "areas"
    if detail := without_areas(areas.reason, "slices", what):
        warnings.append(CurvesWarning("undefined_slices", detail))
    if target is not None:
        warnings += _far_slices(areas, target)
    unique = tuple(dict.fromkeys(warnings))
    rows = bounds[1:] - bounds[:-1]
    if isinstance(whole, Histogram) and whole.is_counted:
        rows = (areas.positives + areas.negatives).astype(np.int64)
    if decided is not None and options.intervals is not None:
        decided = read.with_ends(decided, areas, options.intervals.level, target)
    intervals, worst = (None, None) if options.intervals is None else (read.ends, read.worst)
    return Sliced(overall, slicing.keys, rows, areas, intervals, worst, read.operating_points, decided, unique)


def _far_slices(areas: AreaColumns, target: TargetPrevalence) -> Iterator[CurvesWarning]:
    """Say how many slices with areas have too few negatives for the target, if any.

    Their own P' positives are as many as N' negatives stand for, once each counts what it does in all rows.
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        there = areas.negatives * target.true(areas.positives) / target.false(areas.negatives)
    has_areas = np.array([reason is None for reason in areas.reason])
    far = int(np.count_nonzero((there < FEWEST_STAND_INS) & has_areas))
    if far:
        detail = (
            f"In {far} of {there.size} slices the negatives stand for fewer than {FEWEST_STAND_INS} positives at "
            f"prevalence {plain(target.share)}: pr, pr_achievable and average_precision are likely too high there."
        )
        yield CurvesWarning("far_prevalence", detail)


def _in_slices(
    sample: Sample | Histogram, numbers: IntArray, order: IntArray, bounds: IntArray
) -> tuple[AreaColumns, Iterable[ConfusionTable | None], Iterable[Evaluation | Undefined]]:
    """The areas of slices, with their tables and the slices themselves, each of which is made when it is needed."""
    if isinstance(sample, Histogram):
        given = [groups_or_reason(sample.take(order[start:stop])) for start, stop in in_time(pairwise(bounds.tolist()))]
        return *areas_of_each(given, len(given)), given
    areas = sliced_areas(sample, numbers, order, bounds)
    parts, again = tee(slice_samples(sample, order, bounds))
    tables = (None if isinstance(part, Undefined) else ConfusionTable.from_sample(part) for part in again)
    return areas, tables, parts


class _ReadSlices:
    """What is read off the tables of s slices, one after another.

    ends       {area: the lower and the upper end of each slice's interval}, (s,) each.
    worst      {area: the interval of the least true value}, as of a rule of a gate over slices of which so many are
               `judged`; its upper end is computed only where it may be the least.
    points     value, threshold, tp and fp of each slice's operating points, (4, s, k).
    shares     of `shares_at`, at the decisions of each slice, (7, s, d).
    """

    def __init__(self, count: int, options: SliceOptions, judged: int) -> None:
        self._options = options
        self._judged = judged
        self.worst: dict[str, Interval] = {}
        self.ends = {metric.name: (np.full(count, np.nan), np.full(count, np.nan)) for metric in _METRICS}
        self.points = np.full((4, count, len(options.points)), np.nan)
        self.shares = np.full((SHARES_OF_A_ROW, count, len(options.decisions)), np.nan)
        self._warnings: dict[CurvesWarning, None] = {}

    @property
    def warnings(self) -> list[CurvesWarning]:
        """Each of them once."""
        return list(self._warnings)

    @property
    def operating_points(self) -> OperatingPoints | None:
        """Those of all slices, slice after slice; None if there are none."""
        points, count = self._options.points, self.points.shape[1]
        if not points:
            return None
        names, at = tuple(point.metric for point in points), np.array([point.at for point in points]) + 0.0
        return OperatingPoints(names * count, np.tile(at, count), *self.points.reshape(4, -1))

    def add(self, number: int, model: EvaluatedModel, chosen: Decided | None) -> None:
        """Read a slice; `chosen` are the decisions on all rows."""
        if self._options.points:
            read = operating_points(model.table, self._options.points)
            self.points[:, number] = read.value, read.threshold, read.tp, read.fp
        if self._options.intervals is None:
            return
        estimates = Estimates(Models((model,)), self._options.intervals)
        for metric in _METRICS:
            interval = estimates.interval(metric, self._options.intervals.level)
            if interval is not None:
                self.ends[metric.name][0][number], self.ends[metric.name][1][number] = interval.lower, interval.upper
                self.worst[metric.name] = self._worse(metric, model, interval)
        self._warnings |= dict.fromkeys(told for told in estimates.warnings if told.code != "far_prevalence")
        if chosen is not None:
            self.shares[:, number] = shares_at(model, rows_applied(model.table, chosen, self._options.decisions))

    def _worse(self, metric: Metric, model: EvaluatedModel, interval: Interval) -> Interval:
        """The interval of the least true value, with one slice more, whose own interval is given."""
        known = self.worst.get(metric.name)
        lower, upper = (interval.lower, 1.0) if known is None else (min(known.lower, interval.lower), known.upper)
        value = model.value(metric)
        if interval.upper < upper and value is not None:
            level = min(1 - (1 - interval.level) / self._judged, math.nextafter(1, 0))
            wide = adjusted_interval(Models((model,)), metric, [value], level, interval.method)
            upper = upper if wide is None else min(upper, wide.upper)
        return Interval(lower, upper, interval.level, interval.method, None)

    def with_ends(self, decided: Decided, areas: AreaColumns, level: float, target: TargetPrevalence | None) -> Decided:
        """Add the ends of the intervals of decisions in slices."""
        each = len(self._options.decisions)
        totals = np.repeat(areas.positives, each), np.repeat(areas.negatives, each)
        shares = self.shares.reshape(SHARES_OF_A_ROW, -1)
        return replace(decided, ends=score_ends(decided.metrics, shares, *totals, level=level, target=target))


def _of(areas: AreaColumns, number: int) -> Areas:
    known = {name: float(getattr(areas, name)[number]) for name in SHARED_AREAS}
    return Areas(**(dict.fromkeys(Areas.__slots__) | known))  # type: ignore[arg-type]  # hulls are shared
