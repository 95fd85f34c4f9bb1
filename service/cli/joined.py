"""Several files as one table: CSV with equal headers as text, Arrow and Parquet by their columns.

Knows formats; nothing of what the columns mean.
"""

import re
from collections.abc import Mapping, Sequence
from io import BytesIO

import click
import pyarrow as pa

from service.cli.command_error import fail
from service.cli.explaining import Source
from service.cli.files import InputFile
from service.wire.formats.csv_dialect import Dialect, without_line_for_excel
from service.wire.media_types import ARROW_FILE, ARROW_STREAM, CSV, JSON, PARQUET

_UTF8_MARK = b"\xef\xbb\xbf"
_LINE_ENDS = b"\r\n"
_FIRST_RECORD = re.compile(rb'[\r\n]*+(?:[^"\r\n]|"[^"]*")*+(?:\r\n?|\n|\Z)')
"""Blank lines and the first record, whose quotes may hold line breaks."""


def read_as_one(sources: Sequence[Source], given: Mapping[str, str]) -> Source:
    """Tables of one format with the same columns, as one file. Raises UsageError for others."""
    files = [source for source in sources if isinstance(source, InputFile)]
    if len(files) < 2:  # noqa: PLR2004  # one file, or rows of an engine
        return sources[0]
    first, *others = files
    for other in others:
        if first.media_type == JSON or (first.media_type, first.of_suffix) != (other.media_type, other.of_suffix):
            both = f"{first.name} and {other.name}"
            raise click.UsageError(f"{both} cannot be read as one table: give tables of one format.")
    name = f"{first.name} and {others[0].name if len(others) == 1 else f'{len(others)} others'}"
    if first.media_type == CSV:
        return InputFile(name, CSV, BytesIO(_text(files, given)), first.of_suffix)
    return InputFile(name, ARROW_STREAM, BytesIO(_arrow(files)), {})


def _text(files: Sequence[InputFile], given: Mapping[str, str]) -> bytes:
    """The first file, and the rows of the others, without blank lines between."""
    first, *others = files
    parts = [first.content]
    for other in others:
        header, rows = _split(other.content, given)
        if header != _split(first.content, given)[0]:
            raise _other_columns(first, other)
        parts.append(rows)
    return b"\n".join(part.rstrip(_LINE_ENDS) for part in parts if part.strip(_LINE_ENDS)) + b"\n"


def _split(body: bytes, given: Mapping[str, str]) -> tuple[bytes, bytes]:
    """The header and the rows of CSV."""
    body, _ = without_line_for_excel(body.removeprefix(_UTF8_MARK), Dialect("comma", "."))
    end = 0
    if given.get("header") != "absent" and (header := _FIRST_RECORD.match(body)):
        end = header.end()
    return body[:end].strip(_LINE_ENDS), body[end:]


def _arrow(files: Sequence[InputFile]) -> bytes:
    """The columns of all files as one stream."""
    tables = [_columns(file) for file in files]
    for file, table in zip(files, tables, strict=True):
        if table.column_names != tables[0].column_names:
            raise _other_columns(files[0], file)
    try:
        together = pa.concat_tables(tables, promote_options="permissive")
    except pa.ArrowException as error:
        fail([f"Error: {files[0].name}: The files have columns of different types.", f"  {error}"])
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, together.schema) as stream:
        stream.write_table(together)
    content: bytes = sink.getvalue().to_pybytes()
    return content


def _columns(file: InputFile) -> pa.Table:
    from pyarrow import parquet  # noqa: PLC0415  # slow to import, rarely needed

    source = pa.BufferReader(file.content)
    try:
        if file.media_type == PARQUET:
            table = parquet.read_table(source)
        elif file.declared_type == ARROW_FILE:
            table = pa.ipc.open_file(source).read_all()
        else:
            table = pa.ipc.open_stream(source).read_all()
        table.validate(full=True)
    except (pa.ArrowException, OSError) as error:
        fail([f"Error: {file.name}: This cannot be read.", f"  {error}"])
    return table


def _other_columns(first: InputFile, other: InputFile) -> click.UsageError:
    return click.UsageError(f"{first.name} and {other.name} cannot be read as one table: their columns differ.")
