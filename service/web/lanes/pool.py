"""The evaluator processes of one server process: kept for a while after each request, and replaced when one dies.

Knows processes and files; nothing of HTTP, nor of who may use an evaluator.
"""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import Lock, Timer
from typing import BinaryIO, TypeVar

from service.curves.clock import TooMuchWork
from service.request import Answer, Effort, Request
from service.web.lanes.evaluating import NoRoom
from service.web.lanes.evaluator import (
    DeadlineExceeded,
    EvaluatorCrashed,
    EvaluatorDied,
    EvaluatorNotStarted,
    EvaluatorProcess,
)
from service.web.passes import Client, ClientGone
from service.web.spool import Spool
from service.wire.limits import Limits
from service.wire.media_types import COLUMNAR, GENERAL
from service.wire.problems import Problem, no_room

TRIES = 2
"""How often a request is tried if evaluators die."""

IDLE_SECONDS = 5.0
"""How long an idle evaluator is kept: a new one takes milliseconds, an idle one memory."""

_MAY_CRASH = COLUMNAR | frozenset(GENERAL)
"""Declared types of bodies that a parser in C++ reads, and that may be crafted such that it crashes."""

_Result = TypeVar("_Result")


class EvaluatorPool:
    """As many evaluators as there are concurrent calls, which the caller limits."""

    def __init__(
        self,
        limits: Limits,
        *,
        seconds: float,
        memory_bytes: int,
        niceness: int,
        spool: Spool,
        on_end: Callable[[str], None],
    ) -> None:
        self._limits = limits
        self._seconds = seconds
        self._memory_bytes = memory_bytes
        self._niceness = niceness
        self._spool = spool
        self._on_end = on_end
        self._idle: list[tuple[EvaluatorProcess, float]] = []
        """Idle evaluators, each with the time at which it became idle; the last one worked last."""
        self._written: set[BinaryIO] = set()
        """Files into which evaluators write now."""
        self._sweep: Timer | None = None
        self._lock = Lock()

    def spooled(self, content: bytes) -> BinaryIO:
        """Write a body into a spool file. Raises Problem overloaded."""
        try:
            file = self._spool.open()
            try:
                file.write(content)
                file.flush()
            except BaseException:
                file.close()
                raise
        except OSError as error:
            raise no_room() from error
        return file

    def answer(self, request: Request, effort: Effort, client: Client) -> Answer:
        """Answer a request whose body comes with it.

        Raises TooMuchWork; Problem deadline_exceeded, malformed_body if an evaluator crashed on a columnar body, or
        helper_died if two evaluators died of it; EvaluatorFailed for a defect; ClientGone if the client has gone and
        the evaluator was ended.
        """
        return self._tried(lambda evaluator, seconds: evaluator.answer(request, effort, seconds), request, client)

    def answer_in_files(self, request: Request, body: BinaryIO, client: Client) -> tuple[Answer, BinaryIO]:
        """Answer a request whose body is in a file; returns the answer and the file with its body.

        Raises like `answer`, and Problem overloaded if the spool directory is full.
        """

        def answer(evaluator: EvaluatorProcess, seconds: float) -> tuple[Answer, BinaryIO]:
            content = self._spool.open()
            try:
                with self._being_written(content):
                    return evaluator.answer_in_files(request, (body, content), seconds), content
            except BaseException:
                content.close()
                raise

        try:
            body.flush()
            return self._tried(answer, request, client)
        except NoRoom as error:
            self._spool.note_failure()
            raise no_room() from error
        except OSError as error:
            raise no_room() from error

    def bytes_being_written(self) -> int:
        """Count the bytes so far of answers that evaluators write into files."""
        with self._lock:
            return sum(os.fstat(content.fileno()).st_size for content in self._written)

    @contextmanager
    def _being_written(self, content: BinaryIO) -> Iterator[None]:
        with self._lock:
            self._written.add(content)
        try:
            yield
        finally:
            with self._lock:
                self._written.remove(content)

    def prepare(self) -> None:
        """Start an evaluator ahead of requests; if that fails, the next request tries again."""
        with suppress(EvaluatorDied):
            self._keep(self._evaluator())

    def _tried(self, ask: Callable[[EvaluatorProcess, float], _Result], request: Request, client: Client) -> _Result:
        end = time.monotonic() + self._seconds
        for attempt in range(1, TRIES + 1):
            try:
                return self._asked(ask, end - time.monotonic(), client)
            except EvaluatorDied as error:
                if client.gone:
                    raise ClientGone from None
                self._on_end("died")
                if isinstance(error, EvaluatorCrashed) and request.content_type in _MAY_CRASH:
                    raise Problem("malformed_body", "The body could not be read: it seems to be damaged.") from error
                if attempt == TRIES and isinstance(error, EvaluatorNotStarted):
                    raise Problem("overloaded", "No process can be started for the evaluation right now.") from error
            except DeadlineExceeded:
                self._on_end("deadline")
                detail = f"The evaluation took longer than the limit of {self._seconds:g} s."
                raise Problem("deadline_exceeded", detail) from None
        raise Problem("helper_died", f"The process that evaluated the request died in each of {TRIES} tries.")

    def _asked(self, ask: Callable[[EvaluatorProcess, float], _Result], seconds: float, client: Client) -> _Result:
        evaluator = self._evaluator()  # may raise EvaluatorDied, too
        try:
            client.stop_with(evaluator.stop)
            try:
                result = ask(evaluator, seconds)
            finally:
                client.stop_with(None)
        except TooMuchWork:
            self._keep(evaluator)
            raise
        except BaseException:
            evaluator.end()
            raise
        if client.gone:  # a client that left at the last moment has ended the evaluator
            evaluator.end()
            raise ClientGone
        self._keep(evaluator)
        return result

    def _evaluator(self) -> EvaluatorProcess:
        """Take the idle evaluator that worked last, else a new one."""
        while True:
            with self._lock:
                evaluator = self._idle.pop()[0] if self._idle else None
            if evaluator is None:
                return EvaluatorProcess(self._limits, self._memory_bytes, self._niceness)
            if evaluator.is_alive():
                return evaluator
            self._on_end("died")
            evaluator.end()

    def _keep(self, evaluator: EvaluatorProcess) -> None:
        with self._lock:
            self._idle.append((evaluator, time.monotonic()))
            self._sweep_later()

    def _sweep_later(self) -> None:
        """Schedule the end of idle evaluators; call it with the lock held.

        If no thread can be started, the next evaluator that is kept tries again.
        """
        if self._sweep is None:
            sweep = Timer(IDLE_SECONDS, self._sweep_now)
            sweep.daemon = True
            with suppress(RuntimeError):
                sweep.start()
                self._sweep = sweep

    def _sweep_now(self) -> None:
        self._end_idle(since=time.monotonic() - IDLE_SECONDS)
        with self._lock:
            self._sweep = None
            if self._idle:
                self._sweep_later()

    def _end_idle(self, since: float) -> None:
        """End the evaluators that have been idle since then."""
        with self._lock:
            ended = [evaluator for evaluator, began in self._idle if began <= since]
            self._idle = [(evaluator, began) for evaluator, began in self._idle if began > since]
        for evaluator in ended:
            evaluator.end()
