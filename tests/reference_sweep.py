"""What the sweep computes, from the columns that it is given, in fractions: slow and obvious."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction

from tests.reference import Row, Table, correctly_rounded, hull_corners

TableRow = tuple[float, Fraction, Fraction]


def nearest(exact: Fraction) -> float:
    """The nearest double; NaN beyond all of them."""
    try:
        return correctly_rounded(exact)
    except OverflowError:
        return math.nan


def table_rows(
    scores: Sequence[float], labels: Sequence[bool], weights: Sequence[float] | None, *, descending: bool
) -> list[TableRow]:
    """(score, tp, fp) for each distinct score, the most positive one first; a row of weight 0 counts as absent."""
    exact = [Fraction(weight) for weight in weights or [1.0] * len(scores)]
    sample = [row for row in zip(scores, labels, exact, strict=True) if row[2]]
    rows = []
    for cut in sorted({score + 0.0 for score, _, _ in sample}, reverse=descending):
        called = [(label, weight) for s, label, weight in sample if (s >= cut if descending else s <= cut)]
        tp = sum((weight for label, weight in called if label), Fraction(0))
        fp = sum((weight for label, weight in called if not label), Fraction(0))
        rows.append((cut, tp, fp))
    return rows


def curve(tp: Iterable[float], fp: Iterable[float]) -> Table:
    """Rows of counts as a table."""
    rows = tuple(Row(Fraction(t), Fraction(f)) for t, f in zip(tp, fp, strict=True))
    return Table(rows, rows[-1].tp, rows[-1].fp)


def side(a: Row, b: Row, c: Row) -> int:
    """1 if b lies above the chord from a to c, 0 if on it, -1 if under it."""
    determinant = (b.tp - a.tp) * (c.fp - a.fp) - (b.fp - a.fp) * (c.tp - a.tp)
    return (determinant > 0) - (determinant < 0)


def vertices(table: Table) -> list[int]:
    """The first of equal rows at each corner of the upper hull."""
    places = [(row.fp, row.tp) for row in table.rows]
    return list(map(places.index, hull_corners(table)))
