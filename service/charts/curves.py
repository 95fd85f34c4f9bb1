"""The picture of one evaluation: its ROC curve with the hull, its PR curve with the achievable one, and marked rows.

Its other pictures are in modules of their own. Knows the result of `curves`, not how it was evaluated.
"""

import math
import string
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from service.charts.curve_planes import CURVE_NAMES, DASHED, curve, rates_plane
from service.charts.det import det_figure
from service.charts.figure import Block, Figure
from service.charts.legend import Layer, Legend
from service.charts.picture import Picture
from service.charts.probabilities import calibration_figure, costs_figure
from service.charts.shares import benefit_figure, gains_figure, lift_figure
from service.charts.wording import NOTHING, decimals, listed, read, totals
from service.curves.drawing import CurvesDrawing
from service.curves.errors import plain
from service.curves.simplification import Line
from service.inference.curves_with_intervals import EvaluatedCurves
from service.inference.rules import percent

_MOST_POINTS = 10
"""The most operating points that get a letter."""

_READ = {
    "roc": ((0.01, 0.05, 0.1, 0.2), "false positive rates", "true positive rate"),
    "pr": ((0.5, 0.8, 0.9, 0.95), "recalls", "precision"),
}
"""{plane: the places at which the description reads a curve, their name, and what is read}"""


_OTHER_CHARTS = {
    "calibration": calibration_figure,
    "costs": costs_figure,
    "gains": gains_figure,
    "lift": lift_figure,
    "net_benefit": benefit_figure,
    "det": det_figure,
}
"""{chart that is not of the ROC or the PR plane: function from a result and its drawing to a figure}"""


@dataclass(frozen=True, slots=True)
class _Marked:
    """A row to mark: its letter, its text, and its place in each plane; without a place there is only the text."""

    letter: str
    text: str
    places: Mapping[str, tuple[float, float]]


def curves_figure(result: EvaluatedCurves, picture: Picture) -> Figure:
    """State an evaluation."""
    drawing = result.drawing
    if drawing is None:
        raise ValueError("This evaluation was made without a drawing.")
    if picture.chart in _OTHER_CHARTS:
        return _OTHER_CHARTS[picture.chart](result, drawing)
    marked = [*_thresholds(result, drawing), *_operating_points(result)]
    notes = [Layer(each.text, "ink", sign="ring" if each.places else "none", letter=each.letter) for each in marked]
    title = listed(CURVE_NAMES[name] for name in picture.planes)
    columns = [_column(result, drawing, name, marked) for name in picture.planes]
    return Figure(
        title,
        f"{totals(result.positives, result.negatives, result.target)}.",
        columns,
        result.warnings,
        [Legend(notes)],
    )


def _column(result: EvaluatedCurves, drawing: CurvesDrawing, name: str, marked: list[_Marked]) -> list[Block]:
    """A plane with the curve and that of the hull, and its legend."""
    hull, hull_name = ("roc_hull", "Convex hull") if name == "roc" else ("pr_achievable", "Achievable")
    said = Layer("Rows, which form no curve", "s0")
    if drawing.curve.rises:
        text = f"{CURVE_NAMES[name]}, area {_area(result, name)}"
        said = Layer(text, "s0", wide=2.25, more=read(getattr(drawing.curve, name), *_READ[name]))
    layers = [
        *(Layer.dot(each.letter, *each.places[name]) for each in marked if name in each.places),
        curve(drawing.curve, name, said),
        curve(drawing.hull, name, Layer(f"{hull_name}, area {_area(result, hull)}", "s1", wide=1.5, dash=DASHED)),
        *_band(result, name),
    ]
    plane = rates_plane(name, layers, result.prevalence)
    average = _area(result, "average_precision")
    notes = [Layer.note(f"Average precision {average}")] * (name == "pr" and average != NOTHING)
    return [plane, plane.legend(*notes)]


def _band(result: EvaluatedCurves, name: str) -> Iterator[Layer]:
    """The band, if there is one."""
    band = None if result.bands is None else result.bands.drawn.get(name)
    if result.bands is None or band is None:
        return
    around = Line(np.append(band.at, band.at[::-1]), np.append(band.upper, band.lower[::-1]))
    places, where, _ = _READ[name]
    ends = zip(*(np.interp(places, band.at, each).tolist() for each in (band.lower, band.upper)), strict=True)
    reach = listed(f"{low:.2f} to {high:.2f}" for low, high in ends)
    more = f"At {where} of {listed(map('{:g}'.format, places))} it goes from {reach}"
    text = f"{percent(result.bands.level)}\xa0% band, {result.bands.kind}"
    yield Layer(text, "s0", sign="area", more=more, shapes=[around])


def _area(result: EvaluatedCurves, name: str) -> str:
    """Write an area, with its interval if there is one."""
    return decimals(getattr(result.curves.auc, name), (result.intervals or {}).get(name))


def _thresholds(result: EvaluatedCurves, drawing: CurvesDrawing) -> Iterator[_Marked]:
    """The rows of requested thresholds, by numbers."""
    for number, mark in enumerate(drawing.marks, start=1):
        threshold = f"Threshold {plain(mark.threshold)}"
        if mark.counts is None:
            yield _Marked("", f"{threshold} belongs to no row, or to several.", {})
        else:
            yield _marked(result, str(number), threshold, *mark.counts)


def _operating_points(result: EvaluatedCurves) -> Iterator[_Marked]:
    """The rows of operating points, by letters."""
    points = result.curves.operating_points
    if points is None:
        return
    columns = (getattr(points, name).tolist() for name in ("at", "value", "threshold", "tp", "fp"))
    rows = zip(string.ascii_lowercase[:_MOST_POINTS], points.metric, *columns, strict=False)
    for letter, metric, at, value, threshold, tp, fp in rows:
        found = f"{metric} {plain(at)}: {'none' if math.isnan(value) else f'{value:.4f}'}"
        if math.isnan(tp):
            yield _Marked("", f"{found}; no row meets it.", {})
        else:
            there = "" if math.isnan(threshold) else f", threshold {plain(threshold)}"
            yield _marked(result, letter, found + there, tp, fp)
    if len(points.metric) > _MOST_POINTS:
        yield _Marked("", f"{len(points.metric) - _MOST_POINTS} more operating points are not drawn.", {})


def _marked(result: EvaluatedCurves, letter: str, text: str, tp: float, fp: float) -> _Marked:
    """A row with these counts; where nothing is called positive, there is no precision and no place in the PR plane."""
    recall, fpr = tp / result.positives, fp / result.negatives
    true, false = (tp, fp) if result.target is None else (result.target * recall, (1 - result.target) * fpr)
    precision = true / (true + false) if tp + fp else None
    places = {"roc": (fpr, recall)} | ({} if precision is None else {"pr": (recall, precision)})
    rates = f"recall {recall:.4f}, fpr {fpr:.4f}, precision {decimals(precision)}"
    return _Marked(letter, f"{text}: {rates}", places)
