"""The numbers that a gate may judge: what each is called, where it is read, and what values it may have.

    an area       under a whole curve
    a part        the mean height of a curve over a range
    a point       a curve, or the best value of an index, at a place: a recall, a precision, an fpr, or a λ
    of a row      a metric or an index of the row of a decision, such as a threshold in use
    a statistic   one number of all scores, such as brier

Knows names and numbers only.
"""

import math
from dataclasses import dataclass, fields

from service.curves.areas import Areas
from service.curves.decisions import Decision
from service.curves.errors import plain
from service.curves.indices import INDICES
from service.curves.operating_points import METRICS
from service.curves.partial_areas import PartialRange
from service.curves.reliability import ReliabilityOptions
from service.curves.row_metrics import ROW_METRICS

AREAS = tuple(field.name for field in fields(Areas))
"""The areas, which are metrics without a place."""

AREAS_WITH_INTERVALS = ("roc", "pr", "average_precision")
"""The areas that have intervals. A hull is fitted to its test data, so it lies above what new data would give."""

POINTS_WITH_INTERVALS = ("tpr_at_fpr", "precision_at_recall")
"""The metrics with a place that have intervals. Others take the best of all rows, fitted to the data like a hull."""

ENDS = (0.0, 1.0)
"""The least and the greatest value of a metric; an area, or a point of a curve, shows no spread there."""

PARTIAL = "partial"
"""The mean height of a part of a curve."""

_OF_ALL_SCORES: dict[str, tuple[int, float, float]] = {
    "gini": (1, -1.0, 1.0),
    "ks": (1, 0.0, 1.0),
    "prg": (1, -math.inf, 1.0),
    "eer": (-1, 0.0, 1.0),
    "brier": (-1, 0.0, 1.0),
    "miscalibration": (-1, 0.0, 1.0),
    "log_loss": (-1, 0.0, math.inf),
    "ece": (-1, 0.0, 1.0),
    "calibration_slope": (0, -math.inf, math.inf),
    "calibration_intercept": (0, -math.inf, math.inf),
}
"""{statistic: 1 if more is better, -1 if less is, 0 if neither is; and the ends of its range}"""

OF_ALL_SCORES = tuple(_OF_ALL_SCORES)
"""The numbers of all scores that are not areas."""

OF_PROBABILITIES = OF_ALL_SCORES[OF_ALL_SCORES.index("brier") :]
"""The statistics that take scores as probabilities."""

_FAMILIES = {
    "roc": "roc",
    "gini": "roc",
    **dict.fromkeys((*AREAS_WITH_INTERVALS[1:], PARTIAL), "area"),
    **dict.fromkeys(POINTS_WITH_INTERVALS, "point"),
    "brier": "brier",
    "log_loss": "log_loss",
    **dict.fromkeys(("calibration_slope", "calibration_intercept"), "fit"),
}
"""{metric: its kind of interval}, of those without a decision."""

_PLACES = {"precision_at_recall": "recall", "recall_at_precision": "precision", "tpr_at_fpr": "fpr"}
"""{metric: the name of what `at` gives}, where that is not lambda."""

METRIC_NAMES = tuple(dict.fromkeys((*AREAS, PARTIAL, *METRICS, *ROW_METRICS, *OF_ALL_SCORES)))
"""All metrics that a rule may name."""


@dataclass(frozen=True, slots=True)
class Metric:
    """A number of an evaluation.

    at        the place on a curve, or the λ of an index.
    decision  which row it is read off.
    part      the range, for PARTIAL.
    bins      those of ece, if not the usual ones.
    """

    name: str
    at: float | None = None
    decision: Decision | None = None
    part: PartialRange | None = None
    bins: ReliabilityOptions | None = None

    @property
    def is_area(self) -> bool:
        """Whether it is an area under a curve or, for PARTIAL, under a part of one."""
        return self.part is not None or self.name in AREAS

    @property
    def family(self) -> str | None:
        """Its kind of interval; None if it has none, as the best of all rows has not: it is fitted to the data."""
        if self.decision is not None:
            return "rate" if self.decision.best is None else None
        return _FAMILIES.get(self.name)

    @property
    def weight(self) -> float | None:
        """The λ of an index of a row, 1/2 unless given; None for a metric of the confusion matrix alone."""
        is_index = self.name in INDICES and not (self.name in ROW_METRICS and self.at is None)
        return (0.5 if self.at is None else self.at) if is_index else None

    @property
    def better(self) -> int:
        """1 if more is better, -1 if less is, 0 if neither is."""
        if self.name in ROW_METRICS:
            return ROW_METRICS[self.name].better
        return _OF_ALL_SCORES.get(self.name, (1,))[0]

    @property
    def limits(self) -> tuple[float, float]:
        """The least and the greatest value that it may have."""
        if self.name in ROW_METRICS:
            return ROW_METRICS[self.name].low, ROW_METRICS[self.name].high
        _, low, high = _OF_ALL_SCORES.get(self.name, (1, 0.0, 1.0))
        return low, high

    @property
    def span(self) -> float:
        """How far apart two values of it may be."""
        low, high = self.limits
        return high - low

    def __str__(self) -> str:
        """Name it in a sentence."""
        if self.part is not None:
            above = "" if self.part.min_tpr is None else f" above tpr {plain(self.part.min_tpr)}"
            return f"{self.name} over {self.part.over} {plain(self.part.start)} to {plain(self.part.end)}{above}"
        at = "" if self.at is None else f" at {_PLACES.get(self.name, 'lambda')} {plain(self.at)}"
        bins = "" if self.bins is None else f" of {self.bins.bins} bins by {self.bins.by}"
        return self.name + at + bins + ("" if self.decision is None else f" at {self.decision}")
