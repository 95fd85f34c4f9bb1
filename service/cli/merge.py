"""`rocpr merge FILES`: joins the groups that several workers counted, and writes them as one file.

Knows files; the groups are merged by service/curves.
"""

import os
from collections.abc import Callable
from contextlib import suppress
from io import BytesIO
from pathlib import Path
from typing import BinaryIO

import click
import numpy as np
import orjson
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
from marshmallow import ValidationError

from service.cli.asking import ask, is_problem, limits, lines_of_file
from service.cli.command_error import fail
from service.cli.files import FORMATS, InputFile
from service.cli.layout import terminal_safe
from service.cli.sources import refuse_without_table
from service.cli.written_files import WRITTEN_FILE, in_a_directory, write_file
from service.curves.arrays import FloatArray, are_integers
from service.curves.errors import DomainError
from service.curves.histogram import GROUP_COLUMN_NAMES, MASSES, SQUARED_MASSES, Histogram
from service.wire.formats.decoders import DECODERS
from service.wire.formats.tables import one_evaluation
from service.wire.problems import Problem, invalid_request, invalid_value, problem_document
from service.wire.requests.faults import field_error_of, field_errors
from service.wire.requests.groups_schemas import GroupsSchema
from service.wire.requests.query_fields import READING_FIELDS


def _output_file(context: click.Context, parameter: click.Parameter, path: Path | None) -> Path | None:
    try:
        _refuse_output(context, path)
        return in_a_directory(context, parameter, path)
    except click.UsageError:
        context.close()  # closes the files
        raise


def _refuse_output(context: click.Context, path: Path | None) -> None:
    """Refuse one of the files to merge, or a file of another format."""
    if path is not None and path.suffix.lower() not in _WRITERS:
        raise click.UsageError(f"--output must end in {', '.join(_WRITERS)}; {path} does not.")
    if path is not None and any(_is_same(file, path) for file in context.params.get("files", ())):
        raise click.BadParameter(f"{path} is one of the files to merge; write another one.")


def _is_same(file: BinaryIO, path: Path) -> bool:
    with suppress(OSError):  # there is no such path, or the file is not one of the system
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    return False


@click.command()
@click.argument("files", nargs=-1, required=True, type=click.File("rb"), is_eager=True)
@click.option("--format", "format_name", type=click.Choice(tuple(FORMATS)), help="File format.  [default: by suffix]")
@click.option(
    "--closed", metavar="NAME", help="Ends that an open group includes: both, left or right.  [default: both]"
)
@click.option(
    "-o",
    "--output",
    type=WRITTEN_FILE,
    callback=_output_file,
    help="File to write, .csv, .arrow or .parquet.  [default: CSV to standard output]",
)
def merge(files: tuple[BinaryIO, ...], format_name: str | None, closed: str | None, output: Path | None) -> None:
    """Merge groups of scores that several workers counted.

    Each file is a table with the columns positives and negatives, and either score, as GROUP BY gives it, or score_from
    and score_to, as in a histogram; or a JSON file with such groups. Counts of groups with the same ends are added;
    open groups that overlap become one. The order of the files does not matter. The result is a FILE for rocpr curves,
    tradeoffs, compare and gate.
    """
    suffix = ".csv" if output is None else output.suffix.lower()
    given = {} if closed is None else {"closed": closed}
    sources = [InputFile.of(file, format_name) for file in files]
    refuse_without_table(given, sources)
    parts = [_read(source, given) for source in sources]
    if len({part.squares is None for part in parts}) > 1:
        fail(["Error: some of the files have sums of squared weights, and some have none; merge them separately."])
    united = Histogram.joined(parts).united()
    if not all(np.isfinite(column).all() for column in united.masses):
        fail(["Error: the sum of a group is too large for a double."])
    table = _table(united)
    body = BytesIO()
    _WRITERS[suffix](table, body)
    if output is None:
        click.echo(body.getvalue(), nl=False)
    else:
        write_file(output, body.getvalue())


def _read(file: InputFile, given: dict[str, str]) -> Histogram:
    """Read the groups of a file. A problem is printed and ends the command."""
    body, taken = file.content, file.taken(given)
    _refuse_other_columns(file, body)
    try:
        decoded = DECODERS[file.media_type_of(body)](body, taken, one_evaluation(READING_FIELDS), limits())
        groups = decoded.document.get("groups") if isinstance(decoded.document, dict) else None
        if groups is None:
            raise _no_groups()
        try:
            columns: Histogram = GroupsSchema().load(groups)
            columns.check()
        except ValidationError as error:
            raise invalid_request(field_errors(error, lambda place: decoded.pointer(f"/groups{place}"))) from None
        except DomainError as error:
            raise invalid_request(
                [field_error_of(error, {}, lambda place: decoded.pointer(f"/groups{place}"))]
            ) from None
    except Problem as problem:
        found = orjson.loads(problem_document(problem, ""))
        if any(error["code"] == "missing" and error["pointer"] in _OF_A_SAMPLE for error in found.get("errors", [])):
            found = orjson.loads(problem_document(_no_groups(), ""))
        fail(lines_of_file(found, file, body, taken, taken, names=False))
    return columns


_OF_A_SAMPLE = {"", "/scores", "/labels"}
"""Pointers of errors about a table without the columns of an evaluation, or with one of the two of a sample."""


def _no_groups() -> Problem:
    detail = (
        "There are no groups; they need the columns score, or score_from and score_to, and positives and negatives."
    )
    return invalid_value("", "missing", detail)


def _refuse_other_columns(file: InputFile, body: bytes) -> None:
    """Refuse a table with a column that would be lost, such as one of slices; that ends the command."""
    listed = ask("columns", file.media_type_of(body), {}, body)
    if not file.is_table or is_problem(listed):
        return
    names = orjson.loads(listed.body)["columns"]["name"]
    others = [terminal_safe(name) for name in names if name not in GROUP_COLUMN_NAMES]
    if others and {"positives", "negatives"} <= set(names):
        fail([f"Error: {file.name}: the column {others[0]!r} would be lost; merge each slice by itself."])


def _table(groups: Histogram) -> pa.Table:
    """The columns as a body has them: whole sums as integers, and one column of scores if all groups are exact."""
    ends = {"score": groups.score_from}
    if not groups.is_exact:
        ends = {"score_from": groups.score_from, "score_to": groups.score_to}
    numbers = dict(zip(MASSES, groups.masses, strict=True))
    if groups.squares is not None:
        numbers |= zip(SQUARED_MASSES, groups.squares, strict=True)
    return pa.table(ends | {name: _written(column) for name, column in numbers.items()})


def _written(column: FloatArray) -> np.ndarray:
    return column.astype(np.int64) if are_integers(column) and column.max(initial=0) < _WHOLE else column


_WHOLE = 2.0**63


def _write_arrow(table: pa.Table, stream: BinaryIO) -> None:
    with pa.ipc.new_stream(stream, table.schema) as writer:
        writer.write_table(table)


_WRITERS: dict[str, Callable[[pa.Table, BinaryIO], None]] = {
    ".csv": pa.csv.write_csv,
    ".arrow": _write_arrow,
    ".parquet": pa.parquet.write_table,
}
"""{suffix: writer}"""
