"""Every documented problem is reached by a request, and its example is what that request gets."""

import gzip
import io
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

import service.web.health
import service.web.operation_routes
from service.app import create_app
from service.settings import read_settings
from service.web.lanes.evaluator import DeadlineExceeded, EvaluatorDied
from service.web.server.connection import Phase
from service.web.server.sweep import look_after
from service.web.server.transport import too_slow
from service.wire.problems import PROBLEM_TYPES, Problem
from service.wire.requests.gates_schemas import FAIL_STATUSES
from tests.contract.document import Operation, evaluations, problem_examples, violations
from tests.web.guarding import ANN, guarded_app
from tests.web.server.reading import problem_of

CURVES, TRADEOFFS, COMPARISONS, GATES = (
    {"path": found.path, "method": "POST", "content_type": "application/json"} for found in evaluations()
)
SAMPLE = {"scores": [0.9, 0.8, 0.7], "labels": [0, 1, 0]}

REQUESTS: dict[str, dict[str, Any]] = {
    "malformed_request": CURVES | {"query_string": "table=%FF", "data": "{}"},
    "malformed_body": CURVES | {"data": '{"scores": [0.9], "scores": [0.8]}'},
    "truncated_gzip": CURVES | {"headers": {"Content-Encoding": "gzip"}, "data": gzip.compress(b"{}")[:-1]},
    "incomplete_body": CURVES
    | {"environ_overrides": {"wsgi.input": io.BytesIO(b'{"scores": [0.9, '), "CONTENT_LENGTH": "120"}},
    "unauthorized": CURVES | {"headers": {"Authorization": "Bearer unknown"}, "data": "{}"},
    "not_found": {"path": "/problems/nothing"},
    "method_not_allowed": {"path": "/v1/curves", "method": "PUT"},
    "not_acceptable": CURVES | {"headers": {"Accept": "image/png"}},
    "body_too_large": CURVES | {"environ_overrides": {"CONTENT_LENGTH": "67108865"}},
    "decompressed_too_large": CURVES | {"headers": {"Content-Encoding": "gzip"}, "data": gzip.compress(bytes(51))},
    "too_many_rows": CURVES | {"json": {"scores": [0.9, 0.8, 0.7], "labels": [1, 0, 1]}},
    "unsupported_media_type": CURVES | {"content_type": "text/plain", "data": "0.9,1"},
    "unsupported_content_encoding": CURVES | {"headers": {"Content-Encoding": "br"}, "data": "{}"},
    "lengths_differ": CURVES | {"json": {"scores": [0.9, 0.8, 0.7], "labels": [1, 0]}},
    "one_class": CURVES | {"json": {"scores": [0.9, 0.8], "labels": [1, 1]}},
    "not_a_number": CURVES | {"json": {"scores": [0.9, "0.8"], "labels": [1, 0]}},
    "unknown_field": CURVES | {"json": {"score": [0.9, 0.8], "labels": [1, 0]}},
    "no_row_meets": TRADEOFFS | {"json": SAMPLE | {"min_precision": 0.75}},
    "not_rising": TRADEOFFS | {"json": SAMPLE | {"lambda_range": [0.8, 0.2]}},
    "totals_differ": COMPARISONS
    | {"json": {"evaluations": [{"name": "old", **SAMPLE}, {"name": "new", "scores": [0.9, 0.8], "labels": [1, 0]}]}},
    "duplicate_name": COMPARISONS | {"json": {"evaluations": [{"name": "old", **SAMPLE}, {"name": "old", **SAMPLE}]}},
    "no_baseline": GATES | {"json": SAMPLE | {"rules": [{"metric": "roc", "max_drop": 0.1}]}},
    "not_paired": GATES
    | {
        "json": SAMPLE
        | {"baseline": SAMPLE | {"labels": [0, 0, 1]}, "paired": True, "rules": [{"metric": "roc", "max_drop": 0.1}]}
    },
    "too_many_requests": CURVES | {"headers": ANN, "data": "{}"},
    "internal_error": CURVES | {"data": "{}"},
    "deadline_exceeded": CURVES | {"json": SAMPLE},
    "helper_died": CURVES | {"json": SAMPLE},
    "not_ready": {"path": "/health/ready"},
}
"""{name of the example: the request that gets it}"""


def _turn_that_does_not_come() -> Problem:
    """The problem of a request that waits for too long."""
    refused: list[Problem] = []
    waiting = SimpleNamespace(misses_its_turn=lambda _: True)
    connection = SimpleNamespace(phase=Phase.ANSWERING, exchange=waiting, refuse=refused.append)
    look_after(connection, 0.0, 0.0, None)
    (problem,) = refused
    return problem


BEFORE_THE_APPLICATION: dict[str, Callable[[], Problem]] = {
    "malformed_request_line": partial(problem_of, b"hello\r\n\r\n"),
    "uri_too_long": partial(problem_of, b"GET /" + b"a" * 9000),
    "expectation_failed": partial(problem_of, b"GET / HTTP/1.1\r\nHost: a\r\nExpect: wonders\r\n\r\n"),
    "headers_too_large": partial(problem_of, b"GET / HTTP/1.1\r\nX: " + b"a" * 9000),
    "request_timeout": too_slow,
    "overloaded": _turn_that_does_not_come,
}
"""{name of the example: what makes it}: problems of which the application hears nothing; tests/e2e reaches them."""

BY_THE_PROXY = {"unavailable"}
"""Problems that nginx tells; tests/deploy reaches them."""

EXAMPLES = {name: (status, value) for _, status, name, value in problem_examples()}


def _send(client: FlaskClient, request: dict[str, Any]) -> TestResponse:
    return client.open(**{"method": "GET", **request})


@pytest.fixture
def client_for(name: str, app: Flask, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> FlaskClient:
    """A client of the application in the state that the problem needs."""
    if name == "too_many_rows":
        return create_app(read_settings({"ROCPR_MAX_ROWS": "2"})).test_client()
    if name == "decompressed_too_large":
        return create_app(read_settings({"ROCPR_MAX_DECOMPRESSED_BYTES": "50"})).test_client()
    if name in {"unauthorized", "too_many_requests"}:
        client = guarded_app(tmp_path, ROCPR_KEY_CONCURRENCY="1").test_client()
        client.get("/openapi.json", headers=ANN, buffered=False)  # and is never read to its end
        return client
    if name == "internal_error":

        def fail(*_: object, **__: object) -> None:
            raise RuntimeError("defect")

        monkeypatch.setattr(service.web.operation_routes, "answer", fail)
    if name == "not_ready":
        monkeypatch.setattr(service.web.health, "DRAINING", type("Set", (), {"is_set": lambda _: True})())
    if name in EVALUATORS:
        return big_client(name, monkeypatch, tmp_path)
    return app.test_client()


EVALUATORS = {"deadline_exceeded": DeadlineExceeded, "helper_died": EvaluatorDied}
"""{name: what becomes of the evaluator}"""


def big_client(name: str, monkeypatch: pytest.MonkeyPatch, directory: Path) -> FlaskClient:
    """A client of a server for which everything is big."""
    settings = {"ROCPR_BIG_WORK": "1", "ROCPR_BIG_SECONDS": "1"}
    app = create_app(read_settings(settings | {"ROCPR_RUNTIME_DIR": str(directory)}))

    def end(*_: object) -> None:
        raise EVALUATORS[name]

    monkeypatch.setattr(app.extensions["big_pool"], "_asked", end)
    return app.test_client()


def test_every_example_has_its_request() -> None:
    assert set(EXAMPLES) == set(REQUESTS) | set(BEFORE_THE_APPLICATION) | BY_THE_PROXY


@pytest.mark.parametrize("name", REQUESTS)
def test_the_request_gets_the_problem_shown(client_for: FlaskClient, name: str) -> None:
    status, value = EXAMPLES[name]
    answer = _send(client_for, REQUESTS[name])
    assert answer.status_code == status, answer.text
    assert answer.mimetype == "application/problem+json"
    found = answer.get_json(force=True)
    assert violations({"$ref": "#/components/schemas/Problem"}, found) == []
    assert found == value


@pytest.mark.parametrize("name", BEFORE_THE_APPLICATION)
def test_the_servers_own_errors_are_the_problems_shown(name: str) -> None:
    status, value = EXAMPLES[name]
    problem = BEFORE_THE_APPLICATION[name]()
    assert (problem.type.uri, problem.type.status, problem.detail) == (value["type"], status, value["detail"])


def test_every_type_of_problem_is_reached() -> None:
    reached = {value["type"] for _, value in EXAMPLES.values()}
    assert reached == {problem.uri for problem in PROBLEM_TYPES.values()}


@pytest.mark.parametrize("found", evaluations(), ids=lambda found: found.name)
def test_every_status_of_an_evaluation_is_documented_there(found: Operation) -> None:
    """A status that a request to the path got above is among those of its operation."""
    got = {EXAMPLES[name][0] for name, request in REQUESTS.items() if request["path"] == found.path}
    assert 422 in got
    assert got <= set(found.responses)


def test_every_evaluation_may_have_the_same_statuses() -> None:
    """What can go wrong around an evaluation does not depend on which one it is; a failed gate is nothing wrong."""
    assert len({frozenset(found.responses) - set(FAIL_STATUSES) for found in evaluations()}) == 1
