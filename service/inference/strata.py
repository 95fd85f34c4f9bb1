"""The examples of an evaluation by class, in the terms of its table: what all intervals are made from.

A statistic of a sample is a function of how many positives and negatives there are at each row of its table, so an
example is the row at which it is first called positive. Knows samples and tables; nothing of statistics.
"""

from dataclasses import dataclass

import numpy as np

from service.curves.confusion import ConfusionTable
from service.curves.counts import Counts
from service.curves.exact import BoolArray, FloatArray, IntArray
from service.curves.sample import Sample


@dataclass(frozen=True, slots=True, eq=False)
class Stratum:
    """The examples of one class, of one evaluation or of two: columns (n,).

    rows      for each evaluation the table's row, 1 or higher, at which they are first called positive.
    examples  how many there are of each kind; fractional only where counts are.
    weights   what one of each kind weighs; None is 1 each.
    """

    rows: tuple[IntArray, ...]
    examples: FloatArray
    weights: FloatArray | None

    @property
    def size(self) -> float:
        """How many examples there are; those of weight 0 are none."""
        return float(self.examples.sum())

    @property
    def masses(self) -> FloatArray:
        """What each kind weighs together, (n,)."""
        return self.examples if self.weights is None else self.examples * self.weights

    @property
    def effective(self) -> float:
        """How many examples of equal weight would tell as much: (Σ w)²/Σ w² (Kish 1965), which is `size` without weights."""
        if self.weights is None:
            return self.size
        scaled = self.weights / self.weights.max()
        return float((self.examples @ scaled) ** 2 / (self.examples @ scaled**2))


@dataclass(frozen=True, slots=True, eq=False)
class Strata:
    """The examples of both classes; `table_rows` is how many rows each evaluation's table has."""

    positives: Stratum
    negatives: Stratum
    table_rows: tuple[int, ...]


def strata(evaluation: Sample | Counts, table: ConfusionTable) -> Strata:
    """Split one evaluation, whose whole table this is, a sweep."""
    if isinstance(evaluation, Sample) and evaluation.weights is not None:
        at = (rows_of(evaluation, table),)
        return Strata(*(_weighted(at, chosen, evaluation.weights) for chosen in _classes(evaluation)), (table.tp.size,))
    return Strata(*(_counted(np.diff(column)) for column in (table.tp, table.fp)), (table.tp.size,))


def paired_strata(samples: tuple[Sample, Sample], tables: tuple[ConfusionTable, ConfusionTable]) -> Strata:
    """Split two samples of the same examples: row by row equal labels and equal weights."""
    at = (rows_of(samples[0], tables[0]), rows_of(samples[1], tables[1]))
    weights = samples[0].weights
    weights = np.ones(samples[0].rows) if weights is None else weights
    classes = [_weighted(at, chosen, weights) for chosen in _classes(samples[0])]
    if samples[0].weights is None:
        classes = [Stratum(each.rows, each.examples, None) for each in classes]
    return Strata(classes[0], classes[1], (tables[0].tp.size, tables[1].tp.size))


def rows_of(sample: Sample, table: ConfusionTable) -> IntArray:
    """The row of a sample's table at which each example is first called positive, (n,) in the sample's order."""
    direction = 1.0 if sample.lower_is_positive else -1.0
    return np.searchsorted(direction * table.thresholds[1:], direction * sample.scores) + 1


def _classes(sample: Sample) -> tuple[BoolArray, BoolArray]:
    there = True if sample.weights is None else sample.weights > 0
    return sample.labels & there, ~sample.labels & there


def _counted(steps: FloatArray) -> Stratum:
    rows = np.flatnonzero(steps)
    return Stratum((rows + 1,), steps[rows], None)


def _weighted(at: tuple[IntArray, ...], chosen: BoolArray, weights: FloatArray) -> Stratum:
    """One kind per example, in the order of the first table's rows, so that the order of the sample changes nothing."""
    columns = [column[chosen] for column in at]
    weight = weights[chosen]
    order = np.lexsort((weight, *columns[::-1]))
    return Stratum(tuple(column[order] for column in columns), np.ones(order.size), weight[order])
