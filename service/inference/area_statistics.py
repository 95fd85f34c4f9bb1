"""The areas of many resamples at once, from blocks of cumulated counts, to about ten digits.

Knows blocks of tp and fp, not how they were drawn; see bootstrap.py. The formulas are those of areas.py and
positive_steps.py in service/curves.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeAlias

import numpy as np

from service.curves.exact import BoolArray, FloatArray, IntArray
from service.curves.positive_steps import LARGEST_IN_SERIES, logarithm_series

OfCounts: TypeAlias = Callable[[FloatArray, FloatArray], FloatArray]
"""From tp and fp of b resamples, (b, K) each, read-only, to (b,); NaN where undefined.

A resample's counts are cumulated over the K rows of its table: the first column is 0, the last its totals.
"""

_TILE_STEPS = 1 << 13
"""Steps are processed in tiles of about this many, whose intermediate results stay in the processor's cache."""
_SMALL = 2.0**-480
"""Totals below this (of tiny weights) are scaled before they are multiplied."""

_TINIEST, _GREATEST = np.finfo(np.float64).tiny, np.finfo(np.float64).max


def _roc(tp: FloatArray, fp: FloatArray) -> FloatArray:
    """Area under the ROC curve, Σ (fp_k - fp_{k-1})(tp_k + tp_{k-1}) / (2 P N)."""
    if min(tp[:, -1].min(), fp[:, -1].min()) < _SMALL:
        tp, fp = tp / tp[:, -1:], fp / fp[:, -1:]
    return np.minimum(_summed(_trapezoids, tp, fp) / (2 * tp[:, -1] * fp[:, -1]), 1.0)


def _average_precision(tp: FloatArray, fp: FloatArray) -> FloatArray:
    """Average precision, Σ (tp_k - tp_{k-1}) / P · tp_k/(tp_k + fp_k)."""
    return np.minimum(_summed(_stairs, tp, fp) / tp[:, -1], 1.0)


def _pr(tp: FloatArray, fp: FloatArray) -> FloatArray:
    """Area under the PR curve, the integral of precision over tp along D&G's interpolation, over P."""
    return np.minimum(_summed(_integrals, tp, fp) / tp[:, -1], 1.0)


def _summed(part: OfCounts, tp: FloatArray, fp: FloatArray) -> FloatArray:
    """Σ of a term over the steps from row to row, (b,), tile by tile; tiles do not change any sum."""
    resamples, rows = tp.shape
    sums = np.zeros(resamples)
    step = max(_TILE_STEPS // rows, 1)
    for start in range(0, resamples, step):
        block = slice(start, start + step)
        for first in range(0, rows - 1, _TILE_STEPS):
            columns = slice(first, first + _TILE_STEPS + 1)
            sums[block] += part(tp[block, columns], fp[block, columns])
    return sums


def _trapezoids(tp: FloatArray, fp: FloatArray) -> FloatArray:
    doubled: FloatArray = np.einsum("ij,ij->i", fp[:, 1:] - fp[:, :-1], tp[:, 1:] + tp[:, :-1])
    return doubled


def _stairs(tp: FloatArray, fp: FloatArray) -> FloatArray:
    precision = tp[:, 1:] + fp[:, 1:]
    np.maximum(precision, _TINIEST, out=precision)  # where nothing is called positive, tp does not grow
    np.divide(tp[:, 1:], precision, out=precision)
    area: FloatArray = np.einsum("ij,ij->i", tp[:, 1:] - tp[:, :-1], precision)
    return area


def _integrals(tp: FloatArray, fp: FloatArray) -> FloatArray:
    """Σ over the steps of the integral of precision, in the form of positive_steps.py.

    With Δt and Δn the growth of tp and of n = tp + fp, z = Δn/(2n + Δn), q = Δt/(2n + Δn) and s = 2z/3 + 2z³/5 + ..., a
    step's integral is

        q (2t + Δt + s (t z - n q))
    """
    called = tp + fp
    before, growth = called[:, :-1], called[:, 1:] - called[:, :-1]
    below = called[:, 1:] + before
    np.maximum(below, _TINIEST, out=below)
    z = growth / below
    share = tp[:, 1:] - tp[:, :-1]
    share /= below
    series = logarithm_series(z)
    large = np.nonzero(z > LARGEST_IN_SERIES)
    if large[0].size:
        # At the origin Δn/n is infinite, and s is multiplied by 0.
        with np.errstate(divide="ignore", over="ignore"):
            x = np.minimum(growth[large] / before[large], _GREATEST)
        series[large] = (np.log1p(x) / z[large] - 2) / z[large]
    part = np.multiply(z, tp[:, :-1], out=z)
    part -= np.multiply(before, share, out=below)
    part *= series
    part += np.add(tp[:, :-1], tp[:, 1:], out=below)
    part *= share
    out: FloatArray = part.sum(axis=1)
    return out


def bending_rows(gains: BoolArray, losses: BoolArray) -> BoolArray:
    """Rows where the growing class changes, or both grow at once.

    In every resample, the other rows lie within a stretch of the curves along which only one class grows.
    """
    kept = np.zeros(gains.size, np.bool_)
    rows = np.flatnonzero(gains | losses)
    gains, losses = gains[rows], losses[rows]
    kept[rows[:-1]] = (gains & losses)[:-1] | (gains[1:] != gains[:-1]) | (losses[1:] != losses[:-1])
    return kept


def positive_rows(gains: BoolArray, _: BoolArray) -> BoolArray:
    """Rows at which tp may grow."""
    return gains.copy()


@dataclass(frozen=True, slots=True)
class Statistic:
    """A number for each resample, and the rows, (K,), that it needs, given which rows have positives and negatives."""

    of_counts: OfCounts
    needed: Callable[[BoolArray, BoolArray], BoolArray]

    def __call__(self, tp: FloatArray, fp: FloatArray) -> FloatArray:
        """Return the statistic of resamples whose counts are on those rows, or on more."""
        return self.of_counts(tp, fp)

    def rows(self, gains: BoolArray, losses: BoolArray) -> IntArray:
        """The rows that the statistic needs, including the first and the last."""
        kept = self.needed(gains, losses)
        kept[[0, -1]] = True
        return np.flatnonzero(kept)


AREA_STATISTICS: Mapping[str, Statistic] = MappingProxyType(
    {
        "roc": Statistic(_roc, bending_rows),
        "pr": Statistic(_pr, bending_rows),
        "average_precision": Statistic(_average_precision, positive_rows),
    }
)
"""The areas that have intervals."""


def row_by_row(function: Callable[[FloatArray, FloatArray], float]) -> Statistic:
    """Make a statistic from a function of one resample's tp and fp, (K,) each, that needs only the bending rows."""

    def of_counts(tp: FloatArray, fp: FloatArray) -> FloatArray:
        return np.array([function(*rows) for rows in zip(tp, fp, strict=True)], np.float64)

    return Statistic(of_counts, bending_rows)
