"""Operating points, requested with curves: what is answered, in which form, and what is refused."""

import csv
import io
import json
from functools import partial

import pyarrow as pa
import pytest

from service.curves.operating_points import METRICS
from service.wire.requests.interval_schemas import MOST_OPERATING_POINTS
from tests.support import asking

ask = partial(asking.ask, "curves")
curves = partial(asking.answered, "curves")
refusals = partial(asking.refusals, "curves")

SAMPLE = {"scores": [0.9, 0.8, 0.7, 0.6, 0.5, 0.4], "labels": [1, 0, 1, 1, 0, 0]}
POINTS = [
    {"metric": "precision_at_recall", "at": 0.5},
    {"metric": "recall_at_precision", "at": 0.9},
    {"metric": "tpr_at_fpr", "at": 0.5},
    {"metric": "f_measure", "at": 0.5},
]
ASKED = SAMPLE | {"operating_points": POINTS}
COLUMNS = ["metric", "at", "value", "threshold", "tp", "fp"]


class TestAnswer:
    def test_is_a_table_of_what_was_asked_for(self):
        answer = curves(ASKED)
        assert list(answer)[-2:] == ["operating_points", "warnings"]
        assert answer["operating_points"] == {
            "metric": [point["metric"] for point in POINTS],
            "at": [0.5, 0.9, 0.5, 0.5],
            "value": [0.6, 1 / 3, 1.0, 6 / 7],
            "threshold": [0.6, 0.9, 0.6, 0.6],
            "tp": [3, 1, 3, 3],
            "fp": [1, 0, 1, 1],
        }
        assert {name: part for name, part in answer.items() if name != "operating_points"} == curves(SAMPLE)

    @pytest.mark.parametrize("empty", [None, []])
    def test_is_absent_when_nothing_is_asked_for(self, empty):
        assert curves(SAMPLE | {"operating_points": empty}) == curves(SAMPLE)

    def test_what_is_not_there_is_null_and_counts_stay_whole(self):
        body = {"scores": [2, 1, 0], "labels": [0, 1, 0], "include": ["auc"]}
        points = [{"metric": "recall_at_precision", "at": at} for at in (0.5, 0.75)]
        assert curves(body | {"operating_points": points})["operating_points"] == {
            "metric": ["recall_at_precision"] * 2,
            "at": [0.5, 0.75],
            "value": [1.0, None],
            "threshold": [1.0, None],
            "tp": [1, None],
            "fp": [1, None],
        }
        raw = ask(body | {"operating_points": points}).body
        assert b'"tp":[1,null]' in raw

    def test_fractional_counts_with_null(self):
        body = {"counts": {"tp": [0.5], "fp": [0], "positives": 2, "negatives": 4}, "include": ["points"]}
        points = [{"metric": "tpr_at_fpr", "at": 0}, {"metric": "recall_at_precision", "at": 1}]
        found = curves(body | {"operating_points": points})["operating_points"]
        assert (found["tp"], found["fp"]) == ([0.5, 0.5], [0, 0])

    def test_a_set_that_is_not_a_sweep_has_rows(self):
        counts = {"tp": [3, 1], "fp": [1, 2], "threshold": [0.2, 0.8], "positives": 4, "negatives": 4}
        answer = curves({"counts": counts, "operating_points": POINTS[:3]})
        assert answer["operating_points"]["value"] == [None] * 3
        assert answer["operating_points"]["threshold"] == [0.2, None, 0.2]
        assert [warning["code"] for warning in answer["warnings"]] == ["not_a_sweep"]

    def test_reads_the_reduced_table(self):
        answer = curves(ASKED | {"thresholds": [0.65]})
        assert answer["operating_points"]["threshold"] == [0.65, None, 0.65, None]

    def test_low_scores_may_be_positive(self):
        turned = ASKED | {"scores": [-score for score in SAMPLE["scores"]], "lower_is_positive": True}
        expected = curves(ASKED)["operating_points"]
        expected["threshold"] = [-cut for cut in expected["threshold"]]
        assert curves(turned)["operating_points"] == expected

    def test_as_many_as_there_may_be(self):
        points = [
            {"metric": METRICS[k % len(METRICS)], "at": k / MOST_OPERATING_POINTS} for k in range(MOST_OPERATING_POINTS)
        ]
        assert len(curves(SAMPLE | {"operating_points": points})["operating_points"]["at"]) == MOST_OPERATING_POINTS
        assert refusals(SAMPLE | {"operating_points": [*points, points[0]]}) == [("/operating_points", "wrong_length")]


class TestTable:
    def test_is_the_same_in_every_format(self):
        expected = curves(ASKED)["operating_points"]
        lines = "\n".join(f"{score},{label}" for score, label in zip(*SAMPLE.values(), strict=True))
        query = {"operating_points": json.dumps(POINTS)}
        assert curves(f"scores,labels\n{lines}\n", content_type="text/csv", **query)["operating_points"] == expected
        written = ask(ASKED, accept="text/csv", table="operating_points").body.decode()
        header, *rows = csv.reader(io.StringIO(written))
        assert header == COLUMNS
        assert [row[0] for row in rows] == expected["metric"]
        typed = ask(ASKED, accept="application/vnd.apache.arrow.stream", table="operating_points").body
        assert pa.ipc.open_stream(typed).read_all().to_pydict() == expected

    @pytest.mark.parametrize("points", [POINTS, [{"metric": "recall_at_precision", "at": 1}]])
    def test_has_the_same_types_whatever_there_is(self, points):
        body = SAMPLE | {"labels": [0, 1, 1, 0, 1, 0], "operating_points": points}
        answer = ask(body, accept="application/vnd.apache.arrow.stream", table="operating_points")
        types = {field.name: field.type for field in pa.ipc.open_stream(answer.body).schema}
        counts = {"tp": pa.int64(), "fp": pa.int64()}
        assert types == {"metric": pa.string()} | {name: counts.get(name, pa.float64()) for name in COLUMNS[1:]}

    def test_other_tables_are_what_they_are_without(self):
        for table in ("points", "auc", "interpolated_pr"):
            assert ask(ASKED, accept="text/csv", table=table) == ask(SAMPLE, accept="text/csv", table=table)

    def test_needs_its_option(self):
        assert refusals(SAMPLE, accept="text/csv", table="operating_points") == [("/table", "missing")]
        assert ask(ASKED | {"include": ["auc"]}, accept="text/csv", table="operating_points").status == 200
