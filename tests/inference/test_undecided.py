"""What a gate cannot decide: no value to compare with a bound, or no interval for the requested confidence."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from service.inference.intervals import IntervalOptions
from service.inference.methods import INTERVAL_METHODS
from service.inference.verdicts import Check
from tests.reference_gate import Evaluation
from tests.support.gate_requests import FEW, ONE, OTHER, Request
from tests.support.strategies import Data, Rows


class TestUndecided:
    def check(
        self, evaluation: Evaluation, rule: dict[str, Any], baseline: Evaluation | None = None, **options: Any
    ) -> Check:
        request = Request(evaluation, baseline, [rule], **options)
        (check,) = request.checks()
        assert check.status == "undecided"
        assert not request.gate().passed
        return check

    def test_nothing_is_called_positive(self) -> None:
        check = self.check(ONE, {"metric": "precision", "at_threshold": 7.0, "min": 0.0})
        assert check.reason == (
            "precision at threshold 7 has no value, so the rule cannot be decided: nothing is called positive there, "
            "or the counts or groups have no such threshold; choose another one."
        )

    def test_nothing_was_called_positive_by_the_baseline(self) -> None:
        rule = {"metric": "precision", "at_threshold": 0.85, "max_drop": 1.0}
        check = self.check(ONE, rule, replace(ONE, scores=[0.0] * len(ONE.scores)))
        assert (check.value, check.baseline, check.difference) == (1.0, None, None)
        assert (
            "precision at threshold 0.85 has no value in the baseline, so the rule cannot be decided: " in check.reason
        )

    @pytest.mark.parametrize("metric", ["roc", "pr", "pr_trapezoid", "average_precision"])
    def test_no_sweep_has_no_curve(self, metric: str) -> None:
        no_sweep = Rows([2, 1], [1, 2], 3, 3)
        self.check(no_sweep, {"metric": metric, "min": 0.0})
        self.check(ONE, {"metric": metric, "max_drop": 1.0}, no_sweep)
        gate = Request(no_sweep, None, [{"metric": "roc_hull", "min": 0.5}, {"metric": metric, "min": 0}]).gate()
        assert [check.status for check in gate.checks] == ["passed", "undecided"]
        assert [warning.code for warning in gate.warnings] == ["not_a_sweep"]

    @pytest.mark.parametrize("labels", ["+---", "+++-"])
    def test_one_example_of_a_class_has_no_interval(self, labels: str) -> None:
        data = Data([4.0, 1.0, 3.0, 2.0], [label == "+" for label in labels])
        check = self.check(data, {"metric": "roc", "min": 0.0, "confidence": 0.9})
        assert check.reason == "There is no interval for roc, as a warning says, so the rule cannot be decided."
        check = self.check(ONE, {"metric": "tpr_at_fpr", "at": 0.5, "max_drop": 1.0, "confidence": 0.9}, data)
        assert check.reason.startswith("There is no interval for the difference of tpr_at_fpr at fpr 0.5, as")
        gate = Request(data, None, [{"metric": "roc", "min": 0.0}]).gate()
        assert gate.passed

    @pytest.mark.parametrize("method", INTERVAL_METHODS)
    def test_fractional_counts_are_not_drawn(self, method: str) -> None:
        fractional = Rows([1.5, 3.0], [0.5, 2.0], 4, 4)
        whole = Rows([1, 3], [0, 2], 4, 4)
        options = {"intervals": IntervalOptions(method=method, resamples=FEW)}
        place = {"metric": "tpr_at_fpr", "at": 0.3, "confidence": 0.9}
        (alone,) = Request(fractional, None, [place | {"min": 0.0}], **options).checks()
        assert (alone.status == "undecided") == (method in {"bootstrap", "bca"})
        for pair in ((fractional, whole), (whole, fractional)):
            assert self.check(pair[0], place | {"max_drop": 1.0}, pair[1], **options).p_value is None
        roc = {"metric": "roc", "confidence": 0.9}
        request = Request(fractional, whole, [roc | {"min": 0.0}, roc | {"max_drop": 1.0}], **options)
        drawn = method in {"bootstrap", "bca"}
        assert [check.status for check in request.checks()] == ["undecided" if drawn else "passed"] * 2

    def test_counts_know_no_other_thresholds_than_theirs(self) -> None:
        listed = Rows([1, 3, 3], [0, 2, 2], 4, 4, [0.8, 0.5, 0.4])
        rules = [{"metric": "recall", "at_threshold": at, "min": 0.0} for at in (0.8, 0.5, 0.4, 0.45, 0.0)]
        statuses = [check.status for check in Request(listed, None, rules).checks()]
        assert statuses == ["passed", "passed", "passed", "undecided", "undecided"]
        self.check(replace(listed, thresholds=None), rules[0])
        self.check(replace(listed, thresholds=[0.8, 0.5, 0.5], fp=[0, 2, 3]), rules[1])
        assert Request(replace(listed, thresholds=[0.8, 0.5, 0.5]), None, [rules[1]]).gate().passed

    def test_a_precision_that_no_row_has(self) -> None:
        check = self.check(Data([0.9, 0.8], [False, True]), {"metric": "recall_at_precision", "at": 1.0, "min": 0.0})
        assert check.reason.endswith("cannot be decided: no curve reaches this precision; choose a lower one.")

    def test_a_hull_has_a_value_but_no_interval(self) -> None:
        request = Request(
            ONE, OTHER, [{"metric": "roc_hull", "max_drop": 0.5}], paired=True, intervals=IntervalOptions()
        )
        (check,) = request.checks()
        assert (check.status, check.interval, check.p_value) == ("passed", None, None)
