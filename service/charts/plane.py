"""A plane with its axes: the place of its points on the sheet, its grid, ticks and names."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from service.charts.svg import Sheet
from service.curves.arrays import FloatArray

LEFT, RIGHT, TOP, BOTTOM = 50, 16, 28, 42
"""Margins in pixels: ticks and name of the vertical axis, heading, ticks and name of the horizontal axis."""

HEADING = 15
"""Pixels between a plane and its heading: room for a row of numbers."""

_FIFTHS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
_QUARTERS = (0.0, 0.25, 0.5, 0.75, 1.0)
_HALVES = (0.0, 0.5, 1.0)
_ROOM_FOR_FIFTHS = 200
_TICK_SIZE = 11


@dataclass(frozen=True, slots=True)
class Plane:
    """A plane on a sheet: its upper left corner and its size in pixels; both axes go from 0 to 1."""

    sheet: Sheet
    left: float
    top: float
    wide: float
    high: float

    @classmethod
    def square(cls, sheet: Sheet, column: float, top: float, side: float) -> "Plane":
        """A square plane whose margins start at this column and height."""
        return cls(sheet, column + LEFT, top + TOP, side, side)

    @property
    def bottom(self) -> float:
        """The height of its horizontal axis."""
        return self.top + self.high

    def x(self, values: FloatArray | list[float]) -> FloatArray:
        """The pixels of these values from the left."""
        return self.left + np.asarray(values) * self.wide

    def y(self, values: FloatArray | list[float]) -> FloatArray:
        """The pixels of these values from the top."""
        return self.top + (1 - np.asarray(values)) * self.high

    def at(self, x: float, y: float) -> tuple[float, float]:
        """The pixels of a point."""
        return float(self.x([x])[0]), float(self.y([y])[0])

    def has_room_for(self, spot: tuple[float, float]) -> bool:
        """Whether a letter, centred on a base line that starts at this pixel, lies within the plane."""
        x, y = spot
        return self.left + 6 <= x <= self.left + self.wide - 6 and self.top + 12 <= y <= self.bottom - 4

    def line(
        self, name: str, x: FloatArray | list[float], y: FloatArray | list[float], *, wide: float = 1, dash: str = ""
    ) -> None:
        """Draw a line."""
        self.sheet.line(name, self.x(x), self.y(y), wide=wide, dash=dash)

    def dots(self, name: str, x: FloatArray, y: FloatArray, wide: float) -> None:
        """Draw dots."""
        self.sheet.dots(name, self.x(x), self.y(y), wide)

    def axes(
        self,
        heading: str,
        level: str,
        upright: str,
        ticks: tuple[float, ...] | None = None,
        named: Callable[[float], str] = "{:g}".format,
    ) -> None:
        """Draw the grid, the ticks, and the names of the axes; `named` writes the ticks of the horizontal one, or "".

        A tick without text has only its line of the grid.
        """
        sheet, ticks = self.sheet, ticks or (_FIFTHS if self.wide >= _ROOM_FOR_FIFTHS else _QUARTERS)
        for tick in ticks:
            self.line("grid", [tick, tick], [0, 1])
            if text := named(tick):
                sheet.text("soft", (self.at(tick, 0)[0], self.bottom + 15), text, anchor="middle", size=_TICK_SIZE)
        for tick in ticks if self.high >= _ROOM_FOR_FIFTHS / 2 else _HALVES:
            self.line("grid", [0, 1], [tick, tick])
            sheet.text("soft", (self.left - 7, self.at(0, tick)[1] + 4), f"{tick:g}", anchor="end", size=_TICK_SIZE)
        sheet.text("ink", (self.left, self.top - HEADING), heading, size=13, bold=True)
        sheet.text("ink", (self.left + self.wide / 2, self.bottom + 33), level, anchor="middle")
        sheet.text("ink", (self.left - 36, self.top + self.high / 2), upright, anchor="middle", upright=True)
