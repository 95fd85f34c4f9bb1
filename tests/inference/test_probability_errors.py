"""Errors and intervals of the statistics of probabilities: against plain loops over examples, and worked numbers."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.curves.confusion import ConfusionTable
from service.curves.curve_statistics import curve_statistics
from service.curves.hull import RocHull
from service.curves.probability_statistics import ProbabilityStatistics
from service.curves.reliability import ReliabilityOptions
from service.inference.intervals import Interval
from service.inference.probability_errors import bin_ends, ece_if_calibrated, error_of_statistic, statistic_intervals
from service.inference.strata import Strata, strata
from tests.curves.test_probabilities import LABELS, SCORES, TWELVE, WEIGHED, masses, said
from tests.support.strategies import Data, plain_weights, samples

LEVEL = 0.95
inner = st.integers(1, 63).map(lambda number: number / 64)
sources = st.one_of(samples(inner), samples(inner, plain_weights))


def found(source: Data, bins: int = 15, by: str = "width") -> tuple[ProbabilityStatistics, Strata]:
    sample = source.sample()
    table = ConfusionTable.from_sample(sample)
    statistics = ProbabilityStatistics.of(table, ReliabilityOptions(bins, by))
    assert statistics is not None
    return statistics, strata(sample, table)


def intervals(source: Data) -> dict[str, Interval | None]:
    statistics, of_classes = found(source)
    values = curve_statistics(statistics.table, RocHull.of(statistics.table), statistics)
    return dict(statistic_intervals(values, statistics, of_classes, LEVEL, None))


def error_of_mean(source: Data, losses: list[float]) -> float:
    """By the definition: (W_c/W)² s²/m, summed over both classes, for classes of weighted variance s² and size m."""
    total, variance = sum(masses(source)), 0.0
    for label in (True, False):
        rows = [(w, loss) for w, loss, at in zip(masses(source), losses, source.labels, strict=True) if at == label]
        mass = sum(w for w, _ in rows)
        mean = sum(w * loss for w, loss in rows) / mass
        size = mass**2 / sum(w * w for w, _ in rows)
        variance += size / (size - 1) * sum((w * (loss - mean)) ** 2 for w, loss in rows) / total**2
    return math.sqrt(variance)


@given(sources.filter(lambda source: found(source)[1].enough))
def test_means_of_losses_have_the_errors_of_the_definition(source: Data) -> None:
    brier = [(label - s) ** 2 for s, label in zip(said(source), source.labels, strict=True)]
    logs = [-math.log(s if label else 1 - s) for s, label in zip(said(source), source.labels, strict=True)]
    for name, losses in (("brier", brier), ("log_loss", logs)):
        error = getattr(error_of_statistic(name, *found(source)), "error", 0.0)
        assert error == pytest.approx(error_of_mean(source, losses), rel=1e-9, abs=1e-12)


@given(sources.filter(lambda source: found(source)[1].enough))
def test_slopes_and_intercepts_have_the_errors_of_the_definition(source: Data) -> None:
    """The inverse of the information, or with weights H⁻¹ Σ w²(y - p)² x xᵀ H⁻¹, summed row by row."""
    statistics, of_classes = found(source)
    for name, fit in (("calibration_slope", statistics.slope), ("calibration_intercept", statistics.intercept)):
        if fit is None:
            assert error_of_statistic(name, statistics, of_classes) is None
            continue
        size = fit.coefficients.size
        information, spread = np.zeros((size, size)), np.zeros((size, size))
        for s, label, w in zip(said(source), source.labels, masses(source), strict=True):
            odds = math.log(s / (1 - s))
            x = np.array([1.0, odds][:size])
            p = 1 / (1 + math.exp(-(fit.coefficients @ x if size > 1 else fit.coefficients[0] + odds)))
            information += w * p * (1 - p) * np.outer(x, x)
            spread += (w * (label - p)) ** 2 * np.outer(x, x)
        covariance = np.linalg.inv(information)
        if source.weights is not None:
            covariance = covariance @ spread @ covariance
        assert error_of_statistic(name, statistics, of_classes).error == pytest.approx(
            math.sqrt(covariance[-1, -1]), rel=1e-6
        )


@pytest.mark.parametrize(
    ("source", "name", "ends", "error"),
    [
        (TWELVE, "brier", (0.105950, 0.349414), 0.0620184575),
        (TWELVE, "log_loss", (0.352130, 0.934008), 0.1427147041),
        (TWELVE, "calibration_slope", None, 0.614997550),
        (TWELVE, "calibration_intercept", None, 0.694261848),
        (WEIGHED, "calibration_slope", None, 0.466197895),
        (WEIGHED, "calibration_intercept", None, 0.662896566),
    ],
)
def test_worked_numbers(source: Data, name: str, ends: tuple[float, float] | None, error: float) -> None:
    """Twelve rows; the errors of slope and intercept are those of statsmodels 0.15."""
    interval = intervals(source)[name]
    assert interval is not None
    assert interval.standard_error == pytest.approx(error, abs=5e-10)
    if ends is not None:
        assert (interval.lower, interval.upper) == pytest.approx(ends, abs=5e-7)


def test_gini_has_the_interval_of_the_area() -> None:
    statistics, of_classes = found(TWELVE)
    values = curve_statistics(statistics.table, RocHull.of(statistics.table), statistics)
    roc = Interval(0.4, 0.95, LEVEL, "logit", 0.14)
    gini = dict(statistic_intervals(values, statistics, of_classes, LEVEL, roc))["gini"]
    assert gini == Interval(2 * 0.4 - 1, 2 * 0.95 - 1, LEVEL, "logit", 0.28)


def test_losses_without_a_spread_have_no_interval() -> None:
    of_constant = intervals(Data([0.5] * 4, [True, True, False, False]))
    assert [name for name, interval in of_constant.items() if interval] == ["calibration_intercept"]
    assert of_constant["calibration_intercept"].standard_error == 1


def test_two_examples_of_each_class_are_needed() -> None:
    assert set(intervals(Data([0.9, 0.4, 0.2], [True, False, False])).values()) == {None}


class TestExpectedError:
    @pytest.mark.parametrize(
        ("bins", "by", "expected"),
        [(5, "width", 0.208051), (15, "width", 0.311078), (4, "mass", 0.191602), (3, "mass", 0.168164)],
    )
    def test_worked_numbers(self, bins: int, by: str, expected: float) -> None:
        assert ece_if_calibrated(*found(TWELVE, bins, by)) == pytest.approx(expected, abs=5e-7)

    def test_is_near_the_mean_of_every_outcome(self) -> None:
        """Enumerated: all 4,096 ways to label the twelve rows, each as likely as its scores say."""
        statistics, of_classes = found(TWELVE, 5)
        bins = [[i for i, s in enumerate(SCORES) if k / 5 <= s < (k + 1) / 5] for k in range(5)]
        mean = 0.0
        for outcome in range(1 << 12):
            labels = [outcome >> i & 1 for i in range(12)]
            likely = math.prod(s if label else 1 - s for s, label in zip(SCORES, labels, strict=True))
            mean += likely * sum(abs(sum(labels[i] - SCORES[i] for i in inside)) for inside in bins) / 12
        assert mean == pytest.approx(0.198217, abs=5e-7)
        assert ece_if_calibrated(statistics, of_classes) == pytest.approx(mean, rel=0.05)

    @given(sources)
    def test_does_not_depend_on_the_unit_of_weights(self, source: Data) -> None:
        heavy = replace(source, weights=[4 * mass for mass in masses(source)])
        light = replace(source, weights=masses(source))
        assert ece_if_calibrated(*found(heavy)) == pytest.approx(ece_if_calibrated(*found(light)), rel=1e-12)


class TestBinEnds:
    def test_are_wilsons(self) -> None:
        """0 of 1, 1 of 3, 0 of 2, 2 of 3 and 2 of 3."""
        lower, upper = bin_ends(*found(TWELVE, 5), LEVEL)
        assert lower == pytest.approx([0, 0.061492, 0, 0.207660, 0.207660], abs=5e-7)
        assert upper == pytest.approx([0.793451, 0.792340, 0.657620, 0.938508, 0.938508], abs=5e-7)

    def test_of_equal_weights_are_those_without(self) -> None:
        weighed = replace(TWELVE, weights=[3.0] * len(LABELS))
        assert np.array(bin_ends(*found(weighed, 5), LEVEL)) == pytest.approx(
            np.array(bin_ends(*found(TWELVE, 5), LEVEL))
        )
