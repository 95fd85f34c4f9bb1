"""A caller's trace is named in the log and in the answer; a header that the standard forbids counts as absent.

The cases are those of W3C Trace Context (Recommendation, 23 November 2021), section 3.2.2.
"""

import json
import re

import pytest
from flask.testing import FlaskClient

from service.web import operation_routes
from service.web.observation.trace_context import trace_of
from tests.web.observing import CURVES, SAMPLE, Lines, observed_app

TRACE, PARENT = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
HEADER = f"00-{TRACE}-{PARENT}-01"


@pytest.fixture
def client(tmp_path) -> FlaskClient:
    return observed_app(tmp_path).test_client()


def test_a_valid_header() -> None:
    trace = trace_of(HEADER)
    assert trace is not None
    assert (trace.trace_id, trace.parent_id, trace.flags) == (TRACE, PARENT, 1)
    assert re.fullmatch(f"00-{TRACE}-[0-9a-f]{{16}}-01", str(trace))
    other = trace_of(HEADER)
    assert other is not None
    assert len({trace.span_id, other.span_id, PARENT}) == 3


@pytest.mark.parametrize("header", [f"cc-{TRACE}-{PARENT}-01", f"cc-{TRACE}-{PARENT}-01-what-comes-later"])
def test_a_later_version_may_have_more(header: str) -> None:
    trace = trace_of(header)
    assert trace is not None
    assert str(trace).startswith(f"00-{TRACE}-")


@pytest.mark.parametrize(
    "header",
    [
        "",
        HEADER.upper(),
        HEADER + "-more",
        HEADER + " ",
        HEADER.replace("00-4", "ff-4"),
        f"00-{'0' * 32}-{PARENT}-01",
        f"00-{TRACE}-{'0' * 16}-01",
        f"00-{TRACE[1:]}-{PARENT}-01",
        f"00-{TRACE}-{PARENT}-1",
        f"00-{TRACE}-{PARENT}",
        f"{HEADER},{HEADER}",
        f"cc-{TRACE}-{PARENT}-01.more",
    ],
)
def test_a_header_that_is_forbidden(header: str) -> None:
    assert trace_of(header) is None


def test_the_line_and_the_answer_name_the_trace(client: FlaskClient, lines: Lines) -> None:
    answer = client.post(CURVES, json=SAMPLE, headers={"traceparent": HEADER})
    (line,) = lines()
    assert line.items() >= {"trace_id": TRACE, "parent_id": PARENT}.items()
    assert answer.headers["Server-Timing"].endswith(f', traceparent;desc="00-{TRACE}-{line["span_id"]}-01"')


@pytest.mark.parametrize("headers", [{}, {"traceparent": "secret"}])
def test_without_a_trace(client: FlaskClient, lines: Lines, headers: dict[str, str]) -> None:
    answer = client.post(CURVES, json=SAMPLE, headers=headers)
    (line,) = lines()
    assert not {"trace_id", "span_id", "parent_id"} & line.keys()
    assert "traceparent" not in answer.headers["Server-Timing"]
    assert "secret" not in json.dumps(line)


def test_a_failure_names_the_trace(client: FlaskClient, lines: Lines, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object, **__: object) -> None:
        raise RuntimeError

    monkeypatch.setattr(operation_routes, "answer", fails)
    assert client.post(CURVES, json=SAMPLE, headers={"traceparent": HEADER}).status_code == 500
    failure, line = lines()
    assert (failure["event"], failure["trace_id"]) == ("Unexpected failure", TRACE)
    assert line["span_id"] == failure["span_id"]
