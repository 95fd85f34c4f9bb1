"""Reads CSV (RFC 4180, in UTF-8) with pyarrow: bytes to columns of text.

Parameters give the dialect; nothing is guessed. A first line such as `sep=;`, which Excel reads, gives the delimiter,
too.
"""

import codecs
import csv
import io
import re
from functools import reduce

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv as arrow_csv

from service.curves.arrays import IntArray
from service.curves.clock import in_time, still_time, takes_long
from service.environment import require_memory
from service.wire.columns import Column, one_array
from service.wire.formats.charsets import NotUtf8
from service.wire.formats.csv_dialect import (
    WELL_QUOTED,
    Dialect,
    badly_quoted,
    refuse_numbers_as_names,
    refuse_other_separators,
    with_doubled_quotes,
    without_line_for_excel,
)
from service.wire.formats.csv_records import Records
from service.wire.formats.table_columns import (
    LONGEST_HEADER,
    MOST_COLUMNS,
    no_rows,
    too_many_columns,
    unique_places,
)
from service.wire.limits import Limits
from service.wire.problems import Problem

_BOM = b"\xef\xbb\xbf"
_ROW_TEXT = rb'[\r\n]*+(?:[^"\r\n]++|"(?:[^"]++|"")*+")++'
"""A non-blank line of a correctly quoted body."""

_LINE_END = re.compile(rb"[\r\n]")

_BLANKS = " \u00a0"
"""What is dropped around names: spaces, and no-break spaces."""

_CHECKED_BYTES = 1 << 20
"""Bytes checked at a time."""

_MANY_COLUMNS = 256
"""In one call that no clock can stop, pyarrow takes 20 µs for each column that it reads, however few rows there are."""

_MEMORY_PER_BYTE = 4
"""The memory that pyarrow's reader may take per byte of a body; if it gets none, it ends the process."""


class CsvTable:
    """A CSV body whose header has been read; columns are read on demand."""

    def __init__(self, body: bytes, limits: Limits, dialect: Dialect | None = None) -> None:
        body, self._dialect = without_line_for_excel(body.removeprefix(_BOM), dialect or Dialect.of({}))
        dialect = self._dialect
        _check_text(body)
        if dialect.escape == "backslash":
            body = with_doubled_quotes(body)
        if b'"' in body and not WELL_QUOTED[dialect.delimiter].fullmatch(body):
            refuse_other_separators(body, dialect)
            raise badly_quoted(body, dialect)
        self.rows = 0
        self._body = body if body.endswith((b"\n", b"\r")) else body + b"\n"
        self._numbers: IntArray | None = None
        self.header = _header(body, dialect)
        self.header_is = f"the header, split at {dialect.name}s, is"
        if not _LINE_END.search(body):
            self.header_is = f"the only line, split at {dialect.name}s, is"
        if len(self.header) == 1:  # a table of one column is useless
            refuse_other_separators(body, dialect)
        if dialect.has_header is False:
            self.header_is = "it has no header, and its columns are"
            self.header = [str(place) for place in range(1, len(self.header) + 1)]
        elif dialect.has_header is None and len(self.header) > 1 and _LINE_END.search(body):
            refuse_numbers_as_names(self.header, dialect)
        if _has_more_rows(body, limits.max_rows):
            raise Problem("too_many_rows", f"The table has more rows than the limit of {limits.max_rows}.")

    @property
    def has_header(self) -> bool:
        """Whether the first row has the names of the columns."""
        return self._dialect.has_header is not False

    def number_of(self, row: int) -> int:
        """The number of a row of the columns within the body, from 0 below any header; lines without a value count."""
        numbers = self._numbers
        if numbers is None:
            numbers = np.flatnonzero(~Records.of(self._body).is_blank)
        return int(numbers[row + self.has_header]) - self.has_header

    def read(self, names: list[str]) -> dict[str, Column]:
        """Read the named columns as text, without rows that have no value.

        Raises Problem for a row of another width, or if there are no rows.
        """
        if len(names) > _MANY_COLUMNS:
            takes_long()
        # Columns are identified by position: names of columns that are not read may repeat.
        positions = {name: str(place) for name, place in unique_places(self.header, names).items()}
        table = self._parsed([*positions.values()])
        if self._numbers is None and (table is None or (names and _has_empty_rows(table))):
            self._leave_out_rows_without_values()
            table = self._parsed([*positions.values()])
        if table is None or table.num_rows == 0:
            raise no_rows("The table has a header and no rows.")
        self.rows = table.num_rows
        return {
            name: Column(one_array(table[position]), "csv", self._dialect.decimal)
            for name, position in positions.items()
        }

    def _leave_out_rows_without_values(self) -> None:
        """Leave out what spreadsheets write for rows that were formatted or emptied, such as `;;`."""
        require_memory(_MEMORY_PER_BYTE * len(self._body))
        records = Records.of(self._body, self._dialect.delimiter.encode())
        kept = records.has_value
        kept[0] |= self.has_header
        self._numbers = np.flatnonzero(kept)
        self._body = records.only(self._body, kept)

    def _parsed(self, positions: list[str]) -> pa.Table | None:
        """Read some columns, identified by position; None if a row of another width has no value."""
        ragged: list[arrow_csv.InvalidRow] = []
        empty: list[arrow_csv.InvalidRow] = []
        no_value = f' \t"{self._dialect.delimiter}'

        def refuse(row: arrow_csv.InvalidRow) -> str:
            if not row.text.strip(no_value):
                empty.append(row)
                return "skip"
            ragged.append(row)
            return "error"

        still_time()
        require_memory(_MEMORY_PER_BYTE * len(self._body))
        try:
            table = arrow_csv.read_csv(
                io.BytesIO(self._body),
                read_options=arrow_csv.ReadOptions(
                    column_names=[str(position) for position in range(len(self.header))],
                    skip_rows_after_names=int(self.has_header),
                    use_threads=False,
                    block_size=len(self._body) + 1,
                ),
                parse_options=arrow_csv.ParseOptions(
                    delimiter=self._dialect.delimiter, newlines_in_values=True, invalid_row_handler=refuse
                ),
                convert_options=arrow_csv.ConvertOptions(
                    include_columns=positions,
                    column_types=dict.fromkeys(positions, pa.string()),
                    strings_can_be_null=False,
                ),
            )
        except MemoryError:  # pyarrow's, too
            raise
        except (pa.ArrowException, OSError):
            raise self._ragged(ragged[0]) if ragged else Problem("malformed_body", "The body is not CSV.") from None
        return None if empty else table

    def _ragged(self, row: arrow_csv.InvalidRow) -> Problem:
        """Make the problem of a row of another width."""
        found, width = row.actual_columns, len(self.header)
        number = self.number_of(row.number - 1 - self.has_header) + 1 + self.has_header
        header = "the header, row 1," if self.has_header else "row 1"
        detail = f"Row {number} has {found} field{'' if found == 1 else 's'} but {header} has {width}."
        if self.has_header and found == width + 1 and not row.text.endswith(self._dialect.delimiter):
            detail += " If R wrote row names, which have no name in the header: write.table(..., row.names = FALSE)."
        return Problem("malformed_body", detail)


def _has_empty_rows(table: pa.Table) -> bool:
    """Whether a row has no value in any of these columns."""
    rows = pc.less(table.column(0), "!")  # what is empty or begins with a blank: few, if any
    if not pc.any(rows).as_py():
        return False
    empty = [pc.equal(pc.ascii_trim(column, " \t"), "") for column in in_time(table.filter(rows).columns)]
    return bool(pc.any(reduce(pc.and_, empty)).as_py())


def _check_text(body: bytes) -> None:
    """Refuse text that is not UTF-8; for a row that it refuses, pyarrow would also write to standard error."""
    if body.isascii():
        return
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        for start in range(0, len(body), _CHECKED_BYTES):
            held = len(decoder.getstate()[0])
            decoder.decode(body[start : start + _CHECKED_BYTES], final=start + _CHECKED_BYTES >= len(body))
    except UnicodeDecodeError as error:
        place = start - held + error.start
        raise NotUtf8(
            "malformed_body", f"The body is not UTF-8: byte {place} is invalid. Save it as CSV UTF-8."
        ) from None


def _header(body: bytes, dialect: Dialect) -> list[str]:
    head = body[:LONGEST_HEADER]
    lines = io.TextIOWrapper(io.BytesIO(head), encoding="utf-8", newline="")
    try:
        header = [name.strip(_BLANKS) for name in next(csv.reader(lines, delimiter=dialect.delimiter, strict=True), [])]
    except UnicodeDecodeError:  # cut within a character; the body was checked
        raise too_many_columns() from None
    except csv.Error as error:
        raise Problem("malformed_body", f"The header is not CSV: {error}.") from None
    if not header:
        raise Problem("malformed_body", "The body has no header row.")
    if any("\0" in name for name in header):  # pyarrow would skip rows below it, too
        raise Problem("malformed_body", "The header has a NUL character; CSV is text.")
    if len(header) > MOST_COLUMNS or (len(body) > LONGEST_HEADER and not lines.read(1)):
        raise too_many_columns()
    return header


def _has_more_rows(body: bytes, most: int) -> bool:
    """Whether there are more than `most` rows below the header, counted before any is parsed."""
    if len(body) <= 2 * most or body.count(b"\n") + body.count(b"\r") <= most:  # a row takes two bytes
        return False
    # Line ends may be within quotes, blank lines do not count, and \r\n is one line end.
    return re.match(rb"(?:%b){%d}+" % (_ROW_TEXT, most + 2), body) is not None
