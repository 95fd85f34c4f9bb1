"""Score intervals: of a proportion, of the difference of two paired proportions, and of functions of two proportions.

    a proportion   Wilson's: all q from which the estimate is at most z standard errors √(q(1 - q)/n) away
    paired         Tango's: all Δ from which the difference is at most z standard errors away, given Δ
    a function     the range of f(q1, q2) over all ways to split the error z between both (Newcombe)
    p-value        that of the least z whose interval includes no difference

Examples have equal weight and are independent; otherwise `trials` is their effective number. If clusters say how many
that is, z is widened as Student's quantile is. An end is given by a signed z: below the estimate for z < 0, above it
for z > 0. Knows proportions only, nothing of tables or metrics. Sources: Wilson 1927,
"Probable inference, the law of succession, and statistical inference"; Tango 1998, "Equivalence test and confidence
interval for the difference in proportions for the paired-sample design"; Newcombe 2011, "Propagating imprecision:
combining confidence intervals from independent sources".
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeAlias, TypeVar

import numpy as np

from service.curves.arrays import FloatArray
from service.curves.clock import still_time

Ends: TypeAlias = tuple[float, float]
"""The lower and the upper end of an interval."""

OneShare = TypeVar("OneShare")
RealNumber = TypeVar("RealNumber", float, FloatArray)

_ANGLES = np.radians(np.arange(360.0))
_COSINES, _SINES = np.cos(_ANGLES).round(15), np.sin(_ANGLES).round(15)
"""Directions in which an error is split between two proportions; the cosine of a right angle must be 0."""
_HALVINGS = 45
_FARTHEST = 40.0
"""The p-value of this z underflows."""
_FARTHEST_LEVEL = 8.0
"""The level of this z is the last but a few below 1."""
_NEAR = 1e-12
"""A value this small relative to a function's total fall counts as 0."""
_NEAREST = 1e-9
"""The search ends at a z this small, whose p-value counts as 1. If a metric jumps where nothing is called positive, or
a value is exactly 0 or 1, every z above 0 may have an interval that includes no difference."""


@dataclass(frozen=True, slots=True)
class Share:
    """A proportion of this many trials; `freedom` is that of the clusters by which these were counted.

    design_effect  with clusters, the examples for each trial.
    """

    value: float
    trials: float
    freedom: float = math.inf
    design_effect: float | None = None

    def ends(self, z: FloatArray) -> FloatArray:
        """Wilson's end for each z, (n,): the q such that value - q is -z standard errors, √(q(1 - q)/trials)."""
        return wilson(self.value, self.trials, z)


@dataclass(frozen=True, slots=True)
class OfBothClasses(Generic[OneShare]):
    """Recall and fpr of a row, or those of two models, and how much common clusters correlate them."""

    shares: tuple[OneShare, OneShare]
    correlation: float = 0.0


@dataclass(frozen=True, slots=True)
class PairedShares:
    """Two proportions of the same trials, and the proportion of discordant trials; the rest as in `Share`."""

    values: tuple[float, float]
    discordant: float
    trials: float
    freedom: float = math.inf
    design_effect: float | None = None

    def interval(self, z: float) -> Ends:
        """Tango's interval of the difference.

        0.9 and 0.85 of 100 trials, of which 0.09 are discordant: -0.0107 to 0.1210 for z = 1.96.
        """
        z = widened(z, self.freedom)
        return range_including(self.difference, self.ends(np.array([-z, z])))

    @property
    def p_value(self) -> float:
        """McNemar's two-sided p-value of no difference, of z = |d|/√(s/trials): there Tango's interval ends at 0.

        0.0956 for the proportions of `interval`.
        """
        if math.isfinite(self.freedom):
            return p_value(self.difference, self.interval)
        found = min(abs(self.difference), self.discordant)  # with weights it may be greater by rounding
        return math.erfc(found / math.sqrt(self.discordant) * math.sqrt(self.trials / 2)) if found else 1.0

    @property
    def difference(self) -> float:
        """The first less the second."""
        return self.values[0] - self.values[1]

    def ends(self, z: FloatArray) -> FloatArray:
        """Tango's end for each z, (n,): the difference Δ that is z standard errors from the one observed.

        With d the difference observed and s the discordant proportion, the standard error at Δ is √((2q + Δ(1 -
        Δ))/trials), where q, the proportion for which only the second holds, is its maximum likelihood estimate given
        Δ:

            2q² - (s - (2 - d)Δ) q - (s - d)/2 · Δ(1 - Δ) = 0

        Since 2q + Δ(1 - Δ) is at most 1, the end is within z/√trials of d.
        """
        still_time()
        found = self.difference
        near, far = np.full(z.shape, found), np.clip(found + z / math.sqrt(self.trials), -1, 1)
        for _ in range(_HALVINGS):
            middle = (near + far) / 2
            within = self.trials * (middle - found) ** 2 <= z * z * self._variance(middle)
            near, far = np.where(within, middle, near), np.where(within, far, middle)
        return near

    def _variance(self, difference: FloatArray) -> FloatArray:
        """2q + Δ(1 - Δ) at each Δ, (n,); for Δ < 0 with the two proportions swapped, which avoids a subtraction."""
        found, apart = np.where(difference < 0, -self.difference, self.difference), np.abs(difference)
        product = apart * (1 - apart)
        linear = self.discordant - (2 - found) * apart
        constant = np.maximum(self.discordant - found, 0) * product
        root = np.sqrt(linear * linear + 4 * constant)
        # The form of the quadratic formula that does not subtract.
        other = np.divide(constant, root - linear, out=np.zeros_like(root), where=linear < 0)
        variance: FloatArray = 2 * np.where(linear < 0, other, (linear + root) / 4) + product
        return variance


def wilson(values: float | FloatArray, trials: float | FloatArray, z: FloatArray) -> FloatArray:
    """Wilson's ends of proportions, (n,): (p + z²/2n + z √(p(1 - p)/n + z²/4n²)) / (1 + z²/n).

    0.9 of 50 trials: 0.7864 and 0.9565 for z = ±1.96.
    """
    extra = z * z / trials
    ends = (values + extra / 2 + z * np.sqrt(values * (1 - values) / trials + extra / (4 * trials))) / (1 + extra)
    return np.where(z < 0, np.clip(ends, 0, values), np.clip(ends, values, 1))


def widened(z: float, effective: RealNumber) -> RealNumber:
    """The first terms of Student's quantile, z + (z³ + z)/(4(m - 1)), for m effective examples; z if m is infinite."""
    return z + (z**3 + z) / (4 * (effective - 1))


def split(z: float, correlation: float = 0.0) -> tuple[FloatArray, FloatArray]:
    """An error of z standard errors, split between two proportions in all directions.

    z cos θ and z sin θ if they are independent, else z cos θ and z (ρ cos θ + √(1 - ρ²) sin θ).
    """
    if correlation == 0:
        return z * _COSINES, z * _SINES
    return z * _COSINES, z * (correlation * _COSINES + math.sqrt(1 - correlation**2) * _SINES)


def range_including(estimate: float, values: FloatArray) -> Ends:
    """The smallest range that includes an estimate and all values that are not NaN."""
    return float(np.nanmin(values, initial=estimate)), float(np.nanmax(values, initial=estimate))


def p_value_by_level(difference: float, ends: Callable[[float], Ends]) -> float:
    """The same, from the ends of the interval at a level; a p-value below all that a level can show is 0."""
    return p_value(difference, lambda z: ends(math.erf(z / math.sqrt(2))), _FARTHEST_LEVEL)


def p_value(difference: float, ends: Callable[[float], Ends], farthest: float = _FARTHEST) -> float:
    """The two-sided p-value of no difference: that of the least z, up to `farthest`, whose interval includes 0."""

    def beyond(z: float) -> float:
        lower, upper = ends(z)
        return lower if difference > 0 else -upper

    if difference == 0:
        return 1.0
    far = 1.0
    while beyond(far) > 0:
        if far == farthest:
            return 0.0
        far = min(2 * far, farthest)
    found = _root(beyond, abs(difference), far)
    return math.erfc(found / math.sqrt(2)) if found > _NEAREST else 1.0


def _root(function: Callable[[float], float], at_zero: float, far: float) -> float:
    """The zero of a falling function between 0 and a place where it is not positive (the Illinois method)."""
    near, above, below = 0.0, at_zero, function(far)
    middle, value, least = far, below, _NEAR * (above - below)
    while abs(value) > least and far - near > _NEAR * far and far > _NEAREST:
        middle, before = (far * above - near * below) / (above - below), value
        value = function(middle)
        if value > 0:
            near, above, below = middle, value, below / 2 if before > 0 else below
        else:
            far, below, above = middle, value, above / 2 if before <= 0 else above
    return middle
