"""Only the order of scores counts: an infinite one ranks before or after all others, in every format that has it."""

from __future__ import annotations

import csv
import io
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from service.answer import answer
from service.curves.sweep.sweep import COMPILED
from service.request import Request
from tests.support.asking import LIMITS, answered, ask, errors
from tests.support.compiled_library import library, used

__all__ = ["library"]

LARGEST = sys.float_info.max
INF = float("inf")
BEYOND = 1e9
"""Stands for infinity where a format has none."""

TYPES = {
    "csv": "text/csv",
    "arrow": "application/vnd.apache.arrow.stream",
    "parquet": "application/vnd.apache.parquet",
}


def of_table(operation: str, body: str | bytes, media_type: str = "text/csv", **options: str) -> Any:
    return answered(operation, body, content_type=media_type, **options)


def written(columns: dict[str, list[Any]], kind: str) -> bytes:
    if kind == "csv":
        text = io.StringIO()
        csv.writer(text).writerows([[*columns], *zip(*columns.values(), strict=True)])
        return text.getvalue().encode()
    table, body = pa.table(columns), io.BytesIO()
    if kind == "parquet":
        parquet.write_table(table, body)
    else:
        with pa.ipc.new_stream(body, table.schema) as stream:
            stream.write_table(table)
    return body.getvalue()


def stand_ins(column: list[Any]) -> list[Any]:
    """The same order with finite numbers."""
    return [max(min(cell, BEYOND), -BEYOND) if isinstance(cell, float) else cell for cell in column]


def translated(value: Any, name: str = "") -> Any:
    """An answer for stand-ins, with the numbers that a JSON answer has for infinite thresholds."""
    if isinstance(value, dict):
        return {key: translated(member, key) for key, member in value.items() if key != "warnings"}
    if isinstance(value, list):
        return [translated(member, name) for member in value]
    if isinstance(value, float) and abs(value) == BEYOND:
        return LARGEST if value > 0 else -LARGEST
    return value


RANDOM = np.random.default_rng(0)
ROWS = 400
LABELS = RANDOM.integers(0, 2, ROWS).tolist()
SCORES = np.where(RANDOM.random(ROWS) < 0.8, np.round(RANDOM.normal(LABELS, 1.0), 2), RANDOM.choice([INF, -INF], ROWS))
SAMPLE = {"scores": SCORES.tolist(), "labels": LABELS}
WEIGHTED = SAMPLE | {"weights": RANDOM.random(ROWS).tolist()}
ALL = "auc,points,interpolated_pr,achievable_pr,calibration,statistics"
CURVES = {
    "include": ALL,
    "intervals": "{}",
    "operating_points": '[{"metric": "recall_at_precision", "at": 0.6}, {"metric": "f_measure", "at": 1}]',
    "partial": '[{"over": "fpr", "to": 0.3}]',
    "costs": '{"prevalence": [0.001, 0.5, 0.999]}',
}
RULES = (
    '[{"metric": "roc", "min": 0.5, "confidence": 0.9}, {"metric": "recall", "at_threshold": 0.5, "min": 0.1},'
    ' {"metric": "roc", "max_drop": 0.1, "confidence": 0.9}]'
)
ASKED: dict[str, tuple[str, dict[str, list[Any]], dict[str, str]]] = {
    "curves": ("curves", SAMPLE, CURVES),
    "lower": ("curves", SAMPLE, CURVES | {"lower_is_positive": "true"}),
    "weights": ("curves", WEIGHTED, CURVES),
    "cut": ("curves", SAMPLE, {"include": ALL, "thresholds": "-1,0.5"}),
    "tradeoffs": ("tradeoffs", SAMPLE, {"at_lambda": "0,0.5,1"}),
    "slices": (
        "slices",
        SAMPLE | {"country": RANDOM.choice(["DE", "FR"], ROWS).tolist()},
        {"slices": "country", "intervals": "{}", "operating_points": '[{"metric": "f_measure", "at": 1}]'},
    ),
    "weighted slices": (
        "slices",
        WEIGHTED | {"country": RANDOM.choice(["DE", "FR"], ROWS).tolist()},
        {"slices": "country"},
    ),
    "comparisons": (
        "comparisons",
        {"a": SAMPLE["scores"], "b": RANDOM.permutation(SAMPLE["scores"]).tolist(), "labels": LABELS},
        {"scores": "a,b"},
    ),
    "classes": (
        "classes",
        {"cat": SAMPLE["scores"], "dog": (-SCORES).tolist(), "labels": RANDOM.choice(["cat", "dog"], ROWS).tolist()},
        {"scores": "cat,dog"},
    ),
    "gates": (
        "gates",
        SAMPLE | {"old": RANDOM.permutation(SAMPLE["scores"]).tolist()},
        {"rules": RULES, "baseline_scores": "old", "paired": "true"},
    ),
    "groups": (
        "curves",
        {"score": [INF, 0.5, 0.25, -INF], "positives": [3, 2, 1, 1], "negatives": [1, 1, 2, 4]},
        {"include": ALL, "intervals": "{}"},
    ),
}


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("name", ASKED)
def test_the_answer_is_that_of_any_numbers_in_the_same_order(name: str, kind: str) -> None:
    operation, columns, options = ASKED[name]
    found = of_table(operation, written(columns, kind), TYPES[kind], **options)
    finite = {key: stand_ins(column) for key, column in columns.items()}
    expected = of_table(operation, written(finite, kind), TYPES[kind], **options)
    assert translated(found) == translated(expected)
    told = [warning for warning in found["warnings"] if warning["code"] == "infinite_scores"]
    assert bool(told) == (str(LARGEST) in json.dumps(found | {"warnings": []}))


@pytest.mark.parametrize("rows", [60, 30_000])
@pytest.mark.parametrize("scores", [[INF, -INF, 0.25, 0.5], [INF, 1e300, 1e-300, 3.0], [-INF, 7.0, 2.0], [INF, -INF]])
def test_compiled_and_plain_loops_rank_them_alike(library: Path, rows: int, scores: list[float]) -> None:
    column = RANDOM.choice(scores, rows).tolist()
    labels = RANDOM.integers(0, 2, rows).tolist()
    body = {"scores": column, "labels": labels}
    answers = []
    for path in (library, None):
        with used(path):
            answers.append(of_table("curves", written(body, "arrow"), TYPES["arrow"], include="auc,points"))
            assert COMPILED.path == path
    ranks = {score: float(rank) for rank, score in enumerate(sorted(scores))}
    answers.append(answered("curves", {"scores": [ranks[score] for score in column], "labels": labels}))
    counts = [[each["points"][key] for key in ("tp", "fp")] for each in answers]
    assert counts[0] == counts[1] == counts[2]
    assert answers[1]["auc"] == pytest.approx(answers[0]["auc"], rel=1e-14, abs=0)
    assert answers[2]["auc"] == pytest.approx(answers[0]["auc"], rel=1e-14, abs=0)


@pytest.mark.parametrize("word", ["inf", "Infinity", "INF", "+inf", " inf"])
def test_text_has_several_words_for_it(word: str) -> None:
    body = f"scores,labels\n{word},1\n-{word.strip(' +')},0\n2.1,0\n0.3,1\n"
    found = of_table("curves", body, include="points")["points"]
    assert found["threshold"] == [None, LARGEST, 2.1, 0.3, -LARGEST]
    assert found["tp"] == [0, 1, 1, 2, 2]
    listed = of_table("columns", body)
    assert listed["columns"]["type"] == ["number", "number"]


def test_formats_that_have_it_write_it() -> None:
    body = "scores,labels\ninf,1\n-inf,0\n0.5,1\n"
    result = ask("curves", body, content_type="text/csv", accept="text/csv", table="points")
    assert [row.split(",")[0] for row in result.body.decode().split()[1:]] == ["", "inf", "0.5", "-inf"]
    assert result.headers["Rocpr-Warnings"] == "[]"
    result = ask("curves", body, content_type="text/csv", accept=TYPES["arrow"], table="points")
    assert pa.ipc.open_stream(result.body).read_all()["threshold"].to_pylist() == [None, INF, 0.5, -INF]


def test_a_finite_score_as_large_as_the_stand_in_is_told() -> None:
    body = f"scores,labels\ninf,1\n{LARGEST},0\n0.5,1\n"
    found = of_table("curves", body, include="points")
    assert found["points"]["threshold"] == [None, LARGEST, LARGEST, 0.5]
    (told,) = found["warnings"]
    assert told["code"] == "infinite_scores"
    assert "CSV and Arrow tell them apart" in told["detail"]
    alone = of_table("curves", f"scores,labels\n{LARGEST},0\n0.5,1\n")
    assert alone["warnings"] == [] or alone["warnings"][0]["code"] != "infinite_scores"


COUNTS = "threshold,tp,fp,fn,tn\n{},0,0,3,3\n0.9,1,0,2,3\n0.7,3,1,0,2\n"


@pytest.mark.parametrize(
    "rows", [COUNTS.format("inf"), "\n".join(COUNTS.format("inf").split("\n")[i] for i in (0, 3, 1, 2))]
)
def test_a_threshold_of_inf_calls_nothing_positive(rows: str) -> None:
    found = of_table("curves", rows)
    assert found["auc"]["roc"] == 8 / 9
    assert found["points"]["threshold"] == [LARGEST, 0.9, 0.7, None]
    assert [warning["code"] for warning in found["warnings"]] == ["infinite_scores"]


def test_a_threshold_of_minus_inf_calls_everything_positive() -> None:
    found = of_table("curves", "threshold,tp,fp,fn,tn\n0.9,1,0,2,3\n-inf,3,3,0,0\n")
    assert found["points"]["threshold"] == [None, 0.9, -LARGEST]
    lower = "threshold,tp,fp,fn,tn\n-inf,0,0,3,3\n0.9,1,0,2,3\ninf,3,3,0,0\n"
    found = of_table("curves", lower, lower_is_positive="true")
    assert found["points"]["threshold"] == [-LARGEST, 0.9, LARGEST]


@pytest.mark.parametrize(
    ("rows", "options", "word"),
    [
        ("inf,1,0,2,3\n0.7,3,1,0,2\n", {}, "nothing"),
        ("0.7,1,1,2,2\n-inf,3,2,0,1\n", {}, "everything"),
        ("-inf,1,0,2,3\n0.7,3,1,0,2\n", {"lower_is_positive": "true"}, "nothing"),
        ("inf,0,3,3,0\n0.9,1,0,2,3\n", {}, "nothing"),  # not a sweep
    ],
)
def test_other_counts_at_an_infinite_threshold_are_refused(rows: str, options: dict[str, str], word: str) -> None:
    (error,) = errors("curves", f"threshold,tp,fp,fn,tn\n{rows}", content_type="text/csv", **options)
    assert error["code"] == "rising_thresholds"
    assert f"calls {word} positive" in error["detail"]
    assert "replace it by" in error["detail"]


@pytest.mark.parametrize("closed", ["both", "left", "right"])
def test_the_ends_of_groups_may_be_infinite(closed: str) -> None:
    body = "score_from,score_to,positives,negatives\n-inf,0.2,1,5\n0.2,0.8,3,3\n0.8,inf,6,1\n"
    if closed == "both":
        body = body.replace("0.2,0.8", "0.3,0.7")
    found = of_table("curves", body, closed=closed)
    finite = of_table("curves", body.replace("inf", "1e9"), closed=closed)
    assert found["bounds"] == finite["bounds"]
    assert found["auc"] == finite["auc"]


def test_thresholds_may_be_infinite() -> None:
    body = "scores,labels\ninf,1\n0.5,0\n-inf,1\n0.3,1\n"
    cut = of_table("curves", body, thresholds="inf, 0.5,-Infinity", include="points")["points"]
    assert cut["threshold"] == [None, LARGEST, 0.5, -LARGEST]
    assert cut["tp"] == [0, 1, 1, 3]
    finite = of_table("curves", "scores,labels\n0.7,1\n0.5,0\n", thresholds="inf,0.6", include="points")
    assert finite["points"]["threshold"] == [LARGEST, 0.6, None]
    rules = f'[{{"metric": "recall", "at_threshold": {LARGEST}, "min": 0.3}}]'
    (check,) = of_table("gates", body, rules=rules)["checks"]
    assert check["value"] == 1 / 3


def test_a_tuning_sample_may_have_them() -> None:
    tuning = {"scores": [LARGEST, 0.5, -LARGEST], "labels": [1, 0, 1]}
    found = answered("curves", {"scores": [0.9, 0.1], "labels": [1, 0], "tuning": tuning})
    assert found["selected_thresholds"][0] == LARGEST


def test_probabilities_are_finite() -> None:
    found = of_table("curves", "scores,labels\ninf,1\n0.5,0\n0.2,1\n", include="statistics")
    assert found["statistics"]["brier"] is None
    assert "brier_omitted" in [warning["code"] for warning in found["warnings"]]


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ('{"scores": [1, Infinity], "labels": [0, 1]}', "replace it by a number beyond all others"),
        ('{"scores": [1, -Infinity], "labels": [0, 1]}', "replace it by a number beyond all others"),
        ('{"scores": [1, NaN], "labels": [0, 1]}', "leave out its row"),
    ],
)
def test_json_has_no_such_number(body: str, sentence: str) -> None:
    problem = json.loads(ask("curves", body).body)
    assert problem["type"] == "/problems/malformed_body"
    assert sentence in problem["detail"]


@pytest.mark.parametrize(
    ("operation", "body", "options", "pointer"),
    [
        ("curves", "scores,labels,weights\n1,1,inf\n2,0,1\n", {}, "/weights/0"),
        ("curves", "tp,fp,positives\ninf,1,3\n", {"positives": "3", "negatives": "3"}, "/tp/0"),
        ("curves", "scores,labels\nnan,1\n2,0\n", {}, "/scores/0"),
        ("curves", "scores,labels\n1e999,1\n2,0\n", {}, "/scores/0"),
        ("curves", "scores,soft_labels\n1,inf\n2,0\n", {"soft_labels": "soft_labels"}, "/soft_labels/0"),
        ("tradeoffs", "scores,labels\n1,1\n2,0\n", {"at_lambda": "inf"}, "/at_lambda/0"),
    ],
)
def test_what_is_not_a_score_stays_finite(operation: str, body: str, options: dict[str, str], pointer: str) -> None:
    first = errors(operation, body, content_type="text/csv", **options)[0]
    assert (first["pointer"], first["code"]) == (pointer, "not_finite")


PICTURES = [
    ("curves", "curves", {}),
    ("curves", "curves", {"chart": "calibration"}),
    ("curves", "curves", {"chart": "costs", "costs": '{"prevalence": [0.1]}'}),
    ("curves", "curves", {"mark": "inf,0.5,-inf"}),
    ("tradeoffs", "tradeoffs", {}),
    ("comparisons", "comparisons", {}),
    ("slices", "slices", {}),
    ("classes", "classes", {}),
]


@pytest.mark.parametrize(("name", "operation", "options"), PICTURES)
def test_pictures_show_them(name: str, operation: str, options: dict[str, str]) -> None:
    _, columns, of_table = ASKED[name]
    kept = {key: of_table[key] for key in ("scores", "slices") if key in of_table}
    result = ask(operation, written(columns, "csv"), content_type="text/csv", accept="image/svg+xml", **kept, **options)
    assert result.status == 200, result.body
    text = result.body.decode()
    assert "nan" not in text.replace("nance", "")
    if options.get("chart") == "calibration":
        assert "Infinite scores are drawn" in text


def test_the_curve_in_characters_ignores_them() -> None:
    request = Request("curves", "/v1/curves", "text/csv", "text/plain", (), written(SAMPLE, "csv"))
    assert answer(request, LIMITS).status == 200


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("direction", [1, -1])
def test_a_threshold_of_a_json_answer_is_reached_by_infinite_scores(kind: str, direction: int) -> None:
    """It stands for infinity: what it called positive in the answer, it calls positive in a request."""
    scores = [direction * score for score in (2.0, -INF, 0.5, -INF, INF)]
    body = written({"scores": scores, "labels": [1, 1, 0, 0, 1]}, kind)
    options = {"lower_is_positive": "true"} if direction < 0 else {}
    points = of_table("curves", body, TYPES[kind], include="points", **options)["points"]
    cuts = points["threshold"][1:]
    assert cuts == [direction * cut for cut in (LARGEST, 2.0, 0.5, -LARGEST)]
    again = of_table("curves", body, TYPES[kind], include="points", thresholds=json.dumps(cuts), **options)["points"]
    assert (again["tp"], again["fp"]) == (points["tp"], points["fp"])
    for metric, row in (("recall", "tpr"), ("fpr", "fpr")):
        rules = json.dumps([{"metric": metric, "at_threshold": cut, "max": 1} for cut in cuts])
        checks = of_table("gates", body, TYPES[kind], rules=rules, **options)["checks"]
        assert [check["value"] for check in checks] == points[row][1:]


def test_groups_and_counts_are_reached_by_a_threshold_of_a_json_answer() -> None:
    rules = json.dumps([{"metric": "recall", "at_threshold": cut, "min": 0} for cut in (LARGEST, -LARGEST)])
    groups = "score_from,score_to,positives,negatives\n-inf,0.2,1,4\n0.5,inf,3,1\n"
    checks = of_table("gates", groups, rules=rules, closed="both")["checks"]
    assert [check["value"] for check in checks] == [0.375, 1.0]  # the first lies inside a group
    counts = "threshold,tp,fp,fn,tn\ninf,0,0,3,3\n0.9,1,0,2,3\n-inf,3,3,0,0\n"
    checks = of_table("gates", counts, rules=rules)["checks"]
    assert [check["value"] for check in checks] == [0.0, 1.0]


def test_what_stands_for_infinity_is_no_place_in_a_calibration_diagram() -> None:
    labels = [1, 1, 0, 0, 1]
    infinite = written({"scores": [0.9, -INF, 0.3, -INF, 0.2], "labels": labels}, "arrow")
    asked = {"scores": [0.9, -LARGEST, 0.3, -LARGEST, 0.2], "labels": labels, "charts": ["calibration"]}
    told = answered("curves", asked | {"include": ["auc"]})["charts"]["calibration"]
    assert (
        told
        == of_table("curves", infinite, TYPES["arrow"], include="auc", charts="calibration")["charts"]["calibration"]
    )
    assert "Infinite scores are drawn at the least or the greatest finite one" in told
