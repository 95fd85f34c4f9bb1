"""Spans of requests for a collector of traces, sent by OpenTelemetry's SDK, if the environment names a collector.

    OTEL_EXPORTER_OTLP_ENDPOINT, or ..._TRACES_ENDPOINT     where to send spans, as OTLP over HTTP
    OTEL_...                                                the SDK reads the rest, such as a sampler and headers

A request is one span of the server, with a child for each stage. All are made from the request's line in the log, once
it is written: so nothing that evaluates knows of traces, and evaluator processes need no SDK. The stages are laid end
to end before the answer; what remains before them is the arrival of the body. Knows the line's fields; nothing of
Flask.
"""

import os
import time
from collections.abc import Mapping
from threading import local
from typing import Any

from service.web.observation.trace_context import TraceContext

EXTRA = "otel"
_ENDPOINTS = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
_STAGES_OF_LINE = ("wait_ms", "decode_ms", "evaluate_ms", "encode_ms")
_ATTRIBUTES = {
    "method": "http.request.method",
    "route": "http.route",
    "status": "http.response.status_code",
    "bytes_in": "http.request.body.size",
    "bytes_out": "http.response.body.size",
    "operation": "rocpr.operation",
    "lane": "rocpr.lane",
    "rows": "rocpr.rows",
    "problem": "rocpr.problem",
    "id": "rocpr.request_id",
}
"""The fields of a line that a span has, and their names there: OpenTelemetry's for HTTP, else our own."""

_FAILED = 500
_NANOSECONDS = 1e6
"""In a millisecond."""


def spans_are_wanted() -> bool:
    """Whether the environment names a collector, and nothing there says not to send."""
    disabled = os.environ.get("OTEL_SDK_DISABLED", "").lower() == "true"
    none = os.environ.get("OTEL_TRACES_EXPORTER", "").lower() == "none"
    return any(os.environ.get(name) for name in _ENDPOINTS) and not disabled and not none


class Spans:
    """Makes spans, which a thread of this process sends. Raises ImportError without the extra."""

    def __init__(self, version: str) -> None:
        from opentelemetry import trace  # noqa: PLC0415  # a third of a second, and only with the extra
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter  # noqa: PLC0415
        from opentelemetry.sdk.resources import Resource  # noqa: PLC0415
        from opentelemetry.sdk.trace import TracerProvider  # noqa: PLC0415
        from opentelemetry.sdk.trace.export import BatchSpanProcessor  # noqa: PLC0415
        from opentelemetry.sdk.trace.id_generator import RandomIdGenerator  # noqa: PLC0415

        next_id = self._next_id = local()

        class GivenIds(RandomIdGenerator):
            """Gives a server's span the id that the log and the answer name."""

            def generate_span_id(self) -> int:
                given, next_id.value = getattr(next_id, "value", None), None
                return given or super().generate_span_id()

        named = {} if os.environ.get("OTEL_SERVICE_NAME") else {"service.name": "rocpr"}
        self._provider = TracerProvider(
            resource=Resource.create({**named, "service.version": version}),
            id_generator=GivenIds(),
            shutdown_on_exit=False,  # `stop` is called
        )
        self._provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
        self._tracer = self._provider.get_tracer("rocpr", version)
        self._api = trace

    def record(self, line: Mapping[str, Any], trace: TraceContext | None) -> None:
        """Make the spans of a request whose line has just been written."""
        end = time.time_ns()
        self._next_id.value = int(trace.span_id, 16) if trace else None
        span = self._tracer.start_span(
            f"{line['method']} {line['route']}",
            self._parent(trace),
            self._api.SpanKind.SERVER,
            {name: line[key] for key, name in _ATTRIBUTES.items() if key in line},
            start_time=end - round(line["duration_ms"] * _NANOSECONDS),
        )
        self._next_id.value = None
        if span.is_recording():
            if line["status"] >= _FAILED:
                span.set_status(self._api.StatusCode.ERROR)
            within, until = self._api.set_span_in_context(span), end
            for field in reversed([name for name in _STAGES_OF_LINE if name in line]):
                began = until - round(line[field] * _NANOSECONDS)
                self._tracer.start_span(field.removesuffix("_ms"), within, start_time=began).end(until)
                until = began
        span.end(end)

    def stop(self) -> None:
        """Send the spans that are left, as long as the SDK lets that take."""
        self._provider.shutdown()

    def _parent(self, trace: TraceContext | None) -> Any:  # noqa: ANN401  # the SDK's
        """The caller's span, as the SDK knows it."""
        if trace is None:
            return self._api.set_span_in_context(self._api.INVALID_SPAN)
        caller = self._api.SpanContext(
            int(trace.trace_id, 16),
            int(trace.parent_id, 16),
            is_remote=True,
            trace_flags=self._api.TraceFlags(trace.flags),
        )
        return self._api.set_span_in_context(self._api.NonRecordingSpan(caller))
