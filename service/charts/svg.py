"""SVG text: a sheet for shapes and texts, on which any text is safe.

Nothing on a sheet runs or loads: it has shapes, texts, a title, a description, and at most one constant style. Names
from callers are text, escaped only here.
"""

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from html import escape
from itertools import accumulate, takewhile

import numpy as np

from service.charts.theme import STYLE, colour
from service.curves.arrays import FloatArray
from service.curves.clock import still_time

FONT = "system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue','Noto Sans',Arial,sans-serif"
SIZE = 12
"""Pixels: the default size of text."""

STYLE_ELEMENT = f"<style>{STYLE}</style>"

LONGEST_NAME = 40
"""The characters of a name that are shown."""

_UNFIT = re.compile(
    r"[^\x20-\x7e\xa0-\ud7ff\ue000-\ufdcf\ufdf0-\ufffd\U00010000-\U0010fffd]|[\u202a-\u202e\u2066-\u2069]"
)
"""Characters that XML forbids or that do not belong in a line: controls, surrogates, and bidirectional overrides."""

_LETTER_WIDTHS = {
    letter: width
    for width, letters in {
        34: "ijlIJ' ,.:;/\\|\xa0",
        42: "frt-()[]!",
        56: 'cszL"*?_`',
        88: "wM#+<=>^~→",
        103: "mW@%—…\N{REPLACEMENT CHARACTER}",
    }.items()
    for letter in letters
}
"""{character: its width in hundredths of an em} in DejaVu Sans, the widest font that FONT may lead to, rounded up."""

_REMEMBERED_WIDTHS = 1 << 10


def clean(text: str) -> str:
    """Replace characters that a picture's text must not contain."""
    return _UNFIT.sub("\N{REPLACEMENT CHARACTER}", text)


def named(name: str) -> str:
    """Shorten a name."""
    name = clean(name)
    return name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 1]}…"


def text_width(text: str, size: float = SIZE) -> float:
    """The approximate width of a text in pixels, rather too large."""
    return size * sum(map(_width, text)) / 100


@lru_cache(_REMEMBERED_WIDTHS)
def _width(character: str) -> int:
    if unicodedata.east_asian_width(character) in "WF":
        return 105
    return _LETTER_WIDTHS.get(character) or (79 if character.isupper() else 64)


def wrapped(text: str, room: float, most: int = 3, size: float = SIZE) -> list[str]:
    """Wrap a text into at most `most` lines; an ellipsis stands for the rest."""
    lines, used = [""], 0
    for word in filter(None, clean(text).split(" ")):  # no-break spaces stay within words
        wide = sum(map(_width, word))
        longer = used + _width(" ") + wide
        if not lines[-1]:
            lines[-1], used = word, wide
        elif size * longer / 100 <= room:
            lines[-1], used = f"{lines[-1]} {word}", longer
        elif len(lines) > most:
            break
        else:
            lines, used = [*lines, word], wide
    shown = [fitted(line, room, size) for line in lines[:most]]
    if len(lines) > most:
        shown[-1] = fitted(f"{shown[-1]}…", room, size)
    return shown


def fitted(line: str, room: float, size: float) -> str:
    """Cut a text that does not fit on one line, with an ellipsis."""
    if text_width(line, size) <= room:
        return line
    widths = accumulate(map(_width, line), initial=_width("…"))
    kept = sum(1 for _ in takewhile(lambda wide: size * wide / 100 <= room, widths)) - 1
    return f"{line[: max(0, kept)].rstrip('… ')}…"


def number(value: float) -> str:
    """Write a coordinate to a hundredth of a pixel."""
    return f"{value:.2f}".rstrip("0").rstrip(".")


class Sheet:
    """A picture under construction; `height` grows as things are added below. Colours are named by series."""

    def __init__(self, theme: str, width: float) -> None:
        still_time()
        self.theme = theme
        self.width = width
        self.height = 0.0
        self._parts: list[str] = []

    def _put(self, kind: str, series: str, content: str = "", **attributes: str) -> None:
        """Put an element; attributes without a value are left out."""
        still_time()
        written = " ".join(f'{name.replace("_", "-")}="{value}"' for name, value in attributes.items() if value)
        inner = f">{escape(clean(content))}</{kind}>" if kind == "text" else "/>"
        self._parts.append(f'<{kind} class="{series}" color="{colour(series, self.theme)}" {written}{inner}')

    def text(
        self,
        series: str,
        at: tuple[float, float],
        content: str,
        *,
        anchor: str = "",
        size: float = SIZE,
        bold: bool = False,
        halo: bool = False,
        upright: bool = False,
    ) -> None:
        """Put a line of text, if any. A halo sets it off from the background; an upright line reads upwards."""
        if not content:
            return
        x, y = map(number, at)
        look = {
            "text_anchor": anchor,
            "font_size": f"{size:g}" if size != SIZE else "",
            "font_weight": "600" if bold else "",
            "transform": f"rotate(-90 {x} {y})" if upright else "",
        }
        if halo:
            # Drawn twice, as a stroke cannot have another class than the fill.
            rim = {"stroke": "currentColor", "stroke_width": "3.5", "aria_hidden": "true"}
            self._put("text", "paper", content, x=x, y=y, fill="currentColor", **look, **rim)
        self._put("text", series, content, x=x, y=y, fill="currentColor", **look)

    def line(
        self, series: str, x: FloatArray | list[float], y: FloatArray | list[float], *, wide: float = 1, dash: str = ""
    ) -> None:
        """Put a polyline through points in pixels."""
        places = _rounded(x, y)
        points = " ".join(f"{a:g},{b:g}" for a, b in places)
        ends = {"stroke_linecap": "round", "stroke_linejoin": "round"}
        look = {"fill": "none", "stroke": "currentColor", "stroke_width": f"{wide:g}", "stroke_dasharray": dash}
        self._put("polyline", series, points=points, **look, **ends)

    def dots(self, series: str, x: FloatArray | list[float], y: FloatArray | list[float], wide: float) -> None:
        """Put round dots of one size."""
        places = _rounded(x, y)
        path = "".join(f"M{a:g} {b:g}h0" for a, b in places)
        look = {"stroke_width": f"{wide:g}", "stroke_linecap": "round"}
        if path:
            self._put("path", series, d=path, stroke="currentColor", **look)

    def ring(self, series: str, at: tuple[float, float], radius: float = 4) -> None:
        """Put a dot that stands out: filled, with a rim in the paper's colour."""
        self.dots("paper", [at[0]], [at[1]], 2 * radius + 3)
        self.dots(series, [at[0]], [at[1]], 2 * radius)

    def box(self, series: str, corner: tuple[float, float], size: tuple[float, float]) -> None:
        """Put a rectangle."""
        x, y, width, height = map(number, (*corner, *size))
        self._put("rect", series, x=x, y=y, width=width, height=height, fill="currentColor")

    def area(self, series: str, x: FloatArray | list[float], y: FloatArray | list[float]) -> None:
        """Put a polygon through which what is below it can be seen."""
        points = " ".join(f"{a:g},{b:g}" for a, b in _rounded(x, y))
        self._put("polygon", series, points=points, fill="currentColor", opacity="0.15")

    def written(self, title: str, description: Iterable[str]) -> str:
        """Write the picture, with its name and its description for screen readers."""
        wide, high = number(self.width), number(self.height)
        said = escape(clean(" ".join(description)))
        style = STYLE_ELEMENT if self.theme == "auto" else ""
        paper = f'<rect class="paper" color="{colour("paper", self.theme)}" width="{wide}" height="{high}" '
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" role="img" width="{wide}" height="{high}" '
            f'viewBox="0 0 {wide} {high}" font-family="{escape(FONT)}" font-size="{SIZE}">'
            f"<title>{escape(clean(title))}</title><desc>{said}</desc>{style}"
            f'{paper}fill="currentColor"/>{"".join(self._parts)}</svg>\n'
        )


def _rounded(x: FloatArray | list[float], y: FloatArray | list[float]) -> list[list[float]]:
    """Points in hundredths of a pixel."""
    places: list[list[float]] = np.round(np.column_stack((x, y)), 2).tolist()
    return places
