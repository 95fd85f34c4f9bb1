"""The verdict on a model: every rule is checked, and says in one sentence why it is not met.

Without `confidence` a rule looks at the numbers; with it, at the unfavourable end of an interval, so that a model
passes only when its data show that it meets the bound. For `max_drop` that is a test of non-inferiority. `prove` turns
it round: the model fails only when its data show that it does not. Knows rules and evidence; nothing of how evidence
is found.
"""

from dataclasses import dataclass

from service.curves.counts import Counts
from service.curves.evaluation import CurvesWarning
from service.curves.sample import Sample
from service.inference.evidence import Evidence, is_resampled
from service.inference.intervals import Interval, IntervalOptions
from service.inference.reasons import dropped, missed, no_interval, no_value, out_of_reach
from service.inference.rules import Rule

ROUNDING = 2.0**-52
"""A drop of 0.01, from 0.85 to 0.84, is 0.010000000000000009 in doubles, and within a bound of 0.01."""


@dataclass(frozen=True, slots=True, eq=False)
class GateOptions:
    """What has to be met. `intervals` asks for an interval of every check, not only of those that need one."""

    rules: tuple[Rule, ...]
    paired: bool = False
    intervals: IntervalOptions | None = None


@dataclass(frozen=True, slots=True)
class Check:
    """One rule's outcome: passed, failed, or undecided, with the numbers that it rests on.

    value       the metric, of the evaluation.
    interval    of the value; where the rule is max_drop, of the difference.
    difference  value - baseline.
    p_value     two-sided, of the difference.
    reason      one sentence; empty where it passed.
    """

    rule: Rule
    status: str
    value: float | None
    interval: Interval | None
    baseline: float | None
    difference: float | None
    p_value: float | None
    reason: str


@dataclass(frozen=True, slots=True)
class Gate:
    """The answer: passed when every check is."""

    passed: bool
    paired: bool
    checks: tuple[Check, ...]
    warnings: tuple[CurvesWarning, ...]


def evaluate_gate(evaluation: Sample | Counts, baseline: Sample | Counts | None, options: GateOptions) -> Gate:
    """Check all rules. Raises NotPaired, and RisingThresholds for counts."""
    evidence = Evidence(evaluation, baseline, options.intervals or IntervalOptions(), paired=options.paired)
    evidence.expect([(rule.of, rule.kind == "max_drop") for rule in options.rules if _wants_interval(rule, options)])
    checks = tuple(_check(rule, evidence, options) for rule in options.rules)
    return Gate(all(check.status == "passed" for check in checks), options.paired, checks, evidence.warnings)


def resamples(options: GateOptions) -> int:
    """How many resamples a gate takes; 0 where it takes none."""
    intervals = options.intervals or IntervalOptions()
    needed = any(
        is_resampled(rule.of, intervals.method, difference=rule.kind == "max_drop")
        for rule in options.rules
        if _wants_interval(rule, options)
    )
    return intervals.resamples if needed else 0


def _wants_interval(rule: Rule, options: GateOptions) -> bool:
    return rule.confidence is not None or options.intervals is not None


def _check(rule: Rule, evidence: Evidence, options: GateOptions) -> Check:
    value, baseline = evidence.value(rule.of), evidence.baseline_value(rule.of)
    difference = None if value is None or baseline is None else value - baseline
    of_drop = rule.kind == "max_drop"
    interval = None
    if _wants_interval(rule, options):
        level = rule.confidence or evidence.options.level
        interval = evidence.difference_interval(rule.of, level) if of_drop else evidence.interval(rule.of, level)
    status, reason = _verdict(rule, value, baseline, interval)
    p_value = None if difference is None else evidence.p_value(rule.of, resampled=of_drop and interval is not None)
    return Check(rule, status, value, interval, baseline, difference, p_value, reason)


def _verdict(rule: Rule, value: float | None, baseline: float | None, interval: Interval | None) -> tuple[str, str]:
    """Hold the number, or the unfavourable end of its interval, against the bound."""
    if value is None or (rule.kind == "max_drop" and baseline is None):
        return "undecided", no_value(rule, value)
    if rule.confidence is not None and interval is None:
        return "undecided", no_interval(rule)
    if baseline is not None and rule.kind == "max_drop":
        return _drop_verdict(rule, value, baseline, None if rule.confidence is None else interval)
    if rule.confidence is None or interval is None:
        met = value >= rule.bound if rule.kind == "min" else value <= rule.bound
        return ("passed", "") if met else ("failed", missed(rule, value))
    met = interval.lower >= rule.bound if rule.kind == "min" else interval.upper <= rule.bound
    return ("passed", "") if met else ("failed", out_of_reach(rule, value, interval))


def _drop_verdict(rule: Rule, value: float, baseline: float, interval: Interval | None) -> tuple[str, str]:
    end = value - baseline
    if interval is not None:
        end = interval.upper if rule.prove else interval.lower
    met = -end <= rule.bound + ROUNDING
    return ("passed", "") if met else ("failed", dropped(rule, value, baseline, interval))
