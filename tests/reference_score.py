"""Score intervals, slow and obvious: every end is found by bisection of the equation that its paper states.

Numbers are doubles or mpmath numbers, and a result is of the kind that was given. A z has a sign: ends are below the
estimate for z < 0 and above it for z > 0. Sources: Wilson 1927; Tango 1998; Newcombe 2011, "Propagating imprecision";
McNemar 1947. Nothing here may import the service.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, TypeAlias

import mpmath

from tests import reference_metrics, reference_tradeoff
from tests.reference import Row

Ends: TypeAlias = tuple[Any, Any]
Polygon: TypeAlias = Sequence[tuple[Any, Any]]
"""Corners (x, y), both rising."""

STEPS = 150


def turning_point(holds: Callable[[Any], bool], inside: Any, outside: Any) -> Any:
    """Where a condition stops holding on the way from inside to outside, by bisection."""
    for _ in range(STEPS):
        middle = (inside + outside) / 2
        if middle in (inside, outside):
            break
        if holds(middle):
            inside = middle
        else:
            outside = middle
    return inside


def wilson_end(p: Any, trials: Any, z: Any) -> Any:
    """The q on the side of z with (p - q)² n = z² q (1 - q): the last that z standard errors reach."""
    if z == 0:
        return p
    side = p * 0 + (1 if z > 0 else 0)
    if p == side:
        return p
    # From the far side: at p = 0 or 1 the condition holds at p itself, whatever z.
    return turning_point(lambda q: (p - q) ** 2 * trials > z * z * q * (1 - q), side, p)


def likeliest_nuisance(b: Any, c: Any, difference: Any) -> Any:
    """The q at which b ln(q + Δ) + c ln q + (1 - b - c) ln(1 - 2q - Δ) is greatest: its derivative falls through 0.

    The derivative is multiplied with the three arguments, which are positive between the ends.
    """

    def rises(q: Any) -> bool:
        first, rest = q + difference, 1 - 2 * q - difference
        return bool(b * q * rest + c * first * rest - 2 * (1 - b - c) * q * first > 0)

    return turning_point(rises, max(0 * difference, -difference), (1 - difference) / 2)


def tango_end(b: Any, c: Any, trials: Any, z: Any) -> Any:
    """The Δ on the side of z with (b - c - Δ)² n = z² (2q + Δ(1 - Δ)); b and c are the discordant shares."""

    def within(difference: Any) -> bool:
        q = likeliest_nuisance(b, c, difference)
        variance = 2 * q + difference * (1 - difference)
        return bool((b - c - difference) ** 2 * trials <= z * z * variance)

    found = b - c
    return found if z == 0 else turning_point(within, found, found * 0 + (1 if z > 0 else -1))


def mcnemar_p_value(b: Any, c: Any, trials: Any) -> Any:
    """Two-sided, of (b - c)²/(b + c) as a chi-square of one degree of freedom, b and c being shares."""
    if b == c:
        return mpmath.mpf(1)
    return mpmath.erfc(mpmath.sqrt((b - c) ** 2 * trials / (b + c) / 2))


def directions(z: float) -> list[tuple[float, float]]:
    """An error of z standard errors split between two shares, degree by degree."""
    turns = [mpmath.mpf(degree) / 180 for degree in range(360)]
    return [(z * float(mpmath.cospi(turn)), z * float(mpmath.sinpi(turn))) for turn in turns]


def widest(estimate: Any, values: Sequence[Any]) -> Ends:
    """The range of the values that exist, and of the estimate."""
    known = [estimate, *(value for value in values if value is not None)]
    return min(known), max(known)


def rate(metric: str, at: float | None, recall: float, fpr: float, totals: tuple[float, float]) -> Any:
    """A metric, or an index at λ, of these rates; None if it has no value."""
    positives, negatives = map(Fraction, totals)
    tp, fp = Fraction(recall) * positives, Fraction(fpr) * negatives
    if at is None and metric in (found := reference_metrics.metrics(tp, fp, positives, negatives)):
        return found[metric]
    return reference_tradeoff.value(metric, Row(tp, fp), positives, Fraction(0.5 if at is None else at)) if tp else 0


def rate_ends(
    metric: str, at: float | None, classes: Sequence[tuple[float, float]], totals: tuple[float, float], z: float
) -> Ends:
    """The interval of a rate, from (recall, trials) and (fpr, trials)."""
    (recall, positives), (fpr, negatives) = classes
    values = [
        rate(metric, at, wilson_end(recall, positives, of_recall), wilson_end(fpr, negatives, of_fpr), totals)
        for of_recall, of_fpr in directions(z)
    ]
    return widest(rate(metric, at, recall, fpr, totals), values)


def paired_rate_ends(
    metric: str,
    at: float | None,
    classes: Sequence[tuple[float, float, float, float]],
    totals: tuple[float, float],
    z: float,
) -> Ends:
    """The interval of a rate's difference, for each class from (the share that both call, b, c, trials)."""

    def both(recalls: tuple[float, float], fprs: tuple[float, float]) -> Any:
        one, other = (rate(metric, at, *pair, totals) for pair in zip(recalls, fprs, strict=True))
        return None if one is None or other is None else float(one - other)

    found = [(agreed + b, agreed + c) for agreed, b, c, _ in classes]
    known: list[dict[float, tuple[float, float]]] = [{}, {}]
    values = []
    for split in directions(z):
        for shares, ends, (_, b, c, trials), part in zip(found, known, classes, split, strict=True):
            if part not in ends:
                ends[part] = apart(sum(shares) / 2, tango_end(b, c, trials, part))
        values.append(both(known[0][split[0]], known[1][split[1]]))
    return widest(both(*found), values)


def apart(mean: float, difference: float) -> tuple[float, float]:
    """Two shares with this difference, and with this mean or the nearest that leaves both within 0 and 1."""
    half = abs(difference) / 2
    mean = min(max(mean, half), 1 - half)
    return mean + difference / 2, mean - difference / 2


def heights(polygon: Polygon, place: Any) -> Ends:
    """The lowest and the highest point of a polygon at a place; a vertical segment contains all between its ends."""
    found = []
    for (x, y), (next_x, next_y) in itertools.pairwise(polygon):
        if x <= place <= next_x:
            found += [y, next_y] if x == next_x else [y + (next_y - y) * (place - x) / (next_x - x)]
    return min(found), max(found)


def curve_end(polygon: Polygon, at: Any, trials: tuple[float, float], z: float) -> Any:
    """The end on the side of z of a polygon's height at a place, from the trials of the place and of the height.

    The farthest over all places q of the height there, ((q - at)/spread)² + v² = z² being the error. Within a segment,
    the end rises towards one place and falls behind it.
    """
    side = 1 if z > 0 else -1
    spread = (at * (1 - at) / trials[0]) ** 0.5

    def end(q: Any) -> Any:
        u = (q - at) / spread if spread else 0
        height = heights(polygon, q)[side > 0]
        return side * wilson_end(height, trials[1], side * max(z * z - u * u, 0) ** 0.5)

    start, last = max(at - abs(z) * spread, 0), min(at + abs(z) * spread, 1)
    places = sorted({start, at, last, *(x for x, _ in polygon if start <= x <= last)})
    return side * max(
        [end(q) for q in places] + [end(peak(end, *segment)) for segment in itertools.pairwise(places)],
    )


def peak(function: Callable[[Any], Any], low: Any, high: Any) -> Any:
    """Where a function between two places, which rises and then falls, is greatest."""
    for _ in range(60):
        one, other = low + (high - low) / 3, high - (high - low) / 3
        low, high = (one, high) if function(one) < function(other) else (low, other)
    return (low + high) / 2


def tpr_at_fpr_ends(roc: Polygon, at: float, value: float, trials: tuple[float, float], z: float) -> Ends:
    """Corners are (fpr, tpr); the rate is a share of the negatives, and the tpr there one of the positives."""
    return widest(value, [curve_end(roc, at, trials[::-1], side) for side in (-z, z)])


def precision_at_recall_ends(
    roc: Polygon, at: float, value: float, trials: tuple[float, float], z: float, *, totals: tuple[float, float]
) -> Ends:
    """The recall is a share of the positives, and the fpr there one of the negatives; at recall 0 all is possible."""
    if at == 0:
        return 0, 1
    mirrored = [(tpr, fpr) for fpr, tpr in roc]
    ends = [curve_end(mirrored, at, trials, side) for side in (-z, z)]
    return widest(value, [rate("precision", None, at, fpr, totals) for fpr in ends])
