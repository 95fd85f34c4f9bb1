"""Why a rule is not met: whole sentences with two distinguishable numbers."""

from __future__ import annotations

import math
import re

from hypothesis import assume, given
from hypothesis import strategies as st

from service.curves.decisions import Decision
from service.inference.intervals import Interval
from service.inference.reasons import changed, missed, no_interval, no_value, out_of_reach
from service.inference.rules import Rule
from tests.support.gate_requests import Request, requests
from tests.support.strategies import examples

units = st.floats(0.0, 1.0)


def interval(lower: float, upper: float, level: float = 0.95) -> Interval:
    return Interval(lower, upper, level, "delong", None)


def numbers(sentence: str) -> list[str]:
    """The numbers of a sentence, as written there."""
    return re.findall(r"-?\d+(?:\.\d+)?(?:e-?\d+)?", sentence)


class TestSentences:
    def test_a_value_beyond_its_bound(self) -> None:
        assert missed(Rule("roc", min=0.9), 0.81234567) == "roc is 0.8123, below min 0.9."
        fpr = Rule("fpr", decision=Decision(at_threshold=0.5), max=0.1)
        assert missed(fpr, 0.25) == "fpr at threshold 0.5 is 0.25, above max 0.1."

    def test_an_end_beyond_its_bound(self) -> None:
        assert out_of_reach(Rule("pr", min=0.8, confidence=0.95), 0.85, interval(0.7512, 0.9)) == (
            "pr is 0.85, but with 95 % confidence it may be as low as 0.7512, below min 0.8."
        )
        rule = Rule("fpr", decision=Decision(at_threshold=0.5), max=0.1, confidence=0.999)
        assert out_of_reach(rule, 0.05, interval(0.01, 0.125, 0.999)) == (
            "fpr at threshold 0.5 is 0.05, but with 99.9 % confidence it may be as high as 0.125, above max 0.1."
        )

    def test_a_drop(self) -> None:
        rule = Rule("roc", max_drop=0.01)
        assert changed(rule, 0.83, 0.85, None) == "roc dropped by 0.02, from 0.85 to 0.83, more than max_drop 0.01."

    def test_a_drop_that_is_possible_and_one_that_is_certain(self) -> None:
        rule = Rule("roc", max_drop=0.01, confidence=0.95)
        assert changed(rule, 0.83, 0.85, interval(-0.05, 0.01)) == (
            "roc went from 0.85 to 0.83; with 95 % confidence it may have dropped by as much as 0.05, "
            "more than max_drop 0.01."
        )
        proven = Rule("roc", max_drop=0.01, confidence=0.95, prove="drop")
        assert changed(proven, 0.8, 0.85, interval(-0.08, -0.02)) == (
            "roc went from 0.85 to 0.8; with 95 % confidence it dropped by at least 0.02, more than max_drop 0.01."
        )

    def test_a_required_rise(self) -> None:
        rule = Rule("roc", max_drop=-0.1, confidence=0.9)
        assert changed(rule, 0.85, 0.85, interval(0.0, 0.0, 0.9)) == (
            "roc stayed at 0.85; with 90 % confidence the rise may be as little as 0, "
            "less than the 0.1 that max_drop -0.1 requires."
        )
        assert changed(Rule("roc", max_drop=-0.1), 0.25, 0.75, None) == (
            "roc went from 0.75 to 0.25, which is less than the rise of 0.1 that max_drop -0.1 requires."
        )

    def test_a_relative_drop(self) -> None:
        rule = Rule("roc", max_relative_drop=0.05)
        assert changed(rule, 0.7, 0.8, None) == (
            "roc dropped by 0.125 of its 0.8, to 0.7, more than max_relative_drop 0.05."
        )
        sure = Rule("roc", max_relative_drop=0.05, confidence=0.95)
        assert changed(sure, 0.8, 0.8, interval(-0.0125, 0.09)) == (
            "roc stayed at 0.8; with 95 % confidence it may be as much as 0.0125 below 0.95 times the baseline's, "
            "the least that max_relative_drop 0.05 allows."
        )
        proven = Rule("roc", max_relative_drop=0.05, confidence=0.95, inconclusive="pass")
        assert changed(proven, 0.7, 0.8, interval(-0.1, -0.01), " of country DE") == (
            "roc of country DE went from 0.8 to 0.7; with 95 % confidence it is at least 0.01 below 0.95 times the "
            "baseline's, the least that max_relative_drop 0.05 allows."
        )

    def test_a_rise(self) -> None:
        at = Decision(at_share=0.2)
        assert changed(Rule("fpr", decision=at, max_rise=0.01), 0.25, 0.125, None) == (
            "fpr at share 0.2 rose by 0.125, from 0.125 to 0.25, more than max_rise 0.01."
        )
        sure = Rule("log_loss", max_rise=0.01, confidence=0.95)
        assert changed(sure, 0.5, 0.5, interval(-0.05, 0.05)) == (
            "log_loss stayed at 0.5; with 95 % confidence it may have risen by as much as 0.05, "
            "more than max_rise 0.01."
        )
        proven = Rule("brier", max_rise=0.01, confidence=0.95, prove="rise")
        assert changed(proven, 0.5, 0.25, interval(0.125, 0.375)) == (
            "brier went from 0.25 to 0.5; with 95 % confidence it rose by at least 0.125, more than max_rise 0.01."
        )
        assert changed(Rule("eer", max_rise=-0.1), 0.25, 0.25, None) == (
            "eer stayed at 0.25, which is less than the drop of 0.1 that max_rise -0.1 requires."
        )

    def test_nothing_to_recognise_a_format_by(self) -> None:
        rule = Rule("precision", decision=Decision(at_threshold=3.0), max_drop=0.1, confidence=0.9)
        why = "nothing is called positive there, or the counts or groups have no such threshold; choose another one."
        assert no_value(rule, None) == f"precision at threshold 3 has no value, so the rule cannot be decided: {why}"
        assert no_value(rule, 0.5) == (
            f"precision at threshold 3 has no value in the baseline, so the rule cannot be decided: {why}"
        )
        assert no_value(Rule("recall", decision=Decision(at_threshold=3.0), min=0.5), None).endswith(
            "cannot be decided: the counts or groups have no such threshold; choose another one."
        )
        assert no_value(Rule("roc", min=0.5), None).endswith("cannot be decided: a warning says why.")
        assert no_interval(rule) == (
            "There is no interval for the difference of precision at threshold 3, as a warning says, so the rule "
            "cannot be decided."
        )
        assert no_interval(Rule("pr", min=0.5, confidence=0.9)).startswith("There is no interval for pr, as")


class TestNumbers:
    @given(units, st.one_of(units, st.integers(1, 3)))
    @examples(200)
    def test_a_value_is_distinguished_from_its_bound(self, bound: float, other: float) -> None:
        """However close they are, even in the last digit."""
        value = bound
        if isinstance(other, int):
            for _ in range(other):
                value = math.nextafter(value, -1)
        else:
            value = other
        assume(0 <= value < bound)
        told, given_bound = numbers(missed(Rule("roc", min=bound), value))
        assert float(told) < float(given_bound)
        *_, told, given_bound = numbers(out_of_reach(Rule("roc", min=bound), 0.5, interval(value, 1.0)))
        assert float(told) < float(given_bound)
        told, given_bound = numbers(missed(Rule("roc", max=value), bound))
        assert float(told) > float(given_bound)

    def test_they_are_as_short_as_that_takes(self) -> None:
        assert numbers(missed(Rule("roc", min=0.9), 0.89994)) == ["0.8999", "0.9"]
        assert numbers(missed(Rule("roc", min=0.9), 0.8999999)) == ["0.8999999", "0.9"]
        assert numbers(missed(Rule("roc", min=0.1234568), 0.1234567890123)) == ["0.12345679", "0.1234568"]
        assert numbers(missed(Rule("roc", max=0.3), 0.1 + 0.2)) == ["0.30000000000000004", "0.3"]

    @given(requests())
    @examples(40)
    def test_a_reason_is_one_printable_sentence_about_the_metric(self, request_: Request) -> None:
        for check in request_.checks():
            if check.status == "passed":
                assert check.reason == ""
                continue
            assert check.reason.isascii()
            assert check.reason.isprintable()
            assert check.reason.endswith(".")
            assert ". " not in check.reason
            assert str(check.rule.of) in check.reason
            if check.status == "failed":
                told, bound = numbers(check.reason)[-2:]
                if " dropped by " in check.reason and "confidence" not in check.reason:
                    told = numbers(check.reason)[-4]
                assert (float(told) < float(bound)) == (check.rule.kind == "min")
                assert float(told) != float(bound)
