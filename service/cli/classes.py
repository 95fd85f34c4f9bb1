"""The screen of `rocpr classes`: each class against the rest, the worst first, the averages, and the worst pairs."""

from collections.abc import Iterable
from typing import Any

from service.cli.decision_options import LEVEL_OPTION, level_texts
from service.cli.layout import (
    MOST_ROWS,
    cell_text,
    column_lines,
    fraction,
    how_many,
    sorted_rows,
    table_lines,
    terminal_safe,
    warning_lines,
)
from service.cli.operation_command import Screen
from service.cli.options import NAME_LIST
from service.curves.classes import AVERAGED_AREAS
from service.operations import OPERATIONS
from service.wire.answers.parts import Document

_TABLES = {table.name: table.columns for table in OPERATIONS["classes"].tables}
_OF_CLASSES = ("name", "positives", "negatives", "roc", "pr", "average_precision")
_MATRIX = ("tp", "fp", "fn", "tn")
_MOST_IN_A_MATRIX = 10
"""The most classes whose matrix fits a screen."""
_MOST_PAIRS = 10
"""The number of pairs shown, those with the least area."""

_HELP = """Evaluate a classifier with several classes.

Each class is evaluated against the rest, the worst first, and on average.

FILE is a table: --scores names a column for each class, and --labels the column with the class of each row. Each
column of scores has the name of its class, unless --scores cat=p1,dog=p2 says which is which.
Or FILE is JSON, a request body for POST /v1/classes. FILE can be - for standard input, with --format.
"""


def _lines(document: Document) -> Iterable[str]:
    table = document["classes"]
    yield "Averages"
    averages = document["averages"]
    ends = {f"{area}_{end}" for area in AVERAGED_AREAS for end in ("lower", "upper")}
    yield from column_lines(_TABLES["averages"], averages, names=[name for name in averages if name not in ends])
    if "pairs" in document:
        yield f"  Hand and Till, the mean roc of all pairs: {fraction(document['hand_till'])}"
    yield ""
    rows = sorted_rows(table["roc"])
    shown = rows[:MOST_ROWS]
    yield f"{how_many(shown, rows, 'class')} against the rest, lowest roc first"
    reasons = ["reason"] if any(table["reason"][row] for row in shown) else []
    yield from column_lines(_TABLES["classes"], table, shown, [*_OF_CLASSES, *reasons])
    if "roc_lower" in table:
        yield ""
        yield from _interval_lines(document, shown)
    yield from _decision_lines(document, shown)
    if "pairs" in document:
        pairs = document["pairs"]
        rows = sorted_rows(pairs["roc"])
        shown = rows[:_MOST_PAIRS]
        yield ""
        yield f"{how_many(shown, rows, 'pair')}, by the scores of the first class, lowest roc first"
        yield from column_lines(_TABLES["pairs"], pairs, shown)
    yield from warning_lines(document)


def _interval_lines(document: Document, shown: list[int]) -> Iterable[str]:
    """Format the intervals of the areas of the averages, and of the classes shown."""
    table, averages = document["classes"], document["averages"]
    named = [(averages, row, name) for row, name in enumerate(averages["average"])]
    named += [(table, row, terminal_safe(table["name"][row])) for row in shown]
    yield "Intervals"
    rows = [[name, *(_interval(each, area, row) for area in AVERAGED_AREAS)] for each, row, name in named]
    yield from table_lines([["", *AVERAGED_AREAS], *rows], "<>>>")


def _interval(table: dict[str, list[Any]], area: str, row: int) -> str:
    lower, upper = (table[f"{area}_{end}"][row] for end in ("lower", "upper"))
    return "-" if lower is None else f"{fraction(lower)} to {fraction(upper)}"


def _decision_lines(document: Document, shown: list[int]) -> Iterable[str]:
    """Format predicted classes: the metrics of each class, the matrix, numbers of all, and the first k."""
    table = document["classes"]
    if "tp" in table:
        yield ""
        yield "Predicted classes"
        yield from column_lines(_TABLES["classes"], table, shown, ["name", *_MATRIX, *_metrics(table)])
    if "confusion" in document and len(table["name"]) <= _MOST_IN_A_MATRIX:
        yield ""
        yield "Confusion matrix: each row is a class, each column a predicted class"
        names, counts = table["name"], iter(document["confusion"]["count"])
        rows = [[name, *(cell_text(next(counts), "count") for _ in names)] for name in names]
        yield from table_lines([["", *names], *rows], "<" + ">" * len(names))
    if "overall" in document:
        yield ""
        numbers = {name: value for name, value in document["overall"].items() if value is not None}
        yield from table_lines([[name, cell_text(value, "number")] for name, value in numbers.items()], "<>")
    if "top" in document:
        yield ""
        yield "How often the class is among the k with the greatest scores"
        yield from column_lines(_TABLES["top"], document["top"])


def _metrics(table: Document) -> list[str]:
    """The columns of metrics, which are the last."""
    names = [*table]
    return names[names.index("tn") + 1 :]


SCREEN = Screen(
    _HELP,
    _lines,
    own=(LEVEL_OPTION,),
    texts=level_texts,
    told={"scores": (NAME_LIST, "Columns of the scores for each class: cat,dog, or cat=p1,dog=p2.")},
)
