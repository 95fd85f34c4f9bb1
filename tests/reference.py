"""The one table of confusion counts and its views in exact fractions: slow, obvious, independent of service/curves.

Everything follows the definitions of Davis & Goadrich 2006 (D&G) and of the contract, with no regard for speed: a table
is a tuple of rows, a hull is found by trying every segment. Nothing here may import the service.
The precision-recall side is in reference_pr.py.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True)
class Row:
    """One confusion matrix: its true and false positives, and its threshold (None for null)."""

    tp: Fraction
    fp: Fraction
    threshold: float | None = None


@dataclass(frozen=True)
class Table:
    """Rows in curve order, and the totals P and N."""

    rows: tuple[Row, ...]
    positives: Fraction
    negatives: Fraction

    @property
    def sweep(self) -> bool:
        """Could one sweep of a threshold give these rows? tp and fp never decrease."""
        return all(a.tp <= b.tp and a.fp <= b.fp for a, b in self.steps())

    @property
    def whole(self) -> bool:
        """Is every count an integer, up to the largest for which doubles hold all integers?"""
        counts = [self.positives, self.negatives, *(r.tp for r in self.rows), *(r.fp for r in self.rows)]
        return all(count.denominator == 1 and count <= 2**53 for count in counts)

    def steps(self) -> list[tuple[Row, Row]]:
        """Each row with the next one."""
        return list(zip(self.rows, self.rows[1:], strict=False))


def table_of_sample(
    scores: Iterable[float],
    labels: Iterable[object],
    weights: Iterable[float] | None = None,
    *,
    lower_is_positive: bool = False,
) -> Table:
    """One row per distinct score: everything at or above it (below it, if lower is positive) is called positive."""
    scores = [float(score) for score in scores]
    present = scores if weights is None else [s for s, w in zip(scores, weights, strict=True) if w > 0]
    return table_at_thresholds(scores, labels, weights, set(present), lower_is_positive=lower_is_positive)


def table_at_thresholds(
    scores: Iterable[float],
    labels: Iterable[object],
    weights: Iterable[float] | None,
    cuts: Iterable[float],
    *,
    lower_is_positive: bool = False,
) -> Table:
    """One row per distinct cut, and (0, 0) and (P, N) with a null threshold if no cut gives them."""
    scores = [float(score) for score in scores]
    labels = [bool(label) for label in labels]
    exact = [Fraction(1)] * len(scores) if weights is None else [Fraction(float(w)) for w in weights]
    sample = list(zip(scores, labels, exact, strict=True))
    positives = sum((w for _, label, w in sample if label), Fraction(0))
    negatives = sum((w for _, label, w in sample if not label), Fraction(0))
    rows = []
    # 0.0 == -0.0 and both hash alike, so a set holds one of them; adding 0.0 makes it the positive one.
    for cut in sorted({float(cut) + 0.0 for cut in cuts}, reverse=not lower_is_positive):
        called = [(label, w) for s, label, w in sample if (s <= cut if lower_is_positive else s >= cut)]
        tp = sum((w for label, w in called if label), Fraction(0))
        fp = sum((w for label, w in called if not label), Fraction(0))
        rows.append(Row(tp, fp, cut))
    return with_ends(rows, positives, negatives)


def with_ends(rows: Sequence[Row], positives: Fraction, negatives: Fraction) -> Table:
    """The rows with (0, 0) first and (P, N) last, added with null thresholds if missing."""
    counts = {(row.tp, row.fp) for row in rows}
    first = [] if (0, 0) in counts else [Row(Fraction(0), Fraction(0))]
    last = [] if (positives, negatives) in counts else [Row(positives, negatives)]
    return Table((*first, *rows, *last), positives, negatives)


def table_of_counts(
    tp: Iterable[float],
    fp: Iterable[float],
    positives: float,
    negatives: float,
    thresholds: Iterable[float] | None = None,
) -> Table:
    """Rows given in any order, sorted by (fp, tp), equal ones by falling threshold; the ends are added."""
    tp, fp = [Fraction(x) for x in tp], [Fraction(x) for x in fp]
    cuts: list[float | None] = [None] * len(tp) if thresholds is None else [float(cut) for cut in thresholds]
    rows = [Row(*columns) for columns in zip(tp, fp, cuts, strict=True)]
    rows.sort(key=lambda row: (row.fp, row.tp, -(row.threshold or 0.0)))
    return with_ends(rows, Fraction(positives), Fraction(negatives))


def roc_area(table: Table) -> Fraction:
    """The area of the trapezoids through the rows, in the unit square."""
    area = sum(((b.fp - a.fp) * (a.tp + b.tp) / 2 for a, b in table.steps()), Fraction(0))
    return area / (table.positives * table.negatives)


def wilcoxon_mann_whitney(table: Table) -> Fraction:
    """The probability that a positive scores above a negative, ties counting one half, by pairs of the rows' groups."""
    groups = [(b.tp - a.tp, b.fp - a.fp) for a, b in table.steps()]
    wins = Fraction(0)
    for i, (gained, _) in enumerate(groups):
        for j, (_, lost) in enumerate(groups):
            wins += gained * lost * (Fraction(1, 2) if i == j else int(i < j))
    return wins / (table.positives * table.negatives)


def on_hull(table: Table) -> list[bool]:
    """Is each row on the boundary of the upper hull? It is unless a segment between two rows passes strictly above it.

    The vertical edge at fp = 0 belongs to the boundary, though rows on it have others above them.
    """
    points = sorted({(row.fp, row.tp) for row in table.rows})
    return [row.fp == 0 or not any_segment_above(row, points) for row in table.rows]


def any_segment_above(row: Row, points: Sequence[tuple[Fraction, Fraction]]) -> bool:
    """Does some segment between two of the points (or a point, the segment to itself) pass strictly above the row?"""
    for x_a, y_a in points:
        for x_b, y_b in points:
            if x_a == x_b == row.fp and y_b > row.tp:
                return True
            if x_a <= row.fp <= x_b and x_a < x_b and (row.tp - y_a) * (x_b - x_a) < (y_b - y_a) * (row.fp - x_a):
                return True
    return False


def hull_table(table: Table) -> Table:
    """Only the rows on the hull, which the achievable curve interpolates (D&G corollary 3.1)."""
    rows = tuple(row for row, kept in zip(table.rows, on_hull(table), strict=True) if kept)
    return Table(rows, table.positives, table.negatives)


def hull_corners(table: Table) -> list[tuple[Fraction, Fraction]]:
    """The strict hull as (fp, tp): the two ends and every place where its direction changes."""
    hull = hull_table(table)
    kept = [row for row, corner in zip(hull.rows, corners(hull), strict=True) if corner]
    return list(dict.fromkeys((row.fp, row.tp) for row in kept))


def roc_hull_area(table: Table) -> Fraction:
    """The area under the hull."""
    return roc_area(hull_table(table))


def corners(table: Table) -> list[bool]:
    """The first row, and of each run of equal rows the first, if the direction changes there or the curve ends.

    A set that is no sweep has no direction: all its rows are kept.
    """
    if not table.sweep:
        return [True] * len(table.rows)
    kept = []
    for index, row in enumerate(table.rows):
        before = [r for r in table.rows[:index] if (r.fp, r.tp) != (row.fp, row.tp)]
        after = [r for r in table.rows[index:] if (r.fp, r.tp) != (row.fp, row.tp)]
        first_of_equals = index == 0 or (table.rows[index - 1].fp, table.rows[index - 1].tp) != (row.fp, row.tp)
        if not before or not after:
            kept.append(first_of_equals)
        else:
            a, b = before[-1], after[0]
            kept.append(first_of_equals and (row.fp - a.fp) * (b.tp - row.tp) != (row.tp - a.tp) * (b.fp - row.fp))
    return kept


def tuning_thresholds(tuning: Table) -> list[float]:
    """The thresholds of all hull rows of a tuning set, in its order (D&G, end of section 3)."""
    return [row.threshold for row in hull_table(tuning).rows if row.threshold is not None]


def correctly_rounded(exact: Fraction) -> float:
    """The double nearest to a fraction, ties to even (the quotient of two integers is rounded once)."""
    return exact.numerator / exact.denominator


def ulp_distance(value: float, exact: Fraction) -> Fraction:
    """The distance of a double from an exact value, in units in the last place of the double nearest to that."""
    return abs(Fraction(value) - exact) / Fraction(math.ulp(correctly_rounded(exact)))
