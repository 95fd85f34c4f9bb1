"""One evaluation with confidence intervals: the operation behind `POST /v1/curves`.

    build the table and its hull, and read the curves off them
    read off what a picture draws, if one is wanted
    find the bounds, if there are open groups, and the intervals of areas, if they are wanted

Knows the curves and the intervals, not how they are computed.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from service.curves.areas import areas
from service.curves.bounds import Enclosure
from service.curves.confusion import Evaluation
from service.curves.counts import Counts
from service.curves.drawing import CurvesDrawing, DrawingOptions, curves_drawing
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
from service.inference.bounded import bound_curves, has_bounds
from service.inference.estimates import Estimates
from service.inference.intervals import Interval, IntervalOptions
from service.inference.models import EvaluatedModel, Models
from service.inference.rules import AREAS_WITH_INTERVALS, Metric


@dataclass(frozen=True, slots=True, eq=False)
class EvaluatedCurves:
    """The answer: the curves, and the intervals of areas if requested; None for an area without one.

    warnings  those of the curves, and those of the intervals.
    drawing   what a picture draws, if one was requested.
    bounds    the bounds of every area, if there are open groups.
    """

    curves: Curves
    warnings: tuple[CurvesWarning, ...]
    intervals: Mapping[str, Interval | None] | None = None
    drawing: CurvesDrawing | None = None
    bounds: dict[str, Enclosure | None] | None = None

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
) -> EvaluatedCurves:
    """Evaluate a sample, counts or groups. Raises TooManyPoints, RisingThresholds for counts, NeedsExactGroups.

    If the table is cut at thresholds, the intervals are those of the binned scores. They hold for these cuts; that the
    cuts were chosen on other data does not matter.
    """
    bounded = has_bounds(evaluation, options)
    tables = Tables.of(evaluation, options)
    table = tables.table
    curves = curves_of(tables, options)
    curves.warnings = one_vs_rest(evaluation, options.tuning) + curves.warnings
    if curves.auc is not None and not isinstance(evaluation, Counts):  # which have no direction
        curves.warnings += below_chance([curves.auc.roc])
    drawing = None
    if drawn is not None:
        drawing = curves_drawing(table, tables.hull.vertices, evaluation, drawn)
        curves.auc = curves.auc or areas(table, table.select(tables.hull.vertices))  # a picture always shows them
    if bounded and isinstance(evaluation, Histogram):
        found = bound_curves(curves, evaluation, options, intervals)
        return EvaluatedCurves(curves, curves.warnings + found.warnings, found.intervals, drawing, found.bounds)
    if intervals is None:
        return EvaluatedCurves(curves, curves.warnings, drawing=drawing)
    metrics = [Metric(name) for name in AREAS_WITH_INTERVALS]
    models = Models((EvaluatedModel(evaluation, table, known=curves.auc),))
    estimates = Estimates(models, intervals, [(metric, False) for metric in metrics])
    of_areas = {metric.name: estimates.interval(metric, intervals.level) for metric in metrics}
    # The areas already carry the warning that rows are not a sweep.
    warnings = tuple(warning for warning in estimates.warnings if warning not in curves.warnings)
    return EvaluatedCurves(curves, curves.warnings + warnings, of_areas, drawing)
