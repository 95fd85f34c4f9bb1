"""Decisions in slices: worked numbers, the slow reference that counts rows one by one, and single calls bit for bit."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.curves.decisions import Decided, Decision, decided
from service.curves.histogram import Histogram
from service.curves.row_metrics import ROW_METRICS
from service.curves.sliced_decisions import decided_in_slices
from tests import reference_metrics
from tests.curves.test_row_metrics import TWELVE
from tests.curves.test_slicing import columns_of, many, sliced_samples
from tests.reference import correctly_rounded
from tests.reference_metrics import QUOTIENTS
from tests.reference_slices import called, has_both_classes, parts
from tests.support.strategies import Data, confusion_of, examples, plain_weights

pytestmark = pytest.mark.usefixtures("loops")

DECISIONS = tuple(
    Decision(**each)
    for each in (
        {"at_threshold": 0.5},
        {"at_share": 0.25},
        {"at_share": 0},
        {"best": "f1"},
        {"best": "recall", "min_precision": 1, "min_specificity": 1, "min_recall": 1},
        {"at_recall": 1},
        {"at_threshold": 0.5},
    )
)


def chosen_in(data: Data, decisions: tuple[Decision, ...] = DECISIONS) -> Decided:
    return decided(decisions, ROW_METRICS, data.sample(), confusion_of(data))


def in_slices(data: Data, numbers: list[int], decisions: tuple[Decision, ...] = DECISIONS) -> Decided:
    areas = columns_of(data.sample(), numbers)
    return decided_in_slices(chosen_in(data, decisions), data.sample(), np.array(numbers), areas)


def row(found: Decided, place: int) -> dict[str, float | None]:
    """A row of the table, None for NaN."""
    columns = {name: getattr(found, name) for name in ("tp", "fp", "fn", "tn")} | {**found.metrics}
    return {name: None if np.isnan(column[place]) else float(column[place]) for name, column in columns.items()}


def test_worked_numbers() -> None:
    """Twelve rows in fours, at 0.5."""
    found = in_slices(TWELVE, [0] * 4 + [1] * 4 + [2] * 4, DECISIONS[:1])
    assert found.decision == ("threshold 0.5",) * 3
    assert found.threshold.tolist() == [0.5] * 3
    counts = {name: getattr(found, name).tolist() for name in ("tp", "fp", "fn", "tn")}
    assert counts == {"tp": [3, 1, 0], "fp": [1, 2, 0], "fn": [0, 0, 1], "tn": [0, 1, 3]}
    rows = [row(found, place) for place in range(3)]
    assert [each["precision"] for each in rows] == [3 / 4, 1 / 3, None]
    assert [each["recall"] for each in rows] == [1, 1, 0]
    assert [each["specificity"] for each in rows] == [0, 1 / 3, 1]


def test_a_threshold_is_chosen_on_all_rows() -> None:
    found, chosen = in_slices(TWELVE, [0] * 4 + [1] * 4 + [2] * 4), chosen_in(TWELVE)
    each = len(DECISIONS)
    for columns in (found.tp, found.fp):
        whole = chosen.tp if columns is found.tp else chosen.fp
        np.testing.assert_array_equal(columns.reshape(3, each).sum(axis=0), whole)
    np.testing.assert_array_equal(found.threshold.reshape(3, each), np.tile(chosen.threshold, (3, 1)))
    assert np.isnan(found.tp[4::each]).all()  # no row meets it
    assert not found.tp[2::each].any()  # nothing is called positive


@examples(200)
@given(sliced_samples(), st.sampled_from([None, plain_weights, st.just(0.0) | plain_weights]), st.data())
def test_they_are_what_counting_says(given_: tuple[Data, list[int]], weight: Any, drawn: st.DataObject) -> None:
    data, numbers = given_
    if weight is not None:
        weights = drawn.draw(st.lists(weight, min_size=len(numbers), max_size=len(numbers)))
        first = [data.labels.index(label) for label in (True, False)]
        data = replace(data, weights=[1.0 if place in first else each for place, each in enumerate(weights)])
    chosen, found = chosen_in(data), in_slices(data, numbers)
    for number, part in enumerate(parts(data, numbers)):
        for place, threshold in enumerate(chosen.threshold.tolist()):
            if np.isnan(chosen.tp[place]):
                continue
            counts = called(part, None if np.isnan(threshold) else threshold)
            got = row(found, number * len(DECISIONS) + place)
            assert (got["tp"], got["fp"]) == tuple(map(correctly_rounded, counts[:2]))
            total = counts[2] + counts[3]
            expected = reference_metrics.metrics(*counts) if total else dict.fromkeys(ROW_METRICS)
            for name, value in expected.items():
                assert (got[name] is None) == (value is None), name
                if value is not None:
                    assert got[name] == pytest.approx(float(value), rel=1e-12, abs=1e-12), name
                if data.weights is None and name in QUOTIENTS and isinstance(value, Fraction):
                    assert got[name] == correctly_rounded(value)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("levels", [None, 3])
def test_each_slice_is_what_its_own_table_says_bit_for_bit(*, weighted: bool, levels: int | None) -> None:
    data, numbers = many(40, 2000, levels)
    if weighted:
        data = replace(data, weights=np.random.default_rng(2).random(len(numbers)).tolist())
    chosen, found = chosen_in(data), in_slices(data, numbers)
    compared = 0
    for number, part in enumerate(parts(data, numbers)):
        if not has_both_classes(part):
            continue
        for place, threshold in enumerate(chosen.threshold.tolist()):
            if not np.isnan(threshold):
                fixed = (Decision(at_threshold=threshold),)
                assert row(found, number * len(DECISIONS) + place) == row(chosen_in(part, fixed), 0)
                compared += 1
    assert compared > 50


@pytest.mark.parametrize("weight", [1.0, 0.3])
def test_groups_are_their_rows(weight: float) -> None:
    data, numbers = many(5, 300, 4)
    if weight != 1:
        data = replace(data, weights=[weight] * len(numbers))
    keys = sorted(set(zip(numbers, data.scores, strict=True)))
    masses = np.zeros((2, len(keys)))
    for number, score, label in zip(numbers, data.scores, data.labels, strict=True):
        masses[0 if label else 1, keys.index((number, score))] += weight
    scores = np.array([score for _, score in keys])
    groups = Histogram(scores, scores, (masses[0], masses[1]))
    areas, chosen = columns_of(data.sample(), numbers), chosen_in(data)
    found = decided_in_slices(chosen, groups, np.array([number for number, _ in keys]), areas)
    expected = decided_in_slices(chosen, data.sample(), np.array(numbers), areas)
    for name in ("tp", "fp"):
        np.testing.assert_allclose(getattr(found, name), getattr(expected, name), rtol=1e-12 if weight != 1 else 0)


def test_a_slice_that_has_no_areas_for_its_weights_has_no_metrics() -> None:
    data = Data([3.0, 2.0, 1.0, 3.0, 1.0], [True, True, False, True, False])
    numbers = [0, 0, 0, 1, 1]
    areas = columns_of(data.sample(), numbers)
    areas.reason[1] = "total_out_of_range"
    found = decided_in_slices(chosen_in(data, DECISIONS[:1]), data.sample(), np.array(numbers), areas)
    assert row(found, 0)["accuracy"] is not None
    assert {row(found, 1)[name] for name in ROW_METRICS} == {None}
