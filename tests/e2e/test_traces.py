"""Every request is a span that reaches the collector, in its caller's trace, also when the server stops."""

import gzip
import re
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from tests.e2e.wire import SECONDS
from tests.support import processes
from tests.support.clients import Client
from tests.support.samples import question, small
from tests.support.servers import ROOT, Service, rocpr_serve

TRACE, PARENT = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
CALLER = {"traceparent": f"00-{TRACE}-{PARENT}-01"}
UNUSED = "http://127.0.0.1:9"
"""Discard's port, where nothing listens."""


class Collector(ThreadingHTTPServer):
    """Keeps the spans that it gets, as OTLP over HTTP has them."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Receiver)
        self.spans: list[Any] = []
        self.services: set[str] = set()

    def named(self, name: str) -> list[Any]:
        return [span for span in self.spans if span.name == name]


class Receiver(BaseHTTPRequestHandler):
    server: Collector

    def do_POST(self) -> None:  # http.server's name
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.headers["Content-Encoding"] == "gzip":
            body = gzip.decompress(body)
        for sent in ExportTraceServiceRequest.FromString(body).resource_spans:
            self.server.services |= {
                each.value.string_value for each in sent.resource.attributes if each.key == "service.name"
            }
            self.server.spans += [span for scope in sent.scope_spans for span in scope.spans]
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def collector() -> Iterator[Collector]:
    with Collector() as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


def serving_with(collector: str, tmp_path: Path, **variables: str) -> Any:
    variables = {"OTEL_EXPORTER_OTLP_ENDPOINT": collector, "OTEL_BSP_SCHEDULE_DELAY": "200", **variables}
    return rocpr_serve(ROOT, tmp_path / "log", **variables)


def ask_each_kind(service: Service) -> None:
    """A small request, a big one, both with their caller's trace; a refused one, an unknown path, and health."""
    with Client(service.port) as client:
        for asked in (small(), question(20_000, "auc")):
            assert client.post(asked.body, **CALLER).body == asked.answer
        assert client.post(b"{").status == 400
        assert client.ask("GET", "/nothing").status == 404
        assert client.ask("GET", "/health/live").status == 200


def test_spans_arrive(collector: Collector, tmp_path: Path) -> None:
    with serving_with(f"http://127.0.0.1:{collector.server_port}", tmp_path) as service:
        ask_each_kind(service)
        processes.wait_until(lambda: bool(collector.named("GET unmatched")), SECONDS, "the last span arrives")
    assert collector.services == {"rocpr"}
    assert not [span for span in collector.spans if "health" in span.name]
    requests = collector.named("POST /v1/curves")
    facts = [
        {each.key: each.value.string_value or each.value.int_value for each in span.attributes} for span in requests
    ]
    assert [each["http.response.status_code"] for each in facts] == [200, 200, 400]
    assert [each.get("rocpr.lane") for each in facts] == ["small", "big", "small"]
    assert [each.get("rocpr.problem") for each in facts] == [None, None, "malformed_body"]
    assert [span.trace_id.hex() == TRACE for span in requests] == [True, True, False]
    assert [span.parent_span_id.hex() for span in requests] == [PARENT, PARENT, ""]
    log = (tmp_path / "log").read_text()
    for span in requests[:2]:
        assert f'"span_id":"{span.span_id.hex()}"' in log
        stages = [each for each in collector.spans if each.parent_span_id == span.span_id]
        assert {each.name for each in stages} >= {"decode", "evaluate", "encode"}
        ends = sorted((each.start_time_unix_nano, each.end_time_unix_nano) for each in stages)
        assert all(end == start for (_, end), (start, _) in pairwise(ends))
        assert span.start_time_unix_nano <= ends[0][0]
        assert ends[-1][1] == span.end_time_unix_nano


def test_spans_that_wait_are_sent_when_the_server_stops(collector: Collector, tmp_path: Path) -> None:
    address = f"http://127.0.0.1:{collector.server_port}"
    with serving_with(address, tmp_path, OTEL_BSP_SCHEDULE_DELAY="600000") as service, Client(service.port) as client:
        for _ in range(100):
            assert client.post(small().body).status == 200
        assert not collector.spans
    assert len(collector.named("POST /v1/curves")) == 100


@pytest.mark.parametrize("variable", ["OTEL_SDK_DISABLED=true", "OTEL_TRACES_EXPORTER=none"])
def test_switched_off(collector: Collector, tmp_path: Path, variable: str) -> None:
    name, _, value = variable.partition("=")
    with serving_with(f"http://127.0.0.1:{collector.server_port}", tmp_path, **{name: value}) as service:
        ask_each_kind(service)
    assert not collector.spans


def test_a_collector_that_is_down_costs_no_request(tmp_path: Path) -> None:
    with serving_with(UNUSED, tmp_path, OTEL_EXPORTER_OTLP_TIMEOUT="1") as service:
        ask_each_kind(service)
    lines = (tmp_path / "log").read_text().splitlines()
    assert not [line for line in lines if not re.match(r'\{"time":', line)]
