"""Confidence intervals and p-values: of one area, and of the difference between two.

First what needs numbers only, then the intervals of an evaluation's areas. Knows strata, DeLong's standard error and
the bootstrap. Sources: Clopper & Pearson 1934; DeLong, DeLong & Clarke-Pearson 1988; Boyd, Eng & Page 2013, "Area under
the precision-recall curve: point estimates and confidence intervals"; Zou & Donner 2008, "Construction of confidence
limits about effect measures: a general approach", which is MOVER; Davison & Hinkley 1997, section 4.4.1.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from service.curves.areas import Areas
from service.curves.confusion import ConfusionTable
from service.curves.counts import Counts
from service.curves.evaluation import CurvesWarning
from service.curves.exact import FloatArray
from service.curves.sample import Sample
from service.inference.bootstrap import (
    REPLICATES_WITHIN,
    LeftOut,
    bca_ends,
    can_resample,
    jackknife,
    percentile_ends,
    replicates,
)
from service.inference.delong import standard_error
from service.inference.resampled import RESAMPLED
from service.inference.strata import Strata, strata

RESAMPLED_METHODS = ("bootstrap", "bca")
METHODS = ("auto", "delong", "logit", *RESAMPLED_METHODS)

TOO_FEW_EXAMPLES = CurvesWarning(
    "too_few_examples", "Intervals are null: they need at least two positives and two negatives."
)

_NORMAL = NormalDist()


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
    """The confidence level and one of METHODS; resamples and seed are for those that resample."""

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
    """Boyd, Eng & Page's logit interval of an area under the PR curve: the error is √(θ(1 - θ)/n) for n positives."""
    return logit_interval(value, math.sqrt(value * (1 - value) / effective_positives), level)


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


def mover_interval(values: tuple[float, float], intervals: tuple[Interval, Interval]) -> Interval:
    """The interval of the first value less the second from the interval of each, as if they were independent (MOVER).

        lower = d - √((a - l_a)² + (u_b - b)²)      upper = d + √((u_a - a)² + (b - l_b)²)

    For values of exactly 0 or 1, whose own spread says nothing, and so called exact.
    """
    (a, b), (of_a, of_b) = values, intervals
    lower = a - b - math.hypot(a - of_a.lower, of_b.upper - b)
    upper = a - b + math.hypot(of_a.upper - a, b - of_b.lower)
    return Interval(max(lower, -1.0), min(upper, 1.0), of_a.level, "exact", None)


def resampled_interval(
    values: FloatArray, level: float, estimate: float, left_out: Sequence[LeftOut] | None = None
) -> Interval | None:
    """The interval from replicates (B,): BCa with the values of the jackknife, else percentiles; None if undefined."""
    ends = percentile_ends(values, level) if left_out is None else bca_ends(values, estimate, left_out, level)
    if any(map(math.isnan, ends)):
        return None
    error = float(values.std(ddof=1)) if values.size > 1 and not np.isnan(values).any() else None
    return Interval(*ends, level, "bootstrap" if left_out is None else "bca", error)


def resampled_p_value(differences: FloatArray) -> float:
    """The two-sided p-value of no difference from replicates (B,) of it: 2(k + 1)/(B + 1), at most 1.

    k is the lesser of how many are <= 0 and how many are >= 0; one that is undefined is both, and so is one that only
    the rounding of two replicates keeps from 0.
    """
    undefined = np.isnan(differences)
    below, above = differences <= REPLICATES_WITHIN, differences >= -REPLICATES_WITHIN
    k = min(int((below | undefined).sum()), int((above | undefined).sum()))
    return min(1.0, 2 * (k + 1) / (differences.size + 1))


def area_intervals(
    evaluation: Sample | Counts, table: ConfusionTable, areas: Areas, options: IntervalOptions
) -> tuple[dict[str, Interval | None], tuple[CurvesWarning, ...]]:
    """The intervals of the areas that have any, None where there is none, and warnings that say why.

    Of rows that are no sweep there are none; that they are none is warned of with their areas.
    """
    found: dict[str, Interval | None] = dict.fromkeys(RESAMPLED)
    values = {name: getattr(areas, name) for name in found}
    if not table.sweep:
        return found, ()
    split = strata(evaluation, table)
    if not split.enough:
        return found, (TOO_FEW_EXAMPLES,)
    inner = {name: value for name, value in values.items() if 0 < value < 1}
    if options.method not in RESAMPLED_METHODS:
        why = "delong is a method for roc only"
        found |= _analytic(split, inner, options)
    elif can_resample(split):
        why = "some resamples have none, or all of them lie on one side of it"
        found |= _resampled(split, inner, options)
    else:
        why = "counts that are fractional, or above 2^53, are not resampled"
    omitted = [name for name in inner if found[name] is None]
    found |= {name: exact_interval(values[name], split.trials, options.level) for name in found if name not in inner}
    return found, (_omitted(omitted, why),) if omitted else ()


def _analytic(split: Strata, values: Mapping[str, float], options: IntervalOptions) -> dict[str, Interval | None]:
    of_roc, of_pr = (delong_interval, None) if options.method == "delong" else (logit_interval, pr_logit_interval)
    found: dict[str, Interval | None] = {}
    for name, value in values.items():
        if name == "roc":
            found[name] = of_roc(value, standard_error(split), options.level)
        elif of_pr:
            found[name] = of_pr(value, split.positives.effective, options.level)
    return found


def _resampled(split: Strata, values: Mapping[str, float], options: IntervalOptions) -> dict[str, Interval | None]:
    if not values:
        return {}
    statistics = {name: RESAMPLED[name] for name in values}
    drawn = replicates(split, statistics, options.resamples, options.seed)
    left_out = jackknife(split, statistics) if options.method == "bca" else None
    return {
        name: resampled_interval(drawn[name][0], options.level, value, left_out[name][0] if left_out else None)
        for name, value in values.items()
    }


def _omitted(names: Sequence[str], why: str) -> CurvesWarning:
    subject = f"The interval of {names[0]} is" if len(names) == 1 else f"The intervals of {', '.join(names)} are"
    return CurvesWarning("interval_omitted", f"{subject} null: {why}.")
