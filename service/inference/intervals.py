"""Confidence intervals and p-values of one area, and of the difference of two, from numbers.

    exact   an area of 0 or 1: how far off the truth may be if this many examples show no error
    delong  A ± z SE
    logit   the same on the logit scale, so that it stays within 0 and 1
    mover   a difference, from the intervals of both areas and their correlation

Each is a function of values, standard errors or sizes, and a level. Knows numbers; nothing of tables, samples, or which
metric has which interval. Sources: Clopper & Pearson 1934; DeLong, DeLong & Clarke-Pearson 1988; Boyd, Eng & Page 2013,
"Area under the precision-recall curve: point estimates and confidence intervals"; Zou & Donner 2008, "Construction of
confidence limits about effect measures: a general approach", which is MOVER.
"""

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist

import numpy as np

from service.inference.proportions import Ends, widened
from service.inference.spread import Spread

_NORMAL = NormalDist()
_SPLITS = np.arange(1, 101) / 100
_SHRUNK = 10
"""The weight, in positives, of the variance towards which that of an area under the PR curve is shrunk."""


@dataclass(frozen=True, slots=True)
class Interval:
    """A two-sided confidence interval, its method, and the standard error behind it if there is one.

    design_effect  with clusters, the variance over that of independent examples; None where none is computed.
    """

    lower: float
    upper: float
    level: float
    method: str
    standard_error: float | None
    design_effect: float | None = None


@dataclass(frozen=True, slots=True)
class IntervalOptions:
    """The confidence level and a method; resamples and seed are for methods that resample."""

    level: float = 0.95
    method: str = "auto"
    resamples: int = 2000
    seed: int = 0


def normal_quantile(level: float) -> float:
    """The z such that the standard normal distribution has probability `level` within ±z."""
    return 0.0 - _NORMAL.inv_cdf((1 - level) / 2)  # 0.0, not -0.0, for a level of nearly 0


def exact_interval(value: float, trials: float, level: float) -> Interval:
    """The interval of a proportion of exactly 0 or 1 in this many trials: its free end is Clopper & Pearson's.

    With α = 1 - level the lower end for 1 is (α/2)^(1/n), the upper end for 0 is 1 - (α/2)^(1/n).
    Of 10 trials without an error, 1 has the lower end 0.6915 at 95 %.
    """
    exponent = math.log((1 - level) / 2) / trials
    lower, upper = (math.exp(exponent), 1.0) if value > 0 else (0.0, -math.expm1(exponent))
    return Interval(lower, upper, level, "exact", None)


def exact_pr_interval(totals: tuple[float, float], trials: tuple[float, float], level: float) -> Interval:
    """The interval of an area of 1 under the PR curve, of P positives above all of N negatives.

    Such data have probability α/2 if in truth a share f of the negatives is above every positive and a share g of the
    positives below every negative, with (1 - f)^N (1 - g)^P = α/2. The lower end is the least area over such f and g:
    with n = f N and m = (1 - g) P

        1 - (n log(1 + m/n) + N log((P + N)/(m + N)))/P

    With many negatives it is far below `exact_interval` for the size of the smaller class, since few negatives cost
    much precision: 0.5261 at 95 % for 10 positives and 40 negatives. `trials` replace P and N in the exponents.
    """
    exponent = math.log((1 - level) / 2)
    positives, negatives = totals
    above = -np.expm1(_SPLITS * exponent / trials[1]) * negatives
    climb = np.exp((1 - _SPLITS) * exponent / trials[0]) * positives
    lost = above * np.log1p(climb / above) + negatives * np.log((positives + negatives) / (climb + negatives))
    return Interval(max(1 - float(lost.max()) / positives, 0.0), 1.0, level, "exact", None)


def score_interval(ends: Ends, level: float, design_effect: float | None = None) -> Interval:
    """The score interval with these ends."""
    return Interval(*ends, level, "score", None, design_effect)


def delong_interval(value: float, standard_error: float, level: float) -> Interval:
    """A ± z SE, clipped to [0, 1]: 0.9 with the error 0.03 has 0.8412 to 0.9588 at 95 %."""
    half = normal_quantile(level) * standard_error
    return Interval(max(value - half, 0.0), min(value + half, 1.0), level, "delong", standard_error)


def logit_interval(value: float, standard_error: float, level: float, freedom: float = math.inf) -> Interval:
    """Logit A ± z SE/(A (1 - A)), transformed back from the logit scale, for a value strictly between 0 and 1.

    0.9 with the error 0.03 has 0.8241 to 0.9453 at 95 %. z is `widened` for the error's degrees of freedom.
    """
    reach = widened(normal_quantile(level), freedom) * standard_error / (value * (1 - value))
    return Interval(*_within_logits(value, reach), level, "logit", standard_error)


def log_interval(value: float, standard_error: float, level: float, freedom: float = math.inf) -> Interval:
    """A times and divided by exp(z SE/A), for a value above 0 without an upper limit; z as above.

    0.5 with the error 0.1 has 0.3379 to 0.7399 at 95 %.
    """
    factor = math.exp(widened(normal_quantile(level), freedom) * standard_error / value)
    return Interval(value / factor, value * factor, level, "log", standard_error)


def wald_interval(value: float, standard_error: float, level: float, freedom: float = math.inf) -> Interval:
    """A ± z SE, for a value without limits; z as above."""
    half = widened(normal_quantile(level), freedom) * standard_error
    return Interval(value - half, value + half, level, "wald", standard_error)


def pr_logit_interval(
    value: float,
    standard_error: float,
    sizes: tuple[float, float],
    level: float,
    *,
    own: float | None = None,
    freedom: float | None = None,
) -> Interval:
    """Logit θ ± z L of an area θ under the PR curve, given the effective numbers of positives, n, and of negatives.

    Few positives say little about their own spread, so the variance of logit θ is that of the error SE, shrunk towards
    Boyd, Eng & Page's with the weight of 10 positives:

        L² = (n (SE/(θ(1 - θ)))² + 10/(n a(1 - a)))/(n + 10)

    a is θ, but no nearer to 0 or 1 than 1 - θ* and θ* = (1 + √(n/(n + z²)))/2, beyond which a greater area would prove
    less. In L² only, z is the normal quantile; it is then `widened` for the smaller class. 0.8 of 50 positives and 100
    negatives with the error 0.05 has 0.6779 to 0.8837 at 95 %. With clusters, the error's weight, n at its left, is
    their effective number, `own`, and z is widened for the error's degrees of freedom.
    """
    z, positives = normal_quantile(level), sizes[0]
    near = _turned(value, positives, z)
    error, published = standard_error / (value * (1 - value)), 1 / math.sqrt(positives * near * (1 - near))
    reach = widened(z, freedom or min(sizes)) * _shrunk(error, published, own or positives)
    return Interval(*_within_logits(value, reach), level, "logit", standard_error)


def average_pr_interval(
    value: float,
    standard_error: float,
    parts: Sequence[tuple[float, float, float]],
    fewest: float,
    level: float,
    *,
    own: float | None = None,
    freedom: float | None = None,
) -> Interval:
    """The same for an average θ = Σ w θ_k of such areas, of which each part has w, θ_k and its n positives.

        L² = (m (SE/(θ(1 - θ)))² + 10 Σ w² a_k(1 - a_k)/n / (a(1 - a))²)/(m + 10)

    m is the `fewest` positives of a class, also in a and z; a_k is to θ_k, with n, what a is to θ. With clusters, `own`
    and `freedom` are as above.
    """
    z = normal_quantile(level)
    published = math.sqrt(sum(w * w * (a := _turned(area, n, z)) * (1 - a) / n for w, area, n in parts))
    near = _turned(value, fewest, z)
    error, published = standard_error / (value * (1 - value)), published / (near * (1 - near))
    reach = widened(z, freedom or fewest) * _shrunk(error, published, own or fewest)
    return Interval(*_within_logits(value, reach), level, "logit", standard_error)


def _turned(value: float, positives: float, z: float) -> float:
    """An area under the PR curve, but none nearer to 0 or 1 than where a greater one would prove less."""
    turn = (1 + math.sqrt(positives / (positives + z * z))) / 2
    return min(max(value, 1 - turn), turn)


def _shrunk(own: float, published: float, positives: float) -> float:
    """A standard error, shrunk towards a published one with the weight of _SHRUNK positives."""
    weights = math.sqrt(positives / (positives + _SHRUNK)), math.sqrt(_SHRUNK / (positives + _SHRUNK))
    return math.hypot(weights[0] * own, weights[1] * published)


def _within_logits(value: float, reach: float) -> Ends:
    """The values whose logits are within `reach` of that of the value, which is included whatever the rounding."""
    rest, factor = 1 - value, math.exp(-reach)
    return min(value * factor / (value * factor + rest), value), max(value / (value + rest * factor), value)


def within_exact(interval: Interval, perfect: Interval, worst: Interval | None = None) -> Interval:
    """The interval, extended at least to the lower end for an area of 1 and to the upper end for an area of 0.

    No data show more than perfect data would. With few examples, or if few of them decide, the estimated spread may be
    much too small.
    """
    upper = interval.upper if worst is None else max(interval.upper, worst.upper)
    return replace(interval, lower=min(interval.lower, perfect.lower), upper=upper)


def difference_interval(difference: float, standard_error: float, level: float, kept: float = 1.0) -> Interval:
    """D ± z SE of one area under the ROC curve less the share `kept` of another, clipped to [-kept, 1].

    -0.02 with the error 0.015 has -0.0494 to 0.0094 at 95 %.
    """
    half = normal_quantile(level) * standard_error
    return Interval(max(difference - half, -kept), min(difference + half, 1.0), level, "delong", standard_error)


def difference_p_value(difference: float, standard_error: float) -> float | None:
    """The two-sided p-value of no difference, erfc(|d|/SE/√2); 0.1824 for -0.02 with the error 0.015.

    If the error is 0, it is 1 for no difference and None otherwise.
    """
    if standard_error == 0:
        return 1.0 if difference == 0 else None
    return math.erfc(abs(difference) / standard_error / math.sqrt(2))


def area_difference_interval(values: Sequence[float], spread: Spread, level: float) -> Interval:
    """The interval of a difference of areas strictly between 0 and 1, by `area_difference_ends`."""
    lower, upper = area_difference_ends(values, spread, normal_quantile(level))
    return Interval(max(lower, -spread.kept), min(upper, 1.0), level, "mover", spread.error, spread.design_effect)


def area_difference_ends(values: Sequence[float], spread: Spread, z: float) -> Ends:
    """The outer ends of two intervals of a difference of areas strictly between 0 and 1.

    One is MOVER on the probit intervals of both areas, which accounts for an area near 1 having room to fall but not to
    rise. The other is d ± x with x² = z²(SE² + J x/2), J being the jump of the spread: if the true area is x lower,
    more examples can move it. Either alone is too narrow for some data; tests/README.md has the simulations. z is
    `widened` for the smaller class. If the spread is of a share of the second area, so is the difference.
    """
    z = widened(z, spread.fewest)
    of_each = [probit_ends(value, error, z) for value, error in zip(values, spread.errors, strict=True)]
    both, ends = kept_of(values, of_each, spread.kept)
    lower, upper = mover_ends(both, ends, spread.one_minus_correlation)
    difference, reach = both[0] - both[1], _reach(spread, z)
    return min(lower, difference - reach), max(upper, difference + reach)


def loss_difference_ends(difference: float, spread: Spread, z: float) -> Ends:
    """The interval of a difference of mean losses, d ± x with x² = z²(SE² + J x/2) as above, z `widened`.

    -0.03 with the error 0.035 and a jump of 0.03, of 5 examples in the smaller class: -0.1472 to 0.0872 for z = 1.96.
    """
    reach = _reach(spread, widened(z, spread.fewest))
    return difference - reach, difference + reach


def _reach(spread: Spread, z: float) -> float:
    """The x with x² = z²(SE² + J x/2)."""
    half = z * z * spread.jump / 4
    return half + math.hypot(half, z * spread.error)


def probit_ends(value: float, standard_error: float, z: float) -> Ends:
    """Φ(Φ⁻¹(A) ± z SE/φ(Φ⁻¹(A))), for an area strictly between 0 and 1."""
    at = _NORMAL.inv_cdf(value)
    half = z * standard_error / max(_NORMAL.pdf(at), sys.float_info.min)
    return min(_NORMAL.cdf(at - half), value), max(_NORMAL.cdf(at + half), value)


def kept_of(
    values: Sequence[float], ends: Sequence[Ends], kept: float
) -> tuple[tuple[float, float], tuple[Ends, Ends]]:
    """Two values and their intervals, the second ones times a share: MOVER then has the interval of a - f b."""
    (a, b), (one, other) = values, ends
    return (a, kept * b), (one, (kept * other[0], kept * other[1]))


def mover_ends(
    values: Sequence[float], ends: Sequence[Ends], one_minus_correlation: float = 1.0, span: float = 1.0
) -> Ends:
    """The interval of a - b from the intervals of a and b (MOVER), clipped to ± span; `one_minus_correlation` is 1 - ρ.

    lower = d - √(x² + y² - 2ρxy), x = a - l_a, y = u_b - b      upper = d + √(x² + y² - 2ρxy), x = u_a - a, y = b - l_b

    0.9 in 0.84 to 0.94 less 0.85 in 0.78 to 0.9: -0.0281 to 0.1306, and with ρ = 1/2, -0.0057 to 0.1108.
    """
    (a, b), (of_a, of_b) = values, ends
    lower = a - b - _third_side(a - of_a[0], of_b[1] - b, one_minus_correlation)
    upper = a - b + _third_side(of_a[1] - a, b - of_b[0], one_minus_correlation)
    return max(lower, -span), min(upper, span)


def _third_side(x: float, y: float, one_minus_correlation: float) -> float:
    """√(x² + y² - 2ρxy) without cancellation, √((x - y)² + 2(1 - ρ)xy)."""
    return math.hypot(x - y, math.sqrt(2 * one_minus_correlation * x * y))


def resamples_show(level: float, resamples: int) -> bool:
    """Whether, of this many replicates, one on average lies beyond each end: (B + 1)(1 - level)/2 >= 1."""
    return (resamples + 1) * (1 - level) / 2 >= 1 - 1e-9
