"""Which interval an area has, and what does not change it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from service.curves.areas import Areas, areas
from service.curves.confusion import ConfusionTable
from service.curves.counts import Counts
from service.curves.evaluation import CurvesOptions
from service.curves.hull import RocHull
from service.curves.sample import Sample
from service.inference import replicates as module
from service.inference.curves_with_intervals import evaluate_with_intervals
from service.inference.estimates import TOO_FEW_EXAMPLES
from service.inference.intervals import (
    Interval,
    IntervalOptions,
    exact_interval,
    exact_pr_interval,
    pr_logit_interval,
)
from service.inference.methods import INTERVAL_METHODS, closed_interval
from service.inference.metric import Metric
from service.inference.models import EvaluatedModel, Models
from service.inference.strata import strata
from tests import reference_gate_intervals as gate_intervals
from tests.support.strategies import Data, Rows, examples, plain_weights, samples, tied_scores

AREAS = ("roc", "pr", "average_precision")
RESAMPLES = 99
AUC = CurvesOptions(include=frozenset({"auc"}))

levels = st.one_of(st.floats(0.01, 0.999), st.sampled_from([0.5, 0.8, 0.9, 0.95, 0.99, 1 - 1e-9]))


def evaluated(evaluation: Sample | Counts) -> tuple[ConfusionTable, Areas]:
    table = ConfusionTable.of(evaluation)
    return table, areas(table, table.select(RocHull.of(table).vertices))


def intervals_of(
    evaluation: Sample | Counts, method: str = "auto", level: float = 0.95
) -> tuple[dict[str, Interval | None], tuple[str, ...]]:
    """The intervals, and the codes of the warnings about them."""
    curves = evaluate_with_intervals(evaluation, AUC, IntervalOptions(level, method, RESAMPLES, 5))
    assert tuple(curves.intervals) == AREAS
    return dict(curves.intervals), tuple(warning.code for warning in curves.warnings[len(curves.curves.warnings) :])


def enough(data: Data) -> bool:
    return strata(data.sample(), ConfusionTable.of(data.sample())).enough


some_samples = st.one_of(samples(tied_scores), samples(tied_scores, plain_weights)).filter(enough)
MIXED = Data([5, 4, 3, 3, 2, 1, 0], [True, False, True, False, True, False, False])


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
        narrow = ("narrow_interval",) * len([each for each in used if each not in {None, "logit"}])
        assert warnings == narrow + (("interval_omitted",) if None in used else ())
        assert method in INTERVAL_METHODS

    def test_what_is_omitted_is_named(self) -> None:
        warnings = evaluate_with_intervals(MIXED.sample(), AUC, IntervalOptions(method="delong")).warnings
        assert (
            warnings[-1].detail == "The intervals of pr, average_precision are null: the method delong is for roc only."
        )

    @examples(30)
    @given(some_samples, levels)
    @example(Data([5, 4, 3, 2, 1, 0], [True, True, False, False, False, False]), 0.9)
    def test_ends_are_the_formulas(self, data: Data, level: float) -> None:
        found, _ = intervals_of(data.sample(), level=level)
        _, area = evaluated(data.sample())
        for name, interval in found.items():
            assert interval is not None
            assert 0 <= interval.lower <= getattr(area, name) <= interval.upper <= 1
            expected = gate_intervals.interval(data, {"metric": name}, level, "auto")
            if interval.method == "exact":
                assert (getattr(area, name) in {0, 1}, interval.standard_error, expected.error) == (True, None, None)
            else:
                assert interval.standard_error == pytest.approx(float(expected.error), rel=1e-12, abs=1e-15)
            ends = float(expected.lower), float(expected.upper)
            assert (interval.lower, interval.upper) == pytest.approx(ends, rel=1e-9)

    def test_better_data_show_more(self) -> None:
        """One positive below one of a thousand negatives proves no more than none would, however small its spread."""
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

        def interval(value: float) -> Interval:
            return pr_logit_interval(value, value * (1 - value) / 10, (1000, 1000), 0.95)

        lowers = [interval(value).lower for value in (0.9, 0.99, 0.999, 0.9999, 0.999999)]
        assert lowers == sorted(lowers)
        assert lowers[-1] > 0.99
        uppers = [interval(value).upper for value in (1e-6, 1e-4, 1e-3, 0.01, 0.1)]
        assert uppers == sorted(uppers)
        assert uppers[0] < 0.01

    @pytest.mark.parametrize("method", INTERVAL_METHODS)
    @pytest.mark.parametrize("weights", [None, [2.0, 1.0, 0.5, 1.0, 1.0, 1.0]])
    def test_areas_of_one_and_nought(self, method: str, weights: list[float] | None) -> None:
        """The free end is Clopper & Pearson's, with the smaller class's examples, or its effective size, as trials."""
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

    @pytest.mark.parametrize("method", INTERVAL_METHODS)
    def test_all_scores_tied(self, method: str) -> None:
        data = Data([1.0] * 7, MIXED.labels)
        found, _ = intervals_of(data.sample(), method)
        assert found["roc"] is not None
        ends = (0.5, 0.5) if method == "delong" else (0.025 ** (1 / 3), 1 - 0.025 ** (1 / 3))
        assert (found["roc"].lower, found["roc"].upper) == pytest.approx(ends)
        assert found["roc"].standard_error == 0

    @pytest.mark.parametrize("method", INTERVAL_METHODS)
    def test_too_few_examples(self, method: str) -> None:
        for labels in ([True, False, False], [True, False, True]):
            found, warnings = intervals_of(Data([3, 2, 1], labels).sample(), method)
            assert list(found.values()) == [None] * 3
            assert warnings == (TOO_FEW_EXAMPLES.code,)
        weighted = Data([4, 3, 2, 1], [True, False, False, True], [1.0, 1.0, 1.0, 0.0])
        assert intervals_of(weighted.sample(), method)[1] == (TOO_FEW_EXAMPLES.code,)

    @pytest.mark.parametrize("method", INTERVAL_METHODS)
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

    @pytest.mark.parametrize("method", INTERVAL_METHODS)
    @examples(15, fewest=3)
    @given(data=some_samples, random=st.randoms(use_true_random=False))
    def test_order_of_rows_changes_nothing(self, method: str, data: Data, random: object) -> None:
        order = list(range(len(data.scores)))
        random.shuffle(order)  # type: ignore[attr-defined] # a random.Random
        assert intervals_of(data.rows(order).sample(), method) == intervals_of(data.sample(), method)

    @pytest.mark.parametrize("method", INTERVAL_METHODS)
    @examples(15, fewest=3)
    @given(data=samples(tied_scores).filter(enough))
    def test_counts_are_the_sample_grouped(self, method: str, data: Data) -> None:
        table = ConfusionTable.of(data.sample())
        counts = Counts(table.tp, table.fp, table.positives, table.negatives)
        assert intervals_of(counts, method) == intervals_of(data.sample(), method)

    @pytest.mark.parametrize("method", INTERVAL_METHODS)
    @examples(15, fewest=3)
    @given(data=samples(tied_scores).filter(enough))
    def test_weights_of_one_count_as_none(self, method: str, data: Data) -> None:
        close(replace(data, weights=[1.0] * len(data.scores)), data, method)

    @pytest.mark.parametrize("method", INTERVAL_METHODS)
    @examples(15, fewest=3)
    @given(data=samples(tied_scores, plain_weights).filter(enough), scale=st.floats(1e-100, 1e100))
    def test_scale_of_weights_changes_nothing(self, method: str, data: Data, scale: float) -> None:
        close(replace(data, weights=[weight * scale for weight in data.weights or []]), data, method)

    @pytest.mark.parametrize("method", INTERVAL_METHODS)
    @examples(15, fewest=3)
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
        """The interval of a table cut at thresholds is that of the scores rounded down to these thresholds."""
        data = Data([9, 8, 7, 6, 5, 4, 3, 2], [True, True, False, True, False, True, False, False], [1.0, 2.0] * 4)
        coarse = replace(data, scores=[8, 8, 5, 5, 5, 0, 0, 0])
        table = ConfusionTable.of(data.sample()).at_thresholds(np.array([7.5, 4.5]))
        area = areas(table, table.select(RocHull.of(table).vertices))
        found = closed_interval(
            Models((EvaluatedModel(data.sample(), table),)), Metric("roc"), [area.roc], 0.95, "delong"
        )
        expected, _ = intervals_of(coarse.sample(), "delong")
        assert found == expected["roc"]


def close(one: Data, other: Data, method: str) -> None:
    """The same intervals, up to rounding."""
    (first, codes), (second, others) = (intervals_of(each.sample(), method) for each in (one, other))
    assert codes == others
    for name in AREAS:
        a, b = first[name], second[name]
        assert (a and a.method) == (b and b.method)
        if a and b:
            assert (a.lower, a.upper) == pytest.approx((b.lower, b.upper), rel=1e-9, abs=1e-12)
            assert (a.standard_error is None) == (b.standard_error is None)
            assert a.standard_error is None or a.standard_error == pytest.approx(b.standard_error, rel=1e-9, abs=1e-12)
