"""The server's end of an evaluator process, which may be killed at any time.

Knows processes and pipes; evaluating.py knows what the process does.
"""

import multiprocessing
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import reduction, resource_tracker
from threading import Lock
from typing import BinaryIO, cast

from service.curves.sweep.sweep import COMPILED
from service.request import Answer, Effort, Request
from service.web.lanes.evaluating import EvaluatorFailed, Failure, Task, run_evaluator
from service.wire.limits import Limits

NICENESS = 10
"""The niceness of processes for big requests, so that those for small ones go first."""

STOP_SECONDS = 5.0
"""How long a process may take to stop a query before it is killed."""

JOIN_SECONDS = 5.0
"""How long to wait for a killed process."""

CRASHES = frozenset({signal.SIGABRT, signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGILL})
"""The signals by which a library that reads a crafted body may end its process; others come from outside."""

_LOOK_SECONDS = 0.5
"""How often to look whether a process should have stopped."""

_CONTEXT = multiprocessing.get_context("forkserver")

_STARTING = Lock()
"""multiprocessing's list of children has no lock."""


class EvaluatorDied(Exception):
    """The process ended before answering."""


class EvaluatorCrashed(EvaluatorDied):
    """The process ended by one of CRASHES."""


class EvaluatorNotStarted(EvaluatorDied):
    """The system has no resources for a process."""


class DeadlineExceeded(Exception):
    """The process did not answer in time, and was ended."""


class EvaluatorProcess:
    """One process, used by one thread at a time. Raises EvaluatorNotStarted if it cannot be started."""

    def __init__(self, limits: Limits, memory_bytes: int, niceness: int) -> None:
        self._pipe, theirs = _CONTEXT.Pipe()
        arguments = (theirs, limits, memory_bytes, niceness, COMPILED.path)
        try:
            with theirs, _STARTING, _without_interrupts():
                # Forks of a process with one thread and all modules imported: starting one takes milliseconds.
                _CONTEXT.set_forkserver_preload([run_evaluator.__module__])
                self._process = _CONTEXT.Process(target=run_evaluator, args=arguments, daemon=True)
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

        Raises TooMuchWork, EvaluatorDied, which may be EvaluatorCrashed, EvaluatorFailed, or DeadlineExceeded after
        `seconds`; after the last three, call `end`.
        """
        return self._ask(Task(request, effort, in_files=False), (), seconds)

    def answer_in_files(self, request: Request, files: tuple[BinaryIO, BinaryIO], seconds: float) -> Answer:
        """Answer a request whose body is in the first file, into the second; the Answer itself has no body.

        Raises EvaluatorDied, EvaluatorFailed, NoRoom, or DeadlineExceeded after `seconds`; then call `end`.
        """
        return self._ask(Task(request, None, in_files=True), files, seconds)

    def _ask(self, task: Task, files: tuple[BinaryIO, ...], seconds: float) -> Answer:
        end = time.monotonic() + seconds
        try:
            self._pipe.send(task)
            for file in files:
                reduction.send_handle(self._pipe, file.fileno(), self.pid)
            result = self._received(end)
        except (EOFError, OSError) as error:
            raise self._how_it_ended() from error
        if isinstance(result, Failure):
            raise result.error
        return cast("Answer", result)

    def _how_it_ended(self) -> Exception:
        """The exception for a process whose pipe has closed; to exit without a signal, unasked, is a defect."""
        with _STARTING:
            self._process.join(JOIN_SECONDS)
        code = self._process.exitcode
        if code is not None and -code in CRASHES:
            return EvaluatorCrashed()
        exited = code is not None and code >= 0 and self._stopped is None
        return EvaluatorFailed() if exited else EvaluatorDied()

    def _received(self, end: float) -> object:
        """Wait for a message until `end`, or for STOP_SECONDS if the process has been told to stop."""
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
