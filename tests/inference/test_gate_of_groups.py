"""Verdicts on open groups: a rule is met, or not, at both ends of a metric's bounds, or else undecided."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.asking import answered

# Of the positives, 6 of 8 are in the upper group, and 2 of 8 negatives: 60 or 36 of 64 pairs are in order.
GROUPS = {"score_from": [0.5, 0.0], "score_to": [1.0, 0.4], "positives": [6, 2], "negatives": [2, 6]}

EDGE = "at the favourable end of its bounds."


@pytest.mark.parametrize(
    ("rule", "status", "reason"),
    [
        ({"metric": "roc", "min": 0.5}, "passed", ""),
        ({"metric": "roc", "min": 0.95}, "failed", f"roc is 0.9375, below min 0.95, {EDGE}"),
        ({"metric": "roc", "max": 0.5}, "failed", f"roc is 0.5625, above max 0.5, {EDGE}"),
        (
            {"metric": "roc", "min": 0.8},
            "undecided",
            (
                "roc may be anything from 0.5625 to 0.9375 (see the warning bounded). At one end, min 0.8 is met; at "
                "the other, it is not. Finer groups would decide the rule."
            ),
        ),
        # The groups end there, so the recall is known.
        (
            {"metric": "recall", "at_threshold": 0.5, "min": 0.9},
            "failed",
            "recall at threshold 0.5 is 0.75, below min 0.9.",
        ),
    ],
)
def test_a_verdict_is_that_of_both_ends(rule: dict[str, Any], status: str, reason: str) -> None:
    (check,) = answered("gates", {"groups": GROUPS, "rules": [rule]})["checks"]
    assert (check["status"], check["reason"]) == (status, reason)


@pytest.mark.parametrize(
    ("place", "positives", "negatives"),
    [
        ({"at_share": 0.9}, [0, 1], [2, 2]),
        ({"at_fpr": 0.0}, [0, 2], [1, 2]),
        ({"at_recall": 0.5}, [1, 1], [2, 1]),
        ({"best": "f1"}, [1, 3], [3, 1]),
    ],
)
def test_a_row_that_may_lie_inside_a_group_is_unknown(
    place: dict[str, Any], positives: list[int], negatives: list[int]
) -> None:
    """Samples in these groups fill the budget, or reach the recall, at different rows."""
    groups = {"score_from": [0.0, 0.5], "score_to": [0.4, 1.0], "positives": positives, "negatives": negatives}
    rule = {"metric": "f1", "min": 0.0} | place
    (check,) = answered("gates", {"groups": groups, "rules": [rule]})["checks"]
    assert (check["status"], check["value"]) == ("undecided", None)
    assert "the order within an open group decides which row that is" in check["reason"] or "best" in place


def test_a_row_between_exact_groups_is_known() -> None:
    groups = {
        "score_from": [0.9, 0.5, 0.0],
        "score_to": [0.9, 0.5, 0.4],
        "positives": [2, 1, 1],
        "negatives": [1, 1, 4],
    }
    rules = [{"metric": "precision", "at_share": 0.4, "min": 0.5}, {"metric": "recall", "at_recall": 0.6, "min": 0.7}]
    found = answered("gates", {"groups": groups, "rules": rules})["checks"]
    assert [(check["value"], check["status"]) for check in found] == [(2 / 3, "passed"), (0.75, "passed")]


def test_an_interval_of_resamples_that_leaves_out_its_value_does_not_pass_for_it() -> None:
    sample = {"scores": [0.86, 0.36, 0.89, 0.69, 0.77, 0.33, 0.54, 0.22], "labels": [0, 1] * 4}
    rule = {"metric": "average_precision", "min": 0.38306547619047615, "confidence": 0.9}
    body = sample | {"intervals": {"method": "bootstrap", "resamples": 100}, "rules": [rule]}
    (check,) = answered("gates", body)["checks"]
    assert check["value"] < rule["min"] <= check["interval"]["lower"]
    assert check["status"] == "failed"
