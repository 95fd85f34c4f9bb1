"""Fields of a rule that exclude each other, and which metric the caller may have meant."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.refusals.places import DROP, QUERIES, SAMPLES, TABLE
from tests.support import asking

ONE_BOUND = "A rule needs exactly one of min, max and max_drop."
BEST = "is the best value that the data allow: it has no interval, so it takes no confidence."
PROVE = "prove needs max_drop and confidence."
LAMBDA = ", its lambda: 0 is precision, 1 is recall"

WRONG_RULES: list[tuple[dict[str, Any], str, str, str]] = [
    ({}, "/metric", "missing", "A rule needs a metric."),
    ({"min": 0.5}, "/metric", "missing", "A rule needs a metric."),
    ({"metric": "roc"}, "", "missing", ONE_BOUND),
    ({"metric": "roc", "confidence": 0.9}, "", "missing", ONE_BOUND),
    ({"metric": "roc", "min": 0.5, "max": 0.9}, "/max", "exclusive", ONE_BOUND),
    ({"metric": "roc", "max": 0.9, "max_drop": 0.1}, "/max_drop", "exclusive", ONE_BOUND),
    ({"metric": "roc", "min": 0.5, "max": 0.9, "max_drop": 0.1}, "/max", "exclusive", ONE_BOUND),
    ({"metric": "roc", "min": 0.5, "at": 0.5}, "/at", "exclusive", "roc does not take at."),
    (
        {"metric": "roc", "min": 0.5, "at_threshold": 0.5},
        "/at_threshold",
        "exclusive",
        "roc does not take at_threshold.",
    ),
    ({"metric": "partial", "min": 0.5}, "/over", "missing", "A partial area needs over: fpr, tpr or recall."),
    ({"metric": "partial", "over": "tpr", "at": 0.5, "min": 0.5}, "/at", "exclusive", "partial does not take at."),
    (
        {"metric": "partial", "over": "fpr", "from": 0.5, "to": 0.5, "min": 0.5},
        "/to",
        "not_rising",
        "The range is empty: from must be below to.",
    ),
    (
        {"metric": "partial", "over": "recall", "to": 5e-324, "max_drop": 0.5, "confidence": 0.9},
        "/to",
        "out_of_range",
        "The range is narrower than 1e-09, too narrow for a rule.",
    ),
    (
        {"metric": "partial", "over": "fpr", "from": 0.9999999999, "min": 0.5},
        "/from",
        "out_of_range",
        "The range is narrower than 1e-09, too narrow for a rule.",
    ),
    (
        {"metric": "partial", "over": "recall", "min_tpr": 0.5, "min": 0.5},
        "/min_tpr",
        "exclusive",
        "min_tpr needs a range over fpr.",
    ),
    ({"metric": "roc", "to": 0.5, "min": 0.5}, "/to", "exclusive", "roc does not take to; partial does."),
    ({"metric": "tpr_at_fpr", "min": 0.5}, "/at", "missing", "tpr_at_fpr needs at."),
    ({"metric": "tpr_at_fpr", "min": 0.5, "at_threshold": 0.5}, "/at", "missing", "tpr_at_fpr needs at."),
    (
        {"metric": "tpr_at_fpr", "min": 0.5, "at": 0.5, "at_threshold": 0.5},
        "/at_threshold",
        "exclusive",
        "tpr_at_fpr does not take at_threshold.",
    ),
    ({"metric": "precision", "min": 0.5}, "/at_threshold", "missing", "precision needs at_threshold."),
    ({"metric": "recall", "min": 0.5, "at": 0.5}, "/at", "exclusive", "recall does not take at."),
    ({"metric": "fpr", "max": 0.5, "at": 0.5, "at_threshold": 0.5}, "/at", "exclusive", "fpr does not take at."),
    (
        {"metric": "fpr", "max_drop": 0.5, "at_threshold": 0.5},
        "/max_drop",
        "exclusive",
        "Lower fpr is better: use max, not max_drop.",
    ),
    ({"metric": "jaccard", "min": 0.5}, "/at", "missing", f"jaccard needs at{LAMBDA}."),
    ({"metric": "jaccard", "min": 0.5, "at_threshold": 0.5}, "/at", "missing", f"jaccard needs at{LAMBDA}."),
    ({"metric": "roc_hull", "min": 0.5, "confidence": 0.9}, "/confidence", "exclusive", f"roc_hull {BEST}"),
    (
        {"metric": "pr_trapezoid", "max": 0.5, "confidence": 0.9},
        "/confidence",
        "exclusive",
        "pr_trapezoid has no interval, so it takes no confidence; pr has one.",
    ),
    (
        {"metric": "pr_achievable", "max_drop": 0.5, "confidence": 0.9},
        "/confidence",
        "exclusive",
        f"pr_achievable {BEST}",
    ),
    (
        {"metric": "recall_at_precision", "at": 0.5, "min": 0.5, "confidence": 0.9},
        "/confidence",
        "exclusive",
        f"recall_at_precision {BEST}",
    ),
    *(
        (
            {"metric": index, "at": 0.5, bound: 0.5, "confidence": 0.9},
            "/confidence",
            "exclusive",
            f"{index} {BEST} With at_threshold, the threshold in use, it has one.",
        )
        for index in ("f_measure", "jaccard")
        for bound in ("min", "max", "max_drop")
    ),
    ({"metric": "roc", "max_drop": 0.1, "prove": "drop"}, "/prove", "exclusive", PROVE),
    ({"metric": "roc", "min": 0.1, "confidence": 0.9, "prove": "drop"}, "/prove", "exclusive", PROVE),
]


@pytest.mark.parametrize(("rule", "pointer", "code", "sentence"), WRONG_RULES)
def test_a_rule(rule: dict[str, Any], pointer: str, code: str, sentence: str) -> None:
    expected = {"pointer": f"/rules/1{pointer}", "code": code, "detail": sentence}
    assert asking.errors("gates", SAMPLES["gates"] | {"rules": [DROP, rule]}) == [expected]
    query = QUERIES["gates"] | {"rules": json.dumps([DROP, rule])}
    assert asking.errors("gates", TABLE, content_type="text/csv", **query) == [expected]


F1 = "f_measure (f1 is f_measure at lambda 0.5)"


@pytest.mark.parametrize(
    ("called", "meant"),
    [
        ("auc", "roc"),
        ("AUROC", "roc"),
        ("roc_auc", "roc"),
        ("ap", "average_precision"),
        ("auprc", "pr or average_precision"),
        ("pr_auc", "pr or average_precision"),
        ("auc_pr", "pr or average_precision"),
        ("f1", F1),
        ("F1_score", F1),
        ("tpr", "recall"),
        ("sensitivity", "recall"),
        ("PPV", "precision"),
        ("rocc", "roc"),
        ("f_mesure", "f_measure"),
    ],
)
def test_a_metric_by_another_name(called: str, meant: str) -> None:
    (error,) = asking.errors("gates", SAMPLES["gates"] | {"rules": [{"metric": called, "min": 0.5}]})
    assert error["detail"].startswith(f"Did you mean {meant}? Must be one of roc, ")
