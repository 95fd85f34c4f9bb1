"""The distance between two drawn curves, and the whole curves to compare with: slow, obvious, point by point.

A curve is a polyline in pixels. The whole PR curve is read off at many recalls between any two rows, in fractions.
Nothing here may import the service.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from tests.reference import Row, Table
from tests.reference_pr import fp_between, precision_along

Polyline = NDArray[np.float64]
"""Points, (n, 2)."""

STEP = 0.04
"""Pixels between the points whose distance from the other curve is measured: the result is good to half of that."""


def roc_curve(table: Table, side: float) -> Polyline:
    """All rows, with straight lines between them."""
    return side * np.array([(float(row.fp / table.negatives), float(row.tp / table.positives)) for row in table.rows])


def pr_curve(table: Table, side: float, pieces: int = 60) -> Polyline:
    """All rows, and points between them, linear in counts; the points are denser near the first row.

    A curve that begins with few called positive bends most there.
    """
    points = [_pr_point(table, table.rows[0])]
    for a, b in table.steps():
        for piece in range(1, pieces + 1) if b.tp > a.tp else (pieces,):
            t = a.tp + (b.tp - a.tp) * Fraction(piece, pieces) ** 4
            fp = fp_between(a, b, t) if b.tp > a.tp else b.fp
            points.append(_pr_point(table, Row(t, fp)))
    return side * np.array(points)


def _pr_point(table: Table, row: Row) -> tuple[float, float]:
    return float(row.tp / table.positives), float(precision_along(table, row.tp, row.fp))


def selected(table: Table, rows: Sequence[int]) -> Table:
    """The table of some of the rows."""
    return Table(tuple(table.rows[row] for row in rows), table.positives, table.negatives)


def apart(a: Polyline, b: Polyline) -> float:
    """The distance of the farthest point of either curve from the other."""
    return max(_furthest(a, b), _furthest(b, a))


def _furthest(curve: Polyline, other: Polyline) -> float:
    """The distance of the farthest of many points along a curve from the other curve."""
    points = _along(curve)
    starts, steps = (other[:-1], np.diff(other, axis=0)) if len(other) > 1 else (other, np.zeros((1, 2)))
    squares = (steps**2).sum(axis=1)
    furthest = 0.0
    for chunk in np.array_split(points, len(points) * len(starts) // 1_000_000 + 1):
        offsets = chunk[:, np.newaxis] - starts
        share = np.clip((offsets * steps).sum(axis=2) / np.where(squares > 0, squares, 1), 0, 1)
        offsets -= share[..., np.newaxis] * steps
        furthest = max(furthest, float(np.hypot(offsets[..., 0], offsets[..., 1]).min(axis=1).max()))
    return furthest


def _along(curve: Polyline) -> Polyline:
    """The points of a polyline, and more between them, at most STEP apart."""
    points = [curve[:1]]
    for a, b in itertools.pairwise(curve):
        count = int(np.ceil(np.hypot(*(b - a)) / STEP))
        points.append(a + (b - a) * np.arange(1, count + 1)[:, np.newaxis] / max(count, 1))
    return np.concatenate(points)
