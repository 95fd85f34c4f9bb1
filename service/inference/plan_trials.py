"""What decides a rule with k times the data: the end of its interval at a quantile of the estimate.

    an area        on the scale of logits, with the standard error divided by √k and scaled to the estimate
    a difference   its spread, with errors divided by √k and how far one example moves it by k
    a statistic    on the scale of its interval
    a metric of a row, a point   the score interval with k times the trials, moved with its estimate

Knows models and formulas of intervals; nothing of how k is found.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from service.inference.clustering import LEAST_FREEDOM
from service.inference.intervals import (
    Interval,
    IntervalOptions,
    area_difference_ends,
    delong_interval,
    kept_of,
    logit_interval,
    loss_difference_ends,
    mover_ends,
    normal_quantile,
    pr_logit_interval,
)
from service.inference.methods import (
    LOSSES,
    is_resampled,
    method_of,
    one_minus_correlation_of,
    spread_of,
    within_limits,
)
from service.inference.metric import ENDS, Metric
from service.inference.models import EvaluatedModel, Models
from service.inference.probability_errors import STATISTIC_FORMULAS
from service.inference.proportions import Ends, PairedShares, widened
from service.inference.rates import ON_CURVES, SHARES, paired_rate_ends, rate_ends
from service.inference.rules import Rule
from service.inference.strata import FEWEST

_NEAREST_END = 1e-9
"""How near to 0 and 1 an estimate may be."""

_GREATEST_EXPONENT = 700
"""The greatest exponent of a double, nearly."""

Trial = Callable[[float], float]
"""From k to the end of the interval that decides, at the estimate's quantile."""


class Unplanned(Exception):
    """There is no plan for a rule, and why."""


@dataclass(frozen=True, slots=True)
class Truth:
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


def trial_of(truth: Truth) -> Trial:
    """What decides the rule with k times the data. Raises Unplanned."""
    metric = truth.rule.of
    if is_resampled(metric, truth.how.method, difference=truth.rule.is_change):
        raise Unplanned("The interval comes from resamples, which only the data themselves give")
    if metric.family == "rate" or (metric.family == "point" and truth.value not in ENDS):
        return _of_score(truth)
    if truth.models.stand_ins(metric) < FEWEST:
        raise Unplanned("This prevalence needs more negatives")
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


def _of_statistic(truth: Truth) -> Trial:
    metric, expected = truth.rule.of, truth.expected
    found = truth.models.models[0].error_of(metric)
    if found is None:
        raise Unplanned("The data show no spread")
    error, freedom = found.error, found.certainty.freedom
    if metric.name == "brier":
        error *= _spread_at(expected, truth.value)

    def end(factor: float) -> float:
        less = error / math.sqrt(factor)
        estimate = expected + truth.quantile * less
        if metric.name == "brier":
            estimate = _on_logits(expected, truth.quantile * less)
        elif metric.name == "log_loss":
            estimate = expected * math.exp(truth.quantile * less / expected)
        return truth.worse(STATISTIC_FORMULAS[metric.name](estimate, less, truth.level, _times(freedom, factor)))

    return end


def _of_area(truth: Truth, metric: Metric, value: float) -> Trial:
    """An area, whose error is as at its estimate; `metric` is roc for gini."""
    model = truth.models.models[0]
    true = truth.expected if metric == truth.rule.of else (1 + truth.expected) / 2
    today = model.area_error(metric.part or metric.name)
    whole, (positives, negatives) = today.error, today.trials
    if not whole or not 0 < true < 1:
        raise Unplanned("The data show no spread")

    def end(factor: float) -> float:
        error = whole / math.sqrt(factor)
        estimate = _on_logits(true, truth.quantile * error * _spread_at(true, value))
        error *= _spread_at(estimate, value)
        if truth.method == "delong":
            return truth.worse(delong_interval(estimate, error, truth.level))
        if metric.name in {"pr", "average_precision"}:
            most, clustered = factor * today.stand_ins, {}
            if model.strata.clustered is not None:
                freedom = _times(min(today.freedom, today.stand_ins), factor)
                clustered = {"own": min(factor * today.units[0], most), "freedom": freedom}
            sizes = min(factor * positives, most), factor * negatives
            found = pr_logit_interval(estimate, error, sizes, truth.level, **clustered)
        else:
            freedom = _times(min(today.freedom, today.stand_ins), factor)
            found = logit_interval(estimate, error, truth.level, freedom)
        return truth.worse(within_limits(truth.models, metric, found, factor))

    return end


def _of_difference(truth: Truth, metric: Metric, values: Sequence[float]) -> Trial:
    """A difference; if another one is expected, it lies in the middle between both values. `metric` is roc for gini."""
    today, z = spread_of(truth.models, metric), normal_quantile(truth.level)
    if not today.error:
        raise Unplanned("The data show no spread")
    true = truth.expected if metric == truth.rule.of else truth.expected / 2
    kept, baseline = truth.models.kept, values[1]
    if truth.rule.expected is not None and kept == 1:
        baseline = (values[0] + values[1] - true) / 2

    def end(factor: float) -> float:
        spread = today.times(factor)
        difference = true + truth.quantile * spread.error
        if metric.name in LOSSES:
            return truth.worse(loss_difference_ends(difference, spread, z))
        if truth.method == "delong":
            return truth.worse((difference - z * spread.error, difference + z * spread.error))
        model = min(max(kept * baseline + difference, _NEAREST_END), 1 - _NEAREST_END)
        other = min((model - difference) / kept, 1 - _NEAREST_END)
        return truth.worse(area_difference_ends((model, other), spread, z))

    return end


def _of_score(truth: Truth) -> Trial:
    """A score interval, which moves with its estimate; its end for z = 1 is a standard error away."""
    z = normal_quantile(truth.level)

    def end(factor: float) -> float:
        worse, one = (truth.worse(_score_ends(truth, factor, each)) for each in (z, 1.0))
        return worse + (one - truth.value) * abs(truth.quantile) + truth.expected - truth.value

    return end


def _score_ends(truth: Truth, factor: float, z: float) -> Ends:
    metric, models = truth.rule.of, truth.models
    if len(models.models) > 1 and models.paired and models.kept == 1:
        found = models.shares(metric)
        pairs = _more_pairs(found.shares[0], factor), _more_pairs(found.shares[1], factor)
        if metric.name in SHARES:
            return pairs[SHARES.index(metric.name)].interval(z)
        return paired_rate_ends(models.models[0].rate(metric), truth.value, pairs, z, found.correlation)
    values = models.values(metric) or []
    ends = [_ends_of_one(*each, metric, factor, z) for each in zip(models.models, values, strict=True)]
    if len(ends) == 1:
        return ends[0]
    return mover_ends(*kept_of(values, ends, models.kept), one_minus_correlation_of(models, metric), metric.span)


def _ends_of_one(model: EvaluatedModel, value: float, metric: Metric, factor: float, z: float) -> Ends:
    if metric.family == "point":
        (positives, negatives), freedom = model.trials_at(metric)
        trials, depth = (factor * positives, factor * negatives), widened(z, _times(freedom, factor))
        return ON_CURVES[metric.name](model.table, metric.at or 0.0, value, trials, depth)
    found = model.shares(metric)
    recall, fpr = (
        replace(each, trials=factor * each.trials, freedom=_times(each.freedom, factor)) for each in found.shares
    )
    return rate_ends(model.rate(metric), value, (recall, fpr), z, found.correlation)


def _more_pairs(shares: PairedShares, factor: float) -> PairedShares:
    return replace(shares, trials=factor * shares.trials, freedom=_times(shares.freedom, factor))


def _times(freedom: float, factor: float) -> float:
    """The degrees of freedom of this many times the clusters."""
    return max(freedom * factor, LEAST_FREEDOM)


def _spread_at(value: float, today: float) -> float:
    """How much greater the standard error of a proportion or an area is at one value than at today's."""
    return math.sqrt(value * (1 - value) / (today * (1 - today)))


def _on_logits(value: float, error: float) -> float:
    """A value moved by an error on the scale of logits."""
    reach = min(max(error / (value * (1 - value)), -_GREATEST_EXPONENT), _GREATEST_EXPONENT)
    odds = value / (1 - value) * math.exp(reach)
    return min(max(odds / (1 + odds), _NEAREST_END), 1 - _NEAREST_END)
