"""Inputs at which a sweep could go wrong: each once gave a wrong number, a warning, or a crash."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from importlib.machinery import all_suffixes

import numpy as np
import pytest

from service.curves.confusion import ConfusionTable
from service.curves.counts import Counts
from service.curves.precision_gain import precision_gain_area
from service.curves.sweep import sweep
from tests import reference, reference_calibration, reference_pr, reference_sweep
from tests.reference import ulp_distance
from tests.reference_sweep import curve

pytestmark = pytest.mark.usefixtures("loops")

UNITS = 4
"""How far the twin's areas may be off; those in C are the nearest doubles."""


def table(weights: list[float], labels: str) -> tuple[np.ndarray, np.ndarray]:
    """Tp and fp of rows in order, `+` for positives."""
    scores = -np.arange(len(weights), dtype=float)
    return sweep.table(scores, np.array([label == "+" for label in labels]), np.array(weights), descending=True)[1:]


def test_no_import_finds_the_library() -> None:
    """Python would import sweep.so instead of sweep.py."""
    assert not sweep.LIBRARY.name.endswith(tuple(all_suffixes()))


@pytest.mark.parametrize(
    ("weights", "labels"),
    [
        # The reciprocal of a denormal number overflows.
        ([5e-324, 5e-324, 1.0], "+-+"),
        ([1e-150, 5e-324, 1e140, 1.0, 1e149], "+-+--"),
        ([5e-324, 1e149], "+-"),
        ([5e149, 1e-150], "-+"),
        # Rates instead of counts lose the differences of counts.
        ([0.5, 0.5, 1.0, 3e-16], "--+-"),
        ([1.0, 0.5, 1e-16, 1e-17, 1.0, 3e-16], "+---+-"),
        # The product of two small counts underflows.
        ([1e149, 1e-150, 1e-150], "-++"),
        ([1e-150, 1e149, 1e-150, 5e-324], "+-+-"),
    ],
)
def test_areas_of_counts_far_apart(weights: list[float], labels: str) -> None:
    tp, fp = table(weights, labels)
    found, exact = sweep.areas(tp, fp), curve(tp, fp)
    assert ulp_distance(found.roc, reference.roc_area(exact)) <= UNITS
    assert ulp_distance(found.average_precision, reference_pr.average_precision(exact)) <= UNITS
    if min(tp[-1], fp[-1]) >= 1e-150:
        assert reference_pr.relative_error(found.pr, reference_pr.pr_area(exact)) <= 1e-14


@pytest.mark.parametrize(
    ("weights", "labels"),
    [([0.3, 1.0, 0.2], "++-"), ([0.1, 0.1, 0.1, 0.7], "++--"), ([1.0] * 51, "+" * 49 + "--")],
)
def test_a_perfect_ranking_has_areas_of_one(weights: list[float], labels: str) -> None:
    found = sweep.areas(*table(weights, labels), trapezoid=True)
    assert (found.roc, found.pr, found.average_precision) == (1.0, 1.0, 1.0)


def test_a_slice_beyond_all_doubles_has_no_numbers() -> None:
    weights = np.array([1e308, 1.7e308, 1.0, 1.0, 2.0, 1e308, 1e308])
    labels = np.array([True, True, False, True, False, True, False])
    found = sweep.slices(np.array([0, 0, 0, 1, 1, 2, 2]), 3, np.arange(7.0), labels, weights, descending=True)
    assert [math.isnan(number) for number in found[0]] == [True, False] + [True] * 5
    assert found[1:, :3].tolist() == [[1.0, 2.0, 0.0], [1e308, 1e308, 0.0]]


def test_sums_beyond_all_doubles_are_not_numbers() -> None:
    found = sweep.running_sums(np.array([1e308, 7e307, 1e307, 1.0]))
    assert found[:3].tolist() == [0.0, 1e308, 1.7e308]
    assert np.isnan(found[3:]).all()


@pytest.mark.parametrize("weights", [[0.0, 0.0, 0.0], []])
def test_rows_without_weight_make_no_rows(weights: list[float]) -> None:
    size = len(weights)
    thresholds, tp, fp = sweep.table(np.ones(size), np.ones(size, bool), np.array(weights), descending=True)
    assert np.isnan(thresholds).tolist() == [True]
    assert (tp.tolist(), fp.tolist()) == ([0.0], [0.0])


def test_a_sum_next_to_a_middle_is_one_of_the_two_nearest_doubles() -> None:
    """Only a weight 2^-600 times as light says which is nearer: 1 + 2^-53 is the middle."""
    assert sweep.running_sums(np.array([1.0, 2.0**-53, 2.0**-600]))[-1] in (1.0, 1 + 2.0**-52)
    tp, _ = table([1e-149, 3e-150, 1e-160, 1e-300, 1.0], "++++-")
    exact = sum(map(Fraction, [1e-149, 3e-150, 1e-160, 1e-300]))
    assert ulp_distance(tp[-1], exact) <= Fraction(1, 2) + Fraction(1, 2**200)


def test_a_quotient_in_the_middle_is_one_of_the_two_nearest_doubles() -> None:
    third, half = 3002399751580330.0, 2.0**53 - 3
    tp, fp = np.array([0, 1, 2, 3, half - 1, half]), np.array([0, 2, third, third, third, half])
    tp, fp = np.append(tp, half), np.append(fp, 2.0**53)
    vertices = sweep.hull(tp, fp)
    exact = reference.roc_area(curve(tp[vertices], fp[vertices]))
    assert exact.denominator == 2**54  # and doubles in [1/2, 1) are multiples of 2^-53
    assert ulp_distance(sweep.areas(tp, fp, vertices).roc, exact) <= UNITS


@pytest.mark.parametrize("light", [1, 30, 200])
def test_a_hull_ends_at_the_first_of_rows_equal_to_the_last(light: int) -> None:
    """Weights too small to change a sum repeat rows; the rows that a search starts from may be among these."""
    random = np.random.default_rng(light)
    weights = [*random.random(100), *[1e-20] * light]
    tp, fp = table(weights, "".join(random.choice(["+", "-"], len(weights))))
    found, members = sweep.hull_and_members(tp, fp)
    exact = curve(tp, fp)
    assert (tp[found[-1]], fp[found[-1]]) == (tp[-1], fp[-1])
    assert found[-1] == 100
    corners = [exact.rows[corner] for corner in found.tolist()]
    for row in exact.rows:
        assert all(reference_sweep.side(a, row, b) <= 0 for a, b in itertools.pairwise(corners))
    on = [
        any(
            a.fp <= row.fp <= b.fp and a.tp <= row.tp <= b.tp and reference_sweep.side(a, row, b) == 0
            for a, b in itertools.pairwise(corners)
        )
        for row in exact.rows
    ]
    assert members.tolist() == on


def test_gains_of_weights_far_apart_keep_their_digits() -> None:
    """P is far above N, and recall gain is 0 next to P: P - P²/(P + N) would lose all digits."""
    random = np.random.default_rng(1)
    weights = 10.0 ** random.uniform(-30, 10, 60)
    labels = random.random(60) < 0.5
    weights[~labels] *= 1e-12
    tp, fp = table(weights.tolist(), "".join(np.where(labels, "+", "-")))
    found = precision_gain_area(ConfusionTable.of(Counts(tp, fp, float(tp[-1]), float(fp[-1]))))
    exact = reference_calibration.gain_area(curve(tp, fp))
    assert abs(Fraction(found) - exact) <= max(1, abs(exact)) / 10**14


FIBONACCI = [0, 1]
while len(FIBONACCI) < 80:
    FIBONACCI.append(FIBONACCI[-1] + FIBONACCI[-2])


@pytest.mark.parametrize(("number", "vertices"), [(75, [0, 1, 2]), (76, [0, 2])])
def test_products_that_round_alike_are_compared_exactly(number: int, vertices: list[int]) -> None:
    """Neighbouring fractions of Fibonacci numbers differ by one in 2^104, in one direction or the other."""
    tp, fp = (np.array([0, *FIBONACCI[first : first + 2]], dtype=float) for first in (number, number + 1))
    found, members = sweep.hull_and_members(tp, fp)
    assert found.tolist() == vertices
    assert np.flatnonzero(members).tolist() == vertices


def test_a_row_next_to_the_origin_is_on_neither_side_of_a_line_by_rounding() -> None:
    """Its counts are lost from products of pairs of doubles; the other two and 0 are on one line."""
    for tp, fp, expected in ((3e-39, 3e-38, 1), (3e-39, 0.0, -1), (0.0, 3e-38, 1)):
        rows = np.array([tp, 56733109235985.0, 85366888801476.0]), np.array([fp, 397131764651895.0, 597568221610332.0])
        assert reference_sweep.side(*curve(*rows).rows) == expected
        assert np.sign(sweep.turns(*rows, *np.arange(3)[:, np.newaxis])).tolist() == [expected]


def test_a_step_that_what_is_called_does_not_feel() -> None:
    """P + N is not a double here: 2^53 negatives and one positive sum to 2^53."""
    assert sweep.areas(np.array([0.0, 0.0, 1.0]), np.array([0.0, 2.0**53, 2.0**53])).pr == 2.0**-54


def test_a_sum_next_to_half_way_is_rounded_once(loops: str) -> None:
    """If one remainder were rounded, the average precision would not be the nearest double."""
    tp, fp = np.array([0.0, 1, 2, 3, 4]), np.array([0.0, 0, 7, 4503599627370492, 2.0**53 - 4])
    found = sweep.areas(tp, fp).average_precision
    assert found == pytest.approx(0.30555555555555586, abs=0, rel=0 if loops == "C" else 4 * 2.0**-53)


@pytest.mark.parametrize("kind", [np.float32, ">f8", np.int64])
def test_other_kinds_of_numbers_are_read_as_they_are(kind: type | str) -> None:
    random = np.random.default_rng(2)
    column, labels = random.integers(0, 2**20, 500), random.random(500) < 0.5
    given, doubles = (column.astype(some) for some in (kind, np.float64))
    for found, expected in (
        (sweep.table(given, labels, given, descending=True), sweep.table(doubles, labels, doubles, descending=True)),
        ([sweep.running_sums(given)], [sweep.running_sums(doubles)]),
        ([sweep.order(given, descending=False)], [sweep.order(doubles, descending=False)]),
    ):
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_array_equal(one, other)


def test_columns_may_lie_apart_and_be_read_only() -> None:
    random = np.random.default_rng(8)
    both = random.integers(0, 3, (1_000, 3)).cumsum(axis=0).astype(float)
    both[0] = 0
    both.flags.writeable = False
    tp, fp, scores = both.T
    labels, (rows, numbers) = (random.random(1_000) < 0.5)[::-1], np.array([[k, k % 4] for k in range(1_000)]).T
    assert not any(column.flags.c_contiguous for column in (tp, fp, scores, labels, numbers, rows))

    def everything(columns: tuple[np.ndarray, ...]) -> list[np.ndarray]:
        tp, fp, scores, labels, rows, numbers = columns
        return [
            *sweep.table(scores, labels, tp, descending=True),
            sweep.slices(numbers, 4, scores, labels, tp, descending=False),
            *sweep.hull_and_members(tp, fp),
            sweep.turns(tp, fp, rows[:-2], rows[1:-1], rows[2:]),
            np.array(
                [
                    *sweep.areas(tp, fp)[:3],
                    *sweep.areas(tp, fp, rows)[:3],
                    sweep.areas(tp, fp, trapezoid=True).trapezoid,
                ]
            ),
        ]

    given = tp, fp, scores, labels, rows, numbers
    expected = everything(tuple(column.copy() for column in given))
    for found, wanted in zip(everything(given), expected, strict=True):
        np.testing.assert_array_equal(found, wanted)
