"""One model, or a model and its baseline: their tables, and metrics, each of which is read off a table once.

    value       a metric: an area, the mean of a part, a point of a curve, a metric of a row, or a statistic
    statistic   the same metric of a resample, from its tp and fp
    shares      recall and fpr of a row, as proportions of a number of examples

If two models are paired, their examples are the same, row by row: then resamples and spreads of a difference take both
scores of one example together. Knows the mathematics and the names of metrics; nothing of intervals or verdicts.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from service.curves.areas import Areas, areas
from service.curves.arrays import FloatArray, IntArray
from service.curves.bounds import Arranged
from service.curves.confusion import ConfusionTable, Evaluation
from service.curves.curve_statistics import CurveStatistics, curve_statistics
from service.curves.decisions import Decision, chosen_rows_of
from service.curves.errors import DomainError, NotPaired, counted_rows
from service.curves.hull import RocHull, roc_convex_hull
from service.curves.operating_points import OperatingPoint, operating_points, row_at_threshold, value_of
from service.curves.partial_areas import partial_areas
from service.curves.probability_statistics import ProbabilityStatistics
from service.curves.sample import Sample
from service.inference.metric import AREAS, AREAS_WITH_INTERVALS, OF_ALL_SCORES, Metric
from service.inference.partial_influence import Area, partial_mean
from service.inference.probability_errors import error_of_statistic
from service.inference.proportions import PairedShares, Share
from service.inference.rates import Rate
from service.inference.resampled import Statistic
from service.inference.spread import Spread, standard_error
from service.inference.strata import Strata, Stratum, paired_strata, strata


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
            swept = metric.name in AREAS_WITH_INTERVALS and self.known is None and self.table.rises
            area: float | None = getattr(self.table.swept if swept else self._areas, metric.name)
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
            return lambda tp, fp: partial_mean(tp, fp, part)
        return lambda tp, fp: value_of(metric.name, metric.at or 0.0, tp, fp)

    def error_of(self, metric: Metric) -> float | None:
        """The standard error of a statistic of probabilities; None if it shows no spread."""
        assert self.probabilities is not None  # noqa: S101  # a statistic that has a value
        return error_of_statistic(metric.name, self.probabilities, self.strata)

    def standard_error(self, area: Area) -> float:
        """The standard error of an area, which is computed once."""
        if area not in self._errors:
            self._errors[area] = standard_error(self.strata, area)
        return self._errors[area]

    def rate(self, metric: Metric) -> Rate:
        """The metric of a row, as a function."""
        return Rate(metric.name, metric.weight, self.table.positives, self.table.negatives)

    def shares(self, metric: Metric) -> tuple[Share, Share]:
        """Recall and fpr of the metric's row."""
        return self.shares_at(self.row(metric))

    def shares_at(self, row: int) -> tuple[Share, Share]:
        """Recall and fpr of a row."""
        called = float(self.table.tp[row]), float(self.table.fp[row])
        sizes = [each.effective_size(called_at(row, each)) for each in self.strata.classes]
        return Share(called[0] / self.table.positives, sizes[0]), Share(called[1] / self.table.negatives, sizes[1])

    def shares_of_rows(self, rows: IntArray) -> list[tuple[FloatArray, FloatArray]]:
        """Recall and fpr of rows, each with its trials, (n,)."""
        rates = (self.table.tp[rows] / self.table.positives, self.table.fp[rows] / self.table.negatives)
        sizes = (each.effective_sizes(rows) for each in self.strata.classes)
        return list(zip(rates, sizes, strict=True))

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
    def _errors(self) -> dict[Area, float]:
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
    """

    models: tuple[EvaluatedModel, ...]
    paired: bool = False
    spreads: dict[Area, Spread] = field(default_factory=dict)

    @classmethod
    def of(
        cls, evaluation: Evaluation | Arranged, baseline: Evaluation | Arranged | None = None, *, paired: bool = False
    ) -> "Models":
        """Make their tables. Raises NotPaired, and RisingThresholds for counts."""
        if paired:
            check_paired(evaluation, baseline)
        model = EvaluatedModel.of(evaluation, paired=paired)
        if baseline is None:
            return cls((model,))
        with blaming_baseline():
            return cls((model, EvaluatedModel.of(baseline, paired=paired)), paired)

    @property
    def first(self) -> "Models":
        """The model alone."""
        return self if len(self.models) == 1 else Models(self.models[:1])

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
        return self.paired and self.have_same_scores

    def values(self, metric: Metric) -> list[float] | None:
        """The metric of each, or None unless all have a value."""
        values = [value for each in self.models if (value := each.value(metric)) is not None]
        return values if len(values) == len(self.models) else None

    def shares(self, metric: Metric) -> tuple[PairedShares, PairedShares]:
        """The recall and the fpr of both at the metric's threshold, for paired examples."""
        of_each = [each.shares(metric) for each in self.models]
        shares = []
        for place, stratum in enumerate(self.strata.classes):
            one, other = (called_at(each.row(metric), stratum, number) for number, each in enumerate(self.models))
            masses = stratum.masses / stratum.masses.max()
            discordant = float(masses[one != other].sum() / masses.sum())
            values = of_each[0][place].value, of_each[1][place].value
            shares.append(PairedShares(values, discordant, stratum.effective_size(one - other)))
        return shares[0], shares[1]


def called_at(row: int, stratum: Stratum, number: int = 0) -> FloatArray:
    """For each observation, 1 if this row of the numbered evaluation's table calls it positive, else 0, (n,)."""
    return (stratum.rows[number] <= row).astype(np.float64)


def check_paired(evaluation: Evaluation | Arranged, baseline: Evaluation | Arranged | None) -> None:
    """Raise NotPaired unless both are samples with the same labels and weights, row by row."""
    if not isinstance(evaluation, Sample) or not isinstance(baseline, Sample):
        raise NotPaired("Counts and groups do not identify single examples, so they cannot be paired.", "paired")
    if evaluation.rows != baseline.rows:
        lengths = f"The evaluation has {counted_rows(evaluation.rows)} and the baseline {baseline.rows}"
        detail = f"{lengths}, so they cannot be paired."
        raise NotPaired(detail, "paired")
    ours, theirs = (np.ones(1) if each.weights is None else each.weights for each in (evaluation, baseline))
    for name, differs in (("labels", evaluation.labels != baseline.labels), ("weights", ours != theirs)):
        rows = np.flatnonzero(differs)
        if rows.size:
            with blaming_baseline():
                detail = (
                    f"Row {rows[0]}, counting from 0, has different {name} in the two evaluations, so they cannot "
                    "be paired."
                )
                raise NotPaired(detail, name, int(rows[0]))


@contextmanager
def blaming_baseline() -> Iterator[None]:
    """Tag errors raised in the block as about the baseline."""
    try:
        yield
    except DomainError as error:
        error.evaluation = "baseline"
        raise
