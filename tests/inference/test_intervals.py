"""Intervals and p-values: the formulas, against 50-digit arithmetic and SciPy."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import beta, norm

from service.inference.bootstrap import LeftOut
from service.inference.intervals import (
    Interval,
    area_difference_interval,
    delong_interval,
    difference_interval,
    difference_p_value,
    exact_interval,
    logit_interval,
    mover_ends,
    normal_quantile,
    pr_logit_interval,
)
from service.inference.replicates import Replicates
from service.inference.spread import Spread
from tests import reference_inference as reference
from tests.support.strategies import examples

levels = st.one_of(st.floats(0.01, 0.999), st.sampled_from([0.5, 0.8, 0.9, 0.95, 0.99, 1 - 1e-9]))
values = st.one_of(st.floats(1e-6, 1 - 1e-6), st.sampled_from([0.5, 1 - 2.0**-53, 1e-12]))
errors = st.floats(1e-9, 0.3)


class TestNumbers:
    @examples(100)
    @given(levels)
    def test_normal_quantile(self, level: float) -> None:
        assert normal_quantile(level) == pytest.approx(float(reference.normal_quantile(level)), rel=1e-13)
        assert normal_quantile(level) == pytest.approx(norm.isf((1 - level) / 2), rel=1e-12)

    @pytest.mark.parametrize("level", [math.nextafter(1, 0), 1e-300, 5e-324])
    def test_normal_quantile_of_levels_at_the_ends(self, level: float) -> None:
        assert 0 <= normal_quantile(level) < 9

    @examples(100)
    @given(st.integers(1, 3000), levels)
    def test_exact_intervals_are_clopper_and_pearsons(self, trials: int, level: float) -> None:
        """Against quantiles of the beta distribution, because scipy's binomtest finds the roots only to 2e-12."""
        tail = (1 - level) / 2
        for value, lower, upper in ((0, 0.0, beta.isf(tail, 1, trials)), (1, beta.ppf(tail, trials, 1), 1.0)):
            found = exact_interval(float(value), trials, level)
            assert (found.lower, found.upper) == pytest.approx((lower, upper), rel=1e-9, abs=1e-15)
            assert (found.method, found.standard_error, found.level) == ("exact", None, level)

    @examples(100)
    @given(st.floats(1, 1e9), levels)
    def test_exact_intervals_of_effective_trials(self, trials: float, level: float) -> None:
        """Clopper & Pearson's ends as quantiles of a beta distribution, which do not need whole numbers."""
        at_one, at_zero = (exact_interval(value, trials, level) for value in (1.0, 0.0))
        assert at_one.upper == 1
        assert at_zero.lower == 0
        assert at_one.lower == pytest.approx(beta.ppf((1 - level) / 2, trials, 1), rel=1e-12)
        assert at_zero.upper == pytest.approx(beta.isf((1 - level) / 2, 1, trials), rel=1e-9)
        assert at_zero.upper == pytest.approx(1 - at_one.lower, rel=1e-9, abs=1e-15)

    @examples(100)
    @given(values, errors, levels)
    def test_delong_intervals(self, value: float, error: float, level: float) -> None:
        found = delong_interval(value, error, level)
        lower, upper = (float(end) for end in reference.normal_ends(value, error, level))
        assert found.lower == pytest.approx(max(lower, 0), rel=1e-12, abs=1e-15)
        assert found.upper == pytest.approx(min(upper, 1), rel=1e-12)
        assert (found.method, found.standard_error, found.level) == ("delong", error, level)

    @examples(150)
    @given(values, errors, levels)
    def test_logit_intervals(self, value: float, error: float, level: float) -> None:
        found = logit_interval(value, error, level)
        ends = [float(end) for end in reference.logit_ends(value, error, level)]
        # The exponent z SE/(A (1 - A)) is rounded to about 1e-16 of itself.
        rel = 1e-13 * (1 + normal_quantile(level) * error / (value * (1 - value)))
        assert [found.lower, found.upper] == pytest.approx(ends, rel=min(rel, 1e-6), abs=1e-300)
        assert 0 <= found.lower <= value <= found.upper <= 1
        assert (found.method, found.standard_error, found.level) == ("logit", error, level)

    @examples(100)
    @given(st.floats(1e-4, 1 - 1e-4), st.floats(0, 0.3), st.floats(2, 1e6), st.floats(2, 1e6), levels)
    def test_pr_logit_intervals(
        self, value: float, error: float, positives: float, negatives: float, level: float
    ) -> None:
        found = pr_logit_interval(value, error, (positives, negatives), level)
        ends = [float(end) for end in reference.pr_logit_ends(value, error, (positives, negatives), level)]
        assert [found.lower, found.upper] == pytest.approx(ends, rel=1e-9, abs=1e-300)
        assert (found.method, found.standard_error, found.level) == ("logit", error, level)

    def test_a_pr_logit_interval(self) -> None:
        """logit 0.8 ± (z + (z³ + z)/196) L, L² = (50 (0.05/0.16)² + 10/8)/60 = 0.1022135."""
        found = pr_logit_interval(0.8, 0.05, (50, 100), 0.95)
        z = 1.959963984540054
        reach = (z + (z**3 + z) / 196) * math.sqrt((50 * (0.05 / 0.16) ** 2 + 10 / 8) / 60)
        for end, odds in ((found.lower, 4 * math.exp(-reach)), (found.upper, 4 * math.exp(reach))):
            assert end == pytest.approx(odds / (1 + odds), rel=1e-12)

    @examples(100)
    @given(values, errors, levels)
    def test_logit_intervals_have_a_mirror(self, value: float, error: float, level: float) -> None:
        value = round(value * 1024) / 1024 or 0.5  # 1 - value is exact
        if value == 1:
            return
        one, other = logit_interval(value, error, level), logit_interval(1 - value, error, level)
        assert one.lower == pytest.approx(1 - other.upper, rel=1e-12, abs=1e-15)
        assert one.upper == pytest.approx(1 - other.lower, rel=1e-12, abs=1e-15)

    @examples(60)
    @given(values)
    def test_without_an_error_ends_are_the_value(self, value: float) -> None:
        for make in (delong_interval, logit_interval):
            found = make(value, 0.0, 0.95)
            assert found.lower == pytest.approx(value, rel=1e-15)
            assert found.upper == pytest.approx(value, rel=1e-15)
            assert found.lower <= value <= found.upper

    def test_extreme_exponents(self) -> None:
        assert logit_interval(1e-300, 0.5, 0.95).lower == 0
        assert logit_interval(1e-300, 0.5, 0.95).upper == 1
        assert logit_interval(1 - 2.0**-53, 0.5, 0.95).lower == 0

    @examples(100)
    @given(st.floats(-1, 1), errors, levels)
    def test_difference_intervals(self, difference: float, error: float, level: float) -> None:
        found = difference_interval(difference, error, level)
        lower, upper = (float(end) for end in reference.normal_ends(difference, error, level))
        assert found.lower == pytest.approx(max(lower, -1), rel=1e-12, abs=1e-15)
        assert found.upper == pytest.approx(min(upper, 1), rel=1e-12, abs=1e-15)
        assert found.method == "delong"

    @pytest.mark.parametrize(("a", "b"), [(0.8, 0.6), (0.6, 0.8), (0.5, 0.5)])
    def test_a_jump_widens_a_difference_of_areas_on_both_sides(self, a: float, b: float) -> None:
        """x² = z²(SE² + J x/2), with x from a - b to either end, and a large jump; z is that of 1e9 examples."""
        found = area_difference_interval((a, b), Spread(0.02, 0.05, (0.015, 0.015), 1.0, 1e9), 0.95)
        z = float(norm.ppf(0.975))
        for x in (found.upper - (a - b), (a - b) - found.lower):
            assert x**2 == pytest.approx(z**2 * (0.02**2 + 0.05 * x / 2), rel=1e-7)

    @examples(100)
    @given(st.floats(-1, 1), errors)
    def test_p_values(self, difference: float, error: float) -> None:
        expected = float(reference.p_value(difference, error))
        found = difference_p_value(difference, error)
        # erfc is steep: a rounding error in its argument counts twice that many times.
        rel = 1e-14 * (1 + (difference / error) ** 2)
        assert found == pytest.approx(expected, rel=min(rel, 1e-3), abs=1e-300)

    def test_p_values_without_an_error(self) -> None:
        assert difference_p_value(0.0, 0.0) == 1
        assert difference_p_value(0.25, 0.0) is None

    @examples(60)
    @given(st.floats(-0.9, 0.9), errors)
    def test_an_interval_excludes_nought_where_the_p_value_is_below_alpha(self, d: float, error: float) -> None:
        p_value = difference_p_value(d, error)
        assert p_value is not None
        for level in (0.5, 0.9, 0.95):
            found = difference_interval(d, error, level)
            if abs(p_value - (1 - level)) > 1e-9:
                assert (p_value < 1 - level) == (not found.lower <= 0 <= found.upper)

    @examples(100)
    @given(st.lists(st.floats(0, 1), min_size=6, max_size=6))
    def test_mover(self, numbers: list[float]) -> None:
        one, other = sorted(numbers[:3]), sorted(numbers[3:])
        ends = (one[0], one[2]), (other[0], other[2])
        found = mover_ends((one[1], other[1]), ends)
        lower, upper = reference.mover_ends((one[1], other[1]), *ends)
        expected = max(float(lower), -1), min(float(upper), 1)
        assert found == pytest.approx(expected, rel=1e-12, abs=1e-15)
        turned = mover_ends((other[1], one[1]), ends[::-1])
        assert turned == pytest.approx((-found[1], -found[0]), rel=1e-12, abs=1e-15)

    def test_mover_of_two_perfect_areas(self) -> None:
        """Both are 1, of 10 trials each: the lower ends are .025^(1/10), each on one side of the difference."""
        free = exact_interval(1.0, 10, 0.95)
        found = mover_ends((1.0, 1.0), ((free.lower, free.upper), (free.lower, free.upper)))
        assert found == pytest.approx((0.025**0.1 - 1, 1 - 0.025**0.1), rel=1e-14)

    def test_replicate_intervals_by_hand(self) -> None:
        replicates = np.arange(101.0) / 100
        found = Replicates(replicates).interval(0.5, 0.9)
        assert found is not None
        assert (found.lower, found.upper) == pytest.approx((0.05, 0.95))
        assert (found.method, found.level) == ("bootstrap", 0.9)
        assert found.standard_error == pytest.approx(np.std(replicates, ddof=1))
        flat = LeftOut(np.array([0.5, 0.5]), np.array([1.0, 1.0]))
        corrected = Replicates(replicates, (flat, flat)).interval(0.5, 0.9)
        assert corrected is not None
        assert (corrected.lower, corrected.upper) == pytest.approx((0.05, 0.95))
        assert corrected.method == "bca"

    def test_replicate_intervals_that_do_not_exist(self) -> None:
        flat = LeftOut(np.array([0.5, 0.5]), np.array([1.0, 1.0]))
        assert Replicates(np.array([0.1, 0.2, 0.3]), (flat, flat)).interval(0.9, 0.95) is None
        assert Replicates(np.array([0.1, np.nan, 0.3])).interval(0.2, 0.95) is None
        two = Replicates(np.array([0.25, 0.75])).interval(0.2, 0.95)
        assert two is not None
        assert two.standard_error == pytest.approx(0.125**0.5)
        single = Replicates(np.array([0.25])).interval(0.2, 0.95)
        assert single == Interval(0.25, 0.25, 0.95, "bootstrap", None)
        inside = Replicates(np.append(np.full(98, 0.25), np.nan)).interval(0.25, 0.5)
        assert inside == Interval(0.25, 0.25, 0.5, "bootstrap", None)

    @pytest.mark.parametrize(
        ("differences", "p"),
        [
            ([-3, -1, 3, 4, 5, 6, 7, 8, 9], 2 * 1.25 / 8),  # 0 is a quarter of the way from the second to the third
            ([3, 1, -3, -4, -5, -6, -7, -8, -9], 2 * 1.25 / 8),
            ([-1, 1, 1, 1, 1], 1 / 3),  # which would be 1/4, but wider intervals need more resamples
            ([1, 2, 3], 1 / 2),
            ([-1, 0, 1], 1),
            ([0, 0, 0], 1),
            ([1e-17, 1e-17, 1e-17], 1),
            ([math.nan, 1, 1, 1, 1], 1 / 2),  # the lower end is known up to a quarter of the way through all
        ],
    )
    def test_replicate_p_values(self, differences: list[float], p: float) -> None:
        assert Replicates(np.array(differences, float)).p_value(1.0) == pytest.approx(p)

    def test_a_replicate_p_value_without_an_interval(self) -> None:
        assert Replicates(np.full(3, math.nan)).p_value(1.0) is None

    @pytest.mark.parametrize("shift", [-0.3, -0.05, 0.0, 0.1, 0.6])
    @pytest.mark.parametrize("method", ["bootstrap", "bca"])
    def test_a_replicate_p_value_is_of_the_interval_that_ends_at_0(self, method: str, shift: float) -> None:
        random = np.random.default_rng(3)
        values = random.normal(shift, 0.2, 499)
        left_out = [LeftOut(random.normal(shift, 0.02, 30), np.ones(30)) for _ in range(2)]
        found = Replicates(values, left_out if method == "bca" else None)
        p = found.p_value(shift)
        assert p is not None
        for level in (0.5, 0.9, 0.95, 0.99):
            interval = found.interval(shift, level)
            assert interval is not None
            assert interval.method == method
            assert (p < 1 - level) == (not interval.lower <= 0 <= interval.upper)
