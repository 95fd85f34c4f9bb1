"""The precision-recall views of the reference table: D&G's interpolation and the areas under it, exactly; every area.

Rational values are fractions; the two areas with logarithms are mpmath numbers good to 60 digits.
Nothing here may import the service.
"""

from __future__ import annotations

import itertools
import math
from bisect import bisect_left
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction

import mpmath

from tests.reference import Row, Table, correctly_rounded, hull_table, roc_area, roc_hull_area

DIGITS = 60


@dataclass(frozen=True)
class Point:
    """A point of an interpolated curve."""

    tp: Fraction
    fp: Fraction
    recall: Fraction
    precision: Fraction


def row_precision(row: Row) -> Fraction | None:
    """tp / (tp + fp); null where nothing is called positive."""
    return None if row.tp + row.fp == 0 else row.tp / (row.tp + row.fp)


def precision_along(table: Table, tp: Fraction, fp: Fraction) -> Fraction:
    """Precision at a point of the curve; at the origin, the limit along the first segment that leaves it."""
    if tp + fp > 0:
        return tp / (tp + fp)
    first = next(row for row in table.rows if row.tp + row.fp > 0)
    return first.tp / (first.tp + first.fp)


def point(table: Table, tp: Fraction, fp: Fraction) -> Point:
    """The curve's point with these counts."""
    return Point(tp, fp, tp / table.positives, precision_along(table, tp, fp))


def fp_between(a: Row, b: Row, t: Fraction) -> Fraction:
    """False positives at tp = t on the segment from a to b: linear in counts (D&G section 4)."""
    return a.fp + (b.fp - a.fp) * (t - a.tp) / (b.tp - a.tp)


def fp_at(table: Table, t: Fraction) -> Fraction:
    """False positives of the curve at tp = t; at a vertical step, the least."""
    first = bisect_left(table.rows, t, key=lambda row: row.tp)  # of rows of equal tp the one of least fp
    row = table.rows[first]
    return row.fp if row.tp == t else fp_between(table.rows[first - 1], row, t)


def interpolated_every_one(table: Table) -> list[Point]:
    """All rows, and between them every whole number of true positives, in curve order."""
    points = [point(table, table.rows[0].tp, table.rows[0].fp)]
    for a, b in table.steps():
        between = [Fraction(t) for t in range(math.floor(a.tp) + 1, math.ceil(b.tp))]
        points += [point(table, t, fp_between(a, b, t)) for t in between]
        points.append(point(table, b.tp, b.fp))
    return points


def interpolated_every(table: Table, every: float) -> list[Point]:
    """tp = 0, n, 2n, ... and P, for n other than 1; for 1, see above.

    A multiple of a fractional n is the double nearest to it. It is P itself, not one more point just before P, when it
    is P for some n that rounds to this double.
    """
    if every == 1:
        return interpolated_every_one(table)
    n, k, targets = Fraction(every), 1, [Fraction(0)]
    slack = Fraction(0) if n.denominator == 1 and table.whole else Fraction(math.ulp(every)) / 2
    while k * (n + slack) < table.positives:
        targets.append(Fraction(correctly_rounded(k * n)))
        k += 1
    return [point(table, t, fp_at(table, t)) for t in [*targets, table.positives]]


def interpolated_at_recall(table: Table, recalls: Iterable[float]) -> list[Point]:
    """One point per recall: a row's own tp if the recall is the double nearest to that row's, else recall times P."""
    points = []
    for recall in recalls:
        rows = [row.tp for row in table.rows if correctly_rounded(row.tp / table.positives) == recall]
        t = rows[0] if rows else Fraction(recall) * table.positives
        points.append(point(table, t, fp_at(table, t)))
    return points


def default_every(table: Table) -> float:
    """1 while P + rows <= 2000; else the smallest whole n with P/n <= 1000, or P/1000 if the counts are not whole."""
    if table.positives + len(table.rows) <= 2000:
        return 1.0
    thousandth = table.positives / 1000
    return float(math.ceil(thousandth)) if table.whole else correctly_rounded(thousandth)


def average_precision(table: Table) -> Fraction:
    """sum of (recall_k - recall_{k-1}) precision_k."""
    return sum(
        ((b.tp - a.tp) / table.positives * b.tp / (b.tp + b.fp) for a, b in table.steps() if b.tp > a.tp), Fraction(0)
    )


def pr_trapezoid(table: Table) -> Fraction:
    """The composite trapezoid through the points at every integer tp."""
    points = interpolated_every_one(table)
    pairs = itertools.pairwise(points)
    return sum(((b.recall - a.recall) * (a.precision + b.precision) / 2 for a, b in pairs), Fraction(0))


def pr_trapezoid_of_long_steps(table: Table) -> mpmath.mpf:
    """The same for whole counts, without visiting each true positive.

    On a step from (a, e) by d true positives and g false ones precision at a + k is d/(d + g) (1 + (a - q)/(q + k))
    with q = d (a + e)/(d + g), and the sum of 1/(q + k) over k = 1 .. d - 1 is digamma(q + d) - digamma(q + 1).
    """
    total = mpmath.mpf(0)
    for a, b in table.steps():
        d, g = b.tp - a.tp, b.fp - a.fp
        if d > 0:
            q = d * (a.tp + a.fp) / (d + g)
            # q/d cancels, and digits beyond the whole of q; then 60 stand.
            with mpmath.workdps(2 * DIGITS + 2 * len(str(math.floor(q)))):
                inside = mpmath.digamma(mp(q + d)) - mpmath.digamma(mp(q + 1))
                ends = [precision_along(table, row.tp, row.fp) if row.tp + row.fp else d / (d + g) for row in (a, b)]
                total += mp(d / (d + g)) * (mp(d - 1) + mp(a.tp - q) * inside) + mp(sum(ends) / 2)
    return total / mp(table.positives)


def pr_area(table: Table) -> mpmath.mpf:
    """The integral of precision over recall along the interpolated curve, by its antiderivative.

    On a segment precision = t / (m t + c) with m = 1 + dfp/dtp and c = fp_A - tp_A dfp/dtp, whose integral is
    dt/m - c/m^2 log(hi/lo), lo and hi being tp + fp at the two ends. It cancels: so each segment is computed with
    more and more digits until 60 of them stand.
    """
    total = mpmath.mpf(0)
    with mpmath.workdps(2 * DIGITS):
        for a, b in table.steps():
            if b.tp > a.tp:
                total += segment_area(a, b)
        return total / mp(table.positives)


def pr_achievable_area(table: Table) -> mpmath.mpf:
    """The same area along the hull's rows alone."""
    return pr_area(hull_table(table))


def segment_area(a: Row, b: Row) -> mpmath.mpf:
    """The integral of t / (t + fp(t)) from tp_A to tp_B."""
    slope = (b.fp - a.fp) / (b.tp - a.tp)
    m, c = 1 + slope, a.fp - a.tp * slope
    if c == 0:
        return mp((b.tp - a.tp) / m)
    ratio = (b.tp + b.fp) / (a.tp + a.fp)
    # Several times as many more digits as the ratio has zeros after its 1; then more until 60 of them are stable.
    zeros = max(0, len(str(math.floor(1 / (ratio - 1)))))
    digits, before = 2 * DIGITS + 4 * zeros, mpmath.mpf(-1)
    while True:
        with mpmath.workdps(digits):
            area = mp((b.tp - a.tp) / m) - mp(c / m**2) * mpmath.log(mp(ratio))
            if area > 0 and abs(area - before) < area * mpmath.mpf(10) ** -DIGITS:
                return area
        digits, before = 2 * digits, area


def mp(exact: Fraction) -> mpmath.mpf:
    """A fraction as an mpmath number at the working precision."""
    return mpmath.mpf(exact.numerator) / mpmath.mpf(exact.denominator)


def relative_error(value: float, exact: mpmath.mpf) -> mpmath.mpf:
    """|value - exact| / exact."""
    with mpmath.workdps(DIGITS):
        return abs(mpmath.mpf(value) - exact) / exact


AREAS: dict[str, Callable[[Table], Fraction | mpmath.mpf]] = {
    "roc": roc_area,
    "roc_hull": roc_hull_area,
    "pr": pr_area,
    "pr_trapezoid": pr_trapezoid,
    "pr_achievable": pr_achievable_area,
    "average_precision": average_precision,
}
"""{area: the function that computes it}; a fraction if the area is rational."""

HULL_AREAS = ("roc_hull", "pr_achievable")
"""The areas that rows have even if they are not a sweep."""
