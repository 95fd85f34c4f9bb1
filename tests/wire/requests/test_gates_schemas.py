"""The checked request for a gate: its rules, the status of a failed gate, and its work."""

import pytest

from service.wire.requests.gates_schemas import FAIL_STATUSES, GatesRequestSchema
from service.wire.requests.rule_schemas import RuleSchema

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
