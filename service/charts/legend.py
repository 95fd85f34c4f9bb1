"""What a picture shows, one layer for each thing, and the legend that explains the layers.

A layer states once what a thing is and how it looks: planes draw it, legends show a sample of it, and the description
in words repeats its text. Knows sheets; nothing of results.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from service.charts.svg import SIZE, Sheet, wrapped
from service.curves.simplification import Line

EDGE = 16
"""Pixels between the edge of a picture and its texts."""

SMALL, LARGE = 11, 15
"""Pixels: the sizes of other texts than those of SIZE."""

_INDENTS = {"none": 0, "word": 92}
_SAMPLE, _INDENT = 24, 32
"""Pixels: the width of a layer's sample, and where its text begins."""


@dataclass(frozen=True, slots=True, eq=False)
class Layer:
    """One thing in a picture.

    text    what it is; empty if it needs no explanation.
    series  the CSS class of its colour.
    wide    the width of its lines or dots, in pixels.
    sign    line, dots, ring (a dot that stands out), band, area (through which others can be seen), word, or none for a
            text alone.
    letter  beside its ring, or the word.
    more    what the description adds to the text.
    size    of the text.
    shapes  polylines, the places of dots, opposite corners of bands, or the corners of areas, in [0, 1].
    """

    text: str = ""
    series: str = "soft"
    wide: float = 2
    dash: str = ""
    sign: str = "line"
    letter: str = ""
    more: str = ""
    size: float = SIZE
    shapes: Sequence[Line] = ()

    @classmethod
    def note(cls, text: str, series: str = "ink", size: float = SIZE) -> "Layer":
        """A text without anything to see."""
        return cls(text, series, sign="none", size=size)

    @classmethod
    def dot(cls, letter: str, x: float, y: float, text: str = "", series: str = "ink") -> "Layer":
        """A dot with a letter."""
        return cls(text, series, sign="ring", letter=letter, shapes=[points([x], [y])])


def points(x: Sequence[float], y: Sequence[float]) -> Line:
    """Make a shape of a few points."""
    return Line(np.array(x, dtype=np.float64), np.array(y, dtype=np.float64))


@dataclass(frozen=True, slots=True, eq=False)
class Legend:
    """The texts of layers, each after a sample of it.

    heading  of the plane that has these layers; the description begins with it unless the first text does.
    silent   whether it explains only how to look at the picture, which no description needs.
    """

    layers: Sequence[Layer]
    heading: str = ""
    columns: int = 1
    silent: bool = False

    def put(self, sheet: Sheet, left: float, top: float, wide: float) -> float:
        """Draw it, and return the height below it."""
        shown = [layer for layer in self.layers if layer.text]
        rows, room = -(-len(shown) // self.columns), wide / self.columns
        ends = [top]
        for column in range(self.columns if shown else 0):
            end = top
            for layer in shown[column * rows : (column + 1) * rows]:
                end = _put_entry(sheet, layer, left + column * room + EDGE, end, room - 2 * EDGE)
            ends.append(end + 4)
        return max(ends)

    def said(self) -> Iterator[str]:
        """The texts as sentences."""
        heading = self.heading
        for layer in self.layers if not self.silent else ():
            if layer.sign == "word":
                heading = layer.letter.split()[-1].capitalize()
            for text in filter(None, (layer.text, layer.more)):
                begins = f"{heading}: " if heading and not text.startswith(heading) else ""
                yield f"{begins}{text.removesuffix('.')}."
                heading = ""


def _put_entry(sheet: Sheet, layer: Layer, left: float, top: float, room: float) -> float:
    """Put the sample and the text of a layer, and return the height below them."""
    middle, base, indent = top + 7, top + 11, _INDENTS.get(layer.sign, _INDENT)
    if layer.sign == "line":
        cap = layer.wide / 2
        sheet.line(layer.series, [left + cap, left + _SAMPLE - cap], [middle] * 2, wide=layer.wide, dash=layer.dash)
    elif layer.sign == "band":
        sheet.box(layer.series, (left, top), (_SAMPLE, 14))
    elif layer.sign == "area":
        sheet.area(layer.series, [left, left + _SAMPLE, left + _SAMPLE, left], [top, top, top + 14, top + 14])
    elif layer.sign == "word":
        base += 8  # it begins a paragraph
        sheet.text(layer.series, (left, base), layer.letter, bold=True)
    elif layer.sign != "none":
        sheet.ring(layer.series, (left + 6, middle))
        sheet.text(layer.series, (left + 14, base), layer.letter, bold=True)
    series, bold = layer.series if layer.sign == "none" else "ink", layer.size == LARGE
    for line in wrapped(layer.text, room - indent, most=5, size=layer.size):
        sheet.text(series, (left + indent, base), line, size=layer.size, bold=bold)
        base += 1.5 * layer.size
    return base - 11
