"""The scores and labels of several classes, row by row. Knows nothing of curves."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from service.curves.arrays import BoolArray, FloatArray
from service.curves.clusters import ClusterCounts, Clusters


@dataclass(frozen=True, slots=True, eq=False)
class ClassScores:
    """The scores and labels of n rows for k classes.

    names      (k,) distinct.
    scores     (n,) for each class; higher means more likely in the class, unless `lower_is_positive`.
    members    (n,) for each class, True for a row that belongs to it.
    weights    (n,), or None for 1 each.
    exclusive  whether each row belongs to exactly one class (multiclass), or to any number of them (multilabel).
    clusters   which rows belong together, for intervals; None if all are independent.
    """

    names: tuple[str, ...]
    scores: Sequence[FloatArray]
    members: Sequence[BoolArray]
    weights: FloatArray | None = None
    lower_is_positive: bool = False
    exclusive: bool = True
    clusters: Clusters | None = None

    @property
    def rows(self) -> int:
        """How many rows there are, n."""
        return self.scores[0].size

    @property
    def cluster_counts(self) -> ClusterCounts | None:
        """How many clusters there are, whatever the class; None if all rows are independent."""
        every = np.ones(self.rows, np.bool_)
        return None if self.clusters is None else ClusterCounts.of(self.clusters, every, self.weights)
