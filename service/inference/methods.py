"""The methods of intervals and p-values: which metric has which, and how one is computed without resamples.

    an area       from its standard error, which the influence of each example gives
    a point       a score interval over both axes of the curve
    a rate        a score interval of recall and fpr of a row
    a statistic   from its standard error, on the scale that suits its limits
    a difference  from the differences of influences, or from the intervals of both values (MOVER)
    a relative drop   likewise; of a rate always from both intervals, since Tango's is of plain differences

An area of exactly 0 or 1 has no spread, and its interval is exact; a point's is a score interval all the same. Knows
models and the formulas of intervals; nothing of resamples, warnings or verdicts.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

from service.inference.intervals import (
    Interval,
    area_difference_ends,
    area_difference_interval,
    delong_interval,
    difference_interval,
    difference_p_value,
    exact_interval,
    exact_pr_interval,
    kept_of,
    logit_interval,
    loss_difference_ends,
    mover_ends,
    normal_quantile,
    pr_logit_interval,
    score_interval,
    within_exact,
)
from service.inference.metric import ENDS, Metric
from service.inference.models import EvaluatedModel, Models
from service.inference.partial_influence import Area, perfect_lower_end, worst_upper_end
from service.inference.probability_errors import STATISTIC_FORMULAS, interval_of_statistic
from service.inference.proportions import Ends, p_value, p_value_by_level, widened
from service.inference.rates import ON_CURVES, SHARES, one_minus_rate_correlation, paired_rate_ends, rate_ends
from service.inference.spread import Spread
from service.inference.strata import FEWEST

RESAMPLED_METHODS = ("bootstrap", "bca")
INTERVAL_METHODS = ("auto", "delong", "logit", *RESAMPLED_METHODS)
"""The methods that may be asked for; `auto` and `logit` are the same, and both mean `mover` for a difference."""

_RESAMPLED = {method: method for method in RESAMPLED_METHODS}

METHODS_OF_FAMILIES: dict[tuple[str, bool], dict[str, str]] = {
    ("roc", False): {"auto": "logit", "logit": "logit", "delong": "delong"} | _RESAMPLED,
    ("roc", True): {"auto": "mover", "logit": "mover", "delong": "delong"} | _RESAMPLED,
    ("area", False): {"auto": "logit", "logit": "logit"} | _RESAMPLED,
    ("area", True): {"auto": "mover", "logit": "mover"} | _RESAMPLED,
    ("point", False): dict.fromkeys(INTERVAL_METHODS, "score") | _RESAMPLED,
    ("point", True): dict.fromkeys(INTERVAL_METHODS, "bootstrap") | _RESAMPLED,
    ("rate", False): dict.fromkeys(INTERVAL_METHODS, "score"),
    ("rate", True): dict.fromkeys(INTERVAL_METHODS, "score"),
    ("brier", False): dict.fromkeys(INTERVAL_METHODS, "logit"),
    ("brier", True): dict.fromkeys(INTERVAL_METHODS, "wald"),
    ("log_loss", False): dict.fromkeys(INTERVAL_METHODS, "log"),
    ("log_loss", True): dict.fromkeys(INTERVAL_METHODS, "wald"),
    ("fit", False): dict.fromkeys(INTERVAL_METHODS, "wald"),
}
"""{(the metric's family, whether of a difference): {method asked for: method}}.

A rate of a row is never resampled: if few examples decide it, resamples vary too little, or not at all. Nor are the
statistics of probabilities, whose formulas hold.
"""

LOSSES = ("brier", "log_loss")
"""The statistics whose differences have intervals."""


def method_of(metric: Metric, asked: str, *, difference: bool = False) -> str | None:
    """The method of the interval of a metric, or of its difference; None if it has none."""
    return METHODS_OF_FAMILIES[metric.family, difference].get(asked) if metric.family else None


def is_resampled(metric: Metric, asked: str, *, difference: bool = False) -> bool:
    """Whether the interval of a metric, or of its difference, comes from resamples."""
    return method_of(metric, asked, difference=difference) in RESAMPLED_METHODS


def closed_interval(of: Models, metric: Metric, values: Sequence[float], level: float, method: str) -> Interval | None:
    """The interval of a metric, or of its difference if there are two models.

    None if it needs resamples, or more negatives for the target prevalence.
    """
    if of.stand_ins(metric) < FEWEST:
        return None
    if len(values) == 1:
        return _of_one(of.models[0], metric, values[0], level, method)
    return _of_difference(of, metric, values, level, method)


def within_limits(of: Models, metric: Metric, interval: Interval, times: float = 1.0) -> Interval:
    """The interval of an area, no narrower than for an area of 1 or 0; that of a point unchanged.

    `times` as many examples are taken to be there.
    """
    if not metric.is_area:
        return interval
    perfect, worst = (_exact(of.models[0], metric, end, interval.level, times) for end in (1.0, 0.0))
    return within_exact(interval, perfect, worst if metric.family == "roc" else None)


def closed_p_value(of: Models, metric: Metric, values: Sequence[float], method: str) -> float | None:
    """The two-sided p-value of no difference: that of the narrowest interval that includes it.

    None if the interval needs resamples. Also None if the error is 0: any difference would look certain.
    """
    if of.are_alike:
        return 1.0
    difference = of.difference(values)
    if metric.name in LOSSES:
        spread = spread_of(of, metric)
        return p_value(difference, lambda z: loss_difference_ends(difference, spread, z)) if spread.error else None
    if metric.name in SHARES and of.paired and of.kept == 1:
        return of.shares(metric).shares[SHARES.index(metric.name)].p_value
    if metric.family == "rate":
        return p_value(difference, _difference_ends(of, metric, values))
    if any(value in ENDS for value in values):
        return p_value_by_level(difference, lambda level: _from_both(of, metric, values, level))
    return None if method in RESAMPLED_METHODS else _area_p_value(of, values, spread_of(of, metric), method)


def _of_one(model: EvaluatedModel, metric: Metric, value: float, level: float, method: str) -> Interval | None:
    if metric.name in STATISTIC_FORMULAS:
        spread = model.error_of(metric)
        return interval_of_statistic(metric.name, value, spread, level) if spread else None
    if not metric.is_area and (value in ENDS or method not in RESAMPLED_METHODS):
        effect = None
        if metric.name in SHARES and metric.family == "rate":
            effect = model.shares(metric).shares[SHARES.index(metric.name)].design_effect
        return score_interval(_score_ends(model, metric, value, normal_quantile(level)), level, effect)
    if value in ENDS:
        return _exact(model, metric, value, level)
    if method in RESAMPLED_METHODS:
        return None
    of_area = model.area_error(_area_of(metric))
    error, effect = of_area.error, of_area.design_effect
    if method == "delong":
        return replace(delong_interval(value, error, level), design_effect=effect)
    most, freedom = of_area.stand_ins, min(of_area.freedom, of_area.stand_ins)
    if metric.name in ("pr", "average_precision"):
        clustered = {"own": min(of_area.units[0], most), "freedom": freedom} if model.strata.clustered else {}
        sizes = min(of_area.trials[0], most), of_area.trials[1]
        found = pr_logit_interval(value, error, sizes, level, **clustered)
    else:
        found = logit_interval(value, error, level, freedom)
    return within_limits(Models((model,)), metric, replace(found, design_effect=effect))


def _of_difference(of: Models, metric: Metric, values: Sequence[float], level: float, method: str) -> Interval | None:
    if of.are_alike:
        return Interval(0.0, 0.0, level, method, None if method == "score" else 0.0)
    if metric.family == "rate":
        effect = None
        if metric.name in SHARES and of.paired and of.kept == 1:
            effect = of.shares(metric).shares[SHARES.index(metric.name)].design_effect
        return score_interval(_difference_ends(of, metric, values)(normal_quantile(level)), level, effect)
    if metric.name not in LOSSES and any(value in ENDS for value in values):
        ends = _from_both(of, metric, values, level)
        return Interval(*ends, level, "exact" if metric.is_area else "score", None)
    if method in RESAMPLED_METHODS:
        return None
    return _of_spread(of, values, metric, level, method)


def _of_spread(of: Models, values: Sequence[float], metric: Metric, level: float, method: str) -> Interval | None:
    """The interval of a difference from its spread; None for losses that show none."""
    spread, difference = spread_of(of, metric), of.difference(values)
    if metric.name in LOSSES:
        lower, upper = loss_difference_ends(difference, spread, normal_quantile(level))
        ends = max(lower, -metric.span), min(upper, metric.span)
        found = Interval(*ends, level, "wald", spread.error, spread.design_effect)
        return found if spread.error else None
    if method == "delong":
        found = difference_interval(difference, spread.error, level, of.kept)
        return replace(found, design_effect=spread.design_effect)
    return area_difference_interval(values, spread, level)


def _from_both(of: Models, metric: Metric, values: Sequence[float], level: float) -> Ends:
    """The ends of a difference from the intervals of both values, as if they were independent."""
    of_both = (_of_one(*each, level, "logit") for each in zip(of.models, (metric, metric), values, strict=True))
    return mover_ends(*kept_of(values, [(each.lower, each.upper) for each in of_both if each is not None], of.kept))


def _exact(model: EvaluatedModel, metric: Metric, value: float, level: float, times: float = 1.0) -> Interval:
    """The interval of an area of 0 or 1; an area under a PR curve is never 0."""
    positives, negatives = model.trials(metric)
    trials, in_use = (times * positives, times * negatives), model.table.in_use
    totals = in_use.positives, in_use.negatives
    if metric.family == "roc":
        return exact_interval(value, min(trials), level)
    if metric.part is None:
        return exact_pr_interval(totals, trials, level)
    if value > 0:
        return Interval(perfect_lower_end(metric.part, totals, trials, level), 1.0, level, "exact", None)
    upper = worst_upper_end(model.table, metric.part, trials, normal_quantile(level))
    return Interval(0.0, upper, level, "exact", None)


def _score_ends(model: EvaluatedModel, metric: Metric, value: float, z: float) -> Ends:
    """The score interval of a point of a curve, or of a rate, with this value."""
    if metric.family == "rate":
        found = model.shares(metric)
        return rate_ends(model.rate(metric), value, found.shares, z, found.correlation)
    trials, freedom = model.trials_at(metric)
    return ON_CURVES[metric.name](model.table, metric.at or 0.0, value, trials, widened(z, freedom))


def _area_p_value(of: Models, values: Sequence[float], spread: Spread, method: str) -> float | None:
    """That of a difference of areas strictly between 0 and 1."""
    difference = of.difference(values)
    if method == "delong" or spread.error == 0:
        return difference_p_value(difference, spread.error)
    return p_value(difference, lambda z: area_difference_ends(values, spread, z))


def _difference_ends(of: Models, metric: Metric, values: Sequence[float]) -> Callable[[float], Ends]:
    """The ends of the interval of the difference of a metric of a row, for each z."""
    if of.paired and of.kept == 1:
        found = of.shares(metric)
        if metric.name in SHARES:
            return found.shares[SHARES.index(metric.name)].interval
        rate, difference = of.models[0].rate(metric), values[0] - values[1]
        return lambda z: paired_rate_ends(rate, difference, found.shares, z, found.correlation)
    apart = one_minus_correlation_of(of, metric)

    def ends(z: float) -> Ends:
        of_each = [_score_ends(each, metric, value, z) for each, value in zip(of.models, values, strict=True)]
        return mover_ends(*kept_of(values, of_each, of.kept), apart, metric.span)

    return ends


def one_minus_correlation_of(of: Models, metric: Metric) -> float:
    """1 - ρ of a metric of a row of two models; 1 unless their examples are the same."""
    if not of.paired:
        return 1.0
    return one_minus_rate_correlation(
        of.models[0].rate(metric), [each.shares(metric).shares for each in of.models], of.shares(metric).shares
    )


def spread_of(of: Models, metric: Metric) -> Spread:
    """The spread of the difference of an area or a mean loss."""
    return of.spread(_area_of(metric))


def _area_of(metric: Metric) -> Area:
    """What the spread of a metric is called: the name of an area or a mean loss, or a range."""
    return metric.part or metric.name
