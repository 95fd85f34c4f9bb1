"""Inputs of many rows, against exact single passes in Python's integers: sums, areas, and difficult hulls."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from functools import cache

import numpy as np
import pytest

from service.curves.confusion import ConfusionTable
from service.curves.counts import Counts
from service.curves.evaluation import Curves, CurvesOptions, evaluate_curves
from service.curves.hull import RocHull, roc_convex_hull
from service.curves.sample import Sample
from tests.reference import correctly_rounded, ulp_distance

ULPS = 4
BITS = 300
"""Fixed point: sums of quotients are whole multiples of 2^-300, so a million terms are exact to 2^-280."""

Steps = list[tuple[int, int]]


def steps_of_sample(scores: np.ndarray, labels: np.ndarray) -> Steps:
    """(tp, fp) after each distinct score, from the highest, counted one row at a time."""
    groups: dict[float, list[int]] = {}
    for score, label in zip(scores.tolist(), labels.tolist(), strict=True):
        groups.setdefault(score, [0, 0])[0 if label else 1] += 1
    tp = fp = 0
    steps = [(0, 0)]
    for score in sorted(groups, reverse=True):
        tp, fp = tp + groups[score][0], fp + groups[score][1]
        steps.append((tp, fp))
    return steps


def roc_area(steps: Steps) -> Fraction:
    """The trapezoid, in integers."""
    twice = sum((f - e) * (s + t) for (s, e), (t, f) in itertools.pairwise(steps))
    return Fraction(twice, 2 * steps[-1][0] * steps[-1][1])


def average_precision(steps: Steps) -> Fraction:
    """The step-wise sum, in fixed point."""
    total = sum(((t - s) * t << BITS) // (t + f) for (s, _), (t, f) in itertools.pairwise(steps) if t > s)
    return Fraction(total, steps[-1][0] << BITS)


def pr_trapezoid(steps: Steps) -> Fraction:
    """The composite trapezoid at every integer tp, in fixed point."""
    first = next((t, f) for t, f in steps if t + f > 0)
    total, before = 0, (first[0] << BITS) // (first[0] + first[1])
    for (s, e), (t, f) in itertools.pairwise(steps):
        if s + e > 0:
            before = (s << BITS) // (s + e)
        for x in range(1, t - s + 1):
            # precision = (s + x) / (s + x + e + (f - e) x / (t - s))
            after = ((s + x) * (t - s) << BITS) // ((s + x + e) * (t - s) + (f - e) * x)
            total += before + after
            before = after
    return Fraction(total, 2 * steps[-1][0] << BITS)


def hull_of(steps: Steps) -> list[bool]:
    """Membership by the textbook monotone chain, in integers; collinear rows are members."""
    chain: Steps = []
    for t, f in sorted(set(steps), key=lambda step: (step[1], -step[0])):
        if chain and chain[-1][1] == f:
            continue
        while len(chain) > 1 and turn(chain[-2], chain[-1], (t, f)) > 0:
            chain.pop()
        chain.append((t, f))
    members = set(chain)
    return [step in members or step[1] == 0 for step in steps]


def turn(a: tuple[int, int], b: tuple[int, int], c: tuple[int, int]) -> int:
    """Above 0 if b lies below the line from a to c."""
    return (b[1] - a[1]) * (c[0] - a[0]) - (b[0] - a[0]) * (c[1] - a[1])


def evaluated(scores: np.ndarray, labels: np.ndarray, weights: np.ndarray | None = None) -> Curves:
    """Points and areas of a sample."""
    return evaluate_curves(Sample(scores, labels, weights), CurvesOptions(include=frozenset({"auc", "points"})))


@pytest.mark.parametrize("kind", ["distinct", "tied", "skewed"])
def test_big_sample(kind: str, *, runs_all: bool) -> None:
    """Every count, every hull member, and the rational areas of many rows."""
    random = np.random.default_rng(7)
    labels = random.random(300_000 if runs_all else 20_000) < (0.001 if kind == "skewed" else 0.5)
    scores = random.normal(size=labels.size) + labels
    if kind == "tied":
        scores = np.round(scores, 3)
    steps = steps_of_sample(scores, labels)
    curves = evaluated(scores, labels)
    assert curves.points is not None
    assert curves.auc is not None
    np.testing.assert_array_equal(np.column_stack([curves.points.tp, curves.points.fp]), np.array(steps))
    np.testing.assert_array_equal(curves.points.on_hull, hull_of(steps))
    hull = [step for step, member in zip(steps, hull_of(steps), strict=True) if member]
    assert curves.auc.roc == correctly_rounded(roc_area(steps))
    assert curves.auc.roc_hull == correctly_rounded(roc_area(hull))
    assert curves.auc.average_precision == correctly_rounded(average_precision(steps))
    assert ulp_distance(curves.auc.pr_trapezoid, pr_trapezoid(steps)) <= ULPS


def test_pr_trapezoid_adds_every_whole_tp_of_long_segments() -> None:
    """Fifty thousand whole true positives between a few rows."""
    steps = [(0, 0), (0, 17), (3, 17), (20_000, 54_321), (20_001, 1_000_000), (50_000, 1_000_003)]
    tp, fp = np.array(steps, dtype=np.float64).T
    curves = evaluate_curves(Counts(tp, fp, 50_000.0, 1_000_003.0), CurvesOptions(include=frozenset({"auc"})))
    assert curves.auc is not None
    assert ulp_distance(curves.auc.pr_trapezoid, pr_trapezoid(steps)) <= ULPS


def as_integers(column: np.ndarray, power: int) -> list[int]:
    """Doubles as whole multiples of 2^-power, exactly."""
    numbers = [Fraction(value) * 2**power for value in column.tolist()]
    assert all(number.denominator == 1 for number in numbers)
    return [number.numerator for number in numbers]


WEIGHTS = {
    # name: (weights of n rows, the power of two that makes them whole)
    "tenths": (lambda random, n: random.choice([0.1, 0.2, 0.3, 0.7], size=n), 60),
    "lognormal": (lambda random, n: random.lognormal(size=n), 80),
    "from 1e-300 to 1e100": (lambda random, n: 10.0 ** random.uniform(-300, 100, size=n), 1074),
    "one huge first": (lambda random, n: np.where(np.arange(n) < 2, 1e17, random.random(n)), 80),
}


@pytest.mark.parametrize("order", ["sorted", "reversed", "shuffled"])
@pytest.mark.parametrize("kind", WEIGHTS)
def test_big_weighted_sums(kind: str, order: str, *, runs_all: bool) -> None:
    """'With weights the sums are exact to 1 ulp whatever the row order (plain cumsum is off by 400,000 ulp).'"""
    size = 40_000 if runs_all else 2_000
    random = np.random.default_rng(11)
    make, power = WEIGHTS[kind]
    weights = make(random, size)
    labels = np.arange(size) % 2 == 0
    scores = np.arange(size, dtype=np.float64)[::-1].copy()
    rows = {"sorted": np.arange(size), "reversed": np.arange(size)[::-1], "shuffled": random.permutation(size)}[order]
    table = ConfusionTable.from_sample(Sample(scores[rows], labels[rows], weights[rows]))
    exact = {True: 0, False: 0}
    whole = as_integers(weights, power)
    found = {True: as_integers(table.tp, power), False: as_integers(table.fp, power)}
    for index in range(size):
        exact[index % 2 == 0] += whole[index]
        for label, total in exact.items():
            assert abs(found[label][index + 1] - total) <= Fraction(math.ulp(total / 2**power)) * 2**power


def test_big_weighted_areas(*, runs_all: bool) -> None:
    """Many weighted rows: the areas are within 4 ulp of exact arithmetic on the sums reported."""
    random = np.random.default_rng(13)
    labels = random.random(100_000 if runs_all else 20_000) < 0.3
    scores = np.round(random.normal(size=labels.size) + labels, 4)
    curves = evaluated(scores, labels, random.choice([0.1, 0.2, 0.3, 0.7, 1.1], size=labels.size))
    assert curves.points is not None
    assert curves.auc is not None
    power = 70
    steps = list(zip(as_integers(curves.points.tp, power), as_integers(curves.points.fp, power), strict=True))
    np.testing.assert_array_equal(curves.points.on_hull, hull_of(steps))
    hull = [step for step, member in zip(steps, hull_of(steps), strict=True) if member]
    assert ulp_distance(curves.auc.roc, roc_area(steps)) <= ULPS
    assert ulp_distance(curves.auc.roc_hull, roc_area(hull)) <= ULPS
    assert ulp_distance(curves.auc.average_precision, average_precision(steps)) <= ULPS
    for name, exact in (("recall", [t for t, _ in steps]), ("fpr", [f for _, f in steps])):
        column = getattr(curves.points, name)
        for index in range(0, len(steps), 97):
            assert ulp_distance(float(column[index]), Fraction(exact[index], exact[-1])) <= ULPS


def staircase(size: int, *, rising: bool) -> Steps:
    """Steps that grow ever less in tp and ever more in fp (all rows on the hull), or the other way round (none)."""
    up = np.arange(size, 0, -1) if rising else np.arange(1, size + 1)
    return list(zip([0, *np.cumsum(up).tolist()], [0, *np.cumsum(up[::-1]).tolist()], strict=True))


def scaled(steps: Steps, largest: int) -> Steps:
    """The same shape at a larger scale, in whole numbers."""
    factor = largest // max(steps[-1])
    return [(t * factor, f * factor) for t, f in steps]


@cache
def hard_hulls(size: int) -> dict[str, Steps]:
    """Rows that make the construction of a hull slow, or a rounded comparison wrong."""
    random = np.random.default_rng(17)
    lattice = [(k // 2, (k + 1) // 2) for k in range(size)]
    cloud = np.cumsum(random.integers(0, 3, size=(size, 2)), axis=0).tolist()
    wobbly = [(min(k * 2**36 + int(random.integers(0, 2)), 2**53), k * 2**36) for k in range(1, size)]
    return {
        "concave staircase": staircase(size, rising=True),
        "concave staircase to 2^53": scaled(staircase(size, rising=True), 2**53),
        "convex staircase": staircase(size, rising=False),
        "convex staircase to 2^53": scaled(staircase(size, rising=False), 2**53),
        "lattice": lattice,
        "lattice, then one row above all": [*lattice, (10**9, size // 2)],
        "all on one line": [(3 * k, 5 * k) for k in range(size)],
        "all on one line to 2^53": [(3 * k * 10**10, 5 * k * 10**10) for k in range(size)],
        "a unit about a line": [(0, 0), *wobbly],
        "random": [(0, 0), *((int(t), int(f)) for t, f in cloud)],
        "positives first": [*((k, 0) for k in range(size)), (size, size)],
        "negatives first": [*((0, k) for k in range(size)), (size, size)],
        "concave staircase, then one row above all": [*staircase(size, rising=True)[:-1], (10**12, size * size)],
    }


@pytest.mark.parametrize("name", hard_hulls(10))
def test_hard_hulls(name: str, *, runs_all: bool) -> None:
    """'For integer counts no rounding may decide it, at any size up to 2^53', and none of these makes it slow."""
    steps = hard_hulls(50_000 if runs_all else 6_000)[name]
    tp, fp = np.array(steps, dtype=np.float64).T
    table = ConfusionTable.from_counts(Counts(tp, fp, tp[-1], fp[-1]))
    assert table.tp.size == len(steps)
    expected = hull_of(steps)
    vertices = roc_convex_hull(table)
    np.testing.assert_array_equal(RocHull.of(table).members, expected)
    assert [steps[i] for i in vertices.tolist()] == strict(steps, expected)


def strict(steps: Steps, members: list[bool]) -> Steps:
    """The hull's rows without those on the straight line between their neighbours."""
    kept: Steps = []
    for step in (step for step, member in zip(steps, members, strict=True) if member):
        while len(kept) > 1 and turn(kept[-2], kept[-1], step) == 0:
            kept.pop()
        kept.append(step)
    return kept


def test_pr_over_5000_segments_is_the_sum_of_a_series() -> None:
    """auc.pr over 5,000 segments, against a series without logarithms: 1e-12 relative.

    From (t, f) a step of one positive alone adds 1 - f log(1 + 1/(t + f)); a step of negatives adds nothing.
    """
    random = np.random.default_rng(19)
    labels = random.random(5_000) < 0.5
    curves = evaluated(-np.arange(labels.size, dtype=np.float64), labels)
    assert curves.auc is not None
    t = f = 0
    total = 0
    for label in labels.tolist():
        if label:
            total += (1 << BITS) - f * log_of_next(t + f)
            t += 1
        else:
            f += 1
    exact = total / t / 2**BITS
    assert math.isclose(curves.auc.pr, exact, rel_tol=1e-12)


def log_of_next(n: int) -> int:
    """log(1 + 1/n) in fixed point, as 2 artanh(1 / (2n + 1)); for n = 0 it is not needed."""
    if n == 0:
        return 0
    term, total, k = (2 << BITS) // (2 * n + 1), 0, 1
    square = (2 * n + 1) ** 2
    while term:
        total += term // k
        term //= square
        k += 2
    return total
