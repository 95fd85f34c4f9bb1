"""Single numbers of an evaluation besides its areas.

    ks        at the vertex of the hull where tpr - fpr is greatest
    prg       from precision_gain.py
    the rest  from calibration.py

Knows the table, its hull, and those two modules.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

from service.curves.calibration import brier_parts
from service.curves.confusion import ConfusionTable
from service.curves.hull import RocHull
from service.curves.precision_gain import precision_gain_area


@dataclass(slots=True)
class CurveStatistics:
    """One row of a table of statistics; None where a number is undefined.

    ks, ks_threshold   the greatest tpr - fpr of a row, the one-sided Kolmogorov-Smirnov statistic; the threshold of the
                       first such row.
    prg                the area under the precision-recall-gain curve; for a sweep.
    brier, miscalibration, discrimination, uncertainty   the Brier score and its parts; for scores in [0, 1].
    """

    ks: float
    ks_threshold: float | None
    prg: float | None
    brier: float | None
    miscalibration: float | None
    discrimination: float | None
    uncertainty: float | None


def curve_statistics(table: ConfusionTable, hull: RocHull) -> CurveStatistics:
    """Compute all of them from a table and its hull; the row of ks is a vertex of the hull."""
    positives, negatives = Fraction(table.positives), Fraction(table.negatives)
    row = hull.best(1 / positives, 1 / negatives)
    threshold = float(table.thresholds[row])
    return CurveStatistics(
        float(Fraction(table.tp[row]) / positives - Fraction(table.fp[row]) / negatives),
        None if math.isnan(threshold) else threshold,
        precision_gain_area(table) if table.rises else None,
        *brier_parts(table, hull.vertices),
    )
