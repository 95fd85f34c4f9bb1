"""Intervals where positives are as common as in use: against the twins of weights, and with both corrections."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from service.curves.clusters import Clusters
from service.curves.decisions import Decision
from service.curves.evaluation import CurvesOptions
from service.curves.sample import Sample
from service.curves.target_prevalence import TargetPrevalence
from service.inference.bands import BandOptions
from service.inference.curves_with_intervals import evaluate_with_intervals
from service.inference.estimates import Estimates
from service.inference.gate import evaluate_gate
from service.inference.intervals import Interval, IntervalOptions, exact_pr_interval
from service.inference.metric import Metric
from service.inference.models import EvaluatedModel, Models
from service.inference.plans import evaluate_plans
from service.inference.rules import Rule
from service.inference.sliced import RowsInSlices, Slicing, evaluate_slices
from service.inference.verdicts import GateOptions
from tests import reference_inference, reference_spread
from tests.reference_prevalence import stand_ins, weights_in_use
from tests.support.strategies import Data

AREAS = ("pr", "average_precision")
SHARE = 0.1
OF_AREAS = CurvesOptions(frozenset({"auc"}))


def drawn(positives: int, negatives: int, seed: int = 4, shift: float = 1.2) -> Sample:
    random = np.random.default_rng(seed)
    labels = np.arange(positives + negatives) < positives
    return Sample(np.round(random.standard_normal(labels.size) + shift * labels, 1), labels)


def in_use(sample: Sample, share: float = SHARE) -> Sample:
    return replace(sample, target=TargetPrevalence(share))


def interval_of(sample: Sample, metric: Metric, method: str = "auto") -> Interval | None:
    models, how = Models((EvaluatedModel.of(sample),)), IntervalOptions(method=method)
    return Estimates(models, how, [(metric, None)]).interval(metric, 0.95)


@pytest.mark.parametrize("name", AREAS)
def test_the_standard_error_is_that_of_weights(name: str) -> None:
    sample = drawn(12, 20)
    labels = [bool(each) for each in sample.labels]
    weights = [float(each) for each in weights_in_use(labels, SHARE)]
    twin = reference_spread.standard_error(Data(sample.scores.tolist(), labels, weights), {"metric": name})
    model = EvaluatedModel.of(in_use(sample))
    assert model.area_error(name).error == pytest.approx(float(twin), rel=1e-9)
    assert model.area_error("roc").error == EvaluatedModel.of(sample).area_error("roc").error


@pytest.mark.parametrize("name", AREAS)
@pytest.mark.parametrize("share", [0.1, 0.3, 0.6])
def test_positives_count_for_no_more_than_negatives_stand_for(name: str, share: float) -> None:
    sample = in_use(drawn(60, 90, shift=0.6), share)
    model = EvaluatedModel.of(sample)
    most = float(stand_ins(90, share))
    assert model.strata.stand_ins == pytest.approx(most, rel=1e-12)
    value, found = model.value(Metric(name)), interval_of(sample, Metric(name))
    assert value is not None
    assert found is not None
    error = model.area_error(name).error
    ends = reference_inference.pr_logit_ends(value, error, (min(60, most), min(90, most)), 0.95)
    capped = exact_pr_interval((share, 1 - share), (60, 90), 0.95).lower
    assert (found.lower, found.upper) == pytest.approx((min(float(ends[0]), capped), float(ends[1])), rel=1e-9)


def test_perfect_data_have_the_totals_in_use_and_the_trials_of_the_data() -> None:
    sample = in_use(Sample(np.arange(50.0), np.arange(50) >= 40))
    found = interval_of(sample, Metric("pr"))
    assert found == exact_pr_interval((0.1, 0.9), (10, 40), 0.95)
    assert found.lower == pytest.approx(exact_pr_interval((10, 90), (10, 40), 0.95).lower, rel=1e-12)


@pytest.mark.parametrize("method", ["auto", "delong", "logit", "bootstrap", "bca"])
def test_the_interval_of_roc_does_not_change(method: str) -> None:
    sample = drawn(20, 30)
    assert interval_of(in_use(sample), Metric("roc"), method) == interval_of(sample, Metric("roc"), method)


@pytest.mark.parametrize("name", ["recall", "fpr", "balanced_accuracy", "youden", "lr_negative"])
def test_nor_does_what_recall_and_fpr_decide(name: str) -> None:
    metric, sample = Metric(name, decision=Decision(at_threshold=0.5)), drawn(20, 30)
    assert interval_of(in_use(sample), metric) == interval_of(sample, metric)


@pytest.mark.parametrize("name", ["precision", "npv", "accuracy", "f1", "mcc", "lift", "kappa", "share"])
@pytest.mark.parametrize("copies", [1, 4])
def test_a_rate_has_the_ends_of_copied_negatives_at_the_sizes_of_the_data(name: str, copies: int) -> None:
    """The same function of recall and fpr: with copies, only the trials of the fpr would be too many."""
    metric, sample = Metric(name, decision=Decision(at_threshold=0.5)), drawn(20, 30)
    weights = np.where(sample.labels, 1.0, copies)
    found = interval_of(in_use(sample, 20 / (20 + copies * 30)), metric)
    weighted = interval_of(replace(sample, weights=weights), metric)
    assert found is not None
    assert weighted is not None
    assert (found.lower, found.upper) == pytest.approx((weighted.lower, weighted.upper), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("metric", [Metric("pr"), Metric("precision_at_recall", 0.4)])
def test_resamples_keep_the_prevalence(metric: Metric) -> None:
    sample = drawn(40, 60, shift=0.7)
    share = 0.4
    plain, found = (interval_of(each, metric, "bootstrap") for each in (sample, in_use(sample, share)))
    assert plain is not None
    assert found is not None
    assert (found.lower, found.upper) == pytest.approx((plain.lower, plain.upper), rel=1e-12)
    rare = interval_of(in_use(sample, 0.1), metric, "bootstrap")
    assert rare is not None
    assert rare.upper < plain.upper


def test_weighted_resamples_keep_it_too() -> None:
    random = np.random.default_rng(2)
    sample = drawn(40, 60, shift=0.7)
    weighted = replace(sample, weights=random.uniform(0.2, 3, 100))
    found = interval_of(in_use(weighted), Metric("average_precision"), "bootstrap")
    value = EvaluatedModel.of(in_use(weighted)).value(Metric("average_precision"))
    assert found is not None
    assert value is not None
    assert found.lower < value < found.upper


def test_the_warning_names_how_many_negatives_are_needed() -> None:
    found = evaluate_with_intervals(in_use(drawn(100, 300), 0.01), OF_AREAS, IntervalOptions())
    (told,) = (each for each in found.warnings if each.code == "far_prevalence")
    assert "300 negatives stand for only 3.03 positives" in told.detail
    assert "needs 2,970 negatives" in told.detail
    assert found.intervals is not None
    assert found.intervals["pr"] is not None


@pytest.mark.parametrize("method", ["auto", "bootstrap"])
def test_below_two_positives_there_is_no_interval(method: str) -> None:
    found = evaluate_with_intervals(in_use(drawn(40, 60), 0.01), OF_AREAS, IntervalOptions(method=method))
    assert found.intervals is not None
    assert found.intervals["roc"] is not None
    assert (found.intervals["pr"], found.intervals["average_precision"]) == (None, None)
    told = [each.detail for each in found.warnings if each.code == "interval_omitted"]
    assert told == [
        "The intervals of pr, average_precision are null: this prevalence needs more negatives, as far_prevalence says."
    ]


def test_differences_take_at_most_what_negatives_stand_for() -> None:
    one, other = (in_use(drawn(60, 90, seed, 0.8)) for seed in (1, 2))
    for paired in (True, False):
        both = Models.of(one, other, paired=paired)
        assert both.spread("pr").fewest == pytest.approx(10)
        assert both.spread("roc").fewest == 60
        found = Estimates(both, IntervalOptions()).interval(Metric("pr"), 0.95, kept=1.0)
        plain = Estimates(Models.of(drawn(60, 90, 1, 0.8), drawn(60, 90, 2, 0.8), paired=paired), IntervalOptions())
        assert found is not None
        assert found.method == "mover"
        of_roc = Estimates(both, IntervalOptions()).interval(Metric("roc"), 0.95, kept=1.0)
        assert of_roc == plain.interval(Metric("roc"), 0.95, kept=1.0)


def test_p_values_agree_with_intervals() -> None:
    both = Models.of(in_use(drawn(60, 90, 1, 1.6)), in_use(drawn(60, 90, 2, 0.4)))
    estimates = Estimates(both, IntervalOptions())
    p_value, found = estimates.p_value(Metric("pr")), estimates.interval(Metric("pr"), 0.95, kept=1.0)
    assert p_value is not None
    assert found is not None
    assert (p_value < 0.05) == (not found.lower <= 0 <= found.upper)
    far = Models.of(in_use(drawn(60, 90, 1), 0.01), in_use(drawn(60, 90, 2), 0.01))
    assert Estimates(far, IntervalOptions()).p_value(Metric("pr")) is None


def test_clusters_of_negatives_stand_for_positives() -> None:
    sample = drawn(60, 90, shift=0.8)
    numbers = np.arange(150) // 3
    clustered = replace(sample, clusters=Clusters(numbers, [str(each) for each in range(50)]))
    model = EvaluatedModel.of(in_use(clustered))
    assert model.strata.stand_ins == pytest.approx(model.strata.units[1] / 9)
    found, plain = (interval_of(in_use(each), Metric("pr")) for each in (clustered, sample))
    assert found is not None
    assert plain is not None
    assert found.upper - found.lower > plain.upper - plain.lower


def test_a_gate_echoes_it_and_warns_only_of_areas_under_pr() -> None:
    sample = in_use(drawn(60, 90, shift=0.8))
    roc, pr = Rule("roc", min=0.5, confidence=0.95), Rule("pr", min=0.1, confidence=0.95)
    of_roc, of_pr = (evaluate_gate(sample, None, GateOptions((rule,))) for rule in (roc, pr))
    assert (of_roc.target, of_pr.target) == (SHARE, SHARE)
    assert [each.code for each in of_roc.warnings] == []
    assert [each.code for each in of_pr.warnings] == ["far_prevalence"]


def test_plans_grow_what_negatives_stand_for() -> None:
    sample = in_use(drawn(60, 900, shift=1.2))
    rule = Rule("pr", min=0.3, confidence=0.95)
    (plan,) = evaluate_plans(sample, None, [rule], IntervalOptions()).plans
    assert plan.factor is not None
    many = math.ceil(plan.factor)
    copied = Sample(np.repeat(sample.scores, many), np.repeat(sample.labels, many), target=TargetPrevalence(SHARE))
    found = interval_of(copied, Metric("pr"))
    assert found is not None
    assert found.lower >= 0.3
    low = replace(rule, min=0.05)
    (far,) = evaluate_plans(in_use(drawn(60, 90), 0.01), None, [low], IntervalOptions()).plans
    assert far.reason == "This prevalence needs more negatives."


def test_slices_have_the_weights_of_all_rows() -> None:
    sample = drawn(90, 210, shift=0.9)
    numbers = np.arange(300) % 2
    slicing = Slicing(numbers, {"of": ["a", "b"]})
    found = evaluate_slices(in_use(sample), slicing)
    each = weights_in_use([bool(label) for label in sample.labels], SHARE)
    for number in range(2):
        rows = np.flatnonzero(numbers == number)
        weights = np.array([float(each[row]) for row in rows])
        alone = EvaluatedModel.of(Sample(sample.scores[rows], sample.labels[rows], weights))
        assert found.areas.pr[number] == pytest.approx(alone.value(Metric("pr")), rel=1e-12)
    rule = Rule("pr", min=0.05, confidence=0.95, slices=("of",))
    gate = evaluate_gate(in_use(sample), None, GateOptions((rule,), slicings={("of",): RowsInSlices(slicing)}))
    assert gate.checks[0].slices is not None
    assert gate.checks[0].slices["value"] == pytest.approx(found.areas.pr.tolist(), rel=1e-12)
    told = [each.detail for each in found.warnings if each.code == "far_prevalence"]
    assert any("In 2 of 2 slices" in detail for detail in told)


def test_a_band_of_the_pr_curve_is_that_of_the_roc_curve_in_use() -> None:
    sample = drawn(60, 90, shift=0.9)
    for kind in ("pointwise", "simultaneous"):
        asked = BandOptions(kind, np.array([0.2, 0.5]))
        plain, found = (
            evaluate_with_intervals(each, OF_AREAS, IntervalOptions(), band=asked).bands
            for each in (sample, in_use(sample))
        )
        assert plain is not None
        assert found is not None
        assert found.curves["roc"].lower.tolist() == plain.curves["roc"].lower.tolist()
        for end in ("lower", "upper"):
            precision, there = getattr(plain.curves["pr"], end), getattr(found.curves["pr"], end)
            hits = precision * (90 / 60) * (SHARE / (1 - SHARE))
            assert there == pytest.approx(hits / (hits + 1 - precision), rel=1e-9)


def test_a_band_at_a_level_of_nearly_0_is_the_curve() -> None:
    asked, how = BandOptions("pointwise", np.array([0.2, 0.5])), IntervalOptions(level=5e-324)
    found = evaluate_with_intervals(drawn(60, 90), OF_AREAS, how, band=asked).bands
    assert found is not None
    for each in found.curves.values():
        assert each.lower.tolist() == pytest.approx(each.value.tolist())
        assert each.upper.tolist() == pytest.approx(each.value.tolist())
