"""A sample in slices: which rows each has, and their areas, each with the bits of a call with its rows alone.

    number the slices, and sort the rows by the number of their slice
    in one call of the sweep, sort, add up and measure each slice by itself
    where a total is near the bounds of a sample, make the slice a sample, which decides

Knows samples and columns of areas.
"""

from collections.abc import Iterator

import numpy as np

from service.curves.area_columns import AreaColumns, Undefined, sample_or_reason
from service.curves.arrays import FloatArray, IntArray
from service.curves.clock import in_time
from service.curves.sample import LARGEST_TOTAL, SMALLEST_TOTAL, Sample
from service.curves.sweep import sweep
from service.curves.target_prevalence import TargetPrevalence

MOST_SLICE_COLUMNS = 10
"""The most columns whose values together define the slices."""

_DIGIT = 1 << 16
"""NumPy uses a radix sort for 16-bit integers."""

_PLACES_OF_PR = [3, 4, 6]
"""The places of pr, average_precision and pr_achievable among the areas of the sweep."""


def rows_by_slice(numbers: IntArray, count: int) -> tuple[IntArray, IntArray]:
    """Order the rows by slice number, (n,) below `count`, and return where each slice begins, (count + 1,).

    Numbers 1, 0, 1 give the order 1, 0, 2 and the bounds 0, 1, 3.
    """
    order = np.argsort((numbers % _DIGIT).astype(np.uint16), kind="stable")
    if count > _DIGIT:
        order = order[np.argsort((numbers[order] // _DIGIT).astype(np.uint16), kind="stable")]
    return order, np.concatenate(([0], np.bincount(numbers, minlength=count).cumsum()))


def sliced_areas(sample: Sample, numbers: IntArray, order: IntArray, bounds: IntArray) -> AreaColumns:
    """All areas of slices, given the number of each row's slice and the rows in the order of slices."""
    found = sweep.slices(
        numbers,
        bounds.size - 1,
        sample.scores,
        sample.labels,
        sample.weights,
        descending=not sample.lower_is_positive,
    )
    if sample.target is not None:
        found[:, _PLACES_OF_PR] = _in_use(sample, sample.target, numbers, bounds.size - 1)
    positives, negatives, roc, pr, average_precision, roc_hull, pr_achievable = found.T.copy()
    areas = AreaColumns(positives, negatives, roc, roc_hull, pr, pr_achievable, average_precision)
    ordinary = np.minimum(positives, negatives) > 2 * SMALLEST_TOTAL
    ordinary &= np.maximum(positives, negatives) < LARGEST_TOTAL / 2
    # A sample decides about totals near its bounds, and about NaN.
    for number in in_time((~ordinary).nonzero()[0].tolist()):
        part = slice_sample(sample, order, bounds, number)
        if isinstance(part, Undefined):
            areas.set_undefined(number, part)
    return areas


def _in_use(sample: Sample, target: TargetPrevalence, numbers: IntArray, count: int) -> FloatArray:
    """The areas under PR curves of slices where the model is used: each row weighs what it stands for."""
    weights = np.ones(sample.rows) if sample.weights is None else sample.weights
    weights = np.where(sample.labels, target.true(weights), target.false(weights))
    descending = not sample.lower_is_positive
    found = sweep.slices(numbers, count, sample.scores, sample.labels, weights, descending=descending)
    return found[:, _PLACES_OF_PR]


def slice_samples(sample: Sample, order: IntArray, bounds: IntArray) -> Iterator[Sample | Undefined]:
    """The slices of a sample, each as a sample, or Undefined if it cannot be one."""
    for number in in_time(range(bounds.size - 1)):
        yield slice_sample(sample, order, bounds, number)


def slice_sample(sample: Sample, order: IntArray, bounds: IntArray, number: int) -> Sample | Undefined:
    """One slice as a sample, or Undefined."""
    rows = order[bounds[number] : bounds[number + 1]]
    weights = None if sample.weights is None else sample.weights[rows]
    clusters = None if sample.clusters is None else sample.clusters.take(rows)
    return sample_or_reason(
        sample.scores[rows],
        sample.labels[rows],
        weights,
        lower_is_positive=sample.lower_is_positive,
        clusters=clusters,
        target=sample.target,
    )
