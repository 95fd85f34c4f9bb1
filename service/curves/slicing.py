"""The areas of many slices of one sample at once, each identical to the bit to that of the slice evaluated alone.

The rows are ordered by slice. Sums over the steps of each slice are taken in parts, as for one table; if such a sum
lies almost halfway between two doubles, the slice is evaluated alone. Sources: those of areas.py.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from service.curves.area_columns import AreaColumns, Undefined, sample_or_reason
from service.curves.confusion import ConfusionTable
from service.curves.exact import (
    LARGEST_EXACT_INTEGER,
    BoolArray,
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

MOST_SLICE_COLUMNS = 10
"""The most columns whose values together define the slices."""

_DOUBT = 2.0**-20
"""A sum is in doubt if it is closer than this, in ulps, to the midpoint of two doubles.

A slice's sum is known to 2^-70 of itself, even where the totals of another slice are a million times as large.
"""

_PASSES = 8
"""This many passes over neighbours find most hulls; the rest is pruned in as many rounds, and the two alternate."""

_DIGIT = 1 << 16
"""NumPy uses a radix sort for 16-bit integers."""


@dataclass(frozen=True, eq=False)
class SlicedTables:
    """The tables of s slices, one after the other, each with its origin: columns (m,).

    starts      (s + 1,) the first row of each slice, and m.
    counted     whether the counts are known to be integers, as without weights.
    numbers     (m,) the slice of each row.
    """

    thresholds: FloatArray
    tp: FloatArray
    fp: FloatArray
    starts: IntArray
    lower_is_positive: bool
    counted: bool
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
        return ConfusionTable(*columns, *totals, self.lower_is_positive, self.counted)


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
    groups = first[1:] - first[:-1]
    found = hits.take(ends) - hits.take(bounds[:-1]).repeat(groups)
    missed = ends - bounds[:-1].repeat(groups) - found
    return with_origins((scores.take(ends), found, missed), first, sample.lower_is_positive, counted=True)


def with_origins(
    columns: tuple[FloatArray, FloatArray | IntArray, FloatArray | IntArray],
    first: IntArray,
    lower_is_positive: bool,  # noqa: FBT001  # as of a table
    *,
    counted: bool,
) -> SlicedTables:
    """Put an origin before the thresholds, tp and fp of each slice k, which are rows first[k] to first[k + 1]."""
    origins = first[:-1] + np.arange(first.size - 1)
    rows = np.arange(first[-1]) + np.arange(1, first.size).repeat(first[1:] - first[:-1])
    table = np.zeros((3, rows.size + origins.size))
    table[0, origins] = np.nan
    for column, found in zip(table, columns, strict=True):
        column[rows] = found
    thresholds, tp, fp = table
    return SlicedTables(thresholds, tp, fp, np.append(origins, table.shape[1]), lower_is_positive, counted)


def sliced_areas(tables: SlicedTables) -> AreaColumns:
    """All areas of slices whose counts are integers."""
    positives, negatives = tables.positives, tables.negatives
    whole = _StepSums(tables.tp, tables.fp, tables.numbers, positives, negatives)
    vertices = hull_vertices(tables)
    hull = _StepSums(
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
    one_class = found.set_one_class()
    for number in (~one_class & (whole.doubtful | hull.doubtful)).nonzero()[0].tolist():
        found.set(number, tables.table(number))
    np.maximum(found.pr_achievable, found.pr, out=found.pr_achievable)
    return found


def slice_samples(sample: Sample, order: IntArray, bounds: IntArray) -> Iterator[Sample | Undefined]:
    """The slices of a sample, each as a sample, or Undefined if it cannot be one."""
    for number in range(bounds.size - 1):
        yield slice_sample(sample, order, bounds, number)


def slice_sample(sample: Sample, order: IntArray, bounds: IntArray, number: int) -> Sample | Undefined:
    """One slice as a sample, or Undefined."""
    rows = order[bounds[number] : bounds[number + 1]]
    weights = None if sample.weights is None else sample.weights[rows]
    return sample_or_reason(
        sample.scores[rows], sample.labels[rows], weights, lower_is_positive=sample.lower_is_positive
    )


class PartSums:
    """Sums of terms >= 0 of s slices, each in three parts, (s,): the first two are exact, the third is small.

    bound      an upper bound of every sum, or one for each slice, (s,).
    terms      how many terms there are at most.
    doubtful   (s,) whether the rounding of a quotient is uncertain.
    """

    def __init__(self, bound: float | FloatArray, terms: int, slices: int) -> None:
        self._anchor = np.ldexp(1.0, np.frexp(bound)[1] + 1)
        self._below = np.ldexp(self._anchor, terms.bit_length() - 52)
        self._parts = np.zeros((3, slices))
        self.doubtful = np.zeros(slices, np.bool_)

    def add(self, numbers: IntArray, terms: FloatArray, low: FloatArray | float = 0.0) -> None:
        """Add terms, and small ones of any sign, to the sums of slices, whose numbers ascend."""
        if not numbers.size:
            return
        anchor, below = self._anchor, self._below
        if anchor.ndim:
            anchor, below = anchor.take(numbers), below.take(numbers)
        leading = terms + anchor
        leading -= anchor
        rest = terms - leading
        middle = rest + below
        middle -= below
        rest -= middle
        rest += low
        for part, of_terms in zip(self._parts, (leading, middle, rest), strict=True):
            add_by_slice(part, numbers, of_terms)

    def over(self, total: FloatArray, low: FloatArray | None = None) -> FloatArray:
        """The sums over `total + low`, above 0, rounded once; slices whose rounding is uncertain are noted."""
        parts = self._parts
        high, rest_of_sum = two_sum(parts[0], parts[1])
        quotient, rest = pair_quotient(
            (high, rest_of_sum + parts[2]), (total, np.zeros(total.size) if low is None else low)
        )
        out: FloatArray = quotient + rest
        error = np.abs((quotient - out) + rest)
        uncertain = np.abs(error / np.spacing(out) - 0.5) < _DOUBT
        if low is None:
            # The quotient of a sum of few terms is often exact; then rounding half way is certain, too.
            product, product_low = two_product(quotient, total)
            last, last_low = two_product(rest, total)
            uncertain &= (parts[2] != 0) | (last_low != 0) | ((high - product) - product_low + rest_of_sum != last)
        self.doubtful |= uncertain
        return out


def add_by_slice(total: FloatArray, numbers: IntArray, terms: FloatArray) -> None:
    """Add terms to the totals of slices, whose numbers ascend."""
    first, last = int(numbers[0]), int(numbers[-1]) + 1
    total[first:last] += np.bincount(numbers - first, weights=terms, minlength=last - first)


def steps_by_slice(tp: FloatArray, fp: FloatArray, numbers: IntArray) -> Iterator[tuple[IntArray, PositiveSteps]]:
    """The steps along which tp grows within slices, block by block, and the slice of each step."""
    for block in blocks(tp.size, overlap=1):
        hits, misses = tp[block], fp[block]
        rows = (hits[1:] > hits[:-1]).nonzero()[0]
        if rows.size:
            steps = PositiveSteps(hits.take(rows), hits[1:].take(rows), misses.take(rows), misses[1:].take(rows))
            yield numbers[block].take(rows), steps


class _StepSums:
    """Sums over the steps along which tp grows within slices. `doubtful`, (s,), marks slices to evaluate alone."""

    def __init__(
        self, tp: FloatArray, fp: FloatArray, numbers: IntArray, positives: FloatArray, negatives: FloatArray
    ) -> None:
        self._positives, self._negatives = positives, negatives
        self._beside = np.zeros(positives.size)
        most = float(positives.max())
        self._integral, self._average = (PartSums(most, tp.size, positives.size) for _ in range(2))
        for of_steps, steps in steps_by_slice(tp, fp, numbers):
            add_by_slice(self._beside, of_steps, steps.growth * (steps.fp + steps.fp_after))
            self._integral.add(of_steps, steps.integrals())
            self._average.add(of_steps, *steps.averages())

    @property
    def doubtful(self) -> BoolArray:
        """All products and sums of counts are exact in doubles, except in some of these slices."""
        large: BoolArray = 2 * self._positives * self._negatives > LARGEST_EXACT_INTEGER
        return large | self._integral.doubtful | self._average.doubtful

    def roc(self) -> FloatArray:
        """Area under the ROC curve: the whole rectangle less the trapezoids beside the curve."""
        both = 2 * self._positives * self._negatives
        with np.errstate(invalid="ignore"):
            out: FloatArray = (both - self._beside) / both
        return out

    def pr(self) -> FloatArray:
        """Area under the PR curve; 1 where all positives come before any negative."""
        perfect = self._beside == 0
        return np.where(perfect, 1.0, np.minimum(self._integral.over(np.maximum(self._positives, 1.0)), 1.0))

    def average_precision(self) -> FloatArray:
        """Average precision."""
        return self._average.over(np.maximum(self._positives, 1.0))


def hull_vertices(tables: SlicedTables) -> IntArray:
    """The rows that are vertices of the convex hull of each slice, ascending."""
    tp, fp = tables.tp, tables.fp
    is_end = np.zeros(tp.size, np.bool_)
    is_end[tables.starts[:-1]] = is_end[tables.starts[1:] - 1] = True
    candidate = is_end.copy()
    # A vertex is above the row before it, and to the left of the row after it.
    candidate[1:-1] |= (tp[1:-1] > tp[:-2]) & (fp[2:] > fp[1:-1])
    rows = candidate.nonzero()[0]
    largest = float(tables.positives.max()) * float(tables.negatives.max())
    small = tables.counted and largest <= LARGEST_EXACT_INTEGER
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
            rows = prune(points, rows[ends], rows[~ends], rounds=_PASSES)
    vertices = np.concatenate(found)
    vertices.sort(kind="stable")
    return vertices
