"""A typical sample from assumptions, to plan from where there is no pilot.

Scores of negatives are standard normal, and those of positives the same but shifted by √2 Φ⁻¹(area), so that the area
under the ROC curve is the one assumed (the binormal model with equal variances). Scores of two models have the assumed
correlation within each class. Instead of random numbers, row i has the point (0.5 + i/g, 0.5 + i/g²) mod 1 of a
lattice, g = 1.3247.. being the plastic number: such points fill the square evenly, so nothing depends on a seed.

Knows samples only. Sources: Dorfman & Alf 1969 for the binormal model; Roberts 2018 for the lattice; Kish 1965 for the
design effect of clusters.
"""

import math
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from service.curves.arrays import FloatArray
from service.curves.clock import in_time
from service.curves.sample import Sample

SMALLER_CLASS = 1000
"""The examples of the rarer class."""

RAREST = 0.001
"""The least prevalence, and the least of negatives: a million rows."""

_NORMAL = NormalDist()
_PLASTIC = 1.324717957244746
"""The real root of x³ = x + 1."""


@dataclass(frozen=True, slots=True)
class Assumptions:
    """What is taken to be true of a model, and of a baseline with the same examples.

    roc, baseline_roc   the areas, between 0.5 and 1.
    correlation         of the scores of both within a class.
    cluster_size, icc   how many rows each cluster has, and how much they are alike: 0 not at all, 1 copies.
    """

    roc: float
    baseline_roc: float | None = None
    correlation: float = 0.0
    prevalence: float = 0.5
    cluster_size: float = 1.0
    icc: float = 0.0

    @property
    def design_effect(self) -> float:
        """How many times the rows clusters need, 1 + (size - 1) icc: 3 for 5 rows with 0.5."""
        return 1 + (self.cluster_size - 1) * self.icc


def typical_samples(given: Assumptions) -> tuple[Sample, Sample | None]:
    """A sample of the model, and of the baseline if there is one, with the same examples.

    The rarer class has 1,000 examples, the other as many more as the prevalence says.
    """
    odds = given.prevalence / (1 - given.prevalence)
    sizes = (SMALLER_CLASS, round(SMALLER_CLASS / odds)) if odds <= 1 else (round(SMALLER_CLASS * odds), SMALLER_CLASS)
    labels = np.arange(sum(sizes)) < sizes[0]
    first, second = (np.concatenate([_deviates(size, axis) for size in sizes]) for axis in (1, 2))
    model = Sample(first + _shift(given.roc) * labels, labels)
    if given.baseline_roc is None:
        return model, None
    other = given.correlation * first + math.sqrt(1 - given.correlation**2) * second
    return model, Sample(other + _shift(given.baseline_roc) * labels, labels)


def _deviates(size: int, axis: int) -> FloatArray:
    """Normal deviates at one coordinate of the lattice, (n,)."""
    places = (0.5 + np.arange(1, size + 1) / _PLASTIC**axis) % 1.0
    return np.array([_NORMAL.inv_cdf(place) for place in in_time(places.tolist())])


def _shift(area: float) -> float:
    return math.sqrt(2) * _NORMAL.inv_cdf(area)
