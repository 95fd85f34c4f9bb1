"""Errors in a table or in its query; the pointer has the table's own column names."""

from __future__ import annotations

import json

import pytest

from service.answer import answer
from service.operations import OPERATIONS
from service.request import Request
from tests.refusals.places import COLUMNS, DROP, EVALUATING, QUERIES, TABLE
from tests.support import asking

COUNTS_TABLE = "tp,fp,threshold\n1,1,1\n2,2,2\n"
GROUPS_TABLE = "score,positives,negatives\n.9,2,0\n.1,0,2\n"
TOTALS = {"positives": "2", "negatives": "2"}

ALONE = [operation for operation in EVALUATING if operation != "comparisons"]
"""Operations of one evaluation, and perhaps a baseline."""

COUNTED = ["curves", "tradeoffs"]
"""Operations that read counts from a table."""


def refused(operation: str, table: str, /, **options: str) -> list[tuple[str, str]]:
    return sorted(asking.refusals(operation, table, content_type="text/csv", **QUERIES[operation] | options))


@pytest.mark.parametrize(
    ("options", "pointer", "code"),
    [
        ({"labels": "class"}, "/labels", "missing"),
        ({"weights": "w"}, "/weights", "missing"),
        ({"positive_label": "2"}, "/labels", "one_class"),
        ({"positive_label": "\udc80"}, "/labels", "one_class"),
        ({"lower_is_positive": "yes"}, "/lower_is_positive", "not_json"),
        ({"lower_is_positive": "1"}, "/lower_is_positive", "not_a_boolean"),
        ({"table": "points"}, "/table", "exclusive"),
        ({"evaluations": "[]"}, "/evaluations", "unknown_field"),
        ({"tuning": "{}"}, "/tuning", "unknown_field"),
        ({"baseline": "{}"}, "/baseline", "unknown_field"),
        ({"lambda": "0.5"}, "/lambda", "unknown_field"),
        ({"_schema": "1"}, "/_schema", "unknown_field"),
    ],
)
@pytest.mark.parametrize("operation", EVALUATING)
def test_a_query(operation: str, options: dict[str, str], pointer: str, code: str) -> None:
    assert refused(operation, TABLE, **options) == [(pointer, code)]


@pytest.mark.parametrize("operation", EVALUATING)
def test_options_of_other_operations_are_unknown(operation: str) -> None:
    others = {name for other in EVALUATING for name in OPERATIONS[other].parameters}
    for name in others - {*OPERATIONS[operation].parameters, *COLUMNS, "positives", "negatives"}:
        assert refused(operation, TABLE, **{name: "1"}) == [(f"/{name}", "unknown_field")]


@pytest.mark.parametrize("operation", EVALUATING)
def test_totals_go_with_counts(operation: str) -> None:
    code = "unknown_field" if operation == "comparisons" else "exclusive"
    for name, total in TOTALS.items():
        assert refused(operation, TABLE, **{name: total}) == [(f"/{name}", code)]


@pytest.mark.parametrize(
    ("operation", "options", "expected"),
    [
        *((operation, {"scores": "newer"}, ("/scores", "missing")) for operation in ALONE),
        ("comparisons", {"scores": "scores,newer"}, ("/scores", "missing")),
        ("comparisons", {"scores": ""}, ("/scores", "missing")),
        ("comparisons", {"scores": "scores"}, ("/scores", "wrong_length")),
        ("comparisons", {"scores": ",".join(["scores"] * 51)}, ("/scores", "wrong_length")),
        ("comparisons", {"scores": "scores,scores"}, ("/scores", "duplicate")),
        ("comparisons", {"scores": "scores,other,scores"}, ("/scores", "duplicate")),
        ("gates", {"baseline_scores": "older"}, ("/baseline_scores", "missing")),
        ("gates", {"rules": "[]"}, ("/rules", "missing")),
        ("gates", {"rules": "roc"}, ("/rules", "not_json")),
        ("gates", {"fail_status": "400"}, ("/fail_status", "not_one_of")),
        ("gates", {"paired": "yes"}, ("/paired", "not_json")),
        ("curves", {"include": "auc,all"}, ("/include/1", "not_one_of")),
        ("tradeoffs", {"indices": "f_measure,f1"}, ("/indices/1", "not_one_of")),
        ("comparisons", {"indices": ""}, ("/indices/0", "not_one_of")),
        ("tradeoffs", {"lambda_range": "0.2;0.8"}, ("/lambda_range", "not_json")),
        ("tradeoffs", {"lambda_range": "0.8,0.2"}, ("/lambda_range", "not_rising")),
        ("tradeoffs", {"at_lambda": "0.5,x"}, ("/at_lambda", "not_json")),
        ("tradeoffs", {"min_precision": "half"}, ("/min_precision", "not_json")),
        ("tradeoffs", {"min_precision": "1", "min_recall": "1"}, ("/min_precision", "no_row_meets")),
    ],
)
def test_a_query_of_one_operation(operation: str, options: dict[str, str], expected: tuple[str, str]) -> None:
    assert refused(operation, TABLE, **options) == [expected]


def test_a_drop_needs_a_baseline() -> None:
    query = {"rules": json.dumps([DROP])}
    found = asking.refusals("gates", TABLE, content_type="text/csv", **query)
    assert found == [("/rules/0/max_drop", "missing")]


SHARED = {"labels": "y", "weights": "w"}
OWN_NAMES = {
    "curves": {"scores": "b/c"},
    "tradeoffs": {"scores": "b/c"},
    "comparisons": {"scores": "a,b/c"},
    "gates": {"scores": "a", "baseline_scores": "b/c"},
    "plans": {"scores": "a", "baseline_scores": "b/c"},
}


@pytest.mark.parametrize(
    ("rows", "pointer", "code"),
    [
        ("1,1,1,1\n2,2,x,1\n", "/y/1", "not_a_label"),
        ("1,1,1,1\n2,2,1,1\n", "/y", "one_class"),
        ("1,1,1,1\n2,2,0,-1\n", "/w/1", "negative"),
        ("1,1,1,1\n2,2,0,inf\n", "/w/1", "not_finite"),
        ("1,1,1,1\n2,2,0,0\n", "/y", "one_class"),
        ("1,1,1,1e300\n2,2,0,1\n", "/w", "total_out_of_range"),
        ("1,1,1,1\n2,x,0,1\n", "/b~1c/1", "not_a_number"),
        ("1,1,1,1\n2,0x1,0,1\n", "/b~1c/1", "not_a_number"),
        ("1,1,1,1\n2,nan,0,1\n", "/b~1c/1", "not_finite"),
        ("", "", "no_rows"),
    ],
)
@pytest.mark.parametrize("operation", EVALUATING)
def test_a_wrong_column_is_reported_once(operation: str, rows: str, pointer: str, code: str) -> None:
    options = SHARED | OWN_NAMES[operation]
    assert refused(operation, f"a,b/c,y,w\n{rows}", **options) == [(pointer, code)]


@pytest.mark.parametrize("operation", EVALUATING)
def test_a_column_that_is_there_twice(operation: str) -> None:
    table = "a,b/c,y,w,b/c\n1,1,1,1,1\n2,2,0,1,1\n"
    assert refused(operation, table, **SHARED | OWN_NAMES[operation]) == [("/b~1c", "duplicate")]


@pytest.mark.parametrize(
    "operation", [pytest.param(each, marks=[pytest.mark.all] * (each != "gates")) for each in EVALUATING]
)
def test_a_table_of_very_many_columns(operation: str) -> None:
    for header in ("," * 200_000, "scores,labels" + "," * 200_000, '"\n",' * 300_000):
        assert refused(operation, header) == [("", "too_many_columns")]


@pytest.mark.parametrize("operation", COUNTED)
@pytest.mark.parametrize(
    ("table", "options", "pointer", "code"),
    [
        ("a,b\n1,2\n", {}, "", "missing"),
        (COUNTS_TABLE, TOTALS, "/threshold/1", "rising_thresholds"),
        ("tp,fp\n1,1\n-1,0\n", TOTALS, "/tp/1", "negative"),
        ("tp,fp\n1,1\n", TOTALS | {"negatives": "x"}, "/negatives", "not_json"),
        ("tp,fp\n1,1\n", TOTALS | {"negatives": "-1"}, "/negatives", "negative"),
        ("tp,fp,fn,tn\n1e300,1,0,2\n", {}, "", "total_out_of_range"),
        ("scores,labels,tp,fp\n.9,1,1,0\n.1,0,1,1\n", {}, "/scores", "exclusive"),
        (GROUPS_TABLE, {"weights": "score"}, "/weights", "exclusive"),
        (GROUPS_TABLE, {"positives": "2"}, "/positives", "missing"),
    ],
)
def test_counts(operation: str, table: str, options: dict[str, str], pointer: str, code: str) -> None:
    assert refused(operation, table, **options) == [(pointer, code)]


@pytest.mark.parametrize(
    ("table", "options", "expected"),
    [
        ("tp,fp,fn,tn\n1,0,1,2\n", {}, ("/scores", "missing")),
        ("tp,fp,fn,tn\n1,0,1,2\n", {"scores": "tp,fp"}, ("/labels", "missing")),
        ("scores,other\n1,1\n0,0\n", {}, ("/labels", "missing")),
        (f"a,{'b' * 101},labels\n1,0,1\n0,1,0\n", {"scores": f"a,{'b' * 101}"}, ("/scores", "wrong_length")),
        ("a,,labels\n1,0,1\n0,1,0\n", {"scores": "a,"}, ("/scores", "wrong_length")),
    ],
)
def test_a_comparison(table: str, options: dict[str, str], expected: tuple[str, str]) -> None:
    query = {"scores": "scores,other"} | options if options or "other" in table else {}
    assert asking.refusals("comparisons", table, content_type="text/csv", **query) == [expected]


def test_several_columns_may_be_wrong() -> None:
    table = "a,b,labels\n1,x,1\ny,0,2\n"
    assert refused("comparisons", table, scores="a,b") == [
        ("/a/1", "not_a_number"),
        ("/b/0", "not_a_number"),
        ("/labels/1", "not_a_label"),
    ]


def test_an_answer_of_a_gate_has_no_tables() -> None:
    for accept in ("application/json", "text/markdown"):
        found = asking.refusals(
            "gates", TABLE, content_type="text/csv", accept=accept, table="checks", **QUERIES["gates"]
        )
        assert found == [("/table", "exclusive")]


def test_a_parameter_that_is_given_twice() -> None:
    twice = Request("curves", "/v1/curves", "text/csv", "text/csv", (("keep", "all"), ("keep", "hull")), TABLE.encode())
    (error,) = json.loads(answer(twice, asking.LIMITS).body)["errors"]
    assert (error["pointer"], error["code"]) == ("/keep", "duplicate")
