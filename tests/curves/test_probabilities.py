"""Log loss, bins, slope and intercept: against their definitions, scikit-learn and worked numbers.

The twelve rows are checked with scikit-learn 1.9.1 and statsmodels 0.15.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss

from service.curves.arrays import FloatArray
from service.curves.confusion import ConfusionTable
from service.curves.logistic import LogisticFit
from service.curves.probability_statistics import ProbabilityStatistics
from service.curves.reliability import BINNINGS, ReliabilityOptions
from tests import reference_calibration as twin
from tests.support.strategies import Data, plain_weights, samples

SCORES = [0.95, 0.9, 0.8, 0.7, 0.7, 0.6, 0.55, 0.4, 0.35, 0.3, 0.2, 0.1]
LABELS = [True, True, False, True, False, True, False, False, True, False, False, False]
TWELVE = Data(SCORES, LABELS)
WEIGHED = replace(TWELVE, weights=[1.0, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2])
REVERSED = replace(TWELVE, scores=[1 - score for score in SCORES], lower_is_positive=True)

probabilities = st.one_of(
    st.sampled_from([0.0, 1.0, 0.5, 0.25, 1 / 3, 0.1, 5e-324, 2.0**-52]), st.floats(0.0, 1.0), st.just(-0.0)
)
inner = st.integers(1, 63).map(lambda number: number / 64)
weighted = st.one_of(samples(inner), samples(inner, plain_weights))


def found(source: Data, bins: int = 15, by: str = "width") -> ProbabilityStatistics:
    statistics = ProbabilityStatistics.of(ConfusionTable.from_sample(source.sample()), ReliabilityOptions(bins, by))
    assert statistics is not None
    return statistics


def said(source: Data) -> list[float]:
    """The probability of a positive of each row."""
    return [1 - score if source.lower_is_positive else score for score in source.scores]


def masses(source: Data) -> list[float]:
    return source.weights or [1.0] * len(source.scores)


class TestLogLoss:
    @given(st.one_of(samples(probabilities), samples(probabilities, plain_weights)))
    def test_is_that_of_the_definition(self, source: Data) -> None:
        rows = zip(source.scores, source.labels, masses(source), strict=True)
        exact = [(Fraction(score), label, mass) for score, label, mass in rows]
        examples = [
            (1 - s if source.lower_is_positive else s, mass * label, mass * (not label)) for s, label, mass in exact
        ]
        assert found(source).log_loss == pytest.approx(twin.log_loss(examples), rel=1e-13, abs=1e-300)

    @given(st.one_of(samples(probabilities), samples(probabilities, plain_weights)))
    def test_is_scikit_learns(self, source: Data) -> None:
        expected = log_loss(source.labels, said(source), sample_weight=source.weights, labels=[False, True])
        assert found(source).log_loss == pytest.approx(expected, rel=1e-12, abs=1e-15)

    def test_of_an_example_that_was_certain_and_wrong(self) -> None:
        wrong = found(replace(TWELVE, scores=[*SCORES[:-1], 1.0]))
        assert wrong.log_loss == pytest.approx(3.5683493686135557, rel=1e-15)
        assert (wrong.clipped, wrong.certain) == (1, 1)


class TestBins:
    @given(weighted, st.integers(1, 20), st.sampled_from(BINNINGS))
    def test_are_those_of_the_definition(self, source: Data, count: int, by: str) -> None:
        if by == "mass":  # with weights, rounding decides where some bins end
            source = replace(source, weights=None)
        rows = [(Fraction(s), Fraction(mass)) for s, mass in zip(said(source), masses(source), strict=True)]
        present = [number for number, (_, mass) in enumerate(rows) if mass > 0]
        exact = [rows[number][0] for number in present], [rows[number][1] for number in present]
        labels = [source.labels[number] for number in present]
        expected = twin.bins(*exact, count, by)
        answered = found(source, count, by).reliability
        assert answered.positives.tolist() == pytest.approx(
            [float(sum(exact[1][i] for i in numbers if labels[i])) for _, numbers in expected], abs=1e-12
        )
        ends = [[source.scores[present[i]] for i in numbers] for _, numbers in expected]
        assert answered.score_from.tolist() == [min(each) for each in ends]
        assert answered.score_to.tolist() == [max(each) for each in ends]
        assert answered.ece == pytest.approx(float(twin.ece(exact[0], labels, exact[1], count, by)), abs=1e-13)

    @given(weighted, st.integers(1, 20), st.sampled_from(BINNINGS))
    def test_hold_every_example_once(self, source: Data, count: int, by: str) -> None:
        bins = found(source, count, by).reliability
        assert bins.positives.sum() + bins.negatives.sum() == pytest.approx(sum(masses(source)), rel=1e-12)
        assert 1 <= bins.observed.size <= count

    @pytest.mark.parametrize(
        ("count", "by", "ece"),
        [(5, "width", 37 / 240), (15, "width", 79 / 240), (4, "mass", 31 / 240), (3, "mass", 11 / 80)],
    )
    def test_worked_numbers(self, count: int, by: str, ece: float) -> None:
        assert found(TWELVE, count, by).reliability.ece == pytest.approx(ece, rel=1e-15)

    def test_worked_bins(self) -> None:
        bins = found(TWELVE, 5).reliability
        assert bins.positives.tolist() == [0, 1, 0, 2, 2]
        assert bins.negatives.tolist() == [1, 2, 2, 1, 1]
        assert bins.mean_score == pytest.approx([0.1, 17 / 60, 0.475, 2 / 3, 53 / 60], rel=1e-15)
        assert (
            found(TWELVE, 3, "mass").reliability.positives + found(TWELVE, 3, "mass").reliability.negatives
        ).tolist() == [4, 3, 5]

    def test_a_score_of_1_is_in_the_last_bin_and_an_edge_in_the_upper(self) -> None:
        bins = found(Data([1.0, 0.5, 0.4], [True, False, True]), 2).reliability
        assert bins.score_from.tolist() == [0.4, 0.5]
        assert bins.score_to.tolist() == [0.4, 1.0]


class TestLogisticFits:
    @given(weighted)
    def test_are_where_the_likelihood_is_greatest(self, source: Data) -> None:
        """There its derivatives are 0; it is concave, so nowhere else."""
        statistics = found(source)
        for fit in (statistics.slope, statistics.intercept):
            if fit is not None:
                self.check_derivatives(source, fit)

    @staticmethod
    def check_derivatives(source: Data, fit: LogisticFit) -> None:
        odds, weights = _log_odds(source), np.array(masses(source))
        line = fit.coefficients[0] + odds * (fit.coefficients[1] if fit.coefficients.size > 1 else 1.0)
        residuals = weights * (np.array(source.labels) - 1 / (1 + np.exp(np.minimum(-line, 700))))
        scale = weights.sum() * (1 + abs(odds).max())
        assert abs(residuals.sum()) <= 1e-12 * scale
        if fit.coefficients.size > 1:
            assert abs(residuals @ odds) <= 1e-12 * scale

    @given(weighted)
    def test_exist_unless_the_classes_are_apart(self, source: Data) -> None:
        present = [i for i, mass in enumerate(masses(source)) if mass > 0]
        of = {label: [said(source)[i] for i in present if source.labels[i] == label] for label in (True, False)}
        overlap = max(of[False]) > min(of[True]) and max(of[True]) > min(of[False])
        assert (found(source).slope is not None) == overlap
        assert found(source).intercept is not None

    @pytest.mark.parametrize("power", [0.2, 1, 5])
    def test_of_many_scores_are_where_the_likelihood_is_greatest(self, power: float) -> None:
        """Many scores are first fitted in groups, from which whole steps lead to the same place."""
        generator = np.random.default_rng(3)
        scores = generator.uniform(0, 1, 20_000)
        source = Data(scores.tolist(), (generator.random(20_000) < scores**power).tolist())
        statistics = found(source)
        for fit in (statistics.slope, statistics.intercept):
            assert fit is not None
            self.check_derivatives(source, fit)

    def test_of_many_scores_whose_groups_are_apart(self) -> None:
        """One positive among 10,000 negatives: no group of scores has a negative above it."""
        scores = np.linspace(0.001, 0.9, 10_000)
        labels = np.arange(10_000) >= 9_998
        labels[[9_997, 9_998]] = labels[[9_998, 9_997]]
        fit = found(Data(scores.tolist(), labels.tolist())).slope
        assert fit is not None
        self.check_derivatives(Data(scores.tolist(), labels.tolist()), fit)

    def test_are_scikit_learns(self) -> None:
        generator = np.random.default_rng(5)
        scores = generator.uniform(0.01, 0.99, 300)
        source = Data(scores.tolist(), (generator.random(300) < scores**2).tolist())
        model = LogisticRegression(C=np.inf, tol=1e-12, max_iter=1000)
        model.fit(_log_odds(source)[:, None], source.labels)
        fit = found(source).slope
        assert fit is not None
        assert fit.coefficients == pytest.approx([*model.intercept_, *model.coef_[0]], rel=1e-6)

    @pytest.mark.parametrize(
        ("source", "slope", "intercept"),
        [
            (TWELVE, 0.966390889775, -0.730064842645),
            (REVERSED, 0.966390889775, -0.730064842645),
            (WEIGHED, 1.120047327729, -0.670185344074),
        ],
    )
    def test_worked_numbers(self, source: Data, slope: float, intercept: float) -> None:
        statistics = found(source)
        assert statistics.slope is not None
        assert statistics.intercept is not None
        assert statistics.slope.coefficients[1] == pytest.approx(slope, abs=1e-12)
        assert statistics.intercept.coefficients[0] == pytest.approx(intercept, abs=1e-12)

    @pytest.mark.parametrize("certain", [0.0, 1.0])
    def test_do_not_exist_if_a_score_is_certain(self, certain: float) -> None:
        statistics = found(replace(TWELVE, scores=[*SCORES[:-1], certain]))
        assert statistics.slope is statistics.intercept is None


def _log_odds(source: Data) -> FloatArray:
    probability = np.array(said(source))
    odds: FloatArray = np.log(probability / (1 - probability))
    return odds
