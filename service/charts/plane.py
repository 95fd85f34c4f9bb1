"""A plane with its axes: layers of lines, dots and bands in a square or a strip, and letters that do not overlap.

Knows sheets and layers; nothing of results.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from math import ceil, floor, log10
from typing import NamedTuple, TypeAlias

import numpy as np

from service.charts.legend import SMALL, Layer, Legend, points
from service.charts.svg import Sheet, fitted, text_width
from service.curves.arrays import FloatArray

LEFT, RIGHT, TOP, BOTTOM = 50, 16, 28, 42
"""Margins in pixels: ticks and name of the vertical axis, heading, ticks and name of the horizontal axis."""

FRAME = Layer(wide=1, shapes=[points([0, 1, 1, 0, 0], [0, 0, 1, 1, 0])])
"""A frame around a strip."""

_HEADING = 16
"""Pixels: the height of a strip's heading, and a square's distance from its heading: room for a row of numbers."""

_FIFTHS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
_QUARTERS = (0.0, 0.25, 0.5, 0.75, 1.0)
_ROOM_FOR_FIFTHS = 200
_LETTER_SIDE = 13
"""Pixels between letters."""
_BESIDE = 24
"""Pixels beside the texts of a vertical axis: for its name, and between."""
_NEARLY = 1e-9

Ticks: TypeAlias = Callable[[float], str] | Sequence[tuple[float, str]]
"""What is written along an axis: a function of even places in [0, 1], or places, each with its text."""


def round_ticks(low: float, high: float) -> list[tuple[float, str]]:
    """At most six round numbers from `low` to `high`, with their places between these."""
    rough = (high - low) / 5
    power: float = 10.0 ** floor(log10(rough))
    step = next(each * power for each in (1, 2, 2.5, 5, 10) if each * power >= rough)
    numbers = range(ceil(low / step - _NEARLY), floor(high / step + _NEARLY) + 1)
    return [((number * step - low) / (high - low), f"{number * step:.6g}") for number in numbers]


def room_for(heights: Sequence[tuple[float, str]]) -> tuple[float, float]:
    """The margins of a plane with these texts along its vertical axis."""
    return max(LEFT, max(text_width(text, SMALL) for _, text in heights) + _BESIDE), RIGHT


class Caption(NamedTuple):
    """A short text at a place of a plane, moved by some pixels."""

    text: str
    at: tuple[float, float]
    moved: tuple[float, float]
    anchor: str = "middle"
    series: str = "soft"


@dataclass(frozen=True, slots=True, eq=False)
class Plane:
    """A square, or a strip, with axes from 0 to 1, and its layers: the first is on top, and rings are above all.

    high            the pixels of a strip; None for a square.
    level, upright  the names of the horizontal and the vertical axis.
    ticks, heights  of the horizontal axis, which may have none, and of a square's vertical axis.
    aside           the side of a ring on which its letter should be: 1 is right, -1 left, 0 above.
    margins         in pixels, left and right.
    words           what the description says besides the legend.
    """

    heading: str
    layers: Sequence[Layer]
    level: str = ""
    upright: str = ""
    ticks: Ticks | None = None
    heights: Ticks = "{:g}".format
    high: float | None = None
    captions: Sequence[Caption] = ()
    aside: int = 1
    margins: tuple[float, float] = (LEFT, RIGHT)
    words: str = ""

    def legend(self, *notes: Layer) -> Legend:
        """The legend of its layers, with notes below."""
        return Legend((*self.layers, *notes), self.heading)

    def said(self) -> Iterator[str]:
        """What it shows, in sentences; its legend says more."""
        yield from filter(None, [self.words])

    def put(self, sheet: Sheet, left: float, top: float, wide: float) -> float:
        """Draw it, and return the height below it."""
        side = wide - sum(self.margins)
        top += TOP if self.high is None else _HEADING * bool(self.heading)
        frame = _Frame(sheet, left + self.margins[0], top, side, side if self.high is None else self.high)
        self._put_axes(frame)
        for layer in reversed(self.layers):
            frame.draw(layer)
        _put_rings(frame, [layer for layer in self.layers if layer.sign == "ring" and layer.shapes], self.aside)
        for text, at, (right, down), anchor, series in self.captions:
            x, y = map(float, frame.at(*at))
            sheet.text(series, (x + right, y + down), text, anchor=anchor, size=SMALL, bold=series == "paper")
        return frame.bottom + (BOTTOM if self.level else 4) + 6

    def _put_axes(self, frame: "_Frame") -> None:
        sheet, is_square = frame.sheet, self.high is None
        center, middle = frame.left + frame.wide / 2, frame.top + frame.high / 2
        even = _FIFTHS if frame.wide >= _ROOM_FOR_FIFTHS else _QUARTERS
        across, up = (ticks_at(ticks, even) for ticks in (self.ticks, self.heights if is_square else None))
        for level, upright in zip_longest(across, up):
            if level is not None:
                x, _ = map(float, frame.at(level[0], 0))
                sheet.line("grid", [x, x], [frame.bottom, frame.top])
                sheet.text("soft", (x, frame.bottom + 15), level[1], anchor="middle", size=SMALL)
            if upright is not None:
                _, y = map(float, frame.at(0, upright[0]))
                sheet.line("grid", [frame.left, frame.left + frame.wide], [y, y])
                sheet.text("soft", (frame.left - 7, y + 4), upright[1], anchor="end", size=SMALL)
        if is_square:
            sheet.text("ink", (frame.left, frame.top - _HEADING), self.heading, size=13, bold=True)
            sheet.text("ink", (frame.left - self.margins[0] + 14, middle), self.upright, anchor="middle", upright=True)
        else:
            heading = fitted(self.heading, frame.wide + RIGHT, SMALL)
            sheet.text("soft", (frame.left, frame.top - 6), heading, size=SMALL)
        sheet.text("ink", (center, frame.bottom + 33), self.level, anchor="middle")


def ticks_at(ticks: Ticks | None, even: Sequence[float]) -> Sequence[tuple[float, str]]:
    """The places and texts of an axis; those of a function are at these places."""
    if callable(ticks):
        return [(at, ticks(at)) for at in even]
    return ticks or ()


@dataclass(frozen=True, slots=True)
class _Frame:
    """A plane's rectangle on a sheet, in pixels."""

    sheet: Sheet
    left: float
    top: float
    wide: float
    high: float

    @property
    def bottom(self) -> float:
        return self.top + self.high

    def at(self, x: FloatArray | float, y: FloatArray | float) -> tuple[FloatArray, FloatArray]:
        """The pixels of points."""
        return self.left + np.asarray(x) * self.wide, self.top + (1 - np.asarray(y)) * self.high

    def draw(self, layer: Layer) -> None:
        """Draw the shapes of a layer, unless they are rings."""
        for shape in layer.shapes:
            x, y = self.at(shape.x, shape.y)
            if layer.sign == "line":
                self.sheet.line(layer.series, x, y, wide=layer.wide, dash=layer.dash)
            elif layer.sign == "dots":
                shown = np.sort(np.unique(np.rint(np.stack((x, y))), axis=1, return_index=True)[1])  # one on each pixel
                self.sheet.dots(layer.series, x[shown], y[shown], layer.wide)
            elif layer.sign == "band":
                self.sheet.box(layer.series, (x.min(), y.min()), (np.ptp(x), np.ptp(y)))
            elif layer.sign == "area":
                self.sheet.area(layer.series, x, y)

    def has_room_for(self, spot: tuple[float, float], taken: list[tuple[float, float]]) -> bool:
        """Whether a letter, centred on a base line that starts at this pixel, lies within, and on none of the taken."""
        x, y = spot
        within = self.left + 6 <= x <= self.left + self.wide - 6 and self.top + 12 <= y <= self.bottom - 4
        return within and all(abs(x - other) >= _LETTER_SIDE or abs(y - base) >= _LETTER_SIDE for other, base in taken)


def _put_rings(frame: _Frame, layers: list[Layer], aside: int) -> None:
    """Draw rings with their letters, on the given side of the ring if there is room, and without overlaps."""
    taken: list[tuple[float, float]] = []
    for layer in layers:
        x, y = (float(pixels[0]) for pixels in frame.at(layer.shapes[0].x, layer.shapes[0].y))
        frame.sheet.ring(layer.series, (x, y))
        spots = [
            (x + aside * away * (12 + 14 * right), y + (14 if aside else -9) + 14 * down)
            for away in (1, -1)
            for down in (0, 1, 2, 3, 4, -1, -2)
            for right in range(3)
        ]
        taken.append(next((spot for spot in spots if frame.has_room_for(spot, taken)), spots[0]))
    for layer, spot in zip(layers, taken, strict=True):
        frame.sheet.text("ink", spot, layer.letter, anchor="middle", bold=True, halo=True)
