"""The areas of many slices of one sample at once, each identical to the bit to that of the slice evaluated alone.

The rows are ordered by slice. Sums over the steps of each slice are taken in parts, as for one table; if such a sum
lies almost half way between two doubles, the slice is evaluated alone. Sources: those of areas.py.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from service.curves.area_columns import ONE_CLASS, SHARED_AREAS, AreaColumns, Undefined, sample_or_reason
from service.curves.confusion import ConfusionTable
from service.curves.exact import (
    LARGEST_EXACT_INTEGER,
    FloatArray,
    IntArray,
    blocks,
    pair_quotient,
    two_product,
    two_sum,
)
from service.curves.groups import sorted_slices
from service.curves.hull import prune
from service.curves.orientation import CountSpace
from service.curves.positive_steps import PositiveSteps
from service.curves.sample import Sample

_DOUBT = 2.0**-20
"""A sum is in doubt where it is nearer than this, in ulps, to half way between two doubles.

A slice's sum is known to 2^-70 of itself, even where the totals of another slice are a million times as large.
"""

_PASSES = 8
"""This many passes over neighbours find the hulls of most ordinary slices; the rest is pruned."""

_DIGIT = 1 << 16
"""NumPy uses a radix sort for 16-bit integers."""


@dataclass(frozen=True, eq=False)
class SlicedTables:
    """The tables of s slices, one after the other, each with its origin: columns (m,).

    starts      (s + 1,) the first row of each slice, and m.
    numbers     (m,) the slice of each row.
    """

    thresholds: FloatArray
    tp: FloatArray
    fp: FloatArray
    starts: IntArray
    lower_is_positive: bool
    numbers: IntArray = field(init=False)

    def __post_init__(self) -> None:
        sizes = np.diff(self.starts)
        object.__setattr__(self, "numbers", np.arange(sizes.size).repeat(sizes))

    @property
    def positives(self) -> FloatArray:
        """The P of each slice, (s,)."""
        return self.tp[self.starts[1:] - 1]

    @property
    def negatives(self) -> FloatArray:
        """The N of each slice, (s,)."""
        return self.fp[self.starts[1:] - 1]

    def table(self, number: int) -> ConfusionTable:
        """The table of one slice."""
        rows = slice(self.starts[number], self.starts[number + 1])
        columns = self.thresholds[rows], self.tp[rows], self.fp[rows]
        totals = float(columns[1][-1]), float(columns[2][-1])
        return ConfusionTable(*columns, *totals, self.lower_is_positive, counted=True)


def rows_by_slice(numbers: IntArray, count: int) -> tuple[IntArray, IntArray]:
    """Order the rows by slice number, (n,) below `count`, and return where each slice begins, (count + 1,)."""
    order = np.argsort((numbers % _DIGIT).astype(np.uint16), kind="stable")
    if count > _DIGIT:
        order = order[np.argsort((numbers[order] // _DIGIT).astype(np.uint16), kind="stable")]
    return order, np.concatenate(([0], np.bincount(numbers, minlength=count).cumsum()))


def sliced_tables(sample: Sample, order: IntArray, bounds: IntArray) -> SlicedTables:
    """Build the tables of the slices of a sample without weights: one row for each distinct score."""
    descending = not sample.lower_is_positive
    scores, hits = sorted_slices(sample.scores.take(order), sample.labels.take(order), bounds, descending=descending)
    last = scores[2:] != scores[1:-1]
    last[bounds[1:-1] - 1] = True
    ends = np.append(last.nonzero()[0] + 1, scores.size - 1)
    first = np.concatenate(([0], ends.searchsorted(bounds[1:], side="right")))
    groups, origins = first[1:] - first[:-1], first[:-1] + np.arange(first.size - 1)
    rows = np.arange(ends.size) + np.arange(1, first.size).repeat(groups)
    thresholds, tp, fp = np.zeros((3, ends.size + groups.size))
    thresholds[origins] = np.nan
    thresholds[rows] = scores.take(ends)
    found = hits.take(ends) - hits.take(bounds[:-1]).repeat(groups)
    tp[rows] = found
    fp[rows] = ends - bounds[:-1].repeat(groups) - found
    return SlicedTables(thresholds, tp, fp, np.append(origins, tp.size), sample.lower_is_positive)


def sliced_areas(tables: SlicedTables) -> AreaColumns:
    """All areas of slices whose counts are integers."""
    positives, negatives = tables.positives, tables.negatives
    defined = (positives > 0) & (negatives > 0)
    whole = _Sums(tables.tp, tables.fp, tables.numbers, positives, negatives)
    vertices = hull_vertices(tables)
    hull = _Sums(
        tables.tp.take(vertices), tables.fp.take(vertices), tables.numbers.take(vertices), positives, negatives
    )
    found = AreaColumns(
        positives,
        negatives,
        roc=whole.roc(),
        roc_hull=hull.roc(),
        pr=whole.pr(),
        pr_achievable=hull.pr(),
        average_precision=whole.average_precision(),
    )
    for number in (~defined).nonzero()[0].tolist():
        found.reason[number] = ONE_CLASS
    for name in SHARED_AREAS:
        getattr(found, name)[~defined] = np.nan
    doubtful = whole.doubtful | hull.doubtful
    for number in (doubtful & defined).nonzero()[0].tolist():
        found.set(number, tables.table(number))
    np.maximum(found.pr_achievable, found.pr, out=found.pr_achievable)
    return found


def slice_samples(sample: Sample, order: IntArray, bounds: IntArray) -> Iterator[Sample | Undefined]:
    """The slices of a sample, each as a sample, or Undefined if it cannot be one."""
    for start, stop in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
        rows = order[start:stop]
        weights = None if sample.weights is None else sample.weights[rows]
        yield sample_or_reason(
            sample.scores[rows], sample.labels[rows], weights, lower_is_positive=sample.lower_is_positive
        )


class _Sums:
    """Sums over the steps along which tp grows within slices. `doubtful`, (s,), marks slices to evaluate alone."""

    def __init__(
        self, tp: FloatArray, fp: FloatArray, numbers: IntArray, positives: FloatArray, negatives: FloatArray
    ) -> None:
        self._positives, self._negatives = positives, negatives
        # All products and sums of counts are exact in doubles, except in these slices.
        self.doubtful = 2 * positives * negatives > LARGEST_EXACT_INTEGER
        most = float(positives.max())
        self._anchor = 2.0 ** (np.frexp(most)[1] + 1)
        self._below = np.ldexp(self._anchor, tp.size.bit_length() - 52)
        self._beside = np.zeros(positives.size)
        self._integral, self._average = np.zeros((2, 3, positives.size))
        for block in blocks(tp.size, overlap=1):
            self._add(tp[block], fp[block], numbers[block])

    def _add(self, tp: FloatArray, fp: FloatArray, numbers: IntArray) -> None:
        rows = (tp[1:] > tp[:-1]).nonzero()[0]
        if not rows.size:
            return
        steps = PositiveSteps(tp.take(rows), tp[1:].take(rows), fp.take(rows), fp[1:].take(rows))
        numbers = numbers.take(rows)
        first, last = int(numbers[0]), int(numbers[-1]) + 1
        numbers = numbers - first

        def add(total: FloatArray, terms: FloatArray) -> None:
            total[first:last] += np.bincount(numbers, weights=terms, minlength=last - first)

        add(self._beside, steps.growth * (steps.fp + steps.fp_after))
        for total, terms in ((self._integral, steps.integrals()), (self._average, steps.averages())):
            leading = terms + self._anchor
            leading -= self._anchor
            rest = terms - leading
            middle = rest + self._below
            middle -= self._below
            rest -= middle
            for part, of_terms in zip(total, (leading, middle, rest), strict=True):
                add(part, of_terms)

    def roc(self) -> FloatArray:
        """Area under the ROC curve: the whole rectangle less the trapezoids beside the curve."""
        both = 2 * self._positives * self._negatives
        with np.errstate(invalid="ignore"):
            out: FloatArray = (both - self._beside) / both
        return out

    def pr(self) -> FloatArray:
        """Area under the PR curve; 1 where all positives come before any negative."""
        perfect = self._beside == 0
        return np.where(perfect, 1.0, np.minimum(self._quotient(self._integral), 1.0))

    def average_precision(self) -> FloatArray:
        """Average precision."""
        return self._quotient(self._average)

    def _quotient(self, parts: FloatArray) -> FloatArray:
        """The sum of three parts over P, rounded once; slices whose rounding is uncertain are noted."""
        high, low = two_sum(parts[0], parts[1])
        total = np.maximum(self._positives, 1.0)
        quotient, rest = pair_quotient((high, low + parts[2]), (total, np.zeros(total.size)))
        out: FloatArray = quotient + rest
        error = np.abs((quotient - out) + rest)
        # The quotient of a sum of few terms is often exact; then rounding half way is certain, too.
        product, product_low = two_product(quotient, total)
        last, last_low = two_product(rest, total)
        certain = (parts[2] == 0) & (last_low == 0) & ((high - product) - product_low + low == last)
        self.doubtful |= ~certain & (np.abs(error / np.spacing(out) - 0.5) < _DOUBT)
        return out


def hull_vertices(tables: SlicedTables) -> IntArray:
    """The rows that are vertices of the convex hull of each slice, ascending."""
    tp, fp = tables.tp, tables.fp
    is_end = np.zeros(tp.size, np.bool_)
    is_end[tables.starts[:-1]] = is_end[tables.starts[1:] - 1] = True
    candidate = is_end.copy()
    # A vertex is above the row before it, and to the left of the row after it.
    candidate[1:-1] |= (tp[1:-1] > tp[:-2]) & (fp[2:] > fp[1:-1])
    rows = candidate.nonzero()[0]
    small = float(tables.positives.max()) * float(tables.negatives.max()) <= LARGEST_EXACT_INTEGER
    points = CountSpace(fp, tp, small)
    found: list[IntArray] = []
    passes = 0
    while rows.size:
        turns = points.turns(rows)
        kept = np.concatenate(([True], (turns > 0) | is_end[rows[1:-1]], [True]))
        open_ = np.zeros(tables.starts.size - 1, np.bool_)
        open_[tables.numbers[rows[~kept]]] = True
        rows = rows[kept]
        of_open = open_[tables.numbers[rows]]
        found.append(rows[~of_open])
        rows = rows[of_open]
        passes += 1
        if passes % _PASSES == 0:
            ends = is_end[rows]
            rows = prune(points, rows[ends], rows[~ends])
    vertices = np.concatenate(found)
    vertices.sort(kind="stable")
    return vertices
