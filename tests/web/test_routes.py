"""The application's paths, their methods, and the order in which a request is refused."""

import json
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.exceptions import BadGateway, BadRequest, HTTPException, ImATeapot
from werkzeug.test import EnvironBuilder, TestResponse
from werkzeug.wsgi import FileWrapper

from service.answer import response_media_types
from service.app import create_app
from service.settings import read_settings
from service.web import operation_routes
from service.web.passes import DRAINING
from service.wire.answers import png
from service.wire.formats.codings import CODINGS, MIN_COMPRESSED_BYTES, compress, decompress
from service.wire.media_types import SVG
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
    assert response.headers["Vary"] == "Accept, Accept-Encoding"
    assert response.get_json()["auc"]["roc"] == 0.75


def test_content_type_says_how_csv_is_written(client: FlaskClient) -> None:
    table = "größe,labels\n0.9,1\n0.2,0\n".encode("windows-1252")
    query = {"scores": "größe", "include": "auc"}
    for charset in ("windows-1252", "ISO-8859-1"):
        headers = {"Content-Type": f"text/csv; charset={charset}"}
        assert client.post(CURVES, data=table, headers=headers, query_string=query).get_json()["auc"]["roc"] == 1
    refused = client.post(CURVES, data=table, headers={"Content-Type": "text/csv"}, query_string=query)
    assert "charset=windows-1252" in check_problem(refused, "malformed_body")["detail"]
    refused = client.post(CURVES, data=SAMPLE, headers={"Content-Type": "application/json; charset=windows-1252"})
    check_problem(refused, "unsupported_media_type")
    headers = {"Content-Type": "text/csv; header=absent"}
    answer = client.post(CURVES, data=b"0.9,1\n0.2,0\n", headers=headers, query_string="include=auc")
    assert answer.get_json()["auc"]["roc"] == 1


def test_an_evaluation_is_answered_as_csv(client: FlaskClient) -> None:
    response = client.post(CURVES, data=SAMPLE, headers={**JSON, "Accept": "text/csv"}, query_string="table=auc")
    assert response.status_code == 200
    assert response.content_type == "text/csv; charset=utf-8"
    assert response.text.startswith('"roc","roc_hull",')


def test_a_png_is_drawn_in_an_evaluator(client: FlaskClient, monkeypatch: pytest.MonkeyPatch) -> None:
    """Drawing may end the evaluator; here nothing is answered."""
    if not png.is_drawn():
        pytest.skip(png.NEEDS)
    monkeypatch.setattr(operation_routes, "answer", lambda *_: pytest.fail("it was answered here"))
    response = client.post(CURVES, data=SAMPLE, headers={**JSON, "Accept": "image/png"}, query_string="side=160")
    assert (response.status_code, response.mimetype) == (200, "image/png")
    assert response.data.startswith(b"\x89PNG")
    assert response.headers["Rocpr-Warnings"] == "[]"


def test_a_png_that_is_not_offered_is_406_and_says_why(client: FlaskClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(png, "is_drawn", lambda: False)
    headers = {**JSON, "Accept": "image/png"}
    problem = check_problem(client.post(CURVES, data=SAMPLE, headers=headers), "not_acceptable")
    assert problem["detail"].endswith(f", text/plain. {png.NEEDS}")
    assert client.post(CURVES, data=SAMPLE, headers={**JSON, "Accept": "image/png, image/*;q=0.5"}).mimetype == SVG


def test_a_long_answer_of_an_evaluator_is_a_file_for_the_server() -> None:
    """The server sends it in pieces, without holding it in memory."""
    rows = {"scores": [row / 7 for row in range(3_000)], "labels": [row % 2 for row in range(3_000)]}
    headers = {**JSON, "Content-Encoding": "gzip"}
    builder = EnvironBuilder(CURVES, method="POST", data=compress("gzip", json.dumps(rows).encode()), headers=headers)
    told: list[Any] = []
    app = create_app(read_settings({"ROCPR_BIG_BODY_BYTES": "100"}))
    body = app.wsgi_app(builder.get_environ() | {"wsgi.file_wrapper": FileWrapper}, lambda *given: told.append(given))
    assert isinstance(body, FileWrapper)
    content = b"".join(body)
    body.close()
    ((status, fields),) = told
    assert status == "200 OK"
    assert dict(fields)["Content-Length"] == str(len(content))
    assert len(json.loads(content)["points"]["tp"]) == 3_001


def test_a_problem_of_the_evaluation_keeps_its_media_type(client: FlaskClient) -> None:
    response = client.post(CURVES, data=b"{", headers={**JSON, "Accept": "text/csv"})
    check_problem(response, "malformed_body")


@pytest.mark.parametrize("coding", CODINGS)
def test_a_compressed_body_is_the_same_body(client: FlaskClient, coding: str) -> None:
    plain = client.post(CURVES, data=SAMPLE, headers=JSON)
    compressed = client.post(CURVES, data=compress(coding, SAMPLE), headers=JSON | {"Content-Encoding": coding})
    assert (plain.status_code, plain.data) == (compressed.status_code, compressed.data) == (200, plain.data)
    assert without_the_moment(plain) == without_the_moment(compressed)


def without_the_moment(response: TestResponse) -> dict[str, str]:
    """The headers, without those that differ from request to request."""
    return {name: text for name, text in response.headers if name not in {"X-Request-ID", "Server-Timing"}}


def test_a_long_answer_of_a_big_request_is_sent_from_a_file() -> None:
    body = json.dumps({"scores": [*range(3000)], "labels": [0, 1] * 1500})
    big = create_app(read_settings({"ROCPR_BIG_BODY_BYTES": "100"})).test_client()
    small = create_app(read_settings({})).test_client().post(CURVES, data=body, headers=JSON)
    with big.post(CURVES, data=body, headers=JSON) as answer:
        assert answer.data == small.data
        assert answer.content_length == len(small.data) > 100_000
    assert without_the_moment(answer) == without_the_moment(small)


def test_work_beyond_the_bound_is_done_in_an_evaluator(client: FlaskClient) -> None:
    without_time = create_app(read_settings({"ROCPR_SMALL_SECONDS": "0"})).test_client()
    here = client.post(CURVES, data=SAMPLE, headers=JSON)
    there = without_time.post(CURVES, data=SAMPLE, headers=JSON)
    assert here.data == there.data
    assert "lane;desc=small" in here.headers["Server-Timing"]
    assert "lane;desc=big" in there.headers["Server-Timing"]


def test_a_server_that_was_told_to_stop_is_not_ready(client: FlaskClient) -> None:
    DRAINING.set()
    try:
        answer = client.get("/health/ready")
        check_problem(answer, "not_ready", "/health/ready")
        assert answer.headers["Retry-After"] == "2"
        assert client.get("/health/live").status_code == 200
        assert client.post(CURVES, data=SAMPLE, headers=JSON).status_code == 200
    finally:
        DRAINING.clear()


@pytest.mark.parametrize("accept", ["application/json", "text/csv"])
@pytest.mark.parametrize("coding", CODINGS)
def test_an_answer_is_compressed_when_that_is_asked_for(client: FlaskClient, coding: str, accept: str) -> None:
    headers = JSON | {"Accept": accept}
    body = json.dumps({"scores": [*range(40)], "labels": [0, 1] * 20})
    plain = client.post(CURVES, data=body, headers=headers)
    assert "Content-Encoding" not in plain.headers
    answer = client.post(CURVES, data=body, headers=headers | {"Accept-Encoding": coding})
    assert answer.headers["Content-Encoding"] == coding
    assert answer.headers["Vary"] == plain.headers["Vary"] == "Accept, Accept-Encoding"
    assert answer.content_type == plain.content_type
    assert int(answer.headers["Content-Length"]) == len(answer.data) < len(plain.data)
    assert decompress(coding, answer.data, len(plain.data)) == plain.data


@pytest.mark.parametrize(("length", "coding"), [(1023, None), (1024, "gzip")])
def test_an_answer_of_1_kib_or_more_is_compressed(client: FlaskClient, length: int, coding: str | None) -> None:
    """Halving the smallest score, which is a threshold in the answer, adds a digit."""
    body = {"scores": [float(score) for score in range(1, 13)], "labels": [1, 0] * 6, "include": ["points"]}
    while len(client.post(CURVES, json=body).data) < length:
        body["scores"][0] /= 2
    assert len(client.post(CURVES, json=body).data) == length
    answer = client.post(CURVES, json=body, headers={"Accept-Encoding": "gzip"})
    assert answer.headers.get("Content-Encoding") == coding


def test_short_answers_and_problems_are_sent_as_they_are(client: FlaskClient) -> None:
    for body in (SAMPLE, b"{"):
        answer = client.post(CURVES, data=body, headers=JSON | {"Accept-Encoding": "gzip"})
        assert "Content-Encoding" not in answer.headers
        assert answer.is_json
    unknown = {f"k{number}": 0 for number in range(20)}
    answer = client.post(CURVES, json=unknown, headers={"Accept-Encoding": "gzip"})
    assert len(answer.data) > MIN_COMPRESSED_BYTES
    check_problem(answer, "invalid_request")


def test_a_body_in_another_coding_gets_the_list_of_codings(client: FlaskClient) -> None:
    answer = client.post(CURVES, data=SAMPLE, headers=JSON | {"Content-Encoding": "br"})
    check_problem(answer, "unsupported_content_encoding")
    assert answer.headers["Accept-Encoding"] == "zstd, gzip"
    assert "Accept-Encoding" not in client.post(CURVES, data=SAMPLE, headers={"Content-Type": "image/png"}).headers


def test_a_body_that_becomes_too_large_is_413() -> None:
    client = create_app(read_settings({"ROCPR_MAX_DECOMPRESSED_BYTES": str(len(SAMPLE))})).test_client()
    headers = JSON | {"Content-Encoding": "zstd"}
    assert client.post(CURVES, data=compress("zstd", SAMPLE), headers=headers).status_code == 200
    answer = client.post(CURVES, data=compress("zstd", SAMPLE + b" "), headers=headers)
    assert "Decompressed" in check_problem(answer, "body_too_large")["detail"]
    assert client.post(CURVES, data=SAMPLE + b" ", headers=JSON).status_code == 200


def test_options_reach_the_answer_in_order(client: FlaskClient, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []
    real = operation_routes.answer
    monkeypatch.setattr(
        operation_routes, "answer", lambda asked, *rest, **more: seen.append(asked) or real(asked, *rest, **more)
    )
    client.post(CURVES, data=b"x", headers=JSON, query_string="b=1&a=%C3%BC+c&b=&%2B=%26&d")
    (request,) = seen
    assert request.parameters == (("b", "1"), ("a", "ü c"), ("+", "&"))
    assert (request.operation, request.instance) == ("curves", CURVES)
    assert (request.content_type, request.accept, request.body) == (
        "application/json",
        response_media_types("curves")[0],
        b"x",
    )


def test_a_query_that_is_not_utf_8_is_400(client: FlaskClient) -> None:
    check_problem(client.post(CURVES, data=SAMPLE, headers=JSON, query_string="a=%ff"), "malformed_request")


def test_a_query_of_too_many_parameters_is_422(client: FlaskClient) -> None:
    few, many = ("&".join(f"{number:x}=1" for number in range(size)) for size in (100, 101))
    for query, said in (
        (few, "Unknown query parameter"),
        (many, "more than 100 parameters"),
        ("a&" * 4000, "more than 100"),
    ):
        refused = client.post(CURVES, data=SAMPLE, headers=JSON, query_string=query)
        check_problem(refused, "invalid_request")
        assert said in refused.json["detail"]


def test_refusals_come_in_order(client: FlaskClient) -> None:
    wrong = {"Accept": "image/gif", "Content-Type": "image/gif", "Content-Encoding": "br"}
    too_long = b" " * (MAX_BODY_BYTES + 1)
    check_problem(client.post("/v1/nothing", data=too_long, headers=wrong), "not_found", "/v1/nothing")
    check_problem(client.put(CURVES, data=too_long, headers=wrong), "method_not_allowed")
    check_problem(client.post(CURVES, data=too_long, headers=wrong), "not_acceptable")
    del wrong["Accept"]
    check_problem(client.post(CURVES, data=too_long, headers=wrong), "unsupported_media_type")
    wrong["Content-Type"] = "application/json"
    check_problem(client.post(CURVES, data=too_long, headers=wrong), "unsupported_content_encoding")
    zipped = JSON | {"Content-Encoding": "gzip"}
    check_problem(client.post(CURVES, data=too_long, headers=zipped), "body_too_large")
    wrong_option = client.post(CURVES, data=b"no gzip", headers=zipped, query_string="table=auc")
    check_problem(wrong_option, "invalid_request")
    check_problem(client.post(CURVES, data=b"no gzip", headers=zipped), "malformed_body")
    check_problem(client.post(CURVES, data=compress("gzip", too_long), headers=zipped), "malformed_body")
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


@pytest.mark.parametrize("path", ["/v1", "/v1/curves/", "/v1//curves", "/V1/curves", "/problems/"])
def test_other_paths_are_404(client: FlaskClient, path: str) -> None:
    check_problem(client.post(path), "not_found", path)


@pytest.mark.parametrize("path", ["/docs/nothing.js", "/problems/nothing"])
def test_files_and_problem_types_that_do_not_exist_are_404(client: FlaskClient, path: str) -> None:
    check_problem(client.get(path), "not_found", path)


@pytest.mark.parametrize("error", [ValueError("secret"), RecursionError()])
def test_an_unexpected_failure_is_a_problem_that_tells_nothing(
    client: FlaskClient, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, error: Exception
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(operation_routes, "answer", fail)
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
    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(operation_routes, "answer", fail)
    check_problem(app.test_client().post(CURVES, data=SAMPLE, headers=JSON), code)
