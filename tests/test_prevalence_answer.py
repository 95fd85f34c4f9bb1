"""A stated prevalence in requests and answers: the worked numbers, what changes and what does not, what is refused."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from service.wire.media_types import CSV, MARKDOWN, XML
from tests.support.asking import answered, ask, errors

FILE = Path(__file__).parent / "data" / "breast_cancer_ten.csv"
ROWS = list(csv.DictReader(FILE.read_text().splitlines()))
SAMPLE: dict[str, Any] = {
    "scores": [float(row["scores"]) for row in ROWS],
    "labels": [int(row["labels"]) for row in ROWS],
}
SMALL: dict[str, Any] = {"scores": [0.9, 0.8, 0.7, 0.7, 0.4, 0.2], "labels": [1, 0, 1, 1, 0, 0]}
SHARE = {"prevalence": 0.05}
AREAS = {"include": ["auc"], "intervals": {}}


def codes(answer: dict[str, Any]) -> list[str]:
    return [warning["code"] for warning in answer["warnings"]]


def refused(operation: str, body: Any, **options: str) -> tuple[str, str]:
    (error,) = errors(operation, body, **options)
    return error["pointer"], error["code"]


def test_the_worked_numbers() -> None:
    plain, found = (answered("curves", SAMPLE | AREAS | more) for more in ({}, SHARE))
    assert plain["auc"]["average_precision"] == pytest.approx(0.992521, abs=5e-7)
    assert found["auc"]["average_precision"] == pytest.approx(0.975713, abs=5e-7)
    interval = found["intervals"]["average_precision"]
    assert (interval["lower"], interval["upper"]) == pytest.approx((0.646176, 0.994573), abs=5e-7)
    assert found["prevalence"] == 0.05
    assert "prevalence" not in plain
    assert (found["positives"], found["negatives"]) == (212, 357)
    assert found["auc"]["roc"] == plain["auc"]["roc"]
    assert found["intervals"]["roc"] == plain["intervals"]["roc"]
    assert found["auc"]["pr_trapezoid"] is None
    assert codes(found) == ["pr_trapezoid_omitted", "far_prevalence"]
    (told,) = (each["detail"] for each in found["warnings"] if each["code"] == "far_prevalence")
    assert "stand for only 18.8 positives" in told
    assert "needs 570 negatives" in told


def test_a_decision_in_use() -> None:
    asked = {"decisions": [{"at_threshold": 0.75}], "metrics": ["precision", "accuracy", "share", "lift", "recall"]}
    found = answered("curves", SMALL | asked | {"prevalence": 0.1})
    decisions = found["decisions"]
    assert (decisions["tp"], decisions["fp"]) == ([1], [1])
    assert decisions["precision"] == [pytest.approx(0.1)]
    assert decisions["accuracy"] == [pytest.approx(0.1 / 3 + 0.9 * 2 / 3)]
    assert decisions["share"] == [pytest.approx(1 / 3)]
    assert decisions["lift"] == [pytest.approx(1)]
    assert decisions["recall"] == [1 / 3]
    assert codes(found) == []


def test_tables_take_it_in_the_query() -> None:
    body = answered("curves", FILE.read_bytes(), content_type=CSV, prevalence="0.05", include="auc", intervals="{}")
    assert body == answered("curves", SAMPLE | AREAS | SHARE)
    rules = json.dumps([{"metric": "average_precision", "min": 0.9}])
    assert answered("gates", FILE.read_bytes(), content_type=CSV, prevalence="0.05", rules=rules)["prevalence"] == 0.05


@pytest.mark.parametrize(
    "evaluation",
    [
        {"counts": {"tp": [1, 2], "fp": [1, 3], "positives": 3, "negatives": 3, "threshold": [0.8, 0.3]}},
        {"groups": {"score": [0.9, 0.8, 0.7, 0.2], "positives": [1, 0, 2, 0], "negatives": [0, 1, 0, 2]}},
        {"groups": {"score_from": [0.5, 0], "score_to": [1, 0.4], "positives": [2, 1], "negatives": [1, 2]}},
        {"scores": [0.9, 0.5, 0.1], "soft_labels": [0.9, 0.5, 0.2]},
        SMALL | {"weights": [1, 2, 1, 1, 0.5, 1]},
        SMALL | {"clusters": [*"aabbcc"]},
        SMALL | {"lower_is_positive": True},
        SMALL | {"thresholds": [0.5]},
        SMALL | {"tuning": SMALL},
    ],
)
def test_every_kind_of_data_takes_it(evaluation: dict[str, Any]) -> None:
    plain, found = (answered("curves", evaluation | {"include": ["auc"]} | more) for more in ({}, {"prevalence": 0.01}))
    assert found["prevalence"] == 0.01
    assert found["auc"]["roc"] == plain["auc"]["roc"]
    assert found["auc"]["roc_hull"] == plain["auc"]["roc_hull"]
    if plain["auc"]["average_precision"] is not None:
        assert found["auc"]["average_precision"] < plain["auc"]["average_precision"]


def test_comparisons_slices_and_tradeoffs_echo_it() -> None:
    both = [{"name": "a"} | SMALL, {"name": "b"} | SMALL | {"scores": [0.1, 0.8, 0.7, 0.9, 0.4, 0.2]}]
    compared = answered("comparisons", {"evaluations": both, "intervals": {}, "prevalence": 0.1})
    alone = [
        answered("curves", SMALL | {"scores": each["scores"], "include": ["auc"], "prevalence": 0.1}) for each in both
    ]
    assert compared["prevalence"] == 0.1
    assert compared["auc"]["pr"] == [each["auc"]["pr"] for each in alone]
    assert compared["auc"]["pr_trapezoid"] == [None, None]
    assert {"pr_trapezoid_omitted", "far_prevalence"} <= {*codes(compared)}
    sliced = answered("slices", SMALL | {"slices": {"of": [*"aabbab"]}, "prevalence": 0.1})
    assert sliced["overall"]["prevalence"] == 0.1
    assert sliced["overall"]["auc"]["pr"] == alone[0]["auc"]["pr"]
    assert "far_prevalence" in codes(sliced)
    traded = answered("tradeoffs", SMALL | {"prevalence": 0.1})
    assert traded["prevalence"] == 0.1


def test_a_slice_of_all_rows_is_the_whole() -> None:
    sliced = answered("slices", SAMPLE | SHARE | {"slices": {"of": ["x"] * len(ROWS)}, "intervals": {}})
    whole = answered("curves", SAMPLE | SHARE | AREAS)
    for name in ("roc", "pr", "average_precision"):
        assert sliced["slices"][name] == [pytest.approx(whole["auc"][name], rel=1e-14)]
        for end in ("lower", "upper"):
            assert sliced["slices"][f"{name}_{end}"] == [pytest.approx(whole["intervals"][name][end], rel=1e-12)]


def test_gates_judge_what_is_in_use() -> None:
    rules = [
        {"metric": "average_precision", "min": 0.98},
        {"metric": "roc", "min": 0.98},
        {"metric": "precision", "at_threshold": 0.5, "min": 0.9},
        {"metric": "log_loss", "max": 0.06},
    ]
    plain, found = (answered("gates", SAMPLE | more | {"rules": rules}) for more in ({}, SHARE))
    assert [check["status"] for check in plain["checks"]] == ["passed", "passed", "passed", "failed"]
    assert [check["status"] for check in found["checks"]] == ["failed", "passed", "failed", "passed"]


@pytest.mark.parametrize(
    ("accept", "told"), [(MARKDOWN, "Prevalence in use: 0.05."), (XML, 'name="prevalence" value="0.05"')]
)
def test_reports_of_gates_name_it(accept: str, told: str) -> None:
    body = SAMPLE | {"rules": [{"metric": "pr", "min": 0.9}]}
    assert told in ask("gates", body | SHARE, accept=accept).body.decode()
    assert "revalence" not in ask("gates", body, accept=accept).body.decode()


def test_statistics_without_what_is_about_the_data() -> None:
    found = answered("curves", SAMPLE | SHARE | {"include": ["statistics"], "intervals": {}})
    nothing = [name for name, value in found["statistics"].items() if value is None]
    assert nothing == ["ece", "ece_if_calibrated", "calibration_slope", "calibration_intercept"]
    assert "not_at_prevalence" in codes(found)
    parts = found["statistics"]
    assert parts["brier"] == pytest.approx(
        parts["miscalibration"] - parts["discrimination"] + parts["uncertainty"], rel=1e-12
    )
    assert parts["uncertainty"] == pytest.approx(0.05 * 0.95)


@pytest.mark.parametrize(
    ("more", "pointer"),
    [
        ({"gains": {}}, "/gains"),
        ({"reliability": {}}, "/reliability"),
        ({"include": ["calibration"]}, "/include"),
        ({"charts": ["calibration"]}, "/charts"),
    ],
)
def test_what_is_about_the_data_is_refused(more: dict[str, Any], pointer: str) -> None:
    assert refused("curves", SMALL | {"prevalence": 0.1} | more) == (pointer, "exclusive")


@pytest.mark.parametrize("metric", ["ece", "calibration_slope", "calibration_intercept"])
def test_so_are_rules_about_them(metric: str) -> None:
    rules = [{"metric": "roc", "min": 0.1}, {"metric": metric, "max": 0.5}]
    assert refused("gates", SMALL | {"prevalence": 0.1, "rules": rules}) == ("/rules/1/metric", "exclusive")


def test_plans_repeat_it() -> None:
    rules = [{"metric": "precision", "at_threshold": 0.5, "min": 0.1, "confidence": 0.9}]
    assert answered("plans", SMALL | SHARE | {"rules": rules})["prevalence"] == 0.05
    assert "prevalence" not in answered("plans", SMALL | {"rules": rules})


def test_assumptions_have_their_own() -> None:
    body = {"assumptions": {"roc": 0.8}, "rules": [{"metric": "roc", "min": 0.7, "confidence": 0.95}]}
    assert refused("plans", body | {"prevalence": 0.1}) == ("/prevalence", "exclusive")


@pytest.mark.parametrize("wrong", [0, 1, -0.1, 1.5, 1e-10, 1 - 1e-10])
def test_a_share_at_the_ends_is_refused(wrong: float) -> None:
    (error,) = errors("curves", SMALL | {"prevalence": wrong})
    assert (error["pointer"], error["code"]) == ("/prevalence", "out_of_range")
    assert error["detail"] == "Must be a share of positives between 0 and 1, at least 1e-09 from either."


@pytest.mark.parametrize(("wrong", "code"), [("0.1", "not_a_number"), (True, "not_a_number"), ([0.1], "not_a_number")])
def test_what_is_no_number_is_refused(wrong: Any, code: str) -> None:
    assert refused("curves", SMALL | {"prevalence": wrong}) == ("/prevalence", code)


def test_classes_have_none() -> None:
    body = {"scores": {"a": [0.9, 0.1, 0.2], "b": [0.1, 0.9, 0.8]}, "labels": ["a", "b", "b"], "prevalence": 0.1}
    assert refused("classes", body) == ("/prevalence", "unknown_field")


def test_a_rule_on_the_trapezoid_is_undecided() -> None:
    found = answered("gates", SMALL | {"prevalence": 0.1, "rules": [{"metric": "pr_trapezoid", "min": 0.1}]})
    assert found["status"] == "undecided"
    assert codes(found) == ["pr_trapezoid_omitted"]


@pytest.mark.parametrize("chart", ["both", "gains", "lift", "net_benefit", "det", "costs"])
def test_pictures_show_it(chart: str) -> None:
    body = SAMPLE | SHARE | {"costs": {}, "operating_points": [{"metric": "recall_at_precision", "at": 0.9}]}
    picture = ask("curves", body, accept="image/svg+xml", chart=chart).body.decode()
    assert "for a prevalence of 0.05 in use" in picture or chart in {"costs", "det"}


@pytest.mark.parametrize("share", [1e-9, 1 - 1e-9])
def test_extreme_shares_have_answers(share: float) -> None:
    everything = {
        "include": ["auc", "points", "interpolated_pr", "achievable_pr", "statistics"],
        "prevalence": share,
        "intervals": {},
        "band": {},
        "operating_points": [{"metric": "recall_at_precision", "at": 0.5}, {"metric": "f_measure", "at": 0.5}],
        "partial": [{"over": "recall", "to": 0.5}],
        "decisions": [{"best": "f1"}, {"at_share": 0.1}],
        "net_benefit": {},
    }
    assert answered("curves", SAMPLE | everything)["prevalence"] == share
    heavy = {"weights": [1e140 if label else 1e-140 for label in SAMPLE["labels"]]}
    assert answered("curves", SAMPLE | heavy | everything)["prevalence"] == share
