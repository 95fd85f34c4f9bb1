"""Slices in one pass: every area equals that of a single call, bit for bit, whatever the slices and the row order."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.curves import hull, slicing
from service.curves.area_columns import SHARED_AREAS, AreaColumns
from service.curves.arrays import LARGEST_EXACT_INTEGER
from service.curves.confusion import ConfusionTable
from service.curves.hull import roc_convex_hull
from service.curves.orientation import CountSpace
from service.curves.sample import Sample
from service.curves.slicing import (
    hull_vertices,
    rows_by_slice,
    slice_samples,
    sliced_areas,
    sliced_tables,
)
from service.curves.weighted_slicing import WeightedSlices
from tests import reference
from tests.reference_slices import exact, has_both_classes, parts, single
from tests.support.sampling import some
from tests.support.strategies import Data, examples, plain_weights, samples


def areas_of(data: Data, numbers: list[int]) -> list[dict[str, Any]]:
    sample = data.sample()
    order, bounds = rows_by_slice(np.array(numbers), max(numbers) + 1)
    if sample.weights is None:
        found = sliced_areas(sliced_tables(sample, order, bounds))
    else:
        slices = WeightedSlices(sample, sample.weights, order, bounds)
        found = slices.areas(slices.tables())
    columns = {name: getattr(found, name).tolist() for name in SHARED_AREAS}
    return [
        {name: None if np.isnan(column[row]) else column[row] for name, column in columns.items()}
        for row in range(bounds.size - 1)
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
@given(sliced_samples())
def test_rational_areas_are_rounded_once(given_: tuple[Data, list[int]]) -> None:
    data, numbers = given_
    for found, part in zip(areas_of(data, numbers), parts(data, numbers), strict=True):
        if has_both_classes(part):
            right = exact(part)
            assert found["roc"] == reference.correctly_rounded(right["roc"])
            assert found["roc_hull"] == reference.correctly_rounded(right["roc_hull"])
            assert found["average_precision"] == reference.correctly_rounded(right["average_precision"])


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


def test_what_is_in_doubt_is_asked_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    data, numbers = many(50, 5_000)
    expected = areas_of(data, numbers)
    monkeypatch.setattr(slicing, "_DOUBT", 1.0)
    asked = []
    real = AreaColumns.set
    monkeypatch.setattr(
        AreaColumns, "set", lambda found, number, table: asked.append(number) or real(found, number, table)
    )
    assert areas_of(data, numbers) == expected
    assert len(asked) > 40


def test_a_table_with_inexact_products_is_searched_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    data, numbers = many(3, 300)
    expected = areas_of(data, numbers)
    monkeypatch.setattr(slicing, "LARGEST_EXACT_INTEGER", 100)
    assert LARGEST_EXACT_INTEGER > 100
    assert areas_of(data, numbers) == expected


def hostile(rows: int, kind: str) -> list[bool]:
    """Labels by rank whose hull is found slowly by looking at neighbours: a concave staircase below a final jump."""
    stairs: list[bool] = []
    step = 1
    while len(stairs) < rows // 2:
        stairs += [True] + [False] * step
        step += 1 if kind == "stairs" else len(stairs) % 3
    return stairs + [True] * (rows - len(stairs))


@pytest.mark.parametrize("kind", ["stairs", "uneven"])
@pytest.mark.parametrize("passes", [1, 2, 8])
def test_hostile_hulls(monkeypatch: pytest.MonkeyPatch, kind: str, passes: int) -> None:
    monkeypatch.setattr(slicing, "_PASSES", passes)
    pruned = []
    real = hull.prune
    monkeypatch.setattr(slicing, "prune", lambda *rows, **how: pruned.append(rows) or real(*rows, **how))
    labels = np.array(hostile(400, kind) * 5 + [True, False])
    numbers = np.repeat(np.arange(6), [400] * 5 + [2])
    order, bounds = rows_by_slice(numbers, 6)
    tables = sliced_tables(Sample(-np.arange(labels.size, dtype=float), labels), order, bounds)
    found = hull_vertices(tables)
    alone = [roc_convex_hull(tables.table(number)) + tables.starts[number] for number in range(6)]
    assert found.tolist() == np.concatenate(alone).tolist()
    assert pruned


def test_tables_are_those_of_single_calls() -> None:
    data, numbers = many(20, 500, levels=4)
    order, bounds = rows_by_slice(np.array(numbers), 20)
    tables = sliced_tables(data.sample(), order, bounds)
    for number, part in enumerate(parts(data, numbers)):
        found = tables.table(number)
        if has_both_classes(part):
            alone = ConfusionTable.from_sample(part.sample())
            assert found.thresholds[1:].tolist() == alone.thresholds[1:].tolist()
            assert (found.tp.tolist(), found.fp.tolist()) == (alone.tp.tolist(), alone.fp.tolist())
            assert np.isnan(found.thresholds[0])


def test_slices_without_areas_say_why() -> None:
    sample = Sample(np.arange(6.0), np.array([1, 1, 1, 0, 1, 0], bool), np.array([1, 2, 1e-200, 1, 1, 1.0]))
    order, bounds = rows_by_slice(np.array([0, 0, 1, 1, 2, 2]), 3)
    one, light, right = slice_samples(sample, order, bounds)
    assert (one.reason, one.totals) == ("one_class", (3.0, 0.0))
    assert (light.reason, light.totals) == ("total_out_of_range", (1e-200, 1.0))
    assert isinstance(right, Sample)


WEIGHTS = {
    "lognormal": lambda random, rows: np.exp(random.normal(size=rows)),
    "integers": lambda random, rows: random.integers(0, 4, rows) * 1.0,
    "integers whose sums no double holds": lambda random, rows: random.integers(0, 2**52, rows) * 1.0,
    "powers of two": lambda random, rows: 2.0 ** random.integers(-300, 300, rows),
    "some too light to count": lambda random, rows: random.choice([1.0, 1e-17, 0.1], rows),
    "slices of unlike weight": lambda random, rows: random.random(rows) * 10.0 ** random.choice([-120, 0, 120], rows),
}


@pytest.mark.parametrize(("kind", "levels"), some(product(WEIGHTS, [None, 3]), 3))
def test_many_slices_with_weights(monkeypatch: pytest.MonkeyPatch, kind: str, levels: int | None) -> None:
    alone: list[int] = []
    real = AreaColumns.set
    monkeypatch.setattr(
        AreaColumns, "set", lambda found, number, table: alone.append(number) or real(found, number, table)
    )
    plain, numbers = many(40, 2_000, levels)
    weights = WEIGHTS[kind](np.random.default_rng(7), len(numbers)).tolist()
    data = Data(plain.scores, plain.labels, weights)
    assert areas_of(data, numbers) == [single(part) for part in parts(data, numbers)]
    if kind in ("lognormal", "integers"):
        assert not alone


def test_tables_with_weights_are_those_of_single_calls() -> None:
    plain, numbers = many(20, 500, levels=4)
    weights = np.random.default_rng(8).choice([0.0, 0.5, 3.0, 1e-20], len(numbers))
    data = Data(plain.scores, plain.labels, weights.tolist())
    tables = WeightedSlices(data.sample(), weights, *rows_by_slice(np.array(numbers), 20)).tables()
    for number, part in enumerate(parts(data, numbers)):
        if has_both_classes(part):
            found, alone = tables.table(number), ConfusionTable.from_sample(part.sample())
            assert found.thresholds[1:].tolist() == alone.thresholds[1:].tolist()
            assert (found.tp.tolist(), found.fp.tolist()) == (alone.tp.tolist(), alone.fp.tolist())


def test_hulls_pruned_row_by_row_are_checked_by_neighbours_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a square root, pruning removes one vertex a round; on stairs under a jump, neighbours remove one a pass."""
    looked_at = []
    real = CountSpace.orientation
    monkeypatch.setattr(
        CountSpace, "orientation", lambda self, *rows: looked_at.append(rows[0].size) or real(self, *rows)
    )
    root = [weight for power in range(-200, 0) for weight in (2.0**power, 4.0**power)]
    stairs = [weight for step in range(1, 21) for weight in (1e-3, 1e-2 * step)]
    weights = [*root, *stairs, 10.0, 0.1]
    data = Data([-float(row) for row in range(len(weights))], [row % 2 == 0 for row in range(len(weights))], weights)
    assert areas_of(data, [0] * len(weights)) == [single(data)]
    looked_at.clear()
    both = WeightedSlices(data.sample(), np.array(weights), np.arange(len(weights)), np.array([0, len(weights)]))
    hull_vertices(both.tables())
    assert sum(looked_at) < 25 * len(weights)
