"""The work of resamples, in rows as service/wire/budget.py defines them: draws, and what is read off each resample.

Constants state their measurements, up to those of hostile requests. Knows evaluations and the options of intervals.
"""

from collections.abc import Sequence

from service.curves.confusion import Evaluation
from service.curves.sample import Sample
from service.inference.bootstrap import MOST_LEFT_OUT
from service.inference.draws import CROWD
from service.inference.intervals import IntervalOptions

_RESAMPLE = 4
"""A resample, however short: 1 to 2 µs."""

_DRAWN_EXAMPLE = 1 / 50
"""A drawn example: 8 ns."""

_KIND = 8
"""A kind: many equal examples, drawn together. That takes 0.08 µs, as long as this many single examples."""

_AREA_ROW = 1 / 30
"""A row of a resample's table, for an area: 10 to 17 ns."""

_RESAMPLE_READING, _RESAMPLE_READING_ROW = 30, 1 / 50
"""A value of a resample's curve: 10 to 15 µs, plus 5 ns for each row of the curve."""

_SORTED = 1 / 5
"""A replicate of a metric, to be sorted for an interval: 0.1 µs."""


def resampling_work(
    evaluations: Sequence[Evaluation], how: IntervalOptions, *, areas: int, readings: int = 0, intervals: int = 0
) -> float:
    """Work of this many areas and values of curves for every resample of each evaluation, and this many intervals."""
    each = sum(
        _RESAMPLE
        + _drawn(evaluation) * _DRAWN_EXAMPLE
        + areas * evaluation.rows * _AREA_ROW
        + readings * (_RESAMPLE_READING + evaluation.rows * _RESAMPLE_READING_ROW)
        for evaluation in evaluations
    )
    left_out = sum(min(evaluation.rows + 2, MOST_LEFT_OUT) * 2 for evaluation in evaluations)
    count = how.resamples + (left_out if how.method == "bca" else 0)
    return count * each + intervals * how.resamples * _SORTED


def _drawn(evaluation: Evaluation) -> float:
    """The approximate draws per resample: the examples of counts are drawn one by one, unless a kind has many."""
    if isinstance(evaluation, Sample):
        return evaluation.rows
    kinds = evaluation.rows + 1
    totals = (evaluation.positives, evaluation.negatives)
    return sum(total if total <= CROWD * kinds else _KIND * kinds for total in totals)
