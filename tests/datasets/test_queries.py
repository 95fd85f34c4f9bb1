"""Errors in a request that names a dataset are found before its engine starts: these datasets have no files."""

from __future__ import annotations

import json
from typing import Any

import pytest

from service.answer import answer
from service.curves.clock import TooMuchWork
from service.datasets.file import Dataset
from service.request import Effort, Request
from service.wire.media_types import JSON
from tests.support.asking import LIMITS

pytest.importorskip("duckdb")
pytest.importorskip("sqlglot")

GONE = {"dataset": "gone"}
SAMPLE = {"scores": [0.9, 0.1, 0.4], "labels": [1, 0, 1]}
RULE = {"metric": "roc", "min": 0.9}
DATASETS = {
    name: Dataset(
        name,
        "duckdb",
        "p",
        "y",
        ("ann",),
        location=("/nowhere/at/all/rows.parquet",),
        weights="w" if name == "weighted" else None,
        lower_is_positive=name == "lower",
        filters=("day",),
        slices=("country", "rows"),
    )
    for name in ("gone", "weighted", "lower")
}


def request_of(operation: str, body: dict[str, Any], accept: str = JSON, **options: str) -> Request:
    content = json.dumps(body).encode()
    return Request(operation, f"/v1/{operation}", JSON, accept, tuple(options.items()), content, datasets=DATASETS)


def told(operation: str, body: dict[str, Any], accept: str = JSON, **options: str) -> list[str]:
    """The pointer and code of each error; for another problem, its code."""
    result = answer(request_of(operation, body, accept, **options), LIMITS)
    problem = json.loads(result.body)
    return [f"{error['pointer']} {error['code']}" for error in problem.get("errors", ())] or [str(result.problem)]


@pytest.mark.parametrize(
    ("operation", "body", "wanted"),
    [
        ("curves", GONE | {"include": ["nonsense"]}, "/include/0 not_one_of"),
        ("curves", GONE | {"include": ["nonsense"], "keep": "nothing"}, "/include/0 not_one_of|/keep not_one_of"),
        ("curves", GONE | {"intervals": {"level": 2}}, "/intervals/level out_of_range"),
        ("curves", GONE | {"tuning": {"scores": [1]}}, "/tuning/labels missing"),
        ("curves", GONE | {"where": {"day": 1}, "nonsense": 1}, "/nonsense unknown_field"),
        ("curves", GONE | {"slices": {"country": []}}, "/slices unknown_field"),
        ("curves", GONE | {"tolerance": 0.1, "include": ["statistics"]}, "/include needs_exact_groups"),
        ("curves", GONE | {"tolerance": 0.1, "costs": {}}, "/costs needs_exact_groups"),
        ("tradeoffs", GONE | {"lambda_density": {"a": 1}}, "/lambda_density/b missing"),
        ("gates", GONE, "/rules missing"),
        ("gates", GONE | {"rules": [RULE, {"metric": "rok", "min": 1}]}, "/rules/1/metric not_one_of"),
        ("gates", GONE | {"rules": [RULE], "paired": True, "baseline": GONE}, "/paired not_paired"),
        ("gates", SAMPLE | {"rules": [RULE], "baseline": GONE | {"keep": 1}}, "/baseline/keep unknown_field"),
        ("gates", SAMPLE | {"rules": [RULE], "where": {"day": 1}, "baseline": GONE}, "/where exclusive"),
        ("gates", SAMPLE | {"labels": [1, 1, 1], "rules": [RULE], "baseline": GONE}, "/labels one_class"),
        ("slices", GONE, "/slices missing"),
        ("slices", GONE | {"slices": {"rows": []}}, "/slices/rows duplicate"),
        ("slices", GONE | {"slices": {"country": []}, "intervals": {"method": "bca"}}, "/intervals/method not_one_of"),
        ("comparisons", {"evaluations": [GONE]}, "/evaluations wrong_length"),
        ("comparisons", {"evaluations": [GONE] * 10_000}, "/evaluations wrong_length"),
        ("comparisons", {"evaluations": [GONE | {"name": "a"}, GONE]}, "/evaluations/1/name missing"),
        (
            "comparisons",
            {"evaluations": [{"name": "a"} | SAMPLE, {"name": "a"} | GONE]},
            "/evaluations/1/name duplicate",
        ),
        (
            "comparisons",
            {"evaluations": [{"name": "a"} | GONE, {"name": "b", "tolerance": 0.1} | GONE]},
            "/evaluations/1/groups needs_exact_groups",
        ),
        ("comparisons", GONE, "/dataset unknown_field"),
        ("classes", GONE, "/dataset unknown_field"),
        ("curves", GONE | {"lower_is_positive": True}, "/lower_is_positive exclusive"),
        (
            "gates",
            SAMPLE | {"rules": [RULE], "baseline": {"dataset": "lower", "lower_is_positive": False}},
            "/baseline/lower_is_positive exclusive",
        ),
        ("curves", SAMPLE | {"baseline": GONE}, "/baseline unknown_field"),
    ],
)
def test_a_wrong_option_is_found_before_the_engine_works(operation: str, body: dict[str, Any], wanted: str) -> None:
    assert told(operation, body)[:2] == wanted.split("|")


@pytest.mark.parametrize(
    ("operation", "body", "accept", "options", "wanted"),
    [
        ("curves", GONE, "text/csv", {"table": "costs"}, "/table missing"),
        ("curves", GONE, "text/csv", {"table": "bounds"}, "/table missing"),
        ("curves", GONE, "text/csv", {"include": "nonsense"}, "/include/0 not_one_of"),
        ("curves", GONE | {"charts": ["roc"]}, "text/csv", {}, "/charts exclusive"),
        (
            "comparisons",
            {"evaluations": [GONE | {"name": name} for name in "ab"]},
            JSON,
            {"lower_is_positive": "true"},
            "/lower_is_positive exclusive",
        ),
        ("tradeoffs", GONE, "text/csv", {"table": "at"}, "/table missing"),
    ],
)
def test_a_wrong_part_of_the_answer_is_found_before_the_engine_works(
    operation: str, body: dict[str, Any], accept: str, options: dict[str, str], wanted: str
) -> None:
    assert told(operation, body, accept, **options) == [wanted]


@pytest.mark.parametrize(
    ("operation", "body"),
    [
        ("curves", GONE | {"include": ["auc", "statistics", "calibration"], "costs": {}, "intervals": {}}),
        ("curves", GONE | {"tolerance": 0.1, "thresholds": [0.25, 0.1], "intervals": {"method": "bootstrap"}}),
        ("curves", {"dataset": "weighted", "intervals": {}, "interpolation": {"every": 0.001}}),
        ("curves", {"dataset": "lower", "tuning": SAMPLE, "lower_is_positive": True}),
        ("tradeoffs", GONE | {"min_precision": 1, "tolerance": 0.1}),
        ("gates", SAMPLE | {"rules": [RULE], "baseline": {"dataset": "lower"}}),
        ("gates", GONE | {"rules": [{"metric": "pr", "max_drop": 0.1, "confidence": 0.9}], "baseline": SAMPLE}),
        ("slices", {"dataset": "weighted", "slices": {"country": []}, "tolerance": 0.1, "intervals": {}}),
        ("comparisons", {"evaluations": [{"name": "a"} | GONE, {"name": "b"} | SAMPLE]}),
        ("curves", GONE | {"scores": [], "labels": None, "where": None}),
    ],
)
def test_what_the_rows_may_allow_is_left_to_the_engine(operation: str, body: dict[str, Any]) -> None:
    assert told(operation, body) == ["dataset_unavailable"]


def test_only_what_is_right_waits_for_an_evaluator() -> None:
    small = Effort(60, 1_000_000, 1_000_000)
    assert json.loads(answer(request_of("curves", GONE | {"keep": "nothing"}), LIMITS, small).body)["status"] == 422
    with pytest.raises(TooMuchWork):
        answer(request_of("curves", GONE), LIMITS, small)
