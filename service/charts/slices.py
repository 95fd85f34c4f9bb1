"""The picture of slices: a dot for the area of each, worst first, with its interval, and a line for the whole sample.

The worst are named in the legend, and marked with letters if there is room. Knows the result of `slices`, not how it
was evaluated.
"""

import string
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from service.charts.figure import Block, Figure
from service.charts.legend import Layer, points
from service.charts.picture import Picture
from service.charts.plane import Plane
from service.charts.svg import named
from service.charts.theme import hue
from service.charts.wording import decimals, totals, worst_first
from service.curves.exact import FloatArray, IntArray
from service.curves.thinning import Line
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
    return Figure(
        name="Areas of slices",
        opening=f"{totals(result.overall.positives, result.overall.negatives)} in {result.rows.size} slices.",
        columns=[_column(result, name, picture.side) for name in picture.planes],
        warnings=result.warnings,
    )


def _column(result: Sliced, name: str, side: int) -> list[Block]:
    """A plane with one area of all slices, and its legend."""
    order = worst_first(getattr(result.areas, name))
    values = getattr(result.areas, name)[order]
    at = (np.arange(order.size) + 0.5) / max(order.size, 1)
    layers = [
        _dots(at, values, side, Layer(f"{order.size} slices, a dot each", hue(0), wide=5, more=_range(values))),
        *_worst(result, order, Line(at, values), lettered=side >= _PER_LETTER * order.size),
    ]
    overall = getattr(result.overall.curves.auc, name)
    if overall is not None:
        whole = [points([0, 1], [overall] * 2)]
        layers.append(Layer(f"All rows together, {decimals(overall)}", hue(1), dash="7 3", shapes=whole))
    if result.intervals is not None:
        lower, upper = (ends[order] for ends in result.intervals[name])
        layers += _intervals(at, lower, upper, side)
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
    rows = zip(order.tolist(), dots.x.tolist(), dots.y.tolist(), strict=True)
    texts = [(f"{_name(result, number)} {decimals(y)}", x, y) for number, x, y in list(rows)[:_MOST_NAMED]]
    if lettered:
        for letter, (text, x, y) in zip(string.ascii_lowercase, texts, strict=False):
            yield Layer.dot(letter, x, y, text, hue(0))
    elif texts:
        yield Layer.note(f"The worst: {'; '.join(text for text, _, _ in texts)}")


def _intervals(at: FloatArray, lower: FloatArray, upper: FloatArray, side: int) -> Iterator[Layer]:
    """A bar for each interval or, if there are too many, their ends as dots."""
    known = ~np.isnan(lower)
    at, lower, upper = at[known], lower[known], upper[known]
    if at.size * _PER_BAR > side:
        ends = Layer("The ends of their intervals", wide=1.5)
        yield _dots(np.tile(at, 2), np.concatenate((lower, upper)), side, ends)
    elif at.size:
        bars = zip(at.tolist(), lower.tolist(), upper.tolist(), strict=True)
        yield Layer("Their intervals", wide=1, shapes=[points([x, x], ends) for x, *ends in bars])


def _dots(x: FloatArray, y: FloatArray, side: int, layer: Layer) -> Layer:
    """A layer with one of the dots on each pixel."""
    pixels = np.rint(np.stack((x, y)) * side)
    shown = np.sort(np.unique(pixels, axis=1, return_index=True)[1])
    return replace(layer, sign="dots", shapes=[Line(x[shown], y[shown])])


def _name(result: Sliced, number: int) -> str:
    values = ((name, column[number]) for name, column in result.keys.items())
    return ", ".join(f"{named(name)} {'(missing)' if value is None else named(str(value))}" for name, value in values)
