"""DeLong's standard errors against exact fractions over all pairs, and the laws that they obey."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.stats import rankdata

from service.curves.areas import roc_area
from service.curves.confusion import ConfusionTable
from service.curves.counts import Counts
from service.curves.sample import Sample
from service.inference.spread import paired_spread, standard_error, unpaired_spread
from service.inference.strata import paired_strata
from tests import reference_inference as reference
from tests.inference.made import pair_of, strata_of
from tests.support.strategies import Data, examples, near_scores, plain_weights, samples, tied_scores, tilted_samples

zero_weights = st.sampled_from([0.0, 0.5, 1.0, 3.0])
scores = st.one_of(tied_scores, near_scores, st.integers(0, 9).map(float))


def enough(data: Data) -> bool:
    """Whether both classes have an effective size of two or more."""
    return strata_of(data.sample()).enough


def plenty(weight: st.SearchStrategy[float] | None = None) -> st.SearchStrategy[Data]:
    """Samples with enough examples."""
    return samples(scores, weight).filter(enough)


any_samples = st.one_of(plenty(), plenty(plain_weights), plenty(zero_weights))


@st.composite
def pairs(draw: st.DrawFn) -> tuple[Data, Data]:
    """Two samples of the same examples, often nearly the same."""
    one = draw(any_samples)
    if draw(st.booleans()):
        return one, replace(one, scores=draw(st.lists(scores, min_size=len(one.scores), max_size=len(one.scores))))
    column = list(one.scores)
    column[draw(st.integers(0, len(column) - 1))] = draw(scores)
    return one, replace(one, scores=column)


def by_pairs(data: Data) -> reference.Placements:
    return reference.placements(data.scores, data.labels, data.weights, lower_is_positive=data.lower_is_positive)


def error_of(data: Data) -> float:
    return standard_error(strata_of(data.sample()))


@examples(200)
@given(st.one_of(any_samples, tilted_samples().filter(enough)))
def test_against_all_pairs(data: Data) -> None:
    placed = by_pairs(data)
    expected = float(reference.root(reference.covariance(placed, placed)))
    # Weights are summed in doubles, so a variance of 0 may come out as about 1e-17.
    assert error_of(data) == pytest.approx(expected, rel=1e-12, abs=1e-30 if data.weights is None else 1e-15)


@examples(200)
@given(pairs())
def test_pairs_against_all_pairs(data: tuple[Data, Data]) -> None:
    pair = pair_of(data)
    one, other = (by_pairs(each) for each in data)
    expected = float(reference.root(reference.difference_variance(one, other)))
    tiny = 1e-30 if data[0].weights is None else 1e-15
    spread = paired_spread(pair)
    assert spread.error == pytest.approx(expected, rel=1e-12, abs=tiny)
    assert spread.errors == pytest.approx([error_of(each) for each in data], rel=1e-12, abs=tiny)


@examples(60)
@given(any_samples, any_samples)
def test_variances_add_where_examples_differ(one: Data, other: Data) -> None:
    expected = reference.root(sum((reference.covariance(p, p) for p in map(by_pairs, (one, other))), Fraction(0)))
    found = unpaired_spread(strata_of(one.sample()), strata_of(other.sample())).error
    assert found == pytest.approx(float(expected), rel=1e-12, abs=1e-15)


@examples(80)
@given(any_samples)
def test_mean_placements_are_the_area(data: Data) -> None:
    """A check of the reference: 'the mean of either class is the Wilcoxon statistic'."""
    placed = by_pairs(data)
    total = sum(w for w, _ in placed.negatives)
    assert placed.area == sum(w * v for w, v in placed.negatives) / total
    assert roc_area(ConfusionTable.of(data.sample())) == pytest.approx(float(placed.area), rel=1e-14, abs=1e-300)


@examples(80)
@given(any_samples, st.randoms(use_true_random=False))
def test_order_of_rows_changes_nothing(data: Data, random: object) -> None:
    order = list(range(len(data.scores)))
    random.shuffle(order)  # type: ignore[attr-defined] # a random.Random
    assert error_of(data.rows(order)) == error_of(data)


@examples(80)
@given(pairs(), st.randoms(use_true_random=False))
def test_order_of_paired_rows_changes_nothing(data: tuple[Data, Data], random: object) -> None:
    order = list(range(len(data[0].scores)))
    random.shuffle(order)  # type: ignore[attr-defined] # a random.Random
    shuffled = data[0].rows(order), data[1].rows(order)
    assert paired_spread(pair_of(shuffled)) == paired_spread(pair_of(data))


@examples(80)
@given(plenty(plain_weights), st.floats(1e-140, 1e140))
def test_scale_of_weights_changes_nothing(data: Data, scale: float) -> None:
    scaled = replace(data, weights=[weight * scale for weight in data.weights or []])
    assert error_of(scaled) == pytest.approx(error_of(data), rel=1e-12, abs=1e-15)


@examples(80)
@given(plenty(plain_weights), st.integers(-400, 400))
def test_powers_of_two_change_no_bit(data: Data, power: int) -> None:
    scaled = replace(data, weights=[math.ldexp(weight, power) for weight in data.weights or []])
    assert error_of(scaled) == error_of(data)


@examples(80)
@given(plenty(), plain_weights)
def test_equal_weights_count_as_none(data: Data, weight: float) -> None:
    one, weighted = (replace(data, weights=[w] * len(data.scores)) for w in (1.0, weight))
    assert error_of(one) == error_of(data)
    assert error_of(weighted) == pytest.approx(error_of(data), rel=1e-13, abs=1e-15)


@examples(80)
@given(any_samples)
def test_other_direction_of_scores_changes_nothing(data: Data) -> None:
    mirrored = replace(data, scores=[-s for s in data.scores], lower_is_positive=not data.lower_is_positive)
    assert error_of(mirrored) == error_of(data)


@examples(80)
@given(any_samples)
def test_swapped_classes_have_the_same_error(data: Data) -> None:
    """The area becomes 1 - area with the same error; if the scores are negated, too, the area stays the same."""
    swapped = replace(data, labels=[not label for label in data.labels])
    turned = replace(swapped, lower_is_positive=not data.lower_is_positive)
    for other in (swapped, turned):
        assert error_of(other) == pytest.approx(error_of(data), rel=1e-12, abs=1e-15)


@examples(80)
@given(plenty())
def test_counts_are_the_sample_grouped(data: Data) -> None:
    table = ConfusionTable.of(data.sample())
    counts = Counts(table.tp, table.fp, table.positives, table.negatives)
    assert standard_error(strata_of(counts)) == error_of(data)


@examples(80)
@given(pairs())
def test_pairs_either_way_round(data: tuple[Data, Data]) -> None:
    one, other = pair_of(data), pair_of(data[::-1])
    assert paired_spread(one).error == pytest.approx(paired_spread(other).error, rel=1e-13, abs=1e-16)


@examples(80)
@given(any_samples)
def test_a_sample_does_not_differ_from_itself(data: Data) -> None:
    pair = pair_of((data, data))
    assert paired_spread(pair).error == 0


@examples(80)
@given(pairs())
def test_correlation_is_at_most_one(data: tuple[Data, Data]) -> None:
    """The error of a difference lies between the difference and the sum of the two errors."""
    pair = pair_of(data)
    spread = paired_spread(pair)
    one, other = spread.errors
    assert abs(one - other) * (1 - 1e-12) - 1e-15 <= spread.error <= (one + other) * (1 + 1e-12)


@examples(60)
@given(plenty(), st.integers(2, 4))
def test_every_example_again(data: Data, times: int) -> None:
    """If each of m examples is there k times, the variance of a class is (m - 1)/(k m - 1) of what it was."""
    again = replace(data, scores=data.scores * times, labels=data.labels * times)
    placed = by_pairs(data)
    expected = Fraction(0)
    for column in (placed.positives, placed.negatives):
        of_class = reference._of_class(column, column)
        expected += of_class * Fraction(len(column) - 1, times * len(column) - 1)
    assert error_of(again) == pytest.approx(math.sqrt(expected), rel=1e-12)


@pytest.mark.parametrize("area", [0, 1])
@pytest.mark.parametrize("weights", [None, [0.1, 0.2, 0.3, 0.7, 1.1]])
def test_without_any_spread(area: int, weights: list[float] | None) -> None:
    """All placements of a class are equal: 0, 1, or 1/2 if all scores are tied."""
    apart = Data([3, 2, 2, 1, 0], [True, True, True, False, False], weights)
    data = replace(apart, lower_is_positive=area == 0)
    tied = replace(apart, scores=[7.0] * 5)
    assert roc_area(ConfusionTable.of(data.sample())) == area
    assert error_of(data) == error_of(tied) == 0
    assert paired_spread(pair_of((data, tied))).error == 0


def test_constant_differences_of_no_dyadic_fraction() -> None:
    """Placements are thirds: each differs by as much in the other evaluation, so the difference has no spread."""
    labels = [True, True, False, False, False]
    one, other = Data([5, 5, 6, 4, 4], labels), Data([5, 5, 6, 6, 4], labels)
    pair = pair_of((one, other))
    positives = [a - b for (_, a), (_, b) in zip(by_pairs(one).positives, by_pairs(other).positives, strict=True)]
    assert positives == [Fraction(1, 3)] * 2
    expected = reference.difference_variance(by_pairs(one), by_pairs(other))
    assert paired_spread(pair).error == pytest.approx(float(reference.root(expected)), rel=1e-14)


def test_one_pair_out_of_order_among_many() -> None:
    """Near an area of 1 the error keeps its digits: of n positives and n negatives, one pair is in the wrong order.

    Placements are 0 but for one of each class, which is 1/n: the variance is 2/(n^2 n^2) for a mean of 1/n^2.
    """
    size = 100_000
    scores = np.arange(2.0 * size)
    labels = scores >= size
    labels[[size - 1, size]] = labels[[size, size - 1]]
    sample = Sample(scores, labels)
    expected = 2 * Fraction(1, size**2) * Fraction(size, size - 1) * (1 - Fraction(1, size)) / size**2
    for lower_is_positive in (False, True):
        turned = replace(sample, lower_is_positive=lower_is_positive)
        found = standard_error(strata_of(turned)) ** 2
        assert found == pytest.approx(float(expected), rel=1e-12)


def test_counts_as_large_as_doubles_hold() -> None:
    """One row in the middle of 2^53 of each class; placements have only two values, so the variance is binomial."""
    total = 2**53
    hits, misses = 3 * 2**51, 2**51 + 1
    counts = Counts(np.array([hits], float), np.array([misses], float), float(total), float(total))
    spread = Fraction(1, 4)  # placements are misses/2 and (misses + total)/2, over the total: they differ by 1/2
    expected = Fraction(0)
    for part in (hits, misses):
        share = Fraction(part, total)
        expected += spread * share * (1 - share) / (total - 1)
    found = standard_error(strata_of(counts)) ** 2
    assert found == pytest.approx(float(expected), rel=1e-13)


def test_weights_far_apart() -> None:
    """The squares of small placements are below the range of a double, but the error is not."""
    labels = [True, True, False, True, False, False]
    data = Data([3, 3, 2, 1, 0, -1], labels, [1.0, 1.0, 1.0, 1e-140, 1.0, 1.0])
    placed = by_pairs(data)
    expected = reference.root(reference.covariance(placed, placed))
    tiny = replace(data, weights=[1.0, 1.0, 1e-140, 1e-140, 1.0, 1.0])
    assert error_of(data) == pytest.approx(float(expected), rel=1e-12)
    placed = by_pairs(tiny)
    assert error_of(tiny) == pytest.approx(float(reference.root(reference.covariance(placed, placed))), rel=1e-12)


@pytest.mark.parametrize("levels", [None, 1000])
def test_many_rows(levels: int | None, *, runs_all: bool) -> None:
    """Exact in integers, from SciPy's midranks (Sun & Xu 2014): 2 N u = 2 (rank - rank in the class)."""
    random = np.random.default_rng(7)
    size = 1_000_000 if runs_all else 50_000
    labels = random.random(size) < 0.3
    merit = random.normal(size=size) + labels
    columns = [merit + width * random.normal(size=size) for width in (1.0, 0.5)]
    if levels:
        columns = [np.round(column * levels) / levels for column in columns]
    one, other = (Sample(column, labels) for column in columns)
    tables = ConfusionTable.of(one), ConfusionTable.of(other)
    placed = []
    for column in columns:
        ranks = rankdata(column)
        placed.append([(2 * (ranks[of] - rankdata(column[of]))).astype(np.int64) for of in (labels, ~labels)])
    totals = [int((~labels).sum()), int(labels.sum())]
    pair = paired_strata((one, other), tables)
    spread = paired_spread(pair)
    for of_one, error in zip(placed, spread.errors, strict=True):
        expected = sum(map(_exact_variance, of_one, totals), Fraction(0))
        assert error**2 == pytest.approx(float(expected), rel=1e-12)
    differences = [a - b for a, b in zip(*placed, strict=True)]
    expected = sum(map(_exact_variance, differences, totals), Fraction(0))
    assert spread.error**2 == pytest.approx(float(expected), rel=1e-12)


def _exact_variance(twice: np.ndarray, total: int) -> Fraction:
    size, first = twice.size, int(twice.sum())
    second = sum(int((part.astype(np.uint64) ** 2).sum()) for part in np.array_split(np.abs(twice), 8))
    return (second - Fraction(first * first, size)) / (size * (size - 1) * (2 * total) ** 2)


@examples(60)
@given(pairs())
def test_identical_rankings_have_identical_placements(data: tuple[Data, Data]) -> None:
    pair = pair_of(data)
    assume(all(np.array_equal(*each.rows) for each in pair.classes))
    assert paired_spread(pair).error == 0
