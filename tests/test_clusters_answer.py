"""Clusters in requests and answers: what they change, what they leave alone, and what is refused."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from service.wire.media_types import ARROW_STREAM, CSV
from tests.support.asking import answered, ask, errors

FILE = Path(__file__).parent / "data" / "clusters.csv"
ROWS = list(csv.DictReader(FILE.read_text().splitlines()))
COLUMNS = {name: [float(row[name]) for row in ROWS] for name in ("scores", "candidate")}
LABELS = [int(row["labels"]) for row in ROWS]
PATIENTS = [int(row["patient"]) for row in ROWS]
PLAIN: dict[str, Any] = {"scores": COLUMNS["scores"], "labels": LABELS}
SAMPLE = PLAIN | {"clusters": PATIENTS}
CANDIDATE: dict[str, Any] = {"scores": COLUMNS["candidate"], "labels": LABELS}
COUNTED = {"count": 40, "with_positives": 20, "with_negatives": 20, "largest": 5}
DROP = {"metric": "roc", "max_drop": 0.1, "confidence": 0.95}
ARROW = pa.BufferOutputStream()
with pa.ipc.new_stream(ARROW, (TABLE := pa.table({**COLUMNS, "labels": LABELS, "patient": PATIENTS})).schema) as stream:
    stream.write_table(TABLE)
BODIES = [(FILE.read_bytes(), CSV), (ARROW.getvalue().to_pybytes(), ARROW_STREAM)]


def codes(answer: dict[str, Any]) -> list[str]:
    return [warning["code"] for warning in answer["warnings"]]


def refused(operation: str, body: Any, **options: str) -> tuple[str, str, str]:
    (error,) = errors(operation, body, **options)
    return error["pointer"], error["code"], error["detail"]


def test_the_interval_of_the_example() -> None:
    found = answered("curves", SAMPLE | {"include": ["auc"], "intervals": {}})
    assert found["clusters"] == COUNTED
    assert found["intervals"]["roc"] == {
        "lower": pytest.approx(0.786410, abs=5e-7),
        "upper": pytest.approx(0.937726, abs=5e-7),
        "level": 0.95,
        "method": "logit",
        "standard_error": pytest.approx(0.035260, abs=5e-7),
        "design_effect": pytest.approx(2.374, abs=5e-4),
    }
    assert found["warnings"] == []


def test_without_clusters_answers_are_as_before() -> None:
    found = answered("curves", PLAIN | {"include": ["auc"], "intervals": {}})
    assert "clusters" not in found
    assert "design_effect" not in found["intervals"]["roc"]
    assert (found["intervals"]["roc"]["lower"], found["intervals"]["roc"]["upper"]) == pytest.approx(
        (0.828914, 0.919634), abs=5e-7
    )


@pytest.mark.parametrize(
    "options",
    [
        {"include": ["auc", "points", "statistics"]},
        {"operating_points": [{"metric": "tpr_at_fpr", "at": 0.2}], "partial": [{"to": 0.5, "over": "fpr"}]},
        {"decisions": [{"at_threshold": 0.5}, {"best": "f1"}], "gains": {}},
    ],
)
def test_no_value_changes(options: dict[str, Any]) -> None:
    assert answered("curves", SAMPLE | options) == answered("curves", PLAIN | options) | {"clusters": COUNTED}


@pytest.mark.parametrize(("body", "media_type"), BODIES)
def test_a_parameter_names_the_column(body: bytes, media_type: str) -> None:
    found = answered("curves", body, content_type=media_type, clusters="patient", include="auc", intervals="{}")
    assert found == answered("curves", SAMPLE | {"include": ["auc"], "intervals": {}})
    table = ask("curves", body, media_type, CSV, clusters="patient", include="auc", intervals="{}", table="intervals")
    assert table.body.splitlines()[0].replace(b'"', b"") == (
        b"area,lower,upper,level,method,standard_error,design_effect"
    )


def test_a_column_called_clusters_is_not_taken_unasked() -> None:
    body = FILE.read_text().replace("patient", "clusters", 1)
    found = answered("curves", body, content_type=CSV, include="auc", intervals="{}")
    assert "clusters" not in found


@pytest.mark.parametrize(
    "baseline",
    [CANDIDATE, CANDIDATE | {"clusters": PATIENTS}, CANDIDATE | {"clusters": [str(each) for each in PATIENTS]}],
)
def test_the_difference_of_the_example(baseline: dict[str, Any]) -> None:
    body = SAMPLE | {"baseline": baseline, "paired": True, "rules": [DROP]}
    found = answered("gates", body)
    (check,) = found["checks"]
    assert found["clusters"] == COUNTED
    assert (check["interval"]["lower"], check["interval"]["upper"]) == pytest.approx((-0.0569, 0.0997), abs=5e-5)
    assert check["interval"]["design_effect"] == pytest.approx(1.927, abs=5e-4)
    assert (check["status"], check["p_value"]) == ("passed", pytest.approx(0.5345, abs=5e-5))
    ignored = answered("gates", PLAIN | {"baseline": CANDIDATE, "paired": True, "rules": [DROP]})["checks"][0]
    assert ignored["interval"]["lower"] == pytest.approx(-0.0285, abs=5e-5)
    assert "design_effect" not in ignored["interval"]


def test_tables_with_two_columns_of_scores() -> None:
    options = {"baseline_scores": "candidate", "clusters": "patient", "paired": "true", "rules": json.dumps([DROP])}
    body = SAMPLE | {"baseline": CANDIDATE, "paired": True, "rules": [DROP]}
    for table, media_type in BODIES:
        assert answered("gates", table, content_type=media_type, **options) == answered("gates", body)


def test_models_that_are_not_paired_may_share_clusters() -> None:
    """Even rows of each patient for one model, odd rows for the other; text is compared with integers."""
    one = {name: column[::2] for name, column in SAMPLE.items()}
    other = {name: column[1::2] for name, column in (CANDIDATE | {"clusters": PATIENTS}).items()}
    ends = []
    for clusters in (
        other["clusters"],
        [str(each) for each in other["clusters"]],
        [f"x{each}" for each in PATIENTS[1::2]],
    ):
        found = answered("gates", one | {"baseline": other | {"clusters": clusters}, "rules": [DROP]})
        interval = found["checks"][0]["interval"]
        ends.append((interval["lower"], interval["upper"]))
    assert ends[0] == ends[1]
    assert ends[0][1] - ends[0][0] < 0.95 * (ends[2][1] - ends[2][0])


def test_a_paired_baseline_with_other_clusters() -> None:
    wrong = [*PATIENTS[:-1], 7]
    body = SAMPLE | {"baseline": CANDIDATE | {"clusters": wrong}, "paired": True, "rules": [DROP]}
    pointer, code, detail = refused("gates", body)
    assert (pointer, code) == ("/baseline/clusters/199", "not_paired")
    assert (
        detail == "Row 199, counting from 0, has different clusters in the two evaluations, so they cannot be paired."
    )


def test_comparisons() -> None:
    evaluations = [{"name": "scores", **SAMPLE}, {"name": "candidate", **CANDIDATE}]
    body = {"evaluations": evaluations, "intervals": {}, "paired": True}
    found = answered("comparisons", body)
    assert found["clusters"] == COUNTED
    of_roc = found["differences"]["area"].index("roc")
    assert found["differences"]["lower"][of_roc] == pytest.approx(-0.0997, abs=5e-5)
    assert found["differences"]["upper"][of_roc] == pytest.approx(0.0569, abs=5e-5)
    assert found["differences"]["design_effect"][of_roc] == pytest.approx(1.927, abs=5e-4)
    assert found["intervals"]["design_effect"][0] == pytest.approx(2.374, abs=5e-4)
    in_table = answered(
        "comparisons", FILE.read_text(), content_type=CSV, scores="scores,candidate", clusters="patient", intervals="{}"
    )
    assert in_table == found
    plain = {"evaluations": [{"name": "a", **PLAIN}, {"name": "b", **CANDIDATE}], "intervals": {}}
    without = answered("comparisons", plain)
    assert "clusters" not in without
    assert "design_effect" not in without["differences"]


def test_slices() -> None:
    """A slice has the intervals of a call with its rows alone."""
    slices = [["a", "b"][row % 2] for row in range(200)]
    options = {"intervals": {}, "decisions": [{"at_threshold": 0.5}]}
    found = answered("slices", SAMPLE | options | {"slices": {"half": slices}})
    assert found["overall"]["clusters"] == COUNTED
    for number in range(2):
        alone = {name: [column[row] for row in range(number, 200, 2)] for name, column in SAMPLE.items()}
        curves = answered("curves", alone | options | {"include": ["auc"]})
        assert found["slices"]["roc_lower"][number] == curves["intervals"]["roc"]["lower"]
        for end in ("recall_lower", "recall_upper", "precision_lower", "precision_upper"):
            assert found["decisions"][end][number] == pytest.approx(curves["decisions"][end][0], rel=1e-12)


def test_classes() -> None:
    """Three classes, of which each patient has one."""
    names = [[*"abc"][patient % 3] for patient in PATIENTS]
    scores = {
        name: [score + (label == name) for score, label in zip(COLUMNS["scores"], names, strict=True)] for name in "abc"
    }
    body = {"scores": scores, "labels": names, "intervals": {}}
    ours, plain = answered("classes", body | {"clusters": PATIENTS}), answered("classes", body)
    assert ours["clusters"] == {"count": 40, "largest": 5}
    assert "clusters" not in plain
    assert ours["averages"]["roc"] == plain["averages"]["roc"]
    for table in ("classes", "averages"):
        for row in range(3):
            lower, upper = (ours[table][f"roc_{end}"][row] for end in ("lower", "upper"))
            assert upper - lower > 1.2 * (plain[table]["roc_upper"][row] - plain[table]["roc_lower"][row])
    first = {"scores": scores["a"], "labels": [int(name == "a") for name in names], "clusters": PATIENTS}
    alone = answered("curves", first | {"include": ["auc"], "intervals": {}})["intervals"]["roc"]
    assert ours["classes"]["roc_lower"][0] == alone["lower"]
    few = answered("classes", body | {"clusters": names})
    assert few["averages"]["roc_lower"] == [None] * 3
    assert set(codes(few)) == {"too_few_examples"}
    assert refused("classes", body | {"clusters": PATIENTS[1:]})[:2] == ("/clusters", "lengths_differ")


def test_intervals_of_everything_else() -> None:
    """They are those of gates, and wider than without clusters."""
    points = [{"metric": "tpr_at_fpr", "at": 0.2}, {"metric": "precision_at_recall", "at": 0.6}]
    options = {
        "include": ["points"],
        "metrics": ["recall", "precision"],
        "operating_points": points,
        "partial": [{"over": "fpr", "to": 0.5}],
        "decisions": [{"at_threshold": 0.5}],
        "intervals": {},
    }
    ours, plain = (answered("curves", each | options) for each in (SAMPLE, PLAIN))
    for table in ("operating_points", "partial"):
        for place in range(len(ours[table]["lower"])):
            assert ours[table]["upper"][place] - ours[table]["lower"][place] > (
                plain[table]["upper"][place] - plain[table]["lower"][place]
            )
    assert ours["partial"]["design_effect"][0] > 1
    rules = [{"metric": each, "at_threshold": 0.5, "min": 0.1, "confidence": 0.95} for each in ("recall", "precision")]
    rules += [{**each, "min": 0.1, "confidence": 0.95} for each in points]
    checks = answered("gates", SAMPLE | {"rules": rules})["checks"]
    ends = [(check["interval"]["lower"], check["interval"]["upper"]) for check in checks]
    of_points = zip(ours["operating_points"]["lower"], ours["operating_points"]["upper"], strict=True)
    of_decision = [
        (ours["decisions"][f"{name}_lower"][0], ours["decisions"][f"{name}_upper"][0])
        for name in ("recall", "precision")
    ]
    assert ends == [pytest.approx(each, rel=1e-12) for each in (*of_decision, *of_points)]
    row = ours["points"]["threshold"].index(
        max(t for t in ours["points"]["threshold"] if t is not None and t <= 0.5189)
    )
    assert ours["points"]["recall_lower"][row] < ours["points"]["recall"][row]


def test_a_bootstrap_of_clusters() -> None:
    widths = []
    for sample in (SAMPLE, PLAIN):
        body = sample | {"include": ["auc"], "intervals": {"method": "bootstrap", "resamples": 1000}}
        interval = answered("curves", body)["intervals"]["roc"]
        assert interval["method"] == "bootstrap"
        widths.append(interval["upper"] - interval["lower"])
    assert 1.2 < widths[0] / widths[1] < 1.9


BCA = {"intervals": {"method": "bca"}}
SOFT = {"scores": [0.9, 0.4, 0.2], "soft_labels": [0.8, 0.5, 0.1], "clusters": ["a", "a", "b"]}
COUNTS = {"counts": {"tp": [1], "fp": [0], "positives": 2, "negatives": 2}}
GROUPS = {"groups": {"score": [0.9, 0.1], "positives": [2, 0], "negatives": [0, 2]}}
SMALL = {"scores": [0.9, 0.4, 0.2], "labels": [1, 0, 1]}


@pytest.mark.parametrize(
    ("operation", "body", "pointer", "code"),
    [
        ("curves", SAMPLE | BCA, "/intervals/method", "exclusive"),
        ("gates", SAMPLE | BCA | {"rules": [{"metric": "roc", "min": 0.5}]}, "/intervals/method", "exclusive"),
        (
            "comparisons",
            BCA | {"evaluations": [{"name": "a", **PLAIN}, {"name": "b", **SAMPLE}]},
            "/intervals/method",
            "exclusive",
        ),
        ("curves", SAMPLE | {"band": {"kind": "pointwise"}}, "/band", "exclusive"),
        ("curves", SOFT, "/clusters", "exclusive"),
        ("curves", COUNTS | {"clusters": ["a"]}, "/clusters", "exclusive"),
        ("curves", GROUPS | {"clusters": ["a"]}, "/clusters", "exclusive"),
        ("slices", GROUPS | {"clusters": ["a", "b"], "slices": {"c": ["x", "y"]}}, "/clusters", "exclusive"),
        (
            "plans",
            {"assumptions": {"roc": 0.9}, "clusters": ["a"], "rules": [{"metric": "roc", "min": 0.8}]},
            "/clusters",
            "exclusive",
        ),
        ("tradeoffs", SMALL | {"clusters": ["a", "a", "b"]}, "/clusters", "unknown_field"),
        ("curves", SMALL | {"clusters": ["a", "b"]}, "/clusters", "lengths_differ"),
        ("curves", SMALL | {"clusters": ["a", None, "b"]}, "/clusters/1", "missing"),
        ("curves", SMALL | {"clusters": [1, 2.5, 1]}, "/clusters/1", "not_a_cluster"),
        ("curves", SMALL | {"clusters": ["a", 1, "b"]}, "/clusters/1", "not_a_cluster"),
        ("curves", SMALL | {"tuning": SMALL | {"clusters": ["a", "a", "b"]}}, "/tuning/clusters", "unknown_field"),
    ],
)
def test_what_is_refused(operation: str, body: dict[str, Any], pointer: str, code: str) -> None:
    assert refused(operation, body)[:2] == (pointer, code)


@pytest.mark.parametrize(
    ("table", "options", "pointer", "code"),
    [
        ("scores,labels,g\n0.9,1,a\n0.8,0,\n0.3,1,b\n", {"clusters": "g"}, "/g/1", "missing"),
        ("scores,labels\n0.9,1\n0.8,0\n", {"clusters": "g"}, "/clusters", "missing"),
        ("scores,soft_labels,g\n0.9,1,a\n0.8,0,a\n", {"clusters": "g"}, "/clusters", "exclusive"),
        ("score,positives,negatives,g\n0.9,1,2,a\n0.8,0,3,a\n", {"clusters": "g"}, "/clusters", "exclusive"),
        ("tp,fp,fn,tn,g\n1,1,2,3,a\n", {"clusters": "g"}, "/g", "exclusive"),
    ],
)
def test_what_is_refused_of_tables(table: str, options: dict[str, str], pointer: str, code: str) -> None:
    assert refused("curves", table, content_type=CSV, **options)[:2] == (pointer, code)


def test_rows_without_a_cluster_are_left_out_if_asked() -> None:
    table = "scores,labels,g\n0.9,1,a\n0.8,0,\n0.3,1,b\n0.2,0,NA\n0.1,0,b\n"
    found = answered("curves", table, content_type=CSV, clusters="g", missing="drop", include="auc")
    assert found["clusters"] == {"count": 3, "with_positives": 2, "with_negatives": 2, "largest": 2}
    assert codes(found) == ["rows_left_out"]


def test_few_clusters() -> None:
    few = [each // 4 for each in PATIENTS]
    found = answered("curves", PLAIN | {"clusters": few, "include": ["auc"], "intervals": {}})
    assert codes(found) == ["few_clusters", "few_clusters"]
    assert found["warnings"][0]["detail"] == (
        "The positives are in 5 effective clusters: intervals are wide, and hold only if clusters are alike."
    )
    one = answered("curves", PLAIN | {"clusters": LABELS, "include": ["auc"], "intervals": {}})
    assert one["intervals"]["roc"] is None
    assert codes(one) == ["too_few_examples"]
    assert "two effective clusters" in one["warnings"][0]["detail"]


def test_a_column_of_patients_that_is_not_used() -> None:
    for table, media_type in BODIES:
        told = answered("curves", table, content_type=media_type, include="auc", intervals="{}")
        assert codes(told) == ["unused_clusters"]
        assert "'patient'" in told["warnings"][0]["detail"]
        assert codes(answered("curves", table, content_type=media_type, include="auc")) == []
    body = FILE.read_text()
    rules = {"rules": json.dumps([{"metric": "roc", "min": 0.5, "confidence": 0.9}])}
    assert codes(answered("gates", body, content_type=CSV, **rules)) == ["unused_clusters"]
    assert codes(answered("gates", body, content_type=CSV, rules='[{"metric": "roc", "min": 0.5}]')) == []
    once = "scores,labels,user\n" + "".join(f"{row['scores']},{row['labels']},u{n}\n" for n, row in enumerate(ROWS))
    assert codes(answered("curves", once, content_type=CSV, include="auc", intervals="{}")) == []
    sliced = answered("slices", body.replace("patient", "group", 1), content_type=CSV, slices="group", intervals="{}")
    assert "unused_clusters" not in codes(sliced)
