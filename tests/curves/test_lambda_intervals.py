"""LambdaIntervals of λ next to 1, whose ends differ only in 1 - λ, and areas that depend on them."""

from __future__ import annotations

import numpy as np
import pytest

from service.curves.counts import Counts
from service.curves.density import BetaDensity
from service.curves.lambda_intervals import LambdaIntervals
from service.curves.tradeoff import TradeoffOptions, evaluate_tradeoffs


def test_a_piece_next_to_one_has_its_length() -> None:
    pieces = LambdaIntervals(
        np.array([0.25, 1.0]), np.array([1.0, 1.0]), np.array([0.75, 3e-20]), np.array([3e-20, 1e-20])
    )
    assert pieces.length.tolist() == [0.75, 3e-20 - 1e-20]


@pytest.mark.parametrize(
    ("row", "totals", "index", "density", "expected"),
    [
        ((9, 2.0**52), (10, 2.0**53), "f_measure", None, 6.74405609359433e-14),
        ((9, 2.0**52), (10, 2.0**53), "f_measure", BetaDensity(1, 0.01), 0.71144281724037509),
        ((9, 1e17), (10, 1e18), "f_measure", BetaDensity(1, 0.01), 0.68826857101147586),
        ((9, 9e11), (10, 9e12), "jaccard", BetaDensity(1, 0.01), 0.76772416970288),
    ],
)
def test_areas_where_the_best_row_changes_next_to_one(
    row: tuple[float, float],
    totals: tuple[float, float],
    index: str,
    density: BetaDensity | None,
    expected: float,
) -> None:
    """The expected values come from 80-digit arithmetic. Most of each density lies within 1e-16 of 1."""
    counts = Counts(np.array([row[0]], dtype=float), np.array([row[1]]), *map(float, totals))
    found = evaluate_tradeoffs(counts, TradeoffOptions(indices=frozenset({index}), lambda_density=density))
    assert found.tradeoffs[index].area == pytest.approx(expected, abs=0, rel=3e-15 if density is None else 1e-14)
