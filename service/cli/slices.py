"""The screen of `rocpr slices`: the areas of every slice of a sample, the worst first."""

from collections.abc import Iterable, Sequence
from itertools import starmap
from typing import Any

import click

from service.cli.command_error import fail
from service.cli.decision_options import DECISION_OPTIONS, decision_texts
from service.cli.layout import (
    MEANING_OF_DASHES,
    MOST_ROWS,
    cell_text,
    count_text,
    dash_lines,
    fraction,
    how_many,
    in_full,
    sorted_rows,
    table_lines,
    terminal_safe,
    text_lines,
    total_lines,
    warning_lines,
)
from service.cli.operation_command import Screen
from service.cli.options import NAME_LIST
from service.inference.metric import AREAS_WITH_INTERVALS
from service.operations import OPERATIONS
from service.operations.row_cells import METRIC_CELLS
from service.wire.answers.parts import Document

_OF_SLICES = ("rows", "positives", "negatives", *AREAS_WITH_INTERVALS)
"""Columns of the answer that a summary shows after those that define slices."""

_CALLED = ("tp", "fp", "fn", "tn")
_VALUES_IN_A_LINE = 4
_INTERVALS_IN_A_LINE = 2

_MOST_NAMES = 5
"""The most slices without areas that are named."""

_HELP = """Evaluate a classifier in every slice, the worst first.

FILE is a table with the columns scores and labels, and those that --slices names: a slice is all rows with the same
values there. Or FILE is JSON, a request body for POST /v1/slices. FILE can be - for standard input, with --format.

--at and --best add metrics at a threshold, which is chosen on all rows, and --level adds intervals.

All slices are evaluated in one pass: 10,000 slices of 500 rows take a second; 10,000 calls would take ten.
"""


def _lines(document: Document, *, sort: str) -> Iterable[str]:
    overall, table = document["overall"], document["slices"]
    if sort not in table or sort == "reason":
        names = ", ".join(name for name in table if name != "reason")
        fail([f"Error: --sort {sort}: The answer has no such column; it has {names}."])
    yield from total_lines(overall)
    yield ""
    rows = [row for row in sorted_rows(table[sort]) if not table["reason"][row]]
    shown = rows[:MOST_ROWS]
    yield f"{how_many(shown, rows, 'slice')}, lowest {sort} first"
    yield from _slice_lines(table, overall, shown)
    yield from _omitted_lines(table)
    if "intervals" in overall:
        yield ""
        yield from _interval_lines(table, overall["intervals"], shown)
    if "operating_points" in document:
        yield ""
        yield from _point_lines(document["operating_points"], [*_keys(table)], shown)
    if "decisions" in document:
        yield from _decision_lines(document, shown)
    yield from warning_lines(document)


def _keys(table: dict[str, list[Any]]) -> Iterable[str]:
    """The columns that define slices, which come first."""
    for name in table:
        if name == "rows":
            return
        yield name


def _slice_lines(table: dict[str, list[Any]], overall: dict[str, Any], shown: list[int]) -> Iterable[str]:
    kinds = {each.name: each.kind for each in OPERATIONS["slices"].table("slices").columns}
    every = overall["auc"] | overall | {"rows": sum(table["rows"])}
    rows = [*({name: table[name][row] for name in _OF_SLICES} for row in shown), every]
    yield from _lines_of_slices(
        table, shown, _OF_SLICES, [[cell_text(row[name], kinds[name]) for name in _OF_SLICES] for row in rows]
    )


def _interval_lines(table: dict[str, list[Any]], intervals: dict[str, Any], shown: list[int]) -> Iterable[str]:
    """Format the areas' intervals, in the order of the slices."""
    ends = [
        [(table[f"{area}_lower"][row], table[f"{area}_upper"][row]) for area in AREAS_WITH_INTERVALS] for row in shown
    ]
    whole = [
        (each["lower"], each["upper"]) if each else (None, None) for each in map(intervals.get, AREAS_WITH_INTERVALS)
    ]
    yield "Intervals"
    yield from _lines_of_slices(
        table, shown, AREAS_WITH_INTERVALS, [[*starmap(_interval, row)] for row in [*ends, whole]]
    )


def _lines_of_slices(
    table: dict[str, list[Any]], shown: list[int], columns: Sequence[str], cells: list[list[str]]
) -> Iterable[str]:
    """Format rows, one for each slice and then one for all, after the columns that define slices."""
    keys = [*_keys(table)]
    named = [[_key(table[key][row]) for key in keys] for row in shown]
    named.append(["all", *[""] * (len(keys) - 1)])
    rows = [[*keys, *columns], *([*name, *row] for name, row in zip(named, cells, strict=True))]
    yield from table_lines(rows, "<" * len(keys) + ">" * len(columns))
    yield from dash_lines(rows, _of_keys(keys))


def _interval(lower: float | None, upper: float | None) -> str:
    return "-" if lower is None else f"{fraction(lower)} to {fraction(upper)}"


def _omitted_lines(table: dict[str, list[Any]]) -> Iterable[str]:
    """Name the first of the slices without areas, a line for each reason."""
    for reason in dict.fromkeys(filter(None, table["reason"])):
        rows = [row for row, each in enumerate(table["reason"]) if each == reason]
        names = [" ".join(_key(table[key][row]) for key in _keys(table)) for row in rows[:_MOST_NAMES]]
        more = ["..."] if len(rows) > _MOST_NAMES else []
        yield from text_lines(f"{len(rows)} without areas, {reason}: {', '.join([*names, *more])}")
        keys = [*_keys(table)]
        yield from dash_lines(
            [keys, *([_key(table[key][row]) for key in keys] for row in rows[:_MOST_NAMES])], _of_keys(keys)
        )


def _point_lines(points: dict[str, list[Any]], keys: list[str], shown: list[int]) -> Iterable[str]:
    """Format the operating points of the slices shown."""
    each = len(points["metric"]) // max(len(set(zip(*(points[key] for key in keys), strict=True))), 1)
    rows = [[*keys, "metric", "at", "value", "threshold", "tp", "fp"]]
    for row in (place for number in shown for place in range(number * each, (number + 1) * each)):
        numbers = [fraction(points["value"][row]), in_full(points["threshold"][row])]
        counts = [count_text(points[name][row]) for name in ("tp", "fp")]
        named = [*(_key(points[key][row]) for key in keys), points["metric"][row], in_full(points["at"][row])]
        rows.append([*named, *numbers, *counts])
    yield "Operating points"
    yield from table_lines(rows, "<" * len(keys) + "<" + ">" * 5)
    yield from dash_lines(rows, MEANING_OF_DASHES | _of_keys(keys))


def _decision_lines(document: Document, shown: list[int]) -> Iterable[str]:
    """Format what each decision calls positive in the slices shown, and its metrics, a few in a line."""
    decisions, overall = document["decisions"], document["overall"]["decisions"]
    names = overall["decision"]
    metrics = [each.name for each in METRIC_CELLS if each.name in decisions]
    with_ends = f"{metrics[0]}_lower" in decisions
    in_a_line = _INTERVALS_IN_A_LINE if with_ends else _VALUES_IN_A_LINE
    undefined = False
    for place, name in enumerate(names):
        rows = [(decisions, number * len(names) + place) for number in shown] + [(overall, place)]
        yield ""
        yield _title(name, overall["threshold"][place], overall["tp"][place])
        if overall["tp"][place] is None:
            continue
        counts = [[count_text(table[each][row]) for each in _CALLED] for table, row in rows]
        yield from _lines_of_slices(document["slices"], shown, _CALLED, counts)
        for start in range(0, len(metrics), in_a_line):
            few = metrics[start : start + in_a_line]
            heads = [head for each in few for head in ((each, "interval") if with_ends else (each,))]
            cells = [[cell for each in few for cell in _cells(table, each, row, with_ends)] for table, row in rows]
            yield ""
            yield from _lines_of_slices(document["slices"], shown, heads, cells)
        undefined = undefined or any(table[each][row] is None for table, row in rows for each in metrics)
    if undefined:
        yield "  -  undefined: a denominator is 0"


def _title(decision: str, threshold: float | None, tp: float | None) -> str:
    if tp is None:
        return f"{decision}: no row meets it"
    if threshold is None:
        return f"{decision}: nothing is called positive"
    return decision if decision.startswith("threshold") else f"{decision}: threshold {in_full(threshold)}"


def _cells(table: dict[str, list[Any]], metric: str, row: int, with_ends: bool) -> list[str]:  # noqa: FBT001  # one of two layouts
    ends = [_interval(table[f"{metric}_lower"][row], table[f"{metric}_upper"][row])] if with_ends else []
    return [fraction(table[metric][row]), *ends]


def _of_keys(keys: Iterable[str]) -> dict[str, str]:
    """The meaning of a dash in the columns that define slices."""
    return dict.fromkeys(keys, "rows without a value")


def _key(cell: Any) -> str:  # noqa: ANN401  # a cell of an answer
    return "-" if cell is None else str(cell).lower() if isinstance(cell, bool) else terminal_safe(str(cell))


SCREEN = Screen(
    _HELP,
    _lines,
    told={"slices": (NAME_LIST, "Columns that define the slices: country,model.")},
    own=(
        *DECISION_OPTIONS,
        click.Option(
            ["--sort"], metavar="NAME", default="roc", show_default=True, help="The column to sort by, lowest first."
        ),
    ),
    texts=decision_texts,
    engine="exact",
)
