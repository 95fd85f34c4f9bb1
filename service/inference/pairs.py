"""An evaluation and its baseline: whether their examples are the same, and how certain their differences are.

Knows subjects and intervals; nothing of how resamples are drawn, of bounds or verdicts.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from service.curves.bounds import Arranged
from service.curves.confusion import Evaluation
from service.curves.errors import CurvesError, NotPaired, counted_rows
from service.curves.sample import Sample
from service.inference.intervals import (
    Interval,
    area_difference_interval,
    difference_interval,
    difference_p_value,
    mover_ends,
    normal_quantile,
    replicate_p_value,
    score_interval,
)
from service.inference.rates import paired_rate_ends
from service.inference.replicates import Replicates
from service.inference.rules import Metric
from service.inference.score import Ends, PairedShares, p_value
from service.inference.spread import Spread, paired_spread, unpaired_spread
from service.inference.strata import Strata, paired_strata
from service.inference.subject import ENDS, Subject

SHARES = ("recall", "fpr")
"""The metrics at a threshold that are proportions: of the positives, and of the negatives."""


@dataclass(frozen=True, eq=False)
class Pair:
    """An evaluation and its baseline; `paired` if their examples are the same, row by row."""

    current: Subject
    baseline: Subject
    paired: bool

    @classmethod
    def of(cls, evaluation: Evaluation | Arranged, baseline: Evaluation | Arranged, *, paired: bool) -> "Pair":
        """Make their tables. Raises NotPaired, and RisingThresholds for counts."""
        if paired:
            check_paired(evaluation, baseline)
        current = Subject.of(evaluation, paired=paired)
        with blaming_baseline():
            return cls(current, Subject.of(baseline, paired=paired), paired)

    @property
    def subjects(self) -> tuple[Subject, Subject]:
        """Both."""
        return self.current, self.baseline

    @cached_property
    def strata(self) -> Strata:
        """The common examples of both, if they are paired."""
        samples = (self.current.evaluation, self.baseline.evaluation)
        tables = (self.current.table, self.baseline.table)
        return paired_strata(samples, tables, (self.current.rows, self.baseline.rows))  # type: ignore[arg-type]  # check_paired

    @property
    def are_alike(self) -> bool:
        """Whether both give the same scores to the same examples, so that no metric can differ."""
        return self.paired and self.have_same_scores

    @cached_property
    def have_same_scores(self) -> bool:
        """Whether both are samples with the same scores, row by row, and the same direction of scores."""
        current, baseline = self.current.evaluation, self.baseline.evaluation
        if not isinstance(current, Sample) or not isinstance(baseline, Sample):
            return False
        alike = np.array_equal(current.scores, baseline.scores) and np.array_equal(current.labels, baseline.labels)
        return alike and current.lower_is_positive == baseline.lower_is_positive

    def values(self, metric: Metric) -> tuple[float, float] | None:
        """The metric of both, or None unless both have a value."""
        current, baseline = self.current.value(metric), self.baseline.value(metric)
        return None if current is None or baseline is None else (current, baseline)

    def interval(
        self, metric: Metric, values: tuple[float, float], level: float, method: str, replicates: Replicates | None
    ) -> Interval | None:
        """The interval of the difference of a metric with these values; None if resamples give none.

        Values of exactly 0 or 1 have no spread of their own: the intervals of both are combined.
        """
        difference = values[0] - values[1]
        if self.are_alike:
            return Interval(0.0, 0.0, level, method, None if method == "score" else 0.0)
        if metric.at_threshold is not None:
            return score_interval(self._rate_ends(metric, values)(normal_quantile(level)), level)
        if self.has_end(values):
            one, other = (
                each.interval(metric, value, level) for each, value in zip(self.subjects, values, strict=True)
            )
            ends = mover_ends(values, ((one.lower, one.upper), (other.lower, other.upper)))
            return Interval(*ends, level, "exact" if metric.is_area else "score", None)
        if method in {"delong", "mover"}:
            spread = self._spread(metric)
            if method == "delong":
                return difference_interval(difference, spread.error, level)
            return area_difference_interval(values, spread, level)
        return None if replicates is None else replicates.interval(difference, level)

    def p_value(self, metric: Metric, values: tuple[float, float], replicates: Replicates | None) -> float | None:
        """The two-sided p-value of no difference; None if resamples were needed and there are none.

        Also None if an area or a point of a curve is exactly 0 or 1: without a spread any difference would look
        certain.
        """
        if self.are_alike:
            return 1.0
        if metric.name in SHARES and self.paired:
            return self._shares(metric)[SHARES.index(metric.name)].p_value
        if metric.at_threshold is not None:
            return p_value(values[0] - values[1], self._rate_ends(metric, values))
        if self.has_end(values):
            return None
        if metric.name == "roc" or (replicates is None and metric.is_area):
            return difference_p_value(values[0] - values[1], self._spread(metric).error)
        return None if replicates is None else replicate_p_value(replicates.values)

    @staticmethod
    def has_end(values: tuple[float, float]) -> bool:
        """Whether one of the values is exactly 0 or 1."""
        return any(value in ENDS for value in values)

    def _spread(self, metric: Metric) -> Spread:
        """The spread of the difference of an area."""
        if metric not in self._spreads:
            area = metric.part or metric.name
            self._spreads[metric] = (
                paired_spread(self.strata, area)
                if self.paired
                else unpaired_spread(self.current.strata, self.baseline.strata, area)
            )
        return self._spreads[metric]

    @cached_property
    def _spreads(self) -> dict[Metric, Spread]:
        return {}

    def _rate_ends(self, metric: Metric, values: tuple[float, float]) -> Callable[[float], Ends]:
        """The ends of the interval of the difference of a rate at a threshold, for each z."""
        current, baseline = self.subjects
        if not self.paired:
            return lambda z: mover_ends(
                values, (current.score_ends(metric, values[0], z), baseline.score_ends(metric, values[1], z))
            )
        shares = self._shares(metric)
        if metric.name in SHARES:
            return shares[SHARES.index(metric.name)].interval
        return lambda z: paired_rate_ends(current.rate(metric), values[0] - values[1], shares, z)

    def _shares(self, metric: Metric) -> tuple[PairedShares, PairedShares]:
        """The recall and the fpr of both at the metric's threshold, for paired examples."""
        shares = []
        ours_theirs = zip(self.current.shares(metric), self.baseline.shares(metric), self.strata.classes, strict=True)
        for ours, theirs, kinds in ours_theirs:
            called = [(at <= each.row(metric)) + 0.0 for at, each in zip(kinds.rows, self.subjects, strict=True)]
            masses = kinds.masses / kinds.masses.max()
            discordant = float(masses[called[0] != called[1]].sum() / masses.sum())
            trials = kinds.trials(called[0] - called[1])
            shares.append(PairedShares((ours.value, theirs.value), discordant, trials))
        return shares[0], shares[1]


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
    except CurvesError as fact:
        fact.evaluation = "baseline"
        raise
