"""The areas under the curves of one table, each a closed form or a sum without avoidable rounding.

Rational results are summed exactly and rounded once where the table is whole. Knows the table, its steps and its hull.
Sources: Davis & Goadrich 2006, sections 3 to 5; Fawcett 2006, algorithm 2.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction

from service.curves.confusion import ConfusionTable
from service.curves.exact import (
    LARGEST_EXACT_INTEGER,
    FloatArray,
    blocks,
    exact_quotient,
    positive_parts,
    power_of_two_scale,
    two_product,
    two_sum,
)
from service.curves.inner_points import precision_inside
from service.curves.positive_steps import PositiveSteps, positive_steps

_LEAST_LIFTED = 2.0**-1000
_MULTIPLES = 1.5 * 2.0**79
"""Added to integers and subtracted again, this rounds them to multiples of 2^27."""

LARGEST_TRAPEZOID = 1e7
"""`pr_trapezoid` is omitted when P is above this, because by definition it visits every integer tp."""


@dataclass(slots=True)
class Areas:
    """All areas; None if the rows form no curve or the area is omitted."""

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
        # No curve through these rows exceeds this one (corollary 3.1), so clip rounding errors.
        pr_achievable=max(pr_area(hull), pr or 0.0),
        average_precision=average_precision(table) if sweep else None,
    )


def roc_area(table: ConfusionTable) -> float:
    """Area under the ROC curve by trapezoids, the Wilcoxon-Mann-Whitney statistic of the counts with ties as one half.

    Σ (fp_k - fp_{k-1})(tp_k + tp_{k-1}) / (2 P N)
    """
    if table.whole and 2 * table.positives * table.negatives <= LARGEST_EXACT_INTEGER:
        # Every product and every sum is an integer that a double holds exactly.
        doubled = (
            table.sums.doubled_area
            if table.sums
            else sum(_whole_trapezoids(fp, tp) for fp, tp in _blocks(table.fp, table.tp))
        )
        return int(doubled) / (2 * int(table.positives) * int(table.negatives))
    up, across = power_of_two_scale(table.positives), power_of_two_scale(table.negatives)
    parts = (part for fp, tp in _blocks(table.fp, table.tp) for part in _trapezoids(fp, tp, across, up))
    return exact_quotient(parts, 2.0, table.positives * up, table.negatives * across)


def doubled_trapezoids(across: FloatArray, height: FloatArray, table: ConfusionTable) -> Fraction:
    """Twice the area, in counts, under part of a rising curve; exact if the counts are whole and not huge."""
    if table.whole and 2 * table.positives * table.negatives <= LARGEST_EXACT_INTEGER:
        return Fraction(sum(_whole_trapezoids(x, y) for x, y in _blocks(across, height)))
    x_up, y_up = scale_of_part(across), scale_of_part(height)
    parts = (part for x, y in _blocks(across, height) for part in _trapezoids(x, y, x_up, y_up))
    return sum(map(Fraction, parts), Fraction(0)) / (Fraction(x_up) * Fraction(y_up))


def scale_of_part(column: FloatArray) -> float:
    """The power of two, at most 2^1000, that scales up part of a rising column, which may end far below the total."""
    return power_of_two_scale(max(float(column[-1]), _LEAST_LIFTED)) if column.size else 1.0


def pr_area(table: ConfusionTable) -> float:
    """Area under the PR curve of a sweep: the integral of precision over tp along D&G's interpolation, over P.

    A vertical step adds no area. The result is exactly 1 if all positives come before any negative.
    """
    if table.tp[table.fp.searchsorted(0, side="right") - 1] == table.positives:
        return 1.0
    up = power_of_two_scale(table.positives)  # 1 where counts are whole
    parts = table.sums.integral if table.sums else _of_steps(table, lambda steps: steps.integral(up))
    return min(exact_quotient(parts, table.positives * up), 1.0)


def average_precision(table: ConfusionTable) -> float:
    """The step-wise sum Σ (tp_k - tp_{k-1}) tp_k/(tp_k + fp_k), over P.

    If the counts are whole and P + N is a double, every tp + fp is one, too. Otherwise sums are pairs of doubles.
    """
    if table.has_exact_total:
        parts = table.sums.average if table.sums else _of_steps(table, PositiveSteps.average)
        return exact_quotient(parts, table.positives)
    up = power_of_two_scale(table.positives)
    return exact_quotient(_of_steps(table, lambda steps: steps.fractional_average(up)), table.positives * up)


def has_trapezoid(table: ConfusionTable) -> bool:
    """Whether `pr_trapezoid` is defined: whole counts, of any size, and P at most 1e7."""
    return table.positives <= LARGEST_TRAPEZOID and table.integral


def pr_trapezoid(table: ConfusionTable) -> float:
    """The composite trapezoid through D&G's interpolated points, all rows and every integer tp, over P.

    The rows of a vertical step add no area; the next trapezoid starts at the step's last row.
    """
    total = table.positives + table.negatives
    ends = table.sums.ends if table.sums else _of_steps(table, PositiveSteps.ends)
    inside = () if table.one_by_one else _of_steps(table, lambda steps: precision_inside(steps, total), least=1)
    return exact_quotient([*(part / 2 for part in ends), *inside], table.positives)


def _of_steps(
    table: ConfusionTable, parts: Callable[[PositiveSteps], Iterable[float]], least: float = 0
) -> Iterator[float]:
    """Parts of a sum over the steps of a table along which tp grows by more than `least`."""
    for steps in positive_steps(table, least):
        yield from parts(steps)


def _blocks(first: FloatArray, second: FloatArray) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Blocks of two columns of a table. Neighbouring blocks share a row, so that each step is in exactly one."""
    for rows in blocks(first.size, overlap=1):
        yield first[rows], second[rows]


def _whole_trapezoids(x: FloatArray, y: FloatArray) -> float:
    """Twice the area under y over x, for integers whose products and sums are exact in doubles."""
    return float((x[1:] - x[:-1]) @ (y[1:] + y[:-1]))


def _trapezoids(x: FloatArray, y: FloatArray, x_up: float, y_up: float) -> Iterator[float]:
    """Parts of twice the area under y over x, for scaled counts; their sum is within 2^-100 of it, relatively.

    It is exact for whole counts: what the products leave are integers up to 2^53, and are summed in two parts.
    """
    steps = (x[1:] > x[:-1]).nonzero()[0]  # the others have no width
    width, width_low = two_sum(x[1:].take(steps) * x_up, x.take(steps) * -x_up)
    height, height_low = two_sum(y[1:].take(steps) * y_up, y.take(steps) * y_up)
    doubled, error = two_product(width, height)
    yield from positive_parts(doubled)
    for rest in (error, width_low * height + width * height_low):
        leading = (rest + _MULTIPLES) - _MULTIPLES
        yield float(leading.sum())
        yield float((rest - leading).sum())
