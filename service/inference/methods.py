"""Which metric has which interval. Knows names only.

Areas use the requested method. A rate at a threshold always has a score interval: if few examples decide it, resamples
vary too little, or not at all. A point of a curve also has a score interval, unless resampling was requested;
differences of such points are always resampled.
"""

from service.inference.rules import Metric

RESAMPLED_METHODS = ("bootstrap", "bca")
INTERVAL_METHODS = ("auto", "delong", "logit", *RESAMPLED_METHODS)
"""The methods that may be requested; `auto` and `logit` are the same, and both mean `mover` for a difference."""


def method_of(metric: Metric, asked: str, *, difference: bool = False) -> str | None:
    """The method of the interval of a metric, or of its difference; None if it has none.

    A value of exactly 0 or 1 has no spread and uses another method, which names cannot determine.
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
    """Whether the interval of a metric, or of its difference, comes from resamples."""
    return method_of(metric, asked, difference=difference) in RESAMPLED_METHODS
