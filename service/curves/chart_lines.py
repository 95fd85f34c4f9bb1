"""The lines of three charts that bend between rows, at the points that a picture needs: lift, net benefit, DET.

    lift         precision over the prevalence, at each share of examples that is called positive
    net benefit  at each probability from which to act; it drops at each score, and falls in between
    DET          the false negative over the false positive rate, on axes on which normal scores give a straight line

Points are in the units of their axes, except those of DET, which are in the unit square. Knows tables and how lines are
thinned; nothing of what a picture looks like. Sources: Vickers & Elkin 2006 for net benefit; Martin et al. 1997, "The
DET curve in assessment of detection task performance".
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from service.curves.arrays import FloatArray
from service.curves.clock import in_time, still_time
from service.curves.confusion import ConfusionTable
from service.curves.equal_errors import equal_error_rate
from service.curves.pr import curve_precision
from service.curves.roc import fpr, tpr
from service.curves.score_probabilities import are_probabilities, score_range
from service.curves.simplification import Line, thinned

_POINTS_OF_PIXEL = 4
"""Points of a line that bends."""

_NORMAL = NormalDist()


def lift_line(table: ConfusionTable, side: float) -> Line:
    """Lift over the share called positive; before the first row it is that of the first row.

    Half of the examples of 3 positives and 1 negative, both positive: 4/3 at 0.5. Rows that are no sweep are dots.
    """
    prevalence = table.in_use.positives / (table.in_use.positives + table.in_use.negatives)
    shares = prevalence * tpr(table) + (1 - prevalence) * fpr(table)
    if not table.rises:
        called = shares > 0
        return Line(shares[called], tpr(table)[called] / shares[called])
    lifts = curve_precision(table) / prevalence
    between = _grid(side)
    between = between[between > shares[table.origins]]
    x = np.concatenate((shares, between))
    y = np.concatenate((lifts, np.interp(between, shares, tpr(table)) / between))
    order = np.argsort(x, kind="stable")
    x, y = x[order], y[order]
    kept = thinned(np.minimum(x, 1.0), y / y.max(), side)
    return Line(x[kept], y[kept])


@dataclass(frozen=True, eq=False)
class DrawnBenefit:
    """The net benefit over the probability from which to act, at this prevalence, from `low` up.

    lines      the pieces of the line at or above `low`, or one of dots if the rows are those of counts.
    are_dots   whether it is of dots.
    treat_all  that of calling everything positive; of nothing it is 0.
    """

    prevalence: float
    lines: Sequence[Line]
    treat_all: Sequence[Line]
    are_dots: bool = False

    @property
    def low(self) -> float:
        """Where the axis begins: a quarter of the prevalence, the most there is, is below 0."""
        return -self.prevalence / 4

    @classmethod
    def of(cls, table: ConfusionTable, side: float, prevalence: float | None) -> "DrawnBenefit":
        """Draw a table; without a line if its thresholds are no probabilities."""
        of_all = table.in_use.positives / (table.in_use.positives + table.in_use.negatives)
        share = of_all if prevalence is None else prevalence
        grid, low = _grid(side)[:-1], -share / 4
        everything = Line(grid, _benefit(grid, np.ones(grid.size), np.ones(grid.size), share))
        above = [*_above(everything, low)]
        if not table.of_scores:
            dots = _benefit_dots(table, share, low)
            return cls(share, [dots] if dots.x.size else [], above, are_dots=True)
        scores = score_range(table)
        if scores is None or not are_probabilities(*scores):
            return cls(share, [], above)
        line = _benefit_line(table, grid, share)
        kept = thinned(line.x, np.clip((line.y - low) / (share - low), -1, 1), side)
        return cls(share, [*_above(Line(line.x[kept], line.y[kept]), low)], above)


def _benefit(at: FloatArray, recall: FloatArray, false: FloatArray, share: float) -> FloatArray:
    """π tpr - (1 - π) fpr t/(1 - t)."""
    out: FloatArray = share * recall - (1 - share) * false * at / (1 - at)
    return out


def _benefit_line(table: ConfusionTable, grid: FloatArray, share: float) -> Line:
    """At each score and at each place of the grid, just before and just after what scores there is given up."""
    rising = np.clip(table.thresholds[1:], 0, 1)
    rising = 1 - rising if table.lower_is_positive else rising
    rising = rising[::-1]
    at = np.union1d(rising, grid)
    at = at[at < 1]
    rows = np.stack([rising.size - rising.searchsorted(at, side) for side in ("left", "right")], axis=1).ravel()
    at = at.repeat(2)
    return Line(at, _benefit(at, tpr(table)[rows], fpr(table)[rows], share))


def _benefit_dots(table: ConfusionTable, share: float, low: float) -> Line:
    at = 1 - table.thresholds if table.lower_is_positive else table.thresholds
    there = (at >= 0) & (at < 1)
    at, found = at[there], _benefit(at[there], tpr(table)[there], fpr(table)[there], share)
    return Line(at[found >= low], found[found >= low])


def _above(line: Line, low: float) -> Iterator[Line]:
    """The pieces of a line at or above a height; each ends where it crosses it."""
    over = line.y >= low
    turns = np.flatnonzero(over[1:] != over[:-1])
    part = (low - line.y[turns]) / (line.y[turns + 1] - line.y[turns])
    crossings = line.x[turns] + part * (line.x[turns + 1] - line.x[turns])
    x, y = np.insert(line.x, turns + 1, crossings), np.insert(line.y, turns + 1, low)
    kept = np.flatnonzero(y >= low)
    for piece in np.split(kept, np.flatnonzero(np.diff(kept) > 1) + 1):
        if piece.size > 1:
            yield Line(x[piece], y[piece])


@dataclass(frozen=True, slots=True)
class NormalAxis:
    """An axis of rates from `least` to 99 % on which equal steps are equal steps of the normal quantile."""

    least: float

    MOST = 0.99
    _LEAST, _MOST_LEAST = 0.001, 0.01

    @classmethod
    def of(cls, positives: float, negatives: float) -> "NormalAxis":
        """The axis for a number of examples: from half an example of the larger class, but within 0.1 to 1 %."""
        half = 1 / (2 * max(positives, negatives))
        return cls(min(max(half, cls._LEAST), cls._MOST_LEAST))

    @property
    def ends(self) -> tuple[float, float]:
        """The quantiles of its ends."""
        return _NORMAL.inv_cdf(self.least), _NORMAL.inv_cdf(self.MOST)

    def places(self, rates: Sequence[float]) -> FloatArray:
        """Where rates are, from 0 to 1, (n,); one beyond the axis is at its end."""
        low, high = self.ends
        found = [_NORMAL.inv_cdf(min(max(rate, self.least), self.MOST)) for rate in in_time(rates)]
        return (np.array(found, dtype=np.float64) - low) / (high - low)

    def rates(self, steps: int) -> FloatArray:
        """The rates at equal steps along it, (steps + 1,)."""
        low, high = self.ends
        inside = [_NORMAL.cdf(low + (high - low) * step / steps) for step in range(1, steps)]
        return np.array([self.least, *inside, self.MOST])


@dataclass(frozen=True, eq=False)
class DetCurve:
    """The DET curve of a sweep, in the unit square, and its equal error rate; or the rows of others as dots."""

    axis: NormalAxis
    line: Line
    eer: float | None

    @classmethod
    def of(cls, table: ConfusionTable, side: float) -> "DetCurve":
        """Draw a table on planes of this many pixels."""
        axis = NormalAxis.of(table.positives, table.negatives)
        if not table.rises:
            return cls(axis, _placed(axis, Line(fpr(table), 1 - tpr(table))), None)
        line = _placed(axis, _det_rates(table, axis, side))
        kept = thinned(line.x, line.y, side) if line.x.size else slice(None)
        return cls(axis, Line(line.x[kept], line.y[kept]), equal_error_rate(table)[0])


def _det_rates(table: ConfusionTable, axis: NormalAxis, side: float) -> Line:
    """Both rates along the curve, straight between rows of the table: at rows, and at both rates of each quarter pixel.

    Of the rows within a quarter of a pixel, the first and the last are enough.
    """
    rates = axis.rates(int(_POINTS_OF_PIXEL * side))
    after = fpr(table).searchsorted(rates)
    rows = np.unique(np.concatenate(([0], after - 1, after, [table.tp.size - 1])).clip(0, table.tp.size - 1))
    across, up = fpr(table)[rows], tpr(table)[rows]
    along = across + up
    at_rates = rates + np.interp(rates, across, up), 1 - rates + np.interp(1 - rates, up, across)
    places = np.unique(np.concatenate((along, *at_rates)))
    return Line(np.interp(places, along, across), 1 - np.interp(places, along, up))


def _placed(axis: NormalAxis, rates: Line) -> Line:
    """The points whose rates are both on the axis, in the unit square."""
    still_time()
    low, high = axis.least * (1 - _ROUNDED), axis.MOST * (1 + _ROUNDED)
    there = np.logical_and.reduce([(low <= each) & (each <= high) for each in (rates.x, rates.y)])
    return Line(axis.places(rates.x[there].tolist()), axis.places(rates.y[there].tolist()))


_ROUNDED = 1e-9
"""How far, relatively, a rate at an end of an axis may be beyond it."""


def _grid(side: float) -> FloatArray:
    """Places in [0, 1], several to a pixel."""
    steps = int(_POINTS_OF_PIXEL * side)
    return np.arange(steps + 1) / steps
