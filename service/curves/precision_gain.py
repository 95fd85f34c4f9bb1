"""The area under the precision-recall-gain curve.

    cut  the curve at recall gain 0, on the straight line in counts between two rows
    add  a trapezoid for each step from there on

Knows the table.
Source: Flach & Kull 2015, "Precision-recall-gain curves: PR analysis done right".
"""

import math

import numpy as np

from service.curves.confusion import ConfusionTable


def precision_gain_area(table: ConfusionTable) -> float:
    """Area under the precision-recall-gain curve of a sweep, from recall gain 0 to 1; it may be negative.

        precision gain  1 - P fp/(N tp)      recall gain  1 - P (P - tp)/(N tp)

    Between two rows counts are linear, so both gains are linear in 1/tp: the curve is straight, and trapezoids are
    exact. Recall gain is 0 where P - tp is D = P N/(P + N), at tp = P²/(P + N); there the step is cut:

        ∫ = Σ (recall gain_k - recall gain_{k-1}) (precision gain_k + precision gain_{k-1}) / 2

    Its error is at most 1e-14, or that share of the area if it is below -1. Of the scores 0.9, 0.8, 0.7, 0.6, of which
    the first, the second and the fourth are positive, it is -1/6: the cut is at tp = 9/4, where the gain is -1/3.
    """
    ratio, share = table.positives / table.negatives, table.positives / (table.positives + table.negatives)
    # Powers of two bring both totals near 1, so that products neither overflow nor underflow.
    tp, fp = (np.ldexp(column, -math.frexp(column[-1])[1]) for column in (table.tp, table.fp))
    positives, negatives = tp[-1], fp[-1]
    # The cut counts true positives or missed ones, whichever are fewer: the others would lose its digits.
    column, start = tp, positives * share
    if share > 1 / 2:
        column, start = tp - positives, -positives * (table.negatives / (table.positives + table.negatives))
    row = int(np.searchsorted(column, start, side="right"))  # the first beyond recall gain 0
    along = (start - column[row - 1]) / (column[row] - column[row - 1])
    first = 1 - ratio * ((positives - tp[row]) / tp[row])
    widths = np.append(first, (ratio * positives / tp[row:-1]) * (np.diff(tp[row:]) / tp[row + 1 :]))
    tp, fp = np.append(positives * share, tp[row:]), np.append(fp[row - 1] + (fp[row] - fp[row - 1]) * along, fp[row:])
    gains = 1 - (fp / tp) * (positives / negatives)
    return float(widths @ (gains[1:] + gains[:-1]) / 2)
