"""The scores of a table as probabilities of a positive, each with the examples that have it, and their log loss.

    score     that of a row of the table, or 1 less it with `lower_is_positive`
    log loss  the mean of -ln(the probability of what the example is)

Knows the table only.
"""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from service.curves.arrays import FloatArray
from service.curves.confusion import ConfusionTable

_ROUNDING = 2.0**-50
"""How far scores may be beyond 0 or 1 and still be probabilities: 4 units in the last place of 1."""

_SMALLEST_ABOVE_0 = math.ulp(0.0)
"""The least double above 0."""

LEAST_PROBABILITY = 2.0**-52
"""Log loss takes the probability of what an example is to be at least this, as scikit-learn does for doubles: an
example that was certain and wrong counts 36.04."""


@dataclass(frozen=True, eq=False)
class Probabilities:
    """The scores of a table in its order, the most positive first.

    positive, negative  the probability of a positive, and of a negative, (n,).
    tp, fp              the columns of the table, (n + 1,), times a power of two that keeps their products finite.
    """

    positive: FloatArray
    negative: FloatArray
    tp: FloatArray
    fp: FloatArray

    @classmethod
    def of(cls, table: ConfusionTable) -> "Probabilities | None":
        """Read them off a table; None unless it has all scores and these lie in [0, 1], but for rounding."""
        scores = score_range(table)
        if scores is None or not are_probabilities(*scores):
            return None
        up = math.ldexp(1.0, -math.frexp(max(table.positives, table.negatives))[1])
        score = np.clip(table.thresholds[1:], 0, 1)
        probabilities = (1 - score, score) if table.lower_is_positive else (score, 1 - score)
        return cls(*probabilities, table.tp * up, table.fp * up)

    @cached_property
    def positives(self) -> FloatArray:
        """What the positives at each score weigh, (n,), times that power."""
        return np.diff(self.tp)

    @cached_property
    def negatives(self) -> FloatArray:
        """What the negatives at each score weigh, (n,), times that power."""
        return np.diff(self.fp)

    @property
    def total(self) -> float:
        """What all examples weigh, times that power."""
        return float(self.tp[-1] + self.fp[-1])

    @cached_property
    def masses(self) -> FloatArray:
        """What all examples at each score weigh, (n,), times that power."""
        return self.positives + self.negatives

    def losses(self) -> tuple[FloatArray, FloatArray]:
        """The log loss of a positive and of a negative at each score, (n,) each."""
        return _surprise(self.positive, self.negative), _surprise(self.negative, self.positive)

    @property
    def log_loss(self) -> float:
        """Σ (p (-ln s) + n (-ln(1 - s)))/W, for p positives and n negatives at s; good to 1e-13 relatively.

        No probability counts as less than `LEAST_PROBABILITY`. For the scores of `areas.roc_area`: 0.5442.
        """
        of_positives, of_negatives = self.losses()
        return float(self.positives @ of_positives + self.negatives @ of_negatives) / self.total

    @cached_property
    def log_odds(self) -> FloatArray:
        """The natural logarithm of positive/negative, (n,); finite even at 0 and 1, whose weight may be lost."""
        return np.log(np.maximum(self.positive, _SMALLEST_ABOVE_0)) - np.log(
            np.maximum(self.negative, _SMALLEST_ABOVE_0)
        )


def score_range(table: ConfusionTable) -> tuple[float, float] | None:
    """The least and the greatest score; None if the thresholds of a table are not all of its scores."""
    if not table.of_scores:
        return None
    ends: list[float] = sorted(table.thresholds[[1, -1]].tolist())
    return ends[0], ends[1]


def are_probabilities(low: float, high: float) -> bool:
    """Whether scores between these lie in [0, 1], but for rounding."""
    return low >= -_ROUNDING and high <= 1 + _ROUNDING


def _surprise(probability: FloatArray, rest: FloatArray) -> FloatArray:
    """-ln of a probability that is at least the least and at most 1 less it; near 1 from the rest, which is exact."""
    likely = probability > 1 / 2
    out = np.log(np.maximum(probability, LEAST_PROBABILITY))
    np.log1p(-np.maximum(rest, LEAST_PROBABILITY), out=out, where=likely)
    return -out
