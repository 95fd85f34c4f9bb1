"""A verdict as a document, and how a client that has only the document reads it back."""

import json

import pytest

from service.wire.answers.gate_answers import gate_document, gate_of
from tests.support.gate_requests import BASELINES, ONE, Request, every_rule


@pytest.mark.parametrize("name", BASELINES)
def test_a_verdict_is_read_back_whole(name: str) -> None:
    baseline, paired = BASELINES[name]
    analytic = [rule for rule in every_rule() if rule["metric"] not in ("pr", "average_precision")]
    gate = Request(ONE, baseline, analytic, paired=paired).gate()
    assert gate_of(json.loads(json.dumps(gate_document(gate)))) == gate
