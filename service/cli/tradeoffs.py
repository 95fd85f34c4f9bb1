"""`rocpr tradeoffs FILE`: which threshold is best for each weight of recall against precision, without a server.

Knows the command's options and the layout of its summary; answer.py checks and evaluates.
"""

from collections.abc import Iterable
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
    fraction,
    how_many,
    in_full,
    total_lines,
    warning_lines,
)
from service.cli.options import form_options, given_texts
from service.cli.plots import plot_option, write_plot
from service.cli.sources import ask_about, refuse_without_table, source_of
from service.operations import OPERATIONS

_OPTIMAL: CellTexts = {
    "lambda_from": fraction,
    "lambda_to": fraction,
    "threshold": in_full,
    "tp": count_text,
    "fp": count_text,
    "precision": fraction,
    "recall": fraction,
}
_AT: CellTexts = {"at_lambda": in_full, "value": fraction, "threshold": in_full}


@click.command(cls=OneFile)
@click.argument("file", type=FileOrGlob(), cls=FileArgument)
@form_options(
    OPERATIONS["tradeoffs"].form,
    {"lambda_density": ("JSON", """How much each lambda counts, as a beta density: '{"a": 2, "b": 2}'.""")},
)
@engine_options()
@plot_option
def tradeoffs(
    file: BinaryIO | str,
    format_name: str | None,
    *,
    as_json: bool,
    engine: EngineOptions | None,
    plot: Path | None,
    **options: str | bool | None,
) -> None:
    """Find the best threshold for each trade-off.

    Lambda, the weight of recall, sets the trade-off between precision and recall: at 0 only precision counts, at 1
    only recall. FILE is what rocpr curves takes: a table with the columns scores and labels, with the counts tp, fp, fn
    and tn, or with groups; or JSON, a request body for POST /v1/tradeoffs, with its own options. FILE can be - for
    standard input, with --format.
    """
    given = given_texts(options)
    source = source_of(file, format_name, engine)
    refuse_without_table(given, [source])
    body = ask_about("tradeoffs", source, given, {})
    write_plot(plot, lambda media_type: ask_about("tradeoffs", source, given, {}, media_type))
    if as_json:
        click.echo(body, nl=False)
    else:
        click.echo("\n".join(summary_lines(orjson.loads(body), source.name)))


def summary_lines(document: dict[str, Any], name: str) -> Iterable[str]:
    """Format an answer for a reader."""
    yield name
    yield ""
    yield from total_lines(document)
    yield ""
    yield "Lambda is the weight of recall: at 0 only precision counts, at 1 only recall."
    for index, tradeoff in document["tradeoffs"].items():
        yield ""
        yield from _index_lines(index, tradeoff)
    yield from warning_lines(document)


def _index_lines(index: str, tradeoff: dict[str, Any]) -> Iterable[str]:
    """Format one index: area, intervals of lambda, where calling everything positive is best, and readings."""
    optimal = tradeoff["optimal"]
    rows = list(range(len(optimal["tp"])))
    shown = chosen_rows(rows)
    yield f"Best {index} for each lambda: {how_many(shown, rows, 'interval')}, area {fraction(tradeoff['area'])}"
    yield from column_lines(optimal, _OPTIMAL, shown)
    if "bounds" in tradeoff:
        lower, upper = (fraction(tradeoff["bounds"][end]) for end in ("lower", "upper"))
        yield f"  The groups only say that the area is between {lower} and {upper}."
    start = tradeoff["uninformative_from"]
    if start is None:
        yield "  Calling everything positive is never best."
    elif len(rows) == 1:
        yield "  Calling everything positive is best everywhere: no threshold does better."
    else:
        yield f"  From lambda {fraction(start)} on, calling everything positive is best."
    if "at" in tradeoff:
        yield ""
        yield from column_lines(tradeoff["at"], _AT, range(len(tradeoff["at"]["value"])))
