"""The screen of `rocpr compare`: which classifier is best where; and how several FILEs become one request."""

from collections.abc import Iterable
from itertools import groupby
from typing import Any

import click

from service.cli.asking import Question
from service.cli.compared_files import asked_of_pairs, is_paired, named_files, question_of_files
from service.cli.decision_lines import decision_lines
from service.cli.decision_options import DECISION_OPTIONS, decision_texts
from service.cli.layout import (
    chosen_rows,
    column_lines,
    direction_lines,
    fraction,
    how_many,
    table_lines,
    total_lines,
    warning_lines,
)
from service.cli.operation_command import Named, Screen
from service.cli.options import NAME_LIST
from service.cli.own_options import FOR_OPTION
from service.inference.rules import percent
from service.operations import OPERATIONS
from service.wire.answers.parts import Document
from service.wire.formats.tables import one_evaluation
from service.wire.requests.query_fields import READING_FIELDS

_WITH_OPTIONS = ("indices", "decisions", "metrics", "prevalence")
"""Those that have an option of their name."""

_SHORT_NAME = 11
"""The longest name that is on the same line as its areas."""

_LEVEL = 0.95
_DECIMALS_OF_LEVELS = 12
_SAID_BELOW = "maybe_paired"
_COMPARISONS = OPERATIONS["comparisons"]
_JOINT_HULL = ("threshold", "tp", "fp", "tpr", "fpr", "suppliers")

_HELP = """Find which of 2 to 50 classifiers is best where.

Intervals show how certain it is that the others differ from the first.

All must be evaluated on the same data, with the same number of positives and of negatives. Each FILE is one
evaluation: a table as rocpr curves takes it, or a JSON file with the fields of an evaluation. Without a NAME, a
classifier is named after its file. The options for columns apply to all tables, except where --for says otherwise
for one of them. One FILE can be - for standard input, with --format and a NAME.

A single FILE without a NAME is a table with a column of scores for each classifier, named as in --scores old,new;
or JSON, a request body for POST /v1/comparisons.
"""


def _lines(document: Document, *, question: Question, paired: bool, all_pairs: bool, holm: bool) -> Iterable[str]:
    """Format an answer for a reader."""
    names, sources = document["auc"]["name"], [part.source for part in question.parts]
    yield "Evaluations"
    files = sources if question.parts[0].place else sources * len(names)
    yield from table_lines([[name, file.name] for name, file in zip(names, files, strict=True)], "<<")
    yield ""
    yield from total_lines(document)
    yield ""
    yield from _area_lines(document["auc"])
    yield from direction_lines(document)
    yield ""
    maybe_paired = any(warning["code"] == _SAID_BELOW for warning in document["warnings"])
    how = "paired" if is_paired(question, {"paired": paired}) else "not paired"
    how += ", adjusted for the number of pairs" * holm
    of_whom = "of each from those before it" if all_pairs else "from the first"
    level = _level_of_all(document["differences"]) if holm else _level(document["differences"])
    yield f"Differences {of_whom}, with {percent(level)} % intervals, {how}"
    yield from _difference_lines(document["differences"], level, maybe_paired=maybe_paired)
    yield ""
    if "decisions" in document:
        yield from decision_lines(document["decisions"])
        yield ""
    if document["dominance"] is None:
        yield "Dominance and the best curves are omitted: see the warning not_a_sweep."
    else:
        yield from _dominance_lines(document["dominance"], names)
        yield ""
        yield from _best_lines("Most true positives at each fpr", document["best_roc"])
        yield ""
        yield from _best_lines("Highest precision at each recall", document["best_pr"])
    yield ""
    yield from _hull_lines(document["joint_hull"])
    for index, best in document["best_tradeoff"].items():
        yield ""
        yield from _best_lines(f"Best {index} at each weight of recall", best)
    warnings = [warning for warning in document["warnings"] if warning["code"] != _SAID_BELOW]
    yield from warning_lines({"warnings": warnings}, said="below_chance")


def _area_lines(auc: dict[str, list[Any]]) -> Iterable[str]:
    """Format the areas, a row for each curve, with column names broken before their last word."""
    areas = {key: values for key, values in auc.items() if key != "name"}
    heads = [key.rpartition("_") for key in areas]
    rows = [["", *(first + line for first, line, _ in heads)], ["", *(last for _, _, last in heads)]]
    columns = [_starred(values) for values in areas.values()]
    lines = list(zip(*columns, strict=True))
    yield "Areas; * marks the largest in each column"
    if max(map(len, auc["name"])) <= _SHORT_NAME:
        rows += [[name, *cells] for name, cells in zip(auc["name"], lines, strict=True)]
        yield from table_lines(rows, "<" + ">" * len(columns))
        return
    # Long names get lines of their own, so that the table fits a terminal.
    first, second, *numbers = table_lines([*rows, *(["", *cells] for cells in lines)], "<" + ">" * len(columns))
    yield from (first, second)
    for name, line in zip(auc["name"], numbers, strict=True):
        yield f"  {name}"
        yield line


def _starred(values: list[float | None]) -> list[str]:
    """Format a column, with a star at the greatest value; missing values are ignored."""
    greatest = max((value for value in values if value is not None), default=None)
    return [f"{'*' if value is not None and value == greatest else ''}{fraction(value)}" for value in values]


def _level(differences: dict[str, list[Any]]) -> float:
    return next((each for each in differences["level"] if each is not None), _LEVEL)


def _level_of_all(differences: dict[str, list[Any]]) -> float:
    """The level of all intervals of an area together, each of which has Bonferroni's."""
    pairs = len(set(zip(differences["name"], differences["against"], strict=True)))
    return round(1 - (1 - _level(differences)) * pairs, _DECIMALS_OF_LEVELS)


def _difference_lines(differences: dict[str, list[Any]], level: float, *, maybe_paired: bool) -> Iterable[str]:
    """Format the differences, with a row for each area below each pair, or each name if all are from the first."""
    rows = [dict(zip(differences, row, strict=True)) for row in zip(*differences.values(), strict=True)]
    head = ["", "difference", "interval", "p", "verdict"]
    first, *lines = table_lines([head, *(_difference_cells(row, level) for row in rows)], "<>>><")
    yield f"  {first}"
    several = len(set(differences["against"])) > 1
    for (name, other), cells in groupby(zip(rows, lines, strict=True), key=lambda each: _both_names(each[0])):
        yield f"  {name} against {other}" if several else f"  {name}"
        yield from (f"  {line}" for _, line in cells)
    if None in differences["lower"]:
        yield "  -  a warning says why."
    if maybe_paired:
        yield "  The labels agree row by row: if the rows are the same examples, add --paired."


def _both_names(row: dict[str, Any]) -> tuple[str, str]:
    return row["name"], row["against"]


def _difference_cells(row: dict[str, Any], level: float) -> list[str]:
    """One row. An adjusted p decides, since Holm has no intervals: those of Bonferroni are wider."""
    lower, upper, adjusted = row["lower"], row["upper"], row["p_value_adjusted"]
    p_value = row["p_value"] if adjusted is None else adjusted
    is_proven = lower is not None and not lower <= 0 <= upper if adjusted is None else adjusted < 1 - level
    verdict = ("higher" if row["difference"] > 0 else "lower") if is_proven else "undecided"
    return [
        row["area"],
        "-" if row["difference"] is None else f"{row['difference']:+.6f}",
        "-" if lower is None else f"{lower:+.6f} to {upper:+.6f}",
        "-" if p_value is None else f"{p_value:.3g}",
        verdict,
    ]


def _dominance_lines(dominance: dict[str, list[Any]], names: list[str]) -> Iterable[str]:
    """List the curves that each one dominates, marking identical ones."""
    pairs = zip(dominance["curve"], dominance["over"], dominance["dominates"], strict=True)
    over = {(curve, other) for curve, other, dominates in pairs if dominates}
    yield "Dominance: never more false positives at the same recall"
    rows = []
    for name in names:
        dominated = [
            f"{other} (the same curve)" if (other, name) in over else other for other in names if (name, other) in over
        ]
        rows.append([name, f"dominates {', '.join(dominated) or 'none'}"])
    yield from table_lines(rows, "<<")


def _best_lines(title: str, best: dict[str, list[Any]]) -> Iterable[str]:
    """Format intervals, each with the curves that are best there."""
    rows = list(range(len(best["best"])))
    shown = chosen_rows(rows)
    yield f"{title}: {how_many(shown, rows, 'interval')}"
    start, end = (key for key in best if key != "best")
    cells = [[fraction(best[start][row]), fraction(best[end][row]), ", ".join(best["best"][row])] for row in shown]
    yield from table_lines([[start, end, "best"], *cells], ">><")


def _hull_lines(hull: dict[str, list[Any]]) -> Iterable[str]:
    """Format the joint hull, with the curves that supply each row."""
    rows = list(range(len(hull["tp"])))
    shown = chosen_rows(rows)
    yield f"Convex hull of all ROC curves together: {how_many(shown, rows, 'row')}"
    yield from column_lines(_COMPARISONS.table("joint_hull").columns, hull, shown, _JOINT_HULL)


SCREEN = Screen(
    _HELP,
    _lines,
    told={
        "scores": (
            NAME_LIST,
            "Column of the scores; in a single FILE, one for each classifier: old,new.  [default: scores]",
        )
    },
    own=(
        FOR_OPTION,
        *DECISION_OPTIONS,
        click.Option(["--paired"], is_flag=True, help="All files have the same examples in the same order."),
        click.Option(["--all-pairs"], is_flag=True, help="Show how each differs from each, not only from the first."),
        click.Option(["--holm"], is_flag=True, help="Adjust p and intervals for the number of pairs."),
    ),
    texts=decision_texts,
    engine="exact",
    named=Named(
        click.Argument(
            ["files"], metavar="[NAME=]FILE [NAME=]FILE ... | FILE", nargs=-1, required=True, callback=named_files
        ),
        one_evaluation({name: _COMPARISONS.form.fields[name] for name in (*READING_FIELDS, *_WITH_OPTIONS)}),
        question_of_files,
        asked_of_pairs,
    ),
)
