"""CSV in (RFC 4180, with a header, in UTF-8) through pyarrow: bytes to columns of text, and text to numbers and labels.

Every cell is read as text first, so that nothing is inferred; pyarrow's parser then reads decimal numbers.
"""

import codecs
import csv
import io
import re
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv as arrow_csv

from service.curves.budget import is_bounded, spend
from service.curves.exact import LARGEST_EXACT_INTEGER, BoolArray, FloatArray
from service.environment import look_for_memory
from service.wire.columns import ColumnError, inexact_integer, label_misfit, labels, numbers, shown, third_label
from service.wire.formats.reading_work import csv_work
from service.wire.formats.tables import LONGEST_HEADER, MOST_COLUMNS, no_rows, refuse_doubles, too_many_columns
from service.wire.limits import Limits
from service.wire.problems import Problem

_BOM = b"\xef\xbb\xbf"
_WELL_QUOTED = re.compile(rb'(?:[^"]++|(?<![^,\r\n])"(?:[^"]++|"")*+"(?![^,\r\n]))*+')
_ROW_TEXT = rb'[\r\n]*+(?:[^"\r\n]++|"(?:[^"]++|"")*+")++'
"""A line that is not blank, of a body that is well quoted."""

_LINE_END = re.compile(rb"[\r\n]")
_FIRST_LINE = re.compile(rb"[\r\n]*+[^\r\n]*+")
_OTHER_SEPARATORS = {b";": "semicolons", b"\t": "tabs"}

_DECIMAL = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$"
_INTEGER_TEXT = re.compile(r"[+-]?\d+")
_SPACES = " \t"

_CHECKED_BYTES = 1 << 20
"""How many bytes are checked at a time."""

_MEMORY_PER_BYTE = 4
"""How much memory pyarrow's reader may take for a byte of a body; without it, it ends the process."""

_ROW_0 = 2
"""pyarrow's number of the first row below the header."""


@dataclass(frozen=True, slots=True)
class TextColumn:
    """A column of cells as they were written; nothing is read into them yet."""

    cells: pa.ChunkedArray


class CsvTable:
    """A CSV body whose header has been read; columns are read on demand."""

    header_is = "the header, split at commas, is"

    def __init__(self, body: bytes, limits: Limits) -> None:
        body = body.removeprefix(_BOM)
        if is_bounded():
            spend(csv_work(body))
        _check_text(body)
        if b'"' in body and not _WELL_QUOTED.fullmatch(body):
            _refuse_other_separators(body)
            raise Problem("malformed_body", "A quoted value is not closed, or text stands beside its quotes.")
        self._body = body if body.endswith((b"\n", b"\r")) else body + b"\n"
        self.header = _header(body)
        if not _LINE_END.search(body):
            self.header_is = "the body is one line (curl -d makes that of a file, --data-binary does not); split, it is"
        if len(self.header) == 1:  # no table of one column is of use
            _refuse_other_separators(body)
        if _has_more_rows(body, limits.max_rows):
            raise Problem("too_many_rows", f"The table has more than {limits.max_rows} rows, the limit.")

    def read(self, names: list[str]) -> dict[str, TextColumn]:
        """Read the named columns as text. Raises Problem when a row is not of the header's width, or none is there."""
        refuse_doubles(self.header, names)
        # Columns are known by their position: names may be repeated among those that are not read.
        positions = {name: str(self.header.index(name)) for name in names}
        ragged: list[arrow_csv.InvalidRow] = []

        def refuse(row: arrow_csv.InvalidRow) -> str:
            ragged.append(row)
            return "error"

        look_for_memory(_MEMORY_PER_BYTE * len(self._body))
        try:
            table = arrow_csv.read_csv(
                io.BytesIO(self._body),
                read_options=arrow_csv.ReadOptions(
                    column_names=[str(position) for position in range(len(self.header))],
                    skip_rows_after_names=1,
                    use_threads=False,
                    block_size=len(self._body) + 1,
                ),
                parse_options=arrow_csv.ParseOptions(newlines_in_values=True, invalid_row_handler=refuse),
                convert_options=arrow_csv.ConvertOptions(
                    include_columns=list(positions.values()),
                    column_types=dict.fromkeys(positions.values(), pa.string()),
                    strings_can_be_null=False,
                ),
            )
        except MemoryError:  # which pyarrow's is, too
            raise
        except (pa.ArrowException, OSError):
            if ragged:
                found, row = ragged[0].actual_columns, ragged[0].number - _ROW_0
                detail = f"Row {row} has {found} fields, the header has {len(self.header)}; row 0 is below the header."
            else:
                detail = "The body is not CSV."
            raise Problem("malformed_body", detail) from None
        if table.num_rows == 0:
            message = "The table has a header and no rows. (curl keeps line breaks with --data-binary, not with -d.)"
            raise no_rows(message)
        return {name: TextColumn(table[position]) for name, position in positions.items()}


def _check_text(body: bytes) -> None:
    """Refuse what is not UTF-8, which pyarrow would tell on standard error, too, for a row that it refuses."""
    if body.isascii():
        return
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        for start in range(0, len(body), _CHECKED_BYTES):
            decoder.decode(body[start : start + _CHECKED_BYTES], final=start + _CHECKED_BYTES >= len(body))
    except UnicodeDecodeError:
        raise Problem("malformed_body", "The body is not UTF-8.") from None


def _refuse_other_separators(body: bytes) -> None:
    """Raise Problem for a table whose header has no comma and what others separate columns by."""
    line = _FIRST_LINE.match(body, 0, LONGEST_HEADER)
    header = line[0] if line else b""
    for mark, name in _OTHER_SEPARATORS.items():
        if mark in header and b"," not in header:
            advice = "save it with commas, and with points in numbers."
            raise Problem("malformed_body", f"This looks separated by {name}, and commas are read: {advice}")


def _header(body: bytes) -> list[str]:
    head = body[:LONGEST_HEADER]
    lines = io.TextIOWrapper(io.BytesIO(head), encoding="utf-8", newline="")
    try:
        header = next(csv.reader(lines, strict=True), [])
    except UnicodeDecodeError:  # it goes on, and the body was checked
        raise too_many_columns() from None
    except csv.Error as error:
        raise Problem("malformed_body", f"The header is not CSV: {error}.") from None
    if not header:
        raise Problem("malformed_body", "The body has no header row.")
    if len(header) > MOST_COLUMNS or (len(body) > LONGEST_HEADER and not lines.read(1)):
        raise too_many_columns()
    return header


def _has_more_rows(body: bytes, most: int) -> bool:
    """Tell whether there are more than `most` rows below the header; counts before anything is made of them."""
    if len(body) <= 2 * most or body.count(b"\n") + body.count(b"\r") <= most:  # a row takes two bytes
        return False
    # Line ends are also within quotes, blank lines are none, and \r\n is one.
    return re.match(rb"(?:%b){%d}+" % (_ROW_TEXT, most + 2), body) is not None


@numbers.register
def _(column: TextColumn, *, nullable: bool) -> FloatArray:
    cells = column.cells
    if nullable:
        cells = pc.if_else(pc.equal(cells, ""), pa.scalar(None, pa.string()), cells)
    try:
        array = pc.cast(cells, pa.float64())
    except pa.ArrowInvalid:
        cells = pc.ascii_trim(cells, _SPACES)
        array = _trimmed_numbers(cells)
    missing = array.is_null().to_numpy()
    values: FloatArray = array.to_numpy()
    wrong = np.flatnonzero(~np.isfinite(values) & ~missing)
    if wrong.size:
        raise ColumnError("not_finite", "This is not a finite number that a double holds.", int(wrong[0]))
    large = np.flatnonzero(np.abs(values) >= LARGEST_EXACT_INTEGER)
    for row, cell in zip(large, cells.take(pa.array(large)).to_pylist(), strict=True):
        text = cell.strip(_SPACES)
        if _INTEGER_TEXT.fullmatch(text) and int(text.lstrip("+-0")) != abs(int(values[row])):
            raise inexact_integer(int(row))
    return values


def _trimmed_numbers(cells: pa.ChunkedArray) -> pa.ChunkedArray:
    """Read cells without blanks around them. Raises ColumnError at the first that is no number."""
    try:
        return pc.cast(cells, pa.float64())
    except pa.ArrowInvalid:
        good = pc.fill_null(pc.match_substring_regex(cells, _DECIMAL), True)  # noqa: FBT003  # pyarrow's signature
        row = pc.index(good, False).as_py()
        text = cells[row].as_py()
        what = f"{shown(text)} is not a decimal number" if text else "This is blank; a number belongs here"
        raise ColumnError("not_a_number", f"{what}.", row) from None


@labels.register
def _(column: TextColumn, positive_label: object) -> BoolArray:
    cells = column.cells
    if positive_label is not None:
        distinct = cells.unique()
        if len(distinct) > 2:  # noqa: PLR2004  # two classes
            raise third_label(pc.index(cells, distinct[2]).as_py(), distinct[2].as_py())
        label = str(positive_label).encode("utf-8", "surrogatepass")  # half a surrogate pair equals no text
        return pc.equal(pc.cast(cells, pa.binary()), label).to_numpy()  # type: ignore[no-any-return]  # pyarrow is untyped
    text = pc.utf8_lower(pc.ascii_trim(cells, _SPACES))
    distinct = text.unique()
    if set(distinct[:3].to_pylist()) <= {"false", "true"}:
        return pc.equal(text, "true").to_numpy()  # type: ignore[no-any-return]  # pyarrow is untyped
    try:
        values = numbers(TextColumn(text), nullable=False)
    except ColumnError as error:
        raise label_misfit(error.row) from None
    seen: set[float] = set()
    for row in np.sort(np.unique(values, return_index=True)[1]):
        seen.add(float(values[row]))
        if not (seen <= {0, 1} or seen <= {-1, 1}):
            raise label_misfit(int(row))
    out: BoolArray = values == 1
    return out
