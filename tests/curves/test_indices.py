"""The four indices of one row, and means under a Beta density, on paper and against scikit-learn."""

from __future__ import annotations

import math

import numpy as np
import pytest
from sklearn.metrics import fbeta_score, jaccard_score, precision_score, recall_score

from service.curves.density import BetaDensity
from service.curves.tradeoff import Tradeoff, TradeoffOptions, evaluate_tradeoffs
from tests.reference_tradeoff import INDICES
from tests.support.strategies import Rows


def of_one_row(row: Rows, options: TradeoffOptions) -> dict[str, Tradeoff]:
    """The result for one row, with precision 1/2 or more; its only rival is the row that calls everything positive."""
    found = evaluate_tradeoffs(row.counts(), options).tradeoffs
    assert all(tradeoff.optimal.tp.tolist() == row.tp for tradeoff in found.values())
    return found


def f_of(row: Rows, at_lambda: list[float]) -> dict[str, list[float]]:
    """f of one row at some lambdas."""
    found = of_one_row(row, TradeoffOptions(min_precision=0.5, at_lambda=np.array(at_lambda)))
    values = {}
    for index, tradeoff in found.items():
        assert tradeoff.at is not None
        values[index] = tradeoff.at.value.tolist()
    return values


GRID = [0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0]
ONE = Rows([3], [1], 12, 1000)
"""Precision 3/4, recall 1/4."""


def test_ends_are_precision_and_recall() -> None:
    for values in f_of(ONE, [0.0, 1.0]).values():
        assert values == pytest.approx([0.75, 0.25], rel=1e-15)


FORMULAS = {
    # 1/p = 4/3, 1/r = 4. Jaccard: 1/f is 4/3 at 0, 13/3 at one half (13 = 3 + 1 + 9 in the union) and 4 at 1.
    "kulczynski": lambda at: 0.75 - at / 2,
    "f_measure": lambda at: 1 / (4 / 3 + at * 8 / 3),
    "fowlkes_mallows": lambda at: 0.75 * 3**-at,
    "jaccard": lambda at: 1 / (4 / 3 + at * 6) if at <= 0.5 else 1 / (4 + (1 - at) * 2 / 3),
}


@pytest.mark.parametrize("index", INDICES)
def test_values_along_lambda_are_those_of_the_formulas(index: str) -> None:
    assert f_of(ONE, GRID)[index] == pytest.approx([FORMULAS[index](at) for at in GRID], rel=1e-14)


def test_jaccard_at_one_half_is_intersection_over_union() -> None:
    assert f_of(ONE, [0.5])["jaccard"] == pytest.approx([3 / 13], rel=1e-15)


def test_recall_of_a_precise_row_is_jaccards_upper_half() -> None:
    # With p = 1, w(1 - l) - v(l) vanishes beyond one half.
    assert f_of(Rows([3], [0], 12, 1000), [0.5, 0.6, 0.99])["jaccard"] == pytest.approx([0.25] * 3, rel=1e-15)


@pytest.mark.parametrize("beta", [0.25, 0.5, 1.0, 2.0, 3.0])
def test_scikit_learn_agrees(beta: float) -> None:
    """'lambda = beta^2/(1 + beta^2)' for F-beta; Jaccard's index is scikit-learn's at one half."""
    random = np.random.default_rng(3)
    labels = random.random(500) < 0.3
    called = np.where(random.random(500) < 0.8, labels, ~labels)
    tp, fp = int((called & labels).sum()), int((called & ~labels).sum())
    row = Rows([tp], [fp], int(labels.sum()), 10**6)
    values = f_of(row, [beta**2 / (1 + beta**2), 0.5])
    assert values["f_measure"][0] == pytest.approx(fbeta_score(labels, called, beta=beta), rel=1e-14)
    assert values["jaccard"][1] == pytest.approx(jaccard_score(labels, called), rel=1e-14)
    precision, recall = precision_score(labels, called), recall_score(labels, called)
    assert values["kulczynski"][1] == pytest.approx((precision + recall) / 2, rel=1e-14)
    assert values["fowlkes_mallows"][1] == pytest.approx(math.sqrt(precision * recall), rel=1e-14)


def mean_of(index: str, row: Rows, a: float, b: float, lambda_range: tuple[float, float] = (0.0, 1.0)) -> float:
    """The mean of one row's f under Beta(a, b) on a range."""
    options = TradeoffOptions(min_precision=0.5, lambda_range=lambda_range, lambda_density=BetaDensity(a, b))
    return of_one_row(row, options)[index].area


@pytest.mark.parametrize(("a", "b"), [(1.0, 1.0), (2.0, 1.0), (0.01, 0.01), (0.01, 1000.0), (1000.0, 0.01), (7.5, 0.3)])
def test_kulczynski_is_straight_so_its_mean_is_at_the_mean_lambda(a: float, b: float) -> None:
    assert mean_of("kulczynski", ONE, a, b) == pytest.approx(0.75 - a / (a + b) / 2, rel=1e-12)


@pytest.mark.parametrize(("a", "b", "lambda_mean"), [(2.0, 1.0, 1 / 3), (1.0, 2.0, 2 / 9), (1.0, 1.0, 1 / 4)])
def test_density_is_renormalised_on_the_range(a: float, b: float, lambda_mean: float) -> None:
    # On [0, 1/2] the mean lambda under density l is (1/24)/(1/8), under 1 - l it is (1/12)/(3/8).
    assert mean_of("kulczynski", ONE, a, b, (0.0, 0.5)) == pytest.approx(0.75 - lambda_mean / 2, rel=1e-12)


PRECISE = Rows([2], [0], 4, 1000)
"""Precision 1, recall 1/2."""

LOG_2 = math.log(2)

MEANS = {
    # (index, a, b): integrals of 2 (1 - l)/(1 + l), 2 l 2^-l, and of 2 l/(1 + 2 l) to one half, then of 2 l/2.
    ("f_measure", 1.0, 2.0): 4 * LOG_2 - 2,
    ("fowlkes_mallows", 2.0, 1.0): 2 * (1 - (1 + LOG_2) / 2) / LOG_2**2,
    ("jaccard", 2.0, 1.0): 7 / 8 - LOG_2 / 2,
}


@pytest.mark.parametrize(("index", "a", "b"), MEANS)
def test_means_are_the_integrals_worked_out_by_hand(index: str, a: float, b: float) -> None:
    assert mean_of(index, PRECISE, a, b) == pytest.approx(MEANS[index, a, b], rel=1e-12)


@pytest.mark.parametrize("index", INDICES)
def test_a_narrow_density_gives_the_value_of_f(index: str) -> None:
    # Beta(1000, 1000) has mean 1/2 and variance 1/8004: the mean is f at 1/2 plus f''/2 times the variance.
    assert mean_of(index, ONE, 1000.0, 1000.0) == pytest.approx(FORMULAS[index](0.5), rel=0.02)


@pytest.mark.parametrize("index", INDICES)
def test_densities_at_the_ends_read_precision_and_recall_off(index: str) -> None:
    # Beta(.01, 1000) has all but 1e-5 of its mass at 0, Beta(1000, .01) at 1.
    assert mean_of(index, ONE, 0.01, 1000.0) == pytest.approx(0.75, rel=1e-4)
    assert mean_of(index, ONE, 1000.0, 0.01) == pytest.approx(0.25, rel=1e-4)
