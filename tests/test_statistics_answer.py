"""Calibration, statistics and costs, requested with curves: what is answered, and in which form."""

import csv
import io
import json
from functools import partial

import pyarrow as pa
import pytest

from service.wire.requests.curves_schemas import MOST_PREVALENCES
from tests.support import asking

ask = partial(asking.ask, "curves")
curves = partial(asking.answered, "curves")
refusals = partial(asking.refusals, "curves")

SAMPLE = {"scores": [0.9, 0.8, 0.7, 0.7, 0.4, 0.2], "labels": [1, 0, 1, 1, 0, 0]}
NAMES = ["calibration", "statistics"]
POOLS = {
    "score_from": [0.2, 0.7, 0.9],
    "score_to": [0.4, 0.8, 0.9],
    "positives": [0, 2, 1],
    "negatives": [2, 1, 0],
    "calibrated": [0.0, 2 / 3, 1.0],
}


def test_are_answered_only_when_they_are_included():
    assert not set(NAMES) & set(curves(SAMPLE))
    answer = curves(SAMPLE | {"include": NAMES})
    assert list(answer) == ["positives", "negatives", *NAMES, "warnings"]
    assert json.dumps(answer["calibration"]) == json.dumps(POOLS)  # 2.0 would be equal to 2
    found = answer["statistics"]
    assert (found["ks"], found["ks_threshold"]) == (2 / 3, 0.7)
    assert (found["prg"], found["uncertainty"]) == (0.5, 0.25)
    assert found["brier"] == pytest.approx(1.03 / 6, rel=1e-15)
    assert found["brier"] == pytest.approx(found["miscalibration"] - found["discrimination"] + 0.25, rel=1e-15)


@pytest.mark.parametrize("table", NAMES)
def test_each_is_a_table(table):
    answer = curves(SAMPLE | {"include": [table]})[table]
    expected = {name: column if table == "calibration" else [column] for name, column in answer.items()}
    asked = {"include": [table]}
    header, *rows = csv.reader(io.StringIO(ask(SAMPLE | asked, accept="text/csv").body.decode()))
    assert header == list(expected)
    assert [list(map(float, column)) for column in zip(*rows, strict=True)] == list(expected.values())
    typed = ask(SAMPLE | asked, accept="application/vnd.apache.arrow.stream", table=table).body
    assert pa.ipc.open_stream(typed).read_all().to_pydict() == expected


def test_a_set_that_is_not_a_sweep_has_no_calibration():
    counts = {"tp": [3, 1], "fp": [1, 2], "positives": 4, "negatives": 4}
    answer = curves({"counts": counts, "include": NAMES})
    assert answer["calibration"] is None
    assert answer["statistics"] == dict.fromkeys(answer["statistics"]) | {"ks": 0.5}
    assert [warning["code"] for warning in answer["warnings"]] == ["not_a_sweep", "brier_omitted"]
    table = ask({"counts": counts, "include": NAMES}, accept="text/csv", table="calibration").body.decode()
    assert table.splitlines() == [",".join(f'"{name}"' for name in POOLS)]


@pytest.mark.parametrize("chosen", [{"thresholds": [0.75]}, {"tuning": SAMPLE}])
def test_of_chosen_thresholds_there_is_no_brier_score(chosen):
    found = curves(SAMPLE | chosen | {"include": ["statistics"]})["statistics"]
    assert found["prg"] is not None
    assert found["brier"] is found["miscalibration"] is None


def test_weights_are_counted():
    weighted = SAMPLE | {"weights": [1, 2, 0.5, 1, 1, 3], "include": NAMES}
    answer = curves(weighted)
    assert answer["calibration"]["positives"] == [0.0, 1.5, 1.0]
    assert answer["calibration"]["negatives"] == [4, 2, 0]


class TestCosts:
    def test_are_those_of_the_cheapest_rows(self):
        """At a prevalence of 1/4, finding all three positives is worth a third of the negatives."""
        asked = {"prevalence": [0.25, 0.0], "fn_cost": 5}
        found = curves(SAMPLE | {"include": ["auc"], "costs": asked})["costs"]
        assert found == {
            "prevalence": [0.25, 0.0],
            "cost": [0.25, 0.0],
            "normalized_cost": [0.125, 0.0],
            "threshold": [0.7, None],
            "tp": [3, 0],
            "fp": [1, 0],
        }
        own = curves(SAMPLE | {"include": ["auc"], "costs": {}})["costs"]
        assert (own["prevalence"], own["cost"]) == ([0.5], [1 / 6])

    def test_are_a_table_that_needs_its_option(self):
        asked = SAMPLE | {"costs": {"prevalence": [0.25, 0.0]}}
        typed = ask(asked, accept="application/vnd.apache.arrow.stream", table="costs").body
        assert pa.ipc.open_stream(typed).read_all().to_pydict() == curves(asked)["costs"]
        assert refusals(SAMPLE, accept="text/csv", table="costs") == [("/table", "missing")]

    def test_as_many_prevalences_as_there_may_be(self):
        many = [0.5] * MOST_PREVALENCES
        assert len(curves(SAMPLE | {"costs": {"prevalence": many}})["costs"]["tp"]) == MOST_PREVALENCES
        assert refusals(SAMPLE | {"costs": {"prevalence": [*many, 1]}}) == [("/costs/prevalence", "wrong_length")]
