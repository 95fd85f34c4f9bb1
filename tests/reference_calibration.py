"""Gains, calibration and the Brier score in exact fractions, from their definitions. Nothing here imports the service.

Flach & Kull 2015 for gains; Ayer et al. 1955 for pool-adjacent-violators; Dimitriadis, Gneiting & Jordan 2021 for the
parts of the Brier score.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction

from tests.reference import Table

Pool = tuple[list[float | None], Fraction, Fraction]
"""The thresholds of some rows, and the positives and negatives between them."""


def gain(rate: Fraction, prevalence: Fraction) -> Fraction:
    """The gain of a precision or a recall: its place between the prevalence and 1 on the harmonic scale."""
    return (rate - prevalence) / ((1 - prevalence) * rate)


def gain_area(table: Table) -> Fraction:
    """The area under precision gain over recall gain, 0 to 1, by trapezoids between rows cut where recall gain is 0."""
    prevalence = table.positives / (table.positives + table.negatives)
    area = Fraction(0)
    for a, b in table.steps():
        if b.tp > a.tp and b.tp > prevalence * table.positives:
            tp = max(a.tp, prevalence * table.positives)
            fp = a.fp + (b.fp - a.fp) * (tp - a.tp) / (b.tp - a.tp)
            ends = [
                (gain(t / table.positives, prevalence), gain(t / (t + f), prevalence))
                for t, f in ((tp, fp), (b.tp, b.fp))
            ]
            (x, y), (x_after, y_after) = ends
            area += (x_after - x) * (y + y_after) / 2
    return area


def ks(table: Table) -> tuple[Fraction, float | None]:
    """The greatest tpr - fpr, and the threshold of the first row that has it; by (fp, tp)."""
    rows = [(row.tp / table.positives - row.fp / table.negatives, row.threshold) for row in table.rows]
    greatest = max(value for value, _ in rows)
    return greatest, next(threshold for value, threshold in rows if value == greatest)


def pools(table: Table) -> list[Pool]:
    """Pool adjacent violators: in the order of the sweep, shares of positives must fall."""
    found: list[Pool] = []
    for a, b in table.steps():
        if (a.tp, a.fp) == (b.tp, b.fp):
            continue  # adds nothing
        found.append(([b.threshold], b.tp - a.tp, b.fp - a.fp))
        while len(found) > 1 and share(found[-1]) >= share(found[-2]):
            last, before = found.pop(), found.pop()
            found.append((before[0] + last[0], before[1] + last[1], before[2] + last[2]))
    return found


def share(pool: Pool) -> Fraction:
    """The share of positives in a pool."""
    return pool[1] / (pool[1] + pool[2])


def brier(examples: Iterable[tuple[Fraction, Fraction, Fraction]]) -> Fraction:
    """The mean squared difference of probabilities from labels, given (probability, positives, negatives)."""
    examples = list(examples)
    total = sum(p + n for _, p, n in examples)
    return sum((p * (1 - s) ** 2 + n * s**2 for s, p, n in examples), Fraction(0)) / total


def brier_parts(table: Table, *, lower_is_positive: bool) -> tuple[Fraction, Fraction, Fraction, Fraction]:
    """The Brier score; how much calibration saves; how much calibrated scores save on the prevalence; its own score."""
    groups = [(Fraction(b.threshold or 0), b.tp - a.tp, b.fp - a.fp) for a, b in table.steps()]
    score = brier((1 - s if lower_is_positive else s, p, n) for s, p, n in groups)
    calibrated = brier((share(pool), *pool[1:]) for pool in pools(table))
    constant = brier([(table.positives / (table.positives + table.negatives), table.positives, table.negatives)])
    return score, score - calibrated, constant - calibrated, constant


def equal_errors(table: Table) -> tuple[Fraction, list[float | None]]:
    """Where fpr is 1 - tpr on the curve, and the thresholds of the rows nearest to it that have most true positives."""
    gaps = [(abs(row.fp / table.negatives + row.tp / table.positives - 1), -row.tp) for row in table.rows]
    nearest = [row.threshold for row, gap in zip(table.rows, gaps, strict=True) if gap == min(gaps)]
    for a, b in table.steps():
        fpr, tpr = a.fp / table.negatives, a.tp / table.positives
        right, up = b.fp / table.negatives - fpr, b.tp / table.positives - tpr
        if right + up > 0 and 0 <= (part := (1 - tpr - fpr) / (right + up)) <= 1:
            return fpr + part * right, nearest
    raise AssertionError("every curve meets the antidiagonal")


def log_loss(examples: Iterable[tuple[float, float, float]]) -> float:
    """The mean of -ln of what examples are given, at least 2^-52; given (probability, positives, negatives)."""
    least, terms, total = 2.0**-52, [], 0.0
    for s, p, n in examples:
        clipped = min(max(Fraction(s), Fraction(least)), 1 - Fraction(least))
        terms += [-p * _ln(clipped), -n * _ln(1 - clipped)]
        total += p + n
    return math.fsum(terms) / total


def _ln(x: Fraction) -> float:
    """A natural logarithm, also near 1."""
    return math.log1p(float(x - 1)) if x > Fraction(1, 2) else math.log(x)


Bin = tuple[list[Fraction], list[int]]
"""The probabilities of the examples in a bin, and which examples they are."""


def bins(probabilities: list[Fraction], masses: list[Fraction], count: int, by: str) -> list[Bin]:
    """The bins that are not empty, the lowest first; edges of equal width are doubles."""
    total, found = sum(masses), {}
    for number, s in enumerate(probabilities):
        if by == "width":
            place = max(k for k in range(count) if s >= Fraction(k / count))
        else:
            below = sum(mass for other, mass in zip(probabilities, masses, strict=True) if other < s)
            equal = sum(mass for other, mass in zip(probabilities, masses, strict=True) if other == s)
            place = count * (below + equal / 2) // total
        found.setdefault(place, ([], []))[0].append(s)
        found[place][1].append(number)
    return [found[place] for place in sorted(found)]


def ece(probabilities: list[Fraction], labels: list[bool], masses: list[Fraction], count: int, by: str) -> Fraction:
    """Σ (n_b/n)|share of positives - mean probability|, n by mass."""
    error = Fraction(0)
    for inside, numbers in bins(probabilities, masses, count, by):
        error += abs(sum(masses[i] * (labels[i] - s) for s, i in zip(inside, numbers, strict=True)))
    return error / sum(masses)
