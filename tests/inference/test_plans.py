"""Plans: the worked numbers, a slow twin, laws, and the power that plans reach in simulated data."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest

from service.curves.clusters import Clusters
from service.curves.decisions import Decision
from service.curves.sample import Sample
from service.inference.gate import evaluate_gate
from service.inference.intervals import IntervalOptions
from service.inference.models import Models
from service.inference.plans import Plan, evaluate_plans, planned
from service.inference.rules import Rule
from service.inference.sliced import RowsInSlices, Slicing
from service.inference.verdicts import GateOptions
from tests.cli.comparing import sample
from tests.cli.gate.gating import ALL, TEN

HOW = IntervalOptions()
SURE = {"confidence": 0.95}


def read(path: object) -> Sample:
    found = sample(path)
    return Sample(np.array(found["scores"], dtype=float), np.array(found["labels"]) == 1)


NEW, OLD = read(TEN), read(ALL)
BOTH = Models.of(NEW, OLD, paired=True)


def plan(power: float = 0.8, models: Models = BOTH, **rule: object) -> Plan:
    return planned(Rule(**{"metric": "roc"} | SURE | rule), models, HOW, power)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("rule", "factor", "rows", "positives", "negatives"),
    [
        ({"min": 0.98}, 2.516, 1433, 534, 899),
        ({"max_drop": 0.01}, 2.921, 1663, 620, 1043),
        ({"max_drop": 0.01, "expected": 0.0}, 1.804, 1027, 383, 644),
    ],
)
def test_the_worked_numbers(rule: dict[str, float], factor: float, rows: int, positives: int, negatives: int) -> None:
    """Those of the breast cancer data in design notes, by a program in NumPy that shares no code with this one."""
    found = plan(**rule)
    assert found.factor == pytest.approx(factor, abs=0.0005)
    assert (found.rows, found.positives, found.negatives) == (rows, positives, negatives)


def logit(value: float) -> float:
    return math.log(value / (1 - value))


def test_an_area_by_its_textbook_formula() -> None:
    """The lower end, logit t - z SE/(t(1 - t)), at the estimate t that is z standard errors below the truth."""
    model = BOTH.models[0]
    theta, error = model.value(Rule("roc", min=0).of), model.area_error("roc").error
    assert theta is not None
    z, below = NormalDist().inv_cdf(0.975), NormalDist().inv_cdf(0.9)

    def lower(factor: float) -> float:
        spread = error / math.sqrt(factor) / (theta * (1 - theta))
        estimate = 1 / (1 + math.exp(-(logit(theta) - below * spread)))
        at_estimate = error / math.sqrt(factor) * math.sqrt(estimate * (1 - estimate) / (theta * (1 - theta)))
        end = 1 / (1 + math.exp(-(logit(estimate) - z * at_estimate / (estimate * (1 - estimate)))))
        return min(end, 0.025 ** (1 / (212 * factor)))

    found = plan(min=0.98, power=0.9)
    assert found.factor is not None
    assert lower(found.factor) == pytest.approx(0.98, abs=1e-9)
    assert lower(found.factor * 0.99) < 0.98


def test_a_relative_drop_of_nothing_is_planned_as_no_drop() -> None:
    assert plan(max_relative_drop=0.0, expected=-0.001).factor == pytest.approx(
        plan(max_drop=0.0, expected=-0.001 * BOTH.values(Rule("roc", min=0).of)[1]).factor, rel=1e-3
    )


@pytest.mark.parametrize("rule", [{"metric": "roc"}, {"metric": "recall", "decision": Decision(at_threshold=0.5)}])
def test_a_relative_drop_of_a_baseline_near_1_is_planned_nearly_as_a_drop(rule: dict[str, object]) -> None:
    """If b is near 1, a >= 0.97 b hardly differs from a >= b - 0.03; the truth is what is seen in both."""
    relative, drop = plan(max_relative_drop=0.03, **rule), plan(max_drop=0.03, **rule)
    assert relative.expected == relative.value == pytest.approx(0.03 + (drop.value or 0.0), abs=2e-3)
    assert relative.factor == pytest.approx(drop.factor, rel=0.35)


def test_what_is_expected_of_a_relative_drop() -> None:
    """A true relative drop of e leaves a margin of (r - e) b."""
    found = plan(max_relative_drop=0.03, expected=0.01)
    baseline = BOTH.values(Rule("roc", min=0).of)[1]  # type: ignore[index]  # there are two
    assert found.expected == pytest.approx(0.02 * baseline, rel=1e-12)
    assert plan(max_relative_drop=0.03, expected=0.03).factor is None


def in_three(rule: Rule, power: float, rows: int = NEW.rows) -> Plan:
    """The plan of a rule over the hospitals A, B and C, to which the rows belong by turns."""
    numbers = np.arange(rows) % 3
    slicing = RowsInSlices(Slicing(numbers, {"hospital": ["A", "B", "C"]}))
    (found,) = evaluate_plans(NEW, None, [rule], HOW, power, slicings={("hospital",): slicing}).plans
    return found


@pytest.mark.parametrize(
    "rule",
    [
        {"metric": "roc", "min": 0.94},
        {"metric": "recall", "decision": Decision(at_threshold=0.5), "min": 0.9},
        {"metric": "roc", "min": 0.9, "expected": 0.95},
    ],
    ids=["roc", "recall", "expected"],
)
def test_a_rule_over_slices_has_the_plan_of_the_one_that_needs_most(rule: dict[str, object]) -> None:
    """Each of three is planned alone, with a power of 1 - 0.2/3."""
    found = in_three(Rule(**SURE | rule, slices=("hospital",)), 0.8)  # type: ignore[arg-type]
    alone = {}
    for number, name in enumerate("ABC"):
        rows = np.arange(NEW.rows) % 3 == number
        part = Sample(NEW.scores[rows], NEW.labels[rows])
        alone[name] = planned(Rule(**SURE | rule), Models.of(part), HOW, 1 - 0.2 / 3)  # type: ignore[arg-type]
    most = max(alone, key=lambda name: alone[name].factor or 0.0)
    assert found.slice == f"hospital {most}"
    assert (found.factor, found.value) == (alone[most].factor, alone[most].value)
    assert found.expected == rule.get("expected", found.value)
    assert found.factor is not None
    assert (found.positives, found.negatives) == (math.ceil(212 * found.factor), math.ceil(357 * found.factor))


@pytest.mark.parametrize(
    ("rule", "reason", "name"),
    [
        ({"min": 0.9899}, "If the true value is 0.9897, no number of rows proves that it meets the bound.", "C"),
        ({"min": 0.9, "min_examples": 100}, "No slice has enough examples for an interval.", None),
        ({"max_gap": 0.1}, "Gaps have no plan.", None),
    ],
)
def test_slices_without_a_plan(rule: dict[str, float], reason: str, name: str | None) -> None:
    found = in_three(Rule(metric="roc", **SURE | rule, slices=("hospital",)), 0.8)  # type: ignore[arg-type]
    assert (found.factor, found.rows) == (None, None)
    assert found.slice == (f"hospital {name}" if name else None)
    assert found.reason == (f"hospital {name}: {reason}" if name else reason)


def test_a_recall_by_wilson() -> None:
    rule = {"metric": "recall", "decision": Decision(at_threshold=0.5), "min": 0.9}
    found = plan(**rule)
    assert found.factor is not None
    p, n = 203 / 212, 212 * found.factor

    def wilson(z: float) -> float:
        centre, half = p + z * z / (2 * n), z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
        return (centre - half) / (1 + z * z / n)

    below = NormalDist().inv_cdf(0.8)
    assert wilson(NormalDist().inv_cdf(0.975)) - (p - wilson(1)) * below == pytest.approx(0.9, abs=1e-8)


@pytest.mark.parametrize(
    "rule",
    [
        {"min": 0.98},
        {"metric": "gini", "min": 0.96},
        {"metric": "average_precision", "min": 0.9905},
        {"metric": "brier", "max": 0.03},
        {"metric": "log_loss", "max": 0.12},
        {"metric": "tpr_at_fpr", "at": 0.1, "min": 0.9},
        {"metric": "f1", "decision": Decision(at_threshold=0.5), "min": 0.93},
        {"max_drop": 0.01},
        {"metric": "gini", "max_drop": 0.02},
        {"metric": "brier", "max_rise": 0.01},
        {"metric": "precision", "decision": Decision(at_threshold=0.5), "max_drop": 0.03},
    ],
    ids=lambda rule: " ".join(map(str, rule.values())),
)
def test_more_power_and_a_nearer_bound_need_more_rows(rule: dict[str, object]) -> None:
    some, more, most = (plan(power, **rule).factor for power in (0.5, 0.8, 0.95))
    assert some is not None
    assert more is not None
    assert most is not None
    assert some < more < most
    (kind, bound) = next((key, value) for key, value in rule.items() if key in {"min", "max", "max_drop", "max_rise"})
    assert isinstance(bound, float)
    nearer = plan(**rule | {kind: bound + (0.001 if kind == "min" else -0.001)}).factor
    assert nearer is None or nearer > more


def test_a_slope_is_planned_from_its_error() -> None:
    """b + (z + z') SE/√k = 2."""
    random = np.random.default_rng(4)
    scores = random.uniform(0.05, 0.95, 400)
    models = Models.of(Sample(scores, random.random(400) < scores))
    metric = Rule("calibration_slope", max=2.0).of
    value, error = models.models[0].value(metric), models.models[0].error_of(metric)
    assert value is not None
    assert error is not None
    z = NormalDist().inv_cdf(0.975) + NormalDist().inv_cdf(0.8)
    found = plan(models=models, metric="calibration_slope", max=2.0)
    assert found.factor == pytest.approx((z * error.error / (2 - value)) ** 2, rel=1e-6)


def test_gini_and_roc_have_one_plan() -> None:
    for roc, gini in (({"min": 0.98}, {"min": 0.96}), ({"max_drop": 0.01}, {"max_drop": 0.02})):
        assert plan(metric="gini", **gini).factor == pytest.approx(plan(**roc).factor, rel=1e-6)


def test_a_plan_does_not_depend_on_how_much_data_there_is() -> None:
    """Of a pilot twice as long, the factor is half as large, but for the correction of small classes."""
    twice = Models.of(*(Sample(np.tile(each.scores, 2), np.tile(each.labels, 2)) for each in (NEW, OLD)), paired=True)
    for rule in ({"min": 0.98}, {"max_drop": 0.01}, {"metric": "brier", "max": 0.03}):
        one, other = plan(**rule), plan(models=twice, **rule)
        assert one.rows is not None
        assert other.rows == pytest.approx(one.rows, rel=0.02)


@pytest.mark.parametrize(
    ("rule", "why"),
    [
        ({"min": 0.995}, "If the true value is 0.992, no number of rows proves"),
        ({"max_drop": 0.001}, "If the true difference is -0.002841, no number of rows"),
        ({"min": 0.98, "expected": 0.97}, "If the true value is 0.97, no number of rows"),
        ({"min": 0.98, "confidence": None}, "Without confidence"),
        ({"max_drop": 0.01, "prove": "drop"}, "fails only if it is disproven"),
        ({"metric": "tpr_at_fpr", "at": 0.1, "max_drop": 0.1}, "comes from resamples"),
        ({"min": 0.9919, "expected": 0.991901}, "more than 1,000,000 times"),
        ({"metric": "precision", "decision": Decision(at_threshold=9.0), "min": 0.1}, "There is no value"),
    ],
)
def test_there_is_no_plan_without_a_word(rule: dict[str, object], why: str) -> None:
    found = plan(**rule)
    assert (found.factor, found.rows) == (None, None)
    assert why in found.reason


def test_a_perfect_pilot_shows_no_spread() -> None:
    perfect = Sample(np.arange(20.0), np.arange(20) >= 10)
    assert "shows no spread" in plan(models=Models.of(perfect), min=0.9).reason
    assert "too few" in plan(models=Models.of(Sample(np.arange(3.0), np.arange(3) > 1)), min=0.1).reason


def test_a_gate_has_the_rows_that_it_would_need() -> None:
    rules = (Rule("roc", min=0.98, confidence=0.95), Rule("roc", min=0.9, confidence=0.95), Rule("roc", min=0.9999))
    checks = evaluate_gate(NEW, OLD, GateOptions(rules, paired=True)).checks
    assert [check.rows_needed for check in checks] == [1433, None, None]


@pytest.mark.parametrize("seed", [1, 2])
def test_plans_reach_their_power(seed: int) -> None:
    """Planned from a pilot of 100 and 400 for an area of 0.85 that is known to be true, and at least 0.8."""
    random, shift = np.random.default_rng(seed), math.sqrt(2) * NormalDist().inv_cdf(0.85)

    def drawn(positives: int, negatives: int) -> Sample:
        labels = np.arange(positives + negatives) < positives
        return Sample(random.standard_normal(labels.size) + shift * labels, labels)

    rule = Rule("roc", min=0.8, expected=0.85, confidence=0.95)
    found = planned(rule, Models.of(drawn(100, 400)), HOW)
    assert found.positives is not None
    assert found.negatives is not None
    passed = sum(
        evaluate_gate(drawn(found.positives, found.negatives), None, GateOptions((rule,))).passed for _ in range(300)
    )
    assert 0.65 < passed / 300 < 0.93


@pytest.mark.parametrize(
    "rule",
    [
        {"min": 0.75},
        {"max_drop": 0.1},
        {"metric": "average_precision", "min": 0.7},
        {"metric": "recall", "at_threshold": 1, "min": 0.4},
        {"metric": "precision", "at_threshold": 1, "min": 0.6},
        {"metric": "tpr_at_fpr", "at": 0.2, "min": 0.4},
    ],
)
def test_rows_repeated_within_their_cluster_plan_as_many_clusters(rule: dict[str, Any]) -> None:
    """Four copies of each row in its cluster need about as many times the data as the rows once."""
    random = np.random.default_rng(2)
    labels = np.arange(160) < 80
    scores = [random.standard_normal(160) + 1.6 * labels for _ in range(2)]
    decision = {"decision": Decision(at_threshold=rule["at_threshold"])} if "at_threshold" in rule else {}
    asked = {key: value for key, value in rule.items() if key != "at_threshold"} | decision
    factors = []
    for times in (1, 4):
        rows = np.repeat(np.arange(160), times)
        clusters = None if times == 1 else Clusters.of(rows.tolist())
        both = (Sample(column[rows], labels[rows], clusters=clusters) for column in scores)
        found = plan(models=Models.of(*both, paired=True), **asked)
        assert found.factor is not None, found.reason
        factors.append(found.factor)
    assert 0.95 < factors[1] / factors[0] < 1.35
