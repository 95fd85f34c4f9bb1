"""Confidence that no interval can give: in what is the best of all rows, or more than resamples show."""

import pytest

from tests import asking

SAMPLE = {"scores": [0.9, 0.8, 0.7, 0.6, 0.4, 0.3], "labels": [1, 1, 0, 1, 0, 0]}
BASELINE = {"baseline": {"scores": [0.9, 0.6, 0.7, 0.8, 0.4, 0.3], "labels": [1, 1, 0, 1, 0, 0]}, "paired": True}


@pytest.mark.parametrize(
    "metric",
    [
        {"metric": "roc_hull"},
        {"metric": "pr_trapezoid"},
        {"metric": "pr_achievable"},
        {"metric": "recall_at_precision", "at": 0.5},
        {"metric": "f_measure", "at": 0.5},
        {"metric": "jaccard", "at": 0.5},
    ],
)
@pytest.mark.parametrize("bound", [{"min": 0.1}, {"max": 0.9}, {"max_drop": 0.1}])
def test_what_is_fitted_to_the_data_has_no_confidence(metric: dict, bound: dict) -> None:
    body = SAMPLE | BASELINE | {"rules": [{"metric": "roc", "min": 0.1}, metric | bound | {"confidence": 0.9}]}
    assert asking.refusals("gates", body) == [("/rules/1/confidence", "exclusive")]
    body["rules"] = [metric | bound]
    (check,) = asking.answered("gates", body | {"intervals": {}})["checks"]
    assert (check["interval"], check["p_value"]) == (None, None)
    assert check["value"] is not None


def test_an_index_at_a_threshold_has_confidence() -> None:
    rule = {"metric": "f_measure", "at": 0.5, "at_threshold": 0.5, "min": 0.1, "confidence": 0.9}
    (check,) = asking.answered("gates", SAMPLE | {"rules": [rule]})["checks"]
    assert check["interval"]["method"] == "score"


@pytest.mark.parametrize(
    ("resamples", "level", "shown"),
    [(100, 0.98, True), (100, 0.981, False), (199, 0.99, True), (1999, 0.999, True), (1998, 0.999, False)],
)
def test_a_level_has_a_resample_beyond_each_end(resamples: int, level: float, *, shown: bool) -> None:
    """(B + 1)(1 - level)/2 >= 1."""
    options = {"method": "bootstrap", "resamples": resamples}
    of_curves = SAMPLE | {"intervals": options | {"level": level}}
    sure = SAMPLE | {"intervals": options, "rules": [{"metric": "roc", "min": 0.5, "confidence": level}]}
    drop = SAMPLE | BASELINE | {"intervals": {"resamples": resamples, "level": level}}
    drop |= {"rules": [{"metric": "roc", "min": 0.5}, {"metric": "pr", "max_drop": 0.5}]}
    for operation, body, pointer in (
        ("curves", of_curves, "/intervals/level"),
        ("gates", sure, "/rules/0/confidence"),
        ("gates", drop, "/intervals/level"),
    ):
        if shown:
            asking.answered(operation, body)
        else:
            assert asking.refusals(operation, body) == [(pointer, "out_of_range")]


def test_other_methods_show_any_level() -> None:
    rules = [{"metric": "roc", "min": 0.5, "confidence": 0.999999}, {"metric": "roc", "max_drop": 0.5}]
    asking.answered("gates", SAMPLE | BASELINE | {"rules": rules, "intervals": {"level": 0.999999, "resamples": 100}})
