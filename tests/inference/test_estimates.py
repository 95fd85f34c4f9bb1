"""What a gate's numbers are based on: the resamples of its intervals, and values of exactly 0 or 1."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from service.curves.confusion import ConfusionTable
from service.curves.errors import NotPaired
from service.curves.evaluation import CurvesOptions
from service.curves.sweep import sweep
from service.inference.bootstrap import percentile_ends, replicates
from service.inference.curves_with_intervals import evaluate_with_intervals
from service.inference.intervals import IntervalOptions
from service.inference.methods import INTERVAL_METHODS, is_resampled, method_of
from service.inference.metric import AREAS_WITH_INTERVALS
from service.inference.models import EvaluatedModel, Models
from service.inference.replicates import Replicates
from service.inference.strata import paired_strata, strata
from tests import reference_gate as reference
from tests import reference_gate_intervals as twin
from tests.inference.made import AREA_STATISTICS
from tests.reference_bootstrap import bca_ends
from tests.reference_gate import Evaluation, metrics, near
from tests.reference_operating_points import CURVE_METRICS
from tests.reference_pr import average_precision
from tests.support.gate_requests import (
    FEW,
    ONE,
    OTHER,
    PERFECT,
    Request,
    metric_of,
    placed_metrics,
    requests,
    small,
    weighted,
)
from tests.support.strategies import Data, Rows, evaluation_of, examples

FACES = np.random.default_rng(6)
LABELS = (FACES.random(80) < 0.4).tolist()
SCORES = (FACES.normal(size=80) + LABELS).round(1).tolist()
RIVALS = (FACES.normal(size=80) + LABELS).round(1).tolist()
EVALUATIONS: dict[str, Evaluation] = {
    "sample": Data(SCORES, LABELS),
    "weights": Data(SCORES, LABELS, FACES.integers(1, 4, 80).astype(float).tolist()),
    "few scores": Data([float(round(score)) for score in SCORES] * 5, LABELS * 5),
    "counts": Rows([200, 400, 500], [10, 150, 600], 500, 700),
}
"""If each kind has many examples, kinds are drawn, otherwise examples."""


def rival(evaluation: Evaluation) -> Evaluation:
    """Another evaluation of the same examples, if these can be told apart."""
    if isinstance(evaluation, Rows):
        return replace(evaluation, tp=[100, 300, 450])
    rounded = [float(round(score)) for score in RIVALS] * 5 if len(evaluation.scores) > len(RIVALS) else RIVALS
    return replace(evaluation, scores=rounded)


def areas_with_both(*, drop: bool) -> list[dict[str, Any]]:
    """Rules about an area that has an interval, and sometimes about its drop."""
    rules: list[dict[str, Any]] = []
    for metric in AREAS_WITH_INTERVALS:
        rules += [{"metric": metric, "max_drop": 0.5, "confidence": 0.9}] if drop else []
        rules.append({"metric": metric, "min": 0.5})
    return rules


@pytest.mark.parametrize("name", EVALUATIONS)
@pytest.mark.parametrize("method", INTERVAL_METHODS)
@pytest.mark.parametrize("against", ["nothing", "pairs", "another"])
def test_intervals_of_areas_are_those_of_the_curves(name: str, method: str, against: str) -> None:
    """A seed gives the same resamples everywhere, bit for bit, also if differences of these areas are asked for."""
    evaluation = EVALUATIONS[name]
    options = IntervalOptions(method=method, resamples=FEW, seed=3)
    baseline = None if against == "nothing" else rival(evaluation)
    paired = against == "pairs" and name != "counts"
    rules = areas_with_both(drop=baseline is not None)
    request = Request(evaluation, baseline, rules, paired=paired, intervals=options)
    found = {check.rule.metric: check.interval for check in request.checks() if check.rule.kind == "min"}
    curves = evaluate_with_intervals(
        evaluation_of(evaluation), CurvesOptions(include=frozenset({"auc"})), options
    ).intervals
    for metric in AREAS_WITH_INTERVALS:
        assert found[metric] == curves[metric]
        assert (found[metric] is None) == (method == "delong" and metric != "roc")


@given(st.one_of(small, weighted), placed_metrics(), st.randoms(use_true_random=False))
@examples(100)
def test_a_resample_has_the_metrics_of_the_sample_that_it_is(data: Data, rule: dict[str, Any], random: Any) -> None:
    """A metric of a resample's counts on the rows of the sample's table is the metric of the resample's own table."""
    metric = metric_of(rule)
    assume(metric.family in {"roc", "area", "point"} and metric.name != "gini")
    model = EvaluatedModel.of(data.sample())
    assume(model.value(metric) is not None)
    drawn: list[int] = []
    for of in (True, False):
        rows = [row for row, label in enumerate(data.labels) if label == of]
        drawn += [random.choice(rows) for _ in rows]
    table, weights = data.table(), data.weights or [1.0] * len(data.scores)
    numbers = {row.threshold: number for number, row in enumerate(table.rows) if row.threshold is not None}
    counts = np.zeros((2, len(table.rows)))
    for row in drawn:
        counts[0 if data.labels[row] else 1, numbers[data.scores[row] + 0.0]] += weights[row]
    tp, fp = np.cumsum(counts, axis=1)
    assume(tp[-1] > 0 and fp[-1] > 0)  # resamples draw only from examples that weigh something
    statistic = model.statistic(metric)
    found = getattr(sweep.areas(tp, fp), statistic) if isinstance(statistic, str) else statistic(tp, fp)
    expected = reference.value(data.rows(drawn), rule)
    if rule["metric"] in CURVE_METRICS and data.weights:
        assume(not _on_an_edge(data.rows(drawn), rule))
    assert near(None if math.isnan(found) else found, expected, 1e-9)


def _on_an_edge(data: Data, rule: dict[str, Any]) -> bool:
    """Whether rounding decides: sums of weights in doubles may fall on either side of a place where a row is."""
    table = data.table()
    for row in table.rows:
        called = row.tp + row.fp
        rates = [row.tp / table.positives, row.fp / table.negatives, row.tp / called if called else Fraction(2)]
        if any(abs(rate - Fraction(rule["at"])) < 1e-12 for rate in rates):
            return True
    return False


class TestDifferences:
    OPTIONS = IntervalOptions(method="bootstrap", resamples=FEW, seed=7)

    def test_pairs_are_drawn_together(self) -> None:
        """Both get the same draws: two equal models differ in no resample, unless they are not paired."""
        for metric in (
            {"metric": "pr"},
            {"metric": "tpr_at_fpr", "at": 0.5},
            {"metric": "recall", "at_threshold": 0.5},
        ):
            rule = metric | {"max_drop": 0.0, "confidence": 0.9}
            request = Request(ONE, ONE, [rule], paired=True, intervals=self.OPTIONS)
            (pair,), (others,) = request.checks(), replace(request, paired=False).checks()
            assert (pair.interval.lower, pair.interval.upper, pair.p_value) == (0.0, 0.0, 1.0)
            assert others.interval.lower < 0 < others.interval.upper
            assert others.difference == 0

    @pytest.mark.parametrize("rule", [{"metric": "pr"}, {"metric": "tpr_at_fpr", "at": 0.5}])
    def test_the_streams_of_two_evaluations(self, rule: dict[str, Any]) -> None:
        """If they are not paired, differences are those of independent streams."""
        asked = Request(ONE, OTHER, [rule | {"max_drop": 0.5, "confidence": 0.9}], intervals=self.OPTIONS)
        (check,) = asked.checks()
        values = []
        for stream, data in enumerate((ONE, OTHER)):
            model = EvaluatedModel.of(data.sample())
            statistic = {"it": model.statistic(metric_of(rule))}
            values.append(replicates(model.strata, statistic, FEW, 7, stream)["it"][0])
        differences = values[0] - values[1]
        assert (check.interval.lower, check.interval.upper) == percentile_ends(differences, 0.9)
        assert check.p_value == Replicates(differences).p_value(check.difference)

    @pytest.mark.parametrize("paired", [True, False])
    def test_bias_and_acceleration_of_a_difference(self, *, paired: bool) -> None:
        """Efron's formula: an example of a pair is left out of both evaluations, any other only of its own."""
        rule = {"metric": "average_precision", "max_drop": 0.5, "confidence": 0.9}
        intervals = replace(self.OPTIONS, method="bca")
        (check,) = Request(ONE, OTHER, [rule], paired=paired, intervals=intervals).checks()
        both = [each.sample() for each in (ONE, OTHER)]
        split = [strata(sample, ConfusionTable.of(sample)) for sample in both]
        if paired:
            split = [paired_strata((both[0], both[1]), (split[0].tables[0], split[1].tables[0]))]
        drawn = [
            replicates(each, AREA_STATISTICS, FEW, 7, stream)["average_precision"] for stream, each in enumerate(split)
        ]
        values = np.vstack(drawn)
        left_out: list[list[float]] = []
        for of in (True, False):
            rows = [row for row, label in enumerate(ONE.labels) if label == of]
            ours, theirs = ([_precision_without(each, row) for row in rows] for each in (ONE, OTHER))
            if paired:
                left_out.append([a - b for a, b in zip(ours, theirs, strict=True)])
            else:
                left_out += [[a - check.baseline for a in ours], [check.value - b for b in theirs]]
        expected = bca_ends((values[0] - values[1]).tolist(), check.difference, left_out, 0.9)
        assert (check.interval.lower, check.interval.upper) == pytest.approx(expected, rel=1e-9)
        assert check.interval.method == "bca"

    @pytest.mark.parametrize("method", INTERVAL_METHODS)
    def test_a_metric_has_one_method(self, method: str) -> None:
        for metric in metrics():
            for difference in (False, True):
                made_by = twin.method_of(metric, method, difference=difference) if twin.has_interval(metric) else None
                assert method_of(metric_of(metric), method, difference=difference) == made_by
                drawn = made_by in twin.BOOTSTRAPS
                assert is_resampled(metric_of(metric), method, difference=difference) == drawn

    def test_p_values_of_other_metrics_come_with_their_intervals(self) -> None:
        rules = [{"metric": "roc", "max_drop": 0.5}, {"metric": "pr", "max_drop": 0.5}, {"metric": "roc", "min": 0.5}]
        roc, pr, least = Request(ONE, OTHER, rules).checks()
        assert roc.p_value == least.p_value is not None
        assert pr.p_value is None
        of_value = Request(ONE, OTHER, [{"metric": "roc", "min": 0.5}], intervals=self.OPTIONS)
        assert [check.p_value for check in of_value.checks()] == [None]


def _precision_without(data: Data, row: int) -> float:
    """The average precision without one example."""
    return float(average_precision(data.rows([each for each in range(len(data.scores)) if each != row]).table()))


class TestNarrow:
    """Intervals known to be too narrow for such data get a warning, with the size from which they are not."""

    @staticmethod
    def told(positives: int, negatives: int, wrong: int, method: str, **rule: Any) -> list[str]:
        """The warning about two models, each of which ranks some positives below all negatives."""
        labels = [True] * positives + [False] * negatives
        models = []
        for model in range(2):
            scores = [2.0 + row % 7 for row in range(positives)] + [1.0] * negatives
            scores[model * wrong : (model + 1) * wrong] = [0.0] * wrong
            models.append(Data(scores, labels))
        asked = Request(
            *models, [{"metric": "roc"} | rule], paired=True, intervals=IntervalOptions(method=method, resamples=FEW)
        )
        return [each.detail for each in asked.gate().warnings if each.code == "narrow_interval"]

    @pytest.mark.parametrize("method", ["delong", "bootstrap", "bca"])
    @pytest.mark.parametrize("rule", [{"min": 0.5}, {"max_drop": 0.5}])
    def test_few_examples(self, method: str, rule: dict[str, float]) -> None:
        (said,) = self.told(99, 200, 20, method, **rule)
        assert said.startswith(f"The {method} interval of ")
        assert "may be too narrow: the smaller class has an effective size of 99; with 100 or more" in said
        assert self.told(100, 200, 20, method, **rule) == []

    @pytest.mark.parametrize("method", ["delong", "bootstrap", "bca"])
    def test_few_that_are_ranked_wrongly(self, method: str) -> None:
        (said,) = self.told(100, 200, 9, method, max_drop=0.5)
        assert "about 9 examples of the smaller class are ranked wrongly; with 10 or more, such intervals keep" in said
        assert self.told(160, 200, 10, method, max_drop=0.5) == []

    def test_the_default_needs_one(self) -> None:
        assert self.told(20, 200, 1, "auto", max_drop=0.5) == []
        assert self.told(20, 200, 1, "auto", min=0.5) == []

    @pytest.mark.parametrize(
        ("part", "inside"),
        [
            ({"over": "fpr", "to": 0.125}, 10),
            ({"over": "tpr", "from": 0.75}, 10),
            ({"over": "tpr", "from": 0.7, "to": 0.95}, 10),
            ({"over": "recall", "from": 0.875, "to": 0.975}, 4),
            ({"over": "fpr", "to": 0.5, "min_tpr": 0.7}, 8),
        ],
    )
    def test_few_in_a_range(self, part: dict[str, Any], inside: int) -> None:
        """There are 40 positives and 80 negatives; all positives but four are above all negatives."""
        for bound in ({"min": 0.0}, {"max_drop": 0.5}):
            said = self.told(40, 80, 4, "auto", metric="partial", **part, **bound)
            if inside >= 10:
                assert said == []
            else:
                assert len(said) == 1
                assert f"only about {inside} examples decide; with 10 or more, such intervals keep" in said[0]


class TestOmitted:
    def warnings(self, request: Request) -> list[str]:
        return [warning.detail for warning in request.gate().warnings if warning.code == "interval_omitted"]

    def test_a_missing_interval_is_explained(self) -> None:
        fractional = Rows([1.5, 3.0], [0.5, 2.0], 4, 4)
        place = {"metric": "tpr_at_fpr", "at": 0.3}
        rules = [place | {"min": 0.0}, place | {"max": 1.0}, place | {"max_drop": 1.0}, {"metric": "roc", "min": 0.0}]
        request = Request(fractional, ONE, rules, intervals=IntervalOptions(resamples=FEW))
        why = "null: counts that are fractional, or above 2^53, are not resampled."
        of = "tpr_at_fpr at fpr 0.3"
        assert self.warnings(request) == [f"The interval of the difference of {of} is {why}"]
        drawn = replace(request, intervals=IntervalOptions(resamples=FEW, method="bootstrap"))
        assert self.warnings(drawn) == [f"The intervals of {of}, the difference of {of}, roc are {why}"]
        assert self.warnings(replace(request, intervals=None)) == []

    def test_what_delong_is_not_for(self) -> None:
        rules = [{"metric": "pr", "min": 0.0}, {"metric": "pr", "max_drop": 0.5}, {"metric": "roc", "min": 0.0}]
        request = Request(ONE, OTHER, rules, intervals=IntervalOptions(method="delong"))
        expected = ["The intervals of pr, the difference of pr are null: the method delong is for roc only."]
        assert self.warnings(request) == expected

    def test_metrics_without_intervals(self) -> None:
        fitted = [{"metric": name, "min": 0.0} for name in ("roc_hull", "ks")]
        fitted += [{"metric": "f_measure", "at": 0.5, "min": 0.0}, {"metric": "f1", "best": "f1", "min": 0.0}]
        others = [{"metric": name, "min": 0.0} for name in ("pr_trapezoid", "prg")]
        rules = [*fitted, *others, {"metric": "roc_hull", "max_drop": 1.0}]
        request = Request(ONE, OTHER, rules, intervals=IntervalOptions())
        best, other = self.warnings(request)
        named = "roc_hull, ks, f_measure at lambda 0.5, f1 at best f1, the difference of roc_hull are null"
        assert best == f"The intervals of {named}: such a metric takes the best of all rows, chosen on the same data."
        why = "no method for such a metric is known to keep its level"
        assert other == f"The intervals of pr_trapezoid, prg are null: {why}."

    def test_few_examples(self) -> None:
        """Seven of each class, fourteen, and fourteen of which a few have most of the weight."""
        light = [1.0 if row in {0, 1, 2, 5} else 0.01 for row in range(14)]
        rule = {"metric": "roc", "min": 0.0, "confidence": 0.9}
        for times, weights, few in ((1, None, False), (1, light, False), (2, None, False), (2, light * 2, True)):
            data = Data(ONE.scores * times, ONE.labels * times, weights)
            found = [warning.code for warning in Request(data, None, [rule]).gate().warnings]
            assert found == ["few_effective_examples"] * few
        # Ten of each class, but one weighs a little more: 10.5²/(9 + 1.5²) is fewer than ten.
        tens = Data([20.0 - row for row in range(20)], [row % 2 == 0 for row in range(20)], [1.0] * 20)
        assert Request(tens, None, [rule]).gate().warnings == ()
        heavier = replace(tens, weights=[1.5, *[1.0] * 19])
        assert [each.code for each in Request(heavier, None, [rule]).gate().warnings] == ["few_effective_examples"]

    def test_it_is_not_repeated_if_the_data_have_no_intervals(self) -> None:
        one_positive = Data([3.0, 2.0, 1.0], [True, False, False])
        no_sweep = Rows([2, 1], [1, 2], 3, 3)
        rules = [{"metric": "precision", "at_threshold": 9.0, "min": 0.0}, {"metric": "roc", "min": 0.0}]
        for evaluation in (ONE, one_positive, no_sweep):
            assert self.warnings(Request(evaluation, None, rules, intervals=IntervalOptions())) == []


@given(requests())
@examples(40)
def test_ends_are_in_order_and_in_range(request: Request) -> None:
    for check in request.checks():
        if check.interval is not None:
            of = check.rule.of
            least, most = (-of.span, of.span) if check.rule.is_change else of.limits
            assert least <= check.interval.lower <= check.interval.upper <= most
        assert check.p_value is None or 0 <= check.p_value <= 1


class TestPairs:
    @pytest.mark.parametrize(
        ("change", "column", "row"),
        [
            ({"labels": [True, True, False, True, False, False]}, "labels", 2),
            ({"weights": [1.0, 1.0, 2.0, 1.0, 1.0, 1.0]}, "weights", 2),
        ],
    )
    def test_the_first_row_that_differs_is_reported(self, change: dict[str, Any], column: str, row: int) -> None:
        with pytest.raises(NotPaired, match=f"Row {row}, counting from 0, has different {column}") as raised:
            Models.of(PERFECT.sample(), replace(PERFECT, **change).sample(), paired=True)
        assert (raised.value.column, raised.value.row, raised.value.evaluation) == (column, row, "baseline")

    def test_weights_of_one_are_the_same_as_none(self) -> None:
        weights = replace(PERFECT, weights=[1.0] * 6)
        for pair in ((weights, PERFECT), (PERFECT, weights)):
            assert Models.of(*(each.sample() for each in pair), paired=True).paired

    def test_counts_and_other_lengths_are_not_pairs(self) -> None:
        counts = Rows([1, 3], [0, 2], 3, 3).counts()
        for pair in ((counts, PERFECT.sample()), (PERFECT.sample(), counts), (PERFECT.sample(), ONE.sample())):
            with pytest.raises(NotPaired, match="cannot be paired") as raised:
                Models.of(*pair, paired=True)
            assert (raised.value.column, raised.value.row, raised.value.evaluation) == ("paired", None, None)
