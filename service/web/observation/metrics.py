"""The service's metrics, and the page for Prometheus with those of all its processes.

Knows prometheus_client, the variable that names its directory for several processes, slots and the spool's room;
nothing of requests. No label has a value chosen by a client.

Each process counts in its own files, and any process can add up all files (counts_files.py). Without a directory for
them each process counts and reports only for itself.
"""

import logging
import os
import platform
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import TypeVar

from flask import Blueprint, Response
from prometheus_client import CollectorRegistry, Counter, Histogram, disable_created_metrics
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4, generate_latest
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from service.web.lanes.slots import Slots
from service.web.observation.counts_files import CountsOfAll, count_in_files
from service.web.spool import Spool
from service.wire.problems import PROBLEM_TYPES

REFUSALS = frozenset({401, 408, 413, 429, 503})
"""Statuses that protect the service, counted by the problem's code."""

DEATHS = ("died", "deadline")
"""Why an evaluator process ended: by itself, or at its deadline."""

STATES = ("waiting", "evaluated")
"""The state of a request when its client left."""

_LOG = logging.getLogger("service")

_Counted = TypeVar("_Counted", Counter, Histogram)

_REQUEST_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)
_STAGE_SECONDS = (0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30)
_ROW_BUCKETS = tuple(10**power for power in range(1, 8))
_BYTES = tuple(1024 * 4**power for power in range(10))  # 1 KiB to 256 MiB


class _Histogram(Histogram):
    """The library's, which looks through the buckets one by one: for the seven of a request, that took 20 µs."""

    def observe(self, amount: float, exemplar: object = None) -> None:  # noqa: ARG002  # the library's signature
        """Observe an amount; the bound of the last bucket is infinite."""
        self._sum.inc(amount)
        self._buckets[bisect_left(self._upper_bounds, amount)].inc(1)


class _Metrics:
    """All metrics, created at the first count, when prometheus_client looks up where the process counts.

    Raises NotADirectoryError if the directory of counts does not exist.
    """

    def __init__(self) -> None:
        if _directory():
            count_in_files(Path(_directory()))
        disable_created_metrics()  # type: ignore[no-untyped-call]  # not annotated; unsupported with several processes
        self.requests = _counter("requests_total", "Requests that were answered.", "route", "method", "status")
        self.request_seconds = _histogram(
            "request_seconds",
            "Time from a request's head until its answer can be sent, in seconds.",
            "route",
            _REQUEST_SECONDS,
        )
        self.stage_seconds = _histogram(
            "stage_seconds", "Time to decode, evaluate and encode, in seconds.", "stage", _STAGE_SECONDS
        )
        self.rows = _histogram("request_rows", "Rows of a request's longest table.", "operation", _ROW_BUCKETS)
        self.bytes_in = _histogram("request_body_bytes", "Bytes of a request's body.", "operation", _BYTES)
        self.bytes_out = _histogram("response_body_bytes", "Bytes of an answer's body.", "operation", _BYTES)
        self.helper_deaths = _counter(
            "helper_deaths_total", "Evaluator processes that ended before their answer.", "reason"
        )
        self.abandoned = _counter(
            "abandoned_total", "Requests whose clients left before the answer was ready.", "while"
        )
        self.refusals = _counter(
            "refusals_total", "Answers 401, 408, 413, 429 and 503, by the code of the problem.", "code"
        )


def _directory() -> str:
    """The directory in which the server's processes count together; empty if this one counts for itself."""
    return os.environ.get("PROMETHEUS_MULTIPROC_DIR", "")


def _counter(name: str, meaning: str, *labels: str) -> Counter:
    return Counter(f"rocpr_{name}", meaning, labels, registry=None)


def _histogram(name: str, meaning: str, label: str, buckets: tuple[float, ...]) -> Histogram:
    return _Histogram(f"rocpr_{name}", meaning, [label], registry=None, buckets=buckets)


@cache
def _metrics() -> _Metrics:
    return _Metrics()


def start_counting() -> None:
    """Start at 0 what should stay there: in a series that did not exist before, Prometheus sees no rise."""
    for reason in DEATHS:
        _metrics().helper_deaths.labels(reason)
    for state in STATES:
        _metrics().abandoned.labels(state)
    for code, problem in PROBLEM_TYPES.items():
        if problem.status in REFUSALS:
            _metrics().refusals.labels(code)


@cache
def _of(metric: _Counted, *labels: str) -> _Counted:
    """Find the child for some labels, faster than the library does; there are few."""
    return metric.labels(*labels)


def count_request(route: str, method: str, status: int, seconds: float | None, problem: str | None) -> None:
    """Count one request, and its duration if known."""
    _of(_metrics().requests, route, method, str(status)).inc()
    if seconds is not None:
        _of(_metrics().request_seconds, route).observe(seconds)
    if status in REFUSALS and problem in PROBLEM_TYPES:
        _of(_metrics().refusals, problem).inc()


def count_stages(seconds: Iterable[tuple[str, float]]) -> None:
    """Count the durations of stages: (stage, seconds)."""
    for stage, duration in seconds:
        _of(_metrics().stage_seconds, stage).observe(duration)


def count_sizes(operation: str, rows: int | None, bytes_in: int | None, bytes_out: int | None) -> None:
    """Count the sizes of an operation's request and answer, as far as known."""
    if rows is not None:
        _of(_metrics().rows, operation).observe(rows)
    if bytes_in is not None:
        _of(_metrics().bytes_in, operation).observe(bytes_in)
    if bytes_out is not None:
        _of(_metrics().bytes_out, operation).observe(bytes_out)


def count_abandoned(state: str) -> None:
    """Count a request whose client left while it was in one of STATES."""
    _metrics().abandoned.labels(state).inc()


def helper_ended(reason: str) -> None:
    """Count an evaluator process that ended before its answer: "died" or "deadline"."""
    _metrics().helper_deaths.labels(reason).inc()


def metrics_blueprint(slots: Slots, spool: Spool, *, compiled: bool) -> Blueprint:
    """Make the route /metrics: the counts of all processes, in Prometheus's text format.

    `compiled` is whether this process uses the compiled loops: a parameter, as this module is imported before NumPy.
    """
    blueprint = Blueprint("metrics", __name__)
    registry = CollectorRegistry()
    registry.register(_AsFarAsPossible(_Now(slots, spool, compiled=compiled)))
    if _directory():
        registry.register(_AsFarAsPossible(CountsOfAll(Path(_directory()))))
    else:
        for metric in vars(_metrics()).values():
            registry.register(metric)

    @blueprint.get("/metrics")
    def metrics() -> Response:
        return Response(generate_latest(registry), content_type=CONTENT_TYPE_PLAIN_0_0_4)

    return blueprint


class _AsFarAsPossible(Collector):
    """Collects from another collector until it fails, so that an unreadable file does not lose the rest of the page."""

    def __init__(self, collector: Collector) -> None:
        self._collector = collector

    def collect(self) -> Iterator[Metric]:
        """Pass on what the other collector yields."""
        try:
            yield from self._collector.collect()
        except Exception as error:  # noqa: BLE001  # on any error the page has the rest
            _LOG.warning("A part of /metrics is missing: %s.", type(error).__name__)


class _Now(Collector):
    """Values that are not counted but looked up when collected."""

    def __init__(self, slots: Slots, spool: Spool, *, compiled: bool) -> None:
        self._slots = slots
        self._spool = spool
        self._build = GaugeMetricFamily(
            "rocpr_build_info", "Always 1; the labels name the version.", labels=["version", "python", "compiled"]
        )
        self._build.add_metric([version("rocpr"), platform.python_version(), "yes" if compiled else "no"], 1)

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """Look the values up."""
        yield self._build
        available = self._spool.available_bytes()
        if available is not None:
            yield GaugeMetricFamily(
                "rocpr_spool_available_bytes", "Room for big requests and their answers.", available
            )
        yield GaugeMetricFamily("rocpr_slots", "Big requests that may be served at once.", self._slots.count)
        yield GaugeMetricFamily("rocpr_slots_in_use", "Big requests being served now.", self._slots.in_use())
