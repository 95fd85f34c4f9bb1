"""Which groups share scores, which a threshold divides, and how they merge."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest

from service.curves.confusion import ConfusionTable
from service.curves.errors import GroupsOverlap
from service.curves.histogram import Histogram

MOST = float(np.finfo(np.float64).max)


def columns(ends: list[tuple[float, float]], **options: Any) -> Histogram:
    """Groups with these ends; the first has 1 positive and 2 negatives, the next 2 and 3, and so on."""
    positives = np.arange(1.0, len(ends) + 1)
    return Histogram(*np.array(ends, dtype=np.float64).T, (positives, positives + 1), **options)


@pytest.mark.parametrize(
    ("ends", "closed", "united"),
    [
        ([(0, 1), (1, 2)], "both", [(0, 2)]),
        ([(0, 1), (1, 2)], "left", [(0, np.nextafter(1, 0)), (1, np.nextafter(2, 0))]),
        ([(0, 1), (1, 2)], "right", [(5e-324, 1), (np.nextafter(1, 2), 2)]),
        ([(1, 2), (0, 1), (3, 3), (3, 3)], "both", [(0, 2), (3, 3)]),
        ([(0, 5), (1, 2), (4, 6), (7, 8)], "both", [(0, 6), (7, 8)]),
        ([(0, 1), (5, 6), (6, 7)], "both", [(0, 1), (5, 7)]),
        ([(0, 5), (1, 2), (np.nextafter(5, 6), 6)], "both", [(0, 5), (np.nextafter(5, 6), 6)]),
        ([(-0.0, -0.0), (0, 0), (-1, -1)], "both", [(-1, -1), (0, 0)]),
        ([(-1, -0.0), (0.5, 0.5)], "both", [(-1, 0), (0.5, 0.5)]),
        ([(0.5, 0.5)], "left", [(0.5, 0.5)]),
        ([(-MOST, -MOST), (0, 1)], "left", [(-MOST, -MOST), (0, np.nextafter(1, 0))]),
        ([(MOST, MOST), (0, 1)], "right", [(5e-324, 1), (MOST, MOST)]),
    ],
)
def test_different_groups_with_a_score_in_common_are_refused(
    ends: list[tuple[float, float]], closed: str, united: list[tuple[float, float]]
) -> None:
    given = columns(ends, closed=closed)
    if len(united) == len(set(ends)):
        assert given.merged().score_from.tolist() == [low for low, _ in reversed(united)]
    else:
        with pytest.raises(GroupsOverlap):
            given.merged()


def test_zero_has_one_sign() -> None:
    found = columns([(-0.0, 1.0), (-1.0, -0.5), (-2.0, -2.0)]).merged()
    assert np.signbit(found.score_from).tolist() == [False, True, True]


@pytest.mark.parametrize("is_open", [False, True])
@pytest.mark.parametrize("order", ["rising", "falling", "any"])
def test_the_order_in_which_groups_are_given_does_not_matter(order: str, is_open: bool) -> None:  # noqa: FBT001  # a case's value
    ends = [(float(place), place + is_open / 2) for place in range(100)]
    given = columns(ends)
    order_of_rows = {"rising": np.arange(100), "falling": np.arange(99, -1, -1), "any": np.arange(100) * 37 % 100}
    found = given.take(order_of_rows[order]).merged()
    assert list(zip(found.score_from.tolist(), found.score_to.tolist(), strict=True)) == ends[::-1]
    assert found.masses[0].tolist() == given.masses[0][::-1].tolist()
    assert found.masses[1].tolist() == given.masses[1][::-1].tolist()


def test_groups_in_order_are_not_copied() -> None:
    given = columns([(score, score) for score in np.arange(1.0, 100_001.0)])
    tracemalloc.start()
    found = given.merged()
    _, merging = tracemalloc.get_traced_memory()
    tracemalloc.reset_peak()
    table = ConfusionTable.of(found)
    _, both = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert table.tp.size == 100_001
    assert merging < 8 * given.rows  # not a column of doubles
    assert both < 8 * 4 * given.rows  # the table's three columns


@pytest.mark.parametrize("lower", [False, True])
def test_a_threshold_divides_what_it_calls_positive_in_part(lower: bool) -> None:  # noqa: FBT001  # a case's value
    """A threshold calls scores equal to it positive: at one end of [0, 1] all of them, at the other only that end."""
    ends = [(0.0, 1.0), (2.0, 2.0), (3.0, 4.0)]
    places = [-1.0, 0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 3.5, 4.0, 5.0]
    if lower:
        ends, places = [(-high, -low) for low, high in ends], [-place for place in places]
    found = columns(ends, lower_is_positive=lower).merged()
    divided = [False, False, True, True, False, False, False, True, True, False]
    assert found.divided_by(np.array(places, np.float64)).tolist() == divided
