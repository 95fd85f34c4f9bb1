"""Slices in one call: every area equals that of a single call, bit for bit, whatever the slices and the row order."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.curves.area_columns import ONE_CLASS, SHARED_AREAS, TOTAL_OUT_OF_RANGE, AreaColumns
from service.curves.sample import Sample
from service.curves.slicing import rows_by_slice, slice_samples, sliced_areas
from tests import reference
from tests.reference_slices import exact, has_both_classes, parts, single
from tests.support.sampling import some
from tests.support.strategies import Data, examples, plain_weights, samples

pytestmark = pytest.mark.usefixtures("loops")


def columns_of(sample: Sample, numbers: list[int]) -> AreaColumns:
    order, bounds = rows_by_slice(np.array(numbers), max(numbers) + 1)
    return sliced_areas(sample, np.array(numbers), order, bounds)


def areas_of(data: Data, numbers: list[int]) -> list[dict[str, Any]]:
    found = columns_of(data.sample(), numbers)
    columns = {name: getattr(found, name).tolist() for name in SHARED_AREAS}
    return [
        {name: None if np.isnan(column[row]) else column[row] for name, column in columns.items()}
        for row in range(len(found.reason))
    ]


def numbered(draw: st.DrawFn, rows: int) -> list[int]:
    """Numbers of slices, each with a row."""
    drawn = draw(st.lists(st.integers(0, 4), min_size=rows, max_size=rows))
    places = sorted(set(drawn))
    return [places.index(each) for each in drawn]


@st.composite
def sliced_samples(draw: st.DrawFn, weight: st.SearchStrategy[float] | None = None) -> tuple[Data, list[int]]:
    data = draw(samples(weight=weight, most=40))
    return data, numbered(draw, len(data.scores))


@examples(300)
@given(sliced_samples())
def test_areas_are_those_of_single_calls_bit_for_bit(given_: tuple[Data, list[int]]) -> None:
    data, numbers = given_
    assert areas_of(data, numbers) == [single(part) for part in parts(data, numbers)]


@examples(100)
@given(sliced_samples(weight=st.one_of(plain_weights, st.just(0.0))))
def test_so_are_those_with_weights(given_: tuple[Data, list[int]]) -> None:
    data, numbers = given_
    assert areas_of(data, numbers) == [single(part) for part in parts(data, numbers)]


@examples(100)
@given(sliced_samples(), st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_matter(given_: tuple[Data, list[int]], random: Any) -> None:
    data, numbers = given_
    order = list(range(len(numbers)))
    random.shuffle(order)
    assert areas_of(data.rows(order), [numbers[row] for row in order]) == areas_of(data, numbers)


def many(slices: int, rows: int, levels: int | None = None, seed: int = 0) -> tuple[Data, list[int]]:
    """Slices of very different sizes."""
    random = np.random.default_rng(seed)
    numbers = np.sort(np.append(random.permutation(rows // 2) % slices, np.zeros(rows - rows // 2, int)))
    labels = random.random(rows) < random.random(slices)[numbers]
    scores = random.normal(size=rows) + labels
    scores = scores if levels is None else np.floor(scores * levels)
    return Data(scores.tolist(), labels.tolist()), numbers.tolist()


@pytest.mark.parametrize(("slices", "levels"), some([(250, None), (50, 2), (50, None), (600, 3)], 2))
def test_many_slices(slices: int, levels: int | None) -> None:
    data, numbers = many(slices, 6_000, levels)
    assert areas_of(data, numbers) == [single(part) for part in parts(data, numbers)]


def test_more_slices_than_numbers_of_16_bits() -> None:
    numbers = np.random.default_rng(1).integers(0, 70_000, 300_000)
    numbers[:70_000] = np.arange(70_000)
    order, bounds = rows_by_slice(numbers, 70_000)
    assert (order == np.argsort(numbers, kind="stable")).all()
    assert (bounds == np.searchsorted(numbers[order], np.arange(70_001))).all()


def test_scores_300_decades_apart_are_sorted_all_the_same() -> None:
    scores = [1e300, 5e-324, 0.0, -1e-320, 1e300, 3e-322, -0.0, -1e300] * 3
    data = Data(scores, [row % 3 == 0 for row in range(24)])
    numbers = [row // 8 for row in range(24)]
    assert areas_of(data, numbers) == [single(part) for part in parts(data, numbers)]


def hostile(rows: int, kind: str) -> list[bool]:
    """Labels by rank whose hull is found slowly by looking at neighbours: a concave staircase below a final jump."""
    stairs: list[bool] = []
    step = 1
    while len(stairs) < rows // 2:
        stairs += [True] + [False] * step
        step += 1 if kind == "stairs" else len(stairs) % 3
    return stairs + [True] * (rows - len(stairs))


def test_slices_without_areas_say_why() -> None:
    sample = Sample(np.arange(6.0), np.array([1, 1, 1, 0, 1, 0], bool), np.array([1, 2, 1e-200, 1, 1, 1.0]))
    order, bounds = rows_by_slice(np.array([0, 0, 1, 1, 2, 2]), 3)
    one, light, right = slice_samples(sample, order, bounds)
    assert (one.reason, one.totals) == (ONE_CLASS, (3.0, 0.0))
    assert (light.reason, light.totals) == (TOTAL_OUT_OF_RANGE, (1e-200, 1.0))
    assert isinstance(right, Sample)
    found = columns_of(sample, [0, 0, 1, 1, 2, 2])
    assert found.reason == [ONE_CLASS, TOTAL_OUT_OF_RANGE, None]
    assert (found.positives.tolist(), found.negatives.tolist()) == ([3.0, 1e-200, 1.0], [0.0, 1.0, 1.0])
    for name in SHARED_AREAS:
        assert np.isnan(getattr(found, name)).tolist() == [True, True, False]


@examples(100)
@given(sliced_samples())
def test_rational_areas_are_rounded_once(loops: str, given_: tuple[Data, list[int]]) -> None:
    """Those in C; the twin is a few units off."""
    data, numbers = given_
    for found, part in zip(areas_of(data, numbers), parts(data, numbers), strict=True):
        for name, right in exact(part).items() if has_both_classes(part) else ():
            assert reference.ulp_distance(found[name], right) <= (4 if loops == "plain" else 0.5)


@pytest.mark.parametrize("kind", ["stairs", "uneven"])
def test_hulls_that_are_found_slowly(kind: str) -> None:
    labels = hostile(400, kind) * 5 + [True, False]
    data = Data([-float(row) for row in range(len(labels))], labels)
    numbers = np.repeat(np.arange(6), [400] * 5 + [2]).tolist()
    assert areas_of(data, numbers) == [single(part) for part in parts(data, numbers)]


WEIGHTS = {
    "lognormal": lambda random, rows: np.exp(random.normal(size=rows)),
    "integers": lambda random, rows: random.integers(0, 4, rows) * 1.0,
    "integers whose sums no double holds": lambda random, rows: random.integers(0, 2**52, rows) * 1.0,
    "powers of two": lambda random, rows: 2.0 ** random.integers(-300, 300, rows),
    "some too light to count": lambda random, rows: random.choice([1.0, 1e-17, 0.1], rows),
    "slices of unlike weight": lambda random, rows: random.random(rows) * 10.0 ** random.choice([-120, 0, 120], rows),
}


@pytest.mark.parametrize(("kind", "levels"), some(product(WEIGHTS, [None, 3]), 3))
def test_many_slices_with_weights(kind: str, levels: int | None) -> None:
    plain, numbers = many(40, 2_000, levels)
    weights = WEIGHTS[kind](np.random.default_rng(7), len(numbers)).tolist()
    data = Data(plain.scores, plain.labels, weights)
    assert areas_of(data, numbers) == [single(part) for part in parts(data, numbers)]


def test_a_hull_that_is_a_square_root_and_stairs_under_a_jump() -> None:
    root = [weight for power in range(-200, 0) for weight in (2.0**power, 4.0**power)]
    stairs = [weight for step in range(1, 21) for weight in (1e-3, 1e-2 * step)]
    weights = [*root, *stairs, 10.0, 0.1]
    data = Data([-float(row) for row in range(len(weights))], [row % 2 == 0 for row in range(len(weights))], weights)
    assert areas_of(data, [0] * len(weights)) == [single(data)]
