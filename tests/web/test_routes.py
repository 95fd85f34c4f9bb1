"""The application's paths, their methods, and the order in which a request is refused."""

from typing import Any

import pytest
import yaml
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.exceptions import BadGateway, BadRequest, HTTPException, ImATeapot
from werkzeug.test import TestResponse

from service.answer import response_media_types
from service.web import operations
from service.wire.problems import PROBLEM_JSON, PROBLEM_TYPES
from tests.web.conftest import MAX_BODY_BYTES

CURVES = "/v1/curves"
SAMPLE = b'{"scores": [0.9, 0.6, 0.4, 0.1], "labels": [1, 0, 1, 0], "include": ["auc"]}'
JSON = {"Content-Type": "application/json"}


def check_problem(response: TestResponse, code: str, instance: str = CURVES) -> dict[str, Any]:
    problem = PROBLEM_TYPES[code]
    assert response.content_type == PROBLEM_JSON
    document = response.get_json(force=True)
    assert (response.status_code, document["type"], document["instance"]) == (problem.status, problem.uri, instance)
    return document


def test_an_evaluation_is_answered(client: FlaskClient) -> None:
    response = client.post(CURVES, data=SAMPLE, headers=JSON)
    assert response.status_code == 200
    assert response.content_type == "application/json"
    assert response.headers["Vary"] == "Accept"
    assert response.get_json()["auc"]["roc"] == 0.75


def test_an_evaluation_is_answered_as_csv(client: FlaskClient) -> None:
    response = client.post(CURVES, data=SAMPLE, headers={**JSON, "Accept": "text/csv"}, query_string="table=auc")
    assert response.status_code == 200
    assert response.content_type == "text/csv; charset=utf-8"
    assert response.text.startswith('"roc","roc_hull",')


def test_a_problem_of_the_evaluation_keeps_its_media_type(client: FlaskClient) -> None:
    response = client.post(CURVES, data=b"{", headers={**JSON, "Accept": "text/csv"})
    check_problem(response, "malformed_body")


def test_options_reach_the_answer_in_order(client: FlaskClient, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []
    real = operations.answer
    monkeypatch.setattr(operations, "answer", lambda request, limits: seen.append(request) or real(request, limits))
    client.post(CURVES, data=b"x", headers=JSON, query_string="b=1&a=%C3%BC+c&b=&%2B=%26&d")
    (request,) = seen
    assert request.parameters == (("b", "1"), ("a", "ü c"), ("b", ""), ("+", "&"), ("d", ""))
    assert (request.operation, request.instance) == ("curves", CURVES)
    assert (request.content_type, request.accept, request.body) == (
        "application/json",
        response_media_types("curves")[0],
        b"x",
    )


def test_a_query_that_is_not_utf_8_is_400(client: FlaskClient) -> None:
    check_problem(client.post(CURVES, data=SAMPLE, headers=JSON, query_string="a=%ff"), "malformed_request")


def test_refusals_come_in_order(client: FlaskClient) -> None:
    wrong = {"Accept": "image/png", "Content-Type": "image/png"}
    too_long = b" " * (MAX_BODY_BYTES + 1)
    check_problem(client.post("/v1/nothing", data=too_long, headers=wrong), "not_found", "/v1/nothing")
    check_problem(client.put(CURVES, data=too_long, headers=wrong), "method_not_allowed")
    check_problem(client.post(CURVES, data=too_long, headers=wrong), "not_acceptable")
    del wrong["Accept"]
    check_problem(client.post(CURVES, data=too_long, headers=wrong), "unsupported_media_type")
    check_problem(client.post(CURVES, data=too_long, headers=JSON), "body_too_large")
    check_problem(client.post(CURVES, data=b"{", headers=JSON), "malformed_body")


@pytest.mark.parametrize("method", ["GET", "HEAD", "PUT", "PATCH", "DELETE", "TRACE", "FROB"])
def test_other_methods_are_405_with_allow(client: FlaskClient, method: str) -> None:
    response = client.open(CURVES, method=method)
    assert response.status_code == 405
    assert response.headers["Allow"] == "OPTIONS, POST"


@pytest.mark.parametrize("path", [CURVES, "/openapi.json", "/health/live"])
def test_options_names_the_methods(client: FlaskClient, path: str) -> None:
    response = client.options(path)
    assert response.status_code == 200
    assert "OPTIONS" in response.headers["Allow"]
    assert response.data == b""


@pytest.mark.parametrize("path", ["/", "/v1", "/v1/curves/", "/v1//curves", "/V1/curves", "/problems/", "/health"])
def test_other_paths_are_404(client: FlaskClient, path: str) -> None:
    check_problem(client.post(path), "not_found", path)


def test_the_contract_is_served_in_both_forms(client: FlaskClient) -> None:
    in_yaml = client.get("/openapi.yaml")
    assert in_yaml.content_type == "application/yaml"
    in_json = client.get("/openapi.json")
    assert in_json.content_type == "application/json"
    assert in_json.get_json()["openapi"] == yaml.safe_load(in_yaml.data)["openapi"]


@pytest.mark.parametrize("path", ["/docs", "/docs/", "/docs/index.html"])
def test_the_docs_need_no_other_server(client: FlaskClient, path: str) -> None:
    page = client.get(path, headers={"Host": "</script>"})
    assert page.status_code == 200
    assert page.mimetype == "text/html"
    assert "://" not in page.text
    assert '"/openapi.json"' in page.text
    assert '"validatorUrl": null' in page.text


@pytest.mark.parametrize(
    "name", ["swagger-ui-bundle.js", "swagger-ui-standalone-preset.js", "swagger-ui.css", "index.css"]
)
def test_the_docs_have_their_files(client: FlaskClient, name: str) -> None:
    assert f"/docs/{name}" in client.get("/docs").text
    with client.get(f"/docs/{name}", headers={"Range": "bytes=9999999999-"}) as response:
        assert response.status_code == 200


def test_the_docs_have_no_other_files(client: FlaskClient) -> None:
    check_problem(client.get("/docs/nothing.js"), "not_found", "/docs/nothing.js")


@pytest.mark.parametrize("code", PROBLEM_TYPES)
def test_every_problem_type_is_described_where_it_points(client: FlaskClient, code: str) -> None:
    problem = PROBLEM_TYPES[code]
    response = client.get(problem.uri)
    assert response.content_type == "application/json"
    assert response.get_json() == {
        "type": problem.uri,
        "title": problem.title,
        "status": problem.status,
        "description": problem.description,
    }


def test_an_unknown_problem_type_is_404(client: FlaskClient) -> None:
    check_problem(client.get("/problems/nothing"), "not_found", "/problems/nothing")


@pytest.mark.parametrize("path", ["/health/live", "/health/ready"])
def test_health(client: FlaskClient, path: str) -> None:
    assert client.get(path).get_json() == {"status": "ok"}
    assert client.head(path).status_code == 200


@pytest.mark.parametrize("error", [ValueError("secret"), MemoryError(), RecursionError()])
def test_an_unexpected_failure_is_a_problem_that_tells_nothing(
    client: FlaskClient, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, error: Exception
) -> None:
    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr(operations, "answer", fail)
    response = client.post(CURVES, data=SAMPLE, headers=JSON)
    check_problem(response, "internal_error")
    assert b"secret" not in response.data
    assert "Unexpected failure" in caplog.text


@pytest.mark.parametrize(
    ("error", "code"),
    [(BadRequest(), "malformed_request"), (ImATeapot(), "malformed_request"), (BadGateway(), "internal_error")],
)
def test_an_http_error_without_a_problem_type_is_still_a_problem(
    app: Flask, monkeypatch: pytest.MonkeyPatch, error: HTTPException, code: str
) -> None:
    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr(operations, "answer", fail)
    check_problem(app.test_client().post(CURVES, data=SAMPLE, headers=JSON), code)
