"""What does not change a gate's answer: other rules, the row order, the scale of weights, the direction of scores."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from service.inference.intervals import Interval, IntervalOptions
from tests import reference_gate as reference
from tests.support.gate_requests import ANALYTIC, BASELINES, FEW, ONE, OTHER, Request, every_rule, pairs, requests
from tests.support.strategies import Data, examples


class TestInvariance:
    """Anything that is not part of the question changes no bit of the answer."""

    @given(requests(), st.randoms(use_true_random=False))
    @examples(40)
    def test_a_check_depends_on_no_other_rule(self, request: Request, random: Any) -> None:
        checks = request.checks()
        order = random.sample(range(len(checks)), len(checks))
        shuffled = replace(request, rules=[request.rules[i] for i in order]).checks()
        assert [shuffled[order.index(i)] for i in range(len(checks))] == list(checks)
        for rule, check in zip(request.rules, checks, strict=True):
            assert replace(request, rules=[rule]).checks() == (check,)

    @pytest.mark.parametrize("paired", [True, False])
    def test_a_check_depends_on_no_other_rule_about_its_metric(self, *, paired: bool) -> None:
        """A rule with confidence, or about the drop, needs resamples; the other rules' checks do not change."""
        for metric in (
            {"metric": "pr"},
            {"metric": "tpr_at_fpr", "at": 0.5},
            {"metric": "recall", "at_threshold": 0.5},
        ):
            rules = [metric | {"max_drop": 0.1}, metric | {"max_drop": 0.1, "confidence": 0.9}]
            rules += [metric | {"min": 0.1}, metric | {"min": 0.1, "confidence": 0.8}]
            request = Request(ONE, OTHER, rules, paired=paired)
            for rule, check in zip(rules, request.checks(), strict=True):
                assert replace(request, rules=[rule]).checks() == (check,)
                assert (check.p_value is None) == ("min" in rule or "confidence" not in rule)

    @given(requests(), st.randoms(use_true_random=False))
    @examples(40)
    def test_the_order_of_rows(self, request: Request, random: Any) -> None:
        assert request.gate().checks == _shuffled(request, random).gate().checks

    @given(requests(), st.integers(-40, 40))
    @examples(40)
    def test_the_scale_of_weights(self, request: Request, exponent: int) -> None:
        evaluations = [request.current, request.baseline]
        assume(any(isinstance(each, Data) and each.weights for each in evaluations))
        scaled = [
            replace(each, weights=[weight * 2.0**exponent for weight in each.weights])
            if isinstance(each, Data) and each.weights
            else each
            for each in evaluations
        ]
        assert replace(request, current=scaled[0], baseline=scaled[1]).checks() == request.checks()

    @given(requests(methods=ANALYTIC))
    @examples(40)
    def test_scores_turned_round(self, request: Request) -> None:
        """Scores below -t where low is positive correspond to scores above t where high is."""
        assume(all(isinstance(each, Data) for each in (request.current, request.baseline or request.current)))
        assume(not any(rule["metric"] in reference.OF_PROBABILITIES for rule in request.rules))
        turned = replace(
            request,
            current=_turned(request.current),
            baseline=request.baseline and _turned(request.baseline),
            rules=[
                rule | ({"at_threshold": -rule["at_threshold"]} if "at_threshold" in rule else {})
                for rule in request.rules
            ],
        )
        if request.baseline and is_mixed(request):
            turned = replace(turned, rules=[rule for rule in turned.rules if "at_threshold" not in rule])
            request = replace(request, rules=[rule for rule in request.rules if "at_threshold" not in rule])
        for ours, theirs in zip(turned.checks(), request.checks(), strict=True):
            assert replace(ours, rule=theirs.rule, reason="") == replace(theirs, reason="")

    def test_weights_of_one_count_as_none(self) -> None:
        ones = [1.0] * len(ONE.scores)
        baseline, paired = BASELINES["unpaired"]
        request = Request(ONE, baseline, list(every_rule()), paired=paired, intervals=IntervalOptions(resamples=FEW))
        assert replace(request, current=replace(ONE, weights=ones)).checks() == request.checks()


def is_mixed(request: Request) -> bool:
    """Whether low scores are positive in one evaluation, and high scores in the other."""
    return reference.is_lower(request.current) != reference.is_lower(request.baseline)


def _turned(data: Data) -> Data:
    return replace(data, scores=[-score for score in data.scores], lower_is_positive=not data.lower_is_positive)


def _shuffled(request: Request, random: Any) -> Request:
    """The rows of samples in another order, the same one for paired samples."""
    if request.paired:
        order = random.sample(range(len(request.current.scores)), len(request.current.scores))
        return replace(request, current=request.current.rows(order), baseline=request.baseline.rows(order))
    both = []
    for each in (request.current, request.baseline):
        if isinstance(each, Data):
            both.append(each.rows(random.sample(range(len(each.scores)), len(each.scores))))
        else:
            both.append(each)
    return replace(request, current=both[0], baseline=both[1])


@given(pairs())
@examples(40)
def test_changing_sides_turns_the_difference_round(pair: tuple[Data, Data]) -> None:
    """If the evaluations swap, the difference of areas and the ends of its interval change sign; p stays the same."""
    for paired in (True, False):
        rule = {"metric": "roc", "max_drop": 0.5, "confidence": 0.9}
        (one,), (other,) = (Request(*both, [rule], paired=paired).checks() for both in (pair, pair[::-1]))
        assert one.difference == -other.difference
        assert one.p_value == (other.p_value and pytest.approx(other.p_value, rel=1e-12))
        if one.interval is not None:
            flipped = [-other.interval.upper, -other.interval.lower]
            assert [one.interval.lower, one.interval.upper] == pytest.approx(flipped, rel=1e-12, abs=1e-12)


WITH_P_VALUES = [
    {"metric": "roc"},
    {"metric": "pr"},
    {"metric": "average_precision"},
    {"metric": "partial", "over": "fpr", "from": 0.0, "to": 0.9},
    {"metric": "tpr_at_fpr", "at": 0.3},
    {"metric": "recall", "at_threshold": 0.52},
    {"metric": "precision", "at_threshold": 0.52},
    {"metric": "f_measure", "at": 0.5, "at_threshold": 0.52},
]


@pytest.mark.parametrize("metric", WITH_P_VALUES, ids=str)
@pytest.mark.parametrize("method", ["auto", "delong", "bootstrap", "bca"])
@pytest.mark.parametrize("paired", [True, False])
def test_the_p_value_is_of_the_interval_that_ends_at_0(metric: dict[str, Any], method: str, *, paired: bool) -> None:
    """Whichever of the two models is the better one, also if one is perfect, whose area has no spread."""
    options = IntervalOptions(method=method, resamples=199)
    perfect = replace(ONE, scores=[0.9 if label else 0.1 for label in ONE.labels])
    for current, compared in ((ONE, OTHER), (OTHER, ONE), (ONE, perfect), (perfect, OTHER)):
        rules = [metric | {"max_drop": 0.5, "confidence": level} for level in (0.5, 0.7, 0.9, 0.97)]
        checks = Request(current, compared, rules, paired=paired, intervals=options).checks()
        for rule, check in zip(rules, checks, strict=True):
            if check.interval is None:
                assert (method, metric["metric"] == "roc", check.p_value) == ("delong", False, None)
                continue
            assert includes_0(check.interval) == (check.p_value >= 1 - rule["confidence"])
        found = checks[0].p_value
        if found and 2 / 200 < found < 0.999:  # a wider interval needs more resamples; any might include 0
            again = [metric | {"max_drop": 0.5, "confidence": 1 - found * nearby} for nearby in (1.001, 0.999)]
            wide = Request(current, compared, again, paired=paired, intervals=options).checks()
            assert [includes_0(each.interval) for each in wide] == [False, True]


def includes_0(interval: Interval) -> bool:
    """Whether it includes 0, up to rounding: of many resamples, the difference is 0."""
    return interval.lower <= 1e-9 and interval.upper >= -1e-9
