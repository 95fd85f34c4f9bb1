"""The log: a line of JSON on stderr for each thing that happened, whoever tells it: our requests, gunicorn, a library.

Knows structlog and logging; nothing of requests but the id of the current one. A failure is told by its type and its
frames alone: messages and local variables may hold what a client sent, and that is never logged.
"""

import logging
import os
from contextlib import suppress
from contextvars import ContextVar
from typing import Any

import orjson
import structlog
from structlog.stdlib import ProcessorFormatter
from structlog.tracebacks import ExceptionDictTransformer
from structlog.typing import EventDict, WrappedLogger

current_request_id: ContextVar[str | None] = ContextVar("current_request_id", default=None)
"""The id of the request that this thread serves, for failures that are logged on the way."""

_STDERR = 2
_MAX_EVENT = 300
_WITH_MESSAGES = ("gunicorn.error", "service")
"""The loggers whose messages are known to hold nothing of a request: gunicorn's starts and stops, and ours."""

_stacks_of = ExceptionDictTransformer(show_locals=False, use_rich=False, max_frames=30)
_add_time = structlog.processors.TimeStamper(fmt="iso", utc=True, key="time")


def configure_log(level: str) -> None:
    """Let structlog's loggers write lines of `level` (debug, info or warning) and above."""
    structlog.configure(
        processors=[structlog.processors.add_log_level, _add_time, _line],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=_StderrLogger,
    )


def install_failure_log(logger: logging.Logger) -> None:
    """Let the application's logger write such lines, too, where the server has not seen to it already."""
    ancestors = (logger, logging.getLogger())
    if not any(isinstance(handler, StderrHandler) for ancestor in ancestors for handler in ancestor.handlers):
        logger.handlers = [StderrHandler()]


def logging_configuration(level: str) -> dict[str, Any]:
    """Configure logging for a whole server process, as gunicorn's `logconfig_dict`.

    gunicorn's debug lines hold paths, so it tells no more at level debug than at info.
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
            ProcessorFormatter(
                processors=[structlog.processors.add_log_level, _add_time, _what_may_be_told, _text_line]
            )
        )

    def emit(self, record: logging.LogRecord) -> None:
        """Write one record."""
        try:
            _write(self.format(record).encode())
        except Exception:  # noqa: BLE001  # logging must not fail what it tells of
            self.handleError(record)

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802  # logging's name
        """Say that a record could not be written, and nothing of what it holds: logging would print it all."""
        _write(orjson.dumps({"level": "error", "event": "A record could not be logged", "logger": record.name}) + b"\n")


class _StderrLogger:
    """What structlog's loggers write to; made by structlog with arguments of its own, which say nothing here."""

    def __init__(self, *_: object) -> None:
        pass

    def msg(self, line: bytes) -> None:
        _write(line)

    debug = info = warning = error = msg


def _write(line: bytes) -> None:
    """Write a line in one call, so that lines of several threads and processes do not mix.

    A log that is no longer read (a closed pipe) must not fail a request.
    """
    with suppress(OSError):
        os.write(_STDERR, line)


def _line(_logger: WrappedLogger, _method: str, facts: EventDict) -> bytes:
    """Write the facts as JSON, with what a reader looks for first in front."""
    first = {"time": facts.pop("time"), "level": facts.pop("level"), "event": facts.pop("event")}
    return orjson.dumps({**first, **facts}, option=orjson.OPT_APPEND_NEWLINE)


def _text_line(logger: WrappedLogger, method: str, facts: EventDict) -> str:
    return _line(logger, method, facts).decode()


def _what_may_be_told(_logger: WrappedLogger, _method: str, facts: EventDict) -> EventDict:
    """Replace a record of logging by the facts that may be told of it."""
    record: logging.LogRecord = facts["_record"]
    told: EventDict = {"time": facts["time"], "level": facts["level"], "logger": record.name}
    told["event"] = _event(record, facts["event"])
    if (request_id := current_request_id.get()) is not None:
        told["id"] = request_id
    told["pid"] = record.process
    if (failure := facts.get("exc_info")) and failure[0] is not None:
        told["failures"] = _failures(_stacks_of(failure))
    return told


def _event(record: logging.LogRecord, message: str) -> str:
    """Take the first line of a message that is known to be safe, else the place that it comes from.

    The lines below the first may be a traceback as text; a message that was made of no text is an exception's.
    """
    if record.name in _WITH_MESSAGES and isinstance(record.msg, str):
        return message.partition("\n")[0][:_MAX_EVENT]
    return f"{record.module}.{record.funcName}:{record.lineno}"


def _failures(stacks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Keep types and frames of an exception and of those that it came from, the last one first."""
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
