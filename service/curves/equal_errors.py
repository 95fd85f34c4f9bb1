"""The equal error rate: where as many negatives are called positive as positives are called negative.

    eer            the fpr of the ROC curve where fpr = 1 - tpr, straight between rows
    eer_threshold  that of the row where the two rates are nearest

Along a sweep tpr + fpr - 1 never falls, so the place is found by bisection, in exact fractions. Knows the table only.
"""

import math
from bisect import bisect_left
from fractions import Fraction

from service.curves.confusion import ConfusionTable


def equal_error_rate(table: ConfusionTable) -> tuple[float, float | None]:
    """The rate and the threshold of a sweep; of two rows that are equally near, that with more true positives.

    For the scores of `areas.roc_area`, of which there are 3 positives and 1 negative: 1/3, at 0.7.
    """
    positives, negatives = Fraction(table.positives), Fraction(table.negatives)

    def excess(row: int) -> Fraction:
        return Fraction(table.tp[row]) / positives + Fraction(table.fp[row]) / negatives - 1

    row = bisect_left(range(table.tp.size), 1, key=lambda row: excess(row) >= 0)
    before, after = excess(row - 1), excess(row)
    fpr_before, fpr = (Fraction(table.fp[each]) / negatives for each in (row - 1, row))
    rate = fpr_before + (fpr - fpr_before) * before / (before - after)
    more = table.tp[row] > table.tp[row - 1]
    nearest = row if (abs(after), not more) < (abs(before), more) else row - 1
    threshold = float(table.thresholds[nearest])
    return float(rate), None if math.isnan(threshold) else threshold
