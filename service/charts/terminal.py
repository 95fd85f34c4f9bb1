"""A picture of an evaluation in characters, for a terminal: 60 columns of braille dots.

A plane of the figure becomes a grid of dots, 2 by 4 in each character. Drawn are its solid lines and its dots, and
dotted what the figure dots; the first layer's text is above, those of dotted lines below. Knows the figure of `curves`,
nothing of terminals.
"""

from collections.abc import Iterator
from textwrap import wrap

import numpy as np

from service.charts.curve_planes import DOTTED
from service.charts.curves import curves_figure
from service.charts.legend import Layer
from service.charts.picture import Picture
from service.charts.plane import Plane, ticks_at
from service.charts.svg import clean
from service.curves.clock import still_time
from service.curves.simplification import Line
from service.inference.curves_with_intervals import EvaluatedCurves

_MOST_COLUMNS = 60
_CELLS_WIDE, _CELLS_HIGH = 54, 16
"""Characters of a plane, of 2 by 4 dots each; it is less wide beside long numbers."""
_ACROSS, _DOWN = 2, 4
_DOT_BITS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))
"""The bit of each dot of a braille character, by row and column."""
_BRAILLE = 0x2800
_UPPER, _LOWER = 0x1B, 0xE4
"""The bits of the two upper rows of dots, and of the lower ones."""
_ASCII = dict(zip(map(ord, "│└─"), "|+-", strict=True)) | {
    _BRAILLE + bits: ":" if bits & _UPPER and bits & _LOWER else "'" if bits & _UPPER else "." if bits else " "
    for bits in range(0x100)
}
_MARGIN = 5
_HALVES = (0.0, 0.5, 1.0)
_STEP, _DOTTED_STEP = 0.5, 6.0
"""Dots from one point of a line to the next, and between those of a dotted line."""


def curves_text(result: EvaluatedCurves, picture: Picture) -> str:
    """Draw an evaluation in lines of at most 60 characters, with the dotted line explained below each plane."""
    still_time()
    figure = curves_figure(result, picture)
    blocks = [block for blocks in figure.columns for block in blocks]
    planes = [block for block in blocks if isinstance(block, Plane) and block.high is None]
    lines = [clean(picture.title)] if picture.title else []
    for plane in planes:
        lines += [""] if lines else []
        lines += _plane(plane)
    return "\n".join([*lines, ""])


def in_ascii(text: str) -> str:
    """Write the same in ASCII, chosen by which halves of a character have dots."""
    return text.translate(_ASCII)


def _plane(plane: Plane) -> Iterator[str]:
    heights = {round((1 - at) * (_CELLS_HIGH - 1)): text for at, text in ticks_at(plane.heights, _HALVES)}
    margin = max(_MARGIN, max(map(len, heights.values())) + 2)
    wide = min(_CELLS_WIDE, _MOST_COLUMNS - margin)
    dots = np.zeros((_CELLS_HIGH * _DOWN, wide * _ACROSS), dtype=np.bool_)
    dotted = [layer for layer in plane.layers if layer.dash == DOTTED]
    for layer in plane.layers:
        if layer.text and layer.dash in {"", DOTTED} and layer.sign not in {"area", "none"}:
            _draw(dots, layer)
    heading = next(plane.legend().said()).removesuffix(".")
    yield from (line.replace("\xa0", " ") for line in wrap(heading, _MOST_COLUMNS))
    yield f"{'':{margin}}{plane.upright.lower()}"
    for row in range(_CELLS_HIGH):
        cells = _characters(dots[row * _DOWN : (row + 1) * _DOWN])
        yield f"{heights.get(row, ''):>{margin - 2}} │{cells}".rstrip()
    yield f"{'':{margin - 1}}└{'─' * wide}"
    yield f"{'':{margin}}{_along(plane, wide)}"
    yield f"{'':{margin}}{plane.level.lower():>{wide}}"
    yield from (f"{'':{margin}}dotted: {layer.text[:1].lower()}{layer.text[1:]}" for layer in dotted)


def _along(plane: Plane, wide: int) -> str:
    """The texts of the horizontal axis, each below its place."""
    line = ""
    for at, text in ticks_at(plane.ticks, _HALVES):
        line = line.ljust(int(at * (wide - len(text)))) + text
    return line


def _draw(dots: np.ndarray, layer: Layer) -> None:
    """Set the dots of a layer."""
    for shape in layer.shapes:
        line = shape if layer.sign == "dots" else _walked(shape, _DOTTED_STEP if layer.dash else _STEP)
        dots[_places(line, dots)] = True


def _walked(line: Line, step: float) -> Line:
    """Points along a line, this many dots apart, and its end."""
    wide, high = _CELLS_WIDE * _ACROSS, _CELLS_HIGH * _DOWN
    length = np.append(0.0, np.hypot(np.diff(line.x) * wide, np.diff(line.y) * high).cumsum())
    along = np.append(np.arange(0.0, length[-1], step), length[-1])
    still_time()
    return Line(np.interp(along, length, line.x), np.interp(along, length, line.y))


def _places(line: Line, dots: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The rows and columns of points."""
    high, wide = dots.shape
    return np.rint((1 - line.y) * (high - 1)).astype(np.int64), np.rint(line.x * (wide - 1)).astype(np.int64)


def _characters(rows: np.ndarray) -> str:
    """Write four rows of dots as one line of braille, with spaces for characters without dots."""
    cells = rows.reshape(_DOWN, -1, _ACROSS)
    bits = (cells * np.array(_DOT_BITS)[:, np.newaxis, :]).sum(axis=(0, 2))
    return "".join(chr(_BRAILLE + value) if value else " " for value in bits.tolist())
