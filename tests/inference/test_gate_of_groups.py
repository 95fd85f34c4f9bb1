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
