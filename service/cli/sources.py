"""What a command evaluates: an open file, or rows that an engine groups.

Knows both kinds, so that a command need not.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO, Self, cast

import click

from service.cli.engine_options import EngineOptions, engine_of
from service.cli.engine_rows import EngineRows
from service.cli.explaining import Source
from service.cli.files import InputFile
from service.cli.options import flag
from service.cli.server_address import ServerAddress, server_of
from service.cli.truth import with_truth
from service.wire.formats.inputs import CSV_PARAMETERS
from service.wire.media_types import CSV, JSON


@dataclass(frozen=True)
class FileAccess:
    """How a command gets at its files: their format, or an engine; a file of labels; and the server that it asks."""

    format_name: str | None
    engine: EngineOptions | None
    server: ServerAddress | None
    truth: str | None = None

    @classmethod
    def of(cls, options: dict[str, Any], *, exact: bool = False) -> Self:
        """Remove these options from those of a command; `exact` as in engine_of. Raises UsageError."""
        server = server_of(options)
        engine = engine_of(options, exact=exact) if "engine" in options else None
        return cls(options.pop("format_name"), engine, server, options.pop("truth", None))

    def sources(self, paths: Sequence[str], given: Iterable[str]) -> list[Source]:
        """Open files, or name them for an engine. Raises UsageError, also if none takes one of the given options."""
        refuse_two_of_standard_input(paths)
        sources = [self._source(path) for path in paths]
        kinds = {source.media_type for source in sources}
        for name in given:
            if name in CSV_PARAMETERS and CSV not in kinds:
                raise click.UsageError(f"{flag(name)} is for CSV files.")
            if kinds <= {JSON}:
                raise click.UsageError(f"{flag(name)} is for tables; in a JSON file, options are fields.")
        return sources

    def joined(self, sources: Sequence[Source]) -> list[Source]:
        """Each source with the labels of --truth, if that is given. Raises UsageError."""
        if self.truth is None:
            return [*sources]
        truth = self._source(self.truth)
        if truth.name in {source.name for source in sources}:
            raise click.UsageError(f"--truth {truth.name} is the file with the scores, too; give each its own.")
        return [with_truth(source, truth) for source in sources]

    def _source(self, path: str) -> Source:
        if self.engine is None:
            return InputFile.of(opened(path), self.format_name)
        if self.format_name == JSON.rpartition("/")[2]:
            raise click.UsageError("--engine reads tables; a JSON file is read without it.")
        return EngineRows(path, self.format_name, self.engine)


def opened(path: str) -> BinaryIO:
    """Open a file; - is standard input. Raises UsageError."""
    return cast("BinaryIO", click.File("rb").convert(path, None, click.get_current_context()))


def refuse_two_of_standard_input(paths: Iterable[str]) -> None:
    """Refuse - if it is given more than once. Raises UsageError."""
    if [*paths].count("-") > 1:
        raise click.UsageError("Standard input can be read only once, but - is given more than once.")
