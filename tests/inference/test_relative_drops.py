"""Relative drops: the value must be at least 1 - r times the baseline's. Against the slow reference, and their laws."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.curves.clusters import Clusters
from service.curves.decisions import Decision
from service.curves.sample import Sample
from service.inference.bootstrap import percentile_ends
from service.inference.gate import evaluate_gate
from service.inference.intervals import IntervalOptions
from service.inference.metric import Metric
from service.inference.models import Models
from service.inference.proportions import PairedShares, Share
from service.inference.rates import Rate, one_minus_rate_correlation
from service.inference.replicates import replicated
from service.inference.rules import Rule
from service.inference.verdicts import GateOptions, verdict_of
from tests import reference_gate as reference
from tests import reference_gate_intervals as twin
from tests.inference.test_gate import CLOSE, same_interval
from tests.reference_gate import near
from tests.support.gate_requests import ANALYTIC, FEW, ONE, OTHER, Request, few_scores, requests
from tests.support.strategies import Data, examples

METRICS: list[dict[str, Any]] = [
    {"metric": "roc"},
    {"metric": "pr"},
    {"metric": "average_precision"},
    {"metric": "partial", "over": "fpr", "from": 0.0, "to": 0.387},
    {"metric": "recall", "at_threshold": 0.5},
    {"metric": "precision", "at_share": 0.4},
    {"metric": "lift", "at_threshold": 0.5},
    {"metric": "recall", "best": "f1"},
]
SHARES = [0.0, 0.05, 0.3, 0.9]


def with_drop(rule: dict[str, Any], share: float, confidence: float | None) -> dict[str, Any]:
    """A rule on the relative drop of a metric."""
    certain = {"confidence": confidence} if confidence is not None and twin.has_interval(rule) else {}
    return rule | {"max_relative_drop": share} | certain


@given(
    requests(methods=ANALYTIC, most=1),
    st.lists(st.tuples(st.sampled_from(METRICS), st.sampled_from(SHARES)), min_size=1, max_size=4),
    st.sampled_from([None, 0.5, 0.95]),
)
@examples(150)
def test_a_check_is_what_the_contract_says(
    request: Request, asked: list[tuple[dict[str, Any], float]], confidence: float | None
) -> None:
    if request.baseline is None:
        request = replace(request, current=ONE, baseline=OTHER)
    request = replace(request, intervals=None, rules=[with_drop(*each, confidence) for each in asked])
    for rule, check in zip(request.rules, request.checks(), strict=True):
        assert check.rule.given() == rule
        values = reference.value(request.current, rule), reference.value(request.baseline, rule)
        assert near(check.value, values[0])
        assert near(check.baseline, values[1])
        if check.value is None or check.baseline is None:
            assert (check.status, check.difference) == ("undecided", None)
            continue
        kept = 1 - rule["max_relative_drop"]
        assert check.difference == check.value - kept * check.baseline
        interval = None
        if "confidence" in rule:
            both = request.current, request.baseline
            interval = twin.difference_interval(*both, rule, rule["confidence"], "auto", paired=request.paired)
            assert same_interval(check.interval, interval, rule["confidence"])
        assert check.status == status_of(rule, check)
        assert (check.reason == "") == (check.status == "passed")


def status_of(rule: dict[str, Any], check: Any) -> str:
    """The verdict, from the numbers of the answer."""
    margin = Fraction(check.value) - (1 - Fraction(rule["max_relative_drop"])) * Fraction(check.baseline)
    if "confidence" in rule:
        if check.interval is None:
            return "undecided"
        margin = min(margin, Fraction(check.interval.lower))
    slack = Fraction(2) ** -51 * max(1, Fraction(check.value), Fraction(check.baseline))
    return "passed" if margin >= -slack else "failed"


class TestEquality:
    @pytest.mark.parametrize("percent", range(0, 100, 3))
    def test_a_drop_of_exactly_that_share_is_met(self, percent: int) -> None:
        """a = (1 - r) b is met for all decimals, although 0.95 * 0.9 and 0.855 are different doubles."""
        for before in range(1, 101):
            baseline, value = before / 100, (100 - percent) * before / 10_000
            rule = Rule("roc", max_relative_drop=percent / 100)
            assert verdict_of(rule, value, baseline, None)[0] == "passed"
            assert verdict_of(rule, value - 2.0**-48, baseline, None)[0] == "failed"

    def test_no_drop_at_all_is_max_drop_0(self) -> None:
        rules = [
            {"metric": metric, "confidence": 0.9} | place | {kind: 0.0}
            for metric, place in (("roc", {}), ("recall", {"at_threshold": 0.5}), ("average_precision", {}))
            for kind in ("max_drop", "max_relative_drop")
        ]
        checks = Request(ONE, OTHER, rules, paired=True).checks()
        for absolute, relative in zip(checks[::2], checks[1::2], strict=True):
            assert absolute.interval == relative.interval
            assert (absolute.status, absolute.p_value) == (relative.status, relative.p_value)


class TestIntervals:
    @pytest.mark.parametrize("metric", ["roc", "average_precision"])
    def test_a_value_against_itself_is_its_own_interval_scaled(self, metric: str) -> None:
        """Of one model against itself, a - (1 - r) a is r a: its standard error is r times that of a."""
        value, drop = Request(
            ONE,
            ONE,
            [
                {"metric": metric, "min": 0.0, "confidence": 0.9},
                {"metric": metric, "max_relative_drop": 0.3, "confidence": 0.9},
            ],
            paired=True,
        ).checks()
        assert drop.interval.standard_error == pytest.approx(0.3 * value.interval.standard_error, rel=1e-12)
        assert drop.difference == pytest.approx(0.3 * value.value)
        assert drop.interval.lower <= drop.difference <= drop.interval.upper

    @pytest.mark.parametrize("method", ["auto", "delong"])
    @pytest.mark.parametrize("paired", [True, False])
    def test_it_ends_where_no_difference_can_be_lower(self, method: str, *, paired: bool) -> None:
        """An area of 0 less 1 - r times one of 1; four rows say so little that the interval goes that far."""
        labels = [True, True, False, False]
        current, baseline = Data([2.263, 0.694, 0.952, 1.772], labels), Data([4.15, 1.099, -0.211, 1.363], labels)
        rules = [{"metric": "roc", "max_relative_drop": share, "confidence": 0.95} for share in (0.25, 0.5)]
        options = IntervalOptions(method=method)
        checks = Request(current, baseline, rules, paired=paired, intervals=options).checks()
        assert [check.interval.lower for check in checks] == [-0.75, -0.5]

    @pytest.mark.parametrize("paired", [True, False])
    def test_resamples_subtract_a_share_of_the_baseline(self, *, paired: bool) -> None:
        options = IntervalOptions(method="bootstrap", resamples=FEW, seed=7)
        rules = [
            {"metric": "tpr_at_fpr", "at": 0.5, "max_relative_drop": share, "confidence": 0.9} for share in (0.1, 0.4)
        ]
        checks = Request(ONE, OTHER, rules, paired=paired, intervals=options).checks()
        metric = Metric("tpr_at_fpr", 0.5)
        models = Models.of(ONE.sample(), OTHER.sample(), paired=paired)
        if paired:
            values = [each.values for each in replicated(models, [metric], options, 0)[metric]]
        else:
            alone = (models.first, Models(models.models[1:]))
            values = [replicated(each, [metric], options, n)[metric][0].values for n, each in enumerate(alone)]
        for check, share in zip(checks, (0.1, 0.4), strict=True):
            ends = percentile_ends(values[0] - (1 - share) * values[1], 0.9)
            assert (check.interval.lower, check.interval.upper) == pytest.approx(ends, rel=1e-12)

    def test_the_correlation_of_recalls_is_phi(self) -> None:
        """Of 100 positives both call 83, the first alone 7, the second alone 2, neither 8."""
        calls = np.repeat([[1, 1], [1, 0], [0, 1], [0, 0]], [83, 7, 2, 8], axis=0)
        shares = [(Share(mean, 100), Share(0.5, 50)) for mean in calls.mean(axis=0)]
        pairs = PairedShares((0.9, 0.85), 0.09, 100), PairedShares((0.5, 0.5), 0.5, 50)
        found = 1 - one_minus_rate_correlation(Rate("recall", None, 100, 50), shares, pairs)
        assert found == pytest.approx(np.corrcoef(calls.T)[0, 1], rel=1e-12) == pytest.approx(0.6068, abs=5e-5)

    def test_the_correlation_of_a_function_of_both_rates(self) -> None:
        """That of accuracy is between those of its parts: by simulation of pairs, within three standard errors."""
        random = np.random.default_rng(3)
        size, sets = 400, 4000
        labels = np.arange(size) < size // 2
        found, estimated = np.empty((sets, 2)), []
        for number in range(sets):
            shared = random.standard_normal(size)
            scores = [0.8 * shared + 0.6 * random.standard_normal(size) + labels for _ in range(2)]
            found[number] = [np.mean((each > 0.5) == labels) for each in scores]
            if number < 20:
                metric = Metric("accuracy", None, Decision(at_threshold=0.5))
                models = Models.of(*(Sample(each, labels) for each in scores), paired=True)
                of_each = [each.shares(metric).shares for each in models.models]
                rate = models.models[0].rate(metric)
                estimated.append(1 - one_minus_rate_correlation(rate, of_each, models.shares(metric).shares))
        true = np.corrcoef(found.T)[0, 1]
        assert np.mean(estimated) == pytest.approx(true, abs=0.05)

    @given(st.lists(few_scores, min_size=8, max_size=14), st.sampled_from([0.05, 0.5]))
    @examples(40)
    def test_a_greater_share_passes_what_a_smaller_one_does(self, scores: list[float], share: float) -> None:
        labels = [row % 2 == 0 for row in range(len(scores))]
        one = replace(ONE, scores=scores, labels=labels)
        other = replace(one, scores=scores[::-1])
        rules = [{"metric": "roc", "max_relative_drop": each, "confidence": 0.9} for each in (share, share + 0.4)]
        strict, loose = Request(one, other, rules, paired=True).checks()
        assert strict.status != "passed" or loose.status == "passed"


def test_unequal_clusters_and_none_agree_on_the_value() -> None:
    """Clusters change the interval alone; one row in each changes nothing."""
    random = np.random.default_rng(5)
    labels = np.arange(80) < 40
    samples = [Sample(random.normal(labels * 1.5), labels) for _ in range(2)]
    rule = Rule("roc", max_relative_drop=0.1, confidence=0.9)
    (check,) = evaluate_gate(*samples, GateOptions((rule,), paired=True)).checks

    numbers = [(np.arange(80) // size).tolist() for size in (1, 4)]
    alone, fours = ([replace(each, clusters=Clusters.of(of)) for each in samples] for of in numbers)
    (same,) = evaluate_gate(*alone, GateOptions((rule,), paired=True)).checks
    (wide,) = evaluate_gate(*fours, GateOptions((rule,), paired=True)).checks
    assert (same.interval.lower, same.interval.upper) == (check.interval.lower, check.interval.upper)
    assert wide.value == check.value
    assert wide.interval.design_effect is not None
    assert near(wide.difference, Fraction(check.difference), CLOSE)
