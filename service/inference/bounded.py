"""Curves and intervals of open groups: everything is computed twice, for the best and for the worst order.

    best     in each group, all positives before all negatives: the greatest value of every metric
    worst    in each group, all negatives before all positives: the least
    value    halfway between the two, with both as its bounds; an interval goes from the lower end at worst to the upper
             end at best

Knows the two arrangements of groups, and what is read off each; nothing of how either is made.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from service.curves.areas import Areas
from service.curves.arrays import FloatArray
from service.curves.bounds import Arranged, Enclosure, best_and_worst, between
from service.curves.confusion import Evaluation
from service.curves.errors import NeedsExactGroups
from service.curves.evaluation import Curves, CurvesOptions, CurvesWarning
from service.curves.histogram import Histogram
from service.curves.operating_points import OperatingPoint, OperatingPoints, operating_points
from service.curves.partial_areas import PartialAreas, PartialRange, partial_areas
from service.inference.estimates import Estimates
from service.inference.intervals import Interval, IntervalOptions
from service.inference.metric import Metric
from service.inference.models import Models

BOUNDED = CurvesWarning(
    "bounded",
    "The order of the examples in some groups is unknown: values are halfway between the bounds given with them, and "
    "all tables have only the rows at the ends of groups.",
)
_OF_SINGLE_SCORES = ("calibration", "statistics")


def extremes(evaluation: Evaluation) -> tuple[Evaluation | Arranged, Evaluation | Arranged]:
    """The worst and the best order of open groups, in this order; of any other evaluation, itself twice."""
    if not isinstance(evaluation, Histogram) or evaluation.is_exact:
        return evaluation, evaluation
    best, worst = best_and_worst(evaluation)
    return worst, best


@dataclass(frozen=True, slots=True, eq=False)
class BoundedPoints(OperatingPoints):
    """Operating points with the bounds of their values, (n,); `threshold`, tp and fp are of a row at a group's end."""

    value_lower: FloatArray
    value_upper: FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class BoundedParts(PartialAreas):
    """Areas of parts of curves with the bounds of area and mean, (n,)."""

    area_lower: FloatArray
    area_upper: FloatArray
    mean_lower: FloatArray
    mean_upper: FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class BoundedCurves:
    """What open groups add to the curves of the rows at their ends."""

    bounds: dict[str, Enclosure | None]
    intervals: Mapping[Metric, Interval | None] | None
    warnings: tuple[CurvesWarning, ...]


def has_bounds(evaluation: Evaluation, options: CurvesOptions) -> bool:
    """Whether an evaluation gives bounds only: it has open groups, and is not cut at thresholds between groups.

    Raises NeedsExactGroups for a threshold or a result that open groups do not determine.
    """
    if not isinstance(evaluation, Histogram) or evaluation.is_exact:
        return False
    for name in _OF_SINGLE_SCORES:
        if name in options.include:
            raise NeedsExactGroups(f"{name} needs groups of one score each: score_from must equal score_to.", "include")
    for name in ("costs", "tuning", "reliability", "gains", "net_benefit"):
        if getattr(options, name) is not None:
            raise NeedsExactGroups(f"{name} needs groups of one score each: score_from must equal score_to.", name)
    if options.thresholds is None:
        return True
    divided = evaluation.divided_by(options.thresholds)
    if divided.any():
        row = int(divided.argmax())
        threshold = options.thresholds[row].item()
        detail = f"{threshold!r} lies inside a group; counts are known only at its ends."
        raise NeedsExactGroups(detail, "thresholds", row)
    return False


def bound_curves(
    curves: Curves,
    groups: Histogram,
    options: CurvesOptions,
    metrics: Sequence[Metric],
    intervals: IntervalOptions | None,
) -> BoundedCurves:
    """Return all bounds, and replace the values in `curves`, which come from the rows at the ends of groups.

    Each is replaced by the middle of its bounds. `metrics` get intervals, if these are requested.
    """
    best, worst = best_and_worst(groups)
    bounds = between(worst.areas, best.areas)
    if curves.auc is not None:
        curves.auc = Areas(**{name: each and each.middle for name, each in bounds.items()})  # type: ignore[arg-type]  # hulls have bounds
    if curves.operating_points is not None:
        curves.operating_points = _points(curves.operating_points, options.operating_points, (worst, best))
    if curves.partial is not None:
        curves.partial = _parts(options.partial, (worst, best))
    found, warnings = None, [BOUNDED]
    if intervals is not None:
        found, more = _intervals((worst, best), metrics, intervals)
        warnings += more
    return BoundedCurves(bounds, found, tuple(dict.fromkeys(warnings)))


def _points(known: OperatingPoints, asked: Sequence[OperatingPoint], orders: Sequence[Arranged]) -> BoundedPoints:
    one, other = (operating_points(each.table, asked).value for each in orders)
    lower, upper = np.minimum(one, other), np.maximum(one, other)
    return BoundedPoints(
        known.metric, known.at, _middle(lower, upper), known.threshold, known.tp, known.fp, lower, upper
    )


def _parts(asked: Sequence[PartialRange], orders: Sequence[Arranged]) -> BoundedParts:
    worst, best = (partial_areas(each.table, asked) for each in orders)
    return BoundedParts(
        worst.ranges,
        _middle(worst.area, best.area),
        _middle(worst.mean, best.mean),
        _middle(worst.mcclish, best.mcclish),
        worst.area,
        best.area,
        worst.mean,
        best.mean,
    )


def _middle(lower: FloatArray, upper: FloatArray) -> FloatArray:
    return lower / 2 + upper / 2


def _intervals(
    orders: Sequence[Arranged], metrics: Sequence[Metric], options: IntervalOptions
) -> tuple[dict[Metric, Interval | None], tuple[CurvesWarning, ...]]:
    """The intervals of metrics, from the lower end at worst to the upper end at best; without a standard error."""
    worst, best = (Estimates(Models.of(each), options, [(metric, None) for metric in metrics]) for each in orders)
    found = {metric: spanning(*(each.interval(metric, options.level) for each in (worst, best))) for metric in metrics}
    return found, worst.warnings + best.warnings


def spanning(one: Interval | None, other: Interval | None) -> Interval | None:
    """The least interval that includes two of equal level, without a standard error; None if either is None."""
    if one is None or other is None:
        return None
    return Interval(min(one.lower, other.lower), max(one.upper, other.upper), one.level, one.method, None)
