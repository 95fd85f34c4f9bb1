"""The examples of an evaluation by class, located in its table: the basis of all intervals.

A statistic of a sample is a function of the numbers of positives and negatives at each row of its table, so an example
is represented by the row at which it is first called positive.

    kind            what examples of a class have in common: that row, in each of two paired evaluations, the weight,
                    and the cluster
    stratum         a class as its distinct kinds, in order, with the number of examples of each
    effective size  (Σ w)²/Σ w², Kish's: how many examples of equal weight tell as much

Knows samples and tables; nothing of statistics.
"""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from service.curves.arrays import BoolArray, FloatArray, IntArray
from service.curves.bounds import Arranged
from service.curves.clusters import Clusters
from service.curves.confusion import ConfusionTable, Evaluation
from service.curves.histogram import Histogram
from service.curves.sample import Sample
from service.curves.threshold_columns import ordered
from service.inference.clustering import ClassClusters

FEWEST = 2
"""The effective examples that a class needs to estimate its spread."""

_LARGEST_KEY = (1 << 63) - 1


@dataclass(frozen=True, eq=False)
class Stratum:
    """The examples of one class, in one or two evaluations: columns (n,), one element per kind.

    rows      for each evaluation, the table's row (from 1) at which they are first called positive.
    examples  the number of each kind; fractional only if counts are.
    weights   the weight of one example of each kind; None means 1.
    of_kinds  the number of each kind's cluster; None if examples are independent.

    Kinds are distinct in rows, weight and cluster, and ordered by them, so that the result depends neither on the order
    of input rows nor on whether equal examples came as a count or singly.
    """

    rows: tuple[IntArray, ...]
    examples: FloatArray
    weights: FloatArray | None
    of_kinds: IntArray | None = None

    @cached_property
    def clusters(self) -> ClassClusters | None:
        """The clusters of the class; None if examples are independent."""
        return None if self.of_kinds is None else ClassClusters.of(self.of_kinds, self.masses, self.effective)

    @property
    def size(self) -> float:
        """The number of examples of positive weight."""
        return float(self.examples.sum())

    @property
    def masses(self) -> FloatArray:
        """The total weight of each kind, (n,)."""
        return self.examples if self.weights is None else self.examples * self.weights

    @property
    def effective(self) -> float:
        """The effective number of examples: (Σ w)²/Σ w² (Kish 1965); `size` without weights."""
        if self.weights is None or not self.weights.size:
            return self.size
        shares = self.weights / self.weights.max()
        return float((self.examples * shares).sum() ** 2 / (self.examples * shares**2).sum())

    def effective_size(self, values: FloatArray) -> float:
        """The effective number of examples for the mean of these values, (n,).

        Kish's number assumes weights unrelated to values. If values of more weight vary more, it is less:
        σ²(Σ c w)²/Σ c w²(v - v̄)², where σ² is the mean of (v - v̄)². It is never more than Kish's number.
        """
        if self.weights is None:
            return self.size
        shares = self.weights / self.weights.max()
        masses = self.examples * shares
        squares = (values - masses @ values / masses.sum()) ** 2
        spread, weighted = float(masses @ squares), float((masses * shares) @ squares)
        return min(self.effective, spread * float(masses.sum()) / weighted) if weighted else self.effective

    def effective_sizes(self, rows: IntArray) -> FloatArray:
        """The effective numbers of examples for the shares that rows of the first table call positive, (n,).

        As `effective_size` of 1 for each example that a row calls positive and 0 for the others, from sums up to it.
        """
        if self.weights is None:
            return np.full(rows.size, self.size)
        shares = self.weights / self.weights.max()
        order = np.argsort(self.rows[0], kind="stable")
        masses, stops = (self.examples * shares)[order], self.rows[0][order].searchsorted(rows, side="right")
        called, others = _sums_around(masses, stops)
        rate, rest = called / (called + others), others / (called + others)
        spread = called * rest**2 + others * rate**2
        squares = _sums_around(masses * shares[order], stops)
        weighted = squares[0] * rest**2 + squares[1] * rate**2
        sizes = np.full(rows.size, self.effective)
        np.divide(spread * (called + others), weighted, out=sizes, where=weighted > 0)
        least: FloatArray = np.minimum(sizes, self.effective)
        return least


@dataclass(frozen=True, eq=False)
class Strata:
    """The examples of both classes, and the table of each evaluation.

    given   whether the number of examples is known; sums of weights alone do not determine it.
    drawn   whether single examples are known, from which resamples can be drawn.
    """

    positives: Stratum
    negatives: Stratum
    tables: tuple[ConfusionTable, ...]
    given: bool = True
    drawn: bool = True

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
        """Whether both classes have enough examples, or clusters, to estimate a spread."""
        return self.given and min(self.units) >= FEWEST

    @cached_property
    def effective(self) -> tuple[float, float]:
        """The effective numbers of positives and of negatives."""
        return self.positives.effective, self.negatives.effective

    @cached_property
    def units(self) -> tuple[float, float]:
        """The effective numbers of clusters with positives, and negatives; of examples if these are independent."""
        of_positives, of_negatives = (each.clusters or each for each in self.classes)
        return of_positives.effective, of_negatives.effective

    @property
    def stand_ins(self) -> float:
        """ν, how many positives the negatives can stand for where the model is used; infinite without a target.

        N π/(1 - π), with the effective number of negatives or, with clusters, of these: 357 at 0.05 stand for 18.8.
        """
        table = self.tables[0]
        return math.inf if table.target is None else self.units[1] * table.in_use.positives / table.in_use.negatives

    @property
    def clustered(self) -> tuple[ClassClusters, ClassClusters] | None:
        """The clusters of both classes; None if examples are independent."""
        of_positives, of_negatives = (each.clusters for each in self.classes)
        return None if of_positives is None or of_negatives is None else (of_positives, of_negatives)


def strata(evaluation: Evaluation | Arranged, table: ConfusionTable, *, keep_clusters: bool = False) -> Strata:
    """Split one evaluation by class; its table must be a sweep.

    Clusters of one row each are left out, unless they are kept, since another evaluation may have them, too.
    """
    if isinstance(evaluation, Arranged):
        return _grouped(evaluation.groups, table, evaluation.rows)
    if isinstance(evaluation, Histogram):
        rows = _rows_of_groups(evaluation, table)
        return _grouped(evaluation, table, (rows, rows))
    clusters = _clusters(evaluation, keep=keep_clusters) if isinstance(evaluation, Sample) else None
    if isinstance(evaluation, Sample) and (evaluation.weights is not None or clusters is not None):
        at = (rows_of(evaluation, table),)
        positives, negatives = (
            _kinds(at, rows, evaluation.weights, (table,), clusters) for rows in _classes(evaluation)
        )
    else:
        positives, negatives = (_counted(np.diff(column)) for column in (table.tp, table.fp))
    is_soft = isinstance(evaluation, Sample) and evaluation.is_soft
    return Strata(positives, negatives, (table,), given=not is_soft, drawn=not is_soft)


def _grouped(groups: Histogram, table: ConfusionTable, rows: tuple[IntArray, IntArray]) -> Strata:
    """Split groups by class. A group with weights counts as (Σ w)²/Σ w² examples of weight Σ w²/Σ w.

    A group's examples are at one row, so every effective number and every standard error is that of the true weights.
    """
    if groups.squares is None:
        positives, negatives = (_counted(np.diff(column)) for column in (table.tp, table.fp))
        return Strata(positives, negatives, (table,), given=groups.has_examples, drawn=groups.has_examples)
    classes = []
    for masses, squares, at in zip(groups.masses, groups.squares, rows, strict=True):
        there = masses > 0
        of_each = squares[there] / masses[there]
        classes.append(Stratum((at[there],), masses[there] / of_each, of_each))
    return Strata(classes[0], classes[1], (table,), drawn=False)


def paired_strata(
    samples: tuple[Sample, Sample],
    tables: tuple[ConfusionTable, ConfusionTable],
    rows: tuple[IntArray, IntArray] | None = None,
    *,
    keep_clusters: bool = False,
) -> Strata:
    """Split two samples of the same examples, with equal labels, weights and clusters row by row.

    `rows` are those of `ConfusionTable.from_sample_with_rows`, if known.
    """
    at = rows or (rows_of(samples[0], tables[0]), rows_of(samples[1], tables[1]))
    clusters = _clusters(samples[0], keep=keep_clusters)
    positives, negatives = (_kinds(at, chosen, samples[0].weights, tables, clusters) for chosen in _classes(samples[0]))
    return Strata(positives, negatives, tables)


def rows_of(sample: Sample, table: ConfusionTable) -> IntArray:
    """The row of a sample's table at which each example is first called positive, (n,) in the sample's order.

    An example of weight 0 may get any row. An example beyond the last cut of a table is at the last row: that of the
    cut itself, if the rounded sums there already equal the totals.
    """
    descending = not sample.lower_is_positive
    scores, ranks = _ranked(sample.scores, descending=descending)
    thresholds = table.thresholds[1:]
    if np.array_equal(scores, thresholds):
        return ranks + 1
    if descending:
        scores, thresholds = -scores, -thresholds
    return np.minimum(np.searchsorted(thresholds, scores) + 1, table.tp.size - 1).take(ranks)


def _rows_of_groups(groups: Histogram, table: ConfusionTable) -> IntArray:
    """The row of a table, which may be cut at thresholds between groups, at which each is called positive, (m,)."""
    ends, thresholds = groups.ends, table.thresholds[1:]
    if not groups.lower_is_positive:
        ends, thresholds = -ends, -thresholds
    return np.minimum(np.searchsorted(thresholds, ends) + 1, table.tp.size - 1)


def _sums_around(values: FloatArray, stops: IntArray) -> tuple[FloatArray, FloatArray]:
    """The sums of what is before each stop, and of what is not, (n,)."""
    before, after = np.append(0.0, np.cumsum(values)), np.append(np.cumsum(values[::-1])[::-1], 0.0)
    return before[stops], after[stops]


def _classes(sample: Sample) -> tuple[IntArray, IntArray]:
    """The positive and the negative examples of positive weight."""
    there: BoolArray = np.ones(sample.rows, dtype=np.bool_) if sample.weights is None else sample.weights > 0
    return np.flatnonzero(sample.labels & there), np.flatnonzero(~sample.labels & there)


def _clusters(sample: Sample, *, keep: bool = False) -> Clusters | None:
    """The clusters, if one has several rows of positive weight, or if they are kept."""
    clusters = sample.clusters
    return clusters if clusters is not None and (keep or clusters.repeats(sample.weights)) else None


def _counted(steps: FloatArray) -> Stratum:
    rows = np.flatnonzero(steps > 0)  # flatnonzero is ten times as fast on booleans
    return Stratum((rows + 1,), steps[rows], None)


def _kinds(
    at: tuple[IntArray, ...],
    chosen: IntArray,
    weights: FloatArray | None,
    tables: tuple[ConfusionTable, ...],
    clusters: Clusters | None,
) -> Stratum:
    """Sort the chosen examples into kinds: each kind is one integer, so that a single sort orders them."""
    if clusters is not None:
        return _clustered_kinds(at, chosen, weights, clusters)
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


def _clustered_kinds(
    at: tuple[IntArray, ...], chosen: IntArray, weights: FloatArray | None, clusters: Clusters
) -> Stratum:
    """The same where kinds differ in their cluster, too."""
    columns = [*at, *(() if weights is None else (weights,)), clusters.numbers]
    columns = [column.take(chosen) for column in columns]
    order = np.lexsort(columns[::-1])
    columns = [column.take(order) for column in columns]
    changes = np.logical_or.reduce([column[1:] != column[:-1] for column in columns])
    starts = np.append(0, np.flatnonzero(changes) + 1)
    examples = np.diff(starts, append=order.size).astype(np.float64)
    kinds = [column.take(starts) for column in columns]
    return Stratum(tuple(kinds[: len(at)]), examples, None if weights is None else kinds[len(at)], kinds[-1])


def _ranked(column: FloatArray, *, descending: bool) -> tuple[FloatArray, IntArray]:
    """The distinct values of a column in order, and the number of each element's value, (n,)."""
    order, values = ordered(column, descending=descending)
    changes = values[1:] != values[:-1]
    ranks = np.empty(column.size, dtype=np.int64)
    ranks[order] = np.append(0, np.cumsum(changes))
    return values[np.append(True, changes)], ranks
