"""Intervals of the areas, requested with curves: what is answered, in which form, and what is refused."""

import csv
import io
import json
from functools import partial

import numpy as np
import pyarrow as pa
import pytest

from service.inference.methods import INTERVAL_METHODS
from service.wire.requests.interval_schemas import FEWEST_RESAMPLES, LARGEST_SEED
from tests.support import asking

ask = partial(asking.ask, "curves")
curves = partial(asking.answered, "curves")
refusals = partial(asking.refusals, "curves")

AREAS = ["roc", "pr", "average_precision"]
FIELDS = ["lower", "upper", "level", "method", "standard_error"]
DICE = np.random.default_rng(1988)
LABELS = DICE.random(60) < 0.4
SAMPLE = {"scores": (DICE.normal(size=60) + LABELS).round(1).tolist(), "labels": LABELS.astype(int).tolist()}
WEIGHTED = SAMPLE | {"weights": DICE.integers(1, 5, 60).tolist()}
NO_SWEEP = {"counts": {"tp": [3, 1], "fp": [1, 2], "positives": 4, "negatives": 4}}
FEW = {"resamples": FEWEST_RESAMPLES}


def intervals(body, **options):
    return curves(body | {"include": ["auc"], "intervals": options})["intervals"]


class TestAnswer:
    def test_is_there_when_asked_for(self):
        asked = curves(SAMPLE | {"intervals": {}})
        assert list(asked)[-2:] == ["intervals", "warnings"]
        assert "intervals" not in curves(SAMPLE)
        assert "intervals" not in curves(SAMPLE | {"intervals": None})
        assert {name: part for name, part in asked.items() if name != "intervals"} == curves(SAMPLE)

    @pytest.mark.parametrize("body", [SAMPLE, WEIGHTED])
    @pytest.mark.parametrize("method", [method for method in INTERVAL_METHODS if method != "delong"])
    def test_has_an_interval_around_each_area(self, body, method):
        answer = curves(body | {"include": ["auc"], "intervals": FEW | {"method": method, "level": 0.9}})
        assert list(answer["intervals"]) == AREAS
        for area, interval in answer["intervals"].items():
            assert list(interval) == FIELDS
            assert 0 <= interval["lower"] < answer["auc"][area] < interval["upper"] <= 1
            assert interval["level"] == 0.9
            assert interval["method"] == ("logit" if method == "auto" else method)
            assert interval["standard_error"] > 0
        narrow = [] if method in {"auto", "logit"} else ["narrow_interval"] * len(AREAS)
        assert [warning["code"] for warning in answer["warnings"]] == narrow

    def test_delong_is_for_roc_alone(self):
        answer = curves(SAMPLE | {"include": ["auc"], "intervals": {"method": "delong"}})
        assert answer["intervals"]["roc"]["method"] == "delong"
        assert (answer["intervals"]["pr"], answer["intervals"]["average_precision"]) == (None, None)
        assert {warning["code"] for warning in answer["warnings"]} == {"interval_omitted", "narrow_interval"}

    def test_does_not_need_the_areas(self):
        assert curves(SAMPLE | {"include": ["points"], "intervals": {}})["intervals"] == intervals(SAMPLE)

    def test_a_perfect_ranking_has_a_free_end(self):
        found = intervals({"scores": [4, 3, 2, 1], "labels": [1, 1, 0, 0]})["roc"]
        assert found == {
            "lower": pytest.approx(0.025**0.5),
            "upper": 1.0,
            "level": 0.95,
            "method": "exact",
            "standard_error": None,
        }

    @pytest.mark.parametrize(
        ("body", "code"),
        [(NO_SWEEP, "not_a_sweep"), ({"scores": [3, 2, 1], "labels": [1, 0, 0]}, "too_few_examples")],
    )
    def test_is_null_if_there_are_none_and_says_why(self, body, code):
        answer = curves(body | {"intervals": {}})
        assert answer["intervals"] == dict.fromkeys(AREAS)
        assert [warning["code"] for warning in answer["warnings"]] == [code]

    def test_fractional_counts_cannot_be_resampled(self):
        counts = {"counts": {"tp": [1.5, 3], "fp": [0.5, 2], "positives": 4, "negatives": 4}}
        answer = curves(counts | {"include": ["points"], "intervals": {"method": "bootstrap"}})
        assert answer["intervals"] == dict.fromkeys(AREAS)
        assert {warning["code"] for warning in answer["warnings"]} == {"interval_omitted"}


class TestResamples:
    @pytest.mark.parametrize("method", ["bootstrap", "bca"])
    def test_a_seed_determines_the_answer(self, method):
        ask_for = partial(intervals, SAMPLE, method=method, **FEW)
        assert ask_for() == ask_for(seed=0) == ask_for(seed=0.0)
        assert ask_for() != ask_for(seed=1)
        assert ask_for(seed=LARGEST_SEED) == ask_for(seed=LARGEST_SEED)

    def test_the_order_of_rows_and_the_format_do_not(self):
        order = np.random.default_rng(5).permutation(60)
        options = FEW | {"method": "bootstrap"}
        shuffled = {name: np.array(column)[order].tolist() for name, column in WEIGHTED.items()}
        assert intervals(shuffled, **options) == intervals(WEIGHTED, **options)
        lines = zip(*WEIGHTED.values(), strict=True)
        table = "\n".join([",".join(WEIGHTED), *(",".join(map(str, line)) for line in lines)])
        found = curves(table, content_type="text/csv", include="auc", intervals=json.dumps(options))
        assert found["intervals"] == intervals(WEIGHTED, **options)

    def test_counts_are_the_sample_that_they_count(self):
        points = curves(SAMPLE)["points"]
        counts = {"counts": {key: points[key] for key in ("tp", "fp", "fn", "tn")}}
        for method in INTERVAL_METHODS:
            assert intervals(counts, method=method, **FEW) == intervals(SAMPLE, method=method, **FEW)


class TestReducedTable:
    CUTS = (-0.5, 0.0, 0.75, 2.0)

    @pytest.mark.parametrize("body", [SAMPLE, WEIGHTED])
    @pytest.mark.parametrize("method", ["logit", "bootstrap", "bca"])
    def test_is_that_of_scores_which_say_no_more_than_the_cuts(self, body, method):
        """The intervals of a reduced table are those of the sample with scores rounded down to the cuts."""
        options = FEW | {"method": method}
        cuts = np.array([-9.0, *self.CUTS])
        coarse = body | {"scores": cuts[np.searchsorted(cuts, body["scores"], side="right") - 1].tolist()}
        answer = curves(body | {"include": ["auc"], "thresholds": self.CUTS, "intervals": options})
        assert answer["auc"] == curves(coarse)["auc"]
        assert answer["intervals"] == intervals(coarse, **options)
        narrow = [] if method == "logit" else ["narrow_interval"]
        assert [warning["code"] for warning in answer["warnings"]] == ["reduced_table", *narrow * len(AREAS)]

    def test_of_a_tuning_sample_it_is_that_of_its_thresholds(self):
        tuned = curves(SAMPLE | {"include": ["auc"], "tuning": WEIGHTED, "intervals": {}})
        cut = curves(SAMPLE | {"include": ["auc"], "thresholds": tuned["selected_thresholds"], "intervals": {}})
        assert tuned["intervals"] == cut["intervals"]


class TestTable:
    def test_has_a_row_for_each_area(self):
        body = SAMPLE | {"intervals": {"method": "delong"}}
        answer = ask(body, accept="text/csv", table="intervals")
        header, *rows = csv.reader(io.StringIO(answer.body.decode()))
        assert header == ["area", *FIELDS]
        found = intervals(SAMPLE, method="delong")["roc"]
        assert [row[0] for row in rows] == AREAS
        assert [float(rows[0][1]), float(rows[0][2])] == [found["lower"], found["upper"]]
        assert rows[1] == ["pr", "", "", "", "", ""]
        warned = {warning["code"] for warning in json.loads(answer.headers["Rocpr-Warnings"])}
        assert warned == {"interval_omitted", "narrow_interval"}

    @pytest.mark.parametrize("body", [SAMPLE, NO_SWEEP])
    def test_has_the_same_types_whatever_there_is(self, body):
        answer = ask(body | {"intervals": {}}, accept="application/vnd.apache.arrow.stream", table="intervals")
        types = {field.name: field.type for field in pa.ipc.open_stream(answer.body).schema}
        texts = {"area", "method"}
        assert types == {name: pa.string() if name in texts else pa.float64() for name in ("area", *FIELDS)}

    def test_other_tables_are_what_they_are_without(self):
        for table in ("points", "auc", "interpolated_pr"):
            asked, plain = (ask(body, accept="text/csv", table=table) for body in (SAMPLE | {"intervals": {}}, SAMPLE))
            assert (asked.body, asked.headers) == (plain.body, plain.headers)

    def test_needs_its_option(self):
        assert refusals(SAMPLE, accept="text/csv", table="intervals") == [("/table", "missing")]
        assert ask(SAMPLE | {"include": ["auc"], "intervals": {}}, accept="text/csv", table="intervals").status == 200


def test_bca_of_weights_that_span_the_range_of_a_double() -> None:
    """The influence of an example may be so small that its cube is 0."""
    body = {"scores": [9, 8, 7, 1, 2, 3], "labels": [0, 0, 0, 1, 1, 1], "weights": [1, 2, 1, 1e-140, 2e-140, 1e-140]}
    asked = body | {"include": ["auc"], "intervals": {"method": "bca", "resamples": 200}}
    found = asking.answered("curves", asked)["intervals"]
    assert all(each is None or 0 <= each["lower"] <= each["upper"] <= 1 for each in found.values())


def test_weights_that_a_total_absorbs_have_a_row_all_the_same() -> None:
    """A cut may already have the rounded totals although some examples lie below it."""
    scores, labels = [3, 3, 3, 2, 2, 1], [1, 0, 0, 1, 0, 0]
    body = {"scores": scores, "labels": labels, "weights": [1, 1e17, 1e17, 1, 1, 1], "thresholds": [2]}
    for method in ("auto", "bootstrap"):
        found = asking.answered("curves", body | {"intervals": {"method": method, "resamples": 100}})["intervals"]
        assert found["roc"]["lower"] <= found["roc"]["upper"]


def test_a_weighted_classifier_without_a_fault_has_areas_of_one() -> None:
    weights = [0.3333333333333333, 0.3, 0.7, 0.7, 0.3333333333333333, 0.6]
    body = {"scores": [5, 4, 3, 2, 1, 0], "labels": [1, 1, 1, 0, 0, 0], "weights": weights}
    answer = asking.answered("curves", body | {"include": ["auc"], "intervals": {"method": "bootstrap"}})
    assert set(answer["auc"].values()) <= {1.0, None}
    assert {each["method"] for each in answer["intervals"].values()} == {"exact"}


def test_resampled_areas_are_at_most_one() -> None:
    weights = [0.7, 0.3, 0.3, 0.7, 0.1]
    body = {"scores": [4, 3, 3, 2, 1], "labels": [1, 0, 0, 1, 0], "weights": weights, "include": ["auc"]}
    found = asking.answered("curves", body | {"intervals": {"method": "bootstrap", "resamples": 100}})["intervals"]
    assert all(each["upper"] <= 1 for each in found.values())
