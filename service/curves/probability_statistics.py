"""How good scores are as probabilities: log loss, expected calibration error, slope and intercept, each found once.

Knows probabilities and what is computed from them.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from service.curves.arrays import BoolArray
from service.curves.confusion import ConfusionTable
from service.curves.logistic import LogisticFit, has_slope, intercept_fit, slope_fit
from service.curves.reliability import Reliability, ReliabilityOptions, reliability
from service.curves.score_probabilities import LEAST_PROBABILITY, Probabilities


@dataclass(frozen=True, eq=False)
class ProbabilityStatistics:
    """The scores of a table as probabilities, and what they are worth where the model is used."""

    table: ConfusionTable
    scores: Probabilities
    options: ReliabilityOptions

    @classmethod
    def of(cls, table: ConfusionTable, options: ReliabilityOptions | None = None) -> "ProbabilityStatistics | None":
        """Take the scores of a table as probabilities; None if they are none."""
        scores = Probabilities.of(table.in_use)
        return None if scores is None else cls(table, scores, options or ReliabilityOptions())

    @cached_property
    def log_loss(self) -> float:
        """The mean of -ln(the probability of what the example is)."""
        return self.scores.log_loss

    @cached_property
    def reliability(self) -> Reliability:
        """The bins, by the options."""
        return reliability(self.table, self.scores, self.options)

    @cached_property
    def intercept(self) -> LogisticFit | None:
        """The fit of the intercept, with the slope 1; None if a score is 0 or 1, or doubles hold no fit."""
        return None if self.certain else intercept_fit(self.scores)

    @cached_property
    def slope(self) -> LogisticFit | None:
        """The fit of intercept and slope; None as the intercept, or if no negative is above a positive."""
        return None if self.certain or self.separated else slope_fit(self.scores)

    @cached_property
    def certain(self) -> float:
        """What the examples weigh whose score is 0 or 1, and whose log odds are infinite."""
        of_score = (self.scores.positive <= 0) | (self.scores.negative <= 0)
        return self._weight(of_score, of_score)

    @property
    def clipped(self) -> float:
        """What the examples weigh that were certain and wrong."""
        return self._weight(self.scores.positive < LEAST_PROBABILITY, self.scores.negative < LEAST_PROBABILITY)

    @cached_property
    def separated(self) -> bool:
        """Whether one class is wholly above the other, but for ties."""
        return not has_slope(self.scores)

    def _weight(self, positives: BoolArray, negatives: BoolArray) -> float:
        """What the positives at some scores and the negatives at some weigh together."""
        chosen = (np.diff(self.table.tp)[positives], np.diff(self.table.fp)[negatives])
        return float(sum(column.sum() for column in chosen))
