"""Means, under a Beta density over λ, of functions that are smooth between given points.

    split       [0, 1] into halves, each measured from its own end, where doubles resolve any distance
    substitute  t = x^a for the distance x from an end where the density has a pole; over t it has none
    integrate   all pieces at once by Gauss-Legendre quadrature, with 6 and with 12 nodes
    halve       the pieces for which the two results differ, until none is left

An envelope can have a hundred thousand pieces, too many to integrate one at a time. Knows nothing of tables or indices.
Source of the question: Hanczar & Nadif 2014, section 6, which leaves weighted areas to future work.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.polynomial.legendre import leggauss

from service.curves.arrays import FloatArray, IntArray
from service.curves.clock import still_time
from service.curves.lambda_intervals import LambdaIntervals

_COARSE, _FINE = leggauss(6), leggauss(12)
_UNIT = 2.0**600
"""All integrals are multiplied by this, so that the shortest ranges do not underflow; it cancels in their ratio."""
_RULES_AGREE = 1e-12
"""If two rules agree on a piece to this, relatively, the error of the finer one is far smaller."""
_NEGLIGIBLE = 1e-16
"""A piece that adds less than this share of the whole needs no further refinement."""
_LEAST_DOUBLE = 5e-324
"""The least positive double, to which the distance from a pole may be rounded, if not to 0."""
_SHORT_PIECE = 2.0**-7
"""A piece this short relative to its distance from 0 is accepted: for x^999, the steepest density, the finer rule is
off by 2e-16. If the rules still disagree, that is rounding, and cutting further would never end."""

Function = Callable[[IntArray, FloatArray, FloatArray], FloatArray]
"""From the piece (its number), λ and 1 - λ, (n,) each, to values."""


@dataclass(frozen=True, slots=True)
class BetaDensity:
    """The density λ^(a-1) (1 - λ)^(b-1), up to a constant factor; a, b > 0."""

    a: float
    b: float

    def mean(self, function: Function, pieces: LambdaIntervals) -> float:
        """Return Σ ∫ f w dλ / Σ ∫ w dλ over pieces that together form one range of λ.

        The function is smooth within each piece, except perhaps at 1/2. Of f(λ) = λ with a = 2 and b = 1: 2/3.
        """
        start, end = pieces.start, np.minimum(pieces.end, 1 / 2)
        rest_start, rest_end = np.minimum(pieces.rest_start, 1 / 2), pieces.rest_end
        below, above = np.flatnonzero(start < 1 / 2), np.flatnonzero(rest_end < 1 / 2)
        first, last = float(start[0]), float(pieces.end[-1])
        # A pole matters if the range is longer than its distance from it.
        roots = (
            min(self.a, 1.0) if 2 * first < end[-1] else 1.0,
            min(self.b, 1.0) if 2 * rest_end[-1] < rest_start[0] else 1.0,
        )
        log_peak = self._log_peak(first, last, roots)

        def lower(piece: IntArray, weight: FloatArray) -> FloatArray:
            return function(below[piece], weight, 1 - weight)

        def upper(piece: IntArray, rest: FloatArray) -> FloatArray:
            return function(above[piece], 1 - rest, rest)

        # The half that weighs more goes first: the other may be negligible.
        halves = [
            (lower, (start[below], end[below]), (self.a, self.b), roots[0]),
            (upper, (rest_end[above], rest_start[above]), (self.b, self.a), roots[1]),
        ]
        sums = np.zeros(2)
        for half in halves if self.a < self.b else halves[::-1]:
            sums = _integrate(*_without_pole(*half, log_peak), sums)
        return float(sums[0] / sums[1])

    def _log_peak(self, start: float, end: float, roots: tuple[float, float]) -> float:
        """The greatest log density on the range, without substituted poles; the density itself may underflow."""
        rise, fall = self.a - roots[0], self.b - roots[1]
        mode = rise / (rise + fall) if rise > 0 and fall > 0 else start
        return max(
            (rise * math.log(at) if rise else 0.0) + (fall * math.log1p(-at) if fall else 0.0)
            for at in (start, min(max(mode, start), end), end)
            if (at > 0 or rise <= 0) and (at < 1 or fall <= 0)
        )


def _without_pole(
    function: Callable[[IntArray, FloatArray], FloatArray],
    ends: tuple[FloatArray, FloatArray],
    powers: tuple[float, float],
    root: float,
    log_peak: float,
) -> tuple[Callable[[IntArray, FloatArray], FloatArray], FloatArray, FloatArray]:
    """Write f w and w on pieces of [0, 1/2], with w = x^(a-1) (1 - x)^(b-1) / exp(log_peak), over t = x^root.

    Where root = a < 1 the pole at 0 is gone: x^(a-1) dx = x^(a-root) dt / root.
    """
    a, b = powers

    def integrands(piece: IntArray, t: FloatArray) -> FloatArray:
        x = t ** (1 / root)
        exponent = (b - 1) * np.log1p(-x) - log_peak
        if a != root:  # else x may be 0 in doubles
            exponent += (a - root) * np.log(np.maximum(x, _LEAST_DOUBLE))
        weight = np.exp(exponent) / root
        return np.stack((function(piece, x) * weight, weight))

    return integrands, ends[0] ** root, ends[1] ** root


def _integrate(
    integrands: Callable[[IntArray, FloatArray], FloatArray], start: FloatArray, end: FloatArray, done: FloatArray
) -> FloatArray:
    """Add the integrals of two functions >= 0 over pieces to `done`, (2,); pieces are cut until two rules agree."""
    piece = np.arange(start.size)
    while piece.size:
        still_time()
        coarse, fine = (_apply(rule, integrands, piece, start, end) for rule in (_COARSE, _FINE))
        whole = done + fine.sum(axis=1)
        middle = (start + end) / 2
        slack = _RULES_AGREE * fine + _NEGLIGIBLE * whole[:, np.newaxis]
        known = np.all(np.abs(fine - coarse) <= slack, axis=0) | (end - start <= _SHORT_PIECE * end) | (middle <= start)
        done = done + fine[:, known].sum(axis=1)
        start, middle, end = (column[~known] for column in (start, middle, end))
        piece = np.tile(piece[~known], 2)
        start, end = np.concatenate((start, middle)), np.concatenate((middle, end))
    return done


def _apply(
    rule: tuple[FloatArray, FloatArray],
    integrands: Callable[[IntArray, FloatArray], FloatArray],
    piece: IntArray,
    start: FloatArray,
    end: FloatArray,
) -> FloatArray:
    """Apply a rule on [-1, 1] to each piece, node by node, (2, n)."""
    half, middle = (end - start) / 2, (start + end) / 2
    total = np.zeros((2, piece.size))
    for node, weight in zip(*rule, strict=True):
        total += weight * integrands(piece, middle + half * node)
    return total * (_UNIT * (end - start))
