"""DeLong's variances in exact fractions, and intervals in 50 digits: slow, obvious, independent of service/inference.

Every pair of a positive and a negative is compared. Sources: Hanley & Hajian-Tilaki 1997 for placement values; DeLong,
DeLong & Clarke-Pearson 1988 for their covariance; Boyd, Eng & Page 2013; Zou & Donner 2008. With importance weights a
mean is a weighted mean, and a class has the covariance m/(m-1) Σ w² (v - A)(v' - A')/(Σ w)² of a weighted mean, where m
is the effective number (Σ w)²/Σ w² of its examples; it is the paper's where weights are equal. Nothing here may import
the service.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

import mpmath

DIGITS = 50
Ends: TypeAlias = tuple[Any, Any]


@dataclass(frozen=True)
class Placements:
    """The weight and the placement value of each example with a weight above 0, in order of the input's rows."""

    positives: list[tuple[Fraction, Fraction]]
    negatives: list[tuple[Fraction, Fraction]]

    @property
    def area(self) -> Fraction:
        """The mean placement value, which is the same for both classes."""
        return _mean(self.positives)


def placements(
    scores: Sequence[float],
    labels: Sequence[bool],
    weights: Sequence[float] | None = None,
    *,
    lower_is_positive: bool = False,
) -> Placements:
    """A positive's value is the share of negatives below it, a negative's the share of positives above; ties half."""
    sign = -1 if lower_is_positive else 1
    weights = [1.0] * len(scores) if weights is None else weights
    rows = [
        (sign * score, label, Fraction(weight))
        for score, label, weight in zip(scores, labels, weights, strict=True)
        if weight > 0
    ]
    of_positives = [(score, weight) for score, label, weight in rows if label]
    of_negatives = [(score, weight) for score, label, weight in rows if not label]
    return Placements(
        [(w, _mean([(v, _above(score, other)) for other, v in of_negatives])) for score, w in of_positives],
        [(w, _mean([(v, _above(other, score)) for other, v in of_positives])) for score, w in of_negatives],
    )


def covariance(one: Placements, other: Placements) -> Fraction:
    """The covariance of the areas of two evaluations of the same examples; of one with itself, its variance."""
    return _of_class(one.positives, other.positives) + _of_class(one.negatives, other.negatives)


def effective(weights: Sequence[Fraction]) -> Fraction:
    """The effective number of examples (Kish 1965)."""
    return Fraction(sum(weights) ** 2) / sum(weight**2 for weight in weights)


def exactly(number: Fraction | float) -> Any:
    """A fraction as an mpmath number of many digits."""
    number = Fraction(number)
    return mpmath.mpf(number.numerator) / number.denominator


def difference_variance(one: Placements, other: Placements) -> Fraction:
    """The variance of the difference of two areas of the same examples."""
    return covariance(one, one) + covariance(other, other) - 2 * covariance(one, other)


def normal_quantile(level: float) -> Any:
    """The z with P(-z < Z < z) = level."""
    with mpmath.workdps(DIGITS):
        return mpmath.sqrt(2) * mpmath.erfinv(mpmath.mpf(level))


def normal_ends(value: Any, error: Any, level: float) -> Ends:
    """Value ± z error."""
    with mpmath.workdps(DIGITS):
        half = normal_quantile(level) * error
        return value - half, value + half


def logit_ends(value: float, error: float, level: float) -> Ends:
    """The normal interval of the logit by the delta method, transformed back."""
    with mpmath.workdps(DIGITS):
        value = mpmath.mpf(value)
        logit = mpmath.log(value / (1 - value))
        ends = normal_ends(logit, mpmath.mpf(error) / (value * (1 - value)), level)
        return tuple(1 / (1 + mpmath.exp(-end)) for end in ends)


def pr_logit_ends(value: float, error: Any, sizes: tuple[float, float], level: float) -> Ends:
    """A weighted mean of two variances of logit θ: the error's, for n positives, and Boyd, Eng & Page's, for 10."""
    with mpmath.workdps(DIGITS):
        value, (positives, negatives) = mpmath.mpf(value), map(mpmath.mpf, sizes)
        z = normal_quantile(level)
        farthest = (1 + mpmath.sqrt(positives / (positives + z**2))) / 2
        near = min(max(value, 1 - farthest), farthest)
        own = (mpmath.mpf(error) / (value * (1 - value))) ** 2
        published = 1 / (positives * near * (1 - near))
        variance = (positives * own + 10 * published) / (positives + 10)
        half = students(z, min(positives, negatives)) * mpmath.sqrt(variance)
        logit = mpmath.log(value / (1 - value))
        return tuple(1 / (1 + mpmath.exp(-end)) for end in (logit - half, logit + half))


def students(z: Any, effective: Any) -> Any:
    """The first terms of Student's quantile for m - 1 degrees of freedom."""
    return z + (z**3 + z) / (4 * (effective - 1))


def mover_ends(values: tuple[float, float], one: Ends, other: Ends) -> Ends:
    """Zou & Donner 2008, equation 7: each end moves by the distances to the single ends that push it outward."""
    with mpmath.workdps(DIGITS):
        (a, b), (la, ua), (lb, ub) = (tuple(mpmath.mpf(x) for x in pair) for pair in (values, one, other))
        return a - b - mpmath.sqrt((a - la) ** 2 + (ub - b) ** 2), a - b + mpmath.sqrt((ua - a) ** 2 + (b - lb) ** 2)


def p_value(difference: Any, error: Any) -> Any:
    """P(|Z| > |difference|/error)."""
    with mpmath.workdps(DIGITS):
        return mpmath.erfc(abs(mpmath.mpf(difference)) / mpmath.mpf(error) / mpmath.sqrt(2))


def inverted(ends: Callable[[Any], Ends], farthest: float = 40.0) -> Any:
    """The p-value of the least z whose interval includes 0, by bisection; 0 if none does up to the farthest."""
    with mpmath.workdps(DIGITS):

        def includes(z: Any) -> bool:
            lower, upper = ends(z)
            return bool(lower <= 0 <= upper)

        near, far = mpmath.mpf(0), mpmath.mpf(farthest)
        if not includes(far):
            return mpmath.mpf(0)
        for _ in range(80):
            middle = (near + far) / 2
            near, far = (near, middle) if includes(middle) else (middle, far)
        return mpmath.erfc(far / mpmath.sqrt(2))


def root(number: Fraction) -> Any:
    """√ of a fraction."""
    with mpmath.workdps(DIGITS):
        return mpmath.sqrt(mpmath.mpf(number.numerator) / number.denominator)


def _above(one: float, other: float) -> Fraction:
    return Fraction(1) if one > other else Fraction(1, 2) if one == other else Fraction(0)


def _mean(weighted: Sequence[tuple[Fraction, Fraction]]) -> Fraction:
    return sum((w * v for w, v in weighted), Fraction(0)) / sum(w for w, _ in weighted)


def _of_class(one: Sequence[tuple[Fraction, Fraction]], other: Sequence[tuple[Fraction, Fraction]]) -> Fraction:
    total = sum(w for w, _ in one)
    size = effective([w for w, _ in one])
    means = _mean(one), _mean(other)
    products = (w * w * (v - means[0]) * (u - means[1]) for (w, v), (_, u) in zip(one, other, strict=True))
    return size / (size - 1) * sum(products, Fraction(0)) / total**2
