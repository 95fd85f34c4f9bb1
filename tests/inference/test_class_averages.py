"""Intervals of classes and of their averages: worked errors, derivatives taken slowly, and what has none."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from service.curves.class_scores import ClassScores
from service.curves.classes import AVERAGED_AREAS, AVERAGES, evaluate_classes
from service.curves.clusters import Clusters
from service.curves.confusion import ConfusionTable
from service.inference.class_averages import ClassIntervals, class_intervals
from service.inference.intervals import IntervalOptions, normal_quantile
from service.inference.row_moves import RowMoves, samples_of
from tests import reference_classes as reference
from tests.curves.test_row_metrics import TWELVE

LABELS = [*"cccdddoo"]
SCORES = {
    "c": [0.8, 0.4, 0.6, 0.2, 0.5, 0.3, 0.1, 0.3],
    "d": [0.1, 0.5, 0.3, 0.7, 0.3, 0.6, 0.3, 0.4],
    "o": [0.1, 0.1, 0.1, 0.1, 0.2, 0.1, 0.6, 0.3],
}
"""The eight animals of guide/classes.md."""


def given(
    scores: dict[str, Any] = SCORES, labels: list[str] = LABELS, weights: list[float] | None = None, **more: Any
) -> ClassScores:
    columns = [np.array(column, np.float64) for column in scores.values()]
    members = [np.array([label == name for label in labels]) for name in scores]
    return ClassScores(tuple(scores), columns, members, None if weights is None else np.array(weights), **more)


def found(of: ClassScores, **options: Any) -> ClassIntervals:
    return class_intervals(of, evaluate_classes(of), IntervalOptions(**options))


def errors(of: ClassScores) -> dict[tuple[str, str], float]:
    """{area, average: its standard error}."""
    moves = RowMoves(of, evaluate_classes(of))
    for number, sample in samples_of(of):
        moves.add(number, *ConfusionTable.from_sample_with_rows(sample))
    moves.add_pooled(of)
    return {(area, AVERAGES[place]): error.error for area, place, _, error in moves.errors()}


def test_worked_errors() -> None:
    of = errors(given())
    assert of["roc", "macro"] == pytest.approx(0.0981306763, abs=5e-11)
    assert of["roc", "weighted"] == pytest.approx(0.1103970108, abs=5e-11)


def test_two_classes_with_scores_that_add_up_to_1_have_delongs_error() -> None:
    labels = ["yes" if label else "no" for label in TWELVE.labels]
    of = errors(given({"yes": TWELVE.scores, "no": [1 - score for score in TWELVE.scores]}, labels))
    assert of["roc", "macro"] == of["roc", "weighted"] == pytest.approx(0.1414213562, abs=5e-11)


def random_classes(seed: int, rows: int = 14, *, weighted: bool = False) -> ClassScores:
    random = np.random.default_rng(seed)
    labels = [*"aabbcc", *(str(each) for each in random.choice([*"abc"], rows - 6))]
    scores = {name: (random.integers(0, 9, rows) / 8 + [label == name for label in labels]).tolist() for name in "abc"}
    return given(scores, labels, random.choice([0.5, 1.0, 3.0], rows).tolist() if weighted else None)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_errors_are_those_of_derivatives(seed: int, *, weighted: bool) -> None:
    of = random_classes(seed, weighted=weighted)
    scores = {name: column.tolist() for name, column in zip(of.names, of.scores, strict=True)}
    labels = [of.names[place] for place in np.stack(of.members).argmax(axis=0)]
    weights = [1.0] * of.rows if of.weights is None else of.weights.tolist()
    for (area, kind), error in errors(of).items():
        expected = reference.average_error(scores, labels, weights, area, kind)
        assert error == pytest.approx(expected, rel=1e-6, abs=1e-9), (area, kind)


@pytest.mark.parametrize("lower", [False, True])
def test_an_interval_is_on_the_logit_scale(*, lower: bool) -> None:
    scores = {name: [-score if lower else score for score in column] for name, column in SCORES.items()}
    of = given(scores, lower_is_positive=lower)
    values, z = evaluate_classes(of).averages.roc, normal_quantile(0.95)
    ends = found(of).of_averages["roc"]
    for place, name in enumerate(AVERAGES):
        value, reach = values[place], z * errors(of)["roc", name] / (values[place] * (1 - values[place]))
        odds = value / (1 - value) * np.exp([-reach, reach])
        expected = odds / (1 + odds)
        perfect = (0.025) ** (1 / 2)  # of the two owls
        assert ends[0, place] == pytest.approx(min(expected[0], perfect))
        assert ends[1, place] == pytest.approx(max(expected[1], 1 - perfect))


def test_delong_is_for_roc_only() -> None:
    intervals = found(given(), method="delong")
    value, error = evaluate_classes(given()).averages.roc[0], errors(given())["roc", "macro"]
    assert intervals.of_averages["roc"][0, 0] == pytest.approx(value - normal_quantile(0.95) * error)
    assert np.isnan(intervals.of_averages["pr"]).all()
    told = [warning.detail for warning in intervals.warnings if "average" in warning.detail]
    assert "The intervals of the averages of pr, the averages of average_precision are null" in " ".join(told)


def test_weights_matter_only_in_proportion() -> None:
    of = random_classes(5, weighted=True)
    scaled = replace(of, weights=of.weights * 2.0**-40)  # type: ignore[operator]  # it has some
    for area in AVERAGED_AREAS:
        np.testing.assert_allclose(found(of).of_averages[area], found(scaled).of_averages[area], rtol=1e-12)


def test_the_order_of_rows_and_classes_does_not_matter() -> None:
    of = random_classes(6, 40)
    order = np.random.default_rng(1).permutation(40)
    moved = ClassScores(
        of.names[::-1],
        [column[order] for column in of.scores[::-1]],
        [column[order] for column in of.members[::-1]],
    )
    for area in AVERAGED_AREAS:
        np.testing.assert_allclose(found(of).of_averages[area], found(moved).of_averages[area], rtol=1e-12)
        np.testing.assert_allclose(found(of).of_classes[area], found(moved).of_classes[area][:, ::-1], rtol=1e-12)


def test_perfect_scores_are_as_certain_as_the_smallest_class() -> None:
    labels = [*"aaabbbbbbcc"]
    of = given({name: [float(label == name) for label in labels] for name in "abc"}, labels)
    ends = found(of).of_averages
    np.testing.assert_allclose(ends["roc"], [[0.025 ** (1 / 2)] * 3, [1.0] * 3])
    assert (ends["pr"][1] == 1).all()
    assert (ends["pr"][0] < 0.5).all()


@pytest.mark.parametrize(
    "labels", [[*"aaabbbbbbbbc"], [*"aaaaaabbbbbb"]], ids=["a class of one row", "a class without rows"]
)
def test_what_has_no_interval(labels: list[str]) -> None:
    """Without rows of c, macro is undefined; with one, none of the averages has a spread."""
    random = np.random.default_rng(3)
    of = given({name: (random.random(12) + [label == name for label in labels]).tolist() for name in "abc"}, labels)
    intervals = found(of)
    assert np.isnan(intervals.of_averages["roc"][:, 0]).all()
    assert np.isnan(intervals.of_averages["roc"][:, 1:]).all() == ("c" in labels)
    assert np.isnan(intervals.of_classes["roc"][:, 2]).all()
    codes = [warning.code for warning in intervals.warnings]
    assert ("too_few_examples" in codes) == ("c" in labels)


@pytest.mark.parametrize(("count", "missing"), [(3, []), (4, ["average_precision"]), (9, ["pr", "average_precision"])])
def test_averages_of_too_many_areas_have_none(count: int, missing: list[str]) -> None:
    random = np.random.default_rng(4)
    names = "abcdefghi"[:count]
    labels = [*names * 6]
    scores = {name: (random.random(len(labels)) + [(label == name) / 2 for label in labels]).tolist() for name in names}
    intervals = found(given(scores, labels))
    for area, ends in intervals.of_averages.items():
        assert np.isnan(ends[:, :2]).all() == (area in missing), area
        assert not np.isnan(ends[:, 2]).any()
    told = [warning.detail for warning in intervals.warnings if warning.code == "interval_omitted"]
    assert len(told) == bool(missing)
    assert all(f"{average} {area}" in told[0] for area in missing for average in ("macro", "weighted"))


def test_averages_under_precision_recall_curves_are_shrunk() -> None:
    """Towards Boyd, Eng & Page's error, with the weight of ten rows, and a wider quantile; written from the formula."""
    of, z = given(), normal_quantile(0.95)
    answer = evaluate_classes(of)
    sizes = [3, 3, 2]
    turn = {n: (1 + np.sqrt(n / (n + z**2))) / 2 for n in sizes}
    for place, weights in enumerate(([1 / 3] * 3, [3 / 8, 3 / 8, 2 / 8])):
        value = answer.averages.pr[place]
        areas = [np.clip(area, 1 - turn[n], turn[n]) for area, n in zip(answer.areas.pr, sizes, strict=True)]
        spread = sum(w**2 * a * (1 - a) / n for w, a, n in zip(weights, areas, sizes, strict=True))
        near = np.clip(value, 1 - turn[2], turn[2])
        own = errors(of)["pr", AVERAGES[place]] / (value * (1 - value))
        error = np.sqrt((2 * own**2 + 10 * spread / (near * (1 - near)) ** 2) / 12)
        reach = (z + (z**3 + z) / 4) * error
        upper = value / (value + (1 - value) * np.exp(-reach))
        assert found(of).of_averages["pr"][1, place] == pytest.approx(upper)


def test_averages_of_several_labels_have_none() -> None:
    of = replace(given(), exclusive=False)
    intervals = found(of)
    assert np.isnan(intervals.of_averages["roc"]).all()
    np.testing.assert_array_equal(intervals.of_classes["roc"], found(given()).of_classes["roc"])
    (told,) = [warning for warning in intervals.warnings if warning.code == "interval_omitted"]
    assert told.detail == "The intervals of macro, weighted, micro are null: rows may belong to several classes."


def test_weights_of_0_are_absent() -> None:
    of = given(weights=[1.0] * 8)
    more = given({name: [*column, 0.9] for name, column in SCORES.items()}, [*LABELS, "c"], [*[1.0] * 8, 0.0])
    for area in AVERAGED_AREAS:
        np.testing.assert_allclose(found(of).of_averages[area], found(more).of_averages[area], rtol=1e-12)
    nothing = found(given(weights=[0.0] * 8))
    assert np.isnan(nothing.of_averages["roc"]).all()


def test_clusters_of_one_row_change_no_bit() -> None:
    alone = given(clusters=Clusters.of([*range(8)]))
    assert errors(alone) == errors(given())
    for ours, plain in zip(
        (found(alone).of_averages, found(alone).of_classes),
        (found(given()).of_averages, found(given()).of_classes),
        strict=True,
    ):
        for area in AVERAGED_AREAS:
            np.testing.assert_array_equal(ours[area], plain[area])


def test_rows_repeated_within_their_cluster_tell_no_more_of_averages() -> None:
    rows = [row for row in range(8) for _ in range(3)]
    scores = {name: [column[row] for row in rows] for name, column in SCORES.items()}
    repeated = given(scores, [LABELS[row] for row in rows], clusters=Clusters.of(rows))
    expected = errors(given())
    for key, error in errors(repeated).items():
        assert error == pytest.approx(expected[key], rel=1e-9), key
    ignored = errors(given(scores, [LABELS[row] for row in rows]))
    assert all(ignored[key] < 0.8 * expected[key] for key in expected)


@pytest.mark.parametrize("weights", [None, [1.0, 2, 1, 3, 1, 1, 2, 1] * 6])
def test_errors_of_clusters_are_sums_over_all_pairs_of_classes(weights: list[float] | None) -> None:
    random = np.random.default_rng(6)
    labels = random.choice([*"cdo"], 48).tolist()
    scores = {name: (random.random(48) + [label == name for label in labels]).tolist() for name in "cdo"}
    numbers = random.integers(0, 12, 48).tolist()
    of = given(scores, labels, weights, clusters=Clusters.of(numbers))
    moves = RowMoves(of, evaluate_classes(of))
    for number, sample in samples_of(of):
        moves.add(number, *ConfusionTable.from_sample_with_rows(sample))
    moves.add_pooled(of)
    masses = np.ones(48) if weights is None else np.array(weights)
    for area, place, _, error in moves.errors():
        by = moves._by[area][place]
        own = [[row for row in range(48) if labels[row] == name] for name in "cdo"]
        apart, units = [], []
        for rows in own:
            mean = by[rows].sum() / masses[rows].sum()
            sums = [sum(by[row] - masses[row] * mean for row in rows if numbers[row] == g) for g in range(12)]
            of_clusters = np.array([sum(masses[row] for row in rows if numbers[row] == g) for g in range(12)])
            apart.append(np.array(sums))
            units.append(of_clusters.sum() ** 2 / (of_clusters**2).sum())
        variance = 0.0
        for one, (v, m) in enumerate(zip(apart, units, strict=True)):
            for other, (w, n) in enumerate(zip(apart, units, strict=True)):
                lesser = min(m, n)
                assert (one == other) <= (m == n)
                variance += lesser / (lesser - 1) * float(v @ w)
        assert error.error == pytest.approx(np.sqrt(variance), rel=1e-9)
        assert moves.units == pytest.approx(units)
