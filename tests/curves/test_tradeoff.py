"""The optimal trade-off curves of tables small enough for paper: intervals, bounds, values at λ."""

from __future__ import annotations

import math

import numpy as np
import pytest

from service.curves.density import BetaDensity
from service.curves.errors import DomainError, NoRowMeets
from service.curves.tradeoff import Tradeoff, TradeoffOptions, evaluate_tradeoffs
from tests.reference_tradeoff import INDICES, envelope, taking_part, value
from tests.support.strategies import Data, Rows, evaluation_of

HALF_AND_HALF = Rows([2], [0], 4, 4, [0.7])
"""A row with precision 1 and recall 1/2, and the all-positive row with 1/2 and 1: each is best on its half."""


def tradeoffs(source: Rows | Data, options: TradeoffOptions | None = None) -> dict[str, Tradeoff]:
    """The result of each index."""
    return evaluate_tradeoffs(evaluation_of(source), options).tradeoffs


def test_all_indices_in_their_order() -> None:
    found = tradeoffs(HALF_AND_HALF)
    assert list(found) == ["kulczynski", "f_measure", "fowlkes_mallows", "jaccard"]


def test_indices_asked_for_in_the_same_order() -> None:
    found = tradeoffs(HALF_AND_HALF, TradeoffOptions(indices=frozenset({"jaccard", "kulczynski"})))
    assert list(found) == ["kulczynski", "jaccard"]


def test_totals_are_those_of_the_data() -> None:
    found = evaluate_tradeoffs(Rows([1], [1], 2, 7).counts())
    assert (found.positives, found.negatives) == (2.0, 7.0)


@pytest.mark.parametrize("index", INDICES)
def test_each_of_two_rows_is_best_on_its_half(index: str) -> None:
    found = tradeoffs(HALF_AND_HALF)[index]
    assert found.optimal.lambda_from.tolist() == [0.0, 0.5]
    assert found.optimal.lambda_to.tolist() == [0.5, 1.0]
    assert found.optimal.tp.tolist() == [2.0, 4.0]
    assert found.optimal.fp.tolist() == [0.0, 4.0]
    assert found.optimal.precision.tolist() == [1.0, 0.5]
    assert found.optimal.recall.tolist() == [0.5, 1.0]
    assert found.optimal.threshold[0] == 0.7
    assert math.isnan(found.optimal.threshold[1])
    assert found.uninformative_from == 0.5
    assert found.at is None


AREAS = {
    # On [0, 1/2], which the other half mirrors: 1 - l/2; 1/(1 + l); 2^-l; 1/(1 + 2 l).
    "kulczynski": 7 / 8,
    "f_measure": 2 * math.log(3 / 2),
    "fowlkes_mallows": 2 * (1 - math.sqrt(1 / 2)) / math.log(2),
    "jaccard": math.log(2),
}


@pytest.mark.parametrize("index", INDICES)
@pytest.mark.parametrize("lambda_range", [(0.0, 1.0), (0.0, 0.5), (0.5, 1.0)])
def test_areas_of_two_halves(index: str, lambda_range: tuple[float, float]) -> None:
    found = tradeoffs(HALF_AND_HALF, TradeoffOptions(lambda_range=lambda_range))[index]
    assert found.area == pytest.approx(AREAS[index], rel=1e-14)


def test_all_positive_row_alone() -> None:
    for tradeoff in tradeoffs(Rows([], [], 3, 1)).values():
        # One interval: lambda = 1/2, where jaccard's formula changes, is no breakpoint.
        assert (tradeoff.optimal.lambda_from.tolist(), tradeoff.optimal.lambda_to.tolist()) == ([0.0], [1.0])
        assert tradeoff.uninformative_from == 0.0


def test_perfect_row_leaves_nothing_uninformative() -> None:
    for tradeoff in tradeoffs(Rows([3], [0], 3, 1)).values():
        assert tradeoff.optimal.tp.tolist() == [3.0]
        assert tradeoff.uninformative_from is None
        assert tradeoff.area == 1.0


def test_equal_rows_name_the_first() -> None:
    for tradeoff in tradeoffs(Rows([2, 2, 2], [0, 0, 0], 4, 4, [0.5, 0.7, 0.6])).values():
        assert tradeoff.optimal.tp.tolist() == [2.0, 4.0]
        assert tradeoff.optimal.threshold[0] == 0.7


def test_all_positive_row_with_a_threshold() -> None:
    # The lowest score calls everything positive.
    for tradeoff in tradeoffs(Data([3.0, 2.0, 1.0], [True, False, True])).values():
        assert tradeoff.optimal.threshold.tolist() == [3.0, 1.0]
        assert tradeoff.uninformative_from == tradeoff.optimal.lambda_from[1]


def test_lower_is_positive() -> None:
    for tradeoff in tradeoffs(Data([3.0, 2.0, 1.0], [True, False, True], None, lower_is_positive=True)).values():
        assert tradeoff.optimal.threshold.tolist() == [1.0, 3.0]


def test_one_ray_is_best_where_it_ends() -> None:
    # Equal precision: more recall is better for every lambda above 0, and no worse at 0.
    for tradeoff in tradeoffs(Rows([1, 2, 3], [2, 4, 6], 4, 8)).values():
        assert tradeoff.optimal.tp.tolist() == [4.0]


def test_rows_of_no_sweep() -> None:
    # fp rises while tp falls. kulczynski: 1 and .2 of (1, 0), .6 and .6 of (3, 2) are equal at one half.
    found = tradeoffs(Rows([3, 1, 2], [2, 0, 4], 5, 100))["kulczynski"]
    assert found.optimal.tp.tolist() == [1.0, 3.0, 5.0]
    assert found.optimal.fp.tolist() == [0.0, 2.0, 100.0]
    assert found.optimal.lambda_to[0] == pytest.approx(0.5, rel=1e-15)


def test_collinear_logarithms_meet_in_one_point() -> None:
    # tp + fp are 1, 3, 9 with tp 1, 2, 4: all three are equal at l = 1 - log 2/log 3, and (2, 1) is best nowhere.
    found = tradeoffs(Rows([1, 2, 4], [0, 1, 5], 4, 1000))["fowlkes_mallows"].optimal
    assert found.tp.tolist() == [1.0, 4.0]
    assert found.lambda_to[0] == pytest.approx(1 - math.log(2) / math.log(3), rel=1e-15)


@pytest.mark.parametrize(
    ("rows", "options"),
    [
        (Rows([2**53 - 2, 2**53 - 1], [0, 0], 2**53, 1e15), TradeoffOptions(lambda_range=(0.2158187566434726, 1.0))),
        (
            Rows([10**15 - 3, 10**15 - 1, 10**15], [0, 1, 1], 10**15, 1e6),
            TradeoffOptions(lambda_range=(0.41276719275490237, 1.0), lambda_density=BetaDensity(1000.0, 2.0)),
        ),
    ],
)
def test_no_area_is_rounded_above_1(rows: Rows, options: TradeoffOptions) -> None:
    assert max(tradeoff.area for tradeoff in tradeoffs(rows, options).values()) == 1


@pytest.mark.parametrize("index", INDICES)
def test_a_range_clips_the_intervals(index: str) -> None:
    found = tradeoffs(HALF_AND_HALF, TradeoffOptions(lambda_range=(0.25, 0.75)))[index]
    assert found.optimal.lambda_from.tolist() == [0.25, 0.5]
    assert found.optimal.lambda_to.tolist() == [0.5, 0.75]
    late = tradeoffs(HALF_AND_HALF, TradeoffOptions(lambda_range=(0.75, 1.0)))[index]
    assert late.optimal.tp.tolist() == [4.0]
    assert late.uninformative_from == 0.75
    early = tradeoffs(HALF_AND_HALF, TradeoffOptions(lambda_range=(0.0, 0.5)))[index]
    # Otherwise the other row would get an interval of length 0.
    assert early.optimal.tp.tolist() == [2.0]
    assert early.uninformative_from is None


@pytest.mark.parametrize("index", INDICES)
def test_read_off_in_the_order_asked(index: str) -> None:
    at = np.array([1.0, 0.5, 0.0, 0.5, math.nextafter(0.5, 0.0)])
    found = tradeoffs(HALF_AND_HALF, TradeoffOptions(at_lambda=at))[index].at
    assert found is not None
    assert found.at_lambda.tolist() == at.tolist()
    # At the shared breakpoint, the row is that of the upper interval.
    np.testing.assert_array_equal(found.threshold, [math.nan, math.nan, 0.7, math.nan, 0.7])
    assert found.value[0] == found.value[2] == 1.0
    middle = {"kulczynski": 3 / 4, "f_measure": 2 / 3, "fowlkes_mallows": math.sqrt(1 / 2), "jaccard": 1 / 2}[index]
    assert found.value[[1, 3, 4]].tolist() == pytest.approx([middle] * 3, rel=1e-15)


def test_bounds_are_inclusive_and_of_the_reported_numbers() -> None:
    # The double .1 is above one tenth, but the row's precision and recall are reported as .1 and meet it.
    rows = Rows([1], [9], 10, 1000)
    for options in (TradeoffOptions(min_precision=0.1), TradeoffOptions(min_precision=0.1, min_recall=0.1)):
        for tradeoff in tradeoffs(rows, options).values():
            assert tradeoff.optimal.tp.tolist() == [1.0]
            assert tradeoff.uninformative_from is None
    for tradeoff in tradeoffs(rows, TradeoffOptions(min_recall=math.nextafter(0.1, 1.0))).values():
        assert tradeoff.optimal.tp.tolist() == [10.0]


def test_bounds_that_no_row_meets_are_refused() -> None:
    rows = Rows([1], [9], 10, 1000)
    with pytest.raises(NoRowMeets) as failure:
        tradeoffs(rows, TradeoffOptions(min_precision=math.nextafter(0.1, 1.0)))
    assert isinstance(failure.value, DomainError)
    assert failure.value.detail
    # Each bound alone is met by some row, but no row meets both.
    with pytest.raises(NoRowMeets):
        tradeoffs(rows, TradeoffOptions(min_precision=0.1, min_recall=0.5))


def test_worst_ranking_meets_no_precision() -> None:
    with pytest.raises(NoRowMeets):
        tradeoffs(Rows([0], [5], 5, 5), TradeoffOptions(min_precision=0.6))


def test_every_recall_is_met() -> None:
    for tradeoff in tradeoffs(Rows([0], [5], 5, 5), TradeoffOptions(min_recall=1.0)).values():
        assert tradeoff.optimal.tp.tolist() == [5.0]
        assert tradeoff.area <= 1


def test_rows_without_a_true_positive_take_no_part() -> None:
    # Both bounds are 0: a row with tp = 0 meets them, but is still left out.
    for tradeoff in tradeoffs(Rows([0, 0], [0, 3], 4, 4), TradeoffOptions()).values():
        assert tradeoff.optimal.tp.tolist() == [4.0]


@pytest.mark.parametrize("index", INDICES)
def test_the_reference_finds_the_two_halves(index: str) -> None:
    table = HALF_AND_HALF.table()
    rows = taking_part(table, 0.0, 0.0)
    found = envelope(index, rows, table.positives, 0.0, 1.0)
    assert [float(interval.end) for interval in found] == [0.5, 1.0]
    assert [interval.row.tp for interval in found] == [2, 4]
    assert float(value(index, rows[0], table.positives, found[0].start)) == 1.0
