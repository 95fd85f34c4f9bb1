"""Metrics of rows, and statistics, in a gate: the worked numbers, the same as in curves, and differences of losses."""

from __future__ import annotations

import math
from dataclasses import asdict, replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given

from service.curves.decisions import Decision
from service.curves.evaluation import CurvesOptions
from service.curves.row_metrics import ROW_METRICS
from service.inference.curves_with_intervals import evaluate_with_intervals
from service.inference.intervals import IntervalOptions, normal_quantile
from service.inference.verdicts import Check
from tests import reference_inference as inference
from tests.support.gate_requests import Request, pairs
from tests.support.strategies import Data, evaluation_of, examples

LABELS = [label == "1" for label in "110101001000"]
TWELVE = Data([0.95, 0.9, 0.8, 0.7, 0.7, 0.6, 0.55, 0.4, 0.35, 0.3, 0.2, 0.1], LABELS)
OTHER = Data([0.9, 0.6, 0.7, 0.85, 0.5, 0.65, 0.45, 0.3, 0.4, 0.55, 0.15, 0.05], LABELS)
WEIGHTS = [1.0, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2]
ROWS = [
    Decision(at_threshold=0.5),
    Decision(at_share=0.25),
    Decision(at_fpr=0.2),
    Decision(at_recall=0.6),
    Decision(best="mcc"),
    Decision(best="precision", min_recall=0.6),
    Decision(best="recall", min_specificity=0.99, min_recall=0.5),
]


def checks(data: Data, *rules: dict[str, Any], against: Data | None = None, paired: bool = False) -> tuple[Check, ...]:
    return Request(data, against, list(rules), paired=paired, intervals=IntervalOptions()).checks()


@pytest.mark.parametrize("weights", [None, WEIGHTS])
@pytest.mark.parametrize("decision", ROWS, ids=str)
def test_a_metric_of_a_row_is_that_of_curves(decision: Decision, weights: list[float] | None) -> None:
    """With the same interval; a best row has none, and no row within the limits leaves the rule undecided."""
    data = replace(TWELVE, weights=weights)
    options = CurvesOptions(decisions=(decision,), metrics=tuple(ROW_METRICS))
    found = evaluate_with_intervals(evaluation_of(data), options, IntervalOptions()).curves.decisions
    place = {name: value for name, value in asdict(decision).items() if value is not None}
    for check in checks(data, *({"metric": name, "min": 0} | place for name in ROW_METRICS)):
        name = check.rule.metric
        value, ends = float(found.metrics[name][0]), found.ends[name][:, 0].tolist()
        assert check.value == (None if math.isnan(value) else value)
        assert (check.status == "undecided") == math.isnan(value)
        assert ([check.interval.lower, check.interval.upper] if check.interval else [None, None]) == [
            None if math.isnan(end) else end for end in ends
        ]


@pytest.mark.parametrize(
    ("rule", "value", "error", "ends"),
    [
        ({"metric": "gini"}, 4 / 7, 2 * 0.1414213562, (-0.171781, 0.900107)),
        ({"metric": "brier"}, 967 / 4800, 0.0620184575, (0.105950, 0.349414)),
        ({"metric": "log_loss"}, 0.5734916291586121, 0.1427147041, (0.352130, 0.934008)),
        ({"metric": "calibration_slope"}, 0.966390889775, 0.614997550, (-0.238983, 2.171764)),
        ({"metric": "calibration_intercept"}, -0.730064842645, 0.694261848, (-2.090793, 0.630663)),
        ({"metric": "eer"}, 2 / 7, None, None),
        ({"metric": "ks"}, 18 / 35, None, None),
        ({"metric": "ece"}, 79 / 240, None, None),
        ({"metric": "ece", "bins": 5, "by": "width"}, 37 / 240, None, None),
        ({"metric": "ece", "bins": 4, "by": "mass"}, 31 / 240, None, None),
    ],
    ids=str,
)
def test_statistics_of_twelve_rows(
    rule: dict[str, Any], value: float, error: float | None, ends: tuple[float, float] | None
) -> None:
    (check,) = checks(TWELVE, rule | {"max": 2})
    assert check.value == pytest.approx(value, rel=1e-11)
    if ends is None:
        assert check.interval is None
        return
    assert check.interval.standard_error == pytest.approx(error, rel=1e-8)
    assert (check.interval.lower, check.interval.upper) == pytest.approx(ends, abs=1e-6)


def test_a_difference_of_brier_scores() -> None:
    """Twelve rows and another model of them: -0.031875, with the error 0.035485."""
    (check,) = checks(OTHER, {"metric": "brier", "max_rise": 0.05, "confidence": 0.9}, against=TWELVE, paired=True)
    assert check.difference == pytest.approx(-0.031875, abs=1e-12)
    assert check.interval.standard_error == pytest.approx(0.035485, abs=1e-6)
    assert check.interval.method == "wald"


def loss(score: float, *, positive: bool, metric: str) -> float:
    chance = score if positive else 1 - score
    return (1 - chance) ** 2 if metric == "brier" else -math.log(min(max(chance, 2.0**-52), 1 - 2.0**-52))


def losses(data: Data, metric: str) -> list[float]:
    """The loss of each example."""
    scores = [1 - score if data.lower_is_positive else score for score in data.scores]
    return [loss(score, positive=label, metric=metric) for score, label in zip(scores, data.labels, strict=True)]


def moves(data: Data, values: list[float]) -> list[tuple[bool, float]]:
    """By how much each example moves the mean of its values, and of which class it is."""
    weights = data.weights or [1.0] * len(values)
    total, found = math.fsum(weights), []
    for positive in (True, False):
        mine = [(w, v) for w, v, label in zip(weights, values, data.labels, strict=True) if label == positive and w]
        mean = math.fsum(w * v for w, v in mine) / math.fsum(w for w, _ in mine)
        found += [(positive, w * (v - mean) / total) for w, v in mine]
    return found


def ends_by_hand(samples: list[Data], found: list[list[tuple[bool, float]]], middle: float, z: float) -> Any:
    """d ± x with x² = z²(SE² + J x/2), z for the smaller class."""
    sizes = [
        float(
            inference.effective(
                [Fraction(w) for w, label in zip(weights, data.labels, strict=True) if label == of and w]
            )
        )
        for data in samples
        for weights in [data.weights or [1.0] * len(data.labels)]
        for of in (True, False)
    ]
    variance = 0.0
    for number, each in enumerate(found):
        for place, of in enumerate((True, False)):
            m = sizes[2 * number + place]
            variance += m / (m - 1) * math.fsum(v**2 for positive, v in each if positive == of)
    every = [abs(v) for each in found for _, v in each]
    jump = math.fsum(v**3 for v in every) / math.fsum(v**2 for v in every)
    z = float(inference.students(z, min(sizes)))
    half = z * z * jump / 4
    reach = half + math.sqrt(half**2 + z * z * variance)
    return math.sqrt(variance), [middle - reach, middle + reach]


@pytest.mark.parametrize("metric", ["brier", "log_loss"])
@pytest.mark.parametrize("paired", [True, False])
@given(both=pairs())
@examples(40)
def test_a_difference_of_losses_by_hand(both: tuple[Data, Data], metric: str, *, paired: bool) -> None:
    one, other = (replace(each, scores=[score / 8 + 0.25 for score in each.scores]) for each in both)
    assume(all(0 <= score <= 1 for each in (one, other) for score in each.scores))
    of_each = [losses(each, metric) for each in (one, other)]
    assume(not paired or one.scores != other.scores or one.lower_is_positive != other.lower_is_positive)
    (check,) = checks(one, {"metric": metric, "max_rise": 0.1}, against=other, paired=paired)
    assume(check.interval is not None)
    if paired:
        found = [moves(one, [a - b for a, b in zip(*of_each, strict=True)])]
    else:
        found = [moves(data, values) for data, values in zip((one, other), of_each, strict=True)]
    samples = [one] if paired else [one, other]
    error, ends = ends_by_hand(samples, found, check.difference, normal_quantile(0.95))
    span = 1.0 if metric == "brier" else math.inf
    assert check.interval.standard_error == pytest.approx(error, rel=1e-9, abs=1e-12)
    assert [check.interval.lower, check.interval.upper] == pytest.approx(np.clip(ends, -span, span).tolist(), abs=1e-9)


def test_losses_without_spread_have_no_interval() -> None:
    """Every positive and every negative has the same loss: nothing shows how far the mean may move."""
    data = Data([0.75, 0.75, 0.25, 0.25], [True, True, False, False])
    gate = Request(data, None, [{"metric": "brier", "max": 0.5, "confidence": 0.9}]).gate()
    assert [check.status for check in gate.checks] == ["undecided"]
    assert "shows no spread" in next(each.detail for each in gate.warnings if each.code == "interval_omitted")


def test_a_score_that_is_no_probability() -> None:
    data = replace(TWELVE, scores=[3 * score for score in TWELVE.scores])
    names = ("brier", "log_loss", "ece", "calibration_slope")
    found = checks(data, *({"metric": name, "max": 1} for name in names))
    assert {check.status for check in found} == {"undecided"}
    assert all("the score of every example" in check.reason for check in found)
