"""A process that evaluates requests for a server process, one after the other; it may be killed at any time.

Knows processes, pipes and descriptors; what a request means is answer.py's. A process holds nothing but the request
that it works on. The bodies of big requests and of their answers are files without a name, whose descriptors go through
the pipe; small bodies go through the pipe themselves.
"""

import ctypes
import logging
import mmap
import multiprocessing
import os
import resource
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from logging.config import dictConfig
from multiprocessing import reduction, resource_tracker
from multiprocessing.connection import Connection
from pathlib import Path
from threading import Lock
from typing import BinaryIO

from service.answer import Answer, Effort, Request, TooMuchWork, answer, lack_of_memory
from service.curves.compiled import KERNEL
from service.environment import give_memory_back, keep_what_is_loaded, own_memory_bytes
from service.web.observation.log import logging_configuration
from service.wire.answers.output import Output
from service.wire.formats.codings import Body
from service.wire.limits import Limits

NICENESS = 10
"""How much a process for big requests stands back for those that answer small ones."""

OOM_SCORE = 500
"""How much rather an evaluator is killed than the server when the machine has no memory left; up to 1000."""

HEADROOM_BYTES = 32 << 20
"""How much memory has to be free for the next piece of an answer: orjson crashes where it gets none."""

KEPT_BYTES = 256 << 20
"""How much memory an evaluator keeps for its next request. What took more gives all of it back at once: the next large
request may be for another process."""

KEEP_SECONDS = 1.0
"""How long it is kept. Getting pages from the system again takes up to half of the time of a request."""

JOIN_SECONDS = 5.0
"""How long a killed process is waited for."""

_PR_SET_PDEATHSIG = 1

_CONTEXT = multiprocessing.get_context("forkserver")

_STARTING = Lock()
"""multiprocessing keeps its list of children without one."""

_LOG = logging.getLogger("service")


class EvaluatorDied(Exception):
    """The process ended before it had answered."""


class EvaluatorNotStarted(EvaluatorDied):
    """There is no process, for what the system has none of."""


class EvaluatorFailed(Exception):
    """The process could not answer, in a way that it should not; it has logged why."""


class NoRoom(Exception):
    """The answer could not be written into its file."""


class DeadlineExceeded(Exception):
    """The process had not answered in time, and was ended."""


@dataclass(frozen=True, slots=True)
class _Failure:
    """What an evaluator sends in place of an answer when it has none, and what that is for the server."""

    error: type[Exception]


@dataclass(frozen=True, slots=True)
class _Task:
    """What an evaluator is sent; the descriptors of two files follow when the request's body is in one.

    effort   how much may be done for a request whose body comes with it.
    """

    request: Request
    effort: Effort | None
    in_files: bool


class EvaluatorProcess:
    """One process; used by one thread at a time. Raises EvaluatorNotStarted when it cannot be started."""

    def __init__(self, limits: Limits, memory_bytes: int, niceness: int) -> None:
        self._pipe, theirs = _CONTEXT.Pipe()
        arguments = (theirs, limits, memory_bytes, niceness, KERNEL.path)
        try:
            with theirs, _STARTING, _without_interrupts():
                # They are forks of a process that has one thread and has imported all this: one takes milliseconds.
                _CONTEXT.set_forkserver_preload([__name__])
                self._process = _CONTEXT.Process(target=_serve, args=arguments, daemon=True)
                self._process.start()
        except (EOFError, OSError) as error:
            self._pipe.close()
            raise EvaluatorNotStarted from error
        self.pid = self._process.pid

    def is_alive(self) -> bool:
        """Whether it waits for a request; a pipe that can be read from without a request has ended."""
        return not self._pipe.poll(0)

    def answer(self, request: Request, effort: Effort | None, seconds: float) -> Answer:
        """Answer a request whose body comes with it; the Answer has its body.

        Raises TooMuchWork, EvaluatorDied, EvaluatorFailed, or DeadlineExceeded after `seconds`; after the last three it
        is of no use.
        """
        return self._ask(_Task(request, effort, in_files=False), (), seconds)

    def answer_in_files(self, request: Request, body: BinaryIO, content: BinaryIO, seconds: float) -> Answer:
        """Answer a request whose body is in one file, into another; the Answer itself has no body.

        Raises EvaluatorDied, EvaluatorFailed, NoRoom, or DeadlineExceeded after `seconds`; it is of no use afterwards.
        """
        return self._ask(_Task(request, None, in_files=True), (body, content), seconds)

    def _ask(self, task: _Task, files: tuple[BinaryIO, ...], seconds: float) -> Answer:
        try:
            self._pipe.send(task)
            for file in files:
                reduction.send_handle(self._pipe, file.fileno(), self.pid)
            if not self._pipe.poll(max(0.0, seconds)):
                raise DeadlineExceeded
            result = self._pipe.recv()
        except (EOFError, OSError) as error:
            raise EvaluatorDied from error
        if isinstance(result, _Failure):
            raise result.error
        given: Answer = result
        return given

    def kill(self) -> None:
        """Kill the process; whoever waits for its answer gets EvaluatorDied. Not after `end`."""
        self._process.kill()

    def end(self) -> None:
        """End the process, whatever it is doing."""
        self._pipe.close()
        with _STARTING:
            self._process.kill()
            self._process.join(JOIN_SECONDS)


@contextmanager
def _without_interrupts() -> Iterator[None]:
    """Let what is started here never see Ctrl-C, which is for the server: it ends its evaluators itself."""
    resource_tracker.ensure_running()  # multiprocessing starts it first, and lets interrupts in again when it has
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _serve(pipe: Connection, limits: Limits, memory_bytes: int, niceness: int, compiled: Path | None) -> None:
    """Answer requests until the server's end of the pipe closes; with the compiled library that the server uses."""
    dictConfig(logging_configuration("info"))
    _bound(memory_bytes, niceness)
    try:
        KERNEL.use(compiled)
    except OSError as error:  # it was removed since; NumPy gives the same numbers
        _LOG.warning("The compiled loops cannot be used: %s", error)
    keep_what_is_loaded()
    with suppress(EOFError, OSError):  # the server went away
        while True:
            if not pipe.poll(KEEP_SECONDS):
                give_memory_back()
            task: _Task = pipe.recv()
            result = _done(task, limits, [reduction.recv_handle(pipe) for _ in range(2 * task.in_files)])
            pipe.send(result)
            del task, result
            if own_memory_bytes() > KEPT_BYTES:
                give_memory_back()


def _done(task: _Task, limits: Limits, files: list[int]) -> Answer | _Failure:
    try:
        if task.in_files:
            return _answered_in_files(task.request, limits, *files)
        return answer(task.request, limits, task.effort, Output(HEADROOM_BYTES))
    except TooMuchWork:
        return _Failure(TooMuchWork)
    except OSError:  # of the two files; nothing else here is one
        return _Failure(NoRoom)
    except Exception as error:  # noqa: BLE001  # whatever it is, the request is answered with 500
        _LOG.error("Unexpected failure", exc_info=error)
        return _Failure(EvaluatorFailed)


def _answered_in_files(request: Request, limits: Limits, body: int, content: int) -> Answer:
    with open(body, "rb") as source, open(content, "wb") as target:  # descriptors
        try:
            result = answer(replace(request, body=mapped(source)), limits, output=Output(HEADROOM_BYTES, target))
        except MemoryError:  # there is not even enough for the body
            result = lack_of_memory(request)
        if result.body:  # a problem, perhaps after a part of an answer
            target.seek(0)
            target.truncate()
            target.write(result.body)
    return replace(result, body=b"")


def mapped(source: BinaryIO) -> Body:
    """Give what is in a file without a copy of it, where possible; the file is ours, and nothing shortens it."""
    try:
        return mmap.mmap(source.fileno(), 0, access=mmap.ACCESS_READ)
    except (OSError, ValueError):  # a file system without it, no room for it; an empty file
        source.seek(0)
        return source.read()


def _bound(memory_bytes: int, niceness: int) -> None:
    """Give this process its priority, bound its memory, and bind it to the life of its parent."""
    os.nice(niceness)
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    most = memory_bytes if hard == resource.RLIM_INFINITY else min(memory_bytes, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (most, most))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # a dump would hold somebody's scores
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        with suppress(OSError):  # /proc may be read-only
            Path("/proc/self/oom_score_adj").write_text(str(OOM_SCORE), encoding="ascii")
