"""Gains and lift: what is found when the highest scores are worked through, share by share.

A share that ends inside a tie takes of it in proportion, as if the order of equal scores were random: the curve is
straight between rows. Knows the table only.
"""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

import numpy as np

from service.curves.arrays import FloatArray
from service.curves.clock import in_time
from service.curves.confusion import ConfusionTable

DECILES = 10
"""How many parts there are by default."""


@dataclass(frozen=True, slots=True, eq=False)
class GainsOptions:
    """The shares of all examples at which parts end, (n,), rising, above 0 and at most 1; None for equal `parts`."""

    shares: FloatArray | None = None
    parts: int = DECILES

    @property
    def ends(self) -> Sequence[Fraction]:
        """The shares, exactly."""
        if self.shares is None:
            return [Fraction(part, self.parts) for part in range(1, self.parts + 1)]
        return [Fraction(share) for share in self.shares.tolist()]


@dataclass(frozen=True, slots=True, eq=False)
class Gains:
    """Parts of all examples, the highest scores first, as columns (n,).

    share_from, share_to   where the part begins and ends, in shares of all examples.
    threshold              the score at which it ends; NaN if a row of counts has none.
    positives, negatives   what is in it; fractions if a tie is split.
    precision, lift        positives/(positives + negatives), and that divided by the prevalence.
    cumulative_recall, cumulative_precision, cumulative_lift, cumulative_ks   of all parts so far; ks is tpr - fpr.
    """

    share_from: FloatArray
    share_to: FloatArray
    threshold: FloatArray
    positives: FloatArray
    negatives: FloatArray
    precision: FloatArray
    lift: FloatArray
    cumulative_recall: FloatArray
    cumulative_precision: FloatArray
    cumulative_lift: FloatArray
    cumulative_ks: FloatArray


def gains(table: ConfusionTable, options: GainsOptions) -> Gains:
    """Divide a sweep at shares of all examples; each number is rounded once.

    For the scores of `areas.roc_area`, 0.9, 0.8, 0.7, 0.6 with the labels 1, 1, 0, 1, and the shares 0.5 and 1: the
    first part has both of its examples positive, lift 4/3 and recall 2/3.
    """
    positives, negatives = Fraction(table.positives), Fraction(table.negatives)
    everything = positives + negatives
    places = [_place(table, share, everything) for share in in_time(options.ends)]
    rows, found = [row for row, _, _ in places], [(tp, fp) for _, tp, fp in places]
    parts = [(tp - before, fp - false) for (before, false), (tp, fp) in pairwise([(Fraction(0), Fraction(0)), *found])]
    precisions = [tp / (tp + fp) for tp, fp in parts]
    cumulative = [tp / (tp + fp) for tp, fp in found]
    columns = (
        [0, *options.ends[:-1]],
        options.ends,
        table.thresholds[rows],
        [tp for tp, _ in parts],
        [fp for _, fp in parts],
        precisions,
        [each * everything / positives for each in precisions],
        [tp / positives for tp, _ in found],
        cumulative,
        [each * everything / positives for each in cumulative],
        [tp / positives - fp / negatives for tp, fp in found],
    )
    return Gains(*(np.array(list(map(float, column))) for column in columns))


def _place(table: ConfusionTable, share: Fraction, everything: Fraction) -> tuple[int, Fraction, Fraction]:
    """The first row that calls at least this share positive, and tp and fp where exactly so much is."""
    called = share * everything

    def of(row: int) -> tuple[Fraction, Fraction]:
        return Fraction(table.tp[row]), Fraction(table.fp[row])

    row = bisect_left(range(table.tp.size), 1, key=lambda each: sum(of(each)) >= called)
    if float(sum(of(row - 1)) / everything) == float(share):  # a share such as 0.1 is a rounded number
        return row - 1, *of(row - 1)
    (tp, fp), (tp_after, fp_after) = of(row - 1), of(row)
    part = (called - tp - fp) / (tp_after + fp_after - tp - fp)
    return row, tp + part * (tp_after - tp), fp + part * (fp_after - fp)
