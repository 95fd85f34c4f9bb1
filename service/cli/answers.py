"""Asks answer.py as a server would, and tells a reader what is wrong when it answers a problem."""

from collections.abc import Iterable
from typing import Any

import orjson

from service.answer import Answer, Request, answer
from service.cli.complaints import fail
from service.cli.files import InputFile
from service.settings import SettingsError, read_settings
from service.wire.limits import Limits
from service.wire.media_types import JSON

NAME_COLUMNS = "Columns with other names are told by --scores and --labels."
NAME_LABEL = "On the command line, positive_label is --positive-label."
_NO_SAMPLE = {("", "missing"), ("/scores", "missing"), ("/labels", "missing")}


def ask(operation: str, media_type: str, parameters: dict[str, str], body: bytes) -> Answer:
    """Evaluate under the limits that a server would have; the length of the body is not limited."""
    query = tuple(parameters.items())
    return answer(Request(operation, f"/v1/{operation}", media_type, JSON, query, body), limits())


def limits() -> Limits:
    """Read the limits that a server would have; a setting that cannot be used is told and ends the command."""
    try:
        settings = read_settings()
    except SettingsError as error:
        fail([f"Error: {error}"])
    return Limits(settings.max_rows, settings.max_interpolated_rows, settings.max_decompressed_bytes)


def ask_about(operation: str, file: InputFile, given: dict[str, str]) -> bytes:
    """Evaluate one file and return the answer; a problem is told and ends the command."""
    body = file.read()
    result = ask(operation, file.media_type, given, body)
    if is_problem(result):
        fail(lines_of_file(orjson.loads(result.body), file, body, given))
    return result.body


def lines_of_file(problem: dict[str, Any], file: InputFile, body: bytes, given: dict[str, str]) -> Iterable[str]:
    """Lay out the problem of one file, or what else the file is than its name says."""
    advice = file.advice(body)
    if advice is not None:
        yield f"Error: {file.name}: {advice}"
        return
    yield from problem_lines(problem, file.name, hint(file, given))
    if file.is_table and any("positive_label" in error["detail"] for error in problem.get("errors", [])):
        yield f"  {NAME_LABEL}"


def is_problem(result: Answer) -> bool:
    """Whether an answer is a problem document."""
    return result.problem is not None


def hint(file: InputFile, given: dict[str, str]) -> str:
    """Return what to say where the columns of a sample are not found."""
    return NAME_COLUMNS if file.is_table and "scores" not in given else ""


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
