"""The checked request for a gate: its rules, the status of a failed gate, and its work."""

import json

import pytest

from service.answer import answer
from service.curves.clock import TooMuchWork
from service.request import Effort, Request
from service.settings import Settings
from service.wire.media_types import JSON
from service.wire.requests.gates_schemas import FAIL_STATUSES, MOST_RULES, GatesRequestSchema, RuleSchema
from tests.support.asking import LIMITS

SAMPLE = {"scores": [0.9, 0.7, 0.7, 0.5], "labels": [1, 0, 1, 0]}
RULE = {"metric": "roc", "min": 0.5}


def loaded(**options):
    return GatesRequestSchema().load(SAMPLE | {"rules": [RULE]} | options)


def test_a_rule_has_no_negative_zero():
    """Neither in the answer, which repeats the rule, nor in a sentence."""
    rule = RuleSchema().load({"metric": "f_measure", "at": -0.0, "at_threshold": -0.0, "min": -0.0})
    assert str(rule.given()) == "{'metric': 'f_measure', 'at': 0.0, 'at_threshold': 0.0, 'min': 0.0}"
    assert str(RuleSchema().load({"metric": "roc", "max_drop": -0.0}).bound) == "0.0"


@pytest.mark.parametrize("status", FAIL_STATUSES)
def test_the_status_is_a_whole_number_however_it_is_written(status):
    assert loaded().fail_status == loaded(fail_status=None).fail_status == 200
    assert repr(loaded(fail_status=float(status)).fail_status) == str(status)


def test_rules_are_work():
    """A hundred indices of many rows take longer than reading those rows, so they do not belong in the small lane."""
    one, two = loaded(), loaded(rules=[RULE, RULE])
    assert one.work < two.work < loaded(rules=[RULE, RULE], baseline=SAMPLE).work
    rows = 30_000
    rules = [{"metric": "f_measure", "at": 0.5, "min": 0.5}] * MOST_RULES
    for wanted, is_big in ((rules[:3], False), (rules, True)):
        body = {"scores": list(range(rows)), "labels": [0, 1] * (rows // 2), "rules": wanted}
        request = Request("gates", "/v1/gates", JSON, JSON, (), json.dumps(body).encode())
        if is_big:
            with pytest.raises(TooMuchWork):
                answer(request, LIMITS, Effort(Settings().big_work, 1 << 20))
        else:
            assert answer(request, LIMITS, Effort(Settings().big_work, 1 << 20)).status == 200
