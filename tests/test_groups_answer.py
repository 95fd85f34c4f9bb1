"""Groups of scores: their forms in all formats, their refusals, and the answers to open ones in each operation."""

import json

import pytest

from tests.support import asking
from tests.support.asking import answered, ask, refusals

SCORES, POSITIVES, NEGATIVES = [0.9, 0.7, 0.2], [30, 10, 10], [0, 20, 50]
EXACT = {"score": SCORES, "positives": POSITIVES, "negatives": NEGATIVES}
BINS = {
    "score_from": [0.8, 0.5, 0.0],
    "score_to": [1.0, 0.8, 0.5],
    "positives": POSITIVES,
    "negatives": NEGATIVES,
    "closed": "left",
}
ROC_AT_WORST, ROC_AT_BEST = 26 / 35, 33 / 35
"""Of 3,500 pairs, 550 and 200 are within a group: all are misranked at worst, none at best: (3500 - 700 - 200)/3500."""


def csv(groups):
    """The columns of groups as CSV."""
    names = [name for name in groups if name != "closed"]
    rows = zip(*(groups[name] for name in names), strict=True)
    return "\n".join([",".join(names), *(",".join(map(str, row)) for row in rows)])


def test_the_bounds_of_the_area_under_the_roc_curve_count_the_pairs_within_groups():
    found = answered("curves", {"groups": BINS, "include": ["auc"]})
    assert found["bounds"]["roc"] == {"lower": ROC_AT_WORST, "upper": ROC_AT_BEST}
    assert found["auc"]["roc"] == pytest.approx((ROC_AT_WORST + ROC_AT_BEST) / 2)
    assert [warning["code"] for warning in found["warnings"]] == ["bounded"]


@pytest.mark.parametrize("groups", [EXACT, BINS])
@pytest.mark.parametrize("operation", ["curves", "tradeoffs", "gates", "slices"])
def test_a_table_of_groups_is_groups(operation, groups):
    options = {"rules": [{"metric": "roc", "min": 0.8}]} if operation == "gates" else {}
    query = {name: json.dumps(value) for name, value in options.items()} | (
        {"closed": groups["closed"]} if "closed" in groups else {}
    )
    body, table = {"groups": groups} | options, csv(groups)
    if operation == "slices":
        if groups is BINS:
            return
        query["slices"] = "part"
        body["slices"] = {"part": ["a", "a", "a"]}
        table = csv(groups | {"part": ["a", "a", "a"]})
    assert answered(operation, table, content_type="text/csv", **query) == answered(operation, body)


def test_closed_may_be_in_the_query_of_a_json_body():
    body = {"groups": {name: column for name, column in BINS.items() if name != "closed"}}
    assert answered("curves", body, closed="left") == answered("curves", {"groups": BINS})
    assert refusals("curves", {"groups": BINS}, closed="left") == [("/closed", "exclusive")]
    assert refusals("curves", {"scores": [1, 0], "labels": [1, 0]}, closed="left") == [("/closed", "exclusive")]
    sample = "scores,labels\n1,1\n0,0\n"
    assert refusals("curves", sample, content_type="text/csv", closed="left") == [("/closed", "exclusive")]
    assert refusals("slices", sample, content_type="text/csv", slices="labels", closed="left") == [
        ("/closed", "exclusive")
    ]


@pytest.mark.parametrize(
    ("change", "pointer", "code"),
    [
        ({"closed": "both"}, "/groups/score_from/2", "groups_overlap"),
        (
            {"closed": "right", "score_from": [0.8, 0.5, 0.8], "score_to": [1.0, 0.8, 0.8]},
            "/groups/score_from/2",
            "groups_overlap",
        ),
        ({"score_to": [1.0, 0.8, -0.5]}, "/groups/score_to/2", "not_rising"),
        ({"score": SCORES}, "/groups/score", "exclusive"),
        ({"score_to": None}, "/groups/score_to", "missing"),
        ({"score_to": None, "score_from": None}, "/groups/score", "missing"),
        ({"positives": None}, "/groups/positives", "missing"),
        ({"positives": [1, 2]}, "/groups/positives", "lengths_differ"),
        ({"positives": [0, 0, 0]}, "/groups/positives", "one_class"),
        ({"negatives": [0, -1, 0]}, "/groups/negatives/1", "negative"),
        ({"negatives": [0, 1e200, 0]}, "/groups/negatives", "total_out_of_range"),
        (
            {"score_from": [0.8, 0.8, 0.0], "score_to": [1.0, 1.0, 0.5], "negatives": [1e308, 1e308, 0]},
            "/groups/negatives",
            "total_out_of_range",
        ),
        ({"positives_squared": [1, 1, 1]}, "/groups/negatives_squared", "missing"),
        (
            {"positives_squared": [30, 101, 10], "negatives_squared": [0, 20, 50]},
            "/groups/positives_squared/1",
            "contradicting_squares",
        ),
        (
            {"positives_squared": [30, 10, 10], "negatives_squared": [1, 20, 50]},
            "/groups/negatives_squared/0",
            "contradicting_squares",
        ),
        ({"closed": "none"}, "/groups/closed", "not_one_of"),
    ],
)
def test_what_contradicts_itself_is_refused_at_its_place(change, pointer, code):
    assert refusals("curves", {"groups": BINS | change}) == [(pointer, code)]


@pytest.mark.parametrize(
    ("operation", "options", "pointer", "code"),
    [
        ("curves", {"labels": [1]}, "/labels", "exclusive"),
        ("curves", {"soft_labels": [1]}, "/soft_labels", "exclusive"),
        ("curves", {"counts": {"tp": [1]}}, "/groups", "exclusive"),
        ("curves", {"include": ["calibration"]}, "/include", "needs_exact_groups"),
        ("curves", {"include": ["statistics"]}, "/include", "needs_exact_groups"),
        ("curves", {"costs": {}}, "/costs", "needs_exact_groups"),
        ("curves", {"tuning": {"scores": [1, 0], "labels": [1, 0]}}, "/tuning", "needs_exact_groups"),
        ("curves", {"thresholds": [0.8, 0.7]}, "/thresholds/1", "needs_exact_groups"),
        ("slices", {"slices": {"part": ["a", "a", "b"]}}, "/groups", "needs_exact_groups"),
        ("slices", {"slices": {"part": ["a", "a"]}}, "/groups", "needs_exact_groups"),
        ("slices", {"slices": {"part": ["a", "a", "b"]}, "weights": [1, 1, 1]}, "/weights", "exclusive"),
    ],
)
def test_what_open_groups_do_not_tell_is_refused(operation, options, pointer, code):
    assert (pointer, code) in refusals(operation, {"groups": BINS} | options)


def test_curves_are_compared_row_by_row():
    sample = {"name": "b", "groups": EXACT}
    found = refusals("comparisons", {"evaluations": [sample, {"name": "a", "groups": BINS}]})
    assert found == [("/evaluations/1/groups", "needs_exact_groups")]
    assert refusals("slices", {"groups": EXACT, "slices": {"part": ["a"]}}) == [("/slices", "lengths_differ")]


def test_thresholds_between_open_groups_are_known_rows():
    cut = {"include": ["auc", "points"], "thresholds": [0.8, 0.5]}
    found = answered("curves", {"groups": BINS} | cut)
    assert "bounds" not in found
    # The same as for a sample whose scores are at the ends of the bins.
    assert found == answered("curves", {"groups": EXACT | {"score": [0.8, 0.5, 0.0]}} | cut)


def test_a_gate_decides_at_the_unfavourable_end():
    rules = [
        {"metric": "roc", "min": ROC_AT_WORST},
        {"metric": "roc", "min": 0.8},
        {"metric": "roc", "min": 0.95},
        {"metric": "fpr", "at_threshold": 0.6, "max": 0.2},
        {"metric": "fpr", "at_threshold": 0.5, "max": 0.2},
        {"metric": "roc", "max_drop": 0.05},
    ]
    found = answered("gates", {"groups": BINS, "rules": rules, "baseline": {"groups": EXACT}})
    statuses = [check["status"] for check in found["checks"]]
    assert statuses == ["passed", "undecided", "failed", "undecided", "failed", "undecided"]
    assert found["status"] == "failed"
    assert found["checks"][3]["bounds"] == {"lower": 0.0, "upper": 20 / 70}
    assert found["checks"][4]["bounds"] == {"lower": 20 / 70, "upper": 20 / 70}
    assert [check["p_value"] for check in found["checks"]] == [None] * len(rules)
    assert "roc may be anything from 0.7429 to 0.9429" in found["checks"][1]["reason"]
    exact = answered("gates", {"groups": EXACT, "rules": rules, "baseline": {"groups": EXACT}})
    assert all("bounds" not in check for check in exact["checks"])


def test_the_worst_drop_is_from_the_best_of_the_baseline():
    body = {"groups": BINS, "baseline": {"groups": BINS}, "rules": [{"metric": "roc", "max_drop": 0.1}]}
    (check,) = answered("gates", body)["checks"]
    farthest = ROC_AT_BEST - ROC_AT_WORST
    assert [check["bounds"][end] for end in ("lower", "upper")] == pytest.approx([-farthest, farthest])
    assert check["status"] == "undecided"
    assert check["reason"].startswith("The difference of roc may be anything from -0.2 to 0.2 ")


def test_an_interval_includes_those_at_both_ends():
    rule = {"metric": "pr", "min": 0.5, "confidence": 0.95}
    (check,) = answered("gates", {"groups": BINS, "rules": [rule]})["checks"]
    alone = answered("curves", {"groups": BINS, "intervals": {}})["intervals"]["pr"]
    assert check["interval"] == alone
    assert alone["lower"] < check["bounds"]["lower"] < check["bounds"]["upper"] < alone["upper"]
    assert alone["standard_error"] is None


def test_groups_cannot_be_paired():
    body = {"groups": EXACT, "baseline": {"groups": EXACT}, "paired": True, "rules": [{"metric": "roc", "min": 0.5}]}
    assert refusals("gates", body) == [("/paired", "not_paired")]


def test_the_best_tradeoff_is_bounded_by_known_rows_and_by_the_best_order():
    found = answered("tradeoffs", {"groups": BINS})
    exact = answered("tradeoffs", {"groups": EXACT | {"score": [0.8, 0.5, 0.0]}})
    for index, tradeoff in found["tradeoffs"].items():
        bounds = tradeoff["bounds"]
        assert bounds["lower"] == exact["tradeoffs"][index]["area"]
        assert bounds["lower"] < tradeoff["area"] < bounds["upper"] <= 1
        assert tradeoff["optimal"] == exact["tradeoffs"][index]["optimal"]
    columns = asking.read_csv(ask("tradeoffs", {"groups": BINS}, accept="text/csv", table="area").body.decode())
    assert columns["lower"] == [tradeoff["bounds"]["lower"] for tradeoff in found["tradeoffs"].values()]


def test_points_and_parts_have_bounds_of_their_own():
    asked = {"operating_points": [{"metric": "tpr_at_fpr", "at": 0.1}], "partial": [{"over": "fpr", "to": 0.5}]}
    found = answered("curves", {"groups": BINS} | asked)
    points, parts = found["operating_points"], found["partial"]
    # At worst the 20 negatives of the second group come before its positives, at best after them.
    assert (points["value_lower"], points["value"], points["value_upper"]) == ([0.6], [0.7], [0.8])
    assert parts["area_lower"][0] < parts["area"][0] < parts["area_upper"][0]
    assert parts["mean_lower"] == [area / 0.5 for area in parts["area_lower"]]


def test_sums_of_weights_alone_have_no_intervals():
    fractional = EXACT | {"positives": [29.5, 10, 10]}
    found = answered("curves", {"groups": fractional, "intervals": {}})
    assert set(found["intervals"].values()) == {None}
    assert [warning["code"] for warning in found["warnings"]] == ["pr_trapezoid_omitted", "unknown_examples"]
    squares = {"positives_squared": [29.5, 10, 10], "negatives_squared": [0, 20, 50]}
    certain = answered("curves", {"groups": fractional | squares, "intervals": {}})
    assert None not in certain["intervals"].values()
    resampled = answered("curves", {"groups": fractional | squares, "intervals": {"method": "bootstrap"}})
    assert [warning["code"] for warning in resampled["warnings"]] == ["pr_trapezoid_omitted", "interval_omitted"]


def test_a_slice_of_one_class_has_a_reason():
    body = {"groups": EXACT, "slices": {"part": ["a", "b", "b"]}, "intervals": {}}
    found = answered("slices", body)["slices"]
    assert found["reason"] == ["one_class", None]
    assert found["positives"] == [30, 20]


def test_the_table_of_bounds_needs_some():
    assert refusals("curves", {"groups": EXACT}, accept="text/csv", table="bounds") == [("/table", "missing")]
    found = asking.read_csv(ask("curves", {"groups": BINS}, accept="text/csv", table="bounds").body.decode())
    bounds = answered("curves", {"groups": BINS})["bounds"]
    assert found == {
        "area": list(bounds),
        **{end: [each[end] for each in bounds.values()] for end in ("lower", "upper")},
    }


def test_lower_scores_may_be_positive():
    turned = EXACT | {"score": [-score for score in SCORES]}
    found = answered("curves", {"groups": turned, "lower_is_positive": True, "include": ["auc"], "intervals": {}})
    assert found == answered("curves", {"groups": EXACT, "include": ["auc"], "intervals": {}})
    bins = BINS | {
        "score_from": [-end for end in BINS["score_to"]],
        "score_to": [-end for end in BINS["score_from"]],
        "closed": "right",
    }
    found = answered("curves", {"groups": bins, "lower_is_positive": True, "include": ["auc"]})
    assert found == answered("curves", {"groups": BINS, "include": ["auc"]})


def test_a_drop_from_a_bounded_baseline_is_explained_at_its_favourable_end():
    baseline = {"score_from": [1, 2.5], "score_to": [2, 4], "positives": [5, 95], "negatives": [95, 5]}
    chance = {"score": [1, 2], "positives": [5, 5], "negatives": [5, 5]}
    body = {"groups": chance, "baseline": {"groups": baseline}, "rules": [{"metric": "roc", "max_drop": 0.01}]}
    (check,) = answered("gates", body)["checks"]
    assert check["bounds"]["upper"] == pytest.approx(-0.4025)
    assert check["reason"].startswith("roc dropped by 0.4025, from 0.9025 to 0.5,")
