"""`POST /v1/curves`: one evaluation, its curves and what is read off them."""

from dataclasses import replace
from typing import Any

from service.curves.pr import AtRecall
from service.inference.bounded import has_bounds
from service.inference.curves_with_intervals import EvaluatedCurves, evaluate_with_intervals
from service.inference.metric import AREAS_WITH_INTERVALS
from service.inference.probability_errors import STATISTICS_WITH_INTERVALS
from service.operations.curve_tables import (
    DECISIONS_TABLE,
    GAINS_TABLE,
    NET_BENEFIT_TABLE,
    PR_BAND_TABLE,
    RELIABILITY_TABLE,
    ROC_BAND_TABLE,
)
from service.operations.operation import Operation, Selection
from service.operations.probability_cells import CALIBRATION, STATISTICS
from service.operations.row_cells import (
    POINTS,
    interval_cells,
    metric_cells_besides,
    with_interval_columns,
    with_metrics,
)
from service.operations.shared_cells import (
    AREA_CELLS,
    CLUSTERS_OBJECT,
    DESIGN_EFFECT,
    OPERATING_POINTS,
    PREVALENCE_VALUE,
    TOTAL_VALUES,
)
from service.wire.answers.gate_answers import interval_row
from service.wire.answers.parts import (
    ABSENT,
    AnswerRow,
    AnswerTable,
    AnswerValue,
    Cells,
    KeyedRows,
    Part,
    integer_if_whole,
    tables_of,
)
from service.wire.formats.inputs import COUNTS, GROUPS, SAMPLE, SOFT
from service.wire.formats.tables import TableForm
from service.wire.limits import Limits
from service.wire.requests.curves_schemas import CurvesRequest, CurvesRequestSchema
from service.wire.requests.query_fields import query_fields

_AREA_KEY = Cells.text("area", "The area.")
_RATES = (
    Cells.number("recall", "Recall, tp / positives."),
    Cells.number("precision", "Precision, tp / (tp + fp); at the origin the limit along the first segment."),
)


def _included(name: str) -> Any:  # noqa: ANN401  # a function of a result
    return lambda found: getattr(found.curves, name) if name in found.curves.include else ABSENT


def _read_off(name: str) -> Any:  # noqa: ANN401  # a function of a result
    return lambda found: getattr(found.curves, name) or ABSENT


def _points(found: EvaluatedCurves) -> Any:  # noqa: ANN401  # an object or a mapping with columns, None, or ABSENT
    points = _included("points")(found)
    if points is None or points is ABSENT or not (points.metrics or points.ends):
        return points
    return with_metrics(points, POINTS, points.metrics, points.ends)


def _operating_points(found: EvaluatedCurves) -> Any:  # noqa: ANN401  # columns by name, or ABSENT
    points = found.curves.operating_points
    if points is None:
        return ABSENT
    read = {each.name: getattr(points, each.name) for each in OPERATING_POINTS if hasattr(points, each.name)}
    return with_interval_columns(read, _OF_VALUE, found.of_points)


def _intervals(found: EvaluatedCurves) -> Any:  # noqa: ANN401  # intervals by name, or ABSENT
    if not found.intervals:
        return ABSENT
    clustered = found.clusters is not None
    return {name: interval_row(each, clustered=clustered) for name, each in found.intervals.items()}


def _interpolation(found: EvaluatedCurves) -> Any:  # noqa: ANN401  # an object, or ABSENT
    at = found.curves.interpolation
    if at is None:
        return ABSENT
    if isinstance(at, AtRecall):
        return {"at_recall": at.at_recall}
    return {"every": integer_if_whole(at.every)}


def _selected_thresholds(found: EvaluatedCurves) -> Any:  # noqa: ANN401  # an array, or ABSENT
    return ABSENT if found.curves.selected_thresholds is None else found.curves.selected_thresholds


def _partial(found: EvaluatedCurves) -> Any:  # noqa: ANN401  # columns by name, or ABSENT
    parts = found.curves.partial
    if not parts:
        return ABSENT
    ranges = {
        "over": [each.over for each in parts.ranges],
        "from": [each.start for each in parts.ranges],
        "to": [each.end for each in parts.ranges],
        "min_tpr": [each.min_tpr for each in parts.ranges],
    }
    read = {each.name: getattr(parts, each.name) for each in _PARTIAL_AREAS if hasattr(parts, each.name)}
    cells = (*_OF_MEAN, DESIGN_EFFECT) if found.clusters is not None else _OF_MEAN
    return with_interval_columns(ranges | read, cells, found.of_parts)


_PARTIAL_AREAS = (
    Cells.number("area", "The area.", null=True),
    Cells.number(
        "mean",
        "The area divided by that of its box, (`to` - `from`)(1 - `min_tpr`); the mean height of the curve.",
        null=True,
    ),
    Cells.number(
        "mcclish",
        "McClish's (1989) standardised area: 1/2 for chance, 1 for a perfect curve, below 1/2 for a curve below the "
        "diagonal. `null` over `recall`, with `min_tpr`, and on overflow.",
        null=True,
    ),
    Cells.number(
        "area_lower",
        "With open groups only, the lowest area possible; `area`, `mean` and `mcclish` are halfway between their "
        "bounds.",
        null=True,
        sometimes=True,
    ),
    Cells.number("area_upper", "With open groups only, the highest area possible.", null=True, sometimes=True),
    Cells.number("mean_lower", "With open groups only, the lowest mean possible.", null=True, sometimes=True),
    Cells.number("mean_upper", "With open groups only, the highest mean possible.", null=True, sometimes=True),
)

_OF_VALUE, _OF_MEAN = interval_cells("value"), interval_cells("mean", error=True)
"""The columns of intervals of operating points and of partial areas."""

ANSWER: tuple[Part, ...] = (
    *TOTAL_VALUES,
    PREVALENCE_VALUE,
    CLUSTERS_OBJECT,
    AnswerRow(
        "auc",
        "The areas differ because they answer different questions: `roc` is about ranking, `pr` about what is called "
        "positive; those of the hulls say what the best choice of thresholds can reach; `pr_trapezoid` and "
        "`average_precision` are other definitions of the area under a precision-recall curve.",
        _included("auc"),
        sometimes=True,
        component="Areas",
        columns=AREA_CELLS,
    ),
    AnswerTable(
        "points",
        "The rows of the table in curve order, with the ROC and the precision-recall view of each. With `metrics` and "
        "`intervals`, at most 2,000 rows, and each of these metrics has the ends of its score interval.",
        _points,
        sometimes=True,
        columns=(*POINTS, *metric_cells_besides(POINTS)),
    ),
    AnswerValue(
        "interpolation",
        "Where the precision-recall curves are read between rows.",
        _interpolation,
        sometimes=True,
        component="Interpolation",
    ),
    AnswerTable(
        "interpolated_pr",
        "The precision-recall curve, interpolated linearly in counts, in curve order or in the order of `at_recall`. "
        "`null` if the counts are not a sweep.",
        _included("interpolated_pr"),
        sometimes=True,
        null=True,
        columns=(
            Cells.count("tp", "True positives at which the curve is read."),
            Cells.count("fp", "False positives there, linear in `tp` between two rows."),
            *_RATES,
        ),
    ),
    AnswerTable(
        "achievable_pr",
        "The best precision-recall curve that you can reach by choosing among the rows: the rows on the ROC hull, "
        "interpolated the same way (Davis and Goadrich, corollary 3.1).",
        _included("achievable_pr"),
        sometimes=True,
        columns=(
            Cells.count("tp", "True positives at which the curve is read."),
            Cells.count("fp", "False positives there."),
            *_RATES,
        ),
    ),
    AnswerTable(
        "calibration",
        "Isotonic regression of the labels on the scores: adjacent scores are pooled until the share of positives does "
        "not fall as the scores rise (with `lower_is_positive`, does not rise). The pools are the segments of the ROC "
        "convex hull. From the lowest scores to the highest; `null` if the counts are not a sweep.",
        _included("calibration"),
        sometimes=True,
        null=True,
        columns=CALIBRATION,
    ),
    AnswerRow(
        "statistics",
        "Single numbers of an evaluation. The Brier score is `miscalibration` - `discrimination` + `uncertainty`. All "
        "four, `log_loss`, `ece` and the calibration slope and intercept are `null` for counts, for chosen thresholds, "
        "and if a score is not between 0 and 1, with the warning `brier_omitted`. A score beyond 0 or 1 by at most 4 "
        "units in the last place of 1 counts as 0 or 1, with the warning `rounded_scores`.",
        _included("statistics"),
        sometimes=True,
        columns=STATISTICS,
    ),
    AnswerValue(
        "selected_thresholds",
        "With `tuning`, the thresholds on the tuning sample's hull, which the table was rebuilt from.",
        _selected_thresholds,
        sometimes=True,
        kind="score",
        many=True,
    ),
    KeyedRows(
        "bounds",
        "With open groups: the lowest and the highest value that each area can have, whatever the order within the "
        "groups. The values in `auc` are then halfway between.",
        lambda found: found.bounds if found.bounds and "auc" in found.curves.include else ABSENT,
        columns=(Cells.number("lower", "The lowest."), Cells.number("upper", "The highest.")),
        needs="open groups, whose score_from is below score_to",
        sometimes=True,
        key=_AREA_KEY,
        keys=tuple(area.name for area in AREA_CELLS),
        component="AreaBounds",
        inner="Bounds",
    ),
    KeyedRows(
        "intervals",
        "Confidence intervals of the areas and, with `statistics`, of five statistics. The hull areas have none: a "
        "hull fitted to its own test data is biased upward. An interval is `null` if the counts are not a sweep, if a "
        "class has fewer than two examples (of effective size, with weights), or if the method has none here; "
        "`warnings` says why.",
        _intervals,
        columns=(
            Cells.number("lower", "The lower end."),
            Cells.number("upper", "The upper end."),
            Cells.exact("level", "The two-sided confidence level."),
            Cells.text(
                "method",
                "How it was computed: `delong`, `logit`, `mover`, `bootstrap`, `bca`; `score` for metrics at a "
                "threshold or at a point of a curve; or `exact` if an area is exactly 0 or 1, also in a difference, "
                "where the two intervals are combined (Zou and Donner 2008).",
            ),
            Cells.number(
                "standard_error",
                "The standard error, on the scale of the ends; of a bootstrap, the standard deviation of the "
                "resamples. `null` if the method is `exact` or `score`, if a resample has no value, with open groups, "
                "or of a rule over slices.",
                null=True,
            ),
            DESIGN_EFFECT,
        ),
        needs="the option intervals",
        sometimes=True,
        key=_AREA_KEY,
        keys=AREAS_WITH_INTERVALS,
        others=STATISTICS_WITH_INTERVALS,
        inner="Interval",
    ),
    ROC_BAND_TABLE,
    PR_BAND_TABLE,
    RELIABILITY_TABLE,
    GAINS_TABLE,
    NET_BENEFIT_TABLE,
    AnswerTable(
        "operating_points",
        "Metrics at the requested points, in that order. `threshold`, `tp` and `fp` are those of the best row that "
        "meets the condition; all are `null` if no row does. With `intervals`, `tpr_at_fpr` and `precision_at_recall` "
        "have one; the others take the best of all rows.",
        _operating_points,
        columns=(*OPERATING_POINTS, *_OF_VALUE),
        needs="the option operating_points",
        sometimes=True,
    ),
    AnswerTable(
        "partial",
        "Partial areas, in the order requested; `null` if the counts are not a sweep.",
        _partial,
        component="PartialAreas",
        columns=(
            Cells.text("over", "The rate that the range runs over."),
            Cells.exact("from", "Where the range begins."),
            Cells.exact("to", "Where it ends."),
            Cells.exact("min_tpr", "The lowest true positive rate that counts; `null` if none was given.", null=True),
            *_PARTIAL_AREAS,
            *_OF_MEAN,
            DESIGN_EFFECT,
        ),
        needs="the option partial",
        sometimes=True,
    ),
    AnswerTable(
        "costs",
        "The lowest cost of errors at each prevalence π, in the order requested, and its row, which is on the ROC "
        "convex hull; if several rows cost the same, the one that calls the fewest examples positive.",
        _read_off("costs"),
        columns=(
            Cells.exact("prevalence", "The proportion of positives, π."),
            Cells.number("cost", "The average cost of an example, π fn_cost (1 - tpr) + (1 - π) fp_cost fpr."),
            Cells.number(
                "normalized_cost",
                "The cost divided by π fn_cost + (1 - π) fp_cost, the cost of being wrong about every example "
                "(Drummond and Holte 2006).",
            ),
            Cells.score(
                "threshold",
                "The threshold of the row; `null` if it has none, as where nothing is called positive.",
                null=True,
            ),
            Cells.count("tp", "True positives of the row, in these data."),
            Cells.count("fp", "False positives of the row, in these data."),
        ),
        needs="the option costs",
        sometimes=True,
    ),
    DECISIONS_TABLE,
)


_BAND_TABLES = frozenset(("roc_band", "pr_band"))
_TABLES_WITH_INTERVALS = _BAND_TABLES | {
    *("intervals", "operating_points", "partial", "decisions", "reliability", "net_benefit")
}

_PARTS_OF_TABLES = {"bounds": "auc", "intervals": "statistics"}
"""{table: the part of `include` that decides what is in it}"""


def _asked(checked: CurvesRequest) -> set[str]:
    options = checked.options
    given = {
        "operating_points": options.operating_points,
        "partial": options.partial,
        "costs": options.costs,
        "reliability": options.reliability,
        "gains": options.gains,
        "net_benefit": options.net_benefit,
        **dict.fromkeys(_BAND_TABLES, checked.band),
        "decisions": options.decisions,
        "intervals": checked.intervals,
        "bounds": "auc" in options.include and has_bounds(checked.evaluation, options),
    }
    return {*options.include} | {name for name, value in given.items() if value}


def _evaluate(checked: CurvesRequest, selection: Selection, limits: Limits) -> EvaluatedCurves:
    options, intervals, band = checked.options, checked.intervals, checked.band
    if selection.picture is not None:
        chart = selection.picture.chart
        band = band if chart in {"both", "roc", "pr"} else None
        options = replace(
            options,
            include=frozenset({"auc"}),
            partial=(),
            costs=options.costs if chart == "costs" else None,
            decisions=(),
            reliability=options.reliability if chart == "calibration" else None,
            gains=None,
            net_benefit=options.net_benefit if chart == "net_benefit" else None,
        )
    elif selection.table is not None:
        options = replace(
            options,
            include=options.include & {_PARTS_OF_TABLES.get(selection.table, selection.table)},
            operating_points=options.operating_points if selection.has("operating_points") else (),
            partial=options.partial if selection.has("partial") else (),
            costs=options.costs if selection.has("costs") else None,
            reliability=options.reliability if selection.table in {"reliability", "statistics"} else None,
            gains=options.gains if selection.has("gains") else None,
            net_benefit=options.net_benefit if selection.has("net_benefit") else None,
            decisions=options.decisions if selection.has("decisions") else (),
        )
        has_ends = selection.table == "points" and options.metrics
        intervals = intervals if has_ends or selection.table in _TABLES_WITH_INTERVALS else None
        band = band if selection.table in _BAND_TABLES else None
    options = replace(options, max_interpolated_rows=limits.max_interpolated_rows)
    return evaluate_with_intervals(checked.evaluation, options, intervals, selection.drawing, band)


OPERATION = Operation(
    name="curves",
    schema=CurvesRequestSchema(),
    form=TableForm(query_fields("curves", CurvesRequestSchema()), (SAMPLE, SOFT, COUNTS, GROUPS)),
    evaluate=_evaluate,
    answer=ANSWER,
    tables=tuple(sorted(tables_of(ANSWER), key=lambda table: table.name != "points")),
    asked=_asked,
)
