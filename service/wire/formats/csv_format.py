"""Reads CSV (RFC 4180, with a header, in UTF-8) with pyarrow: bytes to columns of text.

Two parameters give the delimiter and the decimal mark; neither is guessed.
"""

import codecs
import csv
import io
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

import pyarrow as pa
from pyarrow import csv as arrow_csv

from service.curves.budget import is_bounded, spend
from service.environment import require_memory
from service.wire.formats.reading_work import csv_work
from service.wire.formats.table_columns import (
    LONGEST_HEADER,
    MOST_COLUMNS,
    no_rows,
    too_many_columns,
    unique_places,
)
from service.wire.formats.text_columns import TextColumn
from service.wire.limits import Limits
from service.wire.problems import Problem, invalid_value

_BOM = b"\xef\xbb\xbf"
_DELIMITERS = {"comma": ",", "semicolon": ";", "tab": "\t", "pipe": "|"}
_DECIMALS = {"point": ".", "comma": ","}
_ESCAPED_TAB = r"\t"
_WELL_QUOTED = {
    delimiter: re.compile(rb'(?:[^"]++|(?<![^%b\r\n])"(?:[^"]++|"")*+"(?![^%b\r\n]))*+' % (2 * (delimiter.encode(),)))
    for delimiter in _DELIMITERS.values()
}
_ROW_TEXT = rb'[\r\n]*+(?:[^"\r\n]++|"(?:[^"]++|"")*+")++'
"""A non-blank line of a correctly quoted body."""

_LINE_END = re.compile(rb"[\r\n]")
_FIRST_LINE = re.compile(rb"[\r\n]*+[^\r\n]*+")
_FOR_EXCEL = re.compile(rb"sep=([,;\t|])\Z")
"""A line before the header that tells Excel the delimiter."""

_CHECKED_BYTES = 1 << 20
"""Bytes checked at a time."""

_MEMORY_PER_BYTE = 4
"""The memory that pyarrow's reader may take per byte of a body; if it gets none, it ends the process."""

_ROW_0 = 2
"""pyarrow's number for the first row below the header."""


@dataclass(frozen=True, slots=True)
class Dialect:
    """The delimiter, its `name`, and the decimal mark."""

    name: str
    decimal: str

    @property
    def delimiter(self) -> str:
        """The delimiter character."""
        return _DELIMITERS[self.name]

    @classmethod
    def of(cls, parameters: Mapping[str, str]) -> Self:
        """Read the parameters delimiter and decimal, names or the characters themselves. Raises Problem."""
        delimiter = _named(parameters, "delimiter", _DELIMITERS) or "comma"
        return cls(delimiter, _DECIMALS[_named(parameters, "decimal", _DECIMALS) or "point"])


def _named(parameters: Mapping[str, str], key: str, known: Mapping[str, str]) -> str | None:
    if key not in parameters:
        return None
    text = "\t" if parameters[key] == _ESCAPED_TAB else parameters[key]
    for name, character in known.items():
        if text in {name, character}:
            return name
    raise invalid_value(f"/{key}", "not_one_of", f"Must be one of {', '.join(known)}.")


class CsvTable:
    """A CSV body whose header has been read; columns are read on demand."""

    def __init__(self, body: bytes, limits: Limits, dialect: Dialect | None = None) -> None:
        self._dialect = dialect = dialect or Dialect.of({})
        body = body.removeprefix(_BOM)
        if is_bounded():
            spend(csv_work(body, dialect.delimiter.encode()))
        _check_text(body)
        if b'"' in body and not _WELL_QUOTED[dialect.delimiter].fullmatch(body):
            _refuse_other_separators(body, dialect)
            raise Problem(
                "malformed_body", ("A quote is not closed, or there is text between a quote and the separator.")
            )
        self.rows = 0
        self._body = body if body.endswith((b"\n", b"\r")) else body + b"\n"
        self.header = _header(body, dialect)
        self.header_is = f"the header, split at {dialect.name}s, is"
        if not _LINE_END.search(body):
            self.header_is = (
                "the body is one line (curl -d removes the line breaks of a file, --data-binary keeps them); "
                "split, it is"
            )
        if len(self.header) == 1 or self.header[0] == "sep=":  # a table of one column is useless
            _refuse_other_separators(body, dialect)
        if _has_more_rows(body, limits.max_rows):
            raise Problem("too_many_rows", f"The table has more rows than the limit of {limits.max_rows}.")

    def read(self, names: list[str]) -> dict[str, TextColumn]:
        """Read the named columns as text. Raises Problem for a row of another width, or if there are no rows."""
        # Columns are identified by position: names of columns that are not read may repeat.
        positions = {name: str(place) for name, place in unique_places(self.header, names).items()}
        ragged: list[arrow_csv.InvalidRow] = []

        def refuse(row: arrow_csv.InvalidRow) -> str:
            ragged.append(row)
            return "error"

        require_memory(_MEMORY_PER_BYTE * len(self._body))
        try:
            table = arrow_csv.read_csv(
                io.BytesIO(self._body),
                read_options=arrow_csv.ReadOptions(
                    column_names=[str(position) for position in range(len(self.header))],
                    skip_rows_after_names=1,
                    use_threads=False,
                    block_size=len(self._body) + 1,
                ),
                parse_options=arrow_csv.ParseOptions(
                    delimiter=self._dialect.delimiter, newlines_in_values=True, invalid_row_handler=refuse
                ),
                convert_options=arrow_csv.ConvertOptions(
                    include_columns=list(positions.values()),
                    column_types=dict.fromkeys(positions.values(), pa.string()),
                    strings_can_be_null=False,
                ),
            )
        except MemoryError:  # pyarrow's, too
            raise
        except (pa.ArrowException, OSError):
            if ragged:
                found, row = ragged[0].actual_columns, ragged[0].number - _ROW_0
                detail = (
                    f"Row {row} has {found} field{'' if found == 1 else 's'} but the header has {len(self.header)}; "
                    "row 0 is the first below the header."
                )
            else:
                detail = "The body is not CSV."
            raise Problem("malformed_body", detail) from None
        if table.num_rows == 0:
            message = "The table has a header and no rows. (curl keeps line breaks with --data-binary, not with -d.)"
            raise no_rows(message)
        self.rows = table.num_rows
        return {name: TextColumn(table[position], self._dialect.decimal) for name, position in positions.items()}


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
        message = f"The body is not UTF-8: byte {start - held + error.start} is invalid. Save it as CSV UTF-8."
        raise Problem("malformed_body", message) from None


def _refuse_other_separators(body: bytes, dialect: Dialect) -> None:
    """Raise Problem if the header contains another usual delimiter, but not the given one."""
    line = _FIRST_LINE.match(body, 0, LONGEST_HEADER)
    header = (line[0] if line else b"").strip(b"\r\n")
    if for_excel := _FOR_EXCEL.match(header):
        name = next(name for name, mark in _DELIMITERS.items() if mark.encode() == for_excel[1])
        detail = f"The line {header.decode()!r} is only for Excel: leave it out and set delimiter={name}."
        raise Problem("malformed_body", detail)
    if dialect.delimiter.encode() in header:
        return
    for name, mark in _DELIMITERS.items():
        if mark.encode() in header:
            comma = ", and decimal=comma if its numbers have decimal commas" if name == "semicolon" else ""
            raise Problem(
                "malformed_body",
                f"The values look separated by {name}s, but the delimiter is a {dialect.name}: "
                f"set delimiter={name}{comma}.",
            )


def _header(body: bytes, dialect: Dialect) -> list[str]:
    head = body[:LONGEST_HEADER]
    lines = io.TextIOWrapper(io.BytesIO(head), encoding="utf-8", newline="")
    try:
        header = next(csv.reader(lines, delimiter=dialect.delimiter, strict=True), [])
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
