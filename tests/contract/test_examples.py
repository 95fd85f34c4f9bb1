"""Every example of an evaluation, sent: the answer keeps to its schema and is the one that the document shows.

An example answer has the name of the request that gets it; a CSV answer also that of its `table`. An operation without
tables answers a table with reports. What else the query of an example holds is in its description.
"""

import csv
import io
import json
import math
from collections.abc import Iterable
from typing import Any

import pyarrow as pa
import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from service.wire.media_types import ARROW_STREAM, CSV, JSON, MARKDOWN, XML
from service.wire.requests.gates_schemas import FAIL_STATUSES
from tests.asking import read_csv, tables
from tests.contract.document import Operation, document, evaluations, examples, queries, resolved, violations

EVALUATIONS = {found.name: found for found in evaluations()}

RELATIVE = 1e-12
"""What the contract leaves open for areas with logarithms, whose last bits are the C library's."""

WARNED_OF_BY_ONE_TABLE = {"pr_trapezoid_omitted": "auc"}
"""{code of a warning: the only table of which it tells}"""


def _requests(found: Operation, kind: str) -> dict[str, Any]:
    return examples(found.request_content[kind])


def _answers(found: Operation, kind: str) -> dict[str, tuple[int, Any]]:
    """The status and the value of each example of an answer, under the first status that shows it."""
    shown: dict[str, tuple[int, Any]] = {}
    for status, response in found.responses.items():
        for name, value in examples(response["content"].get(kind, {})).items():
            shown.setdefault(name, (status, value))
    return shown


def _tables(found: Operation) -> list[str]:
    """The tables that the operation can be asked for."""
    parameters = {parameter["name"]: parameter for parameter in found.parameters}
    names: list[str] = resolved(parameters["table"]["schema"])["enum"] if "table" in parameters else []
    return names


def _named(kind: str, found: Iterable[Operation]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize(
        ("operation", "name"), [(one.name, name) for one in found for name in _requests(one, kind)]
    )


ALL = EVALUATIONS.values()
WITH_TABLES = [found for found in ALL if _tables(found)]
WITH_REPORTS = [found for found in ALL if not _tables(found)]
REPORTS = (MARKDOWN, XML)


def _same(found: Any, expected: Any) -> bool:
    if isinstance(expected, dict):
        return (
            isinstance(found, dict)
            and list(found) == list(expected)
            and all(map(_same, found.values(), expected.values()))
        )
    if isinstance(expected, list):
        return isinstance(found, list) and len(found) == len(expected) and all(map(_same, found, expected))
    if isinstance(expected, float) and isinstance(found, float):
        return math.isclose(found, expected, rel_tol=RELATIVE, abs_tol=0)
    return type(found) is type(expected) and found == expected


def _cells(text: str) -> list[list[object]]:
    def cell(word: str) -> object:
        try:
            return float(word) if "." in word else word
        except ValueError:
            return word

    return [[cell(word) for word in row] for row in csv.reader(io.StringIO(text, newline=""))]


def _post(client: FlaskClient, operation: str, kind: str, value: Any, accept: str, **query: str) -> TestResponse:
    found = EVALUATIONS[operation]
    body = json.dumps(value) if kind == JSON else value
    return client.post(found.path, data=body, content_type=kind, query_string=query, headers={"Accept": accept})


def _post_example(client: FlaskClient, operation: str, kind: str, name: str, accept: str, **query: str) -> TestResponse:
    found = EVALUATIONS[operation]
    query |= queries(found.request_content[kind])[name]
    return _post(client, operation, kind, _requests(found, kind)[name], accept, **query)


def _keeps_to_its_schema(operation: str, answer: TestResponse) -> bool:
    content = EVALUATIONS[operation].responses[answer.status_code]["content"]
    return JSON in content and violations(content[JSON]["schema"], answer.get_json()) == []


@pytest.mark.parametrize("operation", EVALUATIONS)
class TestNames:
    def test_of_requests_and_answers_are_the_same(self, operation: str) -> None:
        found = EVALUATIONS[operation]
        assert list(_requests(found, JSON)) == list(_answers(found, JSON))
        for kind in [CSV] if found in WITH_TABLES else REPORTS:
            assert list(_requests(found, CSV)) == list(_answers(found, kind))

    def test_of_csv_answers_are_all_tables(self, operation: str) -> None:
        found = EVALUATIONS[operation]
        assert set(_answers(found, CSV)) == set(_tables(found))


@_named(JSON, ALL)
def test_json_gets_the_answer_shown(client: FlaskClient, operation: str, name: str) -> None:
    status, expected = _answers(EVALUATIONS[operation], JSON)[name]
    answer = _post_example(client, operation, JSON, name, JSON)
    assert answer.status_code == status, answer.text
    assert answer.mimetype == JSON
    assert _keeps_to_its_schema(operation, answer)
    assert _same(answer.get_json(), expected), answer.get_json()


@_named(CSV, WITH_TABLES)
def test_csv_gets_the_answer_shown(client: FlaskClient, operation: str, name: str) -> None:
    answer = _post_example(client, operation, CSV, name, CSV, table=name)
    assert answer.status_code == 200, answer.text
    assert answer.mimetype == CSV
    _, expected = _answers(EVALUATIONS[operation], CSV)[name]
    assert _same(_cells(answer.text), _cells(expected)), answer.text


@_named(CSV, WITH_REPORTS)
@pytest.mark.parametrize("accept", REPORTS)
def test_csv_gets_the_report_shown(client: FlaskClient, operation: str, name: str, accept: str) -> None:
    answer = _post_example(client, operation, CSV, name, accept)
    assert answer.mimetype == accept
    assert (answer.status_code, answer.text) == _answers(EVALUATIONS[operation], accept)[name]


@_named(CSV, ALL)
def test_csv_is_answered_as_json_too(client: FlaskClient, operation: str, name: str) -> None:
    answer = _post_example(client, operation, CSV, name, JSON)
    assert _keeps_to_its_schema(operation, answer), answer.text


@pytest.mark.parametrize("status", FAIL_STATUSES)
@pytest.mark.parametrize("accept", [JSON, *REPORTS])
def test_a_failed_gate_has_the_status_that_it_asks_for(client: FlaskClient, status: int, accept: str) -> None:
    found = EVALUATIONS["checkGate"]
    request = _requests(found, JSON)["failed"]
    answer = _post(client, found.name, JSON, request | {"fail_status": status}, accept)
    assert (answer.status_code, answer.mimetype) == (status, accept)
    without = _post(client, found.name, JSON, request | {"fail_status": None}, accept)
    assert (without.status_code, without.data) == (200, answer.data)
    assert set(found.responses[status]["headers"]) - {"Content-Encoding"} <= set(answer.headers.keys())


@_named(JSON, WITH_TABLES)
def test_the_tables_of_an_answer_are_the_same_as_csv_and_arrow(client: FlaskClient, operation: str, name: str) -> None:
    whole = _post_example(client, operation, JSON, name, JSON).get_json()
    columns_of = tables(whole)
    assert set(columns_of) <= set(_tables(EVALUATIONS[operation]))
    for table, columns in columns_of.items():
        answer = _post_example(client, operation, JSON, name, CSV, table=table)
        assert answer.status_code == 200, answer.text
        found = read_csv(answer.text)
        assert list(found) == list(columns)
        assert found == columns
        warnings = json.loads(answer.headers.get("Rocpr-Warnings", "[]"))
        assert warnings == [
            warning for warning in whole["warnings"] if WARNED_OF_BY_ONE_TABLE.get(warning["code"], table) == table
        ]
        assert violations(document()["components"]["schemas"]["Warnings"], warnings) == []
        typed = _post_example(client, operation, JSON, name, ARROW_STREAM, table=table)
        assert typed.mimetype == ARROW_STREAM
        assert pa.ipc.open_stream(typed.data).read_all().to_pydict() == columns
        assert typed.headers["Rocpr-Warnings"] == answer.headers["Rocpr-Warnings"]


@pytest.mark.parametrize("operation", EVALUATIONS)
def test_absent_null_and_empty_are_the_same(client: FlaskClient, operation: str) -> None:
    found = EVALUATIONS[operation]
    request = next(iter(_requests(found, JSON).values()))
    plain = _post(client, operation, JSON, request, JSON).get_json()
    for name, node in resolved(found.request_content[JSON]["schema"])["properties"].items():
        if name not in request:
            empties: list[Any] = [None, []] if node.get("type") == ["array", "null"] else [None]
            for empty in empties:
                answer = _post(client, operation, JSON, {**request, name: empty}, JSON)
                assert answer.status_code == 200, (name, empty, answer.text)
                assert answer.get_json() == plain
