"""What a command evaluates: an open file, or rows that an engine groups; and how to evaluate either.

Knows both kinds, so that a command need not.
"""

from collections.abc import Iterable, Mapping
from typing import BinaryIO, cast

import click
import orjson

from service.cli.asking import ask, is_problem, lines_of_file
from service.cli.command_error import fail
from service.cli.engine_options import EngineOptions
from service.cli.engine_rows import EngineRows
from service.cli.files import InputFile
from service.cli.options import flag
from service.cli.server_address import ServerAddress
from service.operations import OPERATIONS
from service.wire.formats.inputs import CSV_PARAMETERS
from service.wire.media_types import CSV, JSON

Source = InputFile | EngineRows


def source_of(file: BinaryIO | str, format_name: str | None, engine: EngineOptions | None) -> Source:
    """The source of an evaluation: an open file, or rows that an engine reads. Raises UsageError."""
    if engine is None:
        return InputFile.of(cast("BinaryIO", file), format_name)
    if format_name == JSON.rpartition("/")[2]:
        raise click.UsageError("--engine reads tables; a JSON file is read without it.")
    return EngineRows(str(file), format_name, engine)


def refuse_without_table(given: Iterable[str], sources: Iterable[Source]) -> None:
    """Refuse options that none of the sources takes. Raises UsageError."""
    kinds = {source.media_type for source in sources}
    for name in given:
        if name in CSV_PARAMETERS and CSV not in kinds:
            raise click.UsageError(f"{flag(name)} is for CSV files.")
    if kinds <= {JSON}:
        for name in given:
            raise click.UsageError(f"{flag(name)} is for tables; in a JSON file, options are fields.")


def ask_about(
    operation: str,
    source: Source,
    typed: dict[str, str],
    others: Mapping[str, str],
    accept: str = JSON,
    *,
    server: ServerAddress | None = None,
) -> bytes:
    """Evaluate one source, here or by a server, with the typed options and others, and return the answer.

    A problem is printed and ends the command.
    """
    if not isinstance(source, InputFile):
        result = source.ask(operation, {**typed, **others}, accept)
        if is_problem(result):
            fail(source.problem_lines(orjson.loads(result.body), typed))
        return result.body
    body, given = source.content, source.taken(typed)
    media_type, parameters = source.media_type_of(body), {**given, **others}
    if server is None:
        result = ask(operation, media_type, parameters, body, accept)
        if is_problem(result):
            fail(lines_of_file(orjson.loads(result.body), source, body, given, typed))
        return result.body
    from service.cli.over_http import advice_on, post  # noqa: PLC0415  # slow to import, rarely needed

    needed = {part.name for part in OPERATIONS[operation].answer if not part.sometimes}
    reply = post(server, operation, media_type, parameters, body, accept=accept, is_answer=needed.issubset)
    if reply.is_problem:
        fail([*lines_of_file(reply.document, source, body, given, typed), *advice_on(reply.document, server)])
    return reply.body
