"""Score intervals of metrics of decisions and of net benefit: functions of recall and fpr at a row not chosen by luck.

A row chosen by a threshold or a budget is taken as given. The best row was chosen on the same data, so an interval
there would be too high; with a tuning sample it was not. Knows decisions, models and the intervals of rates.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from service.curves.arrays import FloatArray
from service.curves.clock import in_time
from service.curves.decisions import Decided
from service.curves.errors import enumerated
from service.curves.evaluation import CurvesOptions, CurvesWarning
from service.curves.net_benefit import NetBenefit, NetBenefitOptions, rows_of_probabilities
from service.inference.intervals import normal_quantile
from service.inference.models import EvaluatedModel
from service.inference.proportions import range_including, split
from service.inference.rates import Rate, rate_ends


def with_intervals(
    decided: Decided, options: CurvesOptions, model: EvaluatedModel, level: float
) -> tuple[Decided, tuple[CurvesWarning, ...]]:
    """Add the ends of intervals, NaN where there are none: without a value or enough examples, or at a best row.

    `model` has the table in whose rows the decisions are.
    """
    decisions, tuned = options.decisions, options.tuning is not None
    z, ends = normal_quantile(level), {name: np.full((2, len(decisions)), np.nan) for name in decided.metrics}
    best = [] if tuned else [str(each) for each in decisions if each.best is not None]
    if model.table.rises and model.strata.enough:
        for place, row in in_time(enumerate(decided.rows)):
            if row is None or (decisions[place].best is not None and not tuned):
                continue
            shares = model.shares_at(row)
            for name, values in decided.metrics.items():
                rate, value = Rate(name, None, model.table.positives, model.table.negatives), float(values[place])
                if not np.isnan(value):
                    ends[name][:, place] = rate_ends(rate, value, shares, z)
    warnings = (_omitted_at(best),) if best else ()
    return replace(decided, ends=ends), warnings


def net_benefit_ends(
    found: NetBenefit, options: NetBenefitOptions, model: EvaluatedModel, level: float
) -> tuple[FloatArray, FloatArray]:
    """The ends of the score intervals of net benefits, (n,) each; NaN where there are none.

    π recall - (1 - π) fpr t/(1 - t), for all recalls and fprs that the data leave possible. At 0.5, with 4 of 5
    positives and 3 of 7 negatives called positive: -0.1891 to 0.2773 at 95 %.
    """
    z, ends = normal_quantile(level), np.full((2, found.threshold.size), np.nan)
    table, directions = model.table, split(z)
    share = options.prevalence or table.positives / (table.positives + table.negatives)
    if table.rises and model.strata.enough:
        for place, row in in_time(enumerate(rows_of_probabilities(table, found.threshold).tolist())):
            if row >= 0:
                recall, fpr = (each.ends(way) for each, way in zip(model.shares_at(row), directions, strict=True))
                odds = found.threshold[place] / (1 - found.threshold[place])
                benefits = share * recall - (1 - share) * fpr * odds
                ends[:, place] = range_including(float(found.net_benefit[place]), benefits)
    return ends[0].copy(), ends[1].copy()


def _omitted_at(best: Sequence[str]) -> CurvesWarning:
    are = "interval is" if len(best) == 1 else "intervals are"
    detail = (
        f"The {are} null for {enumerated(best)}: chosen on the same data; send tuning, or fix the threshold with "
        "at_threshold."
    )
    return CurvesWarning("interval_omitted", detail)
