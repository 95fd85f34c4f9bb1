"""POST /v1/tradeoffs from bytes to bytes: what is refused, and where the pointer points."""

import json
from functools import partial

import pytest

from service.wire.limits import Limits
from tests import asking

SAMPLE = {"scores": [0.9, 0.8, 0.7, 0.7, 0.4, 0.2], "labels": [1, 0, 1, 1, 0, 0]}
CSV_SAMPLE = "scores,labels\n.9,1\n.8,0\n.7,1\n.7,1\n.4,0\n.2,0\n"
COUNTS = {"tp": [5, 10], "fp": [5, 30], "positives": 20, "negatives": 2000}
DENSITY = {"a": 2, "b": 3}

ask = partial(asking.ask, "tradeoffs")
refusals = partial(asking.refusals, "tradeoffs")


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("[]", [("", "not_an_object")]),
        ("null", [("", "not_an_object")]),
        ({}, [("", "missing")]),
        ({"min_precision": 0.5}, [("", "missing")]),
        ({"scores": [1]}, [("/labels", "missing")]),
        (SAMPLE | {"labels": [1, 0]}, [("/labels", "lengths_differ")]),
        (SAMPLE | {"labels": [1] * 6}, [("/labels", "one_class")]),
        (SAMPLE | {"weights": [1, 1, 1, 1, 1, -1]}, [("/weights/5", "negative")]),
        (SAMPLE | {"lower_is_positive": 1}, [("/lower_is_positive", "not_a_boolean")]),
        (SAMPLE | {"counts": COUNTS}, [("/scores", "exclusive")]),
        ({"counts": COUNTS | {"threshold": [0.1, 0.2]}}, [("/counts/threshold/1", "rising_thresholds")]),
        ({"counts": COUNTS | {"tp": [5, 21]}}, [("/counts/tp/1", "contradicting_totals")]),
        ({"counts": COUNTS | {"table": 1}}, [("/counts/table", "unknown_field")]),
    ],
)
def test_an_evaluation_is_checked_as_anywhere(body, expected):
    assert refusals(body) == expected


def test_values_to_read_off_are_limited():
    limits = Limits(max_rows=10, max_interpolated_rows=3)
    assert refusals(SAMPLE | {"at_lambda": [0, 0.5, 1, 1]}, limits=limits) == [("/at_lambda", "too_many_points")]
    assert ask(SAMPLE | {"at_lambda": [0, 0.5, 1]}, limits=limits).status == 200


def test_a_label_that_is_no_text_is_on_no_row():
    found = refusals(CSV_SAMPLE, content_type="text/csv", positive_label="\udc80")
    assert found == [("/labels", "one_class")]


@pytest.mark.parametrize(
    "name",
    ["include", "keep", "interpolation", "thresholds", "tuning", "lambda", "table", "evaluations", "_schema"],
)
def test_other_fields_are_unknown(name):
    assert refusals(SAMPLE | {name: 1}) == [(f"/{name}", "unknown_field")]


def test_a_field_that_is_nearly_right_is_told_what_it_may_be():
    def told(body):
        return {error["pointer"][:10]: error["detail"] for error in json.loads(ask(body).body)["errors"]}

    found = told(SAMPLE | {"score": [1], "min_recal": 1, "q" * 3_000_000: 1})
    assert found["/score"] == "This field is not known here; do you mean scores?"
    assert found["/min_recal"] == "This field is not known here; do you mean min_recall?"
    assert found["/" + "q" * 9].startswith("This field is not known here; known are scores, labels, ")
    found = told({"counts": COUNTS | {"thresholds": 1}})
    assert found["/counts/th"] == "This field is not known here; do you mean threshold?"


@pytest.mark.parametrize(
    ("indices", "expected"),
    [
        ("f_measure", ("/indices", "not_a_list")),
        ({"0": "f_measure"}, ("/indices", "not_a_list")),
        (True, ("/indices", "not_a_list")),
        (["f_measure", "f1"], ("/indices/1", "not_one_of")),
        (["Jaccard"], ("/indices/0", "not_one_of")),
        ([1], ("/indices/0", "not_one_of")),
        ([None], ("/indices/0", "not_one_of")),
        ([["jaccard"]], ("/indices/0", "not_one_of")),
    ],
)
def test_indices(indices, expected):
    assert refusals(SAMPLE | {"indices": indices}) == [expected]


@pytest.mark.parametrize("name", ["min_precision", "min_recall"])
@pytest.mark.parametrize(
    ("value", "code"),
    [
        ("0.5", "not_a_number"),
        (True, "not_a_number"),
        ([0.5], "not_a_number"),
        ({"min": 0.5}, "not_a_number"),
        (-0.001, "negative"),
        (-5e-324, "negative"),
        (1.0000000000000002, "out_of_range"),
        (2**53 + 1, "not_exact"),
    ],
)
def test_bounds(name, value, code):
    assert refusals(SAMPLE | {name: value}) == [(f"/{name}", code)]


def test_bounds_that_no_row_meets_blame_the_precision():
    assert refusals(SAMPLE | {"min_precision": 0.75, "min_recall": 0.5, "lower_is_positive": True}) == [
        ("/min_precision", "no_row_meets")
    ]
    assert refusals({"counts": COUNTS, "min_precision": 0.51}) == [("/min_precision", "no_row_meets")]
    assert refusals({"counts": COUNTS, "min_precision": 0.26, "min_recall": 0.26}) == [
        ("/min_precision", "no_row_meets")
    ]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("[0, 1]", ("/lambda_range", "not_a_column")),
        (1, ("/lambda_range", "not_a_column")),
        ({"from": 0, "to": 1}, ("/lambda_range", "not_a_column")),
        ([0.5], ("/lambda_range", "wrong_length")),
        ([0, 0.5, 1], ("/lambda_range", "wrong_length")),
        ([0.5, 0.5], ("/lambda_range", "not_rising")),
        ([-0.0, 0.0], ("/lambda_range", "not_rising")),
        ([0.8, 0.2], ("/lambda_range", "not_rising")),
        ([-0.1, 1], ("/lambda_range/0", "negative")),
        ([0, 1.1], ("/lambda_range/1", "out_of_range")),
        ([0, "1"], ("/lambda_range/1", "not_a_number")),
        ([0, None], ("/lambda_range/1", "not_a_number")),
        ([False, True], ("/lambda_range/0", "not_a_number")),
        ([[0], [1]], ("/lambda_range/0", "not_a_number")),
    ],
)
def test_lambda_range(value, expected):
    assert refusals(SAMPLE | {"lambda_range": value}) == [expected]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("uniform", ("/lambda_density", "not_an_object")),
        ([2, 2], ("/lambda_density", "not_an_object")),
        (2, ("/lambda_density", "not_an_object")),
        ({}, ("/lambda_density/a", "missing")),
        ({"b": 2}, ("/lambda_density/a", "missing")),
        ({"a": None, "b": 2}, ("/lambda_density/a", "missing")),
        ({"a": 2}, ("/lambda_density/b", "missing")),
        ({"a": 2, "b": []}, ("/lambda_density/b", "missing")),
        (DENSITY | {"c": 1}, ("/lambda_density/c", "unknown_field")),
        (DENSITY | {"a": "2"}, ("/lambda_density/a", "not_a_number")),
        (DENSITY | {"a": True}, ("/lambda_density/a", "not_a_number")),
        (DENSITY | {"b": [2]}, ("/lambda_density/b", "not_a_number")),
        (DENSITY | {"a": 0.009}, ("/lambda_density/a", "out_of_range")),
        (DENSITY | {"b": -1}, ("/lambda_density/b", "out_of_range")),
        (DENSITY | {"b": 1000.1}, ("/lambda_density/b", "out_of_range")),
    ],
)
def test_lambda_density(value, expected):
    assert refusals(SAMPLE | {"lambda_density": value}) == [expected]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (0.5, ("/at_lambda", "not_a_column")),
        ("0.5", ("/at_lambda", "not_a_column")),
        ({"0": 0.5}, ("/at_lambda", "not_a_column")),
        ([0.5, -0.5], ("/at_lambda/1", "negative")),
        ([0.5, 1.5], ("/at_lambda/1", "out_of_range")),
        ([0.5, "x"], ("/at_lambda/1", "not_a_number")),
        ([0.5, None], ("/at_lambda/1", "not_a_number")),
        ([True], ("/at_lambda/0", "not_a_number")),
    ],
)
def test_at_lambda(value, expected):
    assert refusals(SAMPLE | {"at_lambda": value}) == [expected]


def test_several_wrong_values_are_told_at_once():
    wrong = {"min_recall": 2, "indices": ["x"], "lambda_range": [1], "lambda_density": {"a": 0}, "beta": 1}
    assert refusals(SAMPLE | wrong) == [
        ("/beta", "unknown_field"),
        ("/indices/0", "not_one_of"),
        ("/lambda_density/a", "out_of_range"),
        ("/lambda_range", "wrong_length"),
        ("/min_recall", "out_of_range"),
    ]


@pytest.mark.parametrize(
    ("option", "pointer"),
    [
        ('"min_precision": NaN', None),
        ('"min_precision": -Infinity', None),
        ('"lambda_range": [0, 1e400]', "/lambda_range/1"),
        ('"lambda_density": {"a": 1e400, "b": 1}', "/lambda_density/a"),
        ('"at_lambda": [0.5], "at_lambda": [0.5]', None),
    ],
)
def test_json_is_strict(option, pointer):
    result = ask(f'{{"scores": [1, 0], "labels": [1, 0], {option}}}')
    problem = json.loads(result.body)
    assert (result.status, problem["type"]) == (400, "/problems/malformed_body")
    assert [error["pointer"] for error in problem.get("errors", [])] == ([] if pointer is None else [pointer])


def test_limits_are_told():
    result = ask(SAMPLE, limits=Limits(max_rows=5, max_interpolated_rows=1))
    assert (result.status, json.loads(result.body)["type"]) == (413, "/problems/too_many_rows")
    assert ask(SAMPLE, limits=Limits(max_rows=6, max_interpolated_rows=1)).status == 200


@pytest.mark.parametrize(
    ("table", "options", "expected"),
    [
        ("a,b\n1,2\n", {}, ("", "missing")),
        ("scores,labels\n", {}, ("", "no_rows")),
        ("scores,labels\n1,1\nnan,0\n", {}, ("/scores/1", "not_finite")),
        (
            "tp,fp,threshold\n1,1,1\n2,2,2\n",
            {"positives": "2", "negatives": "2"},
            ("/threshold/1", "rising_thresholds"),
        ),
        (CSV_SAMPLE, {"positives": "3"}, ("/positives", "exclusive")),
        (CSV_SAMPLE, {"include": "auc"}, ("/include", "unknown_field")),
        (CSV_SAMPLE, {"keep": "all"}, ("/keep", "unknown_field")),
        (CSV_SAMPLE, {"lambda": "0.5"}, ("/lambda", "unknown_field")),
        (CSV_SAMPLE, {"table": "optimal"}, ("/table", "exclusive")),
        (CSV_SAMPLE, {"indices": "f_measure,f1"}, ("/indices/1", "not_one_of")),
        (CSV_SAMPLE, {"indices": ""}, ("/indices/0", "not_one_of")),
        (CSV_SAMPLE, {"indices": '["f1"]'}, ("/indices/0", "not_one_of")),
        (CSV_SAMPLE, {"indices": "1"}, ("/indices", "not_a_list")),
        (CSV_SAMPLE, {"min_precision": "half"}, ("/min_precision", "not_json")),
        (CSV_SAMPLE, {"min_precision": "NaN"}, ("/min_precision", "not_json")),
        (CSV_SAMPLE, {"min_precision": "1e400"}, ("/min_precision", "not_finite")),
        (CSV_SAMPLE, {"min_precision": '"0.5"'}, ("/min_precision", "not_a_number")),
        (CSV_SAMPLE, {"min_recall": "true"}, ("/min_recall", "not_a_number")),
        (CSV_SAMPLE, {"min_recall": "-1"}, ("/min_recall", "negative")),
        (CSV_SAMPLE, {"min_recall": "2"}, ("/min_recall", "out_of_range")),
        (CSV_SAMPLE, {"min_precision": "1", "min_recall": "1"}, ("/min_precision", "no_row_meets")),
        (CSV_SAMPLE, {"lambda_range": "0.2;0.8"}, ("/lambda_range", "not_json")),
        (CSV_SAMPLE, {"lambda_range": "[0.2,1e400]"}, ("/lambda_range/1", "not_finite")),
        (CSV_SAMPLE, {"lambda_range": "[0.2]"}, ("/lambda_range", "wrong_length")),
        (CSV_SAMPLE, {"lambda_range": "[0.8,0.2]"}, ("/lambda_range", "not_rising")),
        (CSV_SAMPLE, {"lambda_range": "[0,2]"}, ("/lambda_range/1", "out_of_range")),
        (CSV_SAMPLE, {"lambda_density": "2"}, ("/lambda_density", "not_an_object")),
        (CSV_SAMPLE, {"lambda_density": '{"a":2}'}, ("/lambda_density/b", "missing")),
        (CSV_SAMPLE, {"lambda_density": '{"a":2,"a":2}'}, ("/lambda_density", "not_json")),
        (CSV_SAMPLE, {"lambda_density": '{"a":0,"b":2}'}, ("/lambda_density/a", "out_of_range")),
        (CSV_SAMPLE, {"at_lambda": "0.5,x"}, ("/at_lambda", "not_json")),
        (CSV_SAMPLE, {"at_lambda": "[0.5"}, ("/at_lambda", "not_json")),
        (CSV_SAMPLE, {"at_lambda": "[2]"}, ("/at_lambda/0", "out_of_range")),
    ],
)
def test_a_wrong_table_points_to_what_is_wrong(table, options, expected):
    assert refusals(table, content_type="text/csv", **options) == [expected]
