"""Requests that schemathesis generates from the document, valid and invalid, for every operation, in process.

No request gets a 5xx; every answer has a documented status, media type, headers and body; what the document forbids is
refused. What it allows may still get 422, because a schema cannot say which values may be combined.
"""

import copy
import json
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from schemathesis.config import SchemathesisConfig
from schemathesis.generation import GenerationMode
from schemathesis.specs.openapi.checks import negative_data_rejection, positive_data_acceptance

from service.app import create_app
from service.settings import read_settings
from service.wire.media_types import PNG
from service.wire.requests.gates_schemas import FAIL_STATUSES
from tests.contract.document import document, evaluations, operations
from tests.contract.json_bodies import BODIES
from tests.contract.table_bodies import TABLES
from tests.contract.violations import violations
from tests.support.strategies import examples

pytestmark = pytest.mark.all

FAILED = [str(status) for status in FAIL_STATUSES]
ACCEPTED = ["2xx", "404", "413", "422", *FAILED]
"""Statuses of requests that follow the document; 404 is for a problem type that does not exist."""

CONFIG = SchemathesisConfig.from_dict({"checks": {"positive_data_acceptance": {"expected-statuses": ACCEPTED}}})
SETTINGS = settings(examples(200), suppress_health_check=list(HealthCheck))

for media_type, bodies in TABLES.items():
    schemathesis.openapi.media_type(media_type, bodies)

FEWER = settings(examples(100), suppress_health_check=list(HealthCheck))
"""For tables, of which there are three formats."""

CONTRACT = schemathesis.openapi.from_dict(copy.deepcopy(document()), config=CONFIG)
CONTRACT.app = create_app(read_settings({}))  # loaded from the application, it would leave out its own path
EVALUATIONS = {found.name: CONTRACT.find_operation_by_id(found.name) for found in evaluations()}
EVERY_EVALUATION = pytest.mark.parametrize("name", EVALUATIONS)
EVERY_TABLE = pytest.mark.parametrize("media_type", TABLES)
ACCEPTS = {found.name: st.sampled_from([*found.responses["200"]["content"].keys() - {PNG}]) for found in evaluations()}
"""A PNG takes a tenth of a second, and shows the same as the SVG."""

OF_CURVES = [{"metric": "roc", "min": 0.5, "confidence": 0.9}, {"metric": "precision_at_recall", "at": 0.5, "max": 1}]
OF_ROWS = [{"metric": "recall", "at_threshold": 1, "min": 0.5}, {"metric": "f_measure", "at": 0.2, "min": 0.5}]
QUERIES: dict[str, list[dict[str, str]]] = {
    "compareClassifiers": [{"scores": "scores,others"}],
    "evaluateClasses": [{"scores": "scores,others"}],
    "evaluateSlices": [{"slices": "labels"}, {"slices": "labels,scores", "intervals": "{}"}],
    "checkGate": [
        {"rules": json.dumps(OF_CURVES)},
        {"rules": json.dumps(OF_ROWS), "fail_status": "424"},
        {"rules": json.dumps([{"metric": "pr", "max_drop": 0.1}]), "baseline_scores": "others", "paired": "true"},
    ],
}
"""{operation: the queries, one of which it needs to evaluate a table}"""


UNCOMPRESSED = {"Accept-Encoding": "identity"}
"""In process, nothing decompresses an answer before it is checked."""


def _is_lenient(value: object) -> bool:
    """Whether a parameter may be valid although no schema says so: null, empty, or truth values in capitals."""
    return not value or str(value).lower() in {"true", "false", "null"}


def excluded_checks(case: schemathesis.Case[Any]) -> list[Any]:
    """Checks that do not apply to a case: no schema says which bytes are a table, or how lenient queries are."""
    excluded = [positive_data_acceptance] if case.media_type in TABLES else []
    if any(_is_lenient(text) for text in (case.query or {}).values()):
        excluded.append(negative_data_rejection)
    return excluded


def _validate(case: schemathesis.Case[Any], **headers: str) -> None:
    """Send a case and check the answer; for a table 400 is as good as 422."""
    response = case.call_and_validate(headers=UNCOMPRESSED | headers, excluded_checks=excluded_checks(case))
    if case.media_type in TABLES and case.method == "POST":
        assert response.status_code in {200, 400, 413, 415, 422, *FAIL_STATUSES}


def test_every_operation_is_among_those_that_are_tried() -> None:
    tried = {(found.ok().path, found.ok().method) for found in CONTRACT.get_all_operations()}
    assert tried == {(found.path, found.method) for found in operations()}


@CONTRACT.parametrize()
@SETTINGS
def test_every_operation(case: schemathesis.Case[Any]) -> None:
    """The examples, the bounds of every schema on both sides, and random requests."""
    _validate(case)


@EVERY_EVALUATION
@SETTINGS
@given(data=st.data())
def test_json_that_breaks_the_document(name: str, data: st.DataObject) -> None:
    cases = EVALUATIONS[name].as_strategy(media_type="application/json", generation_mode=GenerationMode.NEGATIVE)
    _validate(data.draw(cases))


@EVERY_EVALUATION
@EVERY_TABLE
@FEWER
@given(data=st.data())
def test_tables_with_parameters(name: str, media_type: str, data: st.DataObject) -> None:
    case = data.draw(EVALUATIONS[name].as_strategy(media_type=media_type))
    _validate(case, Accept=data.draw(ACCEPTS[name]))


@EVERY_EVALUATION
@EVERY_TABLE
@FEWER
@given(data=st.data())
def test_tables_alone(name: str, media_type: str, data: st.DataObject) -> None:
    """Random parameters are nearly always wrong; without them many tables are evaluated."""
    table, query = data.draw(TABLES[media_type]), data.draw(st.sampled_from(QUERIES.get(name, [{}])))
    case = EVALUATIONS[name].Case(body=table, media_type=media_type, query=dict(query))
    _validate(case, Accept=data.draw(ACCEPTS[name]))


@EVERY_EVALUATION
@SETTINGS
@given(data=st.data())
def test_bodies_that_fit_together(name: str, data: st.DataObject) -> None:
    body = data.draw(BODIES[name])
    response = EVALUATIONS[name].Case(body=body, media_type="application/json").call_and_validate(headers=UNCOMPRESSED)
    if response.status_code in {200, body.get("fail_status")}:
        answer = EVALUATIONS[name].definition.raw["responses"]["200"]["content"]["application/json"]["schema"]
        assert violations(answer, response.json()) == []
    else:
        assert response.status_code == 422
