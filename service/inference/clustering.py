"""What rows of the same cluster, such as a patient, cost: effective clusters, degrees of freedom and effective rows.

    masses              M_g, the weight of a class's rows in each cluster
    effective clusters  m = (Σ M)²/Σ M²
    design effect       d, a variance over that of as many independent rows
    effective rows      rows/d, but no fewer than m
    freedom             m*, Satterthwaite's degrees of freedom of a variance estimated from clusters

Knows masses; nothing of scores. Sources: Kish 1965; Satterthwaite 1946, for exchangeable rows as in Bell & McCaffrey
2002, "Bias reduction in standard errors for linear regression with multi-stage samples".
"""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from service.curves.arrays import FloatArray, IntArray

LEAST_FREEDOM = 1.25
"""With fewer degrees of freedom, the first terms of Student's quantile mean nothing."""

_NO_VARIANCE = 1e-12
"""A variance over that of independent rows; below it, clusters differ by rounding only."""


@dataclass(frozen=True, eq=False)
class ClassClusters:
    """The clusters of the n kinds of one class.

    of_kinds  (n,) the number of each kind's cluster.
    masses    (k,) the mass of the class in each cluster that has some; in any unit.
    rows      the effective number of rows, Kish's.
    """

    of_kinds: IntArray
    masses: FloatArray
    rows: float

    @classmethod
    def of(cls, of_kinds: IntArray, masses: FloatArray, rows: float) -> "ClassClusters":
        """Add up the masses of kinds, (n,)."""
        added = np.bincount(of_kinds, masses / masses.max()).astype(np.float64, copy=False)
        return cls(of_kinds, added[added > 0], rows)

    @cached_property
    def effective(self) -> float:
        """The effective number of clusters: that of all if they are equal, as for 5, 5, 5; 2.27 for 9, 3, 3."""
        return float(self.masses.sum() ** 2 / (self.masses @ self.masses))

    def freedom(self, design_effect: float) -> float:
        """(Σ w)²/Σ w² with w = M (1 - r) + M² r, for M in effective rows.

        r is the correlation within clusters behind the design effect, (d - 1)/(s - 1) for clusters of s rows on
        average, s = Σ M²/Σ M. Equal clusters have as many as there are; those of 9, 3 and 3 rows with r = 1 have 1.46.
        """
        size = self.rows / self.effective
        shared = min(max((design_effect - 1) / (size - 1), 0.0), 1.0) if size > 1 else 0.0
        masses = self.masses * (self.rows / self.masses.sum())
        moved = masses * (1 - shared) + masses**2 * shared
        return max(float(moved.sum() ** 2 / (moved @ moved)), LEAST_FREEDOM)

    def trials(self, design_effect: float) -> float:
        """The effective number of rows: rows/d, but no fewer than the effective clusters, and no more than the rows."""
        return min(max(self.rows / max(design_effect, 1.0), self.effective), self.rows)

    def sums(self, values: FloatArray, count: int) -> FloatArray:
        """The sum of the kinds' values in each cluster, (count,)."""
        return np.bincount(self.of_kinds, values, count).astype(np.float64, copy=False)


@dataclass(frozen=True, slots=True)
class Certainty:
    """How certain a number of clustered rows is; for independent rows, as if there were no end of clusters.

    design_effect  None if it is unknown, or rows are independent.
    freedom        m*.
    """

    design_effect: float | None = None
    freedom: float = math.inf


def correction(effective: float) -> float:
    """m/(m - 1)."""
    return effective / (effective - 1)


def design_effect(variance: float, of_rows: float) -> float | None:
    """Clusters' variance over that of rows; None without any, where clusters are exactly alike and show no spread."""
    found = variance / of_rows if of_rows > 0 else 0.0
    return found if found > _NO_VARIANCE else None
