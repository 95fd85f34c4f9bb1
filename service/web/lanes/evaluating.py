"""What an evaluator process does: it answers the requests of a server process, one at a time.

Knows pipes and descriptors; answer.py knows what a request means. A process has no state but its current request.
Bodies of big requests and answers are unnamed files, whose descriptors go through the pipe; small bodies go through the
pipe themselves.
"""

import ctypes
import logging
import mmap
import os
import resource
import signal
import sys
from contextlib import suppress
from dataclasses import dataclass, replace
from logging.config import dictConfig
from multiprocessing import reduction
from multiprocessing.connection import Connection
from pathlib import Path
from typing import BinaryIO

import numpy.ma  # noqa: F401  # as in app.py: Arrow imports it with the first array

from service.answer import answer, lack_of_memory
from service.curves.clock import TooMuchWork
from service.curves.sweep.sweep import COMPILED
from service.environment import freeze_loaded_objects, give_memory_back, leave_pandas_out, own_memory_bytes
from service.request import Answer, Effort, Request
from service.web.observation.log import logging_configuration
from service.wire.answers.output import Output
from service.wire.formats.codings import Body
from service.wire.limits import Limits

OOM_SCORE = 500
"""The OOM score that makes the kernel kill an evaluator before the server; up to 1000."""

HEADROOM_BYTES = 32 << 20
"""The memory that must be free for the next piece of an answer: orjson crashes without memory."""

KEPT_BYTES = 256 << 20
"""The most memory that an evaluator keeps for its next request. If it has more, it returns all of it at once: the next
large request may go to another process."""

KEEP_SECONDS = 1.0
"""How long an idle evaluator keeps its memory. Getting it from the system again takes up to half a request's time."""

_PR_SET_PDEATHSIG = 1

_LOG = logging.getLogger("service")


class EvaluatorFailed(Exception):
    """The process failed unexpectedly, and logged why."""


class NoRoom(Exception):
    """There was no room to write the answer into its file."""


@dataclass(frozen=True, slots=True)
class Failure:
    """What an evaluator sends instead of an answer, and the error that the server raises for it."""

    error: type[Exception]


@dataclass(frozen=True, slots=True)
class Task:
    """A task for an evaluator; the descriptors of two files follow if the request's body is in one.

    effort   the most work to do for a request whose body comes with it.
    """

    request: Request
    effort: Effort | None
    in_files: bool


def run_evaluator(pipe: Connection, limits: Limits, memory_bytes: int, niceness: int, compiled: Path | None) -> None:
    """Answer requests until the server's end of the pipe closes, with the server's compiled library."""
    dictConfig(logging_configuration("info"))
    _bound(memory_bytes, niceness)
    try:
        COMPILED.use(compiled)
    except OSError as error:  # removed meanwhile; NumPy code gives the same numbers
        _LOG.warning("The compiled loops cannot be used: %s", error)
    leave_pandas_out()
    freeze_loaded_objects()
    with suppress(EOFError, OSError):  # the server is gone
        while True:
            if not pipe.poll(KEEP_SECONDS):
                give_memory_back()
            task: Task = pipe.recv()
            files = [reduction.recv_handle(pipe) for _ in range(2 * task.in_files)]
            result = _done(task, limits, files)
            pipe.send(result)
            del task, result
            if own_memory_bytes() > KEPT_BYTES:
                give_memory_back()


def _done(task: Task, limits: Limits, files: list[int]) -> Answer | Failure:
    try:
        if task.in_files:
            body, content = files
            return _answered_in_files(task.request, limits, body, content)
        return answer(task.request, limits, task.effort, Output(HEADROOM_BYTES))
    except TooMuchWork:
        return Failure(TooMuchWork)
    except OSError:  # only the two files can raise it here
        return Failure(NoRoom)
    except Exception as error:  # noqa: BLE001  # any defect is answered with 500
        _LOG.error("Unexpected failure", exc_info=error)
        return Failure(EvaluatorFailed)


def _answered_in_files(request: Request, limits: Limits, body: int, content: int) -> Answer:
    with open(body, "rb") as source, open(content, "wb") as target:  # descriptors
        try:
            output = Output(HEADROOM_BYTES, target)
            result = answer(replace(request, body=mapped(source)), limits, output=output)
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
