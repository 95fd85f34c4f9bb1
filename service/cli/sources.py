"""What a command evaluates: an open file, or rows that an engine groups.

Knows both kinds, so that a command need not.
"""

from collections.abc import Iterable, Sequence
from typing import BinaryIO, cast

import click

from service.cli.engine_options import EngineOptions
from service.cli.engine_rows import EngineRows
from service.cli.explaining import Source
from service.cli.files import InputFile
from service.cli.options import flag
from service.wire.formats.query_options import CSV_PARAMETERS
from service.wire.media_types import CSV, JSON


def sources_of(
    paths: Sequence[str], format_name: str | None, engine: EngineOptions | None, given: Iterable[str]
) -> list[Source]:
    """Open files, or name them for an engine. Raises UsageError, also if no source takes one of the given options."""
    refuse_two_of_standard_input(paths)
    sources = [_source_of(path, format_name, engine) for path in paths]
    kinds = {source.media_type for source in sources}
    for name in given:
        if name in CSV_PARAMETERS and CSV not in kinds:
            raise click.UsageError(f"{flag(name)} is for CSV files.")
        if kinds <= {JSON}:
            raise click.UsageError(f"{flag(name)} is for tables; in a JSON file, options are fields.")
    return sources


def _source_of(path: str, format_name: str | None, engine: EngineOptions | None) -> Source:
    if engine is None:
        return InputFile.of(opened(path), format_name)
    if format_name == JSON.rpartition("/")[2]:
        raise click.UsageError("--engine reads tables; a JSON file is read without it.")
    return EngineRows(path, format_name, engine)


def opened(path: str) -> BinaryIO:
    """Open a file; - is standard input. Raises UsageError."""
    return cast("BinaryIO", click.File("rb").convert(path, None, click.get_current_context()))


def refuse_two_of_standard_input(paths: Iterable[str]) -> None:
    """Refuse - if it is given more than once. Raises UsageError."""
    if [*paths].count("-") > 1:
        raise click.UsageError("Standard input can be read only once, but - is given more than once.")
