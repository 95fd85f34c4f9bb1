"""The least cost of errors at each prevalence, and the row that has it.

    weigh    a false negative by π fn_cost/P, a false positive by (1 - π) fp_cost/N
    search   the vertices of the ROC hull, along which slopes fall, for the first whose next segment does not pay
    read     the cost off that row, in rational numbers that are rounded once

Knows the table and its hull.
Source: Drummond & Holte 2006, "Cost curves: an improved method for visualizing classifier performance".
"""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from service.curves.arrays import FloatArray
from service.curves.clock import in_time
from service.curves.confusion import ConfusionTable
from service.curves.hull import RocHull

LARGEST_COST = 1e150
"""The greatest cost of an error that a request may state."""


@dataclass(frozen=True, slots=True, eq=False)
class CostOptions:
    """The costs of a false negative and a false positive, both above 0 and at most 1e150, and the prevalences.

    prevalence   (n,) shares of positives; None for that of the data.
    """

    prevalence: FloatArray | None = None
    fn_cost: float = 1.0
    fp_cost: float = 1.0


@dataclass(frozen=True, slots=True, eq=False)
class Costs:
    """The least cost at each prevalence, as columns (n,) in the order requested, and its row.

    cost              of an example, on average.
    normalized_cost   cost divided by the cost of misjudging every example.
    threshold         NaN where the row has none.
    """

    prevalence: FloatArray
    cost: FloatArray
    normalized_cost: FloatArray
    threshold: FloatArray
    tp: FloatArray
    fp: FloatArray


def costs(table: ConfusionTable, hull: RocHull, options: CostOptions) -> Costs:
    """Choose the best row for each prevalence π; of equally good ones, the one that calls fewer positive.

    cost = π fn_cost fnr + (1 - π) fp_cost fpr      normalized_cost = cost/(π fn_cost + (1 - π) fp_cost)

    The best row lies on the hull, where costs are compared without rounding; each number is rounded once. For the
    scores of `areas.roc_area`, costs of 1 and π = 0.5: threshold 0.8 misses one positive of three, which costs 1/6.
    """
    positives, negatives = Fraction(table.positives), Fraction(table.negatives)
    asked = options.prevalence
    shares = [positives / (positives + negatives)] if asked is None else list(map(Fraction, asked.tolist()))
    rows, cost, normalized = [], [], []
    for share in in_time(shares):
        of_missed, of_false = share * Fraction(options.fn_cost), (1 - share) * Fraction(options.fp_cost)
        row = hull.best(of_missed / positives, of_false / negatives)
        missed, false = 1 - Fraction(table.tp[row]) / positives, Fraction(table.fp[row]) / negatives
        least = of_missed * missed + of_false * false
        rows.append(row)
        cost.append(float(least))
        normalized.append(float(least / (of_missed + of_false)))
    return Costs(
        np.array(list(map(float, shares))),
        np.array(cost),
        np.array(normalized),
        table.thresholds[rows],
        table.tp[rows],
        table.fp[rows],
    )
