"""Binned calibration: in each bin of probabilities, what share is positive; and the expected calibration error.

    width  bins of equal width, k/B to (k + 1)/B; the last includes 1
    mass   bins of about equal mass; equal scores stay together

Knows probabilities only.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from service.curves.arrays import FloatArray
from service.curves.confusion import ConfusionTable
from service.curves.score_probabilities import Probabilities

BINNINGS = ("width", "mass")
"""How probabilities are divided into bins."""

_CROWDED_SHARE = 0.9
"""A bin of this share of all examples tells little of the others."""


@dataclass(frozen=True, slots=True)
class ReliabilityOptions:
    """How many bins, and of equal what."""

    bins: int = 15
    by: str = "width"


@dataclass(frozen=True, slots=True, eq=False)
class Reliability:
    """The bins that are not empty, the lowest probability of a positive first, as columns (n,).

    score_from, score_to   the lowest and the highest score that occurs in the bin.
    positives, negatives   what the examples in it weigh.
    mean_score             the mean probability of a positive.
    observed               the share of positives.
    rows                   for each bin, which scores of the table are in it.
    """

    score_from: FloatArray
    score_to: FloatArray
    positives: FloatArray
    negatives: FloatArray
    mean_score: FloatArray
    observed: FloatArray
    rows: Sequence[slice]

    @property
    def ece(self) -> float:
        """The expected calibration error, Σ (n_b/n)|observed - mean_score|."""
        masses = self.positives + self.negatives
        return float(masses @ abs(self.observed - self.mean_score)) / float(masses.sum())

    @property
    def is_crowded(self) -> bool:
        """Whether nearly all examples are in one of several bins."""
        masses = self.positives + self.negatives
        return float(masses.max()) >= _CROWDED_SHARE * float(masses.sum())


def reliability(table: ConfusionTable, scores: Probabilities, options: ReliabilityOptions) -> Reliability:
    """Divide the scores of a table into bins, and sum up each.

    By mass, a score of mass w with M below it is in bin floor(B (M + w/2)/W): for 0.1, 0.2, 0.2, 0.9 and two bins, 0.1
    is in the first and the rest in the second. Equal scores stay together, and the order of input rows does not matter.

    For scores 0.1, 0.4, 0.6, 0.9, of which the last two are positive, and two bins: observed 0 and 1, mean_score 0.25
    and 0.75, and ece 0.25.
    """
    masses = scores.masses
    if options.by == "width":
        numbers = np.searchsorted(np.arange(1, options.bins) / options.bins, scores.positive, side="right")
    else:
        middles = masses[::-1].cumsum()[::-1] - masses / 2
        numbers = np.minimum(options.bins * middles // scores.total, options.bins - 1)
    first = np.append(0, np.flatnonzero(np.diff(numbers)) + 1)
    last = np.append(first[1:], masses.size) - 1
    there = np.add.reduceat(masses, first) > 0  # next to the weight of others, that of a bin may be lost by rounding
    first, last = first[there], last[there]
    low, high = (table.thresholds[rows + 1] for rows in ((first, last) if table.lower_is_positive else (last, first)))
    positives, negatives = table.tp[last + 1] - table.tp[first], table.fp[last + 1] - table.fp[first]
    rows = [slice(a, b + 1) for a, b in zip(first.tolist(), last.tolist(), strict=True)]
    means = np.array([masses[each] @ scores.positive[each] / masses[each].sum() for each in rows])
    observed = positives / (positives + negatives)
    # Encoders need contiguous columns.
    low, high, positives, negatives, means, observed = (
        column[::-1].copy() for column in (low, high, positives, negatives, means, observed)
    )
    return Reliability(low, high, positives, negatives, means, observed, rows[::-1])
