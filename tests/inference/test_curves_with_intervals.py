"""Curves with intervals: one table for both, and neither changes the other."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from service.curves.confusion import ConfusionTable
from service.curves.evaluation import CurvesOptions, evaluate_curves
from service.inference.curves_with_intervals import evaluate_with_intervals
from service.inference.intervals import IntervalOptions
from tests.support.strategies import Data, Rows

DATA = Data([0.9, 0.8, 0.7, 0.6, 0.5, 0.4], [True, False, True, True, False, False])


def test_the_table_is_built_once(monkeypatch: pytest.MonkeyPatch) -> None:
    built = []
    of = ConfusionTable.of
    monkeypatch.setattr(ConfusionTable, "of", lambda evaluation: built.append(evaluation) or of(evaluation))
    options = CurvesOptions(include=frozenset({"points"}))
    assert evaluate_with_intervals(DATA.sample(), options, IntervalOptions()).intervals is not None
    assert len(built) == 1


def test_curves_are_those_without_intervals() -> None:
    options = CurvesOptions(include=frozenset({"auc", "points"}), thresholds=np.array([0.7, 0.5]))
    found = evaluate_with_intervals(DATA.sample(), options, IntervalOptions())
    plain = evaluate_curves(DATA.sample(), options)
    assert found.curves.auc == plain.auc
    assert (found.positives, found.negatives, found.warnings) == (3, 3, plain.warnings)
    assert plain.points is not None
    for field in dataclasses.fields(plain.points):
        np.testing.assert_array_equal(getattr(found.curves.points, field.name), getattr(plain.points, field.name))
    assert evaluate_with_intervals(DATA.sample(), options).intervals is None


def test_intervals_do_not_depend_on_what_is_included() -> None:
    asked = [CurvesOptions(include=frozenset(names)) for names in ({"auc"}, {"points"}, ())]
    first, *others = (evaluate_with_intervals(DATA.sample(), options, IntervalOptions()).intervals for options in asked)
    assert first
    assert others == [first, first]


def test_warnings_of_both_are_reported() -> None:
    sample = dataclasses.replace(DATA, weights=[0.5, 1, 0, 0, 1, 1]).sample()
    found = evaluate_with_intervals(sample, CurvesOptions(), IntervalOptions())
    assert found.intervals == dict.fromkeys(["roc", "pr", "average_precision"])
    assert [warning.code for warning in found.warnings] == ["pr_trapezoid_omitted", "too_few_examples"]


def test_a_set_that_is_not_a_sweep_has_no_intervals() -> None:
    found = evaluate_with_intervals(Rows([2, 1], [1, 2], 3, 3).counts(), CurvesOptions(), IntervalOptions())
    assert found.intervals == dict.fromkeys(["roc", "pr", "average_precision"])
    assert [warning.code for warning in found.warnings] == ["not_a_sweep"]
