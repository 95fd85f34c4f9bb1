"""The whole way from bytes to bytes: what is refused, where the pointer points, and what formats share."""

import json
from functools import partial
from random import Random

import pyarrow as pa
import pytest

from service.curves import errors
from service.curves.evaluation import INCLUDES
from service.operations import OPERATIONS
from service.wire.problems import MAX_ERRORS
from service.wire.requests.faults import DOMAIN_ERROR_CODES, DOMAIN_ERROR_POINTERS
from tests.support import asking

SAMPLE = {"scores": [0.9, 0.8, 0.7, 0.6], "labels": [1, 0, 1, 0]}
COUNTS = {"tp": [5, 10], "fp": [5, 30], "positives": 20, "negatives": 2000}

ask = partial(asking.ask, "curves")
curves = partial(asking.answered, "curves")
refusals = partial(asking.refusals, "curves")


def test_every_fact_of_the_mathematics_has_a_code():
    kinds = {
        each
        for each in vars(errors).values()
        if isinstance(each, type) and issubclass(each, errors.DomainError) and each is not errors.DomainError
    }
    assert kinds == set(DOMAIN_ERROR_CODES)
    assert kinds > set(DOMAIN_ERROR_POINTERS)


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


def test_the_list_of_errors_is_capped_and_names_are_cut():
    assert len(refusals({f"k{number}": 0 for number in range(1000)})) == MAX_ERRORS
    ((pointer, code),) = refusals(SAMPLE | {"x" * 5000: 1})
    assert code == "unknown_field"
    assert len(pointer) <= 101


def test_a_name_that_is_not_text_is_still_answered():
    assert refusals('{"\\ud800": 1}') == [("/?", "unknown_field")]


def test_errors_are_reported_in_the_order_of_rows():
    """If there are more than a problem lists, these are the first ones, ordered by number and not alphabetically."""
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


def test_a_set_that_is_not_a_sweep_has_no_curve():
    result = curves({"counts": {"tp": [3, 1], "fp": [1, 2], "positives": 4, "negatives": 4}})
    assert {name for name, area in result["auc"].items() if area is not None} == {"roc_hull", "pr_achievable"}
    assert result["interpolated_pr"] is None
    assert [warning["code"] for warning in result["warnings"]] == ["not_a_sweep"]


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
    assert curves(table, content_type="text/csv", scores="scores")["positives"] == 1


def test_include_in_a_query_may_be_names_between_commas():
    table = "scores,labels\n1,1\n0,0\n"
    assert "auc" in curves(table, content_type="text/csv", include="auc, points")


UNKNOWN = {"bounds", "roc_band", "pr_band", "reliability", "gains", "net_benefit"}
"""Tables that counts do not have, or that have tests of their own."""


@pytest.mark.parametrize("name", [table.name for table in OPERATIONS["curves"].tables if table.name not in UNKNOWN])
def test_a_csv_answer_is_one_table_of_the_json_answer(name):
    body = {"counts": COUNTS | {"threshold": [0.5, None]}, "interpolation": {"every": 3}}
    body |= {"intervals": {}, "operating_points": [{"metric": "tpr_at_fpr", "at": 0.001}]}
    body |= {"partial": [{"over": "recall", "to": 0.5}, {"over": "fpr", "to": 0.1, "min_tpr": 0.5}]}
    body |= {
        "include": list(INCLUDES),
        "costs": {"prevalence": [0.1, 0.9]},
        "decisions": [{"best": "mcc"}, {"at_fpr": 0.1}],
    }
    result = ask(body, accept="text/csv", table=name)
    assert (result.status, result.media_type) == (200, "text/csv")
    told = [warning["code"] for warning in json.loads(result.headers["Rocpr-Warnings"])]
    codes = {"statistics": "brier_omitted", "intervals": "brier_omitted", "decisions": "interval_omitted"}
    codes |= {"partial": "narrow_interval"}
    assert told == [code for table, code in codes.items() if table == name]
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
        (["statistics", "calibration"], "calibration"),
        ([], "points"),
    ],
)
def test_unless_a_table_is_named_the_first_that_is_included_is_the_answer(media_type, include, first):
    body = SAMPLE | {"include": include}
    result = ask(body, accept=media_type)
    assert result.status == 200
    assert result.body == ask(body, accept=media_type, table=first).body
    assert result.body == ask(SAMPLE | {"include": list(INCLUDES)}, accept=media_type, table=first).body


def test_a_table_that_include_leaves_out_cannot_be_named():
    assert refusals(SAMPLE | {"include": ["auc"]}, accept="text/csv", table="points") == [("/table", "not_one_of")]


@pytest.mark.parametrize(
    ("operation", "body", "whose"),
    [
        ("curves", SAMPLE | {"lower_is_positive": True}, ""),
        ("slices", SAMPLE | {"lower_is_positive": True, "slices": {"a": [1, 1, 2, 2]}}, ""),
        ("gates", SAMPLE | {"lower_is_positive": True, "rules": [{"metric": "roc", "min": 0.1}]}, ""),
        (
            "gates",
            SAMPLE | {"baseline": SAMPLE | {"lower_is_positive": True}, "rules": [{"metric": "roc", "max_drop": 0.1}]},
            " of the baseline",
        ),
        (
            "comparisons",
            {"evaluations": [SAMPLE | {"name": "a"}, SAMPLE | {"name": "b", "lower_is_positive": True}]},
            " of b",
        ),
        (
            "classes",
            {"scores": {"a": SAMPLE["scores"], "b": SAMPLE["scores"]}, "labels": ["b", "a", "b", "a"]},
            " of a",
        ),
    ],
)
def test_an_area_below_that_of_chance_asks_for_the_direction(operation, body, whose):
    told = [each for each in asking.answered(operation, body)["warnings"] if each["code"] == "below_chance"]
    (warning,) = told
    assert warning["detail"] == f"roc{whose} is below 0.5: do the scores run the other way? See lower_is_positive."


def test_an_area_of_chance_asks_nothing():
    assert curves({"scores": [1, 1], "labels": [0, 1], "include": ["auc"]})["warnings"] == []


@pytest.mark.parametrize(
    ("scores", "taken"),
    [
        ([1.0000000000000002, 0.8, 0.3], [1, 0.8, 0.3]),
        ([1 + 2**-50, 0.8, -(2**-50)], [1, 0.8, 0]),
        ([0.5, 0.8, -5e-324], [0.5, 0.8, 0]),
    ],
)
@pytest.mark.parametrize("lower", [False, True])
def test_a_score_beyond_1_or_0_by_rounding_counts_as_that(scores, taken, lower):
    asked = {"labels": [1, 0, 0], "include": ["statistics"], "lower_is_positive": lower}
    found, expected = (curves({"scores": column} | asked) for column in (scores, taken))
    parts = ("brier", "miscalibration", "discrimination", "uncertainty")
    assert [found["statistics"][part] for part in parts] == [expected["statistics"][part] for part in parts]
    rounded, *others = found["warnings"]
    assert rounded["code"] == "rounded_scores"
    assert others == expected["warnings"]


@pytest.mark.parametrize("scores", [[1 + 2**-49, 0.8, 0.3], [1, 0.8, -(2**-49)], [1.1, 0.8, 0.3]])
def test_a_score_further_beyond_has_no_brier_score_and_a_warning(scores):
    found = curves({"scores": scores, "labels": [1, 0, 0], "include": ["statistics"]})
    assert found["statistics"]["brier"] is None
    (warning,) = found["warnings"]
    assert warning["code"] == "brier_omitted"
    assert "scores go from" in warning["detail"]
