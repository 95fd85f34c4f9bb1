"""Pictures of scores as probabilities: the calibration diagram, and the cost curve of Drummond and Holte (2006).

Knows the result of `curves`, not how it was evaluated.
"""

import string
from collections.abc import Callable, Iterator
from types import MappingProxyType

import numpy as np

from service.charts.legend import Entry, finished, put_legend, put_title
from service.charts.picture import Picture
from service.charts.plane import BOTTOM, LEFT, RIGHT, Plane
from service.charts.svg import Sheet
from service.curves.calibration import are_probabilities
from service.curves.costs import CostOptions, Costs
from service.curves.drawing import CurvesDrawing, along
from service.curves.thinning import Line
from service.inference.curves_with_intervals import EvaluatedCurves

_MOST_PLACES = 10
"""The most prevalences that get a letter."""

_READ_AT = (0.1, 0.25, 0.5, 0.75, 0.9)
"""The places at which the descriptions read a line."""


def calibration_picture(result: EvaluatedCurves, drawing: CurvesDrawing, picture: Picture) -> str:
    """Draw the calibrated score over the score, and for probabilities the line on which both are equal."""
    plane = _plane(picture)
    line = drawing.calibration
    if line is None:
        plane.axes("Calibration", "Score", "Share of positives")
        nothing = "There are no thresholds, or the rows form no curve."
        if drawing.has_infinite:
            nothing = "There is no finite threshold."
        return _ended(plane, result, picture, [Entry(nothing, sign="none")], ["Calibration diagram", nothing])
    low, high, begins, ends = (float(value) for value in (line.x[0], line.x[-1], line.y[0], line.y[-1]))
    of_probabilities, goes = are_probabilities(low, high), "falls" if begins > ends else "rises"
    named: Callable[[float], str] = "{:g}".format if of_probabilities else _between(low, high)
    plane.axes("Calibration", "Score", "Share of positives", named=named)
    entries = [Entry(f"Share of positives, pooled so that it {goes} with the score", "s0", wide=2.25)]
    if of_probabilities:
        plane.line("soft", [0, 1], [0, 1] if goes == "rises" else [1, 0], dash="1 4")
        entries.append(Entry("Perfectly calibrated", "soft", wide=1, dash="1 4"))
    if drawing.has_infinite:
        entries.append(Entry("Infinite scores are drawn at the least or the greatest finite one", sign="none"))
    x = along(line.x, line.x)
    plane.line("s0", x, line.y, wide=2.25)
    description = [f"Scores from {low:.4g} to {high:.4g}; the share {goes} from {begins:.4g} to {ends:.4g}."]
    description += _read(Line(x, line.y), "share of positives at fractions of the way between these scores", _READ_AT)
    return _ended(plane, result, picture, entries, ["Calibration diagram", *description])


def costs_picture(result: EvaluatedCurves, drawing: CurvesDrawing, picture: Picture) -> str:
    """Draw the least normalized cost over the probability cost, and the costs that the request asks for as dots.

    The probability cost is π fn_cost/(π fn_cost + (1 - π) fp_cost). Each vertex of the hull is a line, x fnr + (1 - x)
    fpr, and the curve is the lowest of them.
    """
    plane = _plane(picture)
    plane.axes("Cost curve", "Probability cost of a positive", "Normalized cost")
    plane.line("soft", [0, 0.5, 1], [0, 0.5, 0], dash="1 4")
    curve = lowest_lines(drawing.hull.roc)
    plane.line("s0", curve.x, curve.y, wide=2.25)
    entries = [
        Entry("Lowest cost of any threshold", "s0", wide=2.25),
        Entry("Calling all positive, or all negative", "soft", wide=1, dash="1 4"),
    ]
    found, asked = result.curves.costs, result.curves.cost_options
    places = [] if found is None or asked is None else list(_places(plane, found, asked))
    entries += [Entry(text, "ink", sign="dot", letter=letter) for letter, text in places]
    description = ["Cost curve", *_read(curve, "cost", _READ_AT), *(f"{text}." for _, text in places)]
    return _ended(plane, result, picture, entries, description)


def lowest_lines(hull: Line) -> Line:
    """The lowest of the lines x (1 - tpr) + (1 - x) fpr of the vertices of a hull, from x = 0 to 1.

    The lines of two neighbours cross at x = Δfpr/(Δfpr + Δtpr).
    """
    right, up = np.diff(hull.x), np.diff(hull.y)
    moved = right + up > 0
    x = right[moved] / (right[moved] + up[moved])
    y = x * (1 - hull.y[:-1][moved]) + (1 - x) * hull.x[:-1][moved]
    return Line(np.concatenate(([0.0], x, [1.0])), np.concatenate(([0.0], y, [0.0])))


def _places(plane: Plane, found: Costs, asked: CostOptions) -> Iterator[tuple[str, str]]:
    """Mark the costs that were asked for, and name them."""
    columns = (getattr(found, name).tolist() for name in ("prevalence", "cost", "normalized_cost", "threshold"))
    for letter, (prevalence, cost, normalized, threshold) in zip(
        string.ascii_lowercase[:_MOST_PLACES], zip(*columns, strict=True), strict=False
    ):
        x, y = plane.at(_probability_cost(prevalence, asked), normalized)
        plane.sheet.ring("ink", (x, y), 4)
        plane.sheet.text("ink", (x, y - 9), letter, anchor="middle", bold=True, halo=True)
        there = "" if np.isnan(threshold) else f", threshold {threshold:.6g}"
        yield letter, f"prevalence {prevalence:.4g}: cost {cost:.4g}, normalized {normalized:.4g}{there}"


def _probability_cost(prevalence: float, asked: CostOptions) -> float:
    of_missed, of_false = prevalence * asked.fn_cost, (1 - prevalence) * asked.fp_cost
    return of_missed / (of_missed + of_false)


def _between(low: float, high: float) -> Callable[[float], str]:
    return lambda tick: f"{low * (1 - tick) + high * tick:.3g}"


def _read(line: Line, what: str, places: tuple[float, ...]) -> Iterator[str]:
    values = np.interp(places, line.x, line.y).tolist()
    yield f"{what.capitalize()} {', '.join(f'{y:.3g} at {x:g}' for x, y in zip(places, values, strict=True))}."


def _plane(picture: Picture) -> Plane:
    sheet = Sheet(picture.theme, LEFT + picture.side + RIGHT)
    return Plane.square(sheet, 0, put_title(sheet, picture.title), picture.side)


def _ended(plane: Plane, result: EvaluatedCurves, picture: Picture, entries: list[Entry], texts: list[str]) -> str:
    """Put the legend, and finish; the first of the texts is the name of the picture."""
    sheet = plane.sheet
    end = put_legend(sheet, 16, plane.bottom + BOTTOM + 6, sheet.width - 32, entries)
    name, *more = texts
    said = [f"{result.positives:.17g} positives and {result.negatives:.17g} negatives.", *more]
    return finished(sheet, end, picture.title or name, said, result.warnings)


PROBABILITIES = MappingProxyType({"calibration": calibration_picture, "costs": costs_picture})
"""{chart: function from a result, its drawing and the picture's options to SVG text}"""
