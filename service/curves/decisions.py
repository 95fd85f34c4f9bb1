"""Decisions: which row of the table is used, named by a threshold, a budget, or as the best by a metric.

    at_threshold   the row that calls positive what scores at or beyond it
    at_share, at_fpr, at_recall   the last row within a budget, or the first that reaches a recall
    best           the row of the best value, among those within some limits
    tuning         rows are chosen on another sample, and their thresholds applied to this one

Rates and values are compared as reported, in doubles. Knows tables and metrics of their rows.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields

import numpy as np

from service.curves.arrays import BoolArray, FloatArray
from service.curves.clock import in_time
from service.curves.confusion import ConfusionTable, Evaluation
from service.curves.errors import enumerated, plain
from service.curves.operating_points import row_at_threshold
from service.curves.row_metrics import ROW_METRICS, matrices_of, values_of

BEST_BY = tuple(name for name in ROW_METRICS if name not in {"share", "lr_positive", "lr_negative"})
"""The metrics that may choose a row. Likelihood ratios are undefined where they are best."""

DEFAULT_METRICS = ("accuracy", "precision", "recall", "specificity", "npv", "f1", "mcc", "share")
"""The metrics of decisions, unless others are named."""

_LIMITED_BY = {
    "min_precision": ("precision", 1),
    "min_recall": ("recall", 1),
    "min_specificity": ("specificity", 1),
    "max_fpr": ("fpr", -1),
    "max_share": ("share", -1),
}
"""{limit: the metric that it limits, and whether from below or above}"""

LIMITS_OF_BEST = tuple(_LIMITED_BY)

_BUDGETS = {"at_share": "share", "at_fpr": "fpr", "at_recall": "recall"}
"""{way to choose a row: the metric that it looks at}"""

WAYS_TO_CHOOSE = ("at_threshold", *_BUDGETS, "best")
"""The ways to choose a row, of which a decision has one."""


@dataclass(frozen=True, slots=True)
class Decision:
    """Exactly one of WAYS_TO_CHOOSE, with `best` perhaps some of LIMITS_OF_BEST, inclusive."""

    at_threshold: float | None = None
    at_share: float | None = None
    at_fpr: float | None = None
    at_recall: float | None = None
    best: str | None = None
    min_precision: float | None = None
    min_recall: float | None = None
    min_specificity: float | None = None
    max_fpr: float | None = None
    max_share: float | None = None

    @property
    def limits(self) -> dict[str, float]:
        """The limits that are given."""
        return {name: limit for name in LIMITS_OF_BEST if (limit := getattr(self, name)) is not None}

    def __str__(self) -> str:
        """Name it: "threshold 0.5", or "best precision, recall >= 0.6"."""
        if self.best is None:
            name = next(each.name for each in fields(self) if getattr(self, each.name) is not None)
            return f"{name.removeprefix('at_')} {plain(getattr(self, name))}"
        limits = [
            f"{_LIMITED_BY[name][0]} {'>=' if _LIMITED_BY[name][1] > 0 else '<='} {plain(limit)}"
            for name, limit in self.limits.items()
        ]
        return ", ".join([f"best {self.best}", *limits])


@dataclass(frozen=True, slots=True, eq=False)
class Decided:
    """The rows of decisions, as columns (n,) in the order requested; NaN for a decision that no row meets.

    rows        of the evaluation's table; None for a decision that none meets. Empty if there are several tables.
    threshold   the row's, or the one that was asked for; NaN where nothing is called positive.
    metrics     {name: its values}, NaN where undefined.
    ends        {name: the lower and the upper ends of its intervals, (2, n)}, if they were asked for.
    """

    decision: tuple[str, ...]
    rows: Sequence[int | None]
    threshold: FloatArray
    tp: FloatArray
    fp: FloatArray
    fn: FloatArray
    tn: FloatArray
    metrics: Mapping[str, FloatArray]
    ends: Mapping[str, FloatArray] = field(default_factory=dict)


def decided(
    decisions: Sequence[Decision],
    metrics: Iterable[str],
    evaluation: Evaluation,
    table: ConfusionTable,
    *,
    candidates: ConfusionTable | None = None,
    tuning: ConfusionTable | None = None,
) -> Decided:
    """Find the row of each decision in the table of an evaluation, and read metrics off it.

    `candidates` are the rows among which a budget or `best` chooses, if not all. With `tuning`, they choose among its
    rows, and the threshold found there is applied to the table.

    For the scores of `areas.roc_area`, `best: f1` is the row of threshold 0.6, which misses no positive.
    """
    source = tuning or candidates or table
    columns, rows = np.full((3, len(decisions)), np.nan), chosen_rows_of(source, decisions)
    for place, (each, row) in enumerate(zip(decisions, rows, strict=True)):
        threshold = each.at_threshold
        if threshold is not None:
            rows[place] = row_at_threshold(table, evaluation, threshold)
        elif row is not None:
            threshold = float(source.thresholds[row])
            rows[place] = _same_row(source, row, table)
        if (at := rows[place]) is not None:
            columns[:, place] = threshold, table.tp[at], table.fp[at]
    threshold_column, tp, fp = columns
    known = ~np.isnan(tp)
    matrices = matrices_of(table, tp[known], fp[known])
    found = {name: np.full(tp.size, np.nan) for name in metrics}
    for name, values in found.items():
        values[known] = ROW_METRICS[name].value(matrices)
    names = tuple(map(str, decisions))
    return Decided(names, rows, threshold_column, tp, fp, table.positives - tp, table.negatives - fp, found)


def _same_row(source: ConfusionTable, row: int, table: ConfusionTable) -> int:
    """The row of a table that calls positive what a row of another sample, or of this one cut at thresholds, does."""
    if source is table:
        return row
    if row < source.origins:
        return 0
    threshold = source.thresholds[row]
    # Of a cut table, only the last row may have no threshold.
    return table.tp.size - 1 if np.isnan(threshold) else int(table.rows_at(np.array([threshold]))[0])


def not_rows(decisions: Sequence[Decision], found: Decided) -> str | None:
    """Say which thresholds are not rows of the table, if any: counts and open groups do not tell what is between."""
    missing = [
        plain(each.at_threshold)
        for each, tp in zip(decisions, found.tp.tolist(), strict=True)
        if each.at_threshold is not None and np.isnan(tp)
    ]
    if not missing:
        return None
    return (
        f"The decisions at threshold {enumerated(missing)} are null: counts have only the rows that they list, and "
        "open groups only those at their ends."
    )


def chosen_rows_of(table: ConfusionTable, decisions: Sequence[Decision]) -> list[int | None]:
    """The row of each decision; None if no row meets it, and for thresholds."""
    rows: list[int | None] = [None] * len(decisions)
    for way, name in _BUDGETS.items():
        asked = [(place, at) for place, each in enumerate(decisions) if (at := getattr(each, way)) is not None]
        column = values_of(name, table) if asked else np.empty(0)
        for place, at in in_time(asked):
            rows[place] = _within(column, at, first=way == "at_recall", rises=table.rises or name == "fpr")
    limited: dict[str, FloatArray] = {}
    for name in dict.fromkeys(each.best for each in decisions if each.best is not None):
        values = ROW_METRICS[name].better * values_of(name, table)
        for place, each in in_time(enumerate(decisions)):
            if each.best == name:
                rows[place] = _best(table, values, _meets(table, each.limits, limited))
    return rows


def _within(column: FloatArray, at: float, *, first: bool, rises: bool) -> int:
    """The last row of at most this value or, if `first`, the first row of at least this value; there is one."""
    if rises:
        return int(column.searchsorted(at)) if first else int(column.searchsorted(at, side="right")) - 1
    return int(np.flatnonzero(column >= at)[0]) if first else int(np.flatnonzero(column <= at)[-1])


def _meets(table: ConfusionTable, limits: Mapping[str, float], columns: dict[str, FloatArray]) -> BoolArray:
    """Whether each row meets all limits, (n,); keeps the columns that it needs."""
    met = np.ones(table.tp.size, dtype=np.bool_)
    for limit, bound in limits.items():
        name, sign = _LIMITED_BY[limit]
        if name not in columns:
            columns[name] = values_of(name, table)
        met &= columns[name] >= bound if sign > 0 else columns[name] <= bound
    return met


def _best(table: ConfusionTable, values: FloatArray, among: BoolArray) -> int | None:
    """The row of the greatest value; of equal ones, the one of the most tp, then of the least fp, then the first."""
    greatest = np.fmax.reduce(values, where=among, initial=-np.inf)
    rows = np.flatnonzero(among & (values == greatest))
    return int(rows[np.lexsort((table.fp[rows], -table.tp[rows]))[0]]) if rows.size else None
