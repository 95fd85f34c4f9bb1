"""How many rows a rule needs: the least multiple of the present data with which it passes with a given probability.

    1. The true value is taken to be the present one, or one that is expected.
    2. With k times as many examples, a standard error is that of today divided by √k, classes are k times as large, and
       one example moves a value by 1/k of what it did; everything else stays. Of clusters there are k times as many.
    3. The rule passes with this probability, the power, if it passes at that quantile of the estimate, which is normal
       on the scale of its interval (plan_trials.py).
    4. The least such k is found by bisection of its logarithm.

The intervals are those of the verdict, so a plan is for the rule as it will be checked. A rule over K slices passes
with this probability if each slice does with 1 - (1 - power)/K (Bonferroni), so the plan is that of the slice that then
needs most. Knows models and rules; nothing of requests.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist
from types import MappingProxyType

from service.curves.clock import in_time, still_time
from service.curves.confusion import Evaluation
from service.curves.errors import NeedsExactGroups
from service.curves.evaluation import CurvesWarning, one_vs_rest
from service.curves.histogram import Histogram
from service.inference.intervals import IntervalOptions
from service.inference.models import Models
from service.inference.plan_trials import Truth, Unplanned, trial_of
from service.inference.rules import CHANGES, ROUNDING, Rule
from service.inference.sliced import RowsInSlices
from service.inference.sliced_models import sliced_models

POWER = 0.8
"""The probability with which a rule should pass, unless another one is asked for."""

NO_SLICES: Mapping[tuple[str, ...], RowsInSlices] = MappingProxyType({})

_MOST_TIMES = 1e6
"""A plan for more than this many times the data is none."""

_FEWEST_EXAMPLES = 2
_PRECISE = 1e-9


@dataclass(frozen=True, slots=True)
class Plan:
    """What one rule needs: `factor` times the present data, which is this many examples of each class.

    value, expected   the present value and the one taken to be true; for a bound of the difference, differences.
    factor            None if no plan can be made; `reason` then says why, and else is empty.
    slice             of a rule over slices, the one that needs most, of which value and expected are; else None.
    """

    rule: Rule
    value: float | None
    expected: float | None
    factor: float | None
    positives: int | None
    negatives: int | None
    reason: str
    slice: str | None = None

    def times(self, effect: float) -> "Plan":
        """The plan with this many times the rows."""
        if self.factor is None or self.positives is None or self.negatives is None:
            return self
        positives, negatives = (math.ceil(effect * each) for each in (self.positives, self.negatives))
        return replace(self, factor=effect * self.factor, positives=positives, negatives=negatives)

    @property
    def rows(self) -> int | None:
        """Of both classes."""
        return None if self.positives is None or self.negatives is None else self.positives + self.negatives


def sentence_of(rule: Rule, value: float, baseline: float | None, rows: int) -> str:
    """Say how many rows would be enough, of a check with this value and perhaps its baseline's."""
    shown, what = rule.expected, str(rule.of)
    if rule.is_change and baseline is not None:
        what = f"the {'relative ' * (rule.kind == 'max_relative_drop')}{CHANGES[rule.kind]} of {rule.of}"
        shown = rule.change(value, baseline) if shown is None else shown
    shown = value if shown is None else shown
    return f"If {what} is really {shown:.4g}, {rows:,} rows like these would be enough to pass in 4 of 5 cases."


@dataclass(frozen=True, slots=True)
class Plans:
    """The plans of all rules, the power they are for, and whether the pilot's models are paired.

    target  the prevalence in use, if one is given.
    """

    power: float
    paired: bool
    plans: tuple[Plan, ...]
    warnings: tuple[CurvesWarning, ...] = ()
    target: float | None = None

    def times(self, effect: float) -> "Plans":
        """The plans with this many times the rows, a design effect."""
        return self if effect == 1 else replace(self, plans=tuple(each.times(effect) for each in self.plans))


def evaluate_plans(
    evaluation: Evaluation,
    baseline: Evaluation | None,
    rules: Sequence[Rule],
    how: IntervalOptions,
    power: float = POWER,
    *,
    paired: bool = False,
    slicings: Mapping[tuple[str, ...], RowsInSlices] = NO_SLICES,
) -> Plans:
    """Plan all rules from a pilot; `slicings` are the rows of its slices, by the names of the columns.

    Raises NotPaired, RisingThresholds for counts, and NeedsExactGroups.
    """
    for each in (evaluation, baseline):
        if isinstance(each, Histogram) and not each.is_exact:
            raise NeedsExactGroups("Plans need groups of one score each: score_from must equal score_to.", "groups")
    models = Models.of(evaluation, baseline, paired=paired)
    plans = tuple(
        planned(rule, models, how, power)
        if rule.slices is None
        else _planned_over_slices(rule, models, slicings[rule.slices], how, power)
        for rule in in_time(rules)
    )
    target = None if evaluation.target is None else evaluation.target.share
    return Plans(power, paired, plans, one_vs_rest(evaluation, baseline), target)


def planned(rule: Rule, models: Models, how: IntervalOptions, power: float = POWER) -> Plan:
    """Plan one rule; with `expected` for a value, or a drop or a rise, that is true instead of today's.

    Of two models, the numbers are of the first, if the second has as many times its data, too.
    """
    models = models.keeping(rule.kept) if rule.is_change else models.first
    values = models.values(rule.of)
    value = None if values is None else models.difference(values)
    expected = value
    if rule.expected is not None:
        expected = rule.difference_at(rule.expected, 0.0 if values is None else values[-1])
    try:
        if value is None or expected is None:
            raise Unplanned("There is no value")  # noqa: TRY301  # one of several reasons
        toward = (1 if rule.is_ceiling else -1) * NormalDist().inv_cdf(power)
        factor = _least_factor(Truth(rule, models, value, expected, how, toward))
    except Unplanned as error:
        return Plan(rule, value, expected, None, None, None, f"{error}.")
    sizes = [math.ceil(each.size * factor) for each in models.models[0].strata.classes]
    return Plan(rule, value, expected, factor, sizes[0], sizes[1], "")


def _planned_over_slices(rule: Rule, models: Models, rows: RowsInSlices, how: IntervalOptions, power: float) -> Plan:
    """Plan a rule for the slice that needs most; none is planned if one slice has no plan."""
    if rule.kind == "max_gap":
        return Plan(rule, None, None, None, None, None, "Gaps have no plan.")
    decisions = [] if rule.decision is None else [rule.decision]
    fewest = max(rule.min_examples or 1, _FEWEST_EXAMPLES)
    alone = replace(rule, slices=None, min_examples=None)
    slices = sliced_models(models, rows, decisions, how, against=rule.is_change)
    judged = [(each.where, each.models) for each in slices if each.models is not None and each.smaller >= fewest]
    each_power = 1 - (1 - power) / max(len(judged), 1)
    plans = [(where, planned(alone, own, how, each_power)) for where, own in in_time(judged)]
    if not plans:
        return Plan(rule, None, None, None, None, None, "No slice has enough examples for an interval.")
    where, most = max(plans, key=lambda named: math.inf if named[1].factor is None else named[1].factor)
    name = where.removeprefix(" of ")
    if most.factor is None:
        return Plan(rule, most.value, most.expected, None, None, None, f"{name}: {most.reason}", name)
    sizes = [math.ceil(each.size * most.factor) for each in models.models[0].strata.classes]
    return Plan(rule, most.value, most.expected, most.factor, sizes[0], sizes[1], "", name)


def _least_factor(truth: Truth) -> float:
    """The least k. Raises Unplanned."""
    rule, models = truth.rule, truth.models
    if rule.folds is not None:
        raise Unplanned("Rules over folds have no plan")
    if rule.confidence is None:
        raise Unplanned("Without confidence, no number of rows makes the rule more certain")
    if rule.is_lenient:
        raise Unplanned("The rule fails only if it is disproven, so it needs no more rows to pass")
    if not models.are_enough:
        raise Unplanned("There are too few examples for an interval")
    if rule.excess(truth.expected) >= -ROUNDING:
        what = "difference" if rule.is_change else "value"
        raise Unplanned(f"If the true {what} is {truth.expected:.4g}, no number of rows proves that it meets the bound")
    trial = trial_of(truth)

    def passes(factor: float) -> bool:
        still_time()
        return rule.excess(trial(factor)) <= ROUNDING

    least, most = _FEWEST_EXAMPLES / min(min(each.strata.units) for each in models.models), _MOST_TIMES
    if not passes(most):
        raise Unplanned(f"The rule needs more than {_MOST_TIMES:,.0f} times as many rows")
    if passes(least):
        return least
    while most / least > 1 + _PRECISE:
        middle = math.sqrt(least * most)
        least, most = (least, middle) if passes(middle) else (middle, most)
    return most
