"""Rows that belong together, such as those of one patient: the number of each row's cluster, and what it is called.

Equal values are the same cluster, also in two evaluations; an integer equals its decimal text, which CSV has instead.
Knows values; nothing of samples or statistics.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from service.curves.arrays import BoolArray, FloatArray, IntArray


@dataclass(frozen=True, slots=True, eq=False)
class Clusters:
    """The clusters of n rows.

    numbers  (n,) the cluster of each row, its place among `values`.
    values   the distinct values as text, in order; a cluster need not have a row.
    """

    numbers: IntArray
    values: Sequence[str]

    @classmethod
    def of(cls, column: Sequence[bool | int | str]) -> "Clusters":
        """Number the values of a column, all of one type: "b", "a", "b" are the clusters 1, 0, 1."""
        distinct = [*dict.fromkeys(column)]
        places = {value: place for place, value in enumerate(distinct)}
        return cls.numbered(np.array([places[value] for value in column], np.int64), distinct)

    @classmethod
    def numbered(cls, numbers: IntArray, values: Sequence[bool | int | str]) -> "Clusters":
        """Put numbered values into the order of their text, so that all formats have the same numbers."""
        texts = [str(value).lower() if isinstance(value, bool) else str(value) for value in values]
        order = sorted(range(len(texts)), key=texts.__getitem__)
        places = np.empty(len(order), np.int64)
        places[order] = np.arange(len(order))
        return cls(places.take(numbers), [texts[place] for place in order])

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
    """The same clusters with numbers in common, so that equal values have equal numbers."""
    if len({id(each.values) for each in given}) < 2:  # noqa: PLR2004  # one set of values
        return [*given]
    values = sorted({value for each in given for value in each.values})
    places = {value: place for place, value in enumerate(values)}
    return [
        Clusters(np.array([places[value] for value in each.values], np.int64).take(each.numbers), values)
        for each in given
    ]
