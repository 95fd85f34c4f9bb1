"""Clustered rows, slow and obvious: variances from what each row moves, added up cluster by cluster.

Sources: Obuchowski 1997; Kish 1965; Bell & McCaffrey 2002 for Satterthwaite's degrees of freedom; Korn & Graubard 1998
for proportions. Nothing here may import the service.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import mpmath

from tests import reference_inference as inference
from tests import reference_spread as spread
from tests.reference_gate import Rule
from tests.support.strategies import Data


@dataclass(frozen=True)
class Moved:
    """A row of positive weight: its class, cluster and weight, and how far it moves an area."""

    positive: bool
    cluster: Any
    weight: Any
    by: Any


def moved(data: Data, clusters: Sequence[Any], influences: Sequence[Any]) -> list[Moved]:
    """v = w (u - ū)/Σ w of each row of positive weight, given its influence u."""
    weights = [inference.exactly(weight) for weight in data.weights or [1.0] * len(data.labels)]
    there = [row for row, weight in enumerate(weights) if weight > 0]
    out = []
    for place, row in enumerate(there):
        own = [other for other, each in enumerate(there) if data.labels[each] == data.labels[row]]
        total = sum(weights[there[other]] for other in own)
        mean = sum(weights[there[other]] * influences[other] for other in own) / total
        by = weights[row] * (influences[place] - mean) / total
        out.append(Moved(data.labels[row], clusters[row], weights[row], by))
    return out


def of_area(data: Data, clusters: Sequence[Any], rule: Rule) -> list[Moved]:
    """The moves of an area."""
    with mpmath.workdps(inference.DIGITS):
        return moved(data, clusters, spread.moves(data, rule))


def of_difference(one: Data, other: Data, clusters: Sequence[Any], rule: Rule) -> list[Moved]:
    """The moves of the difference of an area, of two models of the same rows."""
    with mpmath.workdps(inference.DIGITS):
        both = (spread.moves(each, rule) for each in (one, other))
        return moved(one, clusters, [u - v for u, v in zip(*both, strict=True)])


def masses(rows: Sequence[Moved], *, positive: bool) -> dict[Any, Any]:
    """The weight of a class in each cluster that has some."""
    found: dict[Any, Any] = {}
    for row in rows:
        if row.positive == positive:
            found[row.cluster] = found.get(row.cluster, 0) + row.weight
    return found


def kish(weights: Sequence[Any]) -> Any:
    """(Σ w)²/Σ w²."""
    return sum(weights) ** 2 / sum(weight**2 for weight in weights)


def units(rows: Sequence[Moved]) -> tuple[Any, Any]:
    """The effective clusters of positives and of negatives."""
    one, other = (kish([*masses(rows, positive=side).values()]) for side in (True, False))
    return one, other


def sizes(rows: Sequence[Moved]) -> tuple[Any, Any]:
    """The effective rows of both classes."""
    one, other = (kish([row.weight for row in rows if row.positive == side]) for side in (True, False))
    return one, other


def c(m: Any) -> Any:
    """m/(m - 1)."""
    return m / (m - 1)


def sums(rows: Sequence[Moved], *, positive: bool) -> dict[Any, Any]:
    """V of a class in each cluster."""
    found: dict[Any, Any] = {}
    for row in rows:
        if row.positive == positive:
            found[row.cluster] = found.get(row.cluster, 0) + row.by
    return found


def variance(rows: Sequence[Moved], others: Sequence[Moved] = ()) -> Any:
    """c(m1) Σ V1² + c(m0) Σ V0² + 2 c(min(m1, m0)) Σ V1 V0; of a difference, of V less that of the others.

    Each evaluation's V is multiplied by the root of its own c.
    """
    with mpmath.workdps(inference.DIGITS):
        parts = []
        for sign, each in ((1, rows), (-1, others)):
            if each:
                m1, m0 = units(each)
                parts.append((sign, sums(each, positive=True), sums(each, positive=False), m1, m0))
        clusters = {row.cluster for row in (*rows, *others)}
        total = mpmath.mpf(0)
        for g in clusters:
            one = sum(sign * mpmath.sqrt(c(m1)) * v1.get(g, 0) for sign, v1, _, m1, _ in parts)
            other = sum(sign * mpmath.sqrt(c(m0)) * v0.get(g, 0) for sign, _, v0, _, m0 in parts)
            both_one = sum(sign * mpmath.sqrt(c(min(m1, m0))) * v1.get(g, 0) for sign, v1, _, m1, m0 in parts)
            both_other = sum(sign * mpmath.sqrt(c(min(m1, m0))) * v0.get(g, 0) for sign, _, v0, m1, m0 in parts)
            total += one**2 + other**2 + 2 * both_one * both_other
        return max(total, mpmath.mpf(0))


def of_rows(rows: Sequence[Moved]) -> Any:
    """The variance as if rows were independent."""
    m1, m0 = sizes(rows)
    return sum(c(m1 if row.positive else m0) * row.by**2 for row in rows)


def jump(rows: Sequence[Moved], others: Sequence[Moved] = ()) -> Any:
    """Σ |V|³/Σ V², with V of both classes of a cluster together."""
    total: dict[Any, Any] = {}
    for sign, each in ((1, rows), (-1, others)):
        for row in each:
            total[row.cluster] = total.get(row.cluster, 0) + sign * row.by
    squares = sum(v**2 for v in total.values())
    return sum(abs(v) ** 3 for v in total.values()) / squares if squares else mpmath.mpf(0)


def freedom(of_clusters: Sequence[Any], rows: Any, effect: Any) -> Any:
    """(Σ w)²/Σ w² with w = M (1 - r) + M² r, r = (d - 1)/(s - 1), for masses M in effective rows."""
    total = sum(of_clusters)
    in_rows = [mass * rows / total for mass in of_clusters]
    size = sum(mass**2 for mass in in_rows) / sum(in_rows)
    r = min(max((effect - 1) / (size - 1), 0), 1) if size > 1 + 1e-12 else 0
    weights = [mass * (1 - r) + mass**2 * r for mass in in_rows]
    return max(sum(weights) ** 2 / sum(weight**2 for weight in weights), 1.25)


def least_freedom(rows: Sequence[Moved], effect: Any) -> Any:
    """The lesser of both classes."""
    of_both = zip((True, False), sizes(rows), strict=True)
    return min(freedom([*masses(rows, positive=side).values()], size, effect) for side, size in of_both)


def trials(rows: Sequence[Moved], effect: Any) -> tuple[Any, Any]:
    """Rows of either class for each of the effect, no fewer than clusters, and no more than rows."""
    one, other = (min(max(size / max(effect, 1), m), size) for size, m in zip(sizes(rows), units(rows), strict=True))
    return one, other


def widened(z: float, m: float) -> float:
    """Student's quantile, its first terms."""
    return z + (z**3 + z) / (4 * (m - 1))


def share_trials(values: Sequence[float], weights: Sequence[float], clusters: Sequence[Any], rows: float) -> float:
    """Σ w (x - p)²/Σ w over m/(m - 1) Σ_g (Σ w (x - p))²/(Σ w)²; the clusters if they do not differ."""
    total = math.fsum(weights)
    mean = math.fsum(w * x for w, x in zip(weights, values, strict=True)) / total
    deviations: dict[Any, float] = {}
    of_clusters: dict[Any, float] = {}
    for g, w, x in zip(clusters, weights, values, strict=True):
        deviations[g] = deviations.get(g, 0) + w * (x - mean) / total
        of_clusters[g] = of_clusters.get(g, 0) + w
    m = kish([*of_clusters.values()])
    squares = math.fsum(d * d for d in deviations.values())
    spread_of_rows = math.fsum(w * (x - mean) ** 2 for w, x in zip(weights, values, strict=True)) / total
    if squares * m <= 1e-12 * spread_of_rows or m <= 1:
        return min(m, rows)
    return min(max(spread_of_rows / (c(m) * squares), 1.0), rows)
