"""Options in the query of a JSON body: the same answer as with the options in the body; never both."""

import json
from typing import Any

import pytest

from tests.support.asking import answered, ask, refusals

SAMPLE = {"scores": [0.9, 0.8, 0.7, 0.7, 0.4, 0.2], "labels": [1, 0, 1, 1, 0, 0]}
COUNTS = {"counts": {"tp": [1, 3], "fp": [0, 2]}}
OTHER = {"scores": [0.1, 0.8, 0.7, 0.6, 0.4, 0.2], "labels": SAMPLE["labels"]}
EVALUATIONS = {"evaluations": [{"name": "old", **SAMPLE}, {"name": "new", **OTHER}]}
GATE = SAMPLE | {"baseline": OTHER}
RULES = [{"metric": "roc", "max_drop": 0.5}]


@pytest.mark.parametrize(
    ("operation", "body", "option", "text", "value"),
    [
        ("curves", SAMPLE, "include", "auc,points", ["auc", "points"]),
        ("curves", SAMPLE, "keep", "hull", "hull"),
        ("curves", SAMPLE, "thresholds", "0.5,0.75", [0.5, 0.75]),
        ("curves", SAMPLE, "thresholds", "[0.5]", [0.5]),
        ("curves", SAMPLE, "thresholds", "0.5", [0.5]),
        ("curves", SAMPLE, "thresholds", ".5, -.25,1e-1", [0.5, -0.25, 0.1]),
        ("curves", SAMPLE, "decisions", ".5,.75", [{"at_threshold": 0.5}, {"at_threshold": 0.75}]),
        ("curves", SAMPLE, "interpolation", '{"every": 1}', {"every": 1}),
        ("curves", SAMPLE, "intervals", "{}", {}),
        ("curves", SAMPLE, "lower_is_positive", "True", True),
        ("curves", SAMPLE, "lower_is_positive", "false", False),
        ("curves", SAMPLE | {"labels": [2, 1, 2, 2, 1, 1]}, "positive_label", "2", 2),
        ("curves", SAMPLE | {"labels": ["2", "1", "2", "2", "1", "1"]}, "positive_label", "2", "2"),
        ("curves", SAMPLE | {"labels": [x == 1 for x in SAMPLE["labels"]]}, "positive_label", "False", False),
        ("tradeoffs", SAMPLE, "indices", "f_measure, jaccard", ["f_measure", "jaccard"]),
        ("tradeoffs", SAMPLE, "at_lambda", "0.2,0.8", [0.2, 0.8]),
        ("tradeoffs", SAMPLE, "lambda_range", "0.2,0.8", [0.2, 0.8]),
        ("tradeoffs", SAMPLE, "min_recall", "0.5", 0.5),
        ("comparisons", EVALUATIONS, "indices", "jaccard", ["jaccard"]),
        ("gates", GATE, "rules", json.dumps(RULES), RULES),
        ("gates", GATE | {"rules": RULES}, "paired", "True", True),
    ],
)
def test_an_option_means_the_same_in_both_places(
    operation: str, body: dict[str, Any], option: str, text: str, value: object
) -> None:
    inside = ask(operation, body | {option: value})
    assert inside.status == 200, inside.body
    assert ask(operation, body, **{option: text}).body == inside.body
    if value:  # null and [] count as absent; false and {} do not
        assert refusals(operation, body | {option: value}, **{option: text}) == [(f"/{option}", "exclusive")]
    absent = None if isinstance(value, dict) else []
    assert ask(operation, body | {option: absent}, **{option: text}).body == inside.body


def test_long_columns_of_labels_are_numbers_too() -> None:
    long = {"scores": [row / 7 for row in range(200)], "labels": [1 + row % 2 for row in range(200)]}
    assert answered("curves", long, positive_label="2", include="auc") == answered(
        "curves", long | {"positive_label": 2, "include": ["auc"]}
    )


def test_totals_belong_to_the_counts() -> None:
    inside = ask("curves", {"counts": COUNTS["counts"] | {"positives": 3, "negatives": 5}})
    assert inside.status == 200
    assert ask("curves", COUNTS, positives="3", negatives="5").body == inside.body
    given = {"counts": COUNTS["counts"] | {"positives": 3}}
    assert refusals("curves", given, positives="3", negatives="5") == [("/positives", "exclusive")]
    assert refusals("curves", SAMPLE, positives="3") == [("/positives", "exclusive")]
    assert refusals("curves", COUNTS, positives="-3", negatives="5") == [("/positives", "negative")]


def test_each_of_several_evaluations_gets_what_labels_and_scores_mean() -> None:
    meaning = {"positive_label": 0, "lower_is_positive": True}
    inside = {"evaluations": [each | meaning for each in EVALUATIONS["evaluations"]]}
    assert ask("comparisons", EVALUATIONS, positive_label="0", lower_is_positive="TRUE").body == (
        ask("comparisons", inside).body
    )
    assert refusals("comparisons", inside, positive_label="0") == [("/positive_label", "exclusive")]
    assert refusals("comparisons", EVALUATIONS, lower_is_positive="3") == [("/lower_is_positive", "not_a_boolean")]


@pytest.mark.parametrize(
    ("operation", "body", "names"),
    [
        ("curves", SAMPLE, ["scores", "labels", "weights"]),
        ("comparisons", EVALUATIONS, ["scores", "labels", "weights"]),
        ("gates", GATE, ["scores", "labels", "weights", "baseline_scores"]),
    ],
)
def test_a_json_body_has_no_columns_to_be_named(operation: str, body: dict[str, Any], names: list[str]) -> None:
    for name in names:
        assert refusals(operation, body, **{name: "x"}) == [(f"/{name}", "exclusive")]


def test_more_evaluations_than_there_may_be_are_left_to_the_schema() -> None:
    many = {"evaluations": EVALUATIONS["evaluations"] * 26}
    assert ("/evaluations", "wrong_length") in refusals("comparisons", many, positive_label="0")


def test_what_is_not_known_stays_so() -> None:
    assert refusals("curves", SAMPLE, tuning="{}") == [("/tuning", "unknown_field")]
    assert refusals("comparisons", EVALUATIONS, keep="hull") == [("/keep", "unknown_field")]
    assert refusals("curves", "[1]", keep="hull") == [("", "not_an_object")]
    assert refusals("comparisons", {"evaluations": [3, 4]}, positive_label="1") == [
        ("/evaluations/0", "not_an_object"),
        ("/evaluations/1", "not_an_object"),
    ]
