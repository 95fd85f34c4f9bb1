"""POST /v1/comparisons from bytes to bytes: what formats share, and what the parts mean.

The numbers are for other tests; here are those that can be checked by hand.
"""

import csv
import io
import json
from functools import partial

import pyarrow as pa
import pytest

from service.wire.media_types import ARROW_STREAM
from tests.support import asking
from tests.support.asking import read_csv, tables

LABELS = [1, 0, 1, 1, 0, 0]
OLD = {"name": "old", "scores": [0.9, 0.7, 0.7, 0.5, 0.3, 0.2], "labels": LABELS}
NEW = {"name": "new", "scores": [0.8, 0.9, 0.7, 0.6, 0.3, 0.1], "labels": LABELS}
COUNTS = {"tp": [1, 2], "fp": [0, 1], "positives": 3, "negatives": 3}
COUNTED = {"name": "counted", "counts": COUNTS}
NO_SWEEP = {"name": "set", "counts": {"tp": [2, 1], "fp": [1, 2], "positives": 3, "negatives": 3}}
BODY = {"evaluations": [OLD, NEW]}
CSV_BODY = "old,new,labels\n.9,.8,1\n.7,.9,0\n.7,.7,1\n.5,.6,1\n.3,.3,0\n.2,.1,0\n"
PARTS = ["auc", "dominance", "best_roc", "best_pr", "joint_hull", "best_tradeoff"]

ask = partial(asking.ask, "comparisons")
answered = partial(asking.answered, "comparisons")
refusals = partial(asking.refusals, "comparisons")


def compared(*evaluations, **options):
    return answered({"evaluations": list(evaluations), **options})


def counted(name, tp, fp, positives=4, negatives=4):
    return {"name": name, "counts": {"tp": tp, "fp": fp, "positives": positives, "negatives": negatives}}


class TestTables:
    def test_as_many_columns_as_evaluations_can_be_compared(self):
        names = [f"m{number}" for number in range(51)]
        rows = [[*names, "labels"], ["1"] * 52, ["0"] * 52]
        wide = "\n".join(map(",".join, rows))
        assert refusals(wide, content_type="text/csv", scores=",".join(names)) == [("/scores", "wrong_length")]
        assert answered(wide, content_type="text/csv", scores=",".join(names[:50]))["auc"]["name"] == names[:50]

    def test_csv_and_json_give_the_same_answer(self):
        table = "id,old,y,new,w\na,.9,yes,8e-1,1\nb,0.7,no,.9,2\nc,.7,yes,.7,.5\nd,-0.0,no,.1,0\ne,0,no,+.1,1\n"
        options = {"scores": "new,old", "labels": "y", "weights": "w", "positive_label": "yes"}
        options |= {"lower_is_positive": "true", "indices": "jaccard, f_measure"}
        common = {"labels": [1, 0, 1, 0, 0], "weights": [1, 2, 0.5, 0, 1], "lower_is_positive": True}
        new = common | {"name": "new", "scores": [0.8, 0.9, 0.7, 0.1, 0.1]}
        old = common | {"name": "old", "scores": [0.9, 0.7, 0.7, -0.0, 0.0]}
        expected = ask({"evaluations": [new, old], "indices": ["f_measure", "jaccard"]})
        assert expected.status == 200
        assert ask(table, content_type="text/csv", **options).body == expected.body

    def test_a_table_of_scores_may_hold_columns_of_counts_names(self):
        table = CSV_BODY.replace("old,new", "tp,fp")
        assert answered(table, content_type="text/csv", scores="tp,fp")["auc"]["name"] == ["tp", "fp"]

    @pytest.mark.parametrize("name", PARTS)
    def test_a_csv_answer_is_one_table_of_the_json_answer(self, name):
        body = {"evaluations": [OLD, NEW, COUNTED]}
        result = ask(body, accept="text/csv", table=name)
        assert (result.status, result.media_type, result.headers) == (200, "text/csv", {"Rocpr-Warnings": "[]"})
        found, expected = read_csv(result.body.decode()), tables(answered(body))[name]
        assert list(found) == list(expected)
        assert found == expected

    def test_a_csv_answer_is_the_areas_unless_a_table_is_named(self):
        assert ask(BODY, accept="text/csv").body == ask(BODY, accept="text/csv", table="auc").body
        assert refusals(BODY, accept="text/csv", table="points") == [("/table", "not_one_of")]

    @pytest.mark.parametrize(
        ("name", "columns"),
        [
            ("dominance", ["curve", "over", "dominates"]),
            ("best_roc", ["fpr_from", "fpr_to", "best"]),
            ("best_pr", ["recall_from", "recall_to", "best"]),
        ],
    )
    def test_a_table_that_is_null_has_its_header_only(self, name, columns):
        body = {"evaluations": [OLD, NO_SWEEP]}
        assert answered(body)[name] is None
        result = ask(body, accept="text/csv", table=name)
        assert list(csv.reader(io.StringIO(result.body.decode()))) == [columns]
        assert json.loads(result.headers["Rocpr-Warnings"]) == answered(body)["warnings"]
        empty, filled = (
            pa.ipc.open_stream(ask({"evaluations": [OLD, other]}, accept=ARROW_STREAM, table=name).body).read_all()
            for other in (NO_SWEEP, NEW)
        )
        assert (empty.num_rows, empty.schema) == (0, filled.schema)

    @pytest.mark.parametrize("name", ['say "a", b', "π ≥ 3 🐙", "[1]", "null", " ", "'", "\\", "=1+1"])
    def test_any_text_is_a_name_in_every_format(self, name):
        body = {"evaluations": [NO_SWEEP | {"name": name}, OLD]}
        assert answered(body)["auc"]["name"] == [name, "old"]
        areas = ask(body, accept="text/csv")
        assert [row[0] for row in csv.reader(io.StringIO(areas.body.decode(), newline=""))] == ["name", name, "old"]
        hull = read_csv(ask(body, accept="text/csv", table="joint_hull").body.decode())
        assert hull["suppliers"] == answered(body)["joint_hull"]["suppliers"]
        assert hull["suppliers"][0] == [name, "old"]
        assert areas.headers["Rocpr-Warnings"].isascii()

    def test_names_of_columns_may_have_commas_in_a_json_list(self):
        table = '"a,b", c ,labels\n1,0,1\n0,1,0\n'
        whole = answered(table, content_type="text/csv", scores='["a,b", " c "]')
        assert whole["auc"]["name"] == ["a,b", "c"]

    def test_blanks_around_a_comma_are_not_part_of_a_name(self):
        table = "a,b,labels\n1,0,1\n0,1,0\n"
        assert answered(table, content_type="text/csv", scores="a, b")["auc"]["name"] == ["a", "b"]

    def test_names_of_columns_may_be_any_that_has_no_comma(self):
        table = '"say ""a""",π 🐙,labels\n1,0,1\n0,1,0\n'
        whole = answered(table, content_type="text/csv", scores='say "a",π 🐙')
        assert whole["auc"]["name"] == ['say "a"', "π 🐙"]


class TestAnswers:
    def test_the_parts_and_their_order(self):
        whole = answered(BODY)
        assert list(whole) == ["positives", "negatives", *PARTS, "warnings"]
        assert list(whole["best_tradeoff"]) == ["kulczynski", "f_measure", "fowlkes_mallows", "jaccard"]
        assert (whole["positives"], whole["negatives"], whole["warnings"]) == (3, 3, [])

    def test_null_and_the_empty_list_read_as_absent(self):
        absent = {"counts": None, "weights": [], "positive_label": None, "lower_is_positive": []}
        expected = ask(BODY).body
        assert ask({"evaluations": [OLD | absent, NEW | absent], "indices": []}).body == expected
        assert ask({"evaluations": [OLD, NEW], "indices": None}).body == expected
        counts = COUNTS | {"fn": [], "tn": None, "threshold": []}
        assert compared(OLD, COUNTED | {"counts": counts, "scores": [], "labels": None}) == compared(OLD, COUNTED)

    def test_indices_choose_trade_offs_only(self):
        everything = answered(BODY)
        some = answered(BODY | {"indices": ["jaccard", "kulczynski", "jaccard"]})
        assert list(some["best_tradeoff"]) == ["kulczynski", "jaccard"]
        assert some["best_tradeoff"].items() <= everything["best_tradeoff"].items()
        assert {**some, "best_tradeoff": 0} == {**everything, "best_tradeoff": 0}

    def test_areas_are_those_of_each_curve(self):
        for evaluation, row in ((OLD, 0), (COUNTED, 1), (NO_SWEEP, 2)):
            body = {key: value for key, value in evaluation.items() if key != "name"} | {"include": ["auc"]}
            alone = asking.answered("curves", body)["auc"]
            together = compared(OLD, COUNTED, NO_SWEEP)["auc"]
            assert list(together) == ["name", *alone]
            assert {name: together[name][row] for name in alone} == alone

    def test_two_curves_by_hand(self):
        """In (tp, fp), old passes (1, 0), (2, 1) and (3, 1), new passes (0, 1) and (3, 1); then both coincide."""
        whole = compared(OLD, NEW, indices=["kulczynski"])
        assert whole["dominance"] == {"curve": ["old", "new"], "over": ["new", "old"], "dominates": [True, False]}
        third = 1 / 3
        assert whole["best_roc"] == {"fpr_from": [0, third], "fpr_to": [third, 1], "best": [["old"], ["old", "new"]]}
        two_thirds = 2 / 3
        assert whole["best_pr"] == {
            "recall_from": [0, two_thirds],
            "recall_to": [two_thirds, 1],
            "best": [["old"], ["old", "new"]],
        }
        assert whole["joint_hull"] == {
            "fpr": [0.0, 0.0, third, 1.0],
            "tpr": [0.0, third, 1.0, 1.0],
            "tp": [0, 1, 3, 3],
            "fp": [0, 0, 1, 3],
            "suppliers": [["old", "new"], ["old"], ["old", "new"], ["old", "new"]],
            "threshold": [None, 0.9, 0.5, 0.2],
        }
        best = whole["best_tradeoff"]["kulczynski"]
        assert best["lambda_from"] == [0, pytest.approx(3 / 11, rel=1e-12)]
        assert best["lambda_to"] == [best["lambda_from"][1], 1]
        assert best["best"] == [["old"], ["old", "new"]]

    def test_every_ordered_pair_in_the_order_of_the_evaluations(self):
        pairs = compared(NEW, COUNTED, OLD)["dominance"]
        assert pairs["curve"] == ["new", "new", "counted", "counted", "old", "old"]
        assert pairs["over"] == ["counted", "old", "new", "old", "new", "counted"]

    def test_equal_curves_dominate_each_other_and_tie_everywhere(self):
        stretched = OLD | {"name": "stretched", "scores": [score * 7 - 3 for score in OLD["scores"]]}
        whole = compared(OLD, stretched)
        assert whole["dominance"]["dominates"] == [True, True]
        both = [["old", "stretched"]]
        assert whole["best_roc"] == {"fpr_from": [0.0], "fpr_to": [1.0], "best": both}
        assert whole["best_pr"] == {"recall_from": [0.0], "recall_to": [1.0], "best": both}
        everywhere = {"lambda_from": [0.0], "lambda_to": [1.0], "best": both}
        assert list(whole["best_tradeoff"].values()) == [everywhere] * 4
        assert whole["joint_hull"]["threshold"] == [None, 0.9, 0.5, 0.2]

    def test_curves_that_touch_in_a_point_share_no_interval(self):
        whole = compared(counted("a", [2], [1]), counted("b", [1, 2, 3], [0, 1, 2]), counted("c", [2], [1]))
        assert whole["dominance"]["dominates"] == [False, True, True, True, True, False]
        assert whole["best_roc"]["best"] == [["b"]]
        assert whole["best_pr"]["best"] == [["b"]]

    def test_crossings_are_exact(self):
        """tp = 4 fp up to (1, 4) meets tp = 1 + fp in (1/3, 4/3)."""
        whole = compared(counted("a", [4], [1]), counted("b", [1, 4], [0, 3]))
        assert whole["best_roc"]["fpr_from"] == [0.0, 1 / 12, 0.75]
        assert whole["best_roc"]["best"] == [["b"], ["a"], ["a", "b"]]
        assert whole["best_pr"]["recall_from"] == [0.0, 1 / 3]

    def test_rows_without_a_threshold(self):
        hull = compared(counted("a", [3], [1]), counted("b", [1, 3], [0, 1]))["joint_hull"]
        assert hull["threshold"] == [None, None, None, None]
        assert hull["suppliers"] == [["a", "b"], ["b"], ["a", "b"], ["a", "b"]]

    def test_the_hull_lists_vertices_only(self):
        hull = compared(counted("a", [1, 2], [0, 0]), counted("b", [3, 4, 4], [1, 2, 3]))["joint_hull"]
        assert list(zip(hull["tp"], hull["fp"], strict=True)) == [(0, 0), (2, 0), (4, 2), (4, 4)]

    def test_a_set_that_is_not_a_sweep_is_warned_of(self):
        whole = compared(OLD, NO_SWEEP)
        assert [name for name in PARTS if whole[name] is None] == ["dominance", "best_roc", "best_pr"]
        assert {name for name, column in whole["auc"].items() if column[1] is None} == {
            "roc", "pr", "pr_trapezoid", "average_precision",
        }  # fmt: skip
        assert None not in [column[0] for column in whole["auc"].values()]
        assert [warning["code"] for warning in whole["warnings"]] == ["not_a_sweep"]

    def test_an_area_that_is_left_out_is_warned_of(self):
        halves = {"weights": [0.5] * 6}
        whole = compared(OLD | halves, NEW | halves)
        assert whole["auc"]["pr_trapezoid"] == [None, None]
        assert [warning["code"] for warning in whole["warnings"]] == ["pr_trapezoid_omitted"]
        both = compared(OLD | halves, counted("set", [1, 0.5], [0.5, 1], positives=1.5, negatives=1.5))
        assert [warning["code"] for warning in both["warnings"]] == ["not_a_sweep", "pr_trapezoid_omitted"]

    def test_a_sample_is_compared_with_its_counts(self):
        points = asking.answered("curves", {key: OLD[key] for key in ("scores", "labels")})["points"]
        counts = {key: points[key] for key in ("threshold", "tp", "fp", "fn", "tn")}
        whole = compared(OLD, {"name": "counted", "counts": counts})
        assert whole["dominance"]["dominates"] == [True, True]
        assert all(column[0] == column[1] for name, column in whole["auc"].items() if name != "name")

    def test_lower_is_positive_is_each_ones_own(self):
        turned = OLD | {"name": "turned", "scores": [-score for score in OLD["scores"]], "lower_is_positive": True}
        whole = compared(turned, OLD)
        assert whole["dominance"]["dominates"] == [True, True]
        assert whole["joint_hull"]["threshold"] == [None, -0.9, -0.5, -0.2]

    def test_a_weight_is_a_repetition(self):
        weights = {"weights": [2, 1, 0, 1, 3, 1]}
        rows = [0, 0, 1, 3, 4, 4, 4, 5]
        repeated = [one | {key: [one[key][row] for row in rows] for key in ("scores", "labels")} for one in (OLD, NEW)]
        assert ask({"evaluations": repeated}).body == ask({"evaluations": [OLD | weights, NEW | weights]}).body

    def test_labels_may_be_coded_by_each_in_its_own_way(self):
        words = {"labels": ["yes" if label else "no" for label in LABELS], "positive_label": "yes"}
        assert compared(OLD | words, NEW | {"labels": [bool(label) for label in LABELS]}) == compared(OLD, NEW)

    def test_minus_zero_is_zero(self):
        zero = {"name": "zero", "scores": [0.0, -0.0, 1], "labels": [1, 1, 0]}
        body = {"evaluations": [zero, {"name": "counts", "counts": {"tp": [-0.0], "fp": [-0.0], "fn": [2], "tn": [1]}}]}
        assert b"-0" not in ask(body).body
        assert b"-0" not in ask(body, accept="text/csv", table="joint_hull").body
        assert answered(body)["joint_hull"]["threshold"] == [None, 0.0]

    def test_as_many_as_fifty_and_names_of_a_hundred_characters(self):
        names = [f"{number:02d}" + "é" * 98 for number in range(50)]
        whole = compared(*(OLD | {"name": name} for name in names))
        assert whole["best_roc"]["best"] == [names]
        assert len(whole["dominance"]["dominates"]) == 50 * 49


class TestDifferences:
    SCORES = {"a": [0.9, 0.8, 0.7, 0.6, 0.4, 0.2], "b": [0.9, 0.4, 0.8, 0.7, 0.3, 0.6]}  # noqa: RUF012  # never changed
    LABELS = (1, 1, 0, 1, 0, 0)

    def body(self, **options):
        named = [{"name": name, "scores": scores, "labels": list(self.LABELS)} for name, scores in self.SCORES.items()]
        return {"evaluations": named} | options

    def test_are_answered_with_intervals_only(self):
        assert not {"intervals", "differences"} & set(answered(self.body()))
        answer = answered(self.body(intervals={"level": 0.9}))
        assert answer["intervals"]["name"] == ["a"] * 3 + ["b"] * 3
        assert set(answer["intervals"]["level"]) == {0.9}
        assert answer["differences"]["against"] == ["a"] * 3
        assert answer["differences"]["difference"][0] == answer["auc"]["roc"][1] - answer["auc"]["roc"][0]
        assert answer["differences"]["p_value_adjusted"] == [None] * 3

    def test_of_columns_of_one_table_are_paired(self):
        rows = zip(*self.SCORES.values(), self.LABELS, strict=True)
        table = "a,b,labels\n" + "".join(f"{a},{b},{label}\n" for a, b, label in rows)
        read = partial(answered, table, content_type="text/csv", scores="a,b", intervals="{}")
        assert read()["differences"] == answered(self.body(intervals={}, paired=True))["differences"]
        assert read(paired="false")["differences"] == answered(self.body(intervals={}))["differences"]
        assert read()["differences"] != read(paired="false")["differences"]

    def test_are_a_table(self):
        answer = answered(self.body(intervals={}))
        for table in ("intervals", "differences"):
            text = ask(self.body(intervals={}), accept="text/csv", table=table).body.decode()
            assert asking.read_csv(text) == answer[table]

    def test_rows_that_are_no_sweep_are_told_once(self):
        warnings = [compared(OLD, NO_SWEEP, **more)["warnings"] for more in ({}, {"intervals": {}})]
        (plain,), (told,) = ([each for each in some if each["code"] == "not_a_sweep"] for some in warnings)
        assert told["detail"] == f"{plain['detail']} Intervals and differences of these areas are null, too."

    @pytest.mark.parametrize("option", [{"paired": True}, {"against": "all"}, {"adjust": "holm"}])
    def test_options_of_differences_need_intervals(self, option):
        assert refusals(self.body(**option)) == [("/intervals", "missing")]

    @pytest.mark.parametrize("method", ["bootstrap", "bca"])
    def test_an_adjusted_level_needs_enough_resamples(self, method):
        body = self.body(intervals={"method": method, "resamples": 100, "level": 0.98}, adjust="holm", against="all")
        body["evaluations"].append(body["evaluations"][0] | {"name": "third"})
        assert refusals(body) == [("/intervals/level", "out_of_range")]
        assert answered(body | {"adjust": "none"})["differences"]["level"][0] == 0.98

    def test_an_adjusted_level_is_below_1(self):
        body = self.body(intervals={"level": 0.9999999999999999}, adjust="holm", against="all")
        body["evaluations"].append(body["evaluations"][0] | {"name": "third"})
        assert answered(body)["differences"]["level"] == [0.9999999999999999] * 9

    def test_other_labels_are_not_paired(self):
        body = self.body(intervals={}, paired=True)
        body["evaluations"][1]["labels"] = [1, 1, 0, 0, 1, 0]
        assert refusals(body) == [("/evaluations/1/labels/3", "not_paired")]


class TestDecisions:
    ASKED = [{"at_share": 0.5}, {"at_threshold": 0.65}, {"best": "f1"}]  # noqa: RUF012  # it does not change

    def test_each_is_that_of_curves(self):
        options = {"decisions": self.ASKED, "metrics": ["precision", "recall", "mcc"], "intervals": {"level": 0.9}}
        found = compared(OLD, NEW, COUNTED, **options)
        decisions = found["decisions"]
        assert [*decisions][:3] == ["name", "decision", "threshold"]
        assert decisions["name"] == [each for each in ("old", "new", "counted") for _ in self.ASKED]
        for place, evaluation in enumerate((OLD, NEW, COUNTED)):
            alone = {name: value for name, value in evaluation.items() if name != "name"} | options
            single = asking.answered("curves", alone)["decisions"]
            for name, column in single.items():
                assert decisions[name][3 * place : 3 * place + 3] == column, name
        told = {warning["code"]: warning["detail"] for warning in found["warnings"]}
        assert told["threshold_not_a_row"].startswith("counted: The decisions at threshold 0.65 are null")
        assert told["interval_omitted"] == (
            "The interval is null for best f1: chosen on the same data; fix the threshold with at_threshold."
        )

    def test_without_intervals_there_are_no_ends(self):
        found = compared(OLD, NEW, decisions=self.ASKED, metrics=["recall"])
        assert [*found["decisions"]] == ["name", "decision", "threshold", "tp", "fp", "fn", "tn", "recall"]
        assert {name: found[name] for name in PARTS} == {name: compared(OLD, NEW)[name] for name in PARTS}

    def test_tables(self):
        body = BODY | {"decisions": self.ASKED, "intervals": {}}
        whole = answered(body)["decisions"]
        assert read_csv(ask(body, accept="text/csv", table="decisions").body.decode()) == whole
        arrow = pa.ipc.open_stream(ask(body, accept=ARROW_STREAM, table="decisions").body).read_all()
        assert arrow.to_pydict() == whole
        query = {"content_type": "text/csv", "scores": "old,new", "decisions": "0.65", "metrics": "f1"}
        found = answered(CSV_BODY, **query)["decisions"]
        assert found == compared(OLD, NEW, decisions=[{"at_threshold": 0.65}], metrics=["f1"])["decisions"]
        unasked = {"content_type": "text/csv", "accept": "text/csv", "scores": "old,new", "table": "decisions"}
        assert refusals(CSV_BODY, **unasked) == [("/table", "missing")]

    def test_a_picture_draws_none(self):
        plain = ask(BODY, accept="image/svg+xml").body
        assert ask(BODY | {"decisions": self.ASKED}, accept="image/svg+xml").body == plain

    @pytest.mark.parametrize(
        ("more", "expected"),
        [
            ({"metrics": ["f1"]}, [("/decisions", "missing")]),
            ({"decisions": [{"at_threshold": 0}] * 101}, [("/decisions", "wrong_length")]),
            ({"decisions": [{"at_share": 0.1, "at_fpr": 0.1}]}, [("/decisions/0", "exclusive")]),
        ],
    )
    def test_refusals(self, more, expected):
        assert refusals(BODY | more) == expected


@pytest.mark.parametrize("place", [0, 1])
def test_counts_that_cannot_be_paired_are_refused_at_paired(place):
    counts = {"name": "counts", "counts": {"tp": [1, 2], "fp": [0, 1], "positives": 2, "negatives": 2}}
    sample = {"name": "sample", "scores": [0.9, 0.8, 0.4, 0.2], "labels": [1, 0, 1, 0]}
    both = [counts, sample] if place == 0 else [sample, counts]
    assert asking.refusals("comparisons", {"evaluations": both, "paired": True, "intervals": {}}) == [
        ("/paired", "not_paired")
    ]
