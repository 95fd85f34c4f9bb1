"""Pictures of scores as probabilities: the calibration diagram, and the cost curve of Drummond and Holte (2006).

Knows the result of `curves`, not how it was evaluated.
"""

import string
from collections.abc import Callable, Iterator

import numpy as np

from service.charts.curve_planes import straight
from service.charts.figure import Figure
from service.charts.legend import Layer, points
from service.charts.plane import Plane
from service.charts.wording import read, totals
from service.curves.costs import CostOptions, Costs
from service.curves.drawing import CurvesDrawing, along
from service.curves.score_probabilities import are_probabilities
from service.curves.simplification import Line
from service.inference.curves_with_intervals import EvaluatedCurves

_MOST_PLACES = 10
"""The most prevalences that get a letter."""

_BARS, _HISTOGRAM_HIGH, _GAP = 20, 60, 0.1
"""The bars of the histogram of scores, its height in pixels, and the part of a bar that is free on either side."""

_READ_AT = (0.1, 0.25, 0.5, 0.75, 0.9)
"""The places at which the descriptions read a line."""


def calibration_figure(result: EvaluatedCurves, drawing: CurvesDrawing) -> Figure:
    """State the calibrated score over the score, and for probabilities the line on which both are equal."""
    line, ticks, bins = drawing.calibration, _between(0, 1), [*_bins(result)]
    if line is None:
        why = "There are no thresholds, or the rows form no curve."
        layers = [Layer.note("There is no finite threshold." if drawing.has_infinite else why)]
    else:
        low, high, begins, ends = (float(value) for value in (line.x[0], line.x[-1], line.y[0], line.y[-1]))
        goes, shape = "falls" if begins > ends else "rises", Line(along(line.x, line.x), line.y)
        diagonal = straight("Perfectly calibrated", [0, 1], [0, 1] if goes == "rises" else [1, 0])
        others = [diagonal] if are_probabilities(low, high) else []
        ticks = ticks if others else _between(low, high)
        course = f"Scores go from {low:.4g} to {high:.4g}; the share {goes} from {begins:.4g} to {ends:.4g}"
        more = f"{course}. {read(shape, _READ_AT, 'scores', 'share', ticks)}"
        text = f"Share of positives, pooled so that it {goes} with the score"
        layers = [Layer(text, "s0", wide=2.25, more=more, shapes=[shape]), *others]
        if drawing.has_infinite:
            layers.append(Layer.note("Infinite scores are drawn at the least or the greatest finite one"))
    plane = Plane("Calibration", [*bins, *layers], "Score", "Share of positives", ticks)
    return _figure(result, "Calibration diagram", plane, *_histogram(result))


def _bins(result: EvaluatedCurves) -> Iterator[Layer]:
    """The bins, if they were asked for: a dot for each, and its interval."""
    bins, found = result.curves.reliability, result.curves.probabilities
    if bins is None or found is None:
        return
    means = 1 - bins.mean_score if found.table.lower_is_positive else bins.mean_score
    text = f"Share of positives in {means.size} bins" if means.size > 1 else "Share of positives in one bin"
    yield Layer(text, "s1", wide=7, sign="dots", shapes=[Line(means, bins.observed)])
    if result.bin_ends is not None:
        bars = zip(means.tolist(), *(ends.tolist() for ends in result.bin_ends), strict=True)
        yield Layer("Their intervals", "s1", wide=1.5, shapes=[points([at, at], ends) for at, *ends in bars])


def _histogram(result: EvaluatedCurves) -> Iterator[Plane]:
    """How many examples have which score, if bins were asked for."""
    found = result.curves.probabilities
    if result.curves.reliability is None or found is None:
        return
    scores = found.scores.negative if found.table.lower_is_positive else found.scores.positive
    numbers = np.minimum(np.floor(scores * _BARS), _BARS - 1).astype(np.int64)
    heights = np.bincount(numbers, found.scores.masses, _BARS)
    tallest = int(heights.argmax())
    shares = (heights / heights[tallest]).tolist()
    bars = [points([(at + _GAP) / _BARS, (at + 1 - _GAP) / _BARS], [0, high]) for at, high in enumerate(shares) if high]
    share = f"{100 * heights[tallest] / heights.sum():.1f}\xa0%"
    said = f"The scores from {tallest / _BARS:g} to {(tallest + 1) / _BARS:g} are the most frequent, {share} of all."
    layers = [Layer(series="soft", sign="band", shapes=bars), Layer(wide=1, shapes=[points([0, 1], [0, 0])])]
    yield Plane(f"Examples by score, at most {share} in a bar", layers, high=_HISTOGRAM_HIGH, words=said)


def costs_figure(result: EvaluatedCurves, drawing: CurvesDrawing) -> Figure:
    """State the least normalized cost over the probability cost, and the costs that the request asks for as dots.

    The probability cost is π fn_cost/(π fn_cost + (1 - π) fp_cost). Each vertex of the hull is a line, x fnr + (1 - x)
    fpr, and the curve is the lowest of them.
    """
    lowest = lowest_lines(drawing.hull.roc)
    more = read(lowest, _READ_AT, "probability costs", "cost")
    layers = [
        Layer("Lowest cost of any threshold", "s0", wide=2.25, more=more, shapes=[lowest]),
        straight("Calling all positive, or all negative", [0, 0.5, 1], [0, 0.5, 0]),
    ]
    if result.curves.costs is not None and result.curves.cost_options is not None:
        layers += _places(result.curves.costs, result.curves.cost_options)
    plane = Plane("Cost curve", layers, "Probability cost of a positive", "Normalized cost", _between(0, 1), aside=0)
    return _figure(result, "Cost curve", plane)


def lowest_lines(hull: Line) -> Line:
    """The lowest of the lines x (1 - tpr) + (1 - x) fpr of the vertices of a hull, from x = 0 to 1.

    The lines of two neighbours cross at x = Δfpr/(Δfpr + Δtpr).
    """
    right, up = np.diff(hull.x), np.diff(hull.y)
    moved = right + up > 0
    x = right[moved] / (right[moved] + up[moved])
    y = x * (1 - hull.y[:-1][moved]) + (1 - x) * hull.x[:-1][moved]
    return Line(np.concatenate(([0.0], x, [1.0])), np.concatenate(([0.0], y, [0.0])))


def _places(found: Costs, asked: CostOptions) -> Iterator[Layer]:
    """The costs that were asked for, as dots with letters."""
    columns = (getattr(found, name).tolist() for name in ("prevalence", "cost", "normalized_cost", "threshold"))
    rows = zip(string.ascii_lowercase[:_MOST_PLACES], *columns, strict=False)
    for letter, prevalence, cost, normalized, threshold in rows:
        of_missed, of_false = prevalence * asked.fn_cost, (1 - prevalence) * asked.fp_cost
        there = "" if np.isnan(threshold) else f", threshold {threshold:.6g}"
        text = f"prevalence {prevalence:.4g}: cost {cost:.4g}, normalized {normalized:.4g}{there}"
        yield Layer.dot(letter, of_missed / (of_missed + of_false), normalized, text)


def _between(low: float, high: float) -> Callable[[float], str]:
    return lambda tick: f"{low * (1 - tick) + high * tick:.3g}"


def _figure(result: EvaluatedCurves, name: str, plane: Plane, *below: Plane) -> Figure:
    opening = f"{totals(result.positives, result.negatives)}."
    return Figure(name, opening, [[plane, *below, plane.legend()]], result.warnings)
