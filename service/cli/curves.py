"""`rocpr curves FILE`: evaluates a file without a server, through the same answer.py, and prints the result.

Knows the command's options and the layout of its summary; answer.py checks and evaluates.
"""

from collections.abc import Iterable
from fractions import Fraction
from pathlib import Path
from typing import Any, BinaryIO

import click
import orjson

from service.cli.engine_options import EngineOptions, engine_options
from service.cli.file_argument import FileArgument, FileOrGlob, OneFile
from service.cli.layout import (
    CellTexts,
    chosen_rows,
    column_lines,
    count_text,
    dash_lines,
    direction_lines,
    fraction,
    how_many,
    in_full,
    table_lines,
    total_lines,
    warning_lines,
)
from service.cli.options import NAME_LIST, Help, flag, form_options, given_texts
from service.cli.plots import plot_option, print_curves, show_option, write_plot
from service.cli.sources import ask_about, refuse_without_table, source_of
from service.curves.evaluation import INCLUDES
from service.operations import OPERATIONS
from service.wire.media_types import TEXT

AREA_MEANINGS = {
    "roc": "the ROC curve; a tie counts one half",
    "roc_hull": "the convex hull of the ROC curve",
    "pr": "the precision-recall curve, linear in counts",
    "pr_trapezoid": "the same, by trapezoids at every integer tp",
    "pr_achievable": "the precision-recall curve of the hull's rows",
    "average_precision": "mean precision, weighted by each rise in recall",
}
"""{area: its meaning}, in the order of the summary."""

_HULL: CellTexts = {
    "threshold": in_full,
    "tp": count_text,
    "fp": count_text,
    "recall": fraction,
    "fpr": fraction,
    "precision": fraction,
}
_OPERATING_POINTS: CellTexts = {
    "metric": str,
    "at": in_full,
    "value": fraction,
    "threshold": in_full,
    "tp": count_text,
    "fp": count_text,
}
_PARTIAL_COLUMNS: CellTexts = {
    "over": str,
    "from": in_full,
    "to": in_full,
    "min_tpr": in_full,
    "area": fraction,
    "mean": fraction,
    "mcclish": fraction,
}
_COSTS: CellTexts = {
    "prevalence": in_full,
    "cost": count_text,
    "normalized_cost": fraction,
    "threshold": in_full,
    "tp": count_text,
    "fp": count_text,
}
_CALIBRATION: CellTexts = {
    "score_from": in_full,
    "score_to": in_full,
    "positives": count_text,
    "negatives": count_text,
    "calibrated": fraction,
}
_STATISTIC_COLUMNS: CellTexts = {
    "ks": fraction,
    "ks_threshold": in_full,
    "prg": fraction,
    "brier": fraction,
    "miscalibration": fraction,
    "discrimination": fraction,
    "uncertainty": fraction,
}
_INTERVALS: CellTexts = {
    "lower": fraction,
    "upper": fraction,
    "standard_error": fraction,
    "level": in_full,
    "method": str,
}

SUMMARY = {"include": "auc,points", "keep": "corners"}
"""What the summary of a table requests; a JSON file has its own options."""

_ALSO = ("calibration", "statistics")
"""What a summary shows if `--include` names it."""

_HELP: dict[str, Help] = {
    "soft_labels": ("NAME", "Column of probabilities of being positive, instead of labels."),
    "include": (
        NAME_LIST,
        f"Also show calibration,statistics. With --json: the only parts to print, any of {', '.join(INCLUDES)}.",
    ),
    "keep": ("NAME", "With --json: the points to keep: all, corners, drawn or hull."),
    "interpolation": ("JSON", """With --json: '{"every": 10}' or '{"at_recall": [0.5]}'."""),
}


@click.command(cls=OneFile)
@click.argument("file", type=FileOrGlob(), cls=FileArgument)
@form_options(OPERATIONS["curves"].form, _HELP)
@engine_options()
@plot_option
@show_option
def curves(
    file: BinaryIO | str,
    format_name: str | None,
    *,
    as_json: bool,
    engine: EngineOptions | None,
    plot: Path | None,
    show: bool,
    **options: str | bool | None,
) -> None:
    """Evaluate FILE, a table or a JSON request, and print a summary.

    A table is a CSV file with a header, or an Arrow or Parquet file. It has the columns scores and labels, or the
    counts tp, fp, fn and tn, or groups: score, positives and negatives, as rocpr sql counts them. A JSON file is a
    request body for POST /v1/curves, with its own options. FILE can be - for standard input, with --format.
    """
    given = given_texts(options)
    source = source_of(file, format_name, engine)
    refuse_without_table(given, [source])
    for option in ("keep", "interpolation"):
        if option in given and not as_json:
            raise click.UsageError(f"{flag(option)} needs --json; it does not change the summary.")
    if show and as_json:
        raise click.UsageError("--show cannot be combined with --json.")
    summary = {} if as_json or not source.is_table else SUMMARY | {"include": _summarised(given.get("include"))}
    if summary and engine is not None:
        summary["keep"] = "hull"  # there may be millions of groups, and only rows on the hull are shown
    body = ask_about("curves", source, given, summary)
    write_plot(plot, lambda media_type: ask_about("curves", source, given, {}, media_type))
    if as_json:
        click.echo(body, nl=False)
    else:
        click.echo("\n".join(summary_lines(orjson.loads(body), source.name)))
    if show:
        click.echo()
        print_curves(ask_about("curves", source, given, {}, TEXT).decode())


def _summarised(names: str | None) -> str:
    """The parts that a summary requests: always areas and hull. Raises UsageError for those it does not show."""
    more = [name.strip() for name in (names or "").split(",") if name.strip()]
    for name in more:
        if name not in _ALSO:
            raise click.UsageError(f"--include {name} needs --json; a summary can also show {' and '.join(_ALSO)}.")
    return ",".join([SUMMARY["include"], *more])


def summary_lines(document: dict[str, Any], name: str) -> Iterable[str]:
    """Format an answer for a reader, omitting what it does not have."""
    yield name
    yield ""
    yield from total_lines(document)
    if document.get("auc"):
        yield ""
        yield "Areas"
        areas = document["auc"]
        yield from table_lines([[key, fraction(areas[key]), meaning] for key, meaning in AREA_MEANINGS.items()], "<><")
        yield from direction_lines(document)
    if "bounds" in document:
        yield ""
        yield from _bound_lines(document["bounds"])
    if "intervals" in document:
        yield ""
        yield from _interval_lines(document["intervals"])
    if "operating_points" in document:
        yield ""
        yield "Operating points"
        points = document["operating_points"]
        columns = _OPERATING_POINTS | {key: fraction for key in points if key not in _OPERATING_POINTS}
        yield from column_lines(points, columns, range(len(points["metric"])), left=["metric"])
    if "partial" in document:
        yield ""
        yield "Partial areas"
        parts = document["partial"]
        columns = _PARTIAL_COLUMNS | {key: fraction for key in parts if key not in _PARTIAL_COLUMNS}
        yield from column_lines(parts, columns, range(len(parts["over"])), left=["over"])
    if "costs" in document:
        yield ""
        yield "Costs"
        least = document["costs"]
        yield from column_lines(least, _COSTS, range(len(least["prevalence"])))
    if "statistics" in document:
        yield ""
        yield "Statistics"
        found = document["statistics"]
        numbers = {key: write(found[key]) for key, write in _STATISTIC_COLUMNS.items()}
        yield from table_lines([[*each] for each in numbers.items()], "<>")
        yield from dash_lines([[*numbers], [*numbers.values()]])
    if document.get("calibration"):
        yield ""
        yield from _calibration_lines(document["calibration"])
    if document.get("points"):
        yield ""
        yield from _hull_lines(document["points"])
    yield from warning_lines(document, said="below_chance")


def _bound_lines(bounds: dict[str, dict[str, float] | None]) -> Iterable[str]:
    """Format the bounds of areas, with enough digits to tell close ones apart, and the distance between them."""
    rows = [
        [area, f"{each['lower']:.9f}", f"{each['upper']:.9f}", f"{each['upper'] - each['lower']:.1e}"]
        for area, each in bounds.items()
        if each is not None
    ]
    yield "Bounds of the areas"
    yield from table_lines([["", "lower", "upper", "apart"], *rows], "<>>>")


def _interval_lines(intervals: dict[str, dict[str, Any] | None]) -> Iterable[str]:
    """Format the areas' intervals; an area without one has only its name."""
    rows = [
        [area, *("-" if interval is None else write(interval[key]) for key, write in _INTERVALS.items())]
        for area, interval in intervals.items()
    ]
    yield "Intervals of the areas"
    yield from table_lines([["", *_INTERVALS], *rows], "<>>>><")
    yield from dash_lines([["", *_INTERVALS], *(row for row in rows if row[1] != "-")])  # a warning says why others are


def _calibration_lines(pools: dict[str, list[Any]]) -> Iterable[str]:
    """Format the pools of scores, or some of them from end to end."""
    rows = list(range(len(pools["calibrated"])))
    shown = chosen_rows(rows)
    yield f"Calibrated scores: {how_many(shown, rows, 'row')}"
    yield from column_lines(pools, _CALIBRATION, shown)


def _vertices(points: dict[str, list[Any]], rows: list[int]) -> list[int]:
    """Leave out the rows that lie on an edge of the hull between its ends."""
    places = [(Fraction(points["fp"][row]), Fraction(points["tp"][row])) for row in rows]
    kept = rows[:1]
    for (x, y), (across, up), (further, higher), row in zip(places, places[1:], places[2:], rows[1:], strict=False):
        if (across - x) * (higher - up) != (further - across) * (up - y):
            kept.append(row)
    return kept + rows[1:][-1:]


def _hull_lines(points: dict[str, list[Any]]) -> Iterable[str]:
    """Format the hull's vertices, or some of them from end to end."""
    rows = _vertices(points, [row for row, on_hull in enumerate(points["on_hull"]) if on_hull])
    shown = chosen_rows(rows)
    yield f"Convex hull of the ROC curve: {how_many(shown, rows, 'row')}"
    yield from column_lines(points, _HULL, shown)
