"""The check of one rule: its number, or the unfavourable end of its interval, is compared with the bound.

    min, max    the value is compared with the bound; with `confidence` the unfavourable end of its interval, so that a
                model passes only if its data show that it meets the bound
    max_drop    likewise the difference from the baseline: with `confidence`, a test of non-inferiority; with `prove`,
                the favourable end, so that a model fails only if its data show that it dropped too far
    max_relative_drop r   likewise the value less 1 - r of the baseline's, which must not be below 0
    max_rise    the same for what should be low
    undecided   if there is no value, or no interval for a rule with confidence, or open groups allow either verdict

Bounds are inclusive. Knows rules and estimates, not how these are computed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from service.curves.bounds import Enclosure
from service.inference.bounded import spanning
from service.inference.estimates import Estimates
from service.inference.intervals import Interval, IntervalOptions
from service.inference.methods import is_resampled
from service.inference.metric import Metric
from service.inference.reasons import (
    changed,
    missed,
    no_interval,
    no_value,
    out_of_reach,
    still_possible,
    straddling,
)
from service.inference.rules import ROUNDING, Rule
from service.inference.sliced import RowsInSlices


@dataclass(frozen=True, slots=True, eq=False)
class GateOptions:
    """The rules to meet.

    intervals  requests an interval for every check, not only for those that need one.
    slicings   {slices or folds of a rule: the rows of each}.
    """

    rules: tuple[Rule, ...]
    paired: bool = False
    intervals: IntervalOptions | None = None
    slicings: Mapping[tuple[str, ...], RowsInSlices] = field(default_factory=dict)

    @property
    def how(self) -> IntervalOptions:
        """How intervals are computed, including those of rules with confidence."""
        return self.intervals or IntervalOptions()

    @property
    def wanted(self) -> list[tuple[Metric, float | None]]:
        """The metrics that need an interval; with `kept` for one of the difference, else with None."""
        asked = (rule for rule in self.rules if self.wants_interval(rule) and rule.is_of_all)
        return [(rule.of, rule.kept if rule.is_change else None) for rule in asked]

    def wants_interval(self, rule: Rule) -> bool:
        """Whether the check of a rule needs an interval."""
        return rule.confidence is not None or self.intervals is not None

    def level(self, rule: Rule) -> float:
        """The level of the interval of a rule's check."""
        return rule.confidence or self.how.level

    def takes_resamples(self, rule: Rule) -> bool:
        """Whether the interval of a rule's check comes from resamples."""
        takes = is_resampled(rule.of, self.how.method, difference=rule.is_change)
        return takes and rule.is_of_all and self.wants_interval(rule)


@dataclass(frozen=True, slots=True)
class Check:
    """The outcome of one rule (passed, failed, or undecided) and the numbers behind it.

    value       the metric, of the evaluation.
    interval    of the value; for a bound of the difference, of that.
    difference  value - baseline; for a relative drop r, value - (1 - r) baseline.
    p_value     two-sided, of the difference.
    reason      one sentence; empty if it passed.
    bounds      of the value, or of the difference if that has the bound, if there are open groups; the numbers are then
                halfway between the bounds, and the interval includes the intervals at both.
    rows_needed  if the interval lies on both sides of the bound: how many rows would show that it is met (plans.py).
    slices      of a rule over slices, these as columns; the numbers above are then of the slice that is worst, and the
                interval is one for the worst of them all.
    """

    rule: Rule
    status: str
    value: float | None
    interval: Interval | None
    baseline: float | None
    difference: float | None
    p_value: float | None
    reason: str
    bounds: Enclosure | None = None
    rows_needed: int | None = None
    slices: Mapping[str, Sequence[Any]] | None = None

    @property
    def is_of_one(self) -> bool:
        """Whether its rule is decided by the evaluation's value, and no baseline has one."""
        return not self.rule.is_change and self.rule.is_of_all and self.value is not None and self.baseline is None


def check_of(rule: Rule, estimates: Estimates, options: GateOptions) -> Check:
    """Check a rule over all rows."""
    value, baseline = estimates.value(rule.of), estimates.baseline_value(rule.of)
    difference = rule.difference(value, baseline)
    interval = None
    if options.wants_interval(rule):
        kept = rule.kept if rule.is_change else None
        interval = estimates.interval(rule.of, options.level(rule), kept=kept)
    status, reason = verdict_of(rule, value, baseline, interval)
    p_value = None
    always = rule.of.family == "roc" and not is_resampled(rule.of, options.how.method, difference=True)
    if difference is not None and (always or (rule.is_change and interval is not None)):
        p_value = estimates.p_value(rule.of, rule.kept)
    return Check(rule, status, value, interval, baseline, difference, p_value, reason)


def verdict_of(
    rule: Rule, value: float | None, baseline: float | None, interval: Interval | None, where: str = ""
) -> tuple[str, str]:
    """Compare the number, or the unfavourable end of its interval, with the bound: the status, and the reason.

    `where` names the slice that the numbers are of.
    """
    if value is None or (rule.is_change and baseline is None):
        return "undecided", no_value(rule, value)
    if rule.confidence is not None and interval is None:
        return "undecided", no_interval(rule, where)
    known = None if rule.confidence is None else interval
    if baseline is not None and rule.is_change:
        return _change_verdict(rule, value, baseline, known, where)
    status = status_of(rule, value, known, 0.0)
    if status == "passed":
        return status, ""
    if known is None or rule.excess(value) <= 0:
        return status, missed(rule, value, where) if known is None else out_of_reach(rule, value, known, where)
    return status, missed(rule, value, where) if status == "failed" else still_possible(rule, value, known, where)


def slack_of(rule: Rule, value: float, baseline: float) -> float:
    """The tolerance for a difference of two values; that of a relative drop is rounded twice more."""
    return (1 + (rule.kept != 1)) * ROUNDING * max(1.0, abs(value), abs(baseline))


def _change_verdict(
    rule: Rule, value: float, baseline: float, interval: Interval | None, where: str = ""
) -> tuple[str, str]:
    change, slack = value - rule.kept * baseline, slack_of(rule, value, baseline)
    status = status_of(rule, change, interval, slack)
    if status == "passed":
        return status, ""
    itself = status == "failed" and rule.excess(change) > slack and not rule.is_lenient
    return status, changed(rule, value, baseline, None if itself else interval, where)


def status_of(rule: Rule, number: float, interval: Interval | None, slack: float) -> str:
    """Whether a number meets the bound, and its interval; that of resamples need not include it."""
    outcome = outcome_of(rule, number, interval, slack)
    return {"met": "passed", "missed": "failed"}.get(outcome, rule.if_inconclusive)


def outcome_of(rule: Rule, number: float, interval: Interval | None, slack: float) -> str:
    """Whether the bound is met, missed, or inside the interval: inconclusive."""
    if interval is None:
        return "missed" if rule.excess(number) > slack else "met"
    worse, better = rule.ends_of(min(interval.lower, number), max(interval.upper, number))
    if rule.excess(worse) <= slack:
        return "met"
    return "missed" if rule.excess(better) > slack else "inconclusive"


def agreed(one: Check, other: Check) -> Check:
    """Combine the checks of a rule at both ends of its bounds."""
    values, differences = Enclosure.of(one.value, other.value), Enclosure.of(one.difference, other.difference)
    baselines = Enclosure.of(one.baseline, other.baseline)
    bounds = differences if one.rule.is_change else values
    status, reason = _agreed_verdict(one, other, bounds)
    return Check(
        one.rule,
        status,
        value=_middle(values),
        interval=spanning(one.interval, other.interval),
        baseline=_middle(baselines),
        difference=_middle(differences),
        p_value=None,
        reason=reason,
        bounds=bounds,
    )


def _agreed_verdict(one: Check, other: Check, bounds: Enclosure | None) -> tuple[str, str]:
    """The status of two checks, and the reason: if both failed, that of the check nearer to passing."""
    for check in (one, other):
        if check.status == "undecided":
            return check.status, check.reason
    if one.status != other.status and bounds is not None:
        return "undecided", straddling(one.rule, bounds)
    first, second = ((each.difference if each.rule.is_change else each.value) or 0 for each in (one, other))
    nearer = one if one.rule.is_ceiling == (first < second) else other
    if not nearer.reason or bounds is None or bounds.lower == bounds.upper:
        return nearer.status, nearer.reason
    return nearer.status, f"{nearer.reason.removesuffix('.')}, at the favourable end of its bounds."


def _middle(bounds: Enclosure | None) -> float | None:
    return None if bounds is None else bounds.middle
