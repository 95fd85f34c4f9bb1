"""Counts of draws with replacement: against single draws, and their distribution."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from service.inference import draws as module
from service.inference.draws import CROWD, KindDraws, SingleDraws, draws, poisson_cells
from tests import reference_bootstrap
from tests.support.strategies import examples

SEED = 5


def seed() -> np.random.SeedSequence:
    return np.random.SeedSequence(SEED)


def taken_together(sizes: np.ndarray, resamples: int) -> np.ndarray:
    """Single draws, counted by kind."""
    ends = np.concatenate(([0], np.cumsum(sizes))).astype(int)
    return np.add.reduceat(SingleDraws(int(ends[-1]), seed()).counts(resamples), ends[:-1], axis=1, dtype=np.int64)


@pytest.mark.parametrize("size", [1, 2, 9, 10, 11, 64, 103])
def test_as_one_draw_at_a_time(size: int) -> None:
    words, rare, missing = (np.random.PCG64(child) for child in seed().spawn(3))
    sixteen = (int(word) for _ in itertools.count() for word in words.random_raw(1).view(np.uint16))
    uniforms = iter(np.random.Generator(rare).random, None)
    generator = np.random.Generator(missing)
    indices = (int(generator.integers(0, size)) for _ in itertools.count())
    expected = [reference_bootstrap.draw(size, sixteen, uniforms, indices) for _ in range(40)]
    np.testing.assert_array_equal(SingleDraws(size, seed()).counts(40), expected)


@pytest.mark.parametrize("mean", [0.0, 1e-9, 0.05, 0.4, 0.7, 0.9, 0.9999, 1.0])
def test_the_two_draws_of_a_poisson_count_have_its_distribution(mean: float) -> None:
    cells, ends = poisson_cells(mean)
    rest = np.diff(ends, prepend=0.0) * (2**16 - sum(cells))
    rest[: len(cells)] += cells
    chances = np.array([float(chance) for chance in reference_bootstrap.poisson_chances(mean)])
    np.testing.assert_allclose(rest / 2**16, chances[: rest.size], rtol=0, atol=1e-15)
    assert chances[rest.size :].sum() < 2**-64
    assert 0 <= 2**16 - sum(cells) <= 2**16 * 0.005


def test_the_cells_of_a_poisson_count_by_hand() -> None:
    """2^16/e is 24109.35; the cells are its whole part, and those of a half, a sixth and a 24th of it."""
    assert poisson_cells(1.0)[0] == [24109, 24109, 12054, 4018, 1004]


@pytest.mark.parametrize("size", [3, 10, 40, 1_000])
def test_each_count_is_binomial(size: int) -> None:
    counts = SingleDraws(size, seed()).counts(200_000 // size).copy()
    assert (counts.sum(axis=1, dtype=np.int64) == size).all()
    # The counts of a resample are slightly dependent; only the last of a few kinds depends strongly on the others.
    seen = np.bincount(counts.ravel(), minlength=6)
    chances = stats.binom.pmf(np.arange(5), size, 1 / size)
    expected = counts.size * np.append(chances, stats.binom.sf(4, size, 1 / size))
    deviation = np.append(seen[:5], seen[5:].sum()) - expected
    assert (np.abs(deviation) <= 5 * np.sqrt(expected) + 1e-6).all()


@pytest.mark.parametrize("size", [5, 12, 30])
def test_counts_vary_together_as_multinomial_ones(size: int) -> None:
    counts = SingleDraws(size, seed()).counts(40_000).astype(np.float64)
    np.testing.assert_allclose(counts.mean(axis=0), 1, atol=5 / 200)
    expected = np.eye(size) - 1 / size
    np.testing.assert_allclose(np.cov(counts, rowvar=False), expected, atol=0.06)


@pytest.mark.parametrize("sizes", [[1, 2, 3], [40, 1, 7, 500, 2], [1] * 20, [33]])
def test_kinds_are_drawn_as_their_examples_are(sizes: list[int]) -> None:
    column = np.array(sizes, dtype=np.float64)
    resamples = 20_000
    singly, by_kind = taken_together(column, resamples), KindDraws(column, seed()).counts(resamples)
    size = column.sum()
    for counts in (singly, by_kind):
        assert (counts.sum(axis=1) == size).all()
        spread = np.sqrt(column * (1 - column / size))
        assert (np.abs(counts.mean(axis=0) - column) <= 5 * spread / np.sqrt(resamples)).all()
        np.testing.assert_allclose(counts.std(axis=0), spread, rtol=0.05)
    for one, other in zip(singly.T, by_kind.T, strict=True):
        if one.std() > 0:
            assert stats.ks_2samp(one, other, method="asymp").pvalue > 1e-4


@examples(40)
@given(size=st.integers(1, 200), parts=st.lists(st.integers(1, 30), min_size=1, max_size=6))
def test_the_number_requested_at_once_changes_nothing(size: int, parts: list[int]) -> None:
    at_once, in_parts = SingleDraws(size, seed()), SingleDraws(size, seed())
    expected = at_once.counts(sum(parts)).copy()
    np.testing.assert_array_equal(np.concatenate([in_parts.counts(part).copy() for part in parts]), expected)
    column = np.arange(1.0, size + 1)
    at_once, in_parts = KindDraws(column, seed()), KindDraws(column, seed())
    expected = at_once.counts(sum(parts))
    np.testing.assert_array_equal(np.concatenate([in_parts.counts(part) for part in parts]), expected)


@pytest.mark.parametrize("words", [4, 20, 1 << 20])
def test_the_size_of_pieces_changes_nothing(words: int, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = SingleDraws(1_003, seed()).counts(7).copy()
    monkeypatch.setattr(module, "_RANDOM_WORDS", words)
    np.testing.assert_array_equal(SingleDraws(1_003, seed()).counts(7), expected)


def test_what_is_drawn_depends_on_how_many_there_are_of_a_kind() -> None:
    kinds, drawn = draws(np.ones(6), seed())
    assert kinds is None
    assert isinstance(drawn, SingleDraws)
    kinds, drawn = draws(np.array([1.0, 3.0, 2.0]), seed())
    assert kinds is not None
    assert kinds.tolist() == [0, 1, 1, 1, 2, 2]
    assert drawn.counts(2).shape == (2, 6)
    kinds, drawn = draws(np.array([1.0, 2.0 * CROWD]), seed())
    assert kinds is None
    assert drawn.counts(2).shape == (2, 2)


def test_counts_up_to_the_last_whole_double() -> None:
    column = np.array([1.0, 2.0**52, 5.0, 2.0**52 - 6])
    counts = KindDraws(column, seed()).counts(2_000)
    assert (counts.sum(axis=1) == 2**53).all()
    assert (counts >= 0).all()
    np.testing.assert_allclose(counts.mean(axis=0), column, rtol=0.15)
    np.testing.assert_allclose(counts.std(axis=0), np.sqrt(column * (1 - column / 2**53)), rtol=0.1)
