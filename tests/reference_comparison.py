"""Several curves of equal P and N side by side, in exact fractions: slow, obvious, independent of service/curves.

A curve is a piecewise linear function, tp of fp in ROC space and fp of tp in PR space (Davis & Goadrich 2006, section
4), so on a short enough open interval one of two curves is the better throughout: between neighbours among all
abscissas of rows and all crossings. There each curve is evaluated at the midpoint. Trade-offs (Hanczar & Nadif 2014,
section 5.2) are compared in the same way, row by row, over lambda. Nothing here may import the service.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, TypeAlias

import mpmath

from tests.reference import Row, Table, correctly_rounded
from tests.reference_pr import fp_at, mp

Tables: TypeAlias = Mapping[str, Table]
"""Tables of equal totals by the names of their evaluations, in the order of the evaluations."""

Points: TypeAlias = Sequence[tuple[Fraction, Fraction]]
"""A curve's rows as (abscissa, ordinate), neither ever falling; equal abscissas are a vertical step."""

Number: TypeAlias = Any
"""A fraction, or an mpmath number if there is a logarithm."""

DIGITS = 120
"""The digits of logarithms; two rows with counts up to 2^53 differ in the first 32."""


@dataclass(frozen=True)
class Interval:
    """An interval of an axis, its ends rounded once, and the names of all curves that are best throughout it."""

    start: float
    end: float
    best: tuple[str, ...]


@dataclass(frozen=True)
class Vertex:
    """A vertex of the joint hull, the names of all curves that have this row, and the first one's threshold."""

    tp: Fraction
    fp: Fraction
    suppliers: tuple[str, ...]
    threshold: float | None


def best_roc(tables: Tables) -> list[Interval]:
    """The curves with the most true positives, over the false positive rate."""
    curves = {name: [(row.fp, row.tp) for row in table.rows] for name, table in tables.items()}
    return best_intervals(curves, first(tables).negatives, max)


def best_pr(tables: Tables) -> list[Interval]:
    """The curves with the fewest false positives, over recall."""
    return best_intervals(pr_curves(tables), first(tables).positives, min)


def pr_curves(tables: Tables) -> dict[str, Points]:
    """False positives over true positives."""
    return {name: [(row.tp, row.fp) for row in table.rows] for name, table in tables.items()}


def first(tables: Tables) -> Table:
    """The table of the first evaluation."""
    return next(iter(tables.values()))


def best_intervals(
    curves: Mapping[str, Points], total: Fraction, best: Callable[[Iterable[Fraction]], Fraction]
) -> list[Interval]:
    """Evaluate all curves in the middle of every open interval on which none turns and no two cross."""
    intervals = []
    for start, end in itertools.pairwise(breaks(curves)):
        heights = {name: height(points, (start + end) / 2) for name, points in curves.items()}
        names = tuple(name for name in curves if heights[name] == best(heights.values()))
        intervals.append(Interval(correctly_rounded(start / total), correctly_rounded(end / total), names))
    return merged(intervals)


def breaks(curves: Mapping[str, Points]) -> list[Fraction]:
    """All rows' abscissas and all crossings of any two curves, ascending."""
    places = {x for points in curves.values() for x, _ in points}
    for one, other in itertools.combinations(curves.values(), 2):
        places.update(crossings(one, other))
    return sorted(places)


def height(points: Points, x: Fraction) -> Fraction:
    """A curve's ordinate at an abscissa where it has no row: on the straight line from the last row to the next."""
    x_a, y_a = [point for point in points if point[0] < x][-1]
    x_b, y_b = next(point for point in points if point[0] > x)
    return y_a + (y_b - y_a) * (x - x_a) / (x_b - x_a)


def crossings(one: Points, other: Points) -> list[Fraction]:
    """The abscissas at which a segment of one curve runs through a segment of the other, by trying all pairs."""
    found = []
    for (x_a, y_a), (x_b, y_b) in itertools.pairwise(one):
        for (u_a, v_a), (u_b, v_b) in itertools.pairwise(other):
            start, end = max(x_a, u_a), min(x_b, u_b)
            if start < end:
                slope = (y_b - y_a) / (x_b - x_a) - (v_b - v_a) / (u_b - u_a)
                gap = y_a - v_a + (y_b - y_a) / (x_b - x_a) * (start - x_a) - (v_b - v_a) / (u_b - u_a) * (start - u_a)
                if slope and start < start - gap / slope < end:
                    found.append(start - gap / slope)
    return found


def merged(intervals: Iterable[Interval]) -> list[Interval]:
    """Drop intervals that rounding left empty, and merge neighbours with the same best curves."""
    out: list[Interval] = []
    for interval in intervals:
        if interval.start == interval.end:
            continue
        if out and out[-1].best == interval.best:
            out[-1] = replace(out[-1], end=interval.end)
        else:
            out.append(interval)
    return out


def dominates(one: Table, other: Table) -> bool:
    """fp of one <= fp of the other for every t in (0, P], the definition; at a vertical step the least fp."""
    places = breaks(pr_curves({"one": one, "other": other}))
    middles = [(a + b) / 2 for a, b in itertools.pairwise(places)]
    return all(fp_at(one, t) <= fp_at(other, t) for t in (*places, *middles) if t > 0)


def dominates_in_roc_space(one: Table, other: Table) -> bool:
    """Whether all other curves are beneath or equal: no more tp at any fp; vertical steps count at their top."""
    places = breaks({"one": [(r.fp, r.tp) for r in one.rows], "other": [(r.fp, r.tp) for r in other.rows]})
    middles = [(a + b) / 2 for a, b in itertools.pairwise(places)]
    return all(tp_at(one, x) >= tp_at(other, x) for x in (*places, *middles))


def tp_at(table: Table, x: Fraction) -> Fraction:
    """True positives of the curve at fp = x; at a vertical step, the most."""
    here = [row.tp for row in table.rows if row.fp == x]
    return max(here) if here else height([(row.fp, row.tp) for row in table.rows], x)


def joint_hull(tables: Tables) -> list[Vertex]:
    """From (0, 0) on, repeatedly the row in the steepest direction, the farthest of several in one direction."""
    rows = {(row.fp, row.tp) for table in tables.values() for row in table.rows}
    chain = [(Fraction(0), Fraction(0))]
    end = (first(tables).negatives, first(tables).positives)
    while chain[-1] != end:
        x, y = chain[-1]
        ahead = [(u - x, v - y) for u, v in rows if (u, v) > (x, y)]
        # The rise per unit of run + rise grows with the slope, and exists upright too.
        climbs = [(v / (u + v), u + v) for u, v in ahead if v >= 0]
        share, length = max(climbs)
        chain.append((x + length * (1 - share), y + length * share))
    return [vertex(tables, tp, fp) for fp, tp in chain]


def vertex(tables: Tables, tp: Fraction, fp: Fraction) -> Vertex:
    """The row and its suppliers."""
    owners = having(tables, tp, fp)
    threshold = next(row.threshold for row in tables[owners[0]].rows if (row.tp, row.fp) == (tp, fp))
    return Vertex(tp, fp, owners, threshold)


def having(tables: Tables, tp: Fraction, fp: Fraction) -> tuple[str, ...]:
    """The names of all curves that have this row."""
    return tuple(name for name, table in tables.items() if any((row.tp, row.fp) == (tp, fp) for row in table.rows))


def best_tradeoff(tables: Tables, index: str) -> list[Interval]:
    """The curves that have the row with the greatest index, over lambda from 0 to 1."""
    positives = first(tables).positives
    with mpmath.workdps(DIGITS):
        rows = contenders([row for table in tables.values() for row in table.rows], positives)
        knots: list[Number] = [Fraction(0), Fraction(1, 2), Fraction(1)]
        if index == "fowlkes_mallows":
            knots = [mp(knot) for knot in knots]
        places = set(knots)
        for start, end in itertools.pairwise(knots):
            levels = [(level(index, p, r, start), level(index, p, r, end)) for p, r in rows]
            for (a, b), (c, d) in itertools.combinations(levels, 2):
                if (a < c and b > d) or (a > c and b < d):
                    places.add(start + (end - start) * (a - c) / ((a - c) - (b - d)))
        intervals = []
        for start, end in itertools.pairwise(sorted(places)):
            _, p, r = max((level(index, p, r, (start + end) / 2), p, r) for p, r in rows)
            tp = r * positives
            intervals.append(Interval(rounded(start), rounded(end), having(tables, tp, tp / p - tp)))
    return merged(intervals)


def contenders(rows: Sequence[Row], positives: Fraction) -> list[tuple[Fraction, Fraction]]:
    """(precision, recall) of all rows with tp > 0, except those that another row beats in one and equals in the other.

    All four indices rise with both.
    """
    rates = {(row.tp / (row.tp + row.fp), row.tp / positives) for row in rows if row.tp > 0}
    return [(p, r) for p, r in rates if not any((q, s) != (p, r) and q >= p and s >= r for q, s in rates)]


def level(index: str, p: Fraction, r: Fraction, at: Number) -> Number:
    """A rising function of the index at lambda, linear in lambda on each half of [0, 1].

    That is f itself, -1/f, or log f.
    """
    if index == "kulczynski":
        return (1 - at) * p + at * r
    if index == "f_measure":
        return -(at * p + (1 - at) * r) / (p * r)
    if index == "jaccard":
        return -(min(2 * at, 1) * p + min(2 * (1 - at), 1) * r - (1 - abs(1 - 2 * at)) * p * r) / (p * r)
    return (1 - at) * logarithm(p) + at * logarithm(r)


@functools.cache
def logarithm(rate: Fraction) -> Number:
    """The logarithm of a rate, to DIGITS digits even if the rate differs from 1 by far less than a double resolves."""
    with mpmath.workdps(DIGITS):
        return mpmath.log(mp(rate)) if rate < Fraction(1, 2) else mpmath.log1p(mp(rate - 1))


def rounded(number: Number) -> float:
    """The nearest double."""
    return correctly_rounded(number) if isinstance(number, Fraction) else float(number)
