"""A sample in slices, such as one for each country: the operation behind `POST /v1/slices`.

    1. Rows are ordered by slice; one call of the sweep gives the areas of all slices.
    2. Intervals and operating points need the table of each slice, which is made when it is needed.
    3. A slice of one class has no areas, but a reason.

Knows the curves, the areas of slices and the intervals; nothing of how any is computed, nor of wire formats.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
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
from service.curves.evaluation import CurvesOptions, CurvesWarning
from service.curves.histogram import Histogram
from service.curves.operating_points import OperatingPoint, OperatingPoints, operating_points
from service.curves.sample import Sample
from service.curves.slicing import rows_by_slice, slice_samples, sliced_areas
from service.inference.curves_with_intervals import EvaluatedCurves, evaluate_with_intervals
from service.inference.estimates import Estimates
from service.inference.intervals import IntervalOptions
from service.inference.metric import AREAS_WITH_INTERVALS, Metric
from service.inference.models import EvaluatedModel, Models

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
class Sliced:
    """The answer: the whole sample, and each slice, by column.

    rows               (s,) how many rows each slice has: its examples, or its groups if these are sums of weights.
    intervals          {area: the lower and the upper end for each slice}, NaN if it has none; None if not requested.
    operating_points   k of each slice, slice after slice, (s k,); None if not requested.
    """

    overall: EvaluatedCurves
    keys: Mapping[str, Sequence[bool | int | str | None]]
    rows: IntArray
    areas: AreaColumns
    intervals: Mapping[str, tuple[FloatArray, FloatArray]] | None
    operating_points: OperatingPoints | None
    warnings: tuple[CurvesWarning, ...]


def evaluate_slices(
    sample: Sample | Histogram,
    slicing: Slicing,
    points: Sequence[OperatingPoint] = (),
    intervals: IntervalOptions | None = None,
) -> Sliced:
    """Evaluate a sample, or exact groups, as a whole and in slices, each exactly as if that slice were all there is.

    A slice of one class has NaN and a reason. `intervals` take methods in closed form only, no resampling.
    """
    options = CurvesOptions(include=frozenset({"auc"}), operating_points=points)
    whole = sample.merged() if isinstance(sample, Histogram) else sample
    overall = evaluate_with_intervals(whole, options, intervals)
    order, bounds = rows_by_slice(slicing.numbers, slicing.count)
    areas, tables, parts = _in_slices(sample, slicing.numbers, order, bounds)
    found, read, warnings = None, None, list(overall.warnings)
    if points or intervals:
        found, read, more = _each(tables, parts, areas, points, intervals)
        warnings += more
    what = "areas, intervals or operating points" if points or intervals else "areas"
    if detail := without_areas(areas.reason, "slices", what):
        warnings.append(CurvesWarning("undefined_slices", detail))
    unique = tuple(dict.fromkeys(warnings))
    rows = bounds[1:] - bounds[:-1]
    if isinstance(whole, Histogram) and whole.is_counted:
        rows = (areas.positives + areas.negatives).astype(np.int64)
    return Sliced(overall, slicing.keys, rows, areas, found, read, unique)


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


def _each(
    tables: Iterable[ConfusionTable | None],
    samples: Iterable[Evaluation | Undefined],
    areas: AreaColumns,
    points: Sequence[OperatingPoint],
    options: IntervalOptions | None,
) -> tuple[dict[str, tuple[FloatArray, FloatArray]] | None, OperatingPoints | None, list[CurvesWarning]]:
    """Compute the ends of intervals and the operating points of every slice."""
    count = areas.positives.size
    ends = {metric.name: (np.full(count, np.nan), np.full(count, np.nan)) for metric in _METRICS}
    columns = np.full((4, count, len(points)), np.nan)
    warnings: dict[CurvesWarning, None] = {}
    for number, (table, part) in enumerate(in_time(zip(tables, samples, strict=True))):
        if table is None or isinstance(part, Undefined):
            continue
        if points:
            read = operating_points(table, points)
            columns[:, number] = read.value, read.threshold, read.tp, read.fp
        if options is not None:
            model = EvaluatedModel(part, table, known=_of(areas, number))
            estimates = Estimates(Models((model,)), options)
            for metric in _METRICS:
                interval = estimates.interval(metric, options.level)
                if interval is not None:
                    ends[metric.name][0][number], ends[metric.name][1][number] = interval.lower, interval.upper
            warnings |= dict.fromkeys(estimates.warnings)
    read_points = None
    if points:
        names, at = tuple(point.metric for point in points), np.array([point.at for point in points]) + 0.0
        read_points = OperatingPoints(names * count, np.tile(at, count), *columns.reshape(4, -1))
    return (None if options is None else ends), read_points, list(warnings)


def _of(areas: AreaColumns, number: int) -> Areas:
    known = {name: float(getattr(areas, name)[number]) for name in SHARED_AREAS}
    return Areas(**(dict.fromkeys(Areas.__slots__) | known))  # type: ignore[arg-type]  # hulls are shared
