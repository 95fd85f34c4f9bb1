"""Single numbers of an evaluation besides its areas. Knows the table, its hull, and what each number is made by."""

import math
from dataclasses import dataclass
from fractions import Fraction

from service.curves.calibration import brier_parts
from service.curves.confusion import ConfusionTable
from service.curves.hull import RocHull
from service.curves.precision_gain import precision_gain_area


@dataclass(slots=True)
class CurveStatistics:
    """What one row of a table of statistics holds; None where there is no such number.

    ks, ks_threshold   the greatest tpr - fpr of a row, Kolmogorov and Smirnov's statistic where scores of positives are
                       higher; the threshold of the first such row.
    prg                the area under the precision-recall-gain curve; of a sweep.
    brier, miscalibration, discrimination, uncertainty   the Brier score and its parts; of scores in [0, 1].
    """

    ks: float
    ks_threshold: float | None
    prg: float | None
    brier: float | None
    miscalibration: float | None
    discrimination: float | None
    uncertainty: float | None


def curve_statistics(table: ConfusionTable, hull: RocHull) -> CurveStatistics:
    """Make all of them from a table and its hull, on which the row lies that ks is of."""
    positives, negatives = Fraction(table.positives), Fraction(table.negatives)
    row = hull.best(1 / positives, 1 / negatives)
    threshold = float(table.thresholds[row])
    return CurveStatistics(
        float(Fraction(table.tp[row]) / positives - Fraction(table.fp[row]) / negatives),
        None if math.isnan(threshold) else threshold,
        precision_gain_area(table) if table.sweep else None,
        *brier_parts(table, hull.vertices),
    )
