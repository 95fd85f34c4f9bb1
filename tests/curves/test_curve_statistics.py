"""Statistics and calibration of curves: against their definitions, scikit-learn, and figures by the authors of prg."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.isotonic import IsotonicRegression
from sklearn.metrics import brier_score_loss

from service.curves.calibration import Calibration, calibration
from service.curves.confusion import ConfusionTable
from service.curves.curve_statistics import CurveStatistics, curve_statistics
from service.curves.hull import RocHull
from service.curves.precision_gain import precision_gain_area
from service.curves.probability_statistics import ProbabilityStatistics
from service.curves.sample import Sample
from tests import reference_calibration as twin
from tests.reference import Row, Table, roc_area
from tests.support.strategies import (
    Data,
    Rows,
    big_sweeps,
    classifiers,
    confusion_of,
    fractional_sweeps,
    lopsided_sweeps,
    plain_weights,
    samples,
    sweeps,
    tilted_samples,
    weighted_samples,
)

probabilities = st.one_of(
    st.sampled_from([0.0, 1.0, 0.5, 0.25, 1 / 3, 2 / 3, 0.1]), st.floats(0.0, 1.0), st.sampled_from([-0.0, 5e-324])
)
grid = st.integers(0, 16).map(lambda number: number / 16)
sources = st.one_of(samples(), weighted_samples(), sweeps(), lopsided_sweeps(), big_sweeps(), fractional_sweeps())


def statistics(source: Rows | Data) -> CurveStatistics:
    table = confusion_of(source)
    return curve_statistics(table, RocHull.of(table), ProbabilityStatistics.of(table))


def calibrated(source: Rows | Data) -> Calibration:
    table = confusion_of(source)
    return calibration(table, RocHull.of(table).vertices)


def exact_of(source: Rows | Data) -> Table:
    """The reference's table; with weights, from the doubles that the service's sums are."""
    if isinstance(source, Rows) or source.weights is None:
        return source.table()
    table = confusion_of(source)
    columns = zip(table.tp.tolist(), table.fp.tolist(), table.thresholds.tolist(), strict=True)
    rows = tuple(Row(Fraction(tp), Fraction(fp), None if math.isnan(cut) else cut) for tp, fp, cut in columns)
    return Table(rows, rows[-1].tp, rows[-1].fp)


def near(found: float | None, exact: Fraction, slack: float = 0.0, relative: float = 2.0**-52) -> bool:
    return found is not None and abs(Fraction(found) - exact) <= Fraction(relative) * abs(exact) + Fraction(slack)


ROUNDED = 1e-14
"""What rounding may move a plain sum of terms up to 1."""


class TestGains:
    @given(sources)
    def test_are_those_of_the_definition(self, source: Rows | Data) -> None:
        assert near(statistics(source).prg, twin.gain_area(exact_of(source)), ROUNDED, ROUNDED)

    @given(tilted_samples())
    def test_of_classes_far_apart(self, source: Data) -> None:
        assert near(statistics(source).prg, twin.gain_area(exact_of(source)), ROUNDED, ROUNDED)

    @given(st.integers(1, 2**49), st.integers(1, 2**49), st.integers(2, 9))
    def test_a_diagonal_has_none(self, tp: int, fp: int, parts: int) -> None:
        steps = [float(step) for step in range(1, parts)]
        counts = Rows([tp * step for step in steps], [fp * step for step in steps], tp * parts, fp * parts)
        assert abs(statistics(counts).prg) <= ROUNDED

    def test_are_those_of_the_authors_packages(self) -> None:
        """The example of their Python package, whose answer it prints, and that of their Matlab package, 17/24."""
        labels = [bool(int(digit)) for digit in "1110111111011101001000101"]
        assert precision_gain_area(confusion_of(Data(list(map(float, range(25, 0, -1))), labels))) == pytest.approx(
            0.432462103574, abs=5e-13
        )
        ties = Data([0.8, 0.8, 0.6, 0.4, 0.4, 0.2], [True, True, False, False, True, False])
        assert precision_gain_area(confusion_of(ties)) == pytest.approx(17 / 24, rel=ROUNDED)

    @given(classifiers().filter(lambda rows: not rows.table().sweep))
    def test_a_set_that_is_not_a_sweep_has_none(self, rows: Rows) -> None:
        assert statistics(rows).prg is None


@given(st.one_of(sources, classifiers()))
def test_ks_is_the_greatest_distance_of_rates(source: Rows | Data) -> None:
    found = statistics(source)
    greatest, threshold = twin.ks(exact_of(source))
    assert (found.ks, found.ks_threshold) == (float(greatest), threshold)


class TestCalibration:
    @given(st.one_of(samples(), samples(weight=st.sampled_from([0.5, 1.0, 2.0])), sweeps(), big_sweeps()))
    def test_segments_of_the_hull_are_pooled_violators(self, source: Rows | Data) -> None:
        """Fawcett & Niculescu-Mizil 2007; adjacent pools with equal shares become one."""
        found, expected = calibrated(source), twin.pools(exact_of(source))
        if not (isinstance(source, Data) and source.lower_is_positive):
            expected.reverse()
        assert found.positives.tolist() == [float(pool[1]) for pool in expected]
        assert found.negatives.tolist() == [float(pool[2]) for pool in expected]
        assert all(near(each, twin.share(pool)) for each, pool in zip(found.calibrated, expected, strict=True))
        ends = [[cut for cut in pool[0] if cut is not None] for pool in expected]
        if isinstance(source, Data):
            assert found.score_from.tolist() == [min(cuts) for cuts in ends]
            assert found.score_to.tolist() == [max(cuts) for cuts in ends]

    def test_rows_that_repeat_add_nothing(self) -> None:
        """In counts: a pool ends at the next threshold that calls more positive."""
        found = calibrated(Rows([1, 1, 2], [0, 0, 1], 4, 4, [0.9, 0.8, 0.7]))
        assert found.score_to.tolist()[1:] == [0.7, 0.9]
        assert found.score_from.tolist()[1:] == [0.7, 0.9]
        assert np.isnan([found.score_from[0], found.score_to[0]]).all()

    @given(st.one_of(samples(grid), samples(grid, plain_weights)))
    def test_is_scikit_learns(self, source: Data) -> None:
        regression = IsotonicRegression(increasing=not source.lower_is_positive)
        regression.fit(source.scores, np.array(source.labels, dtype=float), source.weights)
        expected = regression.predict(source.scores)
        found = calibrated(source)
        at = np.searchsorted(found.score_to, source.scores)
        assert found.calibrated[at] == pytest.approx(expected, abs=1e-12)


class TestBrier:
    @given(samples(probabilities))
    def test_parts_are_those_of_the_definition(self, source: Data) -> None:
        self.check(source)

    @given(st.one_of(weighted_samples(), tilted_samples()))
    def test_with_weights(self, source: Data) -> None:
        self.check(replace(source, scores=[abs(score) % 1 for score in source.scores]))

    @staticmethod
    def check(source: Data) -> None:
        found = statistics(source)
        answered = (found.brier, found.miscalibration, found.discrimination, found.uncertainty)
        exact = twin.brier_parts(exact_of(source), lower_is_positive=source.lower_is_positive)
        slacks = (0.0, ROUNDED, ROUNDED, 0.0)  # terms of the second and the third cancel
        for each, part, slack in zip(answered, exact, slacks, strict=True):
            assert near(each, part, slack, relative=ROUNDED), (answered, exact)

    @given(samples(probabilities))
    def test_is_scikit_learns(self, source: Data) -> None:
        """scikit-learn's probability is that of a positive."""
        said = 1 - np.array(source.scores) if source.lower_is_positive else source.scores
        assert statistics(source).brier == pytest.approx(brier_score_loss(source.labels, said), abs=1e-14)

    @pytest.mark.parametrize("score", [-0.1, 1.1, 1 + 2**-49])
    def test_is_only_of_scores_from_0_to_1(self, score: float) -> None:
        found = statistics(Data([0.5, 0.25, score], [True, False, True]))
        assert (found.brier, found.miscalibration, found.discrimination, found.uncertainty) == (None,) * 4

    def test_is_not_of_counts_nor_of_chosen_thresholds(self) -> None:
        """Examples between two thresholds could have any score there."""
        assert statistics(Rows([1], [0], 2, 2, [0.5])).brier is None
        table = ConfusionTable.of(Sample(np.array([0.1, 0.9]), np.array([False, True])))
        cut = table.at_thresholds(np.array([0.5]))
        assert ProbabilityStatistics.of(cut) is None

    def test_calibrated_scores_lose_nothing(self) -> None:
        found = statistics(Data([0.5, 0.5, 0.75, 0.75, 0.75, 0.75], [True, False, True, True, False, True]))
        assert found.miscalibration <= ROUNDED
        assert statistics(Data([0.5, 0.5], [True, False])).discrimination <= ROUNDED


class TestEqualErrors:
    @given(sources)
    def test_are_where_the_curve_meets_the_antidiagonal(self, source: Rows | Data) -> None:
        exact, found = exact_of(source), statistics(source)
        rate, thresholds = twin.equal_errors(exact)
        assert found.eer == float(rate)
        assert found.eer_threshold in thresholds

    @given(st.one_of(samples(), weighted_samples()))
    def test_gini_is_twice_the_area_above_chance(self, source: Data) -> None:
        exact = exact_of(source)
        assert near(statistics(source).gini, 2 * roc_area(exact) - 1, 2.0**-52)
