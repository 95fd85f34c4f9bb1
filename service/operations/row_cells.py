"""The columns of rows of a confusion table: those of curves, of decisions, and metrics of either."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from service.curves.decisions import Decided
from service.curves.row_metrics import ROW_METRICS
from service.inference.intervals import Interval
from service.wire.answers.parts import Cells

POINTS = (
    Cells.score(
        "threshold",
        "Whatever scores at or above it (at or below it, if low scores are positive) is called positive; `null` at the "
        "origin, unless it is one of the `thresholds` of the request.",
        null=True,
    ),
    Cells.count("tp", "True positives."),
    Cells.count("fp", "False positives."),
    Cells.count("fn", "False negatives."),
    Cells.count("tn", "True negatives."),
    Cells.number("fpr", "False positive rate, fp / negatives; the ROC curve's horizontal axis."),
    Cells.number("tpr", "True positive rate, tp / positives; the ROC curve's vertical axis."),
    Cells.number("recall", "Recall, tp / positives, the same as `tpr`; the precision-recall curve's horizontal axis."),
    Cells.number("precision", "Precision, tp / (tp + fp); `null` where nothing is called positive.", null=True),
    Cells.flag(
        "on_hull",
        "Whether the row lies on the boundary of the ROC convex hull, at a vertex or on an edge. Decided exactly.",
    ),
)

DECISIONS = (
    Cells.text("decision", "The decision in words, such as `threshold 0.5` or `best precision, recall >= 0.6`."),
    Cells.score(
        "threshold",
        "The threshold of the row, or the one that was asked for; `null` where nothing is called positive.",
        null=True,
    ),
    Cells.count("tp", "True positives.", null=True),
    Cells.count("fp", "False positives.", null=True),
    Cells.count("fn", "False negatives.", null=True),
    Cells.count("tn", "True negatives.", null=True),
)

METRIC_CELLS = tuple(Cells.number(each.name, each.about, null=True, sometimes=True) for each in ROW_METRICS.values())
"""A column for each metric, which is there if it was asked for."""


METRIC_CELLS_WITH_ENDS = tuple(
    cells
    for each in METRIC_CELLS
    for cells in (
        each,
        Cells.number(
            f"{each.name}_lower", f"The lower end of the interval of `{each.name}`.", null=True, sometimes=True
        ),
        Cells.number(
            f"{each.name}_upper", f"The upper end of the interval of `{each.name}`.", null=True, sometimes=True
        ),
    )
)
"""The same, each with the ends of its interval."""


def metric_cells_besides(columns: Iterable[Cells]) -> tuple[Cells, ...]:
    """The columns of metrics, with the ends of intervals, that are not among those that are always there."""
    names = {each.name for each in columns}
    return tuple(each for each in METRIC_CELLS_WITH_ENDS if each.name not in names)


def with_metrics(
    rows: Any,  # noqa: ANN401  # an object with these columns
    columns: Iterable[Cells],
    metrics: Mapping[str, Any],
    ends: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Columns read off an object, metrics, and the lower and upper ends of their intervals, by name."""
    of_ends = {
        f"{name}_{end}": column
        for name, both in (ends or {}).items()
        for end, column in zip(("lower", "upper"), both, strict=True)
    }
    return {each.name: getattr(rows, each.name) for each in columns} | {**metrics} | of_ends


def decision_columns(decided: Decided) -> dict[str, Any]:
    """The columns of decisions, with their metrics and the ends of intervals."""
    return with_metrics(decided, DECISIONS, decided.metrics, decided.ends)


def interval_cells(of: str, *, error: bool = False) -> tuple[Cells, ...]:
    """Columns for the interval of another column, which are there if intervals were asked for."""
    ends = (
        ("lower", f"The lower end of the interval of `{of}`; `null` if it has none, for which `warnings` says why."),
        ("upper", "The upper end."),
        *([("standard_error", f"The standard error of `{of}`, as in the table `intervals`.")] if error else []),
    )
    numbers = (Cells.number(name, f"With `intervals`. {about}", null=True, sometimes=True) for name, about in ends)
    method = "With `intervals`. How the interval was computed, as in the table `intervals`."
    return *numbers, Cells("method", "text", method, null=True, sometimes=True)


def with_interval_columns(
    found: Mapping[str, Any], cells: Iterable[Cells], intervals: Sequence[Interval | None] | None
) -> dict[str, Any]:
    """Columns by name, and those of the intervals if there are any."""
    if intervals is None:
        return {**found}
    read = {each: [one and getattr(one, each.name) for one in intervals] for each in cells}
    of_intervals = {
        each.name: column if each.kind == "text" else np.array(column, dtype=np.float64)
        for each, column in read.items()
    }
    return {**found, **of_intervals}
