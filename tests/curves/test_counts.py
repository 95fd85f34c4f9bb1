"""The totals of counts, computed from columns or given, and what contradicts them."""

from __future__ import annotations

import numpy as np
import pytest

from service.curves.counts import Counts, total
from service.curves.errors import ContradictingTotals, LengthsDiffer, TotalOutOfRange

NAMES = ("tp", "fn", "positives")


def total_of(hits: list[float], misses: list[float], stated: float | None = None) -> float:
    """P from tp and fn; a given P must not contradict it."""
    return total(np.array(hits), np.array(misses), stated, NAMES)


def test_total_of_columns() -> None:
    assert total_of([1.0, 5.0], [19.0, 15.0]) == 20.0


def test_stated_total_with_columns() -> None:
    assert total_of([1.0, 5.0], [19.0, 15.0], 20.0) == 20.0


@pytest.mark.parametrize(
    ("hits", "misses", "stated"),
    [
        ([1.0, 5.0], [19.0, 14.0], None),
        ([1.0, 5.0], [19.0, 15.0], 21.0),
        ([1.0, 2.0**52], [2.0**53 - 1, 2.0**52 - 1], None),
        ([0.25, 0.5], [0.75, 0.5 + 2.0**-47], None),
        ([0.25, 0.5], [0.75, 0.5], 1 + 2.0**-47),
    ],
)
def test_contradicting_totals(hits: list[float], misses: list[float], stated: float | None) -> None:
    with pytest.raises(ContradictingTotals):
        total_of(hits, misses, stated)


def test_totals_that_only_doubles_confuse() -> None:
    # 2^53 + 1 rounds to 2^53, but the two sums still differ by one.
    with pytest.raises(ContradictingTotals):
        total_of([2.0**53, 2.0**53], [0.0, 1.0])


def test_fractional_misses_were_rounded_when_they_were_made() -> None:
    positives = 0.7
    hits = [0.1, 0.2, 0.3, 0.7]
    assert total_of(hits, [positives - x for x in hits]) == positives


def test_columns_of_other_lengths() -> None:
    with pytest.raises(LengthsDiffer):
        total_of([1.0], [1.0, 2.0])


@pytest.mark.parametrize("positives", [0.0, 1e-151, 1e151])
def test_total_out_of_range(positives: float) -> None:
    with pytest.raises(TotalOutOfRange):
        Counts(np.zeros(1), np.zeros(1), positives, 1.0)
    with pytest.raises(TotalOutOfRange):
        Counts(np.zeros(1), np.zeros(1), 1.0, positives)


@pytest.mark.parametrize("positives", [1e-150, 1e150])
def test_totals_just_in_range(positives: float) -> None:
    assert Counts(np.zeros(1), np.zeros(1), positives, 1.0).positives == positives


def test_a_contradiction_names_its_place() -> None:
    with pytest.raises(ContradictingTotals) as caught:
        Counts(np.array([1.0, 9.0]), np.zeros(2), 5.0, 5.0)
    assert (caught.value.column, caught.value.row) == ("tp", 1)
