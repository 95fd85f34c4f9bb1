"""Metrics of a confusion matrix: worked numbers, the slow reference, scikit-learn, and what must not cancel."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given
from sklearn import metrics as sklearn

from service.curves.confusion import ConfusionTable
from service.curves.row_metrics import ROW_METRICS, Matrices, values_of
from tests import reference_metrics as reference
from tests.reference import correctly_rounded
from tests.support.strategies import (
    Data,
    Rows,
    big_sweeps,
    confusion_of,
    examples,
    samples,
    sweeps,
    tied_scores,
    weighted_samples,
    wild_weights,
)

UNITS = 4
"""The promised accuracy of metrics that are no quotients of two counts, in units in the last place."""

TWELVE = Data(
    [0.95, 0.9, 0.8, 0.7, 0.7, 0.6, 0.55, 0.4, 0.35, 0.3, 0.2, 0.1],
    [bool(label) for label in (1, 1, 0, 1, 0, 1, 0, 0, 1, 0, 0, 0)],
)
"""Five positives and seven negatives; the tie at 0.7 has one of each."""

AT_HALF = {
    "accuracy": Fraction(2, 3),
    "balanced_accuracy": Fraction(24, 35),
    "precision": Fraction(4, 7),
    "recall": Fraction(4, 5),
    "specificity": Fraction(4, 7),
    "npv": Fraction(4, 5),
    "fpr": Fraction(3, 7),
    "fnr": Fraction(1, 5),
    "f1": Fraction(2, 3),
    "f2": Fraction(20, 27),
    "f0_5": Fraction(20, 33),
    "jaccard": Fraction(1, 2),
    "mcc": Fraction(13, 35),
    "kappa": Fraction(13, 37),
    "youden": Fraction(13, 35),
    "markedness": Fraction(13, 35),
    "share": Fraction(7, 12),
    "lift": Fraction(48, 35),
    "lr_positive": Fraction(28, 15),
    "lr_negative": Fraction(7, 20),
}
"""Of 4 of 5 positives and 3 of 7 negatives above 0.5."""

ORIGIN = {
    **dict.fromkeys(("accuracy", "npv"), Fraction(7, 12)),
    **dict.fromkeys(("specificity", "lr_negative", "fnr"), Fraction(1)),
    **dict.fromkeys(("kappa", "youden", "f1", "f2", "f0_5", "jaccard", "recall", "fpr", "share"), Fraction(0)),
    **dict.fromkeys(("precision", "mcc", "lift", "lr_positive", "markedness")),
    "balanced_accuracy": Fraction(1, 2),
}
LAST = {
    **dict.fromkeys(("accuracy", "precision", "jaccard"), Fraction(5, 12)),
    **dict.fromkeys(("lift", "lr_positive", "recall", "fpr", "share"), Fraction(1)),
    **dict.fromkeys(("kappa", "youden", "specificity", "fnr"), Fraction(0)),
    **dict.fromkeys(("npv", "mcc", "markedness", "lr_negative")),
    "f1": Fraction(10, 17),
    "f2": Fraction(25, 32),
    "f0_5": Fraction(25, 53),
    "balanced_accuracy": Fraction(1, 2),
}
SAME = {"ppv": "precision", "sensitivity": "recall", "tpr": "recall"}


def at(tp: float, fp: float, positives: float, negatives: float) -> dict[str, float | None]:
    """Every metric of one matrix of whole counts."""
    rows = Matrices(np.array([float(tp)]), np.array([float(fp)]), float(positives), float(negatives), whole=True)
    found = {name: float(metric.value(rows)[0]) for name, metric in ROW_METRICS.items()}
    return {name: None if math.isnan(value) else value for name, value in found.items()}


def close(found: float | None, exact: reference.Exact | None, units: float) -> bool:
    """Whether a double is within some units of an exact number; both may be undefined."""
    if found is None or exact is None:
        return found is None and exact is None
    nearest = correctly_rounded(exact) if isinstance(exact, Fraction) else float(exact)
    with mpmath.workdps(60):
        exactly = mpmath.mpf(exact.numerator) / exact.denominator if isinstance(exact, Fraction) else exact
        return bool(abs(mpmath.mpf(found) - exactly) <= units * mpmath.mpf(math.ulp(nearest)))


@pytest.mark.parametrize(("called", "worked"), [((4, 3), AT_HALF), ((0, 0), ORIGIN), ((5, 7), LAST)])
def test_worked_numbers(called: tuple[int, int], worked: dict[str, Fraction | None]) -> None:
    found = at(*called, 5, 7)
    assert {*found} == {*worked, *SAME}
    for name, value in found.items():
        exact = worked[SAME.get(name, name)]
        assert close(value, exact, 0.5 if name in reference.QUOTIENTS else UNITS), name


def test_every_metric_has_a_range_and_says_what_is_better() -> None:
    for name, metric in ROW_METRICS.items():
        assert metric.name == name
        assert metric.about
        assert (metric.better == -1) == (name in reference.LESS_IS_BETTER)
        assert metric.low in {0, -1}
        assert metric.high in {1, math.inf}
    assert [name for name, metric in ROW_METRICS.items() if not metric.better] == ["share"]


def agrees(source: Any, units: float, of_quotients: float = 0.5) -> None:
    """Every row of a table has the reference's metrics."""
    table, expected = confusion_of(source), source.table()
    for name, metric in ROW_METRICS.items():
        values = values_of(name, table)
        assert values.shape == table.tp.shape
        for value, row in zip(values.tolist(), expected.rows, strict=True):
            allowed = of_quotients if name in reference.QUOTIENTS else units
            found = None if math.isnan(value) else value
            assert close(found, reference.of_row(expected, row)[name], allowed), (name, row)
            assert found is None or metric.low <= found <= metric.high


@examples(80)
@given(samples(tied_scores))
def test_metrics_are_those_of_the_slow_reference(data: Data) -> None:
    agrees(data, UNITS)


@examples(60)
@given(sweeps(total=2**52))
def test_counts(rows: Rows) -> None:
    agrees(rows, UNITS)


@examples(60)
@given(big_sweeps())
def test_totals_beyond_the_integers_of_doubles(rows: Rows) -> None:
    """Quotients are still the nearest doubles; sums in the others are rounded once more."""
    agrees(rows, UNITS + 2)


def test_what_cancels_is_not_rounded() -> None:
    """A classifier hardly better than chance: recall and fpr agree in their first 15 digits."""
    positives, negatives = 2**52 - 1, 2**52 - 3
    called = 2**51
    exact = reference.metrics(Fraction(called), Fraction(called), Fraction(positives), Fraction(negatives))
    found = at(called, called, positives, negatives)
    assert abs(found["youden"]) < 1e-15
    for name in ("youden", "mcc", "kappa", "markedness"):
        assert close(found[name], exact[name], UNITS), name


@examples(40)
@given(weighted_samples())
def test_weights(data: Data) -> None:
    """Tp and fp are rounded sums, and so are fn and tn, which may cancel: metrics of such rows are close."""
    table = ConfusionTable.of(data.sample())
    for name in ROW_METRICS:
        for value, tp, fp in zip(values_of(name, table).tolist(), table.tp.tolist(), table.fp.tolist(), strict=True):
            exact = reference.metrics(Fraction(tp), Fraction(fp), Fraction(table.positives), Fraction(table.negatives))[
                name
            ]
            if exact is None or math.isnan(value):
                assert (exact is None) == math.isnan(value), name
            else:
                assert value == pytest.approx(float(exact), rel=1e-12, abs=1e-12), name


@examples(60)
@given(samples(tied_scores, wild_weights))
def test_no_weights_give_an_infinity(data: Data) -> None:
    table = ConfusionTable.of(data.sample())
    for name, metric in ROW_METRICS.items():
        values = values_of(name, table)
        known = values[~np.isnan(values)]
        assert ((known >= metric.low) & (known <= metric.high) & np.isfinite(known)).all(), name


SKLEARN = {
    "accuracy": sklearn.accuracy_score,
    "balanced_accuracy": sklearn.balanced_accuracy_score,
    "precision": sklearn.precision_score,
    "recall": sklearn.recall_score,
    "f1": sklearn.f1_score,
    "f2": lambda truth, called, **how: sklearn.fbeta_score(truth, called, beta=2, **how),
    "f0_5": lambda truth, called, **how: sklearn.fbeta_score(truth, called, beta=0.5, **how),
    "jaccard": sklearn.jaccard_score,
    "mcc": sklearn.matthews_corrcoef,
    "kappa": sklearn.cohen_kappa_score,
    "lr_positive": lambda truth, called, **how: sklearn.class_likelihood_ratios(truth, called, **how)[0],
    "lr_negative": lambda truth, called, **how: sklearn.class_likelihood_ratios(truth, called, **how)[1],
}


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_random_samples_against_scikit_learn(seed: int, *, weighted: bool) -> None:
    random = np.random.default_rng(seed)
    labels = random.random(300) < 0.3
    scores = np.round(random.normal(labels, 1), 1)
    weights = random.random(300) if weighted else None
    table = ConfusionTable.of(
        Data(scores.tolist(), labels.tolist(), None if weights is None else weights.tolist()).sample()
    )
    for threshold in np.quantile(scores, [0.1, 0.5, 0.9]):
        row = int(table.rows_at(np.array([threshold]))[0])
        for name, of_sklearn in SKLEARN.items():
            expected = of_sklearn(labels, scores >= threshold, sample_weight=weights)
            assert values_of(name, table)[row] == pytest.approx(expected, rel=1e-12), name


@pytest.mark.parametrize("scale", [1, 2**50 + 1])
@pytest.mark.parametrize("name", ROW_METRICS)
def test_matrices_of_several_data_sets_are_those_of_each(name: str, scale: int) -> None:
    rows = [(4, 3, 5, 7), (0, 0, 5, 7), (0, 2, 0, 7), (3, 0, 5, 0), (0, 0, 0, 3), (5, 7, 5, 7)]
    tp, fp, positives, negatives = scale * np.array(rows, np.float64).T
    together = ROW_METRICS[name].value(Matrices(tp, fp, positives, negatives, whole=True))
    alone = [
        ROW_METRICS[name].value(Matrices(tp[at : at + 1], fp[at : at + 1], *totals, whole=True))[0]
        for at, totals in enumerate(zip(positives.tolist(), negatives.tolist(), strict=True))
    ]
    np.testing.assert_array_equal(together, alone)


@pytest.mark.parametrize(
    ("counts", "kappa"), [((0, 2, 0, 7), 0), ((3, 0, 5, 0), 0), ((0, 0, 0, 7), None), ((5, 0, 5, 0), None)]
)
def test_with_one_class_only_chance_agrees(counts: tuple[int, int, int, int], kappa: int | None) -> None:
    """Accuracy is then what chance gives; if that is 1, kappa is undefined. scikit-learn warns of the latter."""
    tp, fp, positives, negatives = map(float, counts)
    found = ROW_METRICS["kappa"].value(Matrices(np.array([tp]), np.array([fp]), positives, negatives, whole=True))[0]
    assert (None if np.isnan(found) else found) == kappa
    assert reference.metrics(*map(Fraction, counts))["kappa"] == kappa
