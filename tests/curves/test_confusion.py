"""The table: from a sample, from counts, cut at thresholds."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from service.curves.confusion import ConfusionTable
from service.curves.counts import Counts
from service.curves.errors import ContradictingTotals, LengthsDiffer, OneClassLabels, RisingThresholds, TotalOutOfRange
from service.curves.sample import Sample
from tests.support.strategies import Data, Rows


def table_of(scores: list[float], labels: list[int], weights: list[float] | None = None) -> ConfusionTable:
    """A sample's table."""
    return ConfusionTable.from_sample(Data(scores, [bool(x) for x in labels], weights).sample())


def columns(table: ConfusionTable) -> tuple[list[float], list[float]]:
    """tp and fp."""
    return table.tp.tolist(), table.fp.tolist()


def test_one_row_per_distinct_score() -> None:
    table = table_of([0.9, 0.5, 0.5, 0.1], [1, 0, 1, 0])
    assert columns(table) == ([0, 1, 2, 2], [0, 0, 1, 2])
    assert math.isnan(table.thresholds[0])
    assert table.thresholds[1:].tolist() == [0.9, 0.5, 0.1]
    assert (table.positives, table.negatives, table.rises, table.whole) == (2, 2, True, True)
    assert (table.fn.tolist(), table.tn.tolist()) == ([2, 1, 0, 0], [2, 2, 1, 0])


def test_minus_zero_is_zero() -> None:
    table = table_of([0.0, -0.0, -1.0], [1, 0, 1])
    assert columns(table) == ([0, 1, 2], [0, 1, 1])
    assert math.copysign(1, table.thresholds[1]) == 1


def test_minus_zero_cut_is_zero() -> None:
    cut = table_of([0.0, 1.0, -1.0], [1, 0, 1]).at_thresholds(np.array([-0.0]))
    assert math.copysign(1, cut.thresholds[1]) == 1
    assert columns(cut) == ([0, 1, 2], [0, 1, 1])


def test_minus_zero_of_counts_is_zero() -> None:
    table = ConfusionTable.from_counts(Rows([1, -0.0], [0, 1], 2, 2, [-0.0, -1]).counts())
    assert math.copysign(1, table.thresholds[1]) == 1
    assert not np.signbit(table.tp).any()
    assert not np.signbit(ConfusionTable.from_counts(Rows([1], [-0.0], 2, 2).counts()).fp).any()


def test_denormal_scores_keep_their_order() -> None:
    least = 5e-324
    table = table_of([least, 2 * least, 0.0, -least, 3 * least], [0, 1, 0, 1, 1])
    assert table.thresholds[1:].tolist() == [3 * least, 2 * least, least, 0.0, -least]
    assert columns(table) == ([0, 1, 2, 2, 2, 3], [0, 0, 0, 1, 2, 2])


@pytest.mark.parametrize("score", [0.1, 1.0, -3.5, 1e300, 5e-324, 0.0])
def test_neighbouring_doubles_are_two_rows(score: float) -> None:
    table = table_of([score, math.nextafter(score, math.inf)], [0, 1])
    assert columns(table) == ([0, 1, 1], [0, 0, 1])


def test_largest_and_smallest_doubles() -> None:
    most = 1.7976931348623157e308
    assert columns(table_of([most, -most, 0.0], [1, 0, 0])) == ([0, 1, 1, 1], [0, 0, 1, 2])


def test_zero_weight_makes_no_row() -> None:
    table = table_of([3.0, 2.0, 1.0], [1, 0, 0], [1.0, 0.0, 2.0])
    assert table.thresholds[1:].tolist() == [3.0, 1.0]
    assert columns(table) == ([0, 1, 1], [0, 0, 2])


def test_lower_is_positive_ascends() -> None:
    sample = Data([0.9, 0.5, 0.1], [False, True, True], lower_is_positive=True).sample()
    table = ConfusionTable.from_sample(sample)
    assert table.thresholds[1:].tolist() == [0.1, 0.5, 0.9]
    assert columns(table) == ([0, 1, 2, 2], [0, 0, 0, 1])


def test_plain_summing_would_lose_this_weight() -> None:
    # One after another, 1e16 + 1 + 1 rounds back to 1e16; the exact sum is 1e16 + 2.
    table = table_of([4.0, 3.0, 2.0, 1.0], [1, 1, 1, 0], [1e16, 1.0, 1.0, 1.0])
    assert table.tp.tolist()[-1] == 1e16 + 2


@pytest.mark.parametrize(
    ("scores", "labels", "weights"),
    [
        ([1.0, 2.0], [1, 1], None),
        ([1.0, 2.0], [0, 0], None),
        ([1.0, 2.0], [0, 1], [1.0, 0.0]),
        ([], [], None),
    ],
    ids=["no negatives", "no positives", "positives of weight zero", "no rows"],
)
def test_without_two_classes_there_is_no_table(
    scores: list[float], labels: list[int], weights: list[float] | None
) -> None:
    with pytest.raises(OneClassLabels):
        table_of(scores, labels, weights)


@pytest.mark.parametrize("weights", [[1e-151], [1e151], [5e-324], [1.7e308], [1.7e308, 1.7e308]])
def test_a_total_weight_out_of_range_is_refused(weights: list[float]) -> None:
    rows = 1 + len(weights)
    with pytest.raises(TotalOutOfRange):
        table_of([float(row) for row in range(rows)], [0] + [1] * len(weights), [1.0, *weights])


@pytest.mark.parametrize(
    "made",
    [
        lambda: Sample(np.zeros(3), np.zeros(2, dtype=np.bool_)),
        lambda: Sample(np.zeros(2), np.zeros(2, dtype=np.bool_), np.ones(3)),
        lambda: Counts(np.zeros(2), np.zeros(3), 1.0, 1.0),
        lambda: Counts(np.zeros(2), np.zeros(2), 1.0, 1.0, np.zeros(1)),
    ],
    ids=["labels", "weights", "fp", "thresholds"],
)
def test_columns_of_other_lengths_are_refused(made: Callable[[], Sample | Counts]) -> None:
    with pytest.raises(LengthsDiffer):
        made()


def test_counts_in_any_order_with_ends_added() -> None:
    table = ConfusionTable.from_counts(Rows([10, 5], [30, 5], 20, 2000, [0.2, 0.8]).counts())
    assert columns(table) == ([0, 5, 10, 20], [0, 5, 30, 2000])
    assert [math.isnan(cut) for cut in table.thresholds.tolist()] == [True, False, False, True]
    assert table.thresholds[1:3].tolist() == [0.8, 0.2]


def test_ends_that_are_there_stay_as_they_are() -> None:
    table = ConfusionTable.from_counts(Rows([2, 0], [3, 0], 2, 3, [0.0, 1.0]).counts())
    assert columns(table) == ([0, 2], [0, 3])
    assert table.thresholds.tolist() == [1.0, 0.0]


def test_no_counts_are_the_two_ends() -> None:
    assert columns(ConfusionTable.from_counts(Rows([], [], 2, 3).counts())) == ([0, 2], [0, 3])


def test_equal_rows_stay_by_falling_threshold() -> None:
    table = ConfusionTable.from_counts(Rows([1, 1, 1], [1, 1, 1], 2, 2, [0.3, 0.9, 0.5]).counts())
    assert columns(table) == ([0, 1, 1, 1, 2], [0, 1, 1, 1, 2])
    assert table.thresholds[1:4].tolist() == [0.9, 0.5, 0.3]


def test_counts_that_fall_are_no_sweep() -> None:
    table = ConfusionTable.from_counts(Rows([2, 1], [1, 2], 3, 3).counts())
    assert not table.rises
    assert columns(table) == ([0, 2, 1, 3], [0, 1, 2, 3])


def test_thresholds_that_rise_with_the_counts() -> None:
    with pytest.raises(RisingThresholds):
        ConfusionTable.from_counts(Rows([1, 2], [1, 2], 3, 3, [0.1, 0.2]).counts())


def test_thresholds_that_rise_as_lower_is_positive() -> None:
    one, two = np.array([1.0, 2.0]), np.array([0.1, 0.2])
    ConfusionTable.from_counts(Counts(one, one, 3.0, 3.0, two, lower_is_positive=True))
    with pytest.raises(RisingThresholds):
        ConfusionTable.from_counts(Counts(one, one, 3.0, 3.0, two[::-1].copy(), lower_is_positive=True))


def test_thresholds_of_a_set_that_is_not_a_sweep_are_carried() -> None:
    table = ConfusionTable.from_counts(Rows([2, 1], [1, 2], 3, 3, [0.1, 0.2]).counts())
    assert table.thresholds[1:3].tolist() == [0.1, 0.2]


@pytest.mark.parametrize(("tp", "fp"), [(4, 0), (0, 4)])
def test_count_above_its_total(tp: int, fp: int) -> None:
    with pytest.raises(ContradictingTotals):
        Rows([tp], [fp], 3, 3).counts()


@pytest.mark.parametrize(("positives", "negatives"), [(0, 3), (3, 0)])
def test_counts_of_one_class(positives: int, negatives: int) -> None:
    with pytest.raises((OneClassLabels, TotalOutOfRange)):
        ConfusionTable.from_counts(Rows([0], [0], positives, negatives).counts())


def test_cuts_between_and_beyond_the_scores() -> None:
    table = table_of([0.9, 0.5, 0.1], [1, 0, 1]).at_thresholds(np.array([0.5, 2.0, 0.3, -1.0]))
    assert table.thresholds.tolist() == [2.0, 0.5, 0.3, -1.0]
    assert columns(table) == ([0, 1, 1, 2], [0, 1, 1, 1])


def test_cuts_when_lower_is_positive() -> None:
    sample = Data([0.9, 0.5, 0.1], [False, True, True], lower_is_positive=True).sample()
    table = ConfusionTable.from_sample(sample).at_thresholds(np.array([0.7, 0.1]))
    assert table.thresholds[1:-1].tolist() == [0.1, 0.7]
    assert columns(table) == ([0, 1, 2, 2], [0, 0, 0, 1])
