"""Observation of each request: an id, a line in the log, its counts, and Server-Timing in the answer.

Knows Flask's hooks and the possible facts; never what a client sent. A line holds numbers and our own words: the rule
that the path matched, a known method, the code of a problem. The only client text that it repeats is the id.

All of it happens when the answer is ready, before it is sent: times exclude slow clients, and a client with an answer
finds its line in the log. A request whose client has left is only counted.
"""

import logging
import os
import re
from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import partial
from time import perf_counter
from typing import Any
from uuid import uuid4

import structlog
from flask import Flask, Response, request
from structlog.typing import FilteringBoundLogger

from service.web.health import LIVE, READY
from service.web.observation.log import configure_log, current_request_id, install_failure_log
from service.web.observation.metrics import (
    count_abandoned,
    count_request,
    count_sizes,
    count_stages,
    helper_ended,
    metrics_blueprint,
    start_counting,
)
from service.web.passes import STARTED, WAITED, client_of, has_moved

__all__ = [
    "UNMATCHED",
    "count_abandoned",
    "helper_ended",
    "install_observation",
    "metrics_blueprint",
    "note",
    "record_refusal",
]

Fact = str | int | float | None

REQUEST_ID = "X-Request-ID"
_REQUEST_ID_VARIABLE = "HTTP_X_REQUEST_ID"
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

_BEFORE = ("operation", "lane", "rows", "bytes_in")
_AFTER = ("key", "problem")
"""Facts that become fields of the line unchanged, before and after the times."""

_FACTS = frozenset({*(fact for fact, *_ in _STAGES), *_BEFORE, *_AFTER})

_QUIET = frozenset({*LIVE, READY, "/metrics"})
"""Routes polled by machines; their lines have level debug unless they fail."""

_INTERNAL_ERROR = 500
_ID = re.compile("[A-Za-z0-9._-]{1,64}")


@dataclass(slots=True)
class _Observed:
    """A request: its id, its start, and the facts noted about it."""

    id: str
    start: float
    facts: dict[str, Any] = field(default_factory=dict)


_current: ContextVar[_Observed | None] = ContextVar("observed", default=None)
"""The request that this thread serves."""


def install_observation(app: Flask, log_level: str) -> None:
    """Observe every request of the application; call it before any other hook is registered.

    log_level   "debug" logs every request, "info" all but those of /health and /metrics, "warning" failures only.
    """
    configure_log(log_level)
    log = structlog.get_logger().bind()  # once, not for every line
    install_failure_log(app.logger)
    start_counting()
    app.before_request(_begin)
    app.after_request(partial(_finish, log))  # runs last because it is registered first
    app.teardown_request(_forget)


def note(**facts: Fact) -> None:
    """Add facts to the line of the current request, and to its counts; None is ignored.

    The facts are operation, rows, bytes_in, lane, decode_seconds, evaluate_seconds, encode_seconds, key and problem.
    Does nothing without an observed request. Raises TypeError for any other fact.
    """
    if not facts.keys() <= _FACTS:
        message = f"no such fact: {', '.join(sorted(facts.keys() - _FACTS))}"
        raise TypeError(message)
    observed = _current.get()
    if observed is not None:
        for name, value in facts.items():
            if value is not None:
                observed.facts[name] = value


def record_refusal(status: int, code: str, route: str = UNMATCHED, method: str = OTHER) -> str:
    """Log and count a request that the server refused without the application; return its id."""
    request_id = uuid4().hex
    method = method if method in METHODS else OTHER
    count_request(route, method, status, None, code)
    line = {"id": request_id, "method": method, "route": route, "status": status, "problem": code}
    _write_line(structlog.get_logger(), line)
    return request_id


def _begin() -> None:
    given = request.environ.get(_REQUEST_ID_VARIABLE, "")
    request_id = given if _ID.fullmatch(given) else uuid4().hex
    _current.set(_Observed(request_id, request.environ.get(STARTED) or perf_counter()))
    current_request_id.set(request_id)


def _finish(log: FilteringBoundLogger, response: Response) -> Response:
    observed = _current.get()
    if observed is None or has_moved(request.environ):  # failed before the first hook; not the final pass
        return response
    if client_of(request.environ).gone:
        count_abandoned("evaluated")
        return response
    seconds = perf_counter() - observed.start
    facts = observed.facts
    rule = request.url_rule
    route = UNMATCHED if rule is None else rule.rule
    method = request.method if request.method in METHODS else OTHER
    status = response.status_code
    bytes_out = 0 if method == "HEAD" else response.content_length

    line: dict[str, Any] = {"id": observed.id, "method": method, "route": route, "status": status}
    line |= {name: facts[name] for name in _BEFORE if name in facts}
    if bytes_out is not None:
        line["bytes_out"] = bytes_out
    line["duration_ms"] = round(seconds * 1000, 3)
    if waited := request.environ.get(WAITED):
        line["wait_ms"] = round(waited * 1000, 3)
    line |= {name: round(facts[fact] * 1000, 3) for fact, _, name in _STAGES if fact in facts}
    line |= {name: facts[name] for name in _AFTER if name in facts}

    response.headers[REQUEST_ID] = observed.id
    response.headers[SERVER_TIMING] = _server_timing(line)
    count_request(route, method, status, seconds, facts.get("problem"))
    count_stages((stage, facts[fact]) for fact, stage, _ in _STAGES if fact in facts)
    if "operation" in facts:
        count_sizes(facts["operation"], facts.get("rows"), facts.get("bytes_in"), bytes_out)
    _write_line(log, line)
    return response


def _forget(_error: BaseException | None) -> None:
    _current.set(None)
    current_request_id.set(None)


def _server_timing(line: Mapping[str, Any]) -> str:
    """Format the stages and the total, in milliseconds, and the lane."""
    parts = [f"{stage};dur={line[name]}" for stage, name in _TIMES if name in line]
    parts.append(f"total;dur={line['duration_ms']}")
    if "lane" in line:
        parts.append(f"lane;desc={line['lane']}")
    return ", ".join(parts)


def _write_line(log: FilteringBoundLogger, line: Mapping[str, Any]) -> None:
    """Write a request's line, at the level of its outcome."""
    log.log(_level(line["status"], line["route"]), "request", **line, pid=os.getpid())


def _level(status: int, route: str) -> int:
    """The level of a line: for failures, refusals, successes, or polled routes."""
    if status >= _INTERNAL_ERROR:
        return logging.ERROR if status == _INTERNAL_ERROR else logging.WARNING
    return logging.DEBUG if route in _QUIET else logging.INFO
