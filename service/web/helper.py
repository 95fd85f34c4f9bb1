"""A process beside the server's that answers big requests, one after the other, at a lower priority.

Knows processes, pipes and descriptors; what a request means is answer.py's. A helper can be killed at any time: it
holds nothing but the request that it works on. The bodies of requests and answers are files that have no name any
more; their descriptors go through the pipe.
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
from functools import partial
from logging.config import dictConfig
from multiprocessing import reduction, resource_tracker
from multiprocessing.connection import Connection
from pathlib import Path
from threading import Lock
from typing import BinaryIO

from service.answer import Answer, Request, answer, lack_of_memory
from service.curves.compiled import KERNEL
from service.environment import give_memory_back, keep_what_is_loaded, look_for_memory, own_memory_bytes
from service.web.log import logging_configuration
from service.wire.codings import Body, Piece
from service.wire.limits import Limits

NICENESS = 10
"""How much a helper stands back for the processes that answer small requests."""

OOM_SCORE = 500
"""How much rather a helper is killed than the server when the machine has no memory left; up to 1000."""

HEADROOM_BYTES = 32 << 20
"""How much memory has to be free for the next piece of an answer: orjson crashes where it gets none."""

KEPT_BYTES = 256 << 20
"""How much memory a helper keeps for its next request. What took more gives all of it back at once: the next large
request may be for another helper."""

KEEP_SECONDS = 1.0
"""How long it is kept. Getting pages from the system again takes up to half of the time of a request."""

WRITTEN_AT_ONCE = 1 << 17
"""How many bytes of an answer are written in one call, for the reason that carrying.py has: at a lower priority, too,
one call for 100 MB keeps small requests waiting for 10 ms or more."""

JOIN_SECONDS = 5.0
"""How long a killed process is waited for."""

_PR_SET_PDEATHSIG = 1

_CONTEXT = multiprocessing.get_context("forkserver")
# Helpers are forks of a process that has one thread and has imported all this, so that a new one takes milliseconds.
_CONTEXT.set_forkserver_preload([__name__])

_STARTING = Lock()
"""multiprocessing keeps its list of children without one."""

_LOG = logging.getLogger("service")


class HelperDied(Exception):
    """The process ended before it had answered."""


class HelperFailed(Exception):
    """The process could not answer, in a way that it should not; it has logged why."""


class NoRoom(Exception):
    """The answer could not be written into its file."""


class DeadlineExceeded(Exception):
    """The process had not answered in time, and was ended."""


@dataclass(frozen=True, slots=True)
class _Failure:
    """What a helper sends in place of an answer when it failed, and what that is for the server."""

    error: type[Exception]


class Helper:
    """One process; used by one thread at a time. Raises HelperDied when it cannot be started."""

    def __init__(self, limits: Limits, memory_bytes: int) -> None:
        self._pipe, theirs = _CONTEXT.Pipe()
        arguments = (theirs, limits, memory_bytes, KERNEL.path)
        try:
            with theirs, _STARTING, _without_interrupts():
                self._process = _CONTEXT.Process(target=_serve, args=arguments, daemon=True)
                self._process.start()
        except (EOFError, OSError) as error:
            self._pipe.close()
            raise HelperDied from error
        self.pid = self._process.pid

    def is_alive(self) -> bool:
        """Whether it waits for a request; a pipe that can be read from without a request has ended."""
        return not self._pipe.poll(0)

    def answer(self, request: Request, body: BinaryIO, content: BinaryIO, seconds: float) -> Answer:
        """Answer a request whose body is in one file, into another; the Answer itself has no body.

        Raises HelperDied, HelperFailed, NoRoom, or DeadlineExceeded after `seconds`; it is of no use afterwards.
        """
        try:
            self._pipe.send(request)
            for file in (body, content):
                reduction.send_handle(self._pipe, file.fileno(), self.pid)
            if not self._pipe.poll(max(0.0, seconds)):
                raise DeadlineExceeded
            result = self._pipe.recv()
        except (EOFError, OSError) as error:
            raise HelperDied from error
        if isinstance(result, _Failure):
            raise result.error
        given: Answer = result
        return given

    def end(self) -> None:
        """End the process, whatever it is doing."""
        self._pipe.close()
        with _STARTING:
            self._process.kill()
            self._process.join(JOIN_SECONDS)


@contextmanager
def _without_interrupts() -> Iterator[None]:
    """Let what is started here never see Ctrl-C, which is for the server: it ends its helpers itself."""
    resource_tracker.ensure_running()  # multiprocessing starts it first, and lets interrupts in again when it has
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _serve(pipe: Connection, limits: Limits, memory_bytes: int, compiled: Path | None) -> None:
    """Answer requests until the server's end of the pipe closes; with the compiled library that the server uses."""
    dictConfig(logging_configuration("info"))
    _stand_back(memory_bytes)
    try:
        KERNEL.use(compiled)
    except OSError as error:  # it was removed since; NumPy gives the same numbers
        _LOG.warning("What rocpr compile made cannot be used: %s", error)
    keep_what_is_loaded()
    with suppress(EOFError, OSError):  # the server went away
        while True:
            if not pipe.poll(KEEP_SECONDS):
                give_memory_back()
            request: Request = pipe.recv()
            body, content = (reduction.recv_handle(pipe) for _ in range(2))
            result = _answered(request, limits, body, content)
            pipe.send(result)
            del request, result
            if own_memory_bytes() > KEPT_BYTES:
                give_memory_back()


def _answered(request: Request, limits: Limits, body: int, content: int) -> Answer | _Failure:
    try:
        with open(body, "rb") as source, open(content, "wb") as target:  # descriptors
            write, look = partial(_write, target), partial(look_for_memory, HEADROOM_BYTES)
            try:
                result = answer(replace(request, body=mapped(source)), limits, write=write, look=look)
            except MemoryError:  # there is not even enough for the body
                result = lack_of_memory(request)
            if result.body:  # a problem, perhaps after a part of an answer
                target.seek(0)
                target.truncate()
                target.write(result.body)
    except OSError:  # of these two files; nothing else here is one
        return _Failure(NoRoom)
    except Exception as error:  # noqa: BLE001  # whatever it is, the request is answered with 500
        _LOG.error("Unexpected failure", exc_info=error)
        return _Failure(HelperFailed)
    return replace(result, body=b"")


def mapped(source: BinaryIO) -> Body:
    """Give what is in a file without a copy of it, where that can be had; the file is ours, and nobody shortens it."""
    try:
        return mmap.mmap(source.fileno(), 0, access=mmap.ACCESS_READ)
    except (OSError, ValueError):  # a file system without it, no room for it; an empty file
        source.seek(0)
        return source.read()


def _write(target: BinaryIO, piece: Piece) -> None:
    content = memoryview(piece)
    target.writelines(content[start : start + WRITTEN_AT_ONCE] for start in range(0, len(content), WRITTEN_AT_ONCE))


def _stand_back(memory_bytes: int) -> None:
    """Make this process weaker than the server's, bounded, and bound to the life of its parent."""
    os.nice(NICENESS)
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    most = memory_bytes if hard == resource.RLIM_INFINITY else min(memory_bytes, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (most, most))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # a dump would hold somebody's scores
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        with suppress(OSError):  # /proc may be read-only
            Path("/proc/self/oom_score_adj").write_text(str(OOM_SCORE), encoding="ascii")
