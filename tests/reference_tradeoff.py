"""The trade-off space of Hanczar & Nadif 2014 (H&N), slow and obvious, independent of service/curves.

An envelope is found by crossing every pair of rows and comparing all rows between two crossings. Rational values are
fractions; values with a logarithm or a power (all of fowlkes_mallows, and areas) are mpmath numbers of 60 digits. Means
under a Beta density are doubles, good to 1e-13.
Nothing here may import the service.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

import mpmath
import numpy as np
from numpy.typing import NDArray

from tests.reference import Row, Table, correctly_rounded
from tests.reference_pr import DIGITS, mp

Exact: TypeAlias = Fraction | mpmath.mpf
Column: TypeAlias = NDArray[np.float64]

INDICES = ("kulczynski", "f_measure", "fowlkes_mallows", "jaccard")
HALF = Fraction(1, 2)
TOGETHER = mpmath.mpf(10) ** -40
"""Two crossings of logarithms closer than this share of the range are one."""


@dataclass(frozen=True)
class Interval:
    """A row, and the ends of the range of lambda in which it is best."""

    start: Exact
    end: Exact
    row: Row


def precision_and_recall(row: Row, positives: Fraction) -> tuple[Fraction, Fraction]:
    """tp / (tp + fp) and tp / P, of a row with tp > 0."""
    return row.tp / (row.tp + row.fp), row.tp / positives


def rounded(row: Row, positives: Fraction) -> tuple[float, float]:
    """Precision and recall as whole counts report them."""
    precision, recall = precision_and_recall(row, positives)
    return correctly_rounded(precision), correctly_rounded(recall)


def taking_part(
    table: Table, min_precision: float, min_recall: float, reported: Sequence[tuple[float, float]] | None = None
) -> list[Row]:
    """The rows with tp > 0 whose reported precision and recall are at or above the bounds (H&N section 5.1).

    Without `reported`, a pair per row of the table, they are those of whole counts: rounded once.
    """
    pairs = reported or [rounded(row, table.positives) if row.tp > 0 else (0.0, 0.0) for row in table.rows]
    return [
        row
        for row, (precision, recall) in zip(table.rows, pairs, strict=True)
        if row.tp > 0 and precision >= min_precision and recall >= min_recall
    ]


def value(index: str, row: Row, positives: Fraction, at: Exact) -> Exact:
    """f(lambda) of a row with tp > 0."""
    p, r = precision_and_recall(row, positives)
    if index == "kulczynski":
        return (1 - at) * p + at * r
    if index == "f_measure":
        return p * r / (at * p + (1 - at) * r)
    if index == "jaccard":
        w, w_of_rest, v = min(2 * at, 1), min(2 * (1 - at), 1), 1 - abs(1 - 2 * at)
        return p * r / (w * p + w_of_rest * r - v * p * r)
    with mpmath.workdps(DIGITS):
        share = number(at)
        return mpmath.exp((1 - share) * mpmath.log(mp(p)) + share * mpmath.log(mp(r)))


def number(exact: Exact | float) -> mpmath.mpf:
    """An exact value as an mpmath number of the working precision."""
    return mp(exact) if isinstance(exact, Fraction) else mpmath.mpf(exact)


def best_value(index: str, rows: Sequence[Row], positives: Fraction, at: Exact) -> Exact:
    """The envelope at one lambda: the greatest f of any row."""
    return max(value(index, row, positives, at) for row in rows)


def knots(index: str) -> list[Fraction]:
    """The lambdas between which f, 1/f or log f is straight."""
    return [Fraction(0), HALF, Fraction(1)] if index == "jaccard" else [Fraction(0), Fraction(1)]


def at_knots(index: str, row: Row, positives: Fraction) -> list[Fraction]:
    """f at the knots. At 0 and 1 it is precision and recall for every index, so it is rational for all of them."""
    p, r = precision_and_recall(row, positives)
    return [p, value(index, row, positives, HALF), r] if index == "jaccard" else [p, r]


def gap(index: str, x: Fraction, y: Fraction) -> Exact:
    """How far a value x is above y, on the scale on which the index is straight in lambda."""
    if index == "kulczynski":
        return x - y
    return log_ratio(x, y) if index == "fowlkes_mallows" else 1 / y - 1 / x


def log_ratio(x: Fraction, y: Fraction) -> mpmath.mpf:
    """log(x/y), with all its digits also where x is next to y."""
    near = abs(x - y) * 2 < y
    return mpmath.log1p(mp(x / y - 1)) if near else mpmath.log(mp(x / y))


def envelope(index: str, rows: Sequence[Row], positives: Fraction, start: float, end: float) -> list[Interval]:
    """The best row for every lambda from start to end: the first of equal rows; adjacent intervals have different rows.

    Between two neighbouring crossings no two rows change places, so any lambda there shows the best row.
    """
    distinct = list({(row.tp, row.fp): row for row in reversed(rows)}.values())
    curves = [at_knots(index, row, positives) for row in distinct]
    with mpmath.workdps(DIGITS):
        first, last = (exact if index != "fowlkes_mallows" else mp(exact) for exact in (Fraction(start), Fraction(end)))
        gaps = [[[gap(index, x, y) for x, y in zip(a, b, strict=True)] for b in curves] for a in curves]
        pairs = itertools.combinations(range(len(distinct)), 2)
        met = {at for i, j in pairs for at in crossings(index, gaps[i][j]) if first < at < last}
        cells = [first]
        for at in [*sorted(met), last]:
            if index != "fowlkes_mallows" or at - cells[-1] > (last - first) * TOGETHER:
                cells.append(at)
        found: list[Interval] = []
        for left, right in itertools.pairwise(cells):
            best = distinct[best_at(index, gaps, (left + right) / 2)]
            if found and found[-1].row is best:
                left = found.pop().start  # noqa: PLW2901 - the current interval, extended
            found.append(Interval(left, right, best))
    return found


def crossings(index: str, gaps: Sequence[Exact]) -> list[Exact]:
    """The lambdas at which two curves meet, from their gap at the knots, between which it is straight."""
    met = [u for u, gap_u in zip(knots(index), gaps, strict=True) if gap_u == 0]
    for (u, gap_u), (v, gap_v) in itertools.pairwise(zip(knots(index), gaps, strict=True)):
        if min(gap_u, gap_v) < 0 < max(gap_u, gap_v):
            met.append(u + (v - u) * gap_u / (gap_u - gap_v))
    return met


def best_at(index: str, gaps: Sequence[Sequence[Sequence[Exact]]], at: Exact) -> int:
    """Which of the rows has no other above it at a lambda; gaps[i][j] is that of row i above row j at the knots."""
    best = 0
    for row in range(1, len(gaps)):
        ends = list(zip(knots(index), gaps[row][best], strict=True))
        (u, gap_u), (v, gap_v) = next((low, high) for low, high in itertools.pairwise(ends) if low[0] <= at <= high[0])
        if gap_u * (v - at) + gap_v * (at - u) > 0:
            best = row
    return best


def mean(index: str, intervals: Sequence[Interval], positives: Fraction) -> mpmath.mpf:
    """The mean of an envelope over its range: of each piece between knots, by its antiderivative."""
    with mpmath.workdps(DIGITS):
        total = mpmath.mpf(0)
        for piece in pieces(index, intervals):
            x, y = (number(value(index, piece.row, positives, at)) for at in (piece.start, piece.end))
            total += number(piece.end - piece.start) * mean_between(index, x, y)
        return total / (number(intervals[-1].end) - number(intervals[0].start))


def pieces(index: str, intervals: Sequence[Interval]) -> list[Interval]:
    """The intervals, cut at the knots inside them."""
    cut = []
    for interval in intervals:
        inside = [knot for knot in knots(index) if interval.start < knot < interval.end]
        ends = itertools.pairwise([interval.start, *inside, interval.end])
        cut += [Interval(start, end, interval.row) for start, end in ends]
    return cut


def mean_between(index: str, x: mpmath.mpf, y: mpmath.mpf) -> mpmath.mpf:
    """The mean of f from x to y, when f, 1/f or log f is straight between them."""
    if index == "kulczynski" or abs(x - y) < y * TOGETHER:
        return (x + y) / 2
    logarithm = mpmath.log(x / y)
    return (x - y) / logarithm if index == "fowlkes_mallows" else logarithm * x * y / (x - y)


NODES, WEIGHTS = np.polynomial.legendre.leggauss(20)
QUADRATURE = 1e-14
"""What halving a panel may change in the whole integral."""


def beta_mean(index: str, intervals: Sequence[Interval], positives: Fraction, a: float, b: float) -> float:
    """The mean of an envelope under Beta(a, b), renormalised on its range: ∫ f w dlambda / ∫ w dlambda.

    With x = log(lambda / (1 - lambda)) there is no singular end: w dlambda is lambda^a (1 - lambda)^b dx, and neither
    that nor any index has a singularity nearer to the real axis than pi. Everything is a logarithm until it is summed,
    so that nothing underflows. A range from 0 or to 1 is cut where less than 1e-20 is left.
    """
    parts, middle = pieces(index, intervals), math.log(a / b)
    logs = [tuple(float(log_ratio(end, Fraction(1))) for end in precision_and_recall(p.row, positives)) for p in parts]
    width = ((a + b) / (a * b)) ** 0.5
    reach = 50 * width + (50 + sum(-p - r for p, r in set(logs))) * max(1 / a, 1 / b)
    centres = {0.0, middle, *(r - p for p, r in logs)}
    marks = [centre + sign * width * 2.0**k for centre in centres for k in range(-2, 40) for sign in (-1, 0, 1)]

    def integral(start: Exact, end: Exact, log_f: Callable[[Column], Column]) -> tuple[float, float]:
        def log_of(x: Column) -> Column:
            return log_f(x) - a * np.logaddexp(0, -x) - b * np.logaddexp(0, x)

        low, high = logit(start), logit(end)
        return log_integral(log_of, max(low, min(high, middle) - reach), min(high, max(low, middle) + reach), marks)

    scale, total = integral(parts[0].start, parts[-1].end, np.zeros_like)
    average = 0.0
    for part, (p, r) in zip(parts, logs, strict=True):
        shift, found = integral(part.start, part.end, log_curve(index, part, positives, p, r))
        average += math.exp(shift - scale) * (found / total)
    return average


def log_curve(index: str, part: Interval, positives: Fraction, p: float, r: float) -> Callable[[Column], Column]:
    """log f as a function of x = log(lambda / (1 - lambda)) for one piece; p and r are the logs of its ends.

    1/f of jaccard is 1/p + 2 lambda (1/r - 1) up to one half, and 1/r + 2 (1 - lambda) (1/p - 1) beyond.
    """
    precision, recall = precision_and_recall(part.row, positives)

    def log_f(x: Column) -> Column:
        log_at, log_rest = -np.logaddexp(0, -x), -np.logaddexp(0, x)
        if index == "kulczynski":
            return np.logaddexp(log_rest + p, log_at + r)
        if index == "f_measure":
            return -np.logaddexp(log_at - r, log_rest - p)
        if index == "fowlkes_mallows":
            return np.exp(log_rest) * p + np.exp(log_at) * r
        odds = (1 / recall if part.end <= HALF else 1 / precision) - 1
        log_odds = float(log_ratio(odds, HALF)) if odds else -math.inf
        return -np.logaddexp(-p, log_at + log_odds) if part.end <= HALF else -np.logaddexp(-r, log_rest + log_odds)

    return log_f


def log_integral(
    log_of: Callable[[Column], Column], low: mpmath.mpf, high: mpmath.mpf, marks: Sequence[float]
) -> tuple[float, float]:
    """∫ exp(log_of(x)) dx = exp(s) i, as (s, i). Panels start at the marks and are halved while that changes it."""
    inside = sorted({mpmath.mpf(mark) for mark in marks if low < mark < high})
    with mpmath.workdps(DIGITS):
        ends = [low, *inside, high]
        left, width = np.array([(float(u), float(v - u)) for u, v in itertools.pairwise(ends)]).T
    while True:
        shift = log_of(left[:, None] + width[:, None] * (NODES + 1) / 2).max()
        whole = by_panel(log_of, left, width, shift)
        middle = left + width / 2
        halved = by_panel(log_of, left, width / 2, shift) + by_panel(log_of, middle, width / 2, shift)
        rough = np.abs(whole - halved) > QUADRATURE * whole.sum()
        if not rough.any():
            return float(shift), float(halved.sum())
        left = np.concatenate((left[~rough], left[rough], middle[rough]))
        width = np.concatenate((width[~rough], width[rough] / 2, width[rough] / 2))


def by_panel(log_of: Callable[[Column], Column], left: Column, width: Column, shift: float) -> Column:
    """∫ exp(log_of(x) - shift) dx over each panel, by Gauss and Legendre."""
    at = left[:, None] + width[:, None] * (NODES + 1) / 2
    total: Column = width / 2 * (np.exp(log_of(at) - shift) @ WEIGHTS)
    return total


def logit(at: Exact) -> mpmath.mpf:
    """log(lambda / (1 - lambda)), infinite at 0 and 1."""
    if at in (0, 1):
        return mpmath.mpf("-inf" if at == 0 else "inf")
    with mpmath.workdps(DIGITS):
        return log_ratio(at, 1 - at) if isinstance(at, Fraction) else mpmath.log(at / (1 - at))


def apart(one: Exact | float, other: Exact | float) -> float:
    """|one - other|, of numbers of any kinds, rounded once."""
    if isinstance(one, mpmath.mpf) or isinstance(other, mpmath.mpf):
        with mpmath.workdps(DIGITS):
            return float(abs(number(one) - number(other)))
    return float(abs(Fraction(one) - Fraction(other)))


def relative(one: Exact | float, exact: Exact) -> float:
    """|one - exact| / exact, rounded once."""
    with mpmath.workdps(DIGITS):
        return float(abs(number(one) / number(exact) - 1))
