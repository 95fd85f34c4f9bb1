"""The picture of a comparison: all curves with their joint hull, and strips that show which is best where.

Knows the result of `comparisons`, not how it was evaluated.
"""

from dataclasses import replace

import numpy as np

from service.charts.curve_planes import CURVE_NAMES, DASHED, curve, rates_plane
from service.charts.det import det_layer, det_plane, equal_error
from service.charts.figure import Block, Figure
from service.charts.legend import SMALL, Layer, Legend, points
from service.charts.picture import Picture
from service.charts.plane import FRAME, Caption, Plane
from service.charts.shares import gains_plane
from service.charts.svg import named, text_width
from service.charts.theme import dash, hue
from service.charts.wording import decimals, listed, totals
from service.curves.comparison import Best, Comparison
from service.curves.drawing import DrawnTable

_STRIP_HIGH = 16
"""Pixels: the height of a strip."""

_MOST_SHARED = 3
"""The most curves of equal rank stacked in a strip."""

_MOST_DESCRIBED = 8
"""The most intervals that the description lists."""


def comparisons_figure(result: Comparison, picture: Picture) -> Figure:
    """State a comparison: curves, or the best of them at each trade-off."""
    layers = [
        Layer(f"{number + 1}\xa0\xa0{named(name)}{_numbers(result, number, picture)}", hue(number), dash=dash(number))
        for number, name in enumerate(result.names)
    ]
    columns: list[list[Block]]
    if picture.chart == "best_tradeoff":
        title, best = "Best curve at each trade-off", [*result.best_tradeoff.items()]
        *strips, last = (_strip(index, each, f"Best {index} at λ", result, picture.side) for index, each in best)
        columns = [[*strips, replace(last, level="λ, the weight of recall", ticks="{:g}".format)]]
    elif picture.chart in {"gains", "det"}:
        make = _gains if picture.chart == "gains" else _det
        title, (layers, plane) = f"{CURVE_NAMES[picture.chart]}s", make(result, layers)
        columns = [[plane]]
    else:
        title = listed(f"{CURVE_NAMES[name]}s" for name in picture.planes)
        layers.append(Layer("All together: the joint hull", wide=1.25, dash=DASHED))
        columns = [_column(result, name, layers, picture.side) for name in picture.planes]
    notes = [Legend(layers, columns=len(columns))]
    return Figure(
        title, f"{totals(result.positives, result.negatives, result.target)}.", columns, result.warnings, notes
    )


def _numbers(result: Comparison, number: int, picture: Picture) -> str:
    """Write the areas of a curve that the planes show, or what another chart is summed up by."""
    words = {"roc": "ROC", "pr": "PR"}
    areas = result.auc[number]
    if picture.chart == "gains" and areas.roc is not None:
        return f", Gini\xa0{decimals(2 * areas.roc - 1)}"
    if picture.chart == "det" and (det := _drawings(result)[number].det) is not None and det.eer is not None:
        return f", EER\xa0{decimals(det.eer)}"
    return "".join(f", {words[name]}\xa0{decimals(getattr(areas, name))}" for name in picture.planes if name in words)


def _drawings(result: Comparison) -> tuple[DrawnTable, ...]:
    if result.drawings is None:
        raise ValueError("This comparison was made without drawings.")
    return result.drawings


def _prevalence(result: Comparison) -> float:
    return result.target or result.positives / (result.positives + result.negatives)


def _gains(result: Comparison, layers: list[Layer]) -> tuple[list[Layer], Plane]:
    """A plane of gains with these layers, and what its legend has."""
    prevalence, tables = _prevalence(result), _drawings(result)[:-1]
    drawn = [
        replace(curve(table, "roc", layer), shapes=[table.gains(prevalence)])
        for table, layer in zip(tables, layers, strict=True)
    ]
    plane = gains_plane(drawn[::-1], prevalence)  # dashes show what they cover
    return [*drawn, *plane.layers[len(drawn) :]], plane


def _det(result: Comparison, layers: list[Layer]) -> tuple[list[Layer], Plane]:
    """The DET plane with these layers and a dot at each equal error rate, and what its legend has."""
    tables = _drawings(result)[:-1]
    drawn = [det_layer(table, layer) for table, layer in zip(tables, layers, strict=True)]
    curves = [(table.det, layer.series) for table, layer in zip(tables, layers, strict=True) if table.det is not None]
    dots = [equal_error(det, series=series) for det, series in curves if det.eer is not None]
    plane = det_plane([*dots, *drawn[::-1]], curves[0][0].axis)
    return [*drawn, plane.layers[-1]], plane


def _column(result: Comparison, name: str, layers: list[Layer], side: int) -> list[Block]:
    """A plane with the curves of these layers, and a strip if all are curves."""
    *drawn, joint = (curve(table, name, layer) for table, layer in zip(_drawings(result), layers, strict=True))
    plane = rates_plane(name, [*drawn[::-1], joint], _prevalence(result))  # dashes show what they cover
    best, rate, words = result.best_pr, "recall", "Highest precision at recalls"
    if name == "roc":
        best, rate, words = result.best_roc, "false positive rate", "Most true positives at false positive rates"
    return [plane] if best is None else [plane, _strip(rate, best, words, result, side)]


def _strip(by: str, best: Best, words: str, result: Comparison, side: int) -> Plane:
    """The best curves as a strip of their colours.

    Each pixel shows which curve is best at its centre; equally good ones are stacked. Their numbers in the legend are
    written where there is room.
    """
    intervals = np.minimum(best.end.searchsorted((np.arange(side) + 0.5) / side), best.end.size - 1)
    starts = np.flatnonzero(np.diff(intervals, prepend=-1))
    layers, captions = [FRAME], []
    for start, stop in zip(starts.tolist(), [*starts[1:].tolist(), side], strict=True):
        there = [result.names.index(name) for name in best.best[intervals[start]]]
        numbers = ", ".join(str(number + 1) for number in there)
        if text_width(numbers, SMALL) + 4 < stop - start:
            captions.append(Caption(numbers, ((start + stop) / 2 / side, 0.5), (0, 4), series="paper"))
        rows = np.linspace(1, 0, min(len(there), _MOST_SHARED) + 1).tolist()
        for number, top, bottom in zip(there, rows, rows[1:], strict=False):
            box = points([start / side, stop / side], [top, bottom])
            layers.append(Layer(series=hue(number), sign="band", shapes=[box]))
    said = f"{words} {_in_words(best)}."
    return Plane(f"Best by {by}", layers, high=_STRIP_HIGH, captions=captions, words=said)


def _in_words(best: Best) -> str:
    """Describe which curve is best where; of many intervals, the longest."""
    longest = np.sort(np.argsort(best.start - best.end, kind="stable")[:_MOST_DESCRIBED]).tolist()
    texts = [f"{best.start[row]:.3g} to {best.end[row]:.3g}: {listed(map(named, best.best[row]))}" for row in longest]
    left = best.end.size - len(longest)
    more = f"; and {left} shorter interval{'' if left == 1 else 's'}" if left else ""
    return "; ".join(texts) + more
