"""What was computed is freed once it is answered, not when the garbage collector comes: a million rows are 60 MB."""

from __future__ import annotations

import gc
from typing import Any

import pytest

from tests.support.asking import answered

SCORES = [0.9, 0.8, 0.7, 0.7, 0.4, 0.2, 0.6, 0.1]
LABELS = [1, 0, 1, 1, 0, 0, 1, 0]
SAMPLE: dict[str, Any] = {"scores": SCORES, "labels": LABELS}
OTHER: dict[str, Any] = {"scores": SCORES[::-1], "labels": LABELS}
RULES = [
    {"metric": "roc", "min": 0.5, "confidence": 0.95},
    {"metric": "pr", "max_drop": 0.1, "confidence": 0.95},
    {"metric": "recall", "at_threshold": 0.5, "max_drop": 0.1, "confidence": 0.95},
    {"metric": "tpr_at_fpr", "at": 0.3, "min": 0.1, "confidence": 0.9},
]
BODIES = {
    "curves": SAMPLE
    | {
        "include": ["auc", "points", "interpolated_pr", "achievable_pr", "calibration", "statistics"],
        "intervals": {},
        "partial": [{"over": "fpr", "to": 0.5}],
        "operating_points": [{"metric": "tpr_at_fpr", "at": 0.5}],
        "decisions": [{"best": "f1"}, {"at_threshold": 0.5}],
    },
    "tradeoffs": SAMPLE,
    "comparisons": {"evaluations": [SAMPLE | {"name": "a"}, OTHER | {"name": "b"}], "paired": True, "intervals": {}},
    "gates": SAMPLE | {"baseline": OTHER, "paired": True, "rules": RULES},
    "plans": SAMPLE | {"baseline": OTHER, "paired": True, "rules": RULES[:3]},
    "slices": SAMPLE | {"slices": {"country": list("abababab")}, "intervals": {}},
    "classes": {
        "scores": {"cat": SCORES, "dog": SCORES[::-1]},
        "labels": ["cat" if each else "dog" for each in LABELS],
        "intervals": {},
    },
}


IN_USE = {"prevalence": 0.1, "include": ["auc", "points", "statistics"]}
CASES = [*BODIES.items(), ("curves", BODIES["curves"] | IN_USE)]


@pytest.mark.parametrize(("operation", "body"), CASES)
def test_nothing_is_left_to_the_garbage_collector(operation: str, body: dict[str, Any]) -> None:
    answered(operation, body)  # fills what is kept for all requests
    gc.collect()
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        answered(operation, body)
        gc.collect()
        left = {type(each).__name__ for each in gc.garbage if type(each).__module__.startswith("service.")}
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
    assert left == set()
