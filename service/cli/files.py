"""The files that commands read: names, formats and bytes."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePath
from typing import BinaryIO, Self

import click

from service.answer import without_body
from service.cli.layout import terminal_safe
from service.environment import leave_pandas_out
from service.wire.formats.charsets import guessed_in_utf8
from service.wire.formats.decoders import DECODERS, TABLES
from service.wire.formats.inputs import CSV_PARAMETERS
from service.wire.formats.query_options import Decoded
from service.wire.formats.signatures import other_signature_of, signature_of
from service.wire.formats.table_columns import Table
from service.wire.formats.tables import TableForm
from service.wire.limits import Limits
from service.wire.media_types import ARROW_FILE, ARROW_STREAM, BODY_FORMATS, CSV, JSON

_FORMAT_NAMES = tuple(dict.fromkeys(each.name for each in BODY_FORMATS))

FORMATS = {name: next(each.media_type for each in BODY_FORMATS if each.name == name) for name in _FORMAT_NAMES}
"""{name of a format: its media type}; of two with one name the first, as their bytes tell them apart."""

SUFFIXES = {**FORMATS, **{suffix: each.media_type for each in BODY_FORMATS for suffix in each.suffixes}}
STANDARD_INPUT = "standard input"
_UNPACKED_BY = {"gz": "gzip", "zst": "zstd"}
_SAVED_AS = {
    **dict.fromkeys(
        ("jsonl", "ndjson"), "rows of JSON are not read; save them as CSV or Parquet, or as columns of JSON"
    ),
    **dict.fromkeys(("xlsx", "xls", "ods"), "save it as CSV UTF-8 first"),
}
"""{suffix of files that are often tried: what to do}"""


def name_of(stream: BinaryIO) -> str:
    """The name of an open file in messages, with what a terminal or a CI server would interpret escaped."""
    name: str = getattr(stream, "name", "<stdin>")
    return STANDARD_INPUT if name == "<stdin>" else terminal_safe(name)


def suffix_of(name: str) -> str:
    """Return the suffix of a name after its last dot, in lower case."""
    return PurePath(name).suffix.lower().removeprefix(".")


def _not_read(name: str, suffix: str) -> str:
    """Say what to do with a file of an unknown format."""
    if suffix in _SAVED_AS:
        return f"{name}: {_SAVED_AS[suffix]}."
    if not suffix:
        return f"Give the format of {name}: --format csv, json, arrow or parquet."
    return f"{name} does not end in .{', .'.join(SUFFIXES)}; use --format csv or another."


@dataclass(frozen=True)
class InputFile:
    """An open file that has not been read yet.

    name        its name in messages.
    of_suffix   the options that its suffix stands for.
    """

    name: str
    media_type: str
    stream: BinaryIO
    of_suffix: Mapping[str, str]

    @classmethod
    def of(cls, stream: BinaryIO, format_name: str | None) -> Self:
        """Find the format, by the name's suffix unless it is given. Raises UsageError if the suffix is unknown."""
        name = name_of(stream)
        suffix = format_name or suffix_of(name)
        if suffix in _UNPACKED_BY:
            advice = (
                f"unpack it first, or into standard input: {_UNPACKED_BY[suffix]} -dc FILE | rocpr ... --format csv -"
            )
            raise click.UsageError(f"{name} is compressed; {advice}")
        if suffix not in SUFFIXES:
            raise click.UsageError(_not_read(name, suffix))
        return cls(name, SUFFIXES[suffix], stream, {"delimiter": "tab"} if suffix == "tsv" else {})

    @property
    def is_whole(self) -> bool:
        """Whether the file alone is what is read, so that it can be sent as it is."""
        return True

    @property
    def is_table(self) -> bool:
        """Whether the file holds only columns, so that options give the rest."""
        return self.media_type != JSON

    @cached_property
    def content(self) -> bytes:
        """The whole content; CSV that is not UTF-8 is read as Windows-1252, with a warning."""
        content = self.stream.read()
        recoded = guessed_in_utf8(content) if self.media_type == CSV else None
        if recoded is None:
            return content
        click.echo(f"Warning: {self.name} is not UTF-8; it was read as Windows-1252.", err=True)
        return recoded

    @property
    def declared_type(self) -> str:
        """The media type of the content: Arrow may be a stream or a file."""
        found = signature_of(self.content) if self.media_type == ARROW_STREAM else None
        return ARROW_FILE if found is not None and found.media_type == ARROW_FILE else self.media_type

    def decoded(self, given: Mapping[str, str], form: TableForm, most: Limits) -> Decoded:
        """The content, read with the given options that it takes. Raises Problem."""
        leave_pandas_out()
        if not self.content:
            raise without_body(self.media_type)
        return DECODERS[self.declared_type](self.content, self.taken(given), form, most)

    def table(self, given: Mapping[str, str], most: Limits) -> Table:
        """The content of a table, whose columns are read on demand. Raises Problem."""
        if not self.content:
            raise without_body(self.media_type)
        return TABLES[self.declared_type](self.content, self.taken(given), most)

    def taken(self, given: Mapping[str, str]) -> dict[str, str]:
        """The given options that the file takes, and its own: JSON files take none, and some are for CSV only."""
        if not self.is_table:
            return {}
        taken = {key: text for key, text in given.items() if self.media_type == CSV or key not in CSV_PARAMETERS}
        return {**self.of_suffix, **taken}

    def first_row(self, given: Mapping[str, str]) -> int | None:
        """The number that a spreadsheet shows for the first row below any header; None for what is not CSV."""
        if self.media_type != CSV:
            return None
        return 1 if given.get("header") == "absent" else 2

    def advice(self) -> str | None:
        """Say what to do with a file of another format than declared; None if that is not the problem."""
        found = other_signature_of(self.content, {self.media_type, self.declared_type})
        if found is None:
            return None
        if found.coding is not None:
            return f"This looks like {found.name}; unpack it first."
        if found.media_type is None:
            return f"This looks like {found.name}: {found.advice}."
        name = next(each.name for each in BODY_FORMATS if each.media_type == found.media_type)
        return f"This looks like {found.name}; use --format {name}."
