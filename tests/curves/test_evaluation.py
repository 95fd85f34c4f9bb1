"""What the answer has, what is null in it, and what gets a warning."""

from __future__ import annotations

import numpy as np
import pytest

from service.curves.evaluation import Curves, CurvesOptions, evaluate_curves
from service.curves.pr import Every
from tests.support.strategies import Data, Rows

DATA = Data([0.9, 0.8, 0.7, 0.6, 0.5], [True, False, True, True, False])


def codes(curves: Curves) -> list[str]:
    """The codes of the warnings."""
    return [warning.code for warning in curves.warnings]


@pytest.mark.parametrize("name", ["auc", "points", "interpolated_pr", "achievable_pr"])
def test_include_answers_what_was_asked(name: str) -> None:
    curves = evaluate_curves(DATA.sample(), CurvesOptions(include=frozenset({name})))
    answered = {
        part for part in ("auc", "points", "interpolated_pr", "achievable_pr") if getattr(curves, part) is not None
    }
    assert answered == {name}
    assert (curves.interpolation is not None) == name.endswith("_pr")


def test_default_includes_all() -> None:
    curves = evaluate_curves(DATA.sample())
    assert None not in (curves.auc, curves.points, curves.interpolated_pr, curves.achievable_pr, curves.interpolation)
    assert curves.selected_thresholds is None
    assert codes(curves) == []


def test_no_sweep_is_warned_of() -> None:
    curves = evaluate_curves(Rows([2, 1], [1, 2], 3, 3).counts())
    assert curves.auc is not None
    assert curves.interpolated_pr is None
    assert curves.achievable_pr is not None
    assert (curves.auc.roc, curves.auc.pr, curves.auc.pr_trapezoid, curves.auc.average_precision) == (None,) * 4
    assert curves.auc.roc_hull == pytest.approx(2 / 3)
    assert "not_a_sweep" in codes(curves)
    assert all(warning.detail for warning in curves.warnings)


def test_fractional_counts_have_no_trapezoid() -> None:
    curves = evaluate_curves(Rows([0.5], [1], 3, 3).counts())
    assert curves.auc is not None
    assert curves.auc.pr_trapezoid is None
    assert codes(curves) == ["pr_trapezoid_omitted"]


@pytest.mark.parametrize(("positives", "there"), [(10**7, True), (10**7 + 1, False)])
def test_too_many_positives_have_no_trapezoid(positives: int, there: bool) -> None:  # noqa: FBT001 - a case's expected value
    options = CurvesOptions(include=frozenset({"auc"}))
    curves = evaluate_curves(Rows([positives], [0], positives, 3).counts(), options)
    assert curves.auc is not None
    assert curves.auc.pr_trapezoid == (1.0 if there else None)
    assert codes(curves) == ([] if there else ["pr_trapezoid_omitted"])


def test_thresholds_reduce_the_table() -> None:
    curves = evaluate_curves(DATA.sample(), CurvesOptions(thresholds=np.array([0.7])))
    assert codes(curves) == ["reduced_table"]
    assert curves.points is not None
    assert (curves.points.tp.tolist(), curves.points.fp.tolist()) == ([0, 2, 3], [0, 1, 2])
    assert curves.selected_thresholds is None


def test_tuning_answers_its_thresholds() -> None:
    tuning = Data([0.95, 0.7, 0.2], [True, True, False])
    curves = evaluate_curves(DATA.sample(), CurvesOptions(tuning=tuning.sample()))
    assert codes(curves) == ["reduced_table"]
    assert curves.selected_thresholds is not None
    # 0.95 lies on the vertical edge at fp = 0, and 0.2 is (P, N): all three are on the hull.
    assert curves.selected_thresholds.tolist() == [0.95, 0.7, 0.2]
    assert curves.points is not None
    assert curves.points.tp.tolist() == [0, 2, 3]


def test_keep_does_not_thin_interpolation() -> None:
    rows = Rows([1, 2, 3], [1, 2, 3], 4, 4)
    curves = evaluate_curves(rows.counts(), CurvesOptions(keep="corners", interpolation=Every(1.0)))
    assert curves.points is not None
    assert curves.interpolated_pr is not None
    assert curves.points.tp.tolist() == [0, 4]
    assert curves.interpolated_pr.tp.tolist() == [0, 1, 2, 3, 4]


def test_points_columns_of_a_small_table() -> None:
    points = evaluate_curves(Data([3.0, 2.0, 1.0], [True, False, True]).sample()).points
    assert points is not None
    assert points.threshold.tolist()[1:] == [3.0, 2.0, 1.0]
    assert points.fpr.tolist() == [0, 0, 1, 1]
    assert points.tpr.tolist() == points.recall.tolist() == [0, 0.5, 0.5, 1]
    assert np.isnan(points.precision[0])
    assert points.precision.tolist()[1:] == [1, 0.5, 2 / 3]
    assert points.on_hull.tolist() == [True, True, False, True]
    assert (points.fn.tolist(), points.tn.tolist()) == ([2, 1, 1, 0], [1, 1, 0, 0])
