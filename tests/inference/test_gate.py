"""A gate's checks against the slow reference, and the laws that verdicts obey."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given

from service.inference.gate import evaluate_gate
from service.inference.intervals import Interval, IntervalOptions
from service.inference.methods import INTERVAL_METHODS
from service.inference.rules import BIN_KEYS, CHANGES, DECISION_KEYS, Rule
from service.inference.verdicts import Check, GateOptions, _change_verdict, verdict_of
from tests import reference_gate as reference
from tests import reference_gate_intervals as twin
from tests.reference_gate import metrics, near
from tests.support.gate_requests import (
    ANALYTIC,
    BASELINES,
    FEW,
    ONE,
    OTHER,
    Request,
    bounds,
    every_rule,
    has_interval,
    requests,
)
from tests.support.sampling import some
from tests.support.strategies import Data, Rows, evaluation_of, examples

PLACES = ("metric", "at", "over", "from", "to", "min_tpr", *DECISION_KEYS, *BIN_KEYS)
"""The fields of a rule that describe its metric."""

CLOSE = 1e-9
"""How close intervals have to be: they are computed through a normal quantile and a logarithm."""

P_CLOSE = 1e-7
"""How close p-values have to be: they are found by a search."""


def ends(interval: Interval | None) -> dict[str, float] | None:
    """An interval's ends, as in an answer."""
    return None if interval is None else {"lower": interval.lower, "upper": interval.upper}


def level_of(request: Request, rule: dict[str, Any]) -> float:
    level: float = rule.get("confidence", request.options.level)
    return level


def expected_interval(request: Request, rule: dict[str, Any]) -> twin.Interval | None:
    """The reference's interval, if one is needed."""
    if "confidence" not in rule and request.intervals is None:
        return None
    level, method = level_of(request, rule), request.options.method
    if not {"max_drop", "max_rise"} & rule.keys():
        return twin.interval(request.current, rule, level, method)
    assert request.baseline is not None
    return twin.difference_interval(request.current, request.baseline, rule, level, method, paired=request.paired)


def same_interval(found: Interval | None, expected: twin.Interval | None, level: float) -> bool:
    """Whether an interval is the expected one; one from resamples may be missing, and has other ends."""
    if found is None or expected is None:
        return found is None and (expected is None or expected.lower is None)
    if (found.method, found.level) != (expected.method, level) or not found.lower <= found.upper:
        return False
    if expected.lower is None:
        return True
    both = [(found.lower, expected.lower), (found.upper, expected.upper), (found.standard_error, expected.error)]
    return all(near(ours, theirs, CLOSE) for ours, theirs in both)


def same_p_value(check: Check, request: Request, rule: dict[str, Any]) -> bool:
    """Whether a p-value is that of the interval shown; metrics other than roc have one only with it."""
    both, method = (request.current, request.baseline), twin.method_of(rule, request.options.method, difference=True)
    wanted = check.rule.is_change and check.interval is not None
    always = rule["metric"] in ("roc", "gini") and method not in twin.BOOTSTRAPS
    if None in (*both, check.value, check.baseline) or not (wanted or always):
        return check.p_value is None
    if not all(twin.has_intervals(each, rule) for each in both) or method is None:
        return check.p_value is None
    derived = rule["metric"] in twin.STATISTICS
    if reference.is_of_row(rule):
        derived = rule["metric"] not in twin.SHARES or not request.paired
    resampled = method in twin.BOOTSTRAPS and not {check.value, check.baseline} & {0.0, 1.0}
    if (derived or resampled) and not (request.paired and twin.same(*both)):
        return (check.p_value is None and not derived) or 0 <= check.p_value <= 1
    return near(check.p_value, twin.p_value(*both, rule, method, paired=request.paired), P_CLOSE)


class TestTwin:
    @given(requests())
    @examples(150)
    def test_a_check_is_what_the_contract_says(self, request: Request) -> None:
        gate = request.gate()
        for rule, check in zip(request.rules, gate.checks, strict=True):
            assert check.rule.given() == rule
            assert near(check.value, reference.value(request.current, rule))
            before = None if request.baseline is None else reference.value(request.baseline, rule)
            assert near(check.baseline, before)
            assert same_interval(check.interval, expected_interval(request, rule), level_of(request, rule))
            assert same_p_value(check, request, rule)
            assert check.status == reference.verdict(rule, check.value, check.baseline, ends(check.interval))
            assert (check.reason == "") == (check.status == "passed")
            both = check.value is not None and check.baseline is not None
            assert check.difference == (check.value - check.baseline if both else None)
        assert gate.passed == all(check.status == "passed" for check in gate.checks)
        assert gate.paired == request.paired


def number_of(check: Check) -> float:
    """The number compared with the bound: a value or the end of an interval; for changes, how large it is."""
    rule = check.rule
    number = check.difference if rule.is_change else check.value
    if rule.confidence is not None:
        upper = rule.kind in ("max", "max_rise") if rule.prove is None else rule.kind == "max_drop"
        number = max(check.interval.upper, number) if upper else min(check.interval.lower, number)
    return -number if rule.kind == "max_drop" else number


@pytest.mark.parametrize(("against", "method"), some(product(BASELINES, ["auto", "delong", "bca"]), 4))
def test_every_bound_is_inclusive_to_the_last_digit(against: str, method: str) -> None:
    """A bound equal to the deciding number is met; the next double beyond it is not."""
    baseline, paired = BASELINES[against]
    intervals = IntervalOptions(method=method, resamples=FEW)
    request = Request(ONE, baseline, list(every_rule()), paired=paired, intervals=intervals)
    decided = [check for check in request.checks() if check.status != "undecided"]
    assert len(decided) > 90
    at, beyond = [], []
    for check in decided:
        rule, kind, number = check.rule.given(), check.rule.kind, number_of(check)
        slack = float(reference.SLACK) * max(1.0, check.value, check.baseline or 0.0)
        at.append(rule | {kind: number})
        next_to_it = {
            "min": math.nextafter(number, math.inf),
            "max": math.nextafter(number, -math.inf),
            **dict.fromkeys(("max_drop", "max_rise"), number - 2 * slack),
        }
        beyond.append(rule | {kind: next_to_it[kind]})
    assert {check.status for check in replace(request, rules=at).checks()} == {"passed"}
    assert {check.status for check in replace(request, rules=beyond).checks()} == {"failed"}


def above(negatives: int) -> Data:
    """One positive that scores higher than this many of 100 negatives, so the area is that many hundredths."""
    return Data([negatives - 0.5, *map(float, range(100))], [True] + [False] * 100)


class TestBounds:
    @pytest.mark.parametrize("hundredths", range(0, 101, 7))
    def test_an_area_of_hundredths_is_the_nearest_double(self, hundredths: int) -> None:
        rules = [{"metric": "roc", kind: hundredths / 100} for kind in ("min", "max")]
        assert [check.status for check in Request(above(hundredths), None, rules).checks()] == ["passed", "passed"]

    def test_a_drop_is_met_up_to_rounding_and_no_further(self) -> None:
        slack = float(reference.SLACK)
        found = [_change_verdict(Rule("roc", max_drop=0.25), 0.5 - more, 0.75, None) for more in (slack, 1.5 * slack)]
        assert [status for status, _ in found] == ["passed", "failed"]

    def test_a_number_that_meets_its_bound_is_not_to_blame(self) -> None:
        """If only the interval is beyond the bound, the reason says so; drops meet their bound up to rounding."""
        (check,) = Request(ONE, OTHER, [{"metric": "roc", "min": 0.0}]).checks()
        drop = check.baseline - check.value
        assert drop > 0
        limits = {"min": check.value, "max": check.value, "max_drop": math.nextafter(drop, 0)}
        rules = [{"metric": "roc", kind: limit, "confidence": 0.9} for kind, limit in limits.items()]
        for found in Request(ONE, OTHER, rules).checks():
            assert (found.status, "with 90 % confidence it may" in found.reason) == ("failed", True)

    def test_a_drop_of_a_hundredth_is_one(self) -> None:
        """0.85 - 0.84 is 0.010000000000000009 in doubles, but counts as no more than 0.01."""
        assert 0.85 - 0.84 > 0.01
        for before in range(1, 101):
            rules = [{"metric": "roc", "max_drop": bound} for bound in (0.01, 0.00999999)]
            checks = Request(above(before - 1), above(before), rules).checks()
            assert [check.status for check in checks] == ["passed", "failed"], before

    def test_a_drop_that_is_certain_is_judged_as_the_number_is(self) -> None:
        """A drop without spread is its own interval, so it meets the same bounds with confidence and with `prove`."""
        interval = Interval(0.84 - 0.85, 0.84 - 0.85, 0.9, "delong", 0.0)
        rules = [Rule("roc", max_drop=0.01), Rule("roc", max_drop=0.01, confidence=0.9)]
        rules.append(replace(rules[1], prove="drop"))
        for rule in rules:
            assert verdict_of(rule, 0.84, 0.85, interval) == ("passed", "")
            assert verdict_of(replace(rule, max_drop=0.0099), 0.84, 0.85, interval)[0] == "failed"

    def test_a_rise_can_be_demanded(self) -> None:
        """A drop of at most -0.1 is a rise of at least 0.1."""
        rules = [{"metric": "roc", "max_drop": -bound} for bound in (0.0, 0.1, 0.11)]
        checks = Request(above(95), above(85), rules).checks()
        assert [check.status for check in checks] == ["passed", "passed", "failed"]

    @given(requests(methods=ANALYTIC), bounds, bounds)
    @examples(40)
    def test_what_passes_passes_any_looser_bound(self, request: Request, one: float, other: float) -> None:
        """A rule that passes also passes with a looser bound: a greater max or max_drop, or a lesser min."""
        for rule in request.rules:
            kind = Rule.read(rule).kind
            strict, loose = sorted((one, other), reverse=kind == "min")
            statuses = [
                check.status for check in replace(request, rules=[rule | {kind: strict}, rule | {kind: loose}]).checks()
            ]
            ranks = [["failed", "undecided", "passed"].index(status) for status in statuses]
            assert ranks == sorted(ranks)
            assert "inconclusive" in rule or len(set(statuses)) == 1 or "undecided" not in statuses


class TestConfidence:
    @given(requests(methods=ANALYTIC, most=2))
    @examples(60)
    def test_what_passes_with_confidence_passes_without(self, request: Request) -> None:
        """Analytic intervals contain their value; percentiles of resamples need not."""
        for rule in request.rules:
            sure = rule | {"confidence": 0.9}
            if {"prove", "inconclusive"} & rule.keys() or not has_interval(rule):
                continue
            plain = {key: value for key, value in rule.items() if key != "confidence"}
            with_confidence, without = replace(request, rules=[sure, plain]).checks()
            interval = with_confidence.interval
            if with_confidence.status == "passed" and interval.method not in {"bootstrap", "bca"}:
                assert without.status == "passed"

    @given(requests(most=2))
    @examples(40)
    def test_to_be_proven_is_never_stricter(self, request: Request) -> None:
        """A rule that passes with confidence also passes if the drop has to be proven, and then no drop is proven."""
        assume(request.baseline is not None)
        for rule in request.rules:
            kind = next((kind for kind in reference.kinds_of_bounds(rule) if kind in CHANGES), None)
            if not has_interval(rule) or kind is None:
                continue
            metric = {key: rule[key] for key in PLACES if key in rule}
            change = metric | {kind: 0.1, "confidence": 0.9}
            rules = [change, change | {"prove": CHANGES[kind]}, metric | {kind: 0.1}]
            sure, proven, plain = replace(request, rules=rules).checks()
            assert sure.interval == proven.interval
            assert (sure.status == "undecided") == (proven.status == "undecided")
            if sure.status == "passed":
                assert proven.status == "passed"
            if plain.status == "passed" and sure.interval and sure.interval.method not in {"bootstrap", "bca"}:
                assert proven.status == "passed"

    def test_levels_are_the_rules_and_else_the_requests(self) -> None:
        rules = [{"metric": "roc", "min": 0.5}, {"metric": "roc", "min": 0.5, "confidence": 0.8}]
        request = Request(ONE, None, rules, intervals=IntervalOptions(level=0.99))
        assert [check.interval.level for check in request.checks()] == [0.99, 0.8]
        plain, sure = replace(request, intervals=None).checks()
        assert (plain.interval, sure.interval.level) == (None, 0.8)

    def test_more_confidence_is_harder(self) -> None:
        levels = [0.5, 0.8, 0.9, 0.95, 0.99]
        for rule in every_rule():
            if "confidence" in rule:
                sure = [rule | {"confidence": level} for level in levels]
                request = Request(ONE, OTHER, sure, paired=True, intervals=IntervalOptions(resamples=FEW))
                numbers = [number_of(check) for check in request.checks() if check.interval]
                assert numbers == sorted(numbers, reverse="prove" in rule or "min" in rule)


class TestOptions:
    @pytest.mark.parametrize("method", INTERVAL_METHODS)
    def test_a_rule_takes_resamples_where_some_are_drawn(self, method: str) -> None:
        intervals = IntervalOptions(method=method)
        for metric in metrics():
            for kind in ("min", "max_drop"):
                rule = Rule.read(metric | {kind: 0.5})
                assert not GateOptions((rule,)).takes_resamples(rule)
                made_by = twin.method_of(metric, method, difference=kind == "max_drop")
                drawn = has_interval(metric) and made_by in twin.BOOTSTRAPS
                assert GateOptions((rule,), intervals=intervals).takes_resamples(rule) == drawn
        sure = Rule("tpr_at_fpr", at=0.1, max_drop=0.5, confidence=0.9)
        assert GateOptions((sure,)).takes_resamples(sure)

    def test_warnings_of_both_are_reported_once(self) -> None:
        no_sweep = Rows([2, 1], [1, 2], 3, 3)
        gate = Request(no_sweep, no_sweep, [{"metric": "roc_hull", "max_drop": 0.0}]).gate()
        assert [warning.code for warning in gate.warnings] == ["not_a_sweep"]

    def test_the_inputs_are_left_as_they_are(self) -> None:
        sample, baseline = evaluation_of(ONE), evaluation_of(OTHER)
        for column in (sample.scores, sample.labels, baseline.scores):
            column.setflags(write=False)
        rules = tuple(Rule.read(rule) for rule in every_rule())
        options = GateOptions(rules, paired=True, intervals=IntervalOptions(resamples=FEW))
        evaluate_gate(sample, baseline, options)
        assert np.array_equal(sample.scores, ONE.scores)
