"""`rocpr compare [NAME=]FILE [NAME=]FILE ...`, or one table: which classifier is best where, without a server.

Knows the command's options and the layout of its summary; answer.py checks and evaluates.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, cast

import click
import orjson

from service.answer import answer_decoded
from service.cli.asking import is_problem, limits, use_compiled
from service.cli.command_error import fail
from service.cli.differences import Differences, Evaluations, differences
from service.cli.engine_options import EngineOptions, engine_options
from service.cli.engine_rows import limits_of_engines
from service.cli.evaluations import UNNAMED, EvaluationFile, lines_of_problem, named_files, read_evaluations, request_of
from service.cli.files import InputFile
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
from service.cli.options import NAME_LIST, Help, form_options, given_texts
from service.cli.own_options import for_option, texts_of_files
from service.cli.plots import plot_option, write_plot
from service.cli.sources import Source, ask_about, refuse_without_table, source_of
from service.operations import OPERATIONS
from service.request import Request
from service.wire.formats.decoders import DECODERS
from service.wire.formats.inputs import MISSING
from service.wire.formats.missing_cells import without_missing
from service.wire.formats.query_options import names_or_json
from service.wire.formats.tables import one_evaluation
from service.wire.limits import Limits
from service.wire.media_types import JSON
from service.wire.requests.query_fields import READING_FIELDS

_Sources = Mapping[str, Source]

_SHORT_NAME = 11
"""The longest name that is on the same line as its areas."""

_JOINT_HULL = ("threshold", "tp", "fp", "tpr", "fpr", "suppliers")

_HELP: dict[str, Help] = {
    "scores": (
        NAME_LIST,
        "Column of the scores; in a single FILE, one for each classifier: old,new.  [default: scores]",
    )
}


@click.command(short_help="Find which of 2 to 50 classifiers is best where.")
@click.argument("files", metavar="[NAME=]FILE [NAME=]FILE ... | FILE", nargs=-1, required=True, callback=named_files)
@form_options(
    one_evaluation({name: OPERATIONS["comparisons"].form.fields[name] for name in (*READING_FIELDS, "indices")}), _HELP
)
@for_option
@engine_options(exact=True)
@click.option("--paired", is_flag=True, help="All files have the same examples in the same order.")
@plot_option
def compare(
    files: dict[str, BinaryIO | str],
    format_name: str | None,
    indices: str | None,
    *,
    own: tuple[str, ...],
    as_json: bool,
    engine: EngineOptions | None,
    paired: bool,
    plot: Path | None,
    **options: str | bool | None,
) -> None:
    """Find which of 2 to 50 classifiers is best where, and how certain it is that the others differ from the first.

    All must be evaluated on the same data, with the same number of positives and of negatives. Each FILE is one
    evaluation: a table as rocpr curves takes it, or a JSON file with the fields of an evaluation. Without a NAME, a
    classifier is named after its file. The options for columns apply to all tables, except where --for says otherwise
    for one of them. One FILE can be - for standard
    input, with --format and a NAME.

    A single FILE without a NAME is a table with a column of scores for each classifier, named as in --scores old,new;
    or JSON, a request body for POST /v1/comparisons.
    """
    given = given_texts(options)
    of_each = texts_of_files(own, {name: name for name in files if name != UNNAMED})
    sources = {name: source_of(stream, format_name, engine) for name, stream in files.items()}
    refuse_without_table(given, sources.values())
    chosen = {} if indices is None else {"indices": indices}
    if paired and as_json:
        raise click.UsageError("--paired is for the summary; it cannot be combined with --json.")
    most = limits() if engine is None else limits_of_engines()
    if UNNAMED in sources and engine is not None:
        raise click.UsageError("With --engine, give every classifier as NAME=FILE.")
    if UNNAMED in sources:
        _refuse_one_column(sources[UNNAMED], given)
        ask, evaluations = _of_table(cast("InputFile", sources[UNNAMED]), given, chosen)
    else:
        ask, evaluations = _of_files(read_evaluations(sources, given, of_each), chosen, most)
    body = ask(JSON)
    write_plot(plot, ask)
    if as_json:
        click.echo(body, nl=False)
        return
    same_rows = paired or (UNNAMED in sources and sources[UNNAMED].is_table)
    differ = differences(evaluations(), most, paired=same_rows)
    click.echo("\n".join(summary_lines(orjson.loads(body), sources, differ)))


_Asked = tuple[Callable[[str], bytes], Callable[[], Evaluations]]
"""A function that answers in a media type (a problem is printed and ends the command), and one for the evaluations."""


def _refuse_one_column(table: Source, given: Mapping[str, str]) -> None:
    """Refuse a table with a single column to compare. Raises UsageError."""
    names = names_or_json(given.get("scores", "[]"))
    if table.is_table and isinstance(names, list) and len(names) == 1:
        raise click.UsageError(
            f"--scores {names[0]} is one classifier; name the columns of all, as in --scores old,new."
        )


def _of_table(table: InputFile, given: dict[str, str], options: dict[str, str]) -> _Asked:
    """Compare the columns of one table, or the evaluations of a request."""

    def evaluations() -> Evaluations:
        body, form = table.content, OPERATIONS["comparisons"].form
        decoded = DECODERS[table.media_type_of(body)](body, table.taken(given), form, limits())
        found: Evaluations = without_missing(decoded).document["evaluations"]  # type: ignore[index]  # it is a table's
        return found

    return partial(ask_about, "comparisons", table, given, options), evaluations


def _of_files(evaluations: list[EvaluationFile], options: dict[str, str], most: Limits) -> _Asked:
    """Compare several files, each of which is read once."""
    chosen: dict[str, object] = {name: names_or_json(text) for name, text in options.items()}
    decoded = request_of(evaluations, chosen)
    use_compiled()

    def ask(accept: str) -> bytes:
        result = answer_decoded(Request("comparisons", "/v1/comparisons", JSON, accept, (), b""), decoded, most)
        if is_problem(result):
            fail(lines_of_problem(orjson.loads(result.body), evaluations, chosen))
        return result.body

    def documents() -> Evaluations:
        found: Any = decoded.document
        return [each | {key: found[key] for key in (MISSING,) if key in found} for each in found["evaluations"]]

    return ask, documents


def summary_lines(document: dict[str, Any], files: _Sources, differ: Differences) -> Iterable[str]:
    """Format an answer for a reader."""
    yield "Evaluations"
    names, one = document["auc"]["name"], files.get(UNNAMED)
    yield from table_lines([[name, (one or files[name]).name] for name in names], "<<")
    yield ""
    yield from total_lines(document)
    yield ""
    yield from _area_lines(document["auc"])
    yield from direction_lines(document)
    yield ""
    yield from differ.lines()
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
    yield from warning_lines({"warnings": document["warnings"] + differ.told()}, said="below_chance")


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
    yield from column_lines(OPERATIONS["comparisons"].table("joint_hull").columns, hull, shown, _JOINT_HULL)
