"""Rows grouped by score, in each of the possible ways, against a dictionary of counts."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from service.curves import threshold_columns as module
from service.curves.sample import Sample
from service.curves.threshold_columns import threshold_columns
from tests.reference import ulp_distance

pytestmark = pytest.mark.usefixtures("loops")


@pytest.fixture(autouse=True, params=[0, module._COUNTED_ROWS])
def many(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows on a grid are counted in one case, sorted in the other."""
    monkeypatch.setattr(module, "_COUNTED_ROWS", request.param)


def expected(sample: Sample) -> list[tuple[float, Fraction, Fraction]]:
    """(score, tp, fp) after each distinct score, one row at a time."""
    found: dict[float, list[Fraction]] = {}
    weights = np.ones(sample.rows) if sample.weights is None else sample.weights
    for score, label, weight in zip(sample.scores.tolist(), sample.labels.tolist(), weights.tolist(), strict=True):
        if weight:
            found.setdefault(score, [Fraction(0), Fraction(0)])[0 if label else 1] += Fraction(weight)
    tp = fp = Fraction(0)
    rows = []
    for score in sorted(found, reverse=not sample.lower_is_positive):
        tp, fp = tp + found[score][0], fp + found[score][1]
        rows.append((score, tp, fp))
    return rows


def check(sample: Sample) -> None:
    got = threshold_columns(sample)
    assert np.isnan(got.thresholds[0])
    assert (got.tp[0], got.fp[0]) == (0, 0)
    assert not (np.signbit(got.thresholds) & (got.thresholds == 0)).any()
    rows = expected(sample)
    assert got.thresholds[1:].tolist() == [score for score, _, _ in rows]
    for column, found in ((1, got.tp[1:]), (2, got.fp[1:])):
        assert max(ulp_distance(value, row[column]) for value, row in zip(found.tolist(), rows, strict=True)) <= 1


SCORES = {
    "distinct": lambda random, n: random.random(n),
    "logits": lambda random, n: random.normal(0, 5, n),
    "all negative": lambda random, n: -random.random(n) * 1e5,
    "zeros of both signs": lambda random, n: random.choice([0.0, -0.0, 5e-324, -5e-324, 1e-300], n),
    "neighbours": lambda random, n: 1.5 + random.integers(-3, 3, n) * 2.0**-52,
    "about powers of two": lambda random, n: (
        2.0 ** random.integers(-3, 3, n) * (1 + random.integers(-1, 2, n) * 2.0**-52)
    ),
    "of 600 decades": lambda random, n: random.choice([-1.0, 1.0], n) * 10.0 ** random.uniform(-307, 308, n),
    "greatest": lambda random, n: random.choice([1.7976931348623157e308, -1.7976931348623157e308, 5e-324, 1.0], n),
    "thousandths": lambda random, n: random.integers(0, 8, n) / 1_000,
    "whole": lambda random, n: random.integers(-4, 4, n) * 1.0,
    "tenths below zero": lambda random, n: random.integers(-9, -1, n) / 10,
    "one value": lambda _, n: np.full(n, 0.25),
}


@pytest.mark.parametrize("lower_is_positive", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", SCORES)
def test_groups(kind: str, *, weighted: bool, lower_is_positive: bool) -> None:
    random = np.random.default_rng(len(kind))
    for n in (2, 3, 7, 40, 300):
        labels = random.random(n) < 0.5
        labels[:2] = [True, False]
        weights = random.choice([0.0, 0.1, 1.0, 1e-9, 2.0**40], n) if weighted else None
        if weights is not None:
            weights[:2] = 1.0
        check(Sample(SCORES[kind](random, n), labels, weights, lower_is_positive))


def off_the_grid(where: int) -> Sample:
    scores = np.resize([0.0, 0.1, 0.2, 0.3], 64)
    scores[where] = 0.123456
    return Sample(scores, np.arange(64) % 3 == 0)


@pytest.mark.parametrize("where", [0, 15, 16, 40, 63])
def test_one_score_off_the_grid(where: int) -> None:
    """The first scores only suggest a grid; all rows have to confirm it."""
    check(off_the_grid(where))


def test_grid_over_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("service.curves.arrays.BLOCK", 7)
    check(Sample(np.resize([0.5, 0.25, 0.75], 80), np.arange(80) % 3 == 0))
    check(off_the_grid(50))


def test_a_grid_of_many_levels_is_sorted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Counting would take memory for each level, however few rows there are."""
    monkeypatch.setattr(module.np, "bincount", None)
    check(Sample(np.array([0.0, 1e9, 5e8, 1.0] * 8), np.arange(32) % 2 == 0))


def test_weighted_scores_that_differ_in_their_last_bits() -> None:
    random = np.random.default_rng(3)
    scores = random.choice([0.25, 0.5, -3.0], 200) + random.integers(0, 5, 200) * 2.0**-50
    check(Sample(scores, np.arange(200) % 2 == 0, random.random(200)))
