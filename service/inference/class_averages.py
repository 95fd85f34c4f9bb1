"""Intervals of the areas of classes, and of their averages where each row belongs to one class.

The classes of an average share their rows, so their areas are not independent; row_moves.py has their errors.
With two classes whose scores add up to 1, macro has DeLong's error. Knows the scores of classes and models; nothing of
wire formats.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from service.curves.arrays import FloatArray
from service.curves.class_scores import ClassScores
from service.curves.classes import AVERAGED_AREAS, AVERAGES, Classes
from service.curves.clusters import ClusterCounts
from service.curves.confusion import ConfusionTable
from service.curves.evaluation import CurvesWarning
from service.inference.estimates import FOR_ROC, TOO_FEW_CLUSTERS, TOO_FEW_EXAMPLES, Estimates, omitted
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
from service.inference.row_moves import AverageError, ClassRows, RowMoves, samples_of

ManyEnds = Mapping[str, FloatArray]
"""{area: the lower and the upper ends of its intervals, (2, n)}, NaN where there are none."""

_MOST_CLASSES = {"pr": 8, "average_precision": 3}
"""Areas under precision-recall curves are a little too high on average. With more classes, this exceeds what chance
does to their mean: in simulations, intervals would not keep their level. Those of `micro` and of `roc` do."""

MANY_CLASSES = "over so many classes, they are too high by more than chance explains; micro has one"
SEVERAL_LABELS = "rows may belong to several classes"


@dataclass(frozen=True, slots=True, eq=False)
class ClassIntervals:
    """The ends of the intervals of all classes, and of their averages in the order of AVERAGES."""

    of_classes: ManyEnds
    of_averages: ManyEnds
    warnings: tuple[CurvesWarning, ...]


@dataclass(frozen=True, slots=True, eq=False)
class ClassesWithIntervals(Classes):
    """Classes, and their intervals if these were requested.

    clusters  how many there are; None if all rows are independent.
    """

    intervals: ClassIntervals | None = None
    clusters: ClusterCounts | None = None


def class_intervals(given: ClassScores, found: Classes, options: IntervalOptions) -> ClassIntervals:
    """The intervals of the areas that were found; by methods in closed form only."""
    of_classes = {area: np.full((2, len(given.names)), np.nan) for area in AVERAGED_AREAS}
    warnings: dict[CurvesWarning, None] = {}
    moves = RowMoves(given, found) if given.exclusive else None
    for number, sample in samples_of(given):
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
        warnings[omitted(AVERAGES, SEVERAL_LABELS)] = None
    else:
        moves.add_pooled(given)
        warnings |= dict.fromkeys(_add_averages(of_averages, moves, options))
    return ClassIntervals(of_classes, of_averages, tuple(warnings))


def _add_averages(ends: Mapping[str, FloatArray], moves: RowMoves, options: IntervalOptions) -> Iterator[CurvesWarning]:
    """Find the ends of the intervals of averages; say which are left out."""
    if not moves.enough:
        yield too_few(moves)
        return
    left_out: dict[str, dict[str, None]] = {FOR_ROC: {}, MANY_CLASSES: {}}
    for area, place, value, error in moves.errors():
        interval = average_interval(area, place, (value, error), moves, options)
        if interval is None:
            left_out[FOR_ROC][f"the averages of {area}"] = None
        elif interval.method != "exact" and is_biased(area, place, moves):
            left_out[MANY_CLASSES][f"{AVERAGES[place]} {area}"] = None
        else:
            ends[area][:, place] = interval.lower, interval.upper
    yield from (omitted([*names], why) for why, names in left_out.items() if names)


def too_few(moves: ClassRows) -> CurvesWarning:
    """Say that averages, or gaps, have no intervals."""
    return TOO_FEW_EXAMPLES if moves.clusters is None else TOO_FEW_CLUSTERS


def is_biased(area: str, place: int, moves: RowMoves) -> bool:
    """Whether an average is of so many areas that its bias matters."""
    return AVERAGES[place] != "micro" and moves.sizes.size > _MOST_CLASSES.get(area, np.inf)


def average_interval(
    area: str, place: int, estimate: tuple[float, AverageError], moves: RowMoves, options: IntervalOptions
) -> Interval | None:
    """The interval of an average; None if the method has none. No average is more certain than its smallest class."""
    value, of = estimate
    level, smallest, trials, error = options.level, moves.smallest, moves.trials(of, value), of.error
    fewest = min(trials)
    if area == "roc":
        perfect, worst = (exact_interval(end, fewest, level) for end in (1.0, 0.0))
    else:
        totals = float(moves.totals[smallest]), float(moves.totals.sum() - moves.totals[smallest])
        perfect, worst = exact_pr_interval(totals, (fewest, float(np.sum(trials)) - fewest), level), None
    if value in ENDS:
        return perfect if value > 0 else worst
    if options.method == "delong":
        return delong_interval(value, error, level) if area == "roc" else None
    if area == "roc":
        found = logit_interval(value, error, level, of.freedom)
    else:
        clustered = {} if moves.clusters is None else {"own": min(moves.units), "freedom": of.freedom}
        found = average_pr_interval(value, error, moves.parts(area, place, value, trials), fewest, level, **clustered)
    return within_exact(found, perfect, worst)
