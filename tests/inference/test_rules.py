"""Rules: the names of the contract, and how a rule is named in a sentence."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.curves.decisions import Decision
from service.curves.errors import plain
from service.inference.metric import AREAS, AREAS_WITH_INTERVALS, METRIC_NAMES, Metric
from service.inference.rules import BOUNDS, Rule, percent
from tests import reference_gate as reference
from tests import reference_gate_intervals as twin
from tests.support.strategies import examples

finite = st.floats(allow_nan=False, allow_infinity=False)


def test_the_names_are_those_of_the_contract() -> None:
    assert tuple(reference.AREAS) == AREAS
    assert set(AREAS) - set(AREAS_WITH_INTERVALS) == set(twin.WITHOUT_INTERVAL)
    fits = {"calibration_slope", "calibration_intercept"}  # which have no slow twin
    assert set(METRIC_NAMES) == {metric["metric"] for metric in reference.metrics()} | fits
    assert len(METRIC_NAMES) == len(set(METRIC_NAMES))


@pytest.mark.parametrize(
    ("rule", "name"),
    [
        ({"metric": "roc"}, "roc"),
        ({"metric": "partial", "over": "fpr", "from": 0.0, "to": 0.1}, "partial over fpr 0 to 0.1"),
        (
            {"metric": "partial", "over": "fpr", "from": 0.0, "to": 0.1, "min_tpr": 0.8},
            "partial over fpr 0 to 0.1 above tpr 0.8",
        ),
        ({"metric": "precision_at_recall", "at": 0.5}, "precision_at_recall at recall 0.5"),
        ({"metric": "recall_at_precision", "at": 1.0}, "recall_at_precision at precision 1"),
        ({"metric": "tpr_at_fpr", "at": 0.0}, "tpr_at_fpr at fpr 0"),
        ({"metric": "f_measure", "at": 1 / 3}, "f_measure at lambda 0.3333333333333333"),
        ({"metric": "fpr", "at_threshold": -12.5}, "fpr at threshold -12.5"),
        ({"metric": "recall", "at_share": 0.01}, "recall at share 0.01"),
        ({"metric": "precision", "best": "f1", "min_recall": 0.5}, "precision at best f1, recall >= 0.5"),
        ({"metric": "kulczynski", "at_fpr": 0.1}, "kulczynski at fpr 0.1"),
        ({"metric": "ece", "bins": 10, "by": "mass"}, "ece of 10 bins by mass"),
        ({"metric": "jaccard", "at": 0.5, "at_threshold": 1e22}, "jaccard at lambda 0.5 at threshold 1e+22"),
    ],
)
def test_a_metric_is_named_with_its_place(rule: dict[str, Any], name: str) -> None:
    parsed = Rule.read(rule | {"min": 0.5})
    assert parsed.of == Metric(parsed.metric, parsed.at, parsed.decision, parsed.part, parsed.bins)
    assert parsed.given() == rule | {"min": 0.5}
    assert str(parsed.of) == name


@pytest.mark.parametrize("kind", BOUNDS)
def test_a_rule_has_one_bound(kind: str) -> None:
    for bound in (0.0, 0.25):
        rule = Rule("roc", **{kind: bound})
        assert (rule.kind, rule.bound) == (kind, bound)
        assert rule.given() == {"metric": "roc", kind: bound}
    whole = {"metric": "jaccard", "at": 0.0, "at_threshold": 0.0, kind: 0.0, "confidence": 0.9}
    assert Rule.read(whole).given() == whole


@given(finite)
@examples(100)
def test_a_number_is_written_with_all_its_digits(number: float) -> None:
    text = plain(number)
    assert float(text) == number
    assert len(text) <= len(repr(number))
    assert set(text) <= set("0123456789.e+-")


@given(finite, finite)
@examples(100)
def test_two_places_have_two_names(one: float, other: float) -> None:
    names = {str(Metric("recall", decision=Decision(at_threshold=threshold))) for threshold in (one, other)}
    assert len(names) == 1 + (plain(one) != plain(other))


def test_levels_in_percent() -> None:
    levels = {0.95: "95", 0.57: "57", 0.29: "29", 0.999: "99.9", 0.9999999: "99.99999", 1e-9: "0.0000001", 0.5: "50"}
    levels[0.9999999999999999] = "99.99999999999999"
    assert {level: percent(level) for level in levels} == levels
    hundreds = [percent(number / 1000) for number in range(1, 1000)]
    assert all(float(a) < float(b) for a, b in pairwise(hundreds))
    assert max(map(len, hundreds)) == len("99.9")


fractions = st.floats(0, 1)


@examples(200)
@given(fractions, fractions, st.sampled_from([4, 6]))
def test_a_number_is_written_on_its_side_of_the_bound(number: float, bound: float, decimals: int) -> None:
    for limit in (bound, math.nextafter(number, 0), number, math.nextafter(number, 1)):
        text = Rule("roc", min=limit).written(number, decimals)
        shown = float(text)
        assert (shown > limit, shown < limit) == (number > limit, number < limit)
        assert shown not in {0.0, 1.0} or number in {0.0, 1.0}
        assert shown == pytest.approx(number, abs=0.5000001 * 10.0**-decimals)


@pytest.mark.parametrize(
    ("difference", "text"),
    [(0.84 - 0.85, "-0.0100"), (-0.010001, "-0.010001"), (-0.00999, "-0.00999"), (0.02, "+0.0200"), (1e-17, "+0.0000")],
)
def test_a_drop_within_rounding_of_its_bound_is_written_as_the_bound(difference: float, text: str) -> None:
    """0.84 - 0.85 is -0.010000000000000009, which meets a bound of 0.01."""
    assert Rule("roc", max_drop=0.01).written(difference, 4, difference=True, sign="+") == text
