"""Decisions: worked numbers, the slow reference that tries every row, and the rows of counts, groups and cut tables."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.curves.confusion import ConfusionTable
from service.curves.decisions import BEST_BY, LIMITS_OF_BEST, Decided, Decision, decided, not_rows
from service.curves.evaluation import CurvesOptions, evaluate_curves
from service.curves.histogram import Histogram
from service.curves.operating_points import OperatingPoint, operating_points
from service.curves.row_metrics import ROW_METRICS, values_of
from tests import reference_metrics as reference
from tests.curves.test_row_metrics import TWELVE
from tests.support.strategies import (
    Data,
    Rows,
    classifiers,
    confusion_of,
    evaluation_of,
    examples,
    samples,
    tied_scores,
)

WORKED = [
    ({"at_threshold": 0.5}, (0.5, 4, 3)),
    ({"at_share": 0.25}, (0.8, 2, 1)),
    ({"at_share": 0.4}, (0.8, 2, 1)),  # the tie does not fit
    ({"at_share": 0.42}, (0.7, 3, 2)),
    ({"at_share": 0.01}, (None, 0, 0)),
    ({"at_fpr": 0.05}, (0.9, 2, 0)),
    ({"at_fpr": 0.2}, (0.8, 2, 1)),
    ({"at_fpr": 0.3}, (0.6, 4, 2)),
    ({"at_recall": 0.6}, (0.7, 3, 2)),
    ({"best": "accuracy"}, (0.6, 4, 2)),  # as good as 0.9, where tp is 2
    ({"best": "balanced_accuracy"}, (0.6, 4, 2)),
    ({"best": "f1"}, (0.6, 4, 2)),
    ({"best": "kappa"}, (0.6, 4, 2)),
    ({"best": "youden"}, (0.6, 4, 2)),
    ({"best": "mcc"}, (0.9, 2, 0)),
    ({"best": "f0_5"}, (0.9, 2, 0)),
    ({"best": "precision"}, (0.9, 2, 0)),  # as good as 0.95, where tp is 1
    ({"best": "lift"}, (0.9, 2, 0)),
    ({"best": "f2"}, (0.35, 5, 4)),
    ({"best": "precision", "min_recall": 0.6}, (0.6, 4, 2)),
    ({"best": "specificity", "min_recall": 0.6}, (0.6, 4, 2)),
    ({"best": "recall", "min_precision": 0.6}, (0.6, 4, 2)),
    ({"best": "recall", "min_precision": 0.9}, (0.9, 2, 0)),
    ({"best": "f1", "max_fpr": 0.2}, (0.9, 2, 0)),
    ({"best": "recall", "max_fpr": 0.2}, (0.9, 2, 0)),
    ({"best": "mcc", "max_share": 0.4}, (0.9, 2, 0)),
    ({"best": "recall", "min_specificity": 0.99, "min_recall": 0.5}, None),
    ({"best": "fpr"}, (0.9, 2, 0)),
    ({"best": "fnr"}, (0.35, 5, 4)),
]
"""Decisions on the twelve rows: threshold, tp and fp, or no row. From the rows, by a program of fractions."""

BEST_VALUES = {
    "accuracy": 3 / 4,
    "balanced_accuracy": 53 / 70,
    "f1": 8 / 11,
    "kappa": 1 / 2,
    "youden": 18 / 35,
    "mcc": 0.5291502622129182,
    "f0_5": 10 / 13,
    "precision": 1.0,
    "lift": 12 / 5,
    "f2": 25 / 29,
}


def of(decisions: list[dict[str, Any]], source: Data | Rows, **how: Any) -> Decided:
    return decided([Decision(**each) for each in decisions], ["f1"], evaluation_of(source), confusion_of(source), **how)


def rows_of(found: Decided) -> list[tuple[float | None, float, float] | None]:
    """Threshold, tp and fp of each; None without a row."""
    columns = zip(found.threshold.tolist(), found.tp.tolist(), found.fp.tolist(), strict=True)
    return [None if tp != tp else (None if t != t else t, tp, fp) for t, tp, fp in columns]  # noqa: PLR0124  # NaN


@pytest.mark.parametrize("lower", [False, True])
def test_worked_numbers(*, lower: bool) -> None:
    """Of the twelve rows, and of the same with scores 1 - s, where low scores are positive."""
    data, decisions = TWELVE, [decision for decision, _ in WORKED]
    if lower:
        data = replace(TWELVE, scores=[1 - score for score in TWELVE.scores], lower_is_positive=True)
    found = rows_of(of(decisions, data))
    for (decision, row), got in zip(WORKED, found, strict=True):
        if row is None or got is None:
            assert (row, got) == (None, None), decision
            continue
        assert got[1:] == row[1:], decision
        assert got[0] == (None if row[0] is None else pytest.approx(1 - row[0] if lower else row[0])), decision


def test_the_values_of_the_best() -> None:
    found = decided(
        [Decision(best=name) for name in BEST_VALUES], BEST_VALUES, TWELVE.sample(), ConfusionTable.of(TWELVE.sample())
    )
    for place, (name, value) in enumerate(BEST_VALUES.items()):
        assert found.metrics[name][place] == pytest.approx(value, rel=1e-15)


def test_counts_of_a_row_add_up() -> None:
    found = of([{"at_threshold": 0.5}, {"best": "recall", "min_specificity": 0.99, "min_recall": 0.5}], TWELVE)
    assert (found.fn[0], found.tn[0], found.metrics["f1"][0]) == (1, 4, 2 / 3)
    assert all(np.isnan(column[1]) for column in (found.threshold, found.tp, found.fn, found.tn, found.metrics["f1"]))


def test_decisions_are_named() -> None:
    names = {
        "threshold 0.5": {"at_threshold": 0.5},
        "threshold -2": {"at_threshold": -2.0},
        "share 0.01": {"at_share": 0.01},
        "fpr 0.003": {"at_fpr": 0.003},
        "recall 0.9": {"at_recall": 0.9},
        "best mcc": {"best": "mcc"},
        "best precision, recall >= 0.6": {"best": "precision", "min_recall": 0.6},
        "best f1, specificity >= 0.9, share <= 0.1": {"best": "f1", "min_specificity": 0.9, "max_share": 0.1},
    }
    assert {str(Decision(**each)): each for each in names.values()} == names
    assert of(list(names.values()), TWELVE).decision == tuple(names)


shares = st.sampled_from([0.0, 0.1, 0.25, 1 / 3, 0.5, 2 / 3, 0.75, 0.9, 1.0])
budgets = st.one_of(*(st.fixed_dictionaries({name: shares}) for name in ("at_share", "at_fpr", "at_recall")))
limits = st.dictionaries(st.sampled_from(LIMITS_OF_BEST), shares, max_size=2)
exact_metrics = [name for name in reference.QUOTIENTS if name in BEST_BY]
best = st.builds(lambda name, given: {"best": name, **given}, st.sampled_from(exact_metrics), limits)
decisions = st.lists(st.one_of(budgets, best), min_size=1, max_size=6)


@examples(150)
@given(st.one_of(samples(tied_scores), samples(), classifiers()), decisions)
def test_rows_are_those_that_the_reference_finds_by_trying_all(
    source: Data | Rows, asked: list[dict[str, Any]]
) -> None:
    """Also of counts that are not a sweep."""
    table = source.table()
    for decision, found in zip(asked, rows_of(of(asked, source)), strict=True):
        row = reference.chosen(table, decision)
        assert (None if row is None else (row.tp, row.fp)) == (found and found[1:]), decision


@examples(60)
@given(samples(tied_scores), st.sampled_from([0.1, 0.25, 0.5, 0.75, 1.0]))
def test_operating_points_have_the_same_rows(data: Data, at: float) -> None:
    same = {
        "precision_at_recall": {"best": "precision", "min_recall": at},
        "recall_at_precision": {"best": "recall", "min_precision": at},
        "tpr_at_fpr": {"best": "recall", "max_fpr": at},
    }
    points = operating_points(ConfusionTable.of(data.sample()), [OperatingPoint(name, at) for name in same])
    found = of(list(same.values()), data)
    assert np.array_equal(found.tp, points.tp, equal_nan=True)
    assert np.array_equal(found.fp, points.fp, equal_nan=True)


@examples(60)
@given(samples(tied_scores), st.lists(st.sampled_from([-1.0, 0.0, 0.3, 0.5, 0.6, 2.0]), min_size=1, max_size=4))
def test_a_threshold_calls_what_scores_at_or_beyond_it(data: Data, thresholds: list[float]) -> None:
    found = of([{"at_threshold": threshold} for threshold in thresholds], data)
    for threshold, tp, fp in zip(thresholds, found.tp.tolist(), found.fp.tolist(), strict=True):
        called = [
            label
            for score, label in zip(data.scores, data.labels, strict=True)
            if (score <= threshold if data.lower_is_positive else score >= threshold)
        ]
        assert (tp, fp) == (called.count(True), called.count(False))
    assert found.threshold.tolist() == thresholds


def test_every_metric_chooses_a_row_but_those_that_cannot() -> None:
    assert set(ROW_METRICS) - set(BEST_BY) == {"share", "lr_positive", "lr_negative"}
    table = ConfusionTable.of(TWELVE.sample())
    for name in BEST_BY:
        (found,) = decided([Decision(best=name)], [name], TWELVE.sample(), table).metrics[name]
        better = ROW_METRICS[name].better
        assert better * found == np.nanmax(better * values_of(name, table))


class TestCandidates:
    def test_counts_have_the_rows_that_they_list(self) -> None:
        counts = Rows([1, 3, 3], [0, 2, 2], 4, 4, [0.8, 0.5, 0.4])
        asked = [{"at_threshold": at} for at in (0.8, 0.45, 0.4)] + [{"best": "recall"}]
        found = of(asked, counts)
        assert rows_of(found) == [(0.8, 1, 0), None, (0.4, 3, 2), (None, 4, 4)]
        said = not_rows([Decision(**each) for each in asked], found)
        assert said is not None
        assert said.startswith("The decisions at threshold 0.45 are null: ")
        assert not_rows([Decision(at_threshold=0.8)], of(asked[:1], counts)) is None

    def test_a_threshold_within_an_open_group_is_no_row(self) -> None:
        ends = np.array([0.5, 0.0]), np.array([1.0, 0.4])
        groups = Histogram(*ends, (np.array([3.0, 1.0]), np.array([1.0, 3.0])))
        table = ConfusionTable.of(groups)
        asked = [Decision(at_threshold=0.5), Decision(at_threshold=0.7), Decision(best="f1"), Decision(at_share=0.5)]
        found = decided(asked, ["f1"], groups, table)
        assert rows_of(found) == [(0.5, 3, 1), None, (0.5, 3, 1), (0.5, 3, 1)]

    def test_chosen_among_cuts(self) -> None:
        """A threshold is read exactly; budgets and the best take the rows of the cuts."""
        options = CurvesOptions(
            frozenset(),
            thresholds=np.array([0.65, 0.33]),
            decisions=[Decision(at_threshold=0.5), Decision(best="f1"), Decision(at_share=0.5)],
        )
        curves = evaluate_curves(TWELVE.sample(), options)
        assert curves.decisions is not None
        assert rows_of(curves.decisions) == [(0.5, 4, 3), (0.33, 5, 4), (0.65, 3, 2)]
        assert [warning.code for warning in curves.warnings] == ["reduced_table"]

    def test_chosen_on_a_tuning_sample(self) -> None:
        """Its threshold is applied to the evaluation's own rows, between whose scores it may lie."""
        tuning = Data([0.9, 0.58, 0.3, 0.1], [True, True, False, False])
        asked = [Decision(best="f1"), Decision(at_share=0.25), Decision(at_share=0.1), Decision(at_threshold=0.5)]
        options = CurvesOptions(frozenset(), tuning=tuning.sample(), decisions=asked)
        curves = evaluate_curves(TWELVE.sample(), options)
        assert curves.decisions is not None
        assert rows_of(curves.decisions) == [(0.58, 4, 2), (0.9, 2, 0), (None, 0, 0), (0.5, 4, 3)]
        (warning,) = curves.warnings
        assert "except decisions" in warning.detail
