"""The examples by class: kinds in the same order, whatever the input's order and form."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.curves.confusion import ConfusionTable
from service.curves.counts import Counts
from service.curves.sample import Sample
from service.inference import strata as module
from service.inference.strata import Strata, Stratum, paired_strata, rows_of, strata
from tests.inference.made import pair_of, strata_of
from tests.support.strategies import Data, examples, plain_weights, samples, tied_scores, weighted_samples

zero_weights = st.sampled_from([0.0, 0.0, 0.5, 1.0, 3.0])
any_samples = st.one_of(samples(), samples(tied_scores), weighted_samples(), samples(tied_scores, zero_weights))


@st.composite
def pairs(draw: st.DrawFn, weight: st.SearchStrategy[float] | None = None) -> tuple[Data, Data]:
    """Two samples of the same examples, with many tied scores."""
    one = draw(samples(st.one_of(tied_scores, st.integers(0, 5).map(float)), weight))
    column = draw(st.lists(st.integers(0, 5).map(float), min_size=len(one.scores), max_size=len(one.scores)))
    return one, replace(one, scores=column, lower_is_positive=draw(st.booleans()))


def same(one: Strata, other: Strata) -> None:
    """Equal to the last bit; weights that are all 1 may also be left out."""
    assert one.table_rows == other.table_rows
    for a, b in zip(one.classes, other.classes, strict=True):
        assert [rows.tolist() for rows in a.rows] == [rows.tolist() for rows in b.rows]
        assert a.examples.tolist() == b.examples.tolist()
        weights = [np.ones(each.examples.size) if each.weights is None else each.weights for each in (a, b)]
        assert weights[0].tolist() == weights[1].tolist()


def row_by_hand(data: Data, index: int) -> int:
    """How many distinct scores, among examples with any weight, are at or beyond this one."""
    sign = -1 if data.lower_is_positive else 1
    weights = data.weights or [1.0] * len(data.scores)
    there = {sign * s for s, w in zip(data.scores, weights, strict=True) if w > 0}
    return sum(score >= sign * data.scores[index] for score in there)


@examples(150)
@given(any_samples)
def test_rows_are_where_examples_are_first_called_positive(data: Data) -> None:
    sample = data.sample()
    table, rows = ConfusionTable.from_sample_with_rows(sample)
    found = rows_of(sample, table)
    for index, weight in enumerate(data.weights or [1.0] * sample.rows):
        if weight > 0:
            assert found[index] == rows[index] == row_by_hand(data, index)
        else:
            assert rows[index] == 0


@examples(100)
@given(any_samples)
def test_a_table_with_rows_is_the_table(data: Data) -> None:
    sample = data.sample()
    plain, (with_rows, _) = ConfusionTable.of(sample), ConfusionTable.from_sample_with_rows(sample)
    for name in ("thresholds", "tp", "fp"):
        np.testing.assert_array_equal(getattr(plain, name), getattr(with_rows, name))
    for name in ("positives", "negatives", "lower_is_positive", "counted"):
        assert getattr(plain, name) == getattr(with_rows, name)


@examples(80)
@given(samples(tied_scores), st.lists(tied_scores, min_size=1, max_size=4))
def test_rows_of_a_table_that_was_cut(data: Data, cuts: list[float]) -> None:
    sample = data.sample()
    table = ConfusionTable.of(sample).at_thresholds(np.array(cuts))
    rows = rows_of(sample, table)
    assert np.bincount(rows[sample.labels], minlength=table.tp.size).cumsum().tolist() == table.tp.tolist()
    assert np.bincount(rows[~sample.labels], minlength=table.fp.size).cumsum().tolist() == table.fp.tolist()


@examples(100)
@given(any_samples)
def test_kinds_sum_to_the_table(data: Data) -> None:
    sample = data.sample()
    table = ConfusionTable.of(sample)
    for stratum, column in zip(strata(sample, table).classes, (table.tp, table.fp), strict=True):
        sums = np.bincount(stratum.rows[0], stratum.masses, table.tp.size).cumsum()
        np.testing.assert_allclose(sums, column, rtol=1e-14)


@examples(100)
@given(any_samples, st.randoms(use_true_random=False))
def test_order_of_rows_leaves_no_trace(data: Data, random: object) -> None:
    order = list(range(len(data.scores)))
    random.shuffle(order)  # type: ignore[attr-defined] # a random.Random
    same(strata_of(data.sample()), strata_of(data.rows(order).sample()))


@examples(100)
@given(pairs(zero_weights), st.randoms(use_true_random=False))
def test_order_of_paired_rows_leaves_no_trace(data: tuple[Data, Data], random: object) -> None:
    order = list(range(len(data[0].scores)))
    random.shuffle(order)  # type: ignore[attr-defined] # a random.Random
    same(pair_of(data), pair_of((data[0].rows(order), data[1].rows(order))))


@examples(100)
@given(samples(tied_scores))
def test_weights_of_one_count_as_none(data: Data) -> None:
    same(strata_of(data.sample()), strata_of(replace(data, weights=[1.0] * len(data.scores)).sample()))


@examples(100)
@given(samples(tied_scores))
def test_counts_are_the_sample_grouped(data: Data) -> None:
    sample = data.sample()
    table = ConfusionTable.of(sample)
    counts = Counts(table.tp, table.fp, table.positives, table.negatives)
    same(strata_of(sample), strata_of(counts))


@examples(100)
@given(st.one_of(samples(tied_scores), samples(tied_scores, zero_weights)))
def test_a_pair_with_itself_is_the_single_one_twice(data: Data) -> None:
    pair, single = pair_of((data, data)), strata_of(data.sample())
    for both, one in zip(pair.classes, single.classes, strict=True):
        assert both.rows[0].tolist() == both.rows[1].tolist() == one.rows[0].tolist()
        assert both.examples.tolist() == one.examples.tolist()
        assert both.masses.tolist() == one.masses.tolist()


@examples(100)
@given(pairs(plain_weights))
def test_kinds_of_pairs(data: tuple[Data, Data]) -> None:
    """Each example's kind has its two rows and its weight; kinds are in order and distinct."""
    pair = pair_of(data)
    for label, stratum in zip((True, False), pair.classes, strict=True):
        listed: dict[tuple[int, int, float], int] = {}
        for index, weight in enumerate(data[0].weights or []):
            if data[0].labels[index] == label:
                kind = (row_by_hand(data[0], index), row_by_hand(data[1], index), weight)
                listed[kind] = listed.get(kind, 0) + 1
        assert stratum.weights is not None
        kinds = list(zip(*(rows.tolist() for rows in stratum.rows), stratum.weights.tolist(), strict=True))
        assert kinds == sorted(listed)
        assert stratum.examples.tolist() == [listed[kind] for kind in kinds]


@examples(60)
@given(pairs(plain_weights))
def test_kinds_that_are_too_many_for_one_integer(data: tuple[Data, Data]) -> None:
    expected = pair_of(data)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_LARGEST_KEY", 1)
        same(expected, pair_of(data))


def test_many_pairs_in_kinds(*, runs_all: bool) -> None:
    random = np.random.default_rng(3)
    size = 1 << 20 if runs_all else 1 << 16
    labels = random.random(size) < 0.5
    one, other = (Sample(random.random(size), labels, 1 + random.random(size)) for _ in range(2))
    other = replace(other, weights=one.weights)
    tables = ConfusionTable.of(one), ConfusionTable.of(other)
    pair = paired_strata((one, other), tables)
    assert [each.size for each in pair.classes] == [labels.sum(), size - labels.sum()]
    order = np.lexsort((one.weights, *(rows_of(*each) for each in ((other, tables[1]), (one, tables[0])))))
    for stratum, of_class in zip(pair.classes, (labels[order], ~labels[order]), strict=True):
        assert one.weights is not None
        np.testing.assert_array_equal(stratum.weights, one.weights[order][of_class])
        assert (np.diff(stratum.rows[0]) >= 0).all()


def test_sizes_by_hand() -> None:
    data = Data([5, 4, 3, 2, 1, 0], [True, True, True, False, False, True], [1, 1, 2, 0.5, 0.5, 0])
    found = strata_of(data.sample())
    assert found.positives.size == 3
    assert found.positives.effective == pytest.approx(16 / 6)  # (1 + 1 + 2)²/(1 + 1 + 4)
    assert found.negatives.effective == found.negatives.size == 2
    assert found.effective == (found.positives.effective, 2)
    assert found.enough
    assert not strata_of(Data([1, 0, 0], [True, False, False]).sample()).enough
    lopsided = strata_of(replace(data, weights=[1, 0.1, 0.1, 1, 1, 0]).sample())
    assert lopsided.positives.effective == pytest.approx(1.44 / 1.02)
    assert not lopsided.enough


@examples(60)
@given(weighted_samples(), st.floats(1e-100, 1e100))
def test_effective_numbers_know_no_scale(data: Data, scale: float) -> None:
    weights = [weight * scale for weight in data.weights or []]
    found, scaled = strata_of(data.sample()), strata_of(replace(data, weights=weights).sample())
    for one, other in zip(found.classes, scaled.classes, strict=True):
        assert one.effective * (1 + 1e-14) >= 1
        assert one.effective <= one.size * (1 + 1e-14)
        assert other.effective == pytest.approx(one.effective, rel=1e-12)


def test_fractional_counts() -> None:
    counts = Counts(np.array([0.5, 2.0]), np.array([0.25, 0.25]), 2.5, 1.75)
    found = strata_of(counts)
    assert found.positives.examples.tolist() == [0.5, 1.5, 0.5]
    assert found.positives.rows[0].tolist() == [1, 2, 3]
    assert found.negatives.size == 1.75
    assert not found.enough
    assert isinstance(found.negatives, Stratum)


def test_trials_where_weight_and_outcome_go_together() -> None:
    """If only heavy examples are misjudged, the variance is larger than Kish's number implies, so trials are fewer."""
    weights = np.array([5.0] * 10 + [1.0] * 90)
    stratum = strata_of(Sample(np.arange(200.0), np.repeat([True, False], 100), np.tile(weights, 2))).positives
    heavy = (stratum.weights == 5.0) & (np.arange(100) % 2 == 0)
    values = np.where(heavy, 0.0, 1.0)
    assert 0 < heavy.sum() < 10
    mean = (stratum.weights * values).sum() / stratum.weights.sum()
    spread = (stratum.weights * (values - mean) ** 2).sum() / stratum.weights.sum()
    variance = ((stratum.weights * (values - mean)) ** 2).sum() / stratum.weights.sum() ** 2
    assert stratum.effective_size(values) == pytest.approx(spread / variance)
    assert stratum.effective_size(values) < 0.8 * stratum.effective
    assert stratum.effective_size(np.ones(100)) == stratum.effective  # no difference is seen
    light = np.where((stratum.weights == 1.0) & (np.arange(100) % 2 == 0), 0.0, 1.0)
    assert stratum.effective_size(light) == stratum.effective  # less than the weights' own noise is not assumed


@pytest.mark.parametrize("spread", [0.0, 1.0, 20.0])
def test_trials_of_all_rows_at_once_are_those_of_each(spread: float) -> None:
    """Also where rows call no example or all of a class positive, and weights differ by many orders of magnitude."""
    dice = np.random.default_rng(7)
    labels = dice.random(300) < 0.3
    weights = np.exp(spread * dice.normal(size=300)) if spread else None
    sample = Sample((dice.normal(size=300) + labels).round(1), labels, weights)
    table = ConfusionTable.of(sample)
    rows = np.arange(table.tp.size)
    for stratum in strata(sample, table).classes:
        each = [stratum.effective_size((stratum.rows[0] <= row).astype(float)) for row in rows]
        assert stratum.effective_sizes(rows) == pytest.approx(each, rel=1e-9)
