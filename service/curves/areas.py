"""The areas under the curves of one table, each a closed form or a sum without avoidable rounding.

Rational results are summed exactly and rounded once where the table is whole. Knows the table and its hull.
Sources: Davis & Goadrich 2006, sections 3 to 5; Fawcett 2006, algorithm 2.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from service.curves.climbs import sums_of
from service.curves.compiled import Sums
from service.curves.confusion import ConfusionTable
from service.curves.exact import (
    LARGEST_EXACT_INTEGER,
    FloatArray,
    blocks,
    exact_quotient,
    lift,
    positive_parts,
    two_product,
    two_sum,
)
from service.curves.pr_areas import PrAreas, pr_area, pr_areas


@dataclass(slots=True)
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
    sums, hull_sums = sums_of(table) if table.sweep else None, sums_of(hull)
    of_pr = pr_areas(table, sums) if table.sweep else PrAreas()
    if of_pr.pr is not None and _is_perfect(table):
        of_pr = of_pr._replace(pr=1.0)  # where rounding made it less
    return Areas(
        roc=roc_area(table, sums) if table.sweep else None,
        roc_hull=roc_area(hull, hull_sums),
        pr=of_pr.pr,
        pr_trapezoid=of_pr.trapezoid,
        # No curve of these rows lies above (corollary 3.1): where only rounding says so, it is mended here.
        pr_achievable=max(pr_area(hull, hull_sums), of_pr.pr or 0.0),
        average_precision=of_pr.average_precision,
    )


def _is_perfect(table: ConfusionTable) -> bool:
    """Whether all positives come before any negative."""
    return bool(table.tp[table.fp.searchsorted(0, side="right") - 1] == table.positives)


def roc_area(table: ConfusionTable, sums: Sums | None = None) -> float:
    """Area under the ROC curve by trapezoids, the Wilcoxon-Mann-Whitney statistic of the counts with ties as one half.

    Σ (fp_k - fp_{k-1})(tp_k + tp_{k-1}) / (2 P N)
    """
    if table.whole and 2 * table.positives * table.negatives <= LARGEST_EXACT_INTEGER:
        # Every product and every sum is an integer that is a double.
        doubled = (
            sums.doubled_area
            if sums
            else sum(float((fp[1:] - fp[:-1]) @ (tp[1:] + tp[:-1])) for tp, fp in _blocks(table.tp, table.fp))
        )
        return int(doubled) / (2 * int(table.positives) * int(table.negatives))
    up, across = lift(table.positives), lift(table.negatives)
    parts = (part for tp, fp in _blocks(table.tp, table.fp) for part in _trapezoids(tp, fp, up, across))
    return exact_quotient(parts, 2.0, table.positives * up, table.negatives * across)


def _blocks(*columns: FloatArray) -> Iterator[tuple[FloatArray, ...]]:
    """Cut columns into blocks that share their ends, so that each step from a row to the next is in one of them."""
    for rows in blocks(columns[0].size, overlap=1):
        yield tuple(column[rows] for column in columns)


def _trapezoids(tp: FloatArray, fp: FloatArray, up: float, across: float) -> Iterator[float]:
    """Parts of twice the area, which together are within 2^-100 of it, of counts times `up` and `across`."""
    steps = (fp[1:] > fp[:-1]).nonzero()[0]  # the others have no width
    width, width_low = two_sum(fp[1:].take(steps) * across, fp.take(steps) * -across)
    height, height_low = two_sum(tp[1:].take(steps) * up, tp.take(steps) * up)
    doubled, error = two_product(width, height)
    yield from positive_parts(doubled)
    yield float((error + (width_low * height + width * height_low)).sum())
