"""A request for each example of a problem in openapi.yaml, and the problem that it gets, in process.

An example has the name of its request. nginx sends one problem by itself; tests/deploy reaches that.
"""

import gzip
import json
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any

import pytest
from flask.testing import FlaskClient

import service.web.health
import service.web.operation_routes
from service.app import create_app
from service.settings import read_settings
from service.web.lanes.evaluator import DeadlineExceeded, EvaluatorDied
from service.web.server.expiry import enforce_limits
from service.web.server.phase import Phase
from service.web.server.transport import incomplete_body, too_slow
from service.wire.problems import PROBLEM_JSON, Problem, problem_document
from tests.contract.document import Tree, evaluations
from tests.web.guarding import ANN, guarded_app
from tests.web.server.reading import problem_of

CURVES, TRADEOFFS, COMPARISONS, GATES, PLANS, SLICES, CLASSES, COLUMNS = (
    {"path": found.path, "method": "POST", "content_type": "application/json"} for found in evaluations()
)
SAMPLE = {"scores": [0.9, 0.8, 0.7], "labels": [0, 1, 0]}

REQUESTS: dict[str, dict[str, Any]] = {
    "malformed_request": CURVES | {"query_string": "table=%FF", "data": "{}"},
    "malformed_body": CURVES | {"data": '{"scores": [0.9], "scores": [0.8]}'},
    "truncated_gzip": CURVES | {"headers": {"Content-Encoding": "gzip"}, "data": gzip.compress(b"{}")[:-1]},
    "unauthorized": CURVES | {"headers": {"Authorization": "Bearer unknown"}, "data": "{}"},
    "not_found": {"path": "/problems/nothing"},
    "method_not_allowed": {"path": "/v1/curves", "method": "PUT"},
    "not_acceptable": CURVES | {"headers": {"Accept": "image/gif"}},
    "body_too_large": CURVES | {"environ_overrides": {"CONTENT_LENGTH": "67108865"}},
    "decompressed_too_large": CURVES | {"headers": {"Content-Encoding": "gzip"}, "data": gzip.compress(bytes(51))},
    "too_many_rows": CURVES | {"json": {"scores": [0.9, 0.8, 0.7], "labels": [1, 0, 1]}},
    "answer_too_large": CURVES | {"json": SAMPLE | {"include": ["points"], "charts": ["roc"]}},
    "unsupported_media_type": CURVES | {"content_type": "text/plain", "data": "0.9,1"},
    "unsupported_content_encoding": CURVES | {"headers": {"Content-Encoding": "br"}, "data": "{}"},
    "lengths_differ": CURVES | {"json": {"scores": [0.9, 0.8, 0.7], "labels": [1, 0]}},
    "one_class": CURVES | {"json": {"scores": [0.9, 0.8], "labels": [1, 1]}},
    "not_a_cluster": CURVES | {"json": SAMPLE | {"clusters": [1, 2.5, 1]}},
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
    "unlikely_power": PLANS | {"json": SAMPLE | {"rules": [{"metric": "roc", "min": 0.1}], "power": 1}},
    "not_a_slice": SLICES | {"json": SAMPLE | {"slices": {"country": [1, 2.5, 1]}}},
    "unknown_class": CLASSES | {"json": {"scores": {"cat": [0.9, 0.2], "dog": [0.1, 0.8]}, "labels": ["cat", "owl"]}},
    "columns_differ": COLUMNS | {"json": {"score": [0.9, 0.8], "label": [1]}},
    "too_many_requests": CURVES | {"headers": ANN, "data": "{}"},
    "unknown_dataset": CURVES | {"json": {"dataset": "fraud"}},
    "dataset_unavailable": CURVES | {"json": {"dataset": "fraud"}},
    "internal_error": CURVES | {"data": "{}"},
    "deadline_exceeded": CURVES | {"json": SAMPLE},
    "helper_died": CURVES | {"json": SAMPLE},
    "not_ready": {"path": "/health/ready"},
}
"""{name of the example: the request for it}"""


def _turn_that_does_not_come() -> Problem:
    """The problem of a request that waits too long."""
    refused: list[Problem] = []
    waiting = SimpleNamespace(withdraw_if_overdue=lambda _: True)
    connection = SimpleNamespace(phase=Phase.ANSWERING, exchange=waiting, refuse=refused.append)
    enforce_limits(connection, 0.0, 0.0, None)
    (problem,) = refused
    return problem


BEFORE_THE_APPLICATION: dict[str, Callable[[], Problem]] = {
    "malformed_request_line": partial(problem_of, b"hello\r\n\r\n"),
    "uri_too_long": partial(problem_of, b"GET /" + b"a" * 9000),
    "expectation_failed": partial(problem_of, b"GET / HTTP/1.1\r\nHost: a\r\nExpect: wonders\r\n\r\n"),
    "headers_too_large": partial(problem_of, b"GET / HTTP/1.1\r\nX: " + b"a" * 9000),
    "incomplete_body": incomplete_body,
    "request_timeout": too_slow,
    "overloaded": _turn_that_does_not_come,
}
"""{name of the example: what makes it}: what the server finds before it calls the application, as in tests/e2e."""

EVALUATORS = {"deadline_exceeded": DeadlineExceeded, "helper_died": EvaluatorDied}
"""{name: what happens to the evaluator}"""

SETTINGS = {
    "too_many_rows": {"ROCPR_MAX_ROWS": "2"},
    "answer_too_large": {"ROCPR_MAX_ANSWER_BYTES": "1000"},
    "decompressed_too_large": {"ROCPR_MAX_DECOMPRESSED_BYTES": "50"},
    **{name: {"ROCPR_SMALL_SECONDS": "0", "ROCPR_BIG_SECONDS": "1"} for name in EVALUATORS},
}
"""{name: the settings of the server that the problem needs}"""


def problems() -> dict[str, Tree]:
    """The answer to each request: {name of the example: the problem document}."""
    found = {name: _answered(name) for name in REQUESTS}
    for name, make in BEFORE_THE_APPLICATION.items():
        instance = "/" if name == "malformed_request_line" else "/v1/curves"
        found[name] = json.loads(problem_document(make(), instance))
    return found


def _answered(name: str) -> Tree:
    with ExitStack() as stack:
        client = _client_for(name, stack)
        answer = client.open(**{"method": "GET", **REQUESTS[name]})
        assert answer.mimetype == PROBLEM_JSON, answer.text
        document: Tree = answer.get_json(force=True)
        assert answer.status_code == document["status"]
        return document


def _client_for(name: str, stack: ExitStack) -> FlaskClient:
    """A client of the application in the state that the problem needs; it ends with the stack."""
    monkeypatch = stack.enter_context(pytest.MonkeyPatch.context())
    directory = Path(stack.enter_context(TemporaryDirectory()))
    if name in {"unauthorized", "too_many_requests"}:
        client = guarded_app(directory, ROCPR_KEY_CONCURRENCY="1").test_client()
        client.get("/openapi.json", headers=ANN, buffered=False)  # never read to its end
        return client
    if name == "internal_error":
        monkeypatch.setattr(service.web.operation_routes, "answer", _failing(RuntimeError("defect")))
    if name == "dataset_unavailable":
        failure = Problem(name, "The engine of the dataset fraud failed; the server's log says more.")
        monkeypatch.setattr(service.web.operation_routes, "answer", _failing(failure))
    if name == "not_ready":
        monkeypatch.setattr(service.web.health, "DRAINING", SimpleNamespace(is_set=lambda: True))
    app = create_app(read_settings({"ROCPR_RUNTIME_DIR": str(directory), **SETTINGS.get(name, {})}))
    if name in EVALUATORS:
        monkeypatch.setattr(app.extensions["big_pool"], "_asked", _failing(EVALUATORS[name]))
    return app.test_client()


def _failing(error: Exception | type[Exception]) -> Callable[..., None]:
    def fail(*_: object, **__: object) -> None:
        raise error

    return fail
