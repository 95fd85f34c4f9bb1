"""The areas under the curves of one table, and of the table of its hull.

    for each step from a row to the next: Δfp, Δtp and the precision before and after
    roc: add up trapezoids; average_precision: Δtp times the precision after; pr: the integral of precision over tp
    divide by P N or by P

The sweep adds up all of it in one pass. Knows the table and the sweep.

Sources: Davis & Goadrich 2006, sections 3 to 5; Fawcett 2006, algorithm 2.
"""

from dataclasses import dataclass

from service.curves.confusion import ConfusionTable
from service.curves.sweep import sweep

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
    """Every area of a table; `hull` is the table of its ROC hull's vertices.

    `pr_trapezoid` is the composite trapezoid through D&G's interpolated points, all rows and every integer tp, over P;
    for the scores of `roc_area` it is (1 + 1 + (2/3 + 3/4)/2)/3 = 65/72, and `roc_hull` is 5/6. The rows of a vertical
    step add no area; the next trapezoid starts at the step's last row.
    """
    swept = sweep.areas(table.tp, table.fp, trapezoid=has_trapezoid(table)) if table.rises else None
    of_pr = swept if table.target is None or swept is None else table.in_use.swept
    return Areas(
        roc=swept.roc if swept else None,
        roc_hull=roc_area(hull),
        pr=of_pr.pr if of_pr else None,
        pr_trapezoid=swept.trapezoid if swept and has_trapezoid(table) else None,
        # No curve through these rows exceeds this one (corollary 3.1), so clip rounding errors.
        pr_achievable=max(pr_area(hull), of_pr.pr if of_pr else 0.0),
        average_precision=of_pr.average_precision if of_pr else None,
    )


def roc_area(table: ConfusionTable) -> float:
    """Area under the ROC curve by trapezoids, the Wilcoxon-Mann-Whitney statistic of the counts with ties as one half.

        Σ (fp_k - fp_{k-1})(tp_k + tp_{k-1}) / (2 P N)

    The nearest double. Scores 0.9, 0.8, 0.7, 0.6 of which the first, second and fourth are positive: 2/3.
    """
    return table.swept.roc


def pr_area(table: ConfusionTable) -> float:
    """Area under the PR curve of a sweep: the integral of precision over tp along D&G's interpolation, over P.

    A vertical step adds no area. The result is exactly 1 if all positives come before any negative. For the scores of
    `roc_area` the last step is ∫ t/(t + 1) dt from 2 to 3, so the area is 1 - log(4/3)/3. See
    `mean_precision` in sweep/plain.py.
    """
    return table.in_use.swept.pr


def average_precision(table: ConfusionTable) -> float:
    """The step-wise sum Σ (tp_k - tp_{k-1}) tp_k/(tp_k + fp_k), over P; the nearest double.

    For the scores of `roc_area` it is (1 + 1 + 3/4)/3 = 11/12.
    """
    return table.in_use.swept.average_precision


def has_trapezoid(table: ConfusionTable) -> bool:
    """Whether `pr_trapezoid` is defined: whole counts, of any size, P at most 1e7, and no target prevalence."""
    return table.target is None and table.positives <= LARGEST_TRAPEZOID and table.integral
