"""The areas under parts of the reference table's curves, from their definitions: every step cut at the range's ends.

Rational values are fractions. Precision is integrated in closed form, in 1,500 digits, and by quadrature to
check that. Nothing here may import the service.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

import mpmath

from tests.reference import Row, Table

Exact = Fraction | mpmath.mpf
Line = tuple[Fraction, Fraction, Fraction, Fraction]


def mpf(number: Fraction) -> mpmath.mpf:
    """A fraction at mpmath's working precision."""
    return mpmath.mpf(number.numerator) / mpmath.mpf(number.denominator)


def pieces(steps: list[Line], low: Fraction, high: Fraction) -> Iterator[Line]:
    """The parts of lines from (x, y) to (x', y') that lie between `low` and `high`."""
    for x, y, x_after, y_after in steps:
        start, end = max(x, low), min(x_after, high)
        if start < end:
            slope = (y_after - y) / (x_after - x)
            yield start, y + slope * (start - x), end, y + slope * (end - x)


def roc_part(table: Table, low: Fraction, high: Fraction, floor: Fraction) -> Fraction:
    """∫ max(tpr - floor, 0) dfpr from `low` to `high`; a line that crosses the floor is cut there."""
    p, n = table.positives, table.negatives
    lines = [(a.fp / n, a.tp / p, b.fp / n, b.tp / p) for a, b in table.steps()]
    area = Fraction(0)
    for x, y, x_after, y_after in pieces(lines, low, high):
        above, above_after = y - floor, y_after - floor
        if above_after <= 0:
            continue
        width = x_after - x
        if above < 0:
            width, above = width * above_after / (above_after - above), Fraction(0)
        area += width * (above + above_after) / 2
    return area


def specificity_part(table: Table, low: Fraction, high: Fraction) -> Fraction:
    """∫ (1 - fpr) dtpr from `low` to `high`."""
    p, n = table.positives, table.negatives
    lines = [(a.tp / p, 1 - a.fp / n, b.tp / p, 1 - b.fp / n) for a, b in table.steps()]
    return sum((x2 - x) * (y + y2) / 2 for x, y, x2, y2 in pieces(lines, low, high)) + Fraction(0)


def precision_part(table: Table, low: Fraction, high: Fraction) -> mpmath.mpf:
    """∫ precision drecall from `low` to `high`, along D&G's interpolation."""
    p = table.positives
    with mpmath.workdps(1500):  # over a range of 1e-324, with counts of 1e-300, close terms cancel almost completely
        total = mpmath.mpf(0)
        for a, b in table.steps():
            start, end = max(a.tp, low * p), min(b.tp, high * p)
            if start < end:
                total += _precision(a, b, start, end)
        return total / mpf(p)


def _precision(a: Row, b: Row, start: Fraction, end: Fraction) -> mpmath.mpf:
    """∫ t/(t + f(t)) dt: with m = 1 + df/dt and f = (m - 1) t + c, (t - (c/m) log(m t + c))/m."""
    m = 1 + (b.fp - a.fp) / (b.tp - a.tp)
    c = a.fp - (m - 1) * a.tp
    if c == 0:
        return mpf((end - start) / m)
    width, ratio = mpf(end - start), mpf((m * end + c) / (m * start + c))
    return (width - mpf(c / m) * mpmath.log(ratio)) / mpf(m)


def precision_by_quadrature(table: Table, low: float, high: float) -> float:
    """The same as `precision_part`, by quadrature of the precision at each place."""
    p, total = table.positives, mpmath.mpf(0)
    for a, b in table.steps():
        start, end = max(a.tp, Fraction(low) * p), min(b.tp, Fraction(high) * p)
        if start < end:
            total += mpmath.quad(
                lambda t, a=a, b=b: t / (t + mpf(a.fp) + (t - mpf(a.tp)) * mpf((b.fp - a.fp) / (b.tp - a.tp))),
                [mpf(start), mpf(end)],
            )
    return float(total / mpf(p))


def area(table: Table, over: str, low: float, high: float, floor: float | None = None) -> Exact:
    """The area over a range."""
    start, end = Fraction(low), Fraction(high)
    if over == "recall":
        return precision_part(table, start, end)
    if over == "tpr":
        return specificity_part(table, start, end)
    return roc_part(table, start, end, Fraction(floor or 0))


def mean(table: Table, asked: Mapping[str, Any]) -> Exact:
    """The mean height of a range, as a request has it."""
    start, end, floor = asked.get("from", 0.0), asked.get("to", 1.0), asked.get("min_tpr")
    box = (Fraction(end) - Fraction(start)) * (1 - Fraction(floor or 0))
    found = area(table, asked["over"], start, end, floor)
    return found / box if isinstance(found, Fraction) else found / mpf(box)


def mcclish(area: Fraction, over: str, low: float, high: float) -> Fraction:
    """McClish's standardised area: 1/2 for chance, the diagonal, and 1 for the whole box."""
    start, end = Fraction(low), Fraction(high)
    mean_of_diagonal = (start + end) / 2
    chance = (end - start) * (mean_of_diagonal if over == "fpr" else 1 - mean_of_diagonal)
    return Fraction(1, 2) + (area - chance) / (2 * (end - start - chance))
