"""An evaluator process alone: what it may use, what it gives back, and how the server learns of its end."""

import errno
import json
import mmap
import os
import signal
import tempfile
from collections.abc import Callable, Iterator
from multiprocessing import Pipe, reduction
from pathlib import Path
from threading import Event, Thread, Timer
from unittest.mock import Mock

import pytest

from service.answer import answer, lack_of_memory
from service.curves.clock import TooMuchWork
from service.curves.sweep.sweep import COMPILED
from service.request import Answer, Effort, Request
from service.web.lanes import evaluating
from service.web.lanes.evaluating import EvaluatorFailed, NoRoom
from service.web.lanes.evaluator import (
    _CONTEXT,
    NICENESS,
    DeadlineExceeded,
    EvaluatorCrashed,
    EvaluatorDied,
    EvaluatorNotStarted,
    EvaluatorProcess,
)
from service.wire.answers.output import Output
from service.wire.formats.codings import compress
from tests.e2e.wire import SECONDS
from tests.support.compiled_library import library_in, used
from tests.web.big_requests import BODY, LIMITS, request

PLENTY = Effort(60, 1 << 20, 1 << 20)


@pytest.fixture
def evaluator() -> Iterator[EvaluatorProcess]:
    evaluator = EvaluatorProcess(LIMITS, 1 << 30, NICENESS)
    yield evaluator
    evaluator.end()


def test_an_evaluator_is_weaker_than_the_server(evaluator: EvaluatorProcess) -> None:
    with tempfile.TemporaryFile() as body, tempfile.TemporaryFile() as content:
        body.write(BODY)
        body.flush()
        assert evaluator.answer_in_files(request(), (body, content), SECONDS).status == 200  # it has started
    process = Path(f"/proc/{evaluator.pid}")
    limits_of = {line[:25].strip(): line[25:].split()[:2] for line in (process / "limits").read_text().splitlines()}
    assert limits_of["Max core file size"] == ["0", "0"]
    assert limits_of["Max data size"] == [str(1 << 30)] * 2
    assert int((process / "oom_score_adj").read_text()) >= 500
    niceness = int((process / "stat").read_text().rpartition(")")[2].split()[16])
    assert niceness == min(os.nice(0) + NICENESS, 19)


def test_a_small_body_goes_through_the_pipe(evaluator: EvaluatorProcess) -> None:
    """The same process answers both kinds of requests."""
    asked = request(body=BODY)
    here = answer(asked, LIMITS)
    there = evaluator.answer(asked, PLENTY, SECONDS)
    assert (there.status, there.body, there.media_type) == (200, here.body, here.media_type)
    wrong = evaluator.answer(request(body=b"{"), PLENTY, SECONDS)
    assert (wrong.status, wrong.problem) == (400, "malformed_body")
    with tempfile.TemporaryFile() as body, tempfile.TemporaryFile() as content:
        body.write(BODY)
        body.flush()
        assert evaluator.answer_in_files(request(), (body, content), SECONDS).body == b""
        content.seek(0)
        assert content.read() == here.body


@pytest.mark.parametrize("effort", [Effort(0, 1 << 20, 1 << 20), Effort(60, 100, 1 << 20)], ids=["seconds", "bytes"])
def test_too_much_work_is_not_done(evaluator: EvaluatorProcess, effort: Effort) -> None:
    """It goes back to the server, and the process waits for another request."""
    packed = compress("gzip", BODY + b" " * 100)
    with pytest.raises(TooMuchWork):
        evaluator.answer(request(body=packed, content_encoding="gzip"), effort, SECONDS)
    assert evaluator.is_alive()
    assert evaluator.answer(request(body=BODY), PLENTY, SECONDS).status == 200


def test_a_defect_is_logged_in_its_place_and_reported_as_one(monkeypatch: pytest.MonkeyPatch, caplog) -> None:
    def fail(*_: object, **__: object) -> None:
        raise ValueError

    monkeypatch.setattr(evaluating, "answer", fail)
    done = evaluating._done(evaluating.Task(request(), None, in_files=False), LIMITS, [])
    assert done == evaluating.Failure(EvaluatorFailed)
    assert "Unexpected failure" in caplog.text


def test_an_evaluator_that_is_killed_has_died(evaluator: EvaluatorProcess) -> None:
    """Whoever waits for its answer is notified at once."""
    os.kill(evaluator.pid, signal.SIGSTOP)
    killer = Timer(0.1, evaluator.stop)  # before or while it waits
    killer.start()
    with pytest.raises(EvaluatorDied):
        evaluator.answer(request(body=BODY), PLENTY, 60.0)
    killer.join()


def test_an_evaluator_that_cannot_be_started_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: object) -> None:
        raise OSError(errno.EAGAIN, "no process is left")

    monkeypatch.setattr(_CONTEXT.Process, "start", fail)
    with pytest.raises(EvaluatorNotStarted):
        EvaluatorProcess(LIMITS, 1 << 30, NICENESS)


def test_an_evaluator_takes_no_more_than_the_server_may(monkeypatch: pytest.MonkeyPatch) -> None:
    """If the present limit is below the setting, raising it would be refused."""
    limited: dict[int, tuple[int, int]] = {}
    niced: list[int] = []
    monkeypatch.setattr(evaluating.os, "nice", niced.append)
    monkeypatch.setattr(evaluating.sys, "platform", "another")
    monkeypatch.setattr(evaluating.resource, "getrlimit", lambda _: (1 << 29, 1 << 30))
    monkeypatch.setattr(evaluating.resource, "setrlimit", limited.__setitem__)
    evaluating._bound(1 << 31, 3)
    assert limited[evaluating.resource.RLIMIT_DATA] == (1 << 30, 1 << 30)
    evaluating._bound(1 << 28, 3)
    assert limited[evaluating.resource.RLIMIT_DATA] == (1 << 28, 1 << 28)
    assert niced == [3, 3]


def test_a_problem_takes_the_place_of_a_part_of_an_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    """The problem replaces whatever was written before it."""
    long = b"x" * 100_000

    def answer_in_part(request: Request, _limits: object, output: Output) -> Answer:
        output.write(long)
        return lack_of_memory(request)

    monkeypatch.setattr(evaluating, "answer", answer_in_part)
    with tempfile.TemporaryFile() as body, tempfile.TemporaryFile() as content:
        result = evaluating._answered_in_files(request(), LIMITS, os.dup(body.fileno()), os.dup(content.fileno()))
        content.seek(0)
        assert json.loads(content.read())["type"] == "/problems/body_too_large"
    assert result.status == 413


@pytest.mark.parametrize("content", [b"", BODY])
def test_a_body_that_cannot_be_mapped_is_read(content: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """Some file systems have no mappings."""

    def fail(*_: object, **__: object) -> None:
        raise OSError(errno.ENODEV, "No such device")

    with tempfile.TemporaryFile() as body:
        body.write(content)
        body.flush()
        mapping = evaluating.mapped(body)
        assert bytes(mapping) == content
        assert isinstance(mapping, mmap.mmap) == bool(content)
        monkeypatch.setattr(evaluating.mmap, "mmap", fail)
        assert evaluating.mapped(body) == content


def test_an_answer_that_cannot_be_written_is_not_a_failure(evaluator: EvaluatorProcess) -> None:
    with tempfile.TemporaryFile() as body, Path("/dev/full").open("wb") as full:
        body.write(BODY)
        body.flush()
        with pytest.raises(NoRoom):
            evaluator.answer_in_files(request(), (body, full), SECONDS)


def test_an_evaluator_of_no_use_says_so(evaluator: EvaluatorProcess) -> None:
    with tempfile.TemporaryFile() as body, tempfile.TemporaryFile() as content:
        os.kill(evaluator.pid, signal.SIGSTOP)
        with pytest.raises(DeadlineExceeded):
            evaluator.answer_in_files(request(), (body, content), 0.0)
        evaluator.end()
        with pytest.raises(EvaluatorDied):
            evaluator.answer_in_files(request(), (body, content), 1.0)


def given_back(monkeypatch: pytest.MonkeyPatch, taken: int, keep_seconds: float = SECONDS) -> int:
    """Be the evaluator of one request that took this much memory, and count how often memory is given back.

    One that keeps memory for less than SECONDS waits for another request until it has given it back.
    """
    times: list[int] = []
    gives = Event()
    monkeypatch.setattr(evaluating, "KEEP_SECONDS", keep_seconds)
    monkeypatch.setattr(evaluating, "own_memory_bytes", lambda: taken)
    monkeypatch.setattr(evaluating, "give_memory_back", lambda: (times.append(1), gives.set()))
    serve_one(monkeypatch, COMPILED.path, (lambda: gives.wait(SECONDS)) if keep_seconds < SECONDS else lambda: None)
    return len(times)


def serve_one(
    monkeypatch: pytest.MonkeyPatch, compiled: Path | None, before_the_end: Callable[[], object] = lambda: None
) -> None:
    """Be the evaluator of one request, until the server has its answer and `before_the_end` has returned."""
    monkeypatch.setattr(evaluating, "dictConfig", lambda _: None)
    monkeypatch.setattr(evaluating, "_bound", lambda *_: None)
    ours, theirs = Pipe()
    with theirs, tempfile.TemporaryFile() as body, tempfile.TemporaryFile() as content:
        body.write(BODY)
        body.flush()
        ours.send(evaluating.Task(request(), None, in_files=True))
        for file in (body, content):
            reduction.send_handle(ours, file.fileno(), os.getpid())

        def take_the_answer_and_go() -> None:
            with ours:
                ours.recv()
                before_the_end()

        server = Thread(target=take_the_answer_and_go)
        server.start()
        evaluating.run_evaluator(theirs, LIMITS, 0, 0, compiled)
        server.join()
        assert content.seek(0, os.SEEK_END) > 0


def test_an_evaluator_keeps_some_memory_for_the_next_request(monkeypatch: pytest.MonkeyPatch) -> None:
    assert given_back(monkeypatch, evaluating.KEPT_BYTES) == 0


def test_an_evaluator_that_took_much_gives_it_back_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    assert given_back(monkeypatch, evaluating.KEPT_BYTES + 1) == 1


def test_an_evaluator_that_waits_gives_back_what_it_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    assert given_back(monkeypatch, 0, keep_seconds=0.01) == 1


@pytest.mark.all
def test_an_evaluator_uses_the_library_of_the_server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    library = library_in(tmp_path)
    with used(None):
        serve_one(monkeypatch, library)
        assert COMPILED.path == library


def test_an_evaluator_goes_on_without_a_library_that_is_gone(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with used(None), caplog.at_level("WARNING", "service"):
        serve_one(monkeypatch, tmp_path / "removed.so")
        assert COMPILED.path is None
    assert "The compiled loops cannot be used: " in caplog.text


@pytest.mark.all
def test_a_server_passes_its_library_on(tmp_path: Path) -> None:
    library = library_in(tmp_path)
    with used(library):
        evaluator = EvaluatorProcess(LIMITS, 1 << 30, NICENESS)
    try:
        with tempfile.TemporaryFile() as body, tempfile.TemporaryFile() as content:
            body.write(BODY)
            body.flush()
            assert (
                evaluator.answer_in_files(request(), (body, content), SECONDS).status == 200
            )  # the process has started
        assert str(library) in Path(f"/proc/{evaluator.pid}/maps").read_text()
    finally:
        evaluator.end()


@pytest.mark.parametrize(
    ("code", "stopped", "error"),
    [
        (1, None, EvaluatorFailed),
        (0, None, EvaluatorFailed),
        (1, 0.0, EvaluatorDied),
        (-signal.SIGKILL, None, EvaluatorDied),
        (-signal.SIGTERM, None, EvaluatorDied),
        (-signal.SIGSEGV, None, EvaluatorCrashed),
        (None, None, EvaluatorDied),
    ],
)
def test_how_a_process_ended_says_whose_fault_it_is(
    evaluator: EvaluatorProcess, code: int | None, stopped: float | None, error: type, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(evaluator, "_process", Mock(exitcode=code))
        patch.setattr(evaluator, "_stopped", stopped)
        assert type(evaluator._how_it_ended()) is error
