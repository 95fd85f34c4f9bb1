"""The columns of rows of a confusion table: those of curves, of decisions, and metrics of either."""

from collections.abc import Iterable, Mapping
from typing import Any

from service.curves.decisions import Decided
from service.curves.row_metrics import ROW_METRICS
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
    """The columns of metrics that are not among those that are always there."""
    names = {each.name for each in columns}
    return tuple(each for each in METRIC_CELLS if each.name not in names)


def with_metrics(rows: Any, columns: Iterable[Cells], metrics: Mapping[str, Any]) -> dict[str, Any]:  # noqa: ANN401  # an object with these columns
    """Columns read off an object, and metrics, by name."""
    return {each.name: getattr(rows, each.name) for each in columns} | {**metrics}


def decision_columns(decided: Decided) -> dict[str, Any]:
    """The columns of decisions, with their metrics and the ends of intervals."""
    ends = {
        f"{name}_{end}": column
        for name, both in decided.ends.items()
        for end, column in zip(("lower", "upper"), both, strict=True)
    }
    return with_metrics(decided, DECISIONS, {**decided.metrics, **ends})
