"""Metrics of resamples, and the interval and p-value that they give; each resample is drawn once for all metrics.

    interval   the quantiles of the replicates, or BCa's
    p-value    that of the narrowest interval that includes no difference

Two evaluations of the same examples get the same resamples, so that their differences are those of pairs. Knows models
and the bootstrap, not which metric has which interval.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from service.curves.arrays import FloatArray
from service.inference.bootstrap import REPLICATES_WITHIN, LeftOut, bca_ends, jackknife, percentile_ends, replicates
from service.inference.intervals import Interval, IntervalOptions
from service.inference.metric import Metric
from service.inference.models import Models
from service.inference.proportions import Ends, p_value_by_level


@dataclass(frozen=True, slots=True, eq=False)
class Replicates:
    """A metric of resamples: the values, (B,), and for `bca` the jackknife values of each class."""

    values: FloatArray
    left_out: Sequence[LeftOut] | None = None

    def interval(self, estimate: float, level: float) -> Interval | None:
        """The interval around an estimate: BCa with jackknife values, else percentiles; None if undefined."""
        values = self.values
        if self.left_out is None:
            method, ends = "bootstrap", percentile_ends(values, level)
        else:
            method, ends = "bca", bca_ends(values, estimate, self.left_out, level)
        if any(map(math.isnan, ends)):
            return None
        error = float(values.std(ddof=1)) if values.size > 1 and not np.isnan(values).any() else None
        return Interval(*ends, level, method, error)

    def p_value(self, estimate: float) -> float | None:
        """The two-sided p-value of no difference, if the values are differences: that of the least interval with 0.

        It is at least 2/(B + 1), as wider intervals need more resamples. An end that is not known, because some values
        are undefined, includes 0, as does one that differs from 0 only by rounding. None without an interval.
        """
        middle = self.interval(estimate, 0.0)
        if middle is None:
            return None

        def ends(level: float) -> Ends:
            found = self.interval(estimate, level)
            return (-1.0, 1.0) if found is None else (found.lower - REPLICATES_WITHIN, found.upper + REPLICATES_WITHIN)

        if abs(middle.lower) <= REPLICATES_WITHIN:
            return 1.0
        return max(p_value_by_level(middle.lower, ends), 2 / (self.values.size + 1))

    def less(self, other: "Replicates", kept: float = 1.0, *, paired: bool) -> "Replicates":
        """Subtract a share of the other's values: of the same resamples if `paired`, else of other examples."""
        left_out: Sequence[LeftOut] | None = None
        if self.left_out is not None and other.left_out is not None:
            if paired:
                both = zip(self.left_out, other.left_out, strict=True)
                left_out = [LeftOut(one.values - kept * two.values, one.examples) for one, two in both]
            else:
                left_out = [*self.left_out, *(LeftOut(-kept * each.values, each.examples) for each in other.left_out)]
        return Replicates(self.values - kept * other.values, left_out)


def replicated(
    of: Models, metrics: Iterable[Metric], options: IntervalOptions, stream: int
) -> dict[Metric, list[Replicates]]:
    """Resample metrics of one model, or of two that are paired: of each model, the metric of the same resamples."""
    statistics = {metric: [model.statistic(metric) for model in of.models] for metric in metrics}
    if not statistics:
        return {}
    values = replicates(of.strata, statistics, options.resamples, options.seed, stream)
    if options.method != "bca":
        return {metric: [Replicates(each) for each in values[metric]] for metric in statistics}
    left_out = jackknife(of.strata, statistics, options.seed)
    return {
        metric: [Replicates(*each) for each in zip(values[metric], left_out[metric], strict=True)]
        for metric in statistics
    }
