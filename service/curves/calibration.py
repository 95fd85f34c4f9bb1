"""Calibration of scores as probabilities: calibrated scores, read off the ROC hull, and parts of the Brier score.

    pools   of isotonic regression, which merges adjacent scores while a higher one has a lower share of positives:
            they are the segments of the ROC hull
    score   of a pool, its share of positives
    parts   of the Brier score, sums over scores and pools

Knows the table, its hull, and its probabilities. Source: Fawcett & Niculescu-Mizil 2007, "PAV and the ROC convex hull".
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from service.curves.arrays import FloatArray, IntArray
from service.curves.confusion import ConfusionTable
from service.curves.score_probabilities import Probabilities


@dataclass(frozen=True, slots=True, eq=False)
class Calibration:
    """Isotonic regression of labels on scores, as columns (n,) from the lowest scores to the highest.

    score_from, score_to   the lowest and the highest threshold of a pool; NaN where a row has none.
    positives, negatives   what it holds.
    calibrated             positives/(positives + negatives), the calibrated score.
    """

    score_from: FloatArray
    score_to: FloatArray
    positives: FloatArray
    negatives: FloatArray
    calibrated: FloatArray


class BrierParts(NamedTuple):
    """The Brier score, miscalibration - discrimination + uncertainty; all None if it is undefined."""

    brier: float | None = None
    miscalibration: float | None = None
    discrimination: float | None = None
    uncertainty: float | None = None


def calibration(table: ConfusionTable, vertices: IntArray) -> Calibration:
    """Read the pools of a sweep off the vertices of its hull: each holds the examples called positive along a segment.

    A segment that rises more steeply has a greater share of positives, and slopes fall from left to right. For the
    scores of `areas.roc_area`: 0.6 to 0.7 with a positive and a negative, so 1/2, and 0.8 to 0.9 with two positives, 1.
    """
    first, last = vertices[:-1], vertices[1:]
    ends = _first_after(table, first), last
    low, high = ends if table.lower_is_positive else ends[::-1]
    positives, negatives = table.tp[last] - table.tp[first], table.fp[last] - table.fp[first]
    columns = (
        table.thresholds[low],
        table.thresholds[high],
        positives,
        negatives,
        positives / (positives + negatives),
    )
    step = 1 if table.lower_is_positive else -1
    return Calibration(*(column[::step].copy() for column in columns))  # encoders need contiguous columns


def brier_parts(scores: Probabilities, vertices: IntArray) -> BrierParts:
    """Decompose the Brier score, given the vertices of the table's hull.

    A score beyond 0 or 1 by rounding counts as 0 or 1.

    Of groups with p positives and n negatives at score s, pools of calibrated score c, W = P + N and π = P/W

        brier           Σ (p (1 - s)² + n s²)/W
        miscalibration  the same less that of c for s, Σ (s - c)((p + n)(s + c) - 2p)/W
        discrimination  Σ (p + n)(c - π)²/W
        uncertainty     π(1 - π)

    after Dimitriadis, Gneiting & Jordan 2021, "Stable reliability diagrams for probabilistic classifiers"; brier =
    miscalibration - discrimination + uncertainty. With `lower_is_positive` a score is the probability of a negative.
    The Brier score and the uncertainty are good to 1e-14 relatively, the other two, whose terms cancel, absolutely. For
    the scores of `areas.roc_area`: 0.175 = 0.05 - 0.0625 + 0.1875.
    """
    positives, negatives, score, rest = scores.positives, scores.negatives, scores.positive, scores.negative
    total_positives, total_negatives = float(scores.tp[-1]), float(scores.fp[-1])
    total = total_positives + total_negatives
    in_pools, rest_of_pools = np.diff(scores.tp[vertices]), np.diff(scores.fp[vertices])
    sizes = np.diff(vertices)
    sizes[-1] = score.size - vertices[-2]  # rows equal to the last vertex
    pools = in_pools + rest_of_pools
    share = np.repeat(_shares(in_pools, pools), sizes)
    excess = (score - share) * ((positives + negatives) * (score + share) - 2 * positives)
    apart = in_pools * total_negatives - rest_of_pools * total_positives
    return BrierParts(
        float(np.sum(positives * rest * rest + negatives * score * score)) / total,
        max(float(np.sum(excess)), 0.0) / total,
        float(apart @ _shares(apart, pools)) / total**3,
        total_positives * total_negatives / total**2,
    )


def _shares(parts: FloatArray, wholes: FloatArray) -> FloatArray:
    """Quotients; 0 of pools so light that they underflow."""
    return np.divide(parts, wholes, out=np.zeros(parts.size), where=wholes > 0)


def _first_after(table: ConfusionTable, rows: IntArray) -> IntArray:
    """For each row, the first later row of the sweep that calls more positive; rows of counts may repeat."""
    more = (column.searchsorted(column[rows], side="right") for column in (table.tp, table.fp))
    out: IntArray = np.minimum(*more)
    return out
