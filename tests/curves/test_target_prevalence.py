"""Where positives are as common as in use: every number against the exact twin, and the laws of it."""

from __future__ import annotations

from dataclasses import asdict, replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.curves.area_columns import SHARED_AREAS
from service.curves.bounds import best_and_worst
from service.curves.confusion import ConfusionTable
from service.curves.decisions import Decision
from service.curves.evaluation import Curves, CurvesOptions, evaluate_curves
from service.curves.histogram import Histogram
from service.curves.net_benefit import NetBenefitOptions, net_benefit
from service.curves.operating_points import OperatingPoint, operating_points
from service.curves.partial_areas import PartialRange, partial_areas
from service.curves.pr import AtRecall, Every
from service.curves.row_metrics import OF_EITHER_CLASS, ROW_METRICS, Matrices
from service.curves.sample import Sample
from service.curves.slicing import rows_by_slice, sliced_areas
from service.curves.target_prevalence import TargetPrevalence
from service.curves.tradeoff import evaluate_tradeoffs
from tests import reference_calibration, reference_metrics, reference_operating_points, reference_partial, reference_pr
from tests.reference_prevalence import in_use, weights_in_use
from tests.support.strategies import Data, Rows, evaluation_of, examples, samples, sweeps, weighted_samples

ALL = CurvesOptions(include=frozenset({"auc", "points", "interpolated_pr", "achievable_pr", "statistics"}))
PARTS = (PartialRange("recall", 0.2, 0.7), PartialRange("fpr", 0.1, 0.6), PartialRange("tpr", 0.3, 0.9))
shares = st.sampled_from([1e-9, 0.001, 0.05, 0.3, 0.5, 0.875, 1 - 1e-9])
evaluations = st.one_of(samples(), weighted_samples(), sweeps())


def at(evaluation: Any, share: float) -> Any:
    """An evaluation where the share of positives is this."""
    return replace(evaluation, target=TargetPrevalence(share))


def close(exact: Any, rel: float = 1e-13) -> Any:
    return None if exact is None else pytest.approx(float(exact), rel=rel, abs=1e-15)


@examples(120)
@given(evaluations, shares)
def test_areas_are_those_of_the_table_in_use(source: Data | Rows, share: float) -> None:
    curves = evaluate_curves(at(evaluation_of(source), share), ALL)
    table = in_use(source.table(), share)
    assert curves.auc is not None
    for name in SHARED_AREAS:
        assert getattr(curves.auc, name) == close(reference_pr.AREAS[name](table)), name
    assert curves.auc.pr_trapezoid is None
    assert [each.code for each in curves.warnings].count("pr_trapezoid_omitted") == 1
    assert curves.statistics is not None
    assert curves.statistics.prg == pytest.approx(float(reference_calibration.gain_area(table)), rel=1e-12, abs=1e-12)


@examples(120)
@given(evaluations, shares, st.lists(st.integers(0, 20).map(lambda n: n / 20), min_size=1, max_size=4))
def test_what_is_read_off_is_that_of_the_table_in_use(source: Data | Rows, share: float, places: list[float]) -> None:
    of_data, table = ConfusionTable.of(at(evaluation_of(source), share)), in_use(source.table(), share)
    recalls = evaluate_curves(
        at(evaluation_of(source), share),
        replace(ALL, include=frozenset({"interpolated_pr"}), interpolation=AtRecall(np.array(places))),
    ).interpolated_pr
    assert recalls is not None
    exact = reference_pr.interpolated_at_recall(table, places)
    assert recalls.precision.tolist() == [close(each.precision) for each in exact]
    read = operating_points(of_data, [OperatingPoint("precision_at_recall", each) for each in places])
    assert read.value.tolist() == [close(each.precision) for each in exact]
    for index in ("kulczynski", "f_measure", "fowlkes_mallows", "jaccard"):
        (value,) = operating_points(of_data, [OperatingPoint(index, 0.25)]).value.tolist()
        assert value == close(reference_operating_points.value_at(table, index, 0.25), 1e-12)
    areas = partial_areas(of_data, PARTS).area.tolist()
    for part, area in zip(PARTS, areas, strict=True):
        assert area == close(reference_partial.area(table, part.over, part.start, part.end), 1e-12)


@examples(120)
@given(evaluations, shares)
def test_metrics_of_rows_are_those_of_the_matrix_in_use(source: Data | Rows, share: float) -> None:
    names = frozenset(ROW_METRICS)
    points = evaluate_curves(at(evaluation_of(source), share), replace(ALL, metrics=names)).points
    table = in_use(source.table(), share)
    assert points is not None
    for row, found in enumerate(table.rows):
        exact = reference_metrics.of_row(table, found)
        for name in names:
            column = points.metrics[name] if name in points.metrics else getattr(points, name)
            value = float(column[row])
            if exact[name] is None:
                assert np.isnan(value), name
            elif name not in {"mcc", "kappa", "markedness", "youden"}:
                assert value == close(exact[name], 1e-12), name
            else:
                assert value == pytest.approx(float(exact[name]), abs=1e-12), name


@examples(150)
@given(evaluations, shares)
def test_what_recall_and_fpr_decide_does_not_change_by_a_bit(source: Data | Rows, share: float) -> None:
    options = replace(
        ALL,
        metrics=OF_EITHER_CLASS,
        operating_points=[OperatingPoint("tpr_at_fpr", 0.3)],
        partial=PARTS[1:],
        decisions=[Decision(at_fpr=0.4), Decision(at_recall=0.5), Decision(best="youden", max_fpr=0.5)],
    )
    plain, found = (
        evaluate_curves(each, options) for each in (evaluation_of(source), at(evaluation_of(source), share))
    )
    assert _rates_of(found) == _rates_of(plain)


def _rates_of(curves: Curves) -> dict[str, Any]:
    """What a prevalence does not change."""
    assert curves.auc is not None
    assert curves.points is not None
    assert curves.operating_points is not None
    assert curves.partial is not None
    assert curves.decisions is not None
    assert curves.statistics is not None
    points = curves.points
    columns = [points.threshold, *points.counts, points.fpr, points.tpr, points.recall]
    columns += [curves.operating_points.value, curves.partial.area, curves.decisions.tp, curves.decisions.fp]
    columns += [column for _, column in sorted({**points.metrics, **curves.decisions.metrics}.items())]
    assert curves.interpolated_pr is not None
    columns += [curves.interpolated_pr.tp, curves.interpolated_pr.fp, curves.interpolated_pr.recall]
    statistics = asdict(curves.statistics)
    return {
        "columns": [column.tobytes() for column in columns],
        "auc": (curves.auc.roc, curves.auc.roc_hull),
        "statistics": {name: statistics[name] for name in ("ks", "ks_threshold", "gini", "eer", "eer_threshold")},
        "hull": points.on_hull.tolist(),
        "rows": curves.decisions.rows,
    }


@examples(80)
@given(samples(), st.integers(1, 6))
def test_whole_numbers_of_copies_of_negatives_give_the_same_curve(data: Data, copies: int) -> None:
    positives = sum(data.labels)
    negatives = len(data.labels) - positives
    share = positives / (positives + copies * negatives)
    times = [1 if label else copies for label in data.labels]
    copied = Data(np.repeat(data.scores, times).tolist(), np.repeat(data.labels, times).tolist())
    copied = replace(copied, lower_is_positive=data.lower_is_positive)
    metrics = frozenset(ROW_METRICS)
    options = replace(ALL, metrics=metrics, interpolation=Every(1.0), decisions=[Decision(at_share=0.5)])
    found = evaluate_curves(at(data.sample(), share), options)
    many = evaluate_curves(copied.sample(), options)
    assert found.auc is not None
    assert many.auc is not None
    for name in SHARED_AREAS:
        assert getattr(found.auc, name) == pytest.approx(getattr(many.auc, name), rel=1e-13), name
    for one, other in ((found.interpolated_pr, many.interpolated_pr), (found.achievable_pr, many.achievable_pr)):
        assert one is not None
        assert other is not None
        assert one.precision == pytest.approx(other.precision, rel=1e-13)
        assert (copies * one.fp).tolist() == pytest.approx(other.fp.tolist(), rel=1e-13)
    assert found.points is not None
    assert many.points is not None
    for name, column in found.points.metrics.items():
        assert column == pytest.approx(many.points.metrics[name], rel=1e-6, abs=1e-12, nan_ok=True), name
    for name in ("brier", "uncertainty", "discrimination", "miscalibration", "log_loss", "prg"):
        one, other = getattr(found.statistics, name), getattr(many.statistics, name)
        assert one == (None if other is None else pytest.approx(other, rel=1e-11, abs=1e-13)), name
    assert found.statistics is not None
    assert (found.statistics.ece, found.statistics.calibration_slope) == (None, None)


@examples(80)
@given(evaluations)
def test_the_prevalence_of_the_data_changes_nothing_but_last_bits(source: Data | Rows) -> None:
    table = source.table()
    share = float(table.positives / (table.positives + table.negatives))
    if not 1e-9 <= share <= 1 - 1e-9:
        return
    found, plain = (
        evaluate_curves(each, replace(ALL, metrics=frozenset({"precision", "accuracy", "f1"})))
        for each in (at(evaluation_of(source), share), evaluation_of(source))
    )
    for name in SHARED_AREAS:
        assert getattr(found.auc, name) == pytest.approx(getattr(plain.auc, name), rel=1e-13), name
    assert found.points is not None
    assert plain.points is not None
    assert found.points.precision == pytest.approx(plain.points.precision, rel=1e-13, nan_ok=True)
    for name, column in found.points.metrics.items():
        assert column == pytest.approx(plain.points.metrics[name], rel=1e-12, nan_ok=True), name


@examples(60)
@given(evaluations, shares, shares)
def test_precision_rises_with_the_prevalence(source: Data | Rows, one: float, other: float) -> None:
    low, high = (ConfusionTable.of(at(evaluation_of(source), each)).precision for each in sorted((one, other)))
    assert np.all((low <= high * (1 + 1e-15)) | np.isnan(low))


@examples(60)
@given(samples(), shares)
def test_losses_are_those_of_both_classes_at_their_shares(data: Data, share: float) -> None:
    if not all(0 < score < 1 for score in data.scores):
        scaled = [0.05 + 0.9 * (rank + 1) / (len(data.scores) + 2) for rank in np.argsort(np.argsort(data.scores))]
        data = replace(data, scores=[float(each) for each in scaled])
    found = evaluate_curves(at(data.sample(), share), ALL).statistics
    assert found is not None
    probabilities = [1 - s if data.lower_is_positive else s for s in data.scores]
    each = weights_in_use(data.labels, share)
    brier = sum(
        w * (Fraction(p) - int(label)) ** 2 for w, p, label in zip(each, probabilities, data.labels, strict=True)
    )
    assert found.brier == pytest.approx(float(brier), rel=1e-12)
    losses = [-np.log(p if label else 1 - p) for p, label in zip(probabilities, data.labels, strict=True)]
    assert found.log_loss == pytest.approx(float(np.dot([float(w) for w in each], losses)), rel=1e-11)


def test_a_share_called_positive_is_that_in_use() -> None:
    sample = at(Sample(np.array([0.9, 0.8, 0.7, 0.6]), np.array([True, False, True, False])), 0.1)
    decisions = [Decision(at_share=0.05), Decision(at_share=0.2), Decision(best="precision", max_share=0.6)]
    found = evaluate_curves(sample, CurvesOptions(frozenset(), decisions=decisions, metrics=frozenset({"share"})))
    assert found.decisions is not None
    assert found.decisions.tp.tolist() == [1, 1, 1]
    assert found.decisions.fp.tolist() == [0, 0, 0]
    assert found.decisions.metrics["share"].tolist() == pytest.approx([0.05, 0.05, 0.05])


def test_net_benefit_is_for_the_target_unless_it_says_otherwise() -> None:
    sample = Sample(np.array([0.9, 0.8, 0.7, 0.6]), np.array([True, False, True, True]))
    at_half = NetBenefitOptions(np.array([0.75]))
    given_there = NetBenefitOptions(np.array([0.75]), 0.2)
    plain = net_benefit(ConfusionTable.of(sample), given_there).net_benefit.tolist()
    assert net_benefit(ConfusionTable.of(at(sample, 0.2)), at_half).net_benefit.tolist() == plain
    assert net_benefit(ConfusionTable.of(at(sample, 0.9)), given_there).net_benefit.tolist() == plain


@examples(60)
@given(samples(), shares)
def test_all_slices_count_a_row_alike(data: Data, share: float) -> None:
    numbers = np.arange(len(data.scores)) % 3
    count = int(numbers.max()) + 1
    sample = data.sample()
    positives = sample.positives
    target = TargetPrevalence(share, positives, sample.rows - positives)
    order, bounds = rows_by_slice(numbers, count)
    plain = sliced_areas(sample, numbers, order, bounds)
    found = sliced_areas(replace(sample, target=target), numbers, order, bounds)
    assert found.roc.tobytes() == plain.roc.tobytes()
    assert found.positives.tobytes() == plain.positives.tobytes()
    assert found.roc_hull.tobytes() == plain.roc_hull.tobytes()
    for number in range(count):
        rows = np.flatnonzero(numbers == number)
        if found.reason[number] is not None:
            assert found.reason[number] == plain.reason[number]
            continue
        alone = ConfusionTable.of(Sample(sample.scores[rows], sample.labels[rows], None, data.lower_is_positive))
        used = replace(alone, target=target).in_use
        assert found.pr[number] == pytest.approx(used.swept.pr, rel=1e-13)
        assert found.average_precision[number] == pytest.approx(used.swept.average_precision, rel=1e-13)


@examples(60)
@given(samples(), shares)
def test_bounds_of_open_groups_enclose_the_sample(data: Data, share: float) -> None:
    data = replace(data, lower_is_positive=False)
    distinct = sorted(set(data.scores))
    edges = distinct[::2]
    if len(edges) < 2 or not all(map(np.isfinite, distinct)):
        return
    place = np.searchsorted(edges, data.scores, side="right") - 1
    masses = [
        np.bincount(place[np.array(data.labels) == of], minlength=len(edges)).astype(float) for of in (True, False)
    ]
    ends = np.array([*edges[1:], np.inf])  # no row is at the upper end of its group
    groups = Histogram(np.array(edges), ends, (masses[0], masses[1]), closed="left")
    best, worst = best_and_worst(at(groups, share).merged())
    found = evaluate_curves(at(data.sample(), share)).auc
    assert found is not None
    for name in ("roc", "pr", "average_precision"):
        assert getattr(worst.areas, name) <= getattr(found, name) * (1 + 1e-12)
        assert getattr(found, name) <= getattr(best.areas, name) * (1 + 1e-12)


@examples(40)
@given(sweeps(), shares)
def test_the_best_trade_off_is_that_of_the_table_in_use(rows: Rows, share: float) -> None:
    found = evaluate_tradeoffs(at(rows.counts(), share))
    assert found.target == share
    table = in_use(rows.table(), share)
    for name, each in found.tradeoffs.items():
        for row in range(each.optimal.tp.size):
            precision, recall = each.optimal.precision[row], each.optimal.recall[row]
            true, false = (
                Fraction(share) * Fraction(float(recall)),
                (1 - Fraction(share)) * Fraction(float(each.optimal.fp[row] / rows.negatives)),
            )
            assert precision == close(true / (true + false)), name
        middle = each.optimal.lambda_from[0] / 2 + each.optimal.lambda_to[0] / 2
        best = reference_operating_points.value_at(table, name, float(middle))
        (value,) = operating_points(
            ConfusionTable.of(at(rows.counts(), share)), [OperatingPoint(name, float(middle))]
        ).value.tolist()
        assert value == close(best, 1e-11)


def test_a_worked_row() -> None:
    """3 of 4 positives and 1 of 6 negatives, where one in ten is positive."""
    matrices = Matrices(np.array([3.0]), np.array([1.0]), 4.0, 6.0, whole=True, target=TargetPrevalence(0.1, 4.0, 6.0))
    found = {name: float(each.value(matrices)[0]) for name, each in ROW_METRICS.items()}
    assert found["precision"] == pytest.approx(0.075 / (0.075 + 0.15))
    assert found["share"] == pytest.approx(0.225)
    assert found["accuracy"] == pytest.approx(0.075 + 0.75)
    assert found["recall"] == 0.75
    assert found["fpr"] == 1 / 6


def test_a_recall_next_to_0_has_the_first_precision() -> None:
    counts = Rows([1], [1], 9, 9).counts()
    recalls = np.array([5e-324, 1e-300])
    options = replace(ALL, include=frozenset({"interpolated_pr"}), interpolation=AtRecall(recalls))
    found = evaluate_curves(at(counts, 0.1), options).interpolated_pr
    assert found is not None
    assert found.precision.tolist() == pytest.approx([0.1, 0.1])
