"""Intervals and p-values: the formulas against 50 digits and SciPy, and which one an area gets."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import beta, binomtest, norm

from service.curves.areas import Areas, areas
from service.curves.confusion import ConfusionTable
from service.curves.counts import Counts
from service.curves.evaluation import CurvesOptions
from service.curves.hull import RocHull
from service.curves.sample import Sample
from service.inference import replicates as module
from service.inference.bootstrap import LeftOut
from service.inference.evaluation import evaluate_with_intervals
from service.inference.evidence import TOO_FEW_EXAMPLES
from service.inference.intervals import (
    Interval,
    IntervalOptions,
    delong_interval,
    difference_interval,
    difference_p_value,
    exact_interval,
    exact_pr_interval,
    logit_interval,
    mover_ends,
    normal_quantile,
    pr_logit_interval,
    replicate_interval,
    replicate_p_value,
)
from service.inference.methods import METHODS
from service.inference.rules import Metric
from service.inference.strata import strata
from service.inference.subject import Subject
from tests import reference_gate_intervals as gate_intervals
from tests import reference_inference as reference
from tests.strategies import Data, Rows, examples, plain_weights, samples, tied_scores

AREAS = ("roc", "pr", "average_precision")
RESAMPLES = 99
AUC = CurvesOptions(include=frozenset({"auc"}))

levels = st.one_of(st.floats(0.01, 0.999), st.sampled_from([0.5, 0.8, 0.9, 0.95, 0.99, 1 - 1e-9]))
values = st.one_of(st.floats(1e-6, 1 - 1e-6), st.sampled_from([0.5, 1 - 2.0**-53, 1e-12]))
errors = st.floats(1e-9, 0.3)


def evaluated(evaluation: Sample | Counts) -> tuple[ConfusionTable, Areas]:
    table = ConfusionTable.of(evaluation)
    return table, areas(table, table.select(RocHull.of(table).vertices))


def intervals_of(
    evaluation: Sample | Counts, method: str = "auto", level: float = 0.95
) -> tuple[dict[str, Interval | None], tuple[str, ...]]:
    """The intervals, and the codes of the warnings."""
    curves = evaluate_with_intervals(evaluation, AUC, IntervalOptions(level, method, RESAMPLES, 5))
    assert tuple(curves.intervals) == AREAS
    return dict(curves.intervals), tuple(warning.code for warning in curves.interval_warnings)


def enough(data: Data) -> bool:
    return strata(data.sample(), ConfusionTable.of(data.sample())).enough


some_samples = st.one_of(samples(tied_scores), samples(tied_scores, plain_weights)).filter(enough)
MIXED = Data([5, 4, 3, 3, 2, 1, 0], [True, False, True, False, True, False, False])


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
        for value in (0, 1):
            found = exact_interval(float(value), trials, level)
            expected = binomtest(value * trials, trials).proportion_ci(level, "exact")
            assert (found.lower, found.upper) == pytest.approx((expected.low, expected.high), rel=1e-9, abs=1e-15)
            assert (found.method, found.standard_error, found.level) == ("exact", None, level)

    @examples(100)
    @given(st.floats(1, 1e9), levels)
    def test_exact_intervals_of_effective_trials(self, trials: float, level: float) -> None:
        """Clopper & Pearson's ends as quantiles of a beta distribution, which need no whole number."""
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
        # The exponent z SE/(A (1 - A)) is rounded to some 1e-16 of itself.
        rel = 1e-13 * (1 + normal_quantile(level) * error / (value * (1 - value)))
        assert [found.lower, found.upper] == pytest.approx(ends, rel=min(rel, 1e-6), abs=1e-300)
        assert 0 <= found.lower <= value <= found.upper <= 1
        assert (found.method, found.standard_error, found.level) == ("logit", error, level)

    @examples(100)
    @given(st.floats(1e-4, 1 - 1e-4), st.floats(1, 1e6), levels)
    def test_pr_logit_intervals(self, value: float, positives: float, level: float) -> None:
        found = pr_logit_interval(value, positives, level)
        ends = [float(end) for end in reference.pr_logit_ends(value, positives, level)]
        assert [found.lower, found.upper] == pytest.approx(ends, rel=1e-9)
        assert found.standard_error == pytest.approx(math.sqrt(value * (1 - value) / positives))

    @examples(100)
    @given(values, errors, levels)
    def test_logit_intervals_have_a_mirror(self, value: float, error: float, level: float) -> None:
        value = round(value * 1024) / 1024 or 0.5  # whose 1 - value is exact
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

    @examples(100)
    @given(st.floats(-1, 1), errors)
    def test_p_values(self, difference: float, error: float) -> None:
        expected = float(reference.p_value(difference, error))
        found = difference_p_value(difference, error)
        # erfc is steep: what is rounded in its argument counts twice that many times.
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
        """Both are 1, of 10 trials each: the lower ends are .025^(1/10), and each is one side of the difference."""
        free = exact_interval(1.0, 10, 0.95)
        found = mover_ends((1.0, 1.0), ((free.lower, free.upper), (free.lower, free.upper)))
        assert found == pytest.approx((0.025**0.1 - 1, 1 - 0.025**0.1), rel=1e-14)

    def test_replicate_intervals_by_hand(self) -> None:
        replicates = np.arange(101.0) / 100
        found = replicate_interval(replicates, 0.9, 0.5)
        assert found is not None
        assert (found.lower, found.upper) == pytest.approx((0.05, 0.95))
        assert (found.method, found.level) == ("bootstrap", 0.9)
        assert found.standard_error == pytest.approx(np.std(replicates, ddof=1))
        flat = LeftOut(np.array([0.5, 0.5]), np.array([1.0, 1.0]))
        corrected = replicate_interval(replicates, 0.9, 0.5, (flat, flat))
        assert corrected is not None
        assert (corrected.lower, corrected.upper) == pytest.approx((0.05, 0.95))
        assert corrected.method == "bca"

    def test_replicate_intervals_that_do_not_exist(self) -> None:
        flat = LeftOut(np.array([0.5, 0.5]), np.array([1.0, 1.0]))
        assert replicate_interval(np.array([0.1, 0.2, 0.3]), 0.95, 0.9, (flat, flat)) is None
        assert replicate_interval(np.array([0.1, np.nan, 0.3]), 0.95, 0.2) is None
        single = replicate_interval(np.array([0.25]), 0.95, 0.2)
        assert single == Interval(0.25, 0.25, 0.95, "bootstrap", None)
        inside = replicate_interval(np.append(np.full(98, 0.25), np.nan), 0.5, 0.25)
        assert inside == Interval(0.25, 0.25, 0.5, "bootstrap", None)

    @pytest.mark.parametrize(
        ("differences", "k"),
        [([1, 2, 3], 0), ([-1, 2, 3], 1), ([-1, -2, 3], 1), ([0, 0, 0], 3), ([0, 1, 1], 1), ([math.nan, 1, 1], 1)],
    )
    def test_replicate_p_values(self, differences: list[float], k: int) -> None:
        assert replicate_p_value(np.array(differences, float)) == min(1, 2 * (k + 1) / 4)


class TestAreas:
    @pytest.mark.parametrize(
        ("method", "used"),
        [
            ("auto", ("logit", "logit", "logit")),
            ("logit", ("logit", "logit", "logit")),
            ("delong", ("delong", None, None)),
            ("bootstrap", ("bootstrap", "bootstrap", "bootstrap")),
            ("bca", ("bca", "bca", "bca")),
        ],
    )
    def test_methods(self, method: str, used: tuple[str | None, ...]) -> None:
        found, warnings = intervals_of(MIXED.sample(), method)
        assert tuple(interval and interval.method for interval in found.values()) == used
        assert warnings == (("interval_omitted",) if None in used else ())
        assert method in METHODS

    def test_what_is_omitted_is_named(self) -> None:
        warnings = evaluate_with_intervals(MIXED.sample(), AUC, IntervalOptions(method="delong")).warnings
        assert (
            warnings[-1].detail == "The intervals of pr, average_precision are null: delong is a method for roc only."
        )

    @examples(30)
    @given(some_samples, levels)
    def test_ends_are_the_formulas(self, data: Data, level: float) -> None:
        found, _ = intervals_of(data.sample(), level=level)
        _, area = evaluated(data.sample())
        for name, interval in found.items():
            assert interval is not None
            assert 0 <= interval.lower <= getattr(area, name) <= interval.upper <= 1
            if interval.method == "exact":
                assert getattr(area, name) in {0, 1}
                continue
            expected = gate_intervals.interval(data, {"metric": name}, level, "auto")
            assert interval.standard_error == pytest.approx(float(expected.error), rel=1e-12, abs=1e-15)
            ends = float(expected.lower), float(expected.upper)
            assert (interval.lower, interval.upper) == pytest.approx(ends, rel=1e-9)

    def test_better_data_show_more(self) -> None:
        """One positive below one of a thousand negatives shows no more than none would, however small its spread is."""
        scores = [2000.0 - row for row in range(1020)]
        labels = [row < 20 for row in range(1020)]
        perfect, _ = intervals_of(Data(scores, labels).sample())
        labels[19], labels[20] = labels[20], labels[19]
        for method in ("auto", "bootstrap", "bca"):
            nearly, _ = intervals_of(Data(scores, labels).sample(), method)
            for name in AREAS:
                assert nearly[name].lower <= perfect[name].lower
                assert nearly[name].method != "exact"
        plain, _ = intervals_of(Data(scores, labels).sample(), "delong")
        assert plain["roc"].lower > perfect["roc"].lower

    def test_pr_next_to_one(self) -> None:
        """The published interval of .999999 with 1,000 positives is [0, 1], wider than that of any smaller area."""
        lowers = [pr_logit_interval(value, 1000, 0.95).lower for value in (0.9, 0.99, 0.999, 0.9999, 0.999999)]
        assert lowers == sorted(lowers)
        assert lowers[-1] > 0.99
        uppers = [pr_logit_interval(value, 1000, 0.95).upper for value in (1e-6, 1e-4, 1e-3, 0.01, 0.1)]
        assert uppers == sorted(uppers)
        assert uppers[0] < 0.01

    @pytest.mark.parametrize("method", METHODS)
    @pytest.mark.parametrize("weights", [None, [2.0, 1.0, 0.5, 1.0, 1.0, 1.0]])
    def test_areas_of_one_and_nought(self, method: str, weights: list[float] | None) -> None:
        """The free end is Clopper & Pearson's for as many trials as the smaller class has examples, or tells of."""
        data = Data([9, 8, 7, 3, 2, 1], [True] * 3 + [False] * 3, weights)
        trials = 3 if weights is None else 3.5**2 / 5.25
        found, warnings = intervals_of(data.sample(), method)
        assert warnings == ()
        assert found["roc"] == exact_interval(1.0, trials, 0.95)
        assert found["roc"].lower == pytest.approx(0.025 ** (1 / trials), rel=1e-12)
        of_pr = exact_pr_interval((3.0 if weights is None else 3.5, 3.0), (trials, 3.0), 0.95)
        assert [found["pr"], found["average_precision"]] == [of_pr] * 2
        turned, _ = intervals_of(replace(data, lower_is_positive=True).sample(), method)
        assert turned["roc"] is not None
        assert (turned["roc"].lower, turned["roc"].method) == (0, "exact")
        assert turned["roc"].upper == pytest.approx(1 - 0.025 ** (1 / trials), rel=1e-12)

    @pytest.mark.parametrize("method", METHODS)
    def test_all_scores_tied(self, method: str) -> None:
        data = Data([1.0] * 7, MIXED.labels)
        found, _ = intervals_of(data.sample(), method)
        assert found["roc"] is not None
        ends = (0.5, 0.5) if method == "delong" else (0.025 ** (1 / 3), 1 - 0.025 ** (1 / 3))
        assert (found["roc"].lower, found["roc"].upper) == pytest.approx(ends)
        assert found["roc"].standard_error == 0

    @pytest.mark.parametrize("method", METHODS)
    def test_too_few_examples(self, method: str) -> None:
        for labels in ([True, False, False], [True, False, True]):
            found, warnings = intervals_of(Data([3, 2, 1], labels).sample(), method)
            assert list(found.values()) == [None] * 3
            assert warnings == (TOO_FEW_EXAMPLES.code,)
        weighted = Data([4, 3, 2, 1], [True, False, False, True], [1.0, 1.0, 1.0, 0.0])
        assert intervals_of(weighted.sample(), method)[1] == (TOO_FEW_EXAMPLES.code,)

    @pytest.mark.parametrize("method", METHODS)
    def test_no_sweep(self, method: str) -> None:
        found, warnings = intervals_of(Rows([1, 3], [3, 1], 5, 5).counts(), method)
        assert list(found.values()) == [None] * 3
        assert warnings == ()

    def test_fractional_counts(self) -> None:
        counts = Rows([1.5, 3], [0.5, 1], 5, 5).counts()
        for method in ("bootstrap", "bca"):
            found, warnings = intervals_of(counts, method)
            assert list(found.values()) == [None] * 3
            assert warnings == ("interval_omitted",)
        found, warnings = intervals_of(counts)
        assert all(found.values())
        assert warnings == ()
        perfect = intervals_of(Rows([2.5], [0], 2.5, 5).counts(), "bootstrap")
        assert all(interval and interval.method == "exact" for interval in perfect[0].values())
        assert perfect[1] == ()

    def test_resamples_that_determine_nothing(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(module, "replicates", lambda _, statistics, *__: dict.fromkeys(statistics, np.ones((1, 9))))
        found, warnings = intervals_of(MIXED.sample(), "bca")
        assert list(found.values()) == [None] * 3
        assert warnings == ("interval_omitted",)

    @pytest.mark.parametrize("method", METHODS)
    @examples(15)
    @given(data=some_samples, random=st.randoms(use_true_random=False))
    def test_order_of_rows_changes_nothing(self, method: str, data: Data, random: object) -> None:
        order = list(range(len(data.scores)))
        random.shuffle(order)  # type: ignore[attr-defined] # a random.Random
        assert intervals_of(data.rows(order).sample(), method) == intervals_of(data.sample(), method)

    @pytest.mark.parametrize("method", METHODS)
    @examples(15)
    @given(data=samples(tied_scores).filter(enough))
    def test_counts_are_the_sample_grouped(self, method: str, data: Data) -> None:
        table = ConfusionTable.of(data.sample())
        counts = Counts(table.tp, table.fp, table.positives, table.negatives)
        assert intervals_of(counts, method) == intervals_of(data.sample(), method)

    @pytest.mark.parametrize("method", METHODS)
    @examples(15)
    @given(data=samples(tied_scores).filter(enough))
    def test_weights_of_one_are_no_weights(self, method: str, data: Data) -> None:
        close(replace(data, weights=[1.0] * len(data.scores)), data, method)

    @pytest.mark.parametrize("method", METHODS)
    @examples(15)
    @given(data=samples(tied_scores, plain_weights).filter(enough), scale=st.floats(1e-100, 1e100))
    def test_scale_of_weights_changes_nothing(self, method: str, data: Data, scale: float) -> None:
        close(replace(data, weights=[weight * scale for weight in data.weights or []]), data, method)

    @pytest.mark.parametrize("method", METHODS)
    @examples(15)
    @given(data=some_samples)
    def test_other_direction_of_scores_changes_nothing(self, method: str, data: Data) -> None:
        mirrored = replace(data, scores=[-s for s in data.scores], lower_is_positive=not data.lower_is_positive)
        assert intervals_of(mirrored.sample(), method) == intervals_of(data.sample(), method)

    @pytest.mark.parametrize("method", ["delong", "logit"])
    @examples(40)
    @given(data=some_samples)
    def test_swapped_classes_mirror_the_interval(self, method: str, data: Data) -> None:
        one, _ = intervals_of(data.sample(), method)
        other, _ = intervals_of(replace(data, labels=[not label for label in data.labels]).sample(), method)
        roc, turned = one["roc"], other["roc"]
        assert roc is not None
        assert turned is not None
        assert roc.method == turned.method
        assert (turned.lower, turned.upper) == pytest.approx((1 - roc.upper, 1 - roc.lower), rel=1e-9, abs=1e-12)

    @pytest.mark.parametrize("method", ["auto", "delong", "bootstrap"])
    @examples(20)
    @given(data=some_samples, pair=st.tuples(levels, levels))
    def test_more_confidence_is_a_wider_interval(self, method: str, data: Data, pair: tuple[float, float]) -> None:
        narrow, wide = (intervals_of(data.sample(), method, level)[0] for level in sorted(pair))
        for name in AREAS:
            inner, outer = narrow[name], wide[name]
            assert (inner is None) == (outer is None)
            if inner and outer:
                assert outer.lower <= inner.lower * (1 + 1e-15)
                assert inner.upper <= outer.upper * (1 + 1e-15)

    def test_a_cut_table(self) -> None:
        """Of the table that thresholds leave, the interval is that of the scores as the cuts leave them."""
        data = Data([9, 8, 7, 6, 5, 4, 3, 2], [True, True, False, True, False, True, False, False], [1.0, 2.0] * 4)
        coarse = replace(data, scores=[8, 8, 5, 5, 5, 0, 0, 0])
        table = ConfusionTable.of(data.sample()).at_thresholds(np.array([7.5, 4.5]))
        area = areas(table, table.select(RocHull.of(table).vertices))
        found = Subject(data.sample(), table).interval(Metric("roc"), area.roc, 0.95, "delong")
        expected, _ = intervals_of(coarse.sample(), "delong")
        assert found == expected["roc"]


def close(one: Data, other: Data, method: str) -> None:
    """The same intervals, but for rounding."""
    (first, codes), (second, others) = (intervals_of(each.sample(), method) for each in (one, other))
    assert codes == others
    for name in AREAS:
        a, b = first[name], second[name]
        assert (a and a.method) == (b and b.method)
        if a and b:
            assert (a.lower, a.upper) == pytest.approx((b.lower, b.upper), rel=1e-9, abs=1e-12)
            assert (a.standard_error is None) == (b.standard_error is None)
            assert a.standard_error is None or a.standard_error == pytest.approx(b.standard_error, rel=1e-9, abs=1e-12)
