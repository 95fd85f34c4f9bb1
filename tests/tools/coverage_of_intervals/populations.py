"""Populations with a known area under both curves, and samples from them.

The scores of negatives are standard normal, those of positives normal with the same spread or a greater one: the
binormal model of ROC analysis. Rounded to a grid they have ties, as ratings do.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.integrate import quad
from scipy.stats import norm

from service.curves.sample import Sample


@dataclass(frozen=True)
class Population:
    """Positives and negatives per data set, the true area under the ROC curve, and the spread of positives."""

    positives: int
    negatives: int
    roc: float
    spread: float = 1.0

    @property
    def shift(self) -> float:
        """The difference between the means of positives and negatives: AUC = Φ(shift/√(1 + spread²))."""
        return float(norm.ppf(self.roc) * np.hypot(1, self.spread))

    @property
    def prevalence(self) -> float:
        """The share of positives."""
        return self.positives / (self.positives + self.negatives)

    @cached_property
    def pr(self) -> float:
        """The area under the precision-recall curve, and the average precision: the mean precision over recall."""

        def at(recall: float) -> float:
            return self.precision(recall, norm.sf(self.shift + self.spread * norm.isf(recall)))

        return float(quad(at, 0, 1, limit=500, epsabs=1e-10)[0])

    def precision(self, recall: float, fpr: float) -> float:
        """The precision at this recall and fpr."""
        hits = self.prevalence * recall
        return float(hits / (hits + (1 - self.prevalence) * fpr))

    def sample(self, random: np.random.Generator) -> Sample:
        """Draw a data set."""
        labels = np.arange(self.positives + self.negatives) < self.positives
        scores = random.standard_normal(labels.size)
        scores[labels] = self.shift + self.spread * scores[labels]
        return Sample(scores, labels)
