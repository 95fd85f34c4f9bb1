"""The log: a line of JSON on stderr for each event, from our requests, gunicorn or a library.

Knows nothing of requests but the ids of the current one. A failure is logged by its type and frames only: messages and
local variables may contain what a client sent, which is never logged.
"""

import logging
import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from contextvars import ContextVar
from datetime import UTC, datetime
from traceback import TracebackException
from types import MappingProxyType
from typing import Any

import orjson

current_ids: ContextVar[Mapping[str, str]] = ContextVar("current_ids", default=MappingProxyType({}))
"""The ids of the current request, for failures logged meanwhile."""

_STDERR = 2
_AS_A_LINE = orjson.OPT_APPEND_NEWLINE | orjson.OPT_UTC_Z
_MAX_EVENT = 300
_MOST_FRAMES = 15
"""The most frames of a failure at either end."""

_WITH_MESSAGES = ("gunicorn.error", "service")
"""The loggers whose messages contain nothing of a request: gunicorn's, of starts and stops, and ours."""

_requests = logging.getLogger("service.requests")
"""Its level decides which requests are logged; it logs nothing itself."""


def configure_log(level: str) -> None:
    """Log requests at `level` (debug, info or warning) and above."""
    _requests.setLevel(level.upper())


def log_request(level: int, facts: dict[str, Any]) -> None:
    """Write the line of a request, unless its level is too low; through logging it would take six times as long."""
    if _requests.isEnabledFor(level):
        _write(orjson.dumps(_stamped(level) | {"event": "request", **facts}, option=_AS_A_LINE))


def install_failure_log(logger: logging.Logger) -> None:
    """Make the application's logger write lines of the log, too, if the server has not configured it."""
    ancestors = (logger, logging.getLogger())
    if not any(isinstance(handler, StderrHandler) for ancestor in ancestors for handler in ancestor.handlers):
        logger.handlers = [StderrHandler()]


def logging_configuration(level: str) -> dict[str, Any]:
    """Configure logging for a whole server process, as gunicorn's `logconfig_dict`.

    gunicorn's debug lines contain paths, so its level is never below info.
    """
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {},
        "handlers": {"stderr": {"()": StderrHandler}},
        "root": {"level": "WARNING", "handlers": ["stderr"]},
        "loggers": {
            "gunicorn.error": {
                "level": "WARNING" if level == "warning" else "INFO",
                "handlers": ["stderr"],
                "propagate": False,
            },
            "gunicorn.access": {"level": "CRITICAL", "handlers": [], "propagate": False},
        },
    }


class StderrHandler(logging.Handler):
    """Writes the records of logging as lines of the log."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write one record."""
        try:
            _write(orjson.dumps(_loggable_facts(record), option=_AS_A_LINE))
        except Exception:  # noqa: BLE001  # logging must not cause failures
            self.handleError(record)

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802  # logging's name
        """Log that a record could not be written, without its content, which logging would print."""
        _write(orjson.dumps({"level": "error", "event": "A record could not be logged", "logger": record.name}) + b"\n")


def _write(line: bytes) -> None:
    """Write a line in one call, so that lines from several threads and processes do not mix.

    A log that nobody reads any more (a closed pipe) must not fail a request.
    """
    with suppress(OSError):
        os.write(_STDERR, line)


def _loggable_facts(record: logging.LogRecord) -> dict[str, Any]:
    shown: dict[str, Any] = _stamped(record.levelno) | {"event": _event(record), "logger": record.name}
    shown |= {**current_ids.get(), "pid": record.process}
    if record.exc_info and record.exc_info[1] is not None:
        shown["failures"] = _failures(TracebackException.from_exception(record.exc_info[1], lookup_lines=False))
    return shown


def _stamped(level: int) -> dict[str, Any]:
    """The beginning of every line."""
    return {"time": datetime.now(UTC), "level": logging.getLevelName(level).lower()}


def _event(record: logging.LogRecord) -> str:
    """Return the first line of a message that is known to be safe, else the place that logged it.

    Further lines may be a traceback as text; a message that is not text is an exception.
    """
    if record.name in _WITH_MESSAGES and isinstance(record.msg, str):
        return record.getMessage().partition("\n")[0][:_MAX_EVENT]
    return f"{record.module}.{record.funcName}:{record.lineno}"


def _type_name(failure: TracebackException) -> str:
    if sys.version_info >= (3, 13):
        name = failure.exc_type_str
    else:
        name = failure.exc_type.__name__
    return name.rpartition(".")[2]


def _failures(last: TracebackException) -> list[dict[str, Any]]:
    """The types and frames of an exception and of its causes, the last one first."""
    failures = []
    failure: TracebackException | None = last
    while failure is not None:
        frames = [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in failure.stack]
        if (more := len(frames) - 2 * _MOST_FRAMES) > 0:
            frames[_MOST_FRAMES:-_MOST_FRAMES] = [f"{more} more"]
        shown: dict[str, Any] = {"type": _type_name(failure), "frames": frames}
        if failure.exceptions is not None:
            shown["failures"] = [each for within in failure.exceptions for each in _failures(within)]
        failures.append(shown)
        failure = failure.__cause__ or (None if failure.__suppress_context__ else failure.__context__)
    return failures
