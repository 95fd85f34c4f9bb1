"""How many rows a rule needs: the least multiple of the present data with which it passes with a given probability.

    1. The true value is taken to be the present one, or one that is expected.
    2. With k times as many examples, a standard error is that of today divided by √k, classes are k times as large, and
       one example moves a value by 1/k of what it did; everything else stays.
    3. The rule passes with this probability, the power, if it passes at that quantile of the estimate, which is normal
       on the scale of its interval.
    4. The least such k is found by bisection of its logarithm.

The intervals are those of the verdict, so a plan is for the rule as it will be checked. Knows models, rules and
formulas of intervals; nothing of requests.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist

from service.curves.clock import in_time, still_time
from service.curves.confusion import Evaluation
from service.curves.errors import NeedsExactGroups
from service.curves.evaluation import CurvesWarning, one_vs_rest
from service.curves.histogram import Histogram
from service.inference.intervals import (
    Interval,
    IntervalOptions,
    area_difference_ends,
    delong_interval,
    logit_interval,
    loss_difference_ends,
    mover_ends,
    normal_quantile,
    pr_logit_interval,
)
from service.inference.methods import ENDS, LOSSES, SHARES, is_resampled, method_of, spread_of, within_limits
from service.inference.metric import Metric
from service.inference.models import EvaluatedModel, Models
from service.inference.probability_errors import STATISTIC_FORMULAS
from service.inference.proportions import Ends
from service.inference.rates import ON_CURVES, paired_rate_ends, rate_ends
from service.inference.rules import CHANGES, ROUNDING, Rule

POWER = 0.8
"""The probability with which a rule should pass, unless another one is asked for."""

_MOST_TIMES = 1e6
"""A plan for more than this many times the data is none."""

_FEWEST_EXAMPLES = 2
_PRECISE = 1e-9
_GREATEST_EXPONENT = 700
"""The greatest exponent of a double, nearly."""

Trial = Callable[[float], float]
"""From k to the end of the interval that decides, at the estimate's quantile."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What one rule needs: `factor` times the present data, which is this many examples of each class.

    value, expected   the present value and the one taken to be true; for a bound of the difference, differences.
    factor            None if no plan can be made; `reason` then says why, and else is empty.
    """

    rule: Rule
    value: float | None
    expected: float | None
    factor: float | None
    positives: int | None
    negatives: int | None
    reason: str

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


def sentence_of(rule: Rule, number: float, rows: int) -> str:
    """Say how many rows would be enough, of a check with this value or difference."""
    true = number if rule.expected is None else rule.expected
    what = f"the {CHANGES[rule.kind]} of {rule.of}" if rule.is_change else str(rule.of)
    shown = 0.0 - true if rule.kind == "max_drop" and rule.expected is None else true
    return f"If {what} is really {shown:.4g}, {rows:,} rows like these would be enough to pass in 4 of 5 cases."


class Unplanned(Exception):
    """There is no plan for a rule, and why."""


@dataclass(frozen=True, slots=True)
class _Truth:
    """What a rule is planned for: the models, today's number, what is taken to be true, and how sure it should be.

    quantile  of the estimate, in standard errors towards the bound.
    """

    rule: Rule
    models: Models
    value: float
    expected: float
    how: IntervalOptions
    quantile: float

    @property
    def level(self) -> float:
        """The level of the rule's interval."""
        return self.rule.confidence or self.how.level

    @property
    def method(self) -> str:
        """The method of the rule's interval."""
        return method_of(self.rule.of, self.how.method, difference=self.rule.is_change) or ""

    def worse(self, ends: Interval | Ends) -> float:
        """The end of an interval that decides."""
        lower, upper = (ends.lower, ends.upper) if isinstance(ends, Interval) else ends
        return self.rule.ends_of(lower, upper)[0]


@dataclass(frozen=True, slots=True)
class Plans:
    """The plans of all rules, the power they are for, and whether the pilot's models are paired."""

    power: float
    paired: bool
    plans: tuple[Plan, ...]
    warnings: tuple[CurvesWarning, ...] = ()

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
) -> Plans:
    """Plan all rules from a pilot. Raises NotPaired, RisingThresholds for counts, and NeedsExactGroups."""
    for each in (evaluation, baseline):
        if isinstance(each, Histogram) and not each.is_exact:
            raise NeedsExactGroups("Plans need groups of one score each: score_from must equal score_to.", "groups")
    models = Models.of(evaluation, baseline, paired=paired)
    plans = tuple(planned(rule, models, how, power) for rule in in_time(rules))
    return Plans(power, paired, plans, one_vs_rest(evaluation, baseline))


def planned(rule: Rule, models: Models, how: IntervalOptions, power: float = POWER) -> Plan:
    """Plan one rule; with `expected` for a value, or a drop or a rise, that is true instead of today's.

    Of two models, the numbers are of the first, if the second has as many times its data, too.
    """
    models = models if rule.is_change else models.first
    values = models.values(rule.of)
    value = None if values is None else values[0] - sum(values[1:])
    expected = value
    if rule.expected is not None:
        expected = 0.0 - rule.expected if rule.kind == "max_drop" else rule.expected
    try:
        if value is None or expected is None:
            raise Unplanned("There is no value")  # noqa: TRY301  # one of several reasons
        toward = (1 if rule.is_ceiling else -1) * NormalDist().inv_cdf(power)
        factor = _least_factor(_Truth(rule, models, value, expected, how, toward))
    except Unplanned as error:
        return Plan(rule, value, expected, None, None, None, f"{error}.")
    sizes = [math.ceil(each.size * factor) for each in models.models[0].strata.classes]
    return Plan(rule, value, expected, factor, sizes[0], sizes[1], "")


def _least_factor(truth: _Truth) -> float:
    """The least k. Raises Unplanned."""
    rule, models = truth.rule, truth.models
    if rule.slices is not None:
        raise Unplanned("Rules over slices have no plan; plan for the rows of the smallest slice")
    if rule.confidence is None:
        raise Unplanned("Without confidence, no number of rows makes the rule more certain")
    if rule.is_lenient:
        raise Unplanned("The rule fails only if it is disproven, so it needs no more rows to pass")
    if not models.are_enough:
        raise Unplanned("There are too few examples for an interval")
    if rule.excess(truth.expected) >= -ROUNDING:
        what = "difference" if rule.is_change else "value"
        raise Unplanned(f"If the true {what} is {truth.expected:.4g}, no number of rows proves that it meets the bound")
    trial = _trial_of(truth)

    def passes(factor: float) -> bool:
        still_time()
        return rule.excess(trial(factor)) <= ROUNDING

    least, most = _FEWEST_EXAMPLES / min(min(each.strata.effective) for each in models.models), _MOST_TIMES
    if not passes(most):
        raise Unplanned(f"The rule needs more than {_MOST_TIMES:,.0f} times as many rows")
    if passes(least):
        return least
    while most / least > 1 + _PRECISE:
        middle = math.sqrt(least * most)
        least, most = (least, middle) if passes(middle) else (middle, most)
    return most


def _trial_of(truth: _Truth) -> Trial:
    """What decides the rule with k times the data. Raises Unplanned."""
    metric = truth.rule.of
    if is_resampled(metric, truth.how.method, difference=truth.rule.is_change):
        raise Unplanned("The interval comes from resamples, which only the data themselves give")
    if metric.family == "rate" or (metric.family == "point" and truth.value not in ENDS):
        return _of_score(truth)
    if metric.name in STATISTIC_FORMULAS and not truth.rule.is_change:
        return _of_statistic(truth)
    roc = Metric("roc") if metric.name == "gini" else metric
    values = truth.models.values(roc) or []
    if metric.name not in LOSSES and any(value in ENDS for value in values):
        raise Unplanned("A value of 0 or 1 shows no spread")
    found = _of_difference(truth, roc, values) if truth.rule.is_change else _of_area(truth, roc, values[0])
    if roc is metric:
        return found
    return lambda factor: 2 * found(factor) - (not truth.rule.is_change)


def _of_statistic(truth: _Truth) -> Trial:
    metric, expected = truth.rule.of, truth.expected
    error = truth.models.models[0].error_of(metric)
    if not error:
        raise Unplanned("The data show no spread")
    if metric.name == "brier":
        error *= _spread_at(expected, truth.value)

    def end(factor: float) -> float:
        less = error / math.sqrt(factor)
        estimate = expected + truth.quantile * less
        if metric.name == "brier":
            estimate = _on_logits(expected, truth.quantile * less)
        elif metric.name == "log_loss":
            estimate = expected * math.exp(truth.quantile * less / expected)
        return truth.worse(STATISTIC_FORMULAS[metric.name](estimate, less, truth.level))

    return end


def _of_area(truth: _Truth, metric: Metric, value: float) -> Trial:
    """An area, whose error is as at its estimate; `metric` is roc for gini."""
    model = truth.models.models[0]
    true = truth.expected if metric == truth.rule.of else (1 + truth.expected) / 2
    whole = model.standard_error(metric.part or metric.name)
    if not whole or not 0 < true < 1:
        raise Unplanned("The data show no spread")
    positives, negatives = model.strata.effective

    def end(factor: float) -> float:
        error = whole / math.sqrt(factor)
        estimate = _on_logits(true, truth.quantile * error * _spread_at(true, value))
        error *= _spread_at(estimate, value)
        if truth.method == "delong":
            return truth.worse(delong_interval(estimate, error, truth.level))
        if metric.name in {"pr", "average_precision"}:
            found = pr_logit_interval(estimate, error, (factor * positives, factor * negatives), truth.level)
        else:
            found = logit_interval(estimate, error, truth.level)
        return truth.worse(within_limits(truth.models, metric, found, factor))

    return end


def _of_difference(truth: _Truth, metric: Metric, values: Sequence[float]) -> Trial:
    """A difference; if another one is expected, it lies in the middle between both values. `metric` is roc for gini."""
    today, z = spread_of(truth.models, metric), normal_quantile(truth.level)
    if not today.error:
        raise Unplanned("The data show no spread")
    true = truth.expected if metric == truth.rule.of else truth.expected / 2
    baseline = values[1] if truth.rule.expected is None else (values[0] + values[1] - true) / 2

    def end(factor: float) -> float:
        spread = today.times(factor)
        difference = true + truth.quantile * spread.error
        if metric.name in LOSSES:
            return truth.worse(loss_difference_ends(difference, spread, z))
        if truth.method == "delong":
            return truth.worse((difference - z * spread.error, difference + z * spread.error))
        model = min(max(baseline + difference, _PRECISE), 1 - _PRECISE)
        return truth.worse(area_difference_ends((model, model - difference), spread, z))

    return end


def _of_score(truth: _Truth) -> Trial:
    """A score interval, which moves with its estimate; its end for z = 1 is a standard error away."""
    z = normal_quantile(truth.level)

    def end(factor: float) -> float:
        worse, one = (truth.worse(_score_ends(truth, factor, each)) for each in (z, 1.0))
        return worse + (one - truth.value) * abs(truth.quantile) + truth.expected - truth.value

    return end


def _score_ends(truth: _Truth, factor: float, z: float) -> Ends:
    metric, models = truth.rule.of, truth.models
    if len(models.models) > 1 and models.paired:
        recall, fpr = (replace(each, trials=factor * each.trials) for each in models.shares(metric))
        if metric.name in SHARES:
            return (recall, fpr)[SHARES.index(metric.name)].interval(z)
        return paired_rate_ends(models.models[0].rate(metric), truth.value, (recall, fpr), z)
    values = models.values(metric) or []
    ends = [_ends_of_one(*each, metric, factor, z) for each in zip(models.models, values, strict=True)]
    return ends[0] if len(ends) == 1 else mover_ends(values, ends, span=metric.span)


def _ends_of_one(model: EvaluatedModel, value: float, metric: Metric, factor: float, z: float) -> Ends:
    if metric.family == "point":
        positives, negatives = model.strata.effective
        trials = factor * positives, factor * negatives
        return ON_CURVES[metric.name](model.table, metric.at or 0.0, value, trials, z)
    recall, fpr = (replace(each, trials=factor * each.trials) for each in model.shares(metric))
    return rate_ends(model.rate(metric), value, (recall, fpr), z)


def _spread_at(value: float, today: float) -> float:
    """How much greater the standard error of a proportion or an area is at one value than at today's."""
    return math.sqrt(value * (1 - value) / (today * (1 - today)))


def _on_logits(value: float, error: float) -> float:
    """A value moved by an error on the scale of logits."""
    reach = min(max(error / (value * (1 - value)), -_GREATEST_EXPONENT), _GREATEST_EXPONENT)
    odds = value / (1 - value) * math.exp(reach)
    return min(max(odds / (1 + odds), _PRECISE), 1 - _PRECISE)
