"""The picture of trade-offs: the best value over λ by each index, and below it the thresholds that reach it.

Knows the result of `tradeoffs`, not how it was evaluated.
"""

from collections.abc import Iterator

import numpy as np

from service.charts.legend import Entry, finished, listed, put_legend, put_title
from service.charts.picture import Picture
from service.charts.plane import BOTTOM, HEADING, LEFT, RIGHT, TOP, Plane
from service.charts.svg import Sheet, fitted
from service.charts.theme import dash, hue
from service.curves.arrays import FloatArray, IntArray
from service.curves.indices import INDICES, Rows
from service.curves.thinning import Line, thinned
from service.curves.tradeoff import OptimalCurve, Tradeoff, Tradeoffs

_THRESHOLDS_HIGH = 90
"""Pixels: the height of the strip of thresholds."""

_PER_PIXEL = 4
_READ_AT = (0.2, 0.5, 0.8)
"""The λ at which the description reads a curve."""

_WHOLE_TITLE = "Best value for each trade-off between precision and recall"


def tradeoffs_picture(result: Tradeoffs, picture: Picture) -> str:
    """Draw the optimal trade-off curves."""
    sheet = Sheet(picture.theme, LEFT + picture.side + RIGHT)
    top = put_title(sheet, picture.title)
    plane = Plane.square(sheet, 0, top, picture.side)
    plane.axes("Best value", "λ, the weight of recall", "Value")
    entries = []
    for number, (name, tradeoff) in enumerate(result.tradeoffs.items()):
        line = _optimal_line(tradeoff.optimal, name, result.positives, picture.side)
        plane.line(hue(number), line.x, line.y, dash=dash(number), wide=2)
        entries.append(Entry(_legend(name, tradeoff), hue(number), dash=dash(number)))
    end = plane.bottom + BOTTOM
    thresholds = _thresholds(result, picture.side)
    if thresholds is not None:
        end = _draw_thresholds(sheet, thresholds, next(iter(result.tradeoffs)), end)
    end = put_legend(sheet, 16, end + 6, sheet.width - 32, entries)
    return finished(sheet, end, picture.title or _WHOLE_TITLE, _description(result), result.warnings)


def _legend(name: str, tradeoff: Tradeoff) -> str:
    text = f"{name}, area {tradeoff.area:.4f}"
    if tradeoff.uninformative_from is None:
        return text
    return f"{text}; from λ {tradeoff.uninformative_from:.3g} on, calling everything positive is best"


def _optimal_line(optimal: OptimalCurve, name: str, positives: float, side: float) -> Line:
    """The best value at four λ per pixel, and where the best row changes."""
    weight, row = _read(optimal, side)
    rows = Rows(optimal.tp, optimal.fp, positives).scaled[row]
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        value = np.minimum(INDICES[name].value(rows, weight, 1 - weight), 1.0)
    kept = thinned(weight * side, value * side)
    return Line(weight[kept], value[kept])


def _read(optimal: OptimalCurve, side: float) -> tuple[FloatArray, IntArray]:
    """The λ to draw, ascending, and the best row at each."""
    start, end = optimal.lambda_from[0], optimal.lambda_to[-1]
    weight = np.linspace(start, end, int(side * _PER_PIXEL * (end - start)) + 2)
    if optimal.lambda_to.size < weight.size:
        weight = np.union1d(weight, optimal.lambda_to)
    return weight, np.minimum(optimal.lambda_to.searchsorted(weight), optimal.lambda_to.size - 1)


def _thresholds(result: Tradeoffs, side: float) -> Line | None:
    """The best thresholds by the first index that has any, as steps over λ."""
    optimal = next(iter(result.tradeoffs.values())).optimal
    weight, row = _read(optimal, side)
    threshold = optimal.threshold[row]
    known = np.isfinite(threshold)
    if not known.any():
        return None
    # A step goes straight down where the row changes.
    weight, threshold = weight[known], threshold[known]
    changes = np.flatnonzero(threshold[1:] != threshold[:-1]) + 1
    return Line(np.insert(weight, changes, weight[changes - 1]), np.insert(threshold, changes, threshold[changes]))


def _draw_thresholds(sheet: Sheet, steps: Line, index: str, top: float) -> float:
    """Draw the strip of thresholds, and return the height below it."""
    least, most = float(steps.y.min()), float(steps.y.max())
    plane = Plane(sheet, LEFT, top + TOP, sheet.width - LEFT - RIGHT, _THRESHOLDS_HIGH)
    heading = fitted(f"Best threshold by {index}", plane.wide, 14)
    sheet.text("ink", (LEFT, plane.top - HEADING), heading, size=13, bold=True)
    # Halved first: thresholds may differ by more than the greatest double.
    middle, half = least / 2 + most / 2, most / 2 - least / 2
    heights = (steps.y / 2 - middle / 2) / half + 0.5 if half > 0 else np.full(steps.y.size, 0.5)
    for height in (0, 0.5, 1):
        plane.line("grid", [0, 1], [height, height])
    # Thresholds fall as recall weighs more, so these corners are free for numbers of any length.
    sheet.text("soft", (plane.at(1, 1)[0] - 2, plane.top + 12), f"{most:.4g}", anchor="end", size=11)
    sheet.text("soft", (LEFT + 2, plane.bottom - 4), f"{least:.4g}", size=11)
    kept = thinned(steps.x * plane.wide, heights * plane.high)
    plane.line(hue(0), steps.x[kept], heights[kept], wide=2)
    return plane.bottom + 8


def _description(result: Tradeoffs) -> Iterator[str]:
    """Describe the picture in words."""
    yield f"{result.positives:.17g} positives and {result.negatives:.17g} negatives."
    yield "λ, the weight of recall, runs from 0, precision alone, to 1, recall alone."
    for name, tradeoff in result.tradeoffs.items():
        yield f"By {_legend(name, tradeoff)}."
        optimal = tradeoff.optimal
        rows = optimal.lambda_to.searchsorted(_READ_AT).clip(0, optimal.lambda_to.size - 1).tolist()
        best = [
            f"{'none' if np.isnan(optimal.threshold[row]) else f'{optimal.threshold[row]:.4g}'} at λ {at:g}"
            for at, row in zip(_READ_AT, rows, strict=True)
            if optimal.lambda_from[0] <= at <= optimal.lambda_to[-1]
        ]
        if best:
            yield f"The best threshold is {listed(best)}."
