"""Gains and net benefit: against a walk along the rows in fractions, what must hold of both, and worked numbers.

The net benefit of the twelve rows is that of dcurves' definition (Vickers & Elkin 2006).
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.curves.errors import NotProbabilities
from service.curves.gains import Gains, GainsOptions, gains
from service.curves.net_benefit import NetBenefit, NetBenefitOptions, net_benefit
from tests.curves.test_probabilities import REVERSED, TWELVE
from tests.reference import Table
from tests.support.strategies import (
    Data,
    Rows,
    confusion_of,
    fractional_sweeps,
    plain_weights,
    samples,
    sweeps,
)

parts = st.lists(st.integers(1, 40), min_size=1, max_size=6, unique=True).map(
    lambda numbers: [number / 40 for number in sorted(numbers)]
)
grid = st.integers(0, 20).map(lambda number: number / 20)
inside = st.lists(st.integers(1, 39), min_size=1, max_size=6).map(lambda numbers: [number / 40 for number in numbers])


def of(source: Data | Rows, shares: list[float]) -> Gains:
    return gains(confusion_of(source), GainsOptions(np.array(shares)))


def benefit(source: Data | Rows, thresholds: list[float], prevalence: float | None = None) -> NetBenefit:
    return net_benefit(confusion_of(source), NetBenefitOptions(np.array(thresholds), prevalence))


def called(table: Table, share: Fraction) -> tuple[Fraction, Fraction]:
    """Tp and fp where this share of all is called positive, straight between two rows."""
    wanted = share * (table.positives + table.negatives)
    for a, b in table.steps():
        if a.tp + a.fp <= wanted <= b.tp + b.fp and b.tp + b.fp > a.tp + a.fp:
            part = (wanted - a.tp - a.fp) / (b.tp + b.fp - a.tp - a.fp)
            return a.tp + part * (b.tp - a.tp), a.fp + part * (b.fp - a.fp)
    raise AssertionError("every share from 0 to 1 is on the curve")


class TestGains:
    @given(st.one_of(samples(), sweeps(), fractional_sweeps()), parts)
    def test_are_a_walk_along_the_rows(self, source: Data | Rows, shares: list[float]) -> None:
        table, found = source.table(), of(source, shares)
        prevalence = table.positives / (table.positives + table.negatives)
        before = Fraction(0), Fraction(0)
        for row, share in enumerate(shares):
            tp, fp = called(table, Fraction(share))
            precision = (tp - before[0]) / (tp - before[0] + fp - before[1])
            expected = {
                "positives": tp - before[0],
                "negatives": fp - before[1],
                "precision": precision,
                "lift": precision / prevalence,
                "cumulative_recall": tp / table.positives,
                "cumulative_precision": tp / (tp + fp),
                "cumulative_lift": tp / (tp + fp) / prevalence,
                "cumulative_ks": tp / table.positives - fp / table.negatives,
            }
            for name, exact in expected.items():
                assert getattr(found, name)[row] == pytest.approx(float(exact), rel=1e-9, abs=1e-12), name
            before = tp, fp

    @given(st.one_of(samples(), samples(weight=plain_weights)), parts)
    def test_thresholds_are_where_shares_are_reached(self, source: Data, shares: list[float]) -> None:
        weights = source.weights or [1.0] * len(source.scores)
        for share, threshold in zip(shares, of(source, shares).threshold.tolist(), strict=True):
            sign = -1 if source.lower_is_positive else 1
            rows = list(zip(source.scores, weights, strict=True))
            at_least = sum(weight for score, weight in rows if sign * score >= sign * threshold)
            beyond = sum(weight for score, weight in rows if sign * score > sign * threshold)
            assert beyond / sum(weights) < share + 1e-9
            assert at_least / sum(weights) > share - 1e-9

    def test_worked_numbers(self) -> None:
        found = of(TWELVE, [0.25, 0.5, 0.75, 1])
        assert found.threshold.tolist() == [0.8, 0.6, 0.35, 0.1]
        assert found.positives.tolist() == [2, 2, 1, 0]
        assert found.negatives.tolist() == [1, 1, 2, 3]
        assert found.lift.tolist() == [1.6, 1.6, 0.8, 0]
        assert found.cumulative_recall.tolist() == [0.4, 0.8, 1, 1]
        assert found.cumulative_lift.tolist() == [1.6, 1.6, 4 / 3, 1]
        assert found.cumulative_ks.tolist() == [9 / 35, 18 / 35, 3 / 7, 0]
        split = of(TWELVE, [1 / 3, 1])
        assert (split.positives[0], split.negatives[0]) == (2.5, 1.5)

    def test_a_share_that_is_a_row_but_for_rounding_is_that_row(self) -> None:
        """0.1 as a double is a little more than a tenth."""
        ten = Data([float(score) for score in range(10, 0, -1)], [True, False] * 5)
        assert of(ten, [0.1, 0.2, 0.3, 0.6, 0.7]).threshold.tolist() == [10, 9, 8, 5, 4]

    @given(samples())
    def test_tenths_are_the_default(self, source: Data) -> None:
        found = gains(confusion_of(source), GainsOptions())
        assert found.share_to.tolist() == [part / 10 for part in range(1, 11)]
        assert found.cumulative_recall[-1] == 1


class TestNetBenefit:
    @given(st.one_of(samples(grid), samples(grid, plain_weights)), inside, st.sampled_from([None, 0.1]))
    def test_is_that_of_the_definition(self, source: Data, thresholds: list[float], prevalence: float | None) -> None:
        found = benefit(source, thresholds, prevalence)
        weights = [Fraction(weight) for weight in source.weights or [1.0] * len(source.scores)]
        total = {
            at: sum(w for w, label in zip(weights, source.labels, strict=True) if label == at) for at in (True, False)
        }
        share = total[True] / sum(weights) if prevalence is None else Fraction(prevalence)
        for row, t in enumerate(thresholds):
            cut = 1 - t if source.lower_is_positive else t
            sign = -1 if source.lower_is_positive else 1
            acted = [sign * score >= sign * cut for score in source.scores]
            tpr, fpr = (
                sum(
                    (w for w, label, act in zip(weights, source.labels, acted, strict=True) if act and label == at),
                    Fraction(0),
                )
                / total[at]
                for at in (True, False)
            )
            odds = Fraction(t) / (1 - Fraction(t))
            exact, everything = share * tpr - (1 - share) * fpr * odds, share - (1 - share) * odds
            assert found.net_benefit[row] == pytest.approx(float(exact), rel=1e-12, abs=1e-12)
            assert found.treat_all[row] == pytest.approx(float(everything), rel=1e-12, abs=1e-12)
            assert found.standardized[row] == pytest.approx(float(exact / share), rel=1e-12, abs=1e-12)
            assert found.avoided[row] == pytest.approx(float((exact - everything) / odds), rel=1e-12, abs=1e-12)

    @pytest.mark.parametrize(
        ("prevalence", "expected"), [(None, [7 / 24, 1 / 12, -5 / 36]), (0.1, [-13 / 140, -107 / 350, -27 / 50])]
    )
    def test_worked_numbers(self, prevalence: float | None, expected: list[float]) -> None:
        assert benefit(TWELVE, [0.2, 0.5, 0.7], prevalence).net_benefit == pytest.approx(expected, rel=1e-14)

    def test_more_worked_numbers(self) -> None:
        found = benefit(TWELVE, [0.2, 0.5, 0.7])
        assert found.treat_all == pytest.approx([13 / 48, -1 / 6, -17 / 18], rel=1e-14)
        assert found.standardized == pytest.approx([7 / 10, 1 / 5, -1 / 3], rel=1e-14)
        assert found.avoided == pytest.approx([1 / 12, 1 / 4, 29 / 84], rel=1e-14)

    def test_of_probabilities_of_negatives(self) -> None:
        assert benefit(REVERSED, [0.5]).net_benefit == pytest.approx([1 / 12], rel=1e-14)

    def test_of_counts_is_only_where_a_row_has_the_threshold(self) -> None:
        found = benefit(Rows([1, 3], [1, 2], 4, 4, [0.5, 0.2]), [0.2, 0.3, 0.5])
        assert found.net_benefit == pytest.approx([3 / 8 - 2 / 8 / 4, np.nan, 0], nan_ok=True)
        assert np.isnan([found.tp[1], found.fp[1], found.standardized[1], found.avoided[1]]).all()

    def test_needs_probabilities(self) -> None:
        with pytest.raises(NotProbabilities, match=r"from 0\.5 to 2"):
            benefit(Data([2.0, 0.5], [True, False]), [0.5])
