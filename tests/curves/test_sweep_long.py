"""Long columns: the loops in C, which work piece by piece, agree with their twin, which does not."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from service.curves.sweep import sweep
from tests.support.compiled_library import used
from tests.support.sampling import some
from tests.support.sweeps import Columns, Counts


class Found(NamedTuple):
    """What the sweep finds of a table."""

    hull: list[int]
    on_hull: list[bool]
    areas: list[float]


def found(counts: Counts) -> Found:
    tp, fp = counts
    hull, on = sweep.hull_and_members(tp, fp)
    areas = [*sweep.areas(tp, fp)[:3], *sweep.areas(tp, fp, hull)[:3]]
    if tp[-1] <= 1e6 and all((column == np.floor(column)).all() for column in counts):
        areas.append(sweep.areas(tp, fp, trapezoid=True).trapezoid)
    return Found(hull.tolist(), on.tolist(), areas)


def assert_counts_agree(library: Path, counts: Counts) -> Found:
    with used(None):
        expected = found(counts)
    with used(library):
        given = found(counts)
    assert given.hull == expected.hull
    assert given.on_hull == expected.on_hull
    assert given.areas == pytest.approx(expected.areas, rel=1e-14, abs=0)
    return given


def assert_samples_agree(library: Path, sample: Columns) -> None:
    with used(None):
        expected = sample.table()
    with used(library):
        table = sample.table()
    for column, wanted in zip(table, expected, strict=True):
        np.testing.assert_array_equal(column, wanted)
    assert_counts_agree(library, table[1:])


Scores = Callable[[np.random.Generator, int], np.ndarray]

SCORES: dict[str, Scores] = {
    "in [0, 1)": lambda random, rows: random.random(rows),
    "of both signs": lambda random, rows: random.normal(size=rows),
    "below 0": lambda random, rows: -random.exponential(10, rows),
    "of single precision": lambda random, rows: random.normal(size=rows).astype(np.float32).astype(np.float64),
    "of 2,100 powers of two": lambda random, rows: np.ldexp(
        random.choice([-1.0, 1.0], rows), -random.integers(1_074, size=rows)
    ),
    "some 600 decades apart": lambda random, rows: np.ldexp(1.0, random.integers(-1_074, 1_023, rows)),
    "zeros of both signs": lambda random, rows: random.choice([0.0, -0.0, 1e-310, -1e-310, 0.3, -0.7], rows),
    "seven rows each": lambda random, rows: np.repeat(random.normal(size=rows // 7 + 1), 7)[:rows],
    "few levels": lambda random, rows: np.sqrt(random.integers(1, 9, rows)),
    "all equal": lambda _, rows: np.full(rows, math.pi),
}

LABELS: dict[str, Callable[[np.random.Generator, np.ndarray], np.ndarray]] = {
    "half positive": lambda random, scores: random.random(scores.size) < 0.5,
    "one in a hundred positive": lambda random, scores: random.random(scores.size) < 0.01,
    "by rank": lambda random, scores: (
        scores.argsort().argsort() + random.normal(0, scores.size / 5, scores.size) > scores.size / 2
    ),
    "perfect": lambda _, scores: scores > np.median(scores),
}

WEIGHTS: dict[str, Callable[[np.random.Generator, int], np.ndarray | None]] = {
    "none": lambda *_: None,
    "shares": lambda random, rows: random.random(rows) + 0.01,
    "tenths": lambda _, rows: np.full(rows, 0.1),
    "of 60 decades": lambda random, rows: 10.0 ** random.uniform(-30, 30, rows),
    "integers": lambda random, rows: random.integers(0, 9, rows) * 1.0,
    "some too light to change a sum": lambda random, rows: random.choice([1.0, 1e-16, 1e-17, 0.5], rows),
}


@pytest.mark.parametrize(("scores", "labels", "weights"), some(product(SCORES, LABELS, WEIGHTS), 17))
def test_long_samples(library: Path, scores: str, labels: str, weights: str) -> None:
    """Of sizes around those at which another way of sorting, another piece or another block begins."""
    random = np.random.default_rng(5)
    for rows in (2, 7, 8, 9, 47, 48, 49, 511, 512, 513, 514, 1_025, 20_001):
        column = SCORES[scores](random, rows)
        positive = LABELS[labels](random, column)
        positive[:2] = False, True
        of_rows = WEIGHTS[weights](random, rows)
        if of_rows is not None:
            of_rows[:2] = 1.0
        assert_samples_agree(library, Columns(column, positive, of_rows, descending=bool(rows % 2)))


@pytest.mark.parametrize("first", [510, 511, 512])
def test_a_tie_across_two_pieces_is_one_row(library: Path, first: int) -> None:
    """The only tie is of the last row of one piece of 512 and the first row of the next."""
    scores = np.linspace(1.0, 0.0, 1_024)
    scores[first + 1] = scores[first]
    sample = Columns(scores, np.arange(1_024) % 3 == 0, None, descending=True)
    assert_samples_agree(library, sample)
    with used(library):
        assert sample.table()[0].size == 1_024


@pytest.mark.parametrize("high", [1, 2, 200, 10**5])
def test_steep_counts(library: Path, high: int) -> None:
    """Each step has many true positives, all of which the trapezoid visits."""
    random = np.random.default_rng(high)
    steps = random.integers(0, high, (2, 3_000 if high < 1_000 else 10), endpoint=True).astype(np.float64)
    assert_counts_agree(library, tuple(np.insert(steps, 0, 0.0, axis=1).cumsum(axis=1)))


@pytest.mark.parametrize("positives", [3, 1_000, pytest.param(300_000, marks=pytest.mark.all)])
@pytest.mark.parametrize("negatives", [1e6, 1e12, 9e15])
def test_small_precisions(library: Path, positives: int, negatives: float) -> None:
    """The sums are small compared with the positives."""
    tp = np.arange(positives + 1.0)
    late, spread = np.full(tp.size, negatives), np.random.default_rng(6).integers(negatives, size=tp.size) * 1.0
    for fp in (late, np.sort(spread)):
        assert_counts_agree(library, (np.append(0.0, tp), np.append(0.0, fp)))


def in_order(tp: np.ndarray, fp: np.ndarray) -> Counts:
    """The rows by fp, equal ones by tp."""
    order = np.lexsort((tp, fp))
    return tp[order], fp[order]


@pytest.mark.parametrize("largest", [4, 30, 10**7, 2**53])
def test_hulls_of_rows_of_no_sweep(library: Path, largest: int) -> None:
    ends = [[0, largest]] * 2
    rows = np.random.default_rng(3).integers(0, largest, (2, 5_000), endpoint=True)
    tp, fp = in_order(*np.append(ends, rows, axis=1).astype(np.float64))
    hulls = []
    for path in (library, None):
        with used(path):
            hulls.append([found.tolist() for found in sweep.hull_and_members(tp, fp)])
    assert hulls[0] == hulls[1]


def test_a_hull_of_most_rows(library: Path) -> None:
    """The staircase rises like a hull; each of its steps is there twice, and once in between."""
    fp = np.repeat(np.arange(2_000.0), 3) * 2
    tp = np.repeat((2_000.0 * 1_999 - (np.arange(2_000.0) - 1_999) ** 2) // 2, 3) * 2
    tp -= tp[0]
    tp[1::3] = (tp[::3] + np.append(tp[3::3], tp[-1])) / 2
    fp[1::3] = (fp[::3] + np.append(fp[3::3], fp[-1])) / 2
    given = assert_counts_agree(library, in_order(tp, fp))
    assert 1_000 < len(given.hull) < sum(given.on_hull)


@pytest.mark.parametrize("decades", [6, 300])
def test_a_hull_over_many_decades(library: Path, decades: int) -> None:
    """Of a square root: no row is under a line between two others, save one in twenty."""
    fp = 10.0 ** np.linspace(-decades / 2, decades / 2, 5_000)
    tp = np.sqrt(fp)
    tp[1:-1:20] *= 1 - (tp[1] / tp[0] - 1) / 2
    given = assert_counts_agree(library, (np.append(0.0, np.maximum.accumulate(tp)), np.append(0.0, fp)))
    assert 0.9 * fp.size < len(given.hull) < fp.size


@pytest.mark.parametrize("thirds", [False, True])
def test_a_line_is_on_its_hull(library: Path, *, thirds: bool) -> None:
    """Counts on a line are decided by products alone; thirds, which are rounded, need more digits."""
    tp = np.arange(5_000.0) / (3 if thirds else 1)
    given = assert_counts_agree(library, (tp, 7 * tp))
    assert thirds or all(given.on_hull)
