"""`rocpr curves FILE`: evaluates a file without a server, through the same answer.py, and prints what came out.

Knows the command's options and how a summary is laid out; what is valid and what the numbers are is answer.py's.
"""

import sys
import textwrap
from collections.abc import Callable, Iterable
from pathlib import PurePath
from typing import Any, BinaryIO, NoReturn

import click
import orjson

from service.answer import Answer, Limits, Request, answer
from service.settings import SettingsError, read_settings

AREAS = {
    "roc": "the ROC curve; a tie counts one half",
    "roc_hull": "the convex hull of the ROC curve",
    "pr": "the precision-recall curve, linear in counts",
    "pr_trapezoid": "the same by trapezoids at whole true positives",
    "pr_achievable": "the precision-recall curve of the hull's rows",
    "average_precision": "each rise in recall times the precision there",
}
"""What each area lies under, in the order of the summary."""

FORMATS = {"json": "application/json", "csv": "text/csv"}
SUMMARY = {"include": "auc,points", "keep": "corners"}
"""What the summary of a CSV file asks for; a JSON file says itself what it asks for."""

NAME_COLUMNS = "Columns with other names are told by --scores and --labels."
_NO_SAMPLE = {("", "missing"), ("/scores", "missing"), ("/labels", "missing")}

MOST_ROWS = 20
_WIDTH = 80


@click.command()
@click.argument("file", type=click.File("rb"))
@click.option("--format", "format_name", type=click.Choice(tuple(FORMATS)), help="Of FILE; else its suffix tells.")
@click.option("--json", "as_json", is_flag=True, help="Print the whole answer, as the service gives it.")
@click.option("--scores", metavar="NAME", help="Column of the scores.  [default: scores]")
@click.option("--labels", metavar="NAME", help="Column of the labels.  [default: labels]")
@click.option("--weights", metavar="NAME", help="Column of the weights.  [default: weights, if there is one]")
@click.option("--positive-label", metavar="TEXT", help="The label that is positive, unless labels are 0/1 or the like.")
@click.option("--lower-is-positive", is_flag=True, help="Low scores are positive.")
@click.option("--positives", metavar="NUMBER", help="Total of counts that have no column fn.")
@click.option("--negatives", metavar="NUMBER", help="Total of counts that have no column tn.")
@click.option("--thresholds", metavar="JSON", help="Evaluate these cuts alone: '[0.5, 0.9]'.")
@click.option("--include", metavar="NAMES", help="With --json: of auc,points,interpolated_pr,achievable_pr.")
@click.option("--keep", metavar="NAME", help="With --json: which points: all, corners or hull.")
@click.option("--interpolation", metavar="JSON", help="""With --json: '{"every": 10}' or '{"at_recall": [0.5]}'.""")
def curves(file: BinaryIO, format_name: str | None, *, as_json: bool, **options: str | bool | None) -> None:
    """Evaluate FILE, a CSV table or a JSON request, and print a summary.

    A CSV file has a header and the columns scores and labels, or the counts tp, fp, fn and tn. A JSON file is a body as
    POST /v1/curves takes it and carries its own options. FILE may be - for standard input, with --format.
    """
    texts = {option: "true" if value is True else value for option, value in options.items()}
    given = {option: text for option, text in texts.items() if isinstance(text, str)}
    name: str = getattr(file, "name", "<stdin>")
    name = "standard input" if name == "<stdin>" else name
    media_type = FORMATS[format_name or _suffix_format(name)]
    if given and media_type != FORMATS["csv"]:
        raise click.UsageError(f"{_flag(next(iter(given)))} goes with CSV; a JSON file carries its options itself.")
    for option in ("include", "keep", "interpolation"):
        if option in given and not as_json:
            raise click.UsageError(f"{_flag(option)} goes with --json; it does not change the summary.")
    if media_type == FORMATS["csv"] and not as_json:
        given |= SUMMARY
    result = _evaluate(Request("curves", "/v1/curves", media_type, FORMATS["json"], tuple(given.items()), file.read()))
    if result.status != 200:  # noqa: PLR2004  # the only status that is not a problem
        named = media_type != FORMATS["csv"] or "scores" in given
        _fail(problem_lines(orjson.loads(result.body), name, "" if named else NAME_COLUMNS))
    if as_json:
        click.echo(result.body, nl=False)
    else:
        click.echo("\n".join(summary_lines(orjson.loads(result.body), name)))


def summary_lines(document: dict[str, Any], name: str) -> Iterable[str]:
    """Lay out an answer for a reader; what the answer does not have is left out."""
    positives, negatives = document["positives"], document["negatives"]
    yield name
    yield ""
    data = [[key, _count(document[key])] for key in ("positives", "negatives")]
    yield from _table([*data, ["prevalence", f"{positives / (positives + negatives):.6g}"]], "<>")
    if document.get("auc"):
        yield ""
        yield "Areas"
        yield from _table([[key, _fraction(document["auc"][key]), AREAS[key]] for key in AREAS], "<><")
    if document.get("points"):
        yield ""
        yield from _hull_lines(document["points"])
    if document["warnings"]:
        yield ""
        yield "Warnings"
        for warning in document["warnings"]:
            text = f"{warning['code']}: {warning['detail']}"
            yield from textwrap.wrap(text, _WIDTH, initial_indent="  ", subsequent_indent="    ")


def problem_lines(problem: dict[str, Any], name: str, if_missing: str = "") -> Iterable[str]:
    """Lay out a problem document for a reader, with a pointer to each wrong value."""
    yield f"Error: {name}: {problem['title']}."
    errors = problem.get("errors", [])
    if len(errors) != 1:
        yield f"  {problem['detail']}"
    for error in errors:
        pointer = f"{error['pointer']}: " if error["pointer"] else ""
        yield f"  {pointer}{error['detail']} ({error['code']})"
    if any(error["pointer"].rpartition("/")[2].isdecimal() for error in errors):
        yield "  Rows are counted from 0."
    if if_missing and any((error["pointer"], error["code"]) in _NO_SAMPLE for error in errors):
        yield f"  {if_missing}"


def _evaluate(request: Request) -> Answer:
    """Evaluate under the limits that a server would have; the length of the file is not limited."""
    try:
        settings = read_settings()
    except SettingsError as error:
        _fail([f"Error: {error}"])
    return answer(request, Limits(settings.max_rows, settings.max_interpolated_rows))


def _hull_lines(points: dict[str, list[Any]]) -> Iterable[str]:
    """Lay out the rows on the hull, or some of them from end to end."""
    rows = [row for row, on_hull in enumerate(points["on_hull"]) if on_hull]
    shown = rows
    if len(rows) > MOST_ROWS:
        step = (len(rows) - 1) / (MOST_ROWS - 1)
        shown = [rows[round(place * step)] for place in range(MOST_ROWS)]
    part = f"{len(shown)} of " if len(shown) < len(rows) else ""
    yield f"Convex hull of the ROC curve: {part}{len(rows)} rows"
    columns: dict[str, Callable[[Any], str]] = {
        "threshold": _threshold,
        "tp": _count,
        "fp": _count,
        "recall": _fraction,
        "fpr": _fraction,
        "precision": _fraction,
    }
    if all(points["threshold"][row] is None for row in rows):
        del columns["threshold"]
    cells = [[write(points[key][row]) for key, write in columns.items()] for row in shown]
    yield from _table([list(columns), *cells], ">" * len(columns))


def _table(rows: list[list[str]], sides: str) -> Iterable[str]:
    """Align columns to the left (<) or right (>), two spaces apart."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (f"{cell:{side}{width}}" for cell, side, width in zip(row, sides, widths, strict=True))
        yield f"  {'  '.join(cells)}".rstrip()


def _threshold(number: float | None) -> str:
    """Write a threshold in all its digits, so that it can be used."""
    return "-" if number is None else str(number)


def _count(number: float) -> str:
    return str(number) if isinstance(number, int) else f"{number:.8g}"


def _fraction(number: float | None) -> str:
    return "-" if number is None else f"{number:.6f}"


def _suffix_format(name: str) -> str:
    suffix = PurePath(name).suffix.lower().removeprefix(".")
    if suffix not in FORMATS:
        raise click.UsageError("FILE does not end in .csv or .json; say --format csv or --format json.")
    return suffix


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _fail(lines: Iterable[str]) -> NoReturn:
    click.echo("\n".join(lines), err=True)
    sys.exit(2)
