"""The picture of classes: curves of each class against the rest; if there are many, only of the worst.

Knows the result of `classes`, not how it was evaluated.
"""

from service.charts.curve_planes import curve, rates_plane
from service.charts.figure import Block, Figure
from service.charts.legend import Layer, Legend
from service.charts.picture import Picture
from service.charts.svg import named
from service.charts.theme import dash, hue
from service.charts.wording import decimals, worst_first
from service.curves.classes import AVERAGES, Classes
from service.curves.drawing import DrawnTable

MOST_DRAWN = 8
"""The most curves that a reader can distinguish."""


def classes_figure(result: Classes, picture: Picture) -> Figure:
    """State the curves of classes."""
    if result.drawings is None:
        raise ValueError("These classes were evaluated without drawings.")
    pairs = "" if result.hand_till is None else f" Hand and Till: {decimals(result.hand_till)}."
    opening = f"{len(result.names)} classes, each against the rest.{pairs}"
    columns = [_column(result, result.drawings, name) for name in picture.planes]
    return Figure("Curves of classes", opening, columns, result.warnings)


def _column(result: Classes, drawings: tuple[DrawnTable | None, ...], name: str) -> list[Block]:
    """A plane with the curves of least area, in the order of the request, and its legend."""
    areas = getattr(result.areas, name)
    order = worst_first(areas).tolist()
    layers = [
        curve(table, name, Layer(f"{named(result.names[number])} {decimals(areas[number])}", hue(row), dash=dash(row)))
        for row, number in enumerate(sorted(order[:MOST_DRAWN]))
        if (table := drawings[number]) is not None
    ]
    left = len(order) - MOST_DRAWN
    others = "1 class with a larger area is" if left == 1 else f"{left} classes with larger areas are"
    averages = zip(AVERAGES, getattr(result.averages, name).tolist(), strict=True)
    written = ", ".join(f"{average} {decimals(value)}" for average, value in averages)
    plane = rates_plane(name, layers[::-1])  # dashes show what they cover
    omitted = [Layer.note(f"{others} not drawn")] * (left > 0)
    return [plane, Legend([*layers, *omitted, Layer.note(f"Averages: {written}")], plane.heading)]
