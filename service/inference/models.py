"""One model, or a model and its baseline: their tables, and metrics, each of which is read off a table once.

    value       a metric: an area, the mean of a part, a point of a curve, a metric of a row, or a statistic
    statistic   the same metric of a resample, from its tp and fp
    shares      recall and fpr of a row, as proportions of a number of examples

If two models are paired, their examples are the same, row by row: then resamples and spreads of a difference take both
scores of one example together. Knows the mathematics and the names of metrics; nothing of intervals or verdicts.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from service.curves.areas import Areas, areas
from service.curves.arrays import FloatArray, IntArray
from service.curves.bounds import Arranged
from service.curves.clock import in_time
from service.curves.confusion import ConfusionTable, Evaluation
from service.curves.curve_statistics import CurveStatistics, curve_statistics
from service.curves.decisions import Decision, chosen_rows_of
from service.curves.hull import RocHull, roc_convex_hull
from service.curves.operating_points import OperatingPoint, operating_points, row_at_threshold, value_of
from service.curves.partial_areas import partial_areas
from service.curves.probability_statistics import ProbabilityStatistics
from service.curves.sample import Sample
from service.inference.clustered_shares import CalledClusters, correlation, mean_of
from service.inference.metric import AREAS, AREAS_WITH_INTERVALS, ENDS, OF_ALL_SCORES, Metric
from service.inference.pairing import blaming_baseline, check_paired, may_have_common_clusters, with_common_clusters
from service.inference.partial_influence import Area, is_of_precision, partial_mean
from service.inference.probability_errors import StatisticError, error_of_statistic
from service.inference.proportions import OfBothClasses, PairedShares, Share
from service.inference.rates import Rate
from service.inference.resampled import Statistic
from service.inference.spread import AreaError, Spread, area_error, paired_spread, unpaired_spread
from service.inference.strata import Strata, Stratum, paired_strata, strata

SHARES_OF_A_ROW = 7
"""How many numbers say how certain recall and fpr of a row are."""


@dataclass(frozen=True, eq=False)
class EvaluatedModel:
    """An evaluation of one model, its table, and what is read off it.

    rows   the table's row of each example, if the sample may be paired with another.
    known  the areas, if already computed.
    made   the thresholds of decisions that were made on more rows than these: NaN for one that calls nothing positive,
           None for one that no row met.
    """

    evaluation: Evaluation | Arranged
    table: ConfusionTable
    rows: IntArray | None = None
    known: Areas | None = None
    made: Mapping[Decision, float | None] = field(default_factory=dict)

    @classmethod
    def of(cls, evaluation: Evaluation | Arranged, *, paired: bool = False) -> "EvaluatedModel":
        """Build the table and, if `paired`, the rows of a sample. Raises RisingThresholds for counts."""
        if paired and isinstance(evaluation, Sample):
            return cls(evaluation, *ConfusionTable.from_sample_with_rows(evaluation))
        if isinstance(evaluation, Arranged):
            return cls(evaluation, evaluation.table, known=evaluation.areas)
        return cls(evaluation, ConfusionTable.of(evaluation))

    @cached_property
    def strata(self) -> Strata:
        """The examples by class, for a sweep."""
        return strata(self.evaluation, self.table)

    def value(self, metric: Metric) -> float | None:
        """The metric; None if undefined."""
        if metric.name in AREAS:
            table = self.table if metric.name == "roc" else self.table.in_use
            swept = metric.name in AREAS_WITH_INTERVALS and self.known is None and table.rises
            area: float | None = getattr(table.swept if swept else self._areas, metric.name)
            return area
        if metric.name in OF_ALL_SCORES:
            return self._statistic(metric)
        value, _ = self._read(metric)
        return None if np.isnan(value) else value

    def statistic(self, metric: Metric) -> Statistic:
        """The metric of resamples: an area by its name, or a function of tp and fp."""
        if metric.name in AREAS:
            return metric.name
        if (part := metric.part) is not None:
            return lambda tp, fp: partial_mean(tp, fp, part, self.table.target)
        return lambda tp, fp: value_of(metric.name, metric.at or 0.0, tp, fp, self.table.target)

    def error_of(self, metric: Metric) -> StatisticError | None:
        """The standard error of a statistic of probabilities; None if it shows no spread."""
        assert self.probabilities is not None  # noqa: S101  # a statistic that has a value
        return error_of_statistic(metric.name, self.probabilities, self.strata)

    def area_error(self, area: Area) -> AreaError:
        """The uncertainty of an area, which is computed once."""
        if area not in self._errors:
            self._errors[area] = area_error(self.strata, area)
        return self._errors[area]

    def trials(self, metric: Metric) -> tuple[float, float]:
        """The effective positives and negatives for the exact ends of an area; of one without spread the clusters."""
        if self.strata.clustered is None or self.value(metric) in ENDS:  # which show no design effect
            return self.strata.units
        return self.area_error(metric.part or metric.name).trials

    def trials_at(self, metric: Metric) -> tuple[tuple[float, float], float]:
        """The effective positives and negatives for a point of a curve, and their freedom.

        With clusters, they are those of the proportions called positive by the first row that reaches the place.
        """
        if self.strata.clustered is None:
            return self.strata.effective, np.inf
        column, total = self.table.fp, self.table.negatives
        if metric.name == "precision_at_recall":
            column, total = self.table.tp, self.table.positives
        row = min(int(column.searchsorted((metric.at or 0.0) * total)), column.size - 1)
        of_recall, of_fpr = self.shares_at(row).shares
        return (of_recall.trials, of_fpr.trials), min(of_recall.freedom, of_fpr.freedom)

    def rate(self, metric: Metric) -> Rate:
        """The metric of a row, as a function."""
        return Rate(metric.name, metric.weight, self.table.positives, self.table.negatives, self.table.target)

    def shares(self, metric: Metric) -> OfBothClasses[Share]:
        """Recall and fpr of the metric's row."""
        return self.shares_at(self.row(metric))

    def shares_at(self, row: int) -> OfBothClasses[Share]:
        """Recall and fpr of a row."""
        rates = float(self.table.tp[row]) / self.table.positives, float(self.table.fp[row]) / self.table.negatives
        means = [mean_of(each, called_at(row, each)) for each in self.strata.classes]
        of_recall, of_fpr = (Share(rate, *mean.certainty) for rate, mean in zip(rates, means, strict=True))
        return OfBothClasses((of_recall, of_fpr), correlation(*(each.deviations for each in means)))

    def shares_of_rows(self, rows: IntArray) -> FloatArray:
        """The recall, its trials and their freedom, the same of the fpr, and their correlation, (7, n).

        Freedom is infinite, and the correlation 0, if examples are independent.
        """
        found = np.full((SHARES_OF_A_ROW, rows.size), np.inf)
        found[0], found[3] = self.table.tp[rows] / self.table.positives, self.table.fp[rows] / self.table.negatives
        found[1], found[4] = (each.effective_sizes(rows) for each in self.strata.classes)
        found[6] = 0.0
        if self.strata.clustered is not None:
            called = [CalledClusters(each) for each in self.strata.classes]
            for place in in_time(np.argsort(rows).tolist()):
                sizes = found[[1, 4], place].tolist()
                means = [each.up_to(int(rows[place]), size) for each, size in zip(called, sizes, strict=True)]
                found[1:3, place], found[4:6, place] = ((each.trials, each.freedom) for each in means)
                found[6, place] = correlation(*(each.deviations for each in means))
        return found

    def row(self, metric: Metric) -> int:
        """The row of the metric's decision, which exists."""
        _, row = self._read(metric)
        assert row is not None  # noqa: S101  # a metric with a value at a decision has a row
        return row

    @cached_property
    def probabilities(self) -> ProbabilityStatistics | None:
        """What the scores are worth as probabilities; None if they are none."""
        return ProbabilityStatistics.of(self.table)

    @cached_property
    def _statistics(self) -> CurveStatistics:
        return curve_statistics(self.table, RocHull.of(self.table), self.probabilities)

    def _statistic(self, metric: Metric) -> float | None:
        """A number of all scores; gini from the area, which open groups bound."""
        if metric.name == "gini":
            roc = self.value(Metric("roc"))
            return None if roc is None else 2 * roc - 1
        if metric.bins is not None:
            binned = ProbabilityStatistics.of(self.table, metric.bins)
            return None if binned is None else binned.reliability.ece
        value: float | None = getattr(self._statistics, metric.name)
        return value

    @cached_property
    def _areas(self) -> Areas:
        return self.known or areas(self.table, self.table.select(roc_convex_hull(self.table)))

    @cached_property
    def _errors(self) -> dict[Area, AreaError]:
        return {}

    @cached_property
    def _readings(self) -> dict[Metric, tuple[float, int | None]]:
        return {}

    def _read(self, metric: Metric) -> tuple[float, int | None]:
        """The metric at its place, and the row of a threshold; NaN and None if undefined."""
        if metric not in self._readings:
            self._readings[metric] = self._reading(metric)
        return self._readings[metric]

    def _reading(self, metric: Metric) -> tuple[float, int | None]:
        if metric.part is not None:
            return float(partial_areas(self.table, [metric.part]).mean[0]), None
        if metric.decision is not None:
            made = metric.decision in self.made
            row = self._made_row(metric.decision) if made else self._row_of(metric.decision, metric.name)
            if row is None:
                return np.nan, None
            counts = self.table.tp[[row]], self.table.fp[[row]]
            return float(self.rate(metric).of_counts(*counts, whole=self.table.integral)[0]), row
        assert metric.at is not None  # noqa: S101  # every metric but an area has a place
        points = operating_points(self.table, [OperatingPoint(metric.name, metric.at)])
        return float(points.value[0]), None

    def _made_row(self, decision: Decision) -> int | None:
        """The row of a decision that was made on more rows."""
        threshold = self.made[decision]
        if threshold is None or np.isnan(threshold):
            return None if threshold is None else 0
        return row_at_threshold(self.table, self.evaluation, threshold)

    def _row_of(self, decision: Decision, name: str) -> int | None:
        """The row of a decision; None if open groups leave it unknown, or no row meets it."""
        groups = self.evaluation.groups if isinstance(self.evaluation, Arranged) else None
        if (threshold := decision.at_threshold) is not None:
            # Inside a group, both orders bound what rises with tp and falls with fp, or the reverse; a share does not.
            if groups is not None and name == "share" and groups.divided_by(np.array([threshold])).any():
                return None
            return row_at_threshold(self.table, self.evaluation, threshold)
        if not isinstance(self.evaluation, Arranged):
            return chosen_rows_of(self.table, [decision])[0]
        ends = np.append(0, np.maximum(*self.evaluation.rows))
        chosen = chosen_rows_of(self.table.select(ends), [decision])[0]
        # The row may lie inside the open group that follows a filled budget, or that first reaches a recall.
        if chosen is None or decision.best is not None:
            return None
        group, is_open = chosen - (decision.at_recall is not None), self.evaluation.groups.is_open
        return None if 0 <= group < is_open.size and is_open[group] else int(ends[chosen])


@dataclass(frozen=True, eq=False)
class Models:
    """A model, or a model and its baseline; `paired` if the examples of both are the same, row by row.

    spreads   of differences of areas, computed so far.
    kept      a difference is the model's metric less this share of the baseline's.
    """

    models: tuple[EvaluatedModel, ...]
    paired: bool = False
    spreads: dict[Area, Spread] = field(default_factory=dict)
    kept: float = 1.0

    @classmethod
    def of(
        cls, evaluation: Evaluation | Arranged, baseline: Evaluation | Arranged | None = None, *, paired: bool = False
    ) -> "Models":
        """Make their tables. Raises NotPaired, and RisingThresholds for counts."""
        if paired:
            check_paired(evaluation, baseline)
        if baseline is not None:
            evaluation, baseline = with_common_clusters([evaluation, baseline], paired=paired)
        model = EvaluatedModel.of(evaluation, paired=paired)
        if baseline is None:
            return cls((model,))
        with blaming_baseline():
            return cls((model, EvaluatedModel.of(baseline, paired=paired)), paired)

    @property
    def first(self) -> "Models":
        """The model alone."""
        return self if len(self.models) == 1 else Models(self.models[:1])

    def stand_ins(self, metric: Metric) -> float:
        """How many positives the negatives of the smaller model stand for, if an area under a PR curve needs them."""
        if not (metric.is_area and is_of_precision(metric.part or metric.name)):
            return math.inf
        return min(each.strata.stand_ins for each in self.models)

    def keeping(self, kept: float) -> "Models":
        """The same, with another share of the baseline in differences."""
        return self if kept == self.kept else replace(self, spreads={}, kept=kept)

    def difference(self, values: Sequence[float]) -> float:
        """That of a metric of both; of a model alone, its value."""
        return values[0] - (self.kept * values[1] if len(values) > 1 else 0.0)

    @property
    def are_enough(self) -> bool:
        """Whether all are sweeps with enough examples of each class for intervals."""
        return all(each.table.rises and each.strata.enough for each in self.models)

    @cached_property
    def strata(self) -> Strata:
        """The examples of the model alone, or the common examples of both if they are paired."""
        if not self.paired:
            return self.models[0].strata
        samples, tables, rows = zip(*((each.evaluation, each.table, each.rows) for each in self.models), strict=True)
        return paired_strata(samples, tables, rows)

    @cached_property
    def have_same_scores(self) -> bool:
        """Whether both are samples with the same scores, row by row, and the same direction of scores."""
        one, *others = (each.evaluation for each in self.models)
        return any(
            isinstance(one, Sample)
            and isinstance(other, Sample)
            and one.lower_is_positive == other.lower_is_positive
            and np.array_equal(one.scores, other.scores)
            and np.array_equal(one.labels, other.labels)
            for other in others
        )

    @property
    def are_alike(self) -> bool:
        """Whether both give the same scores to the same examples, so that no metric can differ."""
        return self.kept == 1 and self.paired and self.have_same_scores

    def values(self, metric: Metric) -> list[float] | None:
        """The metric of each, or None unless all have a value."""
        values = [value for each in self.models if (value := each.value(metric)) is not None]
        return values if len(values) == len(self.models) else None

    def shares(self, metric: Metric) -> OfBothClasses[PairedShares]:
        """The recall and the fpr of both at the metric's threshold, for paired examples."""
        of_each = [each.shares(metric).shares for each in self.models]
        shares, deviations = [], []
        for place, stratum in enumerate(self.strata.classes):
            one, other = (called_at(each.row(metric), stratum, number) for number, each in enumerate(self.models))
            masses = stratum.masses / stratum.masses.max()
            discordant = float(masses[one != other].sum() / masses.sum())
            values, mean = (of_each[0][place].value, of_each[1][place].value), mean_of(stratum, one - other)
            shares.append(PairedShares(values, discordant, *mean.certainty))
            deviations.append(mean.deviations)
        return OfBothClasses((shares[0], shares[1]), correlation(*deviations))

    def spread(self, area: Area) -> Spread:
        """The spread of the difference of an area or a mean loss, kept for the p-value."""
        if area not in self.spreads:
            self.spreads[area] = (
                paired_spread(self.strata, area, self.kept)
                if self.paired
                else unpaired_spread(*self._apart, area, self.kept)
            )
        return self.spreads[area]

    @cached_property
    def _apart(self) -> tuple[Strata, Strata]:
        """The examples of both; with all their clusters, if these are common to both or have several examples."""
        one, other = self.models
        if not may_have_common_clusters([one.evaluation, other.evaluation]):
            return one.strata, other.strata
        kept = [strata(each.evaluation, each.table, keep_clusters=True) for each in self.models]
        return kept[0], kept[1]


def called_at(row: int, stratum: Stratum, number: int = 0) -> FloatArray:
    """For each observation, 1 if this row of the numbered evaluation's table calls it positive, else 0, (n,)."""
    return (stratum.rows[number] <= row).astype(np.float64)
