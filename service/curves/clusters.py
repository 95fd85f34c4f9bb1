"""Rows that belong together, such as those of one patient: the number of each row's cluster, and what it is called.

Equal values are the same cluster, also in two evaluations. Knows values; nothing of samples or statistics.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from service.curves.arrays import BoolArray, FloatArray, IntArray

ClusterValue: TypeAlias = bool | int | str


@dataclass(frozen=True, slots=True, eq=False)
class Clusters:
    """The clusters of n rows.

    numbers  (n,) the cluster of each row, its place among `values`.
    values   the distinct values, in order; a cluster need not have a row.
    """

    numbers: IntArray
    values: Sequence[ClusterValue]

    @classmethod
    def of(cls, column: Sequence[ClusterValue]) -> "Clusters":
        """Number the values of a column, all of one type: "b", "a", "b" are the clusters 1, 0, 1."""
        values = sorted(set(column))
        places = {value: place for place, value in enumerate(values)}
        return cls(np.array([places[value] for value in column], np.int64), values)

    def take(self, rows: IntArray) -> "Clusters":
        """Those of some rows."""
        return Clusters(self.numbers.take(rows), self.values)

    def repeats(self, weights: FloatArray | None) -> bool:
        """Whether some cluster has two rows of positive weight; without, rows are independent."""
        there = self.numbers if weights is None else self.numbers[weights > 0]
        return bool((np.bincount(there) > 1).any())


@dataclass(frozen=True, slots=True)
class ClusterCounts:
    """How many clusters have a row of positive weight, a positive, a negative, and the rows of the largest."""

    count: int
    with_positives: int
    with_negatives: int
    largest: int

    @classmethod
    def of(cls, clusters: Clusters, labels: BoolArray, weights: FloatArray | None) -> "ClusterCounts":
        """Count them."""
        there = np.ones(labels.size, np.bool_) if weights is None else weights > 0
        rows, of_positives, of_negatives = (
            np.bincount(clusters.numbers[chosen]) for chosen in (there, there & labels, there & ~labels)
        )
        positives, negatives = int(np.count_nonzero(of_positives)), int(np.count_nonzero(of_negatives))
        return cls(int(np.count_nonzero(rows)), positives, negatives, int(rows.max(initial=0)))


def numbered_together(given: Sequence[Clusters]) -> list[Clusters]:
    """The same clusters with numbers in common, so that equal values have equal numbers.

    Text in one and integers in the other, as CSV and Parquet may have them, are compared as decimal text.
    """
    if len({id(each.values) for each in given}) < 2:  # noqa: PLR2004  # one set of values
        return [*given]
    kinds = {type(value) for each in given for value in each.values}
    names = [[*map(_text_of, each.values)] if len(kinds) > 1 else [*each.values] for each in given]
    values = sorted({value for each in names for value in each})
    places = {value: place for place, value in enumerate(values)}
    return [
        Clusters(np.array([places[name] for name in own], np.int64).take(each.numbers), values)
        for own, each in zip(names, given, strict=True)
    ]


def _text_of(value: ClusterValue) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
