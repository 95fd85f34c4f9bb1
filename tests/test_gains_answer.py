"""Gains and net benefit, requested with curves: what is answered, and what is refused."""

import json
import tracemalloc
from functools import partial

import pyarrow as pa
import pytest

from tests.support import asking

ask = partial(asking.ask, "curves")
curves = partial(asking.answered, "curves")
refusals = partial(asking.refusals, "curves")

SAMPLE = {"scores": [0.9, 0.8, 0.7, 0.7, 0.4, 0.2], "labels": [1, 0, 1, 1, 0, 0]}
UNORDERED = {"counts": {"tp": [3, 1], "fp": [1, 2], "threshold": [0.5, 0.2], "positives": 4, "negatives": 4}}
OPEN = {"groups": {"score_from": [0.5, 0], "score_to": [1, 0.4], "positives": [3, 1], "negatives": [1, 3]}}


@pytest.mark.parametrize("option", ["gains", "net_benefit", "reliability"])
class TestEach:
    def test_makes_an_answer_small(self, option):
        assert list(curves(SAMPLE | {option: {}})) == ["positives", "negatives", option, "warnings"]
        assert "auc" in curves(SAMPLE | {option: {}, "include": ["auc"]})

    def test_is_a_table(self, option):
        whole = curves(SAMPLE | {option: {}})[option]
        answer = ask(SAMPLE | {option: {}}, accept="application/vnd.apache.arrow.stream", table=option).body
        assert pa.ipc.open_stream(answer).read_all().to_pydict() == whole
        assert asking.read_csv(ask(SAMPLE | {option: {}}, accept="text/csv").body.decode()) == whole

    def test_is_asked_for_in_a_query(self, option):
        table = "scores,labels\n0.9,1\n0.8,0\n0.7,1\n0.7,1\n0.4,0\n0.2,0\n"
        assert curves(table, content_type="text/csv", **{option: "{}"}) == curves(SAMPLE | {option: {}})

    def test_needs_exact_groups(self, option):
        ((pointer, code),) = refusals(OPEN | {option: {}})
        assert (pointer, code) == (f"/{option}", "needs_exact_groups")

    def test_of_groups_is_that_of_their_examples(self, option):
        groups = {"score": [0.9, 0.8, 0.7, 0.4, 0.2], "positives": [1, 0, 2, 0, 0], "negatives": [0, 1, 0, 1, 1]}
        assert curves({"groups": groups, option: {}})[option] == curves(SAMPLE | {option: {}})[option]


def test_equal_parts_end_at_exact_shares():
    found = curves(SAMPLE | {"gains": {"parts": 3}})["gains"]
    assert found["share_to"] == [1 / 3, 2 / 3, 1]
    assert (found["positives"], found["negatives"]) == ([1, 2, 0], [1, 0, 2])
    assert curves(SAMPLE | {"gains": {}})["gains"] == curves(SAMPLE | {"gains": {"parts": 10}})["gains"]


@pytest.mark.parametrize(
    ("text", "option"),
    [
        ("gains=4", {"gains": {"parts": 4}}),
        ("gains=0.25,1", {"gains": {"shares": [0.25, 1]}}),
        ("net_benefit=0.2,0.5", {"net_benefit": {"thresholds": [0.2, 0.5]}}),
        ("reliability=2", {"reliability": {"bins": 2}}),
        ("reliability=mass", {"reliability": {"by": "mass"}}),
        ("reliability=2,mass", {"reliability": {"bins": 2, "by": "mass"}}),
        ("band=simultaneous", {"band": {"kind": "simultaneous"}}),
    ],
)
def test_a_query_has_them_in_short(text, option):
    assert curves(SAMPLE, **dict([text.split("=")])) == curves(SAMPLE | option)


@pytest.mark.parametrize(
    ("text", "pointer"),
    [
        ("gains=x", "/gains"),
        ("gains=0", "/gains/parts"),
        ("gains=0.5,0.2", "/gains/shares"),
        ("net_benefit=0.2,1", "/net_benefit/thresholds/1"),
        ("reliability=2,weight", "/reliability/by"),
        ("band=wide", "/band/kind"),
    ],
)
def test_what_is_wrong_in_short_is_named(text, pointer):
    ((found, _),) = refusals(SAMPLE, **dict([text.split("=")]))
    assert found == pointer


def test_gains_of_no_sweep_are_null_with_a_word():
    answer = curves(UNORDERED | {"gains": {}})
    assert answer["gains"] is None
    assert "gains" in answer["warnings"][0]["detail"]


def test_net_benefit_of_counts_is_null_without_a_row():
    answer = curves(UNORDERED | {"net_benefit": {"thresholds": [0.5, 0.3]}})
    assert answer["net_benefit"]["net_benefit"] == [0.25, None]
    assert [warning["code"] for warning in answer["warnings"]] == ["not_a_sweep", "threshold_not_a_row"]
    assert "0.3" in answer["warnings"][1]["detail"]


@pytest.mark.parametrize(
    ("option", "pointer"),
    [
        ({"gains": {"shares": [0.5, 0.5]}}, "/gains/shares"),
        ({"gains": {"shares": [0, 0.5]}}, "/gains/shares/0"),
        ({"gains": {"shares": [1.5]}}, "/gains/shares/0"),
        ({"gains": {"shares": [each / 2000 for each in range(1, 1002)]}}, "/gains/shares"),
        ({"net_benefit": {"thresholds": [0.5, 1]}}, "/net_benefit/thresholds/1"),
        ({"net_benefit": {"thresholds": [0, 0.5]}}, "/net_benefit/thresholds/0"),
        ({"net_benefit": {"prevalence": 0}}, "/net_benefit/prevalence"),
        ({"gains": {"parts": 0}}, "/gains/parts"),
        ({"gains": {"parts": 4, "shares": [1]}}, "/gains/parts"),
        ({"net_benefit": {}, "scores": [9, 8, 7, 7, 4, 2]}, "/net_benefit"),
    ],
)
def test_what_is_wrong_is_named(option, pointer):
    ((found, _),) = refusals(SAMPLE | option)
    assert found == pointer


def test_answers_are_those_of_the_worked_example():
    scores = [0.95, 0.9, 0.8, 0.7, 0.7, 0.6, 0.55, 0.4, 0.35, 0.3, 0.2, 0.1]
    labels = [1, 1, 0, 1, 0, 1, 0, 0, 1, 0, 0, 0]
    asked = {"gains": {"shares": [0.25, 0.5, 0.75, 1]}, "net_benefit": {"thresholds": [0.5]}}
    answer = curves({"scores": scores, "labels": labels} | asked)
    assert json.dumps(answer["gains"]["positives"]) == "[2, 2, 1, 0]"
    assert answer["gains"]["lift"] == [1.6, 1.6, 0.8, 0]
    assert answer["net_benefit"]["net_benefit"] == [1 / 12]


class TestIntervalsOfNetBenefit:
    TWELVE = {  # noqa: RUF012  # never changed
        "scores": [0.95, 0.9, 0.8, 0.7, 0.7, 0.6, 0.55, 0.4, 0.35, 0.3, 0.2, 0.1],
        "labels": [1, 1, 0, 1, 0, 1, 0, 0, 1, 0, 0, 0],
    }

    def test_are_those_of_the_worked_example(self):
        asked = {"net_benefit": {"thresholds": [0.5]}, "intervals": {}}
        found = curves(self.TWELVE | asked)["net_benefit"]
        assert (found["lower"][0], found["upper"][0]) == pytest.approx((-0.189065, 0.277275), abs=5e-7)
        assert "lower" not in curves(self.TWELVE | {"net_benefit": {}})["net_benefit"]

    @pytest.mark.parametrize("table", ["net_benefit", "reliability"])
    def test_a_single_table_has_the_level_asked_for(self, table):
        asked = {table: {}, "intervals": {"level": 0.8}}
        text = ask(self.TWELVE | asked, accept="text/csv", table=table).body.decode()
        assert asking.read_csv(text) == curves(self.TWELVE | asked)[table]

    def test_need_two_examples_of_each_class(self):
        answer = curves({"scores": [0.9, 0.5, 0.2], "labels": [1, 0, 0], "net_benefit": {}, "intervals": {}})
        assert set(answer["net_benefit"]["lower"]) == {None}
        assert "too_few_examples" in [warning["code"] for warning in answer["warnings"]]


@pytest.mark.parametrize("weights", [[1, 1], [0.1, 1e-13], [1.3e-15, 1e-10]])
def test_a_share_near_0_is_a_part_of_the_first_row(weights: list[float]) -> None:
    body = {"scores": [0.9, 0.2], "labels": [1, 0], "weights": weights, "gains": {"shares": [5e-324, 0.5]}}
    table = curves(body)["gains"]
    assert table["precision"][0] == 1
    assert table["threshold"][0] == 0.9


@pytest.mark.parametrize(
    "options", [{"thresholds": [5e-324]}, {"thresholds": [0.9999999999999999], "prevalence": 5e-324}]
)
def test_what_no_double_holds_of_net_benefit_is_null(options: dict[str, object]) -> None:
    table = curves({"scores": [1, 0.2, 0], "labels": [0, 1, 1], "net_benefit": options})["net_benefit"]
    assert [table["standardized"], table["avoided"]].count([None]) == 1
    assert table["net_benefit"] != [None]


def test_net_benefit_of_many_counts_takes_little_memory() -> None:
    """A table of every row by every threshold would be 100 MB."""
    rows = 100_000
    counts = {"tp": [*range(rows)], "fp": [*range(rows)], "threshold": [1 - row / rows for row in range(rows)]}
    body = json.dumps(
        {
            "counts": counts | {"positives": rows, "negatives": rows},
            "net_benefit": {"thresholds": [0.25 + place / 4000 for place in range(1000)]},
        }
    )
    tracemalloc.start()
    try:
        table = curves(body)["net_benefit"]
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert table["tp"][0] == 75_000
    assert most < 70e6
