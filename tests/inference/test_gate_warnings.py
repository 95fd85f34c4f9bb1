"""A gate's warnings: rules that hardly any model fails, and data that look like a mistake."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.reference_gate import Evaluation
from tests.support.gate_requests import ONE, OTHER, PERFECT, Request
from tests.support.strategies import Rows

DROP = {"metric": "roc", "max_drop": 0.1}
LEAST = {"metric": "roc", "min": 0.1}


def codes(current: Evaluation, baseline: Evaluation | None, *rules: dict[str, Any], paired: bool = False) -> list[str]:
    return [warning.code for warning in Request(current, baseline, list(rules), paired=paired).gate().warnings]


def test_a_slip_of_a_per_cent() -> None:
    for bound in (0.5, 1.0):
        assert codes(ONE, OTHER, DROP | {"max_drop": bound}, paired=True) == ["loose_rule"]
    assert codes(ONE, OTHER, DROP | {"max_drop": 0.49}, paired=True) == []
    (warning,) = Request(ONE, OTHER, [DROP | {"max_drop": 1.0}], paired=True).gate().warnings
    assert warning.detail == "max_drop 1 of roc allows nearly any drop; one percentage point is 0.01."


def test_an_index_that_is_one_for_every_model() -> None:
    rule = {"metric": "f_measure", "at": 1.0, "min": 0.9}
    assert codes(ONE, None, rule) == ["loose_rule"]
    assert codes(ONE, None, rule | {"at": 0.99}) == []
    assert codes(ONE, None, rule | {"at_threshold": 0.5}) == []
    assert codes(ONE, None, {"metric": "precision_at_recall", "at": 1.0, "min": 0.9}) == []


@pytest.mark.parametrize("paired", [True, False])
def test_one_set_of_scores_for_both(*, paired: bool) -> None:
    assert codes(ONE, ONE, LEAST, paired=paired) == ["same_scores"]
    assert codes(PERFECT, PERFECT, DROP, paired=paired) == ["same_scores"]
    assert codes(PERFECT, replace(PERFECT, lower_is_positive=True), DROP, paired=paired) == ["below_chance"]


def test_data_that_look_paired_but_are_not_declared_so() -> None:
    assert codes(ONE, OTHER, DROP) == ["maybe_paired"]
    assert codes(ONE, OTHER, LEAST) == []
    assert codes(ONE, OTHER, DROP, paired=True) == []
    for rows, code in ((9, []), (10, ["maybe_paired"])):  # with few rows, labels may agree by chance
        both = (ONE.rows(list(range(rows))), OTHER.rows(list(range(rows))))
        assert codes(*both, DROP) == code
    assert codes(ONE, replace(OTHER, labels=OTHER.labels[::-1]), DROP) == ["below_chance"]  # of the baseline
    assert codes(ONE, replace(OTHER, weights=[2.0] * 14), DROP) == []
    assert codes(ONE, Rows([1, 3], [0, 2], 7, 7), DROP) == []


def test_a_reason_looks_at_the_value_first() -> None:
    """The reason speaks of the interval only if the value itself meets the bound."""
    value = Request(ONE, None, [LEAST]).checks()[0].value
    for bound, told in ((value + 0.05, f"roc is {value:.4g}, below min"), (value - 0.01, "but with 90 % confidence")):
        (check,) = Request(ONE, None, [{"metric": "roc", "min": bound, "confidence": 0.9}]).checks()
        assert check.status == "failed"
        assert told in check.reason
    worse, better = sorted((ONE, OTHER), key=lambda each: Request(each, None, [LEAST]).checks()[0].value)
    sure = DROP | {"confidence": 0.9, "max_drop": 0.01}
    (down,), (up,) = (Request(*pair, [sure], paired=True).checks() for pair in ((worse, better), (better, worse)))
    assert down.reason.startswith("roc dropped by ")
    assert "may have dropped" in up.reason
