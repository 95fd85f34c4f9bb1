"""One evaluation with confidence intervals: the operation behind `POST /v1/curves`.

    build the table and its hull, and read the curves off them
    read off what a picture draws, if one is wanted
    find the bounds, if there are open groups, and intervals and bands, if they are wanted

Knows the curves and the intervals, not how they are computed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from service.curves.areas import areas
from service.curves.arrays import FloatArray
from service.curves.bounds import Enclosure
from service.curves.clusters import ClusterCounts
from service.curves.confusion import Evaluation
from service.curves.counts import Counts
from service.curves.drawing import CurvesDrawing, DrawingOptions, curves_drawing
from service.curves.errors import NeedsExactGroups, enumerated, joined
from service.curves.evaluation import (
    Curves,
    CurvesOptions,
    CurvesWarning,
    Tables,
    below_chance,
    curves_of,
    one_vs_rest,
)
from service.curves.histogram import Histogram
from service.curves.sample import Sample
from service.inference.bands import BandOptions, Bands, bands
from service.inference.bounded import bound_curves, has_bounds
from service.inference.decision_intervals import net_benefit_ends, point_ends, with_intervals
from service.inference.estimates import Estimates, far_prevalence, omitted
from service.inference.intervals import Interval, IntervalOptions
from service.inference.metric import AREAS_WITH_INTERVALS, PARTIAL, POINTS_WITH_INTERVALS, Metric
from service.inference.models import EvaluatedModel, Models
from service.inference.probability_errors import bin_ends, ece_if_calibrated, statistic_intervals, without_spread


@dataclass(frozen=True, slots=True, eq=False)
class EvaluatedCurves:
    """The answer: the curves, and the intervals of areas if requested; None for an area without one.

    warnings  those of the curves, and those of the intervals.
    drawing   what a picture draws, if one was requested.
    bounds    the bounds of every area, if there are open groups.
    net_benefit_ends  those of net benefits, if intervals were requested.
    bin_ends  the ends of the intervals of the bins of `reliability`; None if the number of examples is unknown.
    bands     those of the curves, if they were requested.
    of_points, of_parts  the intervals of operating points, and of the means of parts, in the order requested.
    clusters  how many there are; None if all rows are independent.
    target    the prevalence where the model is used, if it was given.
    """

    curves: Curves
    warnings: tuple[CurvesWarning, ...]
    intervals: Mapping[str, Interval | None] | None = None
    drawing: CurvesDrawing | None = None
    bounds: dict[str, Enclosure | None] | None = None
    bin_ends: tuple[FloatArray, FloatArray] | None = None
    net_benefit_ends: tuple[FloatArray, FloatArray] | None = None
    bands: Bands | None = None
    of_points: Sequence[Interval | None] | None = None
    of_parts: Sequence[Interval | None] | None = None
    clusters: ClusterCounts | None = None
    target: float | None = None

    @property
    def positives(self) -> float:
        """The total P."""
        return self.curves.positives

    @property
    def negatives(self) -> float:
        """The total N."""
        return self.curves.negatives

    @property
    def prevalence(self) -> float:
        """The share of positives where the model is used, or P/(P + N)."""
        return self.target or self.positives / (self.positives + self.negatives)


def evaluate_with_intervals(
    evaluation: Evaluation,
    options: CurvesOptions,
    intervals: IntervalOptions | None = None,
    drawn: DrawingOptions | None = None,
    band: BandOptions | None = None,
    *,
    tunable: bool = True,
) -> EvaluatedCurves:
    """Evaluate a sample, counts or groups. Raises TooManyPoints, RisingThresholds for counts, NeedsExactGroups.

    If the table is cut at thresholds, the intervals are those of the binned scores. They hold for these cuts; that the
    cuts were chosen on other data does not matter.
    """
    bounded = has_bounds(evaluation, options)
    if bounded and band is not None:
        raise NeedsExactGroups("band needs groups of one score each: score_from must equal score_to.", "band")
    tables = Tables.of(evaluation, options)
    table = tables.table
    curves = curves_of(tables, options)
    curves.warnings = one_vs_rest(evaluation, options.tuning) + curves.warnings
    if curves.auc is not None and not isinstance(evaluation, Counts):  # which have no direction
        curves.warnings += below_chance([curves.auc.roc])
    drawing = None
    if drawn is not None:
        prevalence = None if options.net_benefit is None else options.net_benefit.prevalence
        drawing = curves_drawing(table, tables.hull.vertices, evaluation, drawn, prevalence)
        curves.auc = curves.auc or areas(table, table.select(tables.hull.vertices))  # a picture always shows them
    model = EvaluatedModel(evaluation, table, known=curves.auc)
    if curves.auc is not None or options.partial:
        curves.warnings += tuple(far_prevalence(model.strata)) if table.rises else ()
    target = None if table.target is None else table.target.share
    if intervals is not None:
        whole = model if tables.whole is table else EvaluatedModel(evaluation, tables.whole)
        curves.warnings += _add_ends(curves, options, (model, whole), intervals.level, tunable=tunable)
    if bounded and isinstance(evaluation, Histogram):
        of_groups = bound_curves(curves, evaluation, options, _metrics(options), intervals)
        warnings = curves.warnings + of_groups.warnings
        answered = EvaluatedCurves(curves, warnings, drawing=drawing, bounds=of_groups.bounds, target=target)
        return answered if of_groups.intervals is None else _in_places(answered, of_groups.intervals, options)
    ends = _judged(curves, model, 0.95 if intervals is None else intervals.level)
    of_bands = None if band is None else bands(model, band, intervals or IntervalOptions(), drawn)
    clusters = evaluation.cluster_counts if isinstance(evaluation, Sample) else None
    answered = EvaluatedCurves(
        curves, curves.warnings, drawing=drawing, bin_ends=ends, clusters=clusters, target=target
    )
    return _with_bands(answered if intervals is None else _estimated(answered, model, options, intervals), of_bands)


def _with_bands(found: EvaluatedCurves, of_bands: Bands | None) -> EvaluatedCurves:
    """Add bands, and their warnings that are not there yet."""
    if of_bands is None:
        return found
    more = tuple(warning for warning in of_bands.warnings if warning not in found.warnings)
    return replace(found, bands=of_bands, warnings=found.warnings + more)


def _add_ends(
    curves: Curves,
    options: CurvesOptions,
    models: tuple[EvaluatedModel, EvaluatedModel],
    level: float,
    *,
    tunable: bool,
) -> tuple[CurvesWarning, ...]:
    """Add to decisions and points the ends of intervals, and say where there are none.

    The models have the table, and that of all scores, in whose rows decisions are.
    """
    model, whole = models
    warnings: tuple[CurvesWarning, ...] = ()
    if curves.decisions is not None:
        judged, tuned = (curves.decisions, options.decisions, whole, level), options.tuning is not None
        curves.decisions, warnings = with_intervals(*judged, tuned=tuned, tunable=tunable)
    if curves.points is not None and options.metrics:
        curves.points.ends = point_ends(curves.points, options.metrics, model, level)
    best = dict.fromkeys(str(each) for each in _points(options) if each.name not in POINTS_WITH_INTERVALS)
    if best and model.table.rises and model.strata.enough:
        detail = (
            f"lower, upper and method of operating points are null for {enumerated([*best])}: the best of all rows, "
            "chosen on the same data. A decision at a threshold has intervals."
        )
        warnings += (CurvesWarning("interval_omitted", detail),)
    return warnings


def _estimated(
    answered: EvaluatedCurves, model: EvaluatedModel, options: CurvesOptions, intervals: IntervalOptions
) -> EvaluatedCurves:
    """Add the intervals of areas, points, parts, statistics and net benefits, and their warnings."""
    curves, metrics = answered.curves, _metrics(options)
    estimates = Estimates(Models((model,)), intervals, [(metric, None) for metric in metrics])
    found = _in_places(answered, {each: estimates.interval(each, intervals.level) for each in metrics}, options)
    # The areas already carry the warning that rows are not a sweep.
    warnings = tuple(warning for warning in estimates.warnings if warning not in curves.warnings)
    of_names = dict(found.intervals or {})
    if curves.statistics is not None:
        of = curves.statistics, curves.probabilities, model.strata
        of_names |= statistic_intervals(*of, intervals.level, of_names["roc"])
        if model.strata.enough:
            warnings += tuple(omitted(*each) for each in without_spread(curves.statistics, of_names))
    benefit = None
    if curves.net_benefit is not None and options.net_benefit is not None:
        benefit = net_benefit_ends(curves.net_benefit, options.net_benefit, model, intervals.level)
    return replace(found, intervals=of_names, warnings=answered.warnings + warnings, net_benefit_ends=benefit)


def _in_places(
    answered: EvaluatedCurves, found: Mapping[Metric, Interval | None], options: CurvesOptions
) -> EvaluatedCurves:
    """Add the intervals of areas, of operating points and of parts."""
    return replace(
        answered,
        intervals={name: found[Metric(name)] for name in AREAS_WITH_INTERVALS},
        of_points=[found.get(metric) for metric in _points(options)],
        of_parts=[found[metric] for metric in _parts(options)],
    )


def _metrics(options: CurvesOptions) -> list[Metric]:
    """What has intervals: areas, points of curves, and the means of parts."""
    points = [each for each in _points(options) if each.name in POINTS_WITH_INTERVALS]
    return [*map(Metric, AREAS_WITH_INTERVALS), *points, *_parts(options)]


def _points(options: CurvesOptions) -> list[Metric]:
    return [Metric(each.metric, each.at) for each in options.operating_points]


def _parts(options: CurvesOptions) -> list[Metric]:
    return [Metric(PARTIAL, part=each) for each in options.partial]


def _judged(curves: Curves, model: EvaluatedModel, level: float) -> tuple[FloatArray, FloatArray] | None:
    """Add to the statistics and the bins what the number of examples tells; warn if it is unknown."""
    found = curves.probabilities
    if found is None or model.table.target is not None:
        return None
    if not model.strata.given:
        parts = ["ece_if_calibrated"] * (curves.statistics is not None) + ["lower", "upper"] * (
            "reliability" in curves.asked
        )
        are = f"{joined(parts)} {'are' if len(parts) > 1 else 'is'} null:"
        detail = f"{are} neither soft labels nor sums of weights say how many examples of each class there are."
        curves.warnings += (CurvesWarning("unknown_examples", detail),)
        return None
    if curves.statistics is not None:
        curves.statistics.ece_if_calibrated = ece_if_calibrated(found, model.strata)
    return bin_ends(found, model.strata, level) if curves.reliability is not None else None
