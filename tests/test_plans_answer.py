"""`POST /v1/plans`: the plans of rules, in every format, and what is refused."""

from __future__ import annotations

import csv
import io
import json
from functools import partial
from typing import Any

import numpy as np
import pytest

from service.curves.areas import roc_area
from service.curves.confusion import ConfusionTable
from service.inference.assumed import Assumptions, typical_samples
from service.inference.plans import evaluate_plans
from tests.cli.comparing import sample
from tests.cli.gate.gating import ALL, TEN
from tests.cli.running import refusal, run
from tests.inference.test_plans import HOW, NEW, OLD, Rule
from tests.support import asking

plans = partial(asking.answered, "plans")
refused = partial(asking.refusals, "plans")

RULES: list[dict[str, Any]] = [
    {"metric": "roc", "min": 0.98, "confidence": 0.95},
    {"metric": "roc", "max_drop": 0.01, "confidence": 0.95, "expected": 0},
    {"metric": "roc", "min": 0.999, "confidence": 0.95},
]
BODY = sample(TEN) | {"baseline": sample(ALL), "paired": True, "rules": RULES}


def test_the_answer_is_that_of_the_function() -> None:
    found = plans(BODY | {"power": 0.9})
    rules = [Rule(**each) for each in RULES]
    expected = evaluate_plans(NEW, OLD, rules, HOW, 0.9, paired=True)
    assert found["power"] == 0.9
    assert found["paired"] is True
    for name in ("value", "expected", "factor", "rows", "positives", "negatives"):
        assert found["plans"][name] == [getattr(each, name) for each in expected.plans]
    assert found["plans"]["rule"][0] == "roc at least 0.98, with 95 % confidence"
    assert found["plans"]["reason"][:2] == [None, None]
    assert found["plans"]["reason"][2].startswith("If the true value is 0.992")


def test_a_table_of_plans() -> None:
    table = ALL.read_text()
    query = {"rules": json.dumps(RULES[:1])}
    text = asking.ask("plans", table, content_type="text/csv", accept="text/csv", **query).body.decode()
    (row,) = csv.DictReader(io.StringIO(text))
    found = plans(table, content_type="text/csv", **query)["plans"]
    assert (row["rows"], row["reason"]) == (str(found["rows"][0]), "")


def test_counts_and_groups_have_plans() -> None:
    rules = {"rules": [{"metric": "recall", "at_threshold": 0.5, "min": 0.5, "confidence": 0.9}]}
    counts = {"threshold": [0.75, 0.5], "tp": [20, 40], "fp": [10, 30], "positives": 50, "negatives": 70}
    (rows,) = plans({"counts": counts} | rules)["plans"]["rows"]
    assert rows > 0
    groups = {"score": [0.9, 0.5, 0.2], "positives": [30, 10, 10], "negatives": [5, 25, 40]}
    assert plans({"groups": groups} | rules)["plans"]["rows"] == [rows]


@pytest.mark.parametrize(
    ("change", "pointer", "code"),
    [
        ({"power": 0.4}, "/power", "out_of_range"),
        ({"power": 1}, "/power", "out_of_range"),
        ({"rules": []}, "/rules", "missing"),
        ({"fail_status": 409}, "/fail_status", "unknown_field"),
        ({"baseline": None, "paired": None}, "/rules/1/max_drop", "missing"),
        ({"rules": [{"metric": "roc", "min": 0.9, "expected": 0.95}]}, "/rules/0/expected", "exclusive"),
        (
            {"rules": [{"metric": "roc", "max_gap": 0.1, "confidence": 0.9, "slices": ["g"], "expected": 0.05}]},
            "/rules/0/expected",
            "exclusive",
        ),
        (
            {"rules": [{"metric": "roc", "min": 0.9, "confidence": 0.9, "expected": 1.5}]},
            "/rules/0/expected",
            "out_of_range",
        ),
    ],
)
def test_what_is_refused(change: dict[str, Any], pointer: str, code: str) -> None:
    assert refused(BODY | change) == [(pointer, code)]


def test_open_groups_are_refused() -> None:
    groups = {"score_from": [0.5, 0], "score_to": [1, 0.4], "positives": [3, 1], "negatives": [1, 3]}
    assert refused({"groups": groups, "rules": RULES[:1]}) == [("/groups", "needs_exact_groups")]


def test_the_command_has_the_numbers_of_the_answer(tmp_path: Any) -> None:
    rules = tmp_path / "rules.toml"
    text = "paired = true\nfail_status = 409\n"
    for each in RULES:
        text += "[[rules]]\n" + "".join(f"{key} = {json.dumps(value)}\n" for key, value in each.items())
    rules.write_text(text)
    words = ["plan", rules, TEN, "--baseline", ALL, "--power", "0.9"]
    done = run(*words)
    assert (done.exit_code, done.stderr) == (0, "")
    found = plans(BODY | {"power": 0.9})["plans"]
    for rows, positives, negatives in zip(
        *(found[name][:2] for name in ("rows", "positives", "negatives")), strict=True
    ):
        assert f"{rows}  {positives:9}  {negatives:9}\n" in done.stdout
    assert "Without a plan\n  roc at least 0.999" in done.stdout
    assert "the drop, as expected = ..." in done.stdout
    assert json.loads(run(*words, "--json").stdout)["plans"] == found
    assert "0.5<=x<=0.99" in refusal(run("plan", rules, TEN, "--power", "2"))
    assert "max_drop needs a baseline" in refusal(run("plan", rules, TEN))


DROP = {"metric": "roc", "max_drop": 0.03, "confidence": 0.95}
EQUAL = {"roc": 0.85, "baseline_roc": 0.85, "correlation": 0.7, "prevalence": 0.2}


@pytest.mark.parametrize(
    ("metric", "assumed", "rows"),
    [("roc", EQUAL, 1454), ("average_precision", EQUAL | {"roc": 0.9, "baseline_roc": 0.9}, 5448)],
)
def test_assumptions_take_the_place_of_a_pilot(metric: str, assumed: dict[str, float], rows: int) -> None:
    """A program in NumPy found 5.81 times 250 and 10.9 times 500 rows; the medians of random pilots were 5.77, 10.3."""
    rules = [DROP | {"metric": metric, "expected": 0}]
    found = plans({"assumptions": assumed, "rules": rules})
    assert found["paired"] is True
    assert found["plans"]["rows"] == [rows]
    clustered = plans({"assumptions": assumed | {"cluster_size": 5, "icc": 0.5}, "rules": rules})
    assert clustered["plans"]["rows"][0] == pytest.approx(3 * rows, abs=2)


def test_an_assumed_area_is_what_is_expected() -> None:
    rules = [{"metric": "roc", "min": 0.8, "confidence": 0.95}, DROP, {"metric": "pr", "min": 0.1, "confidence": 0.9}]
    found = plans({"assumptions": EQUAL | {"roc": 0.84}, "rules": rules})["plans"]
    assert found["expected"][:2] == [0.84, pytest.approx(-0.01)]
    assert found["value"][0] == pytest.approx(0.84, abs=0.001)
    assert found["expected"][2] == found["value"][2]


@pytest.mark.parametrize(
    ("change", "pointer", "code"),
    [
        ({"assumptions": {}}, "/assumptions/roc", "missing"),
        ({"assumptions": {"roc": 0.5}}, "/assumptions/roc", "out_of_range"),
        ({"assumptions": {"roc": 0.9, "baseline_roc": 0.9}}, "/assumptions/correlation", "missing"),
        ({"assumptions": {"roc": 0.9, "correlation": 0.9}}, "/assumptions/correlation", "exclusive"),
        ({"scores": [1, 0]}, "/scores", "exclusive"),
        ({"baseline": {"scores": [1, 0], "labels": [1, 0]}}, "/baseline", "exclusive"),
        ({"paired": False}, "/paired", "exclusive"),
        ({"assumptions": {"roc": 0.9}, "rules": [DROP]}, "/rules/0/max_drop", "missing"),
    ],
)
def test_what_is_wrong_with_assumptions(change: dict[str, Any], pointer: str, code: str) -> None:
    body = {"assumptions": EQUAL, "rules": [{"metric": "roc", "min": 0.5, "confidence": 0.9}]}
    assert refused(body | change) == [(pointer, code)]


def test_the_typical_sample_has_what_is_assumed() -> None:
    model, baseline = typical_samples(Assumptions(0.85, 0.8, 0.6, 0.2))
    assert baseline is not None
    assert (np.count_nonzero(model.labels), model.labels.size) == (1000, 5000)
    for each, area in ((model, 0.85), (baseline, 0.8)):
        assert roc_area(ConfusionTable.of(each)) == pytest.approx(area, abs=0.003)
    for of_class in (model.labels, ~model.labels):
        assert np.corrcoef(model.scores[of_class], baseline.scores[of_class])[0, 1] == pytest.approx(0.6, abs=0.01)
    common, _ = typical_samples(Assumptions(0.85, prevalence=0.9))
    assert (np.count_nonzero(common.labels), common.labels.size) == (9000, 10000)


def test_the_command_takes_assumptions(tmp_path: Any) -> None:
    rules = tmp_path / "rules.toml"
    rules.write_text('paired = true\n[[rules]]\nmetric = "roc"\nmax_drop = 0.03\nconfidence = 0.95\n')
    done = run("plan", rules, "--assume", json.dumps(EQUAL))
    assert (done.exit_code, done.stderr) == (0, "")
    assert "  1454        291       1163\n" in done.stdout
    assert "as expected" not in done.stdout
    assert "Give PILOT, or --assume" in refusal(run("plan", rules))
    assert "Give PILOT, or --assume" in refusal(run("plan", rules, TEN, "--assume", "{}"))
    assert "give baseline_roc" in refusal(run("plan", rules, "--assume", "{}", "--baseline", TEN))
    assert "/assumptions/roc: This must be below 1" in refusal(run("plan", rules, "--assume", '{"roc": 2}'))
