"""Every request checks an evaluation in the same way: which columns and counts must be there together."""

from __future__ import annotations

from typing import Any

import pytest

from tests.refusals.places import COUNTED, COUNTS, LABELS, OTHER, ROC, SAMPLES, Keys, put
from tests.support import asking

SAMPLE_AT: list[tuple[str, Keys]] = [
    ("curves", ()),
    ("curves", ("tuning",)),
    ("tradeoffs", ()),
    ("comparisons", ("evaluations", 0)),
    ("comparisons", ("evaluations", 1)),
    ("gates", ()),
    ("gates", ("baseline",)),
]
"""Every place of an evaluation."""

COUNTS_AT: list[tuple[str, Keys]] = [
    ("curves", ("counts",)),
    ("tradeoffs", ("counts",)),
    ("comparisons", ("evaluations", 1, "counts")),
    ("gates", ("counts",)),
    ("gates", ("baseline", "counts")),
]

Wrong = tuple[dict[str, Any], str, str, str]
"""(what is changed, the pointer below the evaluation's, the code, the sentence)"""

BEYOND = (
    "The total of one class is beyond the range of a double; scale all weights, or all counts, "
    "so that it is 1e-150 to 1e+150."
)
WRONG_SAMPLES: list[Wrong] = [
    ({"scores": None}, "/scores", "missing", "A sample needs scores and labels; null and [] count as absent."),
    ({"labels": []}, "/labels", "missing", "A sample needs scores and labels; null and [] count as absent."),
    ({"scores": [1, 2]}, "/labels", "lengths_differ", "labels has 6 rows but scores has 2."),
    ({"weights": [1, 1]}, "/weights", "lengths_differ", "weights has 2 rows but scores has 6."),
    ({"labels": [1] * 6}, "/labels", "one_class", "All 6 labels are positive; a curve needs both classes."),
    ({"labels": [0] * 6}, "/labels", "one_class", "All 6 labels are negative; a curve needs both classes."),
    ({"positive_label": "2"}, "/labels", "one_class", "No label equals positive_label, 2; the labels are 0 and 1."),
    (
        {"labels": ["a"] * 6, "positive_label": "a"},
        "/labels",
        "one_class",
        "All 6 labels are positive; a curve needs both classes.",
    ),
    (
        {"weights": LABELS},
        "/labels",
        "one_class",
        "All labels with a weight above 0 are positive; a curve needs both classes.",
    ),
    (
        {"weights": [1e-160] * 6},
        "/weights",
        "total_out_of_range",
        "The total of one class is 3e-160, outside 1e-150 to 1e+150.",
    ),
    (
        {"weights": [1e308] * 6},
        "/weights",
        "total_out_of_range",
        BEYOND,
    ),
    (
        {"weights": [0] * 6},
        "/weights",
        "one_class",
        "All weights are 0; a curve needs rows of both classes with a weight above 0.",
    ),
]

OF_CLASS = "The total of one class is"
WRONG_COUNTS: list[Wrong] = [
    ({"tp": None}, "/tp", "missing", "Counts need tp and fp."),
    ({"fp": []}, "/fp", "missing", "Counts need tp and fp."),
    ({"positives": None}, "/positives", "missing", "Give fn or positives: without them the total is unknown."),
    ({"negatives": None}, "/negatives", "missing", "Give tn or negatives: without them the total is unknown."),
    ({"tp": [1, 2, 3]}, "/fp", "lengths_differ", "fp has 2 rows but tp has 3."),
    ({"fp": [0]}, "/fp", "lengths_differ", "fp has 1 row but tp has 2."),
    ({"fn": [2]}, "/fn", "lengths_differ", "fn has 1 row but tp has 2."),
    ({"tn": [1, 2, 3]}, "/tn", "lengths_differ", "tn has 3 rows but fp has 2."),
    ({"threshold": [0.5]}, "/threshold", "lengths_differ", "threshold has 1 row but tp has 2."),
    ({"threshold": [0.1, 0.2]}, "/threshold/1", "rising_thresholds", "The threshold rises here while tp or fp rises."),
    ({"tp": [1, 4]}, "/tp/1", "contradicting_totals", "tp is above its total, 3."),
    ({"fp": [4, 1]}, "/fp/0", "contradicting_totals", "fp is above its total, 3."),
    ({"tp": [1, 4], "positives": 3.3}, "/tp/1", "contradicting_totals", "tp is above its total, 3.3."),
    ({"fn": [2, 2]}, "/fn/1", "contradicting_totals", "tp + fn is 4 here but positives is 3."),
    ({"tn": [2, 2]}, "/tn/0", "contradicting_totals", "fp + tn is 2 here but negatives is 3."),
    (
        {"tp": [2**53], "fn": [1], "fp": [1], "positives": 2**53},
        "/fn/0",
        "contradicting_totals",
        "tp + fn is 9007199254740992 here but positives is 9007199254740992.",
    ),
    ({"positives": 0}, "/positives", "total_out_of_range", f"{OF_CLASS} 0, outside 1e-150 to 1e+150."),
    ({"negatives": 1e151}, "/negatives", "total_out_of_range", f"{OF_CLASS} 1e+151, outside 1e-150 to 1e+150."),
    ({"fn": [2, 1], "positives": 1e22}, "/fn/0", "contradicting_totals", "tp + fn is 3 here but positives is 1e+22."),
    (
        {"tp": [1e308], "fn": [1e308], "fp": [1], "positives": None},  # the total was not given
        "",
        "total_out_of_range",
        BEYOND,
    ),
]


def pointer_to(keys: Keys) -> str:
    return "".join(f"/{key}" for key in keys)


def right(operation: str, keys: Keys) -> Any:
    """A request in which no other evaluation inherits what this one says about its labels."""
    if keys:
        return SAMPLES[operation]
    alone = {name: value for name, value in SAMPLES[operation].items() if name not in ("tuning", "baseline")}
    return alone | ({"rules": [ROC]} if "rules" in alone else {})


def at(body: Any, keys: Keys) -> Any:
    for key in keys:
        body = body[key]
    return body


def told(operation: str, body: Any) -> list[tuple[str, str, str]]:
    return [(error["pointer"], error["code"], error["detail"]) for error in asking.errors(operation, body)]


@pytest.mark.parametrize(("operation", "keys"), SAMPLE_AT)
@pytest.mark.parametrize("wrong", WRONG_SAMPLES)
def test_a_sample(operation: str, keys: Keys, wrong: Wrong) -> None:
    change, pointer, code, sentence = wrong
    whole = right(operation, keys)
    body = put(whole, keys, at(whole, keys) | change)
    assert told(operation, body) == [(pointer_to(keys) + pointer, code, sentence)]


@pytest.mark.parametrize(("operation", "keys"), COUNTS_AT)
@pytest.mark.parametrize("wrong", WRONG_COUNTS)
def test_counts(operation: str, keys: Keys, wrong: Wrong) -> None:
    change, pointer, code, sentence = wrong
    body = put(COUNTED[operation], keys, COUNTS | change)
    assert told(operation, body) == [(pointer_to(keys) + pointer, code, sentence)]


@pytest.mark.parametrize(
    ("ends", "pointer", "sentence"),
    [
        ({"score": [0.9]}, "/positives", "positives has 2 rows but score has 1."),
        ({"score_from": [0.5], "score_to": [0.9, 0.5]}, "/score_to", "score_to has 2 rows but score_from has 1."),
        (
            {"score_from": [0.8, 0.1], "score_to": [0.7, 0.2]},
            "/score_to/0",
            "score_to is 0.7 here, below score_from, which is 0.8.",
        ),
    ],
)
def test_groups(ends: dict[str, Any], pointer: str, sentence: str) -> None:
    body = {"groups": {"positives": [1, 2], "negatives": [1, 2], **ends}}
    assert [(place, detail) for place, _, detail in told("curves", body)] == [(f"/groups{pointer}", sentence)]


@pytest.mark.parametrize(("operation", "keys"), SAMPLE_AT)
def test_nothing_to_evaluate(operation: str, keys: Keys) -> None:
    whole = right(operation, keys)
    evaluation = at(whole, keys) | {"scores": None, "labels": []}
    expected = "/scores" if "tuning" in keys else ""
    assert asking.refusals(operation, put(whole, keys, evaluation)) == [(pointer_to(keys) + expected, "missing")]
    weights = evaluation | {"weights": [1, 0]}
    assert asking.refusals(operation, put(whole, keys, weights)) == [(pointer_to(keys) + "/scores", "missing")]


@pytest.mark.parametrize(("operation", "keys"), [(operation, keys[:-1]) for operation, keys in COUNTS_AT])
def test_counts_and_a_sample(operation: str, keys: Keys) -> None:
    whole = COUNTED[operation]
    evaluation = at(whole, keys)
    for sample, blamed in (
        (OTHER, "scores"),
        ({"weights": [1, 1]}, "weights"),
        ({"positive_label": 1}, "positive_label"),
    ):
        body = put(whole, keys, evaluation | sample)
        sentence = "This is for a sample, but counts are given too."
        assert told(operation, body) == [(f"{pointer_to(keys)}/{blamed}", "exclusive", sentence)]


@pytest.mark.parametrize(("operation", "keys"), COUNTS_AT)
def test_thresholds_run_the_other_way_where_lower_is_positive(operation: str, keys: Keys) -> None:
    low = {"lower_is_positive": True}
    rising, falling = ({"counts": COUNTS | {"threshold": cuts}} | low for cuts in ([0.1, 0.2], [0.2, 0.1]))
    whole = COUNTED[operation]
    evaluation = at(whole, keys[:-1])
    asking.answered(operation, put(whole, keys[:-1], evaluation | rising))
    assert asking.refusals(operation, put(whole, keys[:-1], evaluation | falling)) == [
        (f"{pointer_to(keys)}/threshold/1", "rising_thresholds")
    ]


def test_a_baseline_may_run_the_other_way() -> None:
    falling = {"counts": COUNTS | {"threshold": [0.2, 0.1]}}
    body = SAMPLES["gates"] | {"lower_is_positive": True, "baseline": falling}
    assert asking.refusals("gates", body) == [("/baseline/counts/threshold/1", "rising_thresholds")]
    asking.answered("gates", body | {"baseline": falling | {"lower_is_positive": False}})
