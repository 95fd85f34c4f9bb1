"""Confidence bands of the ROC and the precision-recall curve.

    pointwise     the score interval of the height at each place: each is right at the level, not all at once
    simultaneous  the curve moved up and left, and down and right: the whole true curve lies between, at the level
    fixed_width   by as much as holds the curves of `level` of all resamples, and no less than few examples show
    joint         by Kolmogorov's distance of each class, where no resamples can be drawn

Moved by d = q/(2√m_P) up and e = q/(2√m_N) left, a point of the curve rises by q in h = √m_P tpr - √m_N fpr, and stays
at v = √m_P tpr + √m_N fpr, so q is a distance between curves: the greatest of |h' - h| at equal v. m are the effective
numbers of examples. A band of one curve is one of the other, since to each point of a ROC curve belongs one of the PR
curve. Knows strata and tables; nothing of answers. Sources: Campbell 1994, "Advances in statistical methodology for the
evaluation of diagnostic and laboratory tests"; Massart 1990, "The tight constant in the Dvoretzky-Kiefer-Wolfowitz
inequality"; Macskassy, Provost & Rosset 2005, "ROC confidence bands: an empirical evaluation"; Davis & Goadrich 2006,
theorem 3.1.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol, TypeAlias

import numpy as np

from service.curves.arrays import FloatArray, IntArray
from service.curves.clock import in_time
from service.curves.confusion import ConfusionTable
from service.curves.drawing import DrawingOptions
from service.curves.evaluation import CurvesWarning
from service.curves.operating_points import OperatingPoint, operating_points
from service.curves.roc import fpr, tpr
from service.inference.bootstrap import can_resample, replicates
from service.inference.estimates import TOO_FEW_EXAMPLES, UNKNOWN_EXAMPLES, omitted
from service.inference.intervals import IntervalOptions, normal_quantile
from service.inference.models import EvaluatedModel
from service.inference.rates import ON_CURVES
from service.inference.strata import Strata

BAND_KINDS = ("pointwise", "simultaneous")

_HEIGHT_METRICS = {"roc": "tpr_at_fpr", "pr": "precision_at_recall"}
"""{plane: the metric that is the height of its curve}"""

_MOST_VERTICES = 1 << 12
"""Of a longer table, so many rows, evenly spaced, decide how far two curves are apart."""

BothEnds: TypeAlias = tuple[FloatArray, FloatArray]
"""The lower and the upper ends at some places, (n,) each."""


@dataclass(frozen=True, slots=True, eq=False)
class BandOptions:
    """Which band, and the places to read it at, (n,) in [0, 1]; None for 0, 0.01, .., 1."""

    kind: str = "pointwise"
    at: FloatArray | None = None

    @property
    def places(self) -> FloatArray:
        """The places."""
        return np.arange(101) / 100 if self.at is None else self.at


@dataclass(frozen=True, slots=True, eq=False)
class CurveBand:
    """The band of a curve, as columns (n,): places, heights of the curve, and ends, NaN without enough examples."""

    at: FloatArray
    value: FloatArray
    lower: FloatArray
    upper: FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class Bands:
    """The bands of both curves by their planes, roc and pr; without curves none.

    drawn  those of a picture.
    """

    kind: str
    level: float
    method: str
    curves: Mapping[str, CurveBand]
    drawn: Mapping[str, CurveBand]
    warnings: tuple[CurvesWarning, ...] = ()


def bands(
    model: EvaluatedModel, options: BandOptions, intervals: IntervalOptions, drawing: DrawingOptions | None = None
) -> Bands:
    """Compute the bands of both curves, and at each pixel of a picture."""
    table, strata = model.table, model.strata
    named = options.kind, intervals.level
    if not table.rises:
        return Bands(*named, "", {}, {}, (omitted(("roc_band", "pr_band"), "the rows form no curve"),))
    if not strata.enough:
        why = TOO_FEW_EXAMPLES if strata.given else UNKNOWN_EXAMPLES
        return Bands(*named, "", _both(table, options.places, _Unknown()), {}, (why,))
    reach = _reach(table, strata, options, intervals)
    is_drawn = drawing is not None and not drawing.charts.isdisjoint({"both", *_HEIGHT_METRICS})
    drawn = _both(table, np.linspace(0, 1, int(drawing.side) + 1), reach) if drawing and is_drawn else {}
    return Bands(*named, reach.method, _both(table, options.places, reach), drawn)


def _both(table: ConfusionTable, at: FloatArray, reach: "_Reach") -> dict[str, CurveBand]:
    """The bands of both curves at some places."""
    return {plane: _band(table, plane, at, reach) for plane in _HEIGHT_METRICS}


class _Reach(Protocol):
    """How far a band reaches around a curve."""

    @property
    def method(self) -> str: ...

    def ends(self, table: ConfusionTable, plane: str, at: FloatArray, heights: FloatArray) -> BothEnds:
        """The ends at some places, given the heights of the curve there."""
        ...


def _band(table: ConfusionTable, plane: str, at: FloatArray, reach: _Reach) -> CurveBand:
    heights = operating_points(table, [OperatingPoint(_HEIGHT_METRICS[plane], each) for each in at.tolist()]).value
    return CurveBand(at, heights, *reach.ends(table, plane, at, heights))


def _reach(table: ConfusionTable, strata: Strata, options: BandOptions, intervals: IntervalOptions) -> _Reach:
    if options.kind == "pointwise":
        return _Pointwise(strata.effective, normal_quantile(intervals.level))
    return fixed_width(table, strata, intervals) if can_resample(strata) else joint_width(strata, intervals.level)


@dataclass(frozen=True, slots=True)
class _Unknown:
    """A band of too few examples."""

    method = "none"

    def ends(self, _table: ConfusionTable, _plane: str, at: FloatArray, _heights: FloatArray) -> BothEnds:
        """There are none."""
        return np.full(at.size, np.nan), np.full(at.size, np.nan)


@dataclass(frozen=True, slots=True)
class _Pointwise:
    """A score interval at each place, given the effective sizes of both classes."""

    sizes: tuple[float, float]
    z: float
    method = "score"

    def ends(self, table: ConfusionTable, plane: str, at: FloatArray, heights: FloatArray) -> BothEnds:
        """The ends at each place."""
        of_curve, places = ON_CURVES[_HEIGHT_METRICS[plane]], zip(at.tolist(), heights.tolist(), strict=True)
        found = [of_curve(table, place, height, self.sizes, self.z) for place, height in in_time(places)]
        lower, upper = np.array(found).T.copy()
        return lower, upper


@dataclass(frozen=True, slots=True)
class Width:
    """How far the whole curve is moved: `up` in tpr, and `left` in fpr."""

    up: float
    left: float
    method: str

    @classmethod
    def of(cls, distance: float, sizes: tuple[float, float], method: str) -> "Width":
        """The width of this distance q, given the effective sizes of both classes."""
        return cls(distance / (2 * math.sqrt(sizes[0])), distance / (2 * math.sqrt(sizes[1])), method)

    def ends(self, table: ConfusionTable, plane: str, at: FloatArray, heights: FloatArray) -> BothEnds:
        """The ends at each place, which enclose the curve even if they are rounded."""
        lower, upper = self._roc(table, at) if plane == "roc" else self._pr(table, at)
        return np.minimum(lower, heights), np.maximum(upper, heights)

    def _roc(self, table: ConfusionTable, at: FloatArray) -> BothEnds:
        """The ends of the true positive rate at false positive rates: below a foot, and above a top."""
        curve = fpr(table), tpr(table)
        lower = np.where(at < self.left, 0.0, _foot(at - self.left, *curve) - self.up)
        upper = np.where(at + self.left >= 1, 1.0, _top(at + self.left, *curve) + self.up)
        return lower.clip(0, 1), upper.clip(0, 1)

    def _pr(self, table: ConfusionTable, at: FloatArray) -> BothEnds:
        """The ends of the precision at recalls, from the greatest and the least false positive rate there.

        Precision is rP/(rP + fN) at the recall r and the rate f; at recall 0 it may be anything.
        """
        curve = tpr(table), fpr(table)
        least = np.where(at < self.up, 0.0, _foot(at - self.up, *curve) - self.left).clip(0, 1)
        most = np.where(at + self.up > 1, 1.0, _top(at + self.up, *curve) + self.left).clip(0, 1)
        tp = at * table.in_use.positives
        lower, upper = (
            np.divide(tp, tp + rates * table.in_use.negatives, out=np.full(at.size, at_0), where=tp > 0)
            for rates, at_0 in ((most, 0.0), (least, 1.0))
        )
        return lower, upper


def fixed_width(table: ConfusionTable, strata: Strata, intervals: IntervalOptions) -> Width:
    """The width that holds the curves of `level` of all resamples, of strata that `can_resample`.

    Resamples of classes that are nearly separated hardly vary. But of m examples none of which is misjudged, a share of
    ln(1/(1 - level))/m may be: at 95 %, three. So the curve is moved at least that far, for the smaller class.
    """
    sizes = strata.effective
    distances = replicates(strata, {"": distance_from(table, sizes)}, intervals.resamples, intervals.seed)[""]
    least = 2 * -math.log1p(-intervals.level) / math.sqrt(min(sizes))
    return Width.of(max(float(np.quantile(distances, intervals.level)), least), sizes, "fixed_width")


def joint_width(strata: Strata, level: float) -> Width:
    """The width by Kolmogorov's distance, with half of the error for each class: √(ln(2/α')/(2m)), α' = 1 - √level.

    For 200 positives and 300 negatives at 95 %: 0.1045 up and 0.0853 left.
    """
    wrong = 1 - math.sqrt(level)
    return Width.of(2 * math.sqrt(math.log(2 / wrong) / 2), strata.effective, "joint")


def distance_from(table: ConfusionTable, sizes: tuple[float, float]) -> Callable[[FloatArray, FloatArray], float]:
    """The distance of a resample, given its tp and fp, from the curve of a table.

    Both are polygons, so it is that at one of their vertices.
    """
    scales = math.sqrt(sizes[0]), math.sqrt(sizes[1])

    def turned(true: FloatArray, false: FloatArray) -> tuple[FloatArray, FloatArray]:
        true, false = scales[0] * true, scales[1] * false
        return true + false, true - false

    places, heights = turned(tpr(table), fpr(table))
    some = _some(places.size)

    def distance(tp: FloatArray, fp: FloatArray) -> float:
        rows = _some(tp.size)
        theirs, their_heights = turned(tp[rows] / tp[-1], fp[rows] / fp[-1])
        at_theirs = np.abs(np.interp(theirs, places, heights) - their_heights).max()
        at_ours = np.abs(np.interp(places[some], theirs, their_heights) - heights[some]).max()
        return float(max(at_theirs, at_ours))

    return distance


def _some(rows: int) -> IntArray | slice:
    """All of these rows, or as many as decide a distance, from the first to the last."""
    if rows <= _MOST_VERTICES:
        return slice(None)
    return np.linspace(0, rows - 1, _MOST_VERTICES).round().astype(np.int64)


def _top(at: FloatArray, along: FloatArray, across: FloatArray) -> FloatArray:
    """The height of a rising polygon; on a vertical step that of its top."""
    return np.interp(at, along, across)


def _foot(at: FloatArray, along: FloatArray, across: FloatArray) -> FloatArray:
    """The same, on a vertical step that of its foot: the top of the mirrored polygon."""
    return -np.interp(-at, -along[::-1], -across[::-1])
