"""Asks answer.py as a server would, and tells a reader what is wrong when it answers a problem."""

from collections.abc import Iterable, Mapping
from typing import Any

import click
import orjson

from service.answer import Answer, Request, answer
from service.cli.command_error import fail
from service.cli.files import InputFile
from service.cli.layout import MOST_ROWS, harmless, table_lines
from service.cli.options import flag
from service.curves.compiled import KERNEL
from service.settings import Settings, SettingsError, read_settings
from service.wire.formats.query_options import CSV_PARAMETERS, SAMPLE_COLUMNS
from service.wire.limits import Limits
from service.wire.media_types import JSON
from service.wire.problems import MAX_ERRORS

NAME_COLUMNS = "If the columns have other names, give them with --scores and --labels."
NAME_LABEL = "--positive-label names the positive one."
_LONGEST, _FEW = 40, 3
"""How many characters of a column's name, or of a value, are shown, and how many of its values."""

_TITLES = {"/problems/invalid_request": "This cannot be used", "/problems/malformed_body": "This cannot be read"}
"""What is said of a file where the service speaks of a request and its body."""


def ask(operation: str, media_type: str, parameters: dict[str, str], body: bytes, accept: str = JSON) -> Answer:
    """Evaluate under the limits that a server would have; the length of the body is not limited."""
    use_compiled()
    query = tuple(parameters.items())
    return answer(Request(operation, f"/v1/{operation}", media_type, accept, query, body), limits())


def limits() -> Limits:
    """Read the limits that a server would have."""
    settings = _settings()
    return Limits(settings.max_rows, settings.max_interpolated_rows, settings.max_decompressed_bytes)


def use_compiled() -> None:
    """Use the compiled loops as a server would; NumPy gives the same numbers where they cannot be used."""
    if _settings().compiled == "auto" and KERNEL.path is None:
        try:
            KERNEL.use_installed()
        except OSError as error:
            click.echo(f"Warning: the compiled loops cannot be used: {error}", err=True)


def _settings() -> Settings:
    """Read what a server would read; a setting that cannot be used is reported and ends the command."""
    try:
        return read_settings()
    except SettingsError as error:
        fail([f"Error: {error}"])


def ask_about(
    operation: str, file: InputFile, typed: dict[str, str], others: Mapping[str, str], accept: str = JSON
) -> bytes:
    """Evaluate one file, with the options that were typed and others, and return the answer.

    A problem is printed and ends the command.
    """
    body = file.content
    result = ask(operation, file.media_type_of(body), {**typed, **others}, body, accept)
    if is_problem(result):
        fail(lines_of_file(orjson.loads(result.body), file, body, typed, typed))
    return result.body


def as_options(errors: Iterable[dict[str, Any]], typed: Mapping[str, object]) -> list[dict[str, Any]]:
    """Point to options as they were typed, where an error is in what one of them says.

    One that names a column is wrong where there is no such column. What has the name of a column may be the column.
    """
    columns = {typed.get(key, key) for key in SAMPLE_COLUMNS}
    renamed = []
    for error in errors:
        name, slash, rest = error["pointer"].removeprefix("/").partition("/")
        is_option = name in typed and (error["code"] == "missing" if name in SAMPLE_COLUMNS else name not in columns)
        renamed.append(error | {"pointer": f"{flag(name)}{slash}{rest}"} if is_option else error)
    return renamed


def lines_of_file(
    problem: dict[str, Any], file: InputFile, body: bytes, given: dict[str, str], typed: dict[str, str]
) -> Iterable[str]:
    """Lay out the problem of one file, or what else the file is than its name says.

    Of the options that were given to it some may have been `typed`.
    """
    advice = file.advice(body)
    if advice is not None:
        yield f"Error: {file.name}: {advice}"
        return
    errors = as_options(problem.get("errors", []), typed)
    yield from problem_lines(problem | {"errors": errors}, file.name)
    missing = {error["pointer"].removeprefix("/") or "scores" for error in errors if error["code"] == "missing"}
    if file.is_table and (missing & {"scores", "labels"}) - given.keys():
        yield f"  {NAME_COLUMNS}"
        yield from _listed_columns(file, body, given)
    if wants_label(errors):
        yield from label_lines(file)
    yield from note_lines(problem, errors)


def _listed_columns(file: InputFile, body: bytes, given: Mapping[str, str]) -> Iterable[str]:
    """List what the columns of a table are, to choose from, and some of their values."""
    reading = {key: text for key, text in given.items() if key in CSV_PARAMETERS}
    result = ask("columns", file.media_type_of(body), reading, body)
    if is_problem(result):
        return
    table = orjson.loads(result.body)["columns"]
    rows = [
        [_plain(name), kind, _some(values, more=more)]
        for name, kind, values, more in zip(*map(table.get, ("name", "type", "values", "more")), strict=True)
    ]
    yield ""
    yield from table_lines([["column", "type", "values"], *rows[:MOST_ROWS]], "<<<")
    if len(rows) > MOST_ROWS:
        yield f"  and {len(rows) - MOST_ROWS} more"


def _some(values: list[Any], *, more: bool) -> str:
    """Write the first values of a column."""
    texts = [*map(_plain, values[:_FEW])]
    return ", ".join([*texts, *(["..."] if more or len(values) > _FEW else [])])


def _plain(value: object) -> str:
    """Write what stands in a file, the beginning of it."""
    return harmless(str(value))[:_LONGEST]


def is_problem(result: Answer) -> bool:
    """Whether an answer is a problem document."""
    return result.problem is not None


def wants_label(errors: Iterable[dict[str, Any]]) -> bool:
    """Whether it is left open which label is the positive one."""
    codes = {"not_a_label", "one_class"}
    return any(error["code"] in codes and "positive_label" in error["detail"] for error in errors)


def label_lines(file: InputFile) -> Iterable[str]:
    """Say how to choose between labels."""
    if file.is_table:
        yield f"  {NAME_LABEL}"


def problem_lines(problem: dict[str, Any], name: str) -> Iterable[str]:
    """Lay out a problem document for a reader, with a pointer to each wrong value."""
    errors = problem.get("errors", [])
    of_options = bool(errors) and all(_is_option(error) for error in errors)
    title = "The request cannot be made" if of_options else _TITLES.get(str(problem.get("type")), problem["title"])
    yield f"Error: {name}: {title}."
    if not errors:
        yield f"  {problem['detail']}"
    for error in errors:
        pointer = f"{error['pointer']}: " if error["pointer"] else ""
        yield f"  {pointer}{error['detail']} ({error['code']})"


def note_lines(problem: dict[str, Any], of_files: Iterable[dict[str, Any]]) -> Iterable[str]:
    """Say, below the problems of all files, how the errors are to be read; some of them are of files with rows."""
    if any(error["pointer"].rpartition("/")[2].isdecimal() and not _is_option(error) for error in of_files):
        yield "  Rows are counted from 0."
    if len(problem.get("errors", [])) >= MAX_ERRORS:
        yield f"  The first {MAX_ERRORS} are listed."


def _is_option(error: dict[str, Any]) -> bool:
    return bool(error["pointer"].startswith("-"))
