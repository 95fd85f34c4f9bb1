"""Decisions and metrics, requested with curves: every field on every kind of input, in every format of an answer."""

from __future__ import annotations

import csv
import io
import json
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from service.answer import answer
from service.curves.decisions import DEFAULT_METRICS, LIMITS_OF_BEST, WAYS_TO_CHOOSE
from service.curves.row_metrics import ROW_METRICS
from service.datasets.file import Dataset
from service.extras import _is_installed
from service.request import Request
from service.wire.media_types import ARROW_STREAM, CSV, JSON, PARQUET
from tests.properties.bodies import arrow_body, parquet_body
from tests.support import asking

ask = partial(asking.ask, "curves")
curves = partial(asking.answered, "curves")
errors = partial(asking.errors, "curves")

SCORES = [0.95, 0.9, 0.8, 0.7, 0.7, 0.6, 0.55, 0.4, 0.35, 0.3, 0.2, 0.1]
LABELS = [1, 1, 0, 1, 0, 1, 0, 0, 1, 0, 0, 0]
SAMPLE = {"scores": SCORES, "labels": LABELS}
ROWS = {
    "score": [0.95, 0.9, 0.8, 0.7, 0.6, 0.55, 0.4, 0.35, 0.3, 0.2, 0.1],
    "positives": [1, 1, 0, 1, 1, 0, 0, 1, 0, 0, 0],
    "negatives": [0, 0, 1, 1, 0, 1, 1, 0, 1, 1, 1],
}
"""The same twelve rows as groups."""

ASKED: dict[str, tuple[dict[str, Any], tuple[float | None, int, int]]] = {
    "at_threshold": ({"at_threshold": 0.55}, (0.55, 4, 3)),
    "at_share": ({"at_share": 0.25}, (0.8, 2, 1)),
    "at_fpr": ({"at_fpr": 0.2}, (0.8, 2, 1)),
    "at_recall": ({"at_recall": 0.6}, (0.7, 3, 2)),
    "best": ({"best": "mcc"}, (0.9, 2, 0)),
    "min_precision": ({"best": "recall", "min_precision": 0.6}, (0.6, 4, 2)),
    "min_recall": ({"best": "precision", "min_recall": 0.6}, (0.6, 4, 2)),
    "min_specificity": ({"best": "recall", "min_specificity": 0.8}, (0.9, 2, 0)),
    "max_fpr": ({"best": "f1", "max_fpr": 0.2}, (0.9, 2, 0)),
    "max_share": ({"best": "mcc", "max_share": 0.1}, (0.95, 1, 0)),
}
"""{field of a decision: a decision that has it, and its row: threshold, tp and fp}"""

TP, FP = [1, 2, 2, 3, 4, 4, 4, 5, 5, 5, 5], [0, 0, 1, 2, 2, 3, 4, 4, 5, 6, 7]
COUNTS = {"threshold": ROWS["score"], "tp": TP, "fp": FP, "positives": 5, "negatives": 7}
TABLE = {"scores": SCORES, "labels": LABELS}
HALF = {"precision": 4 / 7, "recall": 0.8}


def csv_of(columns: dict[str, list[Any]]) -> str:
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    return out.getvalue()


def columns_of(counts: dict[str, Any]) -> dict[str, list[Any]]:
    return {name: column for name, column in counts.items() if isinstance(column, list)}


BODIES: dict[str, dict[str, Any]] = {
    "a sample": SAMPLE,
    "a sample with weights": SAMPLE | {"weights": [1.0] * 12},
    "soft labels": {"scores": SCORES, "soft_labels": LABELS},
    "low scores that are positive": SAMPLE | {"scores": [-score for score in SCORES], "lower_is_positive": True},
    "groups": {"groups": ROWS},
    "counts": {"counts": COUNTS},
}
"""Inputs in JSON, all with the same rows."""

TABLES: dict[str, tuple[Any, str, dict[str, str]]] = {
    "CSV": (csv_of(TABLE), CSV, {}),
    "CSV of groups": (csv_of(ROWS), CSV, {}),
    "CSV of counts": (csv_of(columns_of(COUNTS)), CSV, {"positives": "5", "negatives": "7"}),
    "Arrow": (arrow_body(pa.table(TABLE)), ARROW_STREAM, {}),
    "Parquet": (parquet_body(pa.table(TABLE)), PARQUET, {}),
    "Parquet of groups": (parquet_body(pa.table(ROWS)), PARQUET, {}),
}
"""Inputs as tables: the body, its media type, and its other options."""


def decided(given: str, decisions: list[dict[str, Any]], **options: Any) -> dict[str, Any]:
    """The decisions on an input."""
    if given in BODIES:
        found = curves(BODIES[given] | {"decisions": decisions} | options)
    else:
        body, media_type, more = TABLES[given]
        texts = {name: json.dumps(value) for name, value in options.items()}
        found = curves(body, content_type=media_type, decisions=json.dumps(decisions), **more, **texts)
    assert [*found] == ["positives", "negatives", "decisions", "warnings"]
    assert found["warnings"] == []
    table: dict[str, Any] = found["decisions"]
    return table


def test_every_field_is_asked() -> None:
    assert {*ASKED} == {*WAYS_TO_CHOOSE, *LIMITS_OF_BEST}


@pytest.mark.parametrize("given", [*BODIES, *TABLES])
def test_every_field_on_every_input(given: str) -> None:
    """All inputs have the same rows, so all have the same answer; counts of a sample stay whole."""
    sign = -1 if given.startswith("low") else 1
    asked = [
        decision | ({"at_threshold": sign * 0.55} if name == "at_threshold" else {})
        for name, (decision, _) in ASKED.items()
    ]
    found = decided(given, asked)
    rows = [row for _, row in ASKED.values()]
    assert found["threshold"] == [sign * threshold for threshold, _, _ in rows]
    assert [*zip(found["tp"], found["fp"], strict=True)] == [(tp, fp) for _, tp, fp in rows]
    assert [*zip(found["fn"], found["tn"], strict=True)] == [(5 - tp, 7 - fp) for _, tp, fp in rows]
    assert [*found] == ["decision", "threshold", "tp", "fp", "fn", "tn", *DEFAULT_METRICS]
    assert {name: found[name][0] for name in HALF} == HALF


@pytest.mark.parametrize("given", [*BODIES, *TABLES])
def test_every_metric_on_every_input(given: str) -> None:
    """In the order of the contract, under the name asked for."""
    at = -0.55 if given.startswith("low") else 0.55
    asked = list(ROW_METRICS)[::-1]
    found = decided(given, [{"at_threshold": at}, {"at_share": 0}], metrics=asked)
    assert [*found][6:] == list(ROW_METRICS)
    assert found["sensitivity"] == found["tpr"] == found["recall"] == [0.8, 0]
    assert found["ppv"] == found["precision"] == [4 / 7, None]
    assert found["mcc"][0] == pytest.approx(13 / 35)
    assert [found[name][1] for name in ("mcc", "lift", "lr_positive", "markedness")] == [None] * 4


def test_a_dataset(tmp_path: Path) -> None:
    if not _is_installed("duckdb"):
        pytest.skip("needs duckdb")
    (tmp_path / "rows.csv").write_text(csv_of({"p": SCORES, "y": LABELS}))
    dataset = Dataset("rows", "duckdb", "p", "y", ("ann",), location=(str(tmp_path / "*.csv"),), positive_label="1")
    asked = {"dataset": "rows", "decisions": [decision for decision, _ in ASKED.values()], "metrics": ["mcc"]}
    body = json.dumps(asked).encode()
    given = answer(Request("curves", "/v1/curves", JSON, JSON, (), body, datasets={"rows": dataset}), asking.LIMITS)
    found = json.loads(given.body)["decisions"]
    assert found == decided("a sample", asked["decisions"], metrics=["mcc"])  # type: ignore[arg-type]  # a list


class TestAnswer:
    ASKED = SAMPLE | {
        "decisions": [
            {"at_threshold": 0.5},
            {"best": "recall", "min_specificity": 1, "min_precision": 1, "min_recall": 1},
        ]
    }

    def test_a_decision_that_no_row_meets_is_null(self) -> None:
        found = curves(self.ASKED)["decisions"]
        assert found["decision"][1] == "best recall, precision >= 1, recall >= 1, specificity >= 1"
        assert {name for name, column in found.items() if column[1] is None} == {*found} - {"decision"}
        assert (found["tp"][0], type(found["tp"][0])) == (4, int)

    def test_it_has_nothing_else_unless_asked(self) -> None:
        assert [*curves(self.ASKED | {"include": ["auc"]})] == [
            "positives",
            "negatives",
            "auc",
            "decisions",
            "warnings",
        ]
        everything = {"include": ["auc", "points"], "operating_points": [{"metric": "f_measure", "at": 0.5}]}
        found = curves(self.ASKED | everything)
        assert found == curves(SAMPLE | everything) | {"decisions": found["decisions"], "warnings": found["warnings"]}

    @pytest.mark.parametrize("empty", [None, []])
    def test_nothing_asked_for_is_nothing(self, empty: object) -> None:
        assert curves(SAMPLE | {"decisions": empty, "metrics": empty}) == curves(SAMPLE)

    def test_csv_and_arrow_hold_the_same_table(self) -> None:
        whole = curves(self.ASKED)["decisions"]
        text = asking.read_csv(ask(self.ASKED, accept=CSV).body.decode())
        assert text == whole
        table = pa.ipc.open_stream(ask(self.ASKED, accept=ARROW_STREAM).body).read_all()
        assert table.to_pydict() == whole
        assert [table.schema.field(name).type for name in ("decision", "tp", "mcc")] == [
            pa.string(),
            pa.int64(),
            pa.float64(),
        ]
        assert (
            asking.read_csv(ask(self.ASKED | {"include": ["points"]}, accept=CSV, table="decisions").body.decode())
            == whole
        )

    def test_thresholds_in_a_query(self) -> None:
        options = {"content_type": CSV, "metrics": "f1, mcc"}
        found = curves(csv_of(TABLE), decisions="0.5,0.9", **options)["decisions"]
        assert (
            found
            == curves(csv_of(TABLE), decisions='[{"at_threshold": 0.5}, {"at_threshold": 0.9}]', **options)["decisions"]
        )
        assert found["decision"] == ["threshold 0.5", "threshold 0.9"]
        assert [*found][6:] == ["f1", "mcc"]

    def test_points_with_metrics(self) -> None:
        """Those that are there already are not repeated."""
        names = ["lift", "recall", "f0_5"]
        found = curves(SAMPLE | {"metrics": names, "include": ["points"], "keep": "hull"})["points"]
        plain = curves(SAMPLE | {"include": ["points"], "keep": "hull"})["points"]
        assert [*found] == [*plain, "f0_5", "lift"]
        assert {name: found[name] for name in plain} == plain
        assert found["lift"][:3] == [None, 2.4, 2.4]
        assert asking.read_csv(ask(SAMPLE | {"metrics": names, "keep": "hull"}, accept=CSV).body.decode()) == found

    def test_the_smallest_and_the_greatest_threshold(self) -> None:
        """The greatest doubles stand for infinities, as in gates."""
        greatest = 1.7976931348623157e308
        found = curves(SAMPLE | {"decisions": [{"at_threshold": greatest}, {"at_threshold": -greatest}]})["decisions"]
        assert (found["threshold"], found["tp"], found["fp"]) == ([greatest, -greatest], [0, 5], [0, 7])

    def test_counts_that_are_no_sweep(self) -> None:
        counts = {"tp": [3, 1], "fp": [1, 3], "threshold": [0.5, 0.4], "positives": 4, "negatives": 4}
        found = curves({"counts": counts, "decisions": [{"best": "f1"}, {"at_share": 0.5}, {"at_threshold": 0.45}]})
        assert (found["decisions"]["tp"], found["decisions"]["fp"]) == ([3, 1, None], [1, 3, None])
        assert [warning["code"] for warning in found["warnings"]] == ["threshold_not_a_row", "not_a_sweep"]

    def test_open_groups(self) -> None:
        groups = {"score_from": [0, 0.5], "score_to": [0.4, 1], "positives": [1, 3], "negatives": [3, 1]}
        found = curves({"groups": groups, "decisions": [{"at_threshold": 0.5}, {"at_threshold": 0.7}, {"best": "f1"}]})
        assert (found["decisions"]["tp"], found["decisions"]["fp"]) == ([3, None, 3], [1, None, 1])
        assert "threshold_not_a_row" in [warning["code"] for warning in found["warnings"]]

    def test_a_tuning_sample(self) -> None:
        tuning = {"scores": [0.9, 0.58, 0.3, 0.1], "labels": [1, 1, 0, 0]}
        found = curves(SAMPLE | {"tuning": tuning, "decisions": [{"best": "f1"}]})
        assert [found["decisions"][name] for name in ("threshold", "tp", "fp")] == [[0.58], [4], [2]]

    def test_a_picture_draws_none(self) -> None:
        assert ask(self.ASKED, accept="image/svg+xml").status == 200


NAMES = "Must be one of accuracy, balanced_accuracy, precision, "
ONE = "Give exactly one of at_threshold, at_share, at_fpr, at_recall and best."


@pytest.mark.parametrize(
    ("options", "pointer", "code", "detail"),
    [
        ({"decisions": [{"at_threshold": 0.5}, {"min_recall": 0.5}]}, "/decisions/1", "missing", ONE),
        ({"decisions": [{"at_threshold": 0.5, "best": "f1"}]}, "/decisions/0", "exclusive", ONE),
        (
            {"decisions": [{"at_fpr": 0.5, "min_recall": 0.5}]},
            "/decisions/0/min_recall",
            "exclusive",
            "Only best takes limits.",
        ),
        ({"decisions": [{"at_share": 1.5}]}, "/decisions/0/at_share", "out_of_range", "This is above 1."),
        ({"decisions": [{"best": "share"}]}, "/decisions/0/best", "not_one_of", NAMES),
        ({"decisions": [{"best": "F1-Score"}]}, "/decisions/0/best", "not_one_of", f"Did you mean f1? {NAMES}"),
        (
            {"decisions": [{"at_treshold": 1}]},
            "/decisions/0/at_treshold",
            "unknown_field",
            "Unknown field; did you mean at_threshold?",
        ),
        (
            {"decisions": [{"at_threshold": 1}] * 1001},
            "/decisions",
            "wrong_length",
            "Must have 0 to 1000 items, not 1001.",
        ),
        (
            {"metrics": ["mcc"], "include": ["auc"]},
            "/metrics",
            "exclusive",
            "These are for decisions and for points; ask for one of them.",
        ),
        ({"metrics": ["mcc", "mc"]}, "/metrics/1", "not_one_of", f"Did you mean mcc? {NAMES}"),
    ],
)
def test_what_is_refused(options: dict[str, Any], pointer: str, code: str, detail: str) -> None:
    (error,) = errors(SAMPLE | options)
    assert (error["pointer"], error["code"]) == (pointer, code)
    assert error["detail"].startswith(detail)


@pytest.mark.parametrize("text", ["0.5,", "[{}]", "0.5;0.9", "half", "[0.5", '{"at_threshold": 1}'])
def test_what_is_refused_in_a_query(text: str) -> None:
    (error, *_) = errors(csv_of(TABLE), content_type=CSV, decisions=text)
    assert error["pointer"].startswith("/decisions")


OTHER_NAMES = {
    "f1_score": "f1",
    "f-score": "f1",
    "F0.5": "f0_5",
    "bal_accuracy": "balanced_accuracy",
    "balanced_accuracy_score": "balanced_accuracy",
    "matthews_corrcoef": "mcc",
    "cohen_kappa_score": "kappa",
    "Informedness": "youden",
    "TNR": "specificity",
    "hit_rate": "sensitivity",
    "positive predictive value": "ppv",
    "negative_predictive_value": "npv",
    "fall-out": "fpr",
    "miss_rate": "fnr",
    "fdr": "precision (fdr is 1 - precision)",
    "for": "npv (it is 1 - npv)",
    "selection_rate": "share",
    "threat_score": "jaccard",
    "lr+": "lr_positive",
    "lr-": "lr_negative",
    "capture_rate": "recall",
    "response_rate": "precision",
    "jacard": "jaccard",
}


@pytest.mark.parametrize("name", OTHER_NAMES)
def test_a_metric_that_others_call_otherwise(name: str) -> None:
    (error,) = errors(SAMPLE | {"metrics": [name]})
    assert error["detail"].startswith(f"Did you mean {OTHER_NAMES[name]}? {NAMES}")
