"""Operating points: a curve's value at a recall, precision or rate, and the best row; metrics at given thresholds."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, note
from hypothesis import strategies as st

from service.curves.confusion import ConfusionTable, Evaluation
from service.curves.indices import INDICES
from service.curves.operating_points import (
    METRICS,
    OperatingPoint,
    OperatingPoints,
    operating_points,
    row_at_threshold,
    value_of,
)
from service.curves.pr import AtRecall, interpolated_pr
from service.curves.tradeoff import TradeoffOptions, evaluate_tradeoffs
from service.inference.rates import Rate
from tests import reference_operating_points as twin
from tests.reference import Table, correctly_rounded
from tests.reference_tradeoff import relative, value
from tests.support.strategies import (
    LARGEST,
    Data,
    Rows,
    big_sweeps,
    classifiers,
    confusion_of,
    examples,
    fractional_sweeps,
    lopsided_sweeps,
    nudged_lines,
    samples,
    sweeps,
    tilted_samples,
    weighted_samples,
)

STEP = Rows([2, 2, 4], [0, 2, 2], 5, 4, [0.9, 0.7, 0.4])
"""Precision is 1 up to recall .4, falls vertically to 1/2, rises to 2/3 at recall .8, and falls to 5/9."""

places = st.one_of(st.floats(0.0, 1.0), st.sampled_from([0.0, 1.0, 0.5, 1 / 3, 2 / 3, 0.25, 0.75, 1e-9, 1 - 2**-53]))


def read(table: ConfusionTable, metric: str, *at: float) -> OperatingPoints:
    return operating_points(table, [OperatingPoint(metric, each) for each in at])


def rows_of(found: OperatingPoints) -> list[tuple[float, float, float]]:
    return list(zip(found.threshold.tolist(), found.tp.tolist(), found.fp.tolist(), strict=True))


def exactly_reported(table: ConfusionTable) -> Table:
    """The reference's table, made of the doubles in the service's table."""
    thresholds = [None if math.isnan(cut) else cut for cut in table.thresholds.tolist()]
    rows = zip(table.tp.tolist(), table.fp.tolist(), thresholds, strict=True)
    made = tuple(twin.Row(Fraction(tp), Fraction(fp), cut) for tp, fp, cut in rows)
    return Table(made, Fraction(table.positives), Fraction(table.negatives))


class TestByHand:
    @pytest.mark.parametrize(
        ("metric", "at", "value", "row"),
        [
            ("precision_at_recall", 0.0, 1.0, (0.9, 2, 0)),
            ("precision_at_recall", 0.2, 1.0, (0.9, 2, 0)),
            ("precision_at_recall", 0.4, 1.0, (0.9, 2, 0)),  # the step's least fp
            ("precision_at_recall", 0.6, 0.6, (0.4, 4, 2)),  # 3 of 5: counts are linear, precision is not
            ("precision_at_recall", 0.8, 2 / 3, (0.4, 4, 2)),
            ("precision_at_recall", 0.9, 4.5 / 7.5, (math.nan, 5, 4)),
            ("precision_at_recall", 1.0, 5 / 9, (math.nan, 5, 4)),
            ("recall_at_precision", 0.0, 1.0, (math.nan, 5, 4)),
            ("recall_at_precision", 5 / 9, 1.0, (math.nan, 5, 4)),
            ("recall_at_precision", 0.6, 0.9, (0.4, 4, 2)),  # t = .6 (3 t - 6): 4.5
            ("recall_at_precision", 0.7, 0.4, (0.9, 2, 0)),  # the vertical step: no recall lies in between
            ("recall_at_precision", 1.0, 0.4, (0.9, 2, 0)),
            ("tpr_at_fpr", 0.0, 0.4, (0.9, 2, 0)),
            ("tpr_at_fpr", 0.25, 0.4, (0.9, 2, 0)),
            ("tpr_at_fpr", 0.5, 0.8, (0.4, 4, 2)),  # the step's top
            ("tpr_at_fpr", 0.75, 0.9, (0.4, 4, 2)),
            ("tpr_at_fpr", 1.0, 1.0, (math.nan, 5, 4)),
            ("f_measure", 0.5, 8 / 11, (0.4, 4, 2)),
            ("kulczynski", 0.0, 1.0, (0.9, 2, 0)),
            ("jaccard", 1.0, 1.0, (math.nan, 5, 4)),
        ],
    )
    def test_a_table_with_a_step(self, metric: str, at: float, value: float, row: tuple[float, float, float]) -> None:
        found = read(confusion_of(STEP), metric, at)
        assert found.value.tolist() == pytest.approx([value], abs=1e-15)
        assert rows_of(found)[0] == pytest.approx(row, nan_ok=True)

    def test_no_row_is_precise_enough(self) -> None:
        found = read(confusion_of(Rows([1], [1], 2, 4)), "recall_at_precision", 0.75)
        assert np.isnan([found.value, found.threshold, found.tp, found.fp]).all()

    def test_the_origin_meets_a_rate_if_no_row_does(self) -> None:
        found = read(confusion_of(Rows([1], [1], 2, 4, [0.5])), "tpr_at_fpr", 0.125)
        assert found.value.tolist() == [0.25]
        assert rows_of(found) == [(pytest.approx(math.nan, nan_ok=True), 0, 0)]

    def test_leading_negatives_make_precision_start_at_zero(self) -> None:
        table = confusion_of(Rows([0, 2], [3, 3], 2, 4))
        assert read(table, "precision_at_recall", 0.0, 0.5, 1.0).value.tolist() == [0.0, 0.25, 0.4]
        assert read(table, "recall_at_precision", 0.25, 0.5).value.tolist() == [
            1.0,
            pytest.approx(math.nan, nan_ok=True),
        ]

    def test_of_rows_of_equal_precision_the_one_of_more_recall(self) -> None:
        assert rows_of(read(confusion_of(Rows([1, 2], [1, 2], 4, 4, [0.9, 0.8])), "precision_at_recall", 0.1)) == [
            pytest.approx((math.nan, 4, 4), nan_ok=True)
        ]

    def test_of_equal_rows_the_first(self) -> None:
        table = confusion_of(Rows([2, 2, 2], [1, 1, 1], 4, 40, [0.7, 0.9, 0.8]))
        for metric, at in (("precision_at_recall", 0.5), ("recall_at_precision", 0.6), ("tpr_at_fpr", 0.03)):
            assert rows_of(read(table, metric, at)) == [(0.9, 2, 1)]

    def test_many_are_read_in_the_order_asked_for(self) -> None:
        asked = [OperatingPoint(metric, at) for at in (0.75, 0.25) for metric in METRICS[::-1]]
        table = confusion_of(STEP)
        found = operating_points(table, asked)
        assert found.metric == METRICS[::-1] * 2
        assert found.at.tolist() == [0.75] * len(METRICS) + [0.25] * len(METRICS)
        alone = [read(table, point.metric, point.at) for point in asked]
        assert found.value.tolist() == [each.value[0] for each in alone]
        assert rows_of(found) == [pytest.approx(rows_of(each)[0], nan_ok=True) for each in alone]
        assert operating_points(table, []).value.size == 0

    def test_minus_zero_is_zero(self) -> None:
        assert math.copysign(1, read(confusion_of(STEP), "tpr_at_fpr", -0.0).at[0]) == 1

    def test_a_set_that_is_not_a_sweep_has_rows_and_indices(self) -> None:
        table = confusion_of(Rows([6, 9, 8], [1, 4, 6], 10, 10, [0.5, 0.4, 0.3]))
        asked = [("precision_at_recall", 0.85), ("recall_at_precision", 0.55), ("tpr_at_fpr", 0.7), ("jaccard", 0.5)]
        found = operating_points(table, [OperatingPoint(*each) for each in asked])
        assert np.isnan(found.value).tolist() == [True, True, True, False]
        assert rows_of(found) == [(0.4, 9, 4)] * 4
        assert found.value[3] == 9 / 14


def has_the_value(found: float, exact: twin.Exact | None, metric: str) -> bool:
    """Values of curves are the nearest doubles; those of indices within 1e-15, a power within 1e-12, relatively."""
    if exact is None:
        return math.isnan(found)
    if metric in INDICES:
        return found == exact or relative(found, exact) <= (1e-12 if metric == "fowlkes_mallows" else 1e-15)
    return found == correctly_rounded(exact)


def agrees(source: Rows, metric: str, at: float) -> None:
    table = confusion_of(source)
    exact = exactly_reported(table)
    found = read(table, metric, at)
    note(f"{found}")
    assert has_the_value(float(found.value[0]), twin.value_at(exact, metric, at), metric)
    ((threshold, tp, fp),) = rows_of(found)
    if metric in INDICES:
        near = twin.rows_of_index(exact, metric, at, Fraction(1, 10**12))
        assert (tp, fp) in {(row.tp, row.fp) for row in near}
        return
    row = twin.row_at(exact, metric, at)
    if row is None:
        assert np.isnan([threshold, tp, fp]).all()
        return
    assert (tp, fp) == (row.tp, row.fp)
    assert threshold == row.threshold if row.threshold is not None else math.isnan(threshold)


@st.composite
def rated_places(draw: st.DrawFn, source: Rows, metric: str) -> float:
    """Any place, a row's reported value, or a double next to that."""
    exact = source.table()
    of_rows = [twin.rates(exact, row) for row in exact.rows]
    reported = {
        "precision_at_recall": [each.recall for each in of_rows],
        "recall_at_precision": [each.precision for each in of_rows if each.precision is not None],
        "tpr_at_fpr": [each.fpr for each in of_rows],
    }.get(metric, [0.5])
    place = draw(st.one_of(places, st.sampled_from(reported)))
    place = draw(st.sampled_from([place, place, math.nextafter(place, 0.0), math.nextafter(place, 1.0)]))
    return min(max(place, 0.0), 1.0)


@pytest.mark.parametrize("metric", METRICS)
class TestAgainstTheReference:
    @examples(120)
    @given(source=st.one_of(sweeps(), classifiers()), data=st.data())
    def test_whole_counts(self, metric: str, source: Rows, data: st.DataObject) -> None:
        agrees(source, metric, data.draw(rated_places(source, metric)))

    @examples(60)
    @given(source=st.one_of(big_sweeps(), lopsided_sweeps()), data=st.data())
    def test_counts_up_to_the_largest(self, metric: str, source: Rows, data: st.DataObject) -> None:
        """P + N may exceed 2^53."""
        agrees(source, metric, data.draw(rated_places(source, metric)))

    @examples(80)
    @given(source=st.one_of(fractional_sweeps(), nudged_lines()), at=places)
    def test_fractional_counts(self, metric: str, source: Rows, at: float) -> None:
        if metric == "precision_at_recall":  # at a row it is the quotient that `points` has
            table = confusion_of(source)
            curve = interpolated_pr(table, AtRecall(np.array([at])), math.inf)
            assert read(table, metric, at).value[0] == pytest.approx(curve.precision[0], rel=2**-51)
        elif metric == "recall_at_precision":
            falls_below(source, at)
        else:
            agrees(source, metric, at)


def falls_below(source: Rows, precision: float) -> None:
    """Whether the curve has this precision at the recall, and nowhere beyond it."""
    table = confusion_of(source)
    found = float(read(table, "recall_at_precision", precision).value[0])
    if math.isnan(found):
        assert not (table.precision >= precision).any()
        return
    near = read(table, "precision_at_recall", found).value[0]
    assert near >= precision * (1 - 1e-9) or found in table.tp / table.positives
    beyond = np.linspace(found, 1.0, 9)[1:]
    assert (
        read(table, "precision_at_recall", *beyond[beyond > found * (1 + 1e-9)]).value <= precision * (1 + 1e-9)
    ).all()


class TestLaws:
    @examples(80)
    @given(source=st.one_of(sweeps(), big_sweeps()), at=st.lists(places, min_size=1, max_size=4))
    def test_precision_at_recall_is_the_interpolated_curve(self, source: Rows, at: list[float]) -> None:
        """The same value as interpolation with `at_recall`, bit for bit."""
        table = confusion_of(source)
        curve = interpolated_pr(table, AtRecall(np.array(at)), math.inf)
        assert read(table, "precision_at_recall", *at).value.tolist() == curve.precision.tolist()

    @examples(80)
    @given(source=st.one_of(sweeps(), classifiers(), fractional_sweeps()), at=st.lists(places, min_size=1, max_size=4))
    def test_an_index_is_what_tradeoffs_reads(self, source: Rows, at: list[float]) -> None:
        answer = evaluate_tradeoffs(source.counts(), TradeoffOptions(at_lambda=np.array(at)))
        for name, tradeoff in answer.tradeoffs.items():
            assert tradeoff.at is not None
            found = read(confusion_of(source), name, *at)
            assert found.value.tolist() == tradeoff.at.value.tolist()
            np.testing.assert_array_equal(found.threshold, tradeoff.at.threshold)

    @examples(80)
    @given(source=sweeps(), at=places)
    def test_the_best_row_is_on_the_curve_or_under_it(self, source: Rows, at: float) -> None:
        """A row must meet the condition, so no row does better than the curve where the curve only falls."""
        table = confusion_of(source)
        for metric, reaches in (("recall_at_precision", table.positives), ("tpr_at_fpr", table.positives)):
            found = read(table, metric, at)
            if not np.isnan(found.tp[0]):
                assert found.value[0] >= found.tp[0] / reaches

    @examples(80)
    @given(
        source=st.one_of(
            samples(), weighted_samples(), tilted_samples(), sweeps(), fractional_sweeps(), nudged_lines()
        ),
        metric=st.sampled_from(twin.CURVE_METRICS),
        at=places,
    )
    def test_in_doubles_it_is_the_same_value(self, source: Rows | Data, metric: str, at: float) -> None:
        """The fast form has the same value unless that depends on the last bits of the counts."""
        table = confusion_of(source)
        found, light = float(read(table, metric, at).value[0]), value_of(metric, at, table.tp, table.fp)
        assert math.isnan(found) == math.isnan(light)
        assert math.isnan(found) or 0 <= light <= 1
        assert math.isnan(found) or is_near(table, metric, light, found)

    @examples(80)
    @given(source=st.one_of(samples(), weighted_samples()), metric=st.sampled_from(twin.CURVE_METRICS), at=places)
    def test_repeated_rows_change_no_value(self, source: Data, metric: str, at: float) -> None:
        """In a resample, too, some rows have no examples."""
        table = confusion_of(source)
        tp, fp = np.repeat(table.tp, 3), np.repeat(table.fp, 3)
        once, thrice = value_of(metric, at, table.tp, table.fp), value_of(metric, at, tp, fp)
        assert once == thrice or (math.isnan(once) and math.isnan(thrice))


def is_near(table: ConfusionTable, metric: str, light: float, found: float) -> bool:
    """Within 1e-12; a recall may move further along its segment if precision falls slowly there."""
    slack = 1e-12 * found
    if metric == "recall_at_precision":
        recall = table.tp / table.positives
        after = int(np.searchsorted(recall, max(light, found)))
        fall = np.ptp(read(table, "precision_at_recall", *recall[after - 1 : after + 1]).value)
        slack += (recall[after] - recall[after - 1]) * 1e-14 / max(fall, 1e-14)
    return abs(light - found) <= slack


def rate(name: str, weight: float | None, counts: tuple[float, float], totals: tuple[float, float]) -> float:
    """A metric, or an index at λ, of tp and fp."""
    whole = all(count.is_integer() for count in (*counts, *totals))
    return float(Rate(name, weight, *totals).of_counts(*(np.array([count]) for count in counts), whole=whole)[0])


def at_threshold(
    table: ConfusionTable, evaluation: Evaluation, threshold: float, name: str, weight: float | None = None
) -> tuple[float, int | None]:
    """A metric at a threshold, and its row."""
    row = row_at_threshold(table, evaluation, threshold)
    if row is None:
        return math.nan, None
    return rate(name, weight, (table.tp[row], table.fp[row]), (table.positives, table.negatives)), row


class TestDeployedThresholds:
    DATA = Data([0.9, 0.8, 0.7, 0.7, 0.4, 0.2], [True, False, True, True, False, False])

    @pytest.mark.parametrize(
        ("threshold", "expected"), [(2.0, (0, 0)), (0.9, (1, 0)), (0.75, (1, 1)), (0.7, (3, 1)), (-1.0, (3, 3))]
    )
    def test_of_a_sample_any_threshold_has_a_row(self, threshold: float, expected: tuple[int, int]) -> None:
        sample = self.DATA.sample()
        table = ConfusionTable.of(sample)
        recall, row = at_threshold(table, sample, threshold, "recall")
        assert row is not None
        assert (table.tp[row], table.fp[row]) == expected
        assert recall == expected[0] / 3
        assert at_threshold(table, sample, threshold, "fpr") == (expected[1] / 3, row)
        precision = at_threshold(table, sample, threshold, "precision")[0]
        assert precision == expected[0] / sum(expected) if any(expected) else math.isnan(precision)
        assert at_threshold(table, sample, threshold, "f_measure", 0.5)[0] == 2 * expected[0] / (3 + sum(expected))

    @examples(80)
    @given(
        source=samples(),
        cut=st.one_of(st.floats(allow_nan=False, allow_infinity=False), st.sampled_from([0.0, -0.0, 0.1, 0.5])),
        index=st.integers(0),
    )
    def test_a_row_calls_what_scores_at_or_beyond_the_threshold(self, source: Data, cut: float, index: int) -> None:
        for threshold in (cut, source.scores[index % len(source.scores)]):
            sample = source.sample()
            table = ConfusionTable.of(sample)
            row = at_threshold(table, sample, threshold, "recall")[1]
            lower = source.lower_is_positive
            expected = twin.called_at(source.scores, source.labels, threshold, lower_is_positive=lower)
            assert row is not None
            assert (table.tp[row], table.fp[row]) == expected

    def test_of_counts_only_what_they_list(self) -> None:
        counts = Rows([1, 2, 2, 3], [0, 1, 1, 2], 4, 4, [0.9, 0.5, 0.5, -0.0]).counts()
        table = ConfusionTable.of(counts)
        assert at_threshold(table, counts, 0.9, "recall") == (0.25, 1)
        assert at_threshold(table, counts, 0.5, "precision") == (2 / 3, 2)
        assert at_threshold(table, counts, 0.0, "fpr") == (0.5, 4)
        value, row = at_threshold(table, counts, 0.7, "recall")
        assert (math.isnan(value), row) == (True, None)

    def test_counts_with_a_threshold_on_different_rows_are_ambiguous(self) -> None:
        counts = Rows([1, 2], [0, 1], 4, 4, [0.5, 0.5]).counts()
        value, row = at_threshold(ConfusionTable.of(counts), counts, 0.5, "recall")
        assert (math.isnan(value), row) == (True, None)

    def test_precision_beyond_the_largest_sum_is_that_of_the_points(self) -> None:
        counts = Rows([3, LARGEST - 1], [1, LARGEST], LARGEST, LARGEST, [0.9, 0.8]).counts()
        table = ConfusionTable.of(counts)
        found = at_threshold(table, counts, 0.8, "precision")[0]
        assert found == table.precision[2] == correctly_rounded(Fraction(LARGEST - 1, 2 * LARGEST - 1))

    @pytest.mark.parametrize("name", INDICES)
    def test_a_row_without_true_positives_has_an_index_of_zero(self, name: str) -> None:
        assert rate(name, 0.0, (0.0, 0.0), (3.0, 4.0)) == rate(name, 0.5, (0.0, 2.0), (3.0, 4.0)) == 0.0

    @examples(80)
    @given(source=st.one_of(sweeps(), classifiers(), nudged_lines()), data=st.data())
    def test_a_rate_is_that_of_its_counts(self, source: Rows, data: st.DataObject) -> None:
        """A resample's row is computed from its counts alone, and equals the table's row."""
        table = confusion_of(source)
        row = data.draw(st.integers(0, table.tp.size - 1))
        counts, totals = (table.tp[row], table.fp[row]), (table.positives, table.negatives)
        np.testing.assert_array_equal(rate("precision", None, counts, totals), table.precision[row])
        assert rate("recall", None, counts, totals) == table.tp[row] / table.positives
        assert rate("fpr", None, counts, totals) == table.fp[row] / table.negatives
        exact = exactly_reported(table)
        for name in INDICES:
            at = data.draw(places)
            found = rate(name, at, counts, totals)
            expected = value(name, exact.rows[row], exact.positives, Fraction(at)) if counts[0] else Fraction(0)
            assert has_the_value(found, expected, name)
