"""How a CSV body is written: its delimiter, decimal mark, quotes and header; and what is wrong with the dialect given.

Knows marks and first lines; nothing of columns.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Self

from service.wire.formats.csv_records import record_number
from service.wire.formats.table_columns import LONGEST_HEADER
from service.wire.problems import Problem, invalid_value

DELIMITERS = {"comma": ",", "semicolon": ";", "tab": "\t", "pipe": "|", "space": " "}
DECIMALS = {"point": ".", "comma": ","}
MARKS = {
    "delimiter": DELIMITERS,
    "decimal": DECIMALS,
    "escape": {"quote": '"', "backslash": "\\"},
    "header": {"present": "present", "absent": "absent"},
}
"""{parameter of CSV: {name: the mark itself}}"""

_ESCAPED_TAB = r"\t"
WELL_QUOTED = {
    delimiter: re.compile(rb'(?:[^"]++|(?<![^%b\r\n])"(?:[^"]++|"")*+"(?![^%b\r\n]))*+' % (2 * (delimiter.encode(),)))
    for delimiter in DELIMITERS.values()
}
_FIRST_LINE = re.compile(rb"[\r\n]*+[^\r\n]*+")
_FOR_EXCEL = re.compile(rb'"?sep=([,;\t|])"?[,;\t|]*(?:\r\n?|\n|\Z)', re.IGNORECASE)
"""A line before the header that tells Excel the delimiter."""

_FORMULA = re.compile(rb'="')
_TEXTS_OF_SPACES = re.compile(r'"[^"]*"|\S+')

_NUMBER = re.compile(r"[+-]?[\d.,]*\d[\d.,]*(?:[eE][+-]?\d+)?")
_WITH_MARK = re.compile(r".*[.,].*")
_SHOWN_OF_ROW = 100
"""The characters of a first row that a problem repeats."""


@dataclass(frozen=True, slots=True)
class Dialect:
    """The delimiter, its `name`, the decimal mark, and what is before a quote within quotes.

    has_header   whether the first row has the names of the columns; None if nobody said so.
    is_given     whether the delimiter was given.
    """

    name: str
    decimal: str
    escape: str = "quote"
    has_header: bool | None = None
    is_given: bool = False

    @property
    def delimiter(self) -> str:
        """The delimiter character."""
        return DELIMITERS[self.name]

    @classmethod
    def of(cls, parameters: Mapping[str, str]) -> Self:
        """Read the parameters of CSV, names or the characters themselves. Raises Problem."""
        delimiter = _named(parameters, "delimiter")
        header = _named(parameters, "header")
        return cls(
            delimiter or "comma",
            DECIMALS[_named(parameters, "decimal") or "point"],
            _named(parameters, "escape") or "quote",
            None if header is None else header == "present",
            delimiter is not None,
        )


def _named(parameters: Mapping[str, str], key: str) -> str | None:
    if key not in parameters:
        return None
    text = "\t" if parameters[key] == _ESCAPED_TAB else parameters[key]
    for name, mark in MARKS[key].items():
        if text in {name, mark}:
            return name
    raise invalid_value(f"/{key}", "not_one_of", f"Must be one of {', '.join(MARKS[key])}.")


def without_line_for_excel(body: bytes, dialect: Dialect) -> tuple[bytes, Dialect]:
    """Take the delimiter from a first line such as `sep=;`, which is left out. Raises Problem if another was given."""
    line = _FOR_EXCEL.match(body)
    if line is None:
        return body, dialect
    name = next(name for name, mark in DELIMITERS.items() if mark.encode() == line[1])
    if dialect.is_given and dialect.name != name:
        message = f"The line 'sep={line[1].decode()}' says {name}: leave out the line or this option."
        raise invalid_value("/delimiter", "exclusive", message)
    return body[line.end() :], replace(dialect, name=name)


def with_doubled_quotes(body: bytes) -> bytes:
    """Write escaped quotes and backslashes as RFC 4180 does; the byte that stands in between occurs in no UTF-8."""
    return body.replace(b"\\\\", b"\xff").replace(b'\\"', b'""').replace(b"\xff", b"\\")


def badly_quoted(body: bytes, dialect: Dialect) -> Problem:
    """Make the problem of quotes that are not as RFC 4180 has them."""
    match = WELL_QUOTED[dialect.delimiter].match(body)
    place = match.end() if match else 0
    detail = f"In row {record_number(body, place)}, a quote is not closed, or there is text beside a quoted field."
    if b'\\"' in body and dialect.escape != "backslash":
        detail += ' If \\" stands for a quote, as Spark writes it, set escape=backslash.'
    elif dialect.delimiter != " " and body[place - 1 : place + 1] == b' "':
        detail += " Leave out the blank before the quote."
    elif _FORMULA.match(body, place - 1 if place else 0):
        detail += ' A spreadsheet\'s formula such as ="0.9" is not a value: write 0.9 alone.'
    return Problem("malformed_body", detail)


def has_numbers_as_names(header: list[str]) -> bool:
    """Whether a header must be data: all its names are numbers, or one is a decimal fraction."""
    numbers = [name for name in header if _NUMBER.fullmatch(name)]
    return len(numbers) > 0 and (len(numbers) == sum(map(bool, header)) or any(map(_WITH_MARK.fullmatch, numbers)))


def refuse_numbers_as_names(header: list[str], dialect: Dialect) -> None:
    """Refuse a header that must be data. Raises Problem."""
    if has_numbers_as_names(header):
        names, order = ["scores", "labels", "..."][: len(header)], " in the order of the columns"
        if len(header) == 2:  # noqa: PLR2004  # then they are scores and labels
            is_score = [bool(_NUMBER.fullmatch(name)) + bool(_WITH_MARK.fullmatch(name)) for name in header]
            names, order = names[::-1] if is_score[0] < is_score[1] else names, ""
        line = f"{dialect.delimiter.join(names)} above{order}"
        first = ", ".join(header)[:_SHOWN_OF_ROW]
        detail = (
            f"The first row has numbers where names are expected: {first}. If it is data, add the line {line}, or "
            "set header=absent, which names the columns 1, 2 and so on. If these are names, set header=present."
        )
        raise invalid_value("/header", "missing", detail)


def refuse_other_separators(body: bytes, dialect: Dialect) -> None:
    """Raise Problem if the header contains another usual delimiter, but not the given one."""
    line = _FIRST_LINE.match(body, 0, LONGEST_HEADER)
    header = (line[0] if line else b"").strip(b"\r\n")
    if dialect.delimiter.encode() in header:
        return
    for name, mark in DELIMITERS.items():
        if mark.encode() in header and (name != "space" or _is_split_at_spaces(body)):
            comma = ", and decimal=comma if its numbers have decimal commas" if name == "semicolon" else ""
            raise Problem(
                "malformed_body",
                f"The values look separated by {name}s, but the delimiter is a {dialect.name}: "
                f"set delimiter={name}{comma}.",
            )


def _is_split_at_spaces(body: bytes) -> bool:
    """Whether the second line is several words: a name may have spaces, too."""
    lines = body[:LONGEST_HEADER].split(b"\n", 2)
    return len(lines) > 1 and len(_TEXTS_OF_SPACES.findall(lines[1].decode("utf-8", "replace"))) > 1
