"""Every example of a request is sent and gets the answer that the document shows, in every format alike."""

import json
from collections.abc import Iterable
from typing import Any

import pyarrow as pa
import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from service.contract.__main__ import documents, kept
from service.wire.media_types import ARROW_STREAM, CSV, JSON
from service.wire.requests.gates_schemas import FAIL_STATUSES
from tests.contract.document import PATH, Operation, document, evaluations, examples, problem_examples, resolved
from tests.contract.example_requests import REPORTS, answers_to_gets, post_example, reports, same
from tests.contract.example_requests import tables as tables_of
from tests.contract.problem_requests import problems
from tests.contract.violations import violations
from tests.support.asking import read_csv, tables

EVALUATIONS = {found.name: found for found in evaluations()}

WARNED_OF_BY_ONE_TABLE = {"pr_trapezoid_omitted": "auc", "far_prevalence": "auc", "few_clusters": "intervals"}
"""{code of a warning: the only table that it concerns}"""


def _requests(found: Operation, kind: str) -> dict[str, Any]:
    return examples(found.request_content[kind])


def _answers(found: Operation, kind: str) -> list[str]:
    """The names of the example answers, each once."""
    contents = [response.get("content", {}) for response in found.responses.values()]
    return list(dict.fromkeys(name for content in contents for name in examples(content.get(kind, {}))))


def _named(kind: str, found: Iterable[Operation]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize(
        ("operation", "name"), [(one.name, name) for one in found for name in _requests(one, kind)]
    )


ALL = EVALUATIONS.values()
WITH_TABLES = [found for found in ALL if tables_of(found)]


def _post(client: FlaskClient, found: Operation, value: Any, accept: str) -> TestResponse:
    return client.post(found.path, json=value, headers={"Accept": accept})


@pytest.mark.parametrize("operation", EVALUATIONS)
class TestNames:
    def test_of_requests_and_answers_are_the_same(self, operation: str) -> None:
        found = EVALUATIONS[operation]
        kinds = [CSV] if found in WITH_TABLES else reports(found)
        in_json = {**_requests(found, JSON), **(_requests(found, CSV) if JSON in kinds else {})}
        assert list(in_json) == _answers(found, JSON)
        for kind in set(kinds) - {JSON}:
            assert list(_requests(found, CSV)) == _answers(found, kind)

    def test_of_csv_answers_are_all_tables(self, operation: str) -> None:
        found = EVALUATIONS[operation]
        assert set(_answers(found, CSV)) == set(tables_of(found))


def test_the_document_is_current() -> None:
    """What declarations, prose and examples say is written, with the answers of today."""
    assert PATH.read_text("utf-8") == documents()[0], "run python -m service.contract, and read what it changed"


def test_other_answers_are_written_over() -> None:
    shown = document()["paths"]["/v1/curves"]["post"]["responses"]["200"]["content"]
    before = json.loads(json.dumps(shown))
    for value in (before[JSON]["examples"]["sample"]["value"], before[CSV]["examples"]["auc"]):
        value |= {"value": "other"}
    before[JSON]["examples"]["sample"]["value"]["auc"]["roc"] += 1e-16
    before[CSV]["examples"]["points"]["value"] = before[CSV]["examples"]["points"]["value"].replace("0.7", "0.8", 1)
    found = kept(shown, before)
    assert found[CSV] == shown[CSV]
    assert found[JSON]["examples"]["sample"]["value"].keys() == shown[JSON]["examples"]["sample"]["value"].keys()


def test_last_digits_are_left_alone() -> None:
    assert kept({"roc": [0.1, 1]}, {"roc": [0.1 + 1e-16, 1]}) == {"roc": [0.1 + 1e-16, 1]}
    assert kept("a,0.7500000000000001\n", "a,0.75\n") == "a,0.75\n"
    assert kept("a,0.7501\n", "a,0.75\n") == "a,0.7501\n"


@pytest.mark.parametrize(("path", "shown", "today"), [*answers_to_gets()])
def test_usual_answers_to_gets_are_those_of_today(path: str, shown: object, today: object) -> None:
    assert same(today, shown), path


def test_problems_are_those_of_today() -> None:
    shown = {name: value for name, (_, value) in problem_examples().items()}
    found = problems()
    assert shown.keys() >= found.keys()
    assert {name: shown[name] for name in found if not same(found[name], shown[name])} == {}


@_named(CSV, ALL)
def test_csv_is_answered_as_json_too(client: FlaskClient, operation: str, name: str) -> None:
    answer = post_example(client, EVALUATIONS[operation], CSV, name, JSON)
    content = EVALUATIONS[operation].response(answer.status_code)["content"]
    assert violations(content[JSON]["schema"], answer.get_json()) == []


@pytest.mark.parametrize("status", FAIL_STATUSES)
@pytest.mark.parametrize("accept", [JSON, *REPORTS])
def test_a_failed_gate_has_the_status_that_it_asks_for(client: FlaskClient, status: int, accept: str) -> None:
    found = EVALUATIONS["checkGate"]
    request = _requests(found, JSON)["failed"]
    answer = _post(client, found, request | {"fail_status": status}, accept)
    assert (answer.status_code, answer.mimetype) == (status, accept)
    without = _post(client, found, request | {"fail_status": None}, accept)
    assert (without.status_code, without.data) == (200, answer.data)
    assert set(found.response(status)["headers"]) - {"Content-Encoding"} <= set(answer.headers.keys())


@_named(JSON, WITH_TABLES)
def test_the_tables_of_an_answer_are_the_same_as_csv_and_arrow(client: FlaskClient, operation: str, name: str) -> None:
    whole = post_example(client, EVALUATIONS[operation], JSON, name, JSON).get_json()
    columns_of = tables(whole)
    assert set(columns_of) <= set(tables_of(EVALUATIONS[operation]))
    for table, columns in columns_of.items():
        answer = post_example(client, EVALUATIONS[operation], JSON, name, CSV, table=table)
        assert answer.status_code == 200, answer.text
        found = read_csv(answer.text)
        assert list(found) == list(columns)
        assert found == columns
        warnings = json.loads(answer.headers.get("Rocpr-Warnings", "[]"))
        assert warnings == [
            warning for warning in whole["warnings"] if WARNED_OF_BY_ONE_TABLE.get(warning["code"], table) == table
        ]
        assert violations(document()["components"]["schemas"]["Warnings"], warnings) == []
        typed = post_example(client, EVALUATIONS[operation], JSON, name, ARROW_STREAM, table=table)
        assert typed.mimetype == ARROW_STREAM
        assert pa.ipc.open_stream(typed.data).read_all().to_pydict() == columns
        assert typed.headers["Rocpr-Warnings"] == answer.headers["Rocpr-Warnings"]


@pytest.mark.parametrize("operation", EVALUATIONS)
def test_absent_null_and_empty_are_the_same(client: FlaskClient, operation: str) -> None:
    found = EVALUATIONS[operation]
    request = next(iter(_requests(found, JSON).values()))
    plain = _post(client, found, request, JSON).get_json()
    named = resolved(found.request_content[JSON]["schema"]).get("properties", {"any": {"type": ["array", "null"]}})
    for name, node in named.items():
        if name not in request:
            empties: list[Any] = [None, []] if node.get("type") == ["array", "null"] else [None]
            for empty in empties:
                answer = _post(client, found, {**request, name: empty}, JSON)
                assert answer.status_code == 200, (name, empty, answer.text)
                assert answer.get_json() == plain
