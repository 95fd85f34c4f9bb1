"""Confidence intervals and p-values from numbers: of one area, of the difference between two, and from replicates.

Knows areas, errors and replicates; nothing of tables, samples, or which metric has which interval. Sources: Clopper &
Pearson 1934; DeLong, DeLong & Clarke-Pearson 1988; Boyd, Eng & Page 2013, "Area under the precision-recall curve: point
estimates and confidence intervals"; Zou & Donner 2008, "Construction of confidence limits about effect measures: a
general approach", which is MOVER; Davison & Hinkley 1997, section 4.4.1.
"""

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist

import numpy as np

from service.curves.exact import FloatArray
from service.inference.bootstrap import REPLICATES_WITHIN, LeftOut, bca_ends, percentile_ends
from service.inference.score import Ends
from service.inference.spread import Spread

_NORMAL = NormalDist()
_SPLITS = np.arange(1, 101) / 100


@dataclass(frozen=True, slots=True)
class Interval:
    """A two-sided confidence interval, how it was made, and the standard error behind it if there is one."""

    lower: float
    upper: float
    level: float
    method: str
    standard_error: float | None


@dataclass(frozen=True, slots=True)
class IntervalOptions:
    """The confidence level and a method; resamples and seed are for those that resample."""

    level: float = 0.95
    method: str = "auto"
    resamples: int = 2000
    seed: int = 0


def normal_quantile(level: float) -> float:
    """The z of which a share `level` of the standard normal distribution is within ±z."""
    return -_NORMAL.inv_cdf((1 - level) / 2)


def exact_interval(value: float, trials: float, level: float) -> Interval:
    """The interval of a 0 or 1 that so many trials with one outcome gave: its free end is Clopper & Pearson's.

    With α = 1 - level the lower end for 1 is (α/2)^(1/n), the upper end for 0 is 1 - (α/2)^(1/n).
    """
    exponent = math.log((1 - level) / 2) / trials
    lower, upper = (math.exp(exponent), 1.0) if value > 0 else (0.0, -math.expm1(exponent))
    return Interval(lower, upper, level, "exact", None)


def exact_pr_interval(totals: tuple[float, float], trials: tuple[float, float], level: float) -> Interval:
    """The interval of an area of 1 under the PR curve, of P positives above all of N negatives.

    Such data are as likely as α/2 where a share f of all negatives is above every positive and a share g of all
    positives is below every negative, with (1 - f)^N (1 - g)^P = α/2. The lower end is the least area of those: with
    n = f N and m = (1 - g) P

        1 - (n log(1 + m/n) + N log((P + N)/(m + N)))/P

    It is far below that of as many trials as the smaller class has when negatives are many: few of them cost much
    precision. `trials` stand for P and N in the powers.
    """
    exponent = math.log((1 - level) / 2)
    positives, negatives = totals
    above = -np.expm1(_SPLITS * exponent / trials[1]) * negatives
    climb = np.exp((1 - _SPLITS) * exponent / trials[0]) * positives
    lost = above * np.log1p(climb / above) + negatives * np.log((positives + negatives) / (climb + negatives))
    return Interval(max(1 - float(lost.max()) / positives, 0.0), 1.0, level, "exact", None)


def score_interval(ends: Ends, level: float) -> Interval:
    """The interval with these ends."""
    return Interval(*ends, level, "score", None)


def delong_interval(value: float, standard_error: float, level: float) -> Interval:
    """A ± z SE, clipped to [0, 1]."""
    half = normal_quantile(level) * standard_error
    return Interval(max(value - half, 0.0), min(value + half, 1.0), level, "delong", standard_error)


def logit_interval(value: float, standard_error: float, level: float) -> Interval:
    """Logit A ± z SE/(A (1 - A)), taken back from the logit scale, of a value between 0 and 1."""
    rest = 1 - value
    factor = math.exp(-normal_quantile(level) * standard_error / (value * rest))
    lower, upper = value * factor / (value * factor + rest), value / (value + rest * factor)
    # Without a spread both ends are the value, but for rounding.
    return Interval(min(lower, value), max(upper, value), level, "logit", standard_error)


def pr_logit_interval(value: float, effective_positives: float, level: float) -> Interval:
    """Boyd, Eng & Page's logit interval of an area under the PR curve: the error is √(θ(1 - θ)/n) for n positives.

    Next to 1 that interval grows without limit: beyond θ* = (1 + √(n/(n + z²)))/2 the lower end falls although the area
    rises. There it is that of θ*, as no area shows less than a smaller one; and so below 1 - θ* with the upper end.
    """
    turn = (1 + math.sqrt(effective_positives / (effective_positives + normal_quantile(level) ** 2))) / 2

    def at(area: float) -> Interval:
        return logit_interval(area, math.sqrt(area * (1 - area) / effective_positives), level)

    lower, upper = at(min(value, turn)).lower, at(max(value, 1 - turn)).upper
    return replace(at(value), lower=min(lower, value), upper=max(upper, value))


def within_exact(interval: Interval, perfect: Interval, worst: Interval | None = None) -> Interval:
    """The interval, reaching at least as far down as that of an area of 1, and as far up as that of an area of 0.

    No data show more than perfect data would: with few examples, or where few of them decide, a spread that is seen
    may be much too small.
    """
    upper = interval.upper if worst is None else max(interval.upper, worst.upper)
    return replace(interval, lower=min(interval.lower, perfect.lower), upper=upper)


def difference_interval(difference: float, standard_error: float, level: float) -> Interval:
    """D ± z SE, clipped to [-1, 1], of a difference of areas under the ROC curve."""
    half = normal_quantile(level) * standard_error
    return Interval(max(difference - half, -1.0), min(difference + half, 1.0), level, "delong", standard_error)


def difference_p_value(difference: float, standard_error: float) -> float | None:
    """The two-sided p-value of no difference, erfc(|d|/SE/√2).

    Without an error it is 1 for no difference, and nothing can be said of any other.
    """
    if standard_error == 0:
        return 1.0 if difference == 0 else None
    return math.erfc(abs(difference) / standard_error / math.sqrt(2))


def area_difference_interval(values: tuple[float, float], spread: Spread, level: float) -> Interval:
    """The interval of a difference of areas between 0 and 1: whichever end of two intervals is farther out.

    One is MOVER's of the probit intervals of both areas, which knows that an area near 1 cannot rise but may fall. The
    other is d ± x with x² = z²(SE² + J x/2), J being the jump of the spread: an area that is x lower than it looks had
    more examples that could move it. Either alone is too short for some data; tests/README.md has the simulations.
    For z there is the first term of Student's quantile, z + (z³ + z)/(4(m - 1)) of m effective examples.
    """
    z, (a, b) = normal_quantile(level), values
    z += (z**3 + z) / (4 * (spread.fewest - 1))
    one, other = (_probit_ends(value, error, z) for value, error in zip(values, spread.errors, strict=True))
    lower, upper = mover_ends(values, (one, other), spread.apart)
    half = z * z * spread.jump / 4
    reach = half + math.hypot(half, z * spread.error)
    ends = max(min(lower, a - b - reach), -1.0), min(max(upper, a - b + reach), 1.0)
    return Interval(*ends, level, "mover", spread.error)


def _probit_ends(value: float, standard_error: float, z: float) -> Ends:
    """Φ(Φ⁻¹(A) ± z SE/φ(Φ⁻¹(A))), of an area between 0 and 1."""
    at = _NORMAL.inv_cdf(value)
    half = z * standard_error / max(_NORMAL.pdf(at), sys.float_info.min)
    return min(_NORMAL.cdf(at - half), value), max(_NORMAL.cdf(at + half), value)


def mover_ends(values: tuple[float, float], ends: tuple[Ends, Ends], apart: float = 1.0) -> Ends:
    """The interval of the first value less the second from the interval of each (MOVER); `apart` is 1 - ρ.

    lower = d - √(x² + y² - 2ρxy), x = a - l_a, y = u_b - b      upper = d + √(x² + y² - 2ρxy), x = u_a - a, y = b - l_b
    """
    (a, b), (of_a, of_b) = values, ends
    lower = a - b - _third_side(a - of_a[0], of_b[1] - b, apart)
    upper = a - b + _third_side(of_a[1] - a, b - of_b[0], apart)
    return max(lower, -1.0), min(upper, 1.0)


def _third_side(x: float, y: float, apart: float) -> float:
    """√(x² + y² - 2ρxy) without cancelling, √((x - y)² + 2(1 - ρ)xy)."""
    return math.hypot(x - y, math.sqrt(2 * apart * x * y))


def replicate_interval(
    values: FloatArray, level: float, estimate: float, left_out: Sequence[LeftOut] | None = None
) -> Interval | None:
    """The interval from replicates (B,): BCa with the values of the jackknife, else percentiles; None if undefined."""
    ends = percentile_ends(values, level) if left_out is None else bca_ends(values, estimate, left_out, level)
    if any(map(math.isnan, ends)):
        return None
    error = float(values.std(ddof=1)) if values.size > 1 and not np.isnan(values).any() else None
    return Interval(*ends, level, "bootstrap" if left_out is None else "bca", error)


def replicate_p_value(differences: FloatArray) -> float:
    """The two-sided p-value of no difference from replicates (B,) of it: 2(k + 1)/(B + 1), at most 1.

    k is the lesser of how many are <= 0 and how many are >= 0; one that is undefined is both, and so is one that only
    the rounding of two replicates keeps from 0.
    """
    undefined = np.isnan(differences)
    below, above = differences <= REPLICATES_WITHIN, differences >= -REPLICATES_WITHIN
    k = min(int((below | undefined).sum()), int((above | undefined).sum()))
    return min(1.0, 2 * (k + 1) / (differences.size + 1))


def resamples_show(level: float, resamples: int) -> bool:
    """Whether that many replicates have one beyond each end on average: (B + 1)(1 - level)/2 >= 1."""
    return (resamples + 1) * (1 - level) / 2 >= 1 - 1e-9
