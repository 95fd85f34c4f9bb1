"""Everything logged is a line of JSON, and a failure is logged without messages and values."""

import json
import logging
import logging.config
import os
from collections.abc import Iterator

import pytest

from service.web.observation import log
from service.web.observation.log import StderrHandler, current_ids, install_failure_log, logging_configuration
from tests.web.observing import Lines

CANARY = "canary7731"


@pytest.fixture
def gunicorn() -> Iterator[logging.Logger]:
    """gunicorn's logger, configured as its server does it, except for the root logger, which pytest needs."""
    logger = logging.getLogger("gunicorn.error")
    before = (logger.handlers, logger.level, logger.propagate)
    configuration = logging_configuration("info")
    assert configuration.pop("root") == {"level": "WARNING", "handlers": ["stderr"]}
    logging.config.dictConfig(configuration)
    yield logger
    logger.handlers, logger.level, logger.propagate = before


@pytest.fixture
def library() -> Iterator[logging.Logger]:
    logger = logging.getLogger("tests.library")
    logger.handlers, logger.propagate = [StderrHandler()], False
    yield logger
    logger.handlers, logger.propagate = [], True


def fail(canary: str) -> None:
    secret = canary
    raise ValueError(secret)


def test_gunicorns_lines_are_logged_unchanged(gunicorn: logging.Logger, lines: Lines) -> None:
    gunicorn.info("Booting worker with pid: %s", 17)
    gunicorn.debug("%s", CANARY)
    (line,) = lines()
    assert list(line) == ["time", "level", "event", "logger", "pid"]
    assert line["event"] == "Booting worker with pid: 17"
    assert (line["level"], line["logger"], line["pid"]) == ("info", "gunicorn.error", os.getpid())


def test_the_lines_below_the_first_may_be_a_traceback(gunicorn: logging.Logger, lines: Lines) -> None:
    gunicorn.warning("Exception during worker exit:\n%s", CANARY)
    gunicorn.error(ValueError(CANARY))
    exits, raised = lines()
    assert exits["event"] == "Exception during worker exit:"
    assert raised["event"].startswith("test_log.test_the_lines_below")


def test_gunicorn_starts_quietly_when_only_failures_are_wanted() -> None:
    levels = {
        level: logging_configuration(level)["loggers"]["gunicorn.error"]["level"] for level in ("debug", "warning")
    }
    assert levels == {"debug": "INFO", "warning": "WARNING"}


def test_a_failure_is_its_type_and_its_frames(gunicorn: logging.Logger, lines: Lines) -> None:
    try:
        try:
            fail(CANARY)
        except ValueError as error:
            error.add_note(CANARY)
            raise KeyError(CANARY) from error
    except KeyError as error:
        gunicorn.exception("Unexpected failure", exc_info=error)
    (line,) = lines()
    assert [failure["type"] for failure in line["failures"]] == ["KeyError", "ValueError"]
    (raised,) = line["failures"][0]["frames"]
    assert raised.endswith(" test_a_failure_is_its_type_and_its_frames")
    where = [frame.rpartition("/")[2] for frame in line["failures"][1]["frames"]]
    assert where[-1] == f"test_log.py:{fail.__code__.co_firstlineno + 2} fail"
    assert all(failure.keys() == {"type", "frames"} for failure in line["failures"])
    assert CANARY not in json.dumps(line)


def test_a_failure_while_another_is_handled_has_both_unless_the_code_says_otherwise(
    gunicorn: logging.Logger, lines: Lines
) -> None:
    try:
        try:
            fail(CANARY)
        except ValueError:
            raise KeyError(CANARY)  # noqa: B904  # without a cause on purpose
    except KeyError as error:
        gunicorn.error("Unexpected failure", exc_info=error)
        error.__suppress_context__ = True  # as `from None` does
        gunicorn.error("Unexpected failure", exc_info=error)
    both, one = lines()
    assert [failure["type"] for failure in both["failures"]] == ["KeyError", "ValueError"]
    assert [failure["type"] for failure in one["failures"]] == ["KeyError"]


def test_failures_in_a_group_are_reported_too(gunicorn: logging.Logger, lines: Lines) -> None:
    gunicorn.error("Unexpected failure", exc_info=ExceptionGroup(CANARY, [ValueError(CANARY), OSError(CANARY)]))
    (line,) = lines()
    (group,) = line["failures"]
    assert [failure["type"] for failure in group["failures"]] == ["ValueError", "OSError"]
    assert CANARY not in json.dumps(line)


@pytest.mark.parametrize(
    "error", [SyntaxError(CANARY, (CANARY, 1, 1, CANARY)), UnicodeDecodeError("a", b"x", 0, 1, CANARY)]
)
def test_no_kind_of_failure_reveals_more(gunicorn: logging.Logger, lines: Lines, error: Exception) -> None:
    gunicorn.error("Unexpected failure", exc_info=error)
    (line,) = lines()
    assert line["failures"] == [{"type": type(error).__name__, "frames": []}]


def test_a_deep_failure_is_cut(gunicorn: logging.Logger, lines: Lines) -> None:
    def deeper() -> None:
        deeper()

    try:
        deeper()
    except RecursionError as error:
        gunicorn.error("Unexpected failure", exc_info=error)
    (line,) = lines()
    frames = line["failures"][0]["frames"]
    assert len(frames) == 31
    assert frames[15].endswith(" more")
    assert frames[0].endswith(" test_a_deep_failure_is_cut")
    assert len(json.dumps(line)) < 8000


def test_a_failure_has_the_ids_of_its_request(gunicorn: logging.Logger, lines: Lines) -> None:
    token = current_ids.set({"id": "abc", "trace_id": "1" * 32})
    gunicorn.error("Unexpected failure")
    current_ids.reset(token)
    gunicorn.error("Unexpected failure")
    inside, outside = lines()
    assert inside.items() >= {"id": "abc", "trace_id": "1" * 32}.items()
    assert not {"id", "trace_id"} & outside.keys()


def test_a_line_of_a_library_has_its_place_but_not_its_message(library: logging.Logger, lines: Lines) -> None:
    library.warning(f"with {CANARY}")  # as libraries do
    library.warning("with %s", CANARY, extra={CANARY: CANARY}, stack_info=True)
    for line in lines():
        assert line["event"].startswith("test_log.test_a_line_of_a_library_has_its_place_but_not_its_message:")
        assert line["logger"] == "tests.library"
        assert CANARY not in json.dumps(line)


def test_a_record_that_cannot_be_written_is_reported_without_its_content(lines: Lines) -> None:
    StderrHandler().handle(logging.LogRecord("service", logging.ERROR, "", 1, "%d", (CANARY,), None))
    (line,) = lines()
    assert line == {"level": "error", "event": "A record could not be logged", "logger": "service"}


def test_an_unread_log_causes_no_failure(monkeypatch: pytest.MonkeyPatch, library: logging.Logger) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    monkeypatch.setattr(log, "_STDERR", writer)
    library.error("Unexpected failure")
    os.close(writer)


def test_the_application_logs_once(library: logging.Logger, lines: Lines) -> None:
    """Through the server's handler if there is one, otherwise through its own; installing it twice changes nothing."""
    application = logging.getLogger("tests.application")
    application.handlers = []
    install_failure_log(application)
    install_failure_log(application)
    application.error("failed")
    assert len(lines()) == 1
    application.handlers = []

    logging.getLogger().addHandler(library.handlers[0])
    install_failure_log(application)
    assert application.handlers == []
    application.error("failed")
    logging.getLogger().removeHandler(library.handlers[0])
    assert len(lines()) == 1
