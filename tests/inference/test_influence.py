"""Influences against difference quotients, for areas and parts of curves, with classes of different sizes."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import product
from typing import Any

import mpmath
import numpy as np
import pytest

from service.inference.influence import _FEW, _means
from tests import reference_gate_intervals as reference
from tests.support.gate_requests import Request
from tests.support.sampling import some
from tests.support.strategies import Data

CURRENT = Data([9, 8, 7, 7, 6, 5, 4, 3, 3, 2, 1], [label == "+" for label in "+-+-+--+---"])
BASELINE = replace(CURRENT, scores=[8, 9, 3, 7, 6, 6, 5, 1, 4, 2, 3])
WEIGHTS = [1.0, 0.5, 2.0, 1.0, 1.5, 3.0, 1.0, 0.25, 1.0, 2.0, 1.0]
RULES: list[dict[str, Any]] = [
    {"metric": "roc"},
    {"metric": "pr"},
    {"metric": "average_precision"},
    {"metric": "partial", "over": "fpr", "from": 0.1, "to": 0.55},
    {"metric": "partial", "over": "fpr", "to": 0.5, "min_tpr": 0.4},
    {"metric": "partial", "over": "fpr", "to": 0.9, "min_tpr": 0.55},  # passed in a vertical step
    {"metric": "partial", "over": "tpr", "from": 0.3, "to": 0.85},
    {"metric": "partial", "over": "recall", "from": 0.2, "to": 0.7},
]


@pytest.mark.parametrize(
    ("rule", "kind"), some(product(RULES, ["alone", "weighted", "unpaired", "paired"]), 3), ids=str
)
def test_intervals_are_those_of_influences_by_definition(rule: dict[str, Any], kind: str) -> None:
    current, baseline = CURRENT, BASELINE
    if kind == "weighted":
        current = replace(current, weights=WEIGHTS)
    bound = {"min": 0.0} if kind in {"alone", "weighted"} else {"max_drop": 1.0}
    paired = kind == "paired"
    request = Request(current, baseline, [rule | bound | {"confidence": 0.9}], paired=paired)
    if "min" in bound:
        expected = reference.interval(current, rule, 0.9, "auto")
    else:
        if not paired:
            baseline = replace(baseline, scores=baseline.scores[:-1], labels=baseline.labels[:-1])
            request = replace(request, baseline=baseline)
        expected = reference.difference_interval(current, baseline, rule, 0.9, "auto", paired=paired)
    found = request.checks()[0].interval
    assert expected is not None
    numbers = [float(each) for each in (expected.lower, expected.upper, expected.error)]
    assert [found.lower, found.upper, found.standard_error] == pytest.approx(numbers, rel=1e-9)


POWERS = [(0, 1), (1, 1), (0, 2), (1, 2), (2, 2)]
"""Exponents of s and of 1/q."""


@pytest.mark.parametrize("growth", [0.0, 1e-9, 1e-3, math.nextafter(_FEW, 0), _FEW, 0.3, 1.0, 50.0, 1e6])
def test_means_along_a_step(growth: float) -> None:
    """The series omits terms of growth⁴, 1e-8, too small to show in the end of an interval."""
    found = [float(each[0]) for each in _means(np.array([growth]))]
    pieces = [0, *(min(1, 2.0**k / max(growth, 1)) for k in range(24))]
    expected = [float(mpmath.quad(lambda s, m=m, n=n: s**m / (1 + s * growth) ** n, pieces)) for m, n in POWERS]
    assert found == pytest.approx(expected, rel=1e-14 if growth < _FEW else 1e-9)
