"""One evaluation with confidence intervals: the operation behind `POST /v1/curves`.

    build the table and its hull, and read the curves off them
    read off what a picture draws, if one is wanted
    find the bounds, if there are open groups, and the intervals of areas and bands, if they are wanted

Knows the curves and the intervals, not how they are computed.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from service.curves.areas import areas
from service.curves.arrays import FloatArray
from service.curves.bounds import Enclosure
from service.curves.confusion import Evaluation
from service.curves.counts import Counts
from service.curves.drawing import CurvesDrawing, DrawingOptions, curves_drawing
from service.curves.errors import NeedsExactGroups, joined
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
from service.inference.bands import BandOptions, Bands, bands
from service.inference.bounded import bound_curves, has_bounds
from service.inference.decision_intervals import net_benefit_ends, with_intervals
from service.inference.estimates import Estimates, omitted
from service.inference.intervals import Interval, IntervalOptions
from service.inference.metric import AREAS_WITH_INTERVALS, Metric
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
    """

    curves: Curves
    warnings: tuple[CurvesWarning, ...]
    intervals: Mapping[str, Interval | None] | None = None
    drawing: CurvesDrawing | None = None
    bounds: dict[str, Enclosure | None] | None = None
    bin_ends: tuple[FloatArray, FloatArray] | None = None
    net_benefit_ends: tuple[FloatArray, FloatArray] | None = None
    bands: Bands | None = None

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
        """The share of positives, P/(P + N)."""
        return self.positives / (self.positives + self.negatives)


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
    if intervals is not None and curves.decisions is not None:
        judged = curves.decisions, options.decisions, EvaluatedModel(evaluation, tables.whole), intervals.level
        tuned = options.tuning is not None
        curves.decisions, more = with_intervals(*judged, tuned=tuned, tunable=tunable)
        curves.warnings += more
    drawing = None
    if drawn is not None:
        prevalence = None if options.net_benefit is None else options.net_benefit.prevalence
        drawing = curves_drawing(table, tables.hull.vertices, evaluation, drawn, prevalence)
        curves.auc = curves.auc or areas(table, table.select(tables.hull.vertices))  # a picture always shows them
    if bounded and isinstance(evaluation, Histogram):
        bounded_curves = bound_curves(curves, evaluation, options, intervals)
        warnings = curves.warnings + bounded_curves.warnings
        return EvaluatedCurves(curves, warnings, bounded_curves.intervals, drawing, bounded_curves.bounds)
    model = EvaluatedModel(evaluation, table, known=curves.auc)
    ends = _judged(curves, model, 0.95 if intervals is None else intervals.level)
    of_bands = None if band is None else bands(model, band, intervals or IntervalOptions(), drawn)
    if intervals is None:
        return _with_bands(EvaluatedCurves(curves, curves.warnings, drawing=drawing, bin_ends=ends), of_bands)
    metrics = [Metric(name) for name in AREAS_WITH_INTERVALS]
    estimates = Estimates(Models((model,)), intervals, [(metric, False) for metric in metrics])
    found = {metric.name: estimates.interval(metric, intervals.level) for metric in metrics}
    # The areas already carry the warning that rows are not a sweep.
    warnings = tuple(warning for warning in estimates.warnings if warning not in curves.warnings)
    if curves.statistics is not None:
        of = curves.statistics, curves.probabilities, model.strata
        found |= statistic_intervals(*of, intervals.level, found["roc"])
        if model.strata.enough:
            warnings += tuple(omitted(*each) for each in without_spread(curves.statistics, found))
    benefit = None
    if curves.net_benefit is not None and options.net_benefit is not None:
        benefit = net_benefit_ends(curves.net_benefit, options.net_benefit, model, intervals.level)
    answered = curves, curves.warnings + warnings, found, drawing
    return _with_bands(EvaluatedCurves(*answered, bin_ends=ends, net_benefit_ends=benefit), of_bands)


def _with_bands(found: EvaluatedCurves, of_bands: Bands | None) -> EvaluatedCurves:
    """Add bands, and their warnings that are not there yet."""
    if of_bands is None:
        return found
    more = tuple(warning for warning in of_bands.warnings if warning not in found.warnings)
    return replace(found, bands=of_bands, warnings=found.warnings + more)


def _judged(curves: Curves, model: EvaluatedModel, level: float) -> tuple[FloatArray, FloatArray] | None:
    """Add to the statistics and the bins what the number of examples tells; warn if it is unknown."""
    found = curves.probabilities
    if found is None:
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
