"""The screen of `rocpr curves`: totals, areas, the hull, and whatever else the answer has."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import click

from service.cli.decision_options import DECISION_OPTIONS, decision_texts
from service.cli.layout import (
    cell_text,
    chosen_rows,
    column_lines,
    dash_lines,
    direction_lines,
    fraction,
    how_many,
    table_lines,
    total_lines,
    warning_lines,
)
from service.cli.operation_command import Screen
from service.cli.options import NAME_LIST, Texts, flag
from service.curves.evaluation import INCLUDES
from service.inference.bands import BAND_KINDS
from service.inference.metric import AREAS_WITH_INTERVALS
from service.inference.rules import percent
from service.operations import OPERATIONS
from service.operations.row_cells import DECISIONS, METRIC_CELLS
from service.wire.answers.parts import Cells, Document

AREA_MEANINGS = {
    "roc": "the ROC curve; a tie counts one half",
    "roc_hull": "the convex hull of the ROC curve",
    "pr": "the precision-recall curve, linear in counts",
    "pr_trapezoid": "the same, by trapezoids at every integer tp",
    "pr_achievable": "the precision-recall curve of the hull's rows",
    "average_precision": "mean precision, weighted by each rise in recall",
}
"""{area: its meaning}, in the order of the summary."""

SUMMARY = {"include": "auc,points", "keep": "corners"}
"""What the summary of a table requests; a JSON file has its own options."""

_ALSO = ("calibration", "statistics")
"""What a summary shows if `--include` names it."""

_TABLES = {table.name: table.columns for table in OPERATIONS["curves"].tables}
_COSTS = [replace(each, kind="count") if each.name == "cost" else each for each in _TABLES["costs"]]
"""A cost is no fraction."""

_TITLES = {
    "operating_points": "Operating points",
    "partial": "Partial areas",
    "costs": "Costs",
    "reliability": "Reliability",
    "gains": "Gains",
    "net_benefit": "Net benefit",
}
_BANDS = {"roc_band": "Band of the ROC curve", "pr_band": "Band of the precision-recall curve"}
_METRICS_IN_A_LINE = 4
_VALUE_AND_ENDS = ("", "_lower", "_upper")
_VERTEX = ("threshold", "tp", "fp", "recall", "fpr", "precision")
_INTERVALS = ("lower", "upper", "standard_error", "level", "method")

_HELP = """Evaluate FILE, a table or a JSON request, and print a summary.

It has the areas under the curves. --at and --best add metrics at a threshold, and --level adds intervals.

A table is a CSV file with a header, or an Arrow or Parquet file. It has the columns scores and labels, or the
counts tp, fp, fn and tn, or groups: score, positives and negatives, as rocpr sql counts them. A JSON file is a
request body for POST /v1/curves, with its own options. FILE can be - for standard input, with --format.
Several tables of one format with the same columns are read as one.
"""


def _asked(given: Texts, engine: bool) -> Texts:  # noqa: FBT001  # as Screen has it
    """What the summary requests of a table: always areas and hull. Raises UsageError for what it does not show."""
    for option in ("keep", "interpolation"):
        if option in given:
            raise click.UsageError(f"{flag(option)} needs --json; it does not change the summary.")
    more = [name.strip() for name in given.get("include", "").split(",") if name.strip()]
    for name in more:
        if name not in _ALSO:
            raise click.UsageError(f"--include {name} needs --json; a summary can also show {' and '.join(_ALSO)}.")
    # An engine may find millions of groups, and only rows on the hull are shown.
    return SUMMARY | {"include": ",".join([SUMMARY["include"], *more])} | ({"keep": "hull"} if engine else {})


def _texts(options: dict[str, Any], given: Texts) -> Texts:
    """What options for decisions and bands add to the query. Raises UsageError."""
    band = given.get("band", "")
    return decision_texts(options, given) | ({"band": json.dumps({"kind": band})} if band in BAND_KINDS else {})


def _lines(document: Document) -> Iterable[str]:
    """Format an answer, omitting what it does not have."""
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
    for name, title in _BANDS.items():
        yield from _some_rows(title, _TABLES[name], document.get(name))
    for name, title in _TITLES.items():
        if document.get(name):
            yield ""
            yield title
            yield from column_lines(_COSTS if name == "costs" else _TABLES[name], document[name])
    if "decisions" in document:
        yield ""
        yield from decision_lines(document["decisions"], _TABLES["decisions"])
    if "statistics" in document:
        yield ""
        yield "Statistics"
        found = document["statistics"]
        numbers = {each.name: cell_text(found[each.name], each.kind) for each in _TABLES["statistics"]}
        intervals = document.get("intervals", {})
        yield from table_lines([[*each, _range(intervals.get(each[0]))] for each in numbers.items()], "<><")
        yield from dash_lines([[*numbers], [*numbers.values()]])
    yield from _some_rows("Calibrated scores", _TABLES["calibration"], document.get("calibration"))
    if document.get("points"):
        yield ""
        yield from _hull_lines(document["points"])
    yield from warning_lines(document, said="below_chance")


def _some_rows(title: str, columns: Sequence[Cells], table: dict[str, list[Any]] | None) -> Iterable[str]:
    """Format a table that may be long, or nothing if there is none."""
    if table:
        rows = list(range(len(next(iter(table.values())))))
        shown = chosen_rows(rows)
        yield ""
        yield f"{title}: {how_many(shown, rows, 'row')}"
        yield from column_lines(columns, table, shown)


def decision_lines(decisions: dict[str, list[Any]], declared: Iterable[Cells]) -> Iterable[str]:
    """Format the rows of decisions, and below their metrics, a few in a line or, with intervals, one.

    Those of several classifiers have the column `name`.
    """
    counts = [name for name in ("name", *(each.name for each in DECISIONS)) if name in decisions]
    metrics = [each.name for each in METRIC_CELLS if each.name in decisions]
    names = decisions["decision"]
    if "name" in decisions:
        names = [f"{name}, {decision}" for name, decision in zip(decisions["name"], names, strict=True)]
    yield "Decisions"
    yield from column_lines(declared, decisions, names=counts)
    if f"{metrics[0]}_lower" in decisions:
        for place, decision in enumerate(names):
            cells = ((name, *(fraction(decisions[name + end][place]) for end in _VALUE_AND_ENDS)) for name in metrics)
            yield ""
            yield from table_lines([[decision, "value", "lower", "upper"], *(list(row) for row in cells)], "<>>>")
    else:
        for start in range(0, len(metrics), _METRICS_IN_A_LINE):
            few = metrics[start : start + _METRICS_IN_A_LINE]
            rows = zip(names, *([fraction(cell) for cell in decisions[name]] for name in few), strict=True)
            yield ""
            yield from table_lines([["decision", *few], *(list(row) for row in rows)], "<" + ">" * len(few))
    known = [place for place, tp in enumerate(decisions["tp"]) if tp is not None]
    if any(decisions[name][place] is None for name in metrics for place in known):
        yield "  -  undefined: a denominator is 0"


def _bound_lines(bounds: dict[str, dict[str, float] | None]) -> Iterable[str]:
    """Format the bounds of areas, with enough digits to tell close ones apart, and the distance between them."""
    rows = [
        [area, f"{each['lower']:.9f}", f"{each['upper']:.9f}", f"{each['upper'] - each['lower']:.1e}"]
        for area, each in bounds.items()
        if each is not None
    ]
    yield "Bounds of the areas"
    yield from table_lines([["", "lower", "upper", "apart"], *rows], "<>>>")


def _range(interval: dict[str, Any] | None) -> str:
    """The interval of a statistic; empty if it has none."""
    if interval is None:
        return ""
    return f"{fraction(interval['lower'])} to {fraction(interval['upper'])}, {percent(interval['level'])} %"


def _interval_lines(intervals: dict[str, dict[str, Any] | None]) -> Iterable[str]:
    """Format the areas' intervals; an area without one has only its name."""
    kinds = {each.name: each.kind for each in _TABLES["intervals"]}
    rows = [
        [area, *("-" if interval is None else cell_text(interval[name], kinds[name]) for name in _INTERVALS)]
        for area in AREAS_WITH_INTERVALS
        for interval in (intervals[area],)
    ]
    yield "Intervals of the areas"
    yield from table_lines([["", *_INTERVALS], *rows], "<>>>><")
    yield from dash_lines([["", *_INTERVALS], *(row for row in rows if row[1] != "-")])  # a warning says why others are


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
    yield from column_lines(_TABLES["points"], points, shown, _VERTEX)


SCREEN = Screen(
    _HELP,
    _lines,
    told={
        "soft_labels": ("NAME", "Column of probabilities of being positive, instead of labels."),
        "include": (
            NAME_LIST,
            f"Also show calibration,statistics. With --json: the only parts to print, any of {', '.join(INCLUDES)}.",
        ),
        "keep": ("NAME", "With --json: the points to keep: all, corners, drawn or hull."),
        "band": ("NAME", "Also show confidence bands of both curves: pointwise or simultaneous."),
        "interpolation": ("JSON", """With --json: '{"every": 10}' or '{"at_recall": [0.5]}'."""),
    },
    own=DECISION_OPTIONS,
    texts=_texts,
    asked=_asked,
    engine="bounded",
)
