"""The files that commands read: what each is called, its format, its bytes."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePath
from typing import BinaryIO, Self

import click

from service.wire.formats.signatures import signature_of
from service.wire.media_types import ARROW_STREAM, CSV, JSON, PARQUET

FORMATS = {"json": JSON, "csv": CSV, "arrow": ARROW_STREAM, "parquet": PARQUET}
SUFFIXES = {**FORMATS, "arrows": ARROW_STREAM}
_UNPACKED_BY = {"gz": "gzip", "zst": "zstd"}


def suffix_of(name: str) -> str:
    """Return what a name ends in behind its last dot, in small letters."""
    return PurePath(name).suffix.lower().removeprefix(".")


@dataclass(frozen=True)
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
        suffix = format_name or suffix_of(name)
        if suffix in _UNPACKED_BY:
            advice = (
                f"unpack it first, or into standard input: {_UNPACKED_BY[suffix]} -dc FILE | rocpr ... --format csv -"
            )
            raise click.UsageError(f"{name} is compressed; {advice}")
        if suffix not in SUFFIXES:
            raise click.UsageError(f"{name} does not end in .{', .'.join(SUFFIXES)}; say --format csv or another.")
        return cls(name, SUFFIXES[suffix], stream)

    @property
    def is_table(self) -> bool:
        """Whether the file holds columns only, so that options say the rest."""
        return self.media_type != JSON

    @cached_property
    def content(self) -> bytes:
        """All that is in it."""
        return self.stream.read()

    def advice(self, body: bytes) -> str | None:
        """Say what to do with a file that could not be read because it is of another format; None for any other."""
        found = signature_of(body)
        if found is None or found.media_type == self.media_type:
            return None
        if found.coding is not None:
            return f"This looks like {found.name}; unpack it first."
        if found.media_type is None:
            return "This is the file format of Arrow; write the table as a stream, in Python with pa.ipc.new_stream."
        name = next(name for name, media_type in FORMATS.items() if media_type == found.media_type)
        return f"This looks like {found.name}; say --format {name}."
