"""The files that commands read: what each is called, its format, its bytes."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePath
from typing import BinaryIO, Self

import click

from service.wire.formats.query_options import CSV_PARAMETERS
from service.wire.formats.signatures import signature_of
from service.wire.media_types import ARROW_FILE, ARROW_STREAM, CSV, JSON, PARQUET

FORMATS = {"json": JSON, "csv": CSV, "arrow": ARROW_STREAM, "parquet": PARQUET}
"""{what a file is said to be: its media type}; both formats of Arrow have one name; their bytes tell them apart."""

SUFFIXES = {**FORMATS, "arrows": ARROW_STREAM, "feather": ARROW_STREAM}
_NAMED = {name: {media_type} for name, media_type in FORMATS.items()} | {"arrow": {ARROW_STREAM, ARROW_FILE}}
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
        """Find the format by the name unless it is given. Raises UsageError when neither shows it."""
        name: str = getattr(stream, "name", "<stdin>")
        name = "standard input" if name == "<stdin>" else name
        suffix = format_name or suffix_of(name)
        if suffix in _UNPACKED_BY:
            advice = (
                f"unpack it first, or into standard input: {_UNPACKED_BY[suffix]} -dc FILE | rocpr ... --format csv -"
            )
            raise click.UsageError(f"{name} is compressed; {advice}")
        if suffix not in SUFFIXES:
            raise click.UsageError(f"{name} does not end in .{', .'.join(SUFFIXES)}; use --format csv or another.")
        return cls(name, SUFFIXES[suffix], stream)

    @property
    def is_table(self) -> bool:
        """Whether the file holds columns only, so that options say the rest."""
        return self.media_type != JSON

    @cached_property
    def content(self) -> bytes:
        """All that is in it."""
        return self.stream.read()

    def media_type_of(self, body: bytes) -> str:
        """Return the media type of what was read: of Arrow, a stream or a file."""
        found = signature_of(body) if self.media_type == ARROW_STREAM else None
        return ARROW_FILE if found is not None and found.media_type == ARROW_FILE else self.media_type

    def taken(self, given: Mapping[str, str]) -> dict[str, str]:
        """Keep of the options given those that the file takes: a JSON file none, and some none but CSV."""
        if not self.is_table:
            return {}
        return {key: text for key, text in given.items() if self.media_type == CSV or key not in CSV_PARAMETERS}

    def advice(self, body: bytes) -> str | None:
        """Say what to do with a file that could not be read because it is of another format; None for any other."""
        found = signature_of(body)
        if found is None or found.media_type in {self.media_type, self.media_type_of(body)}:
            return None
        if found.coding is not None:
            return f"This looks like {found.name}; unpack it first."
        if found.media_type is None:
            return f"This looks like {found.name}: {found.advice}."
        name = next(name for name, kinds in _NAMED.items() if found.media_type in kinds)
        return f"This looks like {found.name}; use --format {name}."
