"""The numbers and statements printed by Hanczar & Nadif 2014 (H&N) about the four indices and the trade-off space.

Each test names its source. Table 1 is compared cell by cell at its printed digits.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from service.curves.counts import Counts
from service.curves.tradeoff import Tradeoff, TradeoffOptions, evaluate_tradeoffs
from tests.reference_tradeoff import INDICES
from tests.support.strategies import Rows

HAYSTACK = 10**6
"""So many negatives that the all-positive row has almost no precision, and a small bound leaves it out."""


def values_of(row: tuple[int, int], positives: int, at_lambda: list[float]) -> dict[str, list[float]]:
    """f of one row (tp, fp) by each index: the envelope, when no other row takes part."""
    options = TradeoffOptions(min_precision=0.01, at_lambda=np.array(at_lambda))
    found = evaluate_tradeoffs(Rows([row[0]], [row[1]], positives, HAYSTACK).counts(), options).tradeoffs
    values = {}
    for index, tradeoff in found.items():
        assert tradeoff.at is not None
        assert tradeoff.optimal.tp.tolist() == [row[0]]
        values[index] = tradeoff.at.value.tolist()
    return values


TABLE_1 = {
    # H&N 2014, table 1. For (tp, fp) of 90 positives: precision and recall as printed, then kulczynski, f_measure,
    # fowlkes_mallows ('Folke') and jaccard, first at lambda .5, then at lambda .2.
    (63, 27): ("0.7", "0.7", ("0.7", "0.7", "0.7", "0.54"), ("0.7", "0.7", "0.7", "0.625")),
    (81, 81): ("0.5", "0.9", ("0.7", "0.64", "0.67", "0.47"), ("0.58", "0.55", "0.56", "0.49")),
    (45, 5): ("0.9", "0.5", ("0.7", "0.64", "0.67", "0.47"), ("0.82", "0.7759", "0.8", "0.66")),
}
"""The F-measure of (.9, .5) at lambda .2 is .7759, which the paper prints truncated, as .77."""


@pytest.mark.parametrize("row", TABLE_1)
def test_table_1(row: tuple[int, int]) -> None:
    """H&N section 3.3, table 1: 24 cells."""
    precision, recall, *columns = TABLE_1[row]
    values = values_of(row, 90, [0.5, 0.2, 0.0, 1.0])
    for k, printed in enumerate(columns):
        for index, cell in zip(INDICES, printed, strict=True):
            assert as_printed(values[index][k], cell) == cell, (index, k)
    for index in INDICES:
        # 'f(0) = pre et f(1) = rec' (section 4.1).
        assert [as_printed(value, precision) for value in values[index][2:3]] == [precision]
        assert [as_printed(value, recall) for value in values[index][3:]] == [recall]


def as_printed(value: float, cell: str) -> str:
    """A value rounded to as many digits as the paper prints."""
    return f"{value:.{len(cell) - 2}f}"


def test_printed_f_measure_is_cut() -> None:
    """H&N table 1 prints .77 for .7759: truncated, not rounded."""
    value = values_of((45, 5), 90, [0.2])["f_measure"][0]
    assert value == pytest.approx(0.9 * 0.5 / (0.2 * 0.9 + 0.8 * 0.5), rel=1e-14)
    assert math.floor(100 * value) == 77


@pytest.mark.parametrize("at_lambda", [0.0, 0.2, 0.5, 0.8, 1.0])
def test_equal_precision_and_recall(at_lambda: float) -> None:
    """H&N section 3.3: 'for pre = rec, Kulczynski, F-measure and Folke give the same value whatever lambda is';
    'Jaccard punishes that lambda comes near 0.5'.
    """
    values = {index: found[0] for index, found in values_of((63, 27), 90, [at_lambda]).items()}
    for index in ("kulczynski", "f_measure", "fowlkes_mallows"):
        assert values[index] == pytest.approx(0.7, rel=1e-14)
    # J = p / (w(l) + w(1 - l) - v(l) p) with p = r.
    near = 1 - abs(1 - 2 * at_lambda)
    assert values["jaccard"] == pytest.approx(0.7 / (1 + near * 0.3), rel=1e-14)


def test_figure_3() -> None:
    """H&N figure 3: a group of precision .85 and recall .5, where 'the ends of the curves are precision and recall'."""
    for ends in values_of((85, 15), 170, [0.0, 1.0]).values():
        assert ends == pytest.approx([0.85, 0.5], rel=1e-14)


SELECTION = Counts(np.array([100.0]), np.array([10.0]), 130.0, 124.0, np.array([0.74]))
"""One row with 100 of 130 true positives and 10 of 124 false ones.

f_measure prefers the least (c P + fp)/tp with c = lambda/(1 - lambda). The row and the all-positive one are equal at
c P (P - tp) = N tp - fp P, which is c 3900 = 11100: lambda = 37/50 = .74.
"""

ALL_POSITIVE_FROM = {
    # p is 10/11 and 65/127, r is 10/13 and 1: (1 - l) (10/11 - 65/127) = l 3/13.
    "kulczynski": (10 / 11 - 65 / 127) / (10 / 11 - 65 / 127 + 3 / 13),
    "f_measure": 0.74,
    # (1 - l) log(254/110) = log(130/100).
    "fowlkes_mallows": 1 - math.log(1.3) / math.log(254 / 110),
    # c = 1 / (2 (1 - l)) beyond one half.
    "jaccard": 1 - 13 / 74,
}


@pytest.mark.parametrize("index", INDICES)
def test_selection_of_a_model(index: str) -> None:
    """H&N section 5.1: 'For the last interval (lambda > 0.74) the best is the whole matrix'; it tells nothing."""
    found = selection(TradeoffOptions())[index]
    expected = ALL_POSITIVE_FROM[index]
    assert found.uninformative_from == pytest.approx(expected, rel=1e-14)
    assert found.optimal.lambda_from.tolist() == [0.0, found.uninformative_from]
    assert found.optimal.lambda_to.tolist() == [found.uninformative_from, 1.0]
    assert found.optimal.tp.tolist() == [100.0, 130.0]
    assert found.optimal.fp.tolist() == [10.0, 124.0]
    assert found.optimal.threshold[0] == 0.74
    assert math.isnan(found.optimal.threshold[1])


@pytest.mark.parametrize("index", INDICES)
def test_selection_under_bounds(index: str) -> None:
    """H&N section 5.1: 'with a minimal precision, it is enough to consider the curves that start above it'."""
    precise = selection(TradeoffOptions(min_precision=0.9))[index]
    assert (precise.optimal.tp.tolist(), precise.uninformative_from) == ([100.0], None)
    complete = selection(TradeoffOptions(min_recall=0.8))[index]
    assert (complete.optimal.tp.tolist(), complete.uninformative_from) == ([130.0], 0.0)


def selection(options: TradeoffOptions) -> dict[str, Tradeoff]:
    """The result for the rows above."""
    return evaluate_tradeoffs(SELECTION, options).tradeoffs


def test_domain_of_application() -> None:
    """H&N section 4.1: 'the domain of application of Kulczynski's index is much smaller than that of the others'.

    It is what lies above the curve of the group with all the data: with 5 % positives, less than half; of the others
    more than two thirds.
    """
    found = evaluate_tradeoffs(Rows([], [], 5, 95).counts()).tradeoffs
    domain = {index: 1 - tradeoff.area for index, tradeoff in found.items()}
    assert domain["kulczynski"] == pytest.approx(0.475, rel=1e-14)
    assert domain["fowlkes_mallows"] == pytest.approx(1 - 0.95 / math.log(20), rel=1e-14)
    assert domain["f_measure"] == pytest.approx(1 - math.log(20) / 19, rel=1e-14)
    assert min(domain[index] for index in INDICES[1:]) > 2 / 3


def test_perfect_and_empty_groups() -> None:
    """H&N section 4.1: 'The perfect group is the line f = 1', and 'groups without intersection are the line f = 0'."""
    at = np.array([0.0, 0.3, 0.5, 1.0])
    for tradeoff in evaluate_tradeoffs(Rows([5], [0], 5, 7).counts(), TradeoffOptions(at_lambda=at)).tradeoffs.values():
        assert tradeoff.at is not None
        assert tradeoff.at.value.tolist() == [1.0, 1.0, 1.0, 1.0]
        assert tradeoff.uninformative_from is None
    for tradeoff in evaluate_tradeoffs(Rows([0, 0], [1, 7], 5, 7).counts()).tradeoffs.values():
        # A row without a true positive is never the best: the all-positive row is left alone.
        assert tradeoff.optimal.tp.tolist() == [5.0]
        assert tradeoff.uninformative_from == 0.0


def test_dominated_points_are_never_optimal() -> None:
    """H&N section 4.2, figures 1 and 4: 'The dominated points have their curve below the optimal curve everywhere.'"""
    # (60, 30) has less precision and less recall than (63, 27).
    for tradeoff in evaluate_tradeoffs(Rows([45, 60, 63, 81], [5, 30, 27, 81], 90, 1000).counts()).tradeoffs.values():
        assert 60.0 not in tradeoff.optimal.tp.tolist()


def test_optimal_curve_is_neither_the_dominating_points_nor_the_hull() -> None:
    """H&N section 5.1: the best rows 'are neither the dominating points nor the convex hull, except for Kulczynski'.

    (63, 27) has precision .7 and recall .7. On the straight line in precision and recall between its neighbours
    (.9, .5) and (.5, .9), it is no vertex of their hull; the other indices prefer it around lambda .5.
    """
    found = evaluate_tradeoffs(Rows([45, 63, 81], [5, 27, 81], 90, 1000).counts()).tradeoffs
    rows = {index: tradeoff.optimal.tp.tolist() for index, tradeoff in found.items()}
    assert rows["kulczynski"] == [45.0, 81.0, 90.0]
    assert rows["f_measure"] == rows["jaccard"] == rows["fowlkes_mallows"] == [45.0, 63.0, 81.0, 90.0]
