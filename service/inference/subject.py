"""One evaluation as intervals and gates see it: its table, built once, and every metric of it.

A metric has a value, a statistic for resamples, and an interval without resampling. Knows the mathematics and the
rules' metrics; nothing of baselines or verdicts.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from service.curves.areas import Areas, areas, roc_area
from service.curves.arrays import IntArray
from service.curves.bounds import Arranged
from service.curves.confusion import ConfusionTable, Evaluation
from service.curves.hull import roc_convex_hull
from service.curves.operating_points import OperatingPoint, at_threshold, operating_points, value_of
from service.curves.partial_areas import partial_areas
from service.curves.sample import Sample
from service.inference.intervals import (
    Interval,
    delong_interval,
    exact_interval,
    exact_pr_interval,
    logit_interval,
    normal_quantile,
    pr_logit_interval,
    score_interval,
    within_exact,
)
from service.inference.partial_influence import partial_mean, perfect_lower_end, worst_upper_end
from service.inference.rates import ON_CURVES, Rate, rate_ends
from service.inference.resampled import Statistic
from service.inference.rules import AREAS, Metric
from service.inference.score import Ends, Share
from service.inference.spread import standard_error
from service.inference.strata import Strata, strata

ENDS = (0.0, 1.0)
"""The least and the greatest value of a metric; an area, or a point of a curve, shows no spread there."""


@dataclass(frozen=True, eq=False)
class Subject:
    """An evaluation, its table, and the results computed so far.

    rows   the table's row of each example, if the sample may be paired with another.
    known  the areas, if already computed.
    """

    evaluation: Evaluation | Arranged
    table: ConfusionTable
    rows: IntArray | None = None
    known: Areas | None = None

    @classmethod
    def of(cls, evaluation: Evaluation | Arranged, *, paired: bool = False) -> "Subject":
        """Build the table and, if `paired`, the rows of a sample. Raises RisingThresholds for counts."""
        if paired and isinstance(evaluation, Sample):
            return cls(evaluation, *ConfusionTable.with_rows(evaluation))
        if isinstance(evaluation, Arranged):
            return cls(evaluation, evaluation.table, known=evaluation.areas)
        return cls(evaluation, ConfusionTable.of(evaluation))

    @cached_property
    def strata(self) -> Strata:
        """The examples by class, for a sweep."""
        return strata(self.evaluation, self.table)

    @property
    def is_enough(self) -> bool:
        """Whether it is a sweep with enough examples of each class for intervals."""
        return self.table.rises and self.strata.enough

    def value(self, metric: Metric) -> float | None:
        """The metric; None if undefined."""
        if metric.name == "roc":
            return self._roc
        if metric.name in AREAS:
            area: float | None = getattr(self._areas, metric.name)
            return area
        value, _ = self._reading(metric)
        return None if np.isnan(value) else value

    def statistic(self, metric: Metric) -> Statistic:
        """The metric as a statistic of resamples: an area, or a metric of a curve that has intervals."""
        if metric.name in AREAS:
            return metric.name
        if (part := metric.part) is not None:
            return lambda tp, fp: partial_mean(tp, fp, part)
        return lambda tp, fp: value_of(metric.name, metric.at or 0.0, tp, fp)

    def interval(self, metric: Metric, value: float, level: float, method: str = "logit") -> Interval:
        """The interval of a metric with this value, without resampling; `method` is for an area under the ROC curve.

        An area of exactly 0 or 1 has no spread, so its interval is exact.
        """
        if not metric.is_area:
            return score_interval(self.score_ends(metric, value, normal_quantile(level)), level)
        if value in ENDS:
            return self._exact(metric, value, level)
        if metric.name != "roc" and metric.part is None:
            return self.capped(metric, pr_logit_interval(value, self.strata.positives.effective, level))
        error = standard_error(self.strata, area=metric.part or metric.name)
        if method == "delong":
            return delong_interval(value, error, level)
        return self.capped(metric, logit_interval(value, error, level))

    def capped(self, metric: Metric, interval: Interval) -> Interval:
        """The interval of an area, no narrower than for an area of 1 or 0 (`within_exact`); others unchanged."""
        if not metric.is_area:
            return interval
        worst = self._exact(metric, 0.0, interval.level) if metric.name == "roc" else None
        return within_exact(interval, self._exact(metric, 1.0, interval.level), worst)

    def _exact(self, metric: Metric, value: float, level: float) -> Interval:
        """The interval of an area of 0 or 1; an area under a PR curve is never 0."""
        if metric.part is not None:
            trials, totals = self.strata.effective, (self.table.positives, self.table.negatives)
            if value > 0:
                return Interval(perfect_lower_end(metric.part, totals, trials, level), 1.0, level, "exact", None)
            upper = worst_upper_end(self.table, metric.part, trials, normal_quantile(level))
            return Interval(0.0, upper, level, "exact", None)
        if metric.name == "roc":
            return exact_interval(value, min(self.strata.effective), level)
        return exact_pr_interval((self.table.positives, self.table.negatives), self.strata.effective, level)

    def score_ends(self, metric: Metric, value: float, z: float) -> Ends:
        """The score interval of a metric other than an area, with this value."""
        if metric.at_threshold is not None:
            recall, fpr = self.shares(metric)
            return rate_ends(self.rate(metric), value, (recall, fpr), z)
        return ON_CURVES[metric.name](self.table, metric.at or 0.0, value, self.strata.effective, z)

    def rate(self, metric: Metric) -> Rate:
        """A metric at a threshold as a function of recall and fpr."""
        return Rate(metric.name, metric.at, self.table.positives, self.table.negatives)

    def shares(self, metric: Metric) -> tuple[Share, Share]:
        """Recall and fpr at the metric's threshold."""
        row, table = self.row(metric), self.table
        of_class = zip(self.strata.classes, (table.tp, table.fp), (table.positives, table.negatives), strict=True)
        recall, fpr = (
            Share(float(counts[row]) / total, kinds.trials((kinds.rows[0] <= row).astype(np.float64)))
            for kinds, counts, total in of_class
        )
        return recall, fpr

    def row(self, metric: Metric) -> int:
        """The row of the metric's threshold, which exists."""
        _, row = self._reading(metric)
        assert row is not None  # noqa: S101  # a metric with a value at a threshold has a row
        return row

    @cached_property
    def _areas(self) -> Areas:
        return self.known or areas(self.table, self.table.select(roc_convex_hull(self.table)))

    @cached_property
    def _roc(self) -> float | None:
        if self.known:
            return self.known.roc
        return roc_area(self.table) if self.table.rises else None

    @cached_property
    def _readings(self) -> dict[Metric, tuple[float, int | None]]:
        return {}

    def _reading(self, metric: Metric) -> tuple[float, int | None]:
        """The metric at its place, and the row of a threshold; NaN and None if undefined."""
        if metric not in self._readings:
            self._readings[metric] = self._read(metric)
        return self._readings[metric]

    def _read(self, metric: Metric) -> tuple[float, int | None]:
        if metric.part is not None:
            return float(partial_areas(self.table, [metric.part]).mean[0]), None
        if metric.at_threshold is not None:
            return at_threshold(self.table, self.evaluation, metric.at_threshold, metric.name, metric.at)
        assert metric.at is not None  # noqa: S101  # every metric but an area has a place
        points = operating_points(self.table, [OperatingPoint(metric.name, metric.at)])
        return float(points.value[0]), None
