"""The areas of several samples, such as slices or classes, as columns; NaN with a reason where undefined.

    check  each set of rows: it has a reason instead of areas if one class weighs nothing, too much or too little
    build  its table and that of its hull
    read   five areas off the two

Knows samples, tables and their areas; not what the samples are.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from service.curves.areas import average_precision, pr_area, roc_area
from service.curves.arrays import BoolArray, FloatArray
from service.curves.clock import in_time
from service.curves.clusters import Clusters
from service.curves.confusion import ConfusionTable, Evaluation
from service.curves.errors import DomainError, OneClassLabels, TotalOutOfRange
from service.curves.histogram import Histogram
from service.curves.hull import roc_convex_hull
from service.curves.sample import Sample
from service.curves.target_prevalence import TargetPrevalence

SHARED_AREAS = ("roc", "roc_hull", "pr", "pr_achievable", "average_precision")
"""The areas that slices and classes have. They lack `pr_trapezoid`, which visits every true positive."""

ONE_CLASS, TOTAL_OUT_OF_RANGE = "one_class", "total_out_of_range"
"""The reasons why a sample has no areas."""


@dataclass(slots=True, eq=False)
class AreaColumns:
    """The totals and areas of s samples, (s,) each; NaN with a reason where undefined."""

    positives: FloatArray
    negatives: FloatArray
    roc: FloatArray
    roc_hull: FloatArray
    pr: FloatArray
    pr_achievable: FloatArray
    average_precision: FloatArray
    reason: list[str | None] = field(init=False)

    def __post_init__(self) -> None:
        self.reason = [None] * self.positives.size

    def set(self, number: int, table: ConfusionTable) -> None:
        """Set the areas of one sample from its table."""
        hull = table.select(roc_convex_hull(table))
        self.roc[number], self.roc_hull[number] = roc_area(table), roc_area(hull)
        self.pr[number], self.pr_achievable[number] = pr_area(table), pr_area(hull)
        self.average_precision[number] = average_precision(table)

    def set_undefined(self, number: int, part: "Undefined") -> None:
        """Set the totals of a sample without areas, and the reason."""
        self.positives[number], self.negatives[number] = part.totals
        self.reason[number] = part.reason
        for name in SHARED_AREAS:
            getattr(self, name)[number] = np.nan


@dataclass(frozen=True, slots=True)
class Undefined:
    """A set of rows without areas: its totals, NaN where one exceeds all doubles, and the reason."""

    totals: tuple[float, ...]
    reason: str


def groups_or_reason(columns: Histogram) -> Histogram | Undefined:
    """Merge groups, or say why they are undefined."""
    try:
        return columns.merged()
    except (OneClassLabels, TotalOutOfRange) as error:
        return _undefined(error, *columns.masses)


def sample_or_reason(
    scores: FloatArray,
    labels: BoolArray,
    weights: FloatArray | None,
    *,
    lower_is_positive: bool,
    clusters: Clusters | None = None,
    target: TargetPrevalence | None = None,
) -> Sample | Undefined:
    """Make a sample, or say why it is undefined."""
    try:
        return Sample(scores, labels, weights, lower_is_positive, clusters=clusters, target=target)
    except (OneClassLabels, TotalOutOfRange) as error:
        each = np.ones(labels.size) if weights is None else weights
        return _undefined(error, each[labels], each[~labels])


def _undefined(error: DomainError, *classes: FloatArray) -> Undefined:
    totals = tuple(map(_total, classes))
    return Undefined(totals, ONE_CLASS if isinstance(error, OneClassLabels) else TOTAL_OUT_OF_RANGE)


def _total(weights: FloatArray) -> float:
    """The sum, rounded once whatever the order of the rows; NaN beyond all doubles."""
    try:
        return math.fsum(weights)
    except OverflowError:
        return math.nan


def without_areas(reasons: list[str | None], kind: str, what: str = "areas") -> str:
    """Say how many of these have no areas, and what else they lack for the same reason; empty if all have some."""
    count = len(reasons) - reasons.count(None)
    verb = "has" if count == 1 else "have"
    return f"{count} of {len(reasons)} {kind} {verb} no {what}; see reason." if count else ""


def areas_of_each(
    parts: Iterable[Evaluation | Undefined], count: int
) -> tuple[AreaColumns, list[ConfusionTable | None]]:
    """All areas of evaluations, one at a time, and the tables of those that have areas."""
    found = AreaColumns(*np.full((2 + len(SHARED_AREAS), count), np.nan))
    tables: list[ConfusionTable | None] = []
    for number, part in enumerate(in_time(parts)):
        table = None
        if isinstance(part, Undefined):
            found.set_undefined(number, part)
        else:
            table = ConfusionTable.of(part)
            found.positives[number], found.negatives[number] = table.positives, table.negatives
            found.set(number, table)
        tables.append(table)
    np.maximum(found.pr_achievable, found.pr, out=found.pr_achievable)
    return found, tables
