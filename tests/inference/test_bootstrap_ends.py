"""The ends of bootstrap intervals: against scipy, and against quantiles and Efron's formula in exact arithmetic."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from service.curves.areas import roc_area
from service.curves.confusion import ConfusionTable
from service.curves.counts import Counts
from service.curves.sample import Sample
from service.inference import bootstrap
from service.inference.bootstrap import LeftOut, bca_ends, jackknife, percentile_ends, replicates
from tests import reference_bootstrap, reference_pr
from tests.inference.made import AREA_STATISTICS, listed, made, paired, strata_of
from tests.support.sampling import some
from tests.support.strategies import Data, Rows, examples, samples, tied_scores


@examples(60)
@given(st.lists(st.floats(-1, 1), min_size=1, max_size=40), st.floats(0.01, 0.999))
def test_percentile_ends_are_quantiles(values: list[float], level: float) -> None:
    ends = percentile_ends(np.array(values), level)
    expected = [reference_bootstrap.quantile(values, share) for share in ((1 - level) / 2, (1 + level) / 2)]
    assert ends == pytest.approx(expected, abs=1e-12)
    assert ends == pytest.approx(np.quantile(values, [(1 - level) / 2, (1 + level) / 2]), abs=1e-12)


def test_an_end_that_undefined_replicates_decide_is_undefined() -> None:
    values = np.linspace(0, 1, 101)
    values[40:42] = np.nan
    assert percentile_ends(values, 0.9) == pytest.approx((0.03, 0.97))
    values[40:50] = np.nan
    lower, upper = percentile_ends(values, 0.9)
    assert np.isnan(lower)
    assert np.isnan(upper)
    assert all(np.isnan(bca_ends(values, 0.5, [], 0.9)))


@pytest.mark.parametrize("level", [0.8, 0.95, 0.99])
@pytest.mark.parametrize("share", [0.3, 0.5, 0.8])
def test_bca_is_scipy_s(level: float, share: float) -> None:
    """From scipy's own replicates, so that only the jackknife and the formula are ours."""
    sample = made(40, share, levels=5)

    def area(positives: np.ndarray, negatives: np.ndarray) -> float:
        return (1 + np.sign(positives[:, None] - negatives).mean()) / 2

    both = sample.scores[sample.labels], sample.scores[~sample.labels]
    theirs = stats.bootstrap(
        both,
        area,
        n_resamples=999,
        vectorized=False,
        method="BCa",
        confidence_level=level,
        rng=np.random.default_rng(1),
    )
    estimate = roc_area(ConfusionTable.of(sample))
    left_out = jackknife(strata_of(sample), AREA_STATISTICS, 1)["roc"][0]
    ours = bca_ends(theirs.bootstrap_distribution, estimate, left_out, level)
    assert ours == pytest.approx(theirs.confidence_interval, abs=1e-12)
    ours = bca_ends(replicates(strata_of(sample), AREA_STATISTICS, 9_999, 1)["roc"][0], estimate, left_out, level)
    assert ours == pytest.approx(theirs.confidence_interval, abs=0.03)


@examples(40)
@given(samples(tied_scores, most=14), st.integers(0, 9))
def test_bca_is_efrons_formula(data: Data, seed: int) -> None:
    examined = strata_of(data.sample())
    both = [
        listed(each, 0, np.repeat(np.arange(each.examples.size), each.examples.astype(int)))
        for each in (examined.positives, examined.negatives)
    ]
    if min(map(len, both)) < 2:
        return
    estimate = reference_bootstrap.areas(*both)
    without = reference_bootstrap.without_each(*both)
    left_out = jackknife(examined, AREA_STATISTICS, 1)
    values = replicates(examined, AREA_STATISTICS, 99, seed)
    for name in AREA_STATISTICS:
        for ours, theirs in zip(left_out[name][0], without, strict=True):
            repeated = np.repeat(ours.values, ours.examples.astype(int))
            np.testing.assert_allclose(repeated, [areas[name] for areas in theirs], rtol=1e-9)
        column = np.where(np.isclose(values[name][0], estimate[name], rtol=1e-9), estimate[name], values[name][0])
        ends = bca_ends(column, estimate[name], left_out[name][0], 0.9)
        spread = max(np.ptp(each.values) for each in left_out[name][0])
        if not np.isnan(ends).any() and spread > 1e-6:
            expected = reference_bootstrap.bca_ends(
                column.tolist(), estimate[name], [[areas[name] for areas in theirs] for theirs in without], 0.9
            )
            assert ends == pytest.approx(expected, abs=1e-8)


def test_bca_where_there_is_nothing_to_correct() -> None:
    same = LeftOut(np.full(3, 0.5), np.ones(3))
    assert bca_ends(np.full(9, 0.5), 0.5, [same, same], 0.9) == (0.5, 0.5)
    for estimate in (0.1, 0.9):
        assert all(np.isnan(bca_ends(np.full(9, 0.5), estimate, [same, same], 0.9)))
    # Φ of a huge negative number: the ends are still among the replicates.
    steep = LeftOut(np.array([0.0, 1.0]), np.array([1.0, 99.0]))
    lower, upper = bca_ends(np.linspace(0, 1, 100), 0.999, [steep], 0.9999)
    assert 0 <= lower <= upper <= 1


def heavy(sample: Sample) -> Sample:
    """The same sample, except that a few examples have most of the weight."""
    assert sample.weights is not None
    weights = sample.weights.copy()
    weights[::400] *= 60
    return replace(sample, weights=weights)


@pytest.mark.parametrize(
    "sample",
    some(
        [
            heavy(made(3_000, 0.4, weights=True)),
            made(3_000, 0.4),
            made(3_000, 0.4, weights=True),
            made(3_000, 0.4, levels=400),
            made(80_000, 0.5, levels=100),
        ],
        4,
    ),
)
def test_many_examples_are_left_out_in_groups(sample: Sample, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every example is in exactly one group; the sums of groups have the skewness of what is summed."""
    examined = strata_of(sample)
    few = jackknife(examined, AREA_STATISTICS, 1)
    with monkeypatch.context() as patched:
        patched.setattr(bootstrap, "MOST_LEFT_OUT", 10**9)
        all_of_them = jackknife(examined, AREA_STATISTICS, 1)
    for stratum in examined.classes:
        parts = list(bootstrap._parts(stratum.examples, np.random.SeedSequence(1)))
        np.testing.assert_array_equal(np.sum(parts, axis=0), stratum.examples)
    for name in AREA_STATISTICS:
        accelerations = [bootstrap._acceleration(found[name][0]) for found in (few, all_of_them)]
        assert accelerations[0] == pytest.approx(accelerations[1], abs=0.003)


def test_paired_differences_have_a_jackknife_too() -> None:
    one, other = made(80, levels=4), made(80, levels=4, seed=2)
    examined = paired(one, replace(other, labels=one.labels))
    alone = jackknife(strata_of(one), AREA_STATISTICS, 1)["roc"][0]
    for both, single in zip(jackknife(examined, AREA_STATISTICS, 1)["roc"][0], alone, strict=True):
        np.testing.assert_allclose(
            np.repeat(both.values, both.examples.astype(int)), np.repeat(single.values, single.examples.astype(int))
        )


@pytest.mark.parametrize("last", [255.0, 300.0])
def test_the_jackknife_of_small_and_of_large_counts(last: float) -> None:
    """Above 255 of a kind, other sums are used, of doubles."""
    examined = strata_of(Counts(np.array([3.0, 9.0]), np.array([2.0, 4.0]), 9.0 + last, 7.0))
    positives = jackknife(examined, AREA_STATISTICS, 1)["pr"][0][0]
    assert positives.examples.tolist() == [3.0, 6.0, last]
    for value, gone in zip(positives.values, np.eye(3), strict=True):
        tp = np.cumsum(positives.examples - gone)
        table = Rows(tp.tolist(), [2.0, 4.0, 7.0], tp[-1], 7.0).table()
        assert value == pytest.approx(float(reference_pr.pr_area(table)), rel=1e-9)
