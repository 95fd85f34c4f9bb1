"""The counts rise correctly, and no label comes from a client."""

from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient
from prometheus_client.parser import text_string_to_metric_families

from service.web.observation.metrics import count_abandoned, helper_ended
from service.web.observation.observation import record_refusal
from service.wire.problems import PROBLEM_TYPES
from tests.web.observing import CANARY, CURVES, FAILING, GATES, SAMPLE, observed_app


@pytest.fixture
def client(tmp_path: Path) -> FlaskClient:
    return observed_app(tmp_path).test_client()


def counts(client: FlaskClient) -> dict[tuple[str, frozenset[tuple[str, str]]], float]:
    families = text_string_to_metric_families(client.get("/metrics").text)
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in families
        for sample in family.samples
    }


def risen(before: dict[Any, float], after: dict[Any, float], name: str) -> dict[frozenset[tuple[str, str]], float]:
    """How much the samples of a name have risen, without the request for the first counts; only those that rose."""
    return {
        labels: value - before.get((found, labels), 0)
        for (found, labels), value in after.items()
        if found == name and value != before.get((found, labels), 0) and ("route", "/metrics") not in labels
    }


def labels(**named: str) -> frozenset[tuple[str, str]]:
    return frozenset(named.items())


def test_counts_of_requests(client: FlaskClient) -> None:
    before = counts(client)
    answer = client.post(CURVES, json=SAMPLE)
    client.post(CURVES, data=b"{", content_type="application/json")
    client.get("/nothing")
    client.open("/nothing", method=CANARY)
    after = counts(client)
    assert risen(before, after, "rocpr_requests_total") == {
        labels(route=CURVES, method="POST", status="200"): 1,
        labels(route=CURVES, method="POST", status="400"): 1,
        labels(route="unmatched", method="GET", status="404"): 1,
        labels(route="unmatched", method="OTHER", status="404"): 1,
    }
    assert risen(before, after, "rocpr_request_seconds_count") == {
        labels(route=CURVES): 2,
        labels(route="unmatched"): 2,
    }
    stages = risen(before, after, "rocpr_stage_seconds_count")
    assert stages == {labels(stage="decode"): 2, labels(stage="evaluate"): 1, labels(stage="encode"): 1}
    curves = labels(operation="curves")
    assert risen(before, after, "rocpr_request_rows_sum") == {curves: 4}
    assert risen(before, after, "rocpr_request_body_bytes_count") == {curves: 2}
    assert risen(before, after, "rocpr_response_body_bytes_count") == {curves: 2}
    assert risen(before, after, "rocpr_response_body_bytes_sum")[curves] > len(answer.data)


def test_a_failed_gate_is_counted_under_its_status_but_not_as_a_refusal(client: FlaskClient) -> None:
    before = counts(client)
    assert client.post(GATES, json=FAILING).status_code == 409
    after = counts(client)
    assert risen(before, after, "rocpr_requests_total") == {labels(route=GATES, method="POST", status="409"): 1}
    assert risen(before, after, "rocpr_refusals_total") == {}
    assert risen(before, after, "rocpr_stage_seconds_count") == {
        labels(stage=stage): 1 for stage in ("decode", "evaluate", "encode")
    }
    gates = labels(operation="gates")
    assert risen(before, after, "rocpr_request_rows_sum") == {gates: 4}
    assert risen(before, after, "rocpr_response_body_bytes_count") == {gates: 1}


def test_counts_of_refusals_and_evaluators(client: FlaskClient) -> None:
    before = counts(client)
    assert client.post(CURVES, data=b" " * 10_001, content_type="application/json").status_code == 413
    record_refusal(408, "request_timeout")
    record_refusal(400, "malformed_request")
    helper_ended("died")
    after = counts(client)
    assert risen(before, after, "rocpr_refusals_total") == {
        labels(code="body_too_large"): 1,
        labels(code="request_timeout"): 1,
    }
    assert risen(before, after, "rocpr_helper_deaths_total") == {labels(reason="died"): 1}


def test_counts_of_clients_that_left(client: FlaskClient) -> None:
    before = counts(client)
    count_abandoned("waiting")
    count_abandoned("evaluated")
    count_abandoned("waiting")
    assert risen(before, counts(client), "rocpr_abandoned_total") == {
        labels(**{"while": "waiting"}): 2,
        labels(**{"while": "evaluated"}): 1,
    }


def test_counts_that_should_never_rise_are_there_from_the_start(client: FlaskClient) -> None:
    found = counts(client)
    for reason in ("died", "deadline"):
        assert ("rocpr_helper_deaths_total", labels(reason=reason)) in found
    for code, problem in PROBLEM_TYPES.items():
        counted = ("rocpr_refusals_total", labels(code=code)) in found
        assert counted == (problem.status in {401, 408, 413, 429, 503}), code


def test_counts_have_no_label_of_a_client(client: FlaskClient) -> None:
    client.get("/nothing")
    client.open("/nothing", method="FROB")
    client.get("/problems/nothing")
    client.post(CURVES, data=CANARY, content_type="text/csv")
    before = counts(client)
    for number in range(20):
        client.open(f"/{CANARY}{number}", method=f"{CANARY}{number}")
        client.get(f"/problems/{CANARY}{number}", headers={"X-Request-ID": f"{CANARY}{number}"})
        client.get(f"/{CANARY}{number}?{CANARY}={number}")
        client.post(CURVES, data=f"{CANARY}{number}", content_type="text/csv")
    after = counts(client)
    assert {key for key in after if "/metrics" not in str(key)} == {key for key in before if "/metrics" not in str(key)}
    assert CANARY not in client.get("/metrics").text


def test_counts_of_slots_are_looked_up(tmp_path: Path) -> None:
    app = observed_app(tmp_path)
    before = counts(app.test_client())
    assert (before["rocpr_slots", labels()], before["rocpr_slots_in_use", labels()]) == (2, 0)
    with app.extensions["slots"].take():
        assert counts(app.test_client())["rocpr_slots_in_use", labels()] == 1
    assert counts(app.test_client())["rocpr_slots_in_use", labels()] == 0


def test_counts_are_in_the_text_format(client: FlaskClient) -> None:
    answer = client.get("/metrics", headers={"Accept": "application/openmetrics-text"})
    assert answer.content_type == "text/plain; version=0.0.4; charset=utf-8"
    assert ("rocpr_build_info" in answer.text, "_created" in answer.text) == (True, False)
