"""What the service counts, and how the counts of all its processes become one page for Prometheus.

Knows prometheus_client, the variable that names its directory for several processes, slots and the spool's room;
nothing of a request. No label has a value that a client chose.

Each process counts in files of its own, and any of them adds all files up (counts_files.py). Without a directory for
them each counts for itself, and tells its own counts.
"""

import logging
import os
import platform
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.metadata import version
from pathlib import Path

from flask import Blueprint, Response
from prometheus_client import CollectorRegistry, Counter, Histogram, disable_created_metrics
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4, generate_latest
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from service.web.counts_files import CountsOfAll, count_in_files
from service.web.lanes.slots import Slots
from service.web.spool import Spool
from service.wire.problems import PROBLEM_TYPES

REFUSALS = frozenset({401, 408, 413, 429, 503})
"""The statuses that protect the service: counted by the code of their problem."""

DEATHS = ("died", "deadline")
"""Why a helper process ended: by itself, or because its time was over."""

STATES = ("waiting", "evaluated")
"""What a request was when its client left."""

_LOG = logging.getLogger("service")

_DIRECTORY = os.environ.get("PROMETHEUS_MULTIPROC_DIR", "")

_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)
_STAGE_SECONDS = (0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30)
_ROWS = tuple(10**power for power in range(1, 8))
_BYTES = tuple(1024 * 4**power for power in range(10))  # 1 KiB to 256 MiB

if _DIRECTORY:
    count_in_files(Path(_DIRECTORY))
disable_created_metrics()  # type: ignore[no-untyped-call]  # not annotated; several processes could not have them

# Every metric has labels: one without would write its file when this is imported, in gunicorn's master, too.
REQUESTS = Counter("rocpr_requests_total", "Requests that were answered.", ["route", "method", "status"], registry=None)
REQUEST_SECONDS = Histogram(
    "rocpr_request_seconds",
    "Time from a request's head to its answer, in seconds; sending it apart.",
    ["route"],
    registry=None,
    buckets=_SECONDS,
)
STAGE_SECONDS = Histogram(
    "rocpr_stage_seconds",
    "Time to decode, evaluate and encode, in seconds.",
    ["stage"],
    registry=None,
    buckets=_STAGE_SECONDS,
)
REQUEST_ROWS = Histogram(
    "rocpr_request_rows", "Rows of a request's longest table.", ["operation"], registry=None, buckets=_ROWS
)
REQUEST_BODY_BYTES = Histogram(
    "rocpr_request_body_bytes", "Bytes of a request's body.", ["operation"], registry=None, buckets=_BYTES
)
RESPONSE_BODY_BYTES = Histogram(
    "rocpr_response_body_bytes", "Bytes of an answer's body.", ["operation"], registry=None, buckets=_BYTES
)
HELPER_DEATHS = Counter(
    "rocpr_helper_deaths_total", "Processes for big requests that ended before their answer.", ["reason"], registry=None
)
ABANDONED = Counter(
    "rocpr_abandoned_total", "Requests whose clients left before the answer was ready.", ["while"], registry=None
)
REFUSALS_TOTAL = Counter(
    "rocpr_refusals_total", "Answers 401, 408, 413, 429 and 503, by the code of the problem.", ["code"], registry=None
)

_ALL = (
    REQUESTS,
    REQUEST_SECONDS,
    STAGE_SECONDS,
    REQUEST_ROWS,
    REQUEST_BODY_BYTES,
    RESPONSE_BODY_BYTES,
    HELPER_DEATHS,
    ABANDONED,
    REFUSALS_TOTAL,
)


def start_counting() -> None:
    """Let counters that are hoped never to move begin at 0: what is not there yet cannot be seen to rise."""
    for reason in DEATHS:
        HELPER_DEATHS.labels(reason)
    for state in STATES:
        ABANDONED.labels(state)
    for code, problem in PROBLEM_TYPES.items():
        if problem.status in REFUSALS:
            REFUSALS_TOTAL.labels(code)


@cache
def _counter(metric: Counter, *labels: str) -> Counter:
    """Find the counter of some labels, faster than the library does; there are few."""
    return metric.labels(*labels)


@cache
def _histogram(metric: Histogram, *labels: str) -> Histogram:
    return metric.labels(*labels)


def count_request(route: str, method: str, status: int, seconds: float | None, problem: str | None) -> None:
    """Count one request, and how long it took where that is known."""
    _counter(REQUESTS, route, method, str(status)).inc()
    if seconds is not None:
        _histogram(REQUEST_SECONDS, route).observe(seconds)
    if status in REFUSALS and problem in PROBLEM_TYPES:
        _counter(REFUSALS_TOTAL, problem).inc()


def count_stages(seconds: Iterable[tuple[str, float]]) -> None:
    """Count how long stages took: (stage, seconds)."""
    for stage, duration in seconds:
        _histogram(STAGE_SECONDS, stage).observe(duration)


def count_sizes(operation: str, rows: int | None, bytes_in: int | None, bytes_out: int | None) -> None:
    """Count how large a request of an operation, and its answer, were, as far as that is known."""
    if rows is not None:
        _histogram(REQUEST_ROWS, operation).observe(rows)
    if bytes_in is not None:
        _histogram(REQUEST_BODY_BYTES, operation).observe(bytes_in)
    if bytes_out is not None:
        _histogram(RESPONSE_BODY_BYTES, operation).observe(bytes_out)


def count_abandoned(state: str) -> None:
    """Count a request whose client left while it was one of STATES."""
    if state not in STATES:
        message = f"{state!r} is none of {', '.join(STATES)}"
        raise ValueError(message)
    ABANDONED.labels(state).inc()


def helper_ended(reason: str) -> None:
    """Count a helper process that ended before its answer: "died" or "deadline"."""
    if reason not in DEATHS:
        message = f"{reason!r} is none of {', '.join(DEATHS)}"
        raise ValueError(message)
    HELPER_DEATHS.labels(reason).inc()


def metrics_blueprint(slots: Slots, spool: Spool, *, compiled: bool) -> Blueprint:
    """Make the route /metrics: the counts of all processes, in Prometheus's text format.

    `compiled` is whether this process uses what was compiled. It is told, as this module is loaded before NumPy.
    """
    blueprint = Blueprint("metrics", __name__)
    registry = CollectorRegistry()
    registry.register(_AsFarAsPossible(_Now(slots, spool, compiled=compiled)))
    if _DIRECTORY:
        registry.register(_AsFarAsPossible(CountsOfAll(Path(_DIRECTORY))))
    else:
        for metric in _ALL:
            registry.register(metric)

    @blueprint.get("/metrics")
    def metrics() -> Response:
        return Response(generate_latest(registry), content_type=CONTENT_TYPE_PLAIN_0_0_4)

    return blueprint


class _AsFarAsPossible(Collector):
    """What another one collects until it fails: no file that cannot be read takes the rest of the page with it."""

    def __init__(self, collector: Collector) -> None:
        self._collector = collector

    def collect(self) -> Iterator[Metric]:
        """Collect."""
        try:
            yield from self._collector.collect()
        except Exception as error:  # noqa: BLE001  # whatever it is, the page has the rest
            _LOG.warning("A part of /metrics is missing: %s.", type(error).__name__)


class _Now(Collector):
    """What is not counted but looked up when it is asked for."""

    def __init__(self, slots: Slots, spool: Spool, *, compiled: bool) -> None:
        self._slots = slots
        self._spool = spool
        self._build = GaugeMetricFamily(
            "rocpr_build_info", "1, for the version that runs.", labels=["version", "python", "compiled"]
        )
        self._build.add_metric([version("rocpr"), platform.python_version(), "yes" if compiled else "no"], 1)

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """Look."""
        yield self._build
        available = self._spool.available_bytes()
        if available is not None:
            yield GaugeMetricFamily("rocpr_spool_available_bytes", "Room for bodies of big requests.", available)
        yield GaugeMetricFamily("rocpr_slots", "Big requests that may be served at once.", self._slots.count)
        yield GaugeMetricFamily("rocpr_slots_in_use", "Big requests that are served now.", self._slots.in_use())
