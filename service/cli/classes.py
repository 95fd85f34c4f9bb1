"""`rocpr classes FILE --scores cat,dog --labels y`: each class against the rest, and the averages, without a server.

Knows the command's options and the layout of its summary; answer.py checks and evaluates.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Any, BinaryIO

import click
import orjson

from service.cli.files import InputFile
from service.cli.layout import (
    MOST_ROWS,
    CellTexts,
    column_lines,
    count_text,
    fraction,
    how_many,
    sorted_rows,
    warning_lines,
)
from service.cli.options import NAME_LIST, form_options, given_texts
from service.cli.plots import plot_option, write_plot
from service.cli.sources import ask_about, refuse_without_table
from service.operations import OPERATIONS

_AREAS: CellTexts = {"roc": fraction, "pr": fraction, "average_precision": fraction}
_CLASS_COLUMNS: CellTexts = {"name": str, "positives": count_text, "negatives": count_text, **_AREAS}
_PAIRS: CellTexts = {"name": str, "against": str, "roc": fraction}
_MOST_PAIRS = 10
"""The number of pairs shown, those with the least area."""


@click.command(short_help="Evaluate a classifier with several classes.")
@click.argument("file", type=click.File("rb"))
@form_options(
    OPERATIONS["classes"].form,
    {"scores": (NAME_LIST, "Columns of the scores for each class: cat,dog, or cat=p1,dog=p2.")},
)
@plot_option
def classes(
    file: BinaryIO, format_name: str | None, *, as_json: bool, plot: Path | None, **options: str | bool | None
) -> None:
    """Evaluate a classifier with several classes: each class against the rest, the worst first, and on average.

    FILE is a table: --scores names a column for each class, and --labels the column with the class of each row. Each
    column of scores has the name of its class, unless --scores cat=p1,dog=p2 says which is which.
    Or FILE is JSON, a request body for POST /v1/classes. FILE can be - for standard input, with --format.
    """
    given = given_texts(options)
    source = InputFile.of(file, format_name)
    refuse_without_table(given, [source])
    body = ask_about("classes", source, given, {})
    write_plot(plot, lambda media_type: ask_about("classes", source, given, {}, media_type))
    if as_json:
        click.echo(body, nl=False)
    else:
        click.echo("\n".join(summary_lines(orjson.loads(body), source.name)))


def summary_lines(document: dict[str, Any], name: str) -> Iterable[str]:
    """Format an answer for a reader."""
    table, averages = document["classes"], document["averages"]
    yield name
    yield ""
    yield "Averages"
    yield from column_lines(averages, {"average": str, **_AREAS}, range(len(averages["average"])), left=("average",))
    if "pairs" in document:
        yield f"  Hand and Till, the mean roc of all pairs: {fraction(document['hand_till'])}"
    yield ""
    rows = sorted_rows(table["roc"])
    shown = rows[:MOST_ROWS]
    yield f"{how_many(shown, rows, 'class')} against the rest, lowest roc first"
    reasons: CellTexts = {"reason": lambda reason: reason or ""} if any(table["reason"][row] for row in shown) else {}
    yield from column_lines(table, _CLASS_COLUMNS | reasons, shown, left=("name", "reason"))
    if "pairs" in document:
        pairs = document["pairs"]
        rows = sorted_rows(pairs["roc"])
        shown = rows[:_MOST_PAIRS]
        yield ""
        yield f"{how_many(shown, rows, 'pair')}, by the scores of the first class, lowest roc first"
        yield from column_lines(pairs, _PAIRS, shown, left=("name", "against"))
    yield from warning_lines(document)
