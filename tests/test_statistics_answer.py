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


class TestReliability:
    def test_bins_have_intervals_of_the_level_asked_for(self):
        bins = {"bins": 2, "by": "width"}
        found = curves(SAMPLE | {"reliability": bins, "include": []})["reliability"]
        assert found["positives"] == [0, 3]
        assert found["negatives"] == [2, 1]
        wide = curves(SAMPLE | {"reliability": bins, "include": [], "intervals": {"level": 0.99}})["reliability"]
        assert wide["observed"] == found["observed"] == [0, 0.75]
        assert wide["lower"][1] < found["lower"][1] < 0.75 < found["upper"][1] < wide["upper"][1]

    def test_its_options_are_those_of_ece(self):
        asked = {"include": ["statistics"], "reliability": {"bins": 1}}
        assert curves(SAMPLE | asked)["statistics"]["ece"] == pytest.approx(abs(0.5 - 3.7 / 6), rel=1e-14)

    @pytest.mark.parametrize("accept", ["text/csv", "application/vnd.apache.arrow.stream"])
    def test_is_a_table(self, accept):
        whole = curves(SAMPLE | {"reliability": {}, "include": []})["reliability"]
        answer = ask(SAMPLE | {"reliability": {}}, accept=accept, table="reliability").body
        read = asking.read_csv(answer.decode()) if accept == "text/csv" else pa.ipc.open_stream(answer).read_all()
        assert (read if accept == "text/csv" else read.to_pydict()) == whole

    @pytest.mark.parametrize(
        "body", [SAMPLE | {"thresholds": [0.5]}, {"counts": {"tp": [1], "fp": [0], "positives": 2, "negatives": 2}}]
    )
    def test_is_null_with_a_word_where_scores_are_unknown(self, body):
        answer = curves(body | {"reliability": {}, "include": []})
        assert answer["reliability"] is None
        assert "reliability is null" in answer["warnings"][-1]["detail"]

    @pytest.mark.parametrize("change", [{"soft_labels": [0.9, 0.2, 0.6, 0.7, 0.1, 0]}, {}])
    def test_without_a_number_of_examples_ends_are_null_with_a_word(self, change):
        body = {"scores": SAMPLE["scores"]} | change
        if not change:
            masses = {"positives": [0.5, 1.5], "negatives": [2.5, 1.5]}
            body = {"groups": {"score": [0.9, 0.2]} | masses}
        answer = curves(body | {"reliability": {}, "include": ["statistics"]})
        assert set(answer["reliability"]["lower"] + answer["reliability"]["upper"]) == {None}
        assert answer["statistics"]["ece_if_calibrated"] is None
        (warning,) = answer["warnings"]
        assert warning["code"] == "unknown_examples"
        assert warning["detail"].startswith("ece_if_calibrated, lower and upper are null")

    def test_warns_of_a_bin_that_holds_nearly_all(self):
        rare = {"scores": [0.01] * 19 + [0.9], "labels": [0] * 18 + [1, 1], "include": []}
        (warning,) = curves(rare | {"reliability": {}})["warnings"]
        assert warning["code"] == "crowded_bin"
        assert curves(rare | {"reliability": {"by": "mass"}})["warnings"] == []

    @pytest.mark.parametrize("options", [{"bins": 0}, {"bins": 101}, {"bins": 1.5}, {"by": "count"}, {"edges": [1]}])
    def test_refuses_other_options(self, options):
        ((pointer, _),) = refusals(SAMPLE | {"reliability": options})
        assert pointer.startswith("/reliability/")


class TestProbabilities:
    ASKED = {"include": ["statistics"], "intervals": {}}  # noqa: RUF012  # never changed

    def test_their_statistics_have_intervals(self):
        answer = curves(SAMPLE | self.ASKED)
        of = answer["intervals"]
        assert {name: of[name]["method"] for name in ("gini", "brier", "log_loss", "calibration_slope")} == {
            "gini": "logit",
            "brier": "logit",
            "log_loss": "log",
            "calibration_slope": "wald",
        }
        for name in ("gini", "brier", "log_loss", "calibration_slope", "calibration_intercept"):
            assert of[name]["lower"] < answer["statistics"][name] < of[name]["upper"]

    def test_intervals_without_statistics_are_those_of_areas(self):
        assert list(curves(SAMPLE | {"intervals": {}, "include": ["auc"]})["intervals"]) == [
            *("roc", "pr", "average_precision")
        ]

    def test_what_is_null_has_a_warning(self):
        perfect = {"scores": [1, 1, 0, 0], "labels": [1, 1, 0, 0]}
        answer = curves(perfect | self.ASKED)
        assert answer["statistics"]["calibration_slope"] is answer["statistics"]["calibration_intercept"] is None
        assert [warning["code"] for warning in answer["warnings"]] == ["certain_scores", "interval_omitted"]
        apart = curves({"scores": [0.9, 0.8, 0.2, 0.1], "labels": [1, 1, 0, 0]} | self.ASKED)
        assert apart["statistics"]["calibration_slope"] is None
        assert [warning["code"] for warning in apart["warnings"]] == ["separated_classes"]

    def test_the_certain_and_wrong_are_counted(self):
        wrong = {"scores": [1, 0.4, 0.3], "labels": [0, 1, 0], "include": ["statistics"]}
        answer = curves(wrong)
        told = "The score was certain and wrong in 1 row; log_loss counts 36.04 for each."
        assert details(answer)["clipped_scores"] == told
        assert details(answer)["certain_scores"].endswith("exactly 0 or 1, and its log odds infinite, in 1 row.")
        assert answer["statistics"]["log_loss"] > 12
        assert "in 2 rows;" in details(curves(wrong | {"scores": [1, 0, 0.3]}))["clipped_scores"]
        weighted = details(curves(wrong | {"weights": [2.5, 1, 1]}))
        assert "in rows that weigh 2.5;" in weighted["clipped_scores"]


def details(answer):
    return {warning["code"]: warning["detail"] for warning in answer["warnings"]}


@pytest.mark.parametrize(
    "body",
    [
        {"scores": [1e-300, 1.0000000000000002e-300] * 6, "labels": [1, 0, 1, 1, 0, 0] * 2},
        {"scores": [0.9, 0.1, 0.8, 0.2, 0.7], "labels": [0, 1, 1, 1, 0], "weights": [4e-71, 1e-86, 1e27, 2e75, 1e-60]},
        {"scores": [0.5, 1e-16, 0, 2e-16], "labels": [0, 1, 1, 1], "weights": [4e-91, 1e-86, 1e27, 2e75]},
        {"scores": [0.2, 0.5, 0.6, 0.3, 0.53], "labels": [1, 0, 0, 0, 1], "weights": [1e-23, 1e-22, 1e-16, 1e15, 4e8]},
    ],
)
def test_what_rounding_hides_has_a_warning(body: dict[str, object]) -> None:
    answer = curves(body | {"include": ["statistics"], "intervals": {}, "reliability": {"bins": 100}})
    told = " ".join(warning["detail"] for warning in answer["warnings"])
    for name, value in answer["statistics"].items():
        assert value is not None or name in told or name.endswith("threshold")
    for ends in (answer["intervals"], {"lower": None}):
        assert None not in ends.values() or " null: " in told
    assert None not in answer["reliability"]["observed"] + answer["reliability"]["lower"]


def test_scores_that_are_certain_and_wrong_have_the_slope_of_the_best_fit():
    """From the slope 1 no step leads back: there every example is certain."""
    scores, labels = [1e-200, 1 - 1e-15, 1e-150, 1 - 1e-14, 1e-180, 1 - 1e-13], [1, 0, 1, 0, 0, 1]
    found = curves({"scores": scores, "labels": labels, "include": ["statistics"]})["statistics"]
    assert found["calibration_slope"] == pytest.approx(-0.0030111564882825946, rel=1e-9)
