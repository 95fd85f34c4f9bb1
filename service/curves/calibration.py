"""Calibration of scores as probabilities: calibrated scores, read off the ROC hull, and parts of the Brier score.

Isotonic regression pools adjacent scores that violate the order of shares. Its pools are the segments of the ROC convex
hull (Fawcett & Niculescu-Mizil 2007, "PAV and the ROC convex hull"). Knows the table and its hull.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from service.curves.confusion import ConfusionTable
from service.curves.exact import (
    FloatArray,
    FloatPair,
    IntArray,
    blocks,
    double,
    exactly,
    pair_product,
    pair_quotient,
    pair_sum,
    rounded,
    signed_sum,
    two_sum,
)

_ROUNDING = 2.0**-50
"""How far scores may be beyond 0 or 1 and still be probabilities: 4 units in the last place of 1."""


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

    A segment that rises more steeply has a greater share of positives, and slopes fall from left to right.
    """
    first, last = vertices[:-1], vertices[1:]
    ends = _first_after(table, first), last
    low, high = ends if table.lower_is_positive else ends[::-1]
    positives, negatives = _growths(table.tp, first, last), _growths(table.fp, first, last)
    columns = (
        table.thresholds[low],
        table.thresholds[high],
        rounded(positives),
        rounded(negatives),
        rounded(_shares(positives, negatives)),
    )
    step = 1 if table.lower_is_positive else -1
    return Calibration(*(column[::step].copy() for column in columns))  # encoders need contiguous columns


def score_range(table: ConfusionTable) -> tuple[float, float] | None:
    """The least and the greatest score; None if the thresholds of a table are not all of its scores."""
    if not table.of_scores:
        return None
    ends: list[float] = sorted(table.thresholds[[1, -1]].tolist())
    return ends[0], ends[1]


def are_probabilities(low: float, high: float) -> bool:
    """Whether scores between these lie in [0, 1], but for rounding."""
    return low >= -_ROUNDING and high <= 1 + _ROUNDING


def brier_parts(table: ConfusionTable, vertices: IntArray) -> BrierParts:
    """Decompose the Brier score of a table whose thresholds are the scores; empty unless these are probabilities.

    A score beyond 0 or 1 by rounding counts as 0 or 1.

    Of groups with p positives and n negatives at score s, pools of calibrated score c, W = P + N and π = P/W

        brier           Σ (p (1 - s)² + n s²)/W
        miscalibration  the same less that of c for s, Σ (s - c)((p + n)(s + c) - 2p)/W
        discrimination  Σ (p + n)(c - π)²/W
        uncertainty     π(1 - π)

    after Dimitriadis, Gneiting & Jordan 2021, "Stable reliability diagrams for probabilistic classifiers"; brier =
    miscalibration - discrimination + uncertainty. With `lower_is_positive` a score is the probability of a negative.
    Terms are good to 2^-95.
    """
    scores = score_range(table)
    if scores is None or not are_probabilities(*scores):
        return BrierParts()
    up = math.ldexp(1.0, -math.frexp(max(table.positives, table.negatives))[1])
    tp, fp = table.tp * up, table.fp * up
    high, low = _shares(*(_growths(column, vertices[:-1], vertices[1:]) for column in (table.tp, table.fp)))
    brier, excess = Fraction(0), Fraction(0)
    for rows in blocks(table.tp.size, overlap=1):
        positives, negatives = (two_sum(counts[rows][1:], -counts[rows][:-1]) for counts in (tp, fp))
        score, rest = _probabilities(table.thresholds[rows][1:], lower_is_positive=table.lower_is_positive)
        brier += signed_sum(pair_product(positives, pair_product(rest, rest)))
        brier += signed_sum(pair_product(negatives, pair_product(score, score)))
        at = np.arange(rows.start + 1, rows.start + 1 + score[0].size)
        pool = np.minimum(np.searchsorted(vertices, at) - 1, vertices.size - 2)
        share = high[pool], low[pool]
        both = pair_product(pair_sum(positives, negatives), pair_sum(score, share))
        difference = pair_sum(score, (-share[0], -share[1]))
        excess += signed_sum(pair_product(difference, pair_sum(both, double((-positives[0], -positives[1])))))
    total_positives, total_negatives = Fraction(tp[-1]), Fraction(fp[-1])
    total = total_positives + total_negatives
    return BrierParts(
        float(brier / total),
        float(max(excess, Fraction(0)) / total),
        float(_discrimination(tp[vertices], fp[vertices]) / total**3),
        float(total_positives * total_negatives / total**2),
    )


def _discrimination(tp: FloatArray, fp: FloatArray) -> Fraction:
    """Σ (p N - n P)²/(p + n) of the pools between vertices; 0 if one pool holds all."""
    positives, negatives = (two_sum(counts[1:], -counts[:-1]) for counts in (tp, fp))
    both = pair_sum(positives, negatives)
    size = both[0].size
    of_positives = pair_product(positives, exactly(np.full(size, fp[-1])))
    apart = pair_sum(of_positives, pair_product(negatives, exactly(np.full(size, -tp[-1]))))
    there = both[0] > 0  # what is omitted underflows
    apart, both = (apart[0][there], apart[1][there]), (both[0][there], both[1][there])
    return signed_sum(pair_product(apart, pair_quotient(apart, both)))


def _probabilities(thresholds: FloatArray, *, lower_is_positive: bool) -> tuple[FloatPair, FloatPair]:
    """The probabilities that scores give a positive, and those of a negative."""
    thresholds = np.clip(thresholds, 0, 1)
    score, rest = exactly(thresholds), two_sum(np.ones(thresholds.size), -thresholds)
    return (rest, score) if lower_is_positive else (score, rest)


def _growths(counts: FloatArray, first: IntArray, last: IntArray) -> FloatPair:
    return two_sum(counts[last], -counts[first])


def _shares(positives: FloatPair, negatives: FloatPair) -> FloatPair:
    return pair_quotient(positives, pair_sum(positives, negatives))


def _first_after(table: ConfusionTable, rows: IntArray) -> IntArray:
    """For each row, the first later row of the sweep that calls more positive; rows of counts may repeat."""
    more = (column.searchsorted(column[rows], side="right") for column in (table.tp, table.fp))
    out: IntArray = np.minimum(*more)
    return out
