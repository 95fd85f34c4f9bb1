"""Orientations of triples of points, all at once and in blocks, against fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from service.curves.confusion import ConfusionTable
from service.curves.counts import Counts
from service.curves.hull import RocHull, roc_convex_hull
from service.curves.orientation import CountSpace


def table_of(tp: np.ndarray, fp: np.ndarray) -> ConfusionTable:
    return ConfusionTable.of(Counts(tp, fp, float(tp.max()), float(fp.max())))


def sign(table: ConfusionTable, a: int, b: int, c: int) -> int:
    """The sign of the determinant, in fractions."""
    (xa, ya), (xb, yb), (xc, yc) = ((Fraction(table.fp[k]), Fraction(table.tp[k])) for k in (a, b, c))
    determinant = (yb - ya) * (xc - xa) - (xb - xa) * (yc - ya)
    return (determinant > 0) - (determinant < 0)


TABLES = {
    "whole": lambda random, size=40: np.cumsum(random.integers(0, 3, (2, size)), axis=1).astype(np.float64),
    "whole beyond products": lambda random, size=40: np.cumsum(random.integers(0, 3, (2, size)) * 2.0**45, axis=1),
    "fractional": lambda random, size=40: np.cumsum(random.integers(0, 3, (2, size)) * 0.1, axis=1),
    "on one line, rounded": lambda random, size=40: np.outer([0.3, 0.7], np.sort(random.random(size))),
    "tiny": lambda random, size=40: np.cumsum(random.integers(0, 3, (2, size)) * 0.1, axis=1) * 1e-149,
    "of which products underflow": lambda random, size=40: np.append(
        np.cumsum(random.integers(0, 3, (2, size - 1)) * 0.1, axis=1) * 1e-170, [[1.0], [1.0]], axis=1
    ),
}


@pytest.mark.parametrize("block", [3, 8, 1 << 15])
@pytest.mark.parametrize("kind", TABLES)
def test_signs_in_blocks(kind: str, block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """However it is asked for, an orientation has the exact sign, on both sides of each block's end."""
    monkeypatch.setattr("service.curves.arrays.BLOCK", block)
    table = table_of(*TABLES[kind](np.random.default_rng(5)))
    points = CountSpace.of(table)
    rows = np.arange(table.tp.size)
    for some in (rows, rows[::2]):
        triples = zip(some[:-2], some[1:-1], some[2:], strict=True)
        assert np.sign(points.turns(some)).tolist() == [sign(table, *triple) for triple in triples]
    chain = rows[[0, 7, 19, -1]]
    ends = np.searchsorted(chain[1:-1], rows)
    expected = [sign(table, chain[end], row, chain[end + 1]) for end, row in zip(ends, rows, strict=True)]
    for some in (rows, rows[np.array(expected) >= 0]):
        assert np.sign(points.beside(chain, some)).tolist() == [expected[row] for row in some]


def test_a_row_next_to_the_origin_is_on_neither_side_of_a_line_by_rounding() -> None:
    """Its counts are lost from products of pairs of doubles; the other two and 0 are on one line."""
    for tp, fp, expected in ((3e-39, 3e-38, 1), (3e-39, 0.0, -1), (0.0, 3e-38, 1)):
        rows = np.array([tp, 56733109235985.0, 85366888801476.0]), np.array([fp, 397131764651895.0, 597568221610332.0])
        table = table_of(*rows)
        assert sign(table, 1, 2, 3) == expected
        assert np.sign(CountSpace.of(table).turns(np.array([1, 2, 3]))).tolist() == [expected]


@pytest.mark.parametrize("repeats", [1, 3])
@pytest.mark.parametrize("kind", TABLES)
def test_a_long_table_has_the_hull_of_a_short_one(kind: str, repeats: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Looking at a few rows first changes nothing, whichever of several equal rows these are."""
    tp, fp = TABLES[kind](np.random.default_rng(7), 3_000)
    table = table_of(np.repeat(tp, repeats), np.repeat(fp, repeats))
    expected = RocHull.of(table)
    monkeypatch.setattr("service.curves.hull._LONG_TABLE", 0)
    found = RocHull.of(table)
    assert found.outer.size < table.tp.size
    assert found.vertices.tolist() == expected.vertices.tolist()
    assert found.boundary.tolist() == expected.boundary.tolist()


@pytest.mark.parametrize("decades", [6, 300])
def test_curves_over_many_decades_take_few_passes(decades: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where nearly all rows are vertices, nothing can be pruned, and pruning takes a round per decade or more."""
    size = 20_000
    fp = 10.0 ** np.linspace(-decades / 2, decades / 2, size)
    tp = np.sqrt(fp)
    tp[1:-1:20] *= 1 - (tp[1] / tp[0] - 1) / 2
    table = table_of(np.maximum.accumulate(tp) / tp[-1], fp / fp[-1])
    passes: list[int] = []
    turns = CountSpace.turns

    def counted(self: CountSpace, rows: np.ndarray) -> np.ndarray:
        passes.append(rows.size)
        return turns(self, rows)

    monkeypatch.setattr(CountSpace, "turns", counted)
    monkeypatch.setattr("service.curves.hull.prune", None)
    assert roc_convex_hull(table).size > 0.9 * size
    assert len(passes) <= 4


def test_boundary_of_a_long_table_is_found_once() -> None:
    hull = RocHull.of(table_of(np.arange(100_000.0), np.arange(100_000.0) ** 2))
    assert hull.boundary is hull.boundary
