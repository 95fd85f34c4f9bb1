"""The log: a line of JSON on stderr for each event, from our requests, gunicorn or a library.

Knows logging and structlog; nothing of requests but the id of the current one. A failure is logged by its type and
frames only: messages and local variables may contain what a client sent, which is never logged.
"""

import logging
import os
from contextlib import suppress
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Any

import orjson
import structlog
from structlog.stdlib import ProcessorFormatter
from structlog.tracebacks import ExceptionDictTransformer
from structlog.typing import EventDict, WrappedLogger

current_request_id: ContextVar[str | None] = ContextVar("current_request_id", default=None)
"""The id of the current request, for failures logged meanwhile."""

_STDERR = 2
_MAX_EVENT = 300
_WITH_MESSAGES = ("gunicorn.error", "service")
"""The loggers whose messages contain nothing of a request: gunicorn's, of starts and stops, and ours."""

_requests = logging.getLogger("service.requests")
"""Its level decides which requests are logged; it logs nothing itself."""

_stacks_of = ExceptionDictTransformer(show_locals=False, use_rich=False, max_frames=30)
_add_time = structlog.processors.TimeStamper(fmt="iso", utc=True, key="time")


def configure_log(level: str) -> None:
    """Log requests at `level` (debug, info or warning) and above."""
    _requests.setLevel(level.upper())


def log_request(level: int, facts: dict[str, Any]) -> None:
    """Write the line of a request, unless its level is too low; through logging it would take six times as long."""
    if _requests.isEnabledFor(level):
        line = {"time": datetime.now(UTC), "level": logging.getLevelName(level).lower(), "event": "request", **facts}
        _write(orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE | orjson.OPT_UTC_Z))


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

    def __init__(self) -> None:
        super().__init__()
        self.setFormatter(
            ProcessorFormatter(processors=[structlog.processors.add_log_level, _add_time, _loggable_facts, _text_line])
        )

    def emit(self, record: logging.LogRecord) -> None:
        """Write one record."""
        try:
            _write(self.format(record).encode())
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


def _text_line(_logger: WrappedLogger, _method: str, facts: EventDict) -> str:
    return orjson.dumps(facts, option=orjson.OPT_APPEND_NEWLINE).decode()


def _loggable_facts(_logger: WrappedLogger, _method: str, facts: EventDict) -> EventDict:
    """Replace a record of logging by those of its facts that may be logged."""
    record: logging.LogRecord = facts["_record"]
    shown: EventDict = {"time": facts["time"], "level": facts["level"], "event": _event(record, facts["event"])}
    shown["logger"] = record.name
    if (request_id := current_request_id.get()) is not None:
        shown["id"] = request_id
    shown["pid"] = record.process
    if (failure := facts.get("exc_info")) and failure[0] is not None:
        shown["failures"] = _failures(_stacks_of(failure))
    return shown


def _event(record: logging.LogRecord, message: str) -> str:
    """Return the first line of a message that is known to be safe, else the place that logged it.

    Further lines may be a traceback as text; a message that is not text is an exception.
    """
    if record.name in _WITH_MESSAGES and isinstance(record.msg, str):
        return message.partition("\n")[0][:_MAX_EVENT]
    return f"{record.module}.{record.funcName}:{record.lineno}"


def _failures(stacks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The types and frames of an exception and of its causes, the last one first."""
    failures = []
    for stack in stacks:
        failure: dict[str, Any] = {
            "type": stack["exc_type"],
            "frames": [f"{frame['filename']}:{frame['lineno']} {frame['name']}" for frame in stack["frames"]],
        }
        if stack["is_group"]:
            failure["failures"] = [failure for group in stack["exceptions"] for failure in _failures(group)]
        failures.append(failure)
    return failures
