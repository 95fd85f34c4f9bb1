"""The picture of one evaluation: its ROC curve with the hull, its PR curve with the achievable one, and marked rows.

Knows the result of `curves`, not how it was evaluated.
"""

import itertools
import math
import string
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from service.charts.legend import Entry, finished, listed, put_legend, put_title
from service.charts.picture import Picture
from service.charts.plane import BOTTOM, LEFT, RIGHT, TOP, Plane
from service.charts.probabilities import PROBABILITIES
from service.charts.svg import Sheet
from service.curves.drawing import CurvesDrawing, DrawnTable
from service.curves.errors import plain
from service.curves.thinning import Line
from service.inference.curves_with_intervals import EvaluatedCurves
from service.inference.intervals import Interval
from service.inference.rules import percent

_MOST_POINTS = 10
"""The most operating points that get a letter."""

_LETTER = 13
"""Pixels between letters."""

_EQUAL_F1 = (0.2, 0.4, 0.6, 0.8)
"""The values of F1 whose lines are drawn."""

PLANE_NAMES = {"roc": "ROC curve", "pr": "Precision-recall curve"}
"""{plane: what it shows}"""

_READ_AT = {"roc": (0.01, 0.05, 0.1, 0.2), "pr": (0.5, 0.8, 0.9, 0.95)}
"""The places at which the description reads a curve."""


@dataclass(frozen=True, slots=True)
class _Dot:
    """A marked row: its place in both planes, and its text in the legend."""

    letter: str
    roc: tuple[float, float]
    pr: tuple[float, float] | None
    text: str


def curves_picture(result: EvaluatedCurves, picture: Picture) -> str:
    """Draw an evaluation."""
    drawing = result.drawing
    if drawing is None:
        raise ValueError("This evaluation was made without a drawing.")
    if picture.chart in PROBABILITIES:
        return PROBABILITIES[picture.chart](result, drawing, picture)
    column = LEFT + picture.side + RIGHT
    sheet = Sheet(picture.theme, column * len(picture.planes))
    top = put_title(sheet, picture.title)
    dots, unplaced = _dots(result, drawing)
    ends = []
    for number, name in enumerate(picture.planes):
        plane = Plane.square(sheet, column * number, top, picture.side)
        draw_axes(plane, name, result.prevalence)
        _draw(plane, drawing, name)
        _mark(plane, dots, name)
        below = top + TOP + picture.side + BOTTOM + 6
        ends.append(put_legend(sheet, column * number + 16, below, column - 32, _legend(result, drawing, name)))
    noted = [Entry(dot.text, "ink", sign="dot", letter=dot.letter) for dot in dots]
    noted += [Entry(text, sign="none") for text in unplaced]
    end = put_legend(sheet, 16, max(ends) + (4 if noted else 0), sheet.width - 32, noted)
    title = picture.title or listed(PLANE_NAMES[name] for name in picture.planes)
    description = _description(result, drawing, picture, [dot.text for dot in dots] + unplaced)
    return finished(sheet, end, title, description, result.warnings)


def draw_axes(plane: Plane, name: str, prevalence: float) -> None:
    """Draw a plane and the line of chance, whose precision is the prevalence; and for PR, lines of equal F1."""
    if name == "roc":
        plane.axes("ROC", "False positive rate", "True positive rate")
        plane.line("soft", [0, 1], [0, 1], dash="1 4")
        return
    plane.axes("Precision-recall", "Recall", "Precision")
    for value in _EQUAL_F1:
        # 2 p r/(p + r) = F where (2 r/F - 1)(2 p/F - 1) = 1; p is 1 at r = F/(2 - F).
        power = np.exp(np.linspace(-1, 1, 41) * np.log(value / (2 - value)))
        plane.line("grid", value / 2 * (1 + power), value / 2 * (1 + 1 / power), wide=1.5)
        # Above the plane no curve crosses it.
        named = f"{'F1 ' if value == _EQUAL_F1[0] else ''}{value:g}"
        plane.sheet.text("soft", (plane.at(value / (2 - value), 1)[0] + 8, plane.top - 3), named, anchor="end", size=10)
    plane.line("soft", [0, 1], [prevalence, prevalence], dash="1 4")


def draw_table(plane: Plane, table: DrawnTable, name: str, series: str, *, dash: str = "", wide: float = 2) -> None:
    """Draw a curve, or the dots of a table without a curve."""
    line: Line = getattr(table, name)
    if table.rises:
        plane.line(series, line.x, line.y, wide=wide, dash=dash)
    else:
        plane.dots(series, line.x, line.y, 5)


def _draw(plane: Plane, drawing: CurvesDrawing, name: str) -> None:
    draw_table(plane, drawing.hull, name, "s1", dash="6 4", wide=1.5)
    draw_table(plane, drawing.curve, name, "s0", wide=2.25)


def _legend(result: EvaluatedCurves, drawing: CurvesDrawing, name: str) -> Iterator[Entry]:
    if name == "roc":
        curve, hull, reference = "roc", "roc_hull", "Chance, area 0.5"
        hull_name = "Convex hull"
    else:
        curve, hull, hull_name = "pr", "pr_achievable", "Achievable"
        reference = f"Prevalence {result.prevalence:.4g}"
    if drawing.curve.rises:
        yield Entry(f"{PLANE_NAMES[name]}, {_area(result, curve)}", "s0", wide=2.25)
    else:
        yield Entry("Rows, which form no curve", "s0", sign="dot")
    yield Entry(f"{hull_name}, area {_number(_area_of(result, hull))}", "s1", wide=1.5, dash="6 4")
    yield Entry(reference, "soft", wide=1, dash="1 4")
    if name == "pr" and _area_of(result, "average_precision") is not None:
        yield Entry(f"Average precision {_with_interval(result, 'average_precision')}", sign="none")


def _area(result: EvaluatedCurves, name: str) -> str:
    return f"area {_with_interval(result, name)}"


def _with_interval(result: EvaluatedCurves, name: str) -> str:
    """Format an area, with its interval if there is one."""
    interval = (result.intervals or {}).get(name)
    return _number(_area_of(result, name)) + ("" if interval is None else f" {interval_text(interval)}")


def interval_text(interval: Interval) -> str:
    """Format an interval with no-break spaces."""
    return f"({percent(interval.level)} %: {interval.lower:.4f} to {interval.upper:.4f})".replace(" ", "\xa0")


def _area_of(result: EvaluatedCurves, name: str) -> float | None:
    area: float | None = getattr(result.curves.auc, name)
    return area


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.4f}"


def _dots(result: EvaluatedCurves, drawing: CurvesDrawing) -> tuple[list[_Dot], list[str]]:
    """The rows to mark, thresholds by numbers, operating points by letters; and notes on those without a row."""
    dots, unplaced = [], []
    totals = result.positives, result.negatives
    for number, mark in enumerate(drawing.marks, start=1):
        if mark.counts is None:
            unplaced.append(f"Threshold {plain(mark.threshold)} belongs to no row, or to several.")
        else:
            dots.append(_dot(str(number), mark.counts, totals, f"threshold {plain(mark.threshold)}"))
    points = result.curves.operating_points
    if points is None:
        return dots, unplaced
    rows = zip(
        points.metric,
        *(getattr(points, name).tolist() for name in ("at", "value", "threshold", "tp", "fp")),
        strict=True,
    )
    for letter, (metric, at, value, threshold, tp, fp) in zip(
        string.ascii_lowercase[:_MOST_POINTS], rows, strict=False
    ):
        read = f"{metric} {plain(at)}: {'none' if math.isnan(value) else f'{value:.4f}'}"
        if math.isnan(tp):
            unplaced.append(f"{read}; no row meets it.")
        else:
            there = "" if math.isnan(threshold) else f", threshold {plain(threshold)}"
            dots.append(_dot(letter, (tp, fp), totals, read + there))
    if len(points.metric) > _MOST_POINTS:
        unplaced.append(f"{len(points.metric) - _MOST_POINTS} more operating points are not drawn.")
    return dots, unplaced


def _dot(letter: str, counts: tuple[float, float], totals: tuple[float, float], text: str) -> _Dot:
    recall, fpr = (count / total for count, total in zip(counts, totals, strict=True))
    precision = counts[0] / sum(counts) if sum(counts) else None
    rates = f"recall {recall:.4f}, fpr {fpr:.4f}, precision {_number(precision)}"
    return _Dot(letter, (fpr, recall), None if precision is None else (recall, precision), f"{text}: {rates}")


def _mark(plane: Plane, dots: list[_Dot], name: str) -> None:
    """Draw dots with their letters, on the side away from the curve and without overlaps."""
    taken: list[tuple[float, float]] = []
    for dot in dots:
        place = dot.roc if name == "roc" else dot.pr
        if place is None:
            continue
        x, y = plane.at(*place)
        plane.sheet.ring("ink", (x, y), 4)
        aside = 1 if name == "roc" else -1
        spots = [
            (x + aside * away * (12 + 14 * right), y + 14 + 14 * down)
            for away in (1, -1)
            for down in (0, 1, 2, 3, 4, -1, -2)
            for right in range(3)
        ]
        free = [spot for spot in spots if _is_free(spot, taken)]
        taken.append(next((spot for spot in free if plane.has_room_for(spot)), spots[0]))
    for dot, spot in zip((dot for dot in dots if name == "roc" or dot.pr), taken, strict=True):
        plane.sheet.text("ink", spot, dot.letter, anchor="middle", bold=True, halo=True)


def _is_free(spot: tuple[float, float], taken: list[tuple[float, float]]) -> bool:
    return all(abs(spot[0] - x) >= _LETTER or abs(spot[1] - y) >= _LETTER for x, y in taken)


def _description(result: EvaluatedCurves, drawing: CurvesDrawing, picture: Picture, notes: list[str]) -> Iterator[str]:
    """Describe the picture in words: totals, areas, the course of the curves, and the marks."""
    yield f"{result.positives:.17g} positives and {result.negatives:.17g} negatives."
    if "roc" in picture.planes:
        yield _areas(result, {"roc": "under the ROC curve", "roc_hull": "under its convex hull"})
        yield from curve_in_words(drawing.curve, "roc")
    if "pr" in picture.planes:
        words = {"pr": "under the precision-recall curve", "pr_achievable": "under the achievable curve"}
        yield _areas(result, words | {"average_precision": "average precision"})
        yield f"Prevalence {result.prevalence:.4g}."
        yield from curve_in_words(drawing.curve, "pr")
    for note in notes:
        yield f"{note[:1].upper()}{note[1:].removesuffix('.')}."


def _areas(result: EvaluatedCurves, words: dict[str, str]) -> str:
    """List the areas that exist."""
    there = {name: said for name, said in words.items() if _area_of(result, name) is not None}
    return f"Area {', '.join(f'{said} {_with_interval(result, name)}' for name, said in there.items())}."


def curve_in_words(table: DrawnTable, name: str) -> Iterator[str]:
    """Describe the course of a curve."""
    line: Line = getattr(table, name)
    if not table.rises:
        yield f"{line.x.size} dots, which form no curve."
        return
    places, ys = zip(*((at, _height(line, at)) for at in _READ_AT[name]), strict=True)
    what, where = ("true positive rate", "false positive rates") if name == "roc" else ("precision", "recalls")
    yield f"At {where} of {listed(f'{at:g}' for at in places)} the {what} is {listed(f'{y:.2f}' for y in ys)}."


def _height(line: Line, at: float) -> float:
    """The height of a line at x; the top of a vertical step."""
    best = 0.0
    for (x, y), (next_x, next_y) in itertools.pairwise(zip(line.x.tolist(), line.y.tolist(), strict=True)):
        if x <= at <= next_x:
            share = (at - x) / (next_x - x) if next_x > x else 1.0
            best = max(best, y + (next_y - y) * share)
    return best
