"""Rules over slices: each is one rule on the worst true value of all slices, whichever slice that is.

    1. Decisions are made once, on all rows of a model.
    2. Each slice gets its table; those without a value, or with too few examples, are skipped.
    3. A value's unfavourable end is that of the slice alone: the worst of these ends is beyond the worst true value
       only if that one slice's is (intersection-union). Its favourable end has the level 1 - (1 - level)/K for K
       slices, as any of these ends may be on the wrong side by chance (Bonferroni).
    4. The rule's interval has the worst of all unfavourable ends and the worst of all favourable ones.

So a rule with confidence passes by mistake with a probability of at most (1 - confidence)/2, however many slices there
are, and with `inconclusive` pass it fails by mistake as rarely. K depends on sizes alone, never on values.

Knows models, estimates and checks. Sources: Berger 1982, "Multiparameter hypothesis testing and acceptance sampling".
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

from service.curves.clock import in_time
from service.curves.evaluation import CurvesWarning
from service.inference.adjusted import adjusted_interval
from service.inference.gaps import gap_interval
from service.inference.intervals import Interval
from service.inference.methods import is_resampled, method_of
from service.inference.metric import Metric
from service.inference.models import Models
from service.inference.probability_errors import interval_of_gini
from service.inference.reasons import apart, no_interval
from service.inference.rules import ROUNDING, Rule
from service.inference.sliced_models import SliceModels, sliced_models, warnings_of_each
from service.inference.verdicts import Check, GateOptions, outcome_of, slack_of, status_of, verdict_of

_FEWEST_FOR_INTERVALS = 2

_Keys = Mapping[str, Sequence[Any]]

GapInterval = Callable[[Sequence[SliceModels], Metric, Sequence[float], float, str], Interval | None]
"""The interval of a gap between slices of which a metric has these values, at a level and by a method."""


@dataclass(frozen=True, eq=False)
class _Found:
    """What a rule finds in a slice: the number that it compares, and its interval.

    outcome   met, missed, inconclusive, or skipped for the `reason`.
    interval  with the unfavourable end at the level, and the other one adjusted for the number of slices.
    kept      how much of the baseline the difference subtracts.
    """

    slice: SliceModels
    outcome: str
    value: float | None = None
    baseline: float | None = None
    interval: Interval | None = None
    reason: str | None = None
    kept: float = 1.0

    @property
    def difference(self) -> float | None:
        """The value less what is subtracted of the baseline's."""
        return None if self.value is None or self.baseline is None else self.value - self.kept * self.baseline

    def number(self, rule: Rule) -> float:
        """What the rule compares with its bound."""
        number = self.difference if rule.is_change else self.value
        assert number is not None  # noqa: S101  # a slice that is judged has it
        return number


def checks_over_slices(models: Models, options: GateOptions) -> tuple[dict[Rule, Check], tuple[CurvesWarning, ...]]:
    """Check the rules over slices: {rule: its check}, and warnings."""
    checks: dict[Rule, Check] = {}
    warnings: list[CurvesWarning] = []
    for (names, rows), against in in_time(product(options.slicings.items(), (False, True))):
        rules = [rule for rule in options.rules if rule.slices == names and rule.is_change == against]
        if not rules:
            continue
        decisions = [rule.decision for rule in rules if rule.decision is not None]
        slices = sliced_models(models, rows, decisions, options.how, against=against)
        for rule in rules:
            checks[rule], told = check_of_parts(rule, slices, rows.evaluation.keys, options)
            warnings += told
        warnings += warnings_of_each(slices)
    return checks, tuple(dict.fromkeys(warnings))


def check_of_parts(
    rule: Rule,
    slices: Sequence[SliceModels],
    keys: Mapping[str, Sequence[Any]],
    options: GateOptions,
    of_gap: GapInterval | None = None,
) -> tuple[Check, list[CurvesWarning]]:
    """Check a rule over parts of the data, of which `keys` are the names, as columns; and warnings.

    `of_gap` has the interval of a gap between parts that share rows.
    """
    found = list(_found(rule, slices, options))
    if rule.kind == "max_gap":
        check = _gap(rule, found, keys, options, of_gap or _gap_of_slices)
    else:
        check = _worst(rule, found, keys, options)
    return check, list(_warnings_of(rule, found))


def _found(rule: Rule, slices: Sequence[SliceModels], options: GateOptions) -> Iterator[_Found]:
    """What a rule finds in each slice."""
    fewest = max(rule.min_examples or 1, _FEWEST_FOR_INTERVALS if rule.confidence is not None else 1)
    judged = [each.smaller >= fewest for each in slices]
    count = sum(judged)
    for each, is_judged in in_time(zip(slices, judged, strict=True)):
        if each.estimates is None or not is_judged:
            yield _Found(each, "skipped", reason=each.reason or "too_few_examples")
            continue
        value = each.estimates.value(rule.of)
        baseline = each.estimates.baseline_value(rule.of) if rule.is_change else None
        if value is None or (rule.is_change and baseline is None):
            yield _Found(each, "skipped", value, baseline, reason="no_value", kept=rule.kept)
            continue
        interval = _interval(rule, each, count, options) if options.wants_interval(rule) else None
        found = _Found(each, "inconclusive", value, baseline, interval, kept=rule.kept)
        if rule.confidence is None or interval is not None:
            slack = 0.0 if baseline is None else slack_of(rule, value, baseline)
            known = None if rule.confidence is None else interval
            found = replace(found, outcome=outcome_of(rule, found.number(rule), known, slack))
        yield found


def _interval(rule: Rule, each: SliceModels, count: int, options: GateOptions) -> Interval | None:
    """The interval of a slice among `count`; for a gap, that of the slice alone."""
    assert each.estimates is not None  # noqa: S101  # such a slice is skipped
    assert each.models is not None  # noqa: S101  # as above
    level, change = options.level(rule), rule.is_change
    if is_resampled(rule.of, options.how.method, difference=change) or not each.certain:
        return None
    alone = each.estimates.interval(rule.of, level, kept=rule.kept if change else None)
    if alone is None or rule.kind == "max_gap":
        return alone
    of = each.models.keeping(rule.kept) if change else each.models.first
    metric = Metric("roc") if rule.metric == "gini" else rule.of
    method, values = method_of(metric, options.how.method, difference=change), of.values(metric)
    assert method is not None  # noqa: S101  # there is an interval
    assert values is not None  # noqa: S101  # as above
    adjusted = min(1 - (1 - level) / count, math.nextafter(1, 0))
    other = adjusted_interval(of, metric, values, adjusted, method)
    if other is None:
        return None
    if rule.metric == "gini":
        other = interval_of_gini(other, difference=change)
    lower, upper = (other.lower, alone.upper) if rule.is_ceiling else (alone.lower, other.upper)
    return replace(alone, lower=lower, upper=upper)


def _worst(rule: Rule, found: Sequence[_Found], keys: _Keys, options: GateOptions) -> Check:
    """The check of a bound that each slice must meet."""
    judged = [each for each in found if each.outcome != "skipped"]
    columns = _columns(rule, found, keys)
    if not judged:
        return _all_skipped(rule, columns)
    worst = max(judged, key=lambda each: rule.excess(each.number(rule)))
    interval = _of_all(rule, worst, judged, options)
    status, reason = _verdict(rule, judged)
    return Check(rule, status, worst.value, interval, worst.baseline, worst.difference, None, reason, slices=columns)


def _of_all(rule: Rule, worst: _Found, judged: Sequence[_Found], options: GateOptions) -> Interval | None:
    """The interval of the worst value; None if a slice has none."""
    ends = [each.interval for each in judged if each.interval is not None]
    if worst.interval is None or len(ends) < len(judged):
        return None
    extreme = max if rule.is_ceiling else min
    lower, upper = extreme(each.lower for each in ends), extreme(each.upper for each in ends)
    return Interval(lower, upper, options.level(rule), worst.interval.method, None)


def _verdict(rule: Rule, judged: Sequence[_Found]) -> tuple[str, str]:
    """The status of the rule, and the reason, which is about the slice that decides it."""
    for outcome in ("missed", "inconclusive"):
        deciding = [each for each in judged if each.outcome == outcome]
        without = [each for each in deciding if outcome == "inconclusive" and each.interval is None]
        if without:
            return "undecided", no_interval(rule, without[0].slice.where)
        if deciding:
            chosen = max(deciding, key=lambda each: rule.excess(each.number(rule)))
            if rule.excess(chosen.number(rule)) <= 0:
                chosen = max(deciding, key=lambda each: rule.excess(_unfavourable(rule, each)))
            status, reason = verdict_of(rule, chosen.value, chosen.baseline, chosen.interval, chosen.slice.where)
            met = sum(each.outcome == "met" for each in judged)
            what = "classes" if rule.classes else "slices"
            return status, reason and f"{reason} It holds in {met} of {len(judged)} {what}."
    return "passed", ""


def _unfavourable(rule: Rule, found: _Found) -> float:
    assert found.interval is not None  # noqa: S101  # it is inconclusive
    return rule.ends_of(found.interval.lower, found.interval.upper)[0]


def _gap(rule: Rule, found: Sequence[_Found], keys: _Keys, options: GateOptions, of_gap: GapInterval) -> Check:
    """The check of the gap between the greatest and the least value."""
    judged = [each for each in found if each.outcome != "skipped"]
    if len(judged) < _FEWEST_FOR_INTERVALS:
        return _all_skipped(rule, _columns(rule, found, keys))
    values = [each.number(rule) for each in judged]
    greatest, least = judged[values.index(max(values))], judged[values.index(min(values))]
    placed = [
        replace(each, outcome="greatest" if each is greatest else "least" if each is least else "between")
        if each.outcome != "skipped"
        else each
        for each in found
    ]
    columns, gap = _columns(rule, placed, keys), max(values) - min(values)
    interval = None
    if options.wants_interval(rule) and all(each.interval is not None for each in judged):
        interval = _interval_of_gap(rule, judged, values, options, of_gap)
    if rule.confidence is not None and interval is None:
        return Check(rule, "undecided", gap, None, None, None, None, no_interval(rule), slices=columns)
    known = None if rule.confidence is None else interval
    status = status_of(rule, gap, known, 2 * ROUNDING * max(1.0, *map(abs, values)))
    reason = ""
    if status != "passed":
        ends = [(each.slice.where, each.number(rule)) for each in (greatest, least)]
        reason = apart(rule, ends[0], ends[1], None if status == "failed" and gap > rule.bound else known)
    return Check(rule, status, gap, interval, None, None, None, reason, slices=columns)


def _interval_of_gap(
    rule: Rule, judged: Sequence[_Found], values: Sequence[float], options: GateOptions, of_gap: GapInterval
) -> Interval | None:
    """The interval of a gap, twice that of roc for gini."""
    of_roc = rule.metric == "gini"
    metric = Metric("roc") if of_roc else rule.of
    values = [(value + 1) / 2 for value in values] if of_roc else values
    found = of_gap([each.slice for each in judged], metric, values, options.level(rule), options.how.method)
    return interval_of_gini(found, difference=True) if found is not None and of_roc else found


def _gap_of_slices(
    slices: Sequence[SliceModels], metric: Metric, values: Sequence[float], level: float, asked: str
) -> Interval | None:
    models = [each.models.models[0] for each in slices if each.models is not None]
    return gap_interval(models, metric, values, level, asked)


def _all_skipped(rule: Rule, columns: Mapping[str, Sequence[Any]]) -> Check:
    noun = "class" if rule.classes else "slice"
    few = f"Fewer than two {'classes' if rule.classes else 'slices'}" if rule.kind == "max_gap" else f"No {noun}"
    of = "" if rule.classes else f" of {' and '.join(rule.keys)}"
    reason = f"{few}{of} can be judged by {rule.named}; the slices say why."
    return Check(rule, "undecided", None, None, None, None, None, reason, slices=columns)


def _columns(rule: Rule, found: Sequence[_Found], keys: _Keys) -> dict[str, list[Any]]:
    """The slices as the answer has them."""
    of_change = {"baseline": [each.baseline for each in found], "difference": [each.difference for each in found]}
    return {
        **{name: [*values] for name, values in keys.items()},
        "rows": [each.slice.rows for each in found],
        **{
            name: [_number(each.slice.totals[place]) for each in found]
            for place, name in enumerate(("positives", "negatives"))
        },
        "value": [each.value for each in found],
        **(of_change if rule.is_change else {}),
        "lower": [None if each.interval is None else each.interval.lower for each in found],
        "upper": [None if each.interval is None else each.interval.upper for each in found],
        "status": [each.outcome for each in found],
        "reason": [each.reason for each in found],
    }


def _number(total: float) -> float | int | None:
    """A total as answers have it: whole numbers without a point, and null beyond all doubles."""
    if math.isnan(total):
        return None
    return int(total) if total.is_integer() and abs(total) < 2**53 else total


def _warnings_of(rule: Rule, found: Sequence[_Found]) -> Iterator[CurvesWarning]:
    """Say which slices are not judged, and that a gap without an interval is too great."""
    skipped = [each for each in found if each.outcome == "skipped"]
    if skipped:
        rows = sum(each.slice.rows for each in skipped), sum(each.slice.rows for each in found)
        codes = dict.fromkeys(each.reason for each in skipped)
        why = ", ".join(f"{code} {sum(each.reason == code for each in skipped)}" for code in codes)
        what = "classes" if rule.classes else "slices"
        are = f"{len(skipped)} of {len(found)} {what} {'is' if len(skipped) == 1 else 'are'} not judged"
        yield CurvesWarning("skipped_slices", f"{rule.title}: {are}, with {rows[0]} of {rows[1]} rows: {why}.")
    if rule.kind == "max_gap" and rule.confidence is None:
        detail = (
            f"The gap of {rule.named} over {' and '.join(rule.keys)} is too great by chance, the more so the more "
            "slices there are and the fewer rows they have; with confidence, the rule takes that into account."
        )
        if rule.classes:
            detail = f"The gap of {rule.named} over classes is too great by chance, the more so the more there are."
        yield CurvesWarning("inflated_gap", detail)
