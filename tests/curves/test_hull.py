"""The hull and the corners, on rows small enough to draw."""

from __future__ import annotations

import numpy as np
import pytest

from service.curves.confusion import ConfusionTable
from service.curves.hull import RocHull, drop_collinear, roc_convex_hull
from tests.support.strategies import Rows

pytestmark = pytest.mark.usefixtures("loops")


def table_of(points: list[tuple[int, int]], positives: int, negatives: int) -> ConfusionTable:
    """A table of (tp, fp)."""
    return ConfusionTable.from_counts(
        Rows([t for t, _ in points], [f for _, f in points], positives, negatives).counts()
    )


HULLS = {
    # name: rows (tp, fp) between (0, 0) and (4, 4); whether each row of the table, ends included, is on the hull
    "diagonal": ([(1, 1), (2, 2), (3, 3)], [True, True, True, True, True]),
    "one beneath": ([(1, 2)], [True, False, True]),
    "one above": ([(2, 1)], [True, True, True]),
    "up the left edge": ([(1, 0), (3, 0)], [True, True, True, True]),
    "along the top edge": ([(4, 1), (4, 3)], [True, True, True, True]),
    "up the right edge": ([(1, 4), (3, 4)], [True, False, False, True]),
    "along the bottom edge": ([(0, 1), (0, 3)], [True, False, False, True]),
    "a vertical step inside": ([(1, 1), (3, 1)], [True, False, True, True]),
    "equal rows on it": ([(2, 1), (2, 1)], [True, True, True, True]),
    "equal rows beneath it": ([(1, 2), (1, 2)], [True, False, False, True]),
    "perfect": ([(4, 0)], [True, True, True]),
    "no rows": ([], [True, True]),
    "no sweep": ([(3, 1), (2, 2)], [True, True, False, True]),
}


@pytest.mark.parametrize("name", HULLS)
def test_the_rows_on_the_hull_are_found(name: str) -> None:
    points, expected = HULLS[name]
    table = table_of(points, 4, 4)
    assert RocHull.of(table).members.tolist() == expected


def test_vertices_leave_collinear_rows_out() -> None:
    table = table_of([(1, 0), (2, 0), (3, 2), (4, 4)], 4, 6)
    found = [(table.tp[i], table.fp[i]) for i in roc_convex_hull(table).tolist()]
    assert found == [(0, 0), (2, 0), (4, 4), (4, 6)]


def test_the_hull_of_a_long_table_may_end_in_many_rows_equal_to_the_last() -> None:
    drawn = np.random.default_rng(20261125)
    for negatives in (2.0, 40_000.0):
        tp = np.append(drawn.integers(0, 2, 6_000).cumsum(), np.full(8_000, 3_050)).astype(np.float64)
        fp = np.minimum(np.append(drawn.random(5_000), np.zeros(9_000)).cumsum(), negatives)
        tp[0] = fp[0] = 0
        fp[tp == tp[-1]] = negatives
        hull = RocHull.of(ConfusionTable(np.full(tp.size, np.nan), tp, fp, tp[-1], negatives))
        distinct = np.flatnonzero(np.append(True, (np.diff(tp) != 0) | (np.diff(fp) != 0)))
        short = RocHull.of(
            ConfusionTable(np.full(distinct.size, np.nan), tp[distinct], fp[distinct], tp[-1], negatives)
        )
        assert hull.vertices.tolist() == distinct[short.vertices].tolist()
        place = distinct.searchsorted(np.arange(tp.size), side="right") - 1
        assert hull.members.tolist() == short.members[place].tolist()
        assert hull.boundary.tolist() == np.flatnonzero(hull.members).tolist()


CORNERS = {
    "straight": ([(1, 1), (2, 2)], [True, False, False, True]),
    "one corner": ([(1, 2)], [True, True, True]),
    "stairs": ([(1, 0), (1, 1), (2, 1), (2, 2)], [True, True, True, True, True, True]),
    "equal rows at a corner": ([(1, 2), (1, 2), (1, 2)], [True, True, False, False, True]),
    "equal rows on a line": ([(2, 2), (2, 2)], [True, False, False, True]),
    "no sweep": ([(2, 1), (1, 2), (1, 2)], [True, True, True, True, True]),
}


@pytest.mark.parametrize("name", CORNERS)
def test_the_corners_of_the_curve_are_found(name: str) -> None:
    points, expected = CORNERS[name]
    assert drop_collinear(table_of(points, 4, 4)).tolist() == np.flatnonzero(expected).tolist()


def test_a_corner_may_turn_either_way() -> None:
    table = table_of([(1, 3), (3, 4)], 4, 6)
    assert drop_collinear(table).tolist() == [0, 1, 2, 3]
    assert RocHull.of(table).members.tolist() == [True, False, True, True]
