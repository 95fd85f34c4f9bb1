"""Metrics of exactly 0 or 1, whose own spread says nothing: intervals with a free end, and those of differences."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest

from service.inference.intervals import IntervalOptions
from tests.gate_requests import FEW, ONE, OTHER, PERFECT, Request
from tests.reference_gate import Evaluation
from tests.strategies import Data

FREE_END = 0.05 ** (1 / 3)
"""An area of 1 of three of each class, with 90 % confidence."""


class TestZeroAndOne:
    def difference(self, current: Evaluation, baseline: Evaluation, **options: Any) -> Any:
        rule = {"metric": options.pop("metric", "roc"), "max_drop": 0.0, "confidence": 0.9}
        (check,) = Request(current, baseline, [rule], **options).checks()
        return check

    def test_the_same_scores_cannot_differ(self) -> None:
        for data in (ONE, PERFECT):
            check = self.difference(data, data, paired=True)
            assert (check.interval.lower, check.interval.upper, check.p_value) == (0.0, 0.0, 1.0)
            assert (check.interval.method, check.status) == ("delong", "passed")

    def test_two_perfect_models_may_differ_on_other_data(self) -> None:
        """Each may be as low as its free end; so far apart may they be."""
        for baseline, paired in ((replace(PERFECT, scores=[6.0, 5.0, 4.0, 2.0, 1.5, 1.0]), True), (PERFECT, False)):
            check = self.difference(PERFECT, baseline, paired=paired)
            assert check.interval.method == "exact"
            assert check.interval.lower == pytest.approx(FREE_END - 1, rel=1e-12)
            assert check.interval.upper == pytest.approx(1 - FREE_END, rel=1e-12)
            assert (check.difference, check.p_value, check.status) == (0.0, None, "failed")

    @pytest.mark.parametrize("paired", [True, False])
    def test_one_perfect_model(self, *, paired: bool) -> None:
        """The free end of the perfect one, and the interval of the other one: MOVER, and no p-value."""
        other = replace(PERFECT, scores=[4.0, 3.0, 1.5, 2.0, 1.0, 0.0])
        options = {"paired": paired}
        (single,) = Request(other, None, [{"metric": "roc", "min": 0.5, "confidence": 0.9}]).checks()
        check = self.difference(PERFECT, other, **options)
        lower = 1 / 9 - math.hypot(1 - FREE_END, single.interval.upper - 8 / 9)
        assert check.interval.lower == pytest.approx(lower, rel=1e-12)
        assert check.interval.upper == pytest.approx(1 / 9 + 8 / 9 - single.interval.lower, rel=1e-12)
        assert check.p_value is None
        back = self.difference(other, PERFECT, **options)
        assert (back.interval.lower, back.interval.upper) == (-check.interval.upper, -check.interval.lower)

    def test_the_same_scores_read_the_other_way_are_others(self) -> None:
        """They have an area of 1 and of 0, without spread, and are no less apart for being equal numbers."""
        check = self.difference(PERFECT, replace(PERFECT, lower_is_positive=True), paired=True)
        assert (check.value, check.baseline, check.p_value) == (1.0, 0.0, None)
        assert (check.interval.method, check.interval.upper) == ("exact", 1.0)
        assert check.interval.lower == pytest.approx(1 - math.hypot(1 - FREE_END, 1 - FREE_END), rel=1e-12)

    @pytest.mark.parametrize("method", ["auto", "delong", "bootstrap", "bca"])
    def test_the_interval_of_the_other_one_is_its_own(self, method: str) -> None:
        """For a metric of any method the one that has a spread brings the interval that it has by itself."""
        intervals = IntervalOptions(method=method, resamples=FEW)
        perfect = Data([20.0 - row for row in range(14)], [True] * 8 + [False] * 6)
        for metric in (
            {"metric": "pr"},
            {"metric": "recall", "at_threshold": 0.5},
            {"metric": "tpr_at_fpr", "at": 0.3},
        ):
            sure = metric | {"min": 0.0, "confidence": 0.9}
            (of_other,) = Request(OTHER, None, [sure], intervals=intervals).checks()
            (of_perfect,) = Request(perfect, None, [sure], intervals=intervals).checks()
            (check,) = Request(
                OTHER, perfect, [metric | {"max_drop": 0.0, "confidence": 0.9}], intervals=intervals
            ).checks()
            assert (of_perfect.value, of_perfect.interval.method, check.interval.method) == (1.0, "exact", "exact")
            ours, theirs = of_other.interval, of_perfect.interval
            lower = check.difference - math.hypot(of_other.value - ours.lower, theirs.upper - 1)
            upper = check.difference + math.hypot(ours.upper - of_other.value, 1 - theirs.lower)
            assert check.interval.lower == pytest.approx(lower, rel=1e-12)
            assert check.interval.upper == pytest.approx(upper, rel=1e-12)
            assert check.p_value is None

    @pytest.mark.parametrize(
        ("positives", "metric", "examples_of"),
        [
            (5, {"metric": "recall", "at_threshold": 3.0}, 5),
            (2, {"metric": "recall", "at_threshold": 6.0}, 2),
            (5, {"metric": "fpr", "at_threshold": 7.0}, 2),
            (2, {"metric": "fpr", "at_threshold": 7.0}, 5),
            (5, {"metric": "precision", "at_threshold": 4.0}, 4),
            (5, {"metric": "precision", "at_threshold": 7.0}, 1),
            (5, {"metric": "f_measure", "at": 0.5, "at_threshold": 3.0}, 2),
            (5, {"metric": "tpr_at_fpr", "at": 0.0}, 2),
            (2, {"metric": "roc"}, 2),
        ],
    )
    def test_it_is_so_many_trials(self, positives: int, metric: dict[str, Any], examples_of: int) -> None:
        """A rate of 0 or 1 is that of the examples which it is a share of; all else is that of the smaller class."""
        data = Data([7.0, 6.0, 5.0, 4.0, 3.0, 2.0, 1.0], [row < positives for row in range(7)])
        (check,) = Request(data, None, [metric | {"min": 0.0, "confidence": 0.9}]).checks()
        free = 0.05 ** (1 / examples_of)
        assert check.interval.method == "exact"
        ends = (0.0, 1 - free) if metric["metric"] == "fpr" else (free, 1.0)
        assert (check.interval.lower, check.interval.upper) == pytest.approx(ends, rel=1e-12)

    @pytest.mark.parametrize("weight", [1e-200, 5e-324, 1e-300])
    def test_examples_that_weigh_next_to_nothing_are_counted(self, weight: float) -> None:
        """The square of such a weight is no double."""
        data = replace(PERFECT, weights=[weight, 1.0, 1.0, 1.0, 1.0, 1.0])
        rule = {"metric": "precision", "at_threshold": 4.0, "min": 0.0, "confidence": 0.9}
        (check,) = Request(data, None, [rule]).checks()
        assert check.interval.lower == pytest.approx(0.05, rel=1e-12)
