"""Classes the slow way: areas by counting pairs of rows, in rational numbers; M as Hand and Till (2001) define it.

Hand and Till, "A simple generalisation of the area under the ROC curve for multiple class classification problems",
Machine Learning 45, section 2: Â(i|j) is the probability that a random row of class j has a lower estimated probability
of class i than a random row of class i; Â(i, j) = (Â(i|j) + Â(j|i)) / 2; M is its mean over all pairs i < j.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import combinations
from math import sqrt
from operator import mul

from tests.reference import table_of_sample
from tests.reference_pr import AREAS


def area(scores: Sequence[float], positive: Sequence[bool], weights: Sequence[float]) -> Fraction | None:
    """How often a positive outscores a negative, a tie counting one half; None without a pair."""
    won = pairs = Fraction(0)
    for score, is_positive, weight in zip(scores, positive, weights, strict=True):
        for other, is_other, other_weight in zip(scores, positive, weights, strict=True):
            if is_positive and not is_other:
                both = Fraction(weight) * Fraction(other_weight)
                pairs += both
                won += both * (Fraction(score > other) + Fraction(score == other, 2))
    return won / pairs if pairs else None


def against(
    scores: Mapping[str, Sequence[float]], labels: Sequence[Hashable], weights: Sequence[float], of: str, other: str
) -> Fraction | None:
    """Â(of|other), from the rows of these two classes only."""
    rows = [row for row, label in enumerate(labels) if label in {of, other}]
    return area([scores[of][row] for row in rows], [labels[row] == of for row in rows], [weights[row] for row in rows])


def hand_till(
    scores: Mapping[str, Sequence[float]], labels: Sequence[Hashable], weights: Sequence[float]
) -> Fraction | None:
    """M: 2 / (c (c - 1)) times the sum of Â(i, j) over i < j, for the c classes that have rows of any weight."""
    there = [name for name in scores if any(map(mul, (label == name for label in labels), weights))]
    separabilities = []
    for i, j in combinations(there, 2):
        first, second = against(scores, labels, weights, i, j), against(scores, labels, weights, j, i)
        if first is None or second is None:
            return None
        separabilities.append((first + second) / 2)
    count = len(there)
    if count < 2:
        return None
    return Fraction(2, count * (count - 1)) * sum(separabilities)


def mean(values: Iterable[Fraction | None], weights: Iterable[Fraction]) -> Fraction | None:
    """The weighted mean of values; None if a value of any weight is missing, or all weights are 0."""
    pairs = [(value, weight) for value, weight in zip(values, weights, strict=True) if weight]
    total = sum((weight for _, weight in pairs), Fraction(0))
    if not total:
        return None
    found = Fraction(0)
    for value, weight in pairs:
        if value is None:
            return None
        found += value * weight
    return found / total


def micro(
    scores: Mapping[str, Sequence[float]], members: Mapping[str, Sequence[bool]], weights: Sequence[float]
) -> Fraction | None:
    """The area of all pairs of a row and a class."""
    pooled = [
        (score, member, weight)
        for name, column in scores.items()
        for score, member, weight in zip(column, members[name], weights, strict=True)
    ]
    return area(*(list(column) for column in zip(*pooled, strict=True)))


def average(
    scores: Mapping[str, Sequence[float]], labels: Sequence[str], weights: Sequence[float], area: str, kind: str
) -> float:
    """An average of an area under the curves of each class against the rest."""
    if kind == "micro":
        pooled = [score for column in scores.values() for score in column]
        members = [label == name for name in scores for label in labels]
        return float(AREAS[area](table_of_sample(pooled, members, [*weights] * len(scores))))
    areas = [
        float(AREAS[area](table_of_sample(column, [label == name for label in labels], weights)))
        for name, column in scores.items()
    ]
    parts = [1.0] * len(areas)
    if kind == "weighted":
        parts = [sum(w for w, label in zip(weights, labels, strict=True) if label == name) for name in scores]
    return sum(map(mul, areas, parts)) / sum(parts)


_STEP = 2.0**-16


def average_error(
    scores: Mapping[str, Sequence[float]], labels: Sequence[str], weights: Sequence[float], area: str, kind: str
) -> float:
    """The standard error of an average by the infinitesimal jackknife: by its derivatives, as difference quotients.

    Efron 1982, "The jackknife, the bootstrap and other resampling plans", section 6.3, for samples of a fixed weight of
    each class. Weight is moved to one row from all of its class, in proportion to theirs.
    """

    def moved(row: int, step: float) -> float:
        own = [w for w, label in zip(weights, labels, strict=True) if label == labels[row]]
        changed = [
            (1 - step) * w + step * sum(own) * (place == row) if label == labels[row] else w
            for place, (w, label) in enumerate(zip(weights, labels, strict=True))
        ]
        return average(scores, labels, changed, area, kind)

    variance = 0.0
    for name in set(labels):
        rows = [row for row, label in enumerate(labels) if label == name]
        total, squares = sum(weights[row] for row in rows), sum(weights[row] ** 2 for row in rows)
        effective = total**2 / squares
        slopes = [(moved(row, _STEP) - moved(row, -_STEP)) / (2 * _STEP) for row in rows]
        moves = [weights[row] / total * slope for row, slope in zip(rows, slopes, strict=True)]
        variance += effective / (effective - 1) * sum(move**2 for move in moves)
    return sqrt(variance)
