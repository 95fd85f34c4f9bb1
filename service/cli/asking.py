"""Calls answer.py under a server's limits, and explains a problem to the reader of a command.

Knows problem documents and options as typed; nothing of engines.
"""

import re
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any
from urllib.parse import unquote_plus

import click
import orjson

from service.answer import answer
from service.cli.command_error import fail
from service.cli.files import InputFile
from service.cli.layout import MOST_ROWS, listing_lines, shortened
from service.cli.options import flag
from service.curves.sweep.sweep import COMPILED
from service.environment import leave_pandas_out
from service.request import Answer, Request
from service.settings import Settings, SettingsError, read_settings
from service.wire.formats.inputs import (
    COLUMN_PARAMETERS,
    COUNTS_COLUMNS,
    CSV_PARAMETERS,
    GROUPS_COLUMNS,
    OF_ONE_EVALUATION,
    SAMPLE_COLUMNS,
)
from service.wire.formats.signatures import is_of_body
from service.wire.limits import Limits
from service.wire.media_types import JSON
from service.wire.problems import MAX_ERRORS

_PROBLEM = {"/problems/invalid_request": "This cannot be used", "/problems/malformed_body": "This cannot be read"}
"""{type of a problem: its title when the request is a file}"""

_PARAMETER = (
    rf"(?:{'|'.join(sorted({*COLUMN_PARAMETERS, *OF_ONE_EVALUATION}, key=len, reverse=True))})"
    r"=(?:[\w%+~-]|[.,](?=\w))*"
)
_PARAMETERS = re.compile(rf"(?<![\w'/-]){_PARAMETER}(?:&{_PARAMETER})*")
"""Parameters of a query, with their values, in a detail."""

_NAMING = (*SAMPLE_COLUMNS, *COUNTS_COLUMNS, *GROUPS_COLUMNS)
"""Options that name a column each, which is called so by default."""

Spelling = Callable[[Sequence[tuple[str, str]]], str]
"""From options, each with its value, to what is typed for them."""

_POSITIVE_LABEL = re.compile(r"(?<![\w'/-])positive_label(?![\w'])")

_OF_A_CALL = {
    re.compile(r" \(curl [^()]*\)"): "",
    re.compile(r"; or send Content-Type: [^.]*(?=[.])"): "",
    re.compile(r" This looks like .*$"): "",  # InputFile.advice says it for files
    re.compile(r"\b([Tt]he|[Tt]his|[Aa]) (JSON )?body\b"): r"\1 \2file",
    re.compile(r"\bThis parameter\b"): "This option",
}
"""{words of a detail for callers of the service: words for the command line}"""


def ask(operation: str, media_type: str, parameters: dict[str, str], body: bytes, accept: str = JSON) -> Answer:
    """Evaluate under a server's limits, except for the length of the body."""
    use_compiled()
    leave_pandas_out()
    query = tuple(parameters.items())
    return answer(Request(operation, f"/v1/{operation}", media_type, accept, query, body), limits())


def limits() -> Limits:
    """Read the limits of a server."""
    return Limits.of(_settings())


def use_compiled() -> None:
    """Use the compiled loops as a server would; without them their twin gives the same numbers, more slowly."""
    if _settings().compiled == "auto" and COMPILED.path is None:
        try:
            COMPILED.use_installed()
        except OSError as error:
            click.echo(f"Warning: the compiled loops cannot be used: {error}", err=True)


def _settings() -> Settings:
    """Read a server's settings; an invalid setting is reported and ends the command."""
    try:
        return read_settings()
    except SettingsError as error:
        fail([f"Error: {error}"])


def as_options(errors: Iterable[dict[str, Any]], typed: Mapping[str, object]) -> list[dict[str, Any]]:
    """Replace pointers by options as typed, if the error is in an option's value.

    An option that names a column is at fault if there is no such column. A pointer with the name of a column that is
    used means the column, even if an option is called the same.
    """
    columns = {typed.get(key, key) for key in _NAMING}
    renamed = []
    for error in errors:
        name, slash, rest = error["pointer"].removeprefix("/").partition("/")
        is_option = name in typed and (error["code"] == "missing" if name in _NAMING else name not in columns)
        renamed.append(error | {"pointer": f"{flag(name)}{slash}{rest}"} if is_option else error)
    return renamed


def lines_of_file(
    problem: dict[str, Any],
    file: InputFile,
    body: bytes,
    given: dict[str, str],
    typed: dict[str, str],
    *,
    names: bool = True,
    spelled: Spelling | None = None,
) -> Iterable[str]:
    """Format the problem of one file, and say what the file is, if its name says something else.

    `typed` are those of its options that were typed; `names` says whether the command can name the columns; `spelled`
    writes options for this file alone.
    """
    errors = numbered(as_options(problem.get("errors", []), typed), file.first_row(given))
    yield from problem_lines(problem | {"errors": errors}, file.name, options=file.is_table, spelled=spelled)
    code = problem["type"].rpartition("/")[2]
    advice = file.advice(body) if is_of_body(code, (error["code"] for error in errors)) else None
    if advice is not None:
        yield f"  {advice}"
        return
    missing = {error["pointer"].removeprefix("/") or "scores" for error in errors if error["code"] == "missing"}
    if names and file.is_table and (missing & {"scores", "labels"}) - given.keys():
        yield from _listed_columns(file, body, given)
    yield from note_lines(problem, errors)


def _listed_columns(file: InputFile, body: bytes, given: Mapping[str, str]) -> Iterable[str]:
    """List the columns of a table, to choose from, with some of their values."""
    reading = {key: text for key, text in given.items() if key in CSV_PARAMETERS}
    result = ask("columns", file.media_type_of(body), reading, body)
    if is_problem(result):
        return
    table = orjson.loads(result.body)["columns"]
    yield ""
    yield from listing_lines(table, MOST_ROWS)


def of_every_file(parameters: Sequence[tuple[str, str]]) -> str:
    """Write options as typed."""
    return " ".join(f"{flag(name)}{f' {shlex.quote(text)}' if text else ''}" for name, text in parameters)


def as_typed(detail: str, *, options: bool, spelled: Spelling | None = None) -> str:
    """Write a detail for the command line, with options in place of parameters, spelled for every file or for one.

    If `options`, the field `positive_label` is an option, too.
    """
    spelled = spelled or of_every_file

    def option(match: re.Match[str]) -> str:
        given = (each.partition("=") for each in match[0].split("&"))
        return spelled([(name, unquote_plus(text)) for name, _, text in given])

    for said, in_its_place in _OF_A_CALL.items():
        detail = said.sub(in_its_place, detail)
    detail = _PARAMETERS.sub(option, detail)
    return _POSITIVE_LABEL.sub(spelled([("positive_label", "")]), detail) if options else detail


def is_problem(result: Answer) -> bool:
    """Whether an answer is a problem document."""
    return result.problem is not None


def problem_lines(
    problem: dict[str, Any], name: str, *, options: bool = False, spelled: Spelling | None = None
) -> Iterable[str]:
    """Format a problem document for a reader, with a pointer to each wrong value.

    `options` says whether the file is a table: then `positive_label` is an option, and pointers are to columns.
    `spelled` writes options for this file alone.
    """
    errors = problem.get("errors", [])
    of_options = bool(errors) and all(_is_option(error) for error in errors)
    title = "These options cannot be used" if of_options else _PROBLEM.get(str(problem.get("type")), problem["title"])
    title = as_typed(title, options=False)
    yield f"Error: {name}: {title}."
    if not errors:
        yield f"  {as_typed(problem['detail'], options=options, spelled=spelled)}"
    for error in errors:
        place = _of_column(error) if options else error["pointer"]
        detail = as_typed(error["detail"], options=options, spelled=spelled)
        yield f"  {place}{': ' if place else ''}{detail} ({error['code']})"


def _of_column(error: dict[str, Any]) -> str:
    """Write a pointer into a table, or an option; empty for what is missing, which the detail names."""
    if _is_option(error) or not error["pointer"]:
        return str(error["pointer"])
    if error["code"] == "missing":
        return ""
    column, _, row = error["pointer"].removeprefix("/").partition("/")
    name = shortened(column.replace("~1", "/").replace("~0", "~"))
    return f"column {name}, row {row}" if row else f"column {name}"


def note_lines(problem: dict[str, Any], of_files: Iterable[dict[str, Any]]) -> Iterable[str]:
    """Explain, below the problems of all files, how to read them; `of_files` are the errors within files."""
    rows = [each for each in of_files if each["pointer"].rpartition("/")[2].isdecimal() and not _is_option(each)]
    if any(error.get("as_in_sheet") for error in rows):
        yield "  Rows are numbered as a spreadsheet shows them: a header is row 1."
    if any("counting from 0" not in error["detail"] and not error.get("as_in_sheet") for error in rows):
        yield "  Rows are counted from 0, starting below any header."
    if len(problem.get("errors", [])) >= MAX_ERRORS:
        yield f"  At most {MAX_ERRORS} errors are listed."


def numbered(errors: Iterable[dict[str, Any]], first_row: int | None) -> list[dict[str, Any]]:
    """Number rows as a spreadsheet does, if the first row below any header has a number there."""
    if first_row is None:
        return list(errors)

    def in_sheet(error: dict[str, Any]) -> dict[str, Any]:
        column, slash, row = error["pointer"].rpartition("/")
        if not (column and row.isdecimal()) or _is_option(error):
            return error
        return error | {"pointer": f"{column}{slash}{int(row) + first_row}", "as_in_sheet": True}

    return [in_sheet(error) for error in errors]


def _is_option(error: dict[str, Any]) -> bool:
    return bool(error["pointer"].startswith("-"))
