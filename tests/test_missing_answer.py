"""missing=drop: rows with an empty cell are left out and counted, in every format and operation."""

import json
from typing import Any

import pyarrow as pa
import pytest

from tests.properties.bodies import arrow_body, arrow_file_body, parquet_body
from tests.support.asking import answered, errors, refusals

ARROW, PARQUET = "application/vnd.apache.arrow.stream", "application/vnd.apache.parquet"
SCORES, LABELS = [0.9, None, 0.7, 0.4, 0.2], [1, 0, 1, None, 0]
WHOLE = {"scores": [0.9, 0.7, 0.2], "labels": [1, 1, 0]}
CSV = "scores,labels\n0.9,1\n,0\n0.7,1\n0.4,\n0.2,0\n"
RULES = '[{"metric": "roc", "max_drop": 0.5}]'
TOLD = "2 of 5 rows are left out because a cell is empty: scores in 1, labels in 1."


def warned(document: dict[str, Any]) -> list[str]:
    return [told["detail"] for told in document.pop("warnings") if told["code"] == "rows_left_out"]


@pytest.mark.parametrize(
    ("content_type", "body"),
    [
        ("application/json", json.dumps({"scores": SCORES, "labels": LABELS})),
        ("text/csv", CSV),
        ("text/csv", CSV.replace("\n,0", "\nNA,0")),
        ("text/csv", CSV.replace("\n,0", "\n \t,0").replace("0.4,\n", "0.4,\t \n")),
        (ARROW, arrow_body(pa.table({"scores": SCORES, "labels": LABELS}))),
        (ARROW, arrow_body(pa.table({"scores": [0.9, float("nan"), 0.7, 0.4, 0.2], "labels": LABELS}))),
        ("application/vnd.apache.arrow.file", arrow_file_body(pa.table({"scores": SCORES, "labels": LABELS}))),
        (PARQUET, parquet_body(pa.table({"scores": SCORES, "labels": LABELS}))),
    ],
)
def test_the_answer_is_that_of_the_other_rows(content_type: str, body: Any) -> None:
    expected = answered("curves", WHOLE)
    found = answered("curves", body, content_type=content_type, missing="drop")
    assert warned(found) == [TOLD]
    expected.pop("warnings")
    assert found == expected
    for error in errors("curves", body, content_type=content_type):
        assert error["detail"].endswith("or set missing=drop.")


def test_na_is_no_label_unless_labels_have_names() -> None:
    body = "scores,labels\n0.9,1\n0.8,NA\n0.7,1\n0.2,0\n"
    found = answered("curves", body, content_type="text/csv", missing="drop")
    assert warned(found) == ["1 of 4 rows is left out because a cell is empty: labels in 1."]
    assert (found["positives"], found["negatives"]) == (2, 1)
    named = answered("curves", body, content_type="text/csv", missing="drop", positive_label="1")
    assert (named["positives"], named["negatives"]) == (2, 2)
    classes = "cat,NA,labels\n0.9,0.1,cat\n0.2,0.8,NA\n0.1,0.9,\n"
    found = answered("classes", classes, content_type="text/csv", missing="drop", scores="cat,NA")
    assert warned(found) == ["1 of 3 rows is left out because a cell is empty: labels in 1."]
    assert found["classes"]["positives"] == [1, 1]


def test_a_dictionary_of_text_with_nulls() -> None:
    labels = pa.array(["yes", None, "no", "yes"]).dictionary_encode()
    body = parquet_body(pa.table({"scores": [0.9, 0.8, 0.1, None], "labels": labels}))
    options = {"content_type": PARQUET, "positive_label": "yes", "missing": "drop"}
    found = answered("curves", body, **options)
    assert warned(found) == ["2 of 4 rows are left out because a cell is empty: scores in 1, labels in 1."]
    assert (found["positives"], found["negatives"]) == (1, 1)


def test_it_is_an_option_of_a_json_body_too() -> None:
    body = {"scores": SCORES, "labels": LABELS}
    inside = answered("curves", body | {"missing": "drop"})
    assert inside == answered("curves", body, missing="drop")
    assert refusals("curves", body | {"missing": "drop"}, missing="drop") == [("/missing", "exclusive")]
    assert ("/missing", "not_one_of") in refusals("curves", body, missing="skip")
    assert refusals("curves", body, missing="refuse") == refusals("curves", body)


def test_errors_point_to_the_rows_that_were_sent() -> None:
    assert refusals("curves", CSV.replace("0.2,0", "x,0"), content_type="text/csv", missing="drop") == [
        ("/scores/4", "not_a_number")
    ]
    body = {"scores": [*SCORES[:-1], "x"], "labels": LABELS, "missing": "drop"}
    assert refusals("curves", body) == [("/scores/4", "not_a_number")]


@pytest.mark.parametrize(
    ("operation", "table", "options", "told"),
    [
        ("tradeoffs", CSV, {}, [TOLD]),
        (
            "gates",
            "scores,labels,old\n0.9,1,0.8\n0.8,0,\n0.1,0,0.2\n",
            {"baseline_scores": "old", "rules": RULES, "paired": "true"},
            ["1 of 3 rows is left out because a cell is empty: old in 1."],
        ),
        (
            "comparisons",
            "a,b,labels\n0.9,1,1\n0.8,,0\n,0,0\n0.1,0,0\n",
            {"scores": "a,b"},
            ["2 of 4 rows are left out because a cell is empty: a in 1, b in 1."],
        ),
        (
            "classes",
            "cat,dog,labels\n0.9,0.1,cat\n,0.8,dog\n0.2,0.8,dog\n0.6,0.4,\n",
            {"scores": "cat,dog"},
            ["2 of 4 rows are left out because a cell is empty: cat in 1, labels in 1."],
        ),
        (
            "slices",
            "scores,labels,country\n0.9,1,DE\n0.8,0,\n0.1,0,DE\n,0,DE\n0.7,1,\n",
            {"slices": "country"},
            ["1 of 5 rows is left out because a cell is empty: scores in 1."],
        ),
        (
            "curves",
            "tp,fp,fn,tn\n1,0,2,3\n,,2,0\n3,1,0,2\n",
            {},
            ["1 of 3 rows is left out because a cell is empty: tp in 1, fp in 1."],
        ),
        (
            "curves",
            "score,positives,negatives\n0.9,2,1\n0.5,,1\n0.1,1,3\n",
            {},
            ["1 of 3 rows is left out because a cell is empty: positives in 1."],
        ),
    ],
)
def test_every_operation(operation: str, table: str, options: dict[str, str], told: list[str]) -> None:
    found = answered(operation, table, content_type="text/csv", missing="drop", **options)
    assert warned(found) == told


def test_a_threshold_and_a_column_of_slices_may_be_empty() -> None:
    counts = "threshold,tp,fp,fn,tn\n,0,0,3,3\n0.9,1,0,2,3\n0.7,3,1,0,2\n"
    assert warned(answered("curves", counts, content_type="text/csv", missing="drop")) == []
    sliced = "scores,labels,country\n0.9,1,DE\n0.8,0,\n0.1,0,DE\n0.7,1,\n"
    found = answered("slices", sliced, content_type="text/csv", slices="country", missing="drop")
    assert (warned(found), found["slices"]["country"]) == ([], ["DE", None])


def test_paired_rows_are_left_out_together() -> None:
    new = {"scores": [0.9, None, 0.7, 0.2, 0.6], "labels": [1, 0, 1, 0, 0]}
    old = {"scores": [0.8, 0.5, 0.6, None, 0.7], "labels": [1, 0, 1, 0, 0]}
    request = {"rules": json.loads(RULES), "paired": True, "missing": "drop"}
    found = answered("gates", new | request | {"baseline": old})
    rows = [0, 2, 4]
    kept = [{key: [column[row] for row in rows] for key, column in each.items()} for each in (new, old)]
    expected = answered("gates", kept[0] | request | {"baseline": kept[1]})
    assert len(warned(found)) == 1
    assert found["checks"] == expected["checks"]


def test_a_table_of_empty_cells_has_no_rows() -> None:
    body = "scores,labels,other\n,1,a\n,0,b\n"
    assert refusals("curves", body, content_type="text/csv", missing="drop") == [("", "no_rows")]
