"""One evaluation, from its input to every requested result: what `POST /v1/curves` answers, without intervals.

    build the table, and cut it at chosen thresholds if there are any
    find its hull, if it is needed
    read off what was asked for: areas, points, curves, calibration, statistics, costs, decisions

Knows the other modules of this package; nothing of wire formats.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from service.curves.areas import Areas, areas, has_trapezoid
from service.curves.arrays import LARGEST_EXACT_INTEGER, BoolArray, FloatArray, IntArray
from service.curves.calibration import Calibration, are_probabilities, calibration, score_range
from service.curves.confusion import ConfusionTable, Evaluation
from service.curves.costs import CostOptions, Costs, costs
from service.curves.curve_statistics import CurveStatistics, curve_statistics
from service.curves.decisions import DEFAULT_METRICS, Decided, Decision, decided, not_rows
from service.curves.errors import enumerated, joined, plain
from service.curves.histogram import Histogram
from service.curves.hull import RocHull, drop_collinear
from service.curves.operating_points import OperatingPoint, OperatingPoints, operating_points
from service.curves.partial_areas import PartialAreas, PartialRange, partial_areas
from service.curves.pr import AtRecall, Every, PrCurve, default_interpolation, interpolated_pr
from service.curves.row_metrics import values_of
from service.curves.sample import Sample
from service.curves.simplification import drawn_rows
from service.curves.sweep import sweep

DEFAULT_INCLUDES = ("auc", "points", "interpolated_pr", "achievable_pr")
INCLUDES = (*DEFAULT_INCLUDES, "calibration", "statistics")
CHANCE = 0.5
"""The area under the ROC curve of useless scores."""
_MOST_RESTS = 3
"""The most warnings about samples whose negatives have several labels."""

KEEPS = ("all", "corners", "drawn", "hull")
"""Which rows `points` has: all, those where a curve bends, those that a picture needs, or those on the hull."""


@dataclass(frozen=True, slots=True, eq=False)
class CurvesOptions:
    """What to answer and how. `thresholds` and `tuning` need a sample, and exclude each other.

    metrics   those of the points, and of decisions; None for none and for the usual ones.
    """

    include: frozenset[str] = frozenset(DEFAULT_INCLUDES)
    keep: str = "all"
    interpolation: Every | AtRecall | None = None
    thresholds: FloatArray | None = None
    tuning: Sample | None = None
    operating_points: Sequence[OperatingPoint] = ()
    partial: Sequence[PartialRange] = ()
    costs: CostOptions | None = None
    decisions: Sequence[Decision] = ()
    metrics: frozenset[str] | None = None
    max_interpolated_rows: float = math.inf


@dataclass(frozen=True, slots=True)
class CurvesWarning:
    """Something that the caller should know about an answer."""

    code: str
    detail: str


NOT_A_SWEEP = CurvesWarning(
    "not_a_sweep",
    "Between some rows, fp rises while tp falls, so no single sweep gives these rows and they form no curve: "
    "roc, pr, pr_trapezoid, average_precision, interpolated_pr, calibration, prg, intervals, partial areas and the "
    "values of operating points on curves are null; the hull is not.",
)
TRAPEZOID_OMITTED = CurvesWarning(
    "pr_trapezoid_omitted",
    "pr_trapezoid has a point at every integer tp: it is null with fractional counts or more than 1e7 positives.",
)


# Not frozen, like other results with many fields: setting each would take five times as long.
@dataclass(slots=True, eq=False)
class Points:
    """The table's rows in both spaces, as columns (n,); NaN where a threshold or a precision does not exist.

    metrics   {name: its values}, those that were asked for.
    """

    threshold: FloatArray
    tp: FloatArray
    fp: FloatArray
    fn: FloatArray
    tn: FloatArray
    fpr: FloatArray
    tpr: FloatArray
    recall: FloatArray
    precision: FloatArray
    on_hull: BoolArray
    metrics: Mapping[str, FloatArray] = field(default_factory=dict)


@dataclass(slots=True, eq=False)
class Curves:
    """The answer: what `include` did not request, or does not exist, is None.

    cost_options   the options of `costs`.
    """

    include: frozenset[str]
    positives: float
    negatives: float
    auc: Areas | None
    points: Points | None
    interpolation: Every | AtRecall | None
    interpolated_pr: PrCurve | None
    achievable_pr: PrCurve | None
    calibration: Calibration | None
    statistics: CurveStatistics | None
    selected_thresholds: FloatArray | None
    operating_points: OperatingPoints | None
    partial: PartialAreas | None
    costs: Costs | None
    cost_options: CostOptions | None
    decisions: Decided | None
    warnings: tuple[CurvesWarning, ...]


def below_chance(rocs: Iterable[float | None], names: Sequence[str] = ()) -> tuple[CurvesWarning, ...]:
    """Ask for the direction of scores if an area under a ROC curve is below that of useless ones, such as 0.4."""
    low = [place for place, roc in enumerate(rocs) if roc is not None and roc < CHANCE]
    if not low:
        return ()
    whose = f" of {enumerated([names[place] for place in low])}" if names else ""
    detail = f"roc{whose} is below {CHANCE}: do the scores run the other way? See lower_is_positive."
    return (CurvesWarning("below_chance", detail),)


def one_vs_rest(*evaluations: Evaluation | None) -> tuple[CurvesWarning, ...]:
    """Warn of each evaluation whose negatives have several labels, or a doubtful one; equal warnings only once."""
    rests = [each.rest for each in evaluations if isinstance(each, Sample | Histogram) and each.rest is not None]
    return tuple(CurvesWarning("one_vs_rest", rest) for rest in [*dict.fromkeys(rests)][:_MOST_RESTS])


@dataclass(frozen=True, eq=False)
class Tables:
    """The tables of one evaluation.

    whole      its own, with a row for each score.
    table      what everything is read off: the same, or what is left of it if it is cut at chosen thresholds.
    tuning     that of the tuning sample, and `selected`, the thresholds that it chose.
    """

    evaluation: Evaluation
    whole: ConfusionTable
    table: ConfusionTable
    tuning: ConfusionTable | None = None
    selected: FloatArray | None = None

    @classmethod
    def of(cls, evaluation: Evaluation, options: CurvesOptions) -> "Tables":
        """Build them; the cuts are the thresholds given, or those of the tuning sample's hull (D&G, end of section 3).

        Raises RisingThresholds for counts.
        """
        whole = ConfusionTable.of(evaluation)
        if options.tuning is not None:
            tuning = ConfusionTable.from_sample(options.tuning)
            selected = tuning.thresholds[RocHull.of(tuning).boundary][1:]
            return cls(evaluation, whole, whole.at_thresholds(selected), tuning, selected)
        cut = whole if options.thresholds is None else whole.at_thresholds(options.thresholds)
        return cls(evaluation, whole, cut)

    @cached_property
    def hull(self) -> RocHull:
        """The hull of the table."""
        return RocHull.of(self.table)


def evaluate_curves(evaluation: Evaluation, options: CurvesOptions | None = None) -> Curves:
    """Evaluate a sample, counts or groups. Raises TooManyPoints, and RisingThresholds for counts."""
    options = options or CurvesOptions()
    return curves_of(Tables.of(evaluation, options), options)


def curves_of(of: Tables, options: CurvesOptions) -> Curves:
    """Read everything requested off tables. Raises TooManyPoints."""
    table = of.table
    pr_curves = options.include & {"interpolated_pr", "achievable_pr"}
    interpolation = _interpolation(table, options) if pr_curves else None
    decisions = _decisions(of, options) if options.decisions else None
    return Curves(
        include=options.include,
        positives=table.positives,
        negatives=table.negatives,
        auc=areas(table, table.select(of.hull.vertices)) if "auc" in options.include else None,
        points=_points(of, options) if "points" in options.include else None,
        interpolation=interpolation,
        interpolated_pr=interpolated_pr(table, interpolation, options.max_interpolated_rows)
        if interpolation and "interpolated_pr" in pr_curves and table.rises
        else None,
        achievable_pr=interpolated_pr(table.select(of.hull.boundary), interpolation, options.max_interpolated_rows)
        if interpolation and "achievable_pr" in pr_curves
        else None,
        calibration=calibration(table, of.hull.vertices) if "calibration" in options.include and table.rises else None,
        statistics=curve_statistics(table, of.hull) if "statistics" in options.include else None,
        selected_thresholds=of.selected,
        operating_points=operating_points(table, options.operating_points) if options.operating_points else None,
        partial=partial_areas(table, options.partial) if options.partial else None,
        costs=costs(table, of.hull, options.costs) if options.costs else None,
        cost_options=options.costs,
        decisions=decisions,
        warnings=_warnings(table, options, decisions),
    )


def _decisions(of: Tables, options: CurvesOptions) -> Decided:
    metrics = DEFAULT_METRICS if options.metrics is None else options.metrics
    return decided(options.decisions, metrics, of.evaluation, of.whole, candidates=of.table, tuning=of.tuning)


def _interpolation(table: ConfusionTable, options: CurvesOptions) -> Every | AtRecall:
    return options.interpolation or default_interpolation(table, options.max_interpolated_rows)


def _points(of: Tables, options: CurvesOptions) -> Points:
    rows, on_hull = of.table, of.hull.members
    if options.keep != "all":
        kept = _kept_rows(of.table, of.hull, options.keep)
        rows, on_hull = of.table.select(kept), on_hull[kept]
    fn, tn, fpr, recall, precision = sweep.points(rows.tp, rows.fp, rows.positives, rows.negatives)
    return Points(
        threshold=rows.thresholds,
        tp=rows.tp,
        fp=rows.fp,
        fn=fn,
        tn=tn,
        fpr=fpr,
        tpr=recall,
        recall=recall,
        precision=precision if rows.positives + rows.negatives < LARGEST_EXACT_INTEGER else rows.precision,
        on_hull=on_hull,
        metrics={name: values_of(name, rows) for name in (options.metrics or frozenset()) - {*Points.__slots__}},
    )


def _kept_rows(table: ConfusionTable, hull: RocHull, keep: str) -> IntArray:
    """The rows on the hull, those that a picture needs, or (`corners`) all rows where a curve bends."""
    if keep == "hull":
        return hull.boundary
    return drawn_rows(table, hull.vertices) if keep == "drawn" else drop_collinear(table)


def _warnings(table: ConfusionTable, options: CurvesOptions, decisions: Decided | None) -> tuple[CurvesWarning, ...]:
    warnings = []
    if options.thresholds is not None or options.tuning is not None:
        but = " except decisions" if decisions is not None and options.tuning is not None else ""
        detail = f"All results{but} come from the chosen thresholds only, not from every threshold of the sample."
        warnings.append(CurvesWarning("reduced_table", detail))
    missing = None if decisions is None else not_rows(options.decisions, decisions)
    if missing is not None:
        warnings.append(CurvesWarning("threshold_not_a_row", missing))
    if not table.rises:
        warnings.append(NOT_A_SWEEP)
    elif "auc" in options.include and not has_trapezoid(table):
        warnings.append(TRAPEZOID_OMITTED)
    if "statistics" in options.include:
        warnings += _of_probabilities(table)
    return tuple(warnings)


def _of_probabilities(table: ConfusionTable) -> list[CurvesWarning]:
    """Say why the Brier score and its parts are null, or what counts as 0 or 1 in them."""
    scores = score_range(table)
    if scores is None:
        why = "they need every score, which counts and chosen thresholds do not give"
    elif are_probabilities(*scores):
        if 0 <= scores[0] <= scores[1] <= 1:
            return []
        beyond = [f"{plain(score)} counts as {int(score > 1)}" for score in scores if not 0 <= score <= 1]
        detail = f"In the Brier score and its parts, {joined(beyond)}."
        return [CurvesWarning("rounded_scores", detail)]
    else:
        why = f"they need probabilities, from 0 to 1, and scores go from {plain(scores[0])} to {plain(scores[1])}"
    return [CurvesWarning("brier_omitted", f"brier, miscalibration, discrimination and uncertainty are null: {why}.")]
