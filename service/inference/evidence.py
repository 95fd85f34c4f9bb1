"""What the data say about metrics: values, intervals and differences of an evaluation and, if given, its baseline.

Knows subjects, pairs and methods; nothing of how intervals are computed, nor of bounds or verdicts.
"""

import math
from collections.abc import Iterable, Sequence

from service.curves.evaluation import NOT_A_SWEEP, TRAPEZOID_OMITTED, CurvesWarning
from service.inference.bootstrap import can_resample
from service.inference.intervals import Interval, IntervalOptions
from service.inference.methods import RESAMPLED_METHODS, is_resampled, method_of
from service.inference.pairs import Pair
from service.inference.partial_influence import examples_inside
from service.inference.replicates import Replicates, replicated
from service.inference.rules import Metric
from service.inference.subject import ENDS, Subject

TOO_FEW_EXAMPLES = CurvesWarning(
    "too_few_examples", "Intervals are null: they need at least two positives and two negatives, counted by weight."
)
UNKNOWN_EXAMPLES = CurvesWarning(
    "unknown_examples",
    "Intervals are null: with sums of weights, they also need the sums of squared weights, positives_squared "
    "and negatives_squared.",
)
FEW_EFFECTIVE_EXAMPLES = CurvesWarning(
    "few_effective_examples",
    "Most of the weight is on few examples: one class has an effective sample size below 10, so "
    "intervals may be too narrow.",
)
_FEW_EFFECTIVE = 10
_MANY, _SEVERAL, _ANY = 100, 10, 0.5
"""In simulations, bootstrap and DeLong intervals keep their level if the smaller class has at least _MANY effective
examples, m, and _SEVERAL of them are ranked wrongly, m (1 - A). `mover` needs only _ANY ranked wrongly."""

_INSIDE = 10
"""Intervals of means over a range keep it with at least this many effective examples there, and above `min_tpr`."""

_NOT_DRAWN = "counts that are fractional, or above 2^53, are not resampled"
_NOT_SINGLE = "sums of weights do not identify single examples, so they are not resampled"
_NOT_TOLD = "in some resamples there is no value, or all values lie on one side of it"
_FOR_ROC = "the method delong is for roc only"
_NARROW = ("delong", "mover", *RESAMPLED_METHODS)

_EVALUATION_STREAM, _BASELINE_STREAM = 0, 1
"""The random streams of the resamples of two evaluations that are not paired."""


class Evidence:
    """The metrics of an evaluation and, if it has a baseline, of the pair of both.

    `wanted` are the metrics that will need an interval, each with whether it is that of the difference. All are
    resampled at once, so that each resample is drawn only once.
    """

    def __init__(
        self,
        subject: Subject,
        options: IntervalOptions,
        wanted: Iterable[tuple[Metric, bool]],
        pair: Pair | None = None,
    ) -> None:
        self._subject = subject
        self._pair = pair
        self._options = options
        self._omitted: dict[str, list[str]] = {}
        self._warnings: list[CurvesWarning] = []
        self._alone: dict[Metric, Replicates] = {}
        self._differences: dict[Metric, Replicates] = {}
        self._p_values: dict[Metric, float | None] = {}
        self._difference_intervals: dict[tuple[Metric, float], Interval | None] = {}
        self._resample([each for each in dict.fromkeys(wanted) if self._is_resampled(*each)])

    @property
    def warnings(self) -> tuple[CurvesWarning, ...]:
        """Warnings about the data and the results requested so far."""
        found = [NOT_A_SWEEP for subject in self._subjects if not subject.table.rises] + self._warnings
        found += [_omitted(names, why) for why, names in self._omitted.items()]
        return tuple(dict.fromkeys(found))

    def value(self, metric: Metric) -> float | None:
        """The metric of the evaluation; None if undefined."""
        value = self._subject.value(metric)
        if metric.name == "pr_trapezoid" and value is None and self._subject.table.rises:
            self._warnings.append(TRAPEZOID_OMITTED)
        return value

    def baseline_value(self, metric: Metric) -> float | None:
        """The metric of the baseline; None if undefined or without a baseline."""
        return None if self._pair is None else self._pair.baseline.value(metric)

    def interval(self, metric: Metric, level: float) -> Interval | None:
        """The interval of the evaluation's metric; None if it has none."""
        value, method = self._subject.value(metric), method_of(metric, self._options.method)
        if value is None or not self._has_interval(metric, [self._subject]):
            return None
        found = None
        if value not in ENDS and is_resampled(metric, self._options.method):
            replicates = self._alone.get(metric)
            found = None if replicates is None else replicates.interval(value, level)
            found = found and self._subject.capped(metric, found)
        elif method is not None or value in ENDS:
            found = self._subject.interval(metric, value, level, method or "")
        if found is None:
            self._omit(metric, str(metric), difference=False)
        else:
            self._note_narrow(metric, str(metric), found, [(self._subject, value)])
        return found

    def difference_interval(self, metric: Metric, level: float) -> Interval | None:
        """The interval of the evaluation's metric less the baseline's; None if it has none."""
        if self._pair is None:
            return None
        values, method = self._pair.values(metric), method_of(metric, self._options.method, difference=True)
        if values is None or not self._has_interval(metric, self._pair.subjects):
            return None
        if (metric, level) not in self._difference_intervals:  # several rules may use one metric
            replicates = self._differences.get(metric)
            found = None if method is None else self._pair.interval(metric, values, level, method, replicates)
            self._difference_intervals[metric, level] = found
        found = self._difference_intervals[metric, level]
        if found is None:
            self._omit(metric, f"the difference of {metric}", difference=True)
        else:
            both = list(zip(self._pair.subjects, values, strict=True))
            self._note_narrow(metric, f"the difference of {metric}", found, both)
        return found

    def p_value(self, metric: Metric, *, wanted: bool) -> float | None:
        """The two-sided p-value of no difference; for metrics other than roc, only if `wanted`."""
        if self._pair is None or not (wanted or metric.name == "roc"):
            return None
        values = self._pair.values(metric)
        if values is None or not all(each.is_enough for each in self._subjects):
            return None
        if metric not in self._p_values:
            self._p_values[metric] = self._pair.p_value(metric, values, self._differences.get(metric))
        return self._p_values[metric]

    @property
    def _subjects(self) -> Sequence[Subject]:
        return [self._subject] if self._pair is None else self._pair.subjects

    def _is_resampled(self, metric: Metric, difference: bool) -> bool:  # noqa: FBT001  # one of a pair
        """Whether resamples are needed and can be drawn."""
        if not is_resampled(metric, self._options.method, difference=difference):
            return False
        if difference and (self._pair is None or self._pair.are_alike):
            return False
        subjects = self._subjects if difference else [self._subject]
        values = [subject.value(metric) for subject in subjects]
        if any(value is None or value in ENDS for value in values):
            return False
        return all(subject.is_enough and can_resample(subject.strata) for subject in subjects)

    def _resample(self, wanted: Sequence[tuple[Metric, bool]]) -> None:
        """Resample metrics, or their differences; paired evaluations are resampled together.

        The evaluation's resamples are always the same ones, whatever else is requested.
        """
        alone, differences = ([metric for metric, each in wanted if each == of] for of in (False, True))
        if self._pair is not None and self._pair.paired:
            found = replicated(self._pair.strata, self._pair.subjects, differences, self._options)
            self._differences = {metric: one.less(two, paired=True) for metric, (one, two) in found.items()}
            differences = []
        ours = self._resample_one(self._subject, [*alone, *differences], _EVALUATION_STREAM)
        self._alone = {metric: ours[metric] for metric in alone}
        if self._pair is not None and differences:
            theirs = self._resample_one(self._pair.baseline, differences, _BASELINE_STREAM)
            self._differences = {metric: ours[metric].less(theirs[metric], paired=False) for metric in differences}

    def _resample_one(self, subject: Subject, metrics: Sequence[Metric], stream: int) -> dict[Metric, Replicates]:
        if not metrics:
            return {}
        found = replicated(subject.strata, [subject], dict.fromkeys(metrics), self._options, stream)
        return {metric: each for metric, (each,) in found.items()}

    def _has_interval(self, metric: Metric, subjects: Sequence[Subject]) -> bool:
        """Whether the metric and these subjects have intervals; warns if there are too few examples."""
        if not metric.has_interval or not all(subject.table.rises for subject in subjects):
            return False
        if not all(subject.strata.enough for subject in subjects):
            known = all(subject.strata.given for subject in subjects)
            self._warnings.append(TOO_FEW_EXAMPLES if known else UNKNOWN_EXAMPLES)
            return False
        if any(kinds.effective < _FEW_EFFECTIVE <= kinds.size for each in subjects for kinds in each.strata.classes):
            self._warnings.append(FEW_EFFECTIVE_EXAMPLES)
        return True

    def _note_narrow(
        self, metric: Metric, what: str, interval: Interval, found: Sequence[tuple[Subject, float]]
    ) -> None:
        """Warn if intervals are known to be too narrow for such data: subjects, each with its value of the metric."""
        inside = math.inf
        if metric.part is not None and interval.method != "exact":
            inside = min(examples_inside(metric.part, value, subject.strata.effective) for subject, value in found)
        if interval.method not in _NARROW and inside >= _INSIDE:
            return
        few = min(min(subject.strata.effective) for subject, _ in found)
        wrong = few * (1 - max(value for _, value in found))
        enough = _ANY if interval.method == "mover" else _SEVERAL
        if inside < _INSIDE:
            why, needed = f"only about {inside:.2g} examples decide", f"{_INSIDE}"
        elif interval.method != "mover" and few < _MANY:
            why, needed = f"the smaller class has an effective size of {few:.3g}", f"{_MANY}"
        elif wrong < enough:
            why, needed = f"about {wrong:.2g} examples of the smaller class are ranked wrongly", f"{enough:g}"
        else:
            return
        detail = (
            f"The {interval.method} interval of {what} may be too narrow: {why}; with {needed} or more, such intervals "
            "keep their level."
        )
        self._warnings.append(CurvesWarning("narrow_interval", detail))

    def _omit(self, metric: Metric, what: str, *, difference: bool) -> None:
        """Note why something has no interval."""
        why = _FOR_ROC
        if method_of(metric, self._options.method, difference=difference) is not None:
            subjects = self._subjects if difference else [self._subject]
            why = _NOT_TOLD if all(can_resample(subject.strata) for subject in subjects) else _NOT_DRAWN
            why = why if all(subject.strata.drawn for subject in subjects) else _NOT_SINGLE
        self._omitted.setdefault(why, []).append(what)


def _omitted(names: Sequence[str], why: str) -> CurvesWarning:
    subject = f"The interval of {names[0]} is" if len(names) == 1 else f"The intervals of {', '.join(names)} are"
    return CurvesWarning("interval_omitted", f"{subject} null: {why}.")
