"""Rules on the mean over folds: LeDell, Petersen & van der Laan's variance in fractions, clusters, and what is said."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from service.curves.clusters import Clusters
from service.curves.sample import Sample
from service.inference.gate import Gate, evaluate_gate
from service.inference.intervals import IntervalOptions, exact_interval, logit_interval
from service.inference.metric import Metric
from service.inference.models import EvaluatedModel
from service.inference.rules import Rule
from service.inference.sliced import RowsInSlices, Slicing
from service.inference.verdicts import GateOptions
from tests import reference_inference

AT_LEAST = Rule("roc", min=0.6, confidence=0.95, folds=("fold",))
NO_DROP = Rule("roc", max_drop=0.2, confidence=0.95, folds=("fold",))


def drawn(rows: int, folds: int, seed: int = 1, shift: float = 1.2) -> tuple[Sample, np.ndarray]:
    """A sample in folds, each of whose models has scores of its own scale."""
    random = np.random.default_rng(seed)
    labels = np.arange(rows) % 2 == 0
    numbers = (np.arange(rows) // 2) % folds
    scores = np.round(random.standard_normal(rows) + shift * labels, 1) + 10.0 * numbers
    return Sample(scores, labels), numbers


def judged(
    rule: Rule,
    numbers: np.ndarray,
    sample: Sample,
    baseline: Sample | None = None,
    intervals: IntervalOptions | None = None,
) -> Gate:
    keys = {name: list(range(int(numbers.max()) + 1)) for name in rule.folds or ()}
    slicings = {rule.folds or (): RowsInSlices(Slicing(numbers, keys))}
    return evaluate_gate(sample, baseline, GateOptions((rule,), baseline is not None, intervals, slicings))


def placements(sample: Sample, rows: np.ndarray) -> reference_inference.Placements:
    return reference_inference.placements(sample.scores[rows].tolist(), sample.labels[rows].tolist())


def codes(gate: Gate) -> list[str]:
    return [warning.code for warning in gate.warnings]


def test_the_mean_and_its_variance_are_those_of_the_folds() -> None:
    sample, numbers = drawn(120, 3)
    (check,) = judged(AT_LEAST, numbers, sample).checks
    folds = [placements(sample, np.flatnonzero(numbers == fold)) for fold in range(3)]
    variance = sum(reference_inference.covariance(each, each) for each in folds) / 9
    areas = [EvaluatedModel.of(Sample(sample.scores[numbers == k], sample.labels[numbers == k])) for k in range(3)]
    values = [each.value(Metric("roc")) for each in areas]
    assert check.value == pytest.approx(math.fsum(value or 0 for value in values) / 3, rel=1e-15)
    assert check.interval is not None
    assert check.interval.standard_error == pytest.approx(math.sqrt(float(variance)), rel=1e-12)
    plain = logit_interval(check.value, math.sqrt(float(variance)), 0.95)
    perfect = exact_interval(1.0, 60, 0.95)
    assert check.interval.upper == pytest.approx(plain.upper, rel=1e-12)
    assert check.interval.lower == pytest.approx(min(plain.lower, perfect.lower), rel=1e-12)


def test_the_difference_on_the_same_folds() -> None:
    sample, numbers = drawn(120, 3)
    other = replace(sample, scores=np.round(sample.scores + np.random.default_rng(5).standard_normal(120), 1))
    (check,) = judged(NO_DROP, numbers, sample, other).checks
    variance = 0
    for fold in range(3):
        rows = np.flatnonzero(numbers == fold)
        variance += reference_inference.difference_variance(placements(sample, rows), placements(other, rows))
    error = math.sqrt(float(variance)) / 3
    assert check.interval is not None
    assert check.difference is not None
    assert check.interval.standard_error == pytest.approx(error, rel=1e-12)
    assert check.interval.lower == pytest.approx(check.difference - 1.959963984540054 * error, rel=1e-12)
    assert check.p_value == pytest.approx(math.erfc(abs(check.difference) / error / math.sqrt(2)), rel=1e-9)


def test_scores_of_different_models_are_not_compared() -> None:
    sample, numbers = drawn(200, 5)
    pooled = EvaluatedModel.of(sample).value(Metric("roc"))
    (check,) = judged(AT_LEAST, numbers, sample).checks
    assert check.status == "passed"
    assert pooled is not None
    assert check.value is not None
    assert pooled < 0.65
    assert check.value > 0.75


def test_a_cluster_for_each_row_changes_nothing_but_z() -> None:
    sample, numbers = drawn(120, 3)
    clusters = Clusters(np.arange(120), [str(each) for each in range(120)])
    (plain,), (found,) = (
        judged(AT_LEAST, numbers, each).checks for each in (sample, replace(sample, clusters=clusters))
    )
    assert plain.interval is not None
    assert found.interval is not None
    assert found.interval.standard_error == pytest.approx(plain.interval.standard_error, rel=1e-12)


@pytest.mark.parametrize("repeats", [2, 3])
def test_repeats_of_the_same_scores_count_each_example_once(repeats: int) -> None:
    sample, numbers = drawn(120, 3)
    once = Clusters(np.arange(120), [str(each) for each in range(120)])
    rows = np.tile(np.arange(120), repeats)
    copied = Sample(sample.scores[rows], sample.labels[rows], clusters=once.take(rows))
    folds = np.tile(numbers, repeats) + np.repeat(3 * np.arange(repeats), 120)
    rule = replace(AT_LEAST, folds=("repeat", "fold"))
    (plain,), (found,) = (
        judged(AT_LEAST, numbers, replace(sample, clusters=once)).checks,
        judged(rule, folds, copied).checks,
    )
    assert found.value == plain.value
    assert plain.interval is not None
    assert found.interval is not None
    assert found.interval.standard_error == pytest.approx(plain.interval.standard_error, rel=1e-12)
    assert (found.interval.lower, found.interval.upper) == pytest.approx((plain.interval.lower, plain.interval.upper))


def test_it_says_what_it_is_about() -> None:
    sample, numbers = drawn(200, 5)
    found = judged(AT_LEAST, numbers, sample)
    assert codes(found) == ["cross_validated"]
    assert "about the 5 models that were tested" in found.warnings[0].detail
    without = judged(replace(AT_LEAST, confidence=None), numbers, sample)
    assert codes(without) == ["cross_validated"]
    assert without.checks[0].interval is None


def test_no_signal_and_small_folds_are_warned_of() -> None:
    noise, numbers = drawn(200, 5, shift=0.0)
    found = judged(replace(AT_LEAST, min=0.1), numbers, noise)
    assert "narrow_interval" in codes(found)
    assert any("roc may be 0.5" in warning.detail for warning in found.warnings)
    few, numbers = drawn(60, 5)
    told = [warning.detail for warning in judged(AT_LEAST, numbers, few).warnings if warning.code == "narrow_interval"]
    why = "a fold has only 6 of a class, and 10 or more are needed"
    assert told == [f"The interval of roc averaged over fold may be too narrow: {why}."]


def test_perfect_folds_have_the_exact_interval_of_all_rows() -> None:
    labels = np.arange(40) % 2 == 0
    numbers = (np.arange(40) // 2) % 2
    (check,) = judged(AT_LEAST, numbers, Sample(labels + 5.0 * numbers, labels)).checks
    assert check.interval == exact_interval(1.0, 20, 0.95)
    level = judged(AT_LEAST, numbers, Sample(5.0 * numbers, labels))
    assert level.checks[0].interval is None
    assert level.status == "undecided"
    assert "interval_omitted" in codes(level)


def test_a_fold_of_one_positive_has_no_interval() -> None:
    labels = np.array([True, False, False, True, True, False, True, False])
    numbers = np.array([0, 0, 0, 1, 1, 1, 1, 1])
    found = judged(AT_LEAST, numbers, Sample(np.arange(8.0), labels))
    assert found.status == "undecided"
    assert "too_few_examples" in codes(found)


def test_equal_models_have_no_difference() -> None:
    sample, numbers = drawn(120, 3)
    (check,) = judged(NO_DROP, numbers, sample, sample).checks
    assert check.interval is not None
    assert (check.difference, check.interval.lower, check.interval.upper, check.p_value) == (0, 0, 0, 1)


def test_the_method_delong() -> None:
    sample, numbers = drawn(120, 3)
    (check,) = judged(AT_LEAST, numbers, sample, intervals=IntervalOptions(method="delong")).checks
    assert check.interval is not None
    assert check.interval.method == "delong"
    assert check.value is not None
    assert check.interval.standard_error is not None
    assert check.interval.lower == pytest.approx(check.value - 1.959963984540054 * check.interval.standard_error)
