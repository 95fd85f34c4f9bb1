"""Intervals of the areas of several models, and of their differences, pair by pair.

    a pair          each with the first, or each two once, the later less the earlier
    a family        the pairs of one area: with `holm` their p-values are adjusted together (Holm 1979), and intervals
                    have Bonferroni's level, 1 - (1 - level)/pairs, since Holm's method has none

Knows models and estimates; nothing of names in requests. Source: Holm 1979, "A simple sequentially rejective multiple
test procedure".
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from service.curves.clock import in_time
from service.curves.clusters import ClusterCounts
from service.curves.comparison import Comparison
from service.curves.confusion import Evaluation
from service.curves.decisions import Decided, Decision
from service.curves.errors import DomainError
from service.curves.evaluation import CurvesWarning
from service.curves.sample import Sample
from service.inference.decision_intervals import with_intervals
from service.inference.estimates import Estimates
from service.inference.gate import may_be_pairs
from service.inference.intervals import Interval, IntervalOptions
from service.inference.metric import AREAS_WITH_INTERVALS, Metric
from service.inference.models import EvaluatedModel, Models
from service.inference.pairing import check_paired, with_common_clusters

AGAINST = ("first", "all")
"""What each model is compared with."""

ADJUSTMENTS = ("none", "holm")
"""How p-values of a family are adjusted."""


_MAYBE_PAIRED = CurvesWarning(
    "maybe_paired",
    "The labels of all evaluations agree row by row. If the rows are the same examples, set paired: differences are "
    "then more certain.",
)


@dataclass(frozen=True, slots=True)
class DifferenceOptions:
    """How intervals are computed, whether all models have the same examples in order, and which pairs there are."""

    intervals: IntervalOptions
    paired: bool = False
    against: str = "first"
    adjust: str = "none"

    def level_of_differences(self, models: int) -> float:
        """The level of each interval of a difference, with Bonferroni's correction if pairs are adjusted for."""
        level = self.intervals.level
        if self.adjust == "none":
            return level
        return min(1 - (1 - level) / len(_pairs(models, self.against)), math.nextafter(1, 0))


@dataclass(frozen=True, slots=True)
class AreaInterval:
    """The interval of one area of one model; None if it has none."""

    name: str
    area: str
    interval: Interval | None


@dataclass(frozen=True, slots=True)
class AreaDifference:
    """One area of a model less that of another one; None where there is no number.

    p_value            two-sided, of no difference.
    p_value_adjusted   with the other pairs of its family; None if they are not adjusted.
    """

    name: str
    against: str
    area: str
    difference: float | None
    interval: Interval | None
    p_value: float | None
    p_value_adjusted: float | None = None


@dataclass(frozen=True, slots=True)
class ModelDifferences:
    """The intervals of all areas, the differences of all pairs, and the decisions of each model with intervals.

    clusters  those of the first evaluation that has some; None if there is none.
    """

    intervals: tuple[AreaInterval, ...]
    differences: tuple[AreaDifference, ...]
    decisions: tuple[Decided, ...]
    warnings: tuple[CurvesWarning, ...]
    clusters: ClusterCounts | None = None


@dataclass(frozen=True, slots=True, eq=False)
class ComparisonWithDifferences(Comparison):
    """A comparison, and its differences if intervals were requested."""

    differences: ModelDifferences | None = None


def evaluate_differences(
    evaluations: Mapping[str, Evaluation],
    options: DifferenceOptions,
    decisions: Sequence[Decision] = (),
    decided: Sequence[Decided] = (),
) -> ModelDifferences:
    """Compare the areas of 2 models or more, and find the intervals of the decisions that each has made.

    Raises NotPaired, and RisingThresholds for counts.
    """
    names, given = list(evaluations), list(evaluations.values())
    if options.paired:
        for number, each in enumerate(given[1:], 1):
            try:
                check_paired(given[0], each)
            except DomainError as error:
                error.evaluation = number
                raise
    counted = with_common_clusters(given, paired=options.paired)
    models = [EvaluatedModel.of(each, paired=options.paired) for each in in_time(counted)]
    metrics, how = [Metric(area) for area in AREAS_WITH_INTERVALS], options.intervals
    alone = [Estimates(Models((model,)), how, [(metric, None) for metric in metrics]) for model in in_time(models)]
    intervals = tuple(
        AreaInterval(name, metric.name, estimates.interval(metric, how.level))
        for name, estimates in zip(names, alone, strict=True)
        for metric in metrics
    )
    pairs = _pairs(len(models), options.against)
    level = options.level_of_differences(len(models))
    found: list[AreaDifference] = []
    warnings = [each for estimates in alone for each in estimates.warnings]
    for later, earlier in in_time(pairs):
        both = Models((models[later], models[earlier]), options.paired)
        estimates = Estimates(both, how, [(metric, 1.0) for metric in metrics])
        found += [_difference(estimates, metric, (names[later], names[earlier]), level) for metric in metrics]
        warnings += estimates.warnings
    judged = []
    for made, model in in_time(zip(decided, models, strict=bool(decided))):
        with_ends, told = with_intervals(made, decisions, model, how.level)
        judged.append(with_ends)
        warnings += told
    if not options.paired and all(may_be_pairs(given[0], each) for each in given[1:]):
        warnings.append(_MAYBE_PAIRED)
    differences = _adjusted(found) if options.adjust == "holm" else found
    of_each = (each.cluster_counts for each in counted if isinstance(each, Sample))
    clusters = next((each for each in of_each if each is not None), None)
    return ModelDifferences(intervals, tuple(differences), tuple(judged), tuple(dict.fromkeys(warnings)), clusters)


def _pairs(models: int, against: str) -> list[tuple[int, int]]:
    """The numbers of the models of each pair, that which is compared before that which it is compared with."""
    if against == "first":
        return [(later, 0) for later in range(1, models)]
    return [(later, earlier) for earlier, later in combinations(range(models), 2)]


def _difference(estimates: Estimates, metric: Metric, names: tuple[str, str], level: float) -> AreaDifference:
    value, other = estimates.value(metric), estimates.baseline_value(metric)
    if value is None or other is None:
        return AreaDifference(*names, metric.name, None, None, None)
    interval = estimates.interval(metric, level, kept=1.0)
    return AreaDifference(*names, metric.name, value - other, interval, estimates.p_value(metric))


def _adjusted(found: Sequence[AreaDifference]) -> Iterator[AreaDifference]:
    """Adjust the p-values of each area."""
    by_area = {area: holm([each.p_value for each in found if each.area == area]) for area in AREAS_WITH_INTERVALS}
    numbers = {area: iter(values) for area, values in by_area.items()}
    return (replace(each, p_value_adjusted=next(numbers[each.area])) for each in found)


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Holm's adjusted p-values: the k-th least times m + 1 - k, at least the one before, and at most 1.

    m counts those that are None, too, which stay so: 0.01, 0.04 and 0.03 give 0.03, 0.06 and 0.06.
    """
    adjusted: list[float | None] = [None] * len(p_values)
    known = sorted((value, place) for place, value in enumerate(p_values) if value is not None)
    highest = 0.0
    for rank, (value, place) in enumerate(known):
        highest = max(highest, min((len(p_values) - rank) * value, 1.0))
        adjusted[place] = highest
    return adjusted
