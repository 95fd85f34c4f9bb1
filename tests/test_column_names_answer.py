"""Columns of counts and groups under other names, and advice on names that is right."""

import json
from typing import Any

import pytest

from tests.support.asking import answered, errors, refusals

COUNTS = "threshold,tp,fp,fn,tn\n0.9,1,0,2,3\n0.7,3,1,0,2\n"
GROUPS = "score,positives,negatives\n0.9,2,0\n0.4,1,1\n0.1,0,3\n"
NAMES = {
    "BigQuery": ("threshold,true_positives,false_positives,false_negatives,true_negatives", {}),
    "capitals": ("Threshold,TP,FP,FN,TN", {"threshold": "Threshold"}),
    "h2o": ("threshold,tps,fps,fns,tns", {}),
    "SAS": ("_PROB_,_POS_,_FALPOS_,_FALNEG_,_NEG_", {"threshold": "_PROB_"}),
}


@pytest.mark.parametrize("header", [names for names, _ in NAMES.values()], ids=NAMES)
def test_counts_may_have_other_names(header: str) -> None:
    table = COUNTS.replace("threshold,tp,fp,fn,tn", header)
    own = dict(zip(["threshold", "tp", "fp", "fn", "tn"], header.split(","), strict=True))
    (error,) = errors("curves", table, content_type="text/csv")
    for key, name in own.items():
        assert key == name or f"{key}={name}" in error["detail"]
    assert answered("curves", table, content_type="text/csv", **own) == answered(
        "curves", COUNTS, content_type="text/csv"
    )
    assert refusals("curves", table.replace(",3,1,", ",3,x,"), content_type="text/csv", **own) == [
        (f"/{own['fp']}/1", "not_a_number")
    ]


@pytest.mark.parametrize("operation", ["curves", "tradeoffs", "slices"])
def test_groups_may_have_other_names(operation: str) -> None:
    table = GROUPS.replace("score,positives,negatives", "bin,n_pos,n_neg").replace("\n", ",x\n").replace("g,x", "g,c")
    usual = GROUPS.replace("\n", ",x\n").replace("negatives,x", "negatives,c")
    table = table.replace("n_neg,x", "n_neg,c")
    options = {"slices": "c"} if operation == "slices" else {}
    (error,) = errors(operation, table, content_type="text/csv", **options)
    own = {"score": "bin", "positives": "n_pos", "negatives": "n_neg"}
    if operation != "slices":
        assert "score=bin&positives=n_pos&negatives=n_neg" in error["detail"]
    expected = answered(operation, usual, content_type="text/csv", **options)
    assert answered(operation, table, content_type="text/csv", **own, **options) == expected


def test_a_threshold_that_is_not_used_is_told() -> None:
    table = COUNTS.replace("threshold", "Threshold")
    (told,) = answered("curves", table, content_type="text/csv")["warnings"]
    assert (told["code"], "'Threshold'" in told["detail"]) == ("unused_threshold", True)
    assert answered("curves", table, content_type="text/csv", threshold="Threshold")["warnings"] == []
    assert answered("curves", COUNTS, content_type="text/csv")["warnings"] == []


def test_a_column_that_counts_lack_is_suggested() -> None:
    (error,) = errors("curves", COUNTS.replace("fn,tn", "FN,TN"), content_type="text/csv")
    assert error["pointer"] == "/fn"
    assert error["detail"].endswith("Did you mean fn=FN&tn=TN?")


def test_names_within_counts_of_json_are_suggested() -> None:
    body = {"counts": {"true_positives": [1, 3], "false_positives": [0, 1], "fn": [2, 0], "TN": [3, 2]}}
    told = {error["pointer"]: error["detail"] for error in errors("curves", body)}
    assert told == {
        f"/counts/{name}": f"Unknown field; did you mean {right}?"
        for name, right in {"true_positives": "tp", "false_positives": "fp", "TN": "tn"}.items()
    }


@pytest.mark.parametrize("name", ["max_relative_drop", "min_drop_of", "relative_min", "max_drop_pct"])
def test_another_rule_is_not_suggested(name: str) -> None:
    body = {"scores": [0.9, 0.1], "labels": [1, 0], "rules": [{"metric": "roc", "min": 0.5, name: 0.1}]}
    assert "did you mean" not in errors("gates", body)[0]["detail"]


@pytest.mark.parametrize(
    ("column", "told"),
    [
        ([[0.9], [0.8]], "send array.ravel()"),
        ([[0.9, 0.8]], "send array.ravel()"),
        ([[0.1, 0.9], [0.2, 0.8]], "predict_proba(X)[:, 1]"),
        ({"dtype": "f8", "bdata": "zczMzMzM7D+amZmZmZnpPw=="}, "it must be a list: array.tolist()"),
    ],
)
def test_arrays_of_other_shapes(column: Any, told: str) -> None:
    (error,) = errors("curves", {"scores": column, "labels": [1, 0]})
    assert told in error["detail"]


@pytest.mark.parametrize(
    ("column", "told"),
    [
        ([[1], [0]], "send array.ravel()"),
        ([[1, 0]], "send array.ravel()"),
        ([[0, 1], [1, 0]], "send array.argmax(axis=1)"),
    ],
)
def test_arrays_of_labels_of_other_shapes(column: Any, told: str) -> None:
    (error,) = errors("curves", {"scores": [0.9, 0.2], "labels": column})
    assert told in error["detail"]


ROWS = [{"scores": 0.9, "labels": 1}, {"scores": 0.2, "labels": 0}]
COLUMNS = {"scores": [0.9, 0.2], "labels": [1, 0]}
TENSORS = [{"name": name, "shape": [2], "datatype": "FP64", "data": data} for name, data in COLUMNS.items()]


@pytest.mark.parametrize(
    "body",
    [
        {"dataframe_split": {"columns": ["scores", "labels"], "data": [[0.9, 1], [0.2, 0]]}},
        {"dataframe_split": {"columns": ["scores", "labels"], "index": [0, 1], "data": [[0.9, 1], [0.2, 0]]}},
        {"dataframe_records": ROWS},
        {"instances": ROWS, "signature_name": "serving_default"},
        {"instances": [[0.9, 1], [0.2, 0]]},
        {"inputs": COLUMNS},
        {"inputs": TENSORS, "id": "1"},
        {"outputs": TENSORS, "model_name": "m"},
    ],
)
def test_bodies_of_model_servers_get_the_call_that_converts_them(body: dict[str, Any]) -> None:
    pandas = pytest.importorskip("pandas")
    (error,) = errors("curves", body)
    call = error["detail"].rpartition("in Python, ")[2].removesuffix(".")
    found = eval(call, {"pandas": pandas, "body": body})  # our own advice
    assert found == COLUMNS
    assert answered("curves", json.loads(json.dumps(found)), include="auc")["auc"]["roc"] == 1


@pytest.mark.parametrize(
    ("header", "options"),
    [
        ("scores,positives,negatives", {}),
        ("p,positives,negatives", {"scores": "p"}),
        ("score,pos,neg", {"scores": "score", "positives": "pos", "negatives": "neg"}),
    ],
)
def test_groups_whose_scores_are_named_as_those_of_samples(header: str, options: dict[str, str]) -> None:
    """The advice leads on: it may not repeat what was given."""
    body, scores = f"{header}\n0.9,3,1\n0.1,1,3\n", header.partition(",")[0]
    (error,) = errors("curves", body, content_type="text/csv", **options)
    assert error["detail"] == f"There is no column labels. If this table has groups, name the scores score={scores}."
    taken = {key: name for key, name in options.items() if key != "scores"} | {"score": scores}
    assert answered("curves", body, content_type="text/csv", **taken)["positives"] == 4
