"""The distinct scores of a sample in the order of the sweep, with tp and fp at each of them.

    sort       the rows by score, the most positive first
    add up     the weights of positives and of negatives so far
    keep       the last row of each score

Scores with few decimals are not sorted but counted, level by level. Knows samples; nothing of tables.
"""

from typing import NamedTuple

import numpy as np

from service.curves.arrays import LARGEST_EXACT_INTEGER, BoolArray, FloatArray, IntArray, blocks
from service.curves.sample import Sample
from service.curves.sweep import sweep

_POWERS_OF_TEN = (1.0, 10.0, 100.0, 1_000.0, 10_000.0)
_COUNTED_ROWS = 20_000
"""For fewer rows, sorting is as fast as counting."""
_PROBE = 16
"""If a sample is on no grid, this many of its scores usually show it."""
_CROWDED = 4
"""Counting rows per level of the grid beats sorting if there are at least this many rows per level."""


class ThresholdColumns(NamedTuple):
    """The distinct scores of a sample (-0.0 equals 0.0) in the order of the sweep: columns (n,).

    thresholds   the scores, after a NaN: the first row calls nothing positive.
    tp, fp       the positives and negatives, or their weights, up to and including each score.
    """

    thresholds: FloatArray
    tp: FloatArray
    fp: FloatArray


def threshold_columns(sample: Sample) -> ThresholdColumns:
    """Add up the rows of a sample by score. Weighted sums are rounded once, whatever the order of rows.

    Of the scores 0.9, 0.8, 0.8 with the labels 1, 0, 1: thresholds NaN, 0.9, 0.8, tp 0, 1, 2 and fp 0, 0, 1.
    """
    descending = not sample.lower_is_positive
    counted = _counted(sample.scores, sample.labels, descending=descending) if sample.weights is None else None
    return counted or ThresholdColumns(
        *sweep.table(sample.scores, sample.labels, sample.weights, descending=descending)
    )


def numbered_threshold_columns(sample: Sample) -> tuple[ThresholdColumns, IntArray]:
    """The same, and for each row of the sample the number of its score among them, (n,): 0 for a row of weight 0."""
    there = None if sample.weights is None else np.flatnonzero(sample.weights > 0)
    scores = sample.scores if there is None else sample.scores[there]
    order, scores = ordered(scores, descending=not sample.lower_is_positive)
    numbers = np.zeros(sample.rows, dtype=np.int64)
    numbers[order if there is None else there[order]] = np.append(1, (scores[1:] != scores[:-1]).cumsum() + 1)
    return threshold_columns(sample), numbers


def ordered(scores: FloatArray, *, descending: bool) -> tuple[IntArray, FloatArray]:
    """Order the rows by score, and return the scores in that order, without -0.0; equal ones as they came."""
    order = sweep.order(scores, descending=descending)
    return order, scores.take(order) + 0.0


def _on_grid(scores: FloatArray, scale: float) -> bool:
    return bool((np.rint(scores * scale) / scale == scores).all())


def _counted(scores: FloatArray, labels: BoolArray, *, descending: bool) -> ThresholdColumns | None:
    """Count the rows of each class on each level of a decimal grid, without sorting.

    None if the scores lie on no such grid, or on one with so many levels that sorting is faster.
    """
    if scores.size < _COUNTED_ROWS:
        return None
    low, high = float(scores.min()), float(scores.max())
    largest = min(scores.size / _CROWDED / max(high - low, 1.0), LARGEST_EXACT_INTEGER / max(high, -low, 1.0))
    probe = scores[:_PROBE]
    scales = [scale for scale in _POWERS_OF_TEN if scale <= largest]
    if not scales or not _on_grid(probe, scales[-1]):
        return None
    scale = next(scale for scale in scales if _on_grid(probe, scale))
    cells = np.empty(scores.size, dtype=np.int64)
    first = round(low * scale)
    for rows in blocks(scores.size):
        if not _on_grid(scores[rows], scale):
            return None
        cells[rows] = np.rint(scores[rows] * scale)
    cells -= first
    cells <<= 1
    cells |= labels
    counts = np.bincount(cells)
    pairs = np.append(counts, np.zeros(counts.size % 2, dtype=np.int64)).reshape(-1, 2)
    levels = np.flatnonzero(pairs.any(axis=1))
    if descending:
        levels = levels[::-1]
    fp, tp = np.cumsum(np.vstack(([0, 0], pairs[levels])), axis=0).T.astype(np.float64)
    return ThresholdColumns(np.concatenate(([np.nan], (levels + first) / scale)), tp, fp)
