"""A process that evaluates requests for a server process, one at a time; it may be killed at any time.

Knows processes, pipes and descriptors; answer.py knows what a request means. A process has no state but its current
request. Bodies of big requests and answers are unnamed files, whose descriptors go through the pipe; small bodies go
through the pipe themselves.
"""

import ctypes
import logging
import mmap
import multiprocessing
import os
import resource
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from logging.config import dictConfig
from multiprocessing import reduction, resource_tracker
from multiprocessing.connection import Connection
from pathlib import Path
from threading import Lock
from typing import BinaryIO, cast

from service.answer import answer, lack_of_memory
from service.curves.budget import TooMuchWork
from service.curves.compiled import KERNEL
from service.datasets.dataset_groups import OnProgress
from service.environment import freeze_loaded_objects, give_memory_back, own_memory_bytes
from service.request import Answer, Effort, Request
from service.web.observation.log import logging_configuration
from service.wire.answers.output import Output
from service.wire.formats.codings import Body
from service.wire.limits import Limits

NICENESS = 10
"""The niceness of processes for big requests, so that those for small ones go first."""

OOM_SCORE = 500
"""The OOM score that makes the kernel kill an evaluator before the server; up to 1000."""

HEADROOM_BYTES = 32 << 20
"""The memory that must be free for the next piece of an answer: orjson crashes without memory."""

KEPT_BYTES = 256 << 20
"""The most memory that an evaluator keeps for its next request. After a larger one it returns all at once: the
next large request may go to another process."""

KEEP_SECONDS = 1.0
"""How long it keeps that. Getting pages from the system again takes up to half of the time of a request."""

STOP_SECONDS = 5.0
"""How long a process may take to stop a query before it is killed."""

JOIN_SECONDS = 5.0
"""How long to wait for a killed process."""

_LOOK_SECONDS = 0.5
"""How often to look whether a process should have stopped."""

_TELL_SECONDS = 0.5
"""How often a process reports its progress within a step."""

_PR_SET_PDEATHSIG = 1

_CONTEXT = multiprocessing.get_context("forkserver")

_STARTING = Lock()
"""multiprocessing's list of children has no lock."""

_LOG = logging.getLogger("service")


class EvaluatorDied(Exception):
    """The process ended before answering."""


class EvaluatorNotStarted(EvaluatorDied):
    """The system has no resources for a process."""


class EvaluatorFailed(Exception):
    """The process failed unexpectedly, and logged why."""


class NoRoom(Exception):
    """There was no room to write the answer into its file."""


class DeadlineExceeded(Exception):
    """The process did not answer in time, and was ended."""


@dataclass(frozen=True, slots=True)
class _Failure:
    """What an evaluator sends instead of an answer, and the error that the server raises for it."""

    error: type[Exception]


@dataclass(frozen=True, slots=True)
class _Told:
    """A report of progress, which an evaluator sends before its answer."""

    step: str
    done: float


@dataclass(frozen=True, slots=True)
class _Task:
    """A task for an evaluator; the descriptors of two files follow if the request's body is in one.

    effort   the most work to do for a request whose body comes with it.
    """

    request: Request
    effort: Effort | None
    in_files: bool


class EvaluatorProcess:
    """One process, used by one thread at a time. Raises EvaluatorNotStarted if it cannot be started."""

    def __init__(self, limits: Limits, memory_bytes: int, niceness: int) -> None:
        self._pipe, theirs = _CONTEXT.Pipe()
        arguments = (theirs, limits, memory_bytes, niceness, KERNEL.path)
        try:
            with theirs, _STARTING, _without_interrupts():
                # Forks of a process with one thread and all modules imported: starting one takes milliseconds.
                _CONTEXT.set_forkserver_preload([__name__])
                self._process = _CONTEXT.Process(target=_serve, args=arguments, daemon=True)
                self._process.start()
        except (EOFError, OSError) as error:
            self._pipe.close()
            raise EvaluatorNotStarted from error
        self.pid = self._process.pid
        self._stopped: float | None = None

    def is_alive(self) -> bool:
        """Whether it waits for a request; if the pipe is readable without a request, it has ended."""
        return not self._pipe.poll(0)

    def answer(self, request: Request, effort: Effort | None, seconds: float) -> Answer:
        """Answer a request whose body comes with it; the Answer has its body.

        Raises TooMuchWork, EvaluatorDied, EvaluatorFailed, or DeadlineExceeded after `seconds`; after the last three
        the process is unusable.
        """
        return self._ask(_Task(request, effort, in_files=False), (), seconds)

    def answer_in_files(
        self,
        request: Request,
        files: tuple[BinaryIO, BinaryIO],
        seconds: float,
        progress: OnProgress | None = None,
    ) -> Answer:
        """Answer a request whose body is in the first file, into the second; the Answer itself has no body.

        Raises EvaluatorDied, EvaluatorFailed, NoRoom, or DeadlineExceeded after `seconds`; the process is then
        unusable.
        """
        return self._ask(_Task(request, None, in_files=True), files, seconds, progress)

    def _ask(
        self, task: _Task, files: tuple[BinaryIO, ...], seconds: float, progress: OnProgress | None = None
    ) -> Answer:
        end = time.monotonic() + seconds
        try:
            self._pipe.send(task)
            for file in files:
                reduction.send_handle(self._pipe, file.fileno(), self.pid)
            while isinstance(result := self._received(end), _Told):
                if progress is not None:
                    progress(result.step, result.done)
        except (EOFError, OSError) as error:
            raise EvaluatorDied from error
        if isinstance(result, _Failure):
            raise result.error
        return cast("Answer", result)

    def _received(self, end: float) -> object:
        """Wait for a message until `end`, or briefly once the process has been told to stop."""
        while not self._pipe.poll(min(max(0.0, end - time.monotonic()), _LOOK_SECONDS)):
            if self._is_overdue():
                raise EvaluatorDied
            if time.monotonic() >= end:
                raise DeadlineExceeded
        return self._pipe.recv()

    def stop(self) -> None:
        """End the process; a thread that waits for its answer gets EvaluatorDied. Not to be called after `end`."""
        self._stopped = time.monotonic()
        self._process.terminate()

    def end(self) -> None:
        """End the process, whatever its state; it may first stop its query on another server."""
        self._pipe.close()
        with _STARTING:
            if not self._is_overdue():
                self._process.terminate()
                self._process.join(STOP_SECONDS)
            self._process.kill()
            self._process.join(JOIN_SECONDS)

    def _is_overdue(self) -> bool:
        return self._stopped is not None and time.monotonic() - self._stopped > STOP_SECONDS


@contextmanager
def _without_interrupts() -> Iterator[None]:
    """Shield processes started here from Ctrl-C, which is for the server: it ends its evaluators itself."""
    resource_tracker.ensure_running()  # else multiprocessing starts it, and then unblocks interrupts
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _serve(pipe: Connection, limits: Limits, memory_bytes: int, niceness: int, compiled: Path | None) -> None:
    """Answer requests until the server's end of the pipe closes, with the server's compiled library."""
    dictConfig(logging_configuration("info"))
    _bound(memory_bytes, niceness)
    try:
        KERNEL.use(compiled)
    except OSError as error:  # removed meanwhile; NumPy code gives the same numbers
        _LOG.warning("The compiled loops cannot be used: %s", error)
    freeze_loaded_objects()
    with suppress(EOFError, OSError):  # the server is gone
        while True:
            if not pipe.poll(KEEP_SECONDS):
                give_memory_back()
            task: _Task = pipe.recv()
            files = [reduction.recv_handle(pipe) for _ in range(2 * task.in_files)]
            result = _done(task, limits, files, _telling(pipe))
            pipe.send(result)
            del task, result
            if own_memory_bytes() > KEPT_BYTES:
                give_memory_back()


def _telling(pipe: Connection) -> OnProgress:
    """Make the function that reports each new step to the server, and now and then the progress within it."""
    last = ("", 0.0)

    def tell(step: str, done: float) -> None:
        nonlocal last
        now = time.monotonic()
        if step != last[0] or now - last[1] > _TELL_SECONDS:
            last = (step, now)
            pipe.send(_Told(step, done))

    return tell


def _done(task: _Task, limits: Limits, files: list[int], progress: OnProgress | None = None) -> Answer | _Failure:
    try:
        if task.in_files:
            body, content = files
            return _answered_in_files(task.request, limits, body, content, progress)
        return answer(task.request, limits, task.effort, Output(HEADROOM_BYTES))
    except TooMuchWork:
        return _Failure(TooMuchWork)
    except OSError:  # only the two files can raise it here
        return _Failure(NoRoom)
    except Exception as error:  # noqa: BLE001  # any defect is answered with 500
        _LOG.error("Unexpected failure", exc_info=error)
        return _Failure(EvaluatorFailed)


def _answered_in_files(
    request: Request, limits: Limits, body: int, content: int, progress: OnProgress | None = None
) -> Answer:
    with open(body, "rb") as source, open(content, "wb") as target:  # descriptors
        try:
            output = Output(HEADROOM_BYTES, target)
            result = answer(replace(request, body=mapped(source)), limits, output=output, progress=progress)
        except MemoryError:  # not even enough for the body
            result = lack_of_memory(request)
        if result.body:  # a problem, perhaps after part of an answer
            target.seek(0)
            target.truncate()
            target.write(result.body)
    return replace(result, body=b"")


def mapped(source: BinaryIO) -> Body:
    """Return the content of a file, mapped without copying if possible; the file is ours, and is never truncated."""
    try:
        return mmap.mmap(source.fileno(), 0, access=mmap.ACCESS_READ)
    except (OSError, ValueError):  # unsupported, no room; an empty file
        source.seek(0)
        return source.read()


def _bound(memory_bytes: int, niceness: int) -> None:
    """Set this process's priority and memory limit, and tie its life to its parent's."""
    os.nice(niceness)
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    most = memory_bytes if hard == resource.RLIM_INFINITY else min(memory_bytes, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (most, most))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # a dump would contain a client's scores
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
        with suppress(OSError):  # /proc may be read-only
            Path("/proc/self/oom_score_adj").write_text(str(OOM_SCORE), encoding="ascii")
