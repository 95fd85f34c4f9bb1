"""Partial areas, requested with curves: what is answered, in which form, and what is refused."""

import csv
import io
import json
from functools import partial

import pyarrow as pa
import pytest

from service.wire.requests.curves_schemas import MOST_PARTIAL
from tests.support import asking

ask = partial(asking.ask, "curves")
curves = partial(asking.answered, "curves")
refusals = partial(asking.refusals, "curves")

SAMPLE = {"scores": [0.9, 0.8, 0.7, 0.7, 0.4, 0.2], "labels": [1, 0, 1, 1, 0, 0]}
RANGES = [
    {"over": "fpr", "from": 0, "to": 0.25},
    {"over": "tpr", "from": 0.5},
    {"over": "recall", "to": 0.25},
    {"over": "fpr", "min_tpr": 0.5},
]
ASKED = SAMPLE | {"partial": RANGES}
COLUMNS = ["over", "from", "to", "min_tpr", "area", "mean", "mcclish"]


class TestAnswer:
    def test_is_a_table_of_what_was_asked_for(self):
        answer = curves(ASKED)
        assert list(answer)[-2:] == ["partial", "warnings"]
        found = answer["partial"]
        assert list(found) == COLUMNS
        assert found["over"] == ["fpr", "tpr", "recall", "fpr"]
        assert (found["from"], found["to"]) == ([0, 0.5, 0, 0], [0.25, 1, 0.25, 1])
        assert found["min_tpr"] == [None, None, None, 0.5]
        assert found["area"] == pytest.approx([1 / 12, 1 / 3, 1 / 4, 1 / 3], rel=1e-15)
        assert found["mean"] == pytest.approx([1 / 3, 2 / 3, 1, 2 / 3], rel=1e-15)
        assert found["mcclish"] == [pytest.approx(13 / 21), pytest.approx(7 / 9), None, None]
        assert {name: part for name, part in answer.items() if name != "partial"} == curves(SAMPLE)

    def test_a_set_that_is_not_a_sweep_has_none(self):
        counts = {"tp": [3, 1], "fp": [1, 2], "positives": 4, "negatives": 4}
        answer = curves({"counts": counts, "partial": RANGES})
        assert answer["partial"]["area"] == [None] * 4
        assert [warning["code"] for warning in answer["warnings"]] == ["not_a_sweep"]

    def test_what_no_double_holds_is_null(self):
        body = {"scores": [1, 0], "labels": [0, 1], "partial": [{"over": "tpr", "to": 5e-324}]}
        assert curves(body)["partial"]["mcclish"] == [None]

    def test_is_of_the_reduced_table(self):
        whole = {"include": ["auc"], "partial": [{"over": "fpr"}], "thresholds": [0.8]}
        answer = curves(SAMPLE | whole)
        assert answer["partial"]["area"] == [answer["auc"]["roc"]]

    def test_as_many_as_there_may_be(self):
        ranges = [{"over": "fpr"}] * MOST_PARTIAL
        assert len(curves(SAMPLE | {"partial": ranges})["partial"]["area"]) == MOST_PARTIAL
        assert refusals(SAMPLE | {"partial": [*ranges, ranges[0]]}) == [("/partial", "wrong_length")]


class TestTable:
    def test_is_the_same_in_every_format(self):
        expected = curves(ASKED)["partial"]
        lines = "\n".join(f"{score},{label}" for score, label in zip(*SAMPLE.values(), strict=True))
        asked = curves(f"scores,labels\n{lines}\n", content_type="text/csv", partial=json.dumps(RANGES))
        assert asked["partial"] == expected
        header, *rows = csv.reader(io.StringIO(ask(ASKED, accept="text/csv", table="partial").body.decode()))
        assert header == COLUMNS
        assert [row[0] for row in rows] == expected["over"]
        typed = ask(ASKED, accept="application/vnd.apache.arrow.stream", table="partial").body
        assert pa.ipc.open_stream(typed).read_all().to_pydict() == expected

    def test_needs_its_option(self):
        assert refusals(SAMPLE, accept="text/csv", table="partial") == [("/table", "missing")]


@pytest.mark.parametrize(
    ("asked", "pointer", "code"),
    [
        ({}, "over", "missing"),
        ({"to": 0.5}, "over", "missing"),
        ({"over": "fpr", "from": 0.5, "to": 0.5}, "to", "not_rising"),
        ({"over": "recall", "from": 0.5, "to": 0.25}, "to", "not_rising"),
        ({"over": "tpr", "to": 0}, "to", "not_rising"),
        ({"over": "fpr", "from": 1}, "from", "not_rising"),
        ({"over": "recall", "min_tpr": 0.5}, "min_tpr", "exclusive"),
        ({"over": "tpr", "min_tpr": 0}, "min_tpr", "exclusive"),
        ({"over": "fpr", "min_tpr": 1}, "min_tpr", "out_of_range"),
    ],
)
def test_what_is_wrong_is_pointed_to(asked, pointer, code):
    assert refusals(SAMPLE | {"partial": [asked]}) == [(f"/partial/0/{pointer}", code)]
