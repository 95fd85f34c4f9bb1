"""What is reported about each request: its id, its line in the log and Server-Timing; never one of its values."""

import json
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from service.web import operation_routes
from service.web.observation.observation import install_observation, note, record_refusal
from tests.web.observing import CANARY, CURVES, FAILING, GATES, SAMPLE, Lines, observed_app

BODY = json.dumps(SAMPLE).encode()
MADE_ID = re.compile("[0-9a-f]{32}")

ALWAYS = {"time", "level", "event", "id", "method", "route", "status", "pid"}
ANSWERED = ALWAYS | {"bytes_out", "duration_ms"}
OPERATION = ANSWERED | {"operation", "lane"}
STAGES = {"decode_ms", "evaluate_ms", "encode_ms"}


@pytest.fixture
def app(tmp_path: Path) -> Flask:
    return observed_app(tmp_path)


@pytest.fixture
def client(app: Flask) -> FlaskClient:
    return app.test_client()


class TestLines:
    def test_of_an_evaluation(self, client: FlaskClient, lines: Lines) -> None:
        answer = client.post(CURVES, data=BODY, content_type="application/json")
        (line,) = lines()
        assert line.keys() == OPERATION | STAGES | {"rows", "bytes_in"}
        assert list(line)[:3] == ["time", "level", "event"]
        expected = {
            "level": "info",
            "event": "request",
            "id": answer.headers["X-Request-ID"],
            "method": "POST",
            "route": CURVES,
            "status": 200,
            "operation": "curves",
            "lane": "small",
            "rows": 4,
            "bytes_in": len(BODY),
            "bytes_out": len(answer.data),
        }
        assert line.items() >= expected.items()
        assert datetime.now(UTC) - datetime.fromisoformat(line["time"]) < timedelta(minutes=1)
        assert line["time"].endswith("Z")
        assert line["duration_ms"] >= sum(line[stage] for stage in STAGES) - 0.002
        assert all(isinstance(value, str | int | float) for value in line.values())

    def test_of_a_problem(self, client: FlaskClient, lines: Lines) -> None:
        client.post(CURVES, json=SAMPLE | {"keep": 1})
        (line,) = lines()
        assert line.keys() == OPERATION | {"bytes_in", "decode_ms", "problem"}
        assert (line["status"], line["problem"], line["level"]) == (422, "invalid_request", "info")

    def test_of_a_failed_gate_have_no_problem(self, client: FlaskClient, lines: Lines) -> None:
        answer = client.post(GATES, json=FAILING)
        (line,) = lines()
        assert line.keys() == OPERATION | STAGES | {"rows", "bytes_in"}
        assert (line["status"], line["level"], line["operation"], line["rows"]) == (409, "info", "gates", 4)
        assert line["bytes_out"] == len(answer.data)

    def test_of_another_path(self, client: FlaskClient, lines: Lines) -> None:
        client.get(f"/{CANARY}")
        (line,) = lines()
        assert line.keys() == ANSWERED | {"problem"}
        assert (line["route"], line["status"], line["problem"]) == ("unmatched", 404, "not_found")

    @pytest.mark.parametrize("path", ["/problems/not_found", f"/problems/{CANARY}"])
    def test_name_the_rule_and_not_the_path(self, client: FlaskClient, lines: Lines, path: str) -> None:
        client.get(path)
        (line,) = lines()
        assert line["route"] == "/problems/<code>"

    def test_of_another_method(self, client: FlaskClient, lines: Lines) -> None:
        client.open(CURVES, method=CANARY)
        (line,) = lines()
        assert (line["method"], line["route"], line["status"]) == ("OTHER", "unmatched", 405)

    def test_of_a_request_that_the_server_refused(self, app: Flask, lines: Lines) -> None:  # noqa: ARG002  # the log is its
        request_id = record_refusal(431, "headers_too_large")
        (line,) = lines()
        assert line.keys() == ALWAYS | {"problem"}
        assert line["id"] == request_id
        assert (line["status"], line["problem"]) == (431, "headers_too_large")
        assert (line["method"], line["route"]) == ("OTHER", "unmatched")

    def test_of_head_have_no_bytes(self, client: FlaskClient, lines: Lines) -> None:
        client.head("/openapi.yaml")
        (line,) = lines()
        assert line["bytes_out"] == 0

    def test_of_a_failure_come_after_what_failed(
        self, client: FlaskClient, monkeypatch: pytest.MonkeyPatch, lines: Lines
    ) -> None:
        def fail(*_: object, **__: object) -> None:
            try:
                {}[CANARY]
            except KeyError as error:
                raise ValueError(CANARY) from error

        monkeypatch.setattr(operation_routes, "answer", fail)
        answer = client.post(CURVES, json=SAMPLE)
        failure, line = lines()
        assert (line["level"], line["status"], line["problem"]) == ("error", 500, "internal_error")
        assert failure["id"] == line["id"] == answer.headers["X-Request-ID"]
        assert failure["event"] == "Unexpected failure"
        assert [found["type"] for found in failure["failures"]] == ["ValueError", "KeyError"]
        assert CANARY not in json.dumps(failure)

    def test_hold_no_values(self, client: FlaskClient, lines: Lines) -> None:
        sent = [
            client.post(f"{CURVES}?{CANARY}={CANARY}&table={CANARY}", json={CANARY: CANARY}),
            client.post(CURVES, json={"scores": [CANARY], "labels": [CANARY], "positive_label": CANARY}),
            client.post(CURVES, data=f"{CANARY},{CANARY}\n{CANARY},1\n", content_type="text/csv"),
            client.post(CURVES, data=CANARY, content_type=f"text/{CANARY}"),
            client.post(CURVES, data=CANARY, headers={"Accept": f"image/{CANARY}", "Content-Encoding": CANARY}),
            client.get(f"/{CANARY}?{CANARY}", headers={"Authorization": f"Bearer {CANARY}", "Cookie": CANARY}),
            client.get("/docs", headers={"User-Agent": CANARY, "Referer": CANARY, "Host": CANARY}),
            client.get("/health/live", headers={"X-Request-ID": f"{CANARY} {CANARY}", "X-Forwarded-For": CANARY}),
        ]
        assert any(CANARY in answer.text for answer in sent)  # the problem's document tells the client
        written = lines()
        assert len(written) == len(sent) - 1  # without /health
        assert CANARY not in json.dumps(written)


class TestLevels:
    def test_info_leaves_out_frequent_requests(self, client: FlaskClient, lines: Lines) -> None:
        for path in ("/health/live", "/health/ready", "/metrics", "/openapi.yaml"):
            client.get(path)
        assert [line["route"] for line in lines()] == ["/openapi.yaml"]

    def test_debug_logs_all(self, tmp_path: Path, lines: Lines) -> None:
        client = observed_app(tmp_path, "debug").test_client()
        for path in ("/health/live", "/metrics", "/openapi.yaml"):
            client.get(path)
        assert [line["level"] for line in lines()] == ["debug", "debug", "info"]

    def test_warning_logs_failures_of_the_server(self, tmp_path: Path, lines: Lines) -> None:
        client = observed_app(tmp_path, "warning").test_client()
        client.get("/nothing")
        client.post(CURVES, json=SAMPLE)
        record_refusal(431, "headers_too_large")
        record_refusal(503, "overloaded")
        record_refusal(500, "internal_error")
        assert [(line["level"], line["status"]) for line in lines()] == [("warning", 503), ("error", 500)]


class TestRequestIds:
    @pytest.mark.parametrize("given", ["a", "A.b_c-9", "0" * 64])
    def test_of_the_client_are_kept(self, client: FlaskClient, lines: Lines, given: str) -> None:
        for answer in (
            client.post(CURVES, json=SAMPLE, headers={"X-Request-ID": given}),
            client.get("/nothing", headers={"X-Request-ID": given}),
        ):
            assert answer.headers["X-Request-ID"] == given
        assert [line["id"] for line in lines()] == [given, given]

    @pytest.mark.parametrize(
        ("given", "authorization"),
        [
            *((given, "") for given in ("", "0" * 65, "a b", "a,b", "é", '"', "a\t", "<script>", "{}")),
            ("rocpr_" + "k" * 43, ""),
            ("Bearer-rocpr_" + "k" * 43, ""),
            ("ROCPR_K", ""),
            ("own-key", "Bearer own-key"),
            ("k" * 43, "Bearer rocpr_" + "k" * 43),  # the part that is secret
            ("a-" + "k" * 43, "Bearer rocpr_" + "k" * 43),
            ("K" * 43, "Bearer rocpr_" + "k" * 43),
            ("k" * 43, ""),  # as long as that part
        ],
    )
    def test_that_are_invalid_or_may_be_keys_are_replaced(
        self, client: FlaskClient, lines: Lines, given: str, authorization: str
    ) -> None:
        headers = {"X-Request-ID": given, "Authorization": authorization}
        answer = client.get("/nothing", headers=headers)
        (line,) = lines()
        assert MADE_ID.fullmatch(answer.headers["X-Request-ID"])
        assert line["id"] == answer.headers["X-Request-ID"]

    def test_are_made_again(self, client: FlaskClient) -> None:
        answers = [client.get("/health/live") for _ in range(3)]
        assert len({answer.headers["X-Request-ID"] for answer in answers}) == 3


class TestServerTiming:
    def names(self, answer: TestResponse) -> list[str]:
        return [part.partition(";")[0] for part in answer.headers["Server-Timing"].split(", ")]

    def test_of_an_evaluation(self, client: FlaskClient) -> None:
        answer = client.post(CURVES, json=SAMPLE)
        assert self.names(answer) == ["decode", "evaluate", "encode", "total", "lane"]
        assert re.fullmatch(r"(\w+;dur=\d+(\.\d{1,3})?, ){4}lane;desc=small", answer.headers["Server-Timing"])

    def test_has_the_stages_that_there_were(self, client: FlaskClient) -> None:
        assert self.names(client.post(CURVES, data=b"{", content_type="application/json")) == [
            "decode",
            "total",
            "lane",
        ]
        assert self.names(client.get("/openapi.yaml")) == ["total"]
        assert self.names(client.get("/nothing")) == ["total"]


class TestNotes:
    def test_outside_of_a_request_are_dropped(self) -> None:
        note(operation="curves")

    def test_of_an_unobserved_request_are_dropped(self) -> None:
        app = Flask("unobserved")
        with app.test_request_context("/"):
            note(operation="curves")

    def test_that_are_unknown_are_a_mistake(self) -> None:
        with pytest.raises(TypeError, match="no such fact: row"):
            note(row=1)

    def test_of_none_are_left_out(self, lines: Lines) -> None:
        app = Flask("noting")
        install_observation(app, "info")
        app.add_url_rule("/", view_func=lambda: note(rows=None, key="alice", problem=None) or "")
        app.test_client().get("/")
        (line,) = lines()
        assert line.keys() == ANSWERED | {"key"}
