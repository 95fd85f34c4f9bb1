"""The examples of an evaluation by class, in the terms of its table: what all intervals are made from.

A statistic of a sample is a function of how many positives and negatives there are at each row of its table, so an
example is the row at which it is first called positive. Knows samples and tables; nothing of statistics.
"""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from service.curves.confusion import ConfusionTable
from service.curves.counts import Counts
from service.curves.exact import BoolArray, FloatArray, IntArray
from service.curves.groups import ordered
from service.curves.sample import Sample

FEWEST = 2
"""How many effective examples a class needs for its spread to be estimated."""

_LARGEST_KEY = (1 << 63) - 1


@dataclass(frozen=True, slots=True, eq=False)
class Stratum:
    """The examples of one class, of one evaluation or of two: columns (n,), one element per kind.

    rows      for each evaluation the table's row, 1 or higher, at which they are first called positive.
    examples  how many there are of each kind; fractional only where counts are.
    weights   what one of each kind weighs; None is 1 each.

    No two kinds agree in rows and weight, and they are in order of rows, then of weight: the order of the input's
    rows, and whether equal ones came as one count or one by one, leaves no trace.
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
        """How many examples of equal weight would tell as much: (Σ w)²/Σ w² (Kish 1965); `size` without weights."""
        if self.weights is None or not self.weights.size:
            return self.size
        shares = self.weights / self.weights.max()
        return float((self.examples * shares).sum() ** 2 / (self.examples * shares**2).sum())

    def trials(self, values: FloatArray) -> float:
        """How many examples of equal weight would tell the mean of these values, (n,), as well.

        By Kish's number the weights have nothing to do with the values. Where those of more weight differ more, it is
        less: σ²(Σ c w)²/Σ c w²(v - v̄)², σ² being the mean of (v - v̄)². What is not seen to differ is no help.
        """
        if self.weights is None:
            return self.size
        shares = self.weights / self.weights.max()
        masses = self.examples * shares
        squares = (values - masses @ values / masses.sum()) ** 2
        spread, weighted = float(masses @ squares), float((masses * shares) @ squares)
        return min(self.effective, spread * float(masses.sum()) / weighted) if weighted else self.effective


@dataclass(frozen=True, eq=False)
class Strata:
    """The examples of both classes, and the table of each evaluation."""

    positives: Stratum
    negatives: Stratum
    tables: tuple[ConfusionTable, ...]

    @property
    def table_rows(self) -> tuple[int, ...]:
        """How many rows each evaluation's table has."""
        return tuple(table.tp.size for table in self.tables)

    @property
    def classes(self) -> tuple[Stratum, Stratum]:
        """Positives and negatives."""
        return self.positives, self.negatives

    @property
    def enough(self) -> bool:
        """Whether both classes have examples enough for a spread."""
        return min(self.effective) >= FEWEST

    @cached_property
    def effective(self) -> tuple[float, float]:
        """How many positives, and how many negatives, of equal weight would tell as much."""
        return self.positives.effective, self.negatives.effective


def strata(evaluation: Sample | Counts, table: ConfusionTable) -> Strata:
    """Split one evaluation of which this is the table, a sweep."""
    if isinstance(evaluation, Sample) and evaluation.weights is not None:
        at = (rows_of(evaluation, table),)
        positives, negatives = (_kinds(at, rows, evaluation.weights, (table,)) for rows in _classes(evaluation))
    else:
        positives, negatives = (_counted(np.diff(column)) for column in (table.tp, table.fp))
    return Strata(positives, negatives, (table,))


def paired_strata(
    samples: tuple[Sample, Sample],
    tables: tuple[ConfusionTable, ConfusionTable],
    rows: tuple[IntArray, IntArray] | None = None,
) -> Strata:
    """Split two samples of the same examples: row by row equal labels and equal weights.

    `rows` are those of `ConfusionTable.with_rows`, where they are known.
    """
    at = rows or (rows_of(samples[0], tables[0]), rows_of(samples[1], tables[1]))
    positives, negatives = (_kinds(at, chosen, samples[0].weights, tables) for chosen in _classes(samples[0]))
    return Strata(positives, negatives, tables)


def rows_of(sample: Sample, table: ConfusionTable) -> IntArray:
    """The row of a sample's table at which each example is first called positive, (n,) in the sample's order.

    One of weight 0 may have none, and has any. One beyond the last cut of a table whose rounded
    totals that cut has already is at the last row.
    """
    descending = not sample.lower_is_positive
    scores, ranks = _ranked(sample.scores, descending=descending)
    thresholds = table.thresholds[1:]
    if np.array_equal(scores, thresholds):
        return ranks + 1
    if descending:
        scores, thresholds = -scores, -thresholds
    return np.minimum(np.searchsorted(thresholds, scores) + 1, table.tp.size - 1).take(ranks)


def _classes(sample: Sample) -> tuple[IntArray, IntArray]:
    """Which examples are positive and which are negative, of those that weigh anything."""
    there: BoolArray = np.ones(sample.rows, dtype=np.bool_) if sample.weights is None else sample.weights > 0
    return np.flatnonzero(sample.labels & there), np.flatnonzero(~sample.labels & there)


def _counted(steps: FloatArray) -> Stratum:
    rows = np.flatnonzero(steps > 0)  # NumPy finds truth values ten times as fast as numbers
    return Stratum((rows + 1,), steps[rows], None)


def _kinds(
    at: tuple[IntArray, ...], chosen: IntArray, weights: FloatArray | None, tables: tuple[ConfusionTable, ...]
) -> Stratum:
    """Sort the chosen examples into kinds: each becomes one integer, so that one sort of integers orders them."""
    sizes = [table.tp.size for table in tables]
    keys, places = at[0].take(chosen), None
    if len(at) > 1:
        keys = keys * sizes[1] + at[1].take(chosen)
    if weights is not None:
        each, ranks = _ranked(weights.take(chosen), descending=False)
        if math.prod(sizes) * each.size > _LARGEST_KEY:
            places, keys = _ranked(keys.astype(np.float64), descending=False)
        keys = keys * each.size + ranks
    keys.sort()
    changes = keys[1:] != keys[:-1]
    if changes.all():
        examples = np.ones(keys.size)
    else:
        starts = np.append(0, np.flatnonzero(changes) + 1)
        examples = np.diff(starts, append=keys.size).astype(np.float64)
        keys = keys.take(starts)
    if weights is not None:
        keys, ranks = np.divmod(keys, each.size)
        weights = each.take(ranks)
    if places is not None:
        keys = places.take(keys).astype(np.int64)
    return Stratum((keys,) if len(at) == 1 else np.divmod(keys, sizes[1]), examples, weights)


def _ranked(column: FloatArray, *, descending: bool) -> tuple[FloatArray, IntArray]:
    """The distinct values of a column in order, and which of them each element is, (n,)."""
    order, values = ordered(column, descending=descending)
    changes = values[1:] != values[:-1]
    ranks = np.empty(column.size, dtype=np.int64)
    ranks[order] = np.append(0, np.cumsum(changes))
    return values[np.append(True, changes)], ranks
