"""Statistics on the screen of curves: all of them, or how good scores are as probabilities.

Knows the statistics of an answer.
"""

from collections.abc import Iterable
from typing import Any

from service.cli.layout import cell_text, dash_lines, fraction, table_lines
from service.inference.rules import percent
from service.operations.probability_cells import STATISTICS
from service.wire.answers.parts import Document

_OF_PROBABILITIES = ("brier", "log_loss", "calibration_slope", "calibration_intercept")


def statistic_lines(document: Document) -> Iterable[str]:
    """Format all statistics, with the intervals of those that have one."""
    found, intervals = document["statistics"], document.get("intervals", {})
    numbers = {each.name: cell_text(found[each.name], each.kind) for each in STATISTICS}
    yield ""
    yield "Statistics"
    yield from table_lines([[*each, _range(intervals.get(each[0]))] for each in numbers.items()], "<><")
    yield from dash_lines([[*numbers], [*numbers.values()]])


def probability_lines(document: Document) -> Iterable[str]:
    """Format how good the scores are as probabilities, if they can be some, without what is null."""
    found, intervals = document.get("statistics"), document.get("intervals", {})
    if found is None or found["brier"] is None:
        return
    numbers = {name: fraction(found[name]) for name in _OF_PROBABILITIES if found[name] is not None}
    ranges = {name: _range(intervals.get(name)) for name in numbers}
    yield ""
    yield "Scores as probabilities"
    if any(ranges.values()) or len(numbers) < len(_OF_PROBABILITIES):
        yield from table_lines([[*each, ranges[each[0]]] for each in numbers.items()], "<><")
    else:
        first, second, *others = numbers.items()
        yield from table_lines([[*first, *others[0]], [*second, *others[1]]], "<><>")


def _range(interval: dict[str, Any] | None) -> str:
    """The interval of a statistic; empty if it has none."""
    if interval is None:
        return ""
    return f"{fraction(interval['lower'])} to {fraction(interval['upper'])}, {percent(interval['level'])} %"
