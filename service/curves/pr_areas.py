"""The areas under the PR curve of one table: sums over the steps from row to row along which tp grows.

Knows the table only. Source: Davis & Goadrich 2006, section 4.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from service.curves.budget import CLIMB_POINT, LONG_CLIMB, PAIR_CLIMB_POINT, spend
from service.curves.climbs import Climbs, climbs_of, whole_total
from service.curves.compiled import Sums
from service.curves.confusion import ConfusionTable
from service.curves.exact import (
    BLOCK,
    LARGEST_EXACT_INTEGER,
    FloatArray,
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


class PrAreas(NamedTuple):
    """The areas under a PR curve; None where the rows form no curve or the area is left out."""

    pr: float | None = None
    trapezoid: float | None = None
    average_precision: float | None = None


class _Parts(NamedTuple):
    """Parts of the sums over a table's climbs that its areas are, times P."""

    pr: list[float]
    trapezoid: list[float]
    average_precision: list[float]


def pr_areas(table: ConfusionTable, sums: Sums | None = None) -> PrAreas:
    """All areas under the PR curve of a sweep, whose `sums` may be known."""
    up = lift(table.positives)  # 1 where counts are whole
    parts = _summed(table, up) if sums is None else _known(table, sums)
    whole = table.positives * up
    pr, composite, average_precision = (exact_quotient(part, whole) for part in parts)
    return PrAreas(min(pr, 1.0), composite if has_trapezoid(table) else None, average_precision)


def _summed(table: ConfusionTable, up: float) -> _Parts:
    """The sums, times `up`."""
    exact = 0 < whole_total(table) <= LARGEST_EXACT_INTEGER
    average = _whole_average if exact else _fractional_average
    trapezoid = has_trapezoid(table)
    parts = _Parts([], [], [])
    for climbs in climbs_of(table):
        parts.pr.extend(climbs.integral(up))
        parts.average_precision.extend(average(climbs, up))
        if trapezoid:
            parts.trapezoid.extend(_trapezoid(table, climbs))
    return parts


def _known(table: ConfusionTable, sums: Sums) -> _Parts:
    """The same of a table of whole counts whose sums are known, with what they leave out."""
    parts = _Parts(sums.integral, [part / 2 for part in (*sums.before, *sums.after)], sums.average)
    if has_trapezoid(table):
        for some in blocks(sums.high.size) if sums.high.size else ():
            parts.trapezoid.extend(_inside(table, Climbs.after(table, sums.high[some])))
    return parts


def pr_area(table: ConfusionTable, sums: Sums | None = None) -> float:
    """Area under the PR curve alone, as `pr_areas` has it."""
    up = lift(table.positives)
    parts = sums.integral if sums else [part for climbs in climbs_of(table) for part in climbs.integral(up)]
    return min(exact_quotient(parts, table.positives * up), 1.0)


def has_trapezoid(table: ConfusionTable) -> bool:
    """Whether `pr_trapezoid` is answered: whole counts, of any size, and P at most 1e7."""
    return table.positives <= LARGEST_TRAPEZOID and table.integral


def _whole_average(climbs: Climbs, _: float) -> list[float]:
    """Average precision, the step-wise sum Σ Δtp precision: parts of it along some steps of a whole table.

    Where P + N is a double, too, every precision is the nearest one, so that two roundings are in each term.
    """
    return climbs.precision_parts if climbs.are_single else climbs.parts(climbs.climb * climbs.precision_after)


def _fractional_average(climbs: Climbs, up: float) -> list[float]:
    """The same for other counts, times `up`: differences and sums are kept exactly."""
    precision = pair_quotient(exactly(climbs.tp_after), two_sum(climbs.tp_after, climbs.fp_after))
    leading, rest = pair_product(two_sum(climbs.tp_after * up, -climbs.tp * up), precision)
    return [*positive_parts(leading), float(rest.sum())]


def _trapezoid(table: ConfusionTable, climbs: Climbs) -> Iterator[float]:
    """Parts of the composite trapezoid through D&G's interpolated points: all rows and every whole true positive.

    The rows of a vertical step add no area; the next trapezoid starts at the step's last row.
    """
    yield from (part / 2 for part in (*climbs.parts(climbs.precision_before), *climbs.precision_parts))
    if not climbs.are_single:
        yield from _inside(table, climbs)


def _inside(table: ConfusionTable, climbs: Climbs) -> Iterator[float]:
    """Parts of the sum of precision at all whole true positives t strictly inside the steps.

    From A on, precision is t Δt / (t Δt + fp_A Δt + Δfp (t - tp_A)), all products of integers.
    """
    gained = climbs.fp_after - climbs.fp
    exact = float(climbs.climb.max()) * (table.positives + table.negatives) <= LARGEST_EXACT_INTEGER
    inside = climbs.climb.astype(np.int64) - 1
    rows = (climbs.climb > SHORTEST).nonzero()[0]
    spend(rows.size * LONG_CLIMB)
    if rows.size:  # point by point only as far as the closed form needs it
        long = LongClimbs(*(column[rows] for column in (climbs.tp, climbs.tp_after, climbs.fp, climbs.fp_after)))
        inside[rows] = long.near.astype(np.int64)
        yield from long.beyond()
    stops = np.cumsum(inside)
    spend(float(stops[-1]) * (CLIMB_POINT if exact else PAIR_CLIMB_POINT))
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
        yield from positive_parts(precision(tp + after, climb, fp, more, after), fine=True)


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
