"""Intervals of the areas of classes, and of their averages where each row belongs to one class.

The classes of an average share their rows, so their areas are not independent. How far a row i moves the area of class
k, as one of its positives or negatives, is v_ik (spread.py); it moves an average by V_i, so

    V_i = Σ_k a_k v_ik                           a_k = 1/K for macro, P_k/Σ P for weighted
    V_i = Σ_k v_ik of the pooled sample          for micro: K of its rows are one row of the data
    var = Σ_c m/(m - 1) Σ_i (V_i - V̄)²           over the rows i of each true class c, of effective number m

With two classes whose scores add up to 1, macro has DeLong's error. Knows the scores of classes and models; nothing of
wire formats.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from service.curves.area_columns import Undefined, sample_or_reason
from service.curves.arrays import BoolArray, FloatArray, IntArray
from service.curves.class_scores import ClassScores
from service.curves.classes import AVERAGED_AREAS, AVERAGES, Classes, pooled_classes
from service.curves.clock import in_time
from service.curves.confusion import ConfusionTable
from service.curves.evaluation import CurvesWarning
from service.curves.sample import Sample
from service.inference.estimates import FOR_ROC, TOO_FEW_EXAMPLES, Estimates, omitted
from service.inference.influence import INFLUENCES
from service.inference.intervals import (
    Interval,
    IntervalOptions,
    average_pr_interval,
    delong_interval,
    exact_interval,
    exact_pr_interval,
    logit_interval,
    within_exact,
)
from service.inference.metric import ENDS, Metric
from service.inference.models import EvaluatedModel, Models
from service.inference.strata import FEWEST

ManyEnds = Mapping[str, FloatArray]
"""{area: the lower and the upper ends of its intervals, (2, n)}, NaN where there are none."""

AveragedArea = tuple[float, float, float]
"""Of an average: the weight of an area, the area, and the effective number of its positives."""

_MOST_CLASSES = {"pr": 8, "average_precision": 3}
"""Areas under precision-recall curves are a little too high on average. With more classes, this exceeds what chance
does to their mean: in simulations, intervals would not keep their level. Those of `micro` and of `roc` do."""

_MANY_CLASSES = "over so many classes, they are too high by more than chance explains; micro has one"
_SEVERAL_LABELS = "rows may belong to several classes"


@dataclass(frozen=True, slots=True, eq=False)
class ClassIntervals:
    """The ends of the intervals of all classes, and of their averages in the order of AVERAGES."""

    of_classes: ManyEnds
    of_averages: ManyEnds
    warnings: tuple[CurvesWarning, ...]


@dataclass(frozen=True, slots=True, eq=False)
class ClassesWithIntervals(Classes):
    """Classes, and their intervals if these were requested."""

    intervals: ClassIntervals | None = None


def class_intervals(given: ClassScores, found: Classes, options: IntervalOptions) -> ClassIntervals:
    """The intervals of the areas that were found; by methods in closed form only."""
    of_classes = {area: np.full((2, len(given.names)), np.nan) for area in AVERAGED_AREAS}
    warnings: dict[CurvesWarning, None] = {}
    moves = _RowMoves(given, found) if given.exclusive else None
    for number, sample in _samples(given):
        table, rows = ConfusionTable.from_sample_with_rows(sample)
        estimates = Estimates(Models((EvaluatedModel(sample, table, rows),)), options)
        for area, ends in of_classes.items():
            interval = estimates.interval(Metric(area), options.level)
            if interval is not None:
                ends[:, number] = interval.lower, interval.upper
        warnings |= dict.fromkeys(estimates.warnings)
        if moves is not None:
            moves.add(number, table, rows)
    of_averages = {area: np.full((2, len(AVERAGES)), np.nan) for area in AVERAGED_AREAS}
    if moves is None:
        warnings[omitted(AVERAGES, _SEVERAL_LABELS)] = None
    else:
        moves.add_pooled(given)
        warnings |= dict.fromkeys(_add_averages(of_averages, moves, options))
    return ClassIntervals(of_classes, of_averages, tuple(warnings))


def _add_averages(
    ends: Mapping[str, FloatArray], moves: "_RowMoves", options: IntervalOptions
) -> Iterator[CurvesWarning]:
    """Find the ends of the intervals of averages; say which are left out."""
    if moves.fewest < FEWEST or moves.sizes.size == 1:
        yield TOO_FEW_EXAMPLES
        return
    left_out: dict[str, dict[str, None]] = {FOR_ROC: {}, _MANY_CLASSES: {}}
    for area, place, value, error in moves.errors():
        interval = _interval(area, place, (value, error), moves, options)
        if interval is None:
            left_out[FOR_ROC][f"the averages of {area}"] = None
        elif interval.method != "exact" and _is_biased(area, place, moves):
            left_out[_MANY_CLASSES][f"{AVERAGES[place]} {area}"] = None
        else:
            ends[area][:, place] = interval.lower, interval.upper
    yield from (omitted([*names], why) for why, names in left_out.items() if names)


def _is_biased(area: str, place: int, moves: "_RowMoves") -> bool:
    """Whether an average is of so many areas that its bias matters."""
    return AVERAGES[place] != "micro" and moves.sizes.size > _MOST_CLASSES.get(area, np.inf)


def _samples(given: ClassScores) -> Iterator[tuple[int, Sample]]:
    """The number of each class that has areas, and its sample."""
    for number, (scores, members) in enumerate(in_time(zip(given.scores, given.members, strict=True))):
        sample = sample_or_reason(scores, members, given.weights, lower_is_positive=given.lower_is_positive)
        if isinstance(sample, Sample):
            yield number, sample


class _RowMoves:
    """How far each row moves the averages: V for each area, and macro, weighted and micro, (n,) each.

    own      the true class of each row, (n,), and `masses` what the row weighs.
    totals   what the rows of each class weigh, (k,); `sizes` are their effective numbers, of classes that have rows.
    """

    def __init__(self, given: ClassScores, found: Classes) -> None:
        """Begin with no move."""
        count, self._found = len(given.names), found
        self.own = np.stack(given.members).argmax(axis=0)
        self.masses = np.ones(given.rows) if given.weights is None else given.weights / (given.weights.max() or 1.0)
        greatest = np.zeros(count)
        np.maximum.at(greatest, self.own, self.masses)
        self._there = greatest > 0
        shares = self.masses / np.where(self._there, greatest, 1.0)[self.own]  # whose squares are not all 0
        sums, squares = (
            np.bincount(self.own, each, minlength=count)[self._there] for each in (shares, shares * shares)
        )
        self.sizes = sums * sums / squares
        totals = np.bincount(self.own, self.masses, minlength=count)
        self.totals = totals
        self._parts = {"macro": np.full(count, 1 / count), "weighted": totals / (totals.sum() or 1.0)}
        self._by = {area: np.zeros((len(AVERAGES), given.rows)) for area in AVERAGED_AREAS}

    @property
    def fewest(self) -> float:
        """The effective number of rows of the smallest class that has rows."""
        return float(self.sizes.min(initial=np.inf))

    @property
    def smallest(self) -> int:
        """The number of that class."""
        return int(np.flatnonzero(self._there)[self.sizes.argmin()])

    def add(self, number: int, table: ConfusionTable, rows: IntArray) -> None:
        """Add the moves of one class's areas; `rows` are those of its table."""
        for area, by in self._by.items():
            moves = _moves_in(area, table, rows, self.own == number, self.masses)
            for average, parts in self._parts.items():
                by[AVERAGES.index(average)] += parts[number] * moves

    def add_pooled(self, given: ClassScores) -> None:
        """Add the moves of the areas of all classes in one sample."""
        pooled = pooled_classes(given)
        if isinstance(pooled, Undefined):
            return
        table, rows = ConfusionTable.from_sample_with_rows(pooled)
        masses = np.tile(self.masses, len(given.names))
        for area, by in self._by.items():
            moves = _moves_in(area, table, rows, pooled.labels, masses)
            by[AVERAGES.index("micro")] += moves.reshape(len(given.names), -1).sum(axis=0)

    def parts(self, area: str, place: int, value: float) -> list[AveragedArea]:
        """What an average is made of; micro is one area, of all rows."""
        shares = self._parts.get(AVERAGES[place])
        if shares is None:
            return [(1.0, value, float(self.sizes.sum()))]
        areas = getattr(self._found.areas, area)
        columns = (each[self._there].tolist() for each in (shares, areas))
        return list(zip(*columns, self.sizes.tolist(), strict=True))

    def errors(self) -> Iterator[tuple[str, int, float, float]]:
        """The area, the place among the averages, the value and the standard error of those that have both."""
        for area, by in self._by.items():
            values = getattr(self._found.averages, area)
            for place, moves in enumerate(in_time(by)):
                if not np.isnan(values[place]):
                    yield area, place, float(values[place]), self._error(moves)

    def _error(self, moves: FloatArray) -> float:
        sums = np.bincount(self.own, moves, minlength=self._there.size)
        means = np.divide(sums, self.totals, out=np.zeros(sums.size), where=self._there)
        apart = moves - self.masses * means[self.own]
        variances = np.bincount(self.own, apart * apart, minlength=sums.size)[self._there]
        return float(np.sqrt((self.sizes / (self.sizes - 1) * variances).sum()))


def _moves_in(area: str, table: ConfusionTable, rows: IntArray, members: BoolArray, masses: FloatArray) -> FloatArray:
    """How far each row moves an area, w (u - ū)/Σ w, (n,)."""
    moves = np.zeros(rows.size)
    for (influences, unit), side in zip(INFLUENCES[area](table), (members, ~members), strict=True):
        weights, own = masses[side], influences.take(rows[side])
        # Equal influences must deviate by exactly 0, although their mean is rounded.
        own -= own.min()
        own -= float(weights @ own) / float(weights.sum())
        moves[side] = weights * own / (float(weights.sum()) * unit)
    return moves


def _interval(
    area: str, place: int, estimate: tuple[float, float], moves: _RowMoves, options: IntervalOptions
) -> Interval | None:
    """The interval of an average; None if the method has none. No average is more certain than its smallest class."""
    (value, error), level, smallest = estimate, options.level, moves.smallest
    if area == "roc":
        perfect, worst = (exact_interval(end, moves.fewest, level) for end in (1.0, 0.0))
    else:
        totals = float(moves.totals[smallest]), float(moves.totals.sum() - moves.totals[smallest])
        perfect, worst = exact_pr_interval(totals, (moves.fewest, float(moves.sizes.sum()) - moves.fewest), level), None
    if value in ENDS:
        return perfect if value > 0 else worst
    if options.method == "delong":
        return delong_interval(value, error, level) if area == "roc" else None
    if area == "roc":
        found = logit_interval(value, error, level)
    else:
        found = average_pr_interval(value, error, moves.parts(area, place, value), moves.fewest, level)
    return within_exact(found, perfect, worst)
