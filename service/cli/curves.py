"""The screen of `rocpr curves`: totals, areas, and what people look for first, or whatever else was asked for.

a decision was asked for      it comes first, as a confusion matrix with its metrics
nothing else was asked for    threshold 0.5, the best rows, and how good the scores are as probabilities
--include hull                all areas, and the rows on the hull
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import click

from service.cli.decision_lines import decision_lines, intervals_of_decisions, table_of_decisions
from service.cli.decision_options import DECISION_OPTIONS, decision_texts
from service.cli.engine_rows import EngineRows
from service.cli.explaining import Source
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
from service.cli.operation_command import Screen, Wanted
from service.cli.options import NAME_LIST, Texts, flag
from service.cli.statistic_lines import probability_lines, statistic_lines
from service.curves.evaluation import INCLUDES
from service.curves.probability_remarks import BEYOND_PROBABILITIES
from service.inference.metric import AREAS_WITH_INTERVALS
from service.operations import OPERATIONS
from service.wire.answers.parts import Cells, Document
from service.wire.formats.inputs import GROUP_ENDS, OF_ONE_EVALUATION, SOFT_LABELS

AREA_MEANINGS = {
    "roc": "ROC AUC: how often a positive outranks a negative",
    "roc_hull": "the convex hull of the ROC curve",
    "pr": "PR AUC, between rows linear in counts",
    "pr_trapezoid": "the same, by trapezoids at every integer tp",
    "pr_achievable": "PR AUC of the rows on the hull",
    "average_precision": "scikit-learn's average_precision_score",
}
"""{area: its meaning}"""

FIRST_AREAS = ("roc", "average_precision", "pr")
"""The areas that people look for, in the order of the summary."""

FIRST_SCREEN = {
    "include": "auc,statistics",
    "decisions": json.dumps([{"at_threshold": 0.5}, {"best": "f1"}, {"best": "youden"}]),
    "metrics": "precision,recall,f1",
}
"""What the summary of a table requests if nothing else is asked for; a JSON file has its own options."""

_HULL = "hull"
_ALSO = ("calibration", "statistics")
"""What a summary shows if `--include` names it, besides the hull."""

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
_ON_THEIR_OWN = ("decisions", "band", *_TITLES)
"""Options of which each asks for something else than the first screen."""

_NOT_READING = {*OPERATIONS["curves"].parameters} - {*OF_ONE_EVALUATION, SOFT_LABELS}
_SUMMARIZED = {*_ON_THEIR_OWN, "include", "thresholds", "intervals", "metrics", "prevalence"}
"""The options that change the summary."""

_SHOWN = {
    "operating_points": ("metric", "at", "value", "lower", "upper", "threshold", "tp", "fp"),
    "partial": ("over", "from", "to", "min_tpr", "area", "mean", "lower", "upper", "mcclish"),
}
_OF_BOUNDS = ("value_lower", "value_upper", "area_lower", "area_upper", "mean_lower", "mean_upper")
_VERTEX = ("threshold", "tp", "fp", "recall", "fpr", "precision")
_INTERVALS = ("lower", "upper", "standard_error", "level", "method")

_UNSAID = {"brier_omitted", "certain_scores", "not_at_prevalence", "separated_classes", "threshold_not_a_row"}
"""Warnings about what the first screen leaves out."""

_HELP = """Evaluate FILE, a table or a JSON request, and print a summary.

It has the areas under the curves, and metrics at the threshold 0.5 and at the best ones. --at and --best name
others, --level adds intervals, and --include hull shows all areas and the convex hull.

A table is a CSV file with a header, or an Arrow or Parquet file. It has the columns scores and labels, or the
counts tp, fp, fn and tn, or groups: score, positives and negatives, as rocpr sql counts them. A JSON file is a
request body for POST /v1/curves, with its own options. FILE can be - for standard input, with --format.
Several tables of one format with the same columns are read as one.
"""


def _is_first(wanted: Wanted) -> bool:
    """Whether nothing was asked for but a summary of a table."""
    asked = (*_ON_THEIR_OWN, "include")
    return wanted.source.is_table and not wanted.words and not any(name in wanted.given for name in asked)


def _asked(wanted: Wanted) -> Texts:
    """What the summary requests of a table. Raises UsageError for what it does not show."""
    for option in _NOT_READING - _SUMMARIZED:
        if option in wanted.given:
            raise click.UsageError(f"{flag(option)} needs --json; it does not change the summary.")
    more = [name.strip() for name in wanted.given.get("include", "").split(",") if name.strip()]
    for name in more:
        if name not in _ALSO:
            also = ", ".join(_ALSO)
            raise click.UsageError(f"--include {name} needs --json; a summary can also show {also} and {_HULL}.")
    if not _is_first(wanted):
        points = {"keep": "hull"} if _HULL in wanted.words else {}
        return {"include": ",".join(["auc", *more, *(["points"] if points else [])]), **points}
    first = {name: text for name, text in FIRST_SCREEN.items() if name not in wanted.given}
    return first | ({"include": "auc"} if _may_be_open(wanted.source, wanted.given) else {})


def _may_be_open(source: Source, given: Texts) -> bool:
    """Whether a table may have groups between two scores, which have no statistics."""
    if isinstance(source, EngineRows):
        return source.engine.tolerance is not None
    _, *ends = GROUP_ENDS
    return any(name in given or name.encode() in source.content for name in ends)


def _lines(document: Document, *, wanted: Wanted) -> Iterable[str]:
    """Format an answer, omitting what it does not have."""
    is_first = _is_first(wanted)
    areas = [*AREA_MEANINGS] if document.get("points") else [*FIRST_AREAS]
    yield from total_lines(document)
    if "decisions" in document and not is_first:
        yield ""
        yield from decision_lines(document["decisions"])
    yield from _area_lines(document, areas)
    for name, title in _BANDS.items():
        yield from _some_rows(title, _TABLES[name], document.get(name))
    for name, title in _TITLES.items():
        if document.get(name):
            shown = (*_SHOWN[name], *_OF_BOUNDS) if name in _SHOWN else ()
            yield ""
            yield title
            yield from column_lines(_COSTS if name == "costs" else _TABLES[name], document[name], names=shown)
    if is_first:
        yield from _first_decision_lines(document)
        yield from probability_lines(document)
    else:
        yield from _included_lines(document)
    told = (warning for warning in document["warnings"] if not _is_of_others(warning, areas, is_first=is_first))
    yield from warning_lines({"warnings": told}, said="below_chance")


def _area_lines(document: Document, areas: list[str]) -> Iterable[str]:
    """Format areas, with their bounds and intervals."""
    if document.get("auc"):
        yield ""
        yield "Areas"
        cells = [[area, fraction(document["auc"][area]), AREA_MEANINGS[area]] for area in areas]
        yield from table_lines(cells, "<><")
        yield from direction_lines(document)
    if "bounds" in document:
        yield ""
        yield from _bound_lines({area: document["bounds"][area] for area in areas})
    if "intervals" in document:
        yield ""
        yield from _interval_lines(document["intervals"])


def _included_lines(document: Document) -> Iterable[str]:
    """Format what `--include` adds."""
    if "statistics" in document:
        yield from statistic_lines(document)
    yield from _some_rows("Calibrated scores", _TABLES["calibration"], document.get("calibration"))
    if document.get("points"):
        yield ""
        yield from _hull_lines(document["points"])


def _some_rows(title: str, columns: Sequence[Cells], table: dict[str, list[Any]] | None) -> Iterable[str]:
    """Format a table that may be long, or nothing if there is none."""
    if table:
        rows = list(range(len(next(iter(table.values())))))
        shown = chosen_rows(rows)
        yield ""
        yield f"{title}: {how_many(shown, rows, 'row')}"
        yield from column_lines(columns, table, shown)


def _first_decision_lines(document: Document) -> Iterable[str]:
    """Format the decisions of the first screen; 0.5 only if it is a row, and scores may be probabilities."""
    decisions = document["decisions"]
    beyond = any(BEYOND_PROBABILITIES in warning["detail"] for warning in document["warnings"])
    names = [*enumerate(decisions["decision"])]
    kept = [row for row, name in names if decisions["tp"][row] is not None and (row or not beyond)]
    if not kept:
        return
    shown = {name: [column[row] for row in kept] for name, column in decisions.items()}
    where = "the tuning sample" if "selected_thresholds" in document else "these data; on new data they are worse"
    yield ""
    yield "Decisions"
    yield from table_of_decisions(shown)
    yield f"  The best rows were chosen on {where}."
    yield from intervals_of_decisions(shown)


def _is_of_others(warning: dict[str, str], areas: list[str], *, is_first: bool) -> bool:
    """Whether a warning is about what the screen leaves out."""
    if is_first and (warning["code"] in _UNSAID or warning["detail"].startswith("ece_if_calibrated")):
        return True
    return warning["code"] == "pr_trapezoid_omitted" and "pr_trapezoid" not in areas


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
    kinds = {each.name: each.kind for each in _TABLES["intervals"]}
    clustered = any("design_effect" in (each or {}) for each in intervals.values())
    shown = [*_INTERVALS, *(["design_effect"] * clustered)]
    rows = [
        [area, *("-" if interval is None else cell_text(interval[name], kinds[name]) for name in shown)]
        for area in AREAS_WITH_INTERVALS
        for interval in (intervals[area],)
    ]
    yield "Intervals of the areas"
    yield from table_lines([["", *shown], *rows], "<>>>><" + ">" * clustered)
    yield from dash_lines([["", *shown], *(row for row in rows if row[1] != "-")])  # a warning says why others are


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


_TUNING = click.Option(
    ["--tuning"],
    metavar="FILE",
    help="Another sample, with the same columns, in which thresholds are chosen; they are judged in FILE.",
)

SCREEN = Screen(
    _HELP,
    _lines,
    told={
        "soft_labels": ("NAME", "Column of probabilities of being positive, instead of labels."),
        "include": (
            NAME_LIST,
            f"Show hull,calibration,statistics instead. With --json: only these parts, any of {', '.join(INCLUDES)}.",
        ),
        "keep": ("NAME", "With --json: the points to keep: all, corners, drawn or hull."),
        "band": ("NAME", "Also show confidence bands of both curves: pointwise or simultaneous."),
        "interpolation": ("JSON", """With --json: '{"every": 10}' or '{"at_recall": [0.5]}'."""),
    },
    own=(*DECISION_OPTIONS, _TUNING),
    texts=decision_texts,
    asked=_asked,
    words=(_HULL,),
    beside="tuning",
    engine="bounded",
)
