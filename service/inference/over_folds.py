"""Rules on the mean area of the folds of a cross-validation, each of which was scored by a model of its own.

    value      the mean of the areas of all folds
    error      √(Σ var/V²) over V folds, with DeLong's variance of each; with clusters, what one of them moves in all
               folds is added up first, so that repeats count each example once
    interval   of a value on the logit scale, of a difference d ± z SE; z is `widened` if there are clusters

It is about the V models that were tested, each on rows that it was not fitted to; neither about a model fitted to all
rows, nor about new training sets. Knows models, slices and checks. Sources: LeDell, Petersen & van der Laan 2015,
"Computationally efficient confidence intervals for cross-validated area under the ROC curve estimates"; Bates, Hastie &
Tibshirani 2023, "Cross-validation: what does it estimate and how well does it do it?"; Bengio & Grandvalet 2004, "No
unbiased estimator of the variance of K-fold cross-validation".
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product

from service.curves.clock import in_time
from service.curves.evaluation import CHANCE, CurvesWarning
from service.inference.intervals import (
    Interval,
    delong_interval,
    difference_interval,
    difference_p_value,
    exact_interval,
    logit_interval,
    normal_quantile,
    within_exact,
)
from service.inference.metric import ENDS, Metric
from service.inference.models import Models
from service.inference.proportions import widened
from service.inference.rules import Rule
from service.inference.sliced_models import sliced_models
from service.inference.spread import error_of_mean
from service.inference.strata import FEWEST, Strata, paired_strata, strata
from service.inference.verdicts import Check, GateOptions, verdict_of

_AREA_OF_FOLDS = Metric("roc")
_FEW_OF_A_FOLD = 10
"""In simulations, intervals keep their level if each fold has at least this many of each class."""


def checks_over_folds(models: Models, options: GateOptions) -> tuple[dict[Rule, Check], tuple[CurvesWarning, ...]]:
    """Check the rules over folds: {rule: its check}, and warnings. Each fold has both classes."""
    checks: dict[Rule, Check] = {}
    warnings: list[CurvesWarning] = []
    for (names, rows), against in in_time(product(options.slicings.items(), (False, True))):
        rules = [rule for rule in options.rules if rule.folds == names and rule.is_change == against]
        if not rules:
            continue
        slices = sliced_models(models, rows, (), options.how, against=against)
        folds = _Folds([each.models for each in slices if each.models is not None], models.models[0].strata)
        for rule in rules:
            checks[rule] = folds.check(rule, options)
            warnings += folds.warnings(rule, checks[rule].interval, options)
    return checks, tuple(dict.fromkeys(warnings))


class _Folds:
    """The models of each fold: one, or two that are paired; and the examples of all folds together."""

    def __init__(self, folds: Sequence[Models], together: Strata) -> None:
        self._folds = folds
        self._trials = min(together.units)
        clustered = any(_has_clusters(each) for each in folds)
        self._strata = [_strata_of(each, keep_clusters=clustered) for each in folds]
        self._clustered = clustered

    def check(self, rule: Rule, options: GateOptions) -> Check:
        """The check of a rule."""
        value, baseline = self._mean(0), self._mean(1) if rule.is_change else None
        interval = self._interval(rule, options) if options.wants_interval(rule) else None
        where = f" averaged over {' and '.join(rule.folds or ())}"
        status, reason = verdict_of(rule, value, baseline, interval, where)
        difference, p_value = None, None
        if baseline is not None:
            difference = value - baseline
            p_value = None if interval is None else difference_p_value(difference, self._error(difference=True))
        return Check(rule, status, value, interval, baseline, difference, p_value, reason)

    def warnings(self, rule: Rule, interval: Interval | None, options: GateOptions) -> Iterator[CurvesWarning]:
        """Say what the mean is about, and whether its interval is known to be too narrow."""
        names = " and ".join(rule.folds or ())
        detail = (
            f"{rule.title} is about the {len(self._folds)} models that were tested, each on the rows of one {names}, "
            "which it was not fitted to; not about a model fitted to all rows."
        )
        yield CurvesWarning("cross_validated", detail)
        if not options.wants_interval(rule):
            return
        fewest = self._fewest
        if fewest < FEWEST:
            detail = "Intervals are null: each fold needs at least two positives and two negatives, counted by weight."
            yield CurvesWarning("too_few_examples", detail)
        elif interval is None:
            yield CurvesWarning("interval_omitted", f"The interval of {rule.title} is null: the folds show no spread.")
        else:
            of_value = interval if not rule.is_change else self._of_value(options.level(rule), "logit")
            why = []
            if of_value is not None and of_value.lower <= CHANCE <= of_value.upper:
                why.append(f"roc may be {CHANCE}, and without signal the models of the folds depend on each other")
            if fewest < _FEW_OF_A_FOLD:
                why.append(f"a fold has only {fewest:.3g} of a class, and {_FEW_OF_A_FOLD} or more are needed")
            if why:
                yield CurvesWarning(
                    "narrow_interval", f"The interval of {rule.title} may be too narrow: {'; '.join(why)}."
                )

    def _mean(self, number: int) -> float:
        values = [each.models[number].value(_AREA_OF_FOLDS) or 0.0 for each in self._folds]
        return math.fsum(values) / len(values)

    def _error(self, *, difference: bool) -> float:
        return error_of_mean(self._strata, difference=difference)

    @property
    def _fewest(self) -> float:
        """The effective size of the smallest class of a fold, or its clusters."""
        return min(min(each.units) for each in self._strata)

    def _interval(self, rule: Rule, options: GateOptions) -> Interval | None:
        if self._fewest < FEWEST:
            return None
        level, method = options.level(rule), options.how.method
        if not rule.is_change:
            return self._of_value(level, method)
        difference, error = self._mean(0) - self._mean(1), self._error(difference=True)
        if error == 0:
            return Interval(0.0, 0.0, level, "delong", 0.0) if all(each.are_alike for each in self._folds) else None
        found = difference_interval(difference, error * self._wider(level), level)
        return replace(found, standard_error=error)

    def _of_value(self, level: float, method: str) -> Interval | None:
        """The interval of the mean area; no narrower than if every fold were ranked perfectly. None without spread."""
        value, error = self._mean(0), self._error(difference=False)
        perfect = exact_interval(1.0, self._trials, level)
        if error == 0:
            return exact_interval(value, self._trials, level) if value in ENDS else None
        make = delong_interval if method == "delong" else logit_interval
        found = replace(make(value, error * self._wider(level), level), standard_error=error)
        return found if method == "delong" else within_exact(found, perfect)

    def _wider(self, level: float) -> float:
        """How many times as far as z errors reach, for the clusters of the smaller class."""
        z = normal_quantile(level)
        return widened(z, self._trials) / z if self._clustered and z > 0 else 1.0


def _has_clusters(models: Models) -> bool:
    return any(getattr(each.evaluation, "clusters", None) is not None for each in models.models)


def _strata_of(models: Models, *, keep_clusters: bool) -> Strata:
    """The examples of a fold, of both models if there are two, which are paired."""
    if len(models.models) == 1:
        (model,) = models.models
        return strata(model.evaluation, model.table, keep_clusters=keep_clusters)
    samples, tables, rows = zip(*((each.evaluation, each.table, each.rows) for each in models.models), strict=True)
    return paired_strata(samples, tables, rows, keep_clusters=keep_clusters)
