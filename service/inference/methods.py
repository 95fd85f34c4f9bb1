"""Which interval which metric has. Knows names only.

Areas have the method asked for. A rate at a threshold has a score interval, whatever was asked for: resamples of a few
examples that decide show too little, and none at all where no example changes sides. So has a point of a curve, but
where resamples were asked for; the difference of two such points, and of two areas under the PR curve, has resamples.
"""

from service.inference.rules import Metric

RESAMPLED_METHODS = ("bootstrap", "bca")
INTERVAL_METHODS = ("auto", "delong", "logit", *RESAMPLED_METHODS)
"""What may be asked for; `auto` is `logit`."""


def method_of(metric: Metric, asked: str, *, difference: bool = False) -> str | None:
    """The method of a metric's interval, or of its difference's; None where there is none.

    A value of exactly 0 or 1 has no spread, and another method: that is not told by names.
    """
    if not metric.has_interval or (asked == "delong" and metric.is_area and metric.name != "roc"):
        return None
    if metric.at_threshold is not None:
        return "score"
    if asked in RESAMPLED_METHODS:
        return asked
    if not metric.is_area:
        return "bootstrap" if difference else "score"
    if asked == "delong":
        return asked
    return "mover" if difference else "logit"


def is_resampled(metric: Metric, asked: str, *, difference: bool = False) -> bool:
    """Whether a metric's interval, or its difference's, comes from resamples."""
    return method_of(metric, asked, difference=difference) in RESAMPLED_METHODS
