"""POST /v1/gates from bytes to bytes: what is refused, and where the pointer points."""

import json
from functools import partial

import pytest

from service.wire.limits import Limits
from service.wire.requests.gates_schemas import MOST_RULES
from tests import asking

ask = partial(asking.ask, "gates")
refusals = partial(asking.refusals, "gates")

LABELS = [1, 0, 1, 1, 0, 0]
NEW = {"scores": [0.8, 0.9, 0.7, 0.6, 0.3, 0.1], "labels": LABELS}
OLD = {"scores": [0.9, 0.7, 0.7, 0.5, 0.3, 0.2], "labels": LABELS}
COUNTS = {"tp": [1, 2], "fp": [0, 1], "positives": 3, "negatives": 3}
ROC = {"metric": "roc", "min": 0.5}
DROP = {"metric": "roc", "max_drop": 0.1}
BODY = NEW | {"rules": [ROC]}
PAIR = NEW | {"baseline": OLD, "paired": True, "rules": [DROP]}
CSV_BODY = "new,old,labels\n.8,.9,1\n.9,.7,0\n.7,.7,1\n.6,.5,1\n.3,.3,0\n.1,.2,0\n"
TABLE = {"scores": "new", "baseline_scores": "old", "rules": json.dumps([DROP])}


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("[]", ("", "not_an_object")),
        ({}, ("", "missing")),
        ({"rules": [ROC]}, ("", "missing")),
        (NEW, ("/rules", "missing")),
        (NEW | {"rules": None}, ("/rules", "missing")),
        (NEW | {"rules": []}, ("/rules", "missing")),
        (NEW | {"rules": ROC}, ("/rules", "not_a_list")),
        (NEW | {"rules": "roc"}, ("/rules", "not_a_list")),
        (NEW | {"rules": [ROC] * (MOST_RULES + 1)}, ("/rules", "wrong_length")),
        (NEW | {"rules": [ROC, 1]}, ("/rules/1", "not_an_object")),
        (NEW | {"rules": [None, ROC]}, ("/rules/0", "not_an_object")),
        (NEW | {"rules": [[], ROC]}, ("/rules/0", "not_an_object")),
        (BODY | {"include": ["auc"]}, ("/include", "unknown_field")),
        (BODY | {"thresholds": [0.5]}, ("/thresholds", "unknown_field")),
        (BODY | {"_schema": 1}, ("/_schema", "unknown_field")),
        (BODY | {"counts": COUNTS}, ("/scores", "exclusive")),
        (BODY | {"scores": [1, 2]}, ("/labels", "lengths_differ")),
        (BODY | {"labels": [1] * 6}, ("/labels", "one_class")),
        (BODY | {"paired": 1}, ("/paired", "not_a_boolean")),
        (BODY | {"paired": True}, ("/paired", "missing")),
        (BODY | {"baseline": [OLD]}, ("/baseline", "not_an_object")),
        (BODY | {"intervals": [0.9]}, ("/intervals", "not_an_object")),
        (BODY | {"intervals": {"level": 95}}, ("/intervals/level", "out_of_range")),
        (BODY | {"intervals": {"method": "wald"}}, ("/intervals/method", "not_one_of")),
        (BODY | {"intervals": {"resamples": 10_001}}, ("/intervals/resamples", "out_of_range")),
        (BODY | {"intervals": {"confidence": 0.9}}, ("/intervals/confidence", "unknown_field")),
        (BODY | {"fail_status": 404}, ("/fail_status", "not_one_of")),
        (BODY | {"fail_status": 410}, ("/fail_status", "not_one_of")),
        (BODY | {"fail_status": 409.5}, ("/fail_status", "not_one_of")),
        (BODY | {"fail_status": 200}, ("/fail_status", "not_one_of")),
        (BODY | {"fail_status": "409"}, ("/fail_status", "not_a_number")),
        (BODY | {"fail_status": True}, ("/fail_status", "not_a_number")),
    ],
)
def test_a_wrong_request_points_to_what_is_wrong(body, expected):
    assert refusals(body) == [expected]


@pytest.mark.parametrize(
    ("rule", "pointer", "code"),
    [
        ({}, "/metric", "missing"),
        ({"min": 0.5}, "/metric", "missing"),
        ({"metric": "auc", "min": 0.5}, "/metric", "not_one_of"),
        ({"metric": ["roc"], "min": 0.5}, "/metric", "not_one_of"),
        ({"metric": "roc"}, "", "missing"),
        ({"metric": "roc", "confidence": 0.9}, "", "missing"),
        ({"metric": "roc", "min": 0.5, "max": 0.9}, "/max", "exclusive"),
        ({"metric": "roc", "max": 0.9, "max_drop": 0.1}, "/max_drop", "exclusive"),
        ({"metric": "roc", "min": 0.5, "max": 0.9, "max_drop": 0.1}, "/max", "exclusive"),
        ({"metric": "roc", "min": 1.1}, "/min", "out_of_range"),
        ({"metric": "roc", "min": -0.1}, "/min", "negative"),
        ({"metric": "roc", "max": -5e-324}, "/max", "negative"),
        ({"metric": "roc", "max": "0.5"}, "/max", "not_a_number"),
        ({"metric": "roc", "min": True}, "/min", "not_a_number"),
        ({"metric": "roc", "max_drop": 1.1}, "/max_drop", "out_of_range"),
        ({"metric": "roc", "max_drop": -1.1}, "/max_drop", "out_of_range"),
        ({"metric": "roc", "min": 0.5, "at": 0.5}, "/at", "exclusive"),
        ({"metric": "roc", "min": 0.5, "at_threshold": 0.5}, "/at_threshold", "exclusive"),
        ({"metric": "tpr_at_fpr", "min": 0.5}, "/at", "missing"),
        ({"metric": "tpr_at_fpr", "min": 0.5, "at_threshold": 0.5}, "/at", "missing"),
        ({"metric": "tpr_at_fpr", "min": 0.5, "at": 0.5, "at_threshold": 0.5}, "/at_threshold", "exclusive"),
        ({"metric": "tpr_at_fpr", "min": 0.5, "at": 1.5}, "/at", "out_of_range"),
        ({"metric": "precision_at_recall", "min": 0.5, "at": -0.5}, "/at", "negative"),
        ({"metric": "precision", "min": 0.5}, "/at_threshold", "missing"),
        ({"metric": "recall", "min": 0.5, "at": 0.5}, "/at", "exclusive"),
        ({"metric": "fpr", "max": 0.5, "at": 0.5, "at_threshold": 0.5}, "/at", "exclusive"),
        ({"metric": "fpr", "max": 0.5, "at_threshold": "low"}, "/at_threshold", "not_a_number"),
        ({"metric": "jaccard", "min": 0.5}, "/at", "missing"),
        ({"metric": "jaccard", "min": 0.5, "at_threshold": 0.5}, "/at", "missing"),
        ({"metric": "roc", "min": 0.5, "confidence": 0}, "/confidence", "out_of_range"),
        ({"metric": "roc", "min": 0.5, "confidence": 1}, "/confidence", "out_of_range"),
        ({"metric": "roc", "min": 0.5, "confidence": 95}, "/confidence", "out_of_range"),
        ({"metric": "roc_hull", "min": 0.5, "confidence": 0.9}, "/confidence", "exclusive"),
        ({"metric": "pr_trapezoid", "min": 0.5, "confidence": 0.9}, "/confidence", "exclusive"),
        ({"metric": "pr_achievable", "max": 0.5, "confidence": 0.9}, "/confidence", "exclusive"),
        ({"metric": "roc", "max_drop": 0.1, "prove": "drop"}, "/prove", "exclusive"),
        ({"metric": "roc", "min": 0.1, "confidence": 0.9, "prove": "drop"}, "/prove", "exclusive"),
        ({"metric": "roc", "max_drop": 0.1, "confidence": 0.9, "prove": True}, "/prove", "not_one_of"),
        ({"metric": "roc", "max_drop": 0.1, "confidence": 0.9, "prove": "rise"}, "/prove", "not_one_of"),
        ({"metric": "roc", "min": 0.5, "level": 0.9}, "/level", "unknown_field"),
        ({"metric": "roc", "min": 0.5, "_schema": 0.9}, "/_schema", "unknown_field"),
        ({"metric": "roc", "min": 0.5, "level": None}, "/level", "unknown_field"),
    ],
)
def test_a_rule_is_checked(rule, pointer, code):
    expected = [(f"/rules/1{pointer}", code)]
    assert refusals(PAIR | {"rules": [DROP, rule]}) == expected
    assert refusals(CSV_BODY, content_type="text/csv", **TABLE | {"rules": json.dumps([DROP, rule])}) == expected


def test_a_drop_needs_a_baseline():
    assert refusals(NEW | {"rules": [ROC, DROP]}) == [("/rules/1/max_drop", "missing")]
    assert refusals(NEW | {"rules": [DROP, ROC], "baseline": None}) == [("/rules/0/max_drop", "missing")]
    query = {"scores": "new", "rules": json.dumps([ROC, DROP])}
    assert refusals(CSV_BODY, content_type="text/csv", **query) == [("/rules/1/max_drop", "missing")]


@pytest.mark.parametrize(
    ("baseline", "pointer", "code"),
    [
        ({}, "", "missing"),
        ({"scores": OLD["scores"]}, "/labels", "missing"),
        ({"labels": LABELS}, "/scores", "missing"),
        (OLD | {"counts": COUNTS}, "/scores", "exclusive"),
        (OLD | {"name": "old"}, "/name", "unknown_field"),
        (OLD | {"rules": [ROC]}, "/rules", "unknown_field"),
        (OLD | {"baseline": OLD}, "/baseline", "unknown_field"),
        (OLD | {"foo": None}, "/foo", "unknown_field"),
        (OLD | {"rules": []}, "/rules", "unknown_field"),
        (OLD | {"scores": [1, 2, 3, 4, 5, "6"]}, "/scores/5", "not_a_number"),
        (OLD | {"scores": [1, 2]}, "/labels", "lengths_differ"),
        (OLD | {"labels": [0] * 6}, "/labels", "one_class"),
        (OLD | {"labels": [0, 1, 2, 0, 0, 0]}, "/labels/2", "not_a_label"),
        (OLD | {"weights": [1, 1, 1, -1, 1, 1]}, "/weights/3", "negative"),
        (OLD | {"positive_label": "1"}, "/labels", "one_class"),
        (OLD | {"lower_is_positive": 0}, "/lower_is_positive", "not_a_boolean"),
        ({"counts": COUNTS | {"tp": [1, 4]}}, "/counts/tp/1", "contradicting_totals"),
        ({"counts": COUNTS | {"fp": None}}, "/counts/fp", "missing"),
        ({"counts": COUNTS | {"positives": 1e200}}, "/counts/positives", "total_out_of_range"),
        ({"counts": {"tp": [0], "fn": [0], "fp": [1], "negatives": 3}}, "/counts", "total_out_of_range"),
        ({"counts": [1]}, "/counts", "not_an_object"),
        ({"counts": COUNTS | {"threshold": [0.1, 0.2]}}, "/counts/threshold/1", "rising_thresholds"),
    ],
)
def test_a_baseline_is_checked_as_any_evaluation(baseline, pointer, code):
    assert refusals(NEW | {"baseline": baseline, "rules": [DROP]}) == [(f"/baseline{pointer}", code)]


def test_rising_thresholds_of_either():
    rising = {"counts": COUNTS | {"threshold": [0.1, 0.2]}}
    assert refusals(rising | {"rules": [ROC]}) == [("/counts/threshold/1", "rising_thresholds")]
    assert refusals(rising | {"baseline": OLD, "rules": [ROC]}) == [("/counts/threshold/1", "rising_thresholds")]
    assert ask(rising | {"lower_is_positive": True, "rules": [ROC]}).status == 200
    falling = {"counts": COUNTS | {"threshold": [0.2, 0.1]}}
    low = NEW | {"lower_is_positive": True, "rules": [ROC]}
    assert refusals(low | {"baseline": falling}) == [("/baseline/counts/threshold/1", "rising_thresholds")]
    assert ask(low | {"baseline": falling | {"lower_is_positive": False}}).status == 200


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"labels": [1, 0, 1, 0, 1, 0]}, ("/baseline/labels/3", "not_paired")),
        ({"labels": [not label for label in LABELS]}, ("/baseline/labels/0", "not_paired")),
        ({"weights": [1, 1, 2, 1, 1, 1]}, ("/baseline/weights/2", "not_paired")),
        ({"scores": [1, 2], "labels": [1, 0]}, ("/paired", "not_paired")),
        ({"scores": None, "labels": None, "counts": COUNTS}, ("/paired", "not_paired")),
    ],
)
def test_what_is_no_pair(change, expected):
    baseline = OLD | change
    assert refusals(PAIR | {"baseline": baseline}) == [expected]
    assert ask(PAIR | {"baseline": baseline, "paired": False}).status == 200


def test_counts_are_no_pair():
    body = {"counts": COUNTS, "baseline": OLD, "paired": True, "rules": [DROP]}
    assert refusals(body) == [("/paired", "not_paired")]
    weights = PAIR | {"weights": [1, 1, 1, 1, 1, 3], "baseline": OLD | {"weights": [1] * 6}}
    assert refusals(weights) == [("/baseline/weights/5", "not_paired")]


@pytest.mark.parametrize("absent", [{}, {"weights": None}, {"weights": []}])
def test_weights_of_one_side_alone_are_to_blame(absent):
    """Not those that nobody gave."""
    weights = {"weights": [1, 3, 1, 1, 1, 1]}
    assert refusals(PAIR | weights | {"baseline": OLD | absent}) == [("/weights/1", "not_paired")]
    assert refusals(PAIR | absent | {"baseline": OLD | weights}) == [("/baseline/weights/1", "not_paired")]


def test_several_wrong_values_are_told_at_once():
    rules = [{"metric": "auc"}, ROC, {"metric": "roc", "min": 2}, {"metric": "roc", "foo": 1}]
    assert refusals(NEW | {"rules": rules, "baseline": {"scores": "x"}, "fail_status": 1, "bar": 2}) == [
        ("/bar", "unknown_field"),
        ("/baseline/scores", "not_a_column"),
        ("/fail_status", "not_one_of"),
        ("/rules/0/metric", "not_one_of"),
        ("/rules/2/min", "out_of_range"),
        ("/rules/3/foo", "unknown_field"),
    ]


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"baseline_scores": "older"}, ("/baseline_scores", "missing")),
        ({"scores": "newer"}, ("/scores", "missing")),
        ({"labels": "class"}, ("/labels", "missing")),
        ({"weights": "w"}, ("/weights", "missing")),
        ({"rules": "roc"}, ("/rules", "not_json")),
        ({"rules": "[]"}, ("/rules", "missing")),
        ({"rules": '{"metric": "roc"}'}, ("/rules", "not_a_list")),
        ({"rules": '[{"metric": "roc", "min": NaN}]'}, ("/rules", "not_json")),
        ({"rules": '[{"metric": "roc", "min": -1e999}]'}, ("/rules/0/min", "not_finite")),
        ({"intervals": "0.9"}, ("/intervals", "not_an_object")),
        ({"intervals": '{"seed": -1}'}, ("/intervals/seed", "out_of_range")),
        ({"paired": "yes"}, ("/paired", "not_json")),
        ({"paired": "1"}, ("/paired", "not_a_boolean")),
        ({"fail_status": "400"}, ("/fail_status", "not_one_of")),
        ({"baseline": "{}"}, ("/baseline", "unknown_field")),
        ({"include": "auc"}, ("/include", "unknown_field")),
        ({"positives": "3"}, ("/positives", "exclusive")),
        ({"positive_label": "2"}, ("/labels", "one_class")),
    ],
)
def test_a_wrong_query_points_to_what_is_wrong(change, expected):
    assert refusals(CSV_BODY, content_type="text/csv", **TABLE | change) == [expected]


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        ("a,b/c,y,w\n1,1,1,1\n2,2,x,1\n", ("/y/1", "not_a_label")),
        ("a,b/c,y,w\n1,1,1,1\n2,2,1,1\n", ("/y", "one_class")),
        ("a,b/c,y,w\n1,1,1,1\n2,2,0,-1\n", ("/w/1", "negative")),
        ("a,b/c,y,w\n1,1,1,1e300\n2,2,0,1\n", ("/w", "total_out_of_range")),
        ("a,b/c,y,w\n1,1,1,1\n2,x,0,1\n", ("/b~1c/1", "not_a_number")),
        ("a,b/c,y,w\nnan,1,1,1\n2,2,0,1\n", ("/a/0", "not_finite")),
        ("a,b/c,y,w\n", ("", "no_rows")),
        ("a,b/c,y,w,a\n1,1,1,1,1\n2,2,0,1,1\n", ("/a", "duplicate")),
    ],
)
def test_what_is_wrong_in_a_column_is_told_once(table, expected):
    options = {"scores": "a", "baseline_scores": "b/c", "labels": "y", "weights": "w", "rules": json.dumps([DROP])}
    assert refusals(table, content_type="text/csv", **options) == [expected]


def test_an_answer_has_no_tables():
    assert refusals(BODY, table="checks") == [("/table", "exclusive")]
    assert refusals(BODY, accept="text/markdown", table="checks") == [("/table", "exclusive")]


@pytest.mark.parametrize(
    ("value", "pointer"),
    [
        ('"rules": [{"metric": "roc", "min": NaN}]', None),
        ('"rules": [{"metric": "roc", "min": 1e400}]', "/rules/0/min"),
        ('"rules": [{"metric": "roc", "min": 0.5, "min": 0.4}]', None),
        ('"rules": [], "baseline": {"scores": [1, -1e400]}', "/baseline/scores/1"),
    ],
)
def test_json_is_strict_at_every_depth(value, pointer):
    result = ask(f'{{"scores": [1, 0], "labels": [1, 0], {value}}}')
    problem = json.loads(result.body)
    assert (result.status, problem["type"]) == (400, "/problems/malformed_body")
    assert [error["pointer"] for error in problem.get("errors", [])] == ([] if pointer is None else [pointer])


def test_limits_hold_for_either():
    longer = {"scores": [*OLD["scores"], 0.5], "labels": [*LABELS, 1]}
    for body in (NEW | {"baseline": longer}, longer | {"baseline": NEW}):
        result = ask(body | {"rules": [DROP]}, limits=Limits(max_rows=6, max_interpolated_rows=1))
        assert (result.status, json.loads(result.body)["type"]) == (413, "/problems/too_many_rows")
    assert (
        ask(NEW | {"baseline": OLD, "rules": [DROP]}, limits=Limits(max_rows=6, max_interpolated_rows=1)).status == 200
    )
