"""Requests for trade-offs, and how the answers are compared with the slow exact envelope; not a test by itself."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from fractions import Fraction
from typing import TypeAlias

import numpy as np
from hypothesis import currently_in_test_context, note
from hypothesis import strategies as st

from service.curves.counts import Counts
from service.curves.evaluation import CurvesOptions, evaluate_curves
from service.curves.sample import Sample
from service.curves.tradeoff import OptimalCurve, TradeoffOptions, Tradeoffs, evaluate_tradeoffs
from tests import reference_tradeoff
from tests.reference import Row, Table
from tests.support.strategies import (
    Data,
    Rows,
    big_sweeps,
    classifiers,
    evaluation_of,
    fractional_sweeps,
    lopsided_sweeps,
    nudged_lines,
    samples,
    sweeps,
    tied_scores,
    tilted_samples,
    weighted_samples,
    wild_weights,
)

BREAKPOINT = 2e-15
VALUE = 1e-13
ULPS = 4 * 2.0**-52
UNDERFLOW = 2.0**-1000
"""Near the least normal double, neither a value nor a lambda has a bounded relative error."""

SOURCES: dict[str, st.SearchStrategy[Data | Rows]] = {
    "samples": samples(most=16),
    "tied samples": samples(score=tied_scores),
    "weighted samples": weighted_samples(most=14),
    "weights of any size": weighted_samples(weight=wild_weights, most=9),
    "classes of any total": tilted_samples(),
    "sweeps": sweeps(),
    "classifiers": classifiers(),
    "big sweeps": big_sweeps(),
    "lopsided sweeps": lopsided_sweeps(),
    "fractional sweeps": fractional_sweeps(most=8),
    "nudged lines": nudged_lines(most=8),
}

Pair: TypeAlias = tuple[Fraction, Fraction]
Pairs: TypeAlias = list[tuple[float, float]]


def reported(evaluation: Sample | Counts) -> tuple[Table, Pairs]:
    """The service's table in fractions, and the precision and recall that it reports for each row (0 for null)."""
    curves = evaluate_curves(evaluation, CurvesOptions(include=frozenset({"points"})))
    assert curves.points is not None
    columns = curves.points.tp.tolist(), curves.points.fp.tolist(), curves.points.threshold.tolist()
    rows = tuple(Row(Fraction(t), Fraction(f), null(cut)) for t, f, cut in zip(*columns, strict=True))
    pairs = np.nan_to_num(np.column_stack((curves.points.precision, curves.points.recall)))
    return Table(rows, Fraction(curves.positives), Fraction(curves.negatives)), [(p, r) for p, r in pairs.tolist()]


def null(threshold: float) -> float | None:
    """None for NaN."""
    return None if math.isnan(threshold) else threshold


@st.composite
def ranges(draw: st.DrawFn) -> tuple[float, float]:
    """Ranges of lambda: the whole, halves, any, and some a few doubles wide."""
    fixed = [(0.0, 1.0), (0.0, 0.5), (0.5, 1.0), (0.25, 0.75), (0.0, 1e-9), (math.nextafter(1.0, 0.0), 1.0)]
    start = draw(st.one_of(st.just(0.0), st.floats(1e-9, 0.999)))
    few = (start, math.nextafter(math.nextafter(start, 1.0), 1.0)) if start else (0.0, 1e-100)
    low, high = sorted([start, draw(st.floats(1e-9, 1.0))])
    return draw(st.sampled_from([*fixed, few, (low, high if low < high else 1.0)]))


@st.composite
def asked(draw: st.DrawFn, pairs: Pairs) -> TradeoffOptions:
    """A range, and often bounds that some row just meets."""
    precisions, recalls = zip(*pairs, strict=True)
    return TradeoffOptions(
        min_precision=draw(st.sampled_from([0.0, 0.0, 0.0, *precisions])),
        min_recall=draw(st.sampled_from([0.0, 0.0, 0.0, *recalls])),
        lambda_range=draw(ranges()),
    )


def rows_of(table: Table, pairs: Pairs, options: TradeoffOptions) -> list[Row]:
    """The rows that take part."""
    return reference_tradeoff.taking_part(table, options.min_precision, options.min_recall, pairs)


def counts_of(curve: OptimalCurve) -> list[Pair]:
    """tp and fp of each interval's row."""
    return [(Fraction(tp), Fraction(fp)) for tp, fp in zip(curve.tp.tolist(), curve.fp.tolist(), strict=True)]


def intervals_of(curve: OptimalCurve) -> list[Pair]:
    """The ends of each interval."""
    ends = zip(curve.lambda_from.tolist(), curve.lambda_to.tolist(), strict=True)
    return [(Fraction(low), Fraction(high)) for low, high in ends]


def intervals_by_counts(curve: OptimalCurve) -> list[tuple[Pair, Pair]]:
    """Each interval's row with its ends."""
    return list(zip(counts_of(curve), intervals_of(curve), strict=True))


def check(source: Data | Rows, options: TradeoffOptions) -> Tradeoffs:
    """Evaluate, compare with the reference, and return the answer."""
    evaluation = evaluation_of(source)
    table, pairs = reported(evaluation)
    answer = evaluate_tradeoffs(evaluation, options)
    assert tuple(answer.tradeoffs) == reference_tradeoff.INDICES
    assert (answer.positives, answer.negatives) == (float(table.positives), float(table.negatives))
    rows = rows_of(table, pairs, options)
    for index, tradeoff in answer.tradeoffs.items():
        is_a_cover(tradeoff.optimal, options.lambda_range)
        shows_first_rows(tradeoff.optimal, table, pairs, rows)
        is_optimal_inside(index, tradeoff.optimal, rows, table.positives)
        exact = reference_tradeoff.envelope(index, rows, table.positives, *options.lambda_range)
        has_exact_breakpoints(tradeoff.optimal, exact)
        ends_in_all = counts_of(tradeoff.optimal)[-1] == (table.positives, table.negatives)
        assert tradeoff.uninformative_from == (float(tradeoff.optimal.lambda_from[-1]) if ends_in_all else None)
    return answer


def is_a_cover(curve: OptimalCurve, asked_for: tuple[float, float]) -> None:
    """'Ends shared to the bit, every interval of positive length, each row different from its neighbours'.'"""
    assert (curve.lambda_from[0], curve.lambda_to[-1]) == asked_for
    assert curve.lambda_from[1:].tolist() == curve.lambda_to[:-1].tolist()
    assert (curve.lambda_from < curve.lambda_to).all()
    assert all(one != other for one, other in itertools.pairwise(counts_of(curve)))


def shows_first_rows(curve: OptimalCurve, table: Table, pairs: Pairs, rows: Sequence[Row]) -> None:
    """'Of rows with equal counts the first of the table is named', with the precision and recall of the curves."""
    part = {(row.tp, row.fp) for row in rows}
    first = {(r.tp, r.fp): (r.threshold, *pair) for r, pair in zip(reversed(table.rows), reversed(pairs), strict=True)}
    columns = curve.threshold.tolist(), curve.precision.tolist(), curve.recall.tolist()
    for counts, (threshold, precision, recall) in zip(counts_of(curve), zip(*columns, strict=True), strict=True):
        assert counts in part
        assert (null(threshold), precision, recall) == first[counts]


def is_optimal_inside(index: str, curve: OptimalCurve, rows: Sequence[Row], positives: Fraction) -> None:
    """In the middle of each interval, no row is above the named one; if the interval is short, by at most 1e-12."""
    for (tp, fp), (low, high) in intervals_by_counts(curve):
        if high < UNDERFLOW:
            continue
        middle = (low + high) / 2
        best = reference_tradeoff.best_value(index, rows, positives, middle)
        named = reference_tradeoff.value(index, Row(tp, fp), positives, middle)
        assert named == best if high - low > 1e-9 else reference_tradeoff.relative(named, best) <= 1e-12


def has_exact_breakpoints(curve: OptimalCurve, exact: Sequence[reference_tradeoff.Interval]) -> None:
    """Each breakpoint is an exact one, to 2e-15, and no longer interval is lost or moved."""
    apart = reference_tradeoff.apart
    found = intervals_by_counts(curve)
    if currently_in_test_context():
        note(f"{[(float(i.start), float(i.end), i.row) for i in exact]}")
    for _, (low, _) in found[1:]:
        assert min(apart(low, end) for interval in exact for end in (interval.start, interval.end)) <= BREAKPOINT
    for interval in exact:
        if apart(interval.start, interval.end) > BREAKPOINT:
            same = [ends for counts, ends in found if counts == (interval.row.tp, interval.row.fp)]
            assert len(same) == 1
            assert apart(same[0][0], interval.start) <= BREAKPOINT
            assert apart(same[0][1], interval.end) <= BREAKPOINT
