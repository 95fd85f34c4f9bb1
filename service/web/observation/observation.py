"""Observation of each request: an id, a line in the log, its counts, and Server-Timing in the answer.

Knows Flask's hooks and the possible facts; never what a client sent. A line holds numbers and our own words: the rule
that the path matched, a known method, the code of a problem. Of what a client wrote, it repeats only the request's id
and those of its trace.

All of it happens when the answer is ready and before it is sent. So times exclude slow clients, and once a client has
its answer, the log has the line. A request whose client has left is only counted.
"""

import logging
import os
import re
from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from random import getrandbits
from time import perf_counter
from typing import Any

from flask import Flask, Response, current_app, request

from service.web.access.keys import KEY_PREFIX, SECRET_LENGTH, bearer_token
from service.web.health import LIVE, READY
from service.web.observation.log import configure_log, current_ids, install_failure_log, log_request
from service.web.observation.metrics import count_abandoned, count_request, count_sizes, count_stages, start_counting
from service.web.observation.spans import Spans
from service.web.observation.trace_context import TraceContext, trace_of
from service.web.passes import STARTED, WAITED, Client, client_of, has_moved

Fact = str | int | float | None

REQUEST_ID = "X-Request-ID"
_REQUEST_ID_VARIABLE = "HTTP_X_REQUEST_ID"
_TRACE_VARIABLE = "HTTP_TRACEPARENT"
SERVER_TIMING = "Server-Timing"
UNMATCHED = "unmatched"
"""The route of a request whose path or method is unknown or was not read."""

OTHER = "OTHER"
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT"})

_STAGES = (
    ("decode_seconds", "decode", "decode_ms"),
    ("evaluate_seconds", "evaluate", "evaluate_ms"),
    ("encode_seconds", "encode", "encode_ms"),
)
"""(fact, stage, field of the line)"""

_TIMES = (("wait", "wait_ms"), *((stage, name) for _, stage, name in _STAGES))
"""The entries of Server-Timing besides the total: (name there, field of the line)."""

_BEFORE = ("operation", "lane", "rows", "bytes_in", "bytes_out")
_AFTER = ("key", "problem")
"""Facts that become fields of the line unchanged, before and after the times."""

_FACTS = frozenset({*(fact for fact, *_ in _STAGES), *_BEFORE, *_AFTER})

_QUIET = frozenset({*LIVE, READY, "/metrics"})
"""Routes polled by machines; their lines have level debug unless they fail."""

_INTERNAL_ERROR = 500
_ID = re.compile("[A-Za-z0-9._-]{1,64}")


@dataclass(slots=True)
class _Observed:
    """A request: its id, its start, its place in a trace, and the facts noted about it."""

    id: str
    start: float
    trace: TraceContext | None
    facts: dict[str, Any] = field(default_factory=dict)

    def note(self, facts: Mapping[str, Fact]) -> None:
        """Add facts; None is ignored."""
        self.facts |= {name: value for name, value in facts.items() if value is not None}


_current: ContextVar[_Observed | None] = ContextVar("observed", default=None)
"""The current request."""


def install_observation(app: Flask, log_level: str, spans: Spans | None = None) -> None:
    """Observe every request of the application; call it before any other hook is registered.

    log_level   "debug" logs every request, "info" all but those of /health and /metrics, "warning" failures only.
    spans       records all requests but those of /health and /metrics, if there are any.
    """
    configure_log(log_level)
    install_failure_log(app.logger)
    start_counting()
    app.extensions["spans"] = spans
    app.before_request(_begin)
    app.after_request(_finish)  # runs last because it is registered first
    app.teardown_request(_forget)


def note(**facts: Fact) -> None:
    """Add facts to the line of the current request, and to its counts; None is ignored.

    The facts are operation, rows, bytes_in, bytes_out, lane, decode_seconds, evaluate_seconds, encode_seconds, key and
    problem. Does nothing without an observed request. Raises TypeError for any other fact.
    """
    if not facts.keys() <= _FACTS:
        message = f"no such fact: {', '.join(sorted(facts.keys() - _FACTS))}"
        raise TypeError(message)
    if (observed := _current.get()) is not None:
        observed.note(facts)


def record_refusal(status: int, code: str, route: str = UNMATCHED, method: str = OTHER) -> str:
    """Log and count a request that the server refused without the application; return its id."""
    request_id = _new_id()
    method = method if method in METHODS else OTHER
    count_request(route, method, status, None, code)
    line = {"id": request_id, "method": method, "route": route, "status": status, "problem": code}
    _write_line(line)
    return request_id


def _new_id() -> str:
    """Make an id that no other request has. It protects nothing, and the system's randomness would take 14 µs."""
    return f"{getrandbits(128):032x}"


def _begin() -> None:
    environ = request.environ
    given = environ.get(_REQUEST_ID_VARIABLE, "")
    secret = (bearer_token(environ.get("HTTP_AUTHORIZATION", "")) or "").removeprefix(KEY_PREFIX)
    # A key that was sent here by mistake, or the part of one that is secret, must not reach the log.
    is_key = KEY_PREFIX in given.lower() or len(given) == SECRET_LENGTH or (secret and secret.lower() in given.lower())
    is_usable = _ID.fullmatch(given) and not is_key
    request_id = given if is_usable else _new_id()
    trace = trace_of(environ.get(_TRACE_VARIABLE, ""))
    _current.set(_Observed(request_id, environ.get(STARTED) or perf_counter(), trace))
    current_ids.set({"id": request_id, **(trace.ids if trace else {})})


def _finish(response: Response) -> Response:
    observed, environ = _current.get(), request.environ
    if observed is None or has_moved(environ):  # failed before the first hook; not the final pass
        return response
    rule, method = request.url_rule, environ["REQUEST_METHOD"]
    head = {
        "id": observed.id,
        "method": method if method in METHODS else OTHER,
        "route": UNMATCHED if rule is None else rule.rule,
        "status": response.status_code,
    }
    if "bytes_out" not in observed.facts:
        observed.note({"bytes_out": 0 if method == "HEAD" else response.content_length})
    line = _record(observed, head, client_of(environ), environ.get(WAITED))
    if line is None:
        return response
    response.headers.add(REQUEST_ID, observed.id)
    response.headers.add(SERVER_TIMING, _server_timing(line, observed.trace))
    return response


def _line(observed: _Observed, head: dict[str, Any], waited: float | None) -> dict[str, Any]:
    """The fields of a line, as far as they are known."""
    facts = observed.facts
    line = head | {name: facts[name] for name in _BEFORE if name in facts}
    line["duration_ms"] = round((perf_counter() - observed.start) * 1000, 3)
    if waited:
        line["wait_ms"] = round(waited * 1000, 3)
    line |= {name: round(facts[fact] * 1000, 3) for fact, _, name in _STAGES if fact in facts}
    line |= {name: facts[name] for name in _AFTER if name in facts}
    return line | observed.trace.ids if observed.trace else line


def _record(observed: _Observed, head: dict[str, Any], client: Client, waited: float | None) -> dict[str, Any] | None:
    """Write the line and count the request; one whose client has left is only counted."""
    if client.gone:
        count_abandoned("evaluated")
        return None
    facts, line = observed.facts, _line(observed, head, waited)
    count_request(head["route"], head["method"], head["status"], line["duration_ms"] / 1000, facts.get("problem"))
    count_stages((stage, facts[fact]) for fact, stage, _ in _STAGES if fact in facts)
    if "operation" in facts:
        count_sizes(facts["operation"], facts.get("rows"), facts.get("bytes_in"), facts.get("bytes_out"))
    _write_line(line)
    spans: Spans | None = current_app.extensions["spans"]
    if spans is not None and head["route"] not in _QUIET:
        spans.record(line, observed.trace)
    return line


def _forget(_error: BaseException | None) -> None:
    _current.set(None)
    current_ids.set({})


def _server_timing(line: Mapping[str, Any], trace: TraceContext | None) -> str:
    """Format the stages and the total, in milliseconds, the lane and the place in the trace."""
    parts = [f"{stage};dur={line[name]}" for stage, name in _TIMES if name in line]
    parts.append(f"total;dur={line['duration_ms']}")
    if "lane" in line:
        parts.append(f"lane;desc={line['lane']}")
    if trace is not None:
        parts.append(f'traceparent;desc="{trace}"')
    return ", ".join(parts)


def _write_line(line: Mapping[str, Any]) -> None:
    """Write a request's line, at the level of its outcome."""
    log_request(_level(line["status"], line["route"]), {**line, "pid": os.getpid()})


def _level(status: int, route: str) -> int:
    """The level of a line: for failures, refusals, successes, or polled routes."""
    if status >= _INTERNAL_ERROR:
        return logging.ERROR if status == _INTERNAL_ERROR else logging.WARNING
    return logging.DEBUG if route in _QUIET else logging.INFO
