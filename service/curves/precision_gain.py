"""The area under the precision-recall-gain curve. Knows the table.

Source: Flach & Kull 2015, "Precision-recall-gain curves: PR analysis done right".
"""

import numpy as np

from service.curves.confusion import ConfusionTable


def precision_gain_area(table: ConfusionTable) -> float:
    """Area under the precision-recall-gain curve of a sweep, from recall gain 0 to 1; it may be negative.

        precision gain  1 - P fp/(N tp)      recall gain  1 - P (P - tp)/(N tp)

    Between two rows counts are linear, so both gains are linear in 1/tp: the curve is straight, and trapezoids are
    exact. Recall gain is 0 where P - tp is D = P N/(P + N), at tp = P²/(P + N); there the step is cut:

        ∫ = Σ (recall gain_k - recall gain_{k-1}) (precision gain_k + precision gain_{k-1}) / 2

    Its error is at most 1e-14, or that share of the area if it is below -1. Of the scores 0.9, 0.8, 0.7, 0.6, of which
    the first, the second and the fourth are positive, it is 1 - 1/8 = 7/8.
    """
    positives, negatives = table.positives, table.negatives
    ratio, missed = positives / negatives, positives - table.tp
    most = positives * (negatives / (positives + negatives))
    row = int(np.searchsorted(-missed, -most, side="right"))  # the first beyond recall gain 0
    share = (missed[row - 1] - most) / (table.tp[row] - table.tp[row - 1])
    start_tp = positives * (positives / (positives + negatives))
    start_fp = table.fp[row - 1] + (table.fp[row] - table.fp[row - 1]) * share
    tp, fp = np.append(start_tp, table.tp[row:]), np.append(start_fp, table.fp[row:])
    gains = 1 - ratio * (fp / tp)
    widths = ratio * (np.diff(table.tp[row:]) / table.tp[row + 1 :]) * (positives / table.tp[row:-1])
    first = 1 - ratio * (missed[row] / table.tp[row])
    return float(np.append(first, widths) @ (gains[1:] + gains[:-1]) / 2)
