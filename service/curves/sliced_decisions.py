"""Decisions in slices: the thresholds that were chosen on all rows, applied in each slice.

    1. Among the thresholds, one search finds how many of them call a row positive.
    2. Rows are counted by slice, class and that number.
    3. What a threshold calls positive is what at least as many thresholds do: a sum over the numbers.

No slice is sorted. Each sum of weights is rounded once, as in the table of a slice alone. Knows samples, exact groups,
decisions and metrics.
"""

from collections.abc import Iterator

import numpy as np

from service.curves.area_columns import TOTAL_OUT_OF_RANGE, AreaColumns
from service.curves.arrays import FloatArray, IntArray, are_integers, with_infinite_last
from service.curves.clock import in_time
from service.curves.decisions import Decided
from service.curves.histogram import Histogram
from service.curves.row_metrics import ROW_METRICS, Matrices
from service.curves.sample import Sample
from service.curves.sweep import sweep
from service.curves.target_prevalence import TargetPrevalence


def decided_in_slices(
    chosen: Decided,
    sample: Sample | Histogram,
    numbers: IntArray,
    areas: AreaColumns,
    target: TargetPrevalence | None = None,
) -> Decided:
    """The decisions of all rows in each slice, slice after slice; groups must be exact.

    `numbers` (n,) has the slice of each row or group, `areas` the totals, and the target those of all rows. Of T in
    tests/curves/test_decisions.py, the first four, the next and the last have, at threshold 0.5, tp 3, 1, 0 and fp 1,
    2, 0.
    """
    count, known = areas.positives.size, ~np.isnan(chosen.tp)
    called = np.tile(np.where(known, 0.0, np.nan), (2, count, 1))
    given = np.flatnonzero(~np.isnan(chosen.threshold))
    sign = -1.0 if sample.lower_is_positive else 1.0
    cuts = sign * with_infinite_last(chosen.threshold[given], lower_is_positive=sample.lower_is_positive)
    falling = np.argsort(-cuts)
    whole = True
    for counts, (slices, scores, masses, counted) in zip(called, _classes(sample, numbers), strict=True):
        by = np.searchsorted(cuts[falling[::-1]], sign * scores, side="right")
        counts[:, given[falling]] = _called(slices, given.size - by, masses, (count, given.size), counted=counted)
        whole = whole and (counted or masses is None or are_integers(masses))
    tp, fp = called
    positives, negatives = (np.broadcast_to(each[:, None], tp.shape) for each in (areas.positives, areas.negatives))
    there = np.array([reason != TOTAL_OUT_OF_RANGE for reason in areas.reason])[:, None] & known
    matrices = Matrices(tp[there], fp[there], positives[there], negatives[there], whole, target)
    metrics = {name: np.full(tp.shape, np.nan) for name in chosen.metrics}
    for name, values in in_time(metrics.items()):
        values[there] = ROW_METRICS[name].value(matrices)
    return Decided(
        decision=chosen.decision * count,
        rows=(),
        threshold=np.tile(chosen.threshold, count),
        tp=tp.ravel(),
        fp=fp.ravel(),
        fn=(positives - tp).ravel(),
        tn=(negatives - fp).ravel(),
        metrics={name: values.ravel() for name, values in metrics.items()},
    )


_OfClass = tuple[IntArray, FloatArray, FloatArray | None, bool]
"""The slices, scores and masses of a class, and whether its sums are exact in any order; None for masses of 1."""


def _classes(sample: Sample | Histogram, numbers: IntArray) -> Iterator[_OfClass]:
    """Positives and negatives."""
    if isinstance(sample, Histogram):
        counted = sample.is_counted
        for masses in sample.masses:
            yield numbers, sample.ends, masses, counted
        return
    for labels in (sample.labels, ~sample.labels):
        rows = np.flatnonzero(labels)
        weights = None if sample.weights is None else sample.weights.take(rows)
        yield numbers.take(rows), sample.scores.take(rows), weights, weights is None


def _called(
    numbers: IntArray, first: IntArray, masses: FloatArray | None, shape: tuple[int, int], *, counted: bool
) -> FloatArray:
    """What each threshold calls positive in each slice, (slices, thresholds), from the first that calls each row so.

    Thresholds are in the order of a sweep; a row that none calls positive has their number.
    """
    count, thresholds = shape
    keys = numbers * (thresholds + 1)
    keys += first
    cells = count * (thresholds + 1)
    if counted:
        apart = np.bincount(keys, masses, minlength=cells).reshape(count, thresholds + 1)
        return apart[:, :-1].cumsum(axis=1).astype(np.float64)
    assert masses is not None  # noqa: S101  # rows without weights are counted
    order = np.argsort(keys, kind="stable")
    keys, masses = keys[order], masses[order]
    stops = keys.searchsorted(np.arange(cells), side="right").reshape(count, thresholds + 1)
    found, start = np.zeros(shape), 0
    for number, ends in enumerate(in_time(stops)):
        found[number] = sweep.running_sums(masses[start : ends[-1]])[ends[:-1] - start]
        start = int(ends[-1])
    return found
