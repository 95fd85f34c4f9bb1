"""Intervals of operating points, of partial areas and of points with metrics: what is answered, and what is refused."""

from __future__ import annotations

import json
from fractions import Fraction
from functools import partial
from typing import Any

import pyarrow as pa
import pytest

from service.curves.row_metrics import ROW_METRICS
from service.inference.decision_intervals import MOST_POINTS
from service.wire.media_types import ARROW_STREAM, CSV
from tests import reference_gate_intervals as reference
from tests.reference_inference import normal_quantile
from tests.reference_metrics import metrics as metrics_of
from tests.reference_score import directions, widest, wilson_end
from tests.support import asking
from tests.support.strategies import Data
from tests.test_decisions_answer import BODIES, LABELS, ROWS, SAMPLE, SCORES, TABLES

ask = partial(asking.ask, "curves")
curves = partial(asking.answered, "curves")
errors = partial(asking.errors, "curves")

POINTS = [
    {"metric": "tpr_at_fpr", "at": 0.25},
    {"metric": "precision_at_recall", "at": 0.7},
    {"metric": "recall_at_precision", "at": 0.6},
    {"metric": "f_measure", "at": 0.5},
]
RANGES = [
    {"over": "fpr", "to": 0.5},
    {"over": "tpr", "from": 0.5},
    {"over": "recall", "from": 0.25},
    {"over": "fpr", "min_tpr": 0.5},
]
WITH_INTERVAL = ("tpr_at_fpr", "precision_at_recall")
PLACES = {"operating_points": POINTS, "partial": RANGES, "include": []}
COLUMNS = {
    "operating_points": ("lower", "upper", "method"),
    "partial": ("lower", "upper", "standard_error", "method"),
}
FEW_RESAMPLES = {"method": "bootstrap", "resamples": 100}
BEST = (
    "lower, upper and method of operating points are null for recall_at_precision at precision 0.6 and f_measure at "
    "lambda 0.5: the best of all rows, chosen on the same data. A decision at a threshold has intervals."
)


def rule_of(asked: dict[str, Any]) -> dict[str, Any]:
    """The rule of a gate about the same number."""
    return asked if "metric" in asked else {"metric": "partial", "from": 0, "to": 1, **asked}


@pytest.mark.parametrize("asked", [*POINTS, *RANGES], ids=json.dumps)
def test_as_the_papers_have_them(asked: dict[str, Any]) -> None:
    """By the slow reference of gates, from all pairs of a positive and a negative, or all splits of the error."""
    data = Data(SCORES, [label == 1 for label in LABELS])
    expected = reference.interval(data, rule_of(asked), 0.9, "auto")
    name = "operating_points" if "metric" in asked else "partial"
    found = curves(SAMPLE | {name: [asked], "include": [], "intervals": {"level": 0.9}})[name]
    if expected is None:
        assert [found[column] for column in COLUMNS[name]] == [[None]] * len(COLUMNS[name])
        return
    assert found["method"] == [expected.method]
    assert (found["lower"][0], found["upper"][0]) == pytest.approx((expected.lower, expected.upper), rel=1e-9)
    if name == "partial":
        assert found["standard_error"] == [pytest.approx(float(expected.error), rel=1e-9)]


@pytest.mark.parametrize("options", [{}, {"level": 0.5}, FEW_RESAMPLES, FEW_RESAMPLES | {"method": "bca"}])
@pytest.mark.parametrize("given", ["a sample", "a sample with weights", "groups", "counts", "open groups"])
def test_they_are_those_of_gates(given: str, options: dict[str, Any]) -> None:
    is_open = given == "open groups"
    body = {"groups": OPEN} if is_open else BODIES[given]
    found = curves(body | PLACES | {"intervals": options})
    rules = [rule_of(each) | {"min": 0} for each in [*POINTS, *RANGES]]
    checks = asking.answered("gates", body | {"rules": rules, "intervals": options})["checks"]
    rows = [(name, row) for name in ("operating_points", "partial") for row in range(4)]
    for (name, row), check in zip(rows, checks, strict=True):
        interval = check["interval"] or dict.fromkeys(COLUMNS["partial"])
        assert [found[name][column][row] for column in COLUMNS[name]] == [interval[each] for each in COLUMNS[name]]


OPEN = {"score_from": [0, 0.3, 0.6, 0.8], "score_to": [0.2, 0.5, 0.7, 1], "positives": [1, 3, 6, 9]}
OPEN |= {"negatives": [9, 5, 3, 1]}


@pytest.mark.parametrize("given", [each for each in [*BODIES, *TABLES] if each != "soft labels"])
def test_every_input_has_the_same(given: str) -> None:
    expected = curves(SAMPLE | PLACES | {"intervals": {}})
    if given in BODIES:
        found = curves(BODIES[given] | PLACES | {"intervals": {}})
    else:
        body, media_type, more = TABLES[given]
        texts = {name: json.dumps(value) for name, value in PLACES.items() if name != "include"}
        found = curves(body, content_type=media_type, intervals="{}", include="auc", **texts, **more)
    for name, columns in COLUMNS.items():
        for column in columns:
            ours = [round(each, 12) if isinstance(each, float) else each for each in found[name][column]]
            assert ours == [round(each, 12) if isinstance(each, float) else each for each in expected[name][column]]


@pytest.mark.parametrize("name", COLUMNS)
def test_every_format_has_the_same(name: str) -> None:
    body = SAMPLE | PLACES | {"intervals": {}}
    whole = curves(body)[name]
    assert [*whole][-len(COLUMNS[name]) :] == [*COLUMNS[name]]
    assert asking.read_csv(ask(body, accept=CSV, table=name).body.decode()) == whole
    table = pa.ipc.open_stream(ask(body, accept=ARROW_STREAM, table=name).body).read_all()
    assert table.to_pydict() == whole
    assert [table.schema.field(each).type for each in ("lower", "method")] == [pa.float64(), pa.string()]


def test_without_intervals_there_are_no_columns() -> None:
    found = curves(SAMPLE | PLACES)
    assert not {*COLUMNS["partial"]} & ({*found["operating_points"]} | {*found["partial"]})
    asked = curves(SAMPLE | PLACES | {"intervals": {}})
    for name, columns in COLUMNS.items():
        assert {key: column for key, column in asked[name].items() if key not in columns} == found[name]


def test_the_best_of_all_rows_has_none() -> None:
    found = curves(SAMPLE | PLACES | {"intervals": {}})
    told = [warning["detail"] for warning in found["warnings"] if warning["code"] == "interval_omitted"]
    assert told == [BEST]
    assert [each is None for each in found["operating_points"]["lower"]] == [False, False, True, True]
    slices = {"slices": {"of": ["a", "b"] * 6}, "operating_points": POINTS, "intervals": {}}
    whole = asking.answered("slices", SAMPLE | slices)["overall"]["operating_points"]
    assert whole == found["operating_points"]


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"scores": [3, 2, 1], "labels": [1, 0, 0]}, "too_few_examples"),
        ({"counts": {"tp": [3, 1], "fp": [1, 2], "positives": 4, "negatives": 4}}, "not_a_sweep"),
        ({"groups": ROWS | {"positives": [0.5] * 11}}, "unknown_examples"),
    ],
)
def test_where_there_are_none_a_warning_says_why(body: dict[str, Any], code: str) -> None:
    found = curves(body | PLACES | {"intervals": {}})
    for name, columns in COLUMNS.items():
        assert [found[name][column] for column in columns] == [[None] * 4] * len(columns)
    codes = [warning["code"] for warning in found["warnings"]]
    assert [each for each in codes if each not in {"below_chance", "pr_trapezoid_omitted"}] == [code]


class TestPoints:
    def test_as_the_paper_has_them(self) -> None:
        """Each metric at all recalls and fprs that Wilson's ends leave possible (Newcombe 2011)."""
        names = [*ROW_METRICS]
        found = curves(SAMPLE | {"include": ["points"], "metrics": names, "intervals": {"level": 0.8}})["points"]
        splits = directions(float(normal_quantile(0.8)))
        for row, (tp, fp) in enumerate(zip(found["tp"], found["fp"], strict=True)):
            if row % 3:  # the reference is slow
                continue
            rates = [(wilson_end(tp / 5, 5, one), wilson_end(fp / 7, 7, other)) for one, other in splits]
            possible = [metrics_of(Fraction(r) * 5, Fraction(f) * 7, Fraction(5), Fraction(7)) for r, f in rates]
            values = metrics_of(Fraction(tp), Fraction(fp), Fraction(5), Fraction(7))
            for name in names:
                ends = found[f"{name}_lower"][row], found[f"{name}_upper"][row]
                if values[name] is None:
                    assert ends == (None, None)
                else:
                    expected = widest(values[name], [each[name] for each in possible])
                    assert ends == pytest.approx(tuple(map(float, expected)), rel=1e-9, abs=1e-12), name

    @pytest.mark.parametrize("given", [each for each in BODIES if each != "soft labels"])
    def test_they_are_those_of_decisions(self, given: str) -> None:
        names = ["f1", "fpr", "recall", "mcc"]
        asked = BODIES[given] | {"metrics": names, "intervals": {}}
        points = curves(asked | {"include": ["points"], "keep": "hull"})["points"]
        thresholds = [{"at_threshold": each} for each in points["threshold"][1:-1]]
        decisions = curves(asked | {"decisions": thresholds})["decisions"]
        ends = [f"{name}_{end}" for name in names for end in ("lower", "upper")]
        assert {name: points[name][1:-1] for name in ends} == {name: decisions[name] for name in ends}

    def test_the_columns_follow_the_others(self) -> None:
        asked = {"include": ["points"], "metrics": ["recall", "lift"]}
        plain = curves(SAMPLE | asked)["points"]
        found = curves(SAMPLE | asked | {"intervals": {}})["points"]
        assert [*found] == [*[*plain][:-1], "recall_lower", "recall_upper", "lift", "lift_lower", "lift_upper"]
        assert {name: found[name] for name in plain} == plain
        assert asking.read_csv(ask(SAMPLE | asked | {"intervals": {}}, accept=CSV).body.decode()) == found
        without = SAMPLE | {"include": ["points"], "intervals": {}}
        assert curves(without)["points"] == curves(SAMPLE | {"include": ["points"]})["points"]

    def test_of_a_table_that_is_cut(self) -> None:
        """The rows that are left have the intervals that they have in the whole table."""
        asked = SAMPLE | {"include": ["points"], "metrics": ["mcc"], "intervals": {}}
        whole, cut = curves(asked)["points"], curves(asked | {"thresholds": [0.8, 0.4]})["points"]
        rows = [whole["threshold"].index(each) for each in (0.8, 0.4)]
        for name in ("mcc_lower", "mcc_upper"):
            assert cut[name][1:-1] == [whole[name][row] for row in rows]

    def test_more_than_the_limit_are_refused(self) -> None:
        many = {"scores": list(range(MOST_POINTS)), "labels": [1, 0] * (MOST_POINTS // 2)}
        asked = {"include": ["points"], "metrics": ["f1"], "intervals": {}}
        (error,) = errors(many | asked)
        assert (error["pointer"], error["code"]) == ("/metrics", "too_many_points")
        assert error["detail"] == (
            "At most 2,000 points get intervals of metrics, and there are 2,001: keep fewer, or name rows in decisions."
        )
        few = {name: column[1:] for name, column in many.items()}
        assert len(curves(few | asked)["points"]["f1_lower"]) == MOST_POINTS
        assert curves(many | asked | {"keep": "hull"})["points"]["f1_upper"]
        assert "f1_lower" not in curves(many | asked | {"intervals": None})["points"]
