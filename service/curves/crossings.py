"""Where one curve runs above another: exact signs between the rows of both, and exact crossings.

Two curves of equal totals are compared over fp (the ROC curve: more tp is better) or over tp (the PR curve: less fp is
better). Between neighbouring rows of the two, both are straight in counts, so they cross at most once. Knows tables and
the geometric predicate. Source: Davis & Goadrich 2006, theorem 3.2.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from service.curves.confusion import ConfusionTable
from service.curves.exact import (
    BoolArray,
    FloatArray,
    IntArray,
    Pair,
    as_integers,
    exactly,
    pair_product,
    pair_quotient,
    pair_sum,
    two_sum,
)
from service.curves.orientation import CountSpace

Axis = Literal["fp", "tp"]
Point = tuple[float, float]

_PAIR_ERROR = 2.0**-99
"""Above the error of a difference of two products in pairs, relative to these."""
_SAFE = 2.0**-600
"""Products of scaled distances above this have lost nothing to underflow."""
_NORMAL = 2.0**-1000
"""Doubles above this have all their bits."""


@dataclass(frozen=True, slots=True, eq=False)
class Leads:
    """Who is ahead where: intervals of a rate in [0, 1], (n,), that share their ends, each with another leader.

    leader       1 where the second curve is better, -1 where the first is, 0 where they are one.
    first_ever   whether the first is better anywhere, were it on an interval too short for doubles; second_ever too.
    """

    start: FloatArray
    end: FloatArray
    leader: FloatArray
    first_ever: bool
    second_ever: bool


def leads(first: ConfusionTable, second: ConfusionTable, axis: Axis) -> Leads:
    """Compare two sweeps of equal totals over fpr (`axis` fp) or recall (tp); crossings are exact and rounded once.

    Inside an interval a vertical step counts with the limit from inside.
    """
    pool = _Pool(CountSpace.of(first, second))
    split = first.tp.size
    x = pool.column(axis)
    grid = np.union1d(x[:split], x[split:])
    ends = [np.searchsorted(part, grid[1:]) + offset for part, offset in ((x[:split], 0), (x[split:], split))]
    lines = ends[0] - 1, ends[0], ends[1] - 1, ends[1]
    left = pool.ahead(lines, x[lines[2]] == grid[:-1], at_end=False)
    right = pool.ahead(lines, x[lines[3]] == grid[1:], at_end=True)
    total = first.negatives if axis == "fp" else first.positives
    crossed = left * right < 0
    pieces = 1 + crossed.astype(np.int64)
    start = np.repeat(grid[:-1] / total, pieces)
    leader = np.repeat(np.where(left != 0, left, right), pieces)
    beyond = np.cumsum(pieces)[crossed] - 1
    start[beyond] = pool.crossings([rows[crossed] for rows in lines], axis, total)
    leader[beyond] = right[crossed]
    ever = bool(np.any(leader < 0)), bool(np.any(leader > 0))
    there = np.append(start[1:], 1.0) > start
    start, leader = start[there], leader[there]
    changes = np.concatenate(([True], leader[1:] != leader[:-1]))
    start, leader = start[changes], leader[changes]
    return Leads(start, np.append(start[1:], 1.0), leader, *ever)


@dataclass(frozen=True, slots=True, eq=False)
class _Pool:
    """The rows of two curves together, the first curve's before the second's."""

    space: CountSpace

    def column(self, axis: Axis) -> FloatArray:
        return self.space.fp if axis == "fp" else self.space.tp

    def ahead(self, lines: Sequence[IntArray], of_second: BoolArray, *, at_end: bool) -> FloatArray:
        """The sign of (second - first), better being more, at the start or the end of intervals.

        `lines` are the rows that the first and the second line run between, two and two. At each interval's end one of
        the two has a row, the second where `of_second`: it is better when it lies on the upper left of the other line.
        """
        first_from, first_to, second_from, second_to = lines
        first, second = (first_to, second_to) if at_end else (first_from, second_from)
        side = self.space.sides(
            np.where(of_second, first_from, second_from),
            np.where(of_second, second, first),
            np.where(of_second, first_to, second_to),
        )
        return np.where(of_second, 1.0, -1.0) * np.sign(side)

    def crossings(self, lines: Sequence[IntArray], axis: Axis, total: float) -> FloatArray:
        """Where the first line (from a to b) meets the second (from c to d), as a share of `total`, rounded once.

            x = x_a + run · part,   part = ((y_c - y_a) run' - (x_c - x_a) rise') / (rise run' - rise' run)

        In pairs of doubles, and in integers where those leave a doubt about the last bit.
        """
        x, y = (self.column("fp"), self.column("tp")) if axis == "fp" else (self.column("tp"), self.column("fp"))
        ends = [(x[rows], y[rows]) for rows in lines]
        with np.errstate(all="ignore"):
            nearest, certain = _rounded_crossings(*ends, total=total)
        for row in np.flatnonzero(~certain):
            nearest[row] = _exact_crossing(*((float(x[row]), float(y[row])) for x, y in ends), total=total)
        return nearest


Points = tuple[FloatArray, FloatArray]
"""x and y, (n,) each."""


def _rounded_crossings(a: Points, b: Points, c: Points, d: Points, *, total: float) -> tuple[FloatArray, BoolArray]:
    """Where lines between points meet: rounded, and whether surely to the nearest double.

    The distances are scaled by powers of two, each axis of each crossing by its own, so that products keep their bits.
    """
    run, rise, other_run, other_rise = (two_sum(to[k], -from_[k]) for from_, to in ((a, b), (c, d)) for k in (0, 1))
    apart = [two_sum(c[k], -a[k]) for k in (0, 1)]
    wide, high = (-np.frexp(np.maximum(one[0], other[0]))[1] for one, other in ((run, other_run), (rise, other_rise)))
    run, other_run, across = (_scaled(pair, wide) for pair in (run, other_run, apart[0]))
    rise, other_rise, up = (_scaled(pair, high) for pair in (rise, other_rise, apart[1]))
    numerator, error = _difference(pair_product(up, other_run), pair_product(across, other_rise))
    denominator, other_error = _difference(pair_product(rise, other_run), pair_product(other_rise, run))
    gone = pair_product(run, pair_quotient(numerator, denominator))
    # In units of b's x, which is not 0, and of the total: the share times a power of two.
    unit, total_unit = np.frexp(b[0])[1], np.frexp(total)[1]
    crossing = pair_sum(_scaled(exactly(a[0]), -unit), _scaled(gone, -wide - unit))
    share = pair_quotient(crossing, exactly(np.full(unit.size, np.ldexp(total, -total_unit))))
    rounded = share[0] + share[1]
    # Half the lesser of the two gaps around a double is where rounding would change.
    margin = np.spacing(np.nextafter(rounded, 0)) / 2 - np.abs((share[0] - rounded) + share[1])
    nearest = np.ldexp(rounded, unit - total_unit)
    certain = (margin > rounded * (error + other_error)) & (rounded > _SAFE) & (nearest > _NORMAL)
    return nearest, certain


def _scaled(pair: Pair, power: IntArray) -> Pair:
    return np.ldexp(pair[0], power), np.ldexp(pair[1], power)


def _difference(left: Pair, right: Pair) -> tuple[Pair, FloatArray]:
    """Left - right, and a bound of its relative error: each product and their sum are within 2^-100 of the greater."""
    out = pair_sum(left, (-right[0], -right[1]))
    size = np.abs(left[0]) + np.abs(right[0])
    return out, np.where(size > _SAFE, _PAIR_ERROR * size / np.abs(out[0]), np.inf)


def _exact_crossing(*points: Point, total: float) -> float:
    """The same for one crossing in integers: all x, and all y, as multiples of one power of two each."""
    (x_a, x_b, x_c, x_d, whole) = as_integers(*(x for x, _ in points), total)
    y_a, y_b, y_c, y_d = as_integers(*(y for _, y in points))
    run, rise, other_run, other_rise = x_b - x_a, y_b - y_a, x_d - x_c, y_d - y_c
    below = rise * other_run - other_rise * run
    above = x_a * below + run * ((y_c - y_a) * other_run - (x_c - x_a) * other_rise)
    return above / (below * whole)  # of two integers this rounds once
