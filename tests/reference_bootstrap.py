"""Slow bootstraps: one draw at a time, resamples rebuilt as samples, areas in fractions; Efron's formula in 60 digits.

Nothing here may import the service.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cache

import mpmath

from tests import reference, reference_pr
from tests.reference_pr import AREAS

Example = tuple[int, float]
"""The table's row at which an example is first called positive, and its weight."""


def drawn(examples: Sequence[Example], counts: Sequence[int]) -> list[Example]:
    """A resample of a class: each example as often as it was drawn."""
    return [example for example, times in zip(examples, counts, strict=True) for _ in range(times)]


def table(positives: Sequence[Example], negatives: Sequence[Example]) -> reference.Table:
    """The table of a sample of these examples; a lower row is a higher score."""
    scores = [float(-row) for row, _ in (*positives, *negatives)]
    labels = [True] * len(positives) + [False] * len(negatives)
    return reference.table_of_sample(scores, labels, [weight for _, weight in (*positives, *negatives)])


def areas(positives: Sequence[Example], negatives: Sequence[Example]) -> dict[str, float]:
    """The areas of a sample of these examples."""
    sample = table(positives, negatives)
    return {name: float(AREAS[name](sample)) for name in ("roc", "pr", "average_precision")}


def without_each(
    positives: Sequence[Example], negatives: Sequence[Example]
) -> tuple[list[dict[str, float]], list[dict[str, float]]]:
    """The areas without each positive in turn, and without each negative."""
    return (
        [areas([*positives[:i], *positives[i + 1 :]], negatives) for i in range(len(positives))],
        [areas(positives, [*negatives[:i], *negatives[i + 1 :]]) for i in range(len(negatives))],
    )


@cache
def poisson_chances(mean: float) -> list[mpmath.mpf]:
    """The probabilities of the counts 0, 1, ..., until they are negligible compared with 1."""
    with mpmath.workdps(40):
        return [mpmath.exp(-mpmath.mpf(mean)) * mpmath.mpf(mean) ** k / mpmath.factorial(k) for k in range(40)]


@cache
def poisson_shares(mean: float) -> tuple[list[int], list[mpmath.mpf]]:
    """How many of 2^16 cells each count up to 4 has, and the remainder of its share."""
    shares = [2**16 * chance for chance in poisson_chances(mean)]
    whole = [int(mpmath.floor(share)) if count <= 4 else 0 for count, share in enumerate(shares)]
    return whole, [share - cells for share, cells in zip(shares, whole, strict=True)]


def poisson_count(mean: float, word: int, uniforms: Iterator[float]) -> int:
    """A Poisson count from 16 bits and, if these do not decide, from a uniform number in [0, 1).

    The last cells are for 0, those before them for 1, and so on; the first ones are for the remainders.
    """
    whole, rest = poisson_shares(mean)
    edge = 2**16
    for count, cells in enumerate(whole):
        edge -= cells
        if cells and word >= edge:
            return count
    left = next(uniforms) * sum(rest)
    count = 0
    while left >= rest[count]:
        left -= rest[count]
        count += 1
    return count


def draw(size: int, words: Iterator[int], uniforms: Iterator[float], indices: Iterator[int]) -> list[int]:
    """How often each of n examples is drawn in n draws: Poisson counts, then single draws until there are n.

    The mean is three standard deviations of the total below 1. If that leaves nothing, or the counts add up to more
    than n, all draws are single. Words come in fours.
    """
    mean = 1 - 3 / math.sqrt(size)
    counts = [0] * size
    if mean > 0:
        padded = [poisson_count(mean, next(words), uniforms) for _ in range(4 * math.ceil(size / 4))]
        if sum(padded[:size]) <= size:
            counts = padded[:size]
    while sum(counts) < size:
        counts[next(indices)] += 1
    return counts


def quantile(values: Sequence[float], share: float) -> float:
    """Hyndman and Fan's definition 7: linear interpolation between two of the sorted values."""
    ordered = sorted(Fraction(value) for value in values)
    at = Fraction(share) * (len(ordered) - 1)
    below = math.floor(at)
    above = min(below + 1, len(ordered) - 1)
    return float(ordered[below] + (ordered[above] - ordered[below]) * (at - below))


def bca_ends(
    values: Sequence[float], estimate: float, left_out: Sequence[Sequence[float]], level: float
) -> tuple[float, float]:
    """Efron & Tibshirani 1993, equations 14.10, 14.14 and 15.36; `left_out` holds each class's jackknife values."""
    with mpmath.workdps(60):
        below = sum(1 if value < estimate else Fraction(1, 2) if value == estimate else 0 for value in values)
        bias = inverse_normal(reference_pr.mp(Fraction(below) / len(values)))
        cubes = squares = Fraction(0)
        for column in left_out:
            size = len(column)
            mean = sum(map(Fraction, column)) / size
            influences = [(size - 1) * (mean - Fraction(value)) for value in column]
            cubes += sum(u**3 for u in influences) / size**3
            squares += sum(u**2 for u in influences) / size**2
        acceleration = reference_pr.mp(cubes) / (6 * reference_pr.mp(squares) ** mpmath.mpf(1.5))
        ends = []
        for outside in ((1 - mpmath.mpf(level)) / 2, (1 + mpmath.mpf(level)) / 2):
            moved = bias + inverse_normal(outside)
            ends.append(quantile(values, float(mpmath.ncdf(bias + moved / (1 - acceleration * moved)))))
        return ends[0], ends[1]


def inverse_normal(share: mpmath.mpf) -> mpmath.mpf:
    """The normal quantile."""
    return mpmath.sqrt(2) * mpmath.erfinv(2 * share - 1)
