"""Laws of the optimal trade-off curves, for all four indices, against the slow exact envelope.

Breakpoints are within 2e-15 of the exact ones, values read off are within a relative 1e-13. The exact inputs are the
doubles of the service's own table.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from service.curves.density import BetaDensity
from service.curves.errors import NoRowMeets
from service.curves.tradeoff import TradeoffOptions, evaluate_tradeoffs
from tests import reference, reference_tradeoff
from tests.properties.tradeoff_agreement import (
    BREAKPOINT,
    SOURCES,
    ULPS,
    UNDERFLOW,
    VALUE,
    Pair,
    asked,
    check,
    counts_of,
    intervals_by_counts,
    intervals_of,
    null,
    reported,
    rows_of,
)
from tests.reference import Row
from tests.support.strategies import LARGEST, Data, Rows, evaluation_of, examples, weighted_samples


@pytest.mark.parametrize("source", SOURCES)
@examples(80, fewest=3)
@given(st.data())
def test_each_interval_has_the_best_row_and_ends_at_exact_breakpoints(source: str, data: st.DataObject) -> None:
    """'One envelope of lines, with exact breakpoints', over any range, from the rows that meet any bounds."""
    drawn = data.draw(SOURCES[source])
    table, pairs = reported(evaluation_of(drawn))
    options = data.draw(asked(pairs))
    if rows_of(table, pairs, options):
        check(drawn, options)
    else:
        with pytest.raises(NoRowMeets):
            evaluate_tradeoffs(evaluation_of(drawn), options)


@pytest.mark.parametrize("source", SOURCES)
@examples(25, fewest=3)
@given(st.data())
def test_a_value_at_lambda_is_that_of_the_best_row(source: str, data: st.DataObject) -> None:
    """`at` is the envelope's value within 1e-13, in the requested order; at a shared breakpoint, that of the upper row.

    At 0 the value is the greatest precision, at 1 the greatest recall, to 4 ulp.
    """
    drawn = data.draw(SOURCES[source])
    evaluation = evaluation_of(drawn)
    table, pairs = reported(evaluation)
    rows = rows_of(table, pairs, TradeoffOptions())
    named = {row.threshold: row for row in rows}
    for index, tradeoff in evaluate_tradeoffs(evaluation).tradeoffs.items():
        optimal = tradeoff.optimal
        some = data.draw(st.lists(st.floats(0.0, 1.0), max_size=3))
        at = np.array([1.0, *optimal.lambda_from.tolist(), 0.5, *some, 0.5, 1.0])
        options = TradeoffOptions(indices=frozenset({index}), at_lambda=at)
        read = evaluate_tradeoffs(evaluation, options).tradeoffs[index].at
        assert read is not None
        assert read.at_lambda.tolist() == at.tolist()
        for lam, found, cut in zip(*(column.tolist() for column in (at, read.value, read.threshold)), strict=True):
            if 0 < lam < UNDERFLOW:
                continue
            best = reference_tradeoff.best_value(index, rows, table.positives, Fraction(lam))
            close = reference_tradeoff.relative(found, best) <= VALUE
            assert close or reference_tradeoff.apart(found, best) <= UNDERFLOW
            upper = null(float(optimal.threshold[np.searchsorted(optimal.lambda_from, lam, side="right") - 1]))
            # At an end, another row may be best on less than a double, too little for an interval.
            assert null(cut) == upper or is_above(index, named[null(cut)], named[upper], table.positives, lam)
        assert read.value[1] == pytest.approx(max(precision for precision, _ in pairs), rel=ULPS, abs=0)
        assert read.value[0] == read.value[-1] == pytest.approx(1.0, rel=ULPS)


def is_above(index: str, one: Row, other: Row, positives: Fraction, lam: float) -> bool:
    """Whether one row's f is greater than another's, exactly."""
    f, g = (reference_tradeoff.value(index, row, positives, Fraction(lam)) for row in (one, other))
    return bool(f > g)


def points_of(rows: Sequence[Row], positives: Fraction) -> dict[Pair, Pair]:
    """(recall, precision) of each row, by its (tp, fp)."""
    pairs = {(row.tp, row.fp): reference_tradeoff.precision_and_recall(row, positives) for row in rows}
    return {counts: (recall, precision) for counts, (precision, recall) in pairs.items()}


@pytest.mark.parametrize("source", SOURCES)
@examples(40, fewest=3)
@given(st.data())
def test_rows_best_somewhere_are_hull_rows_that_nothing_dominates(source: str, data: st.DataObject) -> None:
    """'The curves of the upper envelope all belong to dominating points' (H&N section 4.2), and to the ROC hull.

    'For Kulczynski they are the points of the convex hull of the precision-recall curve': its vertices.
    """
    drawn = data.draw(SOURCES[source])
    table, pairs = reported(evaluation_of(drawn))
    options = data.draw(asked(pairs))
    rows = rows_of(table, pairs, options)
    assume(rows)
    corners = [(row.fp, row.tp) for row in rows]
    points = points_of(rows, table.positives)
    for index, tradeoff in evaluate_tradeoffs(evaluation_of(drawn), options).tradeoffs.items():
        for (tp, fp), (low, high) in intervals_by_counts(tradeoff.optimal):
            if not table.whole and high - low <= BREAKPOINT:
                continue
            assert not reference.any_segment_above(Row(tp, fp), corners)
            recall, precision = points[tp, fp]
            others = [point for point in points.values() if point != (recall, precision)]
            assert not any(r >= recall and p >= precision for r, p in others)
            assert index != "kulczynski" or not under_a_segment((recall, precision), others)


def under_a_segment(point: Pair, others: Sequence[Pair]) -> bool:
    """Whether a point is on or below the segment between two others."""
    x, y = point
    return any(
        x_a < x < x_b and (y - y_a) * (x_b - x_a) <= (y_b - y_a) * (x - x_a)
        for (x_a, y_a), (x_b, y_b) in itertools.permutations(others, 2)
    )


def jaccard_lambda(f_lambda: Fraction) -> Fraction:
    """The lambda of jaccard that orders rows as a lambda of f_measure does.

    Both prefer the least (c P + fp)/tp: f_measure with c = l/(1 - l), jaccard with c = 2 l up to l = 1/2 and with
    c = 1/(2 (1 - l)) beyond. So each is the other with lambda stretched, one half staying in its place.
    """
    if f_lambda <= Fraction(1, 2):
        return f_lambda / (2 * (1 - f_lambda))
    return 1 - (1 - f_lambda) / (2 * f_lambda)


@pytest.mark.parametrize("source", SOURCES)
@examples(40, fewest=3)
@given(st.data())
def test_f_measure_and_jaccard_choose_the_same_rows(source: str, data: st.DataObject) -> None:
    """'These two are equivalent' (H&N section 3.3): the same rows, and breakpoints related by a fixed map.

    Neither map stretches anything by more than 2, so an interval longer than 4e-15 of the one is in the other. At one
    half the same row is best, and J = F / (2 - F).
    """
    drawn = data.draw(SOURCES[source])
    table, pairs = reported(evaluation_of(drawn))
    bounds = data.draw(asked(pairs))
    options = TradeoffOptions(
        min_precision=bounds.min_precision, min_recall=bounds.min_recall, at_lambda=np.array([0.5])
    )
    assume(rows_of(table, pairs, options))
    found = evaluate_tradeoffs(evaluation_of(drawn), options).tradeoffs
    one, other = found["f_measure"], found["jaccard"]
    mapped = [(jaccard_lambda(low), jaccard_lambda(high)) for low, high in intervals_of(one.optimal)]
    for these, those in (
        (list(zip(counts_of(one.optimal), mapped, strict=True)), intervals_by_counts(other.optimal)),
        (intervals_by_counts(other.optimal), list(zip(counts_of(one.optimal), mapped, strict=True))),
    ):
        for counts, (low, high) in these:
            if high - low > 2 * BREAKPOINT:
                match = dict(those)[counts]
                assert abs(match[0] - low) <= 2 * BREAKPOINT
                assert abs(match[1] - high) <= 2 * BREAKPOINT
    assert one.at is not None
    assert other.at is not None
    f = one.at.value[0]
    assert other.at.value[0] == pytest.approx(f / (2 - f), rel=2 * VALUE, abs=UNDERFLOW)
    if table.whole and table.positives < 100:
        assert counts_of(one.optimal) == counts_of(other.optimal)


@examples(60)
@given(weighted_samples(), st.integers(-60, 60))
def test_weights_times_a_power_of_two_give_the_same_tradeoffs(data: Data, power: int) -> None:
    """Multiplying all weights by a power of two changes only the counts, and not by a bit."""
    assert data.weights is not None
    scaled = replace(data, weights=[math.ldexp(weight, power) for weight in data.weights])
    options = TradeoffOptions(at_lambda=np.array([0.0, 0.1, 0.5, 0.9, 1.0]), lambda_density=BetaDensity(0.5, 2.0))
    one, other = (evaluate_tradeoffs(evaluation_of(source), options) for source in (data, scaled))
    for index, tradeoff in one.tradeoffs.items():
        again = other.tradeoffs[index]
        assert (again.area, again.uninformative_from) == (tradeoff.area, tradeoff.uninformative_from)
        for name in ("lambda_from", "lambda_to", "threshold", "precision", "recall"):
            np.testing.assert_array_equal(getattr(again.optimal, name), getattr(tradeoff.optimal, name))
        for name in ("tp", "fp"):
            values = getattr(tradeoff.optimal, name)
            np.testing.assert_array_equal(getattr(again.optimal, name), np.ldexp(values, power))
        assert again.at is not None
        assert tradeoff.at is not None
        np.testing.assert_array_equal(again.at.value, tradeoff.at.value)
        np.testing.assert_array_equal(again.at.threshold, tradeoff.at.threshold)


ADVERSARIAL: dict[str, Data | Rows] = {
    # tp + fp are 1, 3, 9 with tp 1, 2, 4: on one line in (log n, log tp), where fowlkes_mallows is straight.
    "collinear logarithms": Rows([1, 2, 4], [0, 1, 5], 4, 1000),
    "collinear logarithms, one nudged": Rows([1, 2, 4], [0, 1.0000000000000002, 5], 4, 1000),
    # precision 1, 2/3, 1/3 at recall 1/4, 1/2, 3/4: on one line where kulczynski is straight.
    "collinear precision and recall": Rows([2, 4, 6], [0, 2, 12], 8, 1000),
    # (fp, tp) on one line not through the origin, where f_measure and jaccard are straight.
    "collinear counts": Rows([5, 6, 7, 8], [0, 10, 20, 30], 10, 1000),
    "all on one ray": Rows([1, 2, 3, 4], [3, 6, 9, 12], 5, 15),
    "one row many times": Rows([3] * 6, [1] * 6, 5, 9),
    "equal rows with thresholds": Rows([3, 3, 4], [1, 1, 2], 5, 9, [0.5, 0.7, 0.1]),
    "worst ranking": Rows([0, 0], [3, 7], 5, 7),
    "perfect ranking": Rows([2, 5], [0, 0], 5, 7),
    "ties of precision": Rows([1, 2, 3], [1, 2, 3], 6, 100),
    "equal recall": Rows([3, 3, 3], [1, 2, 3], 6, 100),
    "equal numbers called positive": Rows([1, 2, 3], [3, 2, 1], 6, 100),
    "next to 2^53": Rows([LARGEST - 2, LARGEST - 1, LARGEST], [LARGEST - 3, LARGEST - 2, LARGEST], LARGEST, LARGEST),
    "a unit apart at 2^53": Rows(
        [k * (LARGEST // 8) + k % 2 for k in range(1, 8)], [k * (LARGEST // 8) for k in range(1, 8)], LARGEST, LARGEST
    ),
    "nearly a square root at 2^53": Rows(
        [2**20 - 1, 2**26, 2**45 + 1], [0, LARGEST // 2, LARGEST - 1], LARGEST, LARGEST
    ),
    "one tiny positive first": Data([4, 3, 2, 1], [True, False, True, False], [5e-324, 1e100, 1e-150, 1.0]),
    "weights from 1e-300 to 1e100": Data(
        [float(k) for k in range(9, 0, -1)],
        [True, False, True, True, False, True, False, True, False],
        [1e-300, 1e-300, 1e-250, 1e-200, 1e-100, 1e-10, 1.0, 1e100, 1e100],
    ),
    "lambdas next to 0": Rows([1e-10, 1.0], [0.0, 1e-30], 1.0, 1.0),
    "jaccard changes at one half": Rows([4], [0], 5, 5),
}


@pytest.mark.parametrize("name", ADVERSARIAL)
def test_ties_and_ranges_of_a_few_doubles_have_exact_envelopes(name: str, *, runs_all: bool) -> None:
    """Ties in every space in which an index is straight, and ranges a few doubles wide around each breakpoint."""
    found = check(ADVERSARIAL[name], TradeoffOptions())
    breakpoints = {at for tradeoff in found.tradeoffs.values() for at in tradeoff.optimal.lambda_from.tolist()}
    narrow: set[tuple[float, float]] = set()
    for at in {0.0, 0.5} | breakpoints:
        above = math.nextafter(math.nextafter(at, 1.0), 1.0)
        below = math.nextafter(math.nextafter(at, 0.0), 0.0)
        narrow |= {(below, above), (at, above), (below, at) if at else (0.0, 5e-324)}
    for lambda_range in sorted(narrow)[:: 1 if runs_all else 3]:
        check(ADVERSARIAL[name], TradeoffOptions(lambda_range=lambda_range))


def test_at_lambda_need_not_lie_in_the_range() -> None:
    """The range limits `optimal` and `area`; values are read from the whole envelope."""
    rows, at = Rows([45, 81], [5, 81], 90, 1000).counts(), np.array([0.0, 0.45, 1.0])
    whole = evaluate_tradeoffs(rows, TradeoffOptions(at_lambda=at)).tradeoffs
    narrow = evaluate_tradeoffs(rows, TradeoffOptions(at_lambda=at, lambda_range=(0.4, 0.5))).tradeoffs
    for index, tradeoff in whole.items():
        other = narrow[index].at
        assert tradeoff.at is not None
        assert other is not None
        assert other.value.tolist() == tradeoff.at.value.tolist()
