"""Laws of many tables: slices have the bits of calls for each alone, and resamples those of their tables."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.curves.sweep import sweep
from service.curves.sweep.sweep import Drawn
from tests.reference import ulp_distance
from tests.support import sweeps
from tests.support.strategies import examples
from tests.support.sweeps import Columns

pytestmark = pytest.mark.usefixtures("loops")


def slices_of(sample: Columns, numbers: np.ndarray, count: int) -> np.ndarray:
    return sweep.slices(numbers, count, sample.scores, sample.labels, sample.weights, descending=sample.descending)


def alone(sample: Columns) -> list[float]:
    """P, N and areas of a single sample, from a call for each."""
    _, tp, fp = sample.table()
    if not sweeps.has_both((tp, fp)):
        return [tp[-1], fp[-1], *[np.nan] * 5]
    areas = sweep.areas(tp, fp)
    hull = sweep.areas(tp, fp, sweep.hull(tp, fp))
    return [tp[-1], fp[-1], *areas[:3], hull.roc, max(hull.pr, areas.pr)]


def assert_slices_are_those_of_single_calls(sample: Columns, numbers: np.ndarray, count: int) -> None:
    expected = [alone(sample.at(numbers == number)) for number in range(count)]
    np.testing.assert_array_equal(slices_of(sample, numbers, count), np.array(expected))


@st.composite
def sliced(draw: st.DrawFn) -> tuple[Columns, np.ndarray, int]:
    """A sample, the number of each row's slice, and how many slices there are, some of them empty."""
    weight = draw(st.sampled_from([None, sweeps.BEYOND]))
    sample = draw(sweeps.columns(most=40, weight=weight))
    count = draw(st.integers(1, 5))
    size = sample.scores.size
    return sample, np.array(draw(st.lists(st.integers(0, count - 1), min_size=size, max_size=size))), count


@examples(300)
@given(sliced())
def test_a_slice_has_the_bits_of_a_single_call(given_: tuple[Columns, np.ndarray, int]) -> None:
    assert_slices_are_those_of_single_calls(*given_)


@examples(100)
@given(sliced(), st.randoms(use_true_random=False))
def test_the_order_of_rows_changes_no_bit_of_a_slice(given_: tuple[Columns, np.ndarray, int], random: object) -> None:
    sample, numbers, count = given_
    order = list(range(numbers.size))
    random.shuffle(order)  # type: ignore[attr-defined]
    shuffled = slices_of(sample.at(np.array(order)), numbers[order], count)
    np.testing.assert_array_equal(shuffled, slices_of(sample, numbers, count))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("descending", [False, True])
def test_so_has_a_slice_of_many_rows(*, weighted: bool, descending: bool) -> None:
    random = np.random.default_rng(4)
    numbers = np.repeat([0, 1, 2, 3], [3_000, 1, 48, 49])
    random.shuffle(numbers)
    weights = np.exp(5 * random.normal(size=numbers.size)) if weighted else None
    labels = random.random(numbers.size) < 0.3
    sample = Columns(np.round(random.normal(labels), 2), labels, weights, descending)
    assert_slices_are_those_of_single_calls(sample, numbers, 4)


@st.composite
def drawings(draw: st.DrawFn) -> tuple[int, Drawn, Drawn]:
    """The rows of a table, and how often each kind of either class was drawn; row 0 calls nothing positive."""
    rows, resamples = draw(st.integers(2, 8)), draw(st.integers(1, 3))

    def a_class(weight: st.SearchStrategy[float] | None) -> Drawn:
        kinds = draw(st.integers(1, 8))
        places = np.array(draw(st.lists(st.integers(1, rows - 1), min_size=kinds, max_size=kinds)))
        weights = None if weight is None else draw(st.lists(weight, min_size=kinds, max_size=kinds))
        counts = draw(
            st.lists(
                st.lists(st.integers(0, 255), min_size=kinds, max_size=kinds), min_size=resamples, max_size=resamples
            )
        )
        few = draw(st.booleans())
        return Drawn(
            places, None if weights is None else np.array(weights), np.array(counts, dtype=np.uint8 if few else float)
        )

    weight = draw(st.sampled_from([None, *sweeps.WEIGHTS.values()]))
    return rows, a_class(weight), a_class(weight)


@examples(200)
@given(drawings())
def test_a_resample_adds_up_what_was_drawn(given_: tuple[int, Drawn, Drawn]) -> None:
    """Sums are plain: each of up to 16 additions may be half a unit off."""
    rows, *classes = given_
    for drawn, columns in zip(classes, sweep.resamples(*given_), strict=True):
        weights = [1.0] * drawn.rows.size if drawn.weights is None else drawn.weights.tolist()
        for counts, found in zip(drawn.counts.tolist(), columns.tolist(), strict=True):
            gains = [Fraction(0)] * rows
            for row, weight, count in zip(drawn.rows.tolist(), weights, counts, strict=True):
                gains[row] += Fraction(weight) * int(count)
            for value, exact in zip(found, itertools.accumulate(gains), strict=True):
                assert ulp_distance(value, exact) <= (0 if drawn.weights is None else 12)


@examples(200)
@given(drawings())
def test_areas_of_resamples_are_those_of_their_tables(given_: tuple[int, Drawn, Drawn]) -> None:
    expected = [sweep.areas(*columns) for columns in zip(*sweep.resamples(*given_), strict=True)]
    np.testing.assert_array_equal(sweep.resampled_areas(*given_)[:, :3], np.array(expected)[:, :3])
    np.testing.assert_array_equal(sweep.resampled_areas(*given_, roc_alone=True)[:, 0], [area.roc for area in expected])


def test_counts_of_a_resample_may_be_bytes_or_doubles() -> None:
    random = np.random.default_rng(6)
    rows = [random.integers(1, 50, 80), random.integers(1, 50, 90)]
    weights = [random.random(80), None]
    counts = [random.integers(0, 255, (3, 80)), random.integers(0, 255, (3, 90))]
    bytes_, doubles = (
        sweep.resampled_areas(50, *(Drawn(*kind) for kind in zip(rows, weights, map(to, counts), strict=True)))
        for to in (np.uint8, np.float64)
    )
    np.testing.assert_array_equal(bytes_, doubles)
