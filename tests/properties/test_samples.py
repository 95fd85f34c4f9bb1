"""Laws of tables that come from scores and labels."""

from __future__ import annotations

import math
import random
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.curves.confusion import ConfusionTable
from service.curves.counts import Counts
from service.curves.evaluation import Curves, CurvesOptions, evaluate_curves
from service.curves.pr import Every
from tests import reference
from tests.properties.agreement import agree, close, columns
from tests.reference import ulp_distance
from tests.support.strategies import (
    Data,
    examples,
    near_scores,
    samples,
    tied_scores,
    tilted_samples,
    weighted_samples,
    wild_weights,
)


def same_bits(one: Curves, other: Curves, except_for: str = "") -> None:
    """Every number of two answers is the same double; whole counts are integers, with weights doubles."""
    assert (one.positives, one.negatives, one.auc) == (other.positives, other.negatives, other.auc)
    for name in ("points", "interpolated_pr", "achievable_pr"):
        others = columns(getattr(other, name))
        for column, values in columns(getattr(one, name)).items():
            one_and_other = (np.asarray(each, np.float64).tobytes() for each in (values, others[column]))
            assert column == except_for or len({*one_and_other}) == 1, (name, column)


SAMPLES = {
    "without weights, exactly": samples(),
    "with ties, which are one row; -0.0 ties with 0.0": samples(score=tied_scores),
    "of scores next to each other, which are never merged": samples(score=near_scores),
    "with weights, within 4 ulp of the sums, which are within 1": weighted_samples(),
    "with weights from 5e-324 to 1e100": weighted_samples(weight=wild_weights),
    "with totals of classes anywhere in 1e-150..1e150": tilted_samples(),
    "with whole weights, exactly": samples(weight=st.sampled_from([0.0, 1.0, 2.0, 5.0])),
}


@pytest.mark.parametrize("kind", SAMPLES)
@examples(60)
@given(st.data())
def test_every_view_is_that_of_the_reference(kind: str, data: st.DataObject) -> None:
    """'With integer inputs up to 2^53 every rational result is the correctly rounded double.'"""
    drawn = data.draw(SAMPLES[kind])
    agree(drawn.sample(), drawn.table())


@examples(60)
@given(
    st.one_of(samples(), weighted_samples(), weighted_samples(weight=wild_weights)), st.randoms(use_true_random=False)
)
def test_permutation(data: Data, chance: random.Random) -> None:
    """The order of the rows does not change the answer, bit for bit."""
    order = list(range(len(data.scores)))
    chance.shuffle(order)
    same_bits(evaluate_curves(data.sample()), evaluate_curves(data.rows(order).sample()))


@examples(40)
@given(st.one_of(samples(), weighted_samples()), st.sampled_from(["rank", "double", "cube of rank", "nextafter"]))
def test_strictly_increasing_maps(data: Data, kind: str) -> None:
    """The curves depend only on the order of the scores: a strictly increasing map changes only the thresholds."""
    distinct = sorted({score + 0.0 for score in data.scores})
    rank = {score: index for index, score in enumerate(distinct)}
    start = 1.0
    images = {
        "rank": [float(i) for i in range(len(distinct))],
        "double": [float(2 * i - 7) for i in range(len(distinct))],
        "cube of rank": [float((i - 3) ** 3) for i in range(len(distinct))],
        "nextafter": [start + i * math.ulp(start) for i in range(len(distinct))],
    }[kind]
    mapped = Data([images[rank[s + 0.0]] for s in data.scores], data.labels, data.weights, data.lower_is_positive)
    one, other = evaluate_curves(data.sample()), evaluate_curves(mapped.sample())
    assert one.points is not None
    assert other.points is not None
    moved = [images[rank[cut]] for cut in one.points.threshold[1:].tolist()]
    assert other.points.threshold[1:].tolist() == moved
    same_bits(one, other, except_for="threshold")


@examples(40)
@given(samples(most=14))
def test_duplicated_rows_are_doubled_weights(data: Data) -> None:
    """Every row twice is the same as every row with weight 2, and neither changes a rate or an exact area."""
    size = len(data.scores)
    twice = evaluate_curves(data.rows([*range(size), *range(size)]).sample())
    doubled = evaluate_curves(Data(data.scores, data.labels, [2.0] * size, data.lower_is_positive).sample())
    once = evaluate_curves(data.sample())
    same_bits(twice, doubled)
    assert once.points is not None
    assert twice.points is not None
    again = columns(twice.points)
    for name, values in columns(once.points).items():
        factor = 2 if name in {"tp", "fp", "fn", "tn"} else 1
        np.testing.assert_array_equal(factor * values, again[name], err_msg=name)
    assert once.auc is not None
    assert twice.auc is not None
    assert (once.auc.roc, once.auc.roc_hull) == (twice.auc.roc, twice.auc.roc_hull)
    assert math.isclose(once.auc.pr, twice.auc.pr, rel_tol=2e-12)
    assert math.isclose(once.auc.pr_achievable, twice.auc.pr_achievable, rel_tol=2e-12)


@examples(40)
@given(weighted_samples(most=14))
def test_duplicated_weighted_rows_are_doubled_weights(data: Data) -> None:
    """The same with weights: twice the sum is the sum of the doubled weights, and doubling is exact."""
    size = len(data.scores)
    assert data.weights is not None
    doubled = Data(data.scores, data.labels, [2 * w for w in data.weights], data.lower_is_positive)
    one = evaluate_curves(data.rows([*range(size), *range(size)]).sample())
    other = evaluate_curves(doubled.sample())
    assert one.points is not None
    assert other.points is not None
    for name, of_class in (("tp", True), ("fp", False)):
        for values in (columns(one.points)[name], columns(other.points)[name]):
            for value, row in zip(values.tolist(), doubled.table().rows, strict=True):
                assert ulp_distance(value, row.tp if of_class else row.fp) <= 1


@examples(60)
@given(st.one_of(samples(), weighted_samples()))
def test_label_swap_with_negated_scores(data: Data) -> None:
    """Swapped labels and negated scores mirror the ROC curve in the falling diagonal, so its areas stay the same.

    A cut at s then calls positive what scored at or below s, so (tp, fp) of the one are N - fp and P - tp of the other.
    """
    swapped = Data([-s for s in data.scores], [not x for x in data.labels], data.weights, data.lower_is_positive)
    one = agree(data.sample(), data.table())
    other = agree(swapped.sample(), swapped.table())
    assert one.auc is not None
    assert other.auc is not None
    if data.weights is None:
        assert one.points is not None
        assert other.points is not None
        assert one.points.tn.tolist()[::-1] == other.points.tp.tolist()
        assert one.points.fn.tolist()[::-1] == other.points.fp.tolist()
        assert (one.auc.roc, one.auc.roc_hull) == (other.auc.roc, other.auc.roc_hull)
    else:
        # The swapped sums are different sums, each rounded once more: equal to 1 ulp each, not bit for bit.
        assert math.isclose(one.auc.roc, other.auc.roc, rel_tol=1e-14, abs_tol=1e-14)


@examples(40)
@given(st.one_of(samples(), weighted_samples()))
def test_lower_is_positive_is_negated_scores(data: Data) -> None:
    """With lower_is_positive, a row calls positive what scores at or below its threshold, as with negated scores."""
    turned = Data([-s for s in data.scores], data.labels, data.weights, not data.lower_is_positive)
    one, other = evaluate_curves(data.sample()), evaluate_curves(turned.sample())
    assert one.points is not None
    assert other.points is not None
    assert (-one.points.threshold[1:]).tolist() == other.points.threshold[1:].tolist()
    same_bits(one, other, except_for="threshold")


@examples(40)
@given(weighted_samples(weight=st.sampled_from([0.0, 0.0, 0.1, 1.0, 3.0])))
def test_zero_weights_are_absent_rows(data: Data) -> None:
    """A row of weight zero does not count as a row: it makes no threshold."""
    assert data.weights is not None
    present = [index for index, weight in enumerate(data.weights) if weight > 0]
    same_bits(evaluate_curves(data.sample()), evaluate_curves(data.rows(present).sample()))


@examples(60)
@given(
    st.one_of(samples(), weighted_samples(), weighted_samples(weight=wild_weights)), st.randoms(use_true_random=False)
)
def test_a_sample_is_its_own_counts(data: Data, chance: random.Random) -> None:
    """The curves depend only on the table: its rows, sent back as counts in any order, give the same answer."""
    one = evaluate_curves(data.sample())
    assert one.points is not None
    order = list(range(1, len(one.points.tp)))
    chance.shuffle(order)
    tp, fp, cuts = one.points.tp[order], one.points.fp[order], one.points.threshold[order]
    counts = Counts(tp, fp, one.positives, one.negatives, cuts, data.lower_is_positive)
    same_bits(one, evaluate_curves(counts))


@examples(40)
@given(samples())
def test_roc_area_is_wilcoxon_mann_whitney(data: Data) -> None:
    """'The Wilcoxon-Mann-Whitney statistic, ties counting one half', pair by pair (D&G section 4)."""
    curves = evaluate_curves(data.sample(), CurvesOptions(include=frozenset({"auc"})))
    assert curves.auc is not None
    assert close(curves.auc.roc, reference.wilcoxon_mann_whitney(data.table()), whole=True)


@examples(40)
@given(weighted_samples(weight=wild_weights))
def test_counts_never_decrease(data: Data) -> None:
    """'tp and fp never decrease', and end at P and N, also after rounding."""
    table = ConfusionTable.from_sample(data.sample())
    assert (np.diff(table.tp) >= 0).all()
    assert (np.diff(table.fp) >= 0).all()
    assert (table.tp[-1], table.fp[-1]) == (table.positives, table.negatives)
    assert table.rises


@examples(40)
@given(weighted_samples(), st.sampled_from([1.0, 2.0, 0.5, 0.1, 3.7]))
def test_weighted_interpolation(data: Data, every: float) -> None:
    """Interpolation with sums that are not integers, within 4 ulp, at every step."""
    agree(data.sample(), data.table(), CurvesOptions(interpolation=Every(every)))


def test_unit_weights_count_as_none() -> None:
    """A column of ones is the same as no weights."""
    data = Data([0.1, 0.4, 0.35, 0.8], [False, False, True, True])
    ones = Data(data.scores, data.labels, [1.0] * 4)
    same_bits(evaluate_curves(data.sample()), evaluate_curves(ones.sample()))


def test_sums_beyond_integers() -> None:
    """Whole weights whose sums exceed 2^53 are also summed to 1 ulp."""
    data = Data([3, 2, 1, 0, -1], [True, True, False, True, False], [2.0**53, 1.0, 2.0**53, 1.0, 3.0])
    curves = evaluate_curves(data.sample())
    assert curves.points is not None
    for value, row in zip(curves.points.tp.tolist(), data.table().rows, strict=True):
        assert ulp_distance(value, row.tp) <= 1
    assert ulp_distance(curves.negatives, Fraction(2**53 + 3)) <= 1
