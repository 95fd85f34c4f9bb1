"""The optimal trade-off curves of one evaluation, the best row for each λ: the operation behind `POST /v1/tradeoffs`.

    filter  the rows by their precision and recall
    find    for each index, the upper envelope of the rows' curves over λ
    read    intervals of λ, the area, and the values at chosen λ off the envelope

Knows evaluations, tables and envelopes. Source: Hanczar & Nadif 2014, sections 4 and 5; its section 6 leaves areas over
a range or under a density to future work.
"""

from dataclasses import dataclass, replace

import numpy as np

from service.curves.arrays import FloatArray, IntArray
from service.curves.bounds import Enclosure, best_and_worst
from service.curves.clock import in_time
from service.curves.confusion import ConfusionTable, Evaluation
from service.curves.density import BetaDensity
from service.curves.envelope import Envelope, Frontier, envelope, read_off
from service.curves.errors import NoRowMeets
from service.curves.evaluation import CurvesWarning, one_vs_rest
from service.curves.histogram import Histogram
from service.curves.indices import INDICES, Index, Rows
from service.curves.lambda_intervals import LambdaIntervals
from service.curves.roc import tpr

BOUNDED_TRADEOFFS = CurvesWarning(
    "bounded",
    "The order of the examples in some groups is unknown: each area is halfway between its bounds, and the intervals "
    "and values come from the rows at the ends of groups, so the best value may be higher.",
)


@dataclass(frozen=True, slots=True, eq=False)
class TradeoffOptions:
    """What to answer: which indices, which rows take part, and the range and weights of λ. Bounds are inclusive."""

    indices: frozenset[str] = frozenset(INDICES)
    min_precision: float = 0.0
    min_recall: float = 0.0
    lambda_range: tuple[float, float] = (0.0, 1.0)
    lambda_density: BetaDensity | None = None
    at_lambda: FloatArray | None = None


@dataclass(frozen=True, slots=True, eq=False)
class OptimalCurve:
    """Intervals of λ, each with the row that is best there, as columns (n,). Neighbours share their ends exactly."""

    lambda_from: FloatArray
    lambda_to: FloatArray
    threshold: FloatArray
    tp: FloatArray
    fp: FloatArray
    precision: FloatArray
    recall: FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class TradeoffReading:
    """The optimal curve at chosen λ, as columns (n,); at a breakpoint with the row of the interval above it."""

    at_lambda: FloatArray
    value: FloatArray
    threshold: FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class Tradeoff:
    """The trade-off by one index. `area` is the mean of the optimal curve over the range.

    uninformative_from  the start of the last interval if its row calls everything positive, else None.
    bounds              of the area, if open groups give them: that of the known rows, and that of the best.
    """

    optimal: OptimalCurve
    area: float
    uninformative_from: float | None
    at: TradeoffReading | None
    bounds: Enclosure | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Tradeoffs:
    """The answer: one trade-off per requested index; `target` is the prevalence where the model is used, if given."""

    positives: float
    negatives: float
    tradeoffs: dict[str, Tradeoff]
    warnings: tuple[CurvesWarning, ...] = ()
    target: float | None = None


def evaluate_tradeoffs(evaluation: Evaluation, options: TradeoffOptions | None = None) -> Tradeoffs:
    """Evaluate any kind of evaluation. Raises NoRowMeets, and RisingThresholds for counts.

    Counts of one row, (tp, fp) = (2, 0) with P = N = 4, against calling everything positive: each is best on half of
    [0, 1] by every index, and the area of kulczynski is 7/8.

    The rows at the ends of open groups occur in every sample that the groups may stand for, and a row of the best order
    dominates every other row of such a sample. So the areas of the two bound the area of every such sample.
    """
    options = options or TradeoffOptions()
    table = ConfusionTable.of(evaluation)
    tradeoffs = _tradeoffs(table, options)
    warnings = one_vs_rest(evaluation)
    if isinstance(evaluation, Histogram) and not evaluation.is_exact:
        best, _ = best_and_worst(evaluation)
        for name, upper in _tradeoffs(best.table, replace(options, at_lambda=None)).items():
            lower = tradeoffs[name].area
            bounds = Enclosure(lower, max(lower, upper.area))
            tradeoffs[name] = replace(tradeoffs[name], area=bounds.middle, bounds=bounds)
        warnings += (BOUNDED_TRADEOFFS,)
    target = None if table.target is None else table.target.share
    return Tradeoffs(table.positives, table.negatives, tradeoffs, warnings, target)


def _tradeoffs(table: ConfusionTable, options: TradeoffOptions) -> dict[str, Tradeoff]:
    frontier = Frontier.of(_taking_part(table, options))
    chosen = {name: index for name, index in INDICES.items() if name in options.indices}
    return {name: _tradeoff(frontier, index, options) for name, index in in_time(chosen.items())}


def _taking_part(table: ConfusionTable, options: TradeoffOptions) -> ConfusionTable:
    """The origin, and the rows whose reported precision and recall meet the bounds."""
    if options.min_precision == 0 and options.min_recall == 0:
        return table
    at_rows, recall = table.precision, tpr(table)
    meets = (table.tp > 0) & (recall >= options.min_recall)
    chosen = meets & (at_rows >= options.min_precision)
    if not chosen.any():
        best = float(np.max(at_rows[meets]))
        recall_too = f" and recall {options.min_recall!r} or more" if options.min_recall else ""
        raise NoRowMeets(
            f"No row has precision {options.min_precision!r} or more{recall_too}; the greatest precision among "
            f"{'rows with that recall' if options.min_recall else 'all rows'} is {best!r}."
        )
    chosen[0] = True
    return table.select(chosen)


def _tradeoff(frontier: Frontier, index: Index, options: TradeoffOptions) -> Tradeoff:
    best = envelope(frontier, index)
    rows, start, end = best.intervals(*options.lambda_range)
    optimal = frontier.table.select(rows)
    everything = optimal.tp[-1] == optimal.positives and optimal.fp[-1] == optimal.negatives
    return Tradeoff(
        optimal=OptimalCurve(start, end, optimal.thresholds, optimal.tp, optimal.fp, optimal.precision, tpr(optimal)),
        area=_area(frontier.rows, index, best.lambda_intervals(*options.lambda_range), options.lambda_density),
        uninformative_from=float(start[-1]) if everything else None,
        at=None if options.at_lambda is None else _read_off(frontier, index, best, options.at_lambda),
    )


def _area(frontier: Rows, index: Index, best: tuple[IntArray, LambdaIntervals], density: BetaDensity | None) -> float:
    """The mean of the optimal curve, with λ weighted equally or by a density."""
    rows, intervals = frontier[best[0]], best[1]
    if density is None:
        area = float(np.sum(index.mean(rows, intervals) * (intervals.length / intervals.length.sum())))
    else:
        area = density.mean(lambda at, weight, rest: index.value(rows[at], weight, rest), intervals)
    return min(area, 1.0)


def _read_off(frontier: Frontier, index: Index, best: Envelope, at_lambda: FloatArray) -> TradeoffReading:
    """Read the optimal curve at each λ."""
    rows, value = read_off(frontier, index, best, at_lambda)
    return TradeoffReading(at_lambda, value, frontier.table.thresholds[rows])
