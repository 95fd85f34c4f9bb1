"""Means and proportions of clustered rows: of how many independent rows they tell as much.

    D_g     Σ w (x - p)/Σ w over the rows of cluster g, with p the weighted mean of x
    var     m/(m - 1) Σ D²
    trials  σ²/var with σ² the mean of (x - p)², which is p(1 - p) for a proportion; at most the rows. The effective
            clusters if clusters do not differ at all, since then var is 0 by chance
    ρ       Σ D1 D0/√(Σ D1² Σ D0²), the correlation of recall and fpr, which share clusters

Knows rows of a table, masses and clusters. Source: Korn & Graubard 1998, "Confidence intervals for proportions with
small expected number of positive counts estimated from survey data".
"""

import math
from dataclasses import dataclass, field

import numpy as np

from service.curves.arrays import FloatArray
from service.inference.clustering import ClassClusters, correction
from service.inference.strata import Stratum

_NO_DEVIATION = 1e-12
"""Σ D² over what it would be if each cluster were all or nothing; below it, clusters differ by rounding only."""

_NO_SPREAD = 1e-24
"""σ² of values that differ by rounding only."""

_MOST_CORRELATED = 0.95
"""Beyond it, the ways to split an error between two proportions are too few to find the range of a function."""


@dataclass(frozen=True, slots=True, eq=False)
class ClusteredMean:
    """The effective number of rows of a mean, its degrees of freedom, rows for each of these, and D, (count,).

    Of independent rows, there is no end of clusters, and no D.
    """

    trials: float
    freedom: float = math.inf
    design_effect: float | None = None
    deviations: FloatArray = field(default_factory=lambda: np.empty(0))

    @property
    def certainty(self) -> tuple[float, float, float | None]:
        """What a `Share` needs besides its value."""
        return self.trials, self.freedom, self.design_effect


def mean_of(stratum: Stratum, values: FloatArray) -> ClusteredMean:
    """How certain the mean of a class's values is, (n,) for its kinds."""
    rows = stratum.effective_size(values)
    clusters = stratum.clusters
    return ClusteredMean(rows) if clusters is None else clustered_mean(values, stratum.masses, clusters, rows)


def clustered_mean(values: FloatArray, masses: FloatArray, clusters: ClassClusters, rows: float) -> ClusteredMean:
    """How certain the mean of values is, (n,) with their masses; `rows` is their effective number if independent.

    Values are from -1 to 1.
    """
    total = float(masses.sum())
    apart = values - masses @ values / total
    deviations = clusters.sums(masses * apart / total, 1 + int(clusters.of_kinds.max()))
    return _of(float(masses @ apart**2) / total, deviations, clusters, rows)


class CalledClusters:
    """What rows of a table call positive of a class with clusters, from sums over each up to a row, row after row."""

    def __init__(self, stratum: Stratum) -> None:
        assert stratum.clusters is not None  # noqa: S101  # only clustered rows are asked for
        self._at, self._masses, self._clusters = stratum.rows[0], stratum.masses, stratum.clusters
        self._total, self._next = float(self._masses.sum()), 0
        self._whole = np.bincount(self._clusters.of_kinds, self._masses)
        self._called = np.zeros(self._whole.size)

    def up_to(self, row: int, rows: float) -> ClusteredMean:
        """How certain the proportion is that a row calls positive; the row is above none before. `rows` as above."""
        stop = int(self._at.searchsorted(row, side="right"))
        new = slice(self._next, stop)
        self._called += np.bincount(self._clusters.of_kinds[new], self._masses[new], self._called.size)
        self._next = stop
        rate = min(float(self._called.sum()) / self._total, 1.0)
        deviations = (self._called - rate * self._whole) / self._total
        return _of(rate * (1 - rate), deviations, self._clusters, rows)


def correlation(one: FloatArray, other: FloatArray) -> float:
    """ρ of two proportions from D of their clusters; 0 if those of one do not differ."""
    shorter = min(one.size, other.size)
    scale = math.sqrt(float(one @ one) * float(other @ other))
    found = float(one[:shorter] @ other[:shorter]) / scale if scale > 0 else 0.0
    return min(max(found, -_MOST_CORRELATED), _MOST_CORRELATED)


def _of(spread: float, deviations: FloatArray, clusters: ClassClusters, rows: float) -> ClusteredMean:
    """The effective number of rows is σ²/var; `spread` is σ²."""
    effective, squares = clusters.effective, float(deviations @ deviations)
    if effective <= 1 or spread <= _NO_SPREAD or squares * effective <= _NO_DEVIATION * spread:
        trials, deviations = min(effective, rows), np.zeros(deviations.size)
    else:
        trials = min(max(spread / (correction(effective) * squares), 1.0), rows)
    return ClusteredMean(trials, clusters.freedom(rows / trials), rows / trials, deviations)
