"""How much work a request is, told by what it asks for before it is evaluated, in the rows of service/curves/budget.py.

A row is 0.5 µs of one processor, or 40 bytes of an answer. Each constant says what was measured for it, the most that
hostile requests made of it; `python -m tests.costs` measures again. What only the counts themselves show is spent on
the way. Knows what requests ask for; nothing of how it is evaluated.
"""

from typing import TYPE_CHECKING

import orjson

from service.curves.comparison import Best, Comparison
from service.curves.counts import Counts
from service.curves.evaluation import CurvesOptions
from service.curves.exact import LARGEST_EXACT_INTEGER
from service.curves.pr import AtRecall
from service.curves.sample import Sample
from service.curves.tradeoff import Tradeoffs
from service.inference.methods import RESAMPLED_METHODS
from service.inference.rules import AREAS_WITH_INTERVALS
from service.wire.resampling_work import resampling_work

if TYPE_CHECKING:
    from service.wire.schemas import ComparisonsRequest, CurvesRequest, TradeoffsRequest

_BYTES_PER_ROW = 40
"""So many bytes of an answer are a row: ROCPR_BIG_WORK of 20,000 is 800 KB, or 10 ms."""

_BODY_BYTES = 64
"""So many bytes of a body are searched, and its numbers read, in the time of a row: 0.3 to 0.9 µs."""

_OBJECT, _MEMBER, _VALUE = 30, 1.5, 0.5
"""What is read one by one from JSON: an object that is checked, 15 µs; a member, 0.7 µs; a value, 0.1 to 0.4 µs."""

_CELL = 0.4
"""A cell of CSV: 0.05 to 0.2 µs."""

_SAMPLE_ROW, _ROW = 0.25, 0.7
"""A row of a sample, from its score to the areas: 0.1 µs; one with a weight, or of counts: 0.2 to 0.35 µs."""

_POINT, _WIDE_POINT = 4, 6
"""A row of `points`: 105 to 145 bytes, or, with fractional or huge counts, up to 210; and 0.2 µs."""

_INTERPOLATED, _RATIONAL = 3, 8
"""A point of an interpolated curve: 65 to 95 bytes, 0.1 µs; in rational numbers 3.5 µs more."""

_AT_RECALL = 12
"""A point at a recall, which hardly ever is a whole count: 6 µs."""

_INTERVAL_ROW = 0.3
"""A row on the way to the intervals of the areas: 0.05 to 0.2 µs."""

_READING = 60
"""An operating point, in fractions: 25 µs, and its check."""

_AT_LAMBDA = 2
"""An index read off at a λ: 0.5 µs and 50 bytes."""

_OPTIMAL = 4
"""A row of an index's optimal curve: 75 to 150 bytes."""

_COMPARED, _COMPARED_ROW = 800, 0.3
"""One of several evaluations: 0.25 to 0.4 ms; and each of its rows beside each other evaluation: 0.1 µs."""

_INTERVAL_BYTES = 44
"""An interval of a rate, without the names of the best."""

_HULL_BYTES = 110
"""A row of the joint hull, without the names of its suppliers."""

_MOST_DEFAULT_POINTS, _MOST_DEFAULT_STEPS = 2_000, 1_000
"""What the default interpolation has at every whole true positive, and else (service/curves/pr.py)."""

_ROUNDED = 1e-6
"""How far a whole total may be from one, which is a sum of doubles."""

MOST_POINTS = 10**9
"""More than any server lets one ask for; keeps an estimate of work a number."""


def json_work(text: bytes, size: int) -> float:
    """Work to read a JSON body of so many bytes of which this is left when long lists of numbers are lifted out."""
    objects, members, values = (text.count(mark) for mark in (b"{", b":", b","))
    lists = text.count(b"[")
    return size / _BODY_BYTES + objects * _OBJECT + members * _MEMBER + (values + lists) * _VALUE


def csv_work(body: bytes) -> float:
    """Work to read a CSV body."""
    cells = body.count(b",") + body.count(b"\n") + body.count(b"\r")
    return len(body) / _BODY_BYTES + cells * _CELL


def table_work(evaluation: Sample | Counts) -> float:
    """Work from an evaluation to its table and areas."""
    plain = isinstance(evaluation, Sample) and evaluation.weights is None
    return evaluation.rows * (_SAMPLE_ROW if plain else _ROW)


def curves_work(request: "CurvesRequest") -> int:
    """Work of curves: reading the tables, the points of each curve, readings and resamples."""
    evaluation, options = request.evaluation, request.options
    work = table_work(evaluation) + len(options.operating_points) * _READING
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
    drawn = len(options.include & {"interpolated_pr", "achievable_pr"})
    if drawn:
        work += drawn * _interpolation_work(evaluation, options, rows)
    how = request.intervals
    if how is not None:
        work += evaluation.rows * _INTERVAL_ROW
    if how is not None and how.method in RESAMPLED_METHODS:
        work += resampling_work([evaluation], how, areas=len(AREAS_WITH_INTERVALS))
    return int(work)


def _interpolation_work(evaluation: Sample | Counts, options: CurvesOptions, rows: int) -> float:
    """Work of one interpolated curve of a table of so many rows."""
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


def _is_rational(evaluation: Sample | Counts, every: float | None) -> bool:
    """Whether points are worked in rational numbers, as far as the totals tell: where they are whole, but not small."""
    positives, negatives = evaluation.positives, _negatives(evaluation)
    if not (positives.is_integer() and negatives.is_integer() and max(positives, negatives) <= LARGEST_EXACT_INTEGER):
        return False
    return positives * (positives + negatives) > LARGEST_EXACT_INTEGER or not (every is None or every.is_integer())


def _negatives(evaluation: Sample | Counts) -> float:
    if isinstance(evaluation, Counts):
        return evaluation.negatives
    if evaluation.weights is None:
        return evaluation.rows - evaluation.positives
    return float(evaluation.weights @ ~evaluation.labels)


def tradeoffs_work(request: "TradeoffsRequest") -> int:
    """Work of trade-offs: reading the table, and values to read off."""
    read = 0 if request.options.at_lambda is None else request.options.at_lambda.size
    return int(table_work(request.evaluation) + read * len(request.options.indices) * _AT_LAMBDA)


def comparisons_work(request: "ComparisonsRequest") -> int:
    """Work of a comparison: reading the tables, every curve beside every other, and the names of every pair."""
    evaluations = request.evaluations.values()
    rows = len(evaluations) * sum(evaluation.rows for evaluation in evaluations)
    names = 2 * len(evaluations) * len(orjson.dumps(list(request.evaluations)))
    compared = len(evaluations) * _COMPARED + rows * _COMPARED_ROW
    return int(sum(map(table_work, evaluations)) + compared + names / _BYTES_PER_ROW)


def tradeoffs_written(tradeoffs: Tradeoffs) -> int:
    """Work to write the optimal curves, whose lengths only evaluating tells."""
    return sum(each.optimal.lambda_from.size for each in tradeoffs.tradeoffs.values()) * _OPTIMAL


def comparison_written(comparison: Comparison) -> int:
    """Work to write who is best where: any interval may list the names of all."""
    longest = max(len(orjson.dumps(name)) for name in comparison.names) + 1
    bests: list[Best | None] = [comparison.best_roc, comparison.best_pr, *comparison.best_tradeoff.values()]
    there = [best for best in bests if best is not None]
    listed = sum(len(names) for best in there for names in best.best) + sum(map(len, comparison.joint_hull.suppliers))
    size = sum(best.start.size for best in there) * _INTERVAL_BYTES + comparison.joint_hull.tp.size * _HULL_BYTES
    return (size + listed * longest) // _BYTES_PER_ROW
