"""The picture of slices: a dot for the area of each, worst first, with its interval, and a line for the whole sample.

The worst are named in the legend, and marked with letters if there is room. Knows the result of `slices`, not how it
was evaluated.
"""

import string
from collections.abc import Iterator

import numpy as np

from service.charts.figure import Block, Figure
from service.charts.legend import Layer, points
from service.charts.picture import Picture
from service.charts.plane import Plane
from service.charts.svg import named
from service.charts.theme import hue
from service.charts.wording import decimals, totals, worst_first
from service.curves.arrays import FloatArray, IntArray
from service.curves.simplification import Line
from service.inference.sliced import Sliced

_AREA_TITLES = {"roc": "ROC area", "pr": "PR area"}
_PER_BAR = 3
"""Pixels that the bar of an interval needs."""

_PER_LETTER = 18
"""Pixels that a letter next to its dot needs."""

_MOST_NAMED = 5
"""The number of worst slices that have names."""


def slices_figure(result: Sliced, picture: Picture) -> Figure:
    """State the areas of slices."""
    overall = result.overall
    opening = f"{totals(overall.positives, overall.negatives, overall.target)} in {result.rows.size} slices."
    columns = [_column(result, name, picture.side) for name in picture.planes]
    return Figure("Areas of slices", opening, columns, result.warnings)


def _column(result: Sliced, name: str, side: int) -> list[Block]:
    """A plane with one area of all slices, and its legend."""
    order = worst_first(getattr(result.areas, name))
    values = getattr(result.areas, name)[order]
    dots = Line((np.arange(order.size) + 0.5) / max(order.size, 1), values)
    text = f"{order.size} slices, a dot each"
    layers = [
        Layer(text, hue(0), wide=5, sign="dots", more=_range(values), shapes=[dots]),
        *_worst(result, order, dots, lettered=side >= _PER_LETTER * order.size),
    ]
    whole = getattr(result.overall.curves.auc, name)
    if whole is not None:
        line = points([0, 1], [whole, whole])
        layers.append(Layer(f"All rows together, {decimals(whole)}", hue(1), dash="7 3", shapes=[line]))
    if result.intervals is not None:
        lower, upper = (ends[order] for ends in result.intervals[name])
        layers += _intervals(dots.x, lower, upper, side)
    plane = Plane(_AREA_TITLES[name], layers, "Slices, worst first", "Area")
    return [plane, plane.legend()]


def _range(values: FloatArray) -> str:
    """Describe the areas, (s,) ascending."""
    if not values.size:
        return ""
    least, middle, most = map(decimals, (values[0], np.median(values), values[-1]))
    return f"Their areas go from {least} to {most}, half below {middle}"


def _worst(result: Sliced, order: IntArray, dots: Line, *, lettered: bool) -> Iterator[Layer]:
    """Name the worst slices, and put a letter by their dots if there is room."""
    rows = zip(order.tolist()[:_MOST_NAMED], dots.x.tolist(), dots.y.tolist(), strict=False)
    worst = [(f"{_name(result, number)} {decimals(y)}", x, y) for number, x, y in rows]
    if lettered:
        named_dots = zip(string.ascii_lowercase, worst, strict=False)
        yield from (Layer.dot(letter, x, y, text, hue(0)) for letter, (text, x, y) in named_dots)
    elif worst:
        yield Layer.note(f"The worst: {'; '.join(text for text, _, _ in worst)}")


def _intervals(at: FloatArray, lower: FloatArray, upper: FloatArray, side: int) -> Iterator[Layer]:
    """A bar for each interval or, if there are too many, their ends as dots."""
    known = ~np.isnan(lower)
    at, lower, upper = at[known], lower[known], upper[known]
    if at.size * _PER_BAR > side:
        ends = Line(np.tile(at, 2), np.concatenate((lower, upper)))
        yield Layer("The ends of their intervals", wide=1.5, sign="dots", shapes=[ends])
    elif at.size:
        bars = zip(at.tolist(), lower.tolist(), upper.tolist(), strict=True)
        yield Layer("Their intervals", wide=1, shapes=[points([x, x], ends) for x, *ends in bars])


def _name(result: Sliced, number: int) -> str:
    values = ((name, column[number]) for name, column in result.keys.items())
    return ", ".join(f"{named(name)} {'(missing)' if value is None else named(str(value))}" for name, value in values)
