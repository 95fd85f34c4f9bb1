"""How certain the statistics of probabilities are: standard errors, intervals, and what chance alone would show.

    brier, log_loss    means of a loss of each example, whose spread in each class gives the standard error
    slope, intercept   from the information of the fit; with weights from the sandwich of Huber and White
    a bin              Wilson's interval of the share of positives
    ece_if_calibrated  what ece would be on average if every score were right

Knows probabilities, the statistics, and the examples by class. Sources: Huber 1967 and White 1982 for the sandwich;
Roelofs et al. 2022, "Mitigating bias in calibration error estimation", for why a binned ece means little alone.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

import numpy as np

from service.curves.arrays import FloatArray
from service.curves.curve_statistics import CurveStatistics
from service.curves.logistic import LogisticFit
from service.curves.probability_statistics import ProbabilityStatistics
from service.inference.intervals import Interval, log_interval, logit_interval, normal_quantile, wald_interval
from service.inference.proportions import wilson
from service.inference.spread import standard_error
from service.inference.strata import Strata, Stratum

NO_SPREAD = "all examples of a class have the same loss, which shows no spread"
_NO_ERROR = "scores are too close to each other, or weights too far apart, for its standard error in doubles"

STATISTICS_WITH_INTERVALS = ("gini", "brier", "log_loss", "calibration_slope", "calibration_intercept")
"""The statistics that have intervals; gini has that of roc."""


def ece_if_calibrated(found: ProbabilityStatistics, strata: Strata) -> float:
    """About what ece would be on average if each example were positive with the probability that its score says.

    Σ_b √(2 Σ w² s(1 - s)/π)/W over the bins b, the mean of an absolute normal deviate; W is all weight. For scores 0.1,
    0.4, 0.6, 0.9 in two bins: 0.2257.
    """
    of_positives, of_negatives = (_squares(each, found) for each in strata.classes)
    variances = (of_positives + of_negatives) * found.scores.positive * found.scores.negative
    deviations = [math.sqrt(2 * float(variances[rows].sum()) / math.pi) for rows in found.reliability.rows]
    return math.fsum(deviations) / (found.table.positives + found.table.negatives)


def bin_ends(found: ProbabilityStatistics, strata: Strata, level: float) -> tuple[FloatArray, FloatArray]:
    """Wilson's interval of the share of positives in each bin, (k,) each, by its effective number of examples.

    Of 1 in 3 examples: 0.0615 to 0.7923 at 95 %.
    """
    trials, z = _effective_sizes(found, strata).tolist(), normal_quantile(level)
    ends = [wilson(*each, np.array([-z, z])) for each in zip(found.reliability.observed.tolist(), trials, strict=True)]
    lower, upper = np.transpose(ends).copy()
    return lower, upper


def _effective_sizes(found: ProbabilityStatistics, strata: Strata) -> FloatArray:
    """The effective number of examples in each bin, (Σ w)²/Σ w², (k,); weights are relative to the greatest there."""
    bins = found.reliability.rows
    numbers = np.full(found.scores.positive.size, len(bins))  # beyond the last, for scores in no bin
    for number, rows in enumerate(bins):
        numbers[rows] = number
    kinds = [(numbers[each.rows[0] - 1], each.examples, each.masses / each.examples) for each in strata.classes]
    at, examples, weights = (np.concatenate(columns) for columns in zip(*kinds, strict=True))
    greatest = np.zeros(len(bins) + 1)
    np.maximum.at(greatest, at, weights)
    shares = weights / greatest[at]
    sums, squares = (np.bincount(at, examples * power, len(bins) + 1)[:-1] for power in (shares, shares**2))
    return sums**2 / squares


def statistic_intervals(
    values: CurveStatistics, found: ProbabilityStatistics | None, strata: Strata, level: float, of_roc: Interval | None
) -> Iterator[tuple[str, Interval | None]]:
    """The interval of each statistic that has one, None where it has none; `of_roc` is that of the ROC area."""
    yield "gini", None if of_roc is None else interval_of_gini(of_roc)
    for name, formula in STATISTIC_FORMULAS.items():
        value: float | None = getattr(values, name)
        error = None if value is None or found is None or not strata.enough else error_of_statistic(name, found, strata)
        yield name, None if value is None or not error else formula(value, error, level)


def without_spread(
    values: CurveStatistics, intervals: Mapping[str, Interval | None]
) -> Iterator[tuple[list[str], str]]:
    """The statistics that have a value but no interval, and why."""
    missing = [name for name in STATISTICS_WITH_INTERVALS if getattr(values, name) is not None and not intervals[name]]
    for why in (NO_SPREAD, _NO_ERROR):
        names = [name for name in missing if why_no_error(name) == why]
        if names:
            yield names, why


def why_no_error(name: str) -> str:
    """Why a statistic with a value has no standard error."""
    return _NO_ERROR if name.startswith("calibration_") else NO_SPREAD


def error_of_statistic(name: str, found: ProbabilityStatistics, strata: Strata) -> float | None:
    """The standard error of brier, log_loss, slope or intercept, which has a value; None if there is none above 0."""
    if name in ("brier", "log_loss"):
        return standard_error(strata, name) or None
    fit = found.slope if name == "calibration_slope" else found.intercept
    return None if fit is None else _of_fit(found, strata, fit)


def _of_fit(found: ProbabilityStatistics, strata: Strata, fit: LogisticFit) -> float | None:
    """The standard error of the last coefficient of a fit; None if rounding leaves nothing of it."""
    unit = found.scores.total / (found.table.positives + found.table.negatives)
    try:
        inverse = np.linalg.inv(fit.information)
    except np.linalg.LinAlgError:
        return None
    if strata.positives.weights is None and strata.negatives.weights is None:
        return _positive_root(inverse[-1, -1] * unit)
    of_positives, of_negatives = (_squares(each, found, unit) for each in strata.classes)
    residuals = of_positives * (1 - fit.fitted) ** 2 + of_negatives * fit.fitted**2
    spread = fit.moments(residuals)
    return _positive_root((inverse @ spread @ inverse)[-1, -1])


def _positive_root(variance: float) -> float | None:
    return math.sqrt(variance) if 0 < variance < math.inf else None


def _squares(stratum: Stratum, found: ProbabilityStatistics, unit: float = 1.0) -> FloatArray:
    """Σ w² of a class at each score, with weights in this unit."""
    weights = unit if stratum.weights is None else unit * stratum.weights
    squares = np.zeros(found.scores.positive.size)
    np.add.at(squares, stratum.rows[0] - 1, stratum.examples * weights**2)
    return squares


def interval_of_gini(roc: Interval, *, difference: bool = False) -> Interval:
    """That of 2 roc - 1, or of the difference of two such, from that of roc."""
    error = None if roc.standard_error is None else 2 * roc.standard_error
    less = 0.0 if difference else 1.0
    return replace(roc, lower=2 * roc.lower - less, upper=2 * roc.upper - less, standard_error=error)


STATISTIC_FORMULAS: Mapping[str, Callable[[float, float, float], Interval]] = {
    "brier": logit_interval,
    "log_loss": log_interval,
    "calibration_slope": wald_interval,
    "calibration_intercept": wald_interval,
}
"""{statistic: its interval, from its value, its standard error and the level}"""
