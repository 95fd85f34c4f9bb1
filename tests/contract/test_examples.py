"""Every example of an evaluation, sent: the answer keeps to its schema and is the one that the document shows.

An example answer has the name of the request that gets it; a CSV answer also that of its `table`.
"""

import csv
import io
import json
import math
from typing import Any

import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from tests.contract.document import document, examples, operation, schema, violations

CURVES = operation("evaluateCurves")
REQUESTS = {kind: examples(content) for kind, content in CURVES.request_content.items()}
ANSWERS = {kind: examples(content) for kind, content in CURVES.responses[200]["content"].items()}

RELATIVE = 1e-12
"""What the contract leaves open for areas with logarithms, whose last bits are the C library's."""


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


def _post(client: FlaskClient, kind: str, value: Any, accept: str, **query: str) -> TestResponse:
    body = json.dumps(value) if kind == "application/json" else value
    return client.post(CURVES.path, data=body, content_type=kind, query_string=query, headers={"Accept": accept})


def test_requests_and_answers_have_the_same_names() -> None:
    assert {kind: set(named) for kind, named in REQUESTS.items()} == {
        kind: set(named) for kind, named in ANSWERS.items()
    }


def test_every_table_is_shown_as_csv() -> None:
    assert set(ANSWERS["text/csv"]) == set(schema("Output")["enum"])


@pytest.mark.parametrize("name", REQUESTS["application/json"])
def test_json_gets_the_answer_shown(client: FlaskClient, name: str) -> None:
    answer = _post(client, "application/json", REQUESTS["application/json"][name], "application/json")
    assert answer.status_code == 200, answer.text
    assert answer.mimetype == "application/json"
    assert violations({"$ref": "#/components/schemas/CurvesAnswer"}, answer.get_json()) == []
    assert _same(answer.get_json(), ANSWERS["application/json"][name]), answer.get_json()


@pytest.mark.parametrize("name", REQUESTS["text/csv"])
def test_csv_gets_the_answer_shown(client: FlaskClient, name: str) -> None:
    answer = _post(client, "text/csv", REQUESTS["text/csv"][name], "text/csv", table=name)
    assert answer.status_code == 200, answer.text
    assert answer.mimetype == "text/csv"
    assert _same(_cells(answer.text), _cells(ANSWERS["text/csv"][name])), answer.text


@pytest.mark.parametrize("name", REQUESTS["text/csv"])
def test_csv_is_answered_as_json_too(client: FlaskClient, name: str) -> None:
    answer = _post(client, "text/csv", REQUESTS["text/csv"][name], "application/json")
    assert answer.status_code == 200, answer.text
    assert violations({"$ref": "#/components/schemas/CurvesAnswer"}, answer.get_json()) == []


@pytest.mark.parametrize("name", REQUESTS["application/json"])
def test_the_tables_of_an_answer_are_the_same_as_csv(client: FlaskClient, name: str) -> None:
    request = REQUESTS["application/json"][name]
    whole = _post(client, "application/json", request, "application/json").get_json()
    for table in set(schema("Output")["enum"]) & {key for key, value in whole.items() if value is not None}:
        answer = _post(client, "application/json", request, "text/csv", table=table)
        assert answer.status_code == 200, answer.text
        header, *rows = csv.reader(io.StringIO(answer.text, newline=""))
        assert header == list(whole[table])
        columns = [column if isinstance(column, list) else [column] for column in whole[table].values()]
        assert [
            [json.loads(word) if word else None for word in column] for column in zip(*rows, strict=True)
        ] == columns
        warnings = json.loads(answer.headers.get("Rocpr-Warnings", "[]"))
        assert warnings == [
            warning for warning in whole["warnings"] if table == "auc" or warning["code"] != "pr_trapezoid_omitted"
        ]
        assert violations(document()["components"]["schemas"]["Warnings"], warnings) == []


def test_absent_null_and_empty_are_the_same(client: FlaskClient) -> None:
    sample = REQUESTS["application/json"]["sample"]
    plain = _post(client, "application/json", sample, "application/json").get_json()
    for name, node in schema("CurvesRequest")["properties"].items():
        if name not in sample:
            empties = [None, []] if node.get("type") == ["array", "null"] else [None]
            for empty in empties:
                answer = _post(client, "application/json", {**sample, name: empty}, "application/json")
                assert answer.status_code == 200, (name, empty, answer.text)
                assert answer.get_json() == plain
