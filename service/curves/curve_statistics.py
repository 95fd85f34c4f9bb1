"""Single numbers of an evaluation besides its areas.

    ks    at the vertex of the hull where tpr - fpr is greatest
    prg   from precision_gain.py
    gini  2 roc - 1
    eer   from equal_errors.py
    the rest, of probabilities, from calibration.py and probability_statistics.py

Knows the table, its hull, and those modules.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

from service.curves.calibration import BrierParts, brier_parts
from service.curves.confusion import ConfusionTable
from service.curves.equal_errors import equal_error_rate
from service.curves.hull import RocHull
from service.curves.precision_gain import precision_gain_area
from service.curves.probability_statistics import ProbabilityStatistics
from service.curves.target_prevalence import TargetPrevalence


@dataclass(slots=True)
class CurveStatistics:
    """One row of a table of statistics; None where a number is undefined.

    ks, ks_threshold    the greatest tpr - fpr of a row, the one-sided Kolmogorov-Smirnov statistic; the threshold of
                        the first such row.
    prg, gini           the area under the precision-recall-gain curve, and 2 roc - 1; for a sweep.
    eer, eer_threshold  the equal error rate, and the threshold of the row nearest to it; for a sweep.
    brier, miscalibration, discrimination, uncertainty   the Brier score and its parts; for scores in [0, 1].
    log_loss, ece, calibration_slope, calibration_intercept   for scores in [0, 1], the last two for scores between.
    ece_if_calibrated   what ece would be on average if the scores were right; set by who knows the examples.
    """

    ks: float
    ks_threshold: float | None
    prg: float | None
    brier: float | None
    miscalibration: float | None
    discrimination: float | None
    uncertainty: float | None
    gini: float | None
    eer: float | None
    eer_threshold: float | None
    log_loss: float | None
    ece: float | None
    calibration_slope: float | None
    calibration_intercept: float | None
    ece_if_calibrated: float | None = None


def curve_statistics(
    table: ConfusionTable, hull: RocHull, probabilities: ProbabilityStatistics | None
) -> CurveStatistics:
    """Compute all of them from a table, its hull and its probabilities; the row of ks is a vertex of the hull."""
    positives, negatives = Fraction(table.positives), Fraction(table.negatives)
    row = hull.best(1 / positives, 1 / negatives)
    threshold = float(table.thresholds[row])
    eer = equal_error_rate(table) if table.rises else (None, None)
    return CurveStatistics(
        float(Fraction(table.tp[row]) / positives - Fraction(table.fp[row]) / negatives),
        None if math.isnan(threshold) else threshold,
        precision_gain_area(table.in_use) if table.rises else None,
        *(BrierParts() if probabilities is None else brier_parts(probabilities.scores, hull.vertices)),
        2 * table.swept.roc - 1 if table.rises else None,
        *eer,
        *(_of_probabilities(probabilities, table.target)),
    )


def _of_probabilities(found: ProbabilityStatistics | None, target: TargetPrevalence | None) -> tuple[float | None, ...]:
    """Log loss, ece, slope and intercept; with a target only the first."""
    if found is None:
        return (None,) * 4
    if target is not None:
        return found.log_loss, None, None, None
    slope = None if found.slope is None else float(found.slope.coefficients[1])
    intercept = None if found.intercept is None else float(found.intercept.coefficients[0])
    return found.log_loss, found.reliability.ece, slope, intercept
