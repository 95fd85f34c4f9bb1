"""ModelDifferences between several models: against a gate's for each pair, Holm's definition, and worked numbers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.curves.errors import NotPaired
from service.curves.sample import Sample
from service.inference.differences import DifferenceOptions, ModelDifferences, evaluate_differences, holm
from service.inference.gate import evaluate_gate
from service.inference.intervals import IntervalOptions
from service.inference.metric import AREAS_WITH_INTERVALS
from service.inference.rules import Rule
from service.inference.verdicts import GateOptions
from tests.curves.test_probabilities import LABELS, SCORES

COLUMNS = {
    "a": SCORES,
    "b": [0.9, 0.6, 0.7, 0.85, 0.5, 0.65, 0.45, 0.3, 0.4, 0.55, 0.15, 0.05],
    "c": [0.2, 0.8, 0.6, 0.9, 0.1, 0.5, 0.7, 0.4, 0.3, 0.65, 0.25, 0.35],
}


def samples(labels: list[bool] = LABELS) -> dict[str, Sample]:
    return {name: Sample(np.array(scores), np.array(labels)) for name, scores in COLUMNS.items()}


def found(method: str = "auto", **options: object) -> ModelDifferences:
    return evaluate_differences(samples(), DifferenceOptions(IntervalOptions(method=method), **options))  # type: ignore[arg-type]  # by name


@pytest.mark.parametrize(
    ("paired", "expected"),
    [(True, [0.623433, 0.409716, 0.242406]), (False, [0.824966, 0.444709, 0.336669])],
)
def test_worked_p_values(*, paired: bool, expected: list[float]) -> None:
    of_roc = [each for each in found("delong", paired=paired, against="all").differences if each.area == "roc"]
    assert [(each.name, each.against) for each in of_roc] == [("b", "a"), ("c", "a"), ("c", "b")]
    assert [each.difference for each in of_roc] == pytest.approx([0.042857, -0.185714, -0.228571], abs=5e-7)
    assert [each.p_value for each in of_roc] == pytest.approx(expected, abs=1e-6)


def test_worked_adjustments() -> None:
    adjusted = found("delong", paired=True, against="all", adjust="holm")
    of_roc = [each for each in adjusted.differences if each.area == "roc"]
    assert [each.p_value_adjusted for each in of_roc] == pytest.approx([0.819432, 0.819432, 0.727218], abs=5e-7)
    assert {each.interval.level for each in of_roc if each.interval} == {1 - (1 - 0.95) / 3}


@pytest.mark.parametrize("paired", [True, False])
def test_each_is_that_of_a_gate(*, paired: bool) -> None:
    given = samples()
    rules = tuple(Rule(area, max_drop=0.1, confidence=0.95) for area in AREAS_WITH_INTERVALS)
    checks = evaluate_gate(given["b"], given["a"], GateOptions(rules, paired)).checks
    first = found(paired=paired).differences[: len(AREAS_WITH_INTERVALS)]
    assert [(each.difference, each.interval, each.p_value) for each in first] == [
        (check.difference, check.interval, check.p_value) for check in checks
    ]


def test_of_each_model_there_are_intervals() -> None:
    assert [(each.name, each.area) for each in found().intervals] == [
        (name, area) for name in COLUMNS for area in AREAS_WITH_INTERVALS
    ]


def test_models_that_are_not_paired_are_refused_by_number() -> None:
    others = samples() | {"d": Sample(np.array(SCORES), ~np.array(LABELS))}
    with pytest.raises(NotPaired) as refused:
        evaluate_differences(others, DifferenceOptions(IntervalOptions(), paired=True))
    assert (refused.value.evaluation, refused.value.column) == (3, "labels")


def test_labels_that_agree_are_a_hint() -> None:
    assert "maybe_paired" in {warning.code for warning in found().warnings}
    assert "maybe_paired" not in {warning.code for warning in found(paired=True).warnings}


def rejected(p_values: list[float], error: float) -> set[int]:
    """Which hypotheses Holm's procedure rejects: from the least p on, as long as p <= error / those that are left."""
    places = sorted(range(len(p_values)), key=lambda place: p_values[place])
    found = set()
    for left, place in zip(range(len(places), 0, -1), places, strict=True):
        if p_values[place] > error / left:
            break
        found.add(place)
    return found


@given(st.lists(st.integers(0, 40).map(lambda number: number / 64), min_size=1, max_size=8), st.integers(0, 64))
def test_holm_says_at_which_error_each_is_rejected(p_values: list[float], part: int) -> None:
    error = part / 64 + 1e-6
    assert {place for place, p in enumerate(holm(list(p_values))) if p is not None and p <= error} == (
        rejected(p_values, error) if error < 1 else set(range(len(p_values)))
    )


def test_holm_counts_what_is_unknown() -> None:
    assert holm([0.01, None, 0.02]) == pytest.approx([0.03, None, 0.04])
