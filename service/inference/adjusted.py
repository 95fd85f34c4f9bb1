"""Intervals at levels so high that the tails of the usual ones no longer hold, as for the worst of many slices.

    a rate        recall and fpr by Clopper & Pearson in place of Wilson; other metrics of the row from these
    an area, a statistic   z is `widened` for the smaller class, where it is not already
    a difference  that of areas and of mean losses already is; of rates from both intervals, unless they are paired and
                  the difference is not relative

tests/README.md has the simulations. Knows models and the methods of intervals; nothing of slices or verdicts.
"""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from service.inference.exact_proportions import exact_ends
from service.inference.intervals import (
    Interval,
    delong_interval,
    difference_interval,
    kept_of,
    logit_interval,
    mover_ends,
    normal_quantile,
    score_interval,
)
from service.inference.methods import closed_interval, one_minus_correlation_of, within_limits
from service.inference.metric import Metric
from service.inference.models import EvaluatedModel, Models
from service.inference.probability_errors import STATISTIC_FORMULAS
from service.inference.proportions import Ends, range_including, split, widened
from service.inference.rates import SHARES

_ALREADY_WIDE = ("pr", "average_precision")


def adjusted_interval(
    of: Models, metric: Metric, values: Sequence[float], level: float, method: str
) -> Interval | None:
    """The interval of a metric, or of its difference if there are two models; None if it has none in closed form."""
    if metric.family == "rate" and not (of.paired and of.kept == 1):
        z = normal_quantile(level)
        ends = [_exact_rate_ends(each, metric, value, z) for each, value in zip(of.models, values, strict=True)]
        if len(ends) == 1:
            return score_interval(ends[0], level)
        both = kept_of(values, ends, of.kept)
        return score_interval(mover_ends(*both, one_minus_correlation_of(of, metric), metric.span), level)
    found = closed_interval(of, metric, values, level, method)
    if found is None or not found.standard_error or metric.name in _ALREADY_WIDE:
        return found
    z, fewest = normal_quantile(level), min(_fewest(each, metric) for each in of.models)
    error = found.standard_error * widened(z, fewest) / z
    if len(values) > 1:
        if found.method != "delong":
            return found
        wide = difference_interval(of.difference(values), error, level, of.kept)
        return replace(wide, standard_error=found.standard_error)
    if metric.name in STATISTIC_FORMULAS:
        wide = STATISTIC_FORMULAS[metric.name](values[0], error, level, math.inf)
    elif found.method == "delong":
        wide = delong_interval(values[0], error, level)
    else:
        wide = within_limits(of, metric, logit_interval(values[0], error, level))
    return replace(wide, standard_error=found.standard_error)


def _fewest(model: EvaluatedModel, metric: Metric) -> float:
    """The effective size of the smaller class; the degrees of freedom, or what negatives stand for, if that is less."""
    freedom = math.inf
    if metric.is_area:
        of_area = model.area_error(metric.part or metric.name)
        freedom = min(of_area.freedom, of_area.stand_ins)
    elif metric.name in STATISTIC_FORMULAS and (error := model.error_of(metric)) is not None:
        freedom = error.certainty.freedom
    return min(*model.strata.effective, freedom)


def _exact_rate_ends(model: EvaluatedModel, metric: Metric, value: float, z: float) -> Ends:
    """As `rate_ends`, from Clopper & Pearson's ends."""
    shares = model.shares(metric).shares
    if metric.name in SHARES:
        return range_including(value, exact_ends(shares[SHARES.index(metric.name)], np.array([-z, z])))
    recall, fpr = (exact_ends(share, way) for share, way in zip(shares, split(z), strict=True))
    return range_including(value, model.rate(metric)(recall, fpr))
