"""How certain the statistics of probabilities are: standard errors, intervals, and what chance alone would show.

    brier, log_loss    means of a loss of each example, whose spread in each class gives the standard error
    slope, intercept   from the information of the fit; with weights from the sandwich of Huber and White
    a bin              Wilson's interval of the share of positives
    ece_if_calibrated  what ece would be on average if every score were right

Knows probabilities, the statistics, and the examples by class. Sources: Huber 1967 and White 1982 for the sandwich;
Roelofs et al. 2022, "Mitigating bias in calibration error estimation", for why a binned ece means little alone.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np

from service.curves.arrays import FloatArray
from service.curves.curve_statistics import CurveStatistics
from service.curves.logistic import LogisticFit
from service.curves.probability_statistics import ProbabilityStatistics
from service.inference.intervals import Interval, logit_interval, normal_quantile
from service.inference.proportions import wilson
from service.inference.strata import Strata, Stratum

STATISTICS_WITH_INTERVALS = ("gini", "brier", "log_loss", "calibration_slope", "calibration_intercept")
"""The statistics that have intervals; gini has that of roc."""


def ece_if_calibrated(found: ProbabilityStatistics, strata: Strata) -> float:
    """What ece would be on average if each example were positive with the probability that its score says.

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
    yield "gini", None if of_roc is None else _of_gini(of_roc)
    errors: dict[str, float | None] = dict.fromkeys(STATISTICS_WITH_INTERVALS[1:])
    if found is not None and strata.enough:
        errors = standard_errors(found, strata)
    for name, error in errors.items():
        value: float | None = getattr(values, name)
        yield name, None if value is None or not error else _FORMULAS[name](value, error, level)


def without_spread(
    values: CurveStatistics, intervals: Mapping[str, Interval | None]
) -> Iterator[tuple[list[str], str]]:
    """The statistics that have a value but no interval, and why."""
    missing = [name for name in STATISTICS_WITH_INTERVALS if getattr(values, name) is not None and not intervals[name]]
    fits = [name for name in missing if name.startswith("calibration_")]
    losses = [name for name in missing if name not in fits]
    if losses:
        yield losses, "all examples of a class have the same loss, which shows no spread"
    if fits:
        yield fits, "scores are too close to each other, or weights too far apart, for its standard error in doubles"


def standard_errors(found: ProbabilityStatistics, strata: Strata) -> dict[str, float | None]:
    """The standard errors of brier, log_loss, slope and intercept; None without a value."""
    scores = found.scores
    return {
        "brier": _of_mean(found, strata, (scores.negative**2, scores.positive**2)),
        "log_loss": _of_mean(found, strata, scores.losses()),
        "calibration_slope": None if found.slope is None else _of_fit(found, strata, found.slope),
        "calibration_intercept": None if found.intercept is None else _of_fit(found, strata, found.intercept),
    }


def _of_mean(found: ProbabilityStatistics, strata: Strata, losses: tuple[FloatArray, FloatArray]) -> float:
    """√(Σ_c m/(m - 1) Σ (w (L - L̄_c)/W)²), over both classes c of effective size m, with W all weight."""
    total, variance = found.table.positives + found.table.negatives, 0.0
    for stratum, loss in zip(strata.classes, losses, strict=True):
        at = stratum.rows[0] - 1
        shares, apart = stratum.masses / stratum.masses.sum(), loss[at]
        weights = 1.0 if stratum.weights is None else stratum.weights / total
        deviations = weights * (apart - shares @ apart)
        variance += stratum.effective / (stratum.effective - 1) * float(stratum.examples @ deviations**2)
    return math.sqrt(variance) / (total if strata.positives.weights is None else 1.0)


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


def _of_gini(roc: Interval) -> Interval:
    error = None if roc.standard_error is None else 2 * roc.standard_error
    return replace(roc, lower=2 * roc.lower - 1, upper=2 * roc.upper - 1, standard_error=error)


def _wald(value: float, error: float, level: float) -> Interval:
    """The value ± z SE."""
    half = normal_quantile(level) * error
    return Interval(value - half, value + half, level, "wald", error)


def _log(value: float, error: float, level: float) -> Interval:
    """The value, times and divided by exp(z SE/value), the same on the scale of logarithms."""
    factor = math.exp(normal_quantile(level) * error / value)
    return Interval(value / factor, value * factor, level, "log", error)


_FORMULAS = {
    "brier": logit_interval,
    "log_loss": _log,
    "calibration_slope": _wald,
    "calibration_intercept": _wald,
}
