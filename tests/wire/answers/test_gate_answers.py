"""A verdict as a document, and how a client that has only the document reads it back."""

import pytest

from service.wire.answers.gate_answers import gate_of
from tests.support.gate_requests import BASELINES, ONE, Request, every_rule
from tests.support.verdicts import document_of


@pytest.mark.parametrize("name", BASELINES)
def test_a_verdict_is_read_back_whole(name: str) -> None:
    baseline, paired = BASELINES[name]
    analytic = [rule for rule in every_rule() if rule["metric"] not in ("pr", "average_precision")]
    gate = Request(ONE, baseline, analytic, paired=paired).gate()
    assert gate_of(document_of(gate)) == gate
