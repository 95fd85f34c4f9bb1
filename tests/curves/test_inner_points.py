"""Long steps in closed form, against digamma functions with 60 digits: lengths, slopes and offsets of many decades."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import mpmath
import numpy as np
import pytest

from service.curves import inner_points
from service.curves.areas import pr_trapezoid
from service.curves.confusion import ConfusionTable
from service.curves.inner_points import SHORTEST
from tests import reference_pr
from tests.support.sampling import some
from tests.support.strategies import LARGEST, Rows

WORST = 1.5
"""Units in the last place: the sum alone is within one, and the division by P rounds once more."""


def distance(rows: Rows) -> float:
    """How many units in the last place the trapezoid is off."""
    found = pr_trapezoid(ConfusionTable.of(rows.counts()))
    assert found is not None
    exact = reference_pr.pr_trapezoid_of_long_steps(rows.table())
    return float(reference_pr.relative_error(found, exact) * exact / math.ulp(found))


def one_step(tp: int, fp: int, step: int, gained: int) -> Rows:
    """A vertical or short step to (tp, fp), and one step from there to the end."""
    fp, end = int(float(fp)), int(float(fp + gained))
    return Rows([tp], [fp], tp + step, max(end, 1))


@pytest.mark.parametrize("seed", some(range(4), 4))
def test_steps_of_all_sizes(seed: int) -> None:
    """A few steps each: P up to 1e7, N up to 1e149, rows near either end or anywhere."""
    random = np.random.default_rng(seed)
    for _ in range(60):
        positives = int(10 ** random.uniform(2.2, 7))
        negatives = 10 ** random.uniform(0, random.choice([3, 7, 15.9, 30, 149]))
        size = int(random.integers(0, 6))
        shares = np.sort(10 ** -random.uniform(0, 7, (2, size)) * random.random((2, size)), axis=1)
        shares[0] = np.sort(np.where(random.random(size) < 1 / 3, 1 - shares[0], shares[0]))
        tp = np.floor(shares[0] * positives).astype(int).tolist()
        fp = [int(share) for share in np.floor(shares[1] * negatives)]
        assert distance(Rows(tp, fp, positives, max(int(negatives), 1))) < WORST


LENGTHS = [SHORTEST, SHORTEST + 1, 1000, 10**5, 10**7 - 31]
STARTS = [0, 1, 30, 32, 10**4, 10**9, LARGEST - 10**4, 10**60, 10**149]


@pytest.mark.parametrize(("fp", "tp", "step"), some(product(STARTS, [0, 1, 31], LENGTHS), 11))
def test_steps_of_all_slopes(tp: int, fp: int, step: float) -> None:
    """From each place, with slopes from 0 on: q from 0 to 1e149; precision rises, falls or stays."""
    for gained in (0, 1, 29, int(step), 10**6 + 1, 10**12, 10**40, 10**149):
        assert distance(one_step(tp, fp, int(step), gained)) < WORST


@pytest.mark.parametrize(
    ("fp", "negatives"), [(1146188187545373, 10211428704749280), (795537999186557, 10597074365827400)]
)
def test_points_of_a_short_step_between_counts_whose_products_round(fp: int, negatives: int) -> None:
    """Of a million such steps, those that are up to 2.8 units off if the products are rounded."""
    assert distance(Rows([0], [fp], 3, negatives)) < WORST


def test_the_two_ways_meet(monkeypatch: pytest.MonkeyPatch) -> None:
    """Point by point and in closed form, the result is the same double or a neighbour."""
    random = np.random.default_rng(3)
    rows = [
        Rows(*(np.sort(random.integers(0, size, 5)).tolist() for size in (10**4, most)), 10**4, most)
        for most in (10, 10**4, 10**9, LARGEST)
        for _ in range(10)
    ]
    closed = [pr_trapezoid(ConfusionTable.of(one.counts())) for one in rows]
    monkeypatch.setattr("service.curves.inner_points.SHORTEST", math.inf)
    visited = [pr_trapezoid(ConfusionTable.of(one.counts())) for one in rows]
    np.testing.assert_array_max_ulp(np.array(closed), np.array(visited), 2)


@pytest.mark.parametrize("negatives", [1, 3, 10**6, LARGEST, 10**100])
def test_constant_precision_is_nearly_exact(negatives: int) -> None:
    """Collinear rows: the second term is exactly 0, not a rounding error."""
    found = pr_trapezoid(ConfusionTable.of(Rows([10**6], [negatives], 10**7, 10 * negatives).counts()))
    assert found == pytest.approx(10**6 / (10**6 + negatives), rel=2**-52)


def test_the_nodes_and_weights_of_the_rule_are_rounded_once() -> None:
    """The nodes and weights are the doubles nearest to the true ones."""
    size = inner_points._NODES.size
    with mpmath.workdps(40):
        for node, weight in zip(inner_points._NODES.tolist(), inner_points._WEIGHTS.tolist(), strict=True):
            true = mpmath.findroot(lambda x: mpmath.legendre(size, x), node)
            slope = size * mpmath.legendre(size - 1, true) / (1 - true * true)
            assert (node, weight) == (float(true), float(2 / ((1 - true * true) * slope * slope)))
        # At a ratio of 4, the rule's error is 2 Q(5/3)/P(5/3), with Q the Legendre function of the second kind.
        z = mpmath.mpf(5) / 3
        rule = sum(
            mpmath.mpf(w) / (z - mpmath.mpf(x)) for x, w in zip(inner_points._NODES, inner_points._WEIGHTS, strict=True)
        )
        left_out = 2 * mpmath.legenq(size, 0, z, type=3).real / mpmath.legendre(size, z)
        assert 0 < left_out < mpmath.log(4) * mpmath.mpf(2) ** -62
        assert abs(mpmath.log((z + 1) / (z - 1)) - rule) < 2**-52


def test_the_corrections_are_exact_and_the_next_is_negligible() -> None:
    """B_2j/(2j), and that the next correction, beyond q + k = 32, is negligible beside the integral of 1/(q + k)."""
    for j, factor in enumerate(inner_points._CORRECTIONS, start=1):
        assert factor == float(mpmath.bernoulli(2 * j) / (2 * j))
    after = 2 * len(inner_points._CORRECTIONS) + 2
    assert abs(mpmath.bernoulli(after)) / Fraction(inner_points._FAR) ** after < Fraction(2) ** -61


def test_the_reference_agrees_with_every_point() -> None:
    """A check of the reference: digamma functions against fractions."""
    for rows in (Rows([1, 1, 2], [0, 1, 1], 2, 2), Rows([0, 3, 70], [4, 4, 900], 110, 1300), Rows([9], [0], 43, 561)):
        table = rows.table()
        exact = reference_pr.pr_trapezoid(table)
        assert abs(reference_pr.pr_trapezoid_of_long_steps(table) - reference_pr.mp(exact)) < 1e-14
