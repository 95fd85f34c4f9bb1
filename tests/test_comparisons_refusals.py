"""POST /v1/comparisons from bytes to bytes: what is refused, and where the pointer points."""

import json
from functools import partial

import pytest

from service.wire.limits import Limits
from tests import asking

LABELS = [1, 0, 1, 1, 0, 0]
OLD = {"name": "old", "scores": [0.9, 0.7, 0.7, 0.5, 0.3, 0.2], "labels": LABELS}
NEW = {"name": "new", "scores": [0.8, 0.9, 0.7, 0.6, 0.3, 0.1], "labels": LABELS}
COUNTS = {"tp": [1, 2], "fp": [0, 1], "positives": 3, "negatives": 3}
COUNTED = {"name": "counted", "counts": COUNTS}
BODY = {"evaluations": [OLD, NEW]}
CSV_BODY = "old,new,labels\n.9,.8,1\n.7,.9,0\n.7,.7,1\n.5,.6,1\n.3,.3,0\n.2,.1,0\n"

ask = partial(asking.ask, "comparisons")
refusals = partial(asking.refusals, "comparisons")


def refused(*evaluations):
    return refusals({"evaluations": list(evaluations)})


def evaluated(*evaluations):
    return asking.answered("comparisons", {"evaluations": list(evaluations)})["auc"]["name"]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("[]", ("", "not_an_object")),
        ("null", ("", "not_an_object")),
        ({}, ("/evaluations", "missing")),
        ({"indices": ["jaccard"]}, ("/evaluations", "missing")),
        ({"evaluations": None}, ("/evaluations", "missing")),
        ({"evaluations": []}, ("/evaluations", "missing")),
        ({"evaluations": {"0": OLD, "1": NEW}}, ("/evaluations", "not_a_list")),
        ({"evaluations": "old,new"}, ("/evaluations", "not_a_list")),
        ({"evaluations": 2}, ("/evaluations", "not_a_list")),
        ({"evaluations": True}, ("/evaluations", "not_a_list")),
        ({"evaluations": [OLD]}, ("/evaluations", "wrong_length")),
        ({"evaluations": [OLD | {"name": f"{k}"} for k in range(51)]}, ("/evaluations", "wrong_length")),
        ({"evaluations": [OLD, 1]}, ("/evaluations/1", "not_an_object")),
        ({"evaluations": [None, OLD]}, ("/evaluations/0", "not_an_object")),
        ({"evaluations": [[], OLD]}, ("/evaluations/0", "not_an_object")),
        ({"evaluations": [[OLD, NEW], OLD]}, ("/evaluations/0", "not_an_object")),
        (BODY | {"include": ["auc"]}, ("/include", "unknown_field")),
        (BODY | {"lambda_range": [0, 1]}, ("/lambda_range", "unknown_field")),
        (BODY | {"_schema": 1}, ("/_schema", "unknown_field")),
        (BODY | {"indices": "jaccard"}, ("/indices", "not_a_list")),
        (BODY | {"indices": ["jaccard", "f1"]}, ("/indices/1", "not_one_of")),
        (BODY | {"indices": [True]}, ("/indices/0", "not_one_of")),
    ],
)
def test_a_wrong_request_points_to_what_is_wrong(body, expected):
    assert refusals(body) == [expected]


def test_an_evaluation_beside_the_others_is_unknown():
    fields = [("/labels", "unknown_field"), ("/name", "unknown_field"), ("/scores", "unknown_field")]
    assert refusals(BODY | OLD) == fields


@pytest.mark.parametrize(
    ("name", "code"),
    [
        (None, "missing"),
        ([], "missing"),
        (1, "not_a_string"),
        (True, "not_a_string"),
        (["old"], "not_a_string"),
        ({"name": "old"}, "not_a_string"),
        ("", "wrong_length"),
        ("x" * 101, "wrong_length"),
        ("a\nb", "not_text"),
        ("\x00", "not_text"),
        ("\ud800", "not_text"),
    ],
)
def test_names(name, code):
    assert refused(OLD, NEW | {"name": name}) == [("/evaluations/1/name", code)]


def test_a_name_is_needed():
    assert refused({"scores": OLD["scores"], "labels": LABELS}, NEW) == [("/evaluations/0/name", "missing")]


def test_a_name_is_unique():
    assert refused(OLD, NEW, OLD) == [("/evaluations/2/name", "duplicate")]
    assert refused(OLD, COUNTED | {"name": "old"}) == [("/evaluations/1/name", "duplicate")]
    assert evaluated(OLD, OLD | {"name": "Old"}, OLD | {"name": "old "}) == ["old", "Old", "old "]


@pytest.mark.parametrize(
    ("change", "pointer", "code"),
    [
        ({"scores": None}, "/scores", "missing"),
        ({"labels": []}, "/labels", "missing"),
        ({"scores": None, "labels": None}, "", "missing"),
        ({"counts": COUNTS}, "/scores", "exclusive"),
        ({"foo": 1}, "/foo", "unknown_field"),
        ({"_schema": 1}, "/_schema", "unknown_field"),
        ({"indices": ["jaccard"]}, "/indices", "unknown_field"),
        ({"evaluations": [OLD, NEW]}, "/evaluations", "unknown_field"),
        ({"thresholds": [0.5]}, "/thresholds", "unknown_field"),
        ({"scores": 1}, "/scores", "not_a_column"),
        ({"scores": {"0": 1}}, "/scores", "not_a_column"),
        ({"scores": [1, 2, "3", 4, 5, 6]}, "/scores/2", "not_a_number"),
        ({"scores": [1, 2, 3, 4, 5, False]}, "/scores/5", "not_a_number"),
        ({"scores": [[1], 2, 3, 4, 5, 6]}, "/scores/0", "not_a_number"),
        ({"scores": [2**53 + 1, 2, 3, 4, 5, 6]}, "/scores/0", "not_exact"),
        ({"scores": [1, 2]}, "/labels", "lengths_differ"),
        ({"labels": [1, 0, 2, 1, 0, 0]}, "/labels/2", "not_a_label"),
        ({"labels": [1] * 6}, "/labels", "one_class"),
        ({"positive_label": "1"}, "/labels", "one_class"),
        ({"positive_label": [1]}, "/positive_label", "not_a_label"),
        ({"weights": [1, 1]}, "/weights", "lengths_differ"),
        ({"weights": [1, 1, -1, 1, 1, 1]}, "/weights/2", "negative"),
        ({"weights": [1e-160] * 6}, "/weights", "total_out_of_range"),
        ({"lower_is_positive": 0}, "/lower_is_positive", "not_a_boolean"),
    ],
)
def test_an_evaluation_is_checked_as_anywhere(change, pointer, code):
    assert refused(OLD, NEW, NEW | {"name": "third"} | change) == [(f"/evaluations/2{pointer}", code)]


@pytest.mark.parametrize(
    ("change", "pointer", "code"),
    [
        ({"tp": None}, "/tp", "missing"),
        ({"positives": None}, "/positives", "missing"),
        ({"foo": 1}, "/foo", "unknown_field"),
        ({"_schema": 1}, "/_schema", "unknown_field"),
        ({"tp": [1, 2, 3]}, "/fp", "lengths_differ"),
        ({"fp": [0, -1]}, "/fp/1", "negative"),
        ({"tp": [1, 4]}, "/tp/1", "contradicting_totals"),
        ({"fn": [2, 2]}, "/fn/1", "contradicting_totals"),
        ({"negatives": 0}, "/negatives", "total_out_of_range"),
        ({"negatives": True}, "/negatives", "not_a_number"),
        ({"threshold": [0.5]}, "/threshold", "lengths_differ"),
        ({"threshold": [0.1, 0.2]}, "/threshold/1", "rising_thresholds"),
    ],
)
def test_counts_are_checked_as_anywhere(change, pointer, code):
    wrong = COUNTED | {"counts": COUNTS | change}
    assert refused(OLD, wrong) == [(f"/evaluations/1/counts{pointer}", code)]
    assert refused(wrong, OLD) == [(f"/evaluations/0/counts{pointer}", code)]


def test_counts_that_are_no_object():
    assert refused(OLD, COUNTED | {"counts": [1]}) == [("/evaluations/1/counts", "not_an_object")]


def test_rising_thresholds_run_the_other_way_where_lower_is_positive():
    rising = {"name": "rising", "counts": COUNTS | {"threshold": [0.1, 0.2]}, "lower_is_positive": True}
    falling = rising | {"counts": COUNTS | {"threshold": [0.2, 0.1]}}
    assert evaluated(OLD, rising) == ["old", "rising"]
    assert refused(OLD, falling) == [("/evaluations/1/counts/threshold/1", "rising_thresholds")]


def test_the_first_whose_totals_differ_is_told():
    more_positives = {"name": "p", "counts": COUNTS | {"positives": 4}}
    more_negatives = {"name": "n", "counts": COUNTS | {"negatives": 4}}
    assert refused(OLD, more_positives) == [("/evaluations/1", "totals_differ")]
    assert refused(OLD, NEW, more_negatives, more_positives) == [("/evaluations/2", "totals_differ")]
    assert refused(OLD, NEW | {"weights": [1, 1, 1, 1, 1, 1 + 2**-50]}) == [("/evaluations/1", "totals_differ")]


def test_several_wrong_values_are_told_at_once():
    wrong = [OLD | {"foo": 1}, NEW | {"name": 1, "scores": "x"}, COUNTED | {"counts": {"tp": "x", "bar": 1}}]
    assert refusals({"evaluations": wrong, "indices": 1}) == [
        ("/evaluations/0/foo", "unknown_field"),
        ("/evaluations/1/name", "not_a_string"),
        ("/evaluations/1/scores", "not_a_column"),
        ("/evaluations/2/counts/bar", "unknown_field"),
        ("/evaluations/2/counts/tp", "not_a_column"),
        ("/indices", "not_a_list"),
    ]


@pytest.mark.parametrize(
    ("value", "pointers"),
    [
        ('"scores": [NaN, 0]', []),
        ('"scores": [1e400, 0]', ["/evaluations/0/scores/0"]),
        ('"scores": [1, 0], "scores": [1, 0]', []),
        ('"counts": {"tp": [1, -1e400]}', ["/evaluations/0/counts/tp/1"]),
        ('"counts": {"positives": 1e400}', ["/evaluations/0/counts/positives"]),
    ],
)
def test_json_is_strict_at_every_depth(value, pointers):
    result = ask(f'{{"evaluations": [{{"name": "a", "labels": [1, 0], {value}}}, {json.dumps(OLD)}]}}')
    problem = json.loads(result.body)
    assert (result.status, problem["type"]) == (400, "/problems/malformed_body")
    assert [error["pointer"] for error in problem.get("errors", [])] == pointers


def test_limits_are_told():
    for body in (BODY, {"evaluations": [COUNTED, OLD]}, {"evaluations": [OLD, COUNTED]}):
        result = ask(body, limits=Limits(max_rows=5, max_interpolated_rows=1))
        assert (result.status, json.loads(result.body)["type"]) == (413, "/problems/too_many_rows")


@pytest.mark.parametrize(
    ("table", "options", "expected"),
    [
        (CSV_BODY, {}, ("/scores", "missing")),
        (CSV_BODY, {"scores": "old"}, ("/scores", "wrong_length")),
        (CSV_BODY, {"scores": ",".join(["old"] * 51)}, ("/scores", "wrong_length")),
        (CSV_BODY, {"scores": "old,old"}, ("/scores", "duplicate")),
        (CSV_BODY, {"scores": "old,new,old"}, ("/scores", "duplicate")),
        (CSV_BODY, {"scores": "old,newer"}, ("/scores", "missing")),
        (CSV_BODY, {"scores": ""}, ("/scores", "missing")),
        (CSV_BODY, {"scores": "old,new", "labels": "class"}, ("/labels", "missing")),
        (CSV_BODY, {"scores": "old,new", "weights": "w"}, ("/weights", "missing")),
        (CSV_BODY, {"scores": "old,new", "positives": "3"}, ("/positives", "unknown_field")),
        (CSV_BODY, {"scores": "old,new", "evaluations": "[]"}, ("/evaluations", "unknown_field")),
        (CSV_BODY, {"scores": "old,new", "min_recall": "1"}, ("/min_recall", "unknown_field")),
        (CSV_BODY, {"scores": "old,new", "table": "auc"}, ("/table", "exclusive")),
        (CSV_BODY, {"scores": "old,new", "indices": "f1"}, ("/indices/0", "not_one_of")),
        (CSV_BODY, {"scores": "old,new", "lower_is_positive": "yes"}, ("/lower_is_positive", "not_json")),
        (CSV_BODY, {"scores": "old,new", "lower_is_positive": "1"}, ("/lower_is_positive", "not_a_boolean")),
        (CSV_BODY, {"scores": "old,new", "positive_label": "2"}, ("/labels", "one_class")),
        ("old,new\n1,1\n0,0\n", {"scores": "old,new"}, ("/labels", "missing")),
        ("old,new,labels\n", {"scores": "old,new"}, ("", "no_rows")),
        ("tp,fp,fn,tn\n1,0,1,2\n", {}, ("/scores", "missing")),
        ("tp,fp,fn,tn\n1,0,1,2\n", {"scores": "tp,fp"}, ("/labels", "missing")),
        ("old,new,old,labels\n1,1,1,1\n0,0,0,0\n", {"scores": "old,new"}, ("/old", "duplicate")),
    ],
)
def test_a_wrong_table_points_to_what_is_wrong(table, options, expected):
    assert refusals(table, content_type="text/csv", **options) == [expected]


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        ("a,b/c,y,w\n1,1,1,1\n2,2,x,1\n", ("/y/1", "not_a_label")),
        ("a,b/c,y,w\n1,1,1,1\n2,2,1,1\n", ("/y", "one_class")),
        ("a,b/c,y,w\n1,1,1,1\n2,2,0,-1\n", ("/w/1", "negative")),
        ("a,b/c,y,w\n1,1,1,1\n2,2,0,inf\n", ("/w/1", "not_finite")),
        ("a,b/c,y,w\n1,1,1,1\n2,2,0,0\n", ("/y", "one_class")),
        ("a,b/c,y,w\n1,1,1,1e300\n2,2,0,1\n", ("/w", "total_out_of_range")),
        ("a,b/c,y,w\n1,1,1,1\n2,x,0,1\n", ("/b~1c/1", "not_a_number")),
        ("a,b/c,y,w\nnan,1,1,1\n2,2,0,1\n", ("/a/0", "not_finite")),
    ],
)
def test_what_is_wrong_in_a_column_is_told_once(table, expected):
    options = {"scores": "a,b/c", "labels": "y", "weights": "w"}
    assert refusals(table, content_type="text/csv", **options) == [expected]


def test_several_columns_may_be_wrong():
    table = "a,b,labels\n1,x,1\ny,0,2\n"
    assert sorted(refusals(table, content_type="text/csv", scores="a,b")) == [
        ("/a/1", "not_a_number"),
        ("/b/0", "not_a_number"),
        ("/labels/1", "not_a_label"),
    ]


def test_columns_of_names_that_no_evaluation_has_are_refused():
    table = f"a,{'b' * 101},,labels\n1,0,1,1\n0,1,0,0\n"
    assert refusals(table, content_type="text/csv", scores=f"a,{'b' * 101}") == [("/scores", "wrong_length")]
    assert refusals(table, content_type="text/csv", scores="a,") == [("/scores", "wrong_length")]
