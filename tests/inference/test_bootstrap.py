"""Replicates against resamples rebuilt one by one, and what must not change them."""

from __future__ import annotations

import tracemalloc
from collections.abc import Mapping
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.curves.confusion import ConfusionTable
from service.curves.counts import Counts
from service.curves.sample import Sample
from service.inference import bootstrap
from service.inference.bootstrap import can_resample, jackknife, replicates
from service.inference.draws import draws
from service.inference.strata import Strata
from tests import reference_bootstrap
from tests.inference.made import AREA_STATISTICS, listed, made, paired, strata_of
from tests.support.sampling import some
from tests.support.strategies import Data, examples, near_scores, samples, tied_scores, weighted_samples


def slowly(strata: Strata, evaluation: int, resamples: int, seed: int, stream: int = 0) -> list[dict[str, float]]:
    """The areas of each resample, evaluated as a sample."""
    drawn = []
    for number, stratum in enumerate((strata.positives, strata.negatives)):
        kinds, counts = draws(stratum.examples, np.random.SeedSequence(seed, spawn_key=(stream, number)))
        candidates = listed(stratum, evaluation, kinds)
        drawn.append([reference_bootstrap.drawn(candidates, row) for row in counts.counts(resamples).tolist()])
    return [reference_bootstrap.areas(positives, negatives) for positives, negatives in zip(*drawn, strict=True)]


def assert_same(found: Mapping[str, np.ndarray], expected: Mapping[str, np.ndarray]) -> None:
    assert list(found) == list(expected)
    for name in found:
        np.testing.assert_array_equal(found[name], expected[name])


@examples(60)
@given(st.one_of(samples(tied_scores), samples(near_scores), weighted_samples()), st.integers(0, 3))
def test_replicates_are_the_areas_of_the_resamples(data: Data, stream: int) -> None:
    examined = strata_of(data.sample())
    found = replicates(examined, AREA_STATISTICS, 4, 7, stream)
    expected = slowly(examined, 0, 4, 7, stream)
    for name in AREA_STATISTICS:
        np.testing.assert_allclose(found[name][0], [areas[name] for areas in expected], rtol=1e-9, err_msg=name)


@examples(40)
@given(st.one_of(samples(tied_scores), weighted_samples()), st.randoms(use_true_random=False))
def test_both_evaluations_see_the_same_resamples(data: Data, random: st.random.Random) -> None:
    other = replace(data, scores=random.sample(data.scores, len(data.scores)))
    examined = paired(data.sample(), other.sample())
    found = replicates(examined, AREA_STATISTICS, 3, 7)
    for evaluation in (0, 1):
        expected = slowly(examined, evaluation, 3, 7)
        for name in AREA_STATISTICS:
            np.testing.assert_allclose(found[name][evaluation], [areas[name] for areas in expected], rtol=1e-9)


def test_counts_are_resampled_as_their_kinds() -> None:
    counts = Counts(np.array([3.0, 3.0, 100.0, 140.0]), np.array([0.0, 40.0, 41.0, 95.0]), 150.0, 95.0)
    examined = strata_of(counts)
    found = replicates(examined, AREA_STATISTICS, 30, 3)
    expected = slowly(examined, 0, 30, 3)
    for name in AREA_STATISTICS:
        np.testing.assert_allclose(found[name][0], [areas[name] for areas in expected], rtol=1e-9)


@pytest.mark.parametrize("weights", [False, True])
def test_the_order_of_rows_changes_nothing(*, weights: bool) -> None:
    sample, other = made(200, levels=3, weights=weights), made(200, levels=4, seed=2)
    other = replace(other, labels=sample.labels, weights=sample.weights)
    order = np.random.default_rng(3).permutation(200)

    def shuffled(sample: Sample) -> Sample:
        return Sample(sample.scores[order], sample.labels[order], None if not weights else sample.weights[order])

    assert_same(
        replicates(strata_of(shuffled(sample)), AREA_STATISTICS, 20, 1),
        replicates(strata_of(sample), AREA_STATISTICS, 20, 1),
    )
    assert_same(
        replicates(paired(shuffled(sample), shuffled(other)), AREA_STATISTICS, 20, 1),
        replicates(paired(sample, other), AREA_STATISTICS, 20, 1),
    )


def test_a_sample_and_its_counts_have_the_same_resamples() -> None:
    sample = made(300, levels=5)
    table = ConfusionTable.of(sample)
    counts = Counts(table.tp, table.fp, table.positives, table.negatives)
    assert_same(
        replicates(strata_of(counts), AREA_STATISTICS, 20, 1), replicates(strata_of(sample), AREA_STATISTICS, 20, 1)
    )


@pytest.mark.parametrize(("share", "tile"), some(product([0.5, 0.01], [1, 1_000, 1 << 30]), 2))
def test_the_size_of_blocks_changes_nothing(tile: int, share: float, monkeypatch: pytest.MonkeyPatch) -> None:
    for sample in (made(403, share), made(403, share, weights=True), made(4_003, share, levels=1)):
        examined = strata_of(sample)
        expected = replicates(examined, AREA_STATISTICS, 37, 1)
        left_out = jackknife(examined, AREA_STATISTICS, 1)
        with monkeypatch.context() as patched:
            patched.setattr(bootstrap, "_BLOCK_NUMBERS", tile)
            assert_same(replicates(examined, AREA_STATISTICS, 37, 1), expected)
            for name, ((positives, negatives),) in jackknife(examined, AREA_STATISTICS, 1).items():
                np.testing.assert_array_equal(positives.values, left_out[name][0][0].values)
                np.testing.assert_array_equal(negatives.values, left_out[name][0][1].values)


def test_fewer_resamples_are_the_first_ones_and_other_statistics_change_nothing() -> None:
    examined = strata_of(made(100))
    both = replicates(examined, AREA_STATISTICS, 50, 1)
    for name, statistic in AREA_STATISTICS.items():
        np.testing.assert_array_equal(replicates(examined, {name: statistic}, 20, 1)[name], both[name][:, :20])
    assert replicates(examined, {}, 20, 1) == {}


def test_seeds_and_streams() -> None:
    examined = strata_of(made(100))

    def roc(seed: int, stream: int = 0) -> np.ndarray:
        return replicates(examined, {"roc": "roc"}, 4_000, seed, stream)["roc"][0]

    np.testing.assert_array_equal(roc(1), roc(1))
    for other in (roc(2), roc(1, stream=1), roc(2**200)):
        assert abs(np.corrcoef(roc(1), other)[0, 1]) < 5 / np.sqrt(4_000)


def test_scaling_all_weights_changes_nothing() -> None:
    sample = made(150, weights=True)
    found = replicates(strata_of(sample), AREA_STATISTICS, 50, 1)
    twice = replicates(strata_of(replace(sample, weights=sample.weights * 2)), AREA_STATISTICS, 50, 1)
    assert_same(twice, found)
    for scale in (3.7, 1e140, 1e-140):
        scaled = replicates(strata_of(replace(sample, weights=sample.weights * scale)), AREA_STATISTICS, 50, 1)
        for name in AREA_STATISTICS:
            np.testing.assert_allclose(scaled[name], found[name], rtol=1e-12)


def test_scores_that_are_all_tied() -> None:
    sample = Sample(np.zeros(30), np.arange(30) < 10)
    found = replicates(strata_of(sample), AREA_STATISTICS, 20, 1)
    np.testing.assert_array_equal(found["roc"], np.full((1, 20), 0.5))
    for name in ("pr", "average_precision"):
        np.testing.assert_allclose(found[name], np.full((1, 20), 1 / 3), rtol=1e-12)


@pytest.mark.parametrize("sample", [made(400), made(400, 0.1, weights=True), made(2_000, levels=2)])
def test_replicates_spread_as_delong_says(sample: Sample) -> None:
    """DeLong's variance, in its weighted form: Σ_classes m/(m-1) Σ w² (u - ū)² / (Σ w)²."""
    weights = np.ones(sample.rows) if sample.weights is None else sample.weights
    positives, negatives = np.flatnonzero(sample.labels), np.flatnonzero(~sample.labels)
    wins = (1 + np.sign(sample.scores[positives, None] - sample.scores[negatives])) / 2
    variance = 0.0
    for u, w in (
        (wins @ weights[negatives] / weights[negatives].sum(), weights[positives]),
        (weights[positives] @ wins / weights[positives].sum(), weights[negatives]),
    ):
        variance += w.size / (w.size - 1) * (w**2 @ (u - w @ u / w.sum()) ** 2) / w.sum() ** 2
    values = replicates(strata_of(sample), {"roc": "roc"}, 10_000, 1)["roc"][0]
    assert values.std(ddof=1) == pytest.approx(np.sqrt(variance), rel=0.05)
    assert values.mean() == pytest.approx(
        weights[positives] @ wins @ weights[negatives] / np.outer(weights[positives], weights[negatives]).sum(),
        abs=5 * np.sqrt(variance) / 100,
    )


def test_paired_with_itself_a_model_has_no_difference() -> None:
    sample = made(100, weights=True)
    for values in replicates(paired(sample, sample), AREA_STATISTICS, 20, 1).values():
        np.testing.assert_array_equal(values[0], values[1])


def test_a_function_of_rows_is_asked_for_each_resample() -> None:
    """Runs of negatives are one step, so a row is found by where it is, not by its number."""
    sample = made(60, levels=2)
    table = ConfusionTable.of(sample)
    row = int(np.flatnonzero(np.diff(table.tp) > 0)[2]) + 1
    before = float(table.tp[row] - table.tp[row - 1])

    def steepest(tp: np.ndarray, fp: np.ndarray) -> float:
        assert (tp[0], fp[0], tp[-1], fp[-1]) == (0, 0, table.positives, table.negatives)
        assert tp.size <= table.tp.size
        return float(np.diff(tp).max())

    found = replicates(strata_of(sample), {"most": steepest}, 200, 1)["most"][0]
    assert before <= found.max() <= table.positives
    assert np.unique(found).size > 2


def test_what_can_be_resampled() -> None:
    assert can_resample(strata_of(made(10)))
    assert can_resample(strata_of(Counts(np.array([3.0]), np.array([2.0]), 2.0**53, 9.0)))
    assert not can_resample(strata_of(Counts(np.array([3.0]), np.array([2.0]), 2.0**54, 9.0)))
    assert not can_resample(strata_of(Counts(np.array([3.5]), np.array([2.0]), 7.0, 9.0)))


def test_memory_does_not_grow_with_resamples() -> None:
    examined = strata_of(made(100_000))
    peaks = []
    for resamples in (5, 40):
        tracemalloc.start()
        replicates(examined, AREA_STATISTICS, resamples, 1)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.1 * peaks[0] < 10e6
