"""Pictures of both errors: the DET curve of an evaluation, whose axes are those of normal quantiles.

Knows the results of `curves`, not how they were evaluated.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from service.charts.curve_planes import straight
from service.charts.figure import Figure
from service.charts.legend import Layer, points
from service.charts.plane import Plane
from service.charts.wording import decimals, read, totals
from service.curves.chart_lines import DetCurve, NormalAxis
from service.curves.drawing import CurvesDrawing, DrawnTable
from service.curves.simplification import Line
from service.inference.curves_with_intervals import EvaluatedCurves

_PERCENTS = (0.1, 1, 5, 20, 50, 80, 95, 99)
"""The ticks, which have room even on the smallest plane."""

_READ_AT = (0.01, 0.05, 0.1, 0.2)
"""The false positive rates at which the description reads the curve."""


def det_figure(result: EvaluatedCurves, drawing: CurvesDrawing) -> Figure:
    """State the false negative rate over the false positive rate."""
    det, layer = drawing.curve.det, Layer("DET curve", "s0", wide=2.25)
    assert det is not None, "this chart was wanted"  # noqa: S101  # its drawing was made for it
    dots = []
    if det.eer is not None:
        roc = drawing.curve.roc
        more = read(Line(roc.x, 1 - roc.y), _READ_AT, "false positive rates", "false negative rate", best=np.min)
        layer = replace(layer, more=more)
        dots.append(equal_error(det, f"Equal error rate {decimals(det.eer)}"))
    plane = det_plane([det_layer(drawing.curve, layer), *dots], det.axis)
    opening = f"{totals(result.positives, result.negatives)}."
    return Figure("DET curve", opening, [[plane, plane.legend()]], result.warnings)


def det_plane(layers: Sequence[Layer], axis: NormalAxis) -> Plane:
    """Make a plane of both error rates, in percent, above the line of chance."""
    ends = axis.places([1 - axis.MOST, axis.MOST]).tolist()
    chance = straight("Chance", ends, ends[::-1])
    ticks = _ticks(axis)
    return Plane("DET", [*layers, chance], "False positive rate, %", "False negative rate, %", ticks, ticks)


def det_layer(table: DrawnTable, layer: Layer) -> Layer:
    """A layer with the DET curve of a table, or the dots of a table without one."""
    assert table.det is not None, "this chart was wanted"  # noqa: S101  # its drawing was made for it
    if not table.det.line.x.size:
        return replace(layer, text=f"{layer.text}: beyond the axes", shapes=[])
    return replace(layer if table.rises else replace(layer, wide=5, sign="dots"), shapes=[table.det.line])


def equal_error(det: DetCurve, text: str = "", series: str = "s0") -> Layer:
    """A dot where both rates are equal, if that is on the axes."""
    rate = det.eer or 0.0
    place = det.axis.places([rate]).tolist()
    return Layer(text, series, sign="ring", shapes=[points(place, place)] if rate >= det.axis.least else [])


def _ticks(axis: NormalAxis) -> list[tuple[float, str]]:
    """The percentages on an axis."""
    inside = [percent for percent in _PERCENTS if axis.least * 100 <= percent <= axis.MOST * 100]
    places = axis.places([percent / 100 for percent in inside]).tolist()
    return [(place, f"{percent:g}") for place, percent in zip(places, inside, strict=True)]
