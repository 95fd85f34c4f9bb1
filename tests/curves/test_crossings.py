"""Two curves on one axis: which leads where, the crossings to the bit, and intervals too short for doubles."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction

import numpy as np
import pytest
from numpy.random import Generator
from numpy.typing import NDArray

from service.curves import crossings
from service.curves.confusion import ConfusionTable
from service.curves.crossings import Axis, CurveComparison, compare_curves
from service.curves.orientation import CountSpace
from tests.reference import Table, correctly_rounded
from tests.reference_comparison import Interval, best_pr, best_roc
from tests.support.strategies import LARGEST, Rows

HALF = LARGEST // 2
NAMES = {-1: ("first",), 0: ("first", "second"), 1: ("second",)}

Column = NDArray[np.float64]
Points = tuple[Column, Column]
Pair = tuple[Rows, Rows]


def led(first: Rows, second: Rows, axis: Axis) -> CurveComparison:
    """What two sweeps give on an axis."""
    return compare_curves([ConfusionTable.of(first.counts()), ConfusionTable.of(second.counts())], axis)


def intervals(found: CurveComparison) -> list[Interval]:
    """The columns as intervals."""
    columns = found.start.tolist(), found.end.tolist(), found.leader.tolist()
    return [Interval(start, end, NAMES[leader]) for start, end, leader in zip(*columns, strict=True)]


def agree(first: Rows, second: Rows) -> int:
    """Compare with exact fractions by brute force on both axes, bit for bit; return the number of intervals."""
    tables = {"first": first.table(), "second": second.table()}
    size = 0
    sides: list[tuple[Axis, Callable[[Mapping[str, Table]], list[Interval]]]] = [("fp", best_roc), ("tp", best_pr)]
    for axis, best in sides:
        found = intervals(led(first, second, axis))
        assert found == best(tables)
        assert all(one.best != other.best for one, other in itertools.pairwise(found))
        size += len(found)
    return size


def sweep(points: Column, corner: Column) -> Rows:
    """Points (fp, tp) in order, as a sweep that ends in a corner."""
    fp, tp = np.maximum.accumulate(points).T.tolist()
    negatives, positives = np.maximum(corner, np.max(points, axis=0)).tolist()
    return Rows(tp, fp, positives, negatives)


def of_one_corner(one: Column, other: Column) -> Pair:
    """Two sweeps of the same totals."""
    corner = np.maximum(one.max(axis=0), other.max(axis=0))
    return sweep(one, corner), sweep(other, corner)


def whole(random: Generator) -> Pair:
    """Whole counts of any size up to 2^53."""
    size = 2 ** random.integers(2, 54)
    return of_one_corner(*np.sort(random.integers(0, size, (2, 3, 2), endpoint=True), axis=1).astype(float))


def near_parallel(random: Generator) -> Pair:
    """Steps in one direction except for a few counts in 2^46: where they meet, all leading digits cancel."""
    steps = 2.0**46 * np.arange(1, 9)[:, np.newaxis] * [1, 1]
    return of_one_corner(*(steps + random.integers(-9, 9, (2, 8, 2))))


def fractional(random: Generator) -> Pair:
    """Counts that use all the bits of a double, whose differences are not doubles."""
    return of_one_corner(*np.sort(random.random((2, 4, 2)) ** random.integers(1, 9), axis=1))


def near_parallel_fractional(random: Generator) -> Pair:
    """Curves of two points, on or near one distant line: in doubles, all bits might be lost."""
    at = np.sort(random.random(4))
    nudge = 2.0 ** random.integers(-50, -20)
    points = np.stack((at, at * (1 + nudge * random.standard_normal(4))), axis=1) * random.random(2)
    return of_one_corner(points[[0, 3]], points[[1, 2]])


def tiny(random: Generator) -> Pair:
    """Counts of 1e-300 with totals of 1e-140."""
    one, other = (
        Rows((tp * 1e-300).tolist(), (fp * 1e-300).tolist(), 1e-140, 3e-140)
        for tp, fp in np.sort(random.random((2, 2, 4)), axis=2)
    )
    return one, other


def mixed(random: Generator) -> Pair:
    """Counts of all scales on either axis."""
    one, other = np.sort(10.0 ** random.uniform(-160, 140, (2, 5, 2)), axis=1)
    return of_one_corner(one, other)


@pytest.mark.parametrize(
    ("family", "number"),
    [(whole, 150), (near_parallel, 100), (fractional, 150), (near_parallel_fractional, 300), (tiny, 100), (mixed, 100)],
)
def test_crossings_are_rounded_once(family: Callable[[Generator], Pair], number: int, *, runs_all: bool) -> None:
    number = number if runs_all else number // 10
    random = np.random.default_rng(7)
    sizes = [agree(*family(random)) for _ in range(number)]
    assert sum(sizes) > 2.5 * number


def shares(points: Sequence[Points], total: float) -> list[Fraction]:
    """Where lines between points meet, as fractions of the total."""
    found = []
    for row in range(points[0][0].size):
        (xa, ya), (xb, yb), (xc, yc), (xd, yd) = ((Fraction(x[row]), Fraction(y[row])) for x, y in points)
        below = (yb - ya) * (xd - xc) - (yd - yc) * (xb - xa)
        found.append((xa + (xb - xa) * ((yc - ya) * (xd - xc) - (xc - xa) * (yd - yc)) / below) / Fraction(total))
    return found


def met(points: Sequence[Points], total: float) -> list[float]:
    """The same as the service computes it: a to b is the first curve, c to d the second."""
    x, y = (np.concatenate([point[k] for point in points]) for k in (0, 1))
    joined = crossings._JoinedRows(CountSpace(x, y), np.array([x.size]), "fp", total)
    found: list[float] = joined.crossings(list(np.arange(x.size).reshape(4, -1))).tolist()
    return found


def test_near_the_middle_of_two_doubles_no_rounding_decides() -> None:
    """Nearly equal lines cancel 44 bits; of thousands of crossings, a few are that near to a middle of two doubles."""
    random = np.random.default_rng(136)
    x = np.sort(random.random((3000, 4)) * 2.0 ** random.integers(-6, 1, (3000, 4)), axis=1)
    y = x * random.random((3000, 1)) * (1 + 2.0**-44 * random.standard_normal((3000, 4)))
    points = [(x[:, k], y[:, k]) for k in (0, 3, 1, 2)]
    for found, share in zip(met(points, 1.7), shares(points, 1.7), strict=True):
        assert found == correctly_rounded(share)


def square(size: float, random: Generator) -> list[Points]:
    """Diagonals of boxes of about this width, which meet inside the box and are well-conditioned."""
    low, high = random.uniform(0.1, 1, (2, 2, 500)), random.uniform(2, 3, (2, 2, 500))
    (xa, ya), (xc, yd), (xb, yb), (xd, yc) = (column for column in (*low, *high))
    return [(xa * size, ya), (xb * size, yb), (xc * size, yc), (xd * size, yd)]


@pytest.mark.parametrize("size", [2.0**-1022, 2.0**-1030, 2.0**-1060, 1e-300, 1e-200, 1.0, 1e140])
def test_rates_of_any_size_are_rounded_once(size: float) -> None:
    """Also subnormal rates, which have fewer bits to round to."""
    points = square(size, np.random.default_rng(8))
    total = max(1.0, 3 * size)
    assert met(points, total) == [correctly_rounded(share) for share in shares(points, total)]


@pytest.mark.parametrize("power", [-400, -300, 300, 400])
def test_powers_of_two_leave_crossings_as_they_are(power: int) -> None:
    points = square(1.0, np.random.default_rng(9))
    expected = met(points, 4.0)
    wide = [(np.ldexp(x, power), y) for x, y in points]
    high = [(x, np.ldexp(y, power)) for x, y in points]
    both = [(np.ldexp(x, power), np.ldexp(y, power)) for x, y in points]
    assert met(wide, 4.0 * 2.0**power) == met(both, 4.0 * 2.0**power) == met(high, 4.0) == expected


AHEAD = Rows([0, 80], [HALF, HALF + 8], 100, LARGEST)
BRIEFLY = Rows([0, 27, 42, 45], [HALF, HALF + 3, HALF + 4, HALF + 5], 100, LARGEST)
"""The first is ahead only from fp = 2^52 + 3.6 to 2^52 + 4 + 2/7; there, one count in 2^53 is one ulp of fpr."""


def test_an_interval_too_short_for_doubles_is_dropped_and_remembered() -> None:
    agree(AHEAD, BRIEFLY)
    found = led(AHEAD, BRIEFLY, "fp")
    assert intervals(found) == [Interval(0.0, 0.5, NAMES[0]), Interval(0.5, 1.0, NAMES[-1])]
    assert (found.first_ever, found.second_ever) == (True, True)
    turned = led(BRIEFLY, AHEAD, "fp")
    assert (turned.first_ever, turned.second_ever) == (True, True)
    assert turned.leader.tolist() == [0, 1]


@pytest.mark.parametrize("axis", ["fp", "tp"])
def test_who_is_never_ahead(axis: Axis) -> None:
    diagonal, above = Rows([], [], 4, 4), Rows([3], [1], 4, 4)
    assert (led(above, diagonal, axis).first_ever, led(above, diagonal, axis).second_ever) == (True, False)
    assert (led(diagonal, above, axis).first_ever, led(diagonal, above, axis).second_ever) == (False, True)
    same = led(above, above, axis)
    assert (same.first_ever, same.second_ever, same.leader.tolist()) == (False, False, [0])


@pytest.mark.parametrize("axis", ["fp", "tp"])
@pytest.mark.parametrize("block", [1, 30, 10**6])
def test_pairs_compared_together_and_alone(axis: Axis, block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Many curves of different lengths, some equal: whatever the block, each pair gets the same result as alone."""
    random = np.random.default_rng(5)
    sizes = [0, 3, 3, 20, 1, 7]
    rows = [Rows(*np.sort(random.integers(0, 30, (2, size)), axis=1).tolist(), 30, 40) for size in sizes]
    tables = [ConfusionTable.of(one.counts()) for one in [*rows, rows[3]]]
    monkeypatch.setattr("service.curves.crossings.BLOCK", block)
    found = compare_curves(tables, axis)
    pairs = list(itertools.combinations(range(len(tables)), 2))
    assert list(zip(found.first.tolist(), found.second.tolist(), strict=True)) == pairs
    for number, (a, b) in enumerate(pairs):
        alone, here = compare_curves([tables[a], tables[b]], axis), found.pair == number
        for name in ("start", "end", "leader"):
            np.testing.assert_array_equal(getattr(found, name)[here], getattr(alone, name))
        assert found.first_ever[number] == alone.first_ever[0]
        assert found.second_ever[number] == alone.second_ever[0]
