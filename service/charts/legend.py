"""The texts above and below the planes: the title, the legend, and warnings."""

from collections.abc import Iterable
from dataclasses import dataclass

from service.charts.svg import Sheet, wrapped
from service.curves.evaluation import CurvesWarning

_ROW = 18
_SWATCH, _GAP = 24, 8
_TITLE_HIGH = 15
_BOLD = 1.16
"""How much wider bold letters are, in a font whose bold is as wide as that of DejaVu Sans."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A line of a legend: its text, and the symbol before it: a line, a band, a dot with a letter, or nothing.

    series   the CSS class of its colour.
    """

    text: str
    series: str = "soft"
    wide: float = 2
    dash: str = ""
    sign: str = "line"
    letter: str = ""


def put_title(sheet: Sheet, title: str) -> float:
    """Put the title, if there is one, at the top, and return the height below it."""
    if not title:
        return 8
    lines = wrapped(title, sheet.width - 32, size=_TITLE_HIGH * _BOLD)
    for row, line in enumerate(lines):
        sheet.text("ink", (16, 26 + 20 * row), line, size=_TITLE_HIGH, bold=True)
    return 16 + 20 * len(lines)


def put_legend(sheet: Sheet, left: float, top: float, room: float, entries: Iterable[Entry]) -> float:
    """Put a legend, wrapping long texts, and return the height below it."""
    for entry in entries:
        indent = 0 if entry.sign == "none" else _SWATCH + _GAP
        if entry.sign == "line":
            cap = entry.wide / 2
            ends = [left + cap, left + _SWATCH - cap]
            sheet.line(entry.series, ends, [top + 7, top + 7], wide=entry.wide, dash=entry.dash)
        elif entry.sign == "band":
            sheet.box(entry.series, (left, top), (_SWATCH, 14))
        elif entry.sign == "dot":
            sheet.ring(entry.series, (left + 6, top + 7), 4)
            sheet.text(entry.series, (left + 14, top + 11), entry.letter, bold=True)
        for line in wrapped(entry.text, room - indent, most=5):
            sheet.text("ink", (left + indent, top + 11), line)
            top += _ROW
    return top


def finished(
    sheet: Sheet, end: float, title: str, description: Iterable[str], warnings: Iterable[CurvesWarning]
) -> str:
    """Put the warnings, each on two lines at most, below what is there, and write the picture.

    They also end its description in words.
    """
    texts = [f"Warning: {warning.code}. {warning.detail}" for warning in warnings]
    top = end + 2
    for text in texts:
        for line in wrapped(text, sheet.width - 32, most=2, size=11):
            sheet.text("undecided", (16, top + 12), line, size=11)
            top += 15
        top += 3
    sheet.height = top + 8
    return sheet.written(title, [*description, *texts])


def listed(values: Iterable[str]) -> str:
    """Write a list as in a sentence: a, b and c."""
    *first, last = values
    return f"{', '.join(first)} and {last}" if first else last
