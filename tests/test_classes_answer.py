"""`classes` from bytes to bytes: the same in all formats, matched by name, and what is refused."""

from __future__ import annotations

import json
from math import fsum
from time import process_time
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from service.wire.media_types import ARROW_STREAM, CSV, PARQUET, SVG
from tests.properties.bodies import arrow_body, csv_body, parquet_body
from tests.support import asking
from tests.support.asking import answered, ask, errors, read_csv, refusals

RANDOM = np.random.default_rng(8)
ROWS = 60
NAMES = ["cat", "dog", "a, b"]
LABELS = [NAMES[number] for number in RANDOM.integers(0, 3, ROWS)]
SCORES = {name: [round(float(RANDOM.normal()) + (label == name), 2) for label in LABELS] for name in NAMES}
BODY = {"scores": SCORES, "labels": LABELS}
QUERY = {"scores": json.dumps(NAMES), "labels": "y"}


def table(labels: list[Any] = LABELS, **more: Any) -> pa.Table:
    return pa.table({**SCORES, "y": labels, **more})


def test_every_class_is_what_curves_say_of_it() -> None:
    found = answered("classes", BODY)["classes"]
    assert found["name"] == NAMES
    for row, name in enumerate(NAMES):
        alone = {"scores": SCORES[name], "labels": [label == name for label in LABELS], "include": ["auc"]}
        single = answered("curves", alone)
        assert (found["positives"][row], found["negatives"][row]) == (single["positives"], single["negatives"])
        for area in ("roc", "roc_hull", "pr", "pr_achievable", "average_precision"):
            assert found[area][row] == single["auc"][area]


@pytest.mark.parametrize(
    ("write", "media_type"), [(csv_body, CSV), (arrow_body, ARROW_STREAM), (parquet_body, PARQUET)]
)
def test_all_formats_are_answered_alike(write: Any, media_type: str) -> None:
    assert answered("classes", write(table()), content_type=media_type, **QUERY) == answered("classes", BODY)


def test_tables_hold_what_json_holds() -> None:
    whole = answered("classes", BODY)
    for name in ("classes", "averages", "pairs"):
        rows = read_csv(bytes(ask("classes", BODY, accept=CSV, table=name).body).decode())
        assert rows == whole[name]


@pytest.mark.parametrize(
    ("names", "labels"),
    [
        (["0", "1"], [0, 1, 1.0, 0]),
        (["true", "false"], [True, False, False, True]),
        (["0", "1"], ["0", "1", "1", "0"]),
        (["-1", "1"], [-1, 1, 1, -1]),
    ],
)
def test_labels_name_classes(names: list[str], labels: list[Any]) -> None:
    body = {"scores": {names[0]: [4, 1, 2, 3], names[1]: [1, 4, 3, 2]}, "labels": labels}
    assert answered("classes", body)["hand_till"] == 1.0


def test_several_labels_for_a_row() -> None:
    labels = {name: [row % (2 + place) == 0 for row in range(ROWS)] for place, name in enumerate(NAMES)}
    backwards = {name: labels[name] for name in reversed(NAMES)}
    answer = answered("classes", {"scores": SCORES, "labels": backwards})
    assert answer["classes"]["positives"] == [30, 20, 15]
    assert "pairs" not in answer
    assert "hand_till" not in answer
    assert answer == answered("classes", {"scores": SCORES, "labels": labels})


def test_a_class_without_rows_leaves_all_averages_but_macro_defined() -> None:
    labels = ["cat", "dog"] * 30
    answer = answered("classes", {"scores": SCORES, "labels": labels})
    assert answer["classes"]["reason"] == [None, None, "one_class"]
    two = answered("classes", {"scores": {name: SCORES[name] for name in ("cat", "dog")}, "labels": labels})
    assert answer["averages"]["roc"][0] is None
    assert answer["averages"]["roc"][1] == two["averages"]["roc"][1]
    assert answer["averages"]["roc"][2] is not None
    assert answer["hand_till"] == two["hand_till"]
    warning = answer["warnings"][0]
    assert warning["code"] == "undefined_classes"
    assert warning["detail"] == (
        "1 of 3 classes has no areas; see reason. No row belongs to 'a, b'. "
        "Therefore macro is null; weighted and hand_till leave such classes out."
    )


def test_the_class_of_rows_of_weight_0_is_left_out() -> None:
    scores = {"a": [0.9, 0.2, 0.4, 0.3], "b": [0.1, 0.8, 0.5, 0.3], "c": [0, 0, 0.1, 0.4]}
    answer = answered("classes", {"scores": scores, "labels": ["a", "b", "a", "c"], "weights": [1, 1, 2, 0]})
    assert answer["averages"]["roc"][:2] == [None, 1.0]
    assert answer["hand_till"] == 1.0
    assert "No row with a weight belongs to 'c'." in answer["warnings"][0]["detail"]


def test_what_no_class_defines_is_null_with_a_warning() -> None:
    answer = answered("classes", FEW | {"labels": ["cat", "cat"]})
    assert answer["averages"]["roc"][:2] == [None, None]
    assert answer["hand_till"] is None
    (warning,) = answer["warnings"]
    assert warning["detail"].endswith("Therefore macro, weighted and hand_till are null.")
    several = {"cat": [1, 0], "dog": [0, 0]}
    answer = answered("classes", FEW | {"labels": several})
    (warning,) = answer["warnings"]
    assert warning["detail"].endswith("Therefore macro is null; weighted leaves such classes out.")


def test_totals_of_a_class_with_every_row_are_the_nearest_doubles() -> None:
    weights = np.random.default_rng(6).random(300).tolist()
    for given in (weights, weights[::-1]):
        body = {"scores": {"cat": [0.5] * 300, "dog": [0.5] * 300}, "labels": ["cat"] * 300, "weights": given}
        found = answered("classes", body)["classes"]
        assert (found["positives"], found["negatives"]) == ([fsum(weights), 0], [0, fsum(weights)])


def test_totals_beyond_all_doubles_are_null() -> None:
    body = FEW | {"labels": ["cat", "cat"], "weights": [1e308, 1e308]}
    answer = answered("classes", body)
    assert (answer["classes"]["positives"], answer["classes"]["negatives"]) == ([None, 0], [0, None])


@pytest.mark.parametrize("labels", [["cat", "\ud83d"], ["\ud83d", 1], ["cat", 0.5]])
def test_what_is_wrong_with_a_label_is_told(labels: list[object]) -> None:
    (error,) = errors("classes", FEW | {"labels": labels})
    assert error["code"] == "not_a_label"
    assert ("half of a surrogate pair; send both halves" in error["detail"]) == (labels[1] == "\ud83d")


FEW = {"scores": {"cat": [0.9, 0.2], "dog": [0.1, 0.8]}, "labels": ["cat", "dog"]}


@pytest.mark.parametrize(
    ("changes", "pointer", "code"),
    [
        ({"labels": ["cat", "owl"]}, "/labels/1", "unknown_class"),
        ({"labels": ["cat", None]}, "/labels/1", "not_a_label"),
        ({"labels": ["cat", 1]}, "/labels/1", "not_a_label"),
        ({"labels": [0.5, 1]}, "/labels/0", "not_a_label"),
        ({"labels": ["cat"]}, "/labels", "lengths_differ"),
        ({"labels": "cat"}, "/labels", "not_a_column"),
        ({"labels": {"cat": [1, 0]}}, "/labels", "wrong_length"),
        ({"labels": {"cat": [1, 0], "owl": [0, 1]}}, "/labels/owl", "unknown_class"),
        ({"labels": {"cat": [1, 0], "dog": [0, 2]}}, "/labels/dog/1", "not_a_label"),
        ({"labels": {"cat": [1, 0], "dog": [0]}}, "/labels/dog", "lengths_differ"),
        ({"labels": None}, "/labels", "missing"),
        ({"scores": None}, "/scores", "missing"),
        ({"scores": [0.9, 0.2]}, "/scores", "not_an_object"),
        ({"scores": {"cat": [0.9, 0.2]}}, "/scores", "wrong_length"),
        ({"scores": {"cat": [0.9, 0.2], "dog": None}}, "/scores/dog", "not_a_column"),
        ({"scores": {"cat": [0.9, 0.2], "dog": []}}, "/scores/dog", "not_a_column"),
        ({"labels": {"cat": [1, 0], "dog": None}}, "/labels/dog", "not_a_column"),
        ({"scores": {f"{number}": [1, 2] for number in range(101)}}, "/scores", "wrong_length"),
        ({"scores": {"cat": [0.9, 0.2], "dog": [0.1]}}, "/scores/dog", "lengths_differ"),
        ({"scores": {"cat": [0.9, "x"], "dog": [0.1, 1]}}, "/scores/cat/1", "not_a_number"),
        ({"scores": {"cat": [0.9, 1], "": [0.1, 1]}}, "/scores/", "wrong_length"),
        ({"scores": {"cat": [0.9, 1], "\x1b[31m": [0.1, 1]}}, "/scores/\x1b[31m", "not_text"),
        ({"weights": [1]}, "/weights", "lengths_differ"),
        ({"weights": [1, -1]}, "/weights/1", "negative"),
        ({"positive_label": "cat"}, "/positive_label", "unknown_field"),
        ({"lower_is_positive": 1}, "/lower_is_positive", "not_a_boolean"),
    ],
)
def test_what_is_wrong_is_refused(changes: dict[str, Any], pointer: str, code: str) -> None:
    assert refusals("classes", FEW | changes) == [(pointer, code)]


@pytest.mark.parametrize(
    ("classes", "listed"),
    [
        ("ab", "'a' and 'b'"),
        ("abcde", "'a', 'b', 'c', 'd' and 'e'"),
        ("abcdef", "'a', 'b', 'c', 'd', 'e' and 1 more"),
        ("abcdefg", "'a', 'b', 'c', 'd', 'e' and 2 more"),
    ],
)
def test_the_classes_that_there_are_scores_for_are_named(classes: str, listed: str) -> None:
    body = {"scores": {each: [0.9, 0.2] for each in classes}, "labels": {each: [1, 0] for each in (*classes, "owl")}}
    [error] = errors("classes", body)
    assert error["detail"] == f"There are no scores for this class; there are for {listed}."


@pytest.mark.parametrize(
    ("query", "pointer", "code"),
    [
        ({"scores": "cat,dog,owl", "labels": "y"}, "/scores", "missing"),
        ({"labels": "y"}, "/scores", "missing"),
        ({"scores": "cat,cat", "labels": "y"}, "/scores", "duplicate"),
        ({"scores": "cat,dog"}, "/labels", "missing"),
        ({"scores": "cat,dog", "labels": "y"}, "/y/2", "unknown_class"),
    ],
)
def test_what_is_wrong_of_a_table_is_refused(query: dict[str, str], pointer: str, code: str) -> None:
    text = "y,cat,dog\ncat,0.9,0.1\ndog,0.2,0.8\neel,0.2,0.8\n"
    assert refusals("classes", text, content_type=CSV, **query) == [(pointer, code)]


def test_missing_pairs_are_not_a_table() -> None:
    body = {"scores": FEW["scores"], "labels": {"cat": [1, 0], "dog": [0, 1]}}
    assert refusals("classes", body, accept=CSV, table="pairs") == [("/table", "missing")]


def test_a_picture_of_many_classes_says_what_it_leaves_out() -> None:
    names = [f"class {number}" for number in range(10)]
    scores = {name: [float((row * (number + 3)) % 7) for row in range(40)] for number, name in enumerate(names)}
    picture = ask("classes", {"scores": scores, "labels": [names[row % 10] for row in range(40)]}, accept=SVG)
    assert "2 classes with larger areas are not drawn" in bytes(picture.body).decode()


def test_a_label_in_quotes_is_reported_once_with_its_place() -> None:
    body = {"scores": FEW["scores"], "labels": {"cat": ["1", "0"], "dog": [0, 1]}}
    problem = json.loads(ask("classes", body).body)
    assert problem["detail"] == "labels.cat[0]: '1' is a string; send 1 without quotes."
    assert problem["errors"][0]["detail"] == "'1' is a string; send 1 without quotes."


class TestDecisions:
    SCORES = {"cat": [0.8, 0.4, 0.2, 0.5], "dog": [0.2, 0.6, 0.8, 0.5]}  # noqa: RUF012  # never changed
    LABELS = ("cat", "cat", "dog", "dog")

    def body(self, **options):
        return {"scores": self.SCORES, "labels": list(self.LABELS)} | options

    def test_are_answered_if_asked_for(self):
        plain = asking.answered("classes", self.body())
        found = asking.answered("classes", self.body(decide="highest", top=[1], metrics=["f1", "accuracy"]))
        assert set(found) - set(plain) == {"confusion", "overall", "top"}
        assert found["confusion"]["count"] == [1, 1, 0.5, 1.5]
        assert found["overall"]["accuracy"] == 2.5 / 4
        assert found["top"] == {"k": [1], "accuracy": [2.5 / 4]}
        assert set(found["classes"]) - set(plain["classes"]) == {"tp", "fp", "fn", "tn", "f1", "accuracy"}
        assert set(found["averages"]) - set(plain["averages"]) == {"f1", "accuracy"}
        assert [warning["code"] for warning in found["warnings"]] == ["tied_decisions"]

    @pytest.mark.parametrize("table", ["classes", "averages", "confusion", "overall", "top"])
    def test_each_is_a_table(self, table):
        body = self.body(decide="highest", top=[1])
        answer = asking.answered("classes", body)[table]
        expected = {name: [cell] for name, cell in answer.items()} if table == "overall" else answer
        assert asking.read_csv(asking.ask("classes", body, accept="text/csv", table=table).body.decode()) == expected

    def test_a_threshold_is_for_several_labels_too(self):
        labels = {"cat": [1, 1, 0, 1], "dog": [0, 1, 1, 1]}
        found = asking.answered("classes", {"scores": self.SCORES, "labels": labels, "at_threshold": 0.5})
        assert found["classes"]["tp"] == [2, 3]
        assert "confusion" not in found

    def test_options_may_stand_in_a_query(self):
        table = "cat,dog,labels\n.8,.2,cat\n.4,.6,cat\n.2,.8,dog\n.5,.5,dog\n"
        read = asking.answered("classes", table, content_type="text/csv", scores="cat,dog", decide="highest", top="1,2")
        assert read == asking.answered("classes", self.body(decide="highest", top=[1, 2]))

    @pytest.mark.parametrize(
        ("options", "refusal"),
        [
            ({"decide": "highest", "at_threshold": 0.5}, ("/at_threshold", "exclusive")),
            ({"metrics": ["f1"]}, ("/decide", "missing")),
            ({"top": [1.5]}, ("/top/0", "not_whole")),
            ({"top": [0]}, ("/top/0", "out_of_range")),
            ({"decide": "lowest"}, ("/decide", "not_one_of")),
            ({"decide": "highest", "weights": [0, 0, 0, 0]}, ("/weights", "total_out_of_range")),
            ({"decide": "highest", "labels": {"cat": [1, 1, 0, 0], "dog": [0, 0, 1, 1]}}, ("/decide", "exclusive")),
            ({"top": [1], "labels": {"cat": [1, 1, 0, 0], "dog": [0, 0, 1, 1]}}, ("/top", "exclusive")),
        ],
    )
    def test_what_does_not_go_together_is_refused(self, options, refusal):
        assert asking.refusals("classes", self.body(**options)) == [refusal]


@pytest.mark.parametrize("option", [{"decide": "highest"}, {"at_threshold": 0.5}])
def test_no_count_is_below_0_with_weights_of_all_sizes(option: dict[str, object]) -> None:
    scores = {"a": [0.6, 0.9, 0.1, 0.9], "b": [0.7, 0.8, 0.9, 0.5], "c": [0.6, 0.5, 0.7, 0.6]}
    body = {"scores": scores, "labels": ["a", "b", "c", "c"], "weights": [1e100, 0.1, 1e-30, 7e20]}
    table = answered("classes", body | option | {"metrics": ["mcc", "balanced_accuracy"]})["classes"]
    for name in ("tp", "fp", "fn", "tn"):
        assert min(table[name]) >= 0
    assert table["negatives"] == pytest.approx([fp + tn for fp, tn in zip(table["fp"], table["tn"], strict=True)])


def test_averages_of_large_metrics_are_finite() -> None:
    body = {"scores": {"a": [0.9, 0.1, 0.8], "b": [0.1, 0.9, 0.2]}, "labels": ["a", "a", "b"], "decide": "highest"}
    found = answered("classes", body | {"weights": [1e149, 1e149, 1e-100], "metrics": ["lr_positive", "lift"]})
    assert all(value is not None and value < 1e300 for value in found["averages"]["lift"])


def test_a_number_that_top_repeats_is_computed_once() -> None:
    body = {"scores": {"a": [0.9] * 1000, "b": [0.1] * 1000}, "labels": ["a", "b"] * 500, "top": [1] * 100_000}
    started = process_time()
    assert answered("classes", body)["top"] == {"k": [1], "accuracy": [0.5]}
    assert process_time() - started < 1


AREAS = ("roc", "pr", "average_precision")


@pytest.mark.parametrize("method", ["auto", "logit", "delong"])
@pytest.mark.parametrize("weights", [None, [1.0, 0.5, 3.0] * 20])
def test_intervals_of_a_class_are_those_of_curves(weights: list[float] | None, method: str) -> None:
    how = {"intervals": {"level": 0.9, "method": method}}
    found = answered("classes", BODY | how | {"weights": weights})
    table, averages = found["classes"], found["averages"]
    for row, name in enumerate(NAMES):
        alone = {"scores": SCORES[name], "labels": [label == name for label in LABELS], "weights": weights}
        single = answered("curves", alone | how | {"include": ["auc"]})["intervals"]
        for area in AREAS:
            interval = single[area] or {"lower": None, "upper": None}
            assert [table[f"{area}_{end}"][row] for end in ("lower", "upper")] == [interval["lower"], interval["upper"]]
    for area in AREAS if method != "delong" else ("roc",):
        for value, lower, upper in zip(*(averages[area + end] for end in ("", "_lower", "_upper")), strict=True):
            assert lower < value < upper
    ordinary = answered("classes", BODY | {"weights": weights})
    assert {name: table[name] for name in ordinary["classes"]} == ordinary["classes"]


def test_tables_with_intervals() -> None:
    body = BODY | {"intervals": {}, "decide": "highest"}
    whole = answered("classes", body)
    for name in ("classes", "averages"):
        assert read_csv(bytes(ask("classes", body, accept=CSV, table=name).body).decode()) == whole[name]
        arrow = pa.ipc.open_stream(ask("classes", body, accept=ARROW_STREAM, table=name).body).read_all()
        assert arrow.to_pydict() == whole[name]
    assert ask("classes", body, accept=CSV, table="pairs").body == ask("classes", BODY, accept=CSV, table="pairs").body
    assert answered("classes", csv_body(table()), content_type=CSV, intervals="{}", decide="highest", **QUERY) == whole


def test_several_labels_for_a_row_have_intervals_of_classes_only() -> None:
    members = {name: [label == name for label in LABELS] for name in NAMES}
    found = answered("classes", {"scores": SCORES, "labels": members, "intervals": {}})
    assert None not in found["classes"]["roc_lower"]
    assert found["averages"]["roc_lower"] == [None] * 3
    assert [warning["code"] for warning in found["warnings"]] == ["interval_omitted"]


@pytest.mark.parametrize(
    ("intervals", "expected"),
    [
        ({"method": "bootstrap"}, [("/intervals/method", "not_one_of")]),
        ({"level": 1}, [("/intervals/level", "out_of_range")]),
        ({"seed": 1}, [("/intervals/seed", "unknown_field")]),
        (0.95, [("/intervals", "not_an_object")]),
    ],
)
def test_intervals_that_are_refused(intervals: object, expected: list[tuple[str, str]]) -> None:
    assert refusals("classes", BODY | {"intervals": intervals}) == expected


def test_a_picture_of_classes_needs_no_intervals() -> None:
    assert ask("classes", BODY | {"intervals": {}}, accept=SVG).body == ask("classes", BODY, accept=SVG).body


def test_averages_of_rows_of_one_class_have_no_intervals():
    body = {"scores": {"a": [0.9, 0.7], "b": [0.3, 0.3]}, "labels": ["a", "a"], "intervals": {}}
    found = answered("classes", body)
    ends = [cells for name, cells in found["averages"].items() if name.endswith(("_lower", "_upper"))]
    assert ends
    assert all(cell is None for cells in ends for cell in cells)
    assert "too_few_examples" in [warning["code"] for warning in found["warnings"]]
