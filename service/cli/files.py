"""The files that commands read: what each is called, its format, its bytes."""

from dataclasses import dataclass
from pathlib import PurePath
from typing import BinaryIO, Self

import click

from service.wire.media_types import ARROW_STREAM, CSV, JSON, PARQUET

FORMATS = {"json": JSON, "csv": CSV, "arrow": ARROW_STREAM, "parquet": PARQUET}
_SUFFIXES = {**FORMATS, "arrows": ARROW_STREAM}


@dataclass(frozen=True, slots=True)
class InputFile:
    """A file that is open and not read yet; `name` is what messages call it."""

    name: str
    media_type: str
    stream: BinaryIO

    @classmethod
    def of(cls, stream: BinaryIO, format_name: str | None) -> Self:
        """Tell the format from the name unless it is said. Raises UsageError where neither tells."""
        name: str = getattr(stream, "name", "<stdin>")
        name = "standard input" if name == "<stdin>" else name
        suffix = format_name or PurePath(name).suffix.lower().removeprefix(".")
        if suffix not in _SUFFIXES:
            raise click.UsageError(f"{name} does not end in .{', .'.join(_SUFFIXES)}; say --format csv or another.")
        return cls(name, _SUFFIXES[suffix], stream)

    @property
    def is_table(self) -> bool:
        """Whether the file holds columns only, so that options say the rest."""
        return self.media_type != JSON

    def read(self) -> bytes:
        """Read all of it."""
        return self.stream.read()
