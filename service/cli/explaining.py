"""How a problem of the service is told to the reader of a command: by file, with options as typed.

Knows problem documents, and where errors are in files; nothing of how a request is put together.
"""

import re
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple
from urllib.parse import unquote_plus

import orjson

from service.answer import answer
from service.cli.engine_rows import EngineRows
from service.cli.files import InputFile
from service.cli.layout import MOST_ROWS, listing_lines, shortened
from service.cli.options import OptionsText, flag
from service.request import Request
from service.wire.answers.parts import Document
from service.wire.formats.inputs import (
    CLUSTERS,
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

Source = InputFile | EngineRows

_PROBLEM = {"/problems/invalid_request": "This cannot be used", "/problems/malformed_body": "This cannot be read"}
"""{type of a problem: its title when the request is a file}"""

_PARAMETER = (
    rf"(?:{'|'.join(sorted({*COLUMN_PARAMETERS, *OF_ONE_EVALUATION}, key=len, reverse=True))})"
    r"=(?:[\w%+~-]|[.,](?=\w))*"
)
_PARAMETERS = re.compile(rf"(?<![\w'/-])(?:{_PARAMETER}(?:&{_PARAMETER})*|positive_label(?![\w']))")
"""Parameters of a query, with their values, in a detail; the positive label may be without."""

_NAMING = (*SAMPLE_COLUMNS, CLUSTERS, *COUNTS_COLUMNS, *GROUPS_COLUMNS)
"""Options that name a column each, which is called so by default."""

Spelling = Callable[[Sequence[tuple[str, str]]], str]
"""From options, each with its value, to what is typed for them."""

_BODY = re.compile(r"\b([Tt]he|[Tt]his|[Aa]) (JSON )?body\b")
_OF_A_CALL = " This looks like "
"""How a server's advice about the call begins, which ends a detail; InputFile.advice says it for files."""

_IN_SHEET = "Rows are numbered as a spreadsheet shows them: a header is row 1."
_FROM_0 = "Rows are counted from 0, starting below any header."


class Told(NamedTuple):
    """An error: where it is, as a reader finds it, and the note that explains the number of its row."""

    place: str
    detail: str
    code: str
    note: str = ""

    @property
    def is_option(self) -> bool:
        """Whether it is in the value of an option."""
        return self.place.startswith("-")


def of_every_file(parameters: Sequence[tuple[str, str]]) -> str:
    """Write options as typed."""
    return " ".join(f"{flag(name)}{f' {shlex.quote(text)}' if text else ''}" for name, text in parameters)


def as_typed(detail: str, spelled: Spelling | None = None) -> str:
    """Write a detail for the command line; with parameters as options, if there is a way to spell these."""
    detail = _BODY.sub(r"\1 \2file", detail.partition(_OF_A_CALL)[0])
    if spelled is None:
        return detail

    def option(match: re.Match[str]) -> str:
        given = (each.partition("=") for each in match[0].split("&"))
        return spelled([(name, unquote_plus(text)) for name, _, text in given])

    return _PARAMETERS.sub(option, detail)


def told_of_source(
    errors: Iterable[Document],
    source: Source,
    given: Mapping[str, str],
    typed: Mapping[str, object],
    spelled: Spelling | None,
) -> list[Told]:
    """Tell the errors of a source that was read with the given options, some of which were typed.

    `spelled` writes options for it, if it takes any.
    """
    told = []
    for error in errors:
        pointer, code, detail = error["pointer"], error["code"], error["detail"]
        name, _, row = pointer.removeprefix("/").partition("/")
        note = _FROM_0 if row.rpartition("/")[2].isdecimal() and "counting from 0" not in detail else ""
        if option := _as_option(error, typed):
            place, note = option, ""
        elif not source.is_table:
            place = pointer
        elif code == "missing" or not pointer:
            place, note = "", ""  # the detail names it
        else:
            first = source.first_row(given)
            if row.isdecimal() and first is not None:
                row, note = str(int(row) + first), _IN_SHEET
            column = shortened(name.replace("~1", "/").replace("~0", "~"))
            place = f"column {column}, row {row}" if row else f"column {column}"
        told.append(Told(place, as_typed(detail, spelled), code, note))
    return told


def told_of_options(errors: Iterable[Document], typed: Mapping[str, object]) -> list[Told]:
    """Tell errors that are in no file, of which some may be in the value of an option."""
    return [
        Told(_as_option(error, typed) or error["pointer"], as_typed(error["detail"]), error["code"]) for error in errors
    ]


def _as_option(error: Document, typed: Mapping[str, object]) -> str:
    """Write a pointer as an option, if the error is in the value of one that was typed; else empty.

    A pointer with the name of a column that is used means the column, even if an option is called the same. An option
    that names a column is at fault if there is no such column.
    """
    name, slash, rest = error["pointer"].removeprefix("/").partition("/")
    columns = {typed.get(key, key) for key in _NAMING}
    at_fault = error["code"] == "missing" if name in _NAMING else name not in columns
    if name not in typed or not at_fault:
        return ""
    text = typed[name]
    option = text.options.get(rest) if isinstance(text, OptionsText) else None
    return option or f"{flag(name)}{slash}{rest}"


def problem_lines(
    problem: Document, name: str, told: Sequence[Told] = (), spelled: Spelling | None = None
) -> Iterable[str]:
    """Format a problem of the named file with its errors, or without any with its detail."""
    if told and all(error.is_option for error in told):
        title = "These options cannot be used"
    else:
        title = _PROBLEM.get(str(problem.get("type")), as_typed(problem["title"]))
    yield f"Error: {name}: {title}."
    if not told:
        yield f"  {as_typed(problem['detail'], spelled)}"
    for error in told:
        yield f"  {error.place}{': ' if error.place else ''}{error.detail} ({error.code})"


def note_lines(problem: Document, told: Iterable[Told]) -> Iterable[str]:
    """Explain, below the errors of all files, how to read them."""
    notes = {error.note for error in told}
    yield from (f"  {note}" for note in (_IN_SHEET, _FROM_0) if note in notes)
    if len(problem.get("errors", [])) >= MAX_ERRORS:
        yield f"  At most {MAX_ERRORS} errors are listed."


def advice_lines(
    problem: Document, errors: Iterable[Document], source: Source, given: Mapping[str, str], most: Limits
) -> Iterable[str]:
    """Say what a file is, if its name says something else, or list its columns, to choose from."""
    missing = {error["pointer"].removeprefix("/") or "scores" for error in errors if error["code"] == "missing"}
    unnamed = missing & {"scores", "labels"}
    if isinstance(source, EngineRows):
        if unnamed:
            yield "  If the columns have other names, give them with --scores and --labels."
        return
    code = problem["type"].rpartition("/")[2]
    advice = source.advice() if is_of_body(code, (error["code"] for error in errors)) else None
    if advice is not None:
        yield f"  {advice}"
    elif source.is_table and unnamed - given.keys():
        reading = tuple((key, text) for key, text in given.items() if key in CSV_PARAMETERS)
        listed = answer(Request("columns", "/v1/columns", source.declared_type, JSON, reading, source.content), most)
        if listed.problem is None:
            yield ""
            yield from listing_lines(orjson.loads(listed.body)["columns"], MOST_ROWS)
