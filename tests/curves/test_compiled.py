"""The compiled library gives NumPy's results to the last bit."""

from __future__ import annotations

import math
import shutil
from collections.abc import Callable
from ctypes import addressof
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deploy import build_hook
from service.curves import compiled
from service.curves.confusion import ConfusionTable
from service.curves.counts import Counts
from service.curves.evaluation import CurvesOptions, evaluate_curves
from service.curves.hull import RocHull
from service.curves.pr import AtRecall
from service.curves.sample import Sample
from service.curves.sweep.sweep import COMPILED
from tests.support import strategies
from tests.support.compiled_library import bits, library, library_in, used
from tests.support.sampling import some

__all__ = ["library"]

ASKED = CurvesOptions(
    include=frozenset({"auc", "points", "achievable_pr"}), interpolation=AtRecall(np.linspace(0, 1, 11))
)


def assert_same(library: Path, evaluation: Sample | Counts, options: CurvesOptions = ASKED) -> None:
    answers = []
    for path in (library, None):
        with used(path):
            answers.append(bits(evaluate_curves(evaluation, options)))
    assert answers[0] == answers[1]


@given(data=strategies.samples() | strategies.weighted_samples() | strategies.tilted_samples())
@strategies.examples(300)
def test_every_sample_has_the_same_answer(library: Path, data: strategies.Data) -> None:
    assert_same(library, data.sample())


@given(
    rows=strategies.sweeps()
    | strategies.classifiers()
    | strategies.big_sweeps()
    | strategies.lopsided_sweeps()
    | strategies.fractional_sweeps()
    | strategies.nudged_lines()
)
@strategies.examples(300)
def test_all_counts_have_the_same_answer(library: Path, rows: strategies.Rows) -> None:
    assert_same(library, rows.counts())


Scores = Callable[[np.random.Generator, int], np.ndarray]

SCORES: dict[str, Scores] = {
    "in [0, 1)": lambda random, rows: random.random(rows),
    "of both signs": lambda random, rows: random.normal(size=rows),
    "above 1.5": lambda random, rows: random.exponential(10, rows),
    "below 0": lambda random, rows: -random.exponential(10, rows),
    "of single precision": lambda random, rows: random.normal(size=rows).astype(np.float32).astype(np.float64),
    "of 2,100 powers of two": lambda random, rows: np.ldexp(
        random.choice([-1.0, 1.0], rows), -random.integers(1074, size=rows)
    ),
    "some 600 decades apart": lambda random, rows: np.ldexp(1.0, random.integers(-1074, 1023, rows)),
    "huge": lambda random, rows: random.normal(size=rows) * 1e307,
    "zeros of both signs": lambda random, rows: random.choice([0.0, -0.0, 1e-310, -1e-310, 0.3, -0.7], rows),
    "seven rows each": lambda random, rows: np.repeat(random.normal(size=rows // 7 + 1), 7)[:rows],
    "few levels": lambda random, rows: np.sqrt(random.integers(1, 9, rows)),
    "all equal": lambda _, rows: np.full(rows, math.pi),
}

LABELS: dict[str, Callable[[np.random.Generator, np.ndarray], np.ndarray]] = {
    "half positive": lambda random, scores: random.random(scores.size) < 0.5,
    "one in a hundred positive": lambda random, scores: random.random(scores.size) < 0.01,
    "three in a hundred negative": lambda random, scores: random.random(scores.size) < 0.97,
    "by rank": lambda random, scores: (
        scores.argsort().argsort() + random.normal(0, scores.size / 5, scores.size) > scores.size / 2
    ),
    "perfect": lambda _, scores: scores > np.median(scores),
}


@pytest.mark.parametrize(("scores", "labels"), some(product(SCORES, LABELS), 4))
def test_long_samples_have_the_same_answer(library: Path, scores: str, labels: str) -> None:
    """With sizes around those at which C or NumPy begins another block."""
    random = np.random.default_rng(5)
    for rows in (2, 7, 8, 9, 511, 512, 513, 1_025, 32_767, 32_768, 32_769, 70_001):
        column = SCORES[scores](random, rows)
        positive = LABELS[labels](random, column)
        positive[:2] = False, True
        for lower_is_positive in (False, True) if rows < 2_000 else (bool(rows % 2),):
            assert_same(library, Sample(column, positive, None, lower_is_positive))


def test_a_tie_across_two_blocks_is_one_row(library: Path) -> None:
    """The only tie is of the last row of one block of 512 and the first row of the next."""
    scores = np.linspace(1.0, 0.0, 1_024)
    scores[512] = scores[511]
    assert_same(library, Sample(scores, np.arange(1_024) % 3 == 0))


@pytest.mark.parametrize("high", [1, 2, 200, 10**6])
def test_steep_counts_have_the_same_answer(library: Path, high: int) -> None:
    """Both sum steps of many true positives in the same way."""
    random = np.random.default_rng(high)
    steps = random.integers(0, high, (2, 3_000), endpoint=True).astype(np.float64)
    tp, fp = steps.cumsum(axis=1)
    assert_same(library, Counts(tp, fp, float(tp[-1]) + 1, float(fp[-1]) + 1))


@pytest.mark.parametrize("positives", [3, 1_000, pytest.param(300_000, marks=pytest.mark.all)])
@pytest.mark.parametrize("negatives", [1e6, 1e12, 9e15])
def test_small_precisions_have_the_same_sums(library: Path, positives: int, negatives: float) -> None:
    """The sums are small compared with the positives, and still rounded alike."""
    tp = np.arange(positives + 1.0)
    for fp in (np.full(tp.size, negatives), np.sort(np.random.default_rng(6).integers(negatives, size=tp.size) * 1.0)):
        assert_same(library, Counts(tp, fp, float(positives), negatives))


def test_rows_of_no_sweep_have_the_same_hull(library: Path) -> None:
    random = np.random.default_rng(3)
    for largest in (4, 30, 10**7):
        tp, fp = random.integers(0, largest, (2, 5_000), endpoint=True).astype(np.float64)
        assert_same(library, Counts(tp, fp, float(largest), float(largest)))


def test_the_points_on_a_hull_are_found_by_the_library(library: Path) -> None:
    """The staircase rises like a hull; each of its steps is there twice, and once in between."""
    fp = np.repeat(np.arange(2_000.0), 3) * 2
    tp = np.repeat((2_000.0 * 1_999 - (np.arange(2_000.0) - 1_999) ** 2) // 2, 3) * 2
    tp[1::3] = (tp[::3] + np.append(tp[3::3], tp[-1])) / 2
    fp[1::3] = (fp[::3] + np.append(fp[3::3], fp[-1])) / 2
    vertices, boundaries = [], []
    for path in (library, None):
        with used(path):
            hull = RocHull.of(ConfusionTable.from_counts(Counts(tp, fp, float(tp.max()), float(fp.max()))))
            assert (hull.table.compiled is None) == (path is None)
            vertices.append(hull.vertices.tolist())
            boundaries.append(hull.boundary.tolist())
    assert vertices[0] == vertices[1]
    assert boundaries[0] == boundaries[1]
    assert 1_000 < len(vertices[0]) < len(boundaries[0])


FIBONACCI = [0, 1]
while len(FIBONACCI) < 80:
    FIBONACCI.append(FIBONACCI[-1] + FIBONACCI[-2])


@pytest.mark.parametrize(("number", "vertices", "boundary"), [(75, [0, 1, 2], [0, 1, 2]), (76, [0, 2], [0, 2])])
def test_products_that_round_alike_are_compared_exactly(
    library: Path, number: int, vertices: list[int], boundary: list[int]
) -> None:
    """Neighbouring fractions of Fibonacci numbers differ by one in 2^104, in one direction or the other."""
    tp, fp = (np.array(FIBONACCI[first : first + 2], dtype=np.float64) for first in (number, number + 1))
    for path in (library, None):
        with used(path):
            hull = RocHull.of(ConfusionTable.from_counts(Counts(tp, fp, float(tp[-1]), float(fp[-1]))))
            assert hull.vertices.tolist() == vertices
            assert hull.boundary.tolist() == boundary


def test_a_step_that_what_is_called_does_not_feel_has_the_same_area(library: Path) -> None:
    """P + N is not a double here: 2^53 negatives and one positive sum to 2^53."""
    counts = Counts(np.array([0.0]), np.array([2.0**53]), 1.0, 2.0**53)
    assert_same(library, counts)
    with used(library):
        assert evaluate_curves(counts, ASKED).auc.pr == 2.0**-54


def test_a_sum_next_to_half_way_is_rounded_alike(library: Path) -> None:
    """If one remainder were rounded, the average precision would not be the nearest double: 0.30555555555555586."""
    counts = Counts(np.array([1.0, 2, 3]), np.array([0.0, 7, 4503599627370492]), 4.0, 2.0**53 - 4)
    for path in (library, None):
        with used(path):
            assert evaluate_curves(counts, ASKED).auc.average_precision == 0.30555555555555586
    assert_same(library, counts)


@pytest.mark.parametrize("kind", [np.float32, ">f8", np.int64])
def test_other_kinds_of_numbers_are_read_as_they_are(library: Path, kind: type | str) -> None:
    random = np.random.default_rng(2)
    scores, labels = random.integers(0, 2**20, 500).astype(kind), random.random(500) < 0.5
    with used(library):
        found = bits(evaluate_curves(Sample(scores, labels), ASKED))
    with used(None):
        assert found == bits(evaluate_curves(Sample(scores.astype(np.float64), labels), ASKED))


def test_columns_may_lie_apart_and_be_read_only(library: Path) -> None:
    random = np.random.default_rng(8)
    both = random.normal(size=(2, 1_000)).T.copy()
    scores, labels = both[:, 0], (both[:, 1] > 0)[::-1]
    for column in (scores, labels):
        column.flags.writeable = False
        assert not column.flags.c_contiguous
    assert_same(library, Sample(scores, labels))
    steps = random.integers(0, 3, (1_000, 2)).cumsum(axis=0).astype(np.float64)
    steps.flags.writeable = False
    assert_same(library, Counts(steps[:, 0], steps[:, 1], float(steps[-1, 0]) + 1, float(steps[-1, 1]) + 1))


def test_every_loop_of_the_library_is_used(library: Path) -> None:
    """Otherwise the tests above would compare NumPy with itself."""
    scores, labels = np.array([0.3, 0.1, 0.7]), np.array([True, False, False])
    loops = ("rocpr_keys", "rocpr_groups", "rocpr_hull", "rocpr_boundary", "rocpr_points", "rocpr_sums")
    called = []
    with used(library), pytest.MonkeyPatch.context() as patch:
        for name in loops:
            loop = getattr(COMPILED._library, name)
            patch.setattr(COMPILED._library, name, lambda *a, name=name, loop=loop: called.append(name) or loop(*a))
        evaluate_curves(Sample(scores, labels), ASKED)
    assert set(called) == set(loops)
    with used(None):
        assert COMPILED.groups(scores, labels, 1.0, signed=False, descending=True) is None
        assert COMPILED.table(scores, scores) is None


@pytest.mark.all
@pytest.mark.parametrize("name", build_hook.COMPILERS)
def test_every_compiler_makes_the_same_numbers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    if shutil.which(name) is None:
        pytest.skip(f"there is no {name}")
    monkeypatch.setenv("CC", name)
    library = library_in(tmp_path)
    random = np.random.default_rng(1)
    for rows in (2, 3, 10, 1_000, 30_000):
        labels = random.random(rows) < 1 / 3
        labels[:2] = False, True
        normal = random.normal(labels, 1.0)
        for scores in (normal, np.round(normal, 1), np.repeat(normal, 7)[:rows], np.ldexp(normal, 900)):
            assert_same(library, Sample(scores, labels, None, lower_is_positive=rows > 10))


@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=40))
@strategies.examples(100)
def test_the_address_is_that_of_the_elements(numbers: list[float]) -> None:
    column = np.array(numbers)
    assert addressof(compiled._address(column)) == column.ctypes.data
    column.flags.writeable = False
    assert compiled._address(column) == column.ctypes.data
