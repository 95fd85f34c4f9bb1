"""The distinct scores of a sample in the order of the sweep, with tp and fp at each of them.

This is where an evaluation sorts; all other steps are passes over columns. Knows samples; nothing of tables.
"""

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from service.curves.compiled import KERNEL
from service.curves.exact import LARGEST_EXACT_INTEGER, BoolArray, FloatArray, IntArray, blocks, class_sums
from service.curves.sample import Sample

_ONE = np.uint64(1)
_KEYED = 1.5
"""Shifting the bits of a double below this up by one gives a finite double."""

_POWERS_OF_TEN = (1.0, 10.0, 100.0, 1_000.0, 10_000.0)
_COUNTED_ROWS = 20_000
"""For fewer rows, sorting is as fast as counting."""
_PROBE = 16
"""If a sample is on no grid, this many of its scores usually show it."""
_CROWDED = 4
"""Counting rows per level of the grid beats sorting if there are at least this many rows per level."""


class Groups(NamedTuple):
    """Groups of rows of equal score (-0.0 equals 0.0) in the order of the sweep: columns (n,).

    The first group is empty, and its score is NaN.
    tp, fp   the positives and negatives, or their weights, up to and including each group.
    """

    scores: FloatArray
    tp: FloatArray
    fp: FloatArray


def groups(sample: Sample) -> Groups:
    """Group the rows of a sample by score. Weighted sums are within one ulp of exact, whatever the order of rows."""
    descending = not sample.lower_is_positive
    if sample.weights is not None:
        return _grouped(sample, *_order(sample))
    low, high = float(np.minimum.reduce(sample.scores)), float(np.maximum.reduce(sample.scores))
    counted = _counted(sample.scores, sample.labels, low, high, descending=descending)
    if counted:
        return counted
    scale = _scale(low, high)
    compiled = scale and KERNEL.groups(sample.scores, sample.labels, scale, signed=low < 0, descending=descending)
    if compiled:
        return Groups(*compiled)
    scores, hits = _sorted(sample.scores, sample.labels, low, high, descending=descending)
    changes = scores[2:] != scores[1:-1]
    if changes.all():
        tp, fp = hits.astype(np.float64), np.arange(float(scores.size))
    else:
        ends = np.concatenate(([0], np.flatnonzero(changes) + 1, [scores.size - 1]))
        scores, tp, fp = scores[ends], hits[ends].astype(np.float64), ends.astype(np.float64)
    fp -= tp
    return Groups(scores, tp, fp)


def numbered_groups(sample: Sample) -> tuple[Groups, IntArray]:
    """Group the rows of a sample by score, and number the group of each row, (n,): 0 for a row of weight 0."""
    order, scores = _order(sample)
    numbers = np.zeros(sample.rows, dtype=np.int64)
    numbers[order] = np.append(1, (scores[1:] != scores[:-1]).cumsum() + 1)
    return _grouped(sample, order, scores), numbers


def ordered(scores: FloatArray, *, descending: bool) -> tuple[IntArray, FloatArray]:
    """Order the rows by score, and return the scores in that order, without -0.0; equal ones are in any order."""
    order = np.argsort(-scores if descending else scores)
    return order, scores.take(order) + 0.0


def sorted_slices(
    scores: FloatArray, labels: BoolArray, bounds: IntArray, *, descending: bool
) -> tuple[FloatArray, IntArray]:
    """Sort the scores of each slice, rows bounds[k] to bounds[k + 1], and count the positives of all rows so far.

    Both columns begin with an extra NaN and 0. Among equal scores only the last count is meaningful.
    """
    low, high = float(np.minimum.reduce(scores)), float(np.maximum.reduce(scores))
    return _sorted(scores, labels, low, high, descending=descending, bounds=bounds.tolist())


def _sorted(
    scores: FloatArray,
    labels: BoolArray,
    low: float,
    high: float,
    *,
    descending: bool,
    bounds: Sequence[int] | None = None,
) -> tuple[FloatArray, IntArray]:
    """Sort the scores and count the positives up to and including each row; both columns begin with an extra NaN and 0.

    The order of labels among equal scores is arbitrary, so only the last count of a group is meaningful. With `bounds`
    each slice between two of them is sorted on its own.
    """
    slices = [slice(*pair) for pair in pairwise(bounds)] if bounds else [slice(None)]
    scale = _scale(low, high)
    column, hits = np.empty(scores.size + 1), np.zeros(scores.size + 1, dtype=np.int64)
    column[0] = np.nan
    keyed = column[1:]
    if scale:
        np.multiply(scores, scale, out=keyed)
    if not scale or (scale != 1 and not np.array_equal(keyed / scale, scores)):  # or scores about 300 decades apart
        for rows in slices:
            order, keyed[rows] = ordered(scores[rows], descending=descending)
            hits[1:][rows] = labels[rows][order]
        np.cumsum(hits, out=hits)
        return column, hits
    # Shifting the bits of a double below 1.5 up by one keeps its order and leaves room for the label. So one sort of
    # doubles, NumPy's fastest, carries the labels along.
    keys = keyed.view(np.uint64)
    keys <<= _ONE
    keys |= labels
    if low < 0:
        np.copysign(keyed, scores, out=keyed)
    if descending:
        np.negative(keyed, out=keyed)
    for rows in slices:
        keyed[rows].sort()
    np.bitwise_and(keys, _ONE, out=hits[1:].view(np.uint64))
    hits.cumsum(out=hits)
    signs = (-keyed if descending else keyed.copy()) if low < 0 else None
    keys <<= _ONE
    keys >>= _ONE + _ONE
    if signs is not None:
        np.copysign(keyed, signs, out=keyed)
        keyed += 0.0  # -0.0 + 0.0 is 0.0
    if scale != 1:
        keyed /= scale
    return column, hits


def _scale(low: float, high: float) -> float | None:
    """The power of two that brings scores between these below _KEYED; None if one is infinite."""
    size = max(high, -low)
    if math.isinf(size):
        return None
    return math.ldexp(1.0, -math.frexp(size)[1]) if size >= _KEYED else 1.0


def _on_grid(scores: FloatArray, scale: float) -> bool:
    return bool((np.rint(scores * scale) / scale == scores).all())


def _counted(scores: FloatArray, labels: BoolArray, low: float, high: float, *, descending: bool) -> Groups | None:
    """Count the rows of each class on each level of a decimal grid, without sorting.

    None if the scores lie on no such grid, or on one with so many levels that sorting is faster.
    """
    if scores.size < _COUNTED_ROWS:
        return None
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
    counts = np.append(counts, np.zeros(counts.size % 2, dtype=np.int64)).reshape(-1, 2)
    levels = np.flatnonzero(counts.any(axis=1))
    if descending:
        levels = levels[::-1]
    fp, tp = np.cumsum(np.vstack(([0, 0], counts[levels])), axis=0).T.astype(np.float64)
    return Groups(np.concatenate(([np.nan], (levels + first) / scale)), tp, fp)


def _order(sample: Sample) -> tuple[IntArray, FloatArray]:
    """Order the rows of positive weight by score, and return their scores in that order."""
    descending = not sample.lower_is_positive
    if sample.weights is None:
        return ordered(sample.scores, descending=descending)
    rows = np.flatnonzero(sample.weights > 0)  # flatnonzero is ten times as fast on booleans
    order, scores = ordered(sample.scores[rows], descending=descending)
    return rows.take(order), scores


def _grouped(sample: Sample, order: IntArray, scores: FloatArray) -> Groups:
    labels = sample.labels.take(order)
    if sample.weights is None:
        tp = labels.cumsum().astype(np.float64)
        fp = np.arange(1.0, labels.size + 1) - tp
    else:
        tp, fp = class_sums(sample.weights.take(order), labels)
    changes = scores[1:] != scores[:-1]
    if not changes.all():
        ends = np.append(np.flatnonzero(changes), scores.size - 1)
        scores, tp, fp = scores[ends], tp[ends], fp[ends]
    return Groups(*(np.concatenate(([first], column)) for first, column in ((np.nan, scores), (0, tp), (0, fp))))
