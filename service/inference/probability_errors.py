"""How certain the statistics of probabilities are: standard errors, intervals, and what chance alone would show.

    brier, log_loss    means of a loss of each example, whose spread in each class gives the standard error
    slope, intercept   from the information of the fit; with weights or clusters from the sandwich of Huber and White
    a bin              Wilson's interval of the share of positives, by the effective number of examples
    ece_if_calibrated  what ece would be on average if every score were right

Knows probabilities, the statistics, and the examples by class. Sources: Huber 1967 and White 1982 for the sandwich;
Roelofs et al. 2022, "Mitigating bias in calibration error estimation", for why a binned ece means little alone; Liang
& Zeger 1986, "Longitudinal data analysis using generalized linear models", for the sandwich of clusters.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from service.curves.arrays import FloatArray
from service.curves.curve_statistics import CurveStatistics
from service.curves.logistic import LogisticFit
from service.curves.probability_statistics import ProbabilityStatistics
from service.inference.clustered_shares import ClusteredMean, clustered_mean
from service.inference.clustering import Certainty, ClassClusters, correction, design_effect
from service.inference.intervals import Interval, log_interval, logit_interval, normal_quantile, wald_interval
from service.inference.proportions import widened, wilson
from service.inference.spread import area_error
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
    depths = [z] * len(trials)
    if strata.clustered is not None:
        means = [*_clustered_bins(found, strata, trials)]
        trials, depths = [each.trials for each in means], [widened(z, each.freedom) for each in means]
    ends = [
        wilson(observed, size, np.array([-depth, depth]))
        for observed, size, depth in zip(found.reliability.observed.tolist(), trials, depths, strict=True)
    ]
    lower, upper = np.transpose(ends).copy()
    return lower, upper


def _clustered_bins(found: ProbabilityStatistics, strata: Strata, rows: Sequence[float]) -> Iterator[ClusteredMean]:
    """How certain the share of positives in each bin is, given its effective number of examples."""
    kinds = [(each.rows[0] - 1, each.masses, each.of_kinds) for each in strata.classes]
    at, masses, of_kinds = (np.concatenate(columns) for columns in zip(*kinds, strict=True))
    values = (np.arange(at.size) < kinds[0][0].size).astype(np.float64)
    for bin_rows, size in zip(found.reliability.rows, rows, strict=True):
        there = np.zeros(found.scores.positive.size, np.bool_)
        there[bin_rows] = True
        inside = there[at]
        clusters = ClassClusters.of(of_kinds[inside], masses[inside], size)
        yield clustered_mean(values[inside], masses[inside], clusters, size)


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
    for name in STATISTIC_FORMULAS:
        value: float | None = getattr(values, name)
        error = None if value is None or found is None or not strata.enough else error_of_statistic(name, found, strata)
        yield name, None if value is None or error is None else interval_of_statistic(name, value, error, level)


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


@dataclass(frozen=True, slots=True)
class StatisticError:
    """The standard error of a statistic, above 0, and how certain it is."""

    error: float
    certainty: Certainty


def error_of_statistic(name: str, found: ProbabilityStatistics, strata: Strata) -> StatisticError | None:
    """The standard error of brier, log_loss, slope or intercept, which has a value; None if there is none above 0."""
    if name in ("brier", "log_loss"):
        of_loss = area_error(strata, name)
        certainty = Certainty(of_loss.design_effect, of_loss.freedom)
        return StatisticError(of_loss.error, certainty) if of_loss.error else None
    fit = found.slope if name == "calibration_slope" else found.intercept
    return None if fit is None else _of_fit(found, strata, fit)


def interval_of_statistic(name: str, value: float, error: StatisticError, level: float) -> Interval:
    """The interval of one of STATISTIC_FORMULAS."""
    interval = STATISTIC_FORMULAS[name](value, error.error, level, error.certainty.freedom)
    return replace(interval, design_effect=error.certainty.design_effect)


def _of_fit(found: ProbabilityStatistics, strata: Strata, fit: LogisticFit) -> StatisticError | None:
    """The standard error of the last coefficient of a fit; None if rounding leaves nothing of it."""
    unit = found.scores.total / (found.table.positives + found.table.negatives)
    try:
        inverse = np.linalg.inv(fit.information)
    except np.linalg.LinAlgError:
        return None
    if strata.positives.weights is None and strata.negatives.weights is None and strata.clustered is None:
        return _error_of(inverse[-1, -1] * unit)
    of_positives, of_negatives = (_squares(each, found, unit) for each in strata.classes)
    residuals = of_positives * (1 - fit.fitted) ** 2 + of_negatives * fit.fitted**2
    spread = fit.moments(residuals)
    of_rows = float((inverse @ spread @ inverse)[-1, -1])
    if strata.clustered is None:
        return _error_of(of_rows)
    moves = _cluster_moves(strata, fit, unit) @ inverse[-1]
    variance = correction(min(strata.units)) * float(moves @ moves)
    effect = design_effect(variance, of_rows)
    freedom = min(each.freedom(effect or 1.0) for each in strata.clustered)
    return _error_of(of_rows if effect is None else variance, Certainty(effect, freedom))


def _cluster_moves(strata: Strata, fit: LogisticFit, unit: float) -> FloatArray:
    """Σ w (y - p) (1, x) over the examples of each cluster, (clusters, k)."""
    assert strata.clustered is not None  # noqa: S101  # only those of clustered examples are asked for
    count = 1 + max(int(each.of_kinds.max()) for each in strata.clustered)
    moves = np.zeros((fit.coefficients.size, count))
    for stratum, clusters, label in zip(strata.classes, strata.clustered, (1.0, 0.0), strict=True):
        rows = stratum.rows[0] - 1
        residuals = unit * stratum.masses * (label - fit.fitted[rows])
        for place, along in enumerate((np.ones(rows.size), fit.odds[rows])[: fit.coefficients.size]):
            moves[place] += clusters.sums(residuals * along, count)
    return moves.T


def _error_of(variance: float, certainty: Certainty | None = None) -> StatisticError | None:
    return StatisticError(math.sqrt(variance), certainty or Certainty()) if 0 < variance < math.inf else None


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


STATISTIC_FORMULAS: Mapping[str, Callable[[float, float, float, float], Interval]] = {
    "brier": logit_interval,
    "log_loss": log_interval,
    "calibration_slope": wald_interval,
    "calibration_intercept": wald_interval,
}
"""{statistic: its interval, from its value, its standard error, the level and the error's degrees of freedom}"""
