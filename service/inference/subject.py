"""One evaluation as a gate sees it: its table, made once, and every metric of it, as a number and for resamples.

Knows the mathematics and the rules' metrics; nothing of intervals or verdicts.
"""

from functools import cached_property

import numpy as np

from service.curves.areas import Areas, areas, roc_area
from service.curves.confusion import ConfusionTable
from service.curves.counts import Counts
from service.curves.evaluation import NOT_A_SWEEP, CurvesWarning
from service.curves.exact import FloatArray, IntArray
from service.curves.hull import RocHull
from service.curves.operating_points import OperatingPoint, at_threshold, operating_points, rate, value_of
from service.curves.sample import Sample
from service.inference.bootstrap import RESAMPLED, Statistic, row_by_row
from service.inference.rules import AREAS, AREAS_WITH_INTERVALS, Metric
from service.inference.strata import Strata, effective_up_to, strata


class Subject:
    """An evaluation and what was computed from it so far. Raises RisingThresholds for counts."""

    def __init__(self, evaluation: Sample | Counts, *, paired: bool = False) -> None:
        """Make the table; of a sample that is `paired`, find the row of each example with it."""
        self.evaluation = evaluation
        self.rows: IntArray | None = None
        if paired and isinstance(evaluation, Sample):
            self.table, self.rows = ConfusionTable.with_rows(evaluation)
        else:
            self.table = ConfusionTable.of(evaluation)
        self._readings: dict[Metric, tuple[float, int | None]] = {}

    @cached_property
    def strata(self) -> Strata:
        """Its examples by class; of a sweep only."""
        return strata(self.evaluation, self.table)

    @property
    def warnings(self) -> tuple[CurvesWarning, ...]:
        """What the caller should know of it."""
        return () if self.table.sweep else (NOT_A_SWEEP,)

    def has_interval(self, metric: Metric) -> bool:
        """Whether there are intervals of this metric, and enough examples of each class for one."""
        known = metric.name in AREAS_WITH_INTERVALS or metric.name not in AREAS
        return known and self.table.sweep and self.strata.enough

    def value(self, metric: Metric) -> float | None:
        """The metric, None where it has no value."""
        if metric.name == "roc":
            return self._roc
        if metric.name in AREAS:
            area: float | None = getattr(self._areas, metric.name)
            return area
        value, _ = self._reading(metric)
        return None if np.isnan(value) else value

    def statistic(self, metric: Metric) -> Statistic:
        """The same metric of resamples of this evaluation, of which it has a value."""
        if metric.name in AREAS:
            return RESAMPLED[metric.name]
        if metric.at_threshold is None:
            return row_by_row(lambda tp, fp: value_of(metric.name, metric.at or 0.0, tp, fp), at_corners=True)
        _, row = self._reading(metric)

        def at_row(tp: FloatArray, fp: FloatArray) -> float:
            return rate(metric.name, metric.at, (float(tp[row]), float(fp[row])), (float(tp[-1]), float(fp[-1])))

        return row_by_row(at_row)

    def trials(self, metric: Metric) -> float:
        """How many trials with one outcome a metric of 0 or 1 is, all examples weighing the same."""
        positives, negatives = self.strata.classes
        if metric.name == "recall":
            return positives.effective
        if metric.name == "fpr":
            return negatives.effective
        if metric.name == "precision":
            _, row = self._reading(metric)
            return effective_up_to(self.strata, row or 0)
        return self.strata.trials

    @cached_property
    def _areas(self) -> Areas:
        return areas(self.table, self.table.select(RocHull.of(self.table).vertices))

    @cached_property
    def _roc(self) -> float | None:
        return roc_area(self.table) if self.table.sweep else None

    def _reading(self, metric: Metric) -> tuple[float, int | None]:
        """The metric at its place, and the row of a threshold; NaN and None where there is none."""
        if metric not in self._readings:
            self._readings[metric] = self._read(metric)
        return self._readings[metric]

    def _read(self, metric: Metric) -> tuple[float, int | None]:
        if metric.at_threshold is not None:
            return at_threshold(self.table, self.evaluation, metric.at_threshold, metric.name, metric.at)
        assert metric.at is not None  # noqa: S101  # every metric but an area has a place
        points = operating_points(self.table, [OperatingPoint(metric.name, metric.at)])
        return float(points.value[0]), None
