"""The one way through, from bytes to bytes: what is refused and where the pointer points, and what formats share."""

import json
from dataclasses import replace
from functools import partial
from random import Random

import pyarrow as pa
import pytest

from service.answer import Effort, Request, TooMuchWork, answer
from service.curves import errors
from service.wire.answers.answer_tables import TABLES
from service.wire.media_types import CSV, JSON
from service.wire.problems import MAX_ERRORS
from service.wire.requests.faults import FACT_CODES, FACT_POINTERS
from tests import asking
from tests.asking import LIMITS

SAMPLE = {"scores": [0.9, 0.8, 0.7, 0.6], "labels": [1, 0, 1, 0]}
COUNTS = {"tp": [5, 10], "fp": [5, 30], "positives": 20, "negatives": 2000}

ask = partial(asking.ask, "curves")
curves = partial(asking.answered, "curves")
refusals = partial(asking.refusals, "curves")


def test_every_fact_of_the_mathematics_has_a_code():
    facts = {
        fact
        for fact in vars(errors).values()
        if isinstance(fact, type) and issubclass(fact, errors.CurvesError) and fact is not errors.CurvesError
    }
    assert facts == set(FACT_CODES)
    assert facts > set(FACT_POINTERS)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ([], [("", "not_an_object")]),
        (SAMPLE | {"_schema": 1}, [("/_schema", "unknown_field")]),
        ({"counts": {"_schema": 1}}, [("/counts/_schema", "unknown_field")]),
        ("null", [("", "not_an_object")]),
        ({}, [("", "missing")]),
        ({"scores": [], "labels": []}, [("", "missing")]),
        ({"scores": [1]}, [("/labels", "missing")]),
        ({"labels": [1, 0]}, [("/scores", "missing")]),
        ({"weights": [1, 0]}, [("/scores", "missing")]),
        (SAMPLE | {"score": [1], "lambda": 1}, [("/lambda", "unknown_field"), ("/score", "unknown_field")]),
        (SAMPLE | {"scores": [1, 2, 3]}, [("/labels", "lengths_differ")]),
        (SAMPLE | {"weights": [1, 2, 3]}, [("/weights", "lengths_differ")]),
        (SAMPLE | {"scores": [1, 2, "3", 4]}, [("/scores/2", "not_a_number")]),
        (SAMPLE | {"scores": [1, 2, 3, True]}, [("/scores/3", "not_a_number")]),
        (SAMPLE | {"scores": 1}, [("/scores", "not_a_column")]),
        (SAMPLE | {"scores": {"0": 1}}, [("/scores", "not_a_column")]),
        (SAMPLE | {"scores": [1, 2, 3, 2**53 + 1]}, [("/scores/3", "not_exact")]),
        (SAMPLE | {"labels": [1, 0, 2, 0]}, [("/labels/2", "not_a_label")]),
        (SAMPLE | {"labels": [1, 1, 1, 1]}, [("/labels", "one_class")]),
        (SAMPLE | {"labels": [0, 0, 0, 0]}, [("/labels", "one_class")]),
        (SAMPLE | {"positive_label": "1"}, [("/labels", "one_class")]),
        (SAMPLE | {"positive_label": [1]}, [("/positive_label", "not_a_label")]),
        (SAMPLE | {"weights": [1, 0, 1, 0]}, [("/labels", "one_class")]),
        (SAMPLE | {"weights": [1, 1, -1, 1]}, [("/weights/2", "negative")]),
        (SAMPLE | {"weights": [1e-160, 1, 1e-160, 1]}, [("/weights", "total_out_of_range")]),
        (SAMPLE | {"weights": [1e308, 1, 1e308, 1]}, [("/weights", "total_out_of_range")]),
        (SAMPLE | {"lower_is_positive": 1}, [("/lower_is_positive", "not_a_boolean")]),
        (SAMPLE | {"keep": "some"}, [("/keep", "not_one_of")]),
        (SAMPLE | {"include": "auc"}, [("/include", "not_a_list")]),
        (SAMPLE | {"include": ["auc", "roc"]}, [("/include/1", "not_one_of")]),
        (SAMPLE | {"interpolation": 1}, [("/interpolation", "not_an_object")]),
        (SAMPLE | {"interpolation": {}}, [("/interpolation", "exclusive")]),
        (SAMPLE | {"interpolation": {"every": 1, "at_recall": [0.5]}}, [("/interpolation", "exclusive")]),
        (SAMPLE | {"interpolation": {"every": 0}}, [("/interpolation/every", "out_of_range")]),
        (SAMPLE | {"interpolation": {"every": "1"}}, [("/interpolation/every", "not_a_number")]),
        (SAMPLE | {"interpolation": {"every": 1e-9}}, [("/interpolation", "too_many_points")]),
        (SAMPLE | {"interpolation": {"at_recall": [0, 1.5]}}, [("/interpolation/at_recall/1", "out_of_range")]),
        (SAMPLE | {"interpolation": {"at_recall": [-0.5]}}, [("/interpolation/at_recall/0", "negative")]),
        (SAMPLE | {"thresholds": [0.5], "tuning": SAMPLE}, [("/thresholds", "exclusive")]),
        (SAMPLE | {"thresholds": [None]}, [("/thresholds/0", "not_a_number")]),
        (SAMPLE | {"tuning": {"scores": [1, 2], "labels": [1, 1]}}, [("/tuning/labels", "one_class")]),
        (SAMPLE | {"tuning": {"scores": [1, "2"], "labels": [1, 0]}}, [("/tuning/scores/1", "not_a_number")]),
        (SAMPLE | {"tuning": {"scores": [1, 2]}}, [("/tuning/labels", "missing")]),
        (SAMPLE | {"tuning": SAMPLE | {"lower_is_positive": True}}, [("/tuning", "exclusive")]),
        (SAMPLE | {"tuning": SAMPLE | {"keep": "all"}}, [("/tuning/keep", "unknown_field")]),
        (SAMPLE | {"counts": COUNTS}, [("/scores", "exclusive")]),
        ({"counts": COUNTS, "thresholds": [0.5]}, [("/thresholds", "exclusive")]),
        ({"counts": COUNTS, "tuning": SAMPLE}, [("/tuning", "exclusive")]),
        ({"counts": COUNTS, "weights": [1, 1]}, [("/weights", "exclusive")]),
        ({"counts": [1]}, [("/counts", "not_an_object")]),
        ({"counts": {"tp": [1]}}, [("/counts/fp", "missing")]),
        ({"counts": {"fp": [1]}}, [("/counts/tp", "missing")]),
        ({"counts": {"tp": [1], "fp": [1], "negatives": 2}}, [("/counts/positives", "missing")]),
        ({"counts": COUNTS | {"fp": [5, -1]}}, [("/counts/fp/1", "negative")]),
        ({"counts": COUNTS | {"fp": [5]}}, [("/counts/fp", "lengths_differ")]),
        ({"counts": COUNTS | {"fn": [5]}}, [("/counts/fn", "lengths_differ")]),
        ({"counts": COUNTS | {"threshold": [5]}}, [("/counts/threshold", "lengths_differ")]),
        ({"counts": COUNTS | {"threshold": [0.1, 0.2]}}, [("/counts/threshold/1", "rising_thresholds")]),
        ({"counts": COUNTS | {"tp": [5, 21]}}, [("/counts/tp/1", "contradicting_totals")]),
        ({"counts": COUNTS | {"fn": [15, 11]}}, [("/counts/fn/1", "contradicting_totals")]),
        ({"counts": COUNTS | {"positives": 0}}, [("/counts/positives", "total_out_of_range")]),
        ({"counts": COUNTS | {"positives": -1}}, [("/counts/positives", "negative")]),
        ({"counts": COUNTS | {"negatives": 1e151}}, [("/counts/negatives", "total_out_of_range")]),
        (
            {"counts": {"tp": [1e308], "fn": [1e308], "fp": [1], "negatives": 2}},
            [("/counts", "total_out_of_range")],  # the total was not given
        ),
        (
            {"counts": {"tp": [2**53], "fn": [1], "fp": [1], "positives": 2**53, "negatives": 2}},
            [("/counts/fn/0", "contradicting_totals")],
        ),
    ],
)
def test_a_wrong_request_points_to_what_is_wrong(body, expected):
    assert refusals(json.dumps(body) if isinstance(body, list) else body) == expected


def test_many_negatives_and_few_positives_have_a_default_interpolation():
    random = Random(1)
    rows = 120_000
    labels = [1] * 500 + [0] * (rows - 500)
    sample = {"scores": [random.random() for _ in labels], "labels": labels, "include": ["interpolated_pr"]}
    assert curves(sample)["interpolation"] == {"every": 2}
    weights = [2.0] * 500 + [1.5] * (rows - 500)
    assert curves(sample | {"weights": weights})["interpolation"] == {"every": 2}
    few = {key: column[:20_000] for key, column in sample.items()}
    assert curves(few)["interpolation"] == {"every": 1}


def test_an_area_is_no_more_than_one_nor_than_the_achievable():
    counts = {
        "tp": [7.752806569175729e-54, 5.285748419028831e75, 5.381809577430058e85],
        "fp": [2.2925883093570365e20, 4.3381818172257323e52, 4.216882423488078e57],
        "positives": 5.381809577430058e85,
        "negatives": 4.216882423488078e57,
    }
    areas = curves({"counts": counts})["auc"]
    assert areas["pr"] <= areas["pr_achievable"] <= 1


def test_minus_zero_is_zero():
    body = {"scores": [-0.0, 0.0, 1], "labels": [0, 1, 1], "interpolation": {"at_recall": [-0.0]}}
    assert b"-0" not in ask(body).body


def test_a_table_of_very_many_columns_is_refused():
    for header in (b"," * 200_000, b"scores,labels" + b"," * 200_000, b'"\n",' * 300_000):
        assert refusals(header.decode(), content_type="text/csv") == [("", "too_many_columns")]


def test_several_wrong_values_are_told_at_once():
    assert refusals(SAMPLE | {"keep": 1, "lower_is_positive": "x", "weights": "y"}) == [
        ("/keep", "not_one_of"),
        ("/lower_is_positive", "not_a_boolean"),
        ("/weights", "not_a_column"),
    ]


def test_the_list_of_errors_is_capped_and_names_are_cut():
    assert len(refusals({f"k{number}": 0 for number in range(1000)})) == MAX_ERRORS
    ((pointer, code),) = refusals(SAMPLE | {"x" * 5000: 1})
    assert code == "unknown_field"
    assert len(pointer) <= 101


def test_a_name_that_is_no_text_is_still_answered():
    assert refusals('{"\\ud800": 1}') == [("/?", "unknown_field")]


@pytest.mark.parametrize("value", [None, []])
def test_an_unknown_field_is_refused_whatever_it_holds(value):
    for body, pointer in (
        ({"foo": value}, "/foo"),
        ({"tuning": SAMPLE | {"foo": value}}, "/tuning/foo"),
        ({"interpolation": {"every": 1, "foo": value}}, "/interpolation/foo"),
        ({"operating_points": [{"metric": "jaccard", "at": 0.5, "foo": value}]}, "/operating_points/0/foo"),
    ):
        assert refusals(SAMPLE | body) == [(pointer, "unknown_field")]
    assert refusals({"counts": COUNTS | {"foo": value}}) == [("/counts/foo", "unknown_field")]


def test_errors_are_told_in_the_order_of_rows():
    """The first ones, by number and not by letter, where there are more than a problem lists."""
    points = [{"metric": "jaccard", "at": 2 if row < 25 else 0.5} for row in range(30)]
    expected = [(f"/operating_points/{row}/at", "out_of_range") for row in range(MAX_ERRORS)]
    assert refusals(SAMPLE | {"operating_points": points}) == expected


def test_null_and_the_empty_list_read_as_absent():
    absent = {"weights": None, "positive_label": [], "counts": None, "include": [], "keep": None, "interpolation": []}
    absent |= {"thresholds": [], "tuning": None, "lower_is_positive": None}
    assert curves(SAMPLE | absent) == curves(SAMPLE)


def test_labels_of_every_kind_give_one_answer():
    expected = curves(SAMPLE)
    assert curves(SAMPLE | {"labels": [True, False, True, False]}) == expected
    assert curves(SAMPLE | {"labels": [1, -1, 1, -1]}) == expected
    assert curves(SAMPLE | {"labels": ["a", "b", "a", "b"], "positive_label": "a"}) == expected
    assert curves(SAMPLE | {"labels": [0, 1, 0, 1], "positive_label": 0}) == expected


def test_a_tuning_sample_inherits_what_labels_and_scores_mean():
    sample = {"scores": [0.1, 0.2, 0.3, 0.4], "labels": ["a", "b", "a", "b"]}
    meaning = {"positive_label": "a", "lower_is_positive": True}
    inherited = curves(sample | meaning | {"tuning": sample})
    assert inherited == curves(sample | meaning | {"tuning": sample | meaning})
    assert inherited["selected_thresholds"] == [0.1, 0.3, 0.4]
    assert [warning["code"] for warning in inherited["warnings"]] == ["reduced_table"]


def test_counts_may_run_the_other_way():
    counts = COUNTS | {"threshold": [0.1, 0.2]}
    assert curves({"counts": counts, "lower_is_positive": True})["points"]["threshold"] == [None, 0.1, 0.2, None]
    falling = COUNTS | {"threshold": [0.2, 0.1]}
    assert refusals({"counts": falling, "lower_is_positive": True}) == [("/counts/threshold/1", "rising_thresholds")]


def test_include_chooses_what_is_answered():
    everything = curves(SAMPLE)
    assert list(everything) == [
        "positives", "negatives", "auc", "points", "interpolation", "interpolated_pr", "achievable_pr", "warnings",
    ]  # fmt: skip
    assert list(curves(SAMPLE | {"include": ["points", "points"]})) == ["positives", "negatives", "points", "warnings"]
    for name in ("auc", "points", "interpolated_pr", "achievable_pr"):
        assert curves(SAMPLE | {"include": [name]})[name] == everything[name]


def test_a_set_that_is_no_sweep_has_no_curve():
    result = curves({"counts": {"tp": [3, 1], "fp": [1, 2], "positives": 4, "negatives": 4}})
    assert {name for name, area in result["auc"].items() if area is not None} == {"roc_hull", "pr_achievable"}
    assert result["interpolated_pr"] is None
    assert [warning["code"] for warning in result["warnings"]] == ["not_a_sweep"]


def test_limits_are_told():
    too_many = ask(SAMPLE, limits=replace(LIMITS, max_rows=3))
    assert (too_many.status, json.loads(too_many.body)["type"]) == (413, "/problems/too_many_rows")
    tuned = ask(SAMPLE | {"tuning": {"scores": [1] * 5, "labels": [1, 0, 1, 0, 1]}}, limits=replace(LIMITS, max_rows=4))
    assert tuned.status == 413
    counted = ask({"counts": COUNTS}, limits=replace(LIMITS, max_rows=1))
    assert counted.status == 413
    limit = replace(LIMITS, max_interpolated_rows=10)
    assert refusals({"counts": COUNTS}, limits=limit) == [("/interpolation", "too_many_points")]


def test_csv_and_json_give_the_same_answer():
    table = "id,score,label,weight\r\nx,.9,yes,1\r\n,0.8,no,2\r\nz,+0.7,yes,0.5\r\nz, 6e-1,no,1\r\n"
    options = {"scores": "score", "labels": "label", "weights": "weight", "positive_label": "yes"}
    options |= {"include": '["auc","points"]', "keep": "corners", "lower_is_positive": "true"}
    expected = SAMPLE | {"weights": [1, 2, 0.5, 1], "include": ["auc", "points"], "keep": "corners"}
    expected |= {"lower_is_positive": True}
    assert curves(table, content_type="text/csv", **options) == curves(expected)


def test_counts_in_csv():
    expected = curves({"counts": COUNTS, "interpolation": {"at_recall": [0.5]}})
    options = {"positives": "20", "negatives": "2000", "interpolation": '{"at_recall": [0.5]}'}
    assert curves("fp,tp\n30,10\n5,5\n", content_type="text/csv", **options) == expected
    complete = "tp,fp,fn,tn,threshold\n10,30,10,1970,0.1\n5,5,15,1995,\n"
    assert curves(complete, content_type="text/csv")["auc"] == expected["auc"]


def test_scores_that_are_named_come_before_counts():
    table = "scores,labels,tp,fp\n.9,1,1,0\n.1,0,1,1\n"
    assert refusals(table, content_type="text/csv") == [("/scores", "exclusive")]
    assert curves(table, content_type="text/csv", scores="scores")["positives"] == 1


@pytest.mark.parametrize(
    ("table", "options", "expected"),
    [
        ("a,b\n1,2\n", {}, [("", "missing")]),
        ("scores,labels\n", {}, [("", "no_rows")]),
        ("scores,labels\n1,1\nnan,0\n", {}, [("/scores/1", "not_finite")]),
        ("a/b,labels\n1,1\n0x1,0\n", {"scores": "a/b"}, [("/a~1b/1", "not_a_number")]),
        ("tp,fp\n1,1\n-1,0\n", {"positives": "2", "negatives": "2"}, [("/tp/1", "negative")]),
        (
            "tp,fp,threshold\n1,1,1\n2,2,2\n",
            {"positives": "2", "negatives": "2"},
            [("/threshold/1", "rising_thresholds")],
        ),
        ("tp,fp\n1,1\n", {"positives": "2", "negatives": "x"}, [("/negatives", "not_json")]),
        ("tp,fp\n1,1\n", {"positives": "2", "negatives": "-1"}, [("/negatives", "negative")]),
        ("scores,labels\n1,1\n0,0\n", {"positives": "2"}, [("/positives", "exclusive")]),
        ("scores,labels\n1,1\n0,0\n", {"weights": "w"}, [("/weights", "missing")]),
        ("scores,labels\n1,1\n0,0\n", {"tuning": "{}"}, [("/tuning", "unknown_field")]),
        ("scores,labels\n1,1\n0,0\n", {"table": "points"}, [("/table", "exclusive")]),
        ("scores,labels\n1,1\n0,0\n", {"interpolation": "every"}, [("/interpolation", "not_json")]),
        ("tp,fp,fn,tn\n1e300,1,0,2\n", {}, [("", "total_out_of_range")]),
        ("scores,labels\n1,1\n0,0\n", {"thresholds": "[1,1e400]"}, [("/thresholds/1", "not_finite")]),
        ("scores,labels\n1,1\n0,0\n", {"thresholds": "[1,NaN]"}, [("/thresholds", "not_json")]),
        ("scores,labels\n1,1\n0,0\n", {"interpolation": '{"every": 1e400}'}, [("/interpolation/every", "not_finite")]),
        ("scores,labels\n1,1\n0,0\n", {"intervals": '{"level": 1e999}'}, [("/intervals/level", "not_finite")]),
        ("scores,labels\n1,1\n0,0\n", {"include": "auc,all"}, [("/include/1", "not_one_of")]),
        ("scores,labels\n1,1\n0,0\n", {"lower_is_positive": "yes"}, [("/lower_is_positive", "not_json")]),
    ],
)
def test_a_wrong_table_points_to_what_is_wrong(table, options, expected):
    assert refusals(table, content_type="text/csv", **options) == expected


def test_a_parameter_that_is_given_twice_is_refused():
    request = Request(
        "curves",
        "/v1/curves",
        "text/csv",
        "text/csv",
        (("keep", "all"), ("keep", "hull")),
        b"scores,labels\n1,1\n0,0\n",
    )
    assert json.loads(answer(request, LIMITS).body)["errors"][0]["code"] == "duplicate"


def test_include_in_a_query_may_be_names_between_commas():
    table = "scores,labels\n1,1\n0,0\n"
    assert "auc" in curves(table, content_type="text/csv", include="auc, points")


@pytest.mark.parametrize("name", TABLES["curves"])
def test_a_csv_answer_is_one_table_of_the_json_answer(name):
    body = {"counts": COUNTS | {"threshold": [0.5, None]}, "interpolation": {"every": 3}}
    body |= {"intervals": {}, "operating_points": [{"metric": "tpr_at_fpr", "at": 0.001}]}
    result = ask(body, accept="text/csv", table=name)
    assert (result.status, result.media_type, result.headers) == (200, "text/csv", {"Rocpr-Warnings": "[]"})
    found, expected = asking.read_csv(result.body.decode()), asking.tables(curves(body))[name]
    assert list(found) == list(expected)
    assert found == expected
    assert all(found.values())


def test_a_csv_answer_carries_its_warnings():
    no_sweep = {"counts": {"tp": [3, 1], "fp": [1, 2], "positives": 4, "negatives": 4}}
    counts = {"tp": pa.int64(), "fp": pa.int64(), "recall": pa.float64(), "precision": pa.float64()}
    typed = ask(no_sweep, accept="application/vnd.apache.arrow.stream", table="interpolated_pr").body
    assert pa.ipc.open_stream(typed).schema == pa.schema(counts)
    result = ask(no_sweep, accept="text/csv", table="interpolated_pr")
    assert result.body == b'"tp","fp","recall","precision"\n'
    assert [warning["code"] for warning in json.loads(result.headers["Rocpr-Warnings"])] == ["not_a_sweep"]
    assert ask(no_sweep, accept="text/csv", table="auc").body.endswith(b"\n,0.75,,,0.7116433975699932,\n")


def test_a_csv_answer_is_points_unless_a_table_is_named():
    assert ask(SAMPLE, accept="text/csv").body == ask(SAMPLE, accept="text/csv", table="points").body
    assert refusals(SAMPLE, accept="text/csv", table="all") == [("/table", "not_one_of")]


@pytest.mark.parametrize("media_type", ["text/csv", "application/vnd.apache.arrow.stream"])
@pytest.mark.parametrize(
    ("include", "first"),
    [
        (["auc"], "auc"),
        (["achievable_pr", "interpolated_pr"], "interpolated_pr"),
        (["auc", "points"], "points"),
        ([], "points"),
    ],
)
def test_unless_a_table_is_named_the_first_that_is_included_is_the_answer(media_type, include, first):
    body = SAMPLE | {"include": include}
    result = ask(body, accept=media_type)
    assert result.status == 200
    assert result.body == ask(body, accept=media_type, table=first).body
    assert result.body == ask(SAMPLE, accept=media_type, table=first).body


def test_a_table_that_include_leaves_out_cannot_be_named():
    assert refusals(SAMPLE | {"include": ["auc"]}, accept="text/csv", table="points") == [("/table", "not_one_of")]


@pytest.mark.parametrize(
    ("name", "body"),
    [
        ("ARROW1\0\0", b"ARROW1\0\0,labels\n" + b"1,1\n0,0\n" * 10_001),
        ("PAR1", b"PAR1,labels\n" + b"1,1\n0,0\n" * 10_001),
    ],
)
def test_a_table_that_begins_as_another_format_does_is_not_refused_for_its_length(name: str, body: bytes) -> None:
    """Where little may be done it is too much work, not a file with the wrong type."""
    asked = Request("curves", "/v1/curves", CSV, JSON, (("scores", name), ("include", "auc")), body)
    assert answer(asked, LIMITS).status == 200
    with pytest.raises(TooMuchWork):
        answer(asked, LIMITS, Effort(20_000, 1 << 20))
