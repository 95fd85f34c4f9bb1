"""Rules on the mean over folds in requests: as JSON, as a table, in RULES.toml, and what is refused."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from service.wire.media_types import CSV
from tests.cli.running import run
from tests.support.asking import answered, errors

RANDOM = np.random.default_rng(3)
LABELS = [row % 2 for row in range(200)]
FOLDS = [row // 2 % 5 for row in range(200)]
SCORES, OLD = (
    (np.round(RANDOM.standard_normal(200) + 1.3 * np.array(LABELS), 2) + 7 * np.array(FOLDS)).tolist() for _ in range(2)
)
SAMPLE: dict[str, Any] = {"scores": SCORES, "labels": LABELS, "slices": {"fold": FOLDS}}
BASELINE = {"baseline": {"scores": OLD, "labels": LABELS}, "paired": True}
AT_LEAST = {"metric": "roc", "min": 0.7, "confidence": 0.95, "folds": ["fold"]}
NO_DROP = {"metric": "roc", "max_drop": 0.1, "confidence": 0.95, "folds": ["fold"]}


def table() -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["scores", "old", "labels", "fold"])
    writer.writerows(zip(SCORES, OLD, LABELS, FOLDS, strict=True))
    return out.getvalue()


def refused(rule: dict[str, Any], **more: Any) -> tuple[str, str]:
    (error,) = errors("gates", SAMPLE | more | {"rules": [rule]})
    return error["pointer"], error["code"]


def test_json_and_tables_are_judged_alike() -> None:
    rules = [AT_LEAST, {"metric": "roc", "min": 0.9}]
    whole = answered("gates", SAMPLE | {"rules": rules})
    assert answered("gates", table(), content_type=CSV, rules=json.dumps(rules)) == whole
    check, pooled = whole["checks"]
    assert check["rule"] == AT_LEAST
    assert check["status"] == "passed"
    assert pooled["status"] == "failed"
    assert check["value"] > pooled["value"]
    assert "slices" not in check
    areas = answered("slices", SAMPLE)["slices"]["roc"]
    assert check["value"] == pytest.approx(sum(areas) / 5, rel=1e-15)
    assert [each["code"] for each in whole["warnings"]] == ["cross_validated"]


def test_a_drop_on_the_same_folds() -> None:
    found = answered("gates", SAMPLE | BASELINE | {"rules": [NO_DROP]})
    (check,) = found["checks"]
    assert check["difference"] == pytest.approx(check["value"] - check["baseline"])
    assert check["interval"]["method"] == "delong"
    assert check["p_value"] is not None
    rules = json.dumps([NO_DROP])
    assert answered("gates", table(), content_type=CSV, rules=rules, baseline_scores="old", paired="true") == found


def test_the_command_names_the_mean(tmp_path: Path) -> None:
    rules, scores = tmp_path / "rules.toml", tmp_path / "scores.csv"
    rules.write_text('[[rules]]\nmetric = "roc"\nmin = 0.99\nconfidence = 0.95\nfolds = ["fold"]\n')
    scores.write_text(table())
    printed = run("gate", str(rules), str(scores)).stdout
    assert "roc averaged over fold is 0." in " ".join(printed.split())
    assert "cross_validated" in printed


@pytest.mark.parametrize(
    ("more", "pointer", "code"),
    [
        ({"metric": "pr"}, "/rules/0/folds", "exclusive"),
        ({"metric": "gini"}, "/rules/0/folds", "exclusive"),
        ({"metric": "recall", "at_threshold": 0.5}, "/rules/0/folds", "exclusive"),
        ({"slices": ["fold"]}, "/rules/0/slices", "exclusive"),
        ({"min_examples": 5}, "/rules/0/min_examples", "exclusive"),
        ({"expected": 0.8}, "/rules/0/expected", "exclusive"),
        ({"folds": ["site"]}, "/rules/0/folds/0", "missing"),
        ({"folds": ["fold", "fold"]}, "/rules/0/folds/1", "duplicate"),
        ({"folds": "fold"}, "/rules/0/folds", "not_a_list"),
    ],
)
def test_what_does_not_go_with_folds_is_refused(more: dict[str, Any], pointer: str, code: str) -> None:
    assert refused(AT_LEAST | more) == (pointer, code)


def test_a_gap_takes_none() -> None:
    assert refused({"metric": "roc", "max_gap": 0.1, "folds": ["fold"]}) == ("/rules/0/max_gap", "exclusive")


def test_a_fold_of_one_class_is_refused() -> None:
    folds = ["a" if label else "b" for label in LABELS]
    (error,) = errors("gates", SAMPLE | {"slices": {"fold": folds}, "rules": [AT_LEAST]})
    assert (error["pointer"], error["code"]) == ("/rules/0/folds", "one_class")
    assert error["detail"] == "Fold b has no positives; every fold needs both classes."
    weights = {"weights": [float(fold != 2 or label == 0) for fold, label in zip(FOLDS, LABELS, strict=True)]}
    (error,) = errors("gates", SAMPLE | weights | {"rules": [AT_LEAST]})
    assert error["detail"] == "Fold 2 has no positives; every fold needs both classes."


def test_a_single_fold_is_refused() -> None:
    assert refused(AT_LEAST, slices={"fold": [1] * 200}) == ("/rules/0/folds", "wrong_length")


def test_rows_that_are_not_paired_have_no_common_folds() -> None:
    baseline = {"baseline": {"scores": OLD, "labels": LABELS, "slices": {"fold": FOLDS}}}
    assert refused(NO_DROP, **baseline) == ("/rules/0/folds", "exclusive")


def test_resamples_are_refused() -> None:
    assert refused(AT_LEAST, intervals={"method": "bootstrap"}) == ("/intervals/method", "exclusive")


def test_counts_have_no_folds() -> None:
    counts = {"counts": {"tp": [1], "fp": [1], "positives": 3, "negatives": 3}, "rules": [AT_LEAST]}
    (error,) = errors("gates", counts)
    assert (error["pointer"], error["code"]) == ("/rules/0/folds", "exclusive")


def test_repeats_need_clusters() -> None:
    repeats = {"repeat": [row // 100 for row in range(200)], "fold": FOLDS}
    rule = AT_LEAST | {"folds": ["repeat", "fold"]}
    assert refused(rule, slices=repeats) == ("/rules/0/folds", "missing")
    named = {"clusters": [row % 100 for row in range(200)]}
    labels = [row % 100 % 2 for row in range(200)]
    found = answered("gates", SAMPLE | {"labels": labels, "slices": repeats, "rules": [rule]} | named)
    assert found["checks"][0]["interval"] is not None
    assert "about the 10 models" in found["warnings"][0]["detail"]


def test_a_plan_says_that_it_has_none() -> None:
    found = answered("plans", SAMPLE | {"rules": [AT_LEAST]})
    assert found["plans"]["reason"] == ["Rules over folds have no plan."]
