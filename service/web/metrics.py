"""What the service counts, and how the counts of all its processes become one page for Prometheus.

Knows prometheus_client, the variable that names its directory for several processes, and slots; nothing of a request.
No label has a value that a client chose.

Each process counts in files of its own, and any of them adds all files up. prometheus_client names the files by the
process's id, so that every worker that is replaced leaves its files behind for ever: without them the counts would
fall. Here a process takes the lowest number that no living process has, and counts on in the files of that number.
There are as many files as there ever were processes at once, and nothing is lost when one dies.
"""

import os
import platform
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.metadata import version
from itertools import count
from pathlib import Path

from flask import Blueprint, Response
from prometheus_client import CollectorRegistry, Counter, Histogram, disable_created_metrics, values
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

from service.web.lanes.slots import Slot, Slots
from service.wire.problems import PROBLEM_TYPES

REFUSALS = frozenset({401, 408, 413, 429, 503})
"""The statuses that protect the service: counted by the code of their problem."""

DEATHS = ("died", "deadline")
"""Why a helper process ended: by itself, or because its time was over."""

STATES = ("waiting", "evaluated")
"""What a request was when its client left."""

_DIRECTORY = os.environ.get("PROMETHEUS_MULTIPROC_DIR", "")

_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)
_STAGE_SECONDS = (0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30)
_ROWS = tuple(10**power for power in range(1, 8))
_BYTES = tuple(1024 * 4**power for power in range(10))  # 1 KiB to 256 MiB


class Identity:
    """The number under which this process counts; a fork of it gets another one.

    The number is a slot that is held while the process lives, so it is free again however the process ends.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._number = 0
        self._slot: Slot | None = None
        os.register_at_fork(after_in_child=self._let_go)

    def __call__(self) -> int:
        """Return the number; prometheus_client asks at every count, under a lock."""
        if self._slot is None:
            self._number, self._slot = self._taken()
        return self._number

    def _let_go(self) -> None:
        """Give up the parent's number, which the parent still holds."""
        if self._slot is not None:
            self._slot.release()
            self._slot = None

    def _taken(self) -> tuple[int, Slot]:
        return next(
            (number, slot)
            for number in count()
            if (slot := Slots(self._directory, f"process-{number}", 1).take()) is not None
        )


if _DIRECTORY:
    values.ValueClass = values.MultiProcessValue(Identity(Path(_DIRECTORY)))  # type: ignore[no-untyped-call]  # not annotated
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


def metrics_blueprint(slots: Slots, *, compiled: bool) -> Blueprint:
    """Make the route /metrics: the counts of all processes, in Prometheus's text format.

    `compiled` is whether this process uses what was compiled. It is told, as this module is loaded before NumPy.
    """
    blueprint = Blueprint("metrics", __name__)
    registry = CollectorRegistry()
    registry.register(_Now(slots, compiled=compiled))
    if _DIRECTORY:
        MultiProcessCollector(registry, _DIRECTORY)  # type: ignore[no-untyped-call]  # not annotated
    else:
        for metric in _ALL:
            registry.register(metric)

    @blueprint.get("/metrics")
    def metrics() -> Response:
        return Response(generate_latest(registry), content_type=CONTENT_TYPE_PLAIN_0_0_4)

    return blueprint


class _Now(Collector):
    """What is not counted but looked up when it is asked for."""

    def __init__(self, slots: Slots, *, compiled: bool) -> None:
        self._slots = slots
        self._build = GaugeMetricFamily(
            "rocpr_build_info", "1, for the version that runs.", labels=["version", "python", "compiled"]
        )
        self._build.add_metric([version("rocpr"), platform.python_version(), "yes" if compiled else "no"], 1)

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """Look."""
        yield self._build
        yield GaugeMetricFamily("rocpr_slots", "Big requests that may be served at once.", self._slots.count)
        yield GaugeMetricFamily("rocpr_slots_in_use", "Big requests that are served now.", self._slots.in_use())
