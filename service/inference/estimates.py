"""What the data say about metrics: values, intervals, differences and p-values of a model and, if given, its baseline.

    1. Metrics whose intervals need resamples are resampled at once, so that each resample is drawn once.
    2. An interval comes from a closed formula, or from the resamples.
    3. Each result is kept, since several rules may ask for it.
    4. What is null, or known to be too narrow for such data, has a warning.

Knows models, methods and resamples; nothing of bounds or verdicts.
"""

import math
from collections.abc import Iterable, Iterator, Sequence

from service.curves.clock import still_time
from service.curves.errors import plain
from service.curves.evaluation import NOT_A_SWEEP, CurvesWarning, trapezoid_omitted
from service.curves.probability_remarks import remarks
from service.curves.target_prevalence import FEWEST_STAND_INS
from service.inference.bootstrap import can_resample
from service.inference.intervals import Interval, IntervalOptions
from service.inference.methods import (
    RESAMPLED_METHODS,
    closed_interval,
    closed_p_value,
    is_resampled,
    method_of,
    within_limits,
)
from service.inference.metric import ENDS, OF_PROBABILITIES, Metric
from service.inference.models import EvaluatedModel, Models
from service.inference.partial_influence import examples_inside
from service.inference.probability_errors import STATISTIC_FORMULAS, interval_of_gini, why_no_error
from service.inference.replicates import Replicates, replicated
from service.inference.strata import FEWEST, Strata

TOO_FEW_EXAMPLES = CurvesWarning(
    "too_few_examples", "Intervals are null: they need at least two positives and two negatives, counted by weight."
)
TOO_FEW_CLUSTERS = CurvesWarning(
    "too_few_examples",
    "Intervals are null: they need at least two effective clusters that have positives, and two that have negatives.",
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
_FEW_EFFECTIVE = _FEW_CLUSTERS = 10
_MANY, _SEVERAL, _ANY = 100, 10, 0.5
"""In simulations, bootstrap and DeLong intervals keep their level if the smaller class has at least _MANY effective
examples, m, and _SEVERAL of them are ranked wrongly, m (1 - A). `mover` needs only _ANY ranked wrongly."""

_INSIDE = 10
"""Intervals of means over a range keep their level with this many effective examples there, and above `min_tpr`."""

_NOT_DRAWN = "counts that are fractional, or above 2^53, are not resampled"
_NOT_SINGLE = "sums of weights do not identify single examples, so they are not resampled"
_NOT_TOLD = "in some resamples there is no value, or all values lie on one side of it"
_FITTED = "such a metric takes the best of all rows, chosen on the same data"
_WITHOUT_METHOD = "no method for such a metric is known to keep its level"
_NOT_CHOSEN = ("pr_trapezoid", "prg", "eer", "miscalibration", "ece")
"""The metrics without intervals that no row was chosen for."""

_FAR = "this prevalence needs more negatives, as far_prevalence says"

FOR_ROC = "the method delong is for roc only"
_NARROW = ("delong", "mover", *RESAMPLED_METHODS)

_ROC = Metric("roc")
_REMARKED = ("rounded_scores", "clipped_scores", "crowded_bin")
"""The remarks on scores as probabilities that a value needs; why it is null, its rule says."""

_Wanted = tuple[Metric, float | None]

_MODEL_STREAM, _BASELINE_STREAM = 0, 1
"""The random streams of the resamples of two models that are not paired."""


class Estimates:
    """The metrics of a model and, if it has a baseline, of both.

    `wanted` lists the metrics that will need an interval; for one of the difference, with the share of the baseline's
    that is subtracted, `kept`, and with None for one of the model's metric alone.
    """

    def __init__(self, models: Models, options: IntervalOptions, wanted: Iterable[_Wanted] = ()) -> None:
        self._models = models
        self._options = options
        self._of_shares: dict[float | None, Models] = {None: models.first, models.kept: models}
        self._intervals: dict[tuple[Metric, float, float | None], Interval | None] = {}
        self._p_values: dict[tuple[Metric, float], float | None] = {}
        self._omitted: dict[str, list[str]] = {}
        self._warnings: list[CurvesWarning] = []
        wanted = dict.fromkeys((_estimated(metric), kept) for metric, kept in wanted)
        self._replicates = self._resampled([each for each in wanted if self._can_resample(*each)])

    @property
    def warnings(self) -> tuple[CurvesWarning, ...]:
        """Warnings about the data and the results requested so far."""
        found = [NOT_A_SWEEP for each in self._models.models if not each.table.rises] + self._warnings
        found += [omitted(names, why) for why, names in self._omitted.items()]
        return tuple(dict.fromkeys(found))

    def value(self, metric: Metric) -> float | None:
        """The model's metric; None if undefined."""
        model = self._models.models[0]
        value = self._value(model, metric)
        if self._models.stand_ins(metric) < FEWEST_STAND_INS:
            self._warnings += (told for each in self._models.models for told in far_prevalence(each.strata))
        if metric.name in OF_PROBABILITIES:
            remarked = remarks(
                model.table, model.probabilities, statistics=True, binned=metric.name == "ece" and metric.bins is None
            )
            self._warnings += (CurvesWarning(*each) for each in remarked if each[0] in _REMARKED)
        return value

    def baseline_value(self, metric: Metric) -> float | None:
        """The metric of the baseline; None if undefined or without a baseline."""
        return self._value(self._models.models[1], metric) if len(self._models.models) > 1 else None

    def _value(self, model: EvaluatedModel, metric: Metric) -> float | None:
        """The metric of a model; warns if the area by trapezoids is omitted."""
        value = model.value(metric)
        if metric.name == "pr_trapezoid" and value is None and model.table.rises:
            self._warnings += (told for told in (trapezoid_omitted(model.table),) if told is not None)
        return value

    def interval(self, metric: Metric, level: float, kept: float | None = None) -> Interval | None:
        """The interval of the model's metric or, with `kept`, of its difference; None if it has none."""
        asked = _estimated(metric), level, kept
        if asked not in self._intervals:
            self._intervals[asked] = self._interval(*asked)
        found = self._intervals[asked]
        return interval_of_gini(found, difference=kept is not None) if found and metric.name == "gini" else found

    def p_value(self, metric: Metric, kept: float = 1.0) -> float | None:
        """The two-sided p-value of no difference; None if it has none, or needs resamples that were not wanted."""
        asked = _estimated(metric), kept
        if asked not in self._p_values:
            self._p_values[asked] = self._p_value(*asked)
        return self._p_values[asked]

    def _of(self, kept: float | None) -> Models:
        if kept not in self._of_shares:
            self._of_shares[kept] = self._models.keeping(1.0 if kept is None else kept)
        return self._of_shares[kept]

    def _interval(self, metric: Metric, level: float, kept: float | None) -> Interval | None:
        still_time()
        of, difference = self._of(kept), kept is not None
        values = of.values(metric)
        what = f"the difference of {metric}" if difference else str(metric)
        if values is None or not self._has_interval(of):
            return None
        if metric.family is None:
            self._omit(what, _WITHOUT_METHOD if metric.name in _NOT_CHOSEN else _FITTED)
            return None
        if of.stand_ins(metric) < FEWEST:
            self._omit(what, _FAR)
            return None
        found, method = None, method_of(metric, self._options.method, difference=difference)
        if method is None and not difference and values[0] in ENDS:
            method = "exact"
        if method is not None:
            found = closed_interval(of, metric, values, level, method)
            if found is None and (metric, kept) in self._replicates:
                found = self._replicates[metric, kept].interval(of.difference(values), level)
                found = found if found is None or difference else within_limits(of, metric, found)
        if found is None:
            self._omit(what, self._why_omitted(metric, of, method))
        else:
            self._warn_if_narrow(metric, what, found, of, values)
        return found

    def _omit(self, what: str, why: str) -> None:
        """Warn that an interval is null."""
        self._omitted.setdefault(why, []).append(what)

    def _p_value(self, metric: Metric, kept: float) -> float | None:
        of = self._of(kept)
        values = of.values(metric)
        if values is None or len(values) == 1 or not of.are_enough:
            return None
        if self._models.stand_ins(metric) < FEWEST:
            return None
        if (metric, kept) in self._replicates:
            return self._replicates[metric, kept].p_value(of.difference(values))
        method = method_of(metric, self._options.method, difference=True)
        return None if method is None else closed_p_value(of, metric, values, method)

    def _can_resample(self, metric: Metric, kept: float | None) -> bool:
        """Whether resamples are needed and can be drawn."""
        if not is_resampled(metric, self._options.method, difference=kept is not None):
            return False
        still_time()
        of = self._of(kept)
        values = of.values(metric)
        return (
            values is not None
            and not any(value in ENDS for value in values)
            and not of.are_alike
            and of.are_enough
            and all(can_resample(each.strata) for each in of.models)
        )

    def _resampled(self, wanted: Sequence[_Wanted]) -> dict[_Wanted, Replicates]:
        """Resample metrics, or their differences; paired models are resampled together.

        The model's resamples are always the same ones, whatever else is requested.
        """
        alone = [metric for metric, kept in wanted if kept is None]
        shares = [(metric, kept) for metric, kept in wanted if kept is not None]
        differences = dict.fromkeys(metric for metric, _ in shares)
        if paired := self._models.paired:
            of_pairs = replicated(self._models, differences, self._options, _MODEL_STREAM)
            ours = replicated(self._models.first, alone, self._options, _MODEL_STREAM)
        else:
            ours = replicated(self._models.first, [*alone, *differences], self._options, _MODEL_STREAM)
            baseline = Models(self._models.models[1:])
            theirs = replicated(baseline, differences, self._options, _BASELINE_STREAM)
            of_pairs = {each: [ours[each][0], theirs[each][0]] for each in differences}
        found: dict[_Wanted, Replicates] = {(metric, None): ours[metric][0] for metric in alone}
        for metric, kept in shares:
            one, other = of_pairs[metric]
            found[metric, kept] = one.less(other, kept, paired=paired)
        return found

    def _has_interval(self, of: Models) -> bool:
        """Whether these models have intervals; warns if there are too few examples."""
        if not all(each.table.rises for each in of.models):
            return False
        if not of.are_enough:
            self._warnings.append(_why_not_enough(of))
            return False
        self._warnings += (warning for each in of.models for warning in few_clusters(each.strata))
        if any(each.effective < _FEW_EFFECTIVE <= each.size for model in of.models for each in model.strata.classes):
            self._warnings.append(FEW_EFFECTIVE_EXAMPLES)
        return True

    def _warn_if_narrow(
        self, metric: Metric, what: str, interval: Interval, of: Models, values: Sequence[float]
    ) -> None:
        """Warn if intervals are known to be too narrow for such data."""
        sizes, inside = [each.strata.units for each in of.models], math.inf
        if metric.part is not None and interval.method != "exact":
            inside = min(examples_inside(metric.part, *each) for each in zip(values, sizes, strict=True))
        if interval.method not in _NARROW and inside >= _INSIDE:
            return
        few = min(min(each.strata.units) for each in of.models)
        wrong = few * (1 - max(values))
        enough = _ANY if interval.method == "mover" else _SEVERAL
        if inside < _INSIDE:
            why, needed = f"only about {inside:.2g} examples decide", f"{_INSIDE}"
        elif interval.method != "mover" and few < _MANY:
            clusters = " clusters" * any(each.strata.clustered is not None for each in of.models)
            why, needed = f"the smaller class has an effective size of {few:.3g}{clusters}", f"{_MANY}"
        elif wrong < enough:
            why, needed = f"about {wrong:.2g} examples of the smaller class are ranked wrongly", f"{enough:g}"
        else:
            return
        detail = (
            f"The {interval.method} interval of {what} may be too narrow: {why}; with {needed} or more, such intervals "
            "keep their level."
        )
        self._warnings.append(CurvesWarning("narrow_interval", detail))

    @staticmethod
    def _why_omitted(metric: Metric, of: Models, method: str | None) -> str:
        if metric.name in STATISTIC_FORMULAS:
            return why_no_error(metric.name)
        if method is None:
            return FOR_ROC
        if not all(each.strata.drawn for each in of.models):
            return _NOT_SINGLE
        return _NOT_TOLD if all(can_resample(each.strata) for each in of.models) else _NOT_DRAWN


def _why_not_enough(of: Models) -> CurvesWarning:
    """Why there are no intervals."""
    if not all(each.strata.given for each in of.models):
        return UNKNOWN_EXAMPLES
    clustered = any(each.strata.clustered and min(each.strata.effective) >= FEWEST for each in of.models)
    return TOO_FEW_CLUSTERS if clustered else TOO_FEW_EXAMPLES


def few_clusters(strata: Strata) -> Iterator[CurvesWarning]:
    """Warn of classes that are in few clusters."""
    names = ("positives", "negatives")
    for name, units in zip(names, strata.units, strict=True) if strata.clustered is not None else ():
        if units < _FEW_CLUSTERS:
            detail = f"The {name} are in {units:.2g} effective clusters: intervals are wide, and hold only if clusters "
            yield CurvesWarning("few_clusters", f"{detail}are alike.")


def far_prevalence(strata: Strata) -> Iterator[CurvesWarning]:
    """Warn if so few negatives stand for positives that areas under the PR curve are too high."""
    target, there = strata.tables[0].target, strata.stand_ins
    if target is None or there >= FEWEST_STAND_INS:
        return
    needed = strata.units[1] * FEWEST_STAND_INS / there
    detail = (
        f"At prevalence {plain(target.share)}, {strata.units[1]:,.4g} negatives stand for only {there:.3g} positives, "
        "too few to say how pure the highest scores are: pr, average_precision and partial areas over recall are "
        f"likely too high. This prevalence needs {math.ceil(round(needed, 6)):,} negatives."
    )
    yield CurvesWarning("far_prevalence", detail)


def _estimated(metric: Metric) -> Metric:
    """The metric whose estimates it shares: gini is 2 roc - 1."""
    return _ROC if metric.name == "gini" else metric


def omitted(names: Sequence[str], why: str) -> CurvesWarning:
    """Say which intervals are null, and why."""
    subject = f"The interval of {names[0]} is" if len(names) == 1 else f"The intervals of {', '.join(names)} are"
    return CurvesWarning("interval_omitted", f"{subject} null: {why}.")
