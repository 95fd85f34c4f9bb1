"""The interval of a gap: the greatest of several true values less the least.

    upper end  the greatest of the upper ends of θ_j - θ_k over all ordered pairs: the gap exceeds it only if it exceeds
               that of the pair that is truly farthest apart, so no level needs to be adjusted (intersection-union)
    lower end  the greatest of the lower ends, at least 0, with z = q/√2, where q is exceeded by the range of as many
               standard normals with probability (1 - level)/2 (Tukey and Kramer)

Of areas, the lower end is that of MOVER on the probit intervals alone: the outer of two ends, as for a single
difference, would be far too low. Knows models and the methods of intervals. Sources: those of ranges.py; Berger & Hsu
1996, "Bioequivalence trials, intersection-union tests and equivalence confidence sets".
"""

import math
from collections.abc import Sequence
from itertools import combinations

from service.curves.clock import in_time
from service.inference.intervals import Interval, mover_ends, probit_ends
from service.inference.methods import closed_interval, method_of
from service.inference.metric import ENDS, Metric
from service.inference.models import EvaluatedModel, Models
from service.inference.proportions import Ends, widened
from service.inference.ranges import range_quantile


def gap_interval(
    models: Sequence[EvaluatedModel], metric: Metric, values: Sequence[float], level: float, asked: str
) -> Interval | None:
    """The interval of the gap of a metric with these values, of two models or more with different rows.

    None if a difference has no interval in closed form.
    """
    method = method_of(metric, asked, difference=True)
    if method is None:
        return None
    z = pairwise_z(level, len(models))
    least, most = 0.0, max(values) - min(values)
    for j, k in in_time(combinations(range(len(models)), 2)):
        pair, two = Models((models[j], models[k])), (values[j], values[k])
        found = closed_interval(pair, metric, two, level, method)
        if found is None:
            return None
        lower, upper = _lower_ends(pair, metric, two, z, method)
        least, most = max(least, lower, -upper), max(most, found.upper, -found.lower)
    return Interval(least, most, level, method, None)


def pairwise_z(level: float, count: int) -> float:
    """The z = q/√2 of the lower ends of all differences between this many; 2.6038 for three and 0.95."""
    return range_quantile(level, count) / math.sqrt(2)


def _lower_ends(pair: Models, metric: Metric, values: tuple[float, float], z: float, method: str) -> Ends:
    """The ends of a difference for this z, of which the one nearer to 0 counts."""
    if metric.is_area:
        if any(value in ENDS for value in values):
            return -1.0, 1.0
        of_areas = [each.area_error(metric.part or metric.name) for each in pair.models]
        fewest = min(min(*each.units, each.stand_ins) for each in of_areas)
        errors = [each.error for each in of_areas]
        of_each = [probit_ends(value, error, widened(z, fewest)) for value, error in zip(values, errors, strict=True)]
        return mover_ends(values, of_each)
    found = closed_interval(pair, metric, values, math.erf(z / math.sqrt(2)), method)
    return (-math.inf, math.inf) if found is None else (found.lower, found.upper)
