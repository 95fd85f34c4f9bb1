"""The work of a request, estimated before it is evaluated, in rows as service/wire/budget.py defines them.

A row is 0.5 µs of one processor, or 40 bytes of an answer. Each constant states its measurements, up to those of
hostile requests; `python -m tests.tools.costs` repeats them. What depends on the counts themselves is spent during
evaluation. Knows the content of requests, not how they are evaluated.
"""

from collections.abc import Mapping

import orjson

from service.curves.arrays import LARGEST_EXACT_INTEGER, are_integers
from service.curves.confusion import Evaluation
from service.curves.evaluation import CurvesOptions
from service.curves.histogram import Histogram
from service.curves.pr import AtRecall
from service.curves.sample import Sample
from service.curves.tradeoff import TradeoffOptions
from service.inference.intervals import IntervalOptions
from service.inference.methods import RESAMPLED_METHODS
from service.inference.rules import AREAS_WITH_INTERVALS
from service.wire.budget import BYTES_PER_ROW
from service.wire.requests.resampling_work import resampling_work

_SAMPLE_ROW, _WEIGHTED_ROW = 0.25, 0.7
"""A row of a sample, from its score to the areas: 0.1 µs; one with a weight, or of counts: 0.2 to 0.35 µs."""

_GROUP, _FRACTIONAL_GROUP, _OPEN_GROUP = 1, 3, 6
"""A group, from its ends to the areas: 0.5 µs; one of fractions, which may have to be added: 1 to 2.4 µs; an open one,
which is evaluated three times: 3 µs."""

_POINT, _WIDE_POINT = 4, 6
"""A row of `points`: 0.2 µs and 105 to 145 bytes, or up to 210 with fractional or huge counts."""

_INTERPOLATED, _RATIONAL = 3, 8
"""A point of an interpolated curve: 65 to 95 bytes, 0.1 µs; 3.5 µs more in rational numbers."""

_AT_RECALL = 12
"""A point at a recall, which is rarely a whole count: 6 µs."""

_AREA_INTERVAL_ROW = 0.3
"""A row, for the intervals of the areas: 0.05 to 0.2 µs."""

_OPERATING_POINT, _OPEN_OPERATING_POINT = 60, 600
"""An operating point, in fractions: 25 µs, and its check; of open groups, with its bounds: 0.3 ms."""

_PARTIAL, _PARTIAL_ROW = 600, 0.15
"""An area of a part of a curve, mostly fractions: 0.25 ms, plus 0.05 µs for each row."""

_STATISTICS, _STATISTICS_ROW = 800, 1.4
"""Statistics of curves: 0.35 ms, plus 0.6 µs for each row, in pairs of doubles."""

_POOL = 3
"""A row of `calibration`, one for each segment of the hull: 90 bytes, 0.1 µs."""

_PREVALENCE = 300
"""The best row for a prevalence, in fractions: 60 to 150 µs."""

_AT_LAMBDA = 2
"""An index read off at a λ: 0.5 µs and 50 bytes."""

_SLICES, _SLICE_COLUMN, _SLICED_ROW, _SLICE = 2_000, 600, 0.4, 7
"""The fixed cost of slices: 1 ms; each of their columns: 0.3 ms; a row: 0.1 to 0.2 µs; a slice: 2 µs, and 200 bytes."""

_WEIGHTED_SLICE, _SLICE_POINTS, _SLICE_INTERVALS = 1_000, 600, 500
"""A slice with weights: 0.1 ms, or 0.45 ms alone; the points of a slice: 0.3 ms; its intervals: 0.2 ms."""

_SLICE_OF_GROUPS, _INTERVALS_OF_GROUPS = 2_000, 1_000
"""A slice of groups: 1 to 1.5 ms; its intervals: 0.5 to 0.9 ms."""

_OPEN_TRADEOFFS, _OPEN_TRADEOFF = 6_000, 4
"""The trade-offs of both bounds of open groups: 5 to 10 ms more than of one table, and 2 µs for each group."""

_CLASS, _PAIRED_ROW, _PAIR, _WEIGHTED_PAIR = 600, 0.3, 4, 150
"""A class: 0.2 ms; a row, by its scores for one class: 0.1 µs; a pair: 1 µs, 60 bytes; with weights: 0.05 ms."""

_COMPARED, _COMPARED_ROW = 800, 0.3
"""One of several evaluations: 0.25 to 0.4 ms, plus 0.1 µs for each of its rows and each other evaluation."""

_MOST_DEFAULT_POINTS, _MOST_DEFAULT_STEPS = 2_000, 1_000
"""The rows of the default interpolation at every integer tp, and otherwise (service/curves/pr.py)."""

_ROUNDED = 1e-6
"""How far a whole total, a sum of doubles, may be from an integer."""

MOST_POINTS = 10**9
"""More points than any server allows; the cap keeps an estimate of work finite."""


def table_work(evaluation: Evaluation) -> float:
    """Work from an evaluation to its table and areas."""
    if isinstance(evaluation, Histogram):
        return evaluation.rows * (_work_of_group(evaluation) if evaluation.is_exact else _OPEN_GROUP)
    plain = isinstance(evaluation, Sample) and evaluation.weights is None
    return evaluation.rows * (_SAMPLE_ROW if plain else _WEIGHTED_ROW)


def _work_of_group(groups: Histogram) -> int:
    """The work of an exact group, from its ends to the areas."""
    return _GROUP if all(map(are_integers, groups.masses)) else _FRACTIONAL_GROUP


def curves_work(evaluation: Evaluation, options: CurvesOptions, intervals: IntervalOptions | None) -> int:
    """Work of curves: their tables, the points of each curve, what is read off them, and resamples."""
    of_open = isinstance(evaluation, Histogram) and not evaluation.is_exact
    each_point = _OPEN_OPERATING_POINT if of_open else _OPERATING_POINT
    work = table_work(evaluation) + len(options.operating_points) * each_point
    rows = evaluation.rows + 2
    if options.tuning is not None:
        work += table_work(options.tuning)
        rows = options.tuning.rows + 2
    elif options.thresholds is not None:
        work += options.thresholds.size * _SAMPLE_ROW
        rows = options.thresholds.size + 2
    if "points" in options.include:
        plain = isinstance(evaluation, Sample) and evaluation.weights is None
        work += rows * (_POINT if plain else _WIDE_POINT)
    if options.costs is not None:
        work += _PREVALENCE * (1 if options.costs.prevalence is None else options.costs.prevalence.size)
    if "calibration" in options.include:
        work += rows * _POOL
    if "statistics" in options.include:
        work += _STATISTICS + rows * _STATISTICS_ROW
    work += partial_work(len(options.partial), rows)
    drawn = len(options.include & {"interpolated_pr", "achievable_pr"})
    if drawn:
        work += drawn * _interpolation_work(evaluation, options, rows)
    if intervals is not None:
        work += evaluation.rows * _AREA_INTERVAL_ROW
    if intervals is not None and intervals.method in RESAMPLED_METHODS:
        work += resampling_work([evaluation], intervals, areas=len(AREAS_WITH_INTERVALS))
    return int(work)


def partial_work(ranges: int, rows: int) -> float:
    """Work of areas over ranges of the curves of a table of this many rows."""
    return ranges * (_PARTIAL + rows * _PARTIAL_ROW)


def slices_work(sample: Sample | Histogram, slices: int, columns: int, points: int, *, intervals: bool) -> int:
    """Work of slices: one table of all, and what is read for each slice; with weights each slice has a table."""
    each, of_intervals = _SLICE, _SLICE_INTERVALS
    if not isinstance(sample, Sample):
        each, of_intervals = each + _SLICE_OF_GROUPS, _INTERVALS_OF_GROUPS
    elif sample.weights is not None:
        each += _WEIGHTED_SLICE
    each += of_intervals if intervals else 0
    each += _SLICE_POINTS + points * _OPERATING_POINT if points else 0
    together = _SLICES + columns * _SLICE_COLUMN + sample.rows * _SLICED_ROW
    return int(table_work(sample) + together + slices * each)


def classes_work(rows: int, classes: int, *, weighted: bool, exclusive: bool) -> int:
    """Work of classes: a table for each, one for all pooled and, if each row is of one class, every pair."""
    tables = 2 * classes * rows * (_WEIGHTED_ROW if weighted else _SAMPLE_ROW)
    if exclusive:
        tables += classes * (classes * rows * _WEIGHTED_ROW if weighted else rows * _PAIRED_ROW)
    return int(tables + classes * _CLASS + exclusive * classes * classes * (_WEIGHTED_PAIR if weighted else _PAIR))


def _interpolation_work(evaluation: Evaluation, options: CurvesOptions, rows: int) -> float:
    """Work of one interpolated curve of a table of this many rows."""
    at, positives = options.interpolation, evaluation.positives
    if isinstance(at, AtRecall):
        return at.at_recall.size * (_AT_RECALL + _INTERPOLATED)
    every = None if at is None else at.every
    whole = abs(positives - round(positives)) < _ROUNDED
    if every is None and (positives + rows <= _MOST_DEFAULT_POINTS or (whole and positives <= _MOST_DEFAULT_STEPS)):
        every = 1.0
    points = _MOST_DEFAULT_STEPS + 2 if every is None else positives + rows if every == 1 else positives / every + 2
    rational = _RATIONAL if _is_rational(evaluation, every) else 0
    return min(points, MOST_POINTS) * (_INTERPOLATED + rational)


def _is_rational(evaluation: Evaluation, every: float | None) -> bool:
    """Whether points are computed in rational numbers, judged by the totals: whole, but not small."""
    positives, negatives = evaluation.positives, _negatives(evaluation)
    if not (positives.is_integer() and negatives.is_integer() and max(positives, negatives) <= LARGEST_EXACT_INTEGER):
        return False
    return positives * (positives + negatives) > LARGEST_EXACT_INTEGER or not (every is None or every.is_integer())


def _negatives(evaluation: Evaluation) -> float:
    if not isinstance(evaluation, Sample):
        return evaluation.negatives
    if evaluation.weights is None:
        return evaluation.rows - evaluation.positives
    return float(evaluation.weights @ ~evaluation.labels)


def tradeoffs_work(evaluation: Evaluation, options: TradeoffOptions) -> int:
    """Work of trade-offs: the table, and the values read off."""
    read = 0 if options.at_lambda is None else options.at_lambda.size
    of_open = isinstance(evaluation, Histogram) and not evaluation.is_exact
    bounds = _OPEN_TRADEOFFS + evaluation.rows * _OPEN_TRADEOFF if of_open else 0
    return int(table_work(evaluation) + bounds + read * len(options.indices) * _AT_LAMBDA)


def comparisons_work(named: Mapping[str, Evaluation]) -> int:
    """Work of a comparison: the tables, every curve against every other, and the names of every pair."""
    evaluations = named.values()
    rows = len(evaluations) * sum(evaluation.rows for evaluation in evaluations)
    names = 2 * len(evaluations) * len(orjson.dumps(list(named)))
    compared = len(evaluations) * _COMPARED + rows * _COMPARED_ROW
    return int(sum(map(table_work, evaluations)) + compared + names / BYTES_PER_ROW)
