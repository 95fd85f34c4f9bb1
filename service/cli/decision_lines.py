"""Decisions on the screen of curves: a single one as a confusion matrix, several as a table, each with its metrics.

Knows the columns of decisions in an answer.
"""

from collections.abc import Iterable
from typing import Any

from service.cli.layout import column_lines, count_text, fraction, in_full, table_lines
from service.operations.row_cells import DECISIONS, METRIC_CELLS
from service.wire.answers.parts import Cells, Document

_COLUMNS_OF_COUNTS = tuple(each.name for each in DECISIONS)
_NAME = Cells.text("name", "The name of the classifier.")
_METRICS_IN_A_LINE = 4
_MOST_BESIDE_COUNTS = 3
"""The most metrics in one line with the counts."""

_UNDEFINED = "  -  undefined: a denominator is 0"


def decision_lines(decisions: Document) -> Iterable[str]:
    """Format decisions, with their metrics; those of several classifiers have the column `name`."""
    if len(decisions["decision"]) == 1:
        yield from _single_lines({name: column[0] for name, column in decisions.items()})
        return
    yield "Decisions"
    metrics, names = _metrics(decisions), decisions["decision"]
    if "name" in decisions:
        names = [f"{name}, {decision}" for name, decision in zip(decisions["name"], names, strict=True)]
    elif len(metrics) <= _MOST_BESIDE_COUNTS and not _has_ends(decisions):
        yield from table_of_decisions(decisions)
        return
    yield from column_lines((_NAME, *DECISIONS), decisions)
    if _has_ends(decisions):
        for place, name in enumerate(names):
            yield ""
            yield from _metric_lines({key: column[place] for key, column in decisions.items()} | {"decision": name})
    else:
        for start in range(0, len(metrics), _METRICS_IN_A_LINE):
            few = metrics[start : start + _METRICS_IN_A_LINE]
            cells = zip(names, *(map(fraction, decisions[name]) for name in few), strict=True)
            yield ""
            yield from table_lines([["decision", *few], *map(list, cells)], "<" + ">" * len(few))
    known = [place for place, tp in enumerate(decisions["tp"]) if tp is not None]
    if any(decisions[name][place] is None for name in metrics for place in known):
        yield _UNDEFINED


def table_of_decisions(decisions: Document) -> Iterable[str]:
    """Format decisions, one in a line, with their counts and metrics."""
    yield from column_lines((*DECISIONS, *METRIC_CELLS), decisions, names=[*_COLUMNS_OF_COUNTS, *_metrics(decisions)])


def intervals_of_decisions(decisions: Document) -> Iterable[str]:
    """Format the metrics of those decisions that have intervals."""
    for place in range(len(decisions["decision"])):
        row = {name: column[place] for name, column in decisions.items()}
        if any(row.get(f"{name}_lower") is not None for name in _metrics(decisions)):
            yield ""
            yield from _metric_lines(row)


def _single_lines(row: dict[str, Any]) -> Iterable[str]:
    """Format one decision: tp, fn, fp and tn with their sums, and its metrics."""
    yield f"Decision: {row['decision']}{_place(row)}"
    if row["tp"] is None:
        return
    positives, negatives = (row["tp"], row["fn"]), (row["fp"], row["tn"])
    both = [one + other for one, other in zip(positives, negatives, strict=True)]
    rows = [("positives", positives), ("negatives", negatives), ("all", both)]
    cells = ([name, *map(count_text, (*counts, sum(counts)))] for name, counts in rows)
    yield from table_lines([["", "called positive", "called negative", "all"], *cells], "<>>>")
    yield ""
    yield from _metric_lines(row | {"decision": ""})
    if any(row[name] is None for name in _metrics(row)):
        yield _UNDEFINED


def _place(row: dict[str, Any]) -> str:
    """The threshold of a decision that is not named by it, or why there is none."""
    if row["tp"] is None:
        return " is met by no row, or a warning says why"
    if row["threshold"] is not None:
        return "" if row["decision"].startswith("threshold ") else f", at threshold {in_full(row['threshold'])}"
    return ", a row without a threshold" if row["tp"] or row["fp"] else ", where nothing is called positive"


def _metric_lines(row: dict[str, Any]) -> Iterable[str]:
    """Format the metrics of one decision, with the ends of intervals if there are any."""
    ends = ("", "_lower", "_upper") if _has_ends(row) else ("",)
    cells = [[name, *(fraction(row[name + end]) for end in ends)] for name in _metrics(row)]
    head = [[row["decision"], "value", "lower", "upper"]] if _has_ends(row) else []
    yield from table_lines([*head, *cells], "<" + ">" * len(ends))


def _metrics(decisions: Document) -> list[str]:
    return [each.name for each in METRIC_CELLS if each.name in decisions]


def _has_ends(decisions: Document) -> bool:
    return any(f"{name}_lower" in decisions for name in _metrics(decisions))
