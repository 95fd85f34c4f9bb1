"""The picture of slices: a dot for the area of each, worst first, with its interval, and a line for the whole sample.

The worst are named in the legend, and marked with letters if there is room.

Knows the result of `slices`, not how it was evaluated.
"""

import string
from collections.abc import Iterator

import numpy as np

from service.charts.legend import Entry, finished, put_legend, put_title
from service.charts.picture import Picture
from service.charts.plane import BOTTOM, LEFT, RIGHT, Plane
from service.charts.svg import Sheet, named
from service.charts.theme import hue
from service.curves.arrays import FloatArray, IntArray
from service.inference.sliced import Sliced

_AREA_TITLES = {"roc": "ROC area", "pr": "PR area"}
_DOT_SIZE = 5
_PER_BAR = 3
"""Pixels that the bar of an interval needs."""

_PER_LETTER = 18
"""Pixels that a letter next to its dot needs."""

_MOST_NAMED = 5
"""The number of worst slices that have names."""


def slices_picture(result: Sliced, picture: Picture) -> str:
    """Draw the areas of slices."""
    column = LEFT + picture.side + RIGHT
    sheet = Sheet(picture.theme, column * len(picture.planes))
    top = put_title(sheet, picture.title)
    end = top
    for place, name in enumerate(picture.planes):
        plane = Plane.square(sheet, place * column, top, picture.side)
        plane.axes(_AREA_TITLES[name], "slices, worst first", "Area", named=lambda _: "")
        entries = list(_draw(plane, result, name))
        end = max(end, put_legend(sheet, place * column + 16, plane.bottom + BOTTOM + 6, column - 32, entries))
    return finished(sheet, end, picture.title or "Areas of slices", _description(result, picture), result.warnings)


def _draw(plane: Plane, result: Sliced, name: str) -> Iterator[Entry]:
    """Draw one area, and return its entries in the legend."""
    order = worst_first(getattr(result.areas, name))
    values = getattr(result.areas, name)[order]
    at = (np.arange(order.size) + 0.5) / max(order.size, 1)
    if result.intervals is not None:
        yield from _draw_intervals(plane, at, *(ends[order] for ends in result.intervals[name]))
    overall = getattr(result.overall.curves.auc, name)
    if overall is not None:
        plane.line(hue(1), [0, 1], [overall, overall], wide=2, dash="7 3")
    shown = _one_dot_per_pixel(plane, at, values)
    plane.dots(hue(0), at[shown], values[shown], _DOT_SIZE)
    yield Entry(f"{order.size} slices, a dot each", hue(0), sign="dot")
    yield from _name_worst(plane, result, order, at, values)
    if overall is not None:
        yield Entry(f"All rows together, {overall:.4f}", hue(1), dash="7 3")


def _name_worst(plane: Plane, result: Sliced, order: IntArray, at: FloatArray, values: FloatArray) -> Iterator[Entry]:
    """Name the worst slices, and put a letter by their dots if there is room."""
    worst = [f"{_name(result, order[rank])} {values[rank]:.4f}" for rank in range(min(order.size, _MOST_NAMED))]
    if plane.wide < _PER_LETTER * order.size:
        yield Entry(f"The worst: {'; '.join(worst)}", sign="none")
        return
    for letter, name, x, value in zip(string.ascii_lowercase, worst, at.tolist(), values.tolist(), strict=False):
        left, top = plane.at(x, value)
        plane.sheet.ring(hue(0), (left, top), 4)
        plane.sheet.text("ink", (left + 7, top + 4), letter, bold=True, halo=True)
        yield Entry(name, hue(0), sign="dot", letter=letter)


def _draw_intervals(plane: Plane, at: FloatArray, lower: FloatArray, upper: FloatArray) -> Iterator[Entry]:
    """Draw a bar for each interval or, if there are too many, their ends as dots."""
    known = np.flatnonzero(~np.isnan(lower))
    if not known.size:
        return
    if known.size * _PER_BAR <= plane.wide:
        for row in known.tolist():
            plane.line("soft", [at[row], at[row]], [lower[row], upper[row]])
        yield Entry("their intervals", "soft")
        return
    for ends in (lower[known], upper[known]):
        shown = _one_dot_per_pixel(plane, at[known], ends)
        plane.dots("soft", at[known][shown], ends[shown], 1.5)
    yield Entry("the ends of their intervals", "soft", sign="dot")


def worst_first(values: FloatArray) -> IntArray:
    """The slices or classes that have an area, least first."""
    order = np.argsort(values, kind="stable")  # puts NaN last
    return order[: int(np.count_nonzero(~np.isnan(values)))]


def _one_dot_per_pixel(plane: Plane, at: FloatArray, values: FloatArray) -> IntArray:
    """One of the dots on each pixel."""
    pixels = np.rint(plane.x(at)).astype(np.int64) * (1 << 20) + np.rint(plane.y(values)).astype(np.int64)
    return np.sort(np.unique(pixels, return_index=True)[1])


def _description(result: Sliced, picture: Picture) -> Iterator[str]:
    """Describe the picture in words."""
    overall = result.overall
    yield f"{overall.positives:.17g} positives and {overall.negatives:.17g} negatives in {result.rows.size} slices."
    for name in picture.planes:
        values = getattr(result.areas, name)
        order = worst_first(values)
        whole = getattr(overall.curves.auc, name)
        yield f"{_AREA_TITLES[name]}: {'none' if whole is None else f'{whole:.4f}'} of all rows together."
        if order.size:
            middle = float(np.median(values[order]))
            least, most = values[order[0]], values[order[-1]]
            yield f"{order.size} slices have this area, from {least:.4f} to {most:.4f}, half below {middle:.4f}."
            worst = [f"{_name(result, number)} {values[number]:.4f}" for number in order[:_MOST_NAMED].tolist()]
            yield f"The worst: {'; '.join(worst)}."


def _name(result: Sliced, number: int) -> str:
    values = {name: column[number] for name, column in result.keys.items()}
    return ", ".join(f"{named(name)} {_shown(value)}" for name, value in values.items())


def _shown(value: object) -> str:
    return "(missing)" if value is None else named(str(value))
