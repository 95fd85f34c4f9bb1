"""One evaluation, from its input to every requested result: what `POST /v1/curves` answers, without intervals.

    build the table, and cut it at chosen thresholds if there are any
    find its hull, if it is needed
    read off what was asked for: areas, points, curves, calibration, statistics, costs, decisions

Knows the other modules of this package; nothing of wire formats.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from service.curves.areas import Areas, areas, has_trapezoid
from service.curves.arrays import FloatArray
from service.curves.calibration import Calibration, calibration
from service.curves.confusion import ConfusionTable, Evaluation
from service.curves.costs import CostOptions, Costs, costs
from service.curves.curve_statistics import CurveStatistics, curve_statistics
from service.curves.decisions import DEFAULT_METRICS, Decided, Decision, decided, not_rows
from service.curves.errors import enumerated, plain
from service.curves.gains import Gains, GainsOptions, gains
from service.curves.histogram import Histogram
from service.curves.hull import RocHull
from service.curves.net_benefit import NetBenefit, NetBenefitOptions, net_benefit, rows_of_probabilities
from service.curves.operating_points import OperatingPoint, OperatingPoints, operating_points
from service.curves.partial_areas import PartialAreas, PartialRange, partial_areas
from service.curves.points import Points, points_of
from service.curves.pr import AtRecall, Every, PrCurve, default_interpolation, interpolated_pr
from service.curves.probability_remarks import remarks
from service.curves.probability_statistics import ProbabilityStatistics
from service.curves.reliability import Reliability, ReliabilityOptions
from service.curves.sample import Sample

DEFAULT_INCLUDES = ("auc", "points", "interpolated_pr", "achievable_pr")
INCLUDES = (*DEFAULT_INCLUDES, "calibration", "statistics")
CHANCE = 0.5
"""The area under the ROC curve of useless scores."""
_MOST_RESTS = 3
"""The most warnings about samples whose negatives have several labels."""


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
    reliability: ReliabilityOptions | None = None
    gains: GainsOptions | None = None
    net_benefit: NetBenefitOptions | None = None
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
    "roc, pr, pr_trapezoid, average_precision, interpolated_pr, calibration, prg, gini, eer, gains, intervals, partial "
    "areas and the values of operating points on curves are null; the hull is not.",
)
TRAPEZOID_OMITTED = CurvesWarning(
    "pr_trapezoid_omitted",
    "pr_trapezoid has a point at every integer tp: it is null with fractional counts or more than 1e7 positives.",
)


def trapezoid_omitted(table: ConfusionTable) -> CurvesWarning | None:
    """Why a sweep has no pr_trapezoid; None if it has one."""
    if table.target is not None:
        detail = "pr_trapezoid is null with prevalence: its points are at whole numbers of positives of these data."
        return CurvesWarning("pr_trapezoid_omitted", detail)
    return None if has_trapezoid(table) else TRAPEZOID_OMITTED


@dataclass(slots=True, eq=False)
class Curves:
    """The answer: what `include` did not request, or does not exist, is None.

    cost_options   the options of `costs`.
    asked          which options of None may have been given all the same: `reliability` without probabilities, and
                   `gains` of what is not a sweep.
    probabilities  what `statistics` and `reliability` come from.
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
    reliability: Reliability | None
    gains: Gains | None
    net_benefit: NetBenefit | None
    asked: frozenset[str]
    probabilities: ProbabilityStatistics | None
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
    judged = "statistics" in options.include or options.reliability is not None
    probabilities = ProbabilityStatistics.of(table, options.reliability) if judged else None
    decisions = _decisions(of, options) if options.decisions else None
    return Curves(
        include=options.include,
        positives=table.positives,
        negatives=table.negatives,
        auc=areas(table, table.select(of.hull.vertices)) if "auc" in options.include else None,
        points=points_of(table, of.hull, options.keep, options.metrics or ()) if "points" in options.include else None,
        interpolation=interpolation,
        interpolated_pr=interpolated_pr(table, interpolation, options.max_interpolated_rows)
        if interpolation and "interpolated_pr" in pr_curves and table.rises
        else None,
        achievable_pr=interpolated_pr(table.select(of.hull.boundary), interpolation, options.max_interpolated_rows)
        if interpolation and "achievable_pr" in pr_curves
        else None,
        calibration=calibration(table, of.hull.vertices) if "calibration" in options.include and table.rises else None,
        statistics=curve_statistics(table, of.hull, probabilities) if "statistics" in options.include else None,
        selected_thresholds=of.selected,
        operating_points=operating_points(table, options.operating_points) if options.operating_points else None,
        partial=partial_areas(table, options.partial) if options.partial else None,
        costs=costs(table, of.hull, options.costs) if options.costs else None,
        cost_options=options.costs,
        decisions=decisions,
        reliability=probabilities.reliability if probabilities and options.reliability else None,
        gains=gains(table, options.gains) if options.gains and table.rises else None,
        net_benefit=net_benefit(table, options.net_benefit) if options.net_benefit else None,
        asked=frozenset(name for name in ("reliability", "gains") if getattr(options, name) is not None),
        probabilities=probabilities,
        warnings=_warnings(table, options, decisions, probabilities),
    )


def _decisions(of: Tables, options: CurvesOptions) -> Decided:
    metrics = DEFAULT_METRICS if options.metrics is None else options.metrics
    return decided(options.decisions, metrics, of.evaluation, of.whole, candidates=of.table, tuning=of.tuning)


def _without_row(options: NetBenefitOptions | None, table: ConfusionTable) -> CurvesWarning | None:
    """Say which thresholds of net benefit no row of counts has."""
    if options is None:
        return None
    rows = rows_of_probabilities(table, options.probabilities)
    without = [plain(each) for each in options.probabilities[rows < 0].tolist()]
    if not without:
        return None
    detail = f"No row has the threshold {enumerated(without)}, so the net benefit there is null."
    return CurvesWarning("threshold_not_a_row", detail)


def _interpolation(table: ConfusionTable, options: CurvesOptions) -> Every | AtRecall:
    return options.interpolation or default_interpolation(table, options.max_interpolated_rows)


def _warnings(
    table: ConfusionTable,
    options: CurvesOptions,
    decisions: Decided | None,
    probabilities: ProbabilityStatistics | None,
) -> tuple[CurvesWarning, ...]:
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
    elif "auc" in options.include and (without := trapezoid_omitted(table)) is not None:
        warnings.append(without)
    statistics, binned = "statistics" in options.include, options.reliability is not None
    if (told := _without_row(options.net_benefit, table)) is not None:
        warnings.append(told)
    found = remarks(table, probabilities, statistics=statistics, binned=binned)
    warnings += (CurvesWarning(*each) for each in found)
    return tuple(warnings)
