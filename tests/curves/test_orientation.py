"""On which side of a chord points lie, against fractions."""

from __future__ import annotations

import numpy as np
import pytest

from service.curves.confusion import ConfusionTable
from service.curves.counts import Counts
from service.curves.orientation import CountSpace
from tests.reference_sweep import curve, side

pytestmark = pytest.mark.usefixtures("loops")


def table_of(tp: np.ndarray, fp: np.ndarray) -> ConfusionTable:
    return ConfusionTable.of(Counts(tp, fp, float(tp.max()), float(fp.max())))


def steps(random: np.random.Generator, step: float) -> np.ndarray:
    """Tp and fp that grow by up to two steps at a time."""
    return np.cumsum(random.integers(0, 3, (2, 40)) * step, axis=1)


TABLES = {
    "whole": lambda random: steps(random, 1.0),
    "whole beyond products": lambda random: steps(random, 2.0**45),
    "fractional": lambda random: steps(random, 0.1),
    "on one line, rounded": lambda random: np.outer([0.3, 0.7], np.sort(random.random(40))),
    "tiny": lambda random: steps(random, 0.1) * 1e-149,
    "of which products underflow": lambda random: np.append(steps(random, 0.1) * 1e-170, [[1.0], [1.0]], axis=1),
}


@pytest.mark.parametrize("every", [1, 2])
@pytest.mark.parametrize("kind", TABLES)
def test_each_row_turns_as_fractions_say(kind: str, every: int) -> None:
    table = table_of(*TABLES[kind](np.random.default_rng(5)))
    exact = curve(table.tp, table.fp).rows
    rows = np.arange(0, table.tp.size, every)
    expected = [side(exact[a], exact[b], exact[c]) for a, b, c in zip(rows, rows[1:], rows[2:], strict=False)]
    assert np.sign(CountSpace.of(table).turns(rows)).tolist() == expected


def test_rows_of_several_tables_follow_one_another() -> None:
    one, other = table_of(*np.array([[1.0, 4], [2, 4]])), table_of(*np.array([[3.0, 4], [2, 4]]))
    points = CountSpace.of(one, other)  # (0, 0), (2, 1), (4, 4); (0, 0), (2, 3), (4, 4)
    a, b, c = np.array([0, 0, 3]), np.array([1, 4, 1]), np.array([2, 5, 4])
    assert np.sign(points.orientation(a, b, c)).tolist() == [-1, 1, -1]
