"""The picture of classes: curves of each class against the rest; if there are many, only of the worst.

Knows the result of `classes`, not how it was evaluated.
"""

from collections.abc import Iterator

import numpy as np

from service.charts.curves import draw_table
from service.charts.legend import Entry, finished, put_legend, put_title
from service.charts.picture import Picture
from service.charts.plane import BOTTOM, LEFT, RIGHT, TOP, Plane
from service.charts.slices import worst_first
from service.charts.svg import Sheet, named
from service.charts.theme import dash, hue
from service.curves.classes import AVERAGES, Classes

MOST_DRAWN = 8
"""The most curves that a reader can distinguish."""

_PLANES = {
    "roc": ("ROC", "False positive rate", "True positive rate"),
    "pr": ("Precision-recall", "Recall", "Precision"),
}


def classes_picture(result: Classes, picture: Picture) -> str:
    """Draw the curves of classes."""
    if result.drawings is None:
        raise ValueError("These classes were evaluated without drawings.")
    column = LEFT + picture.side + RIGHT
    sheet = Sheet(picture.theme, column * len(picture.planes))
    top = put_title(sheet, picture.title)
    end = top + TOP
    for place, name in enumerate(picture.planes):
        plane = Plane.square(sheet, place * column, top, picture.side)
        plane.axes(*_PLANES[name])
        if name == "roc":
            plane.line("soft", [0, 1], [0, 1], dash="2 4")
        shown, _ = _worst(result, name)
        for row, number in enumerate(shown):
            drawn = result.drawings[number]
            if drawn is not None:
                draw_table(plane, drawn, name, hue(row), dash=dash(row))
        below, left = plane.bottom + BOTTOM + 6, place * column + 16
        end = max(end, put_legend(sheet, left, below, column - 32, _entries(result, name)))
    return finished(sheet, end, picture.title or "Curves of classes", _description(result, picture), result.warnings)


def _worst(result: Classes, name: str) -> tuple[list[int], str]:
    """The classes to draw, those with the least area, in the order of the request; and a text about the others."""
    order = worst_first(getattr(result.areas, name)).tolist()
    left = len(order) - MOST_DRAWN
    others = f"{left} classes with larger areas are not drawn" if left > 0 else ""
    return sorted(order[:MOST_DRAWN]), "1 class with a larger area is not drawn" if left == 1 else others


def _entries(result: Classes, name: str) -> Iterator[Entry]:
    """The legend of a plane: the curves, the number omitted, and the averages."""
    values = getattr(result.areas, name)
    shown, others = _worst(result, name)
    for row, number in enumerate(shown):
        yield Entry(f"{named(result.names[number])} {values[number]:.4f}", hue(row), dash=dash(row))
    if others:
        yield Entry(others, sign="none")
    yield Entry(f"Averages: {_averages(result, name)}", sign="none")


def _averages(result: Classes, name: str) -> str:
    values = getattr(result.averages, name).tolist()
    return ", ".join(f"{average} {_written(value)}" for average, value in zip(AVERAGES, values, strict=True))


def _written(value: float) -> str:
    return "none" if np.isnan(value) else f"{value:.4f}"


def _description(result: Classes, picture: Picture) -> Iterator[str]:
    """Describe the picture in words."""
    yield f"{len(result.names)} classes, each against the rest."
    for name in picture.planes:
        values = getattr(result.areas, name)
        shown, others = _worst(result, name)
        areas = "; ".join(f"{named(result.names[number])} {values[number]:.4f}" for number in shown)
        more = f"; {others}" if others else ""
        yield f"{_PLANES[name][0]}, areas: {areas or 'none'}{more}. Averages: {_averages(result, name)}."
    if result.hand_till is not None:
        yield f"Hand and Till: {_written(result.hand_till)}."
