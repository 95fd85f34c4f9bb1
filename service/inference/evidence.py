"""What the data say about metrics: values, intervals and differences, of an evaluation and of its baseline.

Everything that has to be resampled is announced first and resampled together, so that each resample is made once.
Knows subjects, intervals and the bootstrap; nothing of bounds or verdicts.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from service.curves.counts import Counts
from service.curves.errors import CurvesError, NotPaired
from service.curves.evaluation import TRAPEZOID_OMITTED, CurvesWarning
from service.curves.exact import FloatArray
from service.curves.sample import Sample
from service.inference.bootstrap import LeftOut, can_resample, jackknife, replicates
from service.inference.delong import paired_error, standard_error, unpaired_error
from service.inference.intervals import (
    RESAMPLED_METHODS,
    TOO_FEW_EXAMPLES,
    Interval,
    IntervalOptions,
    delong_interval,
    difference_interval,
    difference_p_value,
    exact_interval,
    logit_interval,
    mover_interval,
    pr_logit_interval,
    resampled_interval,
    resampled_p_value,
)
from service.inference.rules import AREAS, AREAS_WITH_INTERVALS, Metric
from service.inference.strata import Strata, paired_strata
from service.inference.subject import Subject

_NOT_DRAWN = "Counts that are fractional, or above 2^53, are not resampled, so the interval of"
_NOT_TOLD = "Some resamples have no value, or all of them lie on one side of it, so the interval of"

CURRENT, BASELINE = 0, 1
"""The evaluations, and the streams of their resamples where they are not paired."""


def is_resampled(metric: Metric, method: str, *, difference: bool) -> bool:
    """Whether an interval of this metric, or of its difference, comes from resamples."""
    if metric.name in AREAS and metric.name not in AREAS_WITH_INTERVALS:
        return False
    if method in RESAMPLED_METHODS:
        return True
    if difference or method == "delong":
        return metric.name != "roc"
    return metric.name not in AREAS_WITH_INTERVALS


@dataclass(frozen=True, slots=True, eq=False)
class Resampled:
    """A metric of resamples: the values, (B,), and for `bca` those without one example, of each class."""

    values: FloatArray
    left_out: Sequence[LeftOut] | None

    def less(self, other: "Resampled", *, paired: bool) -> "Resampled":
        """The differences: of the same resamples, or of independent ones, each example being in one of the two."""
        values = self.values - other.values
        if self.left_out is None or other.left_out is None:
            return Resampled(values, None)
        if paired:
            both = zip(self.left_out, other.left_out, strict=True)
            return Resampled(values, [LeftOut(one.values - two.values, one.examples) for one, two in both])
        return Resampled(values, [*self.left_out, *(LeftOut(-each.values, each.examples) for each in other.left_out)])


class Evidence:
    """The metrics of an evaluation and perhaps of a baseline. Raises NotPaired, and RisingThresholds for counts."""

    def __init__(
        self, evaluation: Sample | Counts, baseline: Sample | Counts | None, options: IntervalOptions, *, paired: bool
    ) -> None:
        if paired:
            check_paired(evaluation, baseline)
        self.options = options
        self.paired = paired
        self._subjects = [Subject(evaluation, paired=paired)]
        if baseline is not None:
            with blaming("baseline"):
                self._subjects.append(Subject(baseline, paired=paired))
        self._alone: list[dict[Metric, Resampled]] = [{} for _ in self._subjects]
        self._differences: dict[Metric, Resampled] = {}
        self._omitted: list[CurvesWarning] = []

    @property
    def warnings(self) -> tuple[CurvesWarning, ...]:
        """What the caller should know of the data, and of what was asked for so far."""
        found = [warning for subject in self._subjects for warning in subject.warnings]
        return tuple(dict.fromkeys(found + self._omitted))

    def value(self, metric: Metric) -> float | None:
        """The metric of the evaluation, None where it has no value."""
        value = self._subjects[CURRENT].value(metric)
        if metric.name == "pr_trapezoid" and value is None and self._subjects[CURRENT].table.sweep:
            self._omitted.append(TRAPEZOID_OMITTED)
        return value

    def baseline_value(self, metric: Metric) -> float | None:
        """The metric of the baseline, None where there is none."""
        return self._subjects[BASELINE].value(metric) if len(self._subjects) > 1 else None

    def expect(self, wanted: Iterable[tuple[Metric, bool]]) -> None:
        """Announce the intervals that will be asked for: of metrics, or where True of their differences."""
        method = self.options.method
        alone: list[list[Metric]] = [[] for _ in self._subjects]
        differences: list[Metric] = []
        for metric, difference in dict.fromkeys(wanted):
            evaluations = range(len(self._subjects)) if difference else (CURRENT,)
            there = [evaluation for evaluation in evaluations if self._can_resample(metric, evaluation)]
            if difference and is_resampled(metric, method, difference=True) and len(there) > 1:
                differences.append(metric)
            if is_resampled(metric, method, difference=False) and (not difference or self._is_combined(metric)):
                for evaluation in there:
                    alone[evaluation].append(metric)
        if differences and self.paired:
            pairs = self._resample(self._pair, differences, (CURRENT, BASELINE))
            self._differences = {metric: one.less(two, paired=True) for metric, (one, two) in pairs.items()}
        elif differences:
            alone = [metrics + differences for metrics in alone]
        for evaluation, metrics in enumerate(alone):
            if metrics:
                found = self._resample(self._subjects[evaluation].strata, dict.fromkeys(metrics), (evaluation,))
                self._alone[evaluation] = {metric: each for metric, (each,) in found.items()}
        if differences and not self.paired:
            ours, theirs = self._alone
            self._differences = {metric: ours[metric].less(theirs[metric], paired=False) for metric in differences}

    def interval(self, metric: Metric, level: float) -> Interval | None:
        """The interval of the metric of the evaluation, None where it has none."""
        found = self._interval(metric, CURRENT, level)
        if found is None:
            self._warn(str(metric), metric, self._subjects[:1])
        return found

    def difference_interval(self, metric: Metric, level: float) -> Interval | None:
        """The interval of the evaluation's metric less the baseline's, None where it has none.

        A value of exactly 0 or 1 has no spread of its own, so there the intervals of both values are combined, unless
        the two are the same scores.
        """
        found = self._difference_interval(metric, level)
        if found is None:
            self._warn(f"the difference of {metric}", metric, self._subjects)
        return found

    def p_value(self, metric: Metric, *, resampled: bool) -> float | None:
        """The two-sided p-value of no difference; of all but roc only where resamples were announced.

        None for a value of exactly 0 or 1, whose lack of spread would make any difference look certain.
        """
        values = self._both(metric)
        if values is None or self._is_combined(metric):
            return None
        if metric.name == "roc":
            return difference_p_value(values[0] - values[1], self._error)
        found = self._differences.get(metric) if resampled else None
        return None if found is None else resampled_p_value(found.values)

    @cached_property
    def _pair(self) -> Strata:
        current, baseline = self._subjects
        samples = (current.evaluation, baseline.evaluation)
        return paired_strata(samples, (current.table, baseline.table), (current.rows, baseline.rows))  # type: ignore[arg-type]  # check_paired

    @cached_property
    def _are_alike(self) -> bool:
        """Whether both give the same scores to the same examples, so that no metric can differ."""
        if not self.paired:
            return False
        current, baseline = (subject.evaluation for subject in self._subjects)
        alike = np.array_equal(current.scores, baseline.scores)  # type: ignore[union-attr]  # check_paired
        return alike and current.lower_is_positive == baseline.lower_is_positive

    @cached_property
    def _error(self) -> float:
        """DeLong's standard error of the difference of the areas under the ROC curve."""
        if self.paired:
            return paired_error(self._pair)
        return unpaired_error(self._subjects[CURRENT].strata, self._subjects[BASELINE].strata)

    def _both(self, metric: Metric) -> tuple[float, float] | None:
        """The values of both evaluations, where both have one, and intervals."""
        if len(self._subjects) == 1 or not all(subject.has_interval(metric) for subject in self._subjects):
            return None
        current, baseline = (subject.value(metric) for subject in self._subjects)
        return None if current is None or baseline is None else (current, baseline)

    def _is_combined(self, metric: Metric) -> bool:
        """Whether the interval of the difference is made of an interval of each."""
        values = self._both(metric)
        return values is not None and not self._are_alike and any(value in {0.0, 1.0} for value in values)

    def _difference_interval(self, metric: Metric, level: float) -> Interval | None:
        values = self._both(metric)
        if values is None:
            return None
        if self._is_combined(metric):
            ends = [self._interval(metric, evaluation, level) for evaluation in (CURRENT, BASELINE)]
            return mover_interval(values, (ends[0], ends[1])) if ends[0] and ends[1] else None
        if not is_resampled(metric, self.options.method, difference=True):
            return difference_interval(values[0] - values[1], self._error, level)
        return _ends(self._differences.get(metric), values[0] - values[1], level)

    def _interval(self, metric: Metric, evaluation: int, level: float) -> Interval | None:
        subject = self._subjects[evaluation]
        value = subject.value(metric)
        if value is None or not subject.has_interval(metric):
            return None
        if value in {0.0, 1.0}:
            return exact_interval(value, subject.trials(metric), level)
        if is_resampled(metric, self.options.method, difference=False):
            return _ends(self._alone[evaluation].get(metric), value, level)
        if metric.name != "roc":
            return pr_logit_interval(value, subject.strata.positives.effective, level)
        make = delong_interval if self.options.method == "delong" else logit_interval
        return make(value, standard_error(subject.strata), level)

    def _can_resample(self, metric: Metric, evaluation: int) -> bool:
        subject = self._subjects[evaluation]
        return subject.value(metric) is not None and subject.has_interval(metric) and can_resample(subject.strata)

    def _resample(
        self, strata: Strata, metrics: Iterable[Metric], evaluations: tuple[int, ...]
    ) -> dict[Metric, list[Resampled]]:
        """Resample metrics of the evaluations that these strata are of.

        The current evaluation's resamples are those of its intervals anywhere, whatever else is asked for.
        """
        options = self.options
        names = {str(number): metric for number, metric in enumerate(metrics)}
        statistics = {
            name: tuple(self._subjects[evaluation].statistic(metric) for evaluation in evaluations)
            for name, metric in names.items()
        }
        values = replicates(strata, statistics, options.resamples, options.seed, evaluations[0])
        left_out = jackknife(strata, statistics) if options.method == "bca" else None
        return {
            metric: [
                Resampled(each, None if left_out is None else left_out[name][place])
                for place, each in enumerate(values[name])
            ]
            for name, metric in names.items()
        }

    def _warn(self, what: str, metric: Metric, subjects: Sequence[Subject]) -> None:
        """Say why something has no interval, unless its value or the evaluation does."""
        if any(subject.table.sweep and not subject.strata.enough for subject in subjects):
            self._omitted.append(TOO_FEW_EXAMPLES)
            return
        if any(subject.value(metric) is None or not subject.has_interval(metric) for subject in subjects):
            return
        drawn = all(can_resample(subject.strata) for subject in subjects)
        self._omitted.append(CurvesWarning("interval_omitted", f"{_NOT_TOLD if drawn else _NOT_DRAWN} {what} is null."))


def _ends(resampled: Resampled | None, estimate: float, level: float) -> Interval | None:
    return None if resampled is None else resampled_interval(resampled.values, level, estimate, resampled.left_out)


def check_paired(evaluation: Sample | Counts, baseline: Sample | Counts | None) -> None:
    """Raise NotPaired unless both are samples with the same labels and weights, row by row."""
    if not isinstance(evaluation, Sample) or not isinstance(baseline, Sample):
        raise NotPaired("Counts do not tell which example is which, so they cannot be paired.", "paired")
    if evaluation.rows != baseline.rows:
        detail = (
            f"The evaluation has {evaluation.rows} rows and the baseline {baseline.rows}, so they cannot be paired."
        )
        raise NotPaired(detail, "paired")
    ours, theirs = (np.ones(1) if each.weights is None else each.weights for each in (evaluation, baseline))
    for name, differs in (("labels", evaluation.labels != baseline.labels), ("weights", ours != theirs)):
        rows = np.flatnonzero(differs)
        if rows.size:
            with blaming("baseline"):
                detail = f"Row {rows[0]} has not the same {name} in both evaluations; pairs are counted from 0."
                raise NotPaired(detail, name, int(rows[0]))


@contextmanager
def blaming(evaluation: str) -> Iterator[None]:
    """Let a fact say which of the evaluations it is about."""
    try:
        yield
    except CurvesError as fact:
        fact.evaluation = evaluation
        raise
