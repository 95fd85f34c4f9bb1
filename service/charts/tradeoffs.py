"""The picture of trade-offs: the best value over λ by each index, and below it the thresholds that reach it.

Knows the result of `tradeoffs`, not how it was evaluated.
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from service.charts.figure import Block, Figure
from service.charts.legend import Layer, Legend, points
from service.charts.picture import Picture
from service.charts.plane import Caption, Plane
from service.charts.theme import dash, hue
from service.charts.wording import listed, totals
from service.curves.arrays import FloatArray, IntArray
from service.curves.indices import INDICES, Rows
from service.curves.simplification import Line, simplify
from service.curves.tradeoff import OptimalCurve, Tradeoff, Tradeoffs

_THRESHOLDS_HIGH = 90
"""Pixels: the height of the strip of thresholds."""

_PER_PIXEL = 4
_TITLE = "Best value for each trade-off between precision and recall"
_LAMBDA = "λ, the weight of recall, runs from 0, precision alone, to 1, recall alone."
_READ_AT = (0.2, 0.5, 0.8)
"""The λ at which the description reads a curve."""


def tradeoffs_figure(result: Tradeoffs, picture: Picture) -> Figure:
    """State the optimal trade-off curves."""
    layers = [
        replace(_layer(name, tradeoff, result, picture.side), series=hue(number), dash=dash(number))
        for number, (name, tradeoff) in enumerate(result.tradeoffs.items())
    ]
    plane = Plane("Best value", layers[::-1], "λ, the weight of recall", "Value", "{:g}".format)
    column: list[Block] = [plane, *_strip(result, picture.side), Legend(layers, plane.heading)]
    return Figure(
        _TITLE, f"{totals(result.positives, result.negatives, result.target)}. {_LAMBDA}", [column], result.warnings
    )


def _layer(name: str, tradeoff: Tradeoff, result: Tradeoffs, side: float) -> Layer:
    """The best values by an index, with their area, and in words the best thresholds."""
    optimal, text = tradeoff.optimal, f"{name}, area {tradeoff.area:.4f}"
    if tradeoff.uninformative_from is not None:
        text += f"; from λ {tradeoff.uninformative_from:.3g} on, calling everything positive is best"
    rows = optimal.lambda_to.searchsorted(_READ_AT).clip(0, optimal.lambda_to.size - 1)
    best = [
        f"{'none' if np.isnan(threshold) else f'{threshold:.4g}'} at λ {at:g}"
        for at, threshold in zip(_READ_AT, optimal.threshold[rows].tolist(), strict=True)
        if optimal.lambda_from[0] <= at <= optimal.lambda_to[-1]
    ]
    more = f"The best threshold is {listed(best)}" if best else ""
    return Layer(text, more=more, shapes=[_optimal_line(optimal, name, result, side)])


def _optimal_line(optimal: OptimalCurve, name: str, result: Tradeoffs, side: float) -> Line:
    """The best value at four λ per pixel, and where the best row changes."""
    weight, row = _read(optimal, side)
    rows = Rows(optimal.tp, optimal.fp, result.positives)[row]
    if result.target is not None:  # an index depends on precision and recall only
        rows = Rows(optimal.recall, optimal.recall * (1 / optimal.precision - 1), 1.0)[row]
    value = np.minimum(INDICES[name].value(rows, weight, 1 - weight), 1.0)
    kept = simplify(weight * side, value * side)
    return Line(weight[kept], value[kept])


def _read(optimal: OptimalCurve, side: float) -> tuple[FloatArray, IntArray]:
    """The λ to draw, ascending, and the best row at each."""
    start, end = optimal.lambda_from[0], optimal.lambda_to[-1]
    weight = np.linspace(start, end, int(side * _PER_PIXEL * (end - start)) + 2)
    if optimal.lambda_to.size < weight.size:
        weight = np.union1d(weight, optimal.lambda_to)
    return weight, np.minimum(optimal.lambda_to.searchsorted(weight), optimal.lambda_to.size - 1)


def _strip(result: Tradeoffs, side: float) -> Iterator[Plane]:
    """A strip with the best thresholds by the first index, as steps over λ from the least to the greatest, if any."""
    index, tradeoff = next(iter(result.tradeoffs.items()))
    weight, row = _read(tradeoff.optimal, side)
    threshold = tradeoff.optimal.threshold[row]
    known = np.isfinite(threshold)
    if not known.any():
        return
    # A step goes straight down where the row changes.
    weight, threshold = weight[known], threshold[known]
    changes = np.flatnonzero(threshold[1:] != threshold[:-1]) + 1
    x, y = np.insert(weight, changes, weight[changes - 1]), np.insert(threshold, changes, threshold[changes])
    least, most = float(y.min()), float(y.max())
    # Halved first: thresholds may differ by more than the greatest double.
    middle, half = least / 2 + most / 2, most / 2 - least / 2
    heights = (y / 2 - middle / 2) / half + 0.5 if half > 0 else np.full(y.size, 0.5)
    kept = simplify(x * side, heights * _THRESHOLDS_HIGH)
    steps = Layer(series=hue(0), shapes=[Line(x[kept], heights[kept])])
    grid = Layer(series="grid", wide=1, shapes=[points([0, 1], [height, height]) for height in (0, 0.5, 1)])
    # Thresholds fall as recall weighs more, so these corners are free for numbers of any length.
    captions = [Caption(f"{most:.4g}", (1, 1), (-2, 12), "end"), Caption(f"{least:.4g}", (0, 0), (2, -4), "start")]
    yield Plane(f"Best threshold by {index}", [steps, grid], high=_THRESHOLDS_HIGH, captions=captions)
