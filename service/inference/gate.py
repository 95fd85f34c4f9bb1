"""The verdict on a model: every rule is checked, with a reason in one sentence if it is not met.

    min, max    the value is compared with the bound; with `confidence` the unfavourable end of its interval, so that a
                model passes only if its data show that it meets the bound
    max_drop    likewise the difference from the baseline: with `confidence`, a test of non-inferiority; with `prove`,
                the favourable end, so that a model fails only if its data show that it dropped too far
    max_rise    the same for what should be low
    undecided   if there is no value, or no interval for a rule with confidence, or open groups allow either verdict

Bounds are inclusive. Knows rules and estimates, not how these are computed.
"""

from dataclasses import dataclass, replace

from service.curves.bounds import Enclosure
from service.curves.clock import in_time
from service.curves.clusters import ClusterCounts
from service.curves.confusion import Evaluation
from service.curves.counts import Counts
from service.curves.errors import NotPaired, plain
from service.curves.evaluation import CurvesWarning, below_chance, one_vs_rest
from service.curves.indices import INDICES
from service.curves.sample import Sample
from service.inference.bounded import BOUNDED, extremes, spanning
from service.inference.estimates import Estimates
from service.inference.intervals import Interval, IntervalOptions
from service.inference.methods import is_resampled
from service.inference.metric import Metric
from service.inference.models import Models
from service.inference.pairing import check_paired
from service.inference.plans import planned
from service.inference.reasons import (
    changed,
    missed,
    no_baseline,
    no_interval,
    no_value,
    out_of_reach,
    still_possible,
    straddling,
)
from service.inference.rules import CHANGES, ROUNDING, Rule

MAYBE_PAIRED = CurvesWarning(
    "maybe_paired",
    "The labels of the evaluation and of the baseline agree row by row. If the rows are the same examples, set "
    "paired: differences are then more certain.",
)
SAME_SCORES = CurvesWarning(
    "same_scores", "The evaluation and the baseline have the same scores. Was one set of scores given for both?"
)
_LOOSE_SHARE = 0.5
"""A change by this share of all that a metric may have is hardly a limit."""

_FEWEST_PAIRS = 10
"""Labels of fewer rows than this may agree by chance."""


@dataclass(frozen=True, slots=True, eq=False)
class GateOptions:
    """The rules to meet. `intervals` requests an interval for every check, not only for those that need one."""

    rules: tuple[Rule, ...]
    paired: bool = False
    intervals: IntervalOptions | None = None

    @property
    def how(self) -> IntervalOptions:
        """How intervals are computed, including those of rules with confidence."""
        return self.intervals or IntervalOptions()

    @property
    def wanted(self) -> list[tuple[Metric, bool]]:
        """The metrics that need an interval, each with whether the interval is of the difference."""
        return [(rule.of, rule.is_change) for rule in self.rules if self.wants_interval(rule)]

    def wants_interval(self, rule: Rule) -> bool:
        """Whether the check of a rule needs an interval."""
        return rule.confidence is not None or self.intervals is not None

    def level(self, rule: Rule) -> float:
        """The level of the interval of a rule's check."""
        return rule.confidence or self.how.level

    def takes_resamples(self, rule: Rule) -> bool:
        """Whether the interval of a rule's check comes from resamples."""
        return self.wants_interval(rule) and is_resampled(rule.of, self.how.method, difference=rule.is_change)


@dataclass(frozen=True, slots=True)
class Check:
    """The outcome of one rule (passed, failed, or undecided) and the numbers behind it.

    value       the metric, of the evaluation.
    interval    of the value; for a bound of the difference, of that.
    difference  value - baseline.
    p_value     two-sided, of the difference.
    reason      one sentence; empty if it passed.
    bounds      of the value, or of the difference if that has the bound, if there are open groups; the numbers are then
                halfway between the bounds, and the interval includes the intervals at both.
    rows_needed  if the interval lies on both sides of the bound: how many rows would show that it is met (plans.py).
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

    @property
    def is_of_one(self) -> bool:
        """Whether its rule is decided by the evaluation's value, and no baseline has one."""
        return not self.rule.is_change and self.value is not None and self.baseline is None


@dataclass(frozen=True, slots=True)
class Gate:
    """The answer: passed if every check passed, but for those that only warn.

    clusters  those of the evaluation; None if all its rows are independent.
    """

    paired: bool
    checks: tuple[Check, ...]
    warnings: tuple[CurvesWarning, ...]
    clusters: ClusterCounts | None = None

    @property
    def passed(self) -> bool:
        """Whether its status is passed."""
        return self.status == "passed"

    @property
    def status(self) -> str:
        """The overall status: failed if any check failed, else undecided if any is, else passed."""
        statuses = {check.status for check in self.checks if not check.rule.warns}
        return next((status for status in ("failed", "undecided") if status in statuses), "passed")

    @property
    def warned(self) -> int | None:
        """How many checks that only warn are not passed; None if there are none that only warn."""
        found = [check.status != "passed" for check in self.checks if check.rule.warns]
        return sum(found) if found else None


def evaluate_gate(evaluation: Evaluation, baseline: Evaluation | None, options: GateOptions) -> Gate:
    """Check all rules. Raises NotPaired, and RisingThresholds for counts.

    If open groups bound the metrics, each rule is checked at both ends: the worst of the evaluation against the best of
    the baseline, and the reverse. It is undecided unless both agree.
    """
    worst, best = extremes(evaluation)
    worst_baseline, best_baseline = (None, None) if baseline is None else extremes(baseline)
    models = Models.of(worst, best_baseline, paired=options.paired)
    estimates = Estimates(models, options.how, options.wanted)
    checks = tuple(_check(rule, estimates, options) for rule in in_time(options.rules))
    warnings = estimates.warnings
    is_bounded = worst is not best or worst_baseline is not best_baseline
    if not is_bounded:
        checks = tuple(replace(each, rows_needed=_rows_needed(each, models, options)) for each in checks)
    if is_bounded:
        other = Estimates(Models.of(best, worst_baseline), options.how, options.wanted)
        ends = zip(checks, (_check(rule, other, options) for rule in in_time(options.rules)), strict=True)
        checks = tuple(agreed(one, two) for one, two in ends)
        warnings = tuple(dict.fromkeys((BOUNDED, *warnings, *other.warnings)))
    warnings = one_vs_rest(evaluation, baseline) + warnings
    of_roc = [check for check in checks if check.rule.metric == "roc"]
    if not isinstance(evaluation, Counts):
        warnings += below_chance([check.value for check in of_roc[:1]])
    if not isinstance(baseline, Counts):  # only rules of differences have its value
        old = [check.baseline for check in of_roc if check.baseline is not None]
        warnings += below_chance(old[:1], ["the baseline"])
    if baseline is not None:
        of_one = dict.fromkeys(no_baseline(each.rule) for each in checks if each.is_of_one)
        warnings += tuple(CurvesWarning("no_baseline", detail) for detail in of_one)
    warnings += tuple(_loose(rule) for rule in options.rules if _is_loose(rule))
    if models.have_same_scores:
        warnings += (SAME_SCORES,)
    elif baseline is not None and not options.paired and any(rule.is_change for rule in options.rules):
        warnings += (MAYBE_PAIRED,) * may_be_pairs(evaluation, baseline)
    judged = models.models[0].evaluation
    clusters = judged.cluster_counts if isinstance(judged, Sample) else None
    return Gate(options.paired, checks, warnings, clusters)


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


def may_be_pairs(evaluation: Evaluation, baseline: Evaluation) -> bool:
    """Whether two evaluations look like the same examples."""
    if evaluation.rows < _FEWEST_PAIRS:
        return False
    try:
        check_paired(evaluation, baseline)
    except NotPaired:
        return False
    return True


def _is_loose(rule: Rule) -> bool:
    """Whether hardly any model fails a rule: percent given for a fraction, or an index that is always 1."""
    if rule.is_change:
        return rule.bound >= _LOOSE_SHARE * rule.of.span
    return rule.metric in INDICES and rule.at == 1 and rule.decision is None


def _loose(rule: Rule) -> CurvesWarning:
    change = CHANGES.get(rule.kind)
    why = f"{rule.kind} {plain(rule.bound)} of {rule.of} allows nearly any {change}; one percentage point is 0.01."
    if change is None:
        why = f"{rule.of} is 1 for every model: with everything called positive, recall is 1."
    return CurvesWarning("loose_rule", why)


def _check(rule: Rule, estimates: Estimates, options: GateOptions) -> Check:
    value, baseline = estimates.value(rule.of), estimates.baseline_value(rule.of)
    difference = None if value is None or baseline is None else value - baseline
    interval = None
    if options.wants_interval(rule):
        interval = estimates.interval(rule.of, options.level(rule), difference=rule.is_change)
    status, reason = _verdict(rule, value, baseline, interval)
    p_value = None
    always = rule.of.family == "roc" and not is_resampled(rule.of, options.how.method, difference=True)
    if difference is not None and (always or (rule.is_change and interval is not None)):
        p_value = estimates.p_value(rule.of)
    return Check(rule, status, value, interval, baseline, difference, p_value, reason)


def _rows_needed(check: Check, models: Models, options: GateOptions) -> int | None:
    """The rows that would show that a rule is met whose interval lies on both sides of its bound."""
    rule, interval = check.rule, check.interval
    if rule.confidence is None or interval is None or check.status == "passed":
        return None
    _, better = rule.ends_of(interval.lower, interval.upper)
    return None if rule.excess(better) > ROUNDING else planned(rule, models, options.how).rows


def _verdict(rule: Rule, value: float | None, baseline: float | None, interval: Interval | None) -> tuple[str, str]:
    """Compare the number, or the unfavourable end of its interval, with the bound."""
    if value is None or (rule.is_change and baseline is None):
        return "undecided", no_value(rule, value)
    if rule.confidence is not None and interval is None:
        return "undecided", no_interval(rule)
    known = None if rule.confidence is None else interval
    if baseline is not None and rule.is_change:
        return _change_verdict(rule, value, baseline, known)
    status = _status(rule, value, known, 0.0)
    if status == "passed":
        return status, ""
    if known is None or rule.excess(value) <= 0:
        return status, missed(rule, value) if known is None else out_of_reach(rule, value, known)
    return status, missed(rule, value) if status == "failed" else still_possible(rule, value, known)


def _change_verdict(rule: Rule, value: float, baseline: float, interval: Interval | None) -> tuple[str, str]:
    change, slack = value - baseline, ROUNDING * max(1.0, abs(value), abs(baseline))
    status = _status(rule, change, interval, slack)
    if status == "passed":
        return status, ""
    itself = status == "failed" and rule.excess(change) > slack and not rule.is_lenient
    return status, changed(rule, value, baseline, None if itself else interval)


def _status(rule: Rule, number: float, interval: Interval | None, slack: float) -> str:
    """Whether a number meets the bound, and its interval; that of resamples need not include it."""
    if interval is None:
        return "failed" if rule.excess(number) > slack else "passed"
    worse, better = rule.ends_of(min(interval.lower, number), max(interval.upper, number))
    if rule.excess(worse) <= slack:
        return "passed"
    return "failed" if rule.excess(better) > slack else rule.if_inconclusive
