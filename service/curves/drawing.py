"""What a picture of an evaluation draws, read off its table: both curves, those of its hull, and rows to mark.

    draw the rows of a sweep as simplified lines, and other rows as dots, at most one in each square of 4 by 4 pixels
    do the same with the vertices of the hull
    find the row of each threshold to mark, and the calibrated score of each pool
    draw the lines of further charts, if they are wanted

Knows tables and how lines are simplified; nothing of what a picture looks like.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from service.curves.arrays import LARGEST_DOUBLE, FloatArray, IntArray
from service.curves.calibration import Calibration, calibration
from service.curves.chart_lines import DetCurve, DrawnBenefit, lift_line
from service.curves.confusion import ConfusionTable, Evaluation
from service.curves.operating_points import row_at_threshold
from service.curves.roc import fpr, tpr
from service.curves.score_probabilities import are_probabilities
from service.curves.simplification import Line, pr_line, roc_line

_SQUARE = 4
"""Pixels: the side of the squares in each of which one dot is drawn."""


@dataclass(frozen=True, slots=True)
class DrawingOptions:
    """The side of a plane in pixels, the thresholds whose rows are marked, and the charts that are wanted."""

    side: float
    marks: Sequence[float] = ()
    charts: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, eq=False)
class DrawnTable:
    """A table in both planes: lines if it is a sweep, else its rows as dots; and its DET curve, if it is wanted."""

    roc: Line
    pr: Line
    rises: bool
    det: DetCurve | None = None

    @classmethod
    def of(cls, table: ConfusionTable, options: DrawingOptions) -> "DrawnTable":
        """Draw a table."""
        side = options.side
        det = DetCurve.of(table, side) if "det" in options.charts else None
        if table.rises:
            return cls(roc_line(table, side), pr_line(table, side), rises=True, det=det)
        called = table.select(slice(table.origins, None))
        roc, pr = Line(fpr(table), tpr(table)), Line(tpr(called), called.precision)
        return cls(_dots(roc, side), _dots(pr, side), rises=False, det=det)

    def gains(self, prevalence: float) -> Line:
        """Recall over the share called positive: the ROC curve, with the positives added to its horizontal axis."""
        return Line(prevalence * self.roc.y + (1 - prevalence) * self.roc.x, self.roc.y)


def _dots(points: Line, side: float) -> Line:
    cells = np.stack([np.floor(rates * side / _SQUARE) for rates in (points.x, points.y)])
    chosen: IntArray = np.sort(np.unique(cells, axis=1, return_index=True)[1])
    return Line(points.x[chosen], points.y[chosen])


@dataclass(frozen=True, slots=True)
class Mark:
    """The row of a threshold: its counts, or None if the evaluation's counts list no such row, or several."""

    threshold: float
    counts: tuple[float, float] | None


@dataclass(frozen=True, slots=True, eq=False)
class CurvesDrawing:
    """What is drawn of one evaluation; `hull` is the table of the hull's vertices, whose PR curve is achievable.

    has_infinite   whether infinite scores are drawn at the ends of `calibration`.
    lift, benefit  the lines of these charts, if they are wanted.
    """

    curve: DrawnTable
    hull: DrawnTable
    marks: tuple[Mark, ...]
    calibration: Line | None = None
    has_infinite: bool = False
    lift: Line | None = None
    benefit: DrawnBenefit | None = None


def curves_drawing(
    table: ConfusionTable,
    vertices: IntArray,
    evaluation: Evaluation,
    options: DrawingOptions,
    prevalence: float | None = None,
) -> CurvesDrawing:
    """Draw the table of an evaluation, and the vertices of its hull; net benefit at this prevalence, or its own."""
    marks = tuple(Mark(threshold, _counts(table, evaluation, threshold)) for threshold in options.marks)
    hull = DrawnTable.of(table.select(vertices), DrawingOptions(options.side))
    drawn = CurvesDrawing(DrawnTable.of(table, options), hull, marks)
    if "calibration" in options.charts and table.rises:
        found = calibration(table, vertices)
        has_infinite = bool((np.abs([found.score_from, found.score_to]) >= LARGEST_DOUBLE).any())
        drawn = replace(drawn, calibration=_calibration_line(found, options.side), has_infinite=has_infinite)
    if "lift" in options.charts:
        drawn = replace(drawn, lift=lift_line(table, options.side))
    if "net_benefit" in options.charts:
        drawn = replace(drawn, benefit=DrawnBenefit.of(table, options.side, prevalence))
    return drawn


def _calibration_line(found: Calibration, side: float) -> Line | None:
    """The calibrated score over the score, reduced to one point per quarter pixel; None without finite thresholds."""
    ends = np.stack((found.score_from, found.score_to), axis=1).ravel()
    finite = ends[np.abs(ends) < LARGEST_DOUBLE]
    if np.isnan(ends).any() or not finite.size:
        return None
    ends = np.clip(ends, finite.min(), finite.max())
    calibrated = found.calibrated.repeat(2)
    cells = np.stack([np.floor(4 * side * values) for values in (along(ends, ends), calibrated)])
    kept = np.concatenate(([True], (np.diff(cells) != 0).any(axis=0)))
    kept[-1] = True
    return Line(ends[kept], calibrated[kept])


def along(values: FloatArray, scores: FloatArray) -> FloatArray:
    """Values as fractions of a range: [0, 1] if all scores lie in it, else from the least score to the greatest.

    2 is 1/4 of the way if scores go from 1 to 5.
    """
    low, high = float(scores.min()), float(scores.max())
    if are_probabilities(low, high):
        return values
    if low == high:
        return np.full(values.size, 0.5)
    out: FloatArray = (values / 2 - low / 2) / (high / 2 - low / 2)  # halves, as a difference may overflow
    return out


def _counts(table: ConfusionTable, evaluation: Evaluation, threshold: float) -> tuple[float, float] | None:
    row = row_at_threshold(table, evaluation, threshold)
    return None if row is None else (float(table.tp[row]), float(table.fp[row]))
