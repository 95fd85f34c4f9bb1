"""`rocpr slices FILE --slices country,model`: the areas of every slice of a sample, the worst first, without a server.

Knows the command's options and the layout of its summary; answer.py checks and evaluates.
"""

from collections.abc import Iterable, Sequence
from itertools import starmap
from pathlib import Path
from typing import Any, BinaryIO

import click
import orjson

from service.cli.command_error import fail
from service.cli.engine_options import EngineOptions, engine_options
from service.cli.file_argument import FileArgument, FileOrGlob, OneFile
from service.cli.layout import (
    MEANING_OF_DASHES,
    MOST_ROWS,
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
from service.cli.options import NAME_LIST, form_options, given_texts
from service.cli.plots import plot_option, write_plot
from service.cli.sources import ask_about, refuse_without_table, source_of
from service.inference.rules import AREAS_WITH_INTERVALS
from service.operations import OPERATIONS

_COUNTS = ("rows", "positives", "negatives")
_SHOWN = (*_COUNTS, *AREAS_WITH_INTERVALS)
"""Columns of the answer that a summary shows after those that define slices."""

_MOST_NAMES = 5
"""The most slices without areas that are named."""


@click.command(cls=OneFile)
@click.argument("file", type=FileOrGlob(), cls=FileArgument)
@form_options(OPERATIONS["slices"].form, {"slices": (NAME_LIST, "Columns that define the slices: country,model.")})
@engine_options(exact=True)
@click.option("--sort", metavar="NAME", default="roc", show_default=True, help="The column to sort by, lowest first.")
@plot_option
def slices(
    file: BinaryIO | str,
    format_name: str | None,
    *,
    as_json: bool,
    engine: EngineOptions | None,
    sort: str,
    plot: Path | None,
    **options: str | bool | None,
) -> None:
    """Evaluate a classifier in every slice, the worst first.

    FILE is a table with the columns scores and labels, and those that --slices names: a slice is all rows with the same
    values there. Or FILE is JSON, a request body for POST /v1/slices. FILE can be - for standard input, with --format.

    All slices are evaluated in one pass: 10,000 slices of 500 rows take a second; 10,000 calls would take ten.
    """
    given = given_texts(options)
    source = source_of(file, format_name, engine)
    refuse_without_table(given, [source])
    body = ask_about("slices", source, given, {})
    document = orjson.loads(body)
    if sort not in document["slices"] or sort == "reason":
        names = ", ".join(name for name in document["slices"] if name != "reason")
        fail([f"Error: --sort {sort}: The answer has no such column; it has {names}."])
    write_plot(plot, lambda media_type: ask_about("slices", source, given, {}, media_type))
    if as_json:
        click.echo(body, nl=False)
    else:
        click.echo("\n".join(summary_lines(document, source.name, sort)))


def summary_lines(document: dict[str, Any], name: str, sort: str) -> Iterable[str]:
    """Format an answer for a reader."""
    overall, table = document["overall"], document["slices"]
    yield name
    yield ""
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
    yield from warning_lines(document)


def _keys(table: dict[str, list[Any]]) -> Iterable[str]:
    """The columns that define slices, which come first."""
    for name in table:
        if name == "rows":
            return
        yield name


def _slice_lines(table: dict[str, list[Any]], overall: dict[str, Any], shown: list[int]) -> Iterable[str]:
    whole = overall["auc"] | overall | {"rows": sum(table["rows"])}
    rows = [[_written(name, table[name][row]) for name in _SHOWN] for row in shown]
    yield from _lines_of_slices(table, shown, _SHOWN, [*rows, [_written(name, whole[name]) for name in _SHOWN]])


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


def _of_keys(keys: Iterable[str]) -> dict[str, str]:
    """The meaning of a dash in the columns that define slices."""
    return dict.fromkeys(keys, "rows without a value")


def _written(name: str, cell: Any) -> str:  # noqa: ANN401  # a cell of an answer
    return count_text(cell) if name in _COUNTS else fraction(cell)


def _key(cell: Any) -> str:  # noqa: ANN401  # a cell of an answer
    return "-" if cell is None else str(cell).lower() if isinstance(cell, bool) else terminal_safe(str(cell))
