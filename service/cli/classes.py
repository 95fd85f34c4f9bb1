"""The screen of `rocpr classes`: each class against the rest, the worst first, the averages, and the worst pairs."""

from collections.abc import Iterable

from service.cli.layout import MOST_ROWS, column_lines, fraction, how_many, sorted_rows, warning_lines
from service.cli.operation_command import Screen
from service.cli.options import NAME_LIST
from service.operations import OPERATIONS
from service.wire.answers.parts import Document

_TABLES = {table.name: table.columns for table in OPERATIONS["classes"].tables}
_OF_CLASSES = ("name", "positives", "negatives", "roc", "pr", "average_precision")
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
    yield from column_lines(_TABLES["averages"], document["averages"])
    if "pairs" in document:
        yield f"  Hand and Till, the mean roc of all pairs: {fraction(document['hand_till'])}"
    yield ""
    rows = sorted_rows(table["roc"])
    shown = rows[:MOST_ROWS]
    yield f"{how_many(shown, rows, 'class')} against the rest, lowest roc first"
    reasons = ["reason"] if any(table["reason"][row] for row in shown) else []
    yield from column_lines(_TABLES["classes"], table, shown, [*_OF_CLASSES, *reasons])
    if "pairs" in document:
        pairs = document["pairs"]
        rows = sorted_rows(pairs["roc"])
        shown = rows[:_MOST_PAIRS]
        yield ""
        yield f"{how_many(shown, rows, 'pair')}, by the scores of the first class, lowest roc first"
        yield from column_lines(_TABLES["pairs"], pairs, shown)
    yield from warning_lines(document)


SCREEN = Screen(
    _HELP,
    _lines,
    told={"scores": (NAME_LIST, "Columns of the scores for each class: cat,dog, or cat=p1,dog=p2.")},
)
