"""The areas under the curves of one table, each a closed form or a sum without avoidable rounding.

Rational results are summed exactly and rounded once where the table is whole. Knows the table, its hull and the PR
interpolation. Sources: Davis & Goadrich 2006, sections 3 to 5; Fawcett 2006, algorithm 2.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from service.curves.confusion import ConfusionTable
from service.curves.exact import (
    LARGEST_EXACT_INTEGER,
    FloatArray,
    IntArray,
    exact_dot,
    exact_sum,
    pair_product,
    pair_quotient,
    sum_of_positives,
    two_product,
    two_sum,
)
from service.curves.pr import curve_precision

LARGEST_TRAPEZOID = 1e7
"""`pr_trapezoid` visits every whole true positive, so it is left out when P is above this."""

_CHUNK = 1 << 16
_SMALL = 0.1
"""Below this, the series of log(1 + x) is used; seven terms leave 1e-17 of it."""


@dataclass(frozen=True, slots=True)
class Areas:
    """All six areas; None where the rows form no curve or the area is left out."""

    roc: float | None
    roc_hull: float
    pr: float | None
    pr_trapezoid: float | None
    pr_achievable: float
    average_precision: float | None


def areas(table: ConfusionTable, hull: ConfusionTable) -> Areas:
    """Every area of a table; `hull` is the table of its ROC hull's vertices."""
    sweep = table.sweep
    pr = pr_area(table) if sweep else None
    return Areas(
        roc=roc_area(table) if sweep else None,
        roc_hull=roc_area(hull),
        pr=pr,
        pr_trapezoid=pr_trapezoid(table) if sweep and has_trapezoid(table) else None,
        # No curve of these rows lies above (corollary 3.1): where only rounding says so, it is mended here.
        pr_achievable=max(pr_area(hull), pr or 0.0),
        average_precision=average_precision(table) if sweep else None,
    )


def roc_area(table: ConfusionTable) -> float:
    """Area under the ROC curve by trapezoids, which is the Wilcoxon-Mann-Whitney statistic with ties as one half.

    Σ (fp_k - fp_{k-1})(tp_k + tp_{k-1}) / (2 P N)
    """
    if table.whole and 2 * table.positives * table.negatives <= LARGEST_EXACT_INTEGER:
        doubled = float(np.diff(table.fp) @ (table.tp[1:] + table.tp[:-1]))  # a sum of integers that all are doubles
        return float(Fraction(doubled) / (2 * Fraction(table.positives) * Fraction(table.negatives)))
    tp, positives = _lift(table.tp, table.positives)
    fp, negatives = _lift(table.fp, table.negatives)
    width = two_sum(fp[1:], -fp[:-1])
    height = two_sum(tp[1:], tp[:-1])
    return float(exact_dot(width, height) / (2 * Fraction(positives) * Fraction(negatives)))


def pr_area(table: ConfusionTable) -> float:
    """Area under the PR curve, the closed-form integral of D&G's interpolation (section 4) over recall.

    On a segment let Δt and Δn be the growth of tp and of n = tp + fp from (t, n), and x = Δn/n. Then

        ∫ precision dtp = (Δt/Δn) (t log(1 + x) + Δt (1 - log(1 + x)/x))

    in which no two terms cancel. From the origin (n = 0) it is Δt Δt/Δn.
    """
    climb = table.tp[1:] - table.tp[:-1]
    rows = np.flatnonzero(climb > 0)
    climb = climb[rows]
    growth = climb + (table.fp[rows + 1] - table.fp[rows])
    called = table.tp[rows] + table.fp[rows]
    # From the origin x is infinite, where t = 0 outweighs its logarithm; wild weights may make x as good as 0.
    with np.errstate(divide="ignore", over="ignore"):
        ratio = np.clip(growth / called, np.finfo(np.float64).tiny, np.finfo(np.float64).max)
    recall, step = table.tp[rows] / table.positives, climb / table.positives
    logarithm, shortfall = _logarithm(ratio)
    segments = (climb / growth) * (recall * logarithm + step * shortfall)
    return min(float(segments.sum()), 1.0)


def _logarithm(x: FloatArray) -> tuple[FloatArray, FloatArray]:
    """log(1 + x) and 1 - log(1 + x)/x for x > 0, without cancellation for small x.

    With z = x/(2 + x), log(1 + x) = 2 (z + z³/3 + z⁵/5 + ...).
    """
    z = x / (2 + x)
    square = z * z
    tail = np.full_like(x, 1 / 15)
    for odd in range(13, 1, -2):
        tail *= square
        tail += 1 / odd
    logarithm = 2 * (z + z * (square * tail))
    shortfall = z - 2 * square / (2 + x) * tail
    large = np.flatnonzero(x >= _SMALL)
    logarithm[large] = np.log1p(x[large])
    shortfall[large] = 1 - logarithm[large] / x[large]
    return logarithm, shortfall


def average_precision(table: ConfusionTable) -> float:
    """The step-wise sum Σ (recall_k - recall_{k-1}) precision_k; never an interpolation."""
    rows = np.flatnonzero(table.tp[1:] > table.tp[:-1]) + 1
    if table.whole:  # every precision is the nearest double, so that two roundings are in each term
        gained = table.tp[rows] - table.tp[rows - 1]
        return float(sum_of_positives(gained * table.precision[rows]) / Fraction(table.positives))
    reached = (table.tp[rows], np.zeros(rows.size))
    precision = pair_quotient(reached, two_sum(table.tp[rows], table.fp[rows]))
    tp, positives = _lift(table.tp, table.positives)
    climb = two_sum(tp[rows], -tp[rows - 1])
    return float(exact_sum(*pair_product(climb, precision)) / Fraction(positives))


def _lift(column: FloatArray, total: float) -> tuple[FloatArray, float]:
    """Multiply counts and their total by a power of two when the total is below 1/2, to keep clear of underflow."""
    power = max(0, -math.frexp(total)[1])
    return np.ldexp(column, power), math.ldexp(total, power)


def has_trapezoid(table: ConfusionTable) -> bool:
    """Whether `pr_trapezoid` is defined (whole counts, of any size) and affordable (P at most 1e7)."""
    return table.positives <= LARGEST_TRAPEZOID and table.integral


def pr_trapezoid(table: ConfusionTable) -> float:
    """The composite trapezoid through D&G's interpolated points: all rows and every whole true positive (section 4).

    The rows of a vertical step add no area; the next trapezoid starts at the step's last row.
    """
    at_rows = curve_precision(table)
    climb = (table.tp[1:] - table.tp[:-1]).astype(np.int64)
    rows = np.flatnonzero(climb > 0) + 1
    total = (sum_of_positives(at_rows[rows - 1]) + sum_of_positives(at_rows[rows])) / 2
    rows = rows[climb[rows - 1] > 1]
    inside = climb[rows - 1] - 1
    before = np.cumsum(inside) - inside
    for start in range(0, int(inside.sum()), _CHUNK):
        point = np.arange(start, min(start + _CHUNK, int(inside.sum())))
        segment = np.searchsorted(before, point, side="right") - 1
        total += sum_of_positives(_inside_precision(table, rows[segment], 1.0 + (point - before[segment])))
    return float(total / Fraction(table.positives))


def _inside_precision(table: ConfusionTable, row: IntArray, step: FloatArray) -> FloatArray:
    """Precision at `step` whole true positives after row `row - 1`: t Δt / (t Δt + fp_A Δt + Δfp step).

    Each product is kept exactly, so that the quotient has two roundings.
    """
    climb = table.tp[row] - table.tp[row - 1]
    hits = (table.tp[row - 1] + step) * climb
    misses, misses_low = two_product(table.fp[row - 1], climb)
    gained, gained_low = two_product(table.fp[row] - table.fp[row - 1], step)
    called, error = two_sum(misses, gained)
    called, last = two_sum(called, hits)
    out: FloatArray = hits / (called + (error + last + misses_low + gained_low))
    return out
