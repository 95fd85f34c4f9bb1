"""A figure: everything that a picture states, each thing once, before anything is drawn.

A chart makes a figure of a result. Its columns, side by side, are stacks of planes and legends; its notes are below all
of them. Two drawings read it: SVG here, whose description in words is what the blocks say, and characters in
terminal.py. Knows the options of pictures and the warnings of results, nothing else of them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TypeAlias

from service.charts.legend import EDGE, LARGE, SMALL, Layer, Legend
from service.charts.picture import Picture
from service.charts.plane import LEFT, RIGHT, Plane
from service.charts.svg import Sheet, wrapped
from service.curves.evaluation import CurvesWarning

Block: TypeAlias = Plane | Legend

_BOLD = 1.16
"""How much wider bold letters are, in a font whose bold is as wide as that of DejaVu Sans."""


@dataclass(frozen=True, slots=True, eq=False)
class Figure:
    """What a picture states.

    name     its title for screen readers, if none was requested.
    opening  the first sentences of its description.
    columns  blocks from top to bottom, for each column.
    notes    blocks below the columns, as wide as all of them.
    """

    name: str
    opening: str
    columns: Sequence[Sequence[Block]]
    warnings: tuple[CurvesWarning, ...]
    notes: Sequence[Block] = ()

    def svg(self, picture: Picture) -> str:
        """Draw it."""
        column = LEFT + picture.side + RIGHT
        sheet = Sheet(picture.theme, column * len(self.columns))
        top = _put_title(sheet, picture.title)
        warned = [Layer.note(f"Warning: {each.code}. {each.detail}", "undecided", SMALL) for each in self.warnings]
        below = (*self.notes, Legend(warned))
        end = max(_stacked(sheet, blocks, column * at, top, column) for at, blocks in enumerate(self.columns))
        sheet.height = _stacked(sheet, below, 0, end, sheet.width) + 6
        said = (sentence for block in chain(*self.columns, below) for sentence in block.said())
        return sheet.written(picture.title or self.name, [self.opening, *said])


def _stacked(sheet: Sheet, blocks: Sequence[Block], left: float, top: float, wide: float) -> float:
    """Draw blocks one below the other, and return the height below them."""
    for block in blocks:
        top = block.put(sheet, left, top, wide)
    return top


def _put_title(sheet: Sheet, title: str) -> float:
    """Put the title, if there is one, at the top, and return the height below it."""
    if not title:
        return 8
    lines = wrapped(title, sheet.width - 2 * EDGE, size=LARGE * _BOLD)
    for row, line in enumerate(lines):
        sheet.text("ink", (EDGE, 26 + 20 * row), line, size=LARGE, bold=True)
    return 16 + 20 * len(lines)
