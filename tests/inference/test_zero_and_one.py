"""Metrics of exactly 0 or 1, which have no spread: intervals with a free end, and intervals of differences."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest

from service.inference.intervals import IntervalOptions
from tests.reference_gate import Evaluation
from tests.support.gate_requests import FEW, ONE, OTHER, PERFECT, Request
from tests.support.strategies import Data

FREE_END = 0.05 ** (1 / 3)
"""The free end of an area of 1, with three examples of each class and 90 % confidence."""


class TestZeroAndOne:
    def difference(self, current: Evaluation, baseline: Evaluation, **options: Any) -> Any:
        rule = {"metric": options.pop("metric", "roc"), "max_drop": 0.0, "confidence": 0.9}
        (check,) = Request(current, baseline, [rule], **options).checks()
        return check

    def test_the_same_scores_cannot_differ(self) -> None:
        for data in (ONE, PERFECT):
            check = self.difference(data, data, paired=True)
            assert (check.interval.lower, check.interval.upper, check.p_value) == (0.0, 0.0, 1.0)
            assert (check.interval.method, check.status) == ("mover", "passed")

    def test_two_perfect_models_may_differ_on_other_data(self) -> None:
        """Each may be as low as its free end, so they may differ by that much."""
        for baseline, paired in ((replace(PERFECT, scores=[6.0, 5.0, 4.0, 2.0, 1.5, 1.0]), True), (PERFECT, False)):
            check = self.difference(PERFECT, baseline, paired=paired)
            assert check.interval.method == "exact"
            assert check.interval.lower == pytest.approx(FREE_END - 1, rel=1e-12)
            assert check.interval.upper == pytest.approx(1 - FREE_END, rel=1e-12)
            assert (check.difference, check.p_value, check.status) == (0.0, 1.0, "failed")

    @pytest.mark.parametrize("paired", [True, False])
    def test_one_perfect_model(self, *, paired: bool) -> None:
        """MOVER, from the free end of the perfect model and the interval of the other."""
        other = replace(PERFECT, scores=[4.0, 3.0, 1.5, 2.0, 1.0, 0.0])
        options = {"paired": paired}
        (single,) = Request(other, None, [{"metric": "roc", "min": 0.5, "confidence": 0.9}]).checks()
        check = self.difference(PERFECT, other, **options)
        lower = 1 / 9 - math.hypot(1 - FREE_END, single.interval.upper - 8 / 9)
        assert check.interval.lower == pytest.approx(lower, rel=1e-12)
        assert check.interval.upper == pytest.approx(1 / 9 + 8 / 9 - single.interval.lower, rel=1e-12)
        assert 0.1 < check.p_value <= 1
        back = self.difference(other, PERFECT, **options)
        assert (back.interval.lower, back.interval.upper) == (-check.interval.upper, -check.interval.lower)

    def test_the_same_scores_read_the_other_way_are_others(self) -> None:
        """Their areas are 1 and 0, without spread, and still differ although the scores are equal numbers."""
        check = self.difference(PERFECT, replace(PERFECT, lower_is_positive=True), paired=True)
        assert (check.value, check.baseline) == (1.0, 0.0)
        # The interval that ends at 0 has free ends of 1 - √½, thus the level 1 - 2(1 - √½)³.
        assert check.p_value == pytest.approx(2 * (1 - 0.5**0.5) ** 3, rel=1e-9)
        assert (check.interval.method, check.interval.upper) == ("exact", 1.0)
        assert check.interval.lower == pytest.approx(1 - math.hypot(1 - FREE_END, 1 - FREE_END), rel=1e-12)

    @pytest.mark.parametrize("method", ["auto", "logit", "bootstrap", "bca"])
    @pytest.mark.parametrize("metric", [{"metric": "roc"}, {"metric": "pr"}, {"metric": "tpr_at_fpr", "at": 0.3}])
    def test_the_interval_of_the_other_one_takes_no_resamples(self, metric: dict[str, Any], method: str) -> None:
        """Both intervals, as if independent; the perfect model's has no resamples either."""
        intervals = IntervalOptions(method=method, resamples=FEW)
        perfect = Data([20.0 - row for row in range(14)], [True] * 8 + [False] * 6)
        sure = metric | {"min": 0.0, "confidence": 0.9}
        (of_other,) = Request(OTHER, None, [sure]).checks()
        (of_perfect,) = Request(perfect, None, [sure], intervals=intervals).checks()
        drop = metric | {"max_drop": 0.0, "confidence": 0.9}
        (check,) = Request(OTHER, perfect, [drop], intervals=intervals).checks()
        used = "score" if "at" in metric else "exact"
        assert (of_perfect.value, of_perfect.interval.method, check.interval.method) == (1.0, used, used)
        ours, theirs = of_other.interval, of_perfect.interval
        lower = check.difference - math.hypot(of_other.value - ours.lower, theirs.upper - 1)
        upper = check.difference + math.hypot(ours.upper - of_other.value, 1 - theirs.lower)
        assert check.interval.lower == pytest.approx(lower, rel=1e-12)
        assert check.interval.upper == pytest.approx(upper, rel=1e-12)
        assert (check.p_value < 0.1) == (not lower <= 0 <= upper)

    @pytest.mark.parametrize(
        ("metric", "trials"),
        [
            ({"metric": "recall", "at_threshold": 3.0}, 5),
            ({"metric": "fpr", "at_threshold": 7.0}, 2),
        ],
    )
    def test_a_share_of_nought_or_one_has_wilsons_free_end(self, metric: dict[str, Any], trials: int) -> None:
        """It is z²/(n + z²) away, with z = 1.645."""
        data = Data([7.0, 6.0, 5.0, 4.0, 3.0, 2.0, 1.0], [row < 5 for row in range(7)])
        (check,) = Request(data, None, [metric | {"min": 0.0, "confidence": 0.9}]).checks()
        free = 1.6448536269514722**2 / (trials + 1.6448536269514722**2)
        ends = (0.0, free) if metric["metric"] == "fpr" else (1 - free, 1.0)
        assert check.interval.method == "score"
        assert (check.interval.lower, check.interval.upper) == pytest.approx(ends, rel=1e-12)

    @pytest.mark.parametrize(
        ("part", "trials"),
        [({"over": "fpr", "from": 0.0, "to": 0.5}, 20), ({"over": "tpr", "from": 0.5, "to": 1.0}, 10)],
    )
    def test_a_mean_height_of_nought_has_the_free_end_of_the_highest_point(
        self, part: dict[str, Any], trials: int
    ) -> None:
        """All negatives come first, so the range ends below a recall, or beside a share of negatives, of 0."""
        data = Data([float(-row) for row in range(30)], [row >= 10 for row in range(30)])
        (check,) = Request(data, None, [{"metric": "partial", **part, "min": 0.0, "confidence": 0.9}]).checks()
        free = 1.6448536269514722**2 / (trials + 1.6448536269514722**2)
        assert (check.value, check.interval.lower) == (0.0, 0.0)
        assert check.interval.upper == pytest.approx(free, rel=1e-12)

    def test_pairs_that_never_differ_may_do_so_on_other_data(self) -> None:
        """None of n positives changed sides: Tango's ends are z²/(n + z²) on either side."""
        moved = replace(PERFECT, scores=[6.0, 5.0, 4.0, 2.0, 1.5, 1.0])
        rule = {"metric": "recall", "at_threshold": 2.3, "max_drop": 0.5, "confidence": 0.9}
        (check,) = Request(PERFECT, moved, [rule], paired=True).checks()
        free = 1.6448536269514722**2 / (3 + 1.6448536269514722**2)
        assert (check.interval.lower, check.interval.upper) == pytest.approx((-free, free), rel=1e-9)
        assert (check.difference, check.p_value) == (0.0, 1.0)

    @pytest.mark.parametrize("weight", [1e-200, 5e-324, 1e-300])
    def test_examples_that_weigh_next_to_nothing_are_counted(self, weight: float) -> None:
        """The square of such a weight is not a double."""
        data = replace(PERFECT, weights=[weight, 1.0, 1.0, 1.0, 1.0, 1.0])
        (check,) = Request(
            data, None, [{"metric": "recall", "at_threshold": 2.2, "min": 0.0, "confidence": 0.9}]
        ).checks()
        assert check.interval.lower == pytest.approx(2 / (2 + 1.6448536269514722**2), rel=1e-9)
