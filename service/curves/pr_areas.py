"""The areas under the PR curve of one table: sums over the steps from row to row along which tp grows.

Knows the table only. Source: Davis & Goadrich 2006, section 4.
"""

import math
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from service.curves.confusion import ConfusionTable
from service.curves.exact import (
    BLOCK,
    LARGEST_EXACT_INTEGER,
    FloatArray,
    IntArray,
    blocks,
    exact_quotient,
    exactly,
    lift,
    pair_product,
    pair_quotient,
    positive_parts,
    two_product,
    two_sum,
)
from service.curves.long_climbs import SHORTEST, LongClimbs

LARGEST_TRAPEZOID = 1e7
"""`pr_trapezoid` is left out when P is above this: visiting every whole true positive is how it is defined."""

_SERIES = 1 / 201
"""Up to this z, x = 0.01, a series is taken for log(1 + x); above it 1 - log(1 + x)/x loses no more than seven bits."""
_TERMS = [((2 * terms + 3) * 2.0**-56) ** (1 / (2 * terms + 1)) for terms in (1, 2)]
"""Up to which z one term, and two, leave out less than 2^-56 of x; up to _SERIES it takes three."""


_TINIEST, _GREATEST = np.finfo(np.float64).tiny, np.finfo(np.float64).max


@dataclass(frozen=True, slots=True)
class PrAreas:
    """The areas under a PR curve; None where the rows form no curve or the area is left out."""

    pr: float | None = None
    trapezoid: float | None = None
    average_precision: float | None = None


@dataclass(frozen=True, eq=False)
class _Climbs:
    """Steps from a row to the next along which tp grows, (n,): counts before and after, and Δtp."""

    tp: FloatArray
    tp_after: FloatArray
    fp: FloatArray
    fp_after: FloatArray
    climb: FloatArray
    called: FloatArray
    called_after: FloatArray

    @cached_property
    def precision_after(self) -> FloatArray:
        """Precision after each step."""
        out: FloatArray = self.tp_after / self.called_after
        return out

    @cached_property
    def precision_parts(self) -> list[float]:
        """Σ of the precision after each step, in parts."""
        return positive_parts(self.precision_after)

    @property
    def are_single(self) -> bool:
        """Whether each is of one true positive, where counts are whole."""
        return bool(self.climb.size == self.tp_after[-1] - self.tp[0])


def _climbs(table: ConfusionTable) -> Iterator[_Climbs]:
    """All steps of a table along which tp grows, block by block."""
    for block in blocks(table.tp.size, overlap=1):
        tp, fp = table.tp[block], table.fp[block]
        rows = (tp[1:] > tp[:-1]).nonzero()[0]
        if rows.size and table.one_by_one:
            yield _of_examples(rows, float(tp[0]), block.start)
        elif rows.size:
            tp, tp_after = tp.take(rows), tp[1:].take(rows)
            fp, fp_after = fp.take(rows), fp[1:].take(rows)
            yield _Climbs(tp, tp_after, fp, fp_after, tp_after - tp, tp + fp, tp_after + fp_after)


def _of_examples(rows: IntArray, tp: float, start: int) -> _Climbs:
    """The climbs from some rows of a table that goes one by one: rows count what is called."""
    called = (rows + start).astype(np.float64)
    tp_before = np.arange(tp, tp + rows.size)
    fp = called - tp_before
    return _Climbs(tp_before, tp_before + 1, fp, fp, np.ones(rows.size), called, called + 1)


def pr_areas(table: ConfusionTable) -> PrAreas:
    """All areas under the PR curve of a sweep.

    Parts are summed times `up`, which is 1 where counts are whole.
    """
    exact = table.whole and table.positives + table.negatives <= LARGEST_EXACT_INTEGER
    average = _whole_average if exact else _fractional_average
    up = lift(table.positives)
    trapezoid = has_trapezoid(table)
    parts: tuple[list[float], list[float], list[float]] = ([], [], [])
    for climbs in _climbs(table):
        parts[0].append(_pr(climbs, up))
        parts[1].extend(average(climbs, up))
        if trapezoid:
            parts[2].extend(_trapezoid(climbs))
    whole = table.positives * up
    pr = math.fsum(parts[0]) / whole
    average_precision, composite = (exact_quotient(part, whole) for part in parts[1:])
    return PrAreas(min(pr, 1.0), composite if trapezoid else None, average_precision)


def pr_area(table: ConfusionTable) -> float:
    """Area under the PR curve alone, as `pr_areas` has it."""
    up = lift(table.positives)
    return min(math.fsum(_pr(climbs, up) for climbs in _climbs(table)) / (table.positives * up), 1.0)


def has_trapezoid(table: ConfusionTable) -> bool:
    """Whether `pr_trapezoid` is answered: whole counts, of any size, and P at most 1e7."""
    return table.positives <= LARGEST_TRAPEZOID and table.integral


def _pr(climbs: _Climbs, up: float) -> float:
    """The closed-form integral of D&G's interpolation (section 4) over tp, along some steps, times `up`.

    On a step let Δt and Δn be the growth of tp and of n = tp + fp from (t, n), and x = Δn/n. Then

        ∫ precision dtp = (Δt/Δn) (t log(1 + x) + Δt (1 - log(1 + x)/x))

    in which no two terms cancel. From the origin (n = 0) it is Δt Δt/Δn. With z = x/(2 + x) = Δn/(2n + Δn), log(1 + x)
    is 2z (1 + z s) for s = z/3 + z³/5 + ..., and the integral is, with the sum T = 2t + Δt of both ends,

        Δt/(2n + Δn) · (T + s (z T - Δt))

    where s is so small beside 1 that the difference may lose bits.
    """
    growth = climbs.called_after - climbs.called
    below = climbs.called_after + climbs.called
    z = growth / below
    least, greatest = float(np.minimum.reduce(z)), float(np.maximum.reduce(z))
    if least > _SERIES:
        return float(np.add.reduce(integrals_of_large(climbs.tp, climbs.climb, growth, climbs.called, up)))
    both_ends = climbs.tp + climbs.tp_after
    part = z * both_ends
    part -= climbs.climb
    part *= _series(z, min(greatest, _SERIES))
    part += both_ends
    if up != 1:
        part *= up
    part *= climbs.climb / below
    if greatest > _SERIES:
        large = (z > _SERIES).nonzero()[0]
        tp, climb, growth, called = (column[large] for column in (climbs.tp, climbs.climb, growth, climbs.called))
        part[large] = integrals_of_large(tp, climb, growth, called, up)
    return float(np.add.reduce(part))


def integrals_of_large(
    tp: FloatArray, climb: FloatArray, growth: FloatArray, called: FloatArray, up: float
) -> FloatArray:
    """The integral of D&G's interpolation over each step, as `_pr` has it, where z is not small; times `up`."""
    # From the origin x is infinite, where t = 0 outweighs its logarithm.
    with np.errstate(divide="ignore", over="ignore"):
        x = np.minimum(growth / called, _GREATEST)
    logarithm = np.log1p(x)
    out: FloatArray = (climb / growth) * ((tp * logarithm + climb * (1 - logarithm / x)) * up)
    return out


def _series(z: FloatArray, greatest: float) -> FloatArray:
    """Sum z/3 + z³/5 + z⁵/7 + ..., of as many terms as the greatest z needs."""
    terms = 1 + bisect_left(_TERMS, greatest)
    if terms == 1:
        return z / 3
    square = z * z
    series = square / (2 * terms + 1)
    for odd in range(2 * terms - 1, 3, -2):
        series += 1 / odd
        series *= square
    series += 1 / 3
    series *= z
    return series


def _whole_average(climbs: _Climbs, _: float) -> list[float]:
    """Average precision, the step-wise sum Σ Δtp precision: parts of it along some steps of a whole table.

    Where P + N is a double, too, every precision is the nearest one, so that two roundings are in each term.
    """
    return climbs.precision_parts if climbs.are_single else positive_parts(climbs.climb * climbs.precision_after)


def _fractional_average(climbs: _Climbs, up: float) -> list[float]:
    """The same for other counts, times `up`: differences and sums are kept exactly."""
    precision = pair_quotient(exactly(climbs.tp_after), two_sum(climbs.tp_after, climbs.fp_after))
    leading, rest = pair_product(two_sum(climbs.tp_after * up, -climbs.tp * up), precision)
    return [*positive_parts(leading), float(rest.sum())]


def _trapezoid(climbs: _Climbs) -> Iterator[float]:
    """Parts of the composite trapezoid through D&G's interpolated points: all rows and every whole true positive.

    The rows of a vertical step add no area; the next trapezoid starts at the step's last row.
    """
    before = climbs.tp / np.maximum(climbs.called, _TINIEST)
    if climbs.called[0] == 0:  # at the origin precision is the limit along the first step
        before[0] = climbs.precision_after[0]
    yield from (part / 2 for part in (*positive_parts(before), *climbs.precision_parts))
    if not climbs.are_single:
        yield from _inside(climbs)


def _inside(climbs: _Climbs) -> Iterator[float]:
    """Parts of the sum of precision at all whole true positives t strictly inside the steps.

    From A on, precision is t Δt / (t Δt + fp_A Δt + Δfp (t - tp_A)), all products of integers.
    """
    gained = climbs.fp_after - climbs.fp
    exact = float(climbs.climb.max()) * float(climbs.called_after[-1]) <= LARGEST_EXACT_INTEGER
    inside = climbs.climb.astype(np.int64) - 1
    rows = (climbs.climb > SHORTEST).nonzero()[0]
    if rows.size:  # point by point only as far as the closed form needs it
        long = LongClimbs(*(column[rows] for column in (climbs.tp, climbs.tp_after, climbs.fp, climbs.fp_after)))
        inside[rows] = long.near.astype(np.int64)
        yield from long.beyond()
    stops = np.cumsum(inside)
    for start in range(0, int(stops[-1]), BLOCK):
        stop = min(start + BLOCK, int(stops[-1]))
        steps = slice(int(np.searchsorted(stops, start, side="right")), int(np.searchsorted(stops, stop)) + 1)
        # So many of each step's points lie in this block.
        ends = np.clip(stops[steps], start, stop)
        points = ends - np.concatenate(([start], ends[:-1]))
        tp, climb, fp, more = (
            np.repeat(column[steps], points) for column in (climbs.tp, climbs.climb, climbs.fp, gained)
        )
        after = np.arange(start + 1.0, stop + 1) - np.repeat(stops[steps] - inside[steps], points)
        precision = _plainly if exact else _in_pairs
        yield from positive_parts(precision(tp + after, climb, fp, more, after))


def _plainly(t: FloatArray, climb: FloatArray, fp: FloatArray, more: FloatArray, after: FloatArray) -> FloatArray:
    """Precision at t, `after` whole true positives from A on; all products are doubles."""
    hits = t * climb
    return hits / (hits + (fp * climb + more * after))


def _in_pairs(t: FloatArray, climb: FloatArray, fp: FloatArray, more: FloatArray, after: FloatArray) -> FloatArray:
    """The same with each product kept exactly, so that the quotient has two roundings."""
    hits = t * climb
    misses, misses_low = two_product(fp, climb)
    further, further_low = two_product(more, after)
    called, error = two_sum(misses, further)
    called, last = two_sum(called, hits)
    out: FloatArray = hits / (called + (error + last + misses_low + further_low))
    return out
