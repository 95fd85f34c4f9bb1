"""The areas of many slices of one sample with weights, each identical to the bit to that of the slice evaluated alone.

Only the sorting and the running sums of weights go slice by slice. The areas are sums over all rows, as without
weights (slicing.py), but of terms in pairs of doubles. A slice is evaluated alone if the rounding of an area is in
doubt, or if it has no areas. Sources: those of areas.py.
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from service.curves.area_columns import SHARED_AREAS, AreaColumns, Undefined
from service.curves.confusion import ConfusionTable
from service.curves.exact import (
    BoolArray,
    FloatArray,
    IntArray,
    blocks,
    class_sums,
    exactly,
    pair_product,
    pair_quotient,
    two_product,
    two_sum,
)
from service.curves.groups import ordered
from service.curves.sample import Sample
from service.curves.slicing import (
    PartSums,
    SlicedTables,
    add_by_slice,
    hull_vertices,
    slice_sample,
    steps_by_slice,
    with_origins,
)

_LEAST_TOTAL, _GREATEST_TOTAL = 1e-100, 1e100
"""Slices whose totals are outside this are evaluated alone, so that no product loses bits to underflow."""

_DOUBTFUL_AREA = 2.0**-16
"""An area from here on is known to 2^-74 of itself before it is rounded; smaller ones are evaluated alone."""


@dataclass(frozen=True, eq=False)
class WeightedSlices:
    """The slices of a sample with weights: `order` has the rows of each, those of k from bounds[k] to bounds[k + 1]."""

    sample: Sample
    weights: FloatArray
    order: IntArray
    bounds: IntArray

    def tables(self) -> SlicedTables:
        """Build the tables: one row for each distinct score with a weight above 0."""
        weights = self.weights.take(self.order)
        kept = weights > 0
        order, weights = self.order[kept], weights[kept]
        bounds = np.concatenate(([0], kept.cumsum())).take(self.bounds)
        scores, labels = self.sample.scores.take(order), self.sample.labels.take(order)
        tp, fp = weights * labels, weights * ~labels  # right for slices of one row
        ends = bounds.tolist()
        for start, stop in pairwise(ends):
            if stop - start > 1:
                rows = slice(start, stop)
                by_score, scores[rows] = ordered(scores[rows], descending=not self.sample.lower_is_positive)
                tp[rows], fp[rows] = class_sums(weights[rows].take(by_score), labels[rows].take(by_score))
        last = np.append(scores[1:] != scores[:-1], True)
        last[bounds[1:][bounds[1:] > 0] - 1] = True
        groups = last.nonzero()[0]
        columns = scores.take(groups), tp.take(groups), fp.take(groups)
        first = groups.searchsorted(bounds)
        return with_origins(columns, first, self.sample.lower_is_positive, counted=False)

    def areas(self, tables: SlicedTables) -> AreaColumns:
        """All areas."""
        curves = _distinct(tables)
        vertices = hull_vertices(curves)
        whole = _WeightedStepSums(curves.tp, curves.fp, curves.numbers, curves.positives, curves.negatives)
        hull = _WeightedStepSums(
            curves.tp.take(vertices),
            curves.fp.take(vertices),
            curves.numbers.take(vertices),
            curves.positives,
            curves.negatives,
        )
        found = AreaColumns(
            curves.positives,
            curves.negatives,
            roc=whole.roc(),
            roc_hull=hull.roc(),
            pr=whole.pr(),
            pr_achievable=hull.pr(),
            average_precision=whole.average_precision(),
        )
        tiny = np.min([getattr(found, name) for name in SHARED_AREAS], axis=0) < _DOUBTFUL_AREA
        one_class = found.set_one_class(within=(_LEAST_TOTAL, _GREATEST_TOTAL))
        for number in (~one_class & (whole.doubtful | hull.doubtful | tiny)).nonzero()[0].tolist():
            self._alone(found, number)
        np.maximum(found.pr_achievable, found.pr, out=found.pr_achievable)
        return found

    def _alone(self, found: AreaColumns, number: int) -> None:
        part = slice_sample(self.sample, self.order, self.bounds, number)
        if isinstance(part, Undefined):
            found.set_undefined(number, part)
        else:
            found.set(number, ConfusionTable.from_sample(part))


class _WeightedStepSums:
    """Sums over the steps of slices. `doubtful`, (s,), marks slices to evaluate alone."""

    def __init__(
        self, tp: FloatArray, fp: FloatArray, numbers: IntArray, positives: FloatArray, negatives: FloatArray
    ) -> None:
        usual = (np.minimum(positives, negatives) >= _LEAST_TOTAL) & (
            np.maximum(positives, negatives) <= _GREATEST_TOTAL
        )
        self._usual = usual
        self._positives, self._negatives = np.where(usual, positives, 1.0), np.where(usual, negatives, 1.0)
        count = positives.size
        self._doubled = PartSums(2 * self._positives * self._negatives, tp.size, count)
        self._integral, self._average = (PartSums(self._positives, tp.size, count) for _ in range(2))
        self._beside = np.zeros(count)
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):  # in slices that are evaluated alone
            self._add_steps(tp, fp, numbers)
            self._add_trapezoids(tp, fp, numbers)

    @property
    def doubtful(self) -> BoolArray:
        """Which slices to evaluate alone."""
        return ~self._usual | self._doubled.doubtful | self._integral.doubtful | self._average.doubtful

    def roc(self) -> FloatArray:
        """Area under the ROC curve by trapezoids."""
        both, low = two_product(2 * self._positives, self._negatives)
        return self._doubled.over(both, low)

    def pr(self) -> FloatArray:
        """Area under the PR curve; 1 where all positives come before any negative."""
        return np.where(self._beside == 0, 1.0, np.minimum(self._integral.over(self._positives), 1.0))

    def average_precision(self) -> FloatArray:
        """Average precision."""
        return self._average.over(self._positives)

    def _add_steps(self, tp: FloatArray, fp: FloatArray, numbers: IntArray) -> None:
        for of_steps, steps in steps_by_slice(tp, fp, numbers):
            add_by_slice(self._beside, of_steps, (steps.fp_after > 0).astype(np.float64))
            self._integral.add(of_steps, steps.integrals())
            precision = pair_quotient(exactly(steps.tp_after), two_sum(steps.tp_after, steps.fp_after))
            self._average.add(of_steps, *pair_product(two_sum(steps.tp_after, -steps.tp), precision))

    def _add_trapezoids(self, tp: FloatArray, fp: FloatArray, numbers: IntArray) -> None:
        for block in blocks(tp.size, overlap=1):
            hits, misses = tp[block], fp[block]
            rows = (misses[1:] > misses[:-1]).nonzero()[0]
            width, width_low = two_sum(misses[1:].take(rows), -misses.take(rows))
            height, height_low = two_sum(hits[1:].take(rows), hits.take(rows))
            doubled, error = two_product(width, height)
            low = error + (width_low * height + width * height_low)
            self._doubled.add(numbers[block].take(rows), doubled, low)


def _distinct(tables: SlicedTables) -> SlicedTables:
    """Leave out rows that repeat the one before: a weight may be too small to change a sum."""
    kept = np.append(True, (tables.tp[1:] != tables.tp[:-1]) | (tables.fp[1:] != tables.fp[:-1]))
    kept[tables.starts[:-1]] = True
    if kept.all():
        return tables
    starts = np.concatenate(([0], kept.cumsum())).take(tables.starts)
    columns = tables.thresholds[kept], tables.tp[kept], tables.fp[kept]
    return SlicedTables(*columns, starts, tables.lower_is_positive, tables.counted)
