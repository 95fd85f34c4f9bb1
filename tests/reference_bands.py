"""Bands of curves, slow and obvious: the polygon of a ROC curve, moved corner by corner, and read segment by segment.

Campbell 1994: the band is bounded by the curve moved up and left, and by the curve moved down and right. The distance
of two curves is that along the direction in which both are moved. Nothing here may import the service.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

Corners = Sequence[tuple[float, float]]
"""The corners of a ROC curve, (fpr, tpr), both rising, from (0, 0) to (1, 1)."""


def heights(corners: Corners, at: float) -> list[float]:
    """The heights that a polygon has at a place: one, or both ends of a vertical step."""
    found = []
    for (x, y), (right, up) in pairwise(corners):
        if x <= at <= right:
            found += [y, up] if x == right else [y + (up - y) * (at - x) / (right - x)]
    return found


def roc_ends(corners: Corners, at: float, up: float, left: float) -> tuple[float, float]:
    """The ends of the true positive rate at a false positive rate."""
    higher = [(x - left, y + up) for x, y in corners]
    lower = [(x + left, y - up) for x, y in corners]
    least = min(heights(lower, at), default=0.0)
    most = max(heights(higher, at), default=1.0)
    if at >= 1 - left:
        most = 1.0
    return max(least, 0.0), min(most, 1.0)


def pr_ends(corners: Corners, at: float, up: float, left: float, totals: tuple[float, float]) -> tuple[float, float]:
    """The ends of the precision at a recall: of the points of this recall between both moved curves."""
    if at == 0:
        return 0.0, 1.0
    turned = [(y, x) for x, y in corners]
    least = min(heights([(y + up, x - left) for y, x in turned], at), default=0.0)
    most = max(heights([(y - up, x + left) for y, x in turned], at), default=1.0)
    positives, negatives = totals
    found = at * positives
    rates = min(max(most, 0.0), 1.0), min(max(least, 0.0), 1.0)
    lower, upper = (found / (found + rate * negatives) for rate in rates)
    return lower, upper


def distance(one: Corners, other: Corners, sizes: tuple[float, float]) -> float:
    """How far two curves are apart: up by d √m_P and left by e √m_N, in equal parts, the most along both."""
    scales = math.sqrt(sizes[1]), math.sqrt(sizes[0])
    turned = [
        [(scales[0] * x + scales[1] * y, scales[1] * y - scales[0] * x) for x, y in corners] for corners in (one, other)
    ]
    places = [place for corners in turned for place, _ in corners]
    return max(abs(a - b) for place in places for a in _near(turned[0], place) for b in _near(turned[1], place))


def _near(corners: Corners, at: float) -> list[float]:
    """The height of a polygon that never goes straight up; beyond its ends that of the end."""
    inside = min(max(at, corners[0][0]), corners[-1][0])
    return heights([*corners], inside)[:1]
