"""Fields of a rule that exclude each other, and which metric the caller may have meant."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.refusals.places import DROP, QUERIES, SAMPLES, TABLE
from tests.support import asking

ONE_BOUND = "A rule needs exactly one of min, max, max_drop, max_relative_drop, max_rise and max_gap."
BEST = "is the best value that the data allow: it has no interval, so it takes no confidence."
PROVE = "prove = drop needs max_drop and confidence."
ROWS = "one of at_threshold, at_share, at_fpr, at_recall and best"
CHOSEN = "The best row is chosen on the same data, so the metric has no interval and takes no confidence"
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
    ({"metric": "precision", "min": 0.5}, "/at_threshold", "missing", f"precision needs {ROWS}."),
    ({"metric": "npv", "min": 0.5, "min_recall": 0.5}, "", "missing", f"Give exactly {ROWS}."),
    ({"metric": "mcc", "min": 0.5, "at_fpr": 0.1, "best": "f1"}, "", "exclusive", f"Give exactly {ROWS}."),
    (
        {"metric": "mcc", "min": 0.5, "at_fpr": 0.1, "min_recall": 0.5},
        "/min_recall",
        "exclusive",
        "Only best takes limits.",
    ),
    (
        {"metric": "log_loss", "max": 0.5, "at_share": 0.1},
        "/at_share",
        "exclusive",
        "log_loss does not take at_share.",
    ),
    ({"metric": "mcc", "at_fpr": 0.1, "min": -1.5}, "/min", "out_of_range", "This is below -1."),
    ({"metric": "roc", "min": -0.1}, "/min", "negative", "This is below 0."),
    ({"metric": "roc", "max": 1.5}, "/max", "out_of_range", "This is above 1."),
    ({"metric": "gini", "max_drop": 2.5}, "/max_drop", "out_of_range", "This is above 2."),
    ({"metric": "brier", "bins": 3, "max": 0.5}, "/bins", "exclusive", "brier does not take bins; ece does."),
    (
        {"metric": "share", "at_fpr": 0.1, "max_rise": 0.1},
        "/max_rise",
        "exclusive",
        "Neither more nor less share is better: use min or max.",
    ),
    (
        {"metric": "roc", "max_rise": 0.1},
        "/max_rise",
        "exclusive",
        "Higher roc is better: use max_drop, not max_rise.",
    ),
    (
        {"metric": "precision", "best": "f1", "min": 0.5, "confidence": 0.9},
        "/confidence",
        "exclusive",
        f"{CHOSEN}: fix its threshold with at_threshold.",
    ),
    (
        {"metric": "ece", "max": 0.5, "confidence": 0.9},
        "/confidence",
        "exclusive",
        "ece has no interval, so it takes no confidence.",
    ),
    (
        {"metric": "brier", "max_rise": 0.5, "confidence": 0.9, "prove": "drop"},
        "/prove",
        "exclusive",
        PROVE,
    ),
    (
        {"metric": "recall", "min": 0.5, "at": 0.5},
        "/at",
        "exclusive",
        "recall does not take at. Did you mean at_threshold?",
    ),
    ({"metric": "fpr", "max": 0.5, "at": 0.5, "at_threshold": 0.5}, "/at", "exclusive", "fpr does not take at."),
    (
        {"metric": "fpr", "max_drop": 0.5, "at_threshold": 0.5},
        "/max_drop",
        "exclusive",
        "Lower fpr is better: use max_rise, not max_drop.",
    ),
    (
        {"metric": "log_loss", "max_relative_drop": 0.1},
        "/max_relative_drop",
        "exclusive",
        "Lower log_loss is better: use max_rise, not max_relative_drop.",
    ),
    (
        {"metric": "share", "at_threshold": 0.5, "max_relative_drop": 0.1},
        "/max_relative_drop",
        "exclusive",
        "Neither more nor less share is better: use min or max.",
    ),
    *(
        (
            {"metric": metric, "max_relative_drop": 0.1} | place,
            "/max_relative_drop",
            "exclusive",
            f"{metric} may be negative, and then a share of it is a stricter bound: use max_drop.",
        )
        for metric, place in [
            *(("gini", {}), ("prg", {})),
            *((metric, {"at_threshold": 0.5}) for metric in ("mcc", "kappa", "youden", "markedness")),
        ]
    ),
    ({"metric": "roc", "max_relative_drop": 1}, "/max_relative_drop", "out_of_range", "This must be below 1."),
    (
        {"metric": "roc", "max_relative_drop": -0.1},
        "/max_relative_drop",
        "negative",
        "This is below 0.",
    ),
    ({"metric": "roc", "max_drop": 0.1, "max_relative_drop": 0.1}, "/max_relative_drop", "exclusive", ONE_BOUND),
    (
        {"metric": "roc", "max_relative_drop": 0.1, "expected": 0.05},
        "/expected",
        "exclusive",
        "expected needs confidence.",
    ),
    ({"metric": "jaccard", "min": 0.5}, "/at", "missing", f"jaccard needs at{LAMBDA}."),
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
    (
        {"metric": "roc", "min": 0.1, "inconclusive": "pass"},
        "/inconclusive",
        "exclusive",
        "inconclusive needs confidence.",
    ),
    (
        {"metric": "roc", "max_drop": 0.1, "confidence": 0.9, "prove": "drop", "inconclusive": "undecided"},
        "/inconclusive",
        "exclusive",
        "prove says what inconclusive would: give one of them.",
    ),
    ({"metric": "roc", "min": 0.1, "name": ""}, "/name", "wrong_length", "Must have 1 to 100 characters, not 0."),
    ({"metric": "roc", "min": 0.1, "severity": "error"}, "/severity", "not_one_of", "Must be one of fail, warn."),
    ({"metric": "roc", "max_drop": 0.1, "prove": "drop"}, "/prove", "exclusive", PROVE),
    ({"metric": "roc", "min": 0.1, "confidence": 0.9, "prove": "drop"}, "/prove", "exclusive", PROVE),
]


@pytest.mark.parametrize(("rule", "pointer", "code", "sentence"), WRONG_RULES)
def test_a_rule(rule: dict[str, Any], pointer: str, code: str, sentence: str) -> None:
    expected = {"pointer": f"/rules/1{pointer}", "code": code, "detail": sentence}
    assert asking.errors("gates", SAMPLES["gates"] | {"rules": [DROP, rule]}) == [expected]
    query = QUERIES["gates"] | {"rules": json.dumps([DROP, rule])}
    assert asking.errors("gates", TABLE, content_type="text/csv", **query) == [expected]


def test_two_rules_of_one_name() -> None:
    rules = [{"metric": metric, "min": 0.1, "name": "good"} for metric in ("roc", "pr")]
    wrong = {"pointer": "/rules/1/name", "code": "duplicate", "detail": "rules[0] already has this name."}
    assert asking.errors("gates", SAMPLES["gates"] | {"rules": rules}) == [wrong]


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
        ("F1_score", "f1"),
        ("TPR", "tpr"),
        ("sens", "sensitivity"),
        ("PPV", "ppv"),
        ("matthews_corrcoef", "mcc"),
        ("brier_score", "brier"),
        ("logloss", "log_loss"),
        ("calibration_error", "ece"),
        ("rocc", "roc"),
        ("f_mesure", "f_measure"),
    ],
)
def test_a_metric_by_another_name(called: str, meant: str) -> None:
    (error,) = asking.errors("gates", SAMPLES["gates"] | {"rules": [{"metric": called, "min": 0.5}]})
    assert error["detail"].startswith(f"Did you mean {meant}? Must be one of roc, ")
